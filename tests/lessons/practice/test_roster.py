"""A set for each student: the roster as CSV, and parallel sets from a key."""

import pytest

from normviz.lessons.practice.roster import read_roster, seed_of, student_sets
from normviz.lessons.practice.settings import FORMS
from normviz.texts.errors import NormvizError


@pytest.mark.parametrize(("content", "names"), [
    (b"name\nAda\nEmmy\n", ["Ada", "Emmy"]),
    (b'\xef\xbb\xbfName,mail\r\n"Lovelace, Ada",a@b\r\n\r\n"Emmy ""E"" Noether",e@n\r\n', ["Lovelace, Ada", 'Emmy "E" Noether']),
    (b'mail,name\na@b,"two\nlines"\n,\nc@d,  spaced   out  \n', ["two lines", "spaced out"]),
    ("name\nA\u030asa\n".encode(), ["\u00c5sa"]),
])  # fmt: skip
def test_names_are_read_as_rfc_4180_has_them(content, names):
    assert read_roster(content, "r.csv") == names


@pytest.mark.parametrize(("content", "words"), [
    (b"", "r.csv, line 1: the header is '', and must have one column name; separate the columns by commas."),
    (b"student\nAda\n", "line 1: the header is 'student', and must have one column name"),
    (b"name;mail\nAda;a@b\n", "line 1: the header is 'name;mail', and must have one column name"),
    (b"name,name\nAda,Ada\n", "line 1: the header is 'name,name', and must have one column name"),
    (b"name\n", "r.csv has no student; write one name in each line below the header."),
    (b"name,mail\nAda,a@b\n ,c@d\n", "r.csv, line 3: the name is empty; write one."),
    (b'name\n"two\nlines"\nAda\nEmmy\nAda \n', "line 6: 'Ada' is in line 4 too; add what tells them apart"),
    (b"name\nLovelace, Ada\n", "r.csv, line 2: the number of fields is 2, and in the header 1; quote a field"),
    (b'name\nAda\n"Emmy" Noether\n', "line 3 is not CSV"),
    (b"name\nAda\x07\n", r"r.csv, line 2: the text has '\x07', which no page can show; delete it."),
    (b"name\nAda\n" + b"x" * 201, "r.csv, line 3: the length of the text is 201, and may be 200 at most; shorten it."),
    (b"name\nAda\nM\xfcller\n", "r.csv, line 3 is not UTF-8; save the file as UTF-8."),
])  # fmt: skip
def test_what_is_wrong_in_a_roster_is_said_with_its_line(content, words):
    with pytest.raises(NormvizError) as error:
        read_roster(content, "r.csv")
    assert words in str(error.value)


@pytest.fixture(scope="module")
def course():
    names = [f"Student {number}" for number in range(300)]
    return names, student_sets(names, "spring", 10, forms=tuple(FORMS))


def test_three_hundred_students_have_three_hundred_parallel_sets(course):
    _names, sets = course
    assert len({frozenset(one.id for one in each.exercises) for each in sets}) == 300
    (slots,) = {tuple((one.kind, one.level) for one in each.exercises) for each in sets}
    assert len(slots) == 10
    assert all(len({one.id for one in each.exercises}) == 10 for each in sets)
    ids = [f"{each.key}-{one.id}" for each in sets for one in each.exercises]
    assert len(ids) == len({*ids}) == 3000


def test_a_student_keeps_the_set_when_others_are_added_and_another_key_gives_others(course):
    names, sets = course
    assert student_sets(names[:3], "spring", 10, forms=tuple(FORMS)) == sets[:3]
    others = student_sets(names[:3], "autumn", 10, forms=tuple(FORMS))
    assert not {one.seed for one in others} & {one.seed for one in sets}
    assert seed_of("autumn") != seed_of("spring")


def test_more_students_than_sets_are_refused():
    with pytest.raises(NormvizError, match=r"there are not enough different sets: \d+ of 60 students have one"):
        student_sets([str(number) for number in range(60)], "k", 1, ["statistics"], 1, ["build"])
