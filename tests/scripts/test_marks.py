"""The parts of a program that the script marks, because they light cells of a figure: each names what it is about, and nothing that the layer does not have."""

import re

import pytest

from normviz import explain
from normviz.analysis.excerpt import whole_formula
from normviz.code.programs import FLAVORS
from normviz.layers.norm import Norm
from normviz.parts.html import Body
from normviz.parts.part import code_parts
from normviz.texts.errors import NormvizError
from tests.support.javascript import evaluate

IMAGES = (2, 4, 3, 5)
LAYERS = [
    # layer, shape, the terms that it has besides x, var, eps and output
    ("BatchNorm2d(4)", IMAGES, {"mean", "gamma", "beta"}),
    ("LayerNorm([4, 3, 5], bias=False)", IMAGES, {"mean", "gamma"}),
    ("LayerNorm([3, 5], eps=0.1)", IMAGES, {"mean", "gamma", "beta"}),
    ("InstanceNorm2d(4)", IMAGES, {"mean"}),
    ("GroupNorm(2, 4, affine=False)", IMAGES, {"mean"}),
    ("RMSNorm(5)", IMAGES, {"gamma"}),
    ("BatchNorm2d(4).eval()", IMAGES, {"mean", "gamma", "beta"}),
    ("LayerNorm(6, zero_centered_gamma=True)", (4, 6), {"mean", "gamma", "beta"}),
    ("Norm('n c h w -> n h w', 'h w', bias=False)", IMAGES, {"mean", "gamma"}),
    ("Norm('n (g k) h w -> n g', None, center=False, sizes={'g': 2})", IMAGES, set()),
]


def programs(layer, shape):
    e = explain(layer, shape)
    for flavor in FLAVORS:
        try:
            text = e.code(flavor)
        except NormvizError:  # torch.nn has no such layer
            continue
        script = "markedLines(args[0], termsOf(args[1]), args[2]).map((line) => line.map(({ text, lights }) => [text, lights]))"
        yield flavor, text, evaluate(script, text, whole_formula(e), flavor == "loops")


def lights(layer, shape, flavor):
    """(text, term) of each marked part."""
    (lines,) = (lines for name, _text, lines in programs(layer, shape) if name == flavor)
    return [(text, term) for line in lines for text, term in line if term]


@pytest.mark.parametrize(("layer", "shape", "has"), LAYERS)
def test_the_programs_and_the_formula_of_a_layer_have_its_terms_and_no_others(layer, shape, has):
    terms = has | {"x", "var", "eps", "output"}
    assert {token.number for token in whole_formula(explain(layer, shape))} - {""} == terms
    for flavor, text, lines in programs(layer, shape):
        assert "\n".join("".join(part for part, _term in line) for line in lines) == text
        found = {term for line in lines for _part, term in line} - {""}
        assert found <= terms
        if flavor in ("torch-scratch", "numpy", "einops"):
            assert found == terms


TERM_OF_TEXT = [
    # layer, flavor, a part of the program, the terms that it lights at its places
    ("BatchNorm2d(4)", "torch-scratch", "dim=(0, 2, 3)", ["mean", "var"]),
    ("BatchNorm2d(4)", "torch-scratch", "keepdim=True", ["mean", "var"]),
    ("BatchNorm2d(4)", "torch-scratch", "1e-05", ["eps"]),
    ("BatchNorm2d(4)", "torch-scratch", "gamma.reshape(1, 4, 1, 1)", ["gamma"]),
    ("RMSNorm(5)", "torch-scratch", "dim=(3,)", ["var"]),
    ("RMSNorm(5)", "torch-scratch", "torch.finfo(x.dtype).eps", ["eps"]),
    ("BatchNorm2d(4).eval()", "numpy", "running_var.reshape(1, 4, 1, 1)", ["var"]),
    ("GroupNorm(2, 4)", "einops", '"n (g k) h w -> n g"', ["mean", "var"]),
    ("GroupNorm(2, 4)", "einops", '"(g k) -> n (g k) h w"', ["gamma", "beta"]),
    ("GroupNorm(2, 4)", "einops", "h=3", ["mean", "var", "gamma", "beta"]),
    ("RMSNorm(5)", "einops", '"n c h w -> n c h"', ["var"]),
    ("GroupNorm(2, 4)", "torch", "2", ["mean"]),
    ("GroupNorm(2, 4)", "torch", "4", ["gamma"]),
    ("LayerNorm([3, 5], eps=0.1)", "torch", "[3, 5]", ["mean"]),
    ("LayerNorm([3, 5], eps=0.1)", "torch", "eps=0.1", ["eps"]),
    ("BatchNorm2d(4)", "keras", "axis=1", ["mean"]),
    ("LayerNorm([4, 3, 5], bias=False)", "flax", "reduction_axes=(1, 2, 3)", ["mean"]),
    ("LayerNorm([4, 3, 5], bias=False)", "flax", "feature_axes=(1, 2, 3)", ["gamma"]),
    ("LayerNorm([4, 3, 5], bias=False)", "flax", "use_bias=False", []),  # there is no beta
    ("GroupNorm(2, 4)", "loops", "x[n, g * K + k, h, w]", ["x"]),
    ("GroupNorm(2, 4)", "loops", "for g in range(G):", ["mean"]),
    ("GroupNorm(2, 4)", "loops", "for k in range(K) for h in range(H) for w in range(W)", ["mean"]),
    ("RMSNorm(5)", "loops", "for w in range(W)", ["var"]),
    ("BatchNorm2d(4).eval()", "loops", "running_var[c]", ["var"]),
    ("BatchNorm2d(4)", "loops", "# then gamma and beta: one for each c", ["gamma"]),
]


@pytest.mark.parametrize(("layer", "flavor", "text", "terms"), TERM_OF_TEXT)
def test_an_argument_lights_what_it_decides(layer, flavor, text, terms):
    assert [term for part, term in lights(layer, IMAGES, flavor) if part == text] == terms


@pytest.mark.parametrize(("layer", "shape", "has"), LAYERS)
def test_the_page_names_the_flavor_of_every_program(layer, shape, has):
    html = code_parts(explain(layer, shape)).html(Body())
    assert set(re.findall(r'<code data-flavor="([\w-]+)">', html)) == {flavor for flavor, *_ in programs(layer, shape)}


def test_an_axis_named_like_a_word_of_the_program_keeps_the_program_as_it_is():
    for norm in (Norm("b x mean -> b", "mean"), Norm("gamma var -> gamma", "var")):
        shape = (2, 3, 4)[: len(norm.axes)]
        for _flavor, text, lines in programs(norm, shape):
            assert "\n".join("".join(part for part, _term in line) for line in lines) == text
