"""``normviz check``, ``norms`` and ``diagnose``: what a function of the caller computes, and the normalizations of the caller's model."""

import argparse
import ast
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description
from normviz.api.check import Check, check
from normviz.api.diagnose import diagnose
from normviz.api.norms import norms
from normviz.cli.arguments import FLOATS
from normviz.cli.watching import guarded
from normviz.export.files import short_path
from normviz.measuring import probe
from normviz.measuring.check import expect
from normviz.scene.scene import SCENE_SETTINGS
from normviz.texts.errors import NormvizError, closest, echo

DIFFERS = 1  # the exit code
FILLED: dict[str, Callable[[Sequence[int]], Tensor]] = {
    "ones": torch.ones,
    "zeros": torch.zeros,
    "random": lambda shape: torch.randn(shape, generator=torch.Generator().manual_seed(1)),
}
DTYPES = (*FLOATS, "int64", "int32", "bool")


def run_check(args: argparse.Namespace) -> int:
    """Print what the function does and what differs; 1 if something differs. Raises NormvizError for invalid arguments."""
    with guarded(args.code):
        found = _checked(args)
        text = json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if args.json else str(found)
        code = 0 if found else DIFFERS
    sys.stdout.write(f"{text}\n")
    return code


def _checked(args: argparse.Namespace) -> Check:
    shape = SCENE_SETTINGS["shape"].parse(args.shape)
    function = imported(args.code)
    if isinstance(function, type):
        raise NormvizError(
            "{name} is a class; name an instance of it, such as norm = {name}(...) in the module.",
            name=function.__name__,
        )
    kind = probe.ARRAYS if args.numpy else probe.kind_of(function, shape)
    dtype = getattr(torch, args.dtype or ("float64" if kind == probe.ARRAYS else "float32"))
    if kind == probe.ARRAYS and dtype == torch.bfloat16:
        raise NormvizError("NumPy has no bfloat16; give another --dtype.")
    expected = expect(args.like, shape, args.layout) if args.like else None
    params = {name: _argument(name, text, expected, dtype) for name, text in _split(args.params)}
    probe.check_fits(shape)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)
    given = {name: _as_kind(value, kind) for name, value in params.items()}
    plain = kind == probe.TENSORS and args.dtype is None and not given
    return check(
        function,
        shape if plain else _as_kind(x, kind),
        args.like,
        layout=args.layout,
        params=given,
        timeout=args.timeout,
    )


def _split(text: str) -> list[tuple[str, str]]:
    """The names and values of ``gamma=ones:1,6,beta=zeros``.

    >>> _split("gamma=ones:1,6,groups=2")
    [('gamma', 'ones:1,6'), ('groups', '2')]
    """
    parts = [part.partition("=") for part in re.split(r",(?=\s*[A-Za-z_]\w*\s*=)", text) if part.strip()]
    for name, mark, _value in parts:
        if not mark or not name.strip().isidentifier():
            raise NormvizError(
                "--params {text} is not a list of arguments; write --params gamma=ones,beta=zeros.", text=echo(text)
            )
    return [(name.strip(), value.strip()) for name, _mark, value in parts]


def _argument(name: str, text: str, expected: Description | None, dtype: torch.dtype) -> Any:
    """The value of an argument: a tensor of ones, zeros or random numbers, or a Python value."""
    kind, colon, sizes = text.partition(":")
    if kind in FILLED:
        counts = None if expected is None else expected.counts
        shape = None if counts is None else counts.gamma_shape or counts.beta_shape
        if colon:
            shape = SCENE_SETTINGS["shape"].parse(sizes)
        if shape is None:
            raise NormvizError(
                "{name}={text}: its shape is unknown without --like, or LAYER has no gamma; write {name}={kind}:6.",
                name=name,
                text=text,
                kind=kind,
            )
        return FILLED[kind](shape).to(dtype)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise NormvizError(
            "{name}={text} is not a value; write ones, zeros, random, a number, or a Python value such as {{}}.",
            name=name,
            text=echo(text),
        ) from error


def _as_kind(value: object, kind: str) -> Any:
    return value.numpy() if isinstance(value, Tensor) and kind == probe.ARRAYS else value


