"""What a change runs again, read from the websocket messages: a click the figure, "More" itself, a control what it changes."""

import asyncio
import json

import pytest

from bench.protocol import Ran, Session, Widget, aggregator
from bench.students import ELEMENT, PAGES, Log, Student, seat
from normviz.analysis.sentences import sentence
from normviz.parts.html import line
from normviz.scene.view import read
from normviz.texts.messages import in_language
from tests.support.asgi import run_async
from tests.support.sessions import CONTROLS, click_element, figure


@pytest.mark.parametrize(
    ("page", "link"), [("explore", ""), ("compare", "shape=2,3,4,4"), ("step_by_step", ""), ("gradients", "")]
)
def test_a_click_redraws_the_figure_and_no_control_and_changes_the_address(websocket, page, link):
    async def visit() -> tuple[Ran, Ran, Session]:
        session = Session(websocket, page, link)
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


@pytest.mark.parametrize("link", ["embed=true&hide=all", "present=true", "hide=code"])
def test_every_click_in_a_view_with_hidden_parts_changes_the_address_and_the_figure(websocket, link):
    clicks = ([1, 1, 1, 1], [0, 2, 1, 0])

    async def visit() -> list[tuple[Ran, object, str]]:
        session = Session(websocket, "explore", f"{link}&shape=2,3,4,4&layer=BatchNorm2d(3)")
        await session.open()
        found = [(await click_element(session, at), figure(session).figure["at"], session.query) for at in clicks]
        await session.close()
        return found

    for at, (ran, selected, query) in zip(clicks, run_async(visit()), strict=True):
        assert not ran.errors
        assert selected == at
        assert f"at={'%2C'.join(map(str, at))}" in query
        assert link.rpartition("&")[2] in query


def test_a_control_keeps_the_selected_element(websocket):
    async def visit() -> Session:
        session = Session(websocket, "explore", "shape=2,3,4,4")
        await session.open()
        await click_element(session, [0, 1, 2, 3])
        await session.change(session.widgets["Layer"], ["BatchNorm"])
        await session.close()
        return session

    session = run_async(visit())
    assert figure(session).figure["at"] == [0, 1, 2, 3]
    assert figure(session).figure["layer"] == "BatchNorm2d(3)"


@pytest.mark.parametrize("through", ["figure", "More"])
def test_a_click_and_a_control_in_one_message_both_take_effect(websocket, through):
    """The browser sends simultaneous changes as one message, with the id of one fragment."""

    async def visit() -> tuple[Ran, Session]:
        session = Session(websocket, "explore", "shape=2,3,4,4")
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


def test_a_control_that_changes_no_other_draws_the_page_below_the_controls_and_no_control(websocket):
    async def visit() -> tuple[Ran, Session]:
        session = Session(websocket, "explore", "shape=2,3,4,4")
        await session.open()
        ran = await session.change(session.widgets["N"], 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert ran.drawn == [ELEMENT, ELEMENT]
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]
    assert "shape=3%2C3%2C4%2C4" in session.query


def test_a_control_that_changes_others_draws_them_too(websocket):
    async def visit() -> tuple[Ran, Session]:
        session = Session(websocket, "step_by_step")
        await session.open()
        ran = await session.change(session.widgets["Layer"], ["GroupNorm"])
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert CONTROLS & set(ran.drawn)
    assert ran.drawn.count(ELEMENT) == 2
    assert not any(label.startswith("normalized_shape") for label in session.widgets)


def test_what_the_page_does_not_accept_stays_in_the_control_and_what_it_reads_is_written_as_it_writes_it(websocket):
    async def visit() -> tuple[Ran, Ran, Session]:
        session = Session(websocket, "numerics", "show=single")
        await session.open()
        (scale,) = (widget for name, widget in session.widgets.items() if name.startswith("standard deviation"))
        refused = await session.change(scale, "many")
        read = await session.change(scale, " 16 ")
        await session.close()
        return refused, read, session

    refused, read, session = run_async(visit())
    assert "text_input" not in refused.drawn
    assert "text_input" in read.drawn
    (scale,) = (widget for name, widget in session.widgets.items() if name.startswith("standard deviation"))
    assert scale.element.set_value
    assert (scale.element.value, scale.element.default) == ("16", "16")


def test_a_change_at_an_address_that_the_server_does_not_know_runs_the_whole_page(websocket):
    """The reader has gone back and changed a control before the server has seen the address."""

    async def visit() -> tuple[Ran, Session]:
        session = Session(websocket, "explore", "shape=2,3,4,4")
        await session.open()
        session.query = "layer=BatchNorm2d(3)"
        ran = await session.change(session.widgets["N"], 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert CONTROLS & set(ran.drawn)
    assert session.widgets["N"].element.default == 3
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]


def test_a_control_that_is_changed_on_the_way_to_another_page_runs_that_page(websocket):
    async def visit() -> tuple[Ran, Session]:
        compare = Session(websocket, "compare")
        await compare.open()
        await compare.close()
        session = Session(websocket, "explore", "shape=2,3,4,4")
        await session.open()
        size, session.page = session.widgets["N"], compare.page
        ran = await session.change(size, 3.0)
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert not ran.errors
    assert figure(session).figure["kind"] == "compare"
    assert figure(session).figure["grid"]["shape"] == [3, 3, 4, 4]


def test_an_edit_draws_the_page_below_the_controls(websocket):
    async def visit() -> tuple[Ran, Session]:
        session = Session(websocket, "explore", "shape=2,3")
        await session.open()
        ran = await session.change(figure(session), {"event": "edit", "value": {"at": [0, 1], "value": 2.5, "turn": 1}})
        await session.close()
        return ran, session

    ran, session = run_async(visit())
    assert ran.drawn == [ELEMENT, ELEMENT]
    assert "values=" in session.query


@pytest.mark.parametrize("page", [page for page, (_, names) in PAGES.items() if ELEMENT in names])
def test_the_load_test_finds_the_figure_that_it_clicks(websocket, page):
    async def visit() -> list[Widget]:
        number = next(number for number in range(100) if seat("normviz", number)[0] == page)
        student = Student("normviz", websocket, number, Log())
        await student.session.open()
        await student.session.close()
        return student.choices()

    assert ELEMENT in {widget.kind for widget in run_async(visit())}


LAYER = {"en": "Layer", "es": "Capa", "zh": "层"}


def test_sessions_at_the_same_time_have_each_its_language_in_every_run(websocket):
    async def visit(lang: str) -> list[dict]:
        session, seen = Session(websocket, "explore", f"shape=2,3,4,4&lang={lang}"), []
        await session.open()
        for layer in ("BatchNorm2d", "RMSNorm"):
            await session.change(session.widgets[LAYER[lang]], layer)
            seen.append(figure(session).data)
            await click_element(session, [0, 1, 2, 3])
            seen.append(figure(session).data)
        assert f"lang={lang}" in session.query
        await session.close()
        return seen

    async def all_at_once() -> list[list[dict]]:
        return await asyncio.gather(*map(visit, LAYER))

    for lang, seen in zip(LAYER, run_async(all_at_once()), strict=True):
        assert [data["language"]["name"] for data in seen] == [lang] * 4
        for number, data in enumerate(seen):
            scene = read({"layer": data["figures"][0]["layer"], "shape": "2,3,4,4"}).scene
            with in_language(lang):
                assert line(sentence(scene.shape_description)) in dict(data["parts"])["sentence1"], (lang, number)
