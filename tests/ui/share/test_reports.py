"""Readers can report an error in every page."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.lessons.share.panel import report_address
from normviz.texts.errors import NormvizError
from tests.support.javascript import LESSONS, evaluate
from tests.support.pages import open_page
from tests.support.shown import components
from tests.support.snippets import pairs

REPORT = LESSONS / "share/report.ts"
TO = "https://example.org/new?title={title}&body={text}"


def test_a_report_names_the_view_and_has_its_link() -> None:
    view = {"title": "Does {text} & more?", "link": "https://example.org/questions?q=s0&hide=a"}
    text, address = evaluate("[reportText(args[0]), reportTo(args[1], args[0])]", view, TO, entry=REPORT)
    assert text.splitlines() == ["What is wrong, and what did you expect?", "", "", view["title"], view["link"]]
    assert pairs(address) == {"title": f"Error in normviz: {view['title']}", "body": text}


def test_every_page_has_a_report() -> None:
    for name in PAGES:
        assert [found["report"] for found in components(open_page(name)) if "report" in found] == [""], name


@pytest.mark.parametrize("address", ["", "mailto:a@example.edu?body={text}", TO])
def test_reports_go_to_an_address_with_the_text(address: str) -> None:
    assert report_address({"NORMVIZ_REPORT": address}) == address
    assert report_address({}) == ""


@pytest.mark.parametrize(
    "address", ["a@example.edu", "mailto:a@example.edu", "javascript:alert({text})", "https://a/\n{text}"]
)
def test_another_setting_for_reports_is_refused(address: str) -> None:
    with pytest.raises(
        NormvizError, match=r"NORMVIZ_REPORT=.* must be an address with \{text\}; write, for example, mailto:"
    ):
        report_address({"NORMVIZ_REPORT": address})
