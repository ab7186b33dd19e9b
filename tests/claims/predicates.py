"""Predicates: functions that try to refute a claim on random layers, shapes and values, with torch's own modules.

A predicate draws what the claim is about and asserts what it says. Its keyword arguments hold what the claim says in numbers or names, and a
*false twin* is a sentence that says something else there: a predicate that does not refute its twin tests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

SUBJECTS = (
    "sharing",
    "parameters",
    "shapes",
    "values",
    "invariances",
    "modes",
    "running",
    "gradients",
    "by_hand",
    "training",
)
# It ends with the first example that refutes: the rarest took up to 168 examples in 30 runs. There is no search for a shorter one.
TWIN = settings(max_examples=1000, phases=[Phase.generate], report_multiple_bugs=False)
Claimed = Mapping[str, Any]


@dataclass(frozen=True)
class Predicate:
    """A predicate.

    function  draws and asserts; its first argument draws from a strategy
    false     sentences that it must refute, each with the arguments that it stands for
    needs     whether the installed torch has what it is about; the texts leave out what is not there
    """

    function: Callable[..., None]
    false: Mapping[str, Claimed]
    needs: bool = True

    @property
    def states(self) -> str:
        """What it asserts, in a sentence."""
        return " ".join((self.function.__doc__ or "").split())

    @property
    def subject(self) -> str:
        """The title of its file."""
        return (import_module(self.function.__module__).__doc__ or "").split("\n")[0].rstrip(".")

    def attempt(self, own: settings, **claimed: Any) -> None:
        """Try to refute it. Raises the AssertionError of an example that does."""

        @own
        @given(st.data())
        def run(data: st.DataObject) -> None:
            self.function(data.draw, **claimed)

        run()


PREDICATES: dict[str, Predicate] = {}


def predicate(false: Mapping[str, Claimed], needs: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the predicate of its name."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        assert function.__name__ not in PREDICATES
        PREDICATES[function.__name__] = Predicate(function, false, needs)
        return function

    return register


def load() -> Mapping[str, Predicate]:
    """All predicates, subject by subject."""
    for name in SUBJECTS:
        import_module(f"tests.claims.{name}")
    return PREDICATES
