"""The normalizations of well-known models, as ``python -m tools.record_models`` has recorded them, and of the layers that a reader describes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

from normviz.analysis.description import Description, describe_shape
from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.layers.substitutes.pasted import parse_layer_on_shape

FILE = Path(__file__).with_name("models.json")
FAMILIES = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm")
OTHER = "Norm"  # the family of other patterns


@dataclass(frozen=True)
class RecordedLayer:
    """A layer on a shape, as often as it occurs in a model.

    layer       its text
    shape       of x
    layout      of x; empty for that of the layer
    parameters  the number of elements of its gamma and beta
    plus_one    whether it multiplies by 1 + gamma
    """

    layer: str
    shape: tuple[int, ...]
    layout: str = ""
    parameters: int = 0
    plus_one: bool = False

    @cached_property
    def described(self) -> Description:
        return describe_shape(Layer.parse(self.layer), self.shape, self.layout or None)

    @property
    def title(self) -> str:
        """The layer with its shape: ``"LayerNorm([768]) on (2, 128, 768)"``."""
        return _("{layer} on {shape}", layer=self.described.title, shape=self.shape)

    @property
    def family(self) -> str:
        """``"BatchNorm"``; a pattern that normalizes over the channels alone, as a permuted LayerNorm does, is a LayerNorm."""
        e = self.described
        if e.layer is not None:
            return e.layer.kind.family
        over_channels = e.norm.pattern.reduced == ("c",) and e.norm.center
        return "LayerNorm" if over_channels else OTHER

    @property
    def averages_over_the_batch(self) -> bool:
        """Whether examples share statistics."""
        return "n" in self.described.norm.pattern.reduced

    @property
    def channels(self) -> int:
        """The size of the axis C, else of the last axis."""
        axes = self.described.axes
        return self.shape[axes.index("c")] if "c" in axes else self.shape[-1]

    @property
    def positions(self) -> tuple[int, ...]:
        """The sizes of the axes that are neither the batch nor the channels; of several heads, those of one."""
        axes = self.described.axes
        names = {"n", "c"} if "c" in axes else {"n", axes[-1]}
        if {"l", "h"} <= set(axes):
            names.add("h")
        return tuple(size for name, size in zip(axes, self.shape, strict=True) if name not in names)

    @property
    def query(self) -> dict[str, str]:
        """Its view in Explore, as the query of a link."""
        found = {"shape": ",".join(map(str, self.shape)), "layer": self.layer}
        return found | {"layout": self.layout} if self.layout else found


@dataclass(frozen=True)
class RecordedNorm:
    """A normalization of a model: its name there, and the layer."""

    name: str
    kind: RecordedLayer


@dataclass(frozen=True)
class RecordedModel:
    """The normalizations of a model in the order in which they run.

    parameters  the number of elements of all its parameters; 0 if it is not known
    library     with its version, and ``constructor``: which of its models it is
    input       the shape of the model's input
    """

    rows: tuple[RecordedNorm, ...]
    parameters: int = 0
    library: str = ""
    constructor: str = ""
    input: tuple[int, ...] = ()

    @property
    def norm_parameters(self) -> int:
        return sum(row.kind.parameters for row in self.rows)

    @property
    def families(self) -> Counter[str]:
        """How many normalizations there are of each family: ``{"BatchNorm": 53}``."""
        return Counter(row.kind.family for row in self.rows)

    @property
    def kinds(self) -> dict[RecordedLayer, list[RecordedNorm]]:
        """The rows of each kind, in the order of the first of each."""
        found: dict[RecordedLayer, list[RecordedNorm]] = {}
        for row in self.rows:
            found.setdefault(row.kind, []).append(row)
        return found

    @property
    def stages(self) -> list[list[RecordedNorm]]:
        """Runs of normalizations with the same number of positions."""
        found: list[list[RecordedNorm]] = []
        for row in self.rows:
            if found and prod(found[-1][0].kind.positions) == prod(row.kind.positions):
                found[-1].append(row)
            else:
                found.append([row])
        return found


@cache
def recorded(key: str) -> RecordedModel:
    """The model of that name."""
    model = recorded_data()["models"][key]
    kinds = [
        RecordedLayer(layer, tuple(shape), layout, parameters, bool(plus_one))
        for layer, shape, layout, parameters, plus_one in model["kinds"]
    ]
    rows = tuple(RecordedNorm(name, kinds[kind]) for name, kind in model["rows"])
    return RecordedModel(rows, model["parameters"], model["library"], model["constructor"], tuple(model["input"]))


@cache
def recorded_data() -> Any:
    """The whole file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def own_model(texts: Iterable[str]) -> RecordedModel:
    """Layers on shapes, as a reader describes them: ``["nn.LayerNorm(768) on 2,128,768"]``. Raises NormvizError for other texts."""
    return RecordedModel(tuple(_own_row(str(number), text) for number, text in enumerate(texts, 1)))


def _own_row(name: str, text: str) -> RecordedNorm:
    layer, shape = parse_layer_on_shape(text)
    e = describe_shape(layer, shape, None)
    written = (str(layer) if isinstance(layer, Layer) else repr(layer)).replace(", ", ",")
    return RecordedNorm(name, RecordedLayer(written, shape, parameters=e.counts.parameters))
