"""Calls that do not fit the arguments of a public function: each is one error that says how to write the call."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral
from typing import Any, ParamSpec, TypeVar

from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_

P = ParamSpec("P")
R = TypeVar("R")
MOST_NAMES = 3  # of the arguments that a call must name


class CallError(NormvizError, TypeError):
    """A call that Python refuses with a TypeError."""


def checked_call(function: Callable[P, R]) -> Callable[P, R]:
    """The function. A call that does not fit its arguments raises a CallError: see ``check_call``.

    >>> checked_call(lambda x, layout=None: x)(layuot="NC")
    Traceback (most recent call last):
    ...
    normviz.texts.calls.CallError: <lambda> has no argument layuot. Did you mean layout?
    """
    parameters = list(signature(function).parameters.values())
    own = parameters[:1] == [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    known = Signature(parameters[own:])

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        check_call(function.__name__, known, args[own:], kwargs)
        return function(*args, **kwargs)

    return call


def check_call(function: str, known: Signature, args: Sequence[object], kwargs: Mapping[str, Any]) -> None:
    """Raise CallError if the arguments do not fit; the function takes an x or a ``given``, and its sizes are given one by one; or no layer."""
    parameters = known.parameters
    places = [one for one in parameters.values() if one.kind == one.POSITIONAL_OR_KEYWORD]
    kinds = {one.kind for one in parameters.values()}
    sizes = [value for value in args[1:] if isinstance(value, Integral)]
    if len(sizes) > 1 and {"x", "given"} & {*parameters}:
        raise CallError(
            N_("{name} takes the shape as one tuple; write {shape}."), name=function, shape=tuple(map(int, sizes))
        )
    if len(args) > len(places) and Parameter.VAR_POSITIONAL not in kinds:
        raise CallError(
            N_("{function} has no place for {value}; write {call}."),
            function=function,
            value=getattr(args[len(places)], "__name__", "") or echo(args[len(places)]),
            call=_written(function, known),
        )
    given = [one.name for one in places[: len(args)]]
    for name in kwargs:
        if name in given:
            raise CallError(N_("{layer} got {name} twice; give it once."), layer=function, name=name)
        if name not in parameters and Parameter.VAR_KEYWORD not in kinds:
            raise _unknown(function, name, list(parameters))
    for one in parameters.values():
        is_needed = one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        if is_needed and one.name not in (*given, *kwargs):
            raise CallError(
                N_("{layer} needs {name}, as in {example}."),
                layer=function,
                name=one.name,
                example=_written(function, known, only_needed=True),
            )


def _unknown(function: str, name: str, known: Sequence[str]) -> CallError:
    if meant := closest(name, [one for one in known if len(one) > 2]):
        return CallError(
            N_("{function} has no argument {name}. Did you mean {meant}?"), function=function, name=name, meant=meant
        )
    return CallError(
        N_("{layer} has no argument {name}; it takes {names}."), layer=function, name=name, names=listed(known, "and")
    )


def _written(function: str, known: Signature, only_needed: bool = False) -> str:
    """The call as one writes it: with some of its arguments, or with those that it needs."""
    kinds = {one.kind: one for one in known.parameters.values()}
    places = [one.name for one in known.parameters.values() if one.kind == one.POSITIONAL_OR_KEYWORD]
    named = [one for one in known.parameters.values() if one.kind == one.KEYWORD_ONLY]
    if only_needed:
        places = [name for name in places if known.parameters[name].default is Parameter.empty]
        named = [one for one in named if one.default is one.empty]
    places += [f"*{kinds[Parameter.VAR_POSITIONAL].name}"] if Parameter.VAR_POSITIONAL in kinds else []
    more = ["name=..."] if Parameter.VAR_KEYWORD in kinds and not only_needed else []
    more += ["..."] if len(named) > MOST_NAMES else []
    return f"{function}({', '.join([*places, *(f'{one.name}=...' for one in named[:MOST_NAMES]), *more])})"
