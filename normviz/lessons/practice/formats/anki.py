"""A set as an Anki package, written by genanki: one note for each exercise, the question in front, the answer behind."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import genanki

from normviz.lessons.practice.formats.quiz import Item
from normviz.lessons.random import hash_text
from normviz.texts.messages import _

FIELDS = ("Id", "Question", "Options", "Answer", "Explanation")
FRONT = "{{Question}}{{Options}}"
BACK = '{{FrontSide}}<hr id="answer"><p><b>{{Answer}}</b></p>{{Explanation}}'
STYLE = ".card { font-family: sans-serif; font-size: 18px; text-align: left; } img { max-width: 100%; }"
MODEL = 1_721_450_933  # the same in every package, so that Anki knows the note type again


def anki_package(items: Sequence[Item], title: str) -> bytes:
    """A package with one deck; a note has the id of its exercise, so that importing it again does not double it."""
    templates = [{"name": "normviz", "qfmt": FRONT, "afmt": BACK}]
    model = genanki.Model(MODEL, "normviz", fields=[{"name": name} for name in FIELDS], templates=templates, css=STYLE)
    deck = genanki.Deck(2**30 + hash_text(title) % 2**30, title)
    with TemporaryDirectory() as folder:
        files = [file for item in items for file in _pictures(item, Path(folder))]
        for item in items:
            deck.add_note(genanki.Note(model, fields=_fields(item), guid=genanki.guid_for(item.id)))
        package = genanki.Package(deck, media_files=[str(file) for file in files])
        place = Path(folder) / "set.apkg"
        package.write_to_file(str(place))
        return place.read_bytes()


def _fields(item: Item) -> list[str]:
    options = "".join(f"<li>{item.line(option.text)}</li>" for option in item.options)
    link = f'<p><a href="{escape(item.link)}">{escape(_("Open the figure"))}</a></p>' if item.link else ""
    question = f"{item.block(item.prompt)}{_image(item, '') if item.picture else ''}"
    behind = f"{item.block(item.explanation)}{_image(item, '-solution') if item.solution else ''}{link}"
    return [item.id, question, f"<ol>{options}</ol>" if options else "", item.line(item.answer), behind]


def _image(item: Item, suffix: str) -> str:
    return f'<img src="normviz-{item.id}{suffix}.svg" alt="{escape(item.spoken)}">'


def _pictures(item: Item, folder: Path) -> list[Path]:
    """The files of the pictures. Their names are unique in Anki, which keeps all media in one folder."""
    files = []
    for suffix, svg in (("", item.picture), ("-solution", item.solution)):
        if svg:
            files.append(folder / f"normviz-{item.id}{suffix}.svg")
            files[-1].write_text(svg, encoding="utf-8")
    return files
