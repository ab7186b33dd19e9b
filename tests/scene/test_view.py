"""A view is read from its query, up to a length."""

from dataclasses import replace

import pytest

from normviz.lessons.pages import PAGES
from normviz.scene.view import LONGEST_QUERY, MOST_NAMES, read_view

SETTINGS = PAGES["step_by_step"].settings


def test_a_view_has_a_scene_and_the_settings_of_its_page():
    view = read_view({"shape": "2,3", "step": "4", "momentum": "0.5"}, SETTINGS)
    assert (view.scene.shape, view.settings, view.problem) == ((2, 3), {"step": 4}, None)
    assert view.query(SETTINGS) == {"shape": "2,3", "layer": "LayerNorm([3])", "step": "4"}


@pytest.mark.parametrize(
    "padding", [{"x": "x" * (LONGEST_QUERY - 12)}, {str(number): "" for number in range(MOST_NAMES - 1)}]
)
def test_a_query_is_read_up_to_a_limit(padding):
    asked = {"shape": "4,3"}
    assert read_view(asked | padding).scene.shape == (4, 3)
    padding |= {"one more": "x"}
    view = read_view(asked | padding, SETTINGS)
    assert view == replace(read_view({}, SETTINGS), problem=view.problem)
    assert "give at most 64 settings and 8,192 characters." in view.problem


def test_one_setting_that_is_too_long_is_singular():
    assert str(read_view({"shape": "2" * LONGEST_QUERY}).problem).startswith(
        "this link has 1 setting and 8,197 characters;"
    )
