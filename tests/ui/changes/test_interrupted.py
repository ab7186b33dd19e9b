"""A message from the browser ends the run of a page before the page is drawn; only a part of the session's state has changed then."""

from itertools import permutations

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from normviz.ui import page as app_page
from normviz.ui.session import SESSION
from tests.support.driver import query, scene, set_control
from tests.support.pages import check_page, go_to_page, open_page, path


@pytest.fixture(autouse=True)
def address(monkeypatch):
    """AppTest has no address; without one, the app runs whole after every change."""
    monkeypatch.setattr(type(st.context), "url", "http://localhost/")


def leave(app: AppTest, name: str, at: str = "page_view") -> AppTest:
    """Go to another page, whose run ends at the call of ``at``. The browser still shows the first page."""

    def stop(*_arguments: object) -> None:
        raise StopException

    shown = app._tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_page if hasattr(app_page, at) else app_page.pages, at, stop)
        go_to_page(app, name)
    app._tree = shown
    return app


def address_of(app: AppTest, name: str, link: dict[str, str]) -> AppTest:
    """The next run is at this address, as after Back."""
    app.query_params.clear()
    for key, value in link.items():
        app.query_params[key] = value
    return app.switch_page(path(name))


def shape_of(app: AppTest) -> tuple[int, ...]:
    """The sizes that the controls show."""
    return tuple(app.get_by_key(f"size_{axis}").value for axis in "nchw")


def layers_of(app: AppTest) -> list[str] | None:
    """The layers that the control of Compare shows."""
    return app.get_by_key("layers").value if app.session_state[SESSION].name == "compare" else None


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("compare", {}),
        ("compare", {"shape": "2,3,4,4", "at": "0,1,2,1", "layers": "RMSNorm([4]);BatchNorm2d(3)"}),
        ("train_and_eval", {"show": "modes"}),
    ],
)
def test_back_and_a_changed_size_before_the_next_page_is_drawn_change_the_first_page(name, link):
    app = open_page(name, link)
    (n, *others), layers = shape_of(app), layers_of(app)
    app = set_control(address_of(leave(app, "step_by_step"), name, link), "size_n", n + 1)
    check_page(app)
    assert scene(app).shape == shape_of(app) == (n + 1, *others)
    assert layers_of(app) == layers
    assert query(app).items() >= {name: text for name, text in link.items() if name != "shape"}.items()


@pytest.mark.parametrize(
    ("name", "link", "key", "value"),
    [
        ("train_and_eval", {}, "show", "modes"),
        ("gradients", {}, "show", "backward"),
        ("numerics", {"show": "eps"}, "dtype", "float16"),
        ("compare", {}, "layers", ["BatchNorm2d(4)", "RMSNorm([2])"]),
    ],
)
def test_back_and_a_change_of_a_setting_before_the_next_page_is_drawn_give_the_first_page(name, link, key, value):
    app = leave(open_page(name, link), "step_by_step")
    app = set_control(address_of(app, name, link), key, value)
    check_page(app)
    assert app.session_state[SESSION].name == name
    assert app.get_by_key(key).value == value
    assert query(app)[key] == (";".join(value) if isinstance(value, list) else value)


@pytest.mark.parametrize("at", ["current", "page_view"])
def test_back_from_a_page_that_was_not_drawn_keeps_the_settings_of_the_address(at):
    link = {"layers": "RMSNorm([4]);BatchNorm2d(3)"}
    app = address_of(leave(open_page("compare", link), "step_by_step", at), "compare", link).run()
    check_page(app)
    assert query(app) == link


def test_a_page_whose_first_run_ended_early_keeps_the_scene_of_the_page_before_it():
    app = leave(set_control(open_page("explore", {"shape": "2,3,4,4"}), "size_n", 3), "compare", "current")
    app = go_to_page(app, "compare")
    check_page(app)
    assert scene(app).shape == (3, 3, 4, 4)


@pytest.mark.parametrize(("name", "to"), list(permutations(["train_and_eval", "gradients", "numerics"], 2)))
def test_a_change_on_the_way_to_a_page_with_other_experiments_shows_that_page(name, to):
    app = address_of(open_page(name), to, {"at": "0,1,2,1"})
    app = set_control(app, "show", app.get_by_key("show").options[-1])
    check_page(app)
    assert app.session_state[SESSION].name == to


@pytest.mark.parametrize("key", ["show", "size_n"])
@pytest.mark.parametrize("to", ["train_and_eval", "numerics"])
def test_back_and_a_change_after_the_controls_of_a_page_with_other_experiments_were_drawn_show_the_first_page(to, key):
    """The controls that choose an experiment have the same key on all pages, so the session has the value of the page in between."""
    app = address_of(leave(open_page("gradients"), to, "_first"), "gradients", {})
    app = set_control(app, key, 3 if key == "size_n" else app.get_by_key(key).options[-1])
    check_page(app)
    assert app.session_state[SESSION].name == "gradients"
    assert key == "show" or scene(app).shape == (3, 4, 3, 5)


@pytest.mark.parametrize("at", ["current", "page_view"])
@pytest.mark.parametrize(("name", "to"), list(permutations(["train_and_eval", "gradients", "numerics"], 2)))
def test_a_change_after_the_first_run_of_a_page_with_other_experiments_ended_early_shows_that_page(name, to, at):
    """The browser has not received that page yet: the reader still changes the controls of the page before it."""
    app = address_of(leave(open_page(name), to, at), to, {})
    app = set_control(app, "show", app.get_by_key("show").options[-1])
    check_page(app)
    assert app.session_state[SESSION].name == to
