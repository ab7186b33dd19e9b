"""Pages in a language with accents, in English and in that language again, in one process: every text is in the language of its turn."""

import json
import re
from collections.abc import Iterator

import pytest

from normviz.cli import main
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, page_view
from normviz.parts.html import Body
from normviz.texts import messages
from normviz.texts.messages import in_language
from tools.pseudo import write_locale

VIEWS = [
    *((name, "") for name in PAGES),
    ("explore", "layer=LayerNorm(9)"),
    ("explore", "lay=3"),
    ("explore", "tour=normalized-shape&stop=2"),
    ("train_and_eval", "show=modes&layer=BatchNorm2d(3)"),
    ("gradients", "show=backward"),
    ("numerics", "show=single"),
    ("questions", "q=s0&guess=example"),
    ("questions", "q=q17"),
]
ACCENTED = re.compile("[ƀƒĥķļɱɋŕţṽŵẋ]")


@pytest.fixture(scope="module", autouse=True)
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "LOCALE", write_locale(tmp_path_factory.mktemp("locale")))
        yield


def rendered(name: str, query: str, language: str) -> str:
    """The HTML of the page, and the data of its figures."""
    with in_language(language):
        body = Body(app="")
        parts = body.keyed(page_view(PAGES[name], PAGES[name].view(query)).parts)
        return json.dumps([parts, body.figures, sent(body.terms())], ensure_ascii=False)


@pytest.mark.parametrize(("name", "query"), VIEWS)
def test_a_page_is_in_one_language_whatever_was_shown_before(name, query):
    first, english, again = (rendered(name, query, language) for language in ("xa", "en", "xa"))
    assert ACCENTED.search(first)
    assert ACCENTED.findall(english) == []
    assert first == again


def test_the_help_of_the_command_is_translated(capsys):
    with in_language("xa"), pytest.raises(SystemExit):
        main(["site", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if re.match("(usage|options|positional)", line) or "show this" in line] == []
    assert sum(bool(ACCENTED.search(line)) for line in lines) > 5
