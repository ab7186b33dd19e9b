"""A teacher's own questions: torch computes the answer, and what is wrong is said with its file and line."""

import json
from pathlib import Path

import pytest
import yaml

from normviz.export.site import entries, entry_page, index_page
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.formats.moodle import moodle_xml
from normviz.lessons.practice.formats.paper import Sheet, exam, key
from normviz.lessons.practice.formats.qti import qti_package
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.own import (
    COMPUTED,
    FILE_KEYS,
    KEYS,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    MOST_SIZE,
    MOST_TEXT,
    MOST_TITLE,
    MOST_VALUES,
    OPTION_KEYS,
    SAFE_ID,
    WRONG_KEYS,
    read_files,
    read_markdown,
    read_questions,
)
from normviz.lessons.practice.page import Practice
from normviz.lessons.practice.settings import LEVELS, TOPICS
from normviz.texts.errors import NormvizError

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/questions.schema.json").read_text(encoding="utf-8"))
QUESTIONS = """\
title: Week 3
questions:
  - text: How many gammas?
    layer: BatchNorm2d(3)
    shape: [2, 3, 4, 4]
    kind: gammas
    answer: 3
  - id: running
    text: |
      Which has **running** statistics? `x < 3` <script>alert(1)</script> $x$

      ```
      1. a) ... GROUP
      ```
    options:
      - text: "`BatchNorm2d`"
      - text: LayerNorm
        why: It normalizes *each* example alone.
      - GroupNorm
    answer: "`BatchNorm2d`"
    explanation: "BatchNorm has [buffers](https://pytorch.org)."
    level: 2
    topic: train_and_eval
"""
MARKDOWN = """\
---
id: gammas
layer: BatchNorm2d(3)
shape: [2, 3, 4, 4]
kind: gammas
---
How many **gammas**?

- [ ] 6
  That counts the betas,
  too.
- [x] 3

## Answer
One for each channel.
"""


@pytest.fixture(scope="module")
def own():
    return read_questions(QUESTIONS, "mine.yaml")


def question(lines: str) -> str:
    """A file with one question, whose first key is in line 2."""
    return "questions:\n  - " + "\n    ".join(lines.splitlines())


@pytest.mark.parametrize(("kind", "layer", "answer"), [
    ("means", "BatchNorm1d(3)", 3), ("means", "LayerNorm(3)", 2), ("elements_per_mean", "GroupNorm(3, 3)", 1),
    ("gammas", "LayerNorm(3)", 3), ("parameters", "BatchNorm1d(3)", 6), ("parameters", "RMSNorm(3)", 3),
    ("mean", "LayerNorm(3)", 3), ("variance", "LayerNorm(3)", 4.67), ("mean", "BatchNorm1d(3)", 1), ("output", "LayerNorm(3)", -0.46),
    ("output", "RMSNorm(3)", 0.54),
])  # fmt: skip
def test_torch_computes_the_answer_on_a_table_that_a_student_can_check(kind, layer, answer):
    text = f"text: T\nlayer: {layer}\nshape: [2, 3]\nat: [0, 1]\nvalues: [[1, 2, 6], [0, 0, 1]]\nkind: {kind}"
    (exercise,) = read_questions(question(text), "m.yaml").exercises
    assert exercise.answer == answer
    assert read_questions(question(f"{text}\nanswer: {answer}"), "m.yaml").exercises[0].answer == answer
    with pytest.raises(NormvizError, match=r"m\.yaml, line 8: the answer is '77', and torch computes"):
        read_questions(question(f"{text}\nanswer: 77"), "m.yaml")


def test_a_choice_of_the_teacher_has_reasons_and_keeps_its_order(own):
    _gammas, one = own.exercises
    assert (own.title, one.id, one.level, one.about.topic) == ("Week 3", "running", 2, "train_and_eval")
    data = one.data()
    assert data.options == [("BatchNorm2d", ""), ("LayerNorm", "own-1"), ("GroupNorm", "own-2")]
    assert data.answer == "BatchNorm2d"
    assert data.why == {"own-1": "It normalizes <em>each</em> example alone."}
    assert "<strong>running</strong>" in data.markup
    assert "&lt;script&gt;" in data.markup
    assert data.explained == '<p>BatchNorm has <a href="https://pytorch.org">buffers</a>.</p>'


