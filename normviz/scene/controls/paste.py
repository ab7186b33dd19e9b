"""The control "Paste an error": an error message of torch becomes the view that it is about, with what torch accepts instead."""

from __future__ import annotations

from collections.abc import Sequence

from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import N_, _
from normviz.layers.substitutes.pasted import MOST_TEXT, refused_layer
from normviz.scene.controls.control import Changeable, Control, Input, on_scene
from normviz.scene.repair import Reading, repair
from normviz.scene.scene import Scene
from normviz.scene.settings.widgets import TextField

LABEL = N_("Paste an error of torch")
PLACEHOLDER = N_("its last line")


def with_pasted_error(scene: Scene, text: str) -> Reading:
    """The view that the message is about. Raises NormvizError if it is not a message of a normalization layer."""
    if not text.strip():
        return Reading(scene)
    found = refused_layer(text)
    if found is None:
        raise NormvizError(
            _(
                "{text} is not an error message of a normalization layer of torch; paste the last line of the traceback, or write, for "
                "example, LayerNorm(96) on 8,96,56,56.",
                text=echo(text),
            )
        )
    layer, shape = found
    return repair(layer=layer, shape=shape)


def _inputs(view: Changeable) -> Sequence[Input]:
    return [Input("paste", _(LABEL), "", TextField(MOST_TEXT, _(PLACEHOLDER)), on_scene(with_pasted_error))]


PASTE = Control("paste", LABEL, _inputs)
