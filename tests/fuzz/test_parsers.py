"""Layers, patterns, shapes and numbers typed by a visitor are read or refused with a message; what is read can be written back."""

import gc

from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.layers.axes import Pattern, layout_text, parse_layout, parse_names
from normviz.layers.fit import default_layer, refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.controls import with_typed
from normviz.scene.edits import repair
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.view import typed_query
from normviz.texts.errors import NormvizError, echo
from tests.fuzz import hostile
from tests.fuzz.measure import examples, outcome
from tests.scene.test_expressions import READ

gc.freeze()  # imported objects are not garbage of an example


@settings(max_examples=examples(300))
@given(text=hostile.layer_texts | hostile.chaos)
def test_layer_texts(text):
    layer = outcome(text, lambda: Layer.parse(text))
    if isinstance(layer, Layer):
        assert Layer.parse(str(layer)) == layer
    elif isinstance(layer, Norm):
        assert Layer.parse(repr(layer)) == layer


EXPRESSIONS = [text for text, _shape, _layer in READ]


@settings(max_examples=examples(300))
@given(
    text=hostile.mutated(st.sampled_from(EXPRESSIONS)) | hostile.chaos,
    shape=st.sampled_from([(2, 4, 3, 5), (2, 5, 4), (4, 6), (3,)]),
)
def test_expressions(text, shape):
    reading = outcome(text, lambda: with_typed(repair(shape=shape).scene, text))
    if not isinstance(reading, NormvizError):
        assert reading.scene.shape_description
    outcome(text, lambda: typed_query(text))


@settings(max_examples=examples(300))
@given(text=hostile.mutated(hostile.pattern_texts))
def test_patterns(text):
    pattern = outcome(text, lambda: Pattern.parse(text))
    if isinstance(pattern, Pattern):
        assert Pattern.parse(str(pattern)) == pattern


@settings(max_examples=examples(100))
@given(text=hostile.mutated(hostile.sides) | hostile.chaos)
def test_parameter_axes(text):
    names = outcome(text, lambda: parse_names(text))
    if not isinstance(names, NormvizError):
        assert parse_names(" ".join(names)) == names


@settings(max_examples=examples(100))
@given(text=hostile.mutated(hostile.layouts), rank=st.integers(0, 70))
def test_layouts(text, rank):
    axes = outcome((text, rank), lambda: parse_layout(text, rank))
    if not isinstance(axes, NormvizError):
        assert parse_layout(layout_text(axes), rank) == axes


@settings(max_examples=examples(300))
@given(data=st.data(), name=st.sampled_from(sorted(SCENE_SETTINGS)))
def test_every_name_of_a_query(data, name):
    text = data.draw(hostile.FOR_READER[name])
    outcome((name, text), lambda: SCENE_SETTINGS[name].parse(text))


@settings(max_examples=examples(200))
@given(text=hostile.layer_texts, shape=hostile.shape_texts, layout=st.none() | hostile.layouts)
def test_a_layer_on_a_shape(text, shape, layout):
    def explained():
        e = describe(Layer.parse(text), SCENE_SETTINGS["shape"].parse(shape), layout=layout)
        return e.counts, e.notes, e.torch_layer, e.title

    outcome((text, shape, layout), explained)


@settings(max_examples=examples(150))
@given(text=hostile.layer_texts, shape=hostile.shape_texts, family=hostile.families, layout=hostile.layouts)
def test_the_nearest_layer(text, shape, family, layout):
    def nearest():
        sizes, layer = SCENE_SETTINGS["shape"].parse(shape), Layer.parse(text)
        axes = parse_layout(layout, len(sizes))
        if isinstance(layer, Layer):
            describe(refit(layer, sizes, axes), (2,) * len(sizes))
        return default_layer(family, sizes, axes)

    outcome((text, shape, family, layout), nearest)


@given(text=hostile.chaos | hostile.numerals)
def test_an_echo_is_short_and_on_one_line(text):
    assert len(echo(text)) <= 61
    assert "\n" not in echo(text)
