"""``normviz check`` and ``normviz norms``: what a function of the caller computes, and the normalizations of the caller's model."""

import argparse
import ast
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description
from normviz.measuring import probe
from normviz.measuring.check import Check, expect
from normviz.measuring.models.norms import Norms
from normviz.scene.scene import SCENE_SETTINGS
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

DIFFERS = 1  # the exit code
FLOATS = ("float32", "float64", "float16", "bfloat16")
FILLED: dict[str, Callable[[Sequence[int]], Tensor]] = {
    "ones": torch.ones,
    "zeros": torch.zeros,
    "random": lambda shape: torch.randn(shape, generator=torch.Generator().manual_seed(1)),
}
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "bool")
META = "meta"


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help=_("such as mymodule:my_layernorm or submission.py::layer_norm; or a module object"),
    )
    parser.add_argument("--shape", metavar="3,4,5", required=True, help=_("the sizes of x"))
    parser.add_argument("--like", metavar="LAYER", help=_('what it should be, such as "LayerNorm(5)"'))
    parser.add_argument("--layout", metavar="NHWC", help=_("the axes of x; default: those of LAYER"))
    parser.add_argument(
        "--params",
        metavar="gamma=ones,beta=zeros",
        default="",
        help=_(
            "further arguments: ones, zeros or random, with a shape if LAYER has another one (gamma=ones:1,6,1,1); or values (groups=2)"
        ),
    )
    parser.add_argument("--numpy", action="store_true", help=_("the function takes a NumPy array"))
    parser.add_argument(
        "--dtype", choices=FLOATS, help=_("of x, gamma and beta; default: float32, and float64 for NumPy")
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, help=_("end after so many seconds, without a result")
    )
    parser.add_argument("--json", action="store_true", help=_("print the result as JSON"))
    parser.set_defaults(run=run_check)


def run_check(args: argparse.Namespace) -> int:
    """Print what the function does and what differs; 1 if something differs. Raises NormvizError for invalid arguments."""
    shape = SCENE_SETTINGS["shape"].parse(args.shape)
    function = imported(args.function)
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
    found = Check.of(
        function,
        shape if plain else _as_kind(x, kind),
        args.like,
        layout=args.layout,
        params=given,
        timeout=args.timeout,
    )
    print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if args.json else found)
    return 0 if found else DIFFERS


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


def _as_kind(value: Any, kind: str) -> Any:
    return value.numpy() if isinstance(value, Tensor) and kind == probe.ARRAYS else value


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
    parser.add_argument("--json", action="store_true", help=_("print the result as JSON"))
    parser.set_defaults(run=run_norms)


def run_norms(args: argparse.Namespace) -> None:
    """Print the table. Raises NormvizError if there is no such model, or if its forward pass fails."""
    if not args.input:
        raise NormvizError("give the shape of each input of the model, such as --input 1,3,224,224.")
    with _device(args.device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the model's own code
        inputs = [_input(text, args.device) for text in args.input]
        found = Norms.of(_model(args.model).train(args.train), *inputs)
    shown = found if args.all else found.grouped()
    print(json.dumps(shown.to_dict(), ensure_ascii=False, indent=2) if args.json else shown)
    if found.failure:
        raise NormvizError("the table ends where the forward pass failed; see its last line.")


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
    module, name = _parts(text)
    if not module or not name:
        raise NormvizError(
            "{text} names no model; write MODULE:NAME, such as torchvision.models:resnet50.", text=echo(text)
        )
    try:
        home = _module(module)
    except ModuleNotFoundError as error:
        raise NormvizError(
            "{module} cannot be imported: there is no module {missing}; install it, or run the command where it is.",
            module=echo(module),
            missing=error.name,
        ) from error
    except Exception as error:
        raise NormvizError(
            "{module} cannot be imported: {kind}: {error}", module=echo(module), kind=type(error).__name__, error=error
        ) from error
    try:
        found: Any = reduce(getattr, name.split("."), home)
    except AttributeError as error:
        raise NormvizError("{module} has no {name}.", module=echo(module), name=echo(name)) from error
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


def imported(name: str) -> Callable[..., Any]:
    """The callable named ``module:callable``, or ``file.py::callable`` as in pytest. Raises NormvizError if there is none.

    >>> imported("torch.nn.functional:layer_norm").__name__
    'layer_norm'
    """
    module, attributes = _parts(name)
    if not module or not attributes:
        raise NormvizError(
            "{name} does not name a function; write module:function, such as mymodule:my_layernorm.", name=echo(name)
        )
    if module.endswith(".py") and not Path(module).is_file():
        raise NormvizError("there is no file {module}.", module=echo(module))
    try:
        home = _module(module)
    except Exception as error:
        raise NormvizError(
            "{module} cannot be imported: {kind}: {error}. Run normviz in the folder of the module.",
            module=echo(module),
            kind=type(error).__name__,
            error=str(error),
        ) from error
    try:
        found: Any = reduce(getattr, attributes.split("."), home)
    except AttributeError as error:
        raise NormvizError("{name} does not exist: {error}.", name=echo(name), error=str(error)) from error
    if not callable(found):
        raise NormvizError("{name} is not a function or a module: it is {value}.", name=echo(name), value=echo(found))
    return found


def _parts(name: str) -> tuple[str, str]:
    """The module or file, and the name in it; empty where one is missing.

    >>> _parts("course/submission.py::Net.norm"), _parts("mymodule:norm")
    (('course/submission.py', 'Net.norm'), ('mymodule', 'norm'))
    """
    module, colon, attributes = name.rpartition(":") if name.count(":") == 1 else name.rpartition("::")
    return (module, attributes) if colon else (name, "")


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
