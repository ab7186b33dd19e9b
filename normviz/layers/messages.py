"""Every text that a reader sees passes through here, so that a translation needs no change of code.

The English text is the key of a gettext catalogue: ``normviz/locale/<language>/LC_MESSAGES/normviz.mo``. Numbers, code, layer names and
torch's own error messages are inserted as values and are not translated.
"""

from __future__ import annotations

import gettext
from contextvars import ContextVar
from functools import cache
from pathlib import Path

ENGLISH = "en"
LOCALE = Path(__file__).parents[1] / "locale"
language: ContextVar[str] = ContextVar("language", default=ENGLISH)


@cache
def translations(name: str) -> gettext.NullTranslations:
    """The catalogue of a language; without a catalogue, as for English, messages are unchanged."""
    return gettext.translation("normviz", LOCALE, [name], fallback=True)


def _(message: str, /, **values: object) -> str:
    """The message in the reader's language, with ``{placeholders}`` filled by ``values``.

    >>> _("{count:,} elements", count=4096)
    '4,096 elements'
    """
    text = translations(language.get()).gettext(message)
    return text.format(**values) if values else text


def ngettext(one: str, many: str, n: int, /, **values: object) -> str:
    """The message whose plural form ``n`` selects; ``{n}`` is the number.

    >>> ngettext("{n:,} group of {size}", "{n:,} groups of {size}", 1, size=48)
    '1 group of 48'
    """
    return translations(language.get()).ngettext(one, many, n).format(n=n, **values)


def N_(message: str) -> str:  # noqa: N802 - the name in gettext
    """Mark a constant for translation; call ``_`` on it where it is displayed."""
    return message