def test_a_markdown_file_is_one_question_with_options_and_their_reasons():
    (one,) = read_markdown(MARKDOWN, "week/gammas.md").exercises
    assert (one.id, one.text, one.answer, one.reason) == (
        "gammas",
        "How many **gammas**?",
        "3",
        "One for each channel.",
    )
    assert one.options == (("6", "That counts the betas, too."), ("3", ""))
    with pytest.raises(NormvizError, match=r"g\.md, line 12: the answer is '4', and torch computes 3;"):
        read_markdown(MARKDOWN.replace("[x] 3", "[x] 4"), "g.md")
    with pytest.raises(NormvizError, match=r"g\.md, line 3: 'layr' is not a key here\. Did you mean layer\?"):
        read_markdown(MARKDOWN.replace("layer:", "layr:"), "g.md")


def test_own_questions_are_in_moodle_qti_and_on_paper_without_their_markup_running(own):
    items = [item(one) for one in own.exercises]
    moodle = moodle_xml(items, own.title).decode()
    assert "&lt;strong&gt;running&lt;/strong&gt;" in moodle
    for written in (moodle, exam([Sheet("", "", False, items)]), key([Sheet("", "", False, items)])):
        assert "<script>" not in written
        assert "How many gammas?" in written
    assert qti_package(items, own.title).startswith(b"PK")
    assert "That is" not in key([Sheet("", "", False, items)])
    assert "It normalizes <em>each</em> example alone." in key([Sheet("", "", False, items)])


def test_the_app_shows_a_file_of_its_folder(own, tmp_path, monkeypatch):
    (tmp_path / "week 3.yaml").write_text(QUESTIONS)
    (tmp_path / "notes.txt").write_text("no questions")
    monkeypatch.setenv("NORMVIZ_CONTENT", str(tmp_path))
    page = PAGES["practice"]
    view = page.view("content=week 3")
    (part,) = (one for one in page_view(page, view).parts if isinstance(one, Practice))
    assert part.given == tuple(one.data() for one in own.exercises)
    assert (part.title, part.controls, page.problem(view)) == ("Week 3", False, None)
    (tmp_path / "week 3.yaml").write_text(QUESTIONS.replace("answer: 3", "answer: 4"))
    assert "line 7: the answer is '4', and torch computes 3" in page.problem(page.view("content=week 3"))
    assert "content='../week 3' is not a set of this app" in page.problem(page.view("content=../week 3"))


def test_the_site_has_a_page_for_each_file_and_links_to_it(tmp_path, monkeypatch):
    (tmp_path / "week 3.yaml").write_text(QUESTIONS)
    monkeypatch.setenv("NORMVIZ_CONTENT", str(tmp_path))
    among = entries(["practice", "teach"])
    names = ("practice-week-3.html", "teach.html")
    assert {one.file for one in among if not one.file.startswith("plan-")} == {"practice.html", *names}
    pages = {one.file: entry_page(one, among, "light") for one in among if one.file in names}
    assert "How many gammas?" in pages["practice-week-3.html"]
    assert ">week 3</a></li>" in pages["teach.html"]
    assert '<a href="practice-week-3.html">Week 3</a>' in index_page(among, "light")


