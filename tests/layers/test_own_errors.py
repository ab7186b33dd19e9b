"""Errors of layers that torch.nn does not have, and their remedies."""

import re

import pytest

from normviz import explain
from normviz.texts.errors import NormvizError

OWN_RULES = [
    (
        "ChannelsFirstLayerNorm(4)",
        (2, 3, 5),
        "ChannelsFirstLayerNorm has num_channels=4, and axis 1 of x, its channel axis, has size 3 in (2, 3, 5); "
        "write ChannelsFirstLayerNorm(3), or move the channels to axis 1.",
    ),
    (
        "ChannelsFirstLayerNorm(4)",
        (4,),
        "ChannelsFirstLayerNorm takes an x of rank 2 or higher, and this x has rank 1, shape (4,).",
    ),
    (
        "DimNorm(4, dim=0)",
        (2, 3),
        "DimNorm has num_features=4, and axis 1 of x, its channel axis, has size 3 in (2, 3); "
        "write DimNorm(3, dim=0), or move the channels to axis 1.",
    ),
    ("DimNorm(3, dim=2)", (2, 3), "dim=2 is not an axis of a tensor of rank 2; give one from -2 to 1."),
]


@pytest.mark.parametrize(("text", "shape", "message"), OWN_RULES)
def test_errors_of_layers_that_torch_does_not_have(text, shape, message):
    with pytest.raises(NormvizError, match=re.escape(message)) as caught:
        explain(text, shape)
    assert "torch refuses" not in str(caught.value)


def test_the_remedy_keeps_the_other_arguments():
    with pytest.raises(
        NormvizError, match=re.escape("write BatchNorm2d(3, affine=False), or move the channels to axis 1")
    ):
        explain("BatchNorm2d(4, affine=False)", (2, 3, 5, 5))
