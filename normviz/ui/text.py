"""Text that Markdown must not interpret."""

from __future__ import annotations

import re


def literal(text: str) -> str:
    """The text with its punctuation escaped for Markdown, because a message may quote a link.

    >>> literal("a*b")
    'a\\\\*b'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
