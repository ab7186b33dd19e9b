"""The views that a file has: every layer that takes the tensor, other tensors, and the stated settings of the other pages."""

from collections import Counter
from functools import cache
from itertools import combinations
from unittest.mock import patch

import pytest

from normviz.export.playable import MOST_VIEWS, search
from normviz.lessons.compare.page import READY_SETS, layers_of
from normviz.lessons.pages import PAGES, PageView
from normviz.texts.errors import NormvizError
from tests.support.needs import needs_rms_norm


@cache
def found(name="explore", query="", **choices):
    """The views without their parts, which take most of the time: ``test_packing`` and ``test_toggles`` have them."""
    with patch("normviz.export.playable.page_view", lambda *view: PageView(*view, parts=[], hideable=frozenset())):
        return search(PAGES[name], PAGES[name].view(query), **choices).playable_views()


def layers(views):
    return [str(one.page_view.view.scene.layer) for one in views.values()]


PLAIN = [
    "LayerNorm([4, 3, 5])", "LayerNorm([3, 5])", "LayerNorm([5])", "RMSNorm([4, 3, 5])", "RMSNorm([3, 5])", "RMSNorm([5])",
    "BatchNorm2d(4)", "InstanceNorm2d(4)", "GroupNorm(1, 4)", "GroupNorm(2, 4)", "GroupNorm(4, 4)", "ChannelsFirstLayerNorm(4)",
    "DimNorm(5, dim=0)", "DimNorm(5, dim=1)", "DimNorm(5, dim=2)", "DimNorm(5, dim=3)",
]  # fmt: skip


@needs_rms_norm
def test_explore_has_every_layer_that_takes_the_tensor_with_every_normalized_shape_number_of_groups_and_dim():
    assert layers(found())[0] == "LayerNorm([4, 3, 5])"
    assert set(PLAIN) <= set(layers(found()))


