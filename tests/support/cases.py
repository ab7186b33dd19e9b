"""Several cases in one test: a test of its own costs more than most small cases."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*given: object) -> Iterator[None]:
    """A failure names the case."""
    try:
        yield
    except Exception as error:
        error.add_note(f"The case: {given!r:.300}")
        raise
