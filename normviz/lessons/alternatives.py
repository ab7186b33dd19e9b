"""Other views that a page offers: what torch accepts instead of the layer that it refuses, and a small look-alike of a large tensor."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import prod

from normviz.analysis.description import describe_shape
from normviz.layers.fit import LayerOnShape, Remedy, is_probably_channels_last, lookalike, meant_for_channels
from normviz.layers.layer import Layer
from normviz.layers.pasted import refused_layer
from normviz.lessons.page import Page
from normviz.parts.part import Caption, Code, Link, Links, Note, Part, Problem
from normviz.scene.edits import Reading, remedy_fields, repair, with_fields
from normviz.scene.scene import Scene, query_of
from normviz.scene.view import View
from normviz.scene.view import link as query_text
from normviz.texts.messages import N_, _, join_sentences

FEW = 512  # elements: a look-alike of fewer is not offered


def problem_parts(page: Page, view: View) -> Iterator[Part]:
    """Every error message about the view, what is shown instead, the remedies as links, and one as code."""
    for message in dict.fromkeys(filter(None, [page.problem(view), *(one.message for one in view.refused)])):
        instead = ""
        if view.substitute and message == view.problem and page.shows_layer:
            title, shape = view.scene.shape_description.title, view.scene.shape
            instead = _("Shown instead: {layer} on {shape}.", layer=title, shape=shape)
        yield Problem(join_sentences([message, instead]))
    if view.note:
        yield Note(view.note)
    if view.remedies:
        yield Links(
            tuple(_remedy_link(page, remedy, view) for remedy in view.remedies),
            N_("What may have been meant:"),
            "choices",
        )
        yield from _first_code(view.remedies)


def _first_code(remedies: Iterable[Remedy]) -> Iterator[Code]:
    """The most probable remedy that is a line of code for the reader's x."""
    yield from islice((Code(remedy.code) for remedy in remedies if remedy.code), 1)


def _remedy_link(page: Page, remedy: Remedy, view: View) -> Link:
    is_shown = (view.scene.layer, view.scene.shape) == (remedy.layer, remedy.shape)
    text = _("{label} (shown)", label=remedy.label) if is_shown else remedy.label
    opened = replace(view, display=replace(view.display, open=("code",))) if page.name == "explore" else view
    return scene_link(page, text, opened, repair(**remedy_fields(remedy)))


def scene_link(page: Page, text: str, view: View, reading: Reading) -> Link:
    """A link to the page with another scene."""
    query = view.with_scene(reading).query(page.settings)
    return Link(text, page.name, query_text(query).removeprefix("?"))


def views_of_one_layer(page: Page, view: View) -> Iterator[Part]:
    """What normalizes over C, if the last axis only has its size; x as NHWC, if it probably is; a small look-alike, and the way back."""
    scene, like = view.scene, view.display.like
    if isinstance(scene.layer, Layer):
        if meant := meant_for_channels(scene.layer, scene.shape, scene.axes):
            links = tuple(_remedy_link(page, remedy, view) for remedy in meant)
            yield Links(links, N_("Over the channels:"), "choices")
        if is_probably_channels_last(scene.layer, scene.shape, scene.axes):
            reading = with_fields(scene, layout="NHWC")
            yield Links((scene_link(page, _("Read x as NHWC"), view, reading),), kind="next")
    if view.is_lookalike and like is not None:
        layer, shape = like
        true = describe_shape(layer, shape, scene.layout)
        text = _(
            "A small look-alike of `{layer}` on {shape}: the same pattern on fewer elements.",
            layer=true.title,
            shape=shape,
        )
        yield Caption(text)
        back = scene_link(page, _("Back to {shape}", shape=shape), view.with_like(None), on_shape(scene, like))
        yield Links((back,), kind="back")
    else:
        yield from lookalike_links(page, scene, lambda: view.with_like((scene.layer, scene.shape)))


def lookalike_links(page: Page, scene: Scene, current: Callable[[], View]) -> Iterator[Links]:
    """From a large tensor the link to a small look-alike of the view ``current()``."""
    if prod(scene.shape) <= FEW:
        return
    small = lookalike(scene.layer, scene.shape, scene.axes)
    if small[1] != scene.shape:
        title = _("Show a small look-alike of shape {shape}", shape=small[1])
        yield Links((scene_link(page, title, current(), on_shape(scene, small)),), kind="next")


def on_shape(scene: Scene, other: LayerOnShape) -> Reading:
    """The scene with another layer and shape."""
    layer, shape = other
    return repair(layer=layer, shape=shape, layout=scene.layout, data=scene.data, seed=scene.seed, params=scene.params)


def pasted_parts(text: str) -> Iterator[Part]:
    """What an error message of torch means, and links to the view that it is about; nothing for another text."""
    found = refused_layer(text)
    if found is None or found.shape is None:
        return
    layer, shape = found.layer, found.shape
    reading = repair(layer=layer, shape=shape)
    accepted = _("torch accepts {layer} on an x of shape {shape}.", layer=layer, shape=shape)
    yield Note(reading.problem or found.note or accepted)
    label = _("`{layer}` on {shape}, as in the message", layer=layer, shape=shape)
    asked = Link(label, "explore", query_text(query_of(layer, shape)).removeprefix("?"))
    others = [
        Link(
            remedy.label,
            "explore",
            query_text({**repair(**remedy_fields(remedy)).scene.query(), "open": "code"}).removeprefix("?"),
        )
        for remedy in reading.remedies
    ]
    yield Links((asked, *others), N_("Open it:"), "choices")
    yield from _first_code(reading.remedies)
