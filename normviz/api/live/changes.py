"""How a view in a notebook changes: through the traits of the widget, its controls and its figures. All functions are pure."""

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from normviz.analysis.checks import LARGEST_VALUE
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.pages import PAGES, view_of_link
from normviz.measuring.own_modules import describe_any, own_class
from normviz.scene import edits
from normviz.scene.edits import Reading, with_fields
from normviz.scene.foreign import EMBEDDING
from normviz.scene.scene import DATA_SETTING, MOST_EDITABLE, OWN, PARAMS, SCENE_SETTINGS, Own
from normviz.scene.view import DISPLAY_SETTINGS, View
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _


def with_query(page: str, view: View, query: str) -> View:
    """The view of a query, or of a whole link. It shows the reader's own tensors where they fit and the link names no others.

    If the page has no setting of a name, or if the link has another error, only the message changes.
    """
    is_link = query.startswith(("/", "https://", "http://"))
    asked_for = query.partition("#")[0].partition("?")[2] if is_link else query.removeprefix("?")
    asked = dict(parse_qsl(asked_for, keep_blank_values=True))
    known = [setting.name for setting in (*SCENE_SETTINGS.values(), *PAGES[page].settings, *DISPLAY_SETTINGS)]
    if unknown := [name for name in asked if name not in (*known, *EMBEDDING)]:
        rule = _("{name} is not a setting of this page; choose {known}.", name=echo(unknown[0]), known=listed(known))
        return replace(view, problem=rule)
    found, own = view_of_link(PAGES[page], asked), view.scene.own
    if problem := PAGES[page].problem(found):
        return replace(view, problem=problem)
    found = replace(found, display=replace(found.display, lang=view.display.lang))  # the widget keeps its language
    if own is None:
        return found
    chosen: dict[str, Any] = {"params": OWN} if own.values is not None and PARAMS.name not in asked else {}
    is_its_x = found.scene.values in (None, own.numbers(MOST_EDITABLE, LARGEST_VALUE))
    if own.x is not None and DATA_SETTING.name not in asked and is_its_x:
        chosen |= {"data": OWN, "values": None}
    return replace(found, scene=replace(found.scene, own=own, **chosen))


def with_layer(view: View, layer: Any) -> View:
    """The view with another layer: its text, a module, a Norm. If torch refuses it, only the message changes."""
    scene, own = view.scene, view.scene.own or Own()
    x = own.x if own.has_x(scene.shape) else scene.shape
    try:
        spec = Layer.parse(layer) if isinstance(layer, str) else layer
        e = describe_any(spec, x, None if isinstance(spec, Norm) else scene.layout)
    except NormvizError as error:
        return replace(view, problem=str(error))
    fields: dict[str, Any] = {"layer": e.layer or e.norm, "layout": e.layout}
    if e.values is not None:
        own = replace(own, layer=e.layer or e.norm, values=e.values, module=own_class(layer))
        fields |= {"own": own, "params": OWN}
    return _kept(view, with_fields(scene, **fields))


def with_shape(view: View, shape: Sequence[int]) -> View:
    """The view on a tensor of another shape; the layer is refitted."""
    try:
        sizes = SCENE_SETTINGS["shape"].parse(",".join(map(str, shape)))
    except (NormvizError, TypeError) as error:
        return replace(view, problem=str(error))
    return view.with_scene(edits.with_shape(view.scene, sizes))


def with_at(view: View, at: Sequence[int] | None) -> View:
    """The view with another selected element, or none. If it is not one, only the message changes."""
    try:
        index = None if at is None else tuple(map(operator.index, at))
    except TypeError:
        message = NormvizError(
            "at={at} is not an element of a tensor of shape {shape}.", at=echo(at), shape=view.scene.shape
        )
        return replace(view, problem=str(message))
    return _kept(view, edits.with_selected(view.scene, index))


def _kept(view: View, reading: Reading) -> View:
    """The view of the scene; if there is a problem, the same view with the message."""
    return replace(view, problem=reading.problem) if reading.problem else view.with_scene(reading)
