"""How a view is framed: what of it is hidden, and the caption under it. The scene and the page's settings say the rest.

``hide=layer,code`` hides two things, ``hide=controls`` all controls, ``hide=all`` everything but the figure. What is hidden still holds:
a hidden control obeys the link. ``v`` is the version of the links; there is one so far.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from normviz.layers.errors import NormvizError, echo, listed
from normviz.scene.settings import Field, read_settings, write_settings

VERSION = "1"
MOST_CAPTION = 300
ALL, ALL_CONTROLS = "all", "controls"

CONTROLS: Mapping[str, str] = {
    "tensor": "Tensor",
    "sizes": "Sizes",
    "layer": "Layer",
    "arguments": "Its argument",
    "pattern": "Your own pattern",
    "window": "Which part is drawn",
    "more": "More, with all that is in it",
    "layout": "Layout",
    "data": "Values of x",
    "seed": "Seed",
    "parameters": "Values of gamma and beta",
    "eps": "eps",
    "affine": "affine",
    "elementwise_affine": "elementwise_affine",
    "bias": "bias",
    "track_running_stats": "track_running_stats",
    "mode": "Mode",
    "reset": "Back to the start",
    "set": "Ready-made sets",
    "layers": "Layers",
    "experiment": "Experiment",
    "input": "Values of x",
    "batch_size": "Batch size",
    "momentum": "Momentum",
    "drift": "Mean moves a step",
    "steps": "Steps",
    "count": "Sequences",
    "longest": "Longest",
    "devices": "Devices",
    "dtype": "dtype of x",
    "distance": "Distance from zero",
    "spread": "Spread",
    "value": "Every element of x",
    "scale": "Standard deviation of x",
    "search": "Search",
    "guess": "Prediction",
    "questions": "Links to questions",
}
PARTS: Mapping[str, str] = {
    "sentence": "Sentence",
    "text": "Text",
    "notes": "Notes",
    "panels": "Figures",
    "table": "Tables",
    "code": "Code",
    "details": "Details",
}
PANELS: Mapping[str, str] = {
    "stats": "Who shares my mean and variance?",
    "params": "Who shares my gamma and beta?",
    "x": "x",
    "normalized": "normalized",
    "output": "output",
    "cube": "Cubes",
    "train": "train()",
    "eval": "eval()",
    "gap": "Their difference",
    "autograd": "By autograd",
    "itself": "1 for itself",
    "mean": "Through the mean",
    "var": "Through the variance",
    "jacobian": "Jacobian",
    "dout": "dout",
    "for_gamma": "Summed into gamma",
    "for_beta": "Summed into beta",
    "stepper": "Buttons of the steps",
    "formula": "Formula",
    "readout": "Read-out",
    "facts": "Counts",
    "worked": "Worked arithmetic",
    "loops": "Loops",
}
NAMES = (ALL, ALL_CONTROLS, *CONTROLS, *PARTS, *PANELS)
BESIDE_THE_FIGURE = {"facts", "worked", "loops"}  # in a linked view, and no part of its figure
FIGURE = {"panels", "notes", *PANELS} - BESIDE_THE_FIGURE


@dataclass(frozen=True)
class Frame:
    """What of a view is hidden, by name, and the caption under its figure."""

    hidden: tuple[str, ...] = ()
    caption: str = ""

    def hides(self, name: str) -> bool:
        """Is it hidden?

        >>> Frame(("all",)).hides("code"), Frame(("all",)).hides("stats"), Frame(("controls",)).hides("layer")
        (True, False, True)
        """
        if name in self.hidden:
            return True
        if name in CONTROLS and ALL_CONTROLS in self.hidden:
            return True
        return ALL in self.hidden and name not in FIGURE

    def query(self) -> dict[str, str]:
        """What a link says of it; nothing where it is as usual."""
        return write_settings((HIDE, CAPTION), {"hide": self.hidden, "caption": self.caption})


def read_frame(query: Mapping[str, str]) -> tuple[Frame, str | None]:
    """The frame that a query asks for, and what was wrong with the wish, if anything.

    >>> read_frame({"hide": "layer, data", "caption": "Look at row 2."})
    (Frame(hidden=('layer', 'data'), caption='Look at row 2.'), None)
    """
    values, problem = read_settings(FIELDS, query)
    return Frame(values["hide"], values["caption"]), problem


def _read_version(text: str) -> str:
    if text.strip() != VERSION:
        raise NormvizError(
            f"v={echo(text)} is a version of links that is unknown here; this app reads v={VERSION}, and shows what it understands of the link."
        )
    return VERSION


def _named(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))


def _read_hide(text: str) -> tuple[str, ...]:
    unknown = [name for name in _named(text) if name not in NAMES]
    if unknown:
        one = len(unknown) == 1
        raise NormvizError(
            f"hide={listed(map(echo, unknown[:3]), 'and')} {'is no name' if one else 'are no names'} of a control or a part; "
            "write such as hide=layer,code, hide=controls or hide=all."
        )
    return _named(text)


def _near_hide(text: str) -> tuple[str, ...]:
    return tuple(name for name in _named(text) if name in NAMES)


def _plain(text: str) -> str:
    """One line, without control characters."""
    kept = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    return " ".join(kept.split())


def _read_caption(text: str) -> str:
    if len(_plain(text)) > MOST_CAPTION:
        raise NormvizError(f"caption={echo(text)} is too long; give up to {MOST_CAPTION} letters.")
    return _plain(text)


VERSIONS = Field("v", VERSION, _read_version)
HIDE = Field("hide", (), _read_hide, ",".join, _near_hide)
CAPTION = Field("caption", "", _read_caption, near=lambda text: _plain(text)[:MOST_CAPTION].strip())
FIELDS = (VERSIONS, HIDE, CAPTION)
