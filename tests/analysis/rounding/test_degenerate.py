import re
from math import nan

import pytest
import torch

from normviz import Layer, NormvizError, explain
from normviz.analysis.rounding import BETA, CONSTANT, DTYPES, GAMMA, SINGLE, constant_groups, single_elements
from normviz.layers.catalogue import KINDS
from tests.support.needs import cases_in_torch
from tests.support.strategies import IN_TORCH


@pytest.mark.parametrize("cases", [CONSTANT, SINGLE])
def test_every_layer_of_the_catalogue_is_there(cases):
    assert {Layer.parse(text).name for text, _ in cases} == {
        name for name, kind in KINDS.items() if not kind.channels_last
    }


def test_the_groups_of_one_element_have_one():
    for text, shape in SINGLE:
        layer = Layer.parse(text)
        training = Layer.make(layer.name, **layer.given)
        norm = training.norm(tuple("abcde"[: len(shape)]))
        sizes = norm.axis_sizes(shape)
        assert all(sizes[name] == 1 for name in norm.pattern.reduced), text


# A constant c: the error of its mean is at most m + 8 roundings of c, and 1 / sqrt(eps) multiplies it.


@pytest.mark.parametrize("value", [3.0, -3.0, 0.1, 1234.567])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_output_for_a_constant(dtype, value):
    for d in constant_groups(value, dtype):
        layer = Layer.parse(d.layer)
        roundings = 64 * torch.finfo(torch.promote_types(DTYPES[dtype], torch.float32)).eps / 2
        noise = GAMMA * roundings * abs(value) / layer.given["eps"] ** 0.5 if layer.given["eps"] else 0
        noise += torch.finfo(DTYPES[dtype]).eps * (GAMMA + BETA)
        assert d.refusal is None
        assert d.x.unique().tolist() == [float(torch.tensor(value, dtype=DTYPES[dtype]))]
        if not layer.kind.center:
            assert d.from_sign <= 2 * torch.finfo(DTYPES[dtype]).eps * GAMMA + 1e-4
            assert d.from_beta >= GAMMA - 0.1
        elif layer.training:
            assert d.from_beta <= noise, d
        else:
            assert d.from_beta == pytest.approx(GAMMA * abs(value), rel=0.01)  # eval: (c - 0) / 1


def test_small_whole_constants_give_beta_exactly():
    for d in constant_groups(0.0):
        assert d.from_beta == 0
        assert (d.output == d.beta).all()
    layer_norm = next(d for d in constant_groups(3.0) if d.layer.startswith("LayerNorm"))
    assert (layer_norm.output == BETA).all()
    assert layer_norm.from_sign == GAMMA


# Groups of one element

GIVES_BETA = {"LayerNorm(1)", "ChannelsFirstLayerNorm(1)", "DimNorm(4, dim=0)"}


def noise(d, dtype):
    """8 roundings of float32 of x / sigma, and one of the output to its type."""
    of_output = torch.finfo(DTYPES[dtype]).eps * (BETA + d.from_beta)
    return 8 * torch.finfo(torch.float32).eps * GAMMA * float(d.x.abs().max()) / 1e-5**0.5 + of_output


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_output_for_one_element(dtype):
    for d in single_elements(dtype=dtype):
        layer = Layer.parse(d.layer)
        if d.refusal:
            assert d.output is d.from_beta is d.from_sign is None
        elif d.layer == "LayerNorm(1)" and dtype in (
            "float16",
            "bfloat16",
        ):  # torch's kernel for half precision takes x / s - mean / s
            assert d.from_beta <= noise(d, dtype)
        elif d.layer in GIVES_BETA:
            assert d.from_beta == 0
        elif d.layer == "RMSNorm(1)":
            assert d.from_sign <= torch.finfo(DTYPES[dtype]).eps * GAMMA
        elif d.layer == "GroupNorm(4, 4)":
            assert d.from_beta <= noise(d, dtype)
        else:
            assert not layer.training
            assert d.from_beta > 100  # running statistics: x itself


def test_which_layers_refuse_one_element():
    refused = {(d.layer, d.shape): d for d in single_elements() if d.refusal}
    for (text, shape), d in refused.items():
        assert d.refusal.startswith("Expected more than 1 ")
        if "InstanceNorm" in text:
            assert (
                d.refusal
                == f"Expected more than 1 spatial element when training, got input size torch.Size({[*shape]})"
            )
        with pytest.raises(NormvizError, match=re.escape(d.refusal)):
            explain(text, shape)
    accepted = {text for text, shape in SINGLE if (text, shape) not in refused}
    assert {text.split("(")[0] for text, _ in refused} == {
        name for name in IN_TORCH if "Batch" in name or "Instance" in name
    } | {"GroupNorm"}
    assert accepted >= GIVES_BETA | {"RMSNorm(1)", "BatchNorm1d(4).eval()", "GroupNorm(4, 4)"}
    for text, shape in SINGLE:
        if (text, shape) not in refused:
            explain(text, shape)


def test_the_same_seed_gives_the_same_numbers():
    one, other = (single_elements(seed=3) for _ in range(2))
    assert all(torch.equal(a.x, b.x) for a, b in zip(one, other, strict=True))
    assert not torch.equal(one[0].x, single_elements(seed=4)[0].x)


REFUSED = [
    (constant_groups, {"value": nan}, "value=nan must be a number from -1e\\+30 to 1e\\+30"),
    (constant_groups, {"value": 1e31}, "must be a number from -1e\\+30 to 1e\\+30"),
    (
        constant_groups,
        {"value": 1e5, "dtype": "float16"},
        "value=100000 is too large for float16, whose largest number is 65504",
    ),
    (constant_groups, {"dtype": "float"}, "dtype='float' is unknown"),
    (single_elements, {"scale": -1}, "scale=-1 must be a number from 0 to 10000"),
    (single_elements, {"seed": "0"}, "seed='0' must be a whole number"),
]


@cases_in_torch
@pytest.mark.parametrize(("compute", "settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_invalid_arguments(compute, settings, words):
    with pytest.raises(NormvizError, match=words):
        compute(**settings)
