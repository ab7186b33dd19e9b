"""What a change runs, seen on the line between browser and server: a click the figure alone, "More" itself alone, a control the page."""

import asyncio
from collections.abc import Iterator

import pytest

from bench.common import Server, server
from bench.protocol import FIELDS, Ran, Session, Widget
from bench.students import ELEMENT, PAGES, Log, Student, seat

CONTROLS = set(FIELDS) - {ELEMENT}


@pytest.fixture(scope="module")
def app() -> Iterator[Server]:
    with server("normviz") as running:
        yield running


def figure(session: Session) -> Widget:
    return next(widget for widget in session.widgets.values() if widget.kind == ELEMENT and "grid" in widget.data)


async def clicked(session: Session, at: list[int]) -> Ran:
    return await session.change(figure(session), {"event": "select", "value": {"at": at, "turn": 1}})


@pytest.mark.parametrize("page", ["", "compare", "step_by_step", "gradients"])
def test_a_click_sends_the_figure_and_no_control_and_is_in_the_address(app, page):
    async def visit() -> tuple[Ran, Ran, Session]:
        session = Session(app.websocket, page)
        first = await session.open()
        ran = await clicked(session, [0, 1, 2, 3])
        await session.close()
        return first, ran, session

    first, ran, session = asyncio.run(visit())
    assert not first.errors + ran.errors
    assert CONTROLS & set(first.drawn)
    assert not CONTROLS & set(ran.drawn)
    assert "page_link" not in ran.drawn
    assert figure(session).data["at"] == [0, 1, 2, 3]
    assert "at=0%2C1%2C2%2C3" in session.query


def test_a_click_in_an_embedded_view_says_so_too(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket, "", "embed=true&hide=all&layer=BatchNorm2d(3)")
        await session.open()
        ran = await clicked(session, [1, 1, 1, 1])
        await session.close()
        return ran, session

    ran, session = asyncio.run(visit())
    assert not ran.errors
    assert figure(session).data["at"] == [1, 1, 1, 1]
    assert "hide=all" in session.query


def test_a_control_after_a_click_keeps_the_element(app):
    async def visit() -> Session:
        session = Session(app.websocket)
        await session.open()
        await clicked(session, [0, 1, 2, 3])
        await session.change(session.widgets["Layer"], "BatchNorm2d")
        await session.close()
        return session

    session = asyncio.run(visit())
    assert figure(session).data["at"] == [0, 1, 2, 3]
    assert figure(session).data["layer"] == "BatchNorm2d(3)"


def test_an_edit_runs_the_page(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket, "", "shape=2,3")
        await session.open()
        ran = await session.change(figure(session), {"event": "edit", "value": {"at": [0, 1], "value": 2.5, "turn": 1}})
        await session.close()
        return ran, session

    ran, session = asyncio.run(visit())
    assert CONTROLS & set(ran.drawn)
    assert "values=" in session.query


@pytest.mark.parametrize("page", [page for page, (_, names) in PAGES.items() if ELEMENT in names])
def test_the_students_of_the_load_test_find_what_they_click(app, page):
    async def visit() -> list[Widget]:
        number = next(number for number in range(100) if seat("normviz", number)[0] == page)
        student = Student("normviz", app.websocket, number, Log())
        await student.session.open()
        await student.session.close()
        return student.choices()

    assert ELEMENT in {widget.kind for widget in asyncio.run(visit())}
