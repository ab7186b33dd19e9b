"""Simulated students: each student uses one page and changes its controls at intervals."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from websockets.exceptions import WebSocketException

from bench.protocol import Ran, Session, Widget
from normviz.lessons.questions.question import prose

ELEMENT = "bidi_component"  # a click on an element of the figure; a component has no label

# For each page: the number of students out of a hundred, and the controls that they change, by the beginning of the label.
PAGES: dict[str, tuple[int, tuple[str, ...]]] = {
    "explore": (50, (ELEMENT, ELEMENT, "Layer", "N", "C", "H", "W")),
    "step_by_step": (15, (ELEMENT, "Layer", "normalized_shape", "N", "C")),
    "compare": (10, (ELEMENT, "Ready-made sets", "N", "H", "W")),
    "gradients": (10, (ELEMENT, "Experiment", "normalized_shape", "Layer")),
    "train_and_eval": (5, ("batch size", "momentum")),
    "numerics": (5, ("dtype of x", "distance")),
    "questions": (5, ("",)),
}
QUESTIONS = ("s0", "s0d", "s2", "s0e", "s2a")


@dataclass
class Log:
    """Seconds from a change to the end of its rerun; first runs are listed separately."""

    first: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    unfinished: list[float] = field(default_factory=list)
    bytes: int = 0
    messages: int = 0
    errors: list[str] = field(default_factory=list)
    measuring: bool = True
    over: bool = False

    def note(self, ran: Ran, first: bool = False) -> None:
        if self.measuring or first:
            (self.first if first else self.changes).append(ran.seconds)
            self.bytes += 0 if first else ran.bytes
            self.messages += 0 if first else ran.messages
        self.errors += ran.errors


def seat(kind: str, number: int) -> tuple[str, str, str]:
    """The page of a student, and its path and query on that server; PAGES sets how many of a hundred students use each page."""
    seats = [page for page, (share, _) in PAGES.items() for _ in range(share)]
    page = seats[number * 37 % 100]
    if kind != "normviz":
        return "bare", "", ""
    asked = {"questions": f"q={QUESTIONS[number % len(QUESTIONS)]}", "train_and_eval": "show=stream"}
    return page, page, asked.get(page, "")


class Student:
    """A student who changes one control after the other."""

    def __init__(self, kind: str, websocket: str, number: int, log: Log) -> None:
        self.page, path, query = seat(kind, number)
        self.random = random.Random(number)
        self.session = Session(websocket, path, query)
        self.turns = count(1)
        self.log = log
        self.since: float | None = None

    async def live(self, think: float, lifetime: float | None = None) -> None:
        """Open the page and use it, until cancelled or for ``lifetime`` seconds."""
        end = None if lifetime is None else time.monotonic() + lifetime
        try:
            self.log.note(await self.session.open(), first=True)
            while not self.log.over and (end is None or time.monotonic() < end):
                await asyncio.sleep(think * self.random.uniform(0.5, 1.5))
                self.since = time.perf_counter()
                self.log.note(await self.act())
                self.since = None
        except (OSError, WebSocketException, TimeoutError, KeyError, IndexError) as error:
            self.log.errors.append(f"{self.page}: {type(error).__name__}: {error}"[:200])
            self.since = None
        finally:
            if (
                self.since is not None and self.log.measuring
            ):  # cancelled while waiting, so the wait is at least this long
                self.log.unfinished.append(time.perf_counter() - self.since)
            await self.session.close()

    async def act(self) -> Ran:
        choices = self.choices()
        if not choices:  # a question of ours: the page adds the prediction to the address
            question = self.random.choice(QUESTIONS)
            return await self.session.go(f"q={question}&guess={self.random.choice([*prose(question).options])}")
        widget = self.random.choice(choices)
        return await self.session.change(widget, self.value(widget))

    def choices(self) -> list[Widget]:
        """The controls that the student of this page may change; a control that PAGES names twice is in the list twice."""
        widgets = list(self.session.widgets.values())
        if self.page == "bare":
            return widgets
        named = PAGES[self.page][1]
        found = [
            widget
            for name in named
            for widget in widgets
            if (_sends_clicks(widget) if name == ELEMENT else _has_label(widget, name))
        ]
        return found or [widget for widget in widgets if widget.kind != ELEMENT]

    def value(self, widget: Widget) -> Any:
        """A random value for this control."""
        pick, kind = self.random, widget.kind
        if kind == ELEMENT:
            at = [pick.choice(drawn) for drawn in widget.figure["grid"]["indices"]]
            return {"event": "select", "value": {"at": at, "turn": next(self.turns)}}
        if kind == "number_input":
            return float(pick.randint(1, 6))
        if kind == "slider" and widget.options:
            return [self.other(widget)]
        if kind == "slider":
            return [float(pick.randint(int(widget.element.min), int(widget.element.max)))]
        if kind == "button":
            return True
        if kind == "text_input":
            return pick.choice(("8", "16"))
        return [self.other(widget)] if kind in ("button_group", "multiselect") else self.other(widget)

    def other(self, widget: Widget) -> str:
        """An option other than the current one; \"Your own pattern\" is left out because it needs a text."""
        _, now = self.session.states.get(widget.id, ("", None))
        allowed = [option for option in widget.options if option and option not in ("Your own pattern", "your own")]
        return self.random.choice([option for option in allowed if option != now and [option] != now] or allowed)


def _sends_clicks(widget: Widget) -> bool:
    """Is this a figure that sends clicks to the server?"""
    return widget.kind == ELEMENT and "grid" in widget.figure and not widget.figure.get("alone")


def _has_label(widget: Widget, name: str) -> bool:
    return widget.kind != ELEMENT and (widget.label == name if len(name) == 1 else widget.label.startswith(name))
