"""Text that is not a layer raises an error with the rule, and is not run."""

import contextlib
import re
import sys
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch

NAMES = [*KINDS, "Norm"]
ILLEGAL = [
    # arguments
    ("LayerNorm()", "LayerNorm needs normalized_shape, as in LayerNorm([3, 4, 4])."),
    ("RMSNorm()", "RMSNorm needs normalized_shape, as in RMSNorm(4)."),
    ("GroupNorm(2)", "GroupNorm needs num_channels, as in GroupNorm(2, 4)."),
    ("BatchNorm3d()", "BatchNorm3d needs num_features, as in BatchNorm3d(3)."),
    ("InstanceNorm1d()", "InstanceNorm1d needs num_features, as in InstanceNorm1d(3)."),
    ("SyncBatchNorm()", "SyncBatchNorm needs num_features, as in SyncBatchNorm(3)."),
    ("ChannelsFirstLayerNorm()", "ChannelsFirstLayerNorm needs num_channels, as in ChannelsFirstLayerNorm(3)."),
    ("DimNorm()", "DimNorm needs num_features, as in DimNorm(3, dim=0)."),
    ("GroupNorm(2, 4, 1e-5, True, True)", "GroupNorm takes at most 4 positional arguments and got 5; it takes num_groups, num_channels, eps and affine."),
    ("GroupNorm(2, num_groups=2)", "GroupNorm got num_groups twice; give it once."),
    ("LayerNorm(3, dim=1)", "LayerNorm has no argument 'dim'; it takes normalized_shape, eps, elementwise_affine, bias and zero_centered_gamma."),
    ("RMSNorm(3, bias=True)", "RMSNorm has no argument 'bias'; it takes normalized_shape, eps, elementwise_affine and zero_centered_gamma."),
    ("LayerNorm(3, dtype='float16')", "LayerNorm has no argument 'dtype'"),
    ("BatchNorm2d(0)", "num_features=0 must be a whole number of at least 1."),
    ("BatchNorm2d(-3)", "num_features=-3 must be a whole number of at least 1."),
    ("BatchNorm2d(3.0)", "num_features=3.0 must be a whole number of at least 1."),
    ("BatchNorm2d(True)", "num_features=True must be a whole number of at least 1."),
    ("BatchNorm2d(2**3)", "'BatchNorm2d(2**3)' has an argument that is not a literal; write numbers, lists, True, False or None"),
    ("BatchNorm2d('3')", "num_features='3' must be a whole number of at least 1."),
    (f"BatchNorm2d({2**40 + 1})", "num_features=1099511627777 must be a whole number from 1 to 1,099,511,627,776."),
    ("LayerNorm([])", "normalized_shape=[] must be a size or a list of the last sizes of x, each at least 1, as in [3, 4, 4]."),
    ("LayerNorm([3, 0])", "normalized_shape=[3, 0] must be a size or a list"),
    ("LayerNorm([[3]])", "normalized_shape=[[3]] must be a size or a list"),
    ("LayerNorm('34')", "normalized_shape='34' must be a size or a list"),
    ("LayerNorm(None)", "normalized_shape=None must be a size or a list"),
    ("LayerNorm({3})", "normalized_shape={3} must be a size or a list"),
    ("LayerNorm(" + str([1] * 65) + ")", "must be a size or a list of the last sizes of x"),
    ("LayerNorm(3, bias=1)", "bias=1 must be True or False."),
    ("LayerNorm(3, elementwise_affine='no')", "elementwise_affine='no' must be True or False."),
    ("LayerNorm(3, eps=1e999)", "eps=inf must be a finite number, such as 1e-5."),
    ("LayerNorm(3, eps=-1e999)", "eps=-inf must be a finite number"),
    ("LayerNorm(3, eps=None)", "eps=None must be a finite number"),
    ("LayerNorm(3, eps=True)", "eps=True must be a finite number"),
    ("LayerNorm(3, eps=1j)", "eps=1j must be a finite number"),
    ("RMSNorm(3, eps='1')", "eps='1' must be a finite number"),
    ("BatchNorm2d(3, momentum=2)", "momentum=2 must be a number from 0 to 1, or None for a cumulative average."),
    ("BatchNorm2d(3, momentum='x')", "momentum='x' must be a number from 0 to 1"),
    ("DimNorm(3, dim=0.5)", "dim=0.5 must be the number of an axis, such as 0 or -1."),
    ("DimNorm(3, dim=65)", "dim=65 must be the number of an axis"),
    ("Norm()", "'Norm()' is not a Norm; it takes stats, params, center, eps, bias, running, sizes and zero_centered_gamma, as in Norm('n c h w -> n h w', 'c')."),
    ("Norm('n -> n', dim=3)", "is not a Norm; it takes stats, params"),
    ("Norm(3)", "3 is not a pattern"),
    ("Norm(['n'])", "['n'] is not a pattern"),
    # names
    ("Linear(3)", "'Linear' is not a layer of the catalogue, which has LayerNorm, "),
    ("layernorm(3)", "'layernorm' is not a layer of the catalogue"),
    ("nn.eval()", "'eval' is not a layer of the catalogue"),
    ("F.layer_norm(3)", "'F.layer_norm(3)' is not a layer; write a constructor with literals, as in LayerNorm([3, 4, 4]), GroupNorm(2, 4) or BatchNorm2d(3).eval()."),
    ("LayerNorm", "LayerNorm needs normalized_shape, as in LayerNorm"),
    ("LayerNorm[3]", "is not a layer; write a constructor"),
    ("", "'' is not a layer; write a constructor"),
    ("LayerNorm(3", "'LayerNorm(3' is not a layer; write a constructor"),
    ("LayerNorm(3).half()", "'LayerNorm(3).half()' is not a layer; write a constructor"),
    ("LayerNorm(3).eval().eval()", "is not a layer; write a constructor"),
    ("LayerNorm(3).train(False)", "is not a layer; write a constructor"),
    ("Norm('n c -> n').eval()", "a Norm has no .eval(); write running=True in it if it uses running statistics."),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("text", "message"), ILLEGAL)
