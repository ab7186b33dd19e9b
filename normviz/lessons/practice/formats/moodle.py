"""A set as Moodle XML, written with lxml: https://docs.moodle.org/en/Moodle_XML_format."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from lxml import etree

from normviz.lessons.practice.formats.quiz import Item, digits
from normviz.texts.messages import _


def moodle_xml(items: Sequence[Item], title: str) -> bytes:
    """The questions in a category named ``title``; pictures are in the file."""
    quiz = etree.Element("quiz")
    category = etree.SubElement(quiz, "question", type="category")
    _text(etree.SubElement(category, "category"), f"$course$/top/{title.replace('/', ' ')}")
    for item in items:
        _question(quiz, item)
    written: bytes = etree.tostring(quiz, encoding="UTF-8", xml_declaration=True, pretty_print=True)
    return written


def _question(quiz: etree._Element, item: Item) -> None:
    question = etree.SubElement(quiz, "question", type="multichoice" if item.options else "numerical")
    _text(etree.SubElement(question, "name"), item.id)
    _rich(question, "questiontext", item.prompt, item.picture, item)
    _rich(question, "generalfeedback", item.explanation, item.solution, item, item.link)
    for name, value in (("defaultgrade", "1"), ("penalty", "0.3333333"), ("hidden", "0"), ("idnumber", item.id)):
        etree.SubElement(question, name).text = value
    if item.options:
        for name, value in (("single", "true"), ("shuffleanswers", "true"), ("answernumbering", "abc")):
            etree.SubElement(question, name).text = value
        for option in item.options:
            _answer(question, item.line(option.text), option.right, item.line(option.feedback), "html")
        return
    right = _answer(question, item.answer, True, escape(_("Right.")), "moodle_auto_format")
    etree.SubElement(right, "tolerance").text = f"{item.tolerance:g}"
    for number, feedback in item.mistakes:
        wrong = _answer(question, digits(number), False, item.line(feedback), "moodle_auto_format")
        etree.SubElement(wrong, "tolerance").text = f"{item.tolerance:g}"


def _answer(question: etree._Element, text: str, right: bool, feedback: str, form: str) -> etree._Element:
    answer = etree.SubElement(question, "answer", fraction="100" if right else "0", format=form)
    _text(answer, text)
    _text(etree.SubElement(answer, "feedback", format="html"), feedback)
    return answer


def _rich(question: etree._Element, name: str, text: str, picture: str, item: Item, link: str = "") -> None:
    """A text with a picture, and with a link to the view that settles the question."""
    element = etree.SubElement(question, name, format="html")
    html = item.block(text)
    file = f"{item.id}-{name}.svg"
    if link:
        html += f'<p><a href="{escape(link)}">{escape(_("Open the figure"))}</a></p>'
    if picture:
        html += f'<p><img src="@@PLUGINFILE@@/{file}" alt="{escape(item.spoken)}"></p>'
    _text(element, html)
    if picture:
        stored = etree.SubElement(element, "file", name=file, path="/", encoding="base64")
        stored.text = b64encode(picture.encode()).decode()


def _text(parent: etree._Element, text: str) -> None:
    etree.SubElement(parent, "text").text = text
