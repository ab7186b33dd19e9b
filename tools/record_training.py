"""Record the experiment with which Train and eval opens: ``python -m tools.record_training`` trains its networks and writes what they did.

``--check`` trains a few of them again and says whether they agree with the record, within the spread of its seeds.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from copy import deepcopy
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from normviz.lessons.train_and_eval.training import FILE, NORMS, SEEDS, SIZES, Cell, recorded

WIDTH, GROUPS = 32, 4
STEPS, EVERY, RATE = 600, 25, 0.005
TRAINING_POINTS, TEST_POINTS, NOISE = 1024, 384, 0.12  # 384 is a multiple of every batch size
EDGE, SIDE = 2.4, 41  # of the drawn square
CHECKED = [(norm, size) for norm in NORMS for size in (2, 32)]

NORM_LAYERS: dict[str, Callable[[], nn.Module]] = {
    "BatchNorm": lambda: nn.BatchNorm1d(WIDTH),
    "GroupNorm": lambda: nn.GroupNorm(GROUPS, WIDTH),
    "LayerNorm": lambda: nn.LayerNorm(WIDTH),
    "none": nn.Identity,
}


def network(norm: str) -> nn.Sequential:
    """From a point to the scores of two classes: (N, 2) to (N, 2)."""
    layer = NORM_LAYERS[norm]
    first = nn.Linear(2, WIDTH), layer(), nn.ReLU()
    return nn.Sequential(*first, nn.Linear(WIDTH, WIDTH), layer(), nn.ReLU(), nn.Linear(WIDTH, 2))


def spirals(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Noisy points of two spirals (count, 2), and the spiral of each (count,), in random order."""
    random = torch.Generator().manual_seed(seed)
    y = torch.randperm(count, generator=random) % 2
    radius = 0.1 + 0.9 * torch.rand(count, generator=random).sqrt()
    angle = 2 * math.pi * radius + math.pi * y
    x = 2 * torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return x + NOISE * torch.randn(count, 2, generator=random), y


TEST = spirals(TEST_POINTS, 1000)


def train(norm: str, size: int, seed: int) -> tuple[nn.Sequential, list[int], list[int]]:
    """A trained network; of the test points, how many it got right in train() and in eval(), every few steps."""
    torch.manual_seed(seed)
    net, (x, y), random = network(norm), spirals(TRAINING_POINTS, seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    in_train, in_eval = [], []
    for step in range(1, STEPS + 1):
        batch = torch.randint(TRAINING_POINTS, (size,), generator=random)
        net.train()
        optimizer.zero_grad()
        cross_entropy(net(x[batch]), y[batch]).backward()
        optimizer.step()
        if step % EVERY == 0:
            in_train.append(right(net, size))
            in_eval.append(right(net))
    return net, in_train, in_eval


@torch.no_grad()
def classes(net: nn.Module, size: int = 0) -> Tensor:
    """The class that the network gives each test point: in train(), in batches of a size, or in eval(). Its buffers stay as they are."""
    if not size:
        return net.eval()(TEST[0]).argmax(1)
    copied = deepcopy(net).train()
    return torch.cat([copied(batch).argmax(1) for batch in TEST[0].split(size)])


def right(net: nn.Module, size: int = 0) -> int:
    """How many test points the network gets right: in train(), in batches of a size, or in eval()."""
    return int((classes(net, size) == TEST[1]).sum())


@torch.no_grad()
def right_with_exact_statistics(net: nn.Module, seed: int) -> int:
    """How many test points the network gets right in eval(), with the statistics of all training points in its buffers."""
    copied = deepcopy(net).train()
    for module in copied.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 1.0
    copied(spirals(TRAINING_POINTS, seed)[0])
    return right(copied)


@torch.no_grad()
def plane(net: nn.Module) -> str:
    """The probability of class 1 in eval() on a grid, row by row from below, each as a digit: 0 to 9."""
    places = torch.linspace(-EDGE, EDGE, SIDE)
    points = torch.cartesian_prod(places, places).flip(1)
    probability = net.eval()(points).softmax(1)[:, 1]
    return _digits((9 * probability).round().int())


def _digits(values: Tensor) -> str:
    return "".join(map(str, values.tolist()))


def record_cell(norm: str, size: int, seeds: int = SEEDS) -> dict[str, Any]:
    """What the networks with one layer and one batch size did; the plane and the test points are those of the first seed."""
    nets, in_train, in_eval = zip(*(train(norm, size, seed) for seed in range(seeds)), strict=True)
    return {
        "train": in_train,
        "eval": in_eval,
        "exact": [right_with_exact_statistics(net, seed) for seed, net in enumerate(nets)],
        "plane": plane(nets[0]),
        "train_classes": _digits(classes(nets[0], size)),
        "eval_classes": _digits(classes(nets[0])),
    }


def write(path: Path = FILE) -> None:
    """Train all networks: one line for each layer and batch size."""
    head = {
        "torch": torch.__version__.partition("+")[0],
        "width": WIDTH,
        "groups": GROUPS,
        "rate": RATE,
        "training_points": TRAINING_POINTS,
        "steps": list(range(EVERY, STEPS + 1, EVERY)),
        "edge": EDGE,
        "side": SIDE,
        "points": [[round(value, 4) for value in point] for point in TEST[0].tolist()],
        "spirals": _digits(TEST[1]),
    }
    keys = [(norm, size) for norm in NORMS for size in SIZES]
    with Pool(initializer=torch.set_num_threads, initargs=(1,)) as pool:
        found = pool.starmap(record_cell, keys, chunksize=1)
    lines = [f'"{name}":{_json(value)}' for name, value in head.items()]
    cells = ",\n".join(f'"{norm} {size}":{_json(cell)}' for (norm, size), cell in zip(keys, found, strict=True))
    path.write_text("{" + ",\n".join([*lines, f'"cells":{{\n{cells}\n}}']) + "}\n", encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def disagreement(norm: str, size: int, seed: int = 0) -> str:
    """What differs between a network that is trained again and the record by more than the record's own spread; "" if nothing does."""
    cell = recorded(norm, size)
    _net, *again = train(norm, size, seed)
    for mode, found, known in zip(("train", "eval"), again, (cell.train, cell.eval), strict=True):
        low, high = tolerated(cell, mode)
        value = sum(found[-LAST:]) / LAST / TEST_POINTS
        if not low <= value <= high:
            return f"{norm}, {size} points, {mode}(): {value:.3f} is not in {low:.3f} to {high:.3f}, {known.shape[0]} seeds"
    return ""


LAST = 4  # measurements whose average is compared: one alone depends on the last batches
LEAST = 0.03  # a tolerance below this would compare rounding


def tolerated(cell: Cell, mode: str) -> tuple[float, float]:
    """The accuracies at the end that agree with a record: those of its seeds, and as far beyond as they are from each other."""
    ends = getattr(cell, mode)[:, -LAST:].mean(1)
    spread = max(float(ends.max() - ends.min()), LEAST)
    return float(ends.min()) - spread, float(ends.max()) + spread


if __name__ == "__main__":
    torch.set_num_threads(1)
    if "--check" in sys.argv:
        problems = [found for norm, size in CHECKED if (found := disagreement(norm, size))]
        sys.exit("\n".join(problems) or 0)
    write()