def run_norms(args: argparse.Namespace) -> None:
    """Print the table. Raises NormvizError if there is no such model, or if its forward pass fails."""
    if not args.input:
        raise NormvizError("give the shape of each input of the model, such as --input 1,3,224,224.")
    with guarded(args.code), _device(args.device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the model's own code
        inputs = [_input(text, args.device) for text in args.input]
        found = norms(_model(args.code).train(args.train), *inputs)
        shown = found if args.all else found.grouped()
        text = json.dumps(shown.to_dict(), ensure_ascii=False, indent=2) if args.json else str(shown)
    sys.stdout.write(f"{text}\n")
    if found.failure:
        raise NormvizError("the table ends where the forward pass failed; see its last line.")


def run_diagnose(args: argparse.Namespace) -> int:
    """Print the diagnosis; 1 if there are findings. Raises NormvizError if there is no such model or data, and if the model raises."""
    with guarded(args.code), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the model's own code
        found = diagnose(_model(args.code), _data(args.data), steps=args.steps)
        text = json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if args.json else str(found)
        code = 0 if found else DIFFERS
    sys.stdout.write(f"{text}\n")
    return code


def _data(text: str) -> Any:
    """The batches of ``module:name``, or those that the function of this name makes."""
    found = named(text, "model.py:batches")
    return _made(found, text) if callable(found) else found


def _device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise NormvizError("--device {name} is not available here; use meta or cpu.", name=echo(name)) from error


def _input(text: str, device: str) -> Tensor:
    """Zeros of a shape and dtype.

    >>> _input("1,16:int64", "cpu").dtype
    torch.int64
    """
    shape, _colon, dtype = text.partition(":")
    if dtype and dtype not in DTYPES:
        raise NormvizError(
            "--input {text}: the dtype must be one of {dtypes}.", text=echo(text), dtypes=", ".join(DTYPES)
        )
    sizes = SCENE_SETTINGS["shape"].parse(shape)
    return torch.zeros(sizes, dtype=getattr(torch, dtype or "float32"), device=device)


def _model(text: str) -> nn.Module:
    """The model of ``module:name``, or the one that the function of this name makes."""
    found = imported(text, "torch.nn:Transformer")
    model = found if isinstance(found, nn.Module) else _made(found, text)
    if not isinstance(model, nn.Module):
        raise NormvizError(
            "{text} gives {kind}, not a torch.nn.Module; name a model or a function that makes one.",
            text=echo(text),
            kind=type(model).__name__,
        )
    return model


def _made(function: Any, text: str) -> Any:
    try:
        return function()
    except Exception as error:
        raise NormvizError(
            "{text} raises {kind}: {error}; name a function without arguments that makes the model.",
            text=echo(text),
            kind=type(error).__name__,
            error=error,
        ) from error


def imported(name: str, example: str = "mymodule:my_layernorm") -> Any:
    """The function or module that ``name`` names. Raises NormvizError if there is nothing to call.

    >>> imported("torch.nn.functional:layer_norm").__name__
    'layer_norm'
    """
    found = named(name, example)
    if not callable(found):
        raise NormvizError("{name} is not a function or a module: it is {value}.", name=echo(name), value=echo(found))
    return found


def named(name: str, example: str) -> Any:
    """What ``module:name`` names, or ``file.py:name``, or as in pytest ``file.py::name``. Raises NormvizError if there is no such name."""
    module, attributes = _parts(name)
    if not attributes:
        raise NormvizError(
            "{name} does not name what is in a module; write MODULE:NAME or FILE.py:NAME, such as {example}.",
            name=echo(name),
            example=example,
        )
    if module.endswith(".py") and not Path(module).is_file():
        raise NormvizError("there is no file {module}.", module=short_path(module))
    try:
        home = _module(module)
    except ModuleNotFoundError as error:
        raise NormvizError(
            "{module} cannot be imported: there is no module {missing}; install it, or run normviz in the folder where it is.",
            module=echo(module),
            missing=error.name,
        ) from error
    except Exception as error:
        raise NormvizError(
            "{module} cannot be imported: {kind}: {error}", module=echo(module), kind=type(error).__name__, error=error
        ) from error
    found: Any = home
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            if meant := closest(attribute, [one for one in dir(found) if not one.startswith("_")]):
                raise NormvizError(
                    "{module} has no {name}. Did you mean {meant}?",
                    module=echo(module),
                    name=echo(attributes),
                    meant=meant,
                )
            raise NormvizError("{module} has no {name}.", module=echo(module), name=echo(attributes))
        found = getattr(found, attribute)
    return found


NAMED = re.compile(r"(.+?)::?([\w.]+)")  # the module may be a path with a drive, C:/course/submission.py


def _parts(name: str) -> tuple[str, str]:
    """The module or file, and the name in it; empty where one is missing.

    >>> _parts("course/submission.py::Net.norm"), _parts("mymodule:norm"), _parts("C:/course/submission.py:norm")
    (('course/submission.py', 'Net.norm'), ('mymodule', 'norm'), ('C:/course/submission.py', 'norm'))
    """
    found = NAMED.fullmatch(name)
    return (found[1], found[2]) if found else (name, "")


def _module(name: str) -> ModuleType:
    """Import a module, which is looked for in the working directory first; or a file, whose folder is searched first for what it imports."""
    place = Path(name)
    folder = str(place.parent.resolve()) if place.suffix == ".py" else ""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if place.suffix != ".py":
        return import_module(name)
    spec = spec_from_file_location(place.stem, place)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
