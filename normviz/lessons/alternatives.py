"""Other views that a page offers: what torch accepts instead of the layer that it refuses, and a small look-alike of a large tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from normviz.analysis.description import describe_shape
from normviz.layers.layer import Layer
from normviz.layers.pasted import refused_layer
from normviz.layers.substitutes import LayerOnShape, Remedy, is_probably_channels_last, lookalike, meant_for_channels
from normviz.lessons.compare import layers_of
from normviz.lessons.parts.links import Link, Links
from normviz.lessons.parts.part import Caption, Note, Part, Problem
from normviz.scene.repair import Reading, remedy_fields, repair, with_fields
from normviz.scene.scene import Scene
from normviz.scene.scene_settings import commas, compact
from normviz.scene.setting import Setting
from normviz.scene.view import View
from normviz.scene.view import link as query_text
from normviz.texts.messages import N_, _, join_sentences

FEW = 512  # elements: a look-alike of fewer is not offered
REMEDIES, OPEN, OVER_CHANNELS = N_("What may have been meant:"), N_("Open it:"), N_("Over the channels:")


def problem_parts(name: str, view: View, settings: tuple[Setting, ...], problem: str | None) -> Iterator[Part]:
    """Every error message about the view, what is shown instead, and the remedies as links."""
    for message in dict.fromkeys(filter(None, [problem, *(one.message for one in view.refused)])):
        instead = view.substitute and message == view.problem and name != "compare"
        yield Problem(join_sentences([message, _shown_instead(view.scene) if instead else ""]))
    if view.remedies:
        yield Links(tuple(_remedy_link(remedy, name, view, settings) for remedy in view.remedies), REMEDIES, "choices")


def _remedy_link(remedy: Remedy, name: str, view: View, settings: tuple[Setting, ...]) -> Link:
    is_shown = (view.scene.layer, view.scene.shape) == (remedy.layer, remedy.shape)
    text = _("{label} (shown)", label=remedy.label) if is_shown else remedy.label
    return _link(text, name, view, repair(**remedy_fields(remedy)), settings)


def _shown_instead(scene: Scene) -> str:
    return _("Shown instead: {layer} on {shape}.", layer=scene.shape_description.title, shape=scene.shape)


def _link(text: str, name: str, view: View, reading: Reading, settings: tuple[Setting, ...]) -> Link:
    """A link to the page with another scene."""
    query = view.with_scene(reading).query(settings)
    return Link(text, name, query_text(query).removeprefix("?"))


def layout_parts(name: str, view: View, settings: tuple[Setting, ...]) -> Iterator[Part]:
    """A link that reads x as NHWC, if it probably is, and links to what normalizes over C, if the last axis only has its size."""
    scene = view.scene
    if not isinstance(scene.layer, Layer):
        return
    if meant := meant_for_channels(scene.layer, scene.shape, scene.axes):
        yield Links(tuple(_remedy_link(remedy, name, view, settings) for remedy in meant), OVER_CHANNELS, "choices")
    if is_probably_channels_last(scene.layer, scene.shape, scene.axes):
        reading = with_fields(scene, layout="NHWC")
        yield Links((_link(_("Read x as NHWC"), name, view, reading, settings),), kind="next")


def lookalike_parts(name: str, view: View, settings: tuple[Setting, ...]) -> Iterator[Part]:
    """From a large tensor the link to its look-alike; on a look-alike the true shape, and the link back."""
    scene, like = view.scene, view.display.like
    if view.is_lookalike and like is not None:
        layer, shape = like
        true = describe_shape(layer, shape, scene.layout)
        text = _(
            "A small look-alike of `{layer}` on {shape}: the same pattern on fewer elements.",
            layer=true.title,
            shape=shape,
        )
        yield Caption(text)
        back = _link(_("Back to {shape}", shape=shape), name, view.with_like(None), _with(scene, like), settings)
        yield Links((back,), kind="back")
    elif prod(scene.shape) > FEW:
        small = lookalike(scene.layer, scene.shape, scene.axes)
        if small[1] == scene.shape:
            return
        title = _("Show a small look-alike of shape {shape}", shape=small[1])
        link = _link(title, name, view.with_like((scene.layer, scene.shape)), _with(scene, small), settings)
        yield Links((link,), kind="next")


def compared_lookalike_parts(view: View, settings: tuple[Setting, ...]) -> Iterator[Part]:
    """From a comparison on a large tensor the link to the look-alikes of its layers, with the true shape as the caption."""
    scene = view.scene
    if prod(scene.shape) <= FEW:
        return
    layer, shape = lookalike(scene.layer, scene.shape, scene.axes)
    if shape == scene.shape:
        return
    others = (lookalike(Layer.parse(text), scene.shape, scene.axes)[0] for text in layers_of(view)[0])
    texts = tuple(dict.fromkeys(map(compact, others)))
    caption = _("A small look-alike of {shape}: the same patterns on fewer elements.", shape=scene.shape)
    small = replace(view, display=replace(view.display, caption=caption)).with_settings(layers=texts)
    title = _("Show a small look-alike of shape {shape}", shape=shape)
    yield Links((_link(title, "compare", small, _with(scene, (layer, shape)), settings),), kind="next")


def _with(scene: Scene, other: LayerOnShape) -> Reading:
    """The scene with another layer and shape."""
    layer, shape = other
    return repair(layer=layer, shape=shape, layout=scene.layout, data=scene.data, seed=scene.seed, params=scene.params)


def pasted_parts(text: str) -> Iterator[Part]:
    """What an error message of torch means, and links to the view that it is about; nothing if the text is not such a message."""
    found = refused_layer(text)
    if found is None:
        return
    layer, shape = found
    reading = repair(layer=layer, shape=shape)
    yield Note(reading.problem or _("torch accepts {layer} on an x of shape {shape}.", layer=layer, shape=shape))
    label = _("`{layer}` on {shape}, as in the message", layer=layer, shape=shape)
    asked = Link(label, "explore", query_text({"shape": commas(shape), "layer": compact(layer)}).removeprefix("?"))
    others = [
        Link(remedy.label, "explore", query_text(repair(**remedy_fields(remedy)).scene.query()).removeprefix("?"))
        for remedy in reading.remedies
    ]
    yield Links((asked, *others), OPEN, "choices")
