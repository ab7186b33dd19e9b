"""Building blocks of facts: tensors, torch's own modules, outputs of layers by their text, and the option that is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Any
from urllib.parse import parse_qsl

import torch
import yaml
from torch import Tensor, nn

from normviz.analysis import description, examples, forward
from normviz.analysis.running.torch_module import torch_refusal
from normviz.code.programs import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.scene.scene import Scene
from normviz.scene.view import read
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import FRONT_MATTER, OWN

Facts = Mapping[str, Any]  # the placeholders of an answer, and "right"
YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C takes a fifth of the time
ROUNDING = 1e-5  # larger than float32's rounding of outputs near 1


def only(**options: bool) -> str:
    """The key of the one option that is true. Raises NormvizError unless exactly one is.

    >>> only(rows=False, columns=6 == 2 * 3)
    'columns'
    """
    true = [key for key, is_true in options.items() if is_true]
    if len(true) != 1:
        raise NormvizError(f"exactly one of the options {list(options)} must be true, but these are: {true}.")
    return true[0]


def which(both: str = "both", neither: str = "neither", **pair: bool) -> str:
    """Which of two statements is true: the key of one of them, ``both`` or ``neither``.

    >>> which(layer=False, batch=True), which(layer=False, batch=False, neither="none")
    ('batch', 'none')
    """
    (first, is_first), (second, is_second) = pair.items()
    return only(
        **{
            both: is_first and is_second,
            first: is_first and not is_second,
            second: is_second and not is_first,
            neither: not is_first and not is_second,
        }
    )


@lru_cache(maxsize=256)
def scene_of(query: str) -> Scene:
    """The scene of a page with this query."""
    return read(dict(parse_qsl(query))).scene


@cache
def front_matter(key: str) -> Mapping[str, Any]:
    """What the English file of a question declares; no translation repeats it.

    >>> front_matter("s0")["kind"]
    'gammas'
    """
    found = FRONT_MATTER.match((OWN / f"questions/{key}.md").read_text(encoding="utf-8"))
    return yaml.load(found[1], YAML) if found else {}


def view_of(key: str) -> Scene:
    """The scene of the view that shows the answer of a question."""
    return scene_of(front_matter(key)["view"].partition("?")[2])


def x_of(key: str) -> Tensor:
    """The values of x on that view."""
    x = view_of(key).description.x
    assert x is not None
    return x


def skewness(x: Tensor) -> float:
    """The mean of the cubes of the standardized values: 0 for a symmetric distribution."""
    return float(((x - x.mean()) / x.std(correction=0)).pow(3).mean())


def module_of(layer: str, dtype: torch.dtype | None = None) -> nn.Module:
    """A fresh module of torch.nn, from the layer's text."""
    parsed = Layer.parse(layer)
    assert isinstance(parsed, Layer)
    return parsed.module(dtype)


def output(layer: str, x: object) -> Tensor:
    """The output of a fresh layer on x, computed by torch's own layer where torch has it.

    >>> from normviz.analysis.examples import from_values
    >>> output("RMSNorm(2, eps=0.0)", from_values((3.0, 3.0), (1, 2))).tolist()
    [[1.0, 1.0]]
    """
    e = description.describe(layer, x)
    assert e.x is not None
    return e.trace.output if e.torch_layer is None else forward.run_module(e.torch_layer, e.x, e.layer_values())


def output_change(layer: str, x: Tensor, other: Tensor, where: Any = ...) -> float:
    """The largest change of a fresh layer's output at the index ``where`` when x is replaced by ``other``."""
    return forward.largest_difference(output(layer, x)[where], output(layer, other)[where])


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers of ``shape``, rounded to two decimals."""
    return examples.example("normal", shape, tuple("abcdefgh"[: len(shape)]), seed)


def count_gammas(layer: str, shape: Sequence[int]) -> int:
    """The number of gammas of the layer on x of that shape; 0 if the layer has no gamma."""
    return prod(description.describe(layer, tuple(shape)).counts.gamma_shape or (0,))


def changed_buffers(layer: nn.Module, model: nn.Module, x: Tensor) -> int:
    """The number of the layer's buffers that a forward pass of the model changes."""
    before = [value.clone() for value in layer.buffers()]
    model(x)
    return sum(bool((one != other).any()) for one, other in zip(before, layer.buffers(), strict=True))


