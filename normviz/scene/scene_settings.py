"""The settings of the scene, which every page has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from normviz.analysis.checks import SEEDS
from normviz.analysis.examples import DATA, PARAMETERS
from normviz.layers.axes import MAX_RANK, layout_text, parse_layout
from normviz.layers.catalogue import KINDS, LARGEST_SIZE
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.setting import Choice, Number, Setting, parse_choice
from normviz.texts.errors import NormvizError, closest, echo
from normviz.texts.messages import N_

MOST_EDITABLE = 128  # elements whose values a link can hold
LONGEST_NUMBERS = 16 * MOST_EDITABLE  # characters: "-1.23456789e-10,"
LARGEST_INTEGER = 2**53 - 1  # the largest integer that JavaScript represents exactly

DATA_LABELS = {
    "normal": N_("normal (seeded)"),
    "counting": N_("counting 0, 1, 2, …"),
    "scales": N_("per-channel scales"),
    "images": N_("small pictures"),
}
SEEDED = ("normal", "scales", "images")
PARAMETER_LABELS = {"init": N_("1 and 0"), "index": N_("their index"), "random": N_("random")}


def commas(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def compact(layer: Layer | Norm) -> str:
    """The layer's text without the spaces between arguments: ``LayerNorm([3,4,4])``."""
    return str(layer).replace(", ", ",") if isinstance(layer, Layer) else repr(layer).replace(", ", ",")


def _format_at(at: tuple[int, ...] | None) -> str:
    return "none" if at is None else commas(at)


def _format_values(values: tuple[float, ...]) -> str:
    return ",".join(f"{number:.9g}".replace("e+", "e") for number in values)  # in a URL, "+" is a space


def _parse_numbers(name: str, text: str, most: int, convert: Callable[[str], Any], example: str) -> tuple[Any, ...]:
    words = text.replace("(", "").replace(")", "").strip(" ,").split(",")
    try:
        if len(text) > LONGEST_NUMBERS or len(words) > most:
            raise ValueError
        return tuple(convert(word) for word in words)
    except (ValueError, OverflowError):
        raise NormvizError(
            "{name}={value} is not a list of numbers; write {name}={example}.",
            name=name,
            value=echo(text),
            example=example,
        ) from None


def _parse_shape(text: str) -> tuple[int, ...]:
    sizes = _parse_numbers("shape", text, MAX_RANK, int, SHAPE_EXAMPLE)
    if not all(1 <= size <= LARGEST_SIZE for size in sizes):
        raise NormvizError(
            "shape={value} has a size below 1 or above {most:,}; write shape=2,3,4,4.",
            value=echo(text),
            most=LARGEST_SIZE,
        )
    return sizes


def _parse_layout(text: str) -> str:
    return layout_text(parse_layout(text, sum(letter.isalpha() for letter in text)))


def _parse_at(text: str) -> tuple[int, ...] | None:
    return None if text.strip().lower() == "none" else _parse_numbers("at", text, MAX_RANK, int, AT_EXAMPLE)


def check_seed(seed: Any, given: Any) -> int:
    """The seed. Raises NormvizError, with the value as ``given``, unless it is a whole number from 0 to 2^31 - 1."""
    if not isinstance(seed, int) or seed not in SEEDS:
        raise NormvizError(
            "{name}={value} must be a whole number from {low:,} to {high:,}.",
            name="seed",
            value=echo(given),
            low=SEEDS[0],
            high=SEEDS[-1],
        )
    return seed


def _parse_seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        seed = None
    return check_seed(seed, text)


def _nearest_layer(text: str) -> Layer | Norm:
    """The layer with the name that was probably meant: ``batchnorm2d(3)`` is BatchNorm2d(3)."""
    name, _bracket, rest = text.partition("(")
    meant = closest(name.rpartition(".")[2].strip(), [*KINDS, "Norm"])
    return Layer.parse(f"{meant}({rest}")


def _is_seeded(view: Any) -> bool:
    return view.scene.shown_data in SEEDED and view.scene.values is None


def _has_gamma(view: Any) -> bool:
    return view.scene.shape_description.counts.gamma_shape is not None


SHAPE_EXAMPLE, AT_EXAMPLE = "2,3,4,4", "1,2,0,3"
DATA_SETTING = Setting(
    "data", "normal", parse_choice("data", tuple(DATA)),
    label=N_("Values of x"), about=N_("x: normal, counting, scales or images"), example="counting", widget=Choice(DATA_LABELS),
)  # fmt: skip
SEED = Setting(
    "seed", 0, _parse_seed,
    label=N_("Seed"), about=N_("the seed of random numbers"), example="7", widget=Number(-LARGEST_INTEGER, LARGEST_INTEGER), applies=_is_seeded,
)  # fmt: skip
PARAMS = Setting(
    "params", "init", parse_choice("params", tuple(PARAMETERS)), hide="parameters",
    label=N_("Values of gamma and beta"), about=N_("gamma and beta: init, index or random"), example="index",
    widget=Choice(PARAMETER_LABELS), applies=_has_gamma,
)  # fmt: skip

# A setting without a widget is changed by several controls (``scene.controls``) or in the figure.
SCENE_SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("shape", None, _parse_shape, commas, about=N_("the sizes of x"), example=SHAPE_EXAMPLE),
        Setting("layout", None, _parse_layout, about=N_("the axis letters of x, if they differ from the layer's default"), example="NHWC"),
        Setting("layer", None, Layer.parse, compact, _nearest_layer, about=N_("a torch.nn layer, with .eval() in eval mode; or a pattern, such as Norm('n c h w -> n h w','c')"), example="GroupNorm(2,4)"),
        DATA_SETTING,
        SEED,
        Setting(
            "values", None, lambda text: _parse_numbers("values", text, MOST_EDITABLE, float, "1,2,3.5"), _format_values,
            about=N_("the values of x itself, for up to 128 elements"), example="1,2,3,4",
        ),
        PARAMS,
        Setting("at", (), _parse_at, _format_at, about=N_("the selected element, or none"), example=AT_EXAMPLE),
        Setting(
            "from", (), lambda text: _parse_numbers("from", text, MAX_RANK, int, "0,8,0,0"), commas,
            about=N_("the first slice that is drawn on each axis of a tensor that is not drawn whole"), example="0,8,0,0",
        ),
    )
}  # fmt: skip
