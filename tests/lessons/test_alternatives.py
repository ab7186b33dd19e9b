"""Other views that a page offers: remedies, a small look-alike, the view of a pasted error."""

import pytest

from normviz.lessons.pages import PAGES, page_view
from normviz.parts.part import Caption, Code, LayerNote, Legend, Links, Note, Problem, flat
from tests.support.needs import needs_rms_norm


def parts_of(name, query):
    return page_view(PAGES[name], PAGES[name].view(query)).parts


def texts(parts, kind):
    return [part.text for part in parts if isinstance(part, kind)]


def links(parts, *kinds):
    return [link for part in parts if isinstance(part, Links) and part.kind in kinds for link in part.links]


REFUSED = "shape=8,96,56,56&layer=LayerNorm(96)"


@pytest.mark.parametrize("name", ["explore", "step_by_step", "gradients"])
def test_a_refused_layer_shows_what_was_probably_meant_and_says_so(name):
    view = PAGES[name].view(REFUSED)
    assert str(view.scene.layer) == "ChannelsFirstLayerNorm(96, eps=1e-05)"
    (problem,) = texts(page_view(PAGES[name], view).parts, Problem)
    assert problem.startswith('torch refuses: "Given normalized_shape=[96], expected input with shape [*, 96], ')
    assert problem.endswith("Shown instead: ChannelsFirstLayerNorm(96, eps=1e-05) on (8, 96, 56, 56).")


def test_each_remedy_is_a_link_that_opens_it_without_an_error():
    offered = links(parts_of("explore", REFUSED), "choices")
    assert offered[0].text.endswith("` (shown)")
    assert [link.text.split("`")[1] for link in offered] == [
        "ChannelsFirstLayerNorm(96, eps=1e-05)",
        "LayerNorm([96])",
        "LayerNorm([56])",
        "LayerNorm([96, 56, 56])",
        "LayerNorm([96])",
    ]
    for link in offered:
        view = PAGES[link.page].view(link.query)
        assert view.problem is None
        assert f"`{view.scene.layer}`" in link.text
    moved = PAGES["explore"].view(offered[1].query).scene
    assert (moved.shape, moved.layout) == ((8, 56, 56, 96), "NHWC")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (REFUSED, ["y = nn.LayerNorm([96])(x.movedim(1, -1)).movedim(-1, 1)"]),  # torch has no layer for it
        ("shape=2,3,4,4&layer=LayerNorm([4,5])", ["y = nn.LayerNorm([4, 4])(x)"]),
        (
            "shape=1,3&layer=BatchNorm1d(3)",
            ["y = nn.BatchNorm1d(3).eval()(x)"],
        ),  # another x is no remedy for the reader's
        ("shape=2,3,4,4&layer=LayerNorm([4,4])", []),
    ],
)
def test_under_a_refusal_stands_a_line_of_code_that_torch_accepts(query, code):
    found = page_view(PAGES["explore"], PAGES["explore"].view(query)).parts
    after = [part for part in found if isinstance(part, Problem | Links | Code)][:3]
    assert [part.text for part in after if isinstance(part, Code)] == code


def test_a_page_keeps_its_own_settings_in_the_links():
    (first, *_rest) = links(parts_of("step_by_step", f"{REFUSED}&step=3"), "choices")
    assert "step=3" in first.query


def test_only_a_layer_or_a_shape_that_is_not_shown_is_replaced():
    (problem,) = texts(parts_of("explore", "layer=LayerNorm([3,4,4])&seed=x"), Problem)
    assert "Shown instead" not in problem
    (problem,) = texts(parts_of("explore", "layer=Conv2d(3,3)"), Problem)
    assert problem.endswith("Shown instead: LayerNorm([4, 3, 5]) on (2, 4, 3, 5).")


def test_a_misspelled_layer_is_shown_as_it_was_probably_meant():
    view = PAGES["explore"].view("layer=batchnorm2d(3,eps=0.1)")
    assert view.problem == "'batchnorm2d' is not a layer of the catalogue. Did you mean BatchNorm2d?"
    assert str(view.scene.layer) == "BatchNorm2d(3, eps=0.1)"


def test_an_x_that_is_probably_nhwc_can_be_read_as_nhwc():
    parts = parts_of("explore", "shape=8,56,56,96&layer=LayerNorm(96)")
    (note,) = texts(parts, LayerNote)
    assert "The axes of (8, 56, 56, 96) are probably N, H, W and C" in note
    (link,) = [link for link in links(parts, "next") if "NHWC" in link.text]
    kinds = [type(part).__name__ for part in parts]
    assert kinds.index("LayerNote") < kinds.index("Links") < kinds.index("Panels")
    assert PAGES["explore"].view(link.query).scene.layout == "NHWC"
    assert not texts(parts_of("explore", link.query), LayerNote)


