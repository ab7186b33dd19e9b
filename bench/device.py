"""What ``nv.check`` and ``nv.norms`` say on an accelerator, of right and wrong functions: ``make test-device``, or ``python -m bench.device``.

It prints a table: torch's layers in three dtypes, Triton kernels, compiled modules and a model, each with the verdict and the seconds. The exit code is 1 if
one is wrong. Without an accelerator it says so, and ends. ``--device cpu`` runs it on the CPU, with Triton's interpreter.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import normviz as nv

N = 96
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
MISTAKES = ("mask", "tail", "eps outside", "half sums", "strides", "one buffer", "in place", "dx", "dgamma")


@dataclass(frozen=True)
class Case:
    """A function on a device. ``what`` is the kind of the difference that it must have; "" if it is right, "any" if the kind may depend on the dtype."""

    name: str
    run: Callable[[], Any]
    what: str = ""


def cases(device: torch.device) -> Iterator[Case]:
    """All of them; of Triton, if it is installed."""
    yield from layers(device)
    try:
        from bench import kernels
    except ImportError:
        print("triton is not installed: no kernels, nothing compiled")
    else:
        for dtype in DTYPES:
            # The interpreter runs row by row.
            x = torch.randn(*((2, N) if device.type == "cpu" else (4, 5, N)), device=device, dtype=dtype)
            like = f"LayerNorm({N}, bias=False)"
            for mistake in ("", *MISTAKES):
                module = kernels.Kernel(N, mistake).to(device, dtype)
                name = f"Triton, {mistake or 'right'}, {_named(dtype)}"
                yield Case(name, partial(nv.check, module, x, like), "any" if mistake else "")
        yield from _compiled(device) if device.type in ("cuda", "xpu", "mps") else ()
    yield from models(device)


def models(device: torch.device) -> Iterator[Case]:
    """The normalizations of models."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.GroupNorm(4, 8)).to(device)
    yield Case("norms of a model", partial(_norms, model, torch.randn(2, 3, 9, 9, device=device), 2))
    block = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).to(device)
    yield Case("norms of a Transformer", partial(_norms, block, torch.randn(2, 5, 16, device=device), 2))


def layers(device: torch.device) -> Iterator[Case]:
    """torch's layers, and another eps."""
    several = [
        nn.LayerNorm(12),
        nn.BatchNorm1d(12),
        nn.BatchNorm1d(12).eval(),
        nn.GroupNorm(3, 12),
        nn.InstanceNorm1d(12),
    ]
    several += [nn.RMSNorm(12)] if hasattr(nn, "RMSNorm") else []
    for dtype in DTYPES:
        for module in several:
            x = torch.randn(4, 12, 12, device=device, dtype=dtype)
            own = type(module)(**_arguments(module)).train(module.training).to(device, dtype)
            mode = "" if module.training else ", eval"
            yield Case(f"{type(module).__name__}{mode}, {_named(dtype)}", partial(nv.check, own, x, own))
        yield Case(f"wrong eps, {_named(dtype)}", partial(nv.check, _other_eps, torch.randn(4, 12, device=device, dtype=dtype), "LayerNorm(12)"), "eps")  # fmt: skip


def _arguments(module: nn.Module) -> dict[str, Any]:
    names = ("normalized_shape", "num_features", "num_groups", "num_channels")
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def _other_eps(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=0.1)


def _compiled(device: torch.device) -> Iterator[Case]:
    x = torch.randn(4, 5, N, device=device)
    yield Case("compiled LayerNorm", partial(nv.check, torch.compile(nn.LayerNorm(N).to(device)), x, f"LayerNorm({N})"))
    yield Case("compiled, wrong eps", partial(nv.check, torch.compile(_other_eps), x, f"LayerNorm({N})"), "eps")


def _norms(model: nn.Module, x: Tensor, count: int) -> str:
    found = nv.norms(model, x)
    return "" if len(found.rows) == count and not found.failure else f"{len(found.rows)} normalizations, not {count}"


def _named(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def judged(case: Case) -> tuple[bool, str]:
    """Whether the verdict is right, and what was said."""
    try:
        found = case.run()
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
    if isinstance(found, str):
        return not found, found or "right"
    kinds = [one.what for one in found.differences]
    is_right = not kinds if not case.what else bool(kinds) and (case.what == "any" or case.what in kinds)
    return is_right, str(found)


def accelerator() -> torch.device | None:
    """The device of this computer, if there is one."""
    for name, is_there in (("cuda", torch.cuda), ("xpu", getattr(torch, "xpu", None)), ("mps", torch.backends.mps)):
        if is_there is not None and is_there.is_available():
            return torch.device(name)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.device", description=__doc__)
    parser.add_argument("--device", help="default: that of this computer")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    args = parser.parse_args()
    device = torch.device(args.device) if args.device else accelerator()
    if device is None:
        print("skipped: there is no accelerator")
        return 0
    if device.type == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print(f"torch {torch.__version__}, {device}\n\n| case | verdict | s | what it says |\n| --- | --- | --- | --- |")
    warnings.simplefilter("ignore")
    wrong = 0
    for case in cases(device):
        if args.only in case.name:
            start = perf_counter()
            is_right, said = judged(case)
            wrong += not is_right
            words = " ".join(said.split()).replace("|", "/")[:160]
            print(
                f"| {case.name} | {'ok' if is_right else 'WRONG'} | {perf_counter() - start:.1f} | {words} |",
                flush=True,
            )
    print(f"\n{wrong} verdicts are wrong" if wrong else "\nall verdicts are right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
