"""What the answers on layers written by hand state."""

from __future__ import annotations

from inspect import signature

import pytest
import torch

from normviz.analysis.description import describe
from normviz.layers.layer import Layer
from normviz.lessons.compare.page import LOOPS, READY_SETS
from normviz.lessons.questions.facts import module_of, normal, output
from normviz.lessons.questions.topics.frameworks import WRONG
from tests.lessons.questions.statements.measure import Statements, nearly_equal


def s3c() -> Statements:
    e = describe("LayerNorm(5)", (4, 3, 5))
    return {"the pattern is n l c -> n l": e.norm.stats == "n l c -> n l"}


def s3() -> Statements:
    x = normal(4, 3, 5)
    permuted = output("BatchNorm1d(5)", x.transpose(1, 2)).transpose(1, 2)
    return {
        "BatchNorm1d is the pattern with one mean per feature": nearly_equal(
            output("ChannelsLastBatchNorm(5)", x), permuted
        ),
        "on flattened x BatchNorm1d(15) does what the loops do": nearly_equal(
            output("BatchNorm1d(15)", x.flatten(1)), output(LOOPS, x).flatten(1)
        ),
    }


def s3d() -> Statements:
    x = normal(3, 5, 2, 4)
    batch_norm = output("BatchNorm2d(4)", x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    return {
        "the compared pattern is torch's BatchNorm2d": nearly_equal(
            output(READY_SETS["dim-0"].layers[1], x), batch_norm
        )
    }


def s3e() -> Statements:
    by_hand, layer = (describe(text, (4, 3, 5)) for text in ("DimNorm(5, dim=-1)", "LayerNorm(5)"))
    return {
        "the same elements share a mean": (by_hand.stat_ids == layer.stat_ids).all(),
        "the same elements share a gamma": (by_hand.param_ids == layer.param_ids).all(),
        "only eps differs": (by_hand.norm.eps, layer.norm.eps) == (1e-12, 1e-5),
    }


def s3g() -> Statements:
    first, last = (describe(f"DimNorm(4, dim={dim})", (3, 2, 4)) for dim in (0, -1))
    with pytest.raises(RuntimeError):
        normal(2) * normal(3, 2, 4)  # a gamma as long as the middle axis
    return {
        "the same elements share a gamma": (first.param_ids == last.param_ids).all(),
        "other elements share a mean": (first.stat_ids != last.stat_ids).any(),
    }


def s2p() -> Statements:
    e, x = describe("LayerNorm([2, 4])", (2, 3, 2, 4)), normal(2, 3, 2, 4)
    mean = x.mean(dim=(-1, -2), keepdim=True)
    with pytest.raises(RuntimeError):
        x - x.mean(dim=(-1, -2))
    return {
        "there are as many means as torch's layer has": mean.numel() == e.counts.statistics,
        "the averaged axes keep size one": mean.shape[2:] == (1, 1),
        "the subtraction broadcasts each mean over its group": (x - mean).shape == x.shape,
    }


def s2q() -> Statements:
    arguments = {"int": 4, "list": [4], "tuple": (4,), "Size": torch.Size((4,))}
    by_annotated = [kind for kind, given in arguments.items() if isinstance(given, int | list | torch.Size)]
    module = module_of("LayerNorm(4)")
    return {
        "torch accepts all": all(type(module)(given).normalized_shape == (4,) for given in arguments.values()),
        "the annotated layer accepts all but a tuple": by_annotated == ["int", "list", "Size"],
        "its arguments have torch's names": {"normalized_shape", "eps", "elementwise_affine"}
        <= set(signature(type(module)).parameters),
        "torch's parameters are called weight and bias": [name for name, _ in module.named_parameters()]
        == ["weight", "bias"],
        "eps is the same": Layer.parse("LayerNorm(4)").given["eps"] == 1e-5,
    }


def s2m() -> Statements:
    zeros = torch.zeros(2, 3, 2, 4)
    return {
        "only an eps of 0 makes another output": output("LayerNorm([2, 4], eps=0.0)", zeros).isnan().all()
        and (output("LayerNorm([2, 4], eps=1e-30)", zeros) == 0).all(),
        "the shapes agree too": all(output(text, zeros).shape == zeros.shape for text in WRONG),
        "returning x unchanged passes": nearly_equal(zeros, output("LayerNorm([2, 4])", zeros)),
    }