def keras_default(argument: str) -> float:
    """The default of "epsilon" or "momentum" in Keras's BatchNormalization.

    >>> keras_default("momentum")
    0.99
    """
    batch_norm = next(layer for layer in KERAS_LAYERS.layers if layer.name.endswith(".BatchNormalization"))
    return batch_norm.defaults[argument]


# Facts that the front matter of a question declares: a kind, of a layer, on a shape, such as "gammas of LayerNorm(4) on 2,4".

MEASURE = re.compile(r"(?P<kind>\w+)(?: of (?P<layer>.+?))?(?: and (?P<other>.+?))?(?: on (?P<shape>[\d,]+))?")

COUNTS: dict[str, Callable[[description.Description], Any]] = {
    "statistics": lambda e: e.counts.statistics,
    "elements": lambda e: e.counts.elements_per_statistic,
    "gamma_shape": lambda e: e.counts.gamma_shape,
    "gammas": lambda e: prod(e.counts.gamma_shape or (0,)),
    "parameters": lambda e: e.counts.parameters,
    "buffers": lambda e: e.counts.buffers,
    "users": lambda e: prod(e.shape) // prod(e.counts.gamma_shape or ()),
    "size": lambda e: prod(e.shape),
}


@dataclass(frozen=True)
class Declared:
    """What the front matter of a question declares.

    facts    a kind for each placeholder of the answer, or a value
    kind     the kind whose value is right
    options  the value of that kind, or another kind, for each option; without them, the answer is a number
    layer    the layer of kinds that name none
    shape    its x, for kinds that name none
    at       the selected element
    """

    layer: str
    shape: tuple[int, ...]
    at: tuple[int, ...]
    facts: Mapping[str, Any]
    kind: str
    options: Mapping[str, Any]

    @classmethod
    def read(cls, front: Mapping[str, Any], query: str) -> Declared:
        """The declaration of a front matter; layer and shape are by default those of the view with this query."""
        scene = scene_of(query)
        layer, shape = front.get("layer", str(scene.layer)), tuple(front.get("shape", scene.shape))
        at = scene.at or (0,) * len(shape)
        return cls(layer, shape, at, front.get("facts", {}), front.get("kind", ""), front.get("options", {}))

    def values(self) -> dict[str, Any]:
        """The facts, with ``"right"`` if a kind says what is right."""
        found = {name: self.value(measure) for name, measure in self.facts.items()}
        if self.kind:
            right = self.value(self.kind)
            true = {option: right == self.value(measure) for option, measure in self.options.items()}
            found["right"] = only(**true) if true else right
        return found

    def value(self, measure: object) -> Any:
        """The value of a kind; a number, or a list of sizes, stands for itself."""
        if not isinstance(measure, str):
            return tuple(measure) if isinstance(measure, list) else measure
        named = MEASURE.fullmatch(measure)
        if named is None or named["kind"] not in (*COUNTS, "peers", "words", "difference"):
            raise NormvizError(
                "{fact} is no kind of fact; a kind, such as gammas of LayerNorm(4) on 2,4, is one of {kinds}.",
                fact=measure,
                kinds=listed([*COUNTS, "peers", "words", "difference"]),
            )
        shape = tuple(map(int, named["shape"].split(","))) if named["shape"] else self.shape
        layer, kind = named["layer"] or self.layer, named["kind"]
        if kind == "words":
            return torch_refusal(layer, normal(*shape))
        if kind == "difference":
            return forward.largest_difference(output(layer, normal(*shape)), output(named["other"], normal(*shape)))
        e = description.describe(layer, shape)
        return len(e.parameter_peers(self.at)) if kind == "peers" else COUNTS[kind](e)
