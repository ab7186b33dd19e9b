"""The layers of a comparison on a tensor that may have changed since they were chosen: refitted, or left out with a word."""

from __future__ import annotations

from collections.abc import Sequence

from normviz.comparison import FEWEST, MOST, suggestions
from normviz.errors import NormvizError
from normviz.explanation import describe
from normviz.fit import fitted
from normviz.layers import Layer
from normviz.scene import Scene

USUAL = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")


def chosen(texts: Sequence[str], scene: Scene) -> tuple[tuple[str, ...], str | None]:
    """The texts of two to six layers that take the scene's tensor, and what was wrong with the first that did not.

    A layer of the catalogue whose sizes no longer fit is refitted in silence; a pattern that is not written for the tensor's
    axes, or a text that is no layer, is left out and named. Where fewer than two are left, the usual ones join.
    """
    kept: list[str] = []
    problem = None
    for text in texts[:MOST]:
        try:
            kept.append(_on(text, scene))
        except NormvizError as error:
            problem = problem or str(error)
    for text in usual_layers(scene) if len(set(kept)) < FEWEST else ():
        kept.append(text)
    return tuple(dict.fromkeys(kept))[:MOST], problem


def _on(text: str, scene: Scene) -> str:
    layer = Layer.parse(text)
    try:
        describe(layer, scene.shape, layout=scene.layout)
    except NormvizError:
        if not isinstance(layer, Layer):
            raise
        layer = fitted(layer, scene.shape, scene.axes)
        describe(layer, scene.shape, layout=scene.layout)
    return str(layer) if isinstance(layer, Layer) else repr(layer)


def usual_layers(scene: Scene) -> tuple[str, ...]:
    """The scene's own layer, and one of each usual family beside it; two at least, whatever the tensor."""
    own = _on(str(scene.layer) if isinstance(scene.layer, Layer) else repr(scene.layer), scene)
    by_family: dict[str, str] = {}
    able = suggestions(scene.shape, scene.layout)
    for text in reversed(able):
        family = Layer.parse(text).kind.family  # type: ignore[union-attr]
        by_family[family] = text
    own_family = scene.layer.kind.family if isinstance(scene.layer, Layer) else ""
    others = [by_family[family] for family in USUAL if family in by_family and family != own_family]
    usual = (own, *others)[:4]
    spare = [text for text in able if text not in usual]
    return (*usual, *spare[: max(0, FEWEST - len(usual))])
