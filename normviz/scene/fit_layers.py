"""The layers of a comparison on a tensor that may have changed since they were chosen: refitted, or left out with a word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from normviz.analysis.comparison import FEWEST, MOST, suggestions
from normviz.analysis.explanation import describe
from normviz.layers.axes import parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.fit import refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.scene import Scene

USUAL = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")


def chosen(texts: Sequence[str], scene: Scene) -> tuple[tuple[str, ...], str | None]:
    """The texts of two to six layers that take the scene's tensor, and what was wrong with the first that did not.

    A layer of the catalogue whose sizes no longer fit is refitted in silence; a pattern that is not written for the tensor's
    axes, or a text that is no layer, is left out and named. Where fewer than two are left, the usual ones join.
    """
    return _chosen(tuple(texts[:MOST]), scene.shape, scene.layout, scene.layer)


def usual_layers(scene: Scene) -> tuple[str, ...]:
    """The scene's own layer, and one of each usual family beside it; two at least, whatever the tensor."""
    return _usual(scene.shape, scene.layout, scene.layer)


# Of what a choice depends on alone: a click changes the scene, and not the choice.


@lru_cache(maxsize=256)
def _chosen(
    texts: tuple[str, ...], shape: tuple[int, ...], layout: str, layer: Layer | Norm
) -> tuple[tuple[str, ...], str | None]:
    kept: list[str] = []
    problem = None
    for text in texts:
        try:
            kept.append(_on(text, shape, layout))
        except NormvizError as error:
            problem = problem or str(error)
    kept += _usual(shape, layout, layer) if len(set(kept)) < FEWEST else ()
    return tuple(dict.fromkeys(kept))[:MOST], problem


@lru_cache(maxsize=256)
def _usual(shape: tuple[int, ...], layout: str, layer: Layer | Norm) -> tuple[str, ...]:
    own = _on(str(layer) if isinstance(layer, Layer) else repr(layer), shape, layout)
    by_family: dict[str, str] = {}
    able = suggestions(shape, layout)
    for text in reversed(able):
        family = Layer.parse(text).kind.family  # type: ignore[union-attr]
        by_family[family] = text
    own_family = layer.kind.family if isinstance(layer, Layer) else ""
    others = [by_family[family] for family in USUAL if family in by_family and family != own_family]
    usual = (own, *others)[:4]
    spare = [text for text in able if text not in usual]
    return (*usual, *spare[: max(0, FEWEST - len(usual))])


def _on(text: str, shape: tuple[int, ...], layout: str) -> str:
    layer = Layer.parse(text)
    try:
        describe(layer, shape, layout=layout)
    except NormvizError:
        if not isinstance(layer, Layer):
            raise
        layer = refit(layer, shape, parse_layout(layout, len(shape)))
        describe(layer, shape, layout=layout)
    return str(layer) if isinstance(layer, Layer) else repr(layer)
