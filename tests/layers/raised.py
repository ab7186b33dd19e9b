"""What torch's normalization layers raise, found by running them: each layer, function, constructor and ``load_state_dict`` with each kind of
wrong argument."""

import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import torch
from torch import nn
from torch.nn import functional as F

SHAPES = [(), (4,), (2, 4), (2, 4, 5), (2, 4, 3, 5), (2, 4, 3, 5, 2), (1, 2, 4, 3, 5, 2), (2, 6, 3, 5), (2, 6, 5), (1, 4), (1, 4, 1), (1, 4, 1, 1), (4, 1, 1), (2, 0, 3, 5)]  # fmt: skip
DTYPES = [torch.long, torch.bool, torch.float16, torch.bfloat16, torch.float64, torch.complex64]
NO_TENSORS = [[1.0, 2.0], None, "x", 1.0, (torch.ones(2, 4),), {"x": 1}, torch.ones(2, 4).numpy(), torch.ones(2, 4).to_sparse()]  # fmt: skip
CHANNELS = [getattr(nn, f"{family}Norm{rank}d") for family in ("Batch", "Instance") for rank in (1, 2, 3)]
CLASSES = [nn.LayerNorm, nn.GroupNorm, nn.SyncBatchNorm, nn.LocalResponseNorm, nn.LazyBatchNorm1d, *CHANNELS]
CLASSES += [nn.RMSNorm] if hasattr(nn, "RMSNorm") else []
POSITIONAL = [(), ("64",), (4.0,), (-3,), (None,), ([],), (4,) * 10, (torch.ones(2),), (3, 4), (0, 4), (2, -4), ("2", "4"), (2, None), (4, "a"), (4, 1e-5)]  # fmt: skip
NAMED = [{name: 4} for name in ("epsilon", "dim", "axis", "num_features", "num_channels", "normalized_shape", "momentum", "affine", "data_format")]  # fmt: skip
NAMED += [{"device": "nope"}, {"dtype": torch.long}, {"dtype": "float32"}]


def modules() -> Iterator[Callable[[], nn.Module]]:
    yield from (
        lambda: nn.LayerNorm(4),
        lambda: nn.LayerNorm([9, 9, 9]),
        lambda: nn.LayerNorm(4, elementwise_affine=False),
    )
    yield from (lambda: nn.LayerNorm(4, eps="a"), lambda: nn.GroupNorm(2, 4, eps=None))
    yield from (lambda: nn.GroupNorm(2, 4), lambda: nn.GroupNorm(3, 6), lambda: nn.GroupNorm(4, 4, affine=False))
    yield from (
        lambda: nn.SyncBatchNorm(4),
        lambda: nn.LocalResponseNorm(2),
        lambda: nn.CrossMapLRN2d(2),
        nn.LazyBatchNorm2d,
    )
    if hasattr(nn, "RMSNorm"):
        yield from (lambda: nn.RMSNorm(4), lambda: nn.RMSNorm([9, 9]))
    for make in CHANNELS:
        for affine, tracks in product((True, False), repeat=2):
            yield lambda make=make, affine=affine, tracks=tracks: make(7, affine=affine, track_running_stats=tracks)
            yield lambda make=make, affine=affine, tracks=tracks: make(4, affine=affine, track_running_stats=tracks)
        yield lambda make=make: make(4, eps=0.0)
        yield lambda make=make: make(4, eps=-1.0, track_running_stats=True).eval()
        yield lambda make=make: make(4, eps="a", momentum=None, track_running_stats=True)
        yield lambda make=make: make(4, momentum="a", track_running_stats=True)