TABLE = "layer: LayerNorm(3)\nshape: [2, 3]\nat: [0, 1]"
WRONG = [
    ("", "line 1: keys with values are needed here; write one of title or questions"),
    ("questions: []", "line 1: the key questions must have a list whose length is from 1 to 500; write it."),
    ("question: []", "line 1: 'question' is not a key here. Did you mean questions?"),
    (question("text: T\nanser: 3"), "m.yaml, line 3: 'anser' is not a key here. Did you mean answer?"),
    (question("text: T\nzzz: 3"), "line 3: 'zzz' is not a key here; choose id, text,"),
    (question("text: T\ntext: T"), "line 3: 'text' is given twice; give it once."),
    (question("answer: 3"), "line 2: a question needs a text"),
    (question("text: T"), "line 2: a question needs an answer, or a kind whose answer torch computes: means,"),
    (question("text: T\nanswer: many"), "line 3: 'many' is not a number"),
    (question("text: T\nanswer: nan"), "line 3: 'nan' is not a number"),
    (question("text: T\nanswer: c\noptions: [a, b]"), "line 3: the answer is c, and none of the options"),
    (question("text: T\nanswer: a\noptions: [a, a]"), "line 4: the number of options is from 2 to 8, and all must differ"),
    (question("text: T\nanswer: a\noptions:\n- text: a\n- {txt: b}"), "line 6: 'txt' is not a key here. Did you mean text?"),
    (question("text: T\nkind: gamas\nlayer: LayerNorm(3)"), "line 3: kind='gamas' is unknown; choose means,"),
    (question("text: T\nkind: means\nlayer: LayerNorm(3)"), "line 3: kind=means needs the shape of x"),
    (question("text: T\nkind: gammas"), "line 3: kind=gammas needs a layer"),
    (question("text: T\nkind: mean\nlayer: LayerNorm(3)\nshape: [2, 3]"), "line 3: kind=mean needs the values of x and an element"),
    (question("text: T\nkind: means\nlayer: BatchNorm1d(3).eval()\nshape: [2, 3]"), "computes no mean from x in eval mode"),
    (question("text: T\nkind: means\nlayer: LayerNorm(3)\nshape: [2, 4]"), "m.yaml, line 4: "),
    (question("text: T\nkind: means\nlayer: LayrNorm(3)\nshape: [2, 4]"), "m.yaml, line 4: "),
    (question("text: T\nanswer: 1\nshape: [2, 0]"), "line 4: the shape has whole numbers from 1"),
    (question("text: T\nanswer: 1\nshape: [2, 2000000]"), "line 4: the shape has whole numbers from 1 to 1,000,000"),
    (question("text: T\nanswer: 1\nshape: [2, 3]\nat: [2, 0]"), "line 5: at=(2, 0) is not an element of x"),
    (question("text: T\nanswer: 1\nshape: [2, 3]\nvalues: [1]"), "line 5: the number of values is 1, and must be that of the elements of x, 6,"),
    (question("text: T\nanswer: 1\nshape: [1, 2]\nvalues: [1, 1000001]"), "line 5: the figure shows 6 digits of a value, and 1000001 has more; round it."),
    (question("text: T\nanswer: 1\nlevel: 4"), "line 4: level='4' is unknown; choose 1, 2 or 3."),
    (question("text: T\nanswer: 1\nid: a/b"), "line 4: an id has up to 60 letters, digits, hyphens and underscores; change 'a/b'"),
    (question("text: '[a](javascript:alert(1))'\nanswer: 1"), "line 2: 'javascript:alert(1)' cannot be in a text"),
    (question("text: '[a](JAVA&#115;cript:alert(1))'\nanswer: 1"), "cannot be in a text"),
    (question("text: '<javascript:alert(1)>'\nanswer: 1"), "cannot be in a text"),
    (question("text: '![a](https://a.org/b.png)'\nanswer: 1"), "cannot be in a text: a link leads to a web page, and there are no pictures"),
    (question("text: T\nanswer: 1\nexplanation: |\n  [a][b]\n\n  [b]: data:text/html,x"), "cannot be in a text"),
    ("questions:\n  - text: [", "m.yaml, line 2 is not YAML"),
    ("questions: !!python/object/apply:os.system [ls]", "line 1: keys with values are needed here"),
    ("questions: &a [*a]", "m.yaml, line 1 is not YAML: an alias is within itself."),
    (question("text: T\nshape: &a [1, *a]"), "m.yaml, line 3 is not YAML: an alias is within itself."),
    (question("text: T\nshape: 3"), "line 3: a list is needed here; write [a, b]"),
    (question("text: [T]"), "line 2: a text is needed here; write one, in quotes if it has a colon."),
    (question(f"text: T\nanswer: 1\n{TABLE}\nvalues: [[1, 2], [3, 4], [5, 6]]"), "line 7: the lists of values do not have the shape of x, (2, 3);"),
    (question(f"text: T\nanswer: 1\n{TABLE}\nvalues: [[1, 2, 3, 4], [5, 6]]"), "line 7: the lists of values do not have the shape of x, (2, 3);"),
    (question("text: T\nanswer: 1\nshape: [2, 3]\nat: [0.5, 1]"), "line 5: at=(0.5, 1) is not an element of x, whose shape is (2, 3)."),
    (question("text: T\nanswer: 1\nlayout: NC"), "line 4: layout names the axes of a shape; write shape:"),
    (question("text: T\nkind: gammas\nlayer: BatchNorm2d(3)\noptions: [3.0, 6, '3']"), "line 5: the number of options is from 2 to 8, and all must differ"),
    (question(f"text: T\n{TABLE}\nkind: peers\nanswer: [[0, 0]]"), "line 7: the answer is '[[0, 0]]', and torch computes '[[0, 0], [0, 2]]';"),
    (question(f"text: T\n{TABLE}\nkind: peers\nanswer: 3"), "line 7: a list is needed here"),
    (question(f"text: T\n{TABLE}\nkind: peers\noptions: [a, b]"), "line 7: elements are marked for kind=peers; leave options out."),
    (question("text: T\nlayer: LayerNorm(3)\nshape: [3]\nat: [1]\nkind: peers"), "line 6: kind=peers needs a layer, an x of two axes or more"),
    (question("text: T\nlayer: LayerNorm(97)\nshape: [1, 97]\nat: [0, 1]\nkind: peers"), "line 6: the size of x is 97, and may be 96 at most for kind=peers"),
    (question("text: T\nlayer: BatchNorm1d(3).eval()\nshape: [2, 3]\nat: [0, 1]\nkind: peers"), "line 6: BatchNorm1d(3).eval() computes no mean from x"),
    (question("text: T\nlayer: InstanceNorm1d(3)\nshape: [2, 3, 2]\nat: [0, 1, 0]\nkind: parameter_peers"), "line 6: InstanceNorm1d(3) has no gamma; write affine=True"),
    (question("text: T\nanswer: 3\nwrong: [{answer: 6}]"), "line 4: a wrong number needs an answer and a why"),
    (question("text: T\nanswer: 0.25\nwrong: [{answer: 0.251, why: W}]"), "line 4: 0.251 is not wrong, because the answer is 0.25;"),
    (question("text: T\nanswer: 3\nwrong: [{answer: 6, why: W}, {answer: 6.0, why: V}]"), "line 4: '6' is given twice"),
    (question("text: T\nanswer: a\noptions: [a, b]\nwrong: [{answer: 6, why: W}]"), "line 5: wrong is for numbers; write why: below an option."),
    (question("text: T\nanswer: 3\nexplanation: \x07"), r"line 4: the text has '\x07', which no page can show; delete it."),
    (question('text: T\nanswer: 3\nexplanation: "\\0"'), r"line 4: the text has '\x00', which no page can show"),
    (question('text: "\\ud800"\nanswer: 3'), r"line 2: the text has '\ud800', which no page can show"),
    (f"title: {'t' * 201}\nquestions: [{{text: T, answer: 3}}]", "line 1: the length of the text is 201, and may be 200 at most"),
    (question("text: T\nanswer: 3\n") + "\n  - {text: T, answer: 4}", "line 4: two questions have the id 'own-"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "elements", "words"), [
    ("peers", [[0, 0], [0, 2]], "the other elements with n = 0"), ("parameter_peers", [[1, 1]], "the other elements with d = 1"),
])  # fmt: skip
def test_elements_are_marked_and_in_a_course_chosen_among_the_sets_of_confusions(kind, elements, words):
    """By hand: in a table, LayerNorm's mean is that of the row, and each column has a gamma."""
    (one,) = read_questions(
        question(f"text: Mark them.\n{TABLE}\nkind: {kind}\nanswer: {elements}"), "m.yaml"
    ).exercises
    sent, asked = one.data(), item(one)
    assert (sent.form, sent.at, one.json()["answer"]) == ("mark", (0, 1), elements)
    assert sent.answer == [row * 3 + column for row, column in elements]
    assert {key for key, _set in sent.wrong} <= CONFUSIONS.keys()
    assert [option.text for option in asked.options if option.right] == [words]
    assert all(option.feedback.startswith("That is ") for option in asked.options if not option.right)
    assert len({option.text for option in asked.options}) == len(asked.options) >= 3
    assert one.explanation.startswith(words.capitalize())
    assert asked.solution != asked.picture


