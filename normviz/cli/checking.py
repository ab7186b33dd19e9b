"""``normviz check``: does a function of the caller compute the layer that it should?"""

from __future__ import annotations

import argparse

import torch

from normviz.cli.imported import imported
from normviz.measuring.check import check
from normviz.scene.scene_settings import SCENE_SETTINGS
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

DIFFERS = 1


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "function", metavar="MODULE:FUNCTION", help=_("such as mymodule:my_layernorm; or a module object")
    )
    parser.add_argument("--shape", metavar="3,4,5", required=True, help=_("the sizes of x"))
    parser.add_argument("--like", metavar="LAYER", help=_('what it should be, such as "LayerNorm(5)"'))
    parser.add_argument("--layout", metavar="NHWC", help=_("the axes of x; default: those of LAYER"))
    parser.add_argument("--numpy", action="store_true", help=_("the function takes a NumPy array"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the function does and what differs; 1 if something differs."""
    shape = SCENE_SETTINGS["shape"].parse(args.shape)
    function = imported(args.function)
    if isinstance(function, type):
        raise NormvizError(
            _(
                "{name} is a class; name an instance of it, such as norm = {name}(...) in the module.",
                name=function.__name__,
            )
        )
    x = (
        torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).numpy()
        if args.numpy
        else shape
    )
    found = check(function, x, args.like, layout=args.layout)
    print(found)
    return 0 if found else DIFFERS
