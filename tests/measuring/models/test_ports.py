"""Ports of a norm: ``diff`` says nothing of equal ones, and of others what differs."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from tests.measuring.models.port_modules import (
    Added,
    Around,
    ChannelsFirst,
    Detached,
    Functional,
    GammaAround,
    Half,
    Own,
    OwnBatchNorm,
    OwnGroupNorm,
    copied,
    flat,
    instance_by_batch,
    last,
    pixels,
)
from tests.measuring.models.zoo import Frozen, Gemma, Llama, Pixel
from tests.support.needs import HAS_RMS_NORM


def image(norm, seed=0, h=5, w=6, train=True):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 8, 1), norm, nn.ReLU()).train(train), torch.randn(2, 3, h, w)


def cube(norm, seed=0):
    """C, H and W have the same size."""
    return image(norm, seed, 8, 8)


def evaluated(norm, seed=0):
    return image(norm, seed, train=False)


def words(norm, seed=0, length=5):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), norm, nn.GELU()), torch.randn(2, length, 3)


def square(norm, seed=0):
    return words(norm, seed, 8)


def batch_of_words(norm, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), norm), torch.randn(5, 5, 3)


def sound(norm, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv1d(3, 8, 1), norm), torch.randn(2, 3, 8)


def over_channels():
    return Own((8, 1, 1), (1,), 1e-6)


def layer_norm():
    return nn.LayerNorm(8, eps=1e-6)


def gamma_around(eps=1e-5, **given):
    return GammaAround(nn.LayerNorm(8, eps=eps, elementwise_affine=False), (8,), **given)


def heads(norm, transposed):
    def there(x):
        y = x.unflatten(-1, (2, 4))
        return y.transpose(1, 2) if transposed else y

    return Around(norm, there, lambda y, x: (y.transpose(1, 2) if transposed else y).flatten(-2))


def f_layer_norm(function=F.layer_norm, **given):
    return Functional(lambda x, own: function(x, (8,), own.weight, own.bias, **given), (8,))


EQUAL = {
    "permute + LayerNorm": (image, over_channels, lambda: last(layer_norm())),
    "permute + LayerNorm, C = H = W": (cube, over_channels, lambda: last(layer_norm())),
    "permute + contiguous + LayerNorm, C = H = W": (cube, over_channels, lambda: copied(layer_norm())),
    "LayerNorm2d of permute + LayerNorm": (cube, lambda: last(layer_norm()), over_channels),
    "ConvNeXt's LayerNorm": (cube, lambda: ChannelsFirst(8, eps=1e-6), over_channels),
    "BatchNorm1d on pixels": (image, lambda: nn.BatchNorm2d(8), lambda: pixels(nn.BatchNorm1d(8))),
    "BatchNorm1d on pixels, C = H = W": (cube, lambda: nn.BatchNorm2d(8), lambda: pixels(nn.BatchNorm1d(8))),
    "BatchNorm1d with H W as one axis": (image, lambda: nn.BatchNorm2d(8), lambda: flat(nn.BatchNorm1d(8))),
    "GroupNorm of one channel each": (image, lambda: nn.InstanceNorm2d(8, affine=True), lambda: nn.GroupNorm(8, 8)),
    "InstanceNorm for GroupNorm": (cube, lambda: nn.GroupNorm(8, 8), lambda: nn.InstanceNorm2d(8, affine=True)),
    "LayerNorm of all but N": (image, lambda: nn.GroupNorm(1, 8, affine=False), lambda: nn.LayerNorm([8, 5, 6], elementwise_affine=False)),
    "an own GroupNorm": (cube, lambda: nn.GroupNorm(4, 8), lambda: OwnGroupNorm(4, 8)),
    "an own GroupNorm without gamma": (image, lambda: nn.GroupNorm(2, 8, affine=False), lambda: OwnGroupNorm(2, 8, affine=False)),
    "GroupNorm with H W as one axis": (image, lambda: OwnGroupNorm(2, 8), lambda: flat(nn.GroupNorm(2, 8))),
    "an own BatchNorm": (cube, lambda: nn.BatchNorm2d(8), lambda: OwnBatchNorm(8)),
    "torch's BatchNorm with another momentum": (image, lambda: OwnBatchNorm(8, momentum=0.3), lambda: nn.BatchNorm2d(8, momentum=0.3)),
    "other names of statistics": (image, lambda: nn.BatchNorm2d(8), lambda: OwnBatchNorm(8, names=("moving_mean", "moving_var"))),
    "the same in eval mode": (evaluated, lambda: nn.BatchNorm2d(8), lambda: OwnBatchNorm(8, names=("moving_mean", "moving_var"))),
    "BatchNorm on channels last": (cube, lambda: nn.BatchNorm2d(8), lambda: last(OwnBatchNorm(8, over=(0, 1, 2)))),
    "BatchNorm without stored statistics": (image, lambda: nn.BatchNorm2d(8, track_running_stats=False), lambda: Own((8, 1, 1), (0, 2, 3))),
    "BatchNorm on sound": (sound, lambda: nn.BatchNorm1d(8), lambda: OwnBatchNorm(8, over=(0, 2))),
    "names without a meaning": (words, lambda: nn.LayerNorm(8), lambda: Own((8,), (-1,), names=("a_2", "b_2"))),
    "F.layer_norm": (words, lambda: nn.LayerNorm(8), f_layer_norm),
    "torch.layer_norm": (square, lambda: nn.LayerNorm(8), lambda: f_layer_norm(torch.layer_norm)),
    "float32 on the way": (words, lambda: Llama(8), lambda: Half(8, wide=True)),
    "an own RMSNorm": (square, lambda: Llama(8), lambda: Own((8,), (2,), 1e-6, center=False, beta=False, names=("scale", ""))),
    "1 + gamma": (words, lambda: Gemma(8), lambda: Own((8,), (2,), 1e-6, center=False, beta=False, plus=1.0)),
    "F.group_norm": (image, lambda: nn.GroupNorm(2, 8), lambda: Functional(lambda x, own: F.group_norm(x, 2, own.weight, own.bias), (8,))),
    "InstanceNorm by F.batch_norm": (image, lambda: nn.InstanceNorm2d(8, affine=True), lambda: instance_by_batch(8)),
    "gamma in another order": (image, lambda: nn.LayerNorm([8, 5, 6]), lambda: last(Own((5, 6, 8), (1, 2, 3)))),
    "gamma outside the layer": (words, lambda: nn.LayerNorm(8), gamma_around),
    "gamma outside the layer, L = C": (square, gamma_around, lambda: Own((8,), (2,))),
    "gamma outside both": (words, gamma_around, gamma_around),
    "gamma outside GroupNorm": (image, lambda: nn.GroupNorm(2, 8), lambda: GammaAround(nn.GroupNorm(2, 8, affine=False), (8, 1, 1))),
    "gamma outside an own GroupNorm": (image, lambda: GammaAround(OwnGroupNorm(2, 8, affine=False), (8, 1, 1)), lambda: nn.GroupNorm(2, 8)),
    "gamma outside BatchNorm": (evaluated, lambda: nn.BatchNorm2d(8), lambda: GammaAround(nn.BatchNorm2d(8, affine=False), (8, 1, 1))),
    "gamma outside, and a residual": (words, lambda: Added(nn.LayerNorm(8)), lambda: Added(gamma_around())),
    "gamma outside a permuted one": (cube, over_channels, lambda: last(GammaAround(nn.LayerNorm(8, eps=1e-6, elementwise_affine=False), (8,)))),
    "gamma outside, after permute": (cube, over_channels, lambda: GammaAround(last(nn.LayerNorm(8, eps=1e-6, elementwise_affine=False)), (8, 1, 1))),
    "gamma in a larger module": (words, lambda: Functional(lambda x, own: own.more(F.layer_norm(x, (8,), own.weight, own.bias)), (8,)), lambda: Functional(lambda x, own: own.more(F.layer_norm(x, (8,)) * own.weight + own.bias), (8,))),
    **({"a beta that is not used": (words, lambda: Llama(8), lambda: Functional(lambda x, own: F.rms_norm(x, (8,), own.weight, 1e-6), (8,)))} if HAS_RMS_NORM else {}),
    "no parameters": (cube, Pixel, Pixel),
    "the batch second, L = N": (batch_of_words, lambda: nn.LayerNorm(8), lambda: Around(nn.LayerNorm(8), lambda x: x.transpose(0, 1), lambda y, x: y.transpose(0, 1))),
    "heads first": (words, lambda: heads(nn.LayerNorm(4), False), lambda: heads(nn.LayerNorm(4), True)),
    **({"torch's RMSNorm": (words, lambda: nn.RMSNorm(8, eps=1e-6), lambda: Llama(8))} if HAS_RMS_NORM else {}),
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1], ids=["the same weights", "other weights"])
@pytest.mark.parametrize(("make", "first", "second"), EQUAL.values(), ids=EQUAL)
def test_equal_norms_differ_in_nothing(make, first, second, seed):
    (one, x), (other, _x) = make(first()), make(second(), seed=seed)
    if not seed:
        assert torch.allclose(one(x), other(x), atol=1e-4)
    found = nv.norms(one, x).diff(nv.norms(other, x))
    assert (found, found.notes) == ((), ())


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias, self.drop = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8)), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(F.layer_norm(x, (8,), self.weight, self.bias))


class ChannelsLast(nn.Module):
    """A linear layer and a norm on channels last, with the sizes of a convolution on channels first."""

    def __init__(self, norm):
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 8), norm

    def forward(self, x):
        return self.norm(self.linear(x.permute(0, 2, 3, 1)))


def test_a_linear_layer_has_its_channels_last():
    one, x = cube(Own((8, 1, 1), (1,)))
    first = nv.norms(one, x)
    assert first.diff(nv.norms(ChannelsLast(nn.LayerNorm(8)), x)) == ()
    assert first.diff(nv.norms(ChannelsLast(Own((8, 1, 1), (1,))), x)) != ()


class Behind(nn.Module):
    """A norm, what its module does with the output, and what the model does with it before the next layer."""

    def __init__(self, inside=None, outside=None):
        super().__init__()
        inside = inside or (lambda y: y)
        self.norm, self.outside = Around(nn.LayerNorm(8), lambda x: x, lambda y, x: inside(y)), outside or (lambda y: y)
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(self.outside(self.norm(x)))


def behind(one, other):
    x = torch.randn(2, 5, 8)
    return nv.norms(one, x).diff(nv.norms(other, x))


@pytest.mark.parametrize(
    ("inside", "same"),
    [
        (lambda y: y * 0.5, lambda y: y / 2),
        (lambda y: y + 1, lambda y: 1 + y),
        (F.relu, lambda y: y.clamp(min=0)),
        (F.relu, lambda y: F.relu(F.dropout(y, 0.0))),
        (F.silu, lambda y: y * torch.sigmoid(y)),
    ],
)
def test_what_is_behind_a_norm_may_be_in_its_module_or_outside(inside, same):
    assert behind(Behind(inside), Behind(None, same)) == ()
    assert behind(Behind(None, same), Behind(inside)) == ()
    assert behind(Behind(inside), Behind(inside)) == ()


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        (lambda y: y * 0.5, ["It multiplies by 0.5*gamma, not by gamma.", "It adds 0.5*beta, not beta."]),
        (lambda y: y + 1, ["It adds 1, which is no parameter."]),
        (F.relu, ["Its output goes through relu."]),
    ],
    ids=["factor", "sum", "activation"],
)
def test_what_only_one_module_does_behind_its_norm_is_told(inside, told):
    for pair, which in (((Behind(inside), Behind()), "first"), ((Behind(), Behind(inside)), "second")):
        assert behind(*pair) == tuple(f"norm.norm, {which} model: {sentence}" for sentence in told)


def test_another_activation_in_the_module_is_told():
    sentences = ("first model: Its output goes through relu.", "second model: Its output goes through silu.")
    assert behind(Behind(F.relu), Behind(F.silu)) == tuple(f"norm.norm, {one}" for one in sentences)
    assert behind(Behind(F.relu), Behind(torch.Tensor.relu_)) == ()
    assert behind(Behind(torch.tanh), Behind(lambda y: 2 * torch.sigmoid(2 * y) - 1)) == ()


class Beside(nn.Module):
    """A norm of h and a tensor z beside it."""

    def __init__(self, norm, join):
        super().__init__()
        self.h, self.z, self.norm, self.out, self.join = nn.Linear(8, 8), nn.Linear(8, 8), norm, nn.Linear(8, 8), join

    def forward(self, x):
        return self.out(self.join(self.norm, self.h(x), self.z(x)))


class Joined(nn.Module):
    """RMSNorm with a second argument."""

    def __init__(self, before, after):
        super().__init__()
        self.weight, self.before, self.after = nn.Parameter(torch.ones(8)), before, after

    def forward(self, h, z):
        return self.after(own_rms(self.before(h, z)) * self.weight, z)


def own_rms(h):
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-5)


class Rms(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(8)), eps

    def forward(self, h):
        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def first_alone(h, z):
    return h


def gated(h, z):
    return h * F.silu(z)


def summed(h, z):
    return h + z


def modulated(h, z):
    return h * (1 + z) + z


BESIDE = [
    (gated, first_alone),
    (summed, first_alone),
    (first_alone, gated),
    (first_alone, summed),
    (first_alone, modulated),
]


@pytest.mark.parametrize(("before", "after"), BESIDE)
def test_a_gate_or_a_residual_may_be_an_argument_of_the_norm_or_outside(before, after):
    one = Beside(Joined(before, after), lambda norm, h, z: norm(h, z))
    other = Beside(Rms(), lambda norm, h, z: after(norm(before(h, z)), z))
    for found in (behind(one, other), behind(other, one)):
        assert found == ()
        assert "what it does with that tensor is not compared" in str(found)
    wrong = Beside(Rms(1e-3), other.join)
    assert behind(one, wrong) == ("norm, second model: Its eps is 0.001, not 1e-05.",)


def test_a_gate_that_the_other_model_does_not_have_is_told():
    one, none = (
        Beside(Joined(first_alone, gated), lambda norm, h, z: norm(h, z)),
        Beside(Rms(), lambda norm, h, z: norm(h)),
    )
    does = "It multiplies its output by silu(z), where z is a tensor given beside x."
    assert behind(one, none) == (f"norm, first model: {does}",)


def test_a_norm_without_tensors_may_run_several_times_or_be_several():
    def model(*norms):
        return nn.Sequential(*(part for norm in norms for part in (nn.Linear(8, 8), norm)))

    plain, learned = nn.LayerNorm(8, elementwise_affine=False), nn.LayerNorm(8)
    several = [nn.LayerNorm(8, elementwise_affine=False) for _norm in range(3)]
    assert behind(model(plain, plain, plain), model(*several)) == ()
    assert behind(model(*several), model(plain, plain, plain)) == ()
    missing = "5 (LayerNorm([8], elementwise_affine=False)) is missing in the second model."
    assert behind(model(*several), model(plain, plain)) == (missing,)
    assert behind(model(learned, learned), model(nn.LayerNorm(8), nn.LayerNorm(8))) == (
        "3 (LayerNorm([8])) is only in the second model.",
    )


def test_a_gamma_of_one_number_has_another_shape():
    class OneNumber(nn.Module):
        def __init__(self):
            super().__init__()
            self.g = nn.Parameter(torch.ones(1))

        def forward(self, x):
            return own_rms(x) * self.g

    assert behind(Rms(), OneNumber()) == ("the model itself: the shapes of gamma differ: (8,) and (1,).",)


def test_two_factors_behind_a_norm_are_compared():
    found = behind(Behind(lambda y: y * 0.5), Behind(lambda y: y / 4))
    assert found[::2] == (
        "norm.norm, first model: It multiplies by 0.5*gamma, not by gamma.",
        "norm.norm, second model: It multiplies by 0.25*gamma, not by gamma.",
    )


@pytest.mark.parametrize("norm", [nn.LayerNorm(8), nn.LayerNorm(8, elementwise_affine=False)])
def test_a_factor_before_a_product_is_no_part_of_the_norm(norm):
    class Scores(nn.Module):
        def __init__(self, is_first):
            super().__init__()
            self.norm, self.is_first = norm, is_first

        def forward(self, x):
            y = self.norm(x)
            return (y * 0.5) @ x.mT if self.is_first else (y @ x.mT) * 0.5

    assert behind(Scores(True), Scores(False)) == ()
    assert behind(Scores(False), Scores(True)) == ()


def test_a_mode_in_which_the_port_is_random_is_left_out():
    (one, x), (other, _x) = words(nn.LayerNorm(8)), words(Dropping())
    assert nv.norms(one.eval(), x).diff(nv.norms(other.eval(), x)) == ()
    assert nv.norms(one.train(), x).diff(nv.norms(other.train(), x)) == ()  # the call of F.layer_norm in it is the norm


def test_inputs_may_have_other_sizes_and_dtypes():
    (one, x), (other, _x) = words(Llama(8)), words(Half(8, wide=True))
    first = nv.norms(one, x)
    assert first.diff(nv.norms(other, torch.randn(3, 4, 3))) == ()
    assert first.diff(nv.norms(other, torch.randn(30, 3))) == ()
    assert first.diff(nv.norms(other.bfloat16(), x.bfloat16())) == ()


def test_another_dtype_of_the_output_is_told():
    class Wide(Llama):
        def forward(self, x):
            return super().forward(x).float()

    (one, x), (other, _x) = words(Llama(8)), words(Wide(8))
    found = nv.norms(one.bfloat16(), x.bfloat16()).diff(nv.norms(other.bfloat16(), x.bfloat16()))
    assert found == ("1, second model: Its output is float32, not bfloat16.",)


class Rounded(nn.Module):
    """An RMSNorm in the dtype of x, or in float32 up to gamma, or to the end."""

    def __init__(self, steps):
        super().__init__()
        self.weight, self.steps = nn.Parameter(torch.ones(64)), steps

    def forward(self, x):
        y = x.float() if self.steps else x
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
        return (y * self.weight).to(x.dtype) if self.steps == "all" else y.to(x.dtype) * self.weight


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_statistics_in_16_bits_are_told(dtype):
    def rows(steps):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 64), Rounded(steps)).to(dtype)
        return nv.norms(model, torch.randn(2, 5, 3).to(dtype))

    low, wide, whole = rows(""), rows("to gamma"), rows("all")
    sentence = f"It rounds to {str(dtype)[6:]} on the way. Compute in float32."
    assert wide.diff(low) == (f"1, second model: {sentence}",)
    assert low.diff(whole) == (f"1, first model: {sentence}",)
    assert [low.diff(rows("")), wide.diff(whole), whole.diff(wide)] == [()] * 3


def test_a_layer_of_torch_in_16_bits_is_compared_with_another_function():
    torch.manual_seed(0)
    one, other = (nn.Sequential(nn.Linear(3, 64), norm).bfloat16() for norm in (nn.LayerNorm(64), Own((64,), (-1,))))
    x = torch.randn(2, 5, 3).bfloat16()
    found = nv.norms(one, x).diff(nv.norms(other, x))
    assert found == ("1, second model: It rounds to bfloat16 on the way. Compute in float32.",)
    assert found.notes == ()


def test_a_momentum_of_none_is_no_number():
    (one, x), (other, _x) = image(nn.BatchNorm2d(8, momentum=None)), image(nn.BatchNorm2d(8))
    found = nv.norms(one, x).diff(nv.norms(other, x))
    assert found == ("1, second model: After two batches in train mode, its running_mean differs.",)


DIFFERENT = {
    "groups": (image, lambda: nn.GroupNorm(4, 8), lambda: nn.GroupNorm(2, 8), "It averages over H, W and groups of 4 neighbors along C; GroupNorm(4, 8) averages over H, W and groups of 2 neighbors along C."),
    "groups of an own one": (cube, lambda: nn.GroupNorm(4, 8), lambda: OwnGroupNorm(2, 8), "groups of 4 neighbors"),
    "channels apart": (image, lambda: nn.GroupNorm(2, 8), lambda: OwnGroupNorm(2, 8, strided=True), "indices of C that are 2 apart"),
    "no gamma": (image, lambda: nn.GroupNorm(2, 8), lambda: nn.GroupNorm(2, 8, affine=False), "only the first has a gamma."),
    "no gamma of an own one": (image, lambda: OwnGroupNorm(2, 8), lambda: OwnGroupNorm(2, 8, affine=False), "only the first has a gamma."),
    "a gamma": (image, lambda: nn.InstanceNorm2d(8), lambda: nn.InstanceNorm2d(8, affine=True), "only the second has a gamma."),
    "no stored statistics": (image, lambda: nn.BatchNorm2d(8), lambda: nn.BatchNorm2d(8, track_running_stats=False), "In eval mode: It computes the statistics of x"),
    "no stored statistics of an own one": (cube, lambda: nn.BatchNorm2d(8), lambda: Own((8, 1, 1), (0, 2, 3)), "In eval mode: It computes the statistics of x"),
    "frozen": (image, lambda: nn.BatchNorm2d(8), lambda: Frozen(8), "It uses stored statistics"),
    "eps of BatchNorm": (image, lambda: nn.BatchNorm2d(8), lambda: nn.BatchNorm2d(8, eps=1e-3), "Its eps is 0.001, not 1e-05."),
    "eps in eval mode": (evaluated, lambda: nn.BatchNorm2d(8), lambda: nn.BatchNorm2d(8, eps=1e-6), "Its eps is 1e-06, not 1e-05."),
    "eps of an own one": (words, lambda: nn.LayerNorm(8), lambda: Own((8,), (-1,), 1e-6), "Its eps is 1e-06, not 1e-05."),
    "a small eps": (words, lambda: nn.LayerNorm(8, eps=1e-12), lambda: nn.LayerNorm(8, eps=1e-8), "Its eps is 1e-08, not 1e-12."),
    "eps of a function": (words, lambda: nn.LayerNorm(8), lambda: f_layer_norm(eps=1e-10), "Its eps is 1e-10, not 1e-05."),
    "eps outside": (words, lambda: nn.LayerNorm(8, eps=1e-6), lambda: Own((8,), (-1,), 1e-6, outside=True), "outside the root"),
    "m - 1": (words, lambda: nn.LayerNorm(8), lambda: Own((8,), (-1,), correction=1), "second model: It divides the sum of squares by m - 1"),
    "m - 1 of the first": (words, lambda: Own((8,), (-1,), correction=1), lambda: nn.LayerNorm(8), "first model: It divides the sum of squares by m - 1"),
    "sign": (words, lambda: nn.LayerNorm(8), lambda: Own((8,), (-1,), sign=-1), "It multiplies by -gamma, not by gamma."),
    "no mean": (words, lambda: nn.LayerNorm(8, bias=False), lambda: Own((8,), (-1,), center=False, beta=False), "It does not subtract the mean."),
    "no beta": (words, lambda: nn.LayerNorm(8), lambda: nn.LayerNorm(8, bias=False), "only the first has a beta."),
    "gamma and beta exchanged": (words, lambda: nn.LayerNorm(8), lambda: Functional(lambda x, own: F.layer_norm(x, (8,), own.bias, own.weight), (8,)), "exchange them"),
    "beta outside F.layer_norm": (words, lambda: Functional(lambda x, own: own.more(F.layer_norm(x, (8,)) * own.weight + own.bias), (8,)), lambda: Functional(lambda x, own: own.more(F.layer_norm(x, (8,)) * own.weight), (8,)), "only the first has a beta."),
    **({"eps, and a beta that is not used": (words, lambda: Llama(8), lambda: Functional(lambda x, own: own.more(F.rms_norm(x, (8,), own.weight, 1e-3)), (8,)), "Its eps is 0.001, not 1e-06.")} if HAS_RMS_NORM else {}),
    "gamma outside, without beta": (words, lambda: nn.LayerNorm(8), lambda: gamma_around(beta=False), "only the first has a beta."),
    "-gamma outside": (words, lambda: nn.LayerNorm(8), lambda: gamma_around(sign=-1), "It multiplies by -gamma, not by gamma."),
    "gamma outside and eps": (words, lambda: nn.LayerNorm(8), lambda: gamma_around(1e-6), "Its eps is 1e-06, not 1e-05."),
    "gamma outside and momentum": (image, lambda: nn.BatchNorm2d(8), lambda: GammaAround(nn.BatchNorm2d(8, affine=False, momentum=0.2), (8, 1, 1)), "Its momentum is 0.2, not 0.1."),
    "gamma outside along L": (square, lambda: nn.LayerNorm(8), lambda: GammaAround(nn.LayerNorm(8, elementwise_affine=False), (8, 1)), "It has one gamma for each index of L; LayerNorm([8]) has one for each index of C."),
    "1 + gamma": (words, lambda: Llama(8), lambda: Gemma(8), "It multiplies by 1 + gamma, not by gamma."),
    "over W": (cube, over_channels, lambda: nn.LayerNorm(8, eps=1e-6), "It averages over W; Own averages over C."),
    "over H": (cube, lambda: Own((8, 1, 1), (2, 3)), lambda: Own((8, 1, 1), (2,)), "It averages over H; Own averages over H and W."),
    "over N": (image, lambda: nn.InstanceNorm2d(8, affine=True), lambda: nn.BatchNorm2d(8, track_running_stats=False), "It averages over N, H and W"),
    "gamma for each element": (image, lambda: nn.GroupNorm(1, 8), lambda: nn.LayerNorm([8, 5, 6]), "the shapes of gamma differ: (8,) and (8, 5, 6)."),
    "momentum": (image, lambda: nn.BatchNorm2d(8), lambda: nn.BatchNorm2d(8, momentum=0.01), "Its momentum is 0.01, not 0.1."),
    "momentum and 1 - momentum": (image, lambda: nn.BatchNorm2d(8), lambda: OwnBatchNorm(8, exchanged=True), "Its momentum is 0.9, not 0.1."),
    "the biased variance is stored": (image, lambda: nn.BatchNorm2d(8), lambda: OwnBatchNorm(8, biased=True), "its running_var differs"),
    "a constant mean": (words, lambda: nn.LayerNorm(8), lambda: Detached(8), "Its output is right, but not its gradient: dx"),
    "over L": (square, lambda: nn.LayerNorm(8), lambda: Own((8,), (1,)), "It averages over L; LayerNorm([8]) averages over C."),
    "BatchNorm1d on words": (square, lambda: nn.LayerNorm(8), lambda: nn.BatchNorm1d(8), "It averages over N and C"),
    "pixels without permute": (cube, lambda: nn.BatchNorm2d(8), lambda: Around(nn.BatchNorm1d(8), lambda x: x.flatten(0, 2), lambda y, x: y.view_as(x)), "It averages over N, C and H"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "first", "second", "told"), DIFFERENT.values(), ids=DIFFERENT)
def test_other_norms_differ_for_a_reason(make, first, second, told):
    (one, x), (other, _x) = make(first()), make(second(), seed=1)
    found = nv.norms(one, x).diff(nv.norms(other, x))
    assert any(told in sentence for sentence in found)
    assert all(sentence.startswith("1") for sentence in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("port", "told"),
    [
        (lambda: gamma_around(1e-6), ["second model: Its eps is 1e-06, not 1e-05."]),
        (lambda: gamma_around(beta=False), ["only the first has a beta."]),
        (lambda: gamma_around(sign=-1), ["second model: It multiplies by -gamma, not by gamma."]),
    ],
)
def test_a_gamma_outside_the_layer_is_not_missing(port, told):
    (one, x), (other, _x) = words(nn.LayerNorm(8)), words(port(), seed=1)
    found = nv.norms(one, x).diff(nv.norms(other, x))
    assert [sentence.replace("1 / 1.norm, ", "").replace("1 / 1.norm: ", "") for sentence in found] == told


def test_a_gamma_outside_the_layer_of_one_is_that_of_a_formula():
    (one, x), (other, _x) = words(gamma_around(beta=False)), words(Own((8,), (-1,), outside=True, beta=False), seed=1)
    found = nv.norms(one, x).diff(nv.norms(other, x))
    sentence = "It adds eps to the standard deviation, outside the root, not to the variance."
    assert found == (f"1.norm / 1, second model: {sentence}",)
    assert nv.norms(other, x).diff(nv.norms(one, x)) == (f"1 / 1.norm, first model: {sentence}",)


def test_a_gamma_with_another_name_is_not_missing():
    port = Own((8,), (-1,), outside=True, names=("a_2", "b_2"))
    (one, x), (other, _x) = words(nn.LayerNorm(8)), words(port, seed=1)
    sentence = "It adds eps to the standard deviation, outside the root, not to the variance."
    assert nv.norms(one, x).diff(nv.norms(other, x)) == (f"1, second model: {sentence}",)


def test_with_weights_a_gamma_outside_the_layer_is_compared():
    def norms(norm, gamma):
        nn.init.constant_(norm.weight, gamma)
        return nv.norms(*words(norm))

    inside = norms(nn.LayerNorm(8), 3.0)
    assert inside.diff(norms(gamma_around(), 3.0), weights=True) == ()
    (found,) = inside.diff(norms(gamma_around(), 2.5), weights=True)
    assert found.endswith(" for the same input. gamma differs by up to 0.5.")


def test_a_gamma_that_only_one_has_is_told_once_beside_another_eps():
    without, layer = lambda: nn.LayerNorm(8, elementwise_affine=False), lambda: nn.LayerNorm(8, eps=1e-6)
    for first, second, eps, which in (
        (without, layer, "1e-06, not 1e-05", "second"), (layer, without, "1e-05, not 1e-06", "first")
    ):  # fmt: skip
        (one, x), (other, _x) = words(first()), words(second(), seed=1)
        assert nv.norms(one, x).diff(nv.norms(other, x)) == (
            f"1, second model: Its eps is {eps}.", f"1: only the {which} has a gamma.", f"1: only the {which} has a beta.",
        )  # fmt: skip


def test_a_frozen_norm_is_a_note_beside_one_in_eval_mode():
    for first, second, which in ((nn.BatchNorm2d, Frozen, "second"), (Frozen, nn.BatchNorm2d, "first")):
        (one, x), (other, _x) = evaluated(first(8)), evaluated(second(8))
        found = nv.norms(one, x).diff(nv.norms(other, x))
        assert found == ()
        assert f"{which} model: It is frozen" in found.notes[0]


def test_check_is_not_asked_about_a_large_input(monkeypatch):
    monkeypatch.setattr("normviz.measuring.models.ports.compare_with_layer", None)
    x = torch.randn(1, 8, 64, 64)
    one, other = (nv.norms(nn.Sequential(nn.LayerNorm([8, 64, 64], eps=eps)), x) for eps in (1e-5, 1e-2))
    assert one.diff(other) == ("0: eps differs: 1e-05 and 0.01.",)
