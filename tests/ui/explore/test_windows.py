"""The window that moves over a tensor too large to be drawn whole."""

import pytest

from tests.ui.driver import check, figure_data, open_explore, query, scene, sentence_text, set_control
from tests.ui.shown import problems


def test_a_window_moves_over_a_large_tensor_and_the_counts_are_of_the_whole_tensor():
    app = open_explore("shape=2,64,56,56&layer=BatchNorm2d(64)")
    before = sentence_text(app)
    slider = app.slider(key="from_c")
    assert slider.label == "Drawn: C 0 to 1 of 64"
    assert (slider.min, slider.max) == (0, 62)
    app = set_control(app, "from_c", 40)
    check(app)
    assert app.slider(key="from_c").label == "Drawn: C 40 to 41 of 64"
    assert query(app)["from"] == "0,40,0,0"
    assert sentence_text(app) == before
    assert figure_data(app)["grid"]["indices"][1] == [40, 41]
    assert figure_data(app)["at"] == [1, 41, 0, 55]


WINDOWS = [
    "shape=1000,1000",
    "shape=1000",
    "shape=3,70,56,56",
    "shape=2,3000,2000",
    "shape=150,150",
    f"shape=2,{2**40}",
]


@pytest.mark.parametrize("link", WINDOWS)
def test_the_window_reaches_the_end(link):
    app = open_explore(link)
    for key in [slider.key for slider in app.slider]:
        slider = app.slider(key=key)
        assert (slider.max - slider.min) % slider.step == 0
        app = set_control(app, key, slider.max)
        assert not problems(app)
        assert app.slider(key=key).value == slider.max
    check(app)
    grid = scene(app).grid
    assert grid.partial
    for axis in grid.partial:
        assert grid.indices[axis][-1] == grid.shape[axis] - 1


def test_a_tensor_that_fits_the_drawing_has_no_window():
    assert not open_explore("shape=4,16,16,16").slider
    assert len(open_explore("shape=1000,1000").slider) == 2
