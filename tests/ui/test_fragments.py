"""What a change runs, as seen in the websocket messages: a click runs the figure, "More" runs itself, a control runs what it changes."""

import json
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest

from bench.common import Server, server
from bench.protocol import FIELDS, Ran, Session, Widget, aggregator
from bench.students import ELEMENT, PAGES, Log, Student, seat
from normviz.lessons.page.pages import PAGES as PAGE_PARTS
from normviz.scene.query import read
from tests.ui.asgi import run_async

CONTROLS = set(FIELDS) - {ELEMENT, "popover"}


@pytest.fixture(scope="module")
def app() -> Iterator[Server]:
    with server("normviz") as running:
        yield running


def figure(session: Session) -> Widget:
    return session.widgets["page"]


async def click_element(session: Session, at: list[int]) -> Ran:
    return await session.change(figure(session), {"event": "select", "value": {"at": at, "turn": 1}})


@pytest.mark.parametrize("page", ["", "compare", "step_by_step", "gradients"])
def test_a_click_redraws_the_figure_and_no_control_and_changes_the_address(app, page):
    async def visit() -> tuple[Ran, Ran, Session]:
        session = Session(app.websocket, page)
        first = await session.open()
        ran = await click_element(session, [0, 1, 2, 3])
        await session.close()
        return first, ran, session

    first, ran, session = run_async(visit())
    assert not first.errors + ran.errors
    assert CONTROLS & set(first.drawn)
    assert not CONTROLS & set(ran.drawn)
    assert ran.drawn.count(ELEMENT) == 1
    assert figure(session).figure["at"] == [0, 1, 2, 3]
    assert "at=0%2C1%2C2%2C3" in session.query


CHANGES = {
    # a page: a control, its new value, and the most messages that the change may send to the browser
    "": ("N", 3.0, 15),
    "compare": ("N", 3.0, 23),  # its list of layers is drawn again
    "step_by_step": ("N", 3.0, 15),
    "gradients": ("N", 3.0, 15),
    "train_and_eval": ("batch size (2 to 1,024)", "16", 15),
    "numerics": ("dtype of x", ["float16"], 15),
    "questions": ("Search", "gamma", 15),
}
MOST_FOR_A_CLICK = 7


@pytest.mark.parametrize("page", CHANGES)
def test_a_change_of_a_control_and_a_click_send_few_messages(app, page):
    name, value, most = CHANGES[page]

    async def visit() -> tuple[Ran, Ran | None]:
        session = Session(app.websocket, page)
        await session.open()
        clicked = await click_element(session, [0, 1, 2, 3]) if "grid" in figure(session).figure else None
        changed = await session.change(session.widgets[name], value)
        await session.close()
        return changed, clicked

    changed, clicked = run_async(visit())
    print(
        f"{page or 'explore'}: {changed.messages} messages for a control, {clicked.messages if clicked else 0} for a click"
    )
    assert not changed.errors
    assert changed.drawn.count(ELEMENT) <= 2
    assert changed.messages <= most
    assert clicked is None or clicked.messages <= MOST_FOR_A_CLICK


def test_a_click_in_an_embedded_view_changes_the_address_too(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket, "", "embed=true&hide=all&layer=BatchNorm2d(3)")
        await session.open()
        ran = await click_element(session, [1, 1, 1, 1])
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert not ran.errors
    assert figure(session).figure["at"] == [1, 1, 1, 1]
    assert "hide=all" in session.query


def test_a_control_keeps_the_selected_element(app):
    async def visit() -> Session:
        session = Session(app.websocket)
        await session.open()
        await click_element(session, [0, 1, 2, 3])
        await session.change(session.widgets["Layer"], "BatchNorm2d")
        await session.close()
        return session

    session = run_async(visit())
    assert figure(session).figure["at"] == [0, 1, 2, 3]
    assert figure(session).figure["layer"] == "BatchNorm2d(3)"


@pytest.mark.parametrize("through", ["figure", "More"])
def test_a_click_and_a_control_in_one_message_both_take_effect(app, through):
    """The browser sends simultaneous changes as one message, with the id of one fragment."""

    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket)
        await session.open()
        size, target = session.widgets["N"], figure(session)
        session.states[size.id] = (size.field, 3.0)
        click = json.dumps([{"event": "select", "value": {"at": [0, 1, 2, 3], "turn": 1}}])
        states = {aggregator(target): (target.field, click)}
        ran = await session.run(states, (target if through == "figure" else session.widgets["More"]).fragment)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert not ran.errors
    assert ran.drawn.count(ELEMENT) == 2
    assert figure(session).figure["at"] == [0, 1, 2, 3]
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]
    assert session.query.startswith("shape=3%2C3%2C4%2C4&")
    assert session.query.endswith("&at=0%2C1%2C2%2C3")


def test_a_control_that_changes_no_other_draws_the_page_below_the_controls_and_no_control(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket)
        await session.open()
        ran = await session.change(session.widgets["N"], 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert ran.drawn == [ELEMENT, ELEMENT]
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]
    assert "shape=3%2C3%2C4%2C4" in session.query


def test_a_control_that_changes_others_draws_them_too(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket)
        await session.open()
        ran = await session.change(session.widgets["Layer"], "GroupNorm")
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert CONTROLS & set(ran.drawn)
    assert ran.drawn.count(ELEMENT) == 2
    assert any(label.startswith("num_groups") for label in session.widgets)


