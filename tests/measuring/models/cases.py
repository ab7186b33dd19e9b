"""The normalizations that models of the zoo run, in order."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from tests.measuring.models.zoo import (
    Centered,
    Decoder,
    Drop,
    Functions,
    Gemma,
    Llama,
    Matrix,
    Named,
    OverChannels,
    Permuted,
    Pixel,
    Recovers,
    Residual,
    Rotary,
    Scale,
    Softmax,
    Tanh,
    Twice,
    images,
    tokens,
)


@dataclass(frozen=True)
class Case:
    """A model, its inputs, and its rows: name, title, shape, reduced axes, parameters."""

    name: str
    model: nn.Module
    inputs: tuple[Any, ...]
    rows: list[tuple[str, str, tuple[int, ...], tuple[int, ...], int]]
    keywords: dict[str, Any] = field(default_factory=dict)


IMAGES = (torch.zeros(2, 3, 4, 5),)
SEQUENCES = (torch.zeros(2, 5, 8),)
S, P = (2, 8, 4, 5), (2, 5, 8)
FIRST, HEADS, KEYS, WHOLE = (2, 5, 12), (2, 5, 4, 3), (2, 5, 2, 3), (2, 5, 6)
CASES = [
    Case("ResNet", images(nn.BatchNorm2d(8)), IMAGES, [("1", "BatchNorm2d(8)", S, (0, 2, 3), 16)]),
    Case("eval", images(nn.BatchNorm2d(8)).eval(), IMAGES, [("1", "BatchNorm2d(8).eval()", S, (), 16)]),
    Case(
        "ViT",
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
        SEQUENCES,
        [("norm1", "LayerNorm([8])", P, (2,), 16), ("norm2", "LayerNorm([8])", P, (2,), 16)],
    ),
    Case(
        "Qwen3",
        Decoder(),
        (tokens(),),
        [
            ("input_norm", "RMSNorm([12], eps=1e-06)", FIRST, (2,), 12),
            ("attention.q_norm", "RMSNorm([3], eps=1e-06)", HEADS, (3,), 3),
            ("attention.k_norm", "RMSNorm([3], eps=1e-06)", KEYS, (3,), 3),
            ("norm", "RMSNorm([12], eps=1e-06)", FIRST, (2,), 12),
        ],
    ),
    Case(
        "Gemma 3",
        Decoder(Gemma).bfloat16(),
        (tokens(),),
        [
            ("input_norm", "RMSNorm([12], eps=1e-06, zero_centered_gamma=True)", FIRST, (2,), 12),
            ("attention.q_norm", "RMSNorm([3], eps=1e-06, zero_centered_gamma=True)", HEADS, (3,), 3),
            ("attention.k_norm", "RMSNorm([3], eps=1e-06, zero_centered_gamma=True)", KEYS, (3,), 3),
            ("norm", "RMSNorm([12], eps=1e-06, zero_centered_gamma=True)", FIRST, (2,), 12),
        ],
    ),
    Case(
        "OLMo 2",
        Decoder(per_head=False),
        (tokens(),),
        [
            ("input_norm", "RMSNorm([12], eps=1e-06)", FIRST, (2,), 12),
            ("attention.q_norm", "RMSNorm([12], eps=1e-06)", FIRST, (2,), 12),
            ("attention.k_norm", "RMSNorm([6], eps=1e-06)", WHOLE, (2,), 6),
            ("norm", "RMSNorm([12], eps=1e-06)", FIRST, (2,), 12),
        ],
    ),
    Case("ConvNeXt", images(Permuted(8)), IMAGES, [("1", "Norm('n c h w -> n h w', 'c')", S, (1,), 16)]),
    Case("SAM", images(OverChannels(8)), IMAGES, [("1", "Norm('n c h w -> n h w', 'c', eps=1e-06)", S, (1,), 16)]),
    Case("StyleGAN", images(Pixel()), IMAGES, [("1", "Norm('n c h w -> n h w', center=False, eps=1e-08)", S, (1,), 0)]),
    Case("vLLM", Residual(), SEQUENCES, [("n", "RMSNorm([8], eps=1e-06)", P, (2,), 8)]),
    Case("twice", Twice(), SEQUENCES, [("norm", "LayerNorm([8])", P, (2,), 16)]),
    Case(
        "functions",
        Functions().eval(),
        SEQUENCES,
        [
            ("", "LayerNorm([8])", P, (2,), 16),
            ("", "GroupNorm(4, 8, affine=False)", (2, 8, 5), (1, 2), 0),
            ("", "BatchNorm1d(8).eval()", (2, 8, 5), (), 0),
            ("", "Norm('n c l -> n l', center=False, eps=0.0)", (2, 8, 5), (1,), 0),
            ("", "RMSNorm([8], elementwise_affine=False)", P, (2,), 0),
            ("", "LayerNorm([8], elementwise_affine=False)", P, (2,), 0),
            ("", "InstanceNorm1d(5)", P, (2,), 0),
        ],
    ),
    Case(
        "an error that is caught",
        Recovers(),
        SEQUENCES,
        [("right", "LayerNorm([8])", P, (2,), 16), ("", "LayerNorm([8], elementwise_affine=False)", P, (2,), 0)],
    ),
    Case(
        "keywords",
        Named(),
        (),
        [("norm", "RMSNorm([8], eps=1e-06)", P, (2,), 8)],
        {"batch": {"ids": tokens()}, "scale": torch.tensor(2.0)},
    ),
    Case("the model itself", Llama(8), SEQUENCES, [("", "RMSNorm([8], eps=1e-06)", P, (2,), 8)]),
    Case(
        "a parametrized weight",
        nn.utils.parametrizations.weight_norm(nn.LayerNorm(8)),
        SEQUENCES,
        [("", "weight_norm on weight", (8,), (), 8), ("", "LayerNorm([8])", P, (2,), 24)],
    ),
    Case(
        "a parametrized neighbor",
        nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))),
        SEQUENCES,
        [("0", "spectral_norm on 0.weight", (8, 8), (), 0)],
    ),
    Case(
        "no normalization",
        nn.Sequential(Scale(8), Drop(), Tanh(), Rotary(), Softmax(), Matrix(8), Centered(), nn.GELU(), nn.Identity()),
        SEQUENCES,
        [],
    ),
]
