"""Random whole numbers that Python and JavaScript draw alike: the same seed gives the same numbers in the app and in a file.

The generator is SplitMix with 32 bits (Steele, Lea & Flood 2014) and the finalizer of MurmurHash3 (Appleby 2011). Each draw adds
0x9E3779B9 to the state, modulo 2^32, and mixes it: shift by 16, times 0x85EBCA6B, shift by 13, times 0xC2B2AE35, shift by 16; "shift"
is an exclusive or with the shifted number. ``practice/bank.ts`` is the same generator.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
NUMBERS = 2**32  # a draw is below this
STEP, FIRST, SECOND = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35


class Random:
    """Draws that depend only on the seed, a whole number from 0 to 2^32 - 1, or a text such as the key of a question.

    >>> random = Random(7)
    >>> random.draw(), random.below(6), random.shuffled("abcd")
    (588686121, 2, ['a', 'c', 'b', 'd'])
    """

    def __init__(self, seed: int | str) -> None:
        self.state = hash_text(seed) if isinstance(seed, str) else seed % NUMBERS

    def draw(self) -> int:
        """A whole number from 0 to 2^32 - 1."""
        self.state = (self.state + STEP) % NUMBERS
        mixed = self.state
        mixed = (mixed ^ mixed >> 16) * FIRST % NUMBERS
        mixed = (mixed ^ mixed >> 13) * SECOND % NUMBERS
        return mixed ^ mixed >> 16

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, each equally likely: draws above the last whole multiple of ``bound`` are repeated."""
        while (drawn := self.draw()) >= NUMBERS - NUMBERS % bound:
            pass
        return drawn % bound

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in random order (Fisher and Yates): from the last place to the second, each is swapped with one up to it."""
        mixed = list(values)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed


def hash_text(text: str) -> int:
    """A seed from a text: FNV-1a with 32 bits over its UTF-8 bytes.

    >>> hash_text("a") == 0xE40C292C
    True
    """
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 % NUMBERS
    return value