def test_a_file_of_a_sequence_has_the_layers_for_channels_that_are_last():
    last = {"ChannelsLastBatchNorm(4)", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"}
    assert last <= set(layers(found(query="shape=2,5,4")))
    sets = layer_sets(found("compare", "shape=2,5,4"), shape=(2, 5, 4))
    assert any(last <= set(chosen) for chosen in sets)


@needs_rms_norm
def test_explore_has_the_switches_of_each_layer():
    with_switches = set(layers(found())) - set(PLAIN)
    assert {
        "BatchNorm2d(4).eval()",
        "BatchNorm2d(4, affine=False)",
        "BatchNorm2d(4, track_running_stats=False)",
        "InstanceNorm2d(4, affine=True)",
        "LayerNorm([3, 5], bias=False)",
        "RMSNorm([5], elementwise_affine=False)",
    } <= with_switches


def test_each_view_exists_once_and_every_option_leads_to_one():
    views = found(shapes=((5, 7), (2, 6, 8, 8)))
    queries = [str(sorted(one.page_view.query.items())) for one in views.values()]
    assert len(set(queries)) == len(queries)
    for one in views.values():
        for ways in one.ways.values():
            assert set(ways.values()) <= set(views)


def test_every_view_can_be_reached_from_the_first():
    views = found(shapes=((5, 7), (2, 6, 8, 8)))
    reached, waiting = set(), [next(iter(views))]
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting += [
                to for row in views[key].rows for shown in _inputs(row) for to in views[key].ways[shown.key].values()
            ]
            waiting += views[key].toggles.values()
    assert reached == set(views)


def _inputs(row):
    return [*row.inputs, *(one for column in row.more for one in column)]


def test_a_size_leads_to_the_tensor_with_that_size_that_is_most_like_the_current_one():
    views = found(query="shape=2,3,4,4", shapes=((2, 6, 8, 8), (2, 6, 4, 8), (5, 7)))
    first = next(iter(views.values()))
    assert set(first.ways["size_c"]) == {3, 6}
    assert views[first.ways["size_c"][6]].page_view.view.scene.shape == (2, 6, 4, 8)
    assert views[first.ways["layout"]["ND"]].page_view.view.scene.shape == (5, 7)
    assert set(first.ways["size_n"]) == {2}


@pytest.mark.parametrize("start", ["LayerNorm([4,3,5])", "InstanceNorm2d(4)"])
def test_a_layer_without_a_form_on_another_tensor_is_replaced_and_the_way_back_is_the_same_for_all_readers(start):
    views = found(query=f"shape=2,4,3,5&layer={start}", shapes=((5, 7),))
    ways = {str(one.page_view.view.scene.layer): one.ways["layout"] for one in views.values()}
    there = {layer: str(views[way["ND"]].page_view.view.scene.layer) for layer, way in ways.items() if "ND" in way}
    assert [there[layer] for layer in ("LayerNorm([4, 3, 5])", "LayerNorm([3, 5])", "InstanceNorm2d(4)")] == [
        "LayerNorm([7])"
    ] * 3
    assert str(views[ways["LayerNorm([7])"]["NCHW"]].page_view.view.scene.layer) == "LayerNorm([4, 3, 5])"


def test_the_first_tensor_keeps_its_own_values_and_its_selected_element():
    query = "shape=2,3&layer=LayerNorm(3)&values=1,2,3,4,5,6&at=0,1"
    views = found(query=query, shapes=((5, 7),))
    there = views[next(iter(views.values())).ways["size_n"][5]]
    back = views[there.ways["size_n"][2]].page_view.view.scene
    assert (back.values, back.at) == ((1, 2, 3, 4, 5, 6), (0, 1))


def test_layers_narrow_the_file_and_are_fitted_to_each_tensor():
    texts = ("BatchNorm2d(3)", "BatchNorm2d(3).eval()", "LayerNorm([4, 4])")
    views = found(query="layer=BatchNorm2d(3)&shape=2,3,4,4", shapes=((2, 6, 8, 8),), layers=texts)
    assert Counter(layers(views)) == Counter([*texts, "BatchNorm2d(6)", "BatchNorm2d(6).eval()", "LayerNorm([8, 8])"])
    (shown,) = [one for row in next(iter(views.values())).rows for one in row.inputs if one.key == "family"]
    assert (shown.label, tuple(shown.widget.options.values())) == ("Layer", texts)


def test_a_layer_that_does_not_take_the_first_tensor_is_an_error():
    with pytest.raises(NormvizError, match="normalized_shape must be the last sizes of x"):
        found(layers=("LayerNorm([7])",))


@needs_rms_norm
def test_too_many_tensors_are_an_error():
    with pytest.raises(NormvizError, match="is too large; give fewer shapes, or name the layers with --layers"):
        found(shapes=tuple((2, 3, 4, size) for size in range(5, 20)))


@needs_rms_norm
def test_several_tensors_leave_out_the_switches_before_a_layer_and_the_search_says_so():
    found = search(PAGES["explore"], PAGES["explore"].view(""), [(2, 6, 4, 4), (5, 7), (2, 12, 4, 4)])
    assert len(found.views) <= MOST_VIEWS
    texts = [str(one.view.scene.layer) for one in found.views.values()]
    assert [text for text in texts if "affine" in text or "eval" in text] == []
    assert "GroupNorm(6, 12)" in texts
    assert {"affine: gamma, beta", "Mode"} <= set(found.labels_left_out())


def test_a_search_that_leaves_nothing_out_says_nothing():
    assert search(PAGES["explore"], PAGES["explore"].view("")).labels_left_out() == []


def layer_sets(views, **scene):
    """The sets of layers that the file offers on the tensor of ``scene``."""
    shown = [one.page_view.view for one in views.values()]
    return [
        layers_of(view)[0] for view in shown if all(getattr(view.scene, key) == value for key, value in scene.items())
    ]


@pytest.fixture(scope="module")
def comparisons():
    """The views of a file of the page Compare."""
    return found("compare", "shape=2,3,4,4")


def test_compare_has_the_ready_made_sets_two_or_three_of_nine_layers_and_up_to_six_of_the_first_six(comparisons):
    views = comparisons
    first = next(iter(views.values()))
    assert set(first.ways["set"]) == {"", *READY_SETS}
    sets = layer_sets(views, shape=(2, 3, 4, 4))
    assert len({layer for chosen in sets for layer in chosen}) == 9
    assert Counter(map(len, sets)) == {2: 36, 3: 84, 4: 15, 5: 6, 6: 1}
    ready = views[first.ways["set"]["four"]]
    assert ready.ways["set"][""] == next(iter(views))


@needs_rms_norm
def test_compare_offers_the_layers_that_fit_each_tensor():
    views = found("compare", "shape=2,3,4,4", shapes=((5, 7),))
    assert len(views) <= MOST_VIEWS
    for shape, layer in (((2, 3, 4, 4), "InstanceNorm2d(3)"), ((5, 7), "RMSNorm([7])")):
        sets = layer_sets(views, shape=shape)
        assert len({layer for chosen in sets for layer in chosen}) >= 6
        assert any(layer in chosen for chosen in sets)


def test_a_file_has_each_set_of_layers_once():
    sets = layer_sets(found("compare"), shape=READY_SETS["four"].shape)
    assert READY_SETS["four"].layers in sets
    assert len(set(sets)) == len(sets)


def test_compare_adds_or_removes_one_layer_at_a_time(comparisons):
    for one in comparisons.values():
        now = set(layers_of(one.page_view.view)[0])
        assert all(len(now.symmetric_difference(chosen)) < 2 for chosen in one.ways["layers"])


def test_from_a_ready_made_set_layers_can_be_removed(comparisons):
    four = READY_SETS["four"]
    sets = layer_sets(comparisons, shape=four.shape, layout=four.layout)
    assert four.layers[:2] in sets


def test_layers_narrow_compare_and_are_fitted_to_each_tensor():
    texts = ("BatchNorm2d(3)", "LayerNorm([4, 4])", "GroupNorm(3, 3)")
    query = f"shape=2,3,4,4&layers={';'.join(texts[:2])}"
    views = found("compare", query, shapes=((2, 6, 8, 8), (5, 7)), layers=texts)
    first = next(iter(views.values()))
    assert "set" not in first.ways
    assert set(first.ways["size_c"]) == {3, 6}
    sets = sorted(map(sorted, layer_sets(views, shape=(2, 3, 4, 4))))
    assert sets == sorted(map(sorted, [*combinations(texts, 2), texts]))
    assert len(views) == 3 * len(sets)
    fitted = {layer for chosen in layer_sets(views, shape=(2, 6, 8, 8)) for layer in chosen}
    assert fitted == {"BatchNorm2d(6)", "LayerNorm([8, 8])", "GroupNorm(3, 6)"}
    for one in views.values():
        assert set(one.ways["layers"].values()) <= set(views)


def test_step_by_step_has_the_layers_of_explore():
    listed = search(PAGES["explore"], PAGES["explore"].view("")).views.values()
    assert layers(found("step_by_step")) == [str(one.view.scene.layer) for one in listed]


@pytest.mark.parametrize(("name", "shown"), [("train_and_eval", 7), ("gradients", 4), ("numerics", 5)])
def test_a_page_of_experiments_has_each_of_them_with_a_stated_grid(name, shown):
    views = found(name)
    counts = Counter(one.page_view.view.settings["show"] for one in views.values())
    assert len(counts) == shown
    assert sum(counts.values()) <= 80


def test_a_setting_with_many_values_offers_those_that_are_stated_and_its_own():
    first = next(iter(found("train_and_eval", "batch_size=5").values()))
    assert list(first.ways["set_batch_size"]) == ["2", "8", "32", "5"]


def test_settings_that_an_experiment_does_not_show_keep_their_values():
    for one in found("numerics", "distance=1e3").values():
        if one.page_view.view.settings["show"] == "eps":
            assert one.page_view.view.settings["distance"] == 3


def test_hidden_controls_offer_nothing():
    assert len(found(query="hide=controls")) == 1
    assert all(
        shown.key != "family" for one in found(query="hide=layer").values() for row in one.rows for shown in row.inputs
    )


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page.file_choices])
def test_no_view_of_a_file_has_an_error(name):
    assert not any(PAGES[name].problem(one.page_view.view) for one in found(name).values())
