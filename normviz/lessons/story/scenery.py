"""Two small pictures that stand for photographs: a lake at noon, and a town at night. They are rendered, so they are under no other license.

A picture is a tensor (3, H, W) of numbers from 0 to 1.
"""

import zlib
from base64 import b64encode
from functools import cache
from struct import pack

import torch
from torch import Tensor
from torch.nn import functional as F

HEIGHT, WIDTH = 96, 144
FINER = 3  # rendered larger, and averaged, so that edges are smooth
LEVELS = 63  # of a color in a file: the eye sees no steps, and the file is half as large
UP = 2  # PNG's filter that stores the difference from the line above


@cache
def lake() -> Tensor:
    """A lake between hills at noon."""
    y, x = _places()
    sky = _mix((0.36, 0.60, 0.90), (0.86, 0.92, 0.97), y / 0.5)
    picture = _over(sky, (1.0, 0.97, 0.80), (x - 1.12).hypot(y - 0.17) < 0.08)
    picture = _over(picture, (0.46, 0.58, 0.68), y > 0.42 - 0.10 * torch.sin(4.2 * x + 0.6) - 0.04 * torch.sin(11 * x))
    picture = _over(picture, (0.25, 0.47, 0.27), y > 0.56 - 0.09 * torch.sin(3.1 * x + 2.5) - 0.015 * torch.sin(17 * x))
    water = _mix((0.50, 0.70, 0.84), (0.16, 0.36, 0.58), (y - 0.66) / 0.34)
    picture = torch.where(y > 0.66, water, picture)
    boat = ((y > 0.76) & (y < 0.80) & ((x - 0.55).abs() < 0.13 - (y - 0.76))) | (
        (y > 0.58) & (y < 0.75) & (x > 0.55) & (x < 0.55 + 0.55 * (y - 0.58))
    )
    return _smooth(_over(picture, (0.94, 0.91, 0.84), boat))


@cache
def town() -> Tensor:
    """A town at night."""
    y, x = _places()
    picture = _over(
        _mix((0.02, 0.03, 0.10), (0.16, 0.11, 0.22), y), (0.93, 0.90, 0.76), (x - 0.28).hypot(y - 0.2) < 0.09
    )
    tops = torch.tensor((0.55, 0.38, 0.62, 0.47, 0.32, 0.58, 0.43, 0.60))
    block = (x / 1.5 * len(tops)).long().clamp(max=len(tops) - 1)
    house = y > tops[block]
    picture = _over(picture, (0.07, 0.07, 0.11), house)
    column, row = x / 1.5 * len(tops) * 4, y * 16
    is_lit = (column.long() * 7 + row.long() * 5) % 4 < 2
    window = (
        ((column % 1 - 0.45).abs() < 0.32)
        & (column.long() % 4 > 0)
        & (row % 1 > 0.4)
        & (y > tops[block] + 0.05)
        & (y < 0.93)
    )
    return _smooth(_over(picture, (0.98, 0.74, 0.30), house & window & is_lit))


def _places() -> tuple[Tensor, Tensor]:
    """The height of each line, from 0 to 1, and the place of each column in the same unit."""
    y = (torch.arange(HEIGHT * FINER) + 0.5) / (HEIGHT * FINER)
    x = (torch.arange(WIDTH * FINER) + 0.5) / (HEIGHT * FINER)
    return y[:, None].expand(-1, len(x)), x.expand(len(y), -1)


def _mix(above: tuple[float, ...], below: tuple[float, ...], amount: Tensor) -> Tensor:
    amount = amount.clamp(0, 1)
    return torch.stack([a + (b - a) * amount for a, b in zip(above, below, strict=True)])


def _over(picture: Tensor, color: tuple[float, ...], where: Tensor) -> Tensor:
    return torch.where(where, torch.tensor(color)[:, None, None], picture)


def _smooth(picture: Tensor) -> Tensor:
    return F.avg_pool2d(picture, FINER)


def png(picture: Tensor) -> bytes:
    """The picture as a file; numbers below 0 are black, above 1 white.

    >>> png(torch.zeros(3, 2, 2))[:4]
    b'\\x89PNG'
    """
    levels = (picture.clamp(0, 1) * LEVELS).round() / LEVELS
    lines = (levels * 255).round().to(torch.uint8).permute(1, 2, 0).flatten(1)
    differences = lines - F.pad(lines[:-1], (0, 0, 1, 0))
    rows = F.pad(differences, (1, 0), value=UP).numpy().tobytes()
    _channels, height, width = picture.shape
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def address(picture: Tensor) -> str:
    """The picture as an address that contains it."""
    return f"data:image/png;base64,{b64encode(png(picture)).decode('ascii')}"
