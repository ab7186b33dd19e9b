"""Reading a URL query, leniently: what is wrong in it becomes one message, and the view is the nearest valid one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.analysis.examples import DATA, PARAMETERS
from normviz.layers.arguments import LARGEST_SIZE
from normviz.layers.axes import LETTER, MAX_RANK, layout_text, parse_layout
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.fit import default_layer, kind_for, refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from normviz.scene.scene import DEFAULT_SHAPE, MOST_EDITABLE, Scene, default_at

LARGEST_SEED = 2**31
MOST_DIGITS = 2000  # letters of a list of numbers


@dataclass(frozen=True)
class Reading:
    """The nearest valid scene, and what was wrong, if anything."""

    scene: Scene
    problem: str | None = None


def read(query: Mapping[str, str]) -> Reading:
    """The scene of a URL query; unknown names in it are left alone.

    >>> read({"shape": "2,3,4,4", "layer": "GroupNorm(2,3)"}).scene.layer.given["num_groups"]
    1
    """
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, reader in READERS.items():
        if name in query:
            try:
                found[name] = reader(query[name])
            except NormvizError as error:
                problems.append(str(error))
    if "from" in found:
        found["start"] = found.pop("from")
    reading = nearest(**found)
    problems += [reading.problem] if reading.problem else []
    return Reading(reading.scene, problems[0] if problems else None)


def nearest(**wanted: Any) -> Reading:
    """The scene with these fields, or the one nearest to it that is valid, and why it is another."""
    try:
        return Reading(_scene(wanted))
    except NormvizError as error:
        problem = str(error)
    for number in range(
        1, 2 ** len(MENDS)
    ):  # as binary digits: every choice of milder mends before one that is harsher
        try:
            return Reading(_scene(_mended(wanted, number)), problem)
        except NormvizError:
            continue
    return Reading(_scene({}), problem)


def _mended(wanted: dict[str, Any], number: int) -> dict[str, Any]:
    """The fields after the mends that ``number`` chooses, the harshest first."""
    for place in reversed(range(len(MENDS))):
        if number >> place & 1:
            wanted = MENDS[place](wanted)
    return wanted


def _without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def mend(wanted: dict[str, Any]) -> dict[str, Any]:
        if name not in wanted:
            raise NormvizError(f"there is no {name} to leave out.")
        return {other: value for other, value in wanted.items() if other != name}

    return mend


def _moved(wanted: dict[str, Any]) -> dict[str, Any]:
    """The window moved into the tensor."""
    shape, axes = _tensor(wanted)
    return {**wanted, "start": grid(shape, axes, wanted.get("start", ())).start}


def _refitted(wanted: dict[str, Any]) -> dict[str, Any]:
    """The layer of the same family that fits."""
    (shape, axes), layer = _tensor(wanted), wanted.get("layer")
    if not isinstance(layer, Layer):
        raise NormvizError("a pattern has no sizes to fit.")
    return {**wanted, "layer": refit(layer, shape, axes)}


def _widened(wanted: dict[str, Any]) -> dict[str, Any]:
    """One axis at 2 that was at 1: the first that gives every mean more than one value; else all of them."""
    shape, _ = _tensor(wanted)
    for axis in (axis for axis, size in enumerate(shape) if size == 1):
        wider = {**wanted, "shape": (*shape[:axis], 2, *shape[axis + 1 :])}
        try:
            _scene(_refitted({name: wider[name] for name in wider if name in ("shape", "layout", "layer")}))
        except NormvizError:
            continue
        return wider
    return {**wanted, "shape": tuple(max(2, size) for size in shape)}


MENDS = (
    _without("at"),
    _moved,
    _without("values"),
    _refitted,
    _without("layout"),
    _widened,
    _without("layer"),
    _without("shape"),
)


def _scene(wanted: dict[str, Any]) -> Scene:
    shape, axes = _tensor(wanted)
    given = {
        "layer": default_layer("LayerNorm", shape, axes),
        "start": _window_with(wanted.get("at"), shape, axes),
        **{name: value for name, value in wanted.items() if name not in ("shape", "layout")},
    }
    if "at" not in given:
        given["at"] = default_at(shape, axes, given["start"])
    return Scene(shape, layout_text(axes), **given)


def _tensor(wanted: dict[str, Any]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The shape and its axes: as wanted, or as the layer means them."""
    layer, shape = wanted.get("layer"), wanted.get("shape", DEFAULT_SHAPE)
    layout = wanted.get("layout")
    if isinstance(layer, Norm):
        _check_letters(layer, shape)
        layout = layout_text(layer.axes) if layout is None else layout
    elif layout is None:
        kind = layer.kind if layer else kind_for("LayerNorm", tuple("x" * len(shape)))
        layout = kind.layout(len(shape))
    return shape, parse_layout(layout, len(shape))


def _check_letters(norm: Norm, shape: tuple[int, ...]) -> None:
    norm.axis_sizes(shape)
    for name in norm.axes:
        if not LETTER.fullmatch(name.upper()):
            raise NormvizError(f"a view names each axis by one letter, as in 'n c h w -> n'; {echo(name)} has more.")


def _window_with(at: tuple[int, ...] | None, shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[int, ...]:
    """Where a window begins that has the element in it."""
    drawing = grid(shape, axes)
    if at is None or len(at) != len(shape):
        return ()
    return grid(shape, axes, tuple(i - i % part for i, part in zip(at, drawing.extent, strict=True))).start


def _numbers(name: str, text: str, most: int, convert: Callable[[str], Any], example: str) -> tuple[Any, ...]:
    words = text.replace("(", "").replace(")", "").strip(" ,").split(",")
    try:
        if len(text) > MOST_DIGITS or len(words) > most:
            raise ValueError
        return tuple(convert(word) for word in words)
    except (ValueError, OverflowError):
        raise NormvizError(f"{name}={echo(text)} is not a list of numbers; write {name}={example}.") from None


def _read_shape(text: str) -> tuple[int, ...]:
    sizes = _numbers("shape", text, MAX_RANK, int, "2,3,4,4")
    if not all(1 <= size <= LARGEST_SIZE for size in sizes):
        raise NormvizError(f"shape={echo(text)} has a size below 1 or above {LARGEST_SIZE:,}; write shape=2,3,4,4.")
    return sizes


def _read_at(text: str) -> tuple[int, ...] | None:
    return None if text.strip().lower() == "none" else _numbers("at", text, MAX_RANK, int, "1,2,0,3")


def _read_values(text: str) -> tuple[float, ...]:
    return _numbers("values", text, MOST_EDITABLE, float, "1,2,3.5")


def _read_seed(text: str) -> int:
    (seed, *more) = _numbers("seed", text, 1, int, "0")
    if more or not 0 <= seed < LARGEST_SEED:
        raise NormvizError(f"seed={echo(text)} must be a whole number from 0 to {LARGEST_SEED - 1}.")
    return int(seed)


def _choice(name: str, among: Any) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in among:
            raise NormvizError(f"{name}={echo(text)} is unknown; choose {listed(among)}.")
        return text

    return read


def _read_layout(text: str) -> str:
    return layout_text(parse_layout(text, sum(letter.isalpha() for letter in text)))


READERS: Mapping[str, Callable[[str], Any]] = {
    "shape": _read_shape,
    "layout": _read_layout,
    "layer": Layer.parse,
    "data": _choice("data", DATA),
    "seed": _read_seed,
    "values": _read_values,
    "params": _choice("params", PARAMETERS),
    "at": _read_at,
    "from": lambda text: _numbers("from", text, MAX_RANK, int, "0,8,0,0"),
}
