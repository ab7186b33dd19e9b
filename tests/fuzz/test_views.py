"""Queries, Scenes and pages: each gives a view that can be shown and linked, or is refused with a message."""

import gc
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.analysis.examples import DATA, PARAMETERS
from normviz.layers.layer import Layer
from normviz.lessons.pages import PAGES
from normviz.scene.scene import SCENE_SETTINGS, Scene
from normviz.scene.setting import read_settings
from normviz.scene.view import View, link, read, read_view
from normviz.texts.errors import NormvizError
from tests.fuzz import hostile
from tests.fuzz.building import build, build_view
from tests.fuzz.measure import examples, outcome

index = st.none() | st.lists(st.integers(-2, 9) | st.integers(-(2**70), 2**70), max_size=6).map(tuple)


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Build every page once, because torch imports parts of itself at first use."""
    for page in PAGES:
        for show in hostile.SHOWS.get(page, [""]):
            build(page, {"show": show})
    gc.freeze()  # the remaining objects are not garbage of an example


def is_short_message(problem):
    return problem is None or 0 < len(problem) < 2000


@settings(max_examples=examples(250))
@given(query=st.one_of(hostile.queries(), hostile.addresses()))
def test_every_query_reads_as_a_scene_that_reads_back(query):
    reading = outcome(query, lambda: read(query))
    assert not isinstance(reading, NormvizError), reading
    assert is_short_message(reading.problem)
    again = read(reading.scene.query())
    assert (again.scene, again.problem) == (reading.scene, None)
    linked_to = read(dict(parse_qsl(link(reading.scene.query())[1:], keep_blank_values=True)))
    assert (linked_to.scene, linked_to.problem) == (reading.scene, None)


@settings(max_examples=examples(120))
@given(query=hostile.queries())
def test_every_query_has_a_view(query):
    outcome(query, lambda: build_view(read(query).scene))


@settings(max_examples=examples(100))
@given(
    shape=hostile.shape_texts,
    layout=hostile.layouts,
    layer=hostile.layer_texts,
    data=st.sampled_from([*DATA, "noise"]),
    seed=st.sampled_from([0, 1, 2**31 - 1]),
    values=st.none() | st.lists(st.floats(), max_size=66).map(tuple),
    params=st.sampled_from([*PARAMETERS, "ones"]),
    gamma=st.none() | st.floats(-3.1, 3.1),
    beta=st.none() | st.floats(-3.1, 3.1),
    at=index,
    start=st.just(()) | index.map(lambda drawn: drawn or ()),
)
def test_every_valid_scene_reads_back(shape, layout, layer, **rest):
    def scene():
        return Scene(
            SCENE_SETTINGS["shape"].parse(shape), SCENE_SETTINGS["layout"].parse(layout), Layer.parse(layer), **rest
        )

    result = outcome((shape, layout, layer, rest), scene)
    if isinstance(result, Scene):
        again = read(result.query())
        assert (again.scene, again.problem) == (result, None)


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_the_settings_of_every_page_read_back(page, data):
    query = data.draw(hostile.queries(page))
    values, problem = outcome((page, query), lambda: read_settings(PAGES[page].settings, query))
    assert is_short_message(problem)
    assert {field.name for field in PAGES[page].settings} == set(values)
    scene = read(query).scene
    view, declared = View(scene, values), PAGES[page].settings
    unused = {one.name: one.default for one in declared if not one.applies(view)}  # no link has them
    assert read_view(view.query(declared), declared) == view.with_settings(**unused)


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=examples(20))
@given(data=st.data())
def test_every_page_is_built_or_refused(page, data):
    query = data.draw(hostile.queries(page) | hostile.at_limits(page))
    outcome((page, query), lambda: build(page, query))
