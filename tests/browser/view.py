"""The Explore page for tests: the shown positions of elements, veil and texts, and the expected ones.

The expected values follow from the address: ``normviz.scene.view`` reads a Scene from it, and the Scene has a Description.
The position of an element follows from the data of the Plotly figure and from ``Grid.flatten``, not from the geometry of the module.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from math import ceil
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from playwright.sync_api import Locator, Page, Request, TimeoutError, WebSocket
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from normviz.analysis.description import Description
from normviz.analysis.sentences import sentence
from normviz.figures.palette import GROUP_COLORS
from normviz.parts.part import page_path
from normviz.parts.titles import EXPLORE
from normviz.scene.grid import Grid
from normviz.scene.scene import Scene
from normviz.scene.view import read
from tests.browser.readout import Index, Readout, number
from tests.browser.scripts import (
    ADDRESS_HAS,
    MARKED,
    MIDDLES,
    NAMES,
    NAVIGATE,
    OPEN,
    PAINTED,
    REVEAL,
    SETTLED,
    SHOWN,
    UNFOLD,
)

__all__ = ["Index", "Readout", "View", "number", "peers"]

T = TypeVar("T")


def path_of(address: str) -> str:
    """The path and the query of ``page?query``; without a page, of Explore."""
    page, mark, query = address.partition("?")
    return f"{page_path(page or EXPLORE)}{mark}{query}"


class View:
    """The page in one tab."""

    def __init__(self, page: Page, server: str) -> None:
        self.page, self.server = page, server
        self._sockets: list[WebSocket] = []
        page.on("websocket", lambda socket: self._sockets.append(socket))
        page.on("request", self._forget_connections_of_left_page)

    # The address, and the scene that the page should show

    @property
    def address(self) -> str:
        """The address in the page: ``page.url`` is updated a moment after a change."""
        return str(self.page.evaluate("location.href"))

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.address).query, keep_blank_values=True))

    @property
    def scene(self) -> Scene:
        """The scene of the address."""
        return read(self.query).scene

    def open(self, query: str = "") -> "View":
        """Load the page, and wait until it shows the scene of the query."""
        self._load(query)
        return self.wait_for_scene()

    def go(self, query: str) -> "View":
        """Change the query without reloading the page, as Back and Forward do."""
        self.page.mouse.move(1, 1)
        self._navigate(f"/{path_of(query)}")
        return self.wait_for_scene()

    @property
    def socket(self) -> WebSocket | None:
        """The connection of the app; connections of frames, such as the preview of Share, are opened later."""
        return next((socket for socket in self._sockets if not socket.is_closed()), None)

    def visit(self, address: str) -> None:
        """Show ``page?query``. A tab with the app does not reload it, except for an empty query, which would keep the old scene."""
        self.page.mouse.move(1, 1)
        if address.partition("?")[2] and self.socket:
            self._navigate(f"{urlsplit(self.server).path}/{path_of(address)}")
            self.page.evaluate(PAINTED)
        else:
            self._load(address)

    def _navigate(self, path: str) -> None:
        """Change the address, and wait for the end of the run, which also happens if the page shows the same as before."""
        end: AbstractContextManager[Any] = (
            self.socket.expect_event("framereceived", is_end_of_run) if self.socket else nullcontext()
        )
        with end:
            self.page.evaluate(NAVIGATE, path)

    def _forget_connections_of_left_page(self, request: Request) -> None:
        """A page does not always report that its connections are closed when it is left."""
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self._sockets.clear()

    def _load(self, address: str) -> None:
        self.page.goto(f"{self.server}/{path_of(address)}")

    def expect_message(self) -> AbstractContextManager[Any]:
        """``with view.expect_message(): ...``: wait until the browser has sent a message to the server."""
        assert self.socket
        return self.socket.expect_event("framesent")

    def forget_app(self) -> None:
        """Make the next ``visit`` load the app."""
        self._sockets.clear()

    def wait_for_scene(self, scene: Scene | None = None) -> "View":
        """Wait until the app is at rest and shows the sentence, panels and selected element of the scene (default: of the address)."""
        scene = scene or self.scene
        text = re.sub(r"\*\*|`", "", sentence(scene.shape_description))
        try:
            self.page.wait_for_function(SHOWN, arg=[text, positions(scene), drawings(scene)])
        except TimeoutError as error:
            shown = self.page.locator(".nv-sentence").all_inner_texts()
            raise AssertionError(f"{self.address} should show {text!r} and its panels; it shows {shown}") from error
        return self

    def wait_for_view(self, **query: str | None) -> "View":
        """Wait until the address has these values (None: the name is absent) and the page shows its scene."""
        self.wait_for_address(**query)
        return self.wait_for_scene()

    def wait_for_address(self, **query: str | None) -> None:
        """Wait until the address has these values (None: the name is absent)."""
        try:
            self.page.wait_for_function(ADDRESS_HAS, arg=query)
        except TimeoutError as error:
            raise AssertionError(f"the address should have {query}; it is {self.query}") from error

    def wait_until_drawn(self) -> None:
        """Wait until the app's run has ended, and its controls and all its figures are drawn."""
        self.page.wait_for_function(SETTLED)

    def focus_start(self) -> None:
        """Move the focus to the last control before the panels."""
        self.page.get_by_role("button", name="More", exact=True).focus()

    # Parts of it

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def panel(self, key: str) -> Locator:
        """The overlay of a panel, which receives pointer and keys."""
        return self.page.locator(f".nv-panel-{key} .nv-over")

    @property
    def readout(self) -> Readout:
        return Readout(self.page.inner_text(".nv-readout"))

    def unfold(self, selector: str) -> Locator:
        """A part, which may be in a fold; the fold stays open."""
        self.page.evaluate(UNFOLD, selector)
        return self.page.locator(selector)

    def worked(self) -> list[tuple[str, str, str]]:
        """The lines of worked arithmetic: name, expression, result."""
        self.unfold(".nv-lines")
        texts = self.page.locator(".nv-lines > span").all_inner_texts()
        return list(zip(texts[::3], texts[1::3], texts[2::3], strict=True))

    # Controls, by their names

    def segment(self, name: str, option: str) -> None:
        self.page.get_by_role("radiogroup", name=name).get_by_role("radio", name=option, exact=True).click()

    def choose(self, name: str, option: str) -> None:
        """Choose an option of a drop-down list."""
        self.page.get_by_role("combobox", name=name, exact=True).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def field(self, name: str) -> Locator:
        return self.page.locator("input").and_(self.page.get_by_label(name, exact=True))

    def write(self, field: str | Locator, text: str) -> None:
        """Fill in a field and press Enter."""
        field = self.field(field) if isinstance(field, str) else field
        field.fill(text)
        field.press("Enter")

    def toggle(self, name: str) -> None:
        self.page.locator("label").filter(has=self.page.get_by_role("switch", name=name)).click()

    def more(self) -> None:
        """Open the popover."""
        self.page.get_by_role("button", name="More", expanded=False).click()
        self.page.get_by_role("combobox", name="Values of x").wait_for()

    def less(self) -> None:
        """Close it."""
        self.page.get_by_role("button", name="More", expanded=True).click()
        self.page.get_by_role("combobox", name="Values of x").wait_for(state="detached")

    def show_stages(self, every: bool) -> None:
        """Show all stages of the selected group, or x and the output alone. The figure keeps what the test before has shown."""
        for button in self.page.get_by_role("button", name="Show all" if every else "Show x and output").all():
            button.click()

    # Elements

    def spots(self, key: str) -> dict[Index, tuple[float, float]]:
        """The center of every drawn element on the screen."""
        self.unfold(f".nv-panel-{key}")
        return middles(self.scene, *self.page.evaluate(MIDDLES, key))

    def spot(self, key: str, index: Index) -> tuple[float, float]:
        """The center of one element, after scrolling it to where the pointer can reach it."""
        if self.page.evaluate(REVEAL, [key, *self.spots(key)[index]]):
            self.panel(key).hover(trial=True)
        return self.spots(key)[index]

    def hover(self, key: str, index: Index) -> Readout:
        self.page.mouse.move(*self.spot(key, index))
        self.page.wait_for_function(NAMES, arg=f"[{', '.join(map(str, index))}]")
        return self.readout

    def click(self, key: str, index: Index) -> None:
        self.page.mouse.click(*self.spot(key, index))

    def double_click(self, key: str, index: Index) -> None:
        self.page.mouse.dblclick(*self.spot(key, index))

    def leave(self) -> None:
        self.page.mouse.move(1, 1)

    def open_elements(self, key: str) -> set[Index]:
        """The elements of the panel that are not veiled."""
        self.unfold(f".nv-panel-{key}")
        across, down, opened = self.page.evaluate(OPEN, key)
        cells = middles(self.scene, range(len(across)), range(len(down)))
        return {index for index, (column, line) in cells.items() if opened[line][column]}

    def marked(self, key: str, what: str = "frame") -> Index | None:
        """The element inside the frame of the selection, or inside the "cursor"."""
        self.unfold(f".nv-panel-{key}")
        across, down, middle = self.page.evaluate(MARKED, [key, what])
        if middle is None:
            return None
        cells = middles(self.scene, across, down)
        inside = [index for index, place in cells.items() if np.allclose(place, middle, rtol=0, atol=1.5)]
        assert len(inside) == 1, (what, middle, inside)
        return inside[0]


