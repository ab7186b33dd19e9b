"""Numerics: what rounding does to a mean, a variance and an eps."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from normviz.analysis.rounding.groups import DISTANCES, DTYPES
from normviz.lessons.numerics_eps import eps_parts, placement_parts
from normviz.lessons.numerics_variance import variance_parts
from normviz.lessons.numerics_zero_variance import constant_parts, single_parts
from normviz.lessons.page import ControlRow, Page
from normviz.lessons.parts.part import Part
from normviz.scene.setting import choice, experiment, in_experiments, number, power_of_ten
from normviz.scene.view import View
from normviz.texts.messages import N_

Settings = Mapping[str, Any]

EXPERIMENTS: dict[str, Callable[[Settings, int], Iterator[Part]]] = {
    "variance": variance_parts,
    "eps": eps_parts,
    "constant": constant_parts,
    "single": single_parts,
    "placement": placement_parts,
}


def view_parts(view: View) -> Iterator[Part]:
    """The sentence and the figure of the experiment ``view.settings["show"]``."""
    return EXPERIMENTS[view.settings["show"]](view.settings, view.scene.seed)


LARGEST_CONSTANT, LARGEST_SCALE = 65_504, 10_000  # float16 can represent every such x
SMALLEST_EPS = 1e-12
SETTINGS = (
    experiment(
        {
            "variance": N_("Four ways to compute a variance"),
            "eps": N_("How small may eps be?"),
            "constant": N_("A constant x"),
            "single": N_("Groups of one"),
            "placement": N_("eps inside or outside"),
        },
        "eps",
    ),
    choice(
        "dtype", {name: name for name in DTYPES}, "float32", label=N_("dtype of x"), example="float16", applies=in_experiments("variance", "eps", "constant", "single"),
    ),
    power_of_ten("distance", 0, len(DISTANCES) - 1, 6, label=N_("distance from zero"), about=N_("how far x is from zero, a power of ten"), example="1e5", applies=in_experiments("variance")),
    power_of_ten("spread", -12, 3, -4, label=N_("spread"), about=N_("the standard deviation of x, a power of ten"), example="1e-3", applies=in_experiments("eps"), in_file=(-12, -8, -4, 0)),
    number("value", -LARGEST_CONSTANT, LARGEST_CONSTANT, 1234.567, width=300, label=N_("every element of x"), about=N_("every element of x"), example="0.1", applies=in_experiments("constant"), in_file=("0", "1", "1234.567")),
    number("scale", 0, LARGEST_SCALE, 1000, width=300, label=N_("standard deviation of x"), about=N_("the standard deviation of x"), example="100", applies=in_experiments("single"), in_file=("1", "1000")),
    number("eps", SMALLEST_EPS, 1, 1e-5, width=300, label="eps", about=N_("the eps that is compared inside and outside the square root"), example="0.001", applies=in_experiments("placement"), in_file=("1e-12", "1e-05", "0.001")),
)  # fmt: skip
ROWS = (ControlRow("", (SETTINGS[:1],)), ControlRow("controls", (SETTINGS[1:],), "medium"))
PAGE = Page(
    "numerics",
    N_("Numerics"),
    N_("What rounding does to a mean, a variance and eps."),
    view_parts,
    SETTINGS,
    rows=lambda _view: ROWS,
    uses="scene",
    whole_in_answer=True,
    file_choices=(("show", "dtype", "set_distance", "set_spread", "set_value", "set_scale", "set_eps"),),
)
