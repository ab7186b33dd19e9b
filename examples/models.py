"""Two small models for `normviz norms`: a model, or a function without arguments that makes one."""

import torch
from torch import Tensor, nn


def small_gpt() -> nn.Module:
    """Takes token ids of shape (N, L)."""
    layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True, norm_first=True)
    blocks = nn.TransformerEncoder(layer, 4, nn.LayerNorm(64), enable_nested_tensor=False)
    return nn.Sequential(nn.Embedding(1000, 64), blocks, nn.Linear(64, 1000))


class Residual(nn.Module):
    """Two convolutions, and x added to their output."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.norm2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(inner)))


small_resnet = nn.Sequential(nn.Conv2d(3, 16, 3), nn.GroupNorm(4, 16), Residual(16), Residual(16))
