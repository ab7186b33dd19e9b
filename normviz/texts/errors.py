"""The exception and the warning that normviz raises, how their messages write values, and the error of a call that does not fit."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral
from typing import ParamSpec, TypeVar

from normviz.texts.messages import N_, _, language


class NormvizError(ValueError):
    """An invalid request. The message states the rule, the values and a remedy, in the reader's language; ``values`` fill its placeholders.

    >>> raise NormvizError("eps={eps} must be a finite number, such as 1e-5.", eps="inf")
    Traceback (most recent call last):
    ...
    normviz.texts.errors.NormvizError: eps=inf must be a finite number, such as 1e-5.
    """

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(_(message, **values))


class NormvizWarning(UserWarning):
    """A valid request that is seldom intended, such as BatchNorm1d on (N, L, C)."""


LONGEST_ECHO = 60
SURROGATE = re.compile("[\ud800-\udfff]")


def echo(value: object) -> str:
    """The value for use in a message: shortened, and on one line.

    >>> echo("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except ValueError:  # Python does not print an int of more than 4300 digits
        text = _("a value too long to print")
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO] + "…"


def check_web_address(name: str, address: str) -> str:
    """The address of an app or a view, as a file links to it; "" for none. Raises NormvizError for another one, such as javascript:alert(1).

    name  what comes before it in the error, such as "--app "
    """
    if address and not address.startswith(("https://", "http://")):
        raise NormvizError(
            "{name}{address} is not a web address; begin it with https:// or http://.", name=name, address=echo(address)
        )
    return address


def encodable(text: str) -> str:
    """The text with U+FFFD in place of each half of a surrogate pair, which UTF-8 cannot write. JSON, YAML and a caller's text may have them.

    >>> encodable("a\\ud800"), encodable("😀")
    ('a�', '😀')
    """
    try:
        text.encode()  # quicker than a search
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


# Spanish has other words before their own sound: "LayerNorm e InstanceNorm", "4 u 8".
SPANISH = [("y", "e", "h?i"), ("o", "u", r"(h?o|8|11\b)")]


def listed(values: Iterable[object], last: str = "or") -> str:
    """The values as a phrase, with "or" or "and" before the last one.

    >>> listed([1, 2, 3, 6])
    '1, 2, 3 or 6'
    """
    *first, final = [str(value) for value in values]
    pattern = {"or": _("{values} or {final}"), "and": _("{values} and {final}")}[last]
    if not first:
        return final
    phrase = pattern.format(values=_(", ").join(first), final=final)
    if language.get() == "es":
        for word, before_its_sound, sound in SPANISH:
            phrase = re.sub(rf" {word} (?=[`*]*{sound})", f" {before_its_sound} ", phrase, flags=re.IGNORECASE)
    return phrase


def closest(word: str, names: Iterable[str]) -> str | None:
    """The name that the reader probably meant, or None.

    >>> closest("batchnorm2D", ["BatchNorm1d", "BatchNorm2d"]), closest("Conv2d", ["BatchNorm2d"])
    ('BatchNorm2d', None)
    """
    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(word.lower()[:LONGEST_ECHO], by_lower, 1)
    return by_lower[found[0]] if found else None


# Calls that do not fit the arguments of a public function: each is one error that says how to write the call.

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
    normviz.texts.errors.CallError: <lambda> has no argument layuot. Did you mean layout?
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


def check_call(function: str, known: Signature, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise CallError if the arguments do not fit, if the sizes of x are given one by one, or if the layer is missing.

    function, known  the name and the signature of the function, which may take an x or a ``given``
    """
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
