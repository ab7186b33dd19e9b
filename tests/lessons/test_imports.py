"""A module answers the same, whatever else has been imported: no import fills a registry of another module."""

import pytest

from tests.support.fresh import print_fresh

# What ``scene`` says of names that only pages have, and how many values each global of the rooms below the list of pages holds.
PROGRAM = """
import sys
from importlib import import_module
from pkgutil import walk_packages

from normviz.lessons import page
from normviz.scene.view import Display, read_display, read_view

for room in ("texts", "layers", "analysis", "code", "scene", "measuring", "figures", "parts"):
    for module in walk_packages(import_module(f"normviz.{room}").__path__, f"normviz.{room}."):
        import_module(module.name)
rooms = {name: module for name, module in sys.modules.items() if name.startswith("normviz")}
BEFORE

def answers():
    query = {"count": "5", "shap": "2", "hide": "experiment,nothing"}
    hidden = [name for name in ("experiment", "nothing", "code", "caption") if Display(("controls",)).hides(name)]
    return read_view(query).problem, read_display(query), hidden

def sizes():
    return {
        f"{room}.{name}": len(value)
        for room, module in rooms.items()
        for name, value in vars(module).items()
        if isinstance(value, dict | list | set) and not name.startswith("__")
    }

answered, held = answers(), sizes()
import normviz.lessons.pages, normviz.api.pages, normviz.export.site
AFTER
assert answers() == answered
print(*(name for name, size in sizes().items() if size != held[name]))
"""


REGISTRIES = ["normviz.scene.setting.OF_PAGES", "normviz.lessons.page.ALL_PAGES"]


@pytest.fixture(scope="module")
def filled() -> tuple[str, str]:
    """The globals that the import of the pages fills, without and with registries that it fills; ``scene`` answers as before."""
    places = [
        f'rooms["{module}"].{registry}' for module, _dot, registry in (name.rpartition(".") for name in REGISTRIES)
    ]
    before = "; ".join(f"{place} = {{}}" for place in places)
    after = "; ".join(f"{place}.update(normviz.lessons.pages.PAGES)" for place in places)
    programs = [
        PROGRAM.replace("BEFORE", set_up).replace("AFTER", filling) for set_up, filling in (("", ""), (before, after))
    ]
    found, with_registries = print_fresh(programs)
    return found, with_registries


def test_scene_answers_the_same_before_and_after_the_pages_are_imported(filled):
    assert filled[0].strip() == ""


def test_registries_that_an_import_fills_are_found(filled):
    assert sorted(filled[1].split()) == sorted(REGISTRIES)