def test_an_invalid_call_raises_an_error_with_the_rule(text, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.parse(text)


@pytest.mark.parametrize("value", [None, 3, ["LayerNorm(3)"], b"LayerNorm(3)"])
def test_a_value_that_is_not_a_text_raises_an_error(value):
    with pytest.raises(NormvizError, match=re.escape(f"{value!r} is not a layer; write a constructor with literals")):
        Layer.parse(value)


def test_the_message_for_an_unknown_layer_lists_the_catalogue():
    listed = ", ".join(NAMES[:-1]) + " and Norm."
    with pytest.raises(NormvizError, match=re.escape(f"'Conv2d' is not a layer of the catalogue, which has {listed}")):
        Layer.make("Conv2d")


MARK = "import sys; sys.stolen = True"
HOSTILE = [
    "__import__('os').system('x')",
    "LayerNorm(__import__('os').system('x'))",
    f"LayerNorm(exec({MARK!r}))",
    f"exec({MARK!r})",
    "LayerNorm((lambda: 3)())",
    "(lambda: LayerNorm)()(3)",
    "LayerNorm(f'{1+1}')",
    "LayerNorm([i for i in range(3)])",
    "LayerNorm(*[3])",
    "LayerNorm(**{})",
    "LayerNorm(**{'eps': 1})",
    "LayerNorm(3, **{'eps': 1})",
    "LayerNorm(x := 3)",
    "LayerNorm(3 if True else 4)",
    "LayerNorm(().__class__.__bases__[0].__subclasses__())",
    "LayerNorm.__init__.__globals__['sys'](3)",
    "nn.functional.LayerNorm(3)",
    "nn.nn.LayerNorm(3)",
    "os.LayerNorm(3)",
    "a." * 240 + "LayerNorm(3)",
    "nn" + ".nn" * 150 + ".LayerNorm(3)",
    "LayerNorm(" + "(" * 80 + "3" + ")" * 80 + ")" * 0,
    "LayerNorm(" + "[" * 199 + "]" * 199 + ")",
    "LayerNorm(" + "(" * 245 + ")" * 245 + ")",
    "f(" * 160 + ")" * 160,
    "LayerNorm(" + "-" * 480 + "1)",
    "LayerNorm(" + "not " * 120 + "1)",
    "LayerNorm(" + "1+" * 240 + "1)",
    "LayerNorm(" + "3, " * 160 + ")",
    "L" * 10_000 + "(3)",
    "LayerNorm(3)" + " " * 10_000,
    "LayerNorm(" + "9" * 400 + ")",
    "LayerNorm(3, eps=" + "9" * 400 + ")",
    "BatchNorm2d(3, momentum=" + "9" * 400 + ")",
    "DimNorm(3, dim=" + "9" * 400 + ")",
    "DimNorm(3, dim=-" + "9" * 400 + ")",
    "Norm('n -> n', eps=" + "9" * 400 + ")",
    "Norm('n (g k) -> n', sizes={'g': " + "9" * 400 + "}, params='z z')",
    "LayerNorm(0x" + "f" * 400 + ")",
    "LayerNorm(3\x00)",
    "\x00",
    "LayerNorm(３)",
    "ＬayerNorm(",
    "LayerNorm(3)\nLayerNorm(4)",
    "LayerNorm(3); import os",
    "LayerNorm(3) or LayerNorm(4)",
    "LayerNorm(3),",
    "LayerNorm(3) # eval",
    "LayerNorm({[]: 1})",
    "LayerNorm({**{}})",
    "LayerNorm(b'3')",
    "LayerNorm(...)",
    "LayerNorm('\\N{nothing}')",
    "\ud800LayerNorm(3)",
    "LayerNorm('\ud800')",
    "await LayerNorm(3)",
    "(yield)",
    "print(LayerNorm(3))",
    "LayerNorm(print('x'))",
    "LayerNorm(3)(4)",
    "LayerNorm(3).eval.eval()",
    "LayerNorm(3).__class__()",
    "nn.LayerNorm(3).eval().__class__.eval()",
]
LEGAL_AFTER_ALL = {"LayerNorm(3) # eval"}


@pytest.mark.parametrize("text", [text for text in HOSTILE if text not in LEGAL_AFTER_ALL], ids=range(len(HOSTILE) - 1))
def test_hostile_text_raises_an_error_and_is_not_run(text):
    with pytest.raises(NormvizError):
        Layer.parse(text)
    assert not hasattr(sys, "stolen")


def test_hostile_text_raises_an_error_near_the_recursion_limit():
    def deep(levels):
        if levels:
            return deep(levels - 1)
        with pytest.raises(NormvizError):
            Layer.parse("nn" + ".nn" * 155 + ".LayerNorm(7)")
        with pytest.raises(NormvizError):
            Layer.parse("LayerNorm(" + "[" * 190 + "]" * 190 + ", 7)")
        return None

    deep(sys.getrecursionlimit() // 2)


@given(st.text(max_size=60) | st.text("LayerNorm()[]3,=e-'*.: \n", max_size=60))
@example("LayerNorm(\\")
def test_any_text_gives_a_layer_or_a_normviz_error(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        with contextlib.suppress(NormvizError):
            assert isinstance(Layer.parse(text), Layer | Norm)


@pytest.mark.parametrize("name", KINDS)
@given(
    value=st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(-1, 5))
)
def test_any_literal_gives_an_argument_or_a_normviz_error(name, value):
    defaults = Layer.make(name, *[2 for argument in KINDS[name].sizes if argument.takes != "axis"]).given
    for argument in KINDS[name].arguments:
        try:
            layer = Layer.make(name, **defaults | {argument.name: value})
        except NormvizError:
            continue
        assert Layer.parse(str(layer)) == layer
