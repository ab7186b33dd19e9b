"""The numbers of a sentence."""

import re


def numbers_in(sentence: str) -> list[str]:
    """The numbers between ``**``, as text."""
    return re.findall(r"\*\*(.+?)\*\*", sentence)
