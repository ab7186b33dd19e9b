"""A Streamlit session without a browser: it implements the websocket protocol and finds widgets by their labels."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

TIMEOUT = 120  # s
CACHE_RUNS = 2  # runs for which the browser caches a message that the server may refer to

# For each kind of element, the field of its value in the protocol's WidgetState.
FIELDS = {
    "number_input": "double_value",
    "slider": "double_array_value",
    "selectbox": "string_value",
    "button_group": "string_array_value",
    "multiselect": "string_array_value",
    "radio": "string_value",
    "text_input": "string_value",
    "checkbox": "bool_value",
    "button": "trigger_value",
    "popover": "bool_value",
    "bidi_component": "json_trigger_value",
}
TRIGGERS = {"trigger_value", "json_trigger_value"}


@dataclass(frozen=True)
class Widget:
    """One control as the server sent it."""

    kind: str
    id: str
    label: str
    element: Any
    fragment: str = ""  # the fragment that a change reruns; "" is the whole page

    @property
    def field(self) -> str:
        """The field of the value in the protocol's WidgetState."""
        return "string_array_value" if self.kind == "slider" and self.element.options else FIELDS[self.kind]

    @property
    def name(self) -> str:
        """A name that is unique on the page; the end of a component's id is the key that the app gives it."""
        return self.label or (self.id.rpartition("-")[2] if self.kind == "bidi_component" else self.kind)

    @property
    def options(self) -> list[str]:
        """The options of the widget."""
        return [getattr(option, "content", option) for option in getattr(self.element, "options", ())]

    @property
    def data(self) -> dict[str, Any]:
        """The data of a component, the only item of a JSON list; empty for the afternoon page."""
        return dict(json.loads(self.element.json or "[{}]")[0])

    @property
    def figure(self) -> dict[str, Any]:
        """The data of the component's first figure; empty without one."""
        return dict(next(iter(self.data.get("figures", ())), {}))

    def first(self) -> Any:
        """The initial value, as the browser sends it."""
        if self.kind in ("button", "bidi_component"):
            return None
        if self.kind == "popover":
            return self.element.open
        return self._value_from_server() if self.element.set_value else self.default()

    def _value_from_server(self) -> Any:
        element, kind = self.element, self.kind
        multiple = kind in ("button_group", "multiselect")
        raw = multiple or kind in ("selectbox", "radio") or (kind == "slider" and element.options)
        value = getattr(element, "raw_values" if multiple else "raw_value" if raw else "value")
        return value if isinstance(value, str | int | float | bool) else list(value)

    def default(self) -> Any:
        """The value when the browser creates the widget."""
        element, kind = self.element, self.kind
        if kind == "slider":
            return [element.options[int(i)] for i in element.default] if element.options else list(element.default)
        if kind in ("button_group", "multiselect"):
            return [self.options[i] for i in element.default]
        if kind in ("selectbox", "radio"):
            return self.options[element.default] if element.HasField("default") and self.options else None
        return element.default


def aggregator(component: Widget) -> str:
    """The widget id under which the browser sends the events of a component."""
    return f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events"


@dataclass
class Ran:
    """One run of the script, from the browser's message to the end."""

    seconds: float
    bytes: int
    errors: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)  # the kinds of the elements that the server sent
    messages: int = 0


