"""What the answers on gamma and beta state."""

from __future__ import annotations

from inspect import Parameter, signature

import numpy as np
import pytest
import torch

from normviz.analysis.description import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import buffers
from normviz.code.cs231n import layernorm_forward
from normviz.lessons.questions.facts import count_gammas, module_of, normal, output, scene_of
from normviz.lessons.questions.topics.training import decayed
from normviz.texts.errors import NormvizError
from tests.lessons.questions.statements.measure import Statements, all_pairs_differ, facts, nearly_equal, refuses

IMAGE, SHAPE = "LayerNorm([3, 4, 4])", (2, 3, 4, 4)


def gamma_shape(layer: str) -> tuple[int, ...]:
    """The shape of torch's own weight."""
    return tuple(module_of(layer).get_parameter("weight").shape)


def s1() -> Statements:
    e, x = describe("LayerNorm(6)", (4, 6)), normal(4, 6).numpy()
    with pytest.raises(NormvizError, match="not for each row"):
        layernorm_forward(x, np.ones(4), np.zeros(4), {})
    return {
        "every row uses the same gammas": (e.param_ids == e.param_ids[0]).all(),
        "layernorm_forward accepts one gamma per column": layernorm_forward(x, np.ones(6), np.zeros(6), {})[0].shape
        == (4, 6),
    }


def s0() -> Statements:
    peers = describe(IMAGE, SHAPE).parameter_peers((0, 2, 0, 3))
    return {
        "x[1, 2, 0, 3] uses the gamma of x[0, 2, 0, 3]": (1, 2, 0, 3) in peers,
        "its neighbor uses another gamma": (0, 2, 0, 2) not in peers,
        "on (N, D) there is one gamma for each neuron": gamma_shape("LayerNorm(6)") == (6,),
    }


def s0b() -> Statements:
    few, many, module = SHAPE, (4, 3, 4, 4), module_of(IMAGE)
    return {
        "a batch of two has as many gammas": count_gammas(IMAGE, few) == count_gammas(IMAGE, many),
        "the peers are at the same position of the other examples": describe(IMAGE, many).parameter_peers((0, 2, 0, 3))
        == [(n, 2, 0, 3) for n in range(1, 4)],
        "one module accepts both batches": all(module(normal(*shape)).shape == shape for shape in (few, many)),
        "a gamma with N in its shape does not": refuses("LayerNorm([2, 3, 4, 4])", normal(*many)),
    }


def s0e() -> Statements:
    e = describe("BatchNorm2d(3)", SHAPE)
    return {
        "other channels use other gammas": (0, 2, 0, 3) not in e.parameter_peers((0, 1, 0, 3)),
        "elements share gamma exactly if they share a mean": (e.stat_ids == e.param_ids).all(),
        "under LayerNorm no two elements share both": all_pairs_differ(describe(IMAGE, SHAPE)),
    }


def s1b() -> Statements:
    layer, batch = (
        scene_of(f"shape=4,6&layer={text}&params=random").description for text in ("LayerNorm(6)", "BatchNorm1d(6)")
    )
    return {
        "both layers have the same gamma": nearly_equal(layer.layer_values().gamma, batch.layer_values().gamma),
        "each column uses one gamma in both": (layer.param_ids == batch.param_ids).all(),
        "one layer normalizes rows, the other columns": (layer.norm.stats, batch.norm.stats)
        == ("n d -> n", "n d -> d"),
        "torch's own layers differ too": not nearly_equal(
            output("LayerNorm(6)", normal(4, 6)), output("BatchNorm1d(6)", normal(4, 6))
        ),
    }


def s0c() -> Statements:
    return {"torch's own weight is (H, W)": gamma_shape("LayerNorm([4, 5])") == (4, 5)}


def s0d() -> Statements:
    text, shape, at = "LayerNorm([4, 5])", (2, 3, 4, 5), (0, 0, 1, 2)
    e, module, x = describe(text, shape), module_of(text), normal(*shape)
    before = module(x).detach()
    module.get_parameter("weight").data[1, 2] += 1
    changed = map(tuple, (module(x).detach() != before).nonzero().tolist())
    return {
        "the same position of every channel and example uses it": all(i[2:] == at[2:] for i in e.parameter_peers(at)),
        "torch's output changes only there if this gamma changes": sorted(changed)
        == sorted([at, *e.parameter_peers(at)]),
        "the neighbor shares the mean": (0, 0, 1, 3) in e.peers(at),
        "no two elements share both": all_pairs_differ(e),
    }


