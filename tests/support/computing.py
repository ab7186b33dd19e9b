"""torch's floating-point types by short names, and whether torch computes a layer."""

import torch

from normviz.analysis.description import describe
from normviz.texts.errors import NormvizError

HALF, BF16, FLOAT, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64


def runs(layer, shape):
    try:
        describe(layer, shape)
    except NormvizError:
        return False
    return True