def is_end_of_run(message: str | bytes) -> bool:
    """Whether the message reports the end of the script run."""
    found = ForwardMsg.FromString(message) if isinstance(message, bytes) else ForwardMsg()
    return found.WhichOneof("type") == "script_finished" and found.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def arranged(grid: Grid) -> dict[int, Grid]:
    """The grid for each number of facets that may be in a line: a narrow panel has fewer."""
    found: dict[int, Grid] = {}
    for most in range(1, grid.layout.across + 1):
        across = ceil(grid.layout.together / ceil(grid.layout.together / most))
        found[across] = copy(grid)
        found[across].__dict__["layout"] = replace(grid.layout, across=across)
    return found


def whole(scene: Scene) -> Description:
    """The layer on all values of x, held in memory, for an x that the app computes only where it is drawn, too."""
    e = scene.description
    held = {name: source.whole() for name, source in e.on_demand.items()}
    return replace(e, x=held.pop("x"), values=replace(e.layer_values(), **held), on_demand={}) if held else e


def drawings(scene: Scene) -> dict[str, dict[int, list[list[float | None]]]]:
    """The expected values of each panel, row by row, by the number of facets in a line."""
    e, grid = whole(scene), scene.grid
    ids = {"stats": e.stat_ids, "params": np.zeros(e.shape) if e.param_ids is None else e.param_ids}
    values = {} if e.x is None else {"x": e.x, "normalized": e.trace.normalized, "output": e.trace.output}
    drawn = {
        key: np.unique(grid.take(array), return_inverse=True)[1].reshape(grid.extent) for key, array in ids.items()
    }
    drawn["stats"] %= GROUP_COLORS  # the colors repeat
    drawn |= {name: grid.take(tensor.float().numpy()) for name, tensor in values.items()}
    grids = arranged(grid)
    return {key: {across: _plain(one.flatten(array)) for across, one in grids.items()} for key, array in drawn.items()}


