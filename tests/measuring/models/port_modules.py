"""Norms as people write and port them: equal ones of one kind, and ones with a mistake."""

import torch
import torch.nn.functional as F
from torch import nn


class Own(nn.Module):
    """The formula over some axes, with gamma and beta along others."""

    def __init__(
        self,
        shape,
        over,
        eps=1e-5,
        center=True,
        beta=True,
        correction=0,
        names=("weight", "bias"),
        outside=False,
        sign=1,
        plus=0.0,
    ):
        super().__init__()
        self.over, self.eps, self.center, self.correction, self.outside, self.sign, self.plus = (
            over,
            eps,
            center,
            correction,
            outside,
            sign,
            plus,
        )
        self.names = names
        self.register_parameter(names[0], nn.Parameter(torch.full(shape, 1.0 - plus)))
        if beta:
            self.register_parameter(names[1], nn.Parameter(torch.zeros(shape)))
        else:
            self.names = names[0], ""

    def forward(self, x):
        centered = x - x.mean(self.over, keepdim=True) if self.center else x
        if self.correction:
            var = x.var(self.over, keepdim=True, correction=self.correction)
        else:
            var = centered.square().mean(self.over, keepdim=True)
        root = var.sqrt() + self.eps if self.outside else (var + self.eps).sqrt()
        y = self.sign * centered / root * (getattr(self, self.names[0]) + self.plus)
        return y + getattr(self, self.names[1]) if self.names[1] else y


class OwnGroupNorm(nn.Module):
    def __init__(self, groups, channels, eps=1e-5, strided=False, affine=True):
        super().__init__()
        self.groups, self.eps, self.strided, self.affine = groups, eps, strided, affine
        if affine:
            self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        n, c = x.shape[:2]
        y = (
            x.reshape(n, c // self.groups, self.groups, -1).transpose(1, 2)
            if self.strided
            else x.reshape(n, self.groups, c // self.groups, -1)
        )
        var, mean = torch.var_mean(y, (2, 3), keepdim=True, correction=0)
        y = (y - mean) / (var + self.eps).sqrt()
        y = (y.transpose(1, 2) if self.strided else y).reshape(x.shape)
        ones = (1, c) + (1,) * (x.dim() - 2)
        return y * self.weight.reshape(ones) + self.bias.reshape(ones) if self.affine else y


class ChannelsFirst(nn.LayerNorm):
    """ConvNeXt's: the channels are moved to the end and back."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Around(nn.Module):
    """A norm with its input in another layout: permuted, flattened or split."""

    def __init__(self, norm, there, back):
        super().__init__()
        self.norm, self.there, self.back = norm, there, back

    def forward(self, x):
        return self.back(self.norm(self.there(x)), x)


def last(norm):
    return Around(norm, lambda x: x.permute(0, 2, 3, 1), lambda y, x: y.permute(0, 3, 1, 2))


def copied(norm):
    return Around(norm, lambda x: x.permute(0, 2, 3, 1).contiguous(), lambda y, x: y.permute(0, 3, 1, 2).contiguous())


def pixels(norm):
    """On a table with a row for each pixel."""
    return Around(
        norm,
        lambda x: x.permute(0, 2, 3, 1).flatten(0, 2),
        lambda y, x: y.reshape(x.shape[0], *x.shape[2:], x.shape[1]).permute(0, 3, 1, 2),
    )


def flat(norm):
    """With H and W as one axis."""
    return Around(norm, lambda x: x.flatten(2), lambda y, x: y.view_as(x))


class OwnBatchNorm(nn.Module):
    def __init__(
        self,
        channels,
        eps=1e-5,
        momentum=0.1,
        over=(0, 2, 3),
        biased=False,
        frozen=False,
        affine=True,
        uses="var",
        names=("running_mean", "running_var"),
        exchanged=False,
    ):
        super().__init__()
        self.eps, self.momentum, self.over, self.biased, self.frozen, self.affine, self.exchanged = (
            eps,
            momentum,
            over,
            biased,
            frozen,
            affine,
            exchanged,
        )
        if affine:
            self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.names = names
        self.register_buffer(names[0], torch.zeros(channels))
        self.register_buffer(names[1], torch.ones(channels))

    def forward(self, x):
        shape = [1 if axis in self.over else size for axis, size in enumerate(x.shape)]
        mean, var = (getattr(self, name) for name in self.names)
        if self.training and not self.frozen:
            m = x.numel() // mean.numel()
            old = mean, var
            mean, var = x.mean(self.over), x.var(self.over, correction=0)
            rate = 1 - self.momentum if self.exchanged else self.momentum
            with torch.no_grad():
                old[0].mul_(1 - rate).add_(rate * mean)
                old[1].mul_(1 - rate).add_(rate * var * (1 if self.biased else m / (m - 1)))
        y = (x - mean.view(shape)) * torch.rsqrt(var.view(shape) + self.eps)
        return y * self.weight.view(shape) + self.bias.view(shape) if self.affine else y


class Functional(nn.Module):
    """A call of F.layer_norm or the like in a larger module."""

    more = staticmethod(F.relu)  # with it, the whole is no norm

    def __init__(self, call, shape, beta=True):
        super().__init__()
        self.call, self.weight, self.inner = call, nn.Parameter(torch.ones(shape)), nn.Identity()
        self.bias = nn.Parameter(torch.zeros(shape)) if beta else None

    def forward(self, x):
        return self.call(x, self)


class Pair(nn.Module):
    """Two parts in a row, so that a norm is inside a module that is no norm."""

    def __init__(self, first, norm):
        super().__init__()
        self.first, self.norm = first, norm

    def forward(self, x):
        return self.norm(self.first(x))


class GammaAround(nn.Module):
    """A norm without gamma, and gamma and beta after it."""

    def __init__(self, norm, shape, beta=True, sign=1):
        super().__init__()
        self.norm, self.weight, self.sign = norm, nn.Parameter(torch.ones(shape)), sign
        self.bias = nn.Parameter(torch.zeros(shape)) if beta else None

    def forward(self, x):
        y = self.norm(x) * (self.sign * self.weight)
        return y if self.bias is None else y + self.bias


class Added(nn.Module):
    """A residual connection."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return x + self.norm(x)


class Half(nn.Module):
    """RMSNorm that squares and averages in the dtype of x, or in float32."""

    def __init__(self, size, wide, eps=1e-6):
        super().__init__()
        self.weight, self.wide, self.eps = nn.Parameter(torch.ones(size)), wide, eps

    def forward(self, x):
        y = x.float() if self.wide else x
        return self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class Detached(nn.LayerNorm):
    """It treats the mean as a constant."""

    def forward(self, x):
        mean = x.mean(-1, keepdim=True).detach()
        centered = x - mean
        var = (x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True)
        return centered / (var + self.eps).sqrt() * self.weight + self.bias


def instance_by_batch(c):
    """InstanceNorm as a BatchNorm of N * C channels."""

    def call(x, own):
        y = F.batch_norm(
            x.reshape(1, -1, *x.shape[2:]), None, None, own.weight.repeat(len(x)), own.bias.repeat(len(x)), True
        )
        return y.view_as(x)

    return Functional(call, (c,))
