"""Errors of layers of torch.nn: there is one exactly if torch raises one, and it quotes and explains it."""

import re

import pytest
from hypothesis import given, settings

from normviz import explain
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError
from tests.layers.refusals import REFUSALS, common, quoted, torch_error
from tests.support.strategies import IN_TORCH, layers_that_may_not_fit


@pytest.mark.parametrize(("text", "shape", "words", "meaning"), REFUSALS, ids=[f"{r[0]} on {r[1]}" for r in REFUSALS])
def test_an_error_quotes_torch_and_explains_it(text, shape, words, meaning):
    layer = Layer.parse(text)
    theirs = torch_error(layer, shape)
    words = common(words, theirs)
    with pytest.raises(NormvizError, match=re.escape(meaning)) as caught:
        explain(layer, shape)
    assert str(caught.value).startswith(f'torch refuses: "{words}')
    assert quoted(str(caught.value)) in theirs


SILENT = [
    ("LayerNorm([2, 3])", (2, 3)),
    ("LayerNorm(1)", (1,)),
    ("LayerNorm(3, eps=0)", (2, 3)),
    ("GroupNorm(2, 2)", (2, 2)),
    ("GroupNorm(2, 6, affine=False)", (2, 4, 3)),
    ("BatchNorm1d(7, affine=False, track_running_stats=False)", (2, 3)),
    ("BatchNorm1d(3).eval()", (1, 3)),
    ("BatchNorm1d(3, eps=0).eval()", (2, 3)),
    ("LayerNorm(3, eps=-0.5)", (2, 3)),
    ("RMSNorm(3, eps=-0.5)", (2, 3)),
    ("GroupNorm(1, 3, eps=-0.5)", (2, 3)),
    ("InstanceNorm1d(3, eps=-0.5)", (3, 4)),
    ("InstanceNorm1d(3, eps=-0.5, track_running_stats=True).eval()", (3, 4)),
    ("BatchNorm1d(2)", (2, 2, 1)),
    ("SyncBatchNorm(3)", (2, 3, 1, 1, 1, 1, 2)),
    ("InstanceNorm1d(7)", (2, 3, 4)),
    ("InstanceNorm1d(3, eps=0)", (3, 4)),
    ("InstanceNorm1d(3, track_running_stats=True).eval()", (3, 1)),
    ("RMSNorm([3, 4])", (3, 4)),
]


@pytest.mark.parametrize(("text", "shape"), SILENT)
def test_there_is_no_error_if_torch_runs(text, shape):
    layer = Layer.parse(text)
    assert torch_error(layer, shape) is None
    check(layer, shape)


@pytest.mark.parametrize("name", IN_TORCH)
def test_there_is_an_error_exactly_if_torch_raises_one_and_it_quotes_torch(name):
    both = {True: 0, False: 0}

    @settings(max_examples=250)
    @given(layers_that_may_not_fit((name,)))
    def compare(drawn):
        layer, shape = drawn
        theirs, ours = torch_error(layer, shape), normviz_error(layer, shape)
        assert (theirs is None) == (ours is None), (theirs, ours)
        if ours is not None:
            assert quoted(ours) in theirs
        both[ours is None] += 1

    compare()
    assert min(both.values()) > 10, "the draw should hold layers that run and layers that do not"


def normviz_error(layer, shape):
    try:
        check(layer, shape)
    except NormvizError as refused:
        return str(refused)
    return None
