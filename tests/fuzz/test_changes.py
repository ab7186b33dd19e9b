"""Controls, clicks and edits with any values change a scene into a scene that reads back."""

import gc

from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.lessons.compare.page import READY_SETS
from normviz.scene import edits
from normviz.scene.controls import SCENE_CONTROLS
from normviz.scene.edits import Reading
from normviz.scene.view import View, read
from normviz.texts.errors import NormvizError
from tests.fuzz import hostile
from tests.fuzz.measure import examples, outcome

gc.freeze()
whole = st.integers(-3, 20) | st.integers(-(2**63), 2**63) | st.sampled_from([2**40, 2**40 + 1, 2**53 - 1, 10**400])
number = st.floats() | whole | st.sampled_from([-0.0, 1e308, 1e-320, 1e12, 1e13])
axis = st.sampled_from("nchwldx")
at = st.none() | st.lists(whole, max_size=6).map(tuple)
flag = st.booleans()
CHANGES = st.one_of(
    st.tuples(st.just("with_layout"), hostile.mutated(hostile.layouts)),
    st.tuples(st.just("with_size"), axis, whole),
    st.tuples(st.just("with_family"), hostile.families),
    st.tuples(st.just("with_pattern_text"), hostile.mutated(st.builds("{}; {}={}".format, hostile.pattern_texts, hostile.names, hostile.numerals)), hostile.sides),
    st.tuples(st.just("with_pattern_text"), hostile.pattern_texts, hostile.sides | hostile.chaos),
    st.tuples(st.just("with_value"), st.lists(whole, max_size=6).map(tuple), number),
    st.tuples(st.just("with_value"), st.lists(st.integers(-4, 3), min_size=1, max_size=4).map(tuple), number),
    st.tuples(st.just("with_eps"), hostile.numerals | hostile.chaos),
    st.tuples(st.just("with_window"), st.integers(0, 3), whole),
    st.tuples(st.just("with_selected"), at),
    st.tuples(st.just("seed"), whole),
    st.tuples(st.sampled_from(["data", "params"]), hostile.words),
    st.tuples(st.sampled_from(["layout", "family", "eps", "depth", "num_groups", "dim", "training", "data"]), st.none()),
    st.sampled_from([("with_tensor", ready.shape, ready.layout) for ready in READY_SETS.values()]),
)  # fmt: skip
NAMED = st.one_of(
    st.fixed_dictionaries({"num_groups": whole}),
    st.fixed_dictionaries({"dim": whole}),
    st.fixed_dictionaries({"normalized_shape": st.lists(whole, max_size=5)}),
    st.fixed_dictionaries({"eps": st.none() | number}),
    st.fixed_dictionaries({"training": flag}),
    st.dictionaries(st.sampled_from(["affine", "elementwise_affine", "bias", "track_running_stats"]), flag),
)


def apply_change(scene, change):
    """Apply the edit of that name, or set the input of that key if the view has it."""
    if isinstance(change, dict):
        return edits.with_arguments(scene, **change)
    name, *arguments = change
    if hasattr(edits, name):
        return getattr(edits, name)(scene, *arguments)
    view = View(scene, {})
    inputs = {one.key: one for control in SCENE_CONTROLS for one in control.inputs(view)}
    changed = inputs[name].changed(view, *arguments) if name in inputs else view
    return Reading(changed.scene, changed.problem)


@settings(max_examples=examples(200))
@given(query=hostile.queries(), wanted=st.lists(CHANGES | NAMED, min_size=1, max_size=5))
def test_every_change_gives_a_scene_that_reads_back(query, wanted):
    scene = read(query).scene
    for change in wanted:
        if change[0] == "with_window" if isinstance(change, tuple) else False:
            change = ("with_window", change[1] % len(scene.shape), change[2])
        result = outcome((scene.query(), change), lambda scene=scene, change=change: apply_change(scene, change))
        assert not isinstance(result, NormvizError), result
        assert result.problem is None or 0 < len(result.problem) < 2000
        again = read(result.scene.query())
        assert (again.scene, again.problem) == (result.scene, None)
        scene = result.scene