def test_a_value_that_the_page_does_not_accept_is_corrected_in_the_control(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket, "train_and_eval")
        await session.open()
        (batch,) = (widget for name, widget in session.widgets.items() if name.startswith("batch size"))
        ran = await session.change(batch, "many")
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert "text_input" in ran.drawn
    (batch,) = (widget for name, widget in session.widgets.items() if name.startswith("batch size"))
    assert batch.element.set_value
    assert batch.element.value == batch.element.default


def test_a_change_at_an_address_that_the_server_does_not_know_runs_the_whole_page(app):
    """The reader has gone back and changed a control before the server has seen the address."""

    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket)
        await session.open()
        session.query = "layer=BatchNorm2d(3)"
        ran = await session.change(session.widgets["N"], 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert CONTROLS & set(ran.drawn)
    assert session.widgets["N"].element.default == 3
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]


def test_a_control_that_is_changed_on_the_way_to_another_page_runs_that_page(app):
    async def visit() -> tuple[Ran, Session]:
        compare = Session(app.websocket, "compare")
        await compare.open()
        await compare.close()
        session = Session(app.websocket)
        await session.open()
        size, session.page = session.widgets["N"], compare.page
        ran = await session.change(size, 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert not ran.errors
    assert figure(session).figure["kind"] == "compare"
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]


def test_an_edit_runs_the_page(app):
    async def visit() -> tuple[Ran, Session]:
        session = Session(app.websocket, "", "shape=2,3")
        await session.open()
        ran = await session.change(figure(session), {"event": "edit", "value": {"at": [0, 1], "value": 2.5, "turn": 1}})
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert CONTROLS & set(ran.drawn)
    assert "values=" in session.query


@pytest.mark.parametrize("page", [page for page, (_, names) in PAGES.items() if ELEMENT in names])
def test_the_load_test_finds_the_figure_that_it_clicks(app, page):
    async def visit() -> list[Widget]:
        number = next(number for number in range(100) if seat("normviz", number)[0] == page)
        student = Student("normviz", app.websocket, number, Log())
        await student.session.open()
        await student.session.close()
        return student.choices()

    assert ELEMENT in {widget.kind for widget in run_async(visit())}


class TestMore:
    """The controls under "More" are created and removed; the browser may still send values of removed controls."""

    STATES = ("layer=LayerNorm([4],eps=0.001,bias=False)&params=index&at=1,1,1,1", "layer=BatchNorm2d(3,affine=False)")

    @pytest.mark.parametrize("query", STATES)
    def test_back_works_when_the_browser_sends_values_of_removed_controls(self, app, query):
        async def visit() -> Session:
            session = Session(app.websocket, "", query)
            await session.open()
            await click_element(session, [0, 1, 2, 3])
            await session.change(session.widgets["More"], True)
            shown = dict(session.states)
            await session.change(session.widgets["More"], False)
            session.query = query
            await session.run({key: state for key, state in shown.items() if key != session.widgets["More"].id})
            await session.close()
            assert len(shown) > len(session.states)
            return session

        session = run_async(visit())
        assert session.query == query
        at = read(dict(parse_qsl(query))).scene.at
        assert figure(session).figure["at"] == (None if at is None else list(at))

    def test_opened_together_with_a_change_it_shows_its_controls(self, app):
        async def visit() -> Session:
            session = Session(app.websocket)
            await session.open()
            size, more = session.widgets["N"], session.widgets["More"]
            session.states[size.id] = (size.field, 3.0)
            await session.change(more, True)
            await session.close()
            return session

        session = run_async(visit())
        assert "bias: beta" in session.widgets
        assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]

    def test_a_change_under_more_runs_the_page(self, app):
        async def visit() -> tuple[Ran, Session]:
            session = Session(app.websocket)
            await session.open()
            await session.change(session.widgets["More"], True)
            ran = await session.change(session.widgets["bias: beta"], False)
            await session.close()
            return ran, session

        ran, session = run_async(visit())
        assert ran.drawn.count(ELEMENT) == 2
        assert "bias" in session.query


@pytest.mark.parametrize(
    ("path", "query"),
    [
        *[("", query) for query in TestMore.STATES],
        ("", "shape=2,12,4,4&layer=GroupNorm(3,12)"),
        ("", "shape=2,30,2,2&layer=GroupNorm(15,30)"),
        ("", "shape=64,64,64&layer=DimNorm(64,dim=1)"),
        ("", "shape=2,3,4,4&layer=Norm('n c h w -> n h w', 'c')"),
        ("compare", "shape=2,4,3,3"),
        ("gradients", "input=outlier&show=matrix"),
        ("numerics", "show=variance&distance=1e3"),
        ("numerics", "show=eps&spread=1e-08"),
        ("train_and_eval", "momentum=0.3&batch_size=16"),
        ("questions", "search=gamma"),
    ],
)
def test_the_default_of_every_control_is_the_value_that_it_shows(app, path, query):
    async def visit() -> list[Widget]:
        session = Session(app.websocket, path, query)
        await session.open()
        if "More" in session.widgets:
            await session.change(session.widgets["More"], True)
        await session.close()
        return list(session.widgets.values())

    if path != "questions":
        assert PAGE_PARTS[path or "explore"].view(dict(parse_qsl(query))).problem is None  # the query is valid
    controls = [widget for widget in run_async(visit()) if hasattr(widget.element, "set_value")]
    assert controls
    assert {widget.name: widget.default() or None for widget in controls} == {
        widget.name: widget.first() or None for widget in controls
    }
