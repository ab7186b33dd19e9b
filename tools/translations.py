"""The translations in `normviz/locale/`, one folder per language; docs/translating.md says how to use this.

python -m tools.translations                         update the .po files from the code, compile them, print what is left to do
python -m tools.translations status [LANG ...]       only print it; with --strict the exit code is 1 if something is left to do
python -m tools.translations stamp LANG [FILE ...]   note in the translated files that they are made from the English of today
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from normviz.texts.languages import STAMP, digest

PACKAGE = Path(__file__).resolve().parents[1] / "normviz"
LOCALE, ENGLISH = PACKAGE / "locale", PACKAGE / "locale" / "en"
PROSE = ("glossary.md", "pages/*.md", "questions/*.md", "start/*.md", "story/*.md", "tours/*.yaml")
# In a script; no message is within a comment or spans two lines.
MESSAGE = re.compile(r'\b(?:_|N_|ngettext)\(\s*("(?:[^"\\]|\\.)*")(?:,\s*("(?:[^"\\]|\\.)*"))?')
MOST_COMPARED = 200  # new messages: each is compared with all old ones
HEADER = "# {language} texts of normviz.\n# To correct one, see docs/translating.md."


@dataclass(frozen=True)
class Status:
    """What is done and what is left of one kind of texts.

    kind      "messages" or "files"
    total     how many there are in English
    missing   those without a translation
    outdated  those whose English changed since the translation was made
    """

    kind: str
    total: int
    missing: tuple[str, ...]
    outdated: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return not self.missing and not self.outdated

    def __str__(self) -> str:
        done = self.total - len(self.missing) - len(self.outdated)
        return f"{self.kind}: {done:,} of {self.total:,} translated, {len(self.missing)} missing, {len(self.outdated)} outdated"


def template() -> Catalog:
    """Every message of the package, in the order of the files."""
    catalog = Catalog(domain="normviz")
    for pattern, messages in (("*.py", python_messages), ("*.ts", script_messages)):
        for file in sorted(PACKAGE.rglob(pattern)):
            for message in messages(file.read_text(encoding="utf-8")):
                catalog.add(message, None, [(file.relative_to(PACKAGE.parent).as_posix(), None)])  # type: ignore[list-item]
    return catalog


def python_messages(source: str) -> Iterator[str | tuple[str, str]]:
    """The messages of a Python file, those within f-strings too.

    >>> list(python_messages("N_('One'), f'{_(str())}', NormvizError('Two'), ngettext('{n} x', '{n} xs', n)"))
    ['One', 'Two', ('{n} x', '{n} xs')]
    """
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        values = [node.value for node in call.args if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        if name == "ngettext" and len(values) >= 2:
            yield values[0], values[1]
        elif name in ("_", "N_", "NormvizError") and values:
            yield values[0]


def script_messages(source: str) -> Iterator[str | tuple[str, str]]:
    """The messages that a script looks up.

    >>> list(script_messages('text(_("One"), `${ngettext("{n} x", "{n} xs", n)}`)'))
    ['One', ('{n} x', '{n} xs')]
    """
    for match in MESSAGE.finditer(source):
        one, many = (part and json.loads(part) for part in match.groups())
        yield (one, many) if match[0].startswith("ngettext") else one


def languages() -> list[str]:
    """The languages that have a folder, without English."""
    return sorted(folder.name for folder in LOCALE.iterdir() if folder.is_dir() and folder != ENGLISH)


def po_file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "normviz.po"


def read_catalog(language: str) -> Catalog:
    """The translated messages of a language; empty for a new one."""
    file = po_file(language)
    if not file.is_file():
        return Catalog(locale=Locale.parse(language), domain="normviz", fuzzy=False)
    with file.open("rb") as opened:
        return read_po(opened)


def updated(language: str, messages: Catalog) -> Catalog:
    """The language's catalogue with all ``messages`` of the code. A message whose English changed is fuzzy, and so not used."""
    catalog = read_catalog(language)
    catalog.header_comment = HEADER.format(language=catalog.locale.english_name if catalog.locale else language)
    catalog.project, catalog.version, catalog.fuzzy = "normviz", "", False
    new = sum(message.id not in catalog for message in messages)
    catalog.update(messages, no_fuzzy_matching=new > MOST_COMPARED, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def po_text(catalog: Catalog) -> bytes:
    """The catalogue as a .po file: with file names, without line numbers and dates, which change with every edit of the code."""
    made = io.BytesIO()
    write_po(made, catalog, width=120, include_lineno=False)
    return re.sub(
        rb'^"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|[\w-]+-To|L\w+-T\w+): .*\n',
        b"",
        made.getvalue(),
        flags=re.M,
    )


def mo_bytes(catalog: Catalog) -> bytes:
    """The catalogue as gettext reads it: the translated messages that are not fuzzy."""
    day, made = (
        datetime(2026, 1, 1, tzinfo=UTC),
        io.BytesIO(),
    )  # always the same, so that the file changes only with its texts
    kept = Catalog(locale=catalog.locale, domain="normviz", creation_date=day, revision_date=day, fuzzy=False)
    for message in catalog:
        if message.id and translated(message) and not message.fuzzy:
            kept.add(message.id, message.string)
    write_mo(made, kept)
    return made.getvalue()


def translated(message: Message) -> bool:
    """Whether the message has a text, in all plural forms."""
    return all(message.string) if isinstance(message.string, (tuple, list)) else bool(message.string)


def prose_files() -> list[str]:
    """The English files that a language translates, such as ``questions/s0.md``."""
    return sorted(file.relative_to(ENGLISH).as_posix() for pattern in PROSE for file in ENGLISH.glob(pattern))


def stamp(file: Path, english: Path) -> None:
    """Note in the first line of a translated file from which English it is made."""
    note = f"# English: {digest(english)}\n" if file.suffix == ".yaml" else f"<!-- English: {digest(english)} -->\n\n"
    file.write_text(note + STAMP.sub("", file.read_text(encoding="utf-8")), encoding="utf-8")


def stamp_of(file: Path) -> str:
    """The digits in the first line of a translated file, or ""."""
    found = STAMP.match(file.read_text(encoding="utf-8"))
    return (found["markdown"] or found["yaml"]) if found else ""


def status_of_messages(language: str, messages: Catalog) -> Status:
    found = [message for message in updated(language, messages) if message.id]
    outdated = tuple(english(message) for message in found if message.fuzzy)
    missing = tuple(english(message) for message in found if not message.fuzzy and not translated(message))
    return Status("messages", len(found), missing, outdated)


def english(message: Message) -> str:
    """The English text, of a plural the form for one."""
    return message.id if isinstance(message.id, str) else message.id[0]


def status_of_files(language: str) -> Status:
    names, folder = prose_files(), LOCALE / language
    missing = tuple(name for name in names if not (folder / name).is_file())
    outdated = (name for name in names if name not in missing and stamp_of(folder / name) != digest(ENGLISH / name))
    return Status("files", len(names), missing, tuple(outdated))


def shown_files(language: str) -> list[str]:
    """The files that readers see in the language: all others are shown in English."""
    status = status_of_files(language)
    return [name for name in prose_files() if name not in status.missing + status.outdated]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.translations")
    commands = parser.add_subparsers(dest="command")
    status = commands.add_parser("status")
    status.add_argument("languages", nargs="*", metavar="LANG")
    status.add_argument("--strict", action="store_true")
    stamping = commands.add_parser("stamp")
    stamping.add_argument("language", metavar="LANG")
    stamping.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_args(argv)
    if args.command == "stamp":
        for name in args.files or prose_files():
            if (file := LOCALE / args.language / name).is_file():
                stamp(file, ENGLISH / name)
        return 0
    messages = template()
    if args.command is None:
        for language in languages():
            _write(language, updated(language, messages))
    complete = [_print_status(one, messages) for one in getattr(args, "languages", None) or languages()]
    return int(getattr(args, "strict", False) and not all(complete))


def _write(language: str, catalog: Catalog) -> None:
    file = po_file(language)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(po_text(catalog))
    file.with_suffix(".mo").write_bytes(mo_bytes(catalog))


def _print_status(language: str, messages: Catalog) -> bool:
    """Print what is left to do in a language; whether it is complete."""
    found = (status_of_messages(language, messages), status_of_files(language))
    print(f"{language}: {'; '.join(map(str, found))}")
    for part in found:
        for word, names in (("missing", part.missing), ("outdated", part.outdated)):
            print("".join(f"  {word}: {name}\n" for name in names), end="")
    return all(part.complete for part in found)


if __name__ == "__main__":
    sys.exit(main())
