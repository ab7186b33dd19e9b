"""``normviz norms``: the normalizations of a model that a function makes, as a table."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from normviz.measuring.models.norms import norms
from normviz.scene.scene_settings import SCENE_SETTINGS
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "bool")
META = "meta"


def add_norms(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "model",
        metavar="MODULE:NAME",
        help=_("a model, or a function that makes one, such as torchvision.models:resnet50"),
    )
    parser.add_argument(
        "--input",
        metavar="1,3,224,224",
        action="append",
        default=[],
        help=_("the shape of an input; repeat --input for each input; 1,16:int64 is an integer tensor"),
    )
    parser.add_argument("--device", metavar="cpu", default=META, help=_("default: meta, where tensors have no values"))
    parser.add_argument("--train", action="store_true", help=_("in training mode; default: in eval mode"))
    parser.add_argument("--all", action="store_true", help=_("one row for each normalization, even if rows are equal"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Print the table. Raises NormvizError if there is no such model, or if its forward pass fails."""
    if not args.input:
        raise NormvizError(_("give the shape of each input of the model, such as --input 1,3,224,224."))
    with _device(args.device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the model's own code
        inputs = [_input(text, args.device) for text in args.input]
        found = norms(_model(args.model).train(args.train), *inputs)
    print(found if args.all else found.grouped())
    if found.failure:
        raise NormvizError(_("the table ends where the forward pass failed; see its last line."))


def _device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise NormvizError(_("--device {name} is not available here; use meta or cpu.", name=echo(name))) from error


def _input(text: str, device: str) -> Tensor:
    """Zeros of a shape and dtype.

    >>> _input("1,16:int64", "cpu").dtype
    torch.int64
    """
    shape, _colon, dtype = text.partition(":")
    if dtype and dtype not in DTYPES:
        raise NormvizError(
            _("--input {text}: the dtype must be one of {dtypes}.", text=echo(text), dtypes=", ".join(DTYPES))
        )
    sizes = SCENE_SETTINGS["shape"].parse(shape)
    return torch.zeros(sizes, dtype=getattr(torch, dtype or "float32"), device=device)


def _model(text: str) -> nn.Module:
    """The model of ``module:name``. The current directory is on the path, as with ``python -m``."""
    module, _colon, name = text.partition(":")
    if not module or not name:
        raise NormvizError(
            _("{text} names no model; write MODULE:NAME, such as torchvision.models:resnet50.", text=echo(text))
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found = _imported(module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise NormvizError(_("{module} has no {name}.", module=echo(module), name=echo(name)))
        found = getattr(found, part)
    model = found if isinstance(found, nn.Module) else _made(found, text)
    if not isinstance(model, nn.Module):
        raise NormvizError(
            _(
                "{text} gives {kind}, not a torch.nn.Module; name a model or a function that makes one.",
                text=echo(text),
                kind=type(model).__name__,
            )
        )
    return model


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise NormvizError(
            _(
                "{module} cannot be imported: there is no module {missing}; install it, or run the command where it is.",
                module=echo(module),
                missing=error.name,
            )
        ) from error
    except Exception as error:
        raise NormvizError(
            _(
                "{module} cannot be imported: {kind}: {error}",
                module=echo(module),
                kind=type(error).__name__,
                error=error,
            )
        ) from error


def _made(function: Any, text: str) -> Any:
    try:
        return function()
    except Exception as error:
        raise NormvizError(
            _(
                "{text} raises {kind}: {error}; name a function without arguments that makes the model.",
                text=echo(text),
                kind=type(error).__name__,
                error=error,
            )
        ) from error
