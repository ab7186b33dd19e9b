"""The small copies on which modules are measured, and the shapes that they take."""

from itertools import islice

import pytest
import torch
from torch import nn

from normviz.measuring.models import probing
from normviz.measuring.models.kept import LIKE_X, OTHER
from normviz.measuring.models.recording import Call
from tests.measuring.models.zoo import Llama


def call(module, shape, **more):
    return Call("n", module, shape, shape, **more)


class Sized(nn.Module):
    def __init__(self, size, *shape):
        super().__init__()
        self.size, self.flag = size, True
        if shape:
            self.weight = nn.Parameter(torch.ones(shape))


SHAPES = [
    (Sized(0), (8, 96, 14, 14), [(2, 3, 4, 5), (2, 3, 4, 14), (2, 96, 4, 5)]),  # (8, 96, 14, 14) is too large
    (Sized(0, 96), (8, 96, 14, 14), [(2, 96, 4, 5), (2, 96, 4, 14), (2, 3, 4, 14)]),
    (Sized(96), (8, 96, 14, 14), [(2, 96, 4, 5), (2, 96, 4, 14), (2, 3, 4, 14)]),
    (Sized(0, 8), (1, 4, 8), [(2, 3, 8), (2, 4, 8), (1, 4, 8), (2, 4, 4)]),
    (Sized(0, 1, 8), (16, 16), [(2, 3), (2, 16), (16, 16)]),
]


@pytest.mark.parametrize(("module", "shape", "wanted"), SHAPES)
def test_axes_of_the_sizes_of_parameters_keep_their_size(module, shape, wanted):
    assert list(probing._shapes(call(module, shape))) == wanted


def test_the_first_shape_has_only_the_sizes_of_parameters():
    assert next(probing._shapes(call(Sized(0, 96), (8, 96, 14, 14)))) == (2, 96, 4, 5)
    assert list(islice(probing._shapes(call(Sized(0, 5), (9, 5))), 1)) == [(2, 5)]
    assert next(probing._shapes(call(Sized(0), (9, 1, 1)))) == (2, 2, 2)
    assert next(probing._shapes(call(Sized(0), (1, 2, 3)))) == (2, 2, 3)


def test_large_shapes_are_left_out():
    assert list(probing._shapes(call(Sized(0, 2**16), (2, 2**16)))) == []
    assert (2, 2**15) in list(probing._shapes(call(Sized(0, 2**15), (2, 2**15))))


def test_equal_modules_have_equal_keys():
    one = probing._key(call(Llama(8), (2, 8)))
    assert one == probing._key(call(Llama(8), (7, 8)))
    other = Llama(8)
    other.more = 1
    named = Llama(8)
    named.function = len
    buffered = Llama(8)
    buffered.register_buffer("b", torch.ones(2))
    keys = [one, *(probing._key(call(module, shape)) for module, shape in ((Llama(8, 1e-3), (2, 8)), (Llama(9), (2, 9)), (other, (2, 8)), (named, (2, 8)), (buffered, (2, 8)), (Llama(8), (2, 3, 8)), (type("Other", (Llama,), {})(8), (2, 8))))]  # fmt: skip
    assert len(set(keys)) == 8
    assert (2, 2**16) in probing._key(call(Sized(0, 2**16), (2, 2**16)))


def test_sizes_are_halved_until_they_are_small():
    assert [probing._smaller(size) for size in (128, 130, 129, 256, 4096, 96, 1000)] == [
        128,
        65,
        129,
        128,
        128,
        96,
        125,
    ]


class Holder(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.weight = nn.Parameter(torch.full((256, 3), 2.0, device=device, dtype=torch.bfloat16))
        self.register_parameter("none", None)
        self.register_buffer("count", torch.full((256,), 2, device=device))
        self.register_buffer("mean", torch.full((2,), 2.0, device=device, dtype=torch.float64))
        self.register_buffer("nothing", None)
        self.plain = torch.full((256,), 2, device=device)
        self.size, self.other, self.sizes, self.flag, self.rate = 256, 7, (256, 3, "a", 256.0), True, 256.0


def contents(module):
    tensors = {name: (tuple(one.shape), one.dtype, float(one.detach().flatten()[0])) for name, one in (*module.named_parameters(), *module.named_buffers(), ("plain", module.plain))}  # fmt: skip
    return tensors, (module.size, module.other, module.sizes, module.flag, module.rate, module.none, module.nothing)


def test_a_copy_has_smaller_sizes():
    module = Holder()
    handle = module.register_forward_hook(lambda *args: None)
    module.register_forward_pre_hook(lambda *args: None)
    twin = probing._copy(module, {256: 8})
    assert contents(twin) == (
        {"weight": ((8, 3), torch.float32, 1), "count": ((8,), torch.int64, 1), "mean": ((2,), torch.float32, 1), "plain": ((8,), torch.int64, 1)},
        (8, 7, (8, 3, "a", 256.0), True, 256.0, None, None),
    )  # fmt: skip
    assert not twin._forward_hooks
    assert not twin._forward_pre_hooks
    assert handle.id in module._forward_hooks
    assert contents(module)[0]["weight"] == ((256, 3), torch.bfloat16, 2)


def test_a_copy_with_all_sizes_keeps_the_values_if_there_are_any():
    twin = probing._copy(Holder(), {})
    assert contents(twin) == (
        {"weight": ((256, 3), torch.float32, 2), "count": ((256,), torch.int64, 2), "mean": ((2,), torch.float32, 2), "plain": ((256,), torch.int64, 2)},
        (256, 7, (256, 3, "a", 256.0), True, 256.0, None, None),
    )  # fmt: skip
    made = contents(probing._copy(Holder("meta"), {}))[0]
    assert [one[0] for one in made.values()] == [(256, 3), (256,), (2,), (256,)]
    assert [one[2] for one in made.values()] == [1] * 4


def test_other_arguments_are_zeros_then_ones():
    module = nn.Module()
    module.forward = lambda x, *others: (x, *others)
    alone = list(probing._functions(call(module, (2, 3))))
    assert alone == [module]
    assert list(probing._functions(call(module, (2, 3), others=(LIKE_X, OTHER)))) == [module]
    first, zeros, ones = probing._functions(call(module, (2, 3), others=(LIKE_X, 0.5, LIKE_X)))
    assert first is module
    x = torch.full((2, 3), 7.0)
    for number, function in ((0, zeros), (1, ones)):
        given, gate, half, last = function(x)
        assert (given is x, half) == (True, 0.5)
        assert gate.tolist() == last.tolist() == [[number] * 3] * 2
