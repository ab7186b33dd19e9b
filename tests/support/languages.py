"""A language for tests: every message in ⟦brackets⟧, and nothing else translated."""

from __future__ import annotations

import gettext
from pathlib import Path

import pytest

from normviz.texts import messages
from normviz.texts.messages import ENGLISH

BRACKETS = "xb"  # its texts stay in caches: no other language of a test has this name


class Bracketed(gettext.NullTranslations):
    """A language that puts ⟦brackets⟧ around every message."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, one: str, many: str, n: int) -> str:
        return f"⟦{one if n == 1 else many}⟧"


def bracketed(folder: Path, name: str) -> gettext.NullTranslations:
    return gettext.NullTranslations() if name == ENGLISH else Bracketed()


@pytest.fixture
def brackets(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a language that puts ⟦brackets⟧ around every message, beside those that normviz has."""
    folder = tmp_path_factory.mktemp("locale")
    for own in messages.LOCALE.iterdir():
        (folder / own.name).symlink_to(own)
    catalogue = folder / BRACKETS / "LC_MESSAGES" / "normviz.mo"
    catalogue.parent.mkdir(parents=True)
    catalogue.touch()
    monkeypatch.setattr(messages, "LOCALE", folder)
    monkeypatch.setattr(messages, "_read_catalogue", bracketed)
    return BRACKETS
