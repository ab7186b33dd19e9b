"""The controls that the server sends: those under "More" come and go, and each shows its default."""

from urllib.parse import parse_qsl

import pytest

from bench.protocol import Ran, Session, Widget
from bench.students import ELEMENT
from normviz.lessons.pages import PAGES, view_of_link
from normviz.scene.view import read
from tests.support.asgi import run_async
from tests.support.sessions import click_element, figure


class TestMore:
    """The controls under "More" are created and removed; the browser may still send values of removed controls."""

    STATES = (
        "shape=2,3,4,4&layer=LayerNorm([4],eps=0.001,bias=False)&params=index&at=1,1,1,1",
        "layer=BatchNorm2d(3,affine=False)",
    )

    @pytest.mark.parametrize("query", STATES)
    def test_back_works_when_the_browser_sends_values_of_removed_controls(self, websocket, query):
        async def visit() -> Session:
            session = Session(websocket, "explore", query)
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

    def test_opened_together_with_a_change_it_shows_its_controls(self, websocket):
        async def visit() -> Session:
            session = Session(websocket, "explore", "shape=2,3,4,4")
            await session.open()
            size, more = session.widgets["N"], session.widgets["More"]
            session.states[size.id] = (size.field, 3.0)
            await session.change(more, True)
            await session.close()
            return session

        session = run_async(visit())
        assert "bias: beta" in session.widgets
        assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]

    def test_a_change_under_more_runs_the_page(self, websocket):
        async def visit() -> tuple[Ran, Session]:
            session = Session(websocket, "explore")
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
        *[("explore", query) for query in TestMore.STATES],
        ("explore", "shape=2,12,4,4&layer=GroupNorm(3,12)"),
        ("explore", "shape=2,30,2,2&layer=GroupNorm(15,30)"),
        ("explore", "shape=64,64,64&layer=DimNorm(64,dim=1)"),
        ("explore", "shape=2,3,4,4&layer=Norm('n c h w -> n h w', 'c')"),
        ("compare", "shape=2,4,3,3"),
        ("gradients", "input=outlier&show=matrix"),
        ("numerics", "show=variance&distance=1e3"),
        ("numerics", "show=eps&spread=1e-08"),
        ("train_and_eval", "momentum=0.3&batch_size=16"),
    ],
)
def test_the_default_of_every_control_is_the_value_that_it_shows(websocket, path, query):
    async def visit() -> list[Widget]:
        session = Session(websocket, path, query)
        await session.open()
        if "More" in session.widgets:
            await session.change(session.widgets["More"], True)
        await session.close()
        return list(session.widgets.values())

    assert view_of_link(PAGES[path], dict(parse_qsl(query))).problem is None  # the query is valid
    controls = [widget for widget in run_async(visit()) if hasattr(widget.element, "set_value")]
    assert controls
    assert {widget.name: widget.default() or None for widget in controls} == {
        widget.name: widget.first() or None for widget in controls
    }
