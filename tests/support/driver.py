"""Operates the Explore page without a browser: opens an address, sets a control, clicks on an element."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypeVar

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from normviz.analysis.sentences import sentence
from normviz.scene.scene import Scene
from normviz.scene.view import read
from normviz.ui import ROOT
from normviz.ui.controls import MORE
from normviz.ui.server.routes import SHELL
from tests.support.opened import Opened, opened
from tests.support.shown import elements, figures, html_of_view, markdown, problems


@cache
def _components() -> BidiComponentManager:
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


def open_explore(link: str = "") -> AppTest:
    """Open Explore with a query such as ``shape=2,3&layer=LayerNorm(3)``."""
    app = AppTest.from_file(str(SHELL), default_timeout=30)
    app._bidi_component_manager = _components()  # scanning all installed packages takes longer than running a page
    app.switch_page(path("explore"))
    for part in filter(None, link.split("&")):
        name, value = part.split("=", 1)
        app.query_params[name] = value
    return app.run()


def path(page: str) -> str:
    """The script of a page."""
    return str(ROOT / "pages" / f"{page}.py")


App = TypeVar("App", AppTest, Opened)


def set_control(app: App, key: str, value: Any) -> App:
    """Set the control ``key`` to ``value``; open "More" first if the control is under it."""
    if isinstance(app, Opened):
        return app.enter(key, value)
    if key not in {getattr(element, "key", None) for element in app}:
        open_more(app)
    widget = app.get_by_key(key)
    if value not in getattr(widget, "options", (value,)) and key in ("eps", "layer"):
        widget.options.append(value)  # a browser allows this where new options are accepted
    return widget.set_value(value).run()


def open_more(app: AppTest) -> AppTest:
    """Open "More"."""
    app.session_state[MORE] = True
    return app.run()


def send_event(app: App, event: str, value: Any) -> App:
    """Send an event of the figure, as the browser does."""
    if isinstance(app, Opened):
        return app.after({"name": event, **value})
    component = app.get("bidi_component")[0]
    states = app._tree.get_widget_states()
    trigger = [{"event": event, "value": value}]
    states.widgets.append(
        WidgetState(id=_make_trigger_id(component.proto.id, "events"), json_trigger_value=json.dumps(trigger))
    )
    return app._run(states)


def query(app: AppTest | Opened) -> dict[str, str]:
    return {name: app.query_params[name] for name in app.query_params}


def scene(app: AppTest | Opened) -> Scene:
    """The scene in the page's address."""
    return read(query(app)).scene


def sentence_text(app: AppTest | Opened) -> str:
    """The page's sentence, without emphasis."""
    (sentence,) = elements(app, "nv-sentence")
    return markdown(sentence).replace("**", "")


def shown_counts(app: AppTest | Opened) -> list[int]:
    """The counts in Explore's sentence, in order: means, elements of each, gammas and betas."""
    words = sentence_text(app).split("`")[2].split(": ")[1].split()
    return [int(word.strip("*;,.").replace(",", "")) for word in words if word[0].isdigit()]


def expected(scene: Scene) -> str:
    return sentence(scene.shape_description).replace("**", "")


def figure_data(app: AppTest | Opened) -> dict[str, Any]:
    """The data of the first figure."""
    return figures(app)[0]


def check(app: AppTest | Opened) -> None:
    """Assert that there is no traceback, and that the address alone gives the same page."""
    assert not app.exception, [exception.message for exception in app.exception]
    assert sentence_text(app) == expected(scene(app))
    address = "&".join(f"{name}={value}" for name, value in query(app).items())
    again = opened(app.page.name, address) if isinstance(app, Opened) else open_explore(address)
    assert not again.exception
    assert not problems(again)
    assert html_of_view(again) == html_of_view(app)
    assert figures(again) == figures(app)