@pytest.mark.parametrize(
    "layer",
    [
        "RMSNorm(4)",
        "BatchNorm1d(3)",
        "GroupNorm(1, 3)",
        "ChannelsLastBatchNorm(4)",
        "ChannelsLastGroupNorm(2, 4)",
        "InstanceNorm1d(3, affine=True)",
    ],
)
@pytest.mark.parametrize("kind", ["peers", "parameter_peers"])
def test_elements_of_every_family_can_be_marked(layer, kind):
    (one,) = read_questions(
        question(f"text: T\nlayer: {layer}\nshape: [2, 3, 4]\nat: [0, 1, 0]\nkind: {kind}"), "m.yaml"
    ).exercises
    assert sum(option.right for option in item(one).options) == 1 < len(item(one).options)
    assert one.at not in map(tuple, one.json()["answer"])


def test_a_wrong_number_has_the_reason_of_the_teacher_in_the_browser_in_moodle_and_in_the_key():
    wrong = "wrong: [{answer: 6, why: 'That counts the **betas**, too.'}, {answer: 1, why: One each.}]"
    (one,) = read_questions(question(f"text: T\nlayer: BatchNorm2d(3)\nkind: gammas\n{wrong}"), "m.yaml").exercises
    sent = one.data()
    assert sent.wrong == [("own-0", 6), ("own-1", 1)]
    assert sent.why == {"own-0": "That counts the <strong>betas</strong>, too.", "own-1": "One each."}
    assert item(one).mistakes == ((6.0, "That counts the **betas**, too."), (1.0, "One each."))
    assert "<b>6</b>: That counts the <strong>betas</strong>, too." in key([Sheet("", "", False, [item(one)])])
    assert b"That counts the <strong>betas</strong>, too." in moodle_xml([item(one)], "set").replace(
        b"&lt;", b"<"
    ).replace(b"&gt;", b">")


