"""Small models with the normalizations of well-known ones. The classes have no names that tell what they do."""

import torch
import torch.nn.functional as F
from torch import nn


class Llama(nn.Module):
    """RMSNorm in float32."""

    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        y = x.float()
        return self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)).to(x.dtype)


class Gemma(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.weight.float())).type_as(x)


class Attention(nn.Module):
    """With norms of q and k: of each head, or over the whole projection."""

    def __init__(self, norm, per_head):
        super().__init__()
        self.per_head, self.q, self.k = per_head, nn.Linear(12, 12), nn.Linear(12, 6)
        self.q_norm, self.k_norm = (norm(3), norm(3)) if per_head else (norm(12), norm(6))

    def forward(self, x):
        q, k = self.q(x), self.k(x)
        if self.per_head:
            q, k = self.q_norm(q.unflatten(-1, (-1, 3))), self.k_norm(k.unflatten(-1, (-1, 3)))
            return q.flatten(-2) + k.flatten(-2).sum(-1, keepdim=True)
        return self.q_norm(q) + self.k_norm(k).sum(-1, keepdim=True)


class Decoder(nn.Module):
    def __init__(self, norm=Llama, per_head=True):
        super().__init__()
        self.embed, self.input_norm, self.attention = nn.Embedding(9, 12), norm(12), Attention(norm, per_head)
        self.norm = norm(12)

    def forward(self, ids):
        return {"logits": self.norm(self.attention(self.input_norm(self.embed(ids))))}


class Permuted(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class OverChannels(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        centered = x - x.mean(1, keepdim=True)
        y = centered / (centered.pow(2).mean(1, keepdim=True) + 1e-6).sqrt()
        return self.weight[:, None, None] * y + self.bias[:, None, None]


class Pixel(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-8)


class Frozen(nn.Module):
    """BatchNorm with buffers only."""

    def __init__(self, size):
        super().__init__()
        for name, value in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)):
            self.register_buffer(name, torch.full((size,), float(value)))
        self.eps = 1e-5

    def forward(self, x):
        weight, bias, mean, var = (buffer.reshape(1, -1, 1, 1) for buffer in self.buffers())
        scale = weight * (var + self.eps).rsqrt()
        return x * scale + bias - mean * scale


class Fused(nn.Module):
    """It adds a residual first, and returns the sum too."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x, residual=None):
        x = x if residual is None else x + residual
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight, x


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = Fused(8)

    def forward(self, x):
        return self.n(x, residual=x)[0]


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("var", torch.ones(8))

    def forward(self, x):
        x = F.layer_norm(x, (8,), self.weight, self.bias).transpose(1, 2)
        x = F.batch_norm(F.group_norm(x, 4), self.mean, self.var, self.weight, self.bias, self.training)
        x = F.rms_norm(F.normalize(x, dim=1).transpose(1, 2), (8,))
        return F.instance_norm(torch.layer_norm(x, (8,)))


class Standardized(nn.Conv2d):
    def forward(self, x):
        weight = F.batch_norm(self.weight.reshape(1, 4, -1), None, None, training=True).view_as(self.weight)
        return F.conv2d(x, weight, self.bias)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.middle = nn.LayerNorm(8), nn.Linear(8, 8)
        self.again = self.norm

    def forward(self, x):
        return self.again(self.middle(self.norm(x)))


class Recovers(nn.Module):
    """It catches an error of a part."""

    def __init__(self):
        super().__init__()
        self.wrong, self.right = nn.LayerNorm(5), nn.LayerNorm(8)

    def forward(self, x):
        try:
            return self.wrong(x)
        except RuntimeError:
            return F.layer_norm(self.right(x), (8,))


class Named(nn.Module):
    """It takes a dictionary."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(9, 8), Llama(8)

    def forward(self, batch, *, scale=None):
        return self.norm(x=self.embed(batch["ids"]) * scale)


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((size,), 1e-5))

    def forward(self, x):
        return x * self.gamma


class Drop(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


class Tanh(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x**3)))


class Rotary(nn.Module):
    def forward(self, x):
        angles = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device)[:, None]
        a, b = x.chunk(2, -1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


class Softmax(nn.Module):
    def forward(self, x):
        return x.softmax(-1)


class Centered(nn.Module):
    def forward(self, x):
        return x - x.mean(-1, keepdim=True)


class Matrix(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, size))

    def forward(self, x):
        return x @ self.weight


def tokens():
    return torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])


def images(layer):
    return nn.Sequential(nn.Conv2d(3, 8, 1), layer)
