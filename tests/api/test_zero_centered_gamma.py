"""A layer that multiplies by 1 + gamma, from its text to its file: one idea, read by everything that reads a layer."""

import re
from dataclasses import replace

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.analysis.closed_form import autograd_backward, backward_terms, upstream
from normviz.analysis.comparison import compare
from normviz.analysis.description import describe
from normviz.analysis.forward import Values
from normviz.analysis.invariance import invariances
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.pages import PAGES
from normviz.scene import edits
from normviz.scene.controls import with_typed
from normviz.scene.toggles import with_toggle
from normviz.scene.view import read
from normviz.texts.errors import NormvizError
from tests.support.needs import needs_rms_norm
from tests.support.scenes import done, scene, summary

RMS, LAYER = "RMSNorm([4], zero_centered_gamma=True)", "LayerNorm([4], zero_centered_gamma=True)"
TEXTS = [pytest.param(RMS, "RMSNorm([4])", marks=needs_rms_norm), (LAYER, "LayerNorm([4])")]
X = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
RANDOM = torch.randn(4, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
LINK = "shape=2,3,4&layout=NLC&layer=LayerNorm([4],zero_centered_gamma=True)"


def with_gamma(text, gamma, x=X):
    """The layer with these gammas on x."""
    e = describe(text, x)
    return replace(e, values=Values(gamma, RANDOM.flip(0) if e.norm.bias else None))


@pytest.mark.parametrize(("text", "plain"), TEXTS)
def test_a_new_layer_is_that_without_it(text, plain):
    e, usual = nv.explain(text, X), nv.explain(plain, X)
    assert torch.equal(e.trace.output, usual.trace.output)
    assert e.layer_values().gamma.tolist() == [0, 0, 0, 0]
    assert e.counts == usual.counts
    assert [one.holds for one in invariances(e)] == [one.holds for one in invariances(usual)]


@pytest.mark.parametrize(("text", "plain"), TEXTS)
def test_another_gamma_is_one_more_in_the_layer_without_it(text, plain):
    e, usual = with_gamma(text, RANDOM), with_gamma(plain, 1 + RANDOM)
    assert torch.equal(e.trace.output, usual.trace.output)
    dout = upstream(tuple(X.shape))
    for one in (backward_terms, autograd_backward):
        found, wanted = one(e, dout), one(usual, dout)
        assert torch.allclose(found.dx, wanted.dx)
        assert torch.allclose(found.dgamma, wanted.dgamma)


@pytest.mark.parametrize(("text", "plain"), TEXTS)
def test_it_is_no_layer_of_torch(text, plain):
    e, layer = nv.explain(text, X), Layer.parse(text)
    assert (e.torch_layer, e.agreement, layer.kind.in_torch) == (None, None, False)
    assert nv.explain(plain, X).torch_layer == Layer.parse(plain)
    assert layer != Layer.parse(plain)
    assert e.norm != nv.explain(plain, X).norm
    with pytest.raises(NormvizError, match=re.escape("No layer of torch.nn multiplies by 1 + gamma.")):
        e.code("torch")
    with pytest.raises(NormvizError, match=re.escape(f"torch.nn has no {layer.name}(..., zero_centered_gamma=True)")):
        layer.module()
    for flavor in ("torch-scratch", "numpy", "einops", "keras", "flax"):
        assert "(1 + " in e.code(flavor)
    assert "then 1 + gamma" in e.code("loops")


@pytest.mark.parametrize(("text", "plain"), TEXTS)
def test_a_module_of_torch_has_it_not(text, plain):
    module = Layer.parse(plain).module()
    assert not Layer.of(module).zero_centered_gamma
    assert Layer.parse(plain).with_(zero_centered_gamma=True) == Layer.parse(text)


WRONG = [
    ("LayerNorm(4, elementwise_affine=False, zero_centered_gamma=True)", "this layer has no gamma; write LayerNorm("),
    ("Norm('n d -> n', zero_centered_gamma=True)", "this layer has no gamma; write Norm('n d -> n', 'd', zero_centered_gamma=True)."),
    ("Norm('n d -> n', 'd', zero_centered_gamma=1)", "zero_centered_gamma=1 must be True or False."),
    ("LayerNorm(4, zero_centered_gamma='yes')", "zero_centered_gamma='yes' must be True or False."),
    ("GroupNorm(2, 4, zero_centered_gamma=True)", "GroupNorm has no argument 'zero_centered_gamma'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_has_no_gamma_cannot_add_1(text, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        nv.explain(text, (2, 4))


def test_a_norm_says_so_as_text():
    norm = Norm("n d -> n", "d", zero_centered_gamma=True)
    assert str(norm) == "statistics: n d -> n | 1 + gamma, beta: d"
    assert Layer.parse(repr(norm)) == norm
    assert norm.without_gamma() == Norm("n d -> n")
    assert nv.explain(LAYER, X).norm == Norm("n l c -> n l", "c", zero_centered_gamma=True)


def test_sentences_and_steps_say_what_is_multiplied():
    e = nv.explain(LAYER, X)
    assert str(e).endswith("the same in every example and position; the layer multiplies by 1 + gamma.")
    assert "1 + gamma" not in str(nv.explain("LayerNorm(4)", X))
    text = nv.step_by_step(LAYER, X.float()).to_html()
    assert "normalized · (1 + gamma) + beta" in text
    assert "Every gamma is 0 and every beta is 0, as in a new layer, so no value changes yet." in text
    backward = nv.gradients(LAYER, X.float(), show="backward").to_html()
    assert "dxhat = dout · (1 + gamma)" in backward
    assert "(1 + γᵢ)/σ" in nv.gradients(LAYER, X.float()).to_html()


def test_a_comparison_tells_the_two_apart():
    rows = compare(["LayerNorm(4)", LAYER], (2, 3, 4), "NLC").rows()
    assert [row["params"] for row in rows] == ["c", "c (1 + gamma)"]
    assert rows[0]["parameters"] == rows[1]["parameters"] == 8


# Links and edits


@needs_rms_norm
@pytest.mark.parametrize("page", ["explore", "step_by_step", "gradients"])
@pytest.mark.parametrize("text", [RMS, LAYER])
def test_a_link_round_trips(page, text):
    query = f"shape=2,3,4&layout=NLC&layer={text.replace(' ', '')}&at=0,1,2"
    view = PAGES[page].view(query)
    assert (view.problem, str(view.scene.layer)) == (None, text)
    assert read(view.scene.query()).scene == view.scene


def test_an_opened_link_is_the_layer():
    view = nv.explain(LAYER, (2, 4))
    assert "layer=LayerNorm([4],zero_centered_gamma=True)" in view.url()
    assert nv.open(view.url()).view.scene.layer == Layer.parse(LAYER)


TYPED = [
    ("nn.LayerNorm(4, zero_centered_gamma=True)", LAYER),
    ("layernorm(4,zero_centered_gamma=True)", LAYER),
    ("LayerNorm(normalized_shape=4, zero_centered_gamma=True) on 2,5,4", LAYER),
    ("LayerNorm(4, zero_centered_gamma=False)", "LayerNorm([4])"),
]


@pytest.mark.parametrize(("typed", "wanted"), TYPED)
def test_it_is_read_where_a_layer_is_typed(typed, wanted):
    assert str(with_typed(scene("shape=2,3,4&layout=NLC"), typed).scene.layer) == wanted


VALUES = [("init", [0, 0, 0, 0]), ("index", [0, 1, 2, 3])]


@pytest.mark.parametrize(("params", "gamma"), VALUES)
def test_gamma_is_chosen_as_it_is_stored(params, gamma):
    assert scene(f"{LINK}&params={params}").description.layer_values().gamma.tolist() == gamma


def test_random_gammas_are_around_that_of_a_new_layer():
    random, usual = (
        scene(link + "&params=random").description.layer_values().gamma
        for link in (LINK, LINK.replace(",zero_centered_gamma=True", ""))
    )
    assert torch.allclose(1 + random, usual)
    assert scene(f"{LINK}&gamma=0.5").description.layer_values().gamma.tolist() == 4 * [0.5]


def test_edits_keep_the_factor_as_long_as_there_is_a_gamma():
    on = scene(LINK)
    assert summary(done(edits.with_size(on, "c", 6))).endswith("LayerNorm([6], zero_centered_gamma=True)")
    assert summary(done(edits.with_arguments(on, elementwise_affine=False))).endswith("LayerNorm([4], elementwise_affine=False)")  # fmt: skip
    assert summary(done(edits.with_arguments(on, zero_centered_gamma=False))).endswith("LayerNorm([4])")
    pattern = scene("shape=2,3,4&layout=NLC&layer=Norm('n l c -> n l','c',zero_centered_gamma=True)")
    assert done(edits.with_pattern(pattern, "n l c -> n", "c")).layer.zero_centered_gamma
    assert done(edits.with_pattern(pattern, "n l c -> n l", None)).layer == Norm("n l c -> n l")


def test_toggles_keep_the_factor_and_the_name():
    on = scene(LINK)
    other = done(with_toggle(on, "mean", "l"))
    assert other.layer == Norm("n l c -> n", "c", zero_centered_gamma=True)
    assert done(with_toggle(other, "gamma", "l")).layer == Layer.parse("LayerNorm([3,4],zero_centered_gamma=True)")
    assert done(with_toggle(other, "mean", "l")).layer == on.layer
    assert done(with_toggle(on, "gamma", "c")).layer == Layer.parse("LayerNorm(4,elementwise_affine=False)")
    assert done(with_toggle(on, "mean", "n")).layer.zero_centered_gamma  # BatchNorm has no such argument


def test_the_controls_show_the_switch_of_such_a_layer_alone():
    def switches(link):
        rows = PAGES["explore"].rows(PAGES["explore"].view(link))
        view = PAGES["explore"].view(link)
        return [one for row in rows for group in (*row.groups, *row.more) for control in group for one in control.inputs(view) if one.key == "zero_centered_gamma"]  # fmt: skip

    (switch,) = switches(LINK)
    assert (switch.value, switch.label) == (True, "zero_centered_gamma: 1 + gamma")
    assert switches(LINK.replace(",zero_centered_gamma=True", "")) == []


def test_the_command_reads_it(capsys):
    from normviz.cli import main

    main(["explain", LAYER, "--shape", "2,4"])
    assert "the layer multiplies by 1 + gamma." in capsys.readouterr().out


def test_a_file_has_the_factor():
    html = nv.explain(LAYER, X.float()).to_html()
    assert '"zero_centered_gamma":true' in html
    assert isinstance(Layer.parse("LayerNorm(4)").module(), nn.LayerNorm)
