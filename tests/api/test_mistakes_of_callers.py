"""Typical mistakes of callers of the library: each is one short error that says what to write. Those of the command are in tests/cli."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv

X = torch.ones(2, 3, 4, 4)
E = nv.explain("LayerNorm(4)", (2, 4))
NORMS = nv.norms(nn.Sequential(nn.BatchNorm2d(3)), X)

MISTAKES = {
    # in the place of a layer
    "a class": (lambda: nv.explain(nn.BatchNorm2d, X), "BatchNorm2d is a class; make an object of it, as in nn.BatchNorm2d(3)."),
    "a class on a page": (lambda: nv.explore(nn.LayerNorm), "as in nn.LayerNorm([4, 3, 5])."),
    "a class in a comparison": (lambda: nv.compare([nn.GroupNorm, "LayerNorm(4)"]), "as in nn.GroupNorm(2, 4)."),
    "a class as like": (lambda: nv.check(nn.LayerNorm(4), (2, 4), like=nn.LayerNorm), "LayerNorm is a class"),
    "a class as a Layer": (lambda: nv.Layer.of(nn.LayerNorm), "LayerNorm is a class"),
    "a class as a function": (lambda: nv.check(nn.LayerNorm, (2, 4)), "LayerNorm is a class"),
    "a class as a model": (lambda: nv.norms(nn.Transformer, X), "Transformer is a class; make an object of it, as in Transformer(...)."),
    "a name": (lambda: nv.explain("LayerNorm", X), "LayerNorm needs normalized_shape, as in LayerNorm([3, 4, 4])."),
    "a name and another shape": (lambda: nv.explain("GroupNorm", (2, 12, 7)), "as in GroupNorm(2, 12)."),
    "a class and another shape": (lambda: nv.steps(nn.BatchNorm1d, (2, 7)), "as in nn.BatchNorm1d(7)."),
    "a name that takes no such x": (lambda: nv.explain("BatchNorm2d", (2, 7)), "as in BatchNorm2d(3)."),
    "a name on too few axes": (lambda: nv.explain("BatchNorm2d", (3,), layout="C"), "as in BatchNorm2d(3)."),
    "a name in a comparison": (lambda: nv.compare(["BatchNorm1d", "LayerNorm(7)"], (2, 7)), "as in BatchNorm1d(7)."),
    "a name as like on a shape": (lambda: nv.check(nn.LayerNorm(7), (2, 7), like="LayerNorm"), "as in LayerNorm([7])."),
    "a name with a prefix": (lambda: nv.explain("nn.GroupNorm", X), "GroupNorm needs num_groups, as in GroupNorm(3, 3)."),
    "a name as like": (lambda: nv.check(nn.LayerNorm(4), (2, 4), like="BatchNorm1d"), "as in BatchNorm1d(4)."),
    "a family": (lambda: nv.explain("BatchNorm", X), "Did you mean BatchNorm1d, BatchNorm2d,"),
    "lower case": (lambda: nv.explain("layernorm(4)", (2, 4)), "Did you mean LayerNorm?"),
    "a layer of another kind": (lambda: nv.explain("Conv2d(3,4,1)", X), "is not a layer of the catalogue, which has LayerNorm,"),
    "a lambda": (lambda: nv.explain(lambda x: x, (2, 3)), "<lambda> is a function, not a layer; use nv.check(fn, x) to measure"),
    "a function of torch": (lambda: nv.steps(F.layer_norm, X), "layer_norm is a function, not a layer; use nv.check(fn, x)"),
    "x before the layer": (lambda: nv.explain(X, "LayerNorm(4)"), "is no layer; give the layer first, and then x."),
    "a shape before the layer": (lambda: nv.explain((2, 4), "LayerNorm(4)"), "layer=(2, 4) is no layer; give the layer first"),
    "a list": (lambda: nv.explain(["LayerNorm(4)"], X), "give one layer, or use nv.compare(layers, x)."),
    "one layer to compare": (lambda: nv.compare("LayerNorm(4)", (2, 4)), "a comparison takes 2 to 6 layers and got 'LayerNorm(4)'; give a list"),
    "one module to compare": (lambda: nv.compare(nn.LayerNorm(4), (2, 4)), "takes 2 to 6 layers and got LayerNorm((4,), eps=1e-05"),
    "a class to compare": (lambda: nv.compare(nn.LayerNorm, (2, 4)), "LayerNorm is a class; make an object of it"),
    "no layers to compare": (lambda: nv.compare(None, (2, 4)), "got None; give a list of them."),
    "layers without a list": (lambda: nv.compare("LayerNorm(4)", "RMSNorm(4)", (2, 4)), "has no place for (2, 4); write compare(layers, x,"),
    "no layer on a page": (lambda: nv.explore(None), "layer=None is not a layer; give a torch.nn module"),
    "no layer for a widget": (lambda: nv.live(None), "layer=None is not a layer; give a torch.nn module"),
    "no layer": (lambda: nv.explain(None, X), "layer=None is not a layer; give a torch.nn module"),
    "a model": (lambda: nv.explain(nn.Sequential(nn.BatchNorm2d(3)), X), "list all with nv.norms(model, x)."),
    "a text as a module": (lambda: nv.Layer.of("LayerNorm(4)"), "'LayerNorm(4)' is not a module of torch.nn; use Layer.parse for a text."),
    "a class as a name": (lambda: nv.Layer.make(nn.LayerNorm, 4), "LayerNorm is a class"),
    "a Layer by hand": (lambda: nv.Layer("LayerNorm", ()), "write Layer.parse('LayerNorm(4)')."),
    "an argument of another layer": (lambda: nv.explain("LayerNorm(4, momentum=0.1)", (2, 4)), "LayerNorm has no argument 'momentum'; it takes"),
    "a decimal comma": (lambda: nv.explain("LayerNorm(4, eps=0,001)", (2, 4)), "Write eps=0.001."),
    # in the place of x
    "sizes one by one": (lambda: nv.explain("BatchNorm2d(3)", 2, 3, 4, 4), "explain takes the shape as one tuple; write (2, 3, 4, 4)."),
    "sizes of a check": (lambda: nv.check(nn.LayerNorm(4), 2, 4), "check takes the shape as one tuple; write (2, 4)."),
    "sizes on a page": (lambda: nv.explore("LayerNorm(4)", 2, 4), "explore takes the shape as one tuple; write (2, 4)."),
    "sizes of a comparison": (lambda: nv.compare(["LayerNorm(4)", "RMSNorm(4)"], 2, 4), "one tuple; write (2, 4)."),
    "sizes of a widget": (lambda: nv.live("steps", "LayerNorm(4)", 2, 4), "live takes the shape as one tuple; write (2, 4)."),
    "sizes of a model's input": (lambda: nv.norms(nn.LayerNorm(4), 2, 4), "not shapes; give torch.randn(2, 4)."),
    "no x": (lambda: nv.explain("LayerNorm(4)"), "explain needs x, as in explain(layer, x)."),
    "x by another name": (lambda: nv.explain("LayerNorm(4)", shape=(2, 4)), "explain has no argument shape; it takes layer, x and layout."),
    "x twice": (lambda: nv.explain("LayerNorm(4)", (2, 4), x=(2, 4)), "explain got x twice; give it once."),
    "a misspelt keyword": (lambda: nv.check(nn.LayerNorm(4), (2, 4), lik="LayerNorm(4)"), "check has no argument lik. Did you mean like?"),
    "a layout without its name": (lambda: nv.explain("LayerNorm(4)", (2, 4), "NC"), "no place for 'NC'; write explain(layer, x, layout=...)."),
    "one size": (lambda: nv.explain("LayerNorm(4)", 4), "x=4 is neither a shape (a tuple of sizes) nor a tensor or NumPy array."),
    "a shape as text": (lambda: nv.explain("LayerNorm(4)", "2,4"), "x='2,4' is neither a shape"),
    "integers": (lambda: nv.explain("LayerNorm(4)", torch.ones(2, 4, dtype=torch.int64)), "convert with x.float()."),
    "an array of integers": (lambda: nv.explain("LayerNorm(4)", np.ones((2, 4), int)), "convert with x.astype('float32')."),
    "other channels": (lambda: nv.explain("BatchNorm2d(4)", X), "torch refuses:"),
    "another rank": (lambda: nv.explain("BatchNorm2d(4)", (2, 4)), "torch refuses:"),
    "a layout of another rank": (lambda: nv.explain("LayerNorm(4)", (2, 4), layout="NCHW"), "has rank 4 and x has rank 2"),
    # of an explanation
    "pytorch": (lambda: E.code("pytorch"), "'pytorch' is not a flavor of code. Did you mean torch?"),
    "jax": (lambda: E.code("jax"), "Did you mean flax?"),
    "another flavor": (lambda: E.code("c"), "choose torch, torch-scratch, numpy, einops, loops, keras or flax."),
    "a theme": (lambda: E.figure("black"), "'black' is not a theme; choose light or dark."),
    "an option": (lambda: E.output(thme="dark"), "thme='dark' is not an option of an output; choose theme,"),
    "values of a shape": (lambda: E.trace, "Give a tensor, such as torch.randn(2, 4)."),
    "an address that is none": (lambda: E.url(3), "base=3 is not a text."),
    "a caption that is none": (lambda: E.to_html(caption=0), "caption=0 is not a text."),
    "a script that is none": (lambda: E.to_html(plotlyjs=3), "plotlyjs=3 is not a location of plotly.js; write inline,"),
    "a word for full": (lambda: E.to_html(full="no"), "full='no' is not True or False."),
    "a file's name": (lambda: E.output().to_html("x.html"), "to_html has no place for 'x.html'; write to_html(full=..., theme=..., "),
    "a misspelt option of a file": (lambda: E.to_html(thme="dark"), "to_html has no argument thme. Did you mean theme?"),
    "an option without its name": (lambda: E.with_("dark"), "with_ has no place for 'dark'; write with_(name=...)."),
    "choices that are none": (lambda: nv.numerics().with_(choices=3), "choices=3 is not nv.Choices(...)."),
    "one shape as shapes": (lambda: nv.Choices(shapes=(2, 3)), "shapes=(2, 3) must be a tuple, such as ((2, 5),)."),
    "a text as layers": (lambda: nv.Choices(layers="LayerNorm(4)"), "must be a tuple, such as ('LayerNorm(4)',)."),
    "a tour's name": (lambda: nv.Choices(tour="x"), "tour='x' is not a Tour."),
    "an index outside": (lambda: E.peers(2, 4), "index (2, 4) is not an element of a tensor of shape (2, 4)"),
    "an index of another rank": (lambda: E.parameter_peers(1, 2, 3), "give one whole number for each axis"),
    # of a function
    "a text as a function": (lambda: nv.check("LayerNorm(4)", (2, 4)), "'LayerNorm(4)' is not a function of a tensor; give a function or a module."),
    "x before the function": (lambda: nv.check((2, 4), nn.LayerNorm(4)), "(2, 4) is not a function of a tensor"),
    "another shape": (lambda: nv.check(torch.sum, (3, 4)), "the function must return an output of the shape of x, (3, 4)"),
    "no return": (lambda: nv.check(lambda x: None, (3, 4)), "the function must return a tensor like x, and it returned None."),
    "a parameter without a value": (lambda: nv.check(lambda x, gamma: x, (3, 4)), "missing 1 required positional argument: 'gamma'"),
    "params without names": (lambda: nv.check(nn.LayerNorm(4), (2, 4), params=torch.ones(4)), "give a dictionary, such as params={'gamma': gamma}."),
    "one number as shapes": (lambda: nv.check(nn.LayerNorm(4), (2, 4), like="LayerNorm(4)", shapes=3), "shapes has 3, which is no shape"),
    "a class as backward": (lambda: nv.check_backward(nn.LayerNorm, (2, 4), like="LayerNorm(4)", forward=lambda x: (x, x)), "LayerNorm is a class"),
    "no forward": (lambda: nv.check_backward(lambda d, c: d, (2, 4), "LayerNorm(4)"), "needs forward, as in check_backward(backward, x, like, forward=...)."),
    "forward without its name": (lambda: nv.check_backward(abs, (2, 4), "LayerNorm(4)", abs), "has no place for abs; write"),
    "no forward cache": (lambda: nv.check_backward(lambda d, c: d, (3, 4), like="LayerNorm(4)", forward=lambda x: x), "forward must return (out, cache)"),
    # of a model
    "no input": (lambda: nv.norms(nn.LayerNorm(4)), "the model got no inputs; give them too"),
    "a shape as input": (lambda: nv.norms(nn.LayerNorm(4), (2, 4)), "a model takes tensors, not shapes; give torch.randn(2, 4)."),
    "a text as a model": (lambda: nv.norms("LayerNorm(4)", X), "str is not a model; give a torch.nn.Module and its inputs."),
    "a row too many": (lambda: NORMS[5], "there is no row 5: the model has 1 normalization, with the number 0."),
    "a row by name": (lambda: NORMS["0"], "there is no row '0'"),
    "a view of such a row": (lambda: NORMS.explore(5), "there is no row 5"),
    "a model instead of its norms": (lambda: NORMS.diff(nn.LayerNorm(3)), "give one, as in a.diff(nv.norms(model, x))."),
    # of a page
    "a step": (lambda: nv.steps("LayerNorm(4)", (2, 4), step=99), "step=99 must be a whole number from 0 to 6."),
    "a step as text": (lambda: nv.steps("LayerNorm(4)", (2, 4), step="two"), "step='two' must be a whole number"),
    "a value without its name": (lambda: nv.numerics("float16"), "numerics has no place for 'float16'; write numerics(show=..., dtype=..., "),
    "from": (lambda: nv.explore("LayerNorm(4)", (2, 4), **{"from": (0, 0)}), "from is a word of Python; write from_=..."),
    "a seed that is true": (lambda: nv.explore("LayerNorm(4)", (2, 4), seed=True), "seed=True must be a whole number"),
    "a number as a question": (lambda: nv.questions(0), "q=0 is not a question"),
    "a list of questions": (lambda: nv.questions(["s0"]), "q=['s0'] is not a question"),
    "a number to hide": (lambda: nv.explore("LayerNorm(4)", (2, 4), hide=["code", 3]), "hide='3' is not the name of a control"),
    "a language by number": (lambda: nv.live("LayerNorm(4)", (2, 4), lang=3), "lang='3' is unknown; choose en,"),
    "a misspelt page of a widget": (lambda: nv.live("explor", "LayerNorm(4)", (2, 4)), "'explor' is no page. Did you mean explore?"),
    "a misspelt setting of a question": (lambda: nv.open("/questions?q=s0&shap=3"), "'shap' is not a setting of a link."),
    "a page": (lambda: nv.open("/compar"), "Did you mean compare?"),
    "a setting of a link": (lambda: nv.open("/?shap=2,3&layer=LayerNorm(3)"), "'shap' is not a setting of a link. Did you mean shape?"),
    "a pattern": (lambda: nv.Norm("n c"), "write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'."),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_short_error_with_its_remedy(mistake):
    call, words = MISTAKES[mistake]
    with pytest.raises(nv.NormvizError) as raised:
        call()
    text = str(raised.value)
    assert words in text
    assert "\n" not in text
    assert text.endswith((".", "?", "'gamma'"))
    assert " object at 0x" not in text
    assert "torch.nn.modules" not in text


def test_a_row_too_many_is_an_index_error_too():
    """So that code that expects a sequence works."""
    with pytest.raises(IndexError):
        NORMS[1]
    assert [row.name for row in NORMS] == ["0"] == [row.name for row in reversed(NORMS)]


WITHOUT_LIKE = {
    "It returns x unchanged.": lambda x: x,
    "It uses no statistics: each output is a*x + b.": lambda x: 2 * x,
    "It subtracts the mean, and does not divide by the standard deviation.": lambda x: x - x.mean(1, keepdim=True),
    "It divides by the variance, not by its root: the root is forgotten.": lambda x: (
        (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, correction=0) + 1e-5)
    ),
    "It divides by the mean of x^2, not by its root: the root is forgotten.": lambda x: (
        x / (x.square().mean(1, keepdim=True) + 1e-5)
    ),
}


@pytest.mark.parametrize("sentence", WITHOUT_LIKE)
def test_a_frequent_mistake_is_named_without_a_layer_to_compare_with(sentence):
    found = nv.check(WITHOUT_LIKE[sentence], (4, 6))
    assert [one.sentence for one in found.differences] == [sentence]
    assert found.differences[0].what == (
        "variance" if "root" in sentence or "divide" in sentence else "not_normalization"
    )


def test_an_element_is_named_by_a_tuple_or_by_numbers():
    assert E.peers(1, 2) == E.peers((1, 2)) == [(1, 0), (1, 1), (1, 3)]
    assert E.parameter_peers(1, 2) == E.parameter_peers((1, 2)) == [(0, 2)]
    assert nv.explain("LayerNorm(3)", (3,)).peers(-1) == [(0,), (1,)]


def test_in_a_plain_interpreter_results_are_sentences():
    e = nv.explain("LayerNorm(4)", torch.ones(2, 4))
    assert repr(e) == str(e)
    assert repr(e).startswith("LayerNorm([4]) on (2, 4): 2 means and 2 variances")
    layer = nv.Layer.parse("BatchNorm2d(3, momentum=None).eval()")
    assert repr(layer) == "Layer.parse('BatchNorm2d(3, momentum=None).eval()')"
    assert eval(repr(layer), {"Layer": nv.Layer}) == layer
    words = "LayerNorm([4]) on (2, 4) · Step by step · normviz: a page for a notebook; to_html() gives a file, url() a link."
    assert repr(nv.steps("LayerNorm(4)", (2, 4))) == repr(nv.live("steps", "LayerNorm(4)", (2, 4))) == words
    assert (
        repr(e.trace)
        == "Trace: mean and var of shape (2, 1), centered, normalized and output of shape (2, 4), eps=1e-05"
    )


def test_numbers_of_numpy_and_torch_are_numbers():
    shape = tuple(np.array([2, 4]))
    given = nv.explore("LayerNorm(4)", shape, values=np.arange(8.0), gamma=torch.tensor(0.5)).url()
    assert given == nv.explore("LayerNorm(4)", (2, 4), values=[*range(8)], gamma=0.5).url()
    assert "seed=3&" in nv.explore("LayerNorm(4)", (2, 4), seed=np.int64(3)).url()
    assert nv.check(nn.LayerNorm(4), (2, 4), like="LayerNorm(4)", shapes=[tuple(np.array([3, 4]))]).ok


def test_layers_to_compare_come_in_any_collection():
    texts = ["LayerNorm(4)", "BatchNorm1d(4)"]
    assert nv.compare((text for text in texts), (2, 4)).url() == nv.compare(texts, (2, 4)).url()


def test_a_call_that_python_refuses_is_a_type_error_too():
    for call in (nv.explain, lambda: nv.explore("LayerNorm(4)", 2, 4), lambda: E.to_html(thme="dark")):
        with pytest.raises(TypeError):
            call()


def test_traces_can_be_compared():
    traces = [nv.explain("LayerNorm(4)", torch.ones(2, 4)).trace for _ in range(2)]
    assert traces[0] == traces[0] != traces[1]
    assert len({*traces}) == 2