def s0f() -> Statements:
    affine, plain = "InstanceNorm2d(3, affine=True)", "InstanceNorm2d(3)"
    e = describe(affine, SHAPE)
    return {
        "the channel uses the same gamma in the other example": (1, 1, 0, 3) in e.parameter_peers((0, 1, 0, 3)),
        "the channel has another mean in the other example": (1, 1, 0, 3) not in e.peers((0, 1, 0, 3)),
        "torch's own weight has one gamma per channel": gamma_shape(affine) == (3,),
        "the default layer has no parameters": list(module_of(plain).parameters()) == [],
        "BatchNorm and LayerNorm have parameters by default": all(
            count_gammas(text, SHAPE) > 0 for text in ("BatchNorm2d(3)", IMAGE)
        ),
    }


def s0g() -> Statements:
    shape, layer = (2, 4, 3, 3), "LayerNorm([4, 3, 3])"
    return {
        "it holds for LayerNorm and RMSNorm with any normalized_shape": all(
            count_gammas(text, shape) == describe(text, shape).counts.elements_per_statistic
            for text in (layer, "RMSNorm([4, 3, 3])", "LayerNorm(3)", "LayerNorm([3, 3])", "RMSNorm(3)")
        ),
        "with beta, LayerNorm has twice as many parameters": describe(layer, shape).counts.parameters
        == 2 * count_gammas(layer, shape),
    }


def q5() -> Statements:
    layer, rms, batch, group, instance = (
        describe(text, (2, 2, 3)).norm
        for text in (
            "LayerNorm([2, 3])",
            "RMSNorm([2, 3])",
            "BatchNorm1d(2)",
            "GroupNorm(1, 2)",
            "InstanceNorm1d(2, affine=True)",
        )
    )
    f = facts("q5")
    return {
        "LayerNorm's gamma has the axes that it averages over": layer.gamma_axes == layer.pattern.reduced,
        "and so has RMSNorm's": rms.gamma_axes == rms.pattern.reduced,
        "every other layer's gamma is per channel": {one.gamma_axes for one in (batch, group, instance)} == {("c",)},
        "in GroupNorm and InstanceNorm each example has means of its own": "n" in group.pattern.right
        and "n" in instance.pattern.right,
        "BatchNorm's gamma has the axis that it keeps": batch.gamma_axes == batch.pattern.right,
        "GroupNorm's gamma has neither": group.gamma_axes not in (group.pattern.right, group.pattern.reduced),
        "InstanceNorm's and GroupNorm's gamma have the shape of BatchNorm's": f["batch"] == f["instance"] == f["group"],
    }


def q6() -> Statements:
    x, longer = normal(2, 2, 3), normal(2, 2, 5)
    group, layer = (describe(text, x) for text in ("GroupNorm(1, 2)", "LayerNorm([2, 3])"))
    return {
        "the same elements share a mean": (group.stat_ids == layer.stat_ids).all(),
        "with gamma 1 and beta 0 the outputs agree": nearly_equal(group.trace.output, layer.trace.output),
        "LayerNorm(C) on (N, L, C) has a mean for each token": describe("LayerNorm(2)", (2, 3, 2)).norm.pattern.right
        == ("n", "l"),
        "GroupNorm accepts any length": output("GroupNorm(1, 2)", longer).shape == longer.shape,
        "LayerNorm does not": refuses("LayerNorm([2, 3])", longer),
    }


def q9() -> Statements:
    tracking = describe("InstanceNorm2d(4, track_running_stats=True)", (2, 4, 3, 3)).layer
    texts = ("InstanceNorm2d(4)", "InstanceNorm2d(4, affine=True)", "BatchNorm2d(4)")
    return {
        "torch's own module has as many parameters": all(
            describe(text, (2, 4, 3, 3)).counts.parameters == sum(p.numel() for p in module_of(text).parameters())
            for text in texts
        ),
        "the default has no buffers": buffers("InstanceNorm2d(4)") == {},
        "with track_running_stats=True it has the buffers of BatchNorm": buffers(tracking) == buffers("BatchNorm2d(4)"),
    }


