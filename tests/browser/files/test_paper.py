"""An exam is printed on A4 and on Letter: each figure is whole on one page, and each sheet begins on a page of its own."""

import re

import pytest

from normviz.export.pictures import print_pdfs
from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.formats.paper import Sheet, exam
from normviz.lessons.practice.formats.quiz import PRINTED, item
from normviz.lessons.random import Random

pytestmark = pytest.mark.browser
# A link around each figure: a printed file says where it is, once for each page on which a part of it stands.
LINKED = """() => document.querySelectorAll("figure, h1").forEach((one, number) => {
  const link = Object.assign(document.createElement("a"), { href: `https://${one.localName}/${number}` });
  one.before(link);
  link.append(one);
  link.style.display = "block";
})"""


def pages_of(pdf):
    """The links on each page."""
    objects = dict(re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL))
    for one in objects.values():
        if b"/Type /Page\n" in one:
            annotations = re.search(rb"/Annots \[(.*?)\]", one)
            numbers = re.findall(rb"(\d+) 0 R", annotations[1]) if annotations else []
            yield [re.search(rb"/URI \(https://(.*?)\)", objects[number])[1].decode() for number in numbers]


def test_an_exam_as_pdf_has_the_size_of_the_paper():
    assert b"/MediaBox [0 0 612 792]" in print_pdfs([exam([Sheet("", "", False, [])])], "letter")[0]


def test_no_page_cuts_a_figure(new_tab):
    largest = {one.case.shape: one for one in bank()}  # tall ones, wide ones, and those without their middle
    items = [item(one, look=PRINTED) for one in Random(3).shuffled(list(largest.values()))]
    sheets = [Sheet("Ada", "1", True, items[: len(items) // 2]), Sheet("Emmy", "2", True, items[len(items) // 2 :])]
    page = new_tab()
    page.set_content(exam(sheets))
    page.evaluate(LINKED)
    for paper in ("A4", "Letter"):
        pages = list(pages_of(page.pdf(format=paper)))
        found = [name for one in pages for name in one]
        assert sorted(found) == sorted({*found})  # a cut one would be on two pages
        assert len(found) == len(items) + len(sheets)
        assert pages[0][0].startswith("h1")
        assert all(one[0].startswith("h1") for one in pages if any(name.startswith("h1") for name in one))
