"""Widgets: the kinds of inputs with which a reader changes a setting, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Number:
    """An input for a whole number, with buttons for the next and the previous one."""

    low: int
    high: int


@dataclass(frozen=True)
class TextField:
    """An input for a line of text."""

    max_chars: int
    placeholder: str = ""


@dataclass(frozen=True)
class Choice:
    """A drop-down list: the label of each option.

    accept_new      whether the reader may type another option
    dynamic_labels  whether the labels depend on the view
    """

    options: Mapping[Any, str]
    accept_new: bool = False
    dynamic_labels: bool = False


@dataclass(frozen=True)
class Segments:
    """Buttons side by side, one of them pressed: the label of each option."""

    options: Mapping[Any, str]


@dataclass(frozen=True)
class Several:
    """A list from which a reader chooses up to ``most`` options; the reader may also type others."""

    options: Sequence[str]
    most: int


@dataclass(frozen=True)
class Slider:
    """A slider from ``low`` to ``high``; with ``labels``, one for each step.

    typed  whether each label is the text of a value; a value without a label gets one
    """

    low: int
    high: int
    step: int = 1
    labels: Sequence[str] = ()
    typed: bool = False

    def including(self, text: str) -> Slider:
        """With this value among its labels, in the order of numbers; "none" comes last.

        >>> slider("0.1", "1", "none").including("0.5").labels
        ('0.1', '0.5', '1', 'none')
        """
        labels = sorted({*self.labels, text}, key=lambda label: inf if label == "none" else float(label))
        return slider(*labels)


def slider(*labels: str) -> Slider:
    """A slider over a few values of a number that has many."""
    return Slider(0, len(labels) - 1, labels=labels, typed=True)


@dataclass(frozen=True)
class Toggle:
    """A switch."""


Widget = Number | TextField | Choice | Segments | Several | Slider | Toggle
