"""A device that is none: its tensors have their memory on the CPU, and refuse to be mixed with tensors there, as those of a GPU do.

It needs no hardware, so that the tests of what runs on a GPU run everywhere. ``used`` lets tensors be made on it and moved to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _device, backend_registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NAME = "apart"
PLACE = torch.device("cpu")  # until ``used`` has made it


@dataclass
class Log:
    """What a test asks of the device.

    has_double  whether it has float64: Apple's GPUs have none
    to_cpu      the numbers of floating-point elements that were copied to the CPU, in each copy
    """

    has_double: bool = True
    to_cpu: list[int] = field(default_factory=list)


LOG = Log()


class Apart(Tensor):
    """A tensor of this device."""

    @staticmethod
    def __new__(cls, on_cpu: Tensor) -> "Apart":
        return Tensor._make_subclass(cls, on_cpu, False, dispatch_device=True)

    def tolist(self):
        return self.cpu().tolist()

    def __deepcopy__(self, memo):
        copied = self.detach().clone()
        is_parameter = isinstance(self, nn.Parameter)
        return memo.setdefault(id(self), nn.Parameter(copied, self.requires_grad) if is_parameter else copied)

    def __repr__(self, **_options):
        return f"Apart({self.tolist()})"

    def __format__(self, spec):
        return format(self.item() if self.dim() == 0 else self.tolist(), spec)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return run(func, args, dict(kwargs or {}))


def run(func, args, kwargs):
    """Run one of torch's operations on the memory of the tensors; refuse it where a GPU does."""
    if func is torch.ops.prim.device.default:
        return PLACE if isinstance(args[0], Apart) else torch.device("cpu")
    given = tree_leaves((args, kwargs))
    wanted = None if kwargs.get("device") is None else torch.device(kwargs["device"])
    own = [one for one in given if isinstance(one, Apart)]
    moves = func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
    if own and not moves and any(isinstance(one, Tensor) and not isinstance(one, Apart) and one.dim() for one in given):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {PLACE} and cpu! ({func})"
        )
    originals = {}

    def on_cpu(one):
        if not isinstance(one, Apart):
            return one
        memory = one.untyped_storage()
        plain = torch.empty(0, dtype=one.dtype, device="cpu").set_(
            memory, one.storage_offset(), one.shape, one.stride()
        )
        originals[id(plain)] = plain, one
        return plain

    is_apart = bool(own) if wanted is None else wanted.type == NAME
    if func is torch.ops.aten.copy_.default:
        is_apart = isinstance(args[0], Apart)
    options = kwargs if wanted is None else kwargs | {"device": torch.device("cpu")}
    result = func(*tree_map(on_cpu, args), **tree_map(on_cpu, options))
    made = [one for one in tree_leaves(result) if isinstance(one, Tensor)]
    if is_apart and not LOG.has_double and any(one.dtype == torch.float64 for one in made):
        raise TypeError("Cannot convert a tensor to float64: the device does not support it")
    if not is_apart:
        LOG.to_cpu += [one.numel() for one in made if own and one.is_floating_point()]
        return result

    def placed(one):
        if not isinstance(one, Tensor) or isinstance(one, Apart):
            return one
        if id(one) in originals:
            return originals[id(one)][1]
        return Apart(one.clone() if any(one is other for other in given) else one)

    return tree_map(placed, result)


class _Made(TorchDispatchMode):
    """Tensors that are made on the device or moved to it."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # it would import torch's compiler

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return run(func, args, dict(kwargs or {}))


class _Generator(torch.Generator):
    """The random numbers of the device are those of the CPU; a generator makes them for its own device."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls)
        made.place = torch.device(device).type
        return made


class _OfNumbers(TorchFunctionMode):
    """``torch.tensor`` makes its tensor where a ``TorchDispatchMode`` does not see it; a generator is of one device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        device = kwargs.get("device") or _device.CURRENT_DEVICE
        place = getattr(kwargs.get("generator"), "place", None)
        if place and place != torch.device(device or "cpu").type:
            raise RuntimeError(f"Expected a {device} device type for generator but found {place}")
        if func in (torch.tensor, torch.as_tensor) and device is not None and torch.device(device).type == NAME:
            return func(*args, **(kwargs | {"device": "cpu"})).to(device)
        return func(*args, **kwargs)


@contextmanager
def used(has_double: bool = True) -> Iterator[Log]:
    """The device in use. Tests are skipped where torch is too old to have one; a newer one that lacks it fails."""
    global PLACE
    if torch.__version__ < "2.13" and not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        pytest.skip(f"torch {torch.__version__} has no device that is written in Python")
    if PLACE.type != NAME:
        backend_registration._setup_privateuseone_for_python_backend(NAME)
        PLACE = torch.device(NAME, 0)
        # A checkpoint of other tests in this process asks the device for it, wherever its tensors are.
        getattr(torch, NAME).get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    device_module = getattr(torch, NAME)
    device_module.is_available = lambda: True
    LOG.has_double, LOG.to_cpu = has_double, []
    plain, overwrites = torch.Generator, torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    torch.Generator = _Generator
    try:
        with _Made(), _OfNumbers():
            yield LOG
    finally:
        device_module.is_available = lambda: False  # torch keeps the device: DataParallel of another test would take it
        torch.Generator = plain
        torch.__future__.set_overwrite_module_params_on_conversion(overwrites)