def s2l() -> Statements:
    affine, bare = module_of("LayerNorm(4)"), module_of("LayerNorm(4, elementwise_affine=False)")
    return {
        "gamma starts as ones": (affine.get_parameter("weight") == 1).all(),
        "beta starts as zeros": (affine.get_parameter("bias") == 0).all(),
        "the other layer has no parameters": list(bare.parameters()) == [],
    }


def q39() -> Statements:
    x, style = normal(*SHAPE), 3 * normal(*SHAPE, seed=1) + 2
    var, mean = torch.var_mean(style, (2, 3), correction=0, keepdim=True)
    adapted = module_of("InstanceNorm2d(3)")(x) * var.sqrt() + mean
    per_example = describe("Norm('n c h w -> n c', 'n c')", SHAPE)
    return {
        "AdaIN gives x the mean of the style image": nearly_equal(adapted.mean((2, 3)), style.mean((2, 3))),
        "and its standard deviation": largest_difference(adapted.std((2, 3)), style.std((2, 3))) < 1e-3,
        "the figure has as many gammas": count_gammas("Norm('n c h w -> n c', 'n c')", SHAPE) == facts("q39")["gammas"],
        "two images share none of them": (1, 1, 0, 3) not in per_example.parameter_peers((0, 1, 0, 3)),
        "the layer itself has no parameters": list(module_of("InstanceNorm2d(3)").parameters()) == [],
    }


def q41() -> Statements:
    decayed_parameter, kept = (torch.nn.Parameter(torch.tensor(2.0)) for _ in range(2))
    groups = [{"params": [decayed_parameter]}, {"params": [kept], "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.1)
    for parameter in (decayed_parameter, kept):
        parameter.grad = torch.zeros(())
    for _ in range(facts("q41")["steps"]):
        optimizer.step()
    return {
        "torch's optimizer gives the same": decayed_parameter.item() == pytest.approx(facts("q41")["plain"]),
        "it is 1 - lr * weight_decay in each step": decayed_parameter.item() == pytest.approx(2 * 0.99**100),
        "a group with weight_decay=0 does not change": kept.item() == 2,
        "AdamW decays by default": torch.optim.AdamW([kept]).defaults["weight_decay"] > 0,
        "1 + w approaches one from both sides": facts("q41")["plus"] > 1 and 1 + decayed(-0.5) < 1,
        "gamma starts at one": (module_of("LayerNorm(4)").get_parameter("weight") == 1).all(),
    }


def q45() -> Statements:
    texts = (
        "BatchNorm1d(4)",
        "BatchNorm2d(4)",
        "BatchNorm3d(4)",
        "SyncBatchNorm(4)",
        "GroupNorm(2, 4)",
        "LayerNorm(4)",
    )
    instance = [f"InstanceNorm{n}d(4, affine=True)" for n in (1, 2, 3)]
    learned = [dict(module_of(f"{text[:-1]}, bias=False)").named_parameters()) for text in (*texts, *instance)]
    return {
        "every layer with a beta can leave it out": all(list(one) == ["weight"] for one in learned),
        "by default all of them have it": all(
            len(list(module_of(text).parameters())) == 2 for text in (*texts, *instance)
        ),
        "RMSNorm has a gamma alone": list(dict(module_of("RMSNorm(4)").named_parameters())) == ["weight"],
        "by name alone": all(
            signature(one).parameters["bias"].kind is Parameter.KEYWORD_ONLY
            for one in (torch.nn.BatchNorm2d, torch.nn.GroupNorm, torch.nn.InstanceNorm2d)
        ),
    }


def q50() -> Statements:
    f, norm, x = facts("q50"), torch.nn.BatchNorm1d(3), normal(8, 3)
    norm.weight.data.zero_()
    return {
        "a block computes x": torch.equal(x + norm(x), x),
        "gamma gets a gradient": f["gamma"] > 0,
        "the linear layer gets none": f["linear"] == 0,
        "after a step it gets one": f["after"] > 0,
    }
