"""The prose of a language: the Markdown and YAML files of ``normviz/locale/<language>/``.

The first line of a translated file may say from which English it was made; see docs/translating.md. Readers of the files do not see it.
"""

from __future__ import annotations

import re
from pathlib import Path

from normviz.layers import messages
from normviz.layers.messages import ENGLISH, language

OWN = Path(__file__).parents[1] / "locale" / ENGLISH
STAMP = re.compile(r"\A(?:<!-- English: (?P<markdown>\w+) -->|# English: (?P<yaml>\w+))\n+")


def read_text(path: str) -> str:
    """The file ``path`` in the reader's language, or in English if there is no translation.

    >>> read_text("start/depth.md").splitlines()[0]
    '# Why normalize?'
    """
    found = (messages.LOCALE / language.get() / path, messages.LOCALE / ENGLISH / path)
    file = next((file for file in found if file.is_file()), OWN / path)
    return STAMP.sub("", file.read_text(encoding="utf-8"))
