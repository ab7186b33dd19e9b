"""x on another device than the CPU: all is computed there, and nothing large is copied. The device is ``tests.support.apart``, which needs no hardware."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import normviz as nv
from normviz.texts.errors import NormvizError
from tests.support import apart

ROOT = Path(__file__).parents[2]


def like_torch(x):
    return F.layer_norm(x, x.shape[-1:])


def kernel(x, gamma=None, masked=True):
    """A LayerNorm that takes nothing from the CPU, as a kernel of a GPU; in blocks of a power of two."""
    if x.device.type != apart.NAME:
        raise ValueError("Pointer argument cannot be accessed from Triton (cpu tensor?)")
    n, width = x.shape[-1], 1 << (x.shape[-1] - 1).bit_length()
    mean = x.mean(-1, keepdim=True)
    deviations = F.pad(x, (0, width - n)) - mean
    squares = (deviations[..., :n] if masked else deviations).square()
    y = (x - mean) / (squares.sum(-1, keepdim=True) / n + 1e-5).sqrt()
    return y if gamma is None else y * gamma


@pytest.fixture(params=[True, False], ids=["with float64", "without float64"])
def device(request):
    with apart.used(has_double=request.param):
        yield apart.PLACE


def test_the_device_refuses_what_a_gpu_refuses(device):
    x = torch.ones(2, 3, device=device)
    assert (x + 1).device == device
    assert x.to("cpu").tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match="not supported"):
        x.numpy()


def test_other_tests_of_the_process_checkpoint_on_the_cpu_as_before():
    with apart.used():
        pass
    x = torch.ones(2, 3, requires_grad=True)
    checkpoint(torch.square, x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_a_right_kernel_passes(device):
    assert nv.check(kernel, torch.randn(3, 12).to(device), like="LayerNorm(12)")
    x, gamma = torch.randn(3, 12).to(device), torch.randn(12).to(device)
    assert nv.check(kernel, x, like="LayerNorm(12, bias=False)", params={"gamma": gamma})


@pytest.mark.parametrize(
    ("module", "dtype"),
    [
        (nn.LayerNorm(12), torch.float32),
        (nn.LayerNorm(12), torch.float16),
        (nn.BatchNorm1d(12), torch.float32),
        (nn.BatchNorm1d(12).eval(), torch.float32),
        (nn.GroupNorm(3, 12), torch.bfloat16),
    ],
    ids=str,
)
def test_torch_s_layers_pass(device, module, dtype):
    module = module.to(device, dtype)
    assert nv.check(module, torch.randn(4, 12).to(device, dtype), like=module)
    assert nv.check(module, (4, 12), like=module)  # x is made where the parameters are


def test_a_wrong_kernel_is_told_as_on_the_cpu(device):
    found = nv.check(lambda x: kernel(x, masked=False), torch.randn(3, 12).to(device), like="LayerNorm(12)")
    assert found.differences[0].sentence.startswith("Its variance counts 4 zeros of padding")
    assert found.example.x.shape[-1] == 12
    assert f'device="{device}"' in str(found.example) or found.example.x.device.type == "cpu"


def test_a_small_maximum_is_told_as_on_the_cpu(device):
    found = nv.check(lambda x: F.normalize(x, dim=-1) * 2, torch.randn(3, 4).to(device), "RMSNorm(4, eps=1e-6)")
    assert [one.what for one in found.differences] == ["eps_placement", "eps"]


def test_writing_into_x_is_noticed(device):
    def into(x):
        return x.sub_(x.mean(-1, keepdim=True)).div_((x.square().mean(-1, keepdim=True) + 1e-5).sqrt())

    found = nv.check(into, torch.randn(3, 6).to(device), like="LayerNorm(6)")
    assert [one.what for one in found.differences] == ["in_place"]
    found = nv.check(lambda x: x.copy_(like_torch(x)), torch.randn(3, 6).to(device), like="LayerNorm(6)")
    assert [one.what for one in found.differences] == ["in_place"]


DETACHED = """
import torch
import normviz as nv
from torch import nn
from tests.support import apart

class Detached(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) + 0.5 * (self.weight - self.weight.detach())

class DetachedInEval(Detached):
    def forward(self, x):
        return (nn.LayerNorm if self.training else Detached).forward(self, x) * torch.ones(6)

for has_double in (True, False):
    with apart.used(has_double=has_double):
        x = torch.randn(3, 6).to(apart.PLACE)
        print(nv.check(Detached(6).to(apart.PLACE), x, like="LayerNorm(6)").differences[0].sentence)
        with apart.PLACE:
            print(nv.check(DetachedInEval(6), x, like="LayerNorm(6)"))
"""


def test_a_gradient_of_parameters_on_the_device_is_compared():
    """In a process of its own: autograd has queues for the devices that there were when it ran first."""
    with apart.used():  # skips where torch has no such device
        pass
    ran = subprocess.run([sys.executable, "-c", DETACHED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == 4
    assert all("dgamma" in one for one in lines)


def test_tensors_that_the_function_makes_are_where_they_would_be_without_the_check(device):
    with pytest.raises(NormvizError, match="on the same device"):
        nv.check(lambda x: like_torch(x) * torch.ones(6), torch.randn(3, 6).to(device), like="LayerNorm(6)")
    with device:
        assert nv.check(lambda x: like_torch(x) * torch.ones(6), torch.randn(3, 6).to(device), like="LayerNorm(6)")


def test_an_output_on_another_device_is_refused(device):
    with pytest.raises(NormvizError, match=r"on the device of x, apart:0, and it returned one on cpu"):
        nv.check(lambda x: like_torch(x.to("cpu")), torch.randn(3, 6).to(device), like="LayerNorm(6)")


def test_what_is_copied_to_the_cpu_is_small():
    with apart.used() as log:
        x = torch.randn(20_000, 16).to(apart.PLACE)
        assert nv.check(like_torch, x, like="LayerNorm(16)")
        assert max(log.to_cpu, default=0) < 1000
        log.to_cpu.clear()
        assert not nv.check(lambda x: like_torch(x) * 1.01, x, like="LayerNorm(16)")
        assert max(log.to_cpu, default=0) < 1000