def test_aliases_that_repeat_each_other_do_not_fill_the_memory():
    lists = ["&a0 [1, 2]", *(f"&a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    with pytest.raises(
        NormvizError,
        match=r"m\.yaml, line \d+ is not YAML: the number of its values, with those that aliases repeat, is above 100,000",
    ):
        read_questions(question(f"text: T\nanswer: 3\nvalues: [{', '.join(lists)}]"), "m.yaml")
    shared = "title: &t T\nquestions:\n  - {text: *t, layer: &l LayerNorm(3), kind: gammas}\n  - {text: U, layer: *l, kind: gammas}"
    assert [one.prompt[-1] for one in read_questions(shared, "m.yaml").exercises] == ["T", "U"]


VALUES = "text: T\nlayer: LayerNorm(3)\nshape: [2, 3]\nat: [0, 1]\nvalues: [[1, 2, 6], [0, 0, 1]]\nkind: variance"


def test_the_option_nearest_to_what_torch_computes_is_right_and_has_the_reason():
    (one,) = read_questions(question(f"{VALUES}\noptions: [4.66, 4.67, 7]"), "m.yaml").exercises
    assert [option.right for option in item(one).options] == [False, True, False]
    assert one.explanation.endswith("the mean of the squared deviations is 4.667.".replace("4.667", "4.67"))
    assert one.data().answer == "4.67"


@pytest.mark.parametrize(("layer", "values", "words"), [
    ("LayerNorm(3)", "[[1, 2, 6], [0, 0, 1]]", "with mean 3 and variance 4.667: (2 − 3) / √4.667 = −0.46."),
    ("LayerNorm(3, eps=10)", "[[1, 2, 6], [0, 0, 1]]", "eps is 10: (2 − 3) / √(4.667 + 10) = −0.26."),
    ("LayerNorm(3)", "[[2, 2, 2], [0, 0, 1]]", "eps is 1e−5: (2 − 2) / √(0 + 1e−5) = 0."),
    ("RMSNorm(3, eps=10)", "[[1, 2, 1], [0, 0, 1]]", "with mean square 2; eps is 10: 2 / √(2 + 10) = 0.58."),
    ("RMSNorm(3)", "[[0, 0, 0], [0, 0, 1]]", "with mean square 0; eps is 2.22e−16: 0 / √(0 + 2.22e−16) = 0."),
    ("BatchNorm1d(3).eval()", "[[1, 2, 6], [0, 0, 1]]", "eps is 1e−5: (2 − 0) / √(1 + 1e−5) = 2."),
    ("BatchNorm1d(3, eps=3).eval()", "[[1, 2, 6], [0, 0, 1]]", "eps is 3: (2 − 0) / √(1 + 3) = 1."),
])  # fmt: skip
def test_the_reason_of_an_output_is_arithmetic_that_holds(layer, values, words):
    text = f"text: T\nlayer: {layer}\nshape: [2, 3]\nat: [0, 1]\nvalues: {values}\nkind: output"
    assert read_questions(question(text), "m.yaml").exercises[0].explanation.endswith(words)


@pytest.mark.parametrize(("answer", "tolerance"), [("1e-5", 1e-7), ("0.25", 0.0025), ("12.5", 0.011), ("3", 0)])
def test_zero_is_not_right_where_the_answer_is_small(answer, tolerance):
    (one,) = read_questions(question(f"text: T\nanswer: {answer}"), "m.yaml").exercises
    assert one.tolerance == pytest.approx(tolerance)
    (computed,) = read_questions(question(VALUES), "m.yaml").exercises
    assert computed.tolerance == 0.011


def test_a_large_answer_keeps_its_digits():
    (one,) = read_questions(question("text: T\nlayer: BatchNorm2d(1234567)\nkind: gammas"), "m.yaml").exercises
    assert "<text>1234567</text>" in moodle_xml([item(one)], "T").decode()
    assert "<b>1234567</b>" in key([Sheet("", "", False, [item(one)])])


@pytest.mark.parametrize(("front", "body", "words"), [
    ("layer: BatchNorm2d(3)", "Which?\n\n- [x] 3\n- [x] 6\n", "g.md, line 7: 'answer' is given twice; give it once."),
    ("answer: 6", "Which?\n\n- [x] 3\n- [ ] 6\n", "g.md, line 6: 'answer' is given twice"),
    ("text: A", "Which?\n", "g.md, line 4: 'text' is given twice"),
    ("answer: 3", "Which \x07?\n", r"g.md, line 4: the text has '\x07'"),
])  # fmt: skip
def test_what_a_markdown_file_says_twice_is_refused(front, body, words):
    with pytest.raises(NormvizError) as error:
        read_markdown(f"---\n{front}\n---\n{body}", "g.md")
    assert words in str(error.value)


@pytest.mark.parametrize(("text", "words"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said_with_its_line(text, words):
    with pytest.raises(NormvizError) as error:
        read_questions(text, "m.yaml")
    assert words in str(error.value)


def test_ids_are_unique_over_files_and_a_file_that_cannot_be_read_is_named(tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(QUESTIONS)
    with pytest.raises(NormvizError, match=r"two files have a question with the id '.+'"):
        read_files([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    with pytest.raises(NormvizError, match="cannot be read"):
        read_files([tmp_path / "none.yaml"])
    (tmp_path / "large.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(NormvizError, match=r"large\.yaml cannot be read \(it is larger than 1 MB\)"):
        read_files([tmp_path / "large.yaml"])


@pytest.mark.parametrize(("encoding", "line"), [("utf-16", 1), ("latin-1", 2)])
def test_a_file_that_is_not_utf_8_says_how_to_save_it(tmp_path, encoding, line):
    file = tmp_path / "mine.yaml"
    file.write_bytes("questions:\n  - text: ¿Cuántas medias?\n".encode(encoding))
    with pytest.raises(NormvizError, match=rf"mine\.yaml, line {line} is not UTF-8; save the file as UTF-8\."):
        read_files([file])


def test_the_schema_for_editors_has_the_keys_of_the_files():
    of_question = SCHEMA["$defs"]["question"]["properties"]
    assert [*of_question] == [*KEYS]
    assert of_question["kind"]["enum"] == [*COMPUTED]
    assert (of_question["topic"]["enum"], of_question["level"]["enum"]) == ([*TOPICS], [*LEVELS])
    assert of_question["id"]["pattern"] == f"^{SAFE_ID.pattern}$"
    assert (of_question["text"]["maxLength"], of_question["options"]["maxItems"]) == (MOST_TEXT, MOST_OPTIONS)
    assert of_question["shape"]["items"]["maximum"] == MOST_SIZE
    assert f"{MOST_VALUES} at most" in of_question["values"]["description"]
    title, listed = SCHEMA["properties"].values()
    assert (title["maxLength"], listed["maxItems"]) == (MOST_TITLE, MOST_QUESTIONS)
    assert [*SCHEMA["$defs"]["option"]["anyOf"][1]["properties"]] == [*OPTION_KEYS]
    assert [*SCHEMA["$defs"]["wrong"]["properties"]] == [*WRONG_KEYS]
    assert [*SCHEMA["properties"]] == [*FILE_KEYS]
    import jsonschema  # compiles 38 grammars

    jsonschema.validate({"questions": [{"text": "T", "answer": 3, "wrong": [{"answer": 6, "why": "W"}]}]}, SCHEMA)
    jsonschema.validate({"questions": [{"text": "T", "answer": [[0, 1]], "kind": "peers"}]}, SCHEMA)
    jsonschema.validate(yaml.safe_load(QUESTIONS), SCHEMA)
    jsonschema.validate({"questions": [{"text": "True?", "options": [True, False], "answer": True}]}, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(QUESTIONS.replace("answer", "anser")), SCHEMA)
