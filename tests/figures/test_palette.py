import json
import re
from base64 import b64decode
from itertools import combinations, pairwise

import pytest

from normviz.figures.palette import GROUP_COLORS, THEMES, stops, theme, wordmark
from normviz.texts.errors import NormvizError
from tests.support.colors import VISION, contrast, difference, lab, luminance, mixed, over, rgb

READABLE = 4.5  # WCAG 2.2 AA, text
VISIBLE = 3.0  # WCAG 2.2 AA, lines and marks
# In grayscale, a full fill beside a pale one of any color, and of its own; an outline of at least VISIBLE contrast is between them.
GRAY_APART, GRAY_APART_FROM_ITSELF = 1.05, 1.2
# CIEDE2000: a difference of 1 is just noticeable side by side; 6 is visible at a glance, also on a projector.
APART = 6.0

BOTH = pytest.mark.parametrize("name", list(THEMES))


def fills(colors):
    """Every color of a cell: the qualitative ones, and 21 of each segment of each ramp."""
    ramps = (colors.parameters, colors.values)
    steps = [(low, high, i / 20) for ramp in ramps for low, high in pairwise(ramp) for i in range(21)]
    return [*map(rgb, colors.few + colors.more), rgb(colors.none), *(mixed(*step) for step in steps)]


@BOTH
@pytest.mark.parametrize("text", ["text", "muted", "accent"])
@pytest.mark.parametrize("ground", ["background", "card"])
def test_text_is_readable_on_the_page(name, text, ground):
    colors = theme(name)
    assert contrast(rgb(getattr(colors, text)), rgb(getattr(colors, ground))) >= READABLE


@BOTH
def test_one_of_the_two_inks_is_readable_on_every_fill(name):
    colors = theme(name)
    assert min(max(contrast(rgb(ink), fill) for ink in colors.ink) for fill in fills(colors)) >= READABLE


@BOTH
def test_names_and_numbers_outside_of_the_group_are_readable_on_pale_cells(name):
    colors = theme(name)
    grounds = [rgb(colors.card), *(over(colors.veil, fill) for fill in fills(colors))]
    assert min(contrast(rgb(colors.muted), ground) for ground in grounds) >= READABLE


@BOTH
def test_in_grayscale_every_full_color_is_told_from_every_pale_one(name):
    """In light, all pale colors are lighter than all full ones; in dark, darker."""
    colors = theme(name)
    ramp = [mixed(*colors.parameters, i / 20) for i in range(21)]
    for full in ([rgb(color) for color in colors.few + colors.more], ramp):
        pale = [over(colors.veil, color) for color in full]
        assert min(contrast(one, other) for one in full for other in pale) >= GRAY_APART
        assert min(map(contrast, full, pale)) >= GRAY_APART_FROM_ITSELF


@BOTH
@pytest.mark.parametrize("line", ["accent", "text"])
def test_frame_cursor_and_outline_stand_out_from_the_halo_that_they_touch(name, line):
    colors = theme(name)
    assert contrast(rgb(getattr(colors, line)), rgb(colors.card)) >= VISIBLE


@BOTH
def test_an_outline_with_its_halo_stands_out_from_every_cell_and_from_the_veil(name):
    colors = theme(name)
    line, halo = rgb(colors.text), rgb(colors.card)
    grounds = [ground for fill in fills(colors) for ground in (fill, over(colors.veil, fill))]
    assert min(max(contrast(line, ground), contrast(halo, ground)) for ground in grounds) >= VISIBLE


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
def test_groups_can_be_told_apart_with_every_vision(name, vision):
    seen = [lab(rgb(fill), vision) for fill in theme(name).few]
    assert min(difference(one, other) for one, other in combinations(seen, 2)) >= APART


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
@pytest.mark.parametrize("ramp", ["few", "more", "parameters"])
def test_peers_can_be_told_from_veiled_elements(name, vision, ramp):
    colors = theme(name)
    for fill in map(rgb, getattr(colors, ramp)):
        assert difference(lab(fill, vision), lab(over(colors.veil, fill), vision)) >= APART


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
def test_neighbors_among_many_groups_can_be_told_apart(name, vision):
    seen = [lab(rgb(color), vision) for color in theme(name).few + theme(name).more]
    assert len(seen) == GROUP_COLORS
    for step in (1, len(theme(name).few)):
        for one, other in zip(seen, [*seen[step:], *seen[:step]], strict=True):
            assert difference(one, other) >= APART


@BOTH
def test_the_ramp_of_parameters_keeps_its_order_in_grayscale(name):
    low, high = theme(name).parameters
    grays = [luminance(mixed(low, high, i / 20)) for i in range(21)]
    assert grays in (sorted(grays), sorted(grays, reverse=True))
    assert contrast(rgb(low), rgb(high)) >= VISIBLE - 0.5


@BOTH
@pytest.mark.parametrize("vision", list(VISION))
def test_values_below_and_above_zero_differ_with_every_vision(name, vision):
    low, _, zero, _, high = [lab(rgb(color), vision) for color in theme(name).values]
    assert min(difference(low, high), difference(low, zero), difference(zero, high)) >= 3 * APART


@BOTH
def test_every_color_is_valid_in_browsers_and_plotly(name):
    for key, value in json.loads(json.dumps(vars(theme(name)))).items():
        for color in [value] if isinstance(value, str) else value:
            assert re.fullmatch(r"#[0-9a-f]{6}", color) or key == "veil"
    assert re.fullmatch(r"rgba\(\d+,\d+,\d+,0\.\d+\)", theme(name).veil)


def test_up_to_eight_groups_have_a_color_each():
    colors = theme("light")
    assert stops(colors, "groups", 1) == [(0, colors.few[0]), (1, colors.few[0])]
    assert stops(colors, "groups", 2) == [
        (0, colors.few[0]),
        (0.5, colors.few[0]),
        (0.5, colors.few[1]),
        (1, colors.few[1]),
    ]
    assert {color for _, color in stops(colors, "groups", 8)} == set(colors.few)


def test_more_groups_have_darker_colors_and_then_the_same_ones_again():
    colors = theme("dark")
    sixteen = [*colors.few, *colors.more]
    assert [color for _, color in stops(colors, "groups", 9)][::2] == sixteen[:9]
    assert [color for _, color in stops(colors, "groups", 16)][::2] == sixteen
    assert stops(colors, "groups", 500) == stops(colors, "groups", 16)


def test_parameters_and_values_have_ramps():
    colors = theme("dark")
    assert stops(colors, "parameters", 2) == [(0, colors.parameters[0]), (1, colors.parameters[1])]
    assert [place for place, _ in stops(colors, "values")] == [0, 0.25, 0.5, 0.75, 1]
    assert stops(colors, "none") == [(0, colors.none), (1, colors.none)]


def test_another_theme_is_refused():
    with pytest.raises(NormvizError, match=re.escape("'sepia' is not a theme; choose light or dark.")):
        theme("sepia")


def test_the_wordmark_needs_no_font():
    """A name set as text is cut where the machine has a wider font."""
    drawing = b64decode(wordmark().partition("base64,")[2]).decode()
    assert "<text" not in drawing
    assert "font" not in drawing
    assert drawing.count("<path") == 3  # two colors of cells, and the name