class Session:
    """One browser tab.

    path    the path of the page, such as "compare"
    query   the part of the address after the "?"
    """

    def __init__(self, websocket: str, path: str = "", query: str = "") -> None:
        self.url, self.path, self.query = websocket, path, query
        self.page = ""
        self.drawn: dict[tuple[int, ...], Widget] = {}
        self.widgets: dict[str, Widget] = {}
        self.states: dict[str, tuple[str, Any]] = {}
        self.kept: dict[str, tuple[int, ForwardMsg]] = {}
        self.runs = 0
        self.connection: ClientConnection | None = None

    async def open(self) -> Ran:
        """Connect and run the script for the first time. Raises OSError if no server responds."""
        begin = time.perf_counter()
        origin = self.url.replace("ws", "http", 1).removesuffix("/_stcore/stream")
        self.connection = await connect(
            self.url,
            subprotocols=["streamlit"],
            max_size=None,
            compression=None,
            origin=origin,
            open_timeout=TIMEOUT,
            close_timeout=2,
        )  # type: ignore[arg-type]
        ran = await self.run({})
        return replace(ran, seconds=time.perf_counter() - begin)

    async def close(self) -> None:
        if self.connection:
            await self.connection.close()

    async def change(self, widget: Widget, value: Any) -> Ran:
        """Change one control and wait until the script has run.

        Raises websockets.ConnectionClosed if the server closes the connection, and TimeoutError after two minutes.
        """
        name = widget.field
        if widget.kind == "bidi_component":
            return await self.run({aggregator(widget): (name, json.dumps([value]))}, widget.fragment)
        if name not in TRIGGERS:
            self.states[widget.id] = (name, value)
        return await self.run({widget.id: (name, value)}, widget.fragment)

    async def go(self, query: str) -> Ran:
        """Open another view of the page, as a link within it does."""
        self.query = query
        return await self.run({})

    async def run(self, changes: Mapping[str, tuple[str, Any]], fragment: str = "") -> Ran:
        assert self.connection
        begin = time.perf_counter()
        await self.connection.send(self._message({**self.states, **changes}, fragment))
        ran, started, drawn = Ran(0, 0), False, dict(self.drawn)
        self.runs += 1
        while True:
            async with asyncio.timeout(TIMEOUT):  # asyncio.wait_for in Python 3.11 may lose a cancellation
                raw = await self.connection.recv(decode=False)
            ran.bytes += len(raw)
            ran.messages += 1
            message = self._resolve(ForwardMsg.FromString(raw))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                started, self.page = True, message.new_session.page_script_hash
                parts = message.metadata.run.fragment_ids
                drawn = {
                    place: widget for place, widget in self.drawn.items() if parts and widget.fragment not in parts
                }
            elif kind == "navigation":
                self.page = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "delta":
                _draw(message, drawn, ran)
            elif kind == "script_finished" and started:
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    started = False
                    continue
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    ran.errors.append("compile error")
                break
        ran.seconds = time.perf_counter() - begin
        self._settle(drawn)
        return ran

    def _message(self, states: dict[str, tuple[str, Any]], fragment: str) -> bytes:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_script_hash, rerun.fragment_id = self.query, self.page, fragment
        if not self.page:
            rerun.page_name = self.path
        rerun.context_info.url = self.url.replace("ws", "http", 1).replace("_stcore/stream", self.path)
        rerun.context_info.timezone, rerun.context_info.locale = "UTC", "en"
        self.kept = {key: kept for key, kept in self.kept.items() if self.runs - kept[0] < CACHE_RUNS}
        rerun.cached_message_hashes.extend(self.kept)
        components = {
            widget.id: ("json_value", "{}") for widget in self.widgets.values() if widget.kind == "bidi_component"
        }
        for key, (name, value) in (states | components).items():
            state = rerun.widget_states.widgets.add(id=key)
            if name.endswith("array_value"):
                getattr(state, name).data.extend(value)
            elif value is not None:
                setattr(state, name, value)
        return message.SerializeToString()

    def _resolve(self, message: ForwardMsg) -> ForwardMsg:
        """The message itself, or the cached message that it refers to."""
        if message.WhichOneof("type") == "ref_hash":
            kept = self.kept[message.ref_hash][1]
            self.kept[message.ref_hash] = (self.runs, kept)
            whole = ForwardMsg()
            whole.CopyFrom(kept)
            whole.metadata.CopyFrom(message.metadata)
            return whole
        if message.metadata.cacheable and message.hash:
            self.kept[message.hash] = (self.runs, message)
        return message

    def _settle(self, drawn: Mapping[tuple[int, ...], Widget]) -> None:
        """After a run: update the widgets of the page and their values. The server sets the values of those that it has drawn."""
        before, self.drawn = self.drawn, dict(drawn)
        self.widgets = {widget.name: widget for widget in drawn.values()}
        here = {widget.id for widget in drawn.values()}
        self.states = {key: state for key, state in self.states.items() if key in here}
        for place, widget in drawn.items():
            set_by_server = getattr(widget.element, "set_value", False) and before.get(place) is not widget
            if (widget.id not in self.states or set_by_server) and (value := widget.first()) is not None:
                self.states[widget.id] = (widget.field, value)


def _draw(message: ForwardMsg, drawn: dict[tuple[int, ...], Widget], ran: Ran) -> None:
    """Record what the server sent: a widget at its position on the page, or an exception."""
    place, delta = tuple(message.metadata.delta_path), message.delta
    drawn.pop(place, None)
    if delta.add_block.WhichOneof("type") == "popover" and delta.add_block.popover.id:
        popover = delta.add_block.popover
        drawn[place] = Widget("popover", popover.id, popover.label, popover, delta.fragment_id)
    if delta.WhichOneof("type") != "new_element":
        return
    kind = delta.new_element.WhichOneof("type")
    element = getattr(delta.new_element, kind)
    ran.drawn.append(kind)
    if kind == "exception":
        ran.errors.append(f"{element.type}: {element.message}"[:200])
    elif kind in FIELDS:
        drawn[place] = Widget(kind, element.id, getattr(element, "label", ""), element, delta.fragment_id)
