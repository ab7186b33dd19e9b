"""Drives the Explore page as a reader would: opens an address, turns a control, clicks on an element."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from normviz.analysis.sentences import sentence
from normviz.scene.query import read
from normviz.scene.scene import Scene
from normviz.ui.controls.rows import MORE
from normviz.ui.server.routes import SHELL


@cache
def _components() -> BidiComponentManager:
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


def opened(link: str = "") -> AppTest:
    """The page at ``shape=2,3&layer=LayerNorm(3)``."""
    app = AppTest.from_file(str(SHELL), default_timeout=30)
    app._bidi_component_manager = _components()  # looking through all installed packages takes longer than a page
    for part in filter(None, link.split("&")):
        name, value = part.split("=", 1)
        app.query_params[name] = value
    return app.run()


def turned(app: AppTest, key: str, value: Any) -> AppTest:
    """The page after the control ``key`` was set to ``value``; those under "More" are there once it is open."""
    if key not in {getattr(element, "key", None) for element in app}:
        more(app)
    widget = app.get_by_key(key)
    if value not in getattr(widget, "options", (value,)) and key == "eps":
        widget.options.append(value)  # what a browser allows where new options are accepted
    return widget.set_value(value).run()


def more(app: AppTest) -> AppTest:
    """The page with "More" open."""
    app.session_state[MORE] = True
    return app.run()


def sent(app: AppTest, event: str, value: Any) -> AppTest:
    """The page after the linked heatmap sent an event, as its module does."""
    component = app.get("bidi_component")[0]
    states = app._tree.get_widget_states()
    trigger = [{"event": event, "value": value}]
    states.widgets.append(
        WidgetState(id=_make_trigger_id(component.proto.id, "events"), json_trigger_value=json.dumps(trigger))
    )
    return app._run(states)


def query(app: AppTest) -> dict[str, str]:
    return {name: app.query_params[name] for name in app.query_params}


def scene(app: AppTest) -> Scene:
    """The scene of the page's own address."""
    return read(query(app)).scene


def said(app: AppTest) -> str:
    """The sentence, as plain text."""
    return re.sub(r":primary\[(.+?)\]", r"\1", app.subheader[0].value)


def expected(scene: Scene) -> str:
    return sentence(scene.sharing).replace("**", "")


def payload(app: AppTest) -> dict[str, Any]:
    """What the linked heatmap was given."""
    found: dict[str, Any] = json.loads(app.get("bidi_component")[0].proto.json)[0]
    return found


def warned(app: AppTest) -> list[str]:
    """The warnings as a reader sees them."""
    return [unescaped(warning.value) for warning in app.warning]


def unescaped(markdown: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def check(app: AppTest) -> None:
    """No traceback; and the address alone brings the same page back."""
    assert not app.exception, [exception.message for exception in app.exception]
    assert said(app) == expected(scene(app))
    again = opened("&".join(f"{name}={value}" for name, value in query(app).items()))
    assert not again.exception
    assert not again.warning
    assert said(again) == said(app)
    assert payload(again) == payload(app)
