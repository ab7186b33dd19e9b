"""A LayerNorm in Triton, right or with one mistake, for ``bench.device``. On the CPU, set TRITON_INTERPRET=1 before the import."""

import torch
import triton
import triton.language as tl
from torch import Tensor, nn


@triton.jit
def _forward(x_ptr, y_ptr, gamma_ptr, stride, n, eps, BLOCK: tl.constexpr, MISTAKE: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask = column < n
    x = tl.load(x_ptr + row * stride + column, mask=mask, other=0.0).to(tl.float32)
    deviation = x - tl.sum(x, 0) / n
    if MISTAKE != "mask":
        deviation = tl.where(mask, deviation, 0.0)
    square = deviation * deviation
    if MISTAKE == "half sums":
        square = (deviation.to(tl.float16) * deviation.to(tl.float16)).to(tl.float32)
    var = tl.sum(square, 0) / n
    y = deviation / (tl.sqrt(var) + eps if MISTAKE == "eps outside" else tl.sqrt(var + eps))
    y = y * tl.load(gamma_ptr + column, mask=mask, other=0.0).to(tl.float32)
    if MISTAKE == "tail":
        y = tl.where(column < n - 1, y, 0.0)
    tl.store(y_ptr + row * n + column, y.to(y_ptr.dtype.element_ty), mask=mask)


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, gamma: Tensor, mistake: str, buffers: dict) -> Tensor:
        n = x.shape[-1]
        rows = x.reshape(-1, n)
        if mistake != "strides":
            rows = rows.contiguous()
        y = torch.empty(rows.shape, dtype=x.dtype, device=x.device)
        if mistake == "one buffer":
            y = buffers.setdefault((rows.shape, rows.dtype), y)
        eps = 0.01 if mistake == "eps outside" else 1e-5
        _forward[(len(rows),)](rows, y, gamma, n if mistake == "strides" else rows.stride(0), n, eps, triton.next_power_of_2(n), mistake)  # fmt: skip
        ctx.save_for_backward(x.clone(), gamma)
        ctx.mistake = mistake
        if mistake == "in place":
            x.data.copy_(y.reshape(x.shape))
        return y.reshape(x.shape)

    @staticmethod
    def backward(ctx, dout: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, gamma = ctx.saved_tensors
        wide, scaled = x.float() if x.dtype.itemsize < 4 else x, (dout * gamma)
        centered = wide - wide.mean(-1, keepdim=True)
        root = (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        normalized = centered / root
        dx = scaled - scaled.mean(-1, keepdim=True)
        if ctx.mistake != "dx":
            dx = dx - normalized * (scaled * normalized).mean(-1, keepdim=True)
        rows = (dout * normalized).reshape(-1, x.shape[-1])
        dgamma = (rows[:-1] if ctx.mistake == "dgamma" else rows).sum(0)
        return (dx / root).to(x.dtype), dgamma.to(gamma.dtype), None, None


class Kernel(nn.Module):
    """The LayerNorm without beta. ``mistake``: "" or one of ``MISTAKES`` of ``bench.device``."""

    def __init__(self, features: int, mistake: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.mistake = mistake

    def forward(self, x: Tensor) -> Tensor:
        return _Function.apply(x, self.weight, self.mistake, BUFFERS)


BUFFERS: dict[object, Tensor] = {}
