"""``normviz explain``: the sentence about a layer on a tensor, or what an error message of torch means, in the terminal."""

import argparse

from normviz.api.explain import explanation
from normviz.cli.terminal import say
from normviz.layers.fit import example_for
from normviz.layers.forms import Tensor
from normviz.layers.pasted import Pasted
from normviz.scene import controls, edits, view
from normviz.scene.scene import SCENE_SETTINGS, axes_of
from normviz.texts.messages import _, plain


def explain(args: argparse.Namespace) -> None:
    """Print the sentence, or the code; of an error message of torch, what it means, and what torch accepts.

    Raises NormvizError if nothing is read in the text, and if torch refuses the layer on this shape.
    """
    shape = SCENE_SETTINGS["shape"].parse(args.shape) if args.shape else None
    found = view.read_typed(args.layer, _tensor(shape, args.layout))
    if found.message:
        print(plain(_meaning(found)))
        return
    layout = args.layout or found.layout or None
    shape = shape or found.shape or example_for(found.layer, axes_of(layout) if layout else None)
    explained = explanation(found.layer, shape, layout)
    print(explained.code(args.code) if args.code else explained)
    for note in filter(None, (found.note, *explained.notes)):
        say(note)


def _tensor(shape: tuple[int, ...] | None, layout: str | None) -> Tensor | None:
    if shape is None:
        return None
    scene = edits.repair(shape=shape, **({"layout": layout} if layout else {})).scene
    return Tensor(scene.shape, scene.axes)


def _meaning(found: Pasted) -> str:
    """What the message means; and what torch accepts, line by line."""
    reading = edits.repair(**controls.fields_of(found))
    accepted = _("torch accepts {layer} on an x of shape {shape}.", layer=found.layer, shape=found.shape)
    lines = [line for line in (reading.problem, found.note) if line] or [accepted]
    if reading.remedies:
        lines += [_("What may have been meant:"), *(f"  {remedy.label}" for remedy in reading.remedies)]
    return "\n".join(lines)