LARGE = [
    ("explore", "shape=32,128,768&layer=LayerNorm(768)", "LayerNorm([4])", "(2, 4, 4)"),
    ("step_by_step", "shape=2,64,4,4&layer=BatchNorm2d(64)&step=2", "BatchNorm2d(4)", "(2, 4, 3, 3)"),
    ("explore", "shape=8,56,56,96&layout=NHWC&layer=LayerNorm(96)", "LayerNorm([4])", "(2, 3, 3, 4)"),
]


@pytest.mark.parametrize(("name", "query", "layer", "shape"), LARGE)
def test_a_large_tensor_links_to_a_small_lookalike_that_says_what_it_is_and_links_back(name, query, layer, shape):
    start = PAGES[name].view(query)
    (there,) = [link for link in links(page_view(PAGES[name], start).parts, "next") if "look-alike" in link.text]
    assert there.text == f"Show a small look-alike of shape {shape}"
    small = PAGES[there.page].view(there.query)
    assert small.problem is None
    assert (str(small.scene.layer), str(small.scene.shape)) == (layer, shape)
    parts = page_view(PAGES[name], small).parts
    caption = f"A small look-alike of `{start.scene.layer}` on {start.scene.shape}: the same pattern on fewer elements."
    assert caption in texts(parts, Caption)
    (back,) = links(parts, "back")
    again = PAGES[back.page].view(back.query)
    assert (again.scene.layer, again.scene.shape, again.scene.layout) == (
        start.scene.layer,
        start.scene.shape,
        start.scene.layout,
    )
    assert again.settings == start.settings
    assert again.display == start.display


def test_a_comparison_on_a_large_tensor_links_to_the_lookalikes_of_its_layers():
    link = "shape=8,128,56,56&layer=BatchNorm2d(128)&layers=BatchNorm2d(128);GroupNorm(32,128);LayerNorm([128,56,56])"
    (there,) = [link for link in links(parts_of("compare", link), "next") if "look-alike" in link.text]
    view = PAGES["compare"].view(there.query)
    assert view.problem is None
    assert view.settings["layers"] == ("BatchNorm2d(4)", "GroupNorm(2,4)", "LayerNorm([4,3,3])")
    assert view.scene.shape == (2, 4, 3, 3)
    caption = "A small look-alike of (8, 128, 56, 56): the same patterns on fewer elements."
    assert texts(parts_of("compare", there.query), Legend) == [caption]


@needs_rms_norm
def test_a_changed_lookalike_is_none_any_more():
    view = PAGES["explore"].view("shape=2,4,4&layer=RMSNorm(4)&like=LayerNorm([768]) on 32,128,768")
    assert view.problem is None
    assert not view.is_lookalike
    assert "like" not in view.query(())
    assert not any("look-alike" in text for text in texts(page_view(PAGES["explore"], view).parts, Caption))


def test_a_small_tensor_has_no_lookalike():
    assert not any("look-alike" in link.text for link in links(parts_of("explore", ""), "next"))


def test_a_pasted_error_in_the_search_of_questions_is_explained_and_leads_to_its_view():
    words = "Given normalized_shape=[96], expected input with shape [*, 96], but got input of size[8, 96, 56, 56]"
    parts = list(flat(PAGES["questions"].parts(PAGES["questions"].view({"search": f"RuntimeError: {words}"}))))
    (note,) = texts(parts, Note)
    assert note.startswith(f'torch refuses: "{words}"')
    asked, first, *_others = links(parts, "choices")
    assert PAGES[asked.page].view(asked.query).problem == note
    assert str(PAGES[first.page].view(first.query).scene.layer) == "ChannelsFirstLayerNorm(96, eps=1e-05)"


@pytest.mark.parametrize("name", ["explore", "step_by_step", "gradients"])
def test_a_last_axis_as_large_as_the_channels_has_a_note_and_links_to_layers_over_the_channels(name):
    parts = parts_of(name, "shape=2,4,3,4&layer=LayerNorm(4)")
    (note,) = texts(parts, LayerNote)
    assert "C has the same size, 4" in note
    offered = links(parts, "choices")
    scenes = [PAGES[link.page].view(link.query).scene for link in offered]
    assert [str(scene.layer) for scene in scenes] == ["ChannelsFirstLayerNorm(4, eps=1e-05)", "LayerNorm([4])"]
    assert [scene.shape for scene in scenes] == [(2, 4, 3, 4), (2, 3, 4, 4)]
    assert all(scene.shape_description.norm.pattern.reduced == ("c",) for scene in scenes)
    assert all(scene.shape_description.notes == () for scene in scenes)
