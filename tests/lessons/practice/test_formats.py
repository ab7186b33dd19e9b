"""Sets for learning management systems: what they contain is read back from the files."""

import io
import json
import sqlite3
import zipfile
from base64 import b64decode
from dataclasses import replace
from html import unescape
from math import prod

import pytest
from lxml import etree

from normviz.lessons.practice.bank import bank, choose
from normviz.lessons.practice.confusions import feedback
from normviz.lessons.practice.exercise import EXERCISE_KINDS
from normviz.lessons.practice.formats.anki import anki_package
from normviz.lessons.practice.formats.moodle import moodle_xml
from normviz.lessons.practice.formats.qti import qti_package
from normviz.lessons.practice.formats.quiz import MOST_CELLS, item, svg

APP = "https://example.org/normviz"
EXERCISES = [*choose(7, 22), *choose(7, 1, forms=["build"])]
ITEMS = [item(exercise, APP) for exercise in EXERCISES]
QTI = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
MANIFEST = {"m": "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"}


def first(kind: str, items=ITEMS):
    return next(each for each in items if each.id.startswith(f"{kind}-"))


def test_the_set_has_every_kind():
    assert {exercise.kind for exercise in EXERCISES} == set(EXERCISE_KINDS)


def test_marking_becomes_a_choice_among_sets_in_words():
    peers = first("peers")
    assert "Mark" not in peers.prompt
    assert peers.answer == "the other elements with c = 0"
    right = [option for option in peers.options if option.right]
    assert [option.text for option in right] == [peers.answer]
    assert all(option.feedback.startswith("That is ") for option in peers.options if not option.right)


def test_a_wrong_number_names_its_confusion():
    exercise = next(
        each
        for each in bank()
        if each.kind == "means" and each.case.text == "LayerNorm(3)" and each.case.shape == (2, 3)
    )
    told = feedback("batchnorm", exercise.case)
    assert (3.0, told) in item(exercise).mistakes
    assert told == (
        "That is BatchNorm's answer. BatchNorm keeps the channels: on (N, D) it averages over N. "
        "LayerNorm(3) does not average over exactly these axes."
    )


def test_build_becomes_a_choice_among_axes_and_its_picture_has_the_elements():
    exercise = next(each for each in bank() if each.variant == "groups" and len(each.case.shape) == 4)
    made = item(exercise)
    assert made.prompt.endswith("share it?")
    assert made.answer == "c in 2 groups, h and w"
    assert [option.feedback for option in made.options if option.right] == ["Right."]
    assert all(option.feedback.startswith("That is ") for option in made.options if not option.right)
    fills = [rect.get("fill") for rect in etree.fromstring(made.picture).iter("{*}rect")]
    assert max(fills.count(fill) for fill in set(fills) - {"#e6e9ef"}) == len(exercise.target)


def test_the_picture_of_two_rows_and_three_columns():
    exercise = next(
        each
        for each in bank()
        if each.kind == "peers" and each.case.text == "LayerNorm(3)" and each.case.shape == (2, 3)
    )
    picture, solution = (etree.fromstring(svg(exercise, answered)) for answered in (False, True))
    fills = [rect.get("fill") for rect in solution.iter("{*}rect")]
    assert len(list(picture.iter("{*}rect"))) == 1 + 6 + 1  # the background, the cells and the frame
    marked = max(fills.count(fill) for fill in set(fills) - {"none", "#e6e9ef", "#ffffff"})
    assert marked == 2  # the other two elements of the row


def test_a_picture_of_any_shape_has_all_cells_inside():
    shapes = {each.case.shape: each for each in bank()}
    for exercise in shapes.values():
        picture = etree.fromstring(svg(exercise))
        width, height = int(picture.get("width")), int(picture.get("height"))
        cells = [rect for rect in picture.iter("{*}rect") if rect.get("x")]
        assert all(int(cell.get("x")) + 30 <= width and int(cell.get("y")) + 30 <= height for cell in cells)
        corners = [(cell.get("x"), cell.get("y")) for cell in cells if cell.get("fill") != "none"]
        is_whole = prod(exercise.case.shape) <= MOST_CELLS
        drawn = prod(
            exercise.case.shape if is_whole else (min(size, 2 if size > 3 else 3) for size in exercise.case.shape)
        )
        assert len(set(corners)) == len(corners) == drawn
        assert is_whole == ("…" not in svg(exercise))


def test_every_kind_has_a_picture_also_the_exercises_on_train_and_eval():
    assert all(etree.fromstring(each.picture).tag.endswith("svg") for each in ITEMS)
    assert {exercise.kind for exercise in EXERCISES} >= {"mode"}


def test_the_picture_of_a_large_x_has_the_first_and_the_last_indices_and_their_names():
    exercise = next(each for each in bank() if each.case.shape == (8, 12, 4, 4))
    texts = [text.text for text in etree.fromstring(svg(exercise)).iter("{*}text")]
    assert [text for text in texts if "=" in text] == ["n = 0, c = 0", "n = 0, c = 11", "n = 7, c = 0", "n = 7, c = 11"]
    assert texts.count("⋮") == 2 * 4 + 1  # in both columns of each facet, and between the rows of facets


