"""The time of a trace, ids and counts for a large tensor, compared with torch's own layer and with one read of the tensor.

    python -m bench.stats                      (32, 64, 56, 56): 6.4 million elements
    python -m bench.stats --shape 8,64,28,28   another shape

trace    ``explain(layer, x).trace``: all steps of the forward pass are stored
torch    the fused layer of ``torch.nn.functional``, or the layer of ``torch.nn`` if there is no function
read     ``x.sum()``: one read of the tensor
ids      ``stat_ids`` and ``param_ids``, one id per element
counts   the numbers of groups and parameters, for this shape and for one a million times as large; no array is allocated

All take turns on one thread, like the app; the results are medians.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from bench.common import median, ratio, report
from normviz.analysis.description import describe
from normviz.analysis.forward import use_one_thread

Run = Callable[[], Any]


def layers(x: torch.Tensor) -> dict[str, Run]:
    """The text of each layer, and torch's own forward pass with gamma and beta."""
    _, channels, *rest = x.shape
    gamma, beta = torch.ones(channels), torch.zeros(channels)

    def normalized(sizes: tuple[int, ...]) -> Run:
        weight, bias = torch.ones(sizes), torch.zeros(sizes)
        return lambda: F.layer_norm(x, sizes, weight, bias)

    whole, last = tuple(x.shape[1:]), (x.shape[-1],)
    groups = 32 if channels % 32 == 0 else 1
    weight = torch.ones(whole)
    mean, var = torch.zeros(channels), torch.ones(channels)
    last_channels = torch.nn.LayerNorm(channels)
    return {
        f"BatchNorm2d({channels})": lambda: F.batch_norm(x, None, None, gamma, beta, training=True),
        f"BatchNorm2d({channels}).eval()": lambda: F.batch_norm(x, mean, var, gamma, beta),
        f"LayerNorm({list(whole)})": normalized(whole),
        f"LayerNorm({list(rest)})": normalized(tuple(rest)),
        f"LayerNorm({list(last)})": normalized(last),
        f"InstanceNorm2d({channels}, affine=True)": lambda: F.instance_norm(x, weight=gamma, bias=beta),
        f"GroupNorm({groups}, {channels})": lambda: F.group_norm(x, groups, gamma, beta),
        f"RMSNorm({list(whole)})": lambda: F.rms_norm(x, whole, weight),
        f"ChannelsFirstLayerNorm({channels})": lambda: last_channels(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2),
    }


def explained(text: str, x: Any) -> Any:
    """The description of a layer. In eval mode a trace needs a module, for its running statistics."""
    if text.endswith(".eval()"):
        return describe(torch.nn.BatchNorm2d(x.shape[1]).eval() if hasattr(x, "dtype") else text, x)
    return describe(text, x)


def in_turns(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """Medians in seconds; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return {name: median(taken) for name, taken in times.items()}


def measure(text: str, fused: Run, x: torch.Tensor, rounds: int) -> dict[str, Any]:
    shape = tuple(x.shape)
    large = (shape[0] * 1_000_000, *shape[1:])
    with torch.no_grad():
        found = in_turns(
            {
                "trace": lambda: explained(text, x).trace,
                "torch": fused,
                "read": x.sum,
                "ids": lambda: (lambda e: (e.stat_ids, e.param_ids))(explained(text, x)),
            },
            rounds,
        ) | in_turns(
            {
                "counts": lambda: explained(text, shape).counts,
                "counts, x 1,000,000": lambda: explained(text, large).counts,
            },
            200,
        )
    return {
        "layer": text,
        **{f"{name}, ms": round(1e3 * found[name], 2) for name in ("trace", "torch", "read", "ids")},
        "trace / torch": ratio(found["trace"], found["torch"]),
        "trace / read": ratio(found["trace"], found["read"]),
        "counts, µs": round(1e6 * found["counts"], 1),
        "counts for 1,000,000 times the size, µs": round(1e6 * found["counts, x 1,000,000"], 1),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="32,64,56,56")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a smoke test: a small tensor, once")
    given = parser.parse_args(arguments)
    shape, rounds = ("2,4,6,6", 1) if given.quick else (given.shape, given.rounds)
    load = os.getloadavg()[0]
    use_one_thread()
    x = torch.randn([int(size) for size in shape.split(",")], generator=torch.Generator().manual_seed(0))
    report("stats", [measure(text, fused, x, rounds) for text, fused in layers(x).items()], load, shape=list(x.shape))


if __name__ == "__main__":
    main()
