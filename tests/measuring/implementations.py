"""Right and wrong implementations of normalization layers, each with the layer that it should be and what differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.support.needs import HAS_RMS_NORM

SEQUENCES, IMAGES, TABLE = (3, 4, 5), (2, 6, 3, 5), (4, 6)


@dataclass(frozen=True)
class Case:
    """``differs``: the ``what`` of each difference from ``like`` on an x of ``shape``. ``arrays``: fn takes NumPy arrays."""

    name: str
    fn: Callable[..., Any]
    shape: tuple[int, ...]
    like: Any
    differs: set[str]
    arrays: bool = False
    params: dict[str, Any] = field(default_factory=dict)
    layout: str | None = None


def layer_norm(x: Tensor, dim: Any = -1, unbiased: bool = False, eps: float = 1e-5) -> Tensor:
    variance = x.var(dim, keepdim=True, unbiased=unbiased)
    return (x - x.mean(dim, keepdim=True)) / (variance + eps).sqrt()


def rms_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt()


def in_place(x: Tensor) -> Tensor:
    return x.sub_(x.mean(-1, keepdim=True)).div_((x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt())


def interleaved(x: Tensor, groups: int = 3) -> Tensor:
    n, c, h, w = x.shape
    apart = x.view(n, c // groups, groups, h, w).transpose(1, 2).reshape(x.shape)
    return F.group_norm(apart, groups).view(n, groups, c // groups, h, w).transpose(1, 2).reshape(x.shape)


def numpy_rows(x: Any, gamma: Any, beta: Any, ln_param: Any) -> Any:
    columns = x.T
    mean, variance = columns.mean(0), columns.var(0)
    normalized = (columns - mean) / np.sqrt(variance + ln_param.get("eps", 1e-5))
    return (gamma[:, None] * normalized + beta[:, None]).T, (x, mean)


def gamma_for_each_row(x: Any, gamma: Any, beta: Any) -> Any:
    normalized = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return gamma[:, None] * normalized + beta[:, None]


class Affine(nn.Module):
    """LayerNorm over the last axis with gamma and beta of any shape."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x) * self.scale + self.shift


class OnePlus(nn.Module):
    """RMSNorm in float32 that multiplies by 1 + weight, as in some language models."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        return (rms_norm(x.float(), 1e-6) * (1 + self.weight.float())).type_as(x)


def over_all_heads(x: Tensor) -> Tensor:
    return F.rms_norm(x.flatten(2), (x.shape[2] * x.shape[3],)).view(x.shape)


class Parametrized(nn.Module):
    """LayerNorm whose gamma is exp(w)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x) * self.log.exp()


