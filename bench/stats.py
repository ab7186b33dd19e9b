"""What a trace, ids and counts cost on a tensor as large as a network's, beside torch's own layer and beside one read of it.

    python -m bench.stats                      (32, 64, 56, 56): 6.4 million elements
    python -m bench.stats --shape 8,64,28,28   another

trace    ``explain(layer, x).trace``: every step of the forward pass kept
torch    the fused layer of ``torch.nn.functional``, or of ``torch.nn`` where it has no function of its own
read     ``x.sum()``: one plain read of the tensor
ids      ``stat_ids`` and ``param_ids``, a number for every element
counts   how many of each, for this shape and for one a million times as large: no array is made

All take turns, on one thread, as the app computes; medians.
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
from normviz.analysis.explanation import describe
from normviz.analysis.forward import use_one_thread

Run = Callable[[], Any]


def layers(x: torch.Tensor) -> dict[str, Run]:
    """Each layer's text, and torch's own forward pass of it, with gamma and beta."""
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
    """A trace needs a module where running statistics are used."""
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
                "counts of a million times": lambda: explained(text, large).counts,
            },
            200,
        )
    return {
        "layer": text,
        **{f"{name}, ms": round(1e3 * found[name], 2) for name in ("trace", "torch", "read", "ids")},
        "trace / torch": ratio(found["trace"], found["torch"]),
        "trace / read": ratio(found["trace"], found["read"]),
        "counts, µs": round(1e6 * found["counts"], 1),
        "of a million times as many, µs": round(1e6 * found["counts of a million times"], 1),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="32,64,56,56")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a small tensor, once: does it run?")
    given = parser.parse_args(arguments)
    shape, rounds = ("2,4,6,6", 1) if given.quick else (given.shape, given.rounds)
    load = os.getloadavg()[0]
    use_one_thread()
    x = torch.randn([int(size) for size in shape.split(",")], generator=torch.Generator().manual_seed(0))
    report("stats", [measure(text, fused, x, rounds) for text, fused in layers(x).items()], load, shape=list(x.shape))


if __name__ == "__main__":
    main()
