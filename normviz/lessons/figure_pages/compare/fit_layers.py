"""The layers of a comparison on a tensor that may have changed since they were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from normviz.analysis.comparing.comparison import FEWEST, MOST, one_of_each_family, suggestions
from normviz.analysis.description import describe_shape
from normviz.layers.axes import parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.fit import refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.scene import Scene

DEFAULT_FAMILIES = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")


def fit_layers(texts: Sequence[str], scene: Scene) -> tuple[tuple[str, ...], str | None]:
    """The texts of two to six layers that take the scene's tensor, and the first error, if any.

    A layer of the catalogue whose sizes no longer fit is refitted without a message. A pattern for other axes, or a text that is not a
    layer, is omitted with a message. If fewer than two layers remain, the default layers are added.
    """
    kept, problem = _fit_each(texts[:MOST], scene)
    kept += default_layers(scene) if len(set(kept)) < FEWEST else ()
    return tuple(dict.fromkeys(kept))[:MOST], problem


def fitting(texts: Sequence[str], scene: Scene) -> list[str]:
    """The texts of those layers that can be fitted to the scene's tensor."""
    return _fit_each(texts, scene)[0]


def _fit_each(texts: Sequence[str], scene: Scene) -> tuple[list[str], str | None]:
    kept, problem = [], None
    for text in texts:
        try:
            kept.append(_fit(Layer.parse(text), scene.shape, scene.layout))
        except NormvizError as error:
            problem = problem or str(error)
    return kept, problem


def default_layers(scene: Scene) -> tuple[str, ...]:
    """The scene's own layer and one of each default family; at least two, for any tensor."""
    return _defaults(scene.shape, scene.layout, scene.layer)


# Cached by shape, layout and layer, not by scene: selecting an element makes a new scene, but the result is the same.


@lru_cache(maxsize=256)
def _defaults(shape: tuple[int, ...], layout: str, layer: Layer | Norm) -> tuple[str, ...]:
    families = one_of_each_family(shape, layout)
    own_family = layer.kind.family if isinstance(layer, Layer) else ""
    others = [str(families[family]) for family in DEFAULT_FAMILIES if family in families and family != own_family]
    layers = (_fit(layer, shape, layout), *others)[:4]
    spare = [text for text in suggestions(shape, layout) if text not in layers]
    return (*layers, *spare[: max(0, FEWEST - len(layers))])


@lru_cache(maxsize=1024)
def _fit(layer: Layer | Norm, shape: tuple[int, ...], layout: str) -> str:
    """The text of the layer, refitted where its sizes do not fit the tensor."""
    try:
        describe_shape(layer, shape, layout)
    except NormvizError:
        if not isinstance(layer, Layer):
            raise
        layer = refit(layer, shape, parse_layout(layout, len(shape)))
        describe_shape(layer, shape, layout)
    return str(layer) if isinstance(layer, Layer) else repr(layer)