class Permuted(nn.Module):
    """A layer on x with its channels last."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.movedim(-1, 1)).movedim(1, -1)


class KeepsItsMean:
    """Subtracts a running mean that each call changes."""

    def __init__(self) -> None:
        self.mean = torch.zeros(())

    def __call__(self, x: Tensor) -> Tensor:
        self.mean = 0.9 * self.mean + 0.1 * x.mean((0, 2), keepdim=True)
        return (x - self.mean) / (x.var((0, 2), keepdim=True, unbiased=False) + 1e-5).sqrt()


def zero_gamma() -> nn.Module:
    """A BatchNorm at the end of a residual branch, whose gamma begins with zeros."""
    module = nn.BatchNorm1d(4)
    nn.init.zeros_(module.weight)
    return module


RIGHT = [
    Case("by hand", layer_norm, SEQUENCES, "LayerNorm(5)", set()),
    Case("in place", in_place, SEQUENCES, "LayerNorm(5)", {"in_place"}),
    Case("BatchNorm1d", nn.BatchNorm1d(4), SEQUENCES, "BatchNorm1d(4)", set()),
    Case("eval mode", nn.BatchNorm1d(4).eval(), SEQUENCES, "BatchNorm1d(4).eval()", set()),
    *([Case("RMSNorm", nn.RMSNorm(5), SEQUENCES, "RMSNorm(5)", set())] if HAS_RMS_NORM else []),
    Case("bfloat16", nn.LayerNorm(5).bfloat16(), SEQUENCES, "LayerNorm(5)", set()),
    Case("groups", lambda x: F.group_norm(x, 3), IMAGES, "GroupNorm(3, 6)", set()),
    Case("only float32", lambda x: F.layer_norm(x, (5,), torch.ones(5), torch.zeros(5)), SEQUENCES, "LayerNorm(5)", set()),
    Case("groups of one", nn.LayerNorm(1), (3, 1), "LayerNorm(1)", set()),
    Case("arrays", lambda x: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), TABLE, "BatchNorm1d(6)", set(), arrays=True),
    Case("gamma and beta as arguments", numpy_rows, TABLE, "LayerNorm(6)", set(), arrays=True, params={"gamma": np.arange(6.0), "beta": np.zeros(6), "ln_param": {}}),
    Case("like a module", OnePlus(5), SEQUENCES, OnePlus(5), set()),
    Case("gamma of zeros", zero_gamma(), SEQUENCES, "BatchNorm1d(4)", set()),
    Case("vmap", torch.vmap(lambda row: (row - row.mean()) / (row.var(unbiased=False) + 1e-5).sqrt()), TABLE, "LayerNorm(6)", set()),
    Case("channels last", Permuted(nn.GroupNorm(3, 6)), (2, 3, 5, 6), "GroupNorm(3, 6)", set(), layout="NHWC"),
    Case("a sequence with channels last", Permuted(nn.BatchNorm1d(5)), SEQUENCES, "BatchNorm1d(5)", set(), layout="NLC"),
    Case("channels last in eval mode", Permuted(nn.BatchNorm1d(5)).eval(), SEQUENCES, "BatchNorm1d(5).eval()", set(), layout="NLC"),
    Case("gamma exp(w)", Parametrized(5), SEQUENCES, "LayerNorm(5)", set()),
    Case("sampled", nn.BatchNorm2d(8), (4, 8, 12, 12), "BatchNorm2d(8)", set()),
]  # fmt: skip
WRONG = [
    Case("statistics without gradients", lambda x: (x - x.mean(-1, keepdim=True).detach()) / (x.var(-1, keepdim=True, unbiased=False).detach() + 1e-5).sqrt(), SEQUENCES, "LayerNorm(5)", {"backward"}),
    Case("constant gamma and beta", lambda x: layer_norm(x) * torch.arange(1.0, 6.0) + torch.arange(5.0), SEQUENCES, "LayerNorm(5)", {"factor", "offset"}),
    Case("a half output", lambda x: layer_norm(x).half(), SEQUENCES, "LayerNorm(5)", {"dtype"}),
    Case("other axes", lambda x: layer_norm(x, (0, 1)), SEQUENCES, "LayerNorm(5)", {"statistics"}),
    Case("other axes and m - 1", lambda x: layer_norm(x, (0, 1), True), SEQUENCES, "LayerNorm(5)", {"statistics", "variance"}),
    Case("a square x", nn.BatchNorm1d(4), (4, 4), "LayerNorm(4)", {"statistics"}),
    Case("a square x without keepdim", lambda x: (x - x.mean(-1)) / (x.var(-1, unbiased=False) + 1e-5).sqrt(), (4, 4), "LayerNorm(4)", {"statistics"}),
    Case("one example", nn.InstanceNorm2d(6), (1, 6, 3, 5), "BatchNorm2d(6)", {"sizes", "statistics", "running"}),
    Case("over all heads", over_all_heads, (2, 3, 4, 5), "RMSNorm(5)", {"statistics"}),
    Case("interleaved groups", interleaved, IMAGES, "GroupNorm(3, 6)", {"statistics"}),
    Case("other groups", lambda x: F.group_norm(x, 2), IMAGES, "GroupNorm(3, 6)", {"statistics"}),
    Case("m - 1", lambda x: layer_norm(x, unbiased=True), SEQUENCES, "LayerNorm(5)", {"variance"}),
    Case("m - 1 in NumPy", lambda x: (x - x.mean(0)) / np.sqrt(x.var(0, ddof=1) + 1e-5), TABLE, "BatchNorm1d(6)", {"variance"}, arrays=True),
    Case("a sum of squares", lambda x: (x - x.mean(-1, keepdim=True)) / ((x - x.mean(-1, keepdim=True)).square().sum(-1, keepdim=True) + 1e-5).sqrt(), SEQUENCES, "LayerNorm(5)", {"variance"}),
    Case("no mean", rms_norm, SEQUENCES, "LayerNorm(5)", {"center"}),
    Case("a mean", layer_norm, SEQUENCES, "RMSNorm(5, eps=1e-5)", {"center"}),
    Case("another eps", lambda x: layer_norm(x, eps=1e-3), SEQUENCES, "LayerNorm(5)", {"eps"}),
    Case("eps outside", lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, unbiased=False) + 1e-5), SEQUENCES, "LayerNorm(5)", {"eps_placement"}),
    Case("F.normalize", lambda x: F.normalize(x, dim=-1), SEQUENCES, "RMSNorm(5, eps=1e-5)", {"variance", "eps", "eps_placement"}),
    Case("1 + gamma", OnePlus(5), SEQUENCES, "RMSNorm(5, eps=1e-6)", {"gamma"}),
    Case("a gamma too many", Affine(4, 5), SEQUENCES, "LayerNorm(5)", {"parameters"}),
    Case("gamma of another axis", Affine(4, 1), SEQUENCES, "LayerNorm(5)", {"parameters"}),
    Case("one gamma for all", Affine(1), SEQUENCES, "LayerNorm(5)", {"parameters"}),
    Case("gamma for each row", gamma_for_each_row, TABLE, "LayerNorm(6)", {"parameters"}, arrays=True, params={"gamma": np.ones(4), "beta": np.zeros(4)}),
    Case("a beta", lambda x: F.rms_norm(x, (5,)) + torch.arange(5.0), SEQUENCES, "RMSNorm(5)", {"beta"}),
    Case("eval instead of train", nn.BatchNorm1d(4).eval(), SEQUENCES, "BatchNorm1d(4)", {"training"}),
    Case("stored statistics of a function", lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4)), SEQUENCES, "BatchNorm1d(4)", {"training"}),
    Case("train instead of eval", nn.BatchNorm1d(4), SEQUENCES, "BatchNorm1d(4).eval()", {"training"}),
    Case("channels first for channels last", nn.BatchNorm1d(4), (3, 4, 4), "BatchNorm1d(4)", {"statistics", "parameters"}, layout="NLC"),
    Case("the variance at least eps", lambda x: (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, unbiased=False).clamp(min=1e-5).sqrt(), SEQUENCES, "LayerNorm(5)", {"eps_placement"}),
    Case("running mean that a call changes", KeepsItsMean(), SEQUENCES, "BatchNorm1d(4)", {"repeat"}),
    Case("sigmoid", torch.sigmoid, SEQUENCES, "LayerNorm(5)", {"statistics", "not_normalization"}),
    Case("zeros", torch.zeros_like, SEQUENCES, "LayerNorm(5)", {"statistics", "not_normalization"}),
    Case("softmax", lambda x: x.softmax(-1), SEQUENCES, "LayerNorm(5)", {"not_normalization"}),
    Case("no root", lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5), SEQUENCES, "LayerNorm(5)", {"variance"}),
    Case("nothing", lambda x: x, SEQUENCES, "LayerNorm(5)", {"not_normalization", "in_place"}),
    Case("neighbors", nn.LocalResponseNorm(2), SEQUENCES, "LayerNorm(5)", {"statistics", "not_normalization"}),
    Case("the past", lambda x: x - x.cumsum(1) / torch.arange(1, 5)[:, None], SEQUENCES, "LayerNorm(5)", {"statistics", "not_normalization"}),
    Case("clipped", lambda x: layer_norm(x).clamp(-1.7, 1.7), SEQUENCES, "LayerNorm(5)", {"values"}),
]  # fmt: skip
