"""A new keyword is one Setting: its place in the signature, the help, the link, the types, the docs and the command follow from it."""

import inspect
import re
from dataclasses import replace

import pytest

import normviz as nv
from normviz.api import pages
from normviz.api.pages import page_function
from normviz.cli import arguments
from normviz.lessons.pages import PAGES
from normviz.lessons.practice import settings
from normviz.scene.setting import choice, integer
from tools import keywords, link_tables

VOLUME = choice("volume", {"soft": "Soft", "loud": "Loud"}, label="Volume", about="how loud it is", example="loud")
SPEED = integer("speed", 1, 9, 3, label="Speed", about="how fast it is", example="5")


@pytest.fixture
def toy(monkeypatch):
    """The function of a page with these settings."""
    monkeypatch.setitem(PAGES, "story", replace(PAGES["story"], settings=(VOLUME, SPEED)))

    @page_function()
    def story(**given):
        """A page.

        Raises NormvizError for an invalid argument.
        """
        return pages._without_tensor("story", given)

    monkeypatch.setattr(nv, "story", story, raising=False)
    return story


def test_it_is_in_the_signature_and_in_the_help(toy):
    parameters = inspect.signature(toy).parameters
    assert str(parameters["volume"]) == "volume: \"Literal['soft', 'loud']\" = 'soft'"
    assert str(parameters["speed"]) == "speed: 'int' = 3"
    assert "\n\nvolume   how loud it is\nspeed    how fast it is (1 to 9)\nhide " in toy.__doc__


def test_it_is_in_the_link(toy):
    assert toy(volume="loud", speed=5).url() == "/story?volume=loud&speed=5"
    assert nv.open("/story?volume=loud").query == {"volume": "loud", "speed": "3"}
    with pytest.raises(nv.NormvizError, match="volume='high' is unknown; choose soft or loud"):
        toy(volume="high")


def test_type_checkers_know_it(toy):
    pytest.importorskip("ruff")
    assert 'volume: Literal["soft", "loud"]\n    speed: int\n' in keywords.text()


def test_it_is_in_the_documentation_of_links(toy):
    _scene, of_pages, *_others = link_tables.tables()
    assert "| `volume` | Why five layers? | how loud it is | `volume=loud` |" in of_pages


def test_it_is_an_option_of_the_command(monkeypatch):
    monkeypatch.setattr(settings, "OPTIONS", (VOLUME, SPEED))
    parser = arguments.Parser("normviz practice")
    arguments._add_practice(parser)
    assert re.search(r"--volume loud +how loud it is; default: soft\n", parser.format_help())
    assert parser.parse_args(["--volume", "soft", "--speed", "7"]).speed == "7"