def _plain(drawing: Any) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in line] for line in drawing]


def positions(scene: Scene) -> dict[int, list[int] | None]:
    """The row and column of the selected element, by the number of facets in a line; None if it is not drawn."""
    return {across: _position(scene.at, grid) for across, grid in arranged(scene.grid).items()}


def _position(at: Index | None, grid: Grid) -> list[int] | None:
    if at is None or not grid.shows(at):
        return None
    drawn = grid.flatten(np.arange(int(np.prod(grid.extent))).reshape(grid.extent))
    return [int(i) for i in np.argwhere(drawn == np.ravel_multi_index(grid.place(at), grid.extent))[0]]


def middles(scene: Scene, across: Sequence[T], down: Sequence[T]) -> dict[Index, tuple[T, T]]:
    """The positions of the drawn elements, by index in the whole tensor, in reading order."""
    grid = scene.grid
    extent = np.arange(int(np.prod(grid.extent))).reshape(grid.extent)
    arrangements = [one.flatten(extent) for one in arranged(grid).values()]  # a narrow panel has fewer facets in a line
    (drawn,) = [drawing for drawing in arrangements if drawing.shape == (len(down), len(across))]
    places = {}
    for line, column in zip(*np.nonzero(~np.isnan(drawn)), strict=True):
        within = np.unravel_index(int(drawn[line, column]), grid.extent)
        index = tuple(indices[i] for i, indices in zip(within, grid.indices, strict=True))
        places[index] = (across[column], down[line])
    return places


def peers(scene: Scene, key: str, index: Index) -> set[Index]:
    """The drawn elements that the panel should not veil for ``index``: the element and its peers; all if nothing is shared."""
    e = scene.description
    by_parameter = key == "params" and e.norm.params is not None
    found = {index, *(e.parameter_peers(index) if by_parameter else e.peers(index))}
    if key == "params" and e.norm.params is None:
        found = set(np.ndindex(e.shape))
    return {at for at in found if scene.grid.shows(at)}
