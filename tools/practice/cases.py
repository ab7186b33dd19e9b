"""The layers and shapes of the bank, level by level; odd ones among them: square shapes, C = W, groups of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from normviz.layers.axes import divisors
from normviz.layers.layer import Layer
from normviz.lessons.practice.case import Case

Shape = tuple[int, ...]


class Leveled(NamedTuple):
    level: int
    case: Case


TABLES = [(2, 3), (3, 2), (2, 4), (3, 4), (4, 3), (4, 2), (3, 5), (5, 4), (2, 6)]
ODD_TABLES = [(3, 3), (4, 4), (4, 1), (6, 2)]
SEQUENCES = [(2, 3, 4), (2, 4, 3), (3, 2, 4), (2, 4, 6), (1, 4, 6), (2, 3, 6), (4, 2, 3)]
ODD_SEQUENCES = [(3, 3, 3), (2, 4, 4), (4, 4, 2)]
IMAGES = [(2, 3, 2, 2), (2, 3, 2, 4), (3, 2, 2, 3), (2, 4, 2, 3), (2, 4, 3, 3), (1, 3, 3, 4)]
GROUPED = [(2, 4, 2, 3), (2, 6, 2, 2), (1, 6, 2, 3), (3, 4, 2, 2), (2, 8, 2, 2), (1, 4, 3, 3)]
ODD_IMAGES = [(2, 4, 2, 4), (2, 3, 3, 3), (2, 4, 4, 2), (4, 4, 2, 2), (2, 2, 2, 2), (1, 4, 4, 4)]
SMALL_IMAGES = [(1, 4, 1, 2), (2, 2, 1, 3), (1, 2, 2, 3), (2, 2, 2, 1)]  # for arithmetic
VOLUMES = [(2, 2, 2, 2, 3), (1, 4, 2, 2, 2)]
LARGE = [(8, 16), (32, 12), (8, 10, 16), (4, 16, 5, 5), (8, 12, 4, 4), (2, 32, 4, 6), (16, 6, 3, 3)]


def all_cases() -> list[Leveled]:
    """Each layer on each of its shapes, once."""
    found: dict[Case, Leveled] = {}
    for leveled in chain(_tables(), _second(), _third()):
        found.setdefault(leveled.case, leveled)
    return list(found.values())


def _tables() -> Iterator[Leveled]:
    for shape in TABLES:
        yield from _cases(1, shape, f"LayerNorm({shape[1]})", f"BatchNorm1d({shape[1]})")


def _second() -> Iterator[Leveled]:
    for shape in ODD_TABLES:
        yield from _cases(2, shape, f"LayerNorm({shape[1]})", f"BatchNorm1d({shape[1]})")
    for shape in [*TABLES, *ODD_TABLES]:
        yield from _cases(2, shape, f"RMSNorm({shape[1]})", f"LayerNorm({shape[1]}, elementwise_affine=False)")
        yield from _cases(2, shape, *_group_norms(shape))
    for shape in [*SEQUENCES, *ODD_SEQUENCES]:
        features = shape[-1]
        yield from _cases(
            2, shape, f"LayerNorm({features})", f"RMSNorm({features})", f"LayerNorm([{shape[1]}, {features}])"
        )
        channels = shape[1]
        yield from _cases(2, shape, f"BatchNorm1d({channels})", f"InstanceNorm1d({channels})", layout="NCL")
    for shape in IMAGES:
        _n, c, h, w = shape
        yield from _cases(2, shape, f"BatchNorm2d({c})", f"LayerNorm([{c}, {h}, {w}])", f"InstanceNorm2d({c})")


def _third() -> Iterator[Leveled]:
    for shape in [*GROUPED, *ODD_IMAGES, *SEQUENCES]:
        yield from _cases(3, shape, *_group_norms(shape))
    for shape in [*IMAGES, *ODD_IMAGES]:
        yield from _cases(3, shape, *_every_depth("LayerNorm", shape))
        yield from _cases(3, shape, *_every_depth("RMSNorm", shape)[:3])
        yield from _cases(
            3, shape, f"InstanceNorm2d({shape[1]}, affine=True)", f"BatchNorm2d({shape[1]}, affine=False)"
        )
    for shape in ODD_IMAGES:
        yield from _cases(3, shape, f"BatchNorm2d({shape[1]})", f"InstanceNorm2d({shape[1]})")
        yield from _cases(3, shape, f"LayerNorm({shape[-1]})", f"RMSNorm({shape[-1]})", layout="NHWC")
    for shape in SMALL_IMAGES:
        yield from _cases(3, shape, f"BatchNorm2d({shape[1]})", f"InstanceNorm2d({shape[1]})", *_group_norms(shape))
        yield from _cases(3, shape, *_every_depth("LayerNorm", shape)[:3])
    for shape in VOLUMES:
        yield from _cases(3, shape, *_every_depth("LayerNorm", shape), *_group_norms(shape))
        yield from _cases(3, shape, f"BatchNorm3d({shape[1]})", f"InstanceNorm3d({shape[1]})")
    for shape in LARGE:
        yield from _cases(3, shape, *_of_large(shape))


def _of_large(shape: Shape) -> list[str]:
    channels = shape[1]
    if len(shape) < 4:
        return [
            f"LayerNorm({shape[-1]})",
            f"RMSNorm({shape[-1]})",
            f"BatchNorm1d({channels})",
            *_group_norms(shape)[:3],
        ]
    batch = f"BatchNorm2d({channels})"
    return [batch, f"InstanceNorm2d({channels})", *_every_depth("LayerNorm", shape)[1:3], *_group_norms(shape)]


def _group_norms(shape: Shape) -> list[str]:
    return [f"GroupNorm({groups}, {shape[1]})" for groups in divisors(shape[1])]


def _every_depth(name: str, shape: Shape) -> list[str]:
    depths = [list(shape[len(shape) - depth :]) for depth in range(1, len(shape) + 1)]
    return [f"{name}({depth[0] if len(depth) == 1 else depth})" for depth in depths]


def _cases(level: int, shape: Shape, *layers: str, layout: str = "") -> Iterator[Leveled]:
    """The layers that torch accepts on the shape in train mode."""
    for text in layers:
        layer = Layer.parse(text)
        assert isinstance(layer, Layer)
        if _is_accepted(layer, shape):
            yield Leveled(level, Case(text, shape, layout or layer.kind.layout(len(shape))))


def _is_accepted(layer: Layer, shape: Sequence[int]) -> bool:
    import torch

    try:
        layer.module()(torch.ones(*shape))
    except (ValueError, RuntimeError):
        return False
    return True


def _has_modes(case: Case) -> bool:
    """Whether the modes are easy to tell apart: several examples of several features, and no normalized batch axis."""
    normalized = case.layer.given.get("normalized_shape", ())
    odd = case.shape in LARGE or "affine" in case.text or len(normalized) == len(case.shape)
    return not odd and min(case.shape[:2]) > 1


def mode_cases() -> list[Leveled]:
    """Each layer once, for train and eval; some with and without running statistics."""
    found = [leveled for leveled in all_cases() if _has_modes(leveled.case)]
    for shape in TABLES:
        found += _cases(2, shape, f"BatchNorm1d({shape[1]}, track_running_stats=False)")
    for shape in SEQUENCES[:4]:
        found += _cases(3, shape, f"InstanceNorm1d({shape[1]}, track_running_stats=True)")
    for shape in IMAGES[:5]:
        found += _cases(3, shape, f"InstanceNorm2d({shape[1]}, track_running_stats=True)")
        found += _cases(3, shape, f"BatchNorm2d({shape[1]}, track_running_stats=False)")
    once: dict[str, Leveled] = {}
    for leveled in found:
        once.setdefault(leveled.case.text, leveled)
    return list(once.values())
