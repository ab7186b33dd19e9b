import json
import re
from itertools import combinations, pairwise

import pytest

from normviz.figures.palette import THEMES, as_json, stops, theme
from normviz.layers.errors import NormvizError
from tests.figures.colours import VISION, contrast, difference, lab, luminance, mixed, over, rgb

READABLE = 4.5  # WCAG 2.2 AA, text
VISIBLE = 3.0  # WCAG 2.2 AA, lines and marks
# CIEDE2000: a difference of 1 is just noticeable side by side; 6 is visible at a glance, also on a projector.
APART = 6.0

BOTH = pytest.mark.parametrize("name", list(THEMES))


def fills(colours):
    """Every colour of a cell: the qualitative ones, and 21 of each segment of each ramp."""
    ramps = (colours.many, colours.parameters, colours.values)
    steps = [(low, high, i / 20) for ramp in ramps for low, high in pairwise(ramp) for i in range(21)]
    return [*map(rgb, colours.few), rgb(colours.none), *(mixed(*step) for step in steps)]


@BOTH
@pytest.mark.parametrize("text", ["text", "muted", "faint", "accent"])
@pytest.mark.parametrize("ground", ["background", "card"])
def test_text_is_readable_on_the_page(name, text, ground):
    colours = theme(name)
    assert contrast(rgb(getattr(colours, text)), rgb(getattr(colours, ground))) >= READABLE


@BOTH
def test_one_of_the_two_inks_is_readable_on_every_fill(name):
    colours = theme(name)
    assert min(max(contrast(rgb(ink), fill) for ink in colours.ink) for fill in fills(colours)) >= READABLE


@BOTH
@pytest.mark.parametrize("text", ["faint", "muted"])
def test_ids_are_readable_under_the_veil(name, text):
    colours = theme(name)
    assert min(contrast(rgb(getattr(colours, text)), over(colours.veil, fill)) for fill in fills(colours)) >= READABLE


@BOTH
def test_the_frame_of_the_selected_element_stands_out_from_its_halo(name):
    colours = theme(name)
    assert contrast(rgb(colours.accent), rgb(colours.card)) >= VISIBLE


@BOTH
def test_the_outline_of_the_peers_stands_out_from_what_is_veiled(name):
    colours = theme(name)
    assert min(contrast(rgb(colours.text), over(colours.veil, fill)) for fill in fills(colours)) >= VISIBLE


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
def test_groups_can_be_told_apart_with_every_vision(name, vision):
    seen = [lab(rgb(fill), vision) for fill in theme(name).few]
    assert min(difference(one, other) for one, other in combinations(seen, 2)) >= APART


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
@pytest.mark.parametrize("ramp", ["few", "many", "parameters"])
def test_peers_can_be_told_from_veiled_elements(name, vision, ramp):
    colours = theme(name)
    for fill in map(rgb, getattr(colours, ramp)):
        assert difference(lab(fill, vision), lab(over(colours.veil, fill), vision)) >= APART


@BOTH
@pytest.mark.parametrize("ramp", ["many", "parameters"])
def test_a_ramp_of_ids_keeps_its_order_in_greyscale(name, ramp):
    low, high = getattr(theme(name), ramp)
    greys = [luminance(mixed(low, high, i / 20)) for i in range(21)]
    assert greys in (sorted(greys), sorted(greys, reverse=True))
    assert contrast(rgb(low), rgb(high)) >= VISIBLE - 0.5


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
def test_values_below_and_above_zero_differ_with_every_vision(name, vision):
    low, _, zero, _, high = [lab(rgb(colour), vision) for colour in theme(name).values]
    assert min(difference(low, high), difference(low, zero), difference(zero, high)) >= 3 * APART


@BOTH
def test_every_colour_is_valid_in_browsers_and_plotly(name):
    for key, value in json.loads(json.dumps(as_json(theme(name)))).items():
        for colour in [value] if isinstance(value, str) else value:
            assert re.fullmatch(r"#[0-9a-f]{6}", colour) or key == "veil"
    assert re.fullmatch(r"rgba\(\d+,\d+,\d+,0\.\d+\)", theme(name).veil)


def test_up_to_eight_groups_have_a_colour_each():
    colours = theme("light")
    assert stops(colours, "groups", 1) == [(0, colours.few[0]), (1, colours.few[0])]
    assert stops(colours, "groups", 2) == [
        (0, colours.few[0]),
        (0.5, colours.few[0]),
        (0.5, colours.few[1]),
        (1, colours.few[1]),
    ]
    assert {colour for _, colour in stops(colours, "groups", 8)} == set(colours.few)


def test_more_groups_have_a_ramp():
    colours = theme("dark")
    assert stops(colours, "groups", 9) == [(0, colours.many[0]), (1, colours.many[1])]
    assert stops(colours, "parameters", 2) == [(0, colours.parameters[0]), (1, colours.parameters[1])]
    assert [place for place, _ in stops(colours, "values")] == [0, 0.25, 0.5, 0.75, 1]
    assert stops(colours, "none") == [(0, colours.none), (1, colours.none)]


def test_another_theme_is_refused():
    with pytest.raises(NormvizError, match=re.escape("'sepia' is not a theme; choose light or dark.")):
        theme("sepia")