def test_moodle_xml_has_the_answers_the_feedback_and_the_pictures():
    quiz = etree.fromstring(moodle_xml(ITEMS, "a set"))
    category, *questions = quiz
    assert category.findtext("category/text") == "$course$/top/a set"
    assert [question.findtext("idnumber") for question in questions] == [each.id for each in ITEMS]
    for question, each in zip(questions, ITEMS, strict=True):
        assert question.get("type") == ("multichoice" if each.options else "numerical")
        right = question.findall("answer[@fraction='100']")
        assert [unescape(answer.findtext("text")) for answer in right] == [each.answer]
        wrong = question.findall("answer[@fraction='0']")
        assert len(wrong) == (len(each.options) - 1 if each.options else len(each.mistakes)) > 0
        assert all(answer.findtext("feedback/text").startswith("That is ") for answer in wrong)
        assert APP in question.findtext("generalfeedback/text")
        for text in question.xpath("questiontext|generalfeedback"):
            names = [file.get("name") for file in text.findall("file")]
            assert [f'src="@@PLUGINFILE@@/{name}"' in text.findtext("text") for name in names] == [True] * len(names)
            assert all(etree.fromstring(b64decode(file.text)).tag.endswith("svg") for file in text.findall("file"))
    assert first("means").picture
    assert questions[0].find("answer/tolerance") is not None


@pytest.fixture(scope="module")
def package() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(qti_package(ITEMS, "a set")))


def assessment(package: zipfile.ZipFile) -> etree._Element:
    name = next(name for name in package.namelist() if name.endswith(".xml") and "meta" not in name and "/" in name)
    return etree.fromstring(package.read(name))


def test_the_manifest_of_the_qti_package_lists_every_file(package):
    manifest = etree.fromstring(package.read("imsmanifest.xml"))
    listed = manifest.xpath("//m:file/@href", namespaces=MANIFEST)
    files = [name for name in package.namelist() if not name.endswith("/") and name != "imsmanifest.xml"]
    assert sorted(listed) == sorted(files)
    assert all(etree.fromstring(package.read(name)).tag.endswith("svg") for name in files if name.endswith(".svg"))


def test_the_qti_package_has_the_questions_and_one_right_answer_each(package):
    found = assessment(package).findall(".//q:item", QTI)
    assert len(found) == len(ITEMS)
    for question, each in zip(found, ITEMS, strict=True):
        prompt = etree.HTML(question.findtext("q:presentation/q:material/q:mattext", namespaces=QTI))
        assert prompt.xpath("string()").split("\n")[0].strip() == each.prompt
        if each.options:
            texts = {
                label.get("ident"): etree.HTML(label.findtext(".//q:mattext", namespaces=QTI)).xpath("string()").strip()
                for label in question.findall(".//q:response_label", QTI)
            }
            assert list(texts.values()) == [option.text for option in each.options]
            scored = question.xpath(".//q:respcondition[q:setvar]//q:varequal/text()", namespaces=QTI)
            assert [texts[ident] for ident in scored] == [each.answer]
        else:
            assert float(question.xpath("string(.//q:varequal)", namespaces=QTI)) == each.number


def test_the_pictures_of_the_qti_package_are_in_it(package):
    sources = {
        source
        for text in assessment(package).iterfind(".//q:mattext", QTI)
        for source in etree.HTML(text.text).xpath("//img/@src")
    }
    images = {name for name in package.namelist() if name.startswith("images/")}
    assert {source.replace("%24IMS-CC-FILEBASE%24/", "") for source in sources} == images
    assert len(images) > 10


def test_the_anki_package_has_a_note_with_its_pictures_for_each_exercise(tmp_path):
    package = zipfile.ZipFile(io.BytesIO(anki_package(ITEMS, "a set")))
    place = tmp_path / "collection.anki2"
    place.write_bytes(package.read("collection.anki2"))
    with sqlite3.connect(place) as database:
        notes = [fields.split("\x1f") for (fields,) in database.execute("select flds from notes")]
        (decks,) = database.execute("select decks from col").fetchone()
        cards = database.execute("select count(*) from cards").fetchone()[0]
    database.close()
    assert cards == len(notes) == len(ITEMS)
    assert "a set" in [deck["name"] for deck in json.loads(decks).values()]
    assert [unescape(answer) for _id, _question, _options, answer, _behind in notes] == [each.answer for each in ITEMS]
    media = json.loads(package.read("media"))
    named = set(media.values())
    used = {source for note in notes for field in note for source in _images(field)}
    assert used == named
    assert all(etree.fromstring(package.read(key)).tag.endswith("svg") for key in media)


def _images(html: str) -> list[str]:
    return etree.HTML(f"<p>{html}</p>").xpath("//img/@src")


def test_links_are_left_out_where_there_is_no_app():
    alone = [item(exercise) for exercise in EXERCISES[:3]]
    assert b"<a " not in moodle_xml(alone, "a set")
    assert all(each.link == "" for each in alone)


def test_questions_with_the_same_text_and_other_options_go_into_one_package_although_text2qti_takes_no_text_twice():
    asked = replace(first("mode"), picture="", solution="")
    package = zipfile.ZipFile(io.BytesIO(qti_package([asked, replace(asked, options=asked.options[::-1])], "a set")))
    texts = [
        one.findtext("q:presentation/q:material/q:mattext", namespaces=QTI)
        for one in assessment(package).iterfind(".//q:item", QTI)
    ]
    assert len(texts) == 2
    assert unescape(texts[1]).replace("\u200b", "") == unescape(texts[0])


def test_an_answer_of_zero_has_a_margin_because_text2qti_takes_no_zero_alone():
    none = next(each for each in bank() if each.about.form == "number" and each.answer == 0 and not each.values)
    asked = replace(item(none), options=())
    package = zipfile.ZipFile(io.BytesIO(qti_package([asked], "a set")))
    assert [one.text for one in assessment(package).iterfind(".//q:varequal", QTI)] == ["0.0000"]
