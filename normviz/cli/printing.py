"""``normviz explain``: the sentence about a layer on a tensor, in the terminal."""

import argparse

from normviz.api.explain import explanation
from normviz.cli.terminal import say
from normviz.layers.fit import example_for
from normviz.scene.scene import SCENE_SETTINGS, axes_of


def explain(args: argparse.Namespace) -> None:
    """Print the sentence, or the code. Raises NormvizError if torch refuses the layer on this shape."""
    layer = SCENE_SETTINGS["layer"].parse(args.layer)
    axes = axes_of(args.layout) if args.layout else None
    shape = SCENE_SETTINGS["shape"].parse(args.shape) if args.shape else example_for(layer, axes)
    found = explanation(layer, shape, args.layout)
    print(found.code(args.code) if args.code else found)
    for note in found.notes:
        say(note)
