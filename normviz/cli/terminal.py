"""What a command tells besides its result."""

import sys

from normviz.texts.messages import without_marks


def say(message: str) -> None:
    """Print one line on stderr."""
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(without_marks(message).split()))
    print(f"normviz: {line}", file=sys.stderr)