def calls() -> Iterator[Callable[[], object]]:
    inputs = [torch.ones(shape) for shape in SHAPES]
    inputs += [torch.ones(shape).to(dtype) for shape in ((2, 4), (2, 5, 4), (2, 4, 3, 5)) for dtype in DTYPES]
    inputs += [torch.empty(2, 5, 4, device="meta"), torch.empty(2, 4, 3, 5, device="meta")]
    for make, x in product(modules(), [*inputs, *NO_TENSORS]):
        yield lambda make=make, x=x: make()(x)
    for make in modules():
        yield lambda make=make: make()()
        yield lambda make=make: make()(torch.ones(2, 4), torch.ones(2))
        yield lambda make=make: make().half()(torch.ones(2, 5, 4))
        yield from loads(make)
    for make, given in product(CLASSES, POSITIONAL):
        yield lambda make=make, given=given: make(*given)
    for make, given in product(CLASSES, NAMED):
        yield lambda make=make, given=given: make(4, **given)
        yield lambda make=make, given=given: make(2, 4, **given)
    yield from functions()


def loads(make: Callable[[], nn.Module]) -> Iterator[Callable[[], object]]:
    def load(change: Callable[[str, torch.Tensor], tuple[str, object]]) -> Callable[[], object]:
        return lambda: make().load_state_dict(dict(change(*one) for one in make().state_dict().items()))

    yield load(lambda name, value: (name, torch.ones(9) if value.dim() else value))
    yield load(lambda name, value: (name, value.reshape(1, -1, 1, 1) if value.dim() else value))
    yield load(lambda name, value: (f"module.{name}", value))
    yield load(lambda name, value: (name, [1.0, 2.0]))
    stored = nn.BatchNorm2d(4).state_dict()
    yield from (
        lambda given=given: make().load_state_dict(given) for given in ({}, {"gamma": torch.ones(4)}, stored, [], None)
    )


def functions() -> Iterator[Callable[[], object]]:
    x, four, five, seven = torch.ones(2, 4, 3, 5), torch.ones(4), torch.ones(5), torch.ones(7)
    for shape in (5, None, [], [5.0], [4], torch.tensor([5])):
        yield lambda shape=shape: F.layer_norm(x, shape)
    for given in ((seven,), (five, seven), (five.half(),), (1e-5,), ([1.0],), (None, None, "a"), (five.to("meta"),)):
        yield lambda given=given: F.layer_norm(x, [5], *given)
    yield from (
        lambda: F.layer_norm(x, [5], gamma=five),
        lambda: F.layer_norm(x),
        lambda: torch.native_layer_norm(x, [5], None, None),
    )
    for given in (
        (0,),
        (3,),
        (2.0,),
        ("2",),
        (None,),
        (-2,),
        (2, seven),
        (2, four, seven),
        (2, torch.ones(1, 4, 1, 1)),
        (),
    ):
        yield lambda given=given: F.group_norm(x, *given)
    for given in (
        (None, None),
        (),
        (seven, seven),
        (four, None),
        (0.0, 1.0),
        (four, four, seven),
        (four, four, four, four, 0.1, True),
    ):
        yield lambda given=given: F.batch_norm(x, *given)
        yield lambda given=given: F.batch_norm(x, *given, training=True)
    yield from (
        lambda: F.batch_norm(x, four, four, momentum=None),
        lambda: F.batch_norm(x.half(), four, four, four.half(), four.half()),
    )
    yield from (
        lambda: F.instance_norm(x, four),
        lambda: F.instance_norm(x, use_input_stats=False),
        lambda: F.instance_norm(four),
    )
    for size in (0, -1, 2.5):
        yield lambda size=size: F.local_response_norm(x, size)
    yield lambda: F.local_response_norm(torch.ones(2, 4), 2)
    if hasattr(F, "rms_norm"):
        for given in ((5,), ([4],), ([5], seven), ([5], five, five), ()):
            yield lambda given=given: F.rms_norm(x, *given)


@cache
def raised() -> tuple[str, ...]:
    """The messages with the names of their classes, one of those that differ only in numbers and ranks."""
    found: dict[str, str] = {}
    for call in calls():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            found.setdefault(re.sub(r"\d+", "0", re.sub(r"(Batch|Instance)Norm\dd", r"\1", text)), text)
    return tuple(found.values())
