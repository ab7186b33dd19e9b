"""Train and eval: why eval mode gives other results. Three small networks, each with one of the commonest causes, are run and diagnosed.

``is_symptom`` knows what readers type who see the results.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from normviz.figures.charts import axis, bars, chart
from normviz.lessons.page import Experiment
from normviz.parts.part import Beside, Chart, Code, Heading, Part, Sentence, Text
from normviz.scene.view import View
from normviz.texts.messages import N_, _, cache_by_language
from normviz.texts.searching import simplified

if TYPE_CHECKING:
    from normviz.measuring.diagnosis.diagnose import Diagnosed

# What readers type, in the four languages: a word for eval mode, and words for other results.
EVAL = r"\beval|\binferen|\btest (?:time|mode)|\bavalia[rc]|评估|推理"
OTHER = (
    r"\bdiffer(?:s|ent|ently)?\b|\bother (?:results?|outputs?|values?)|\bworse\b|\bbad(?:ly)?\b|\bwrong\b|\bpoor(?:ly)?\b|\bdrops?\b|\bnot the same\b|"
    r"\bdifiere|\bdiferentes?\b|\bdistint[oa]s?\b|\botr[oa]s? (?:resultado|salida)|\bpeor|\bempeora|"
    r"\bdifere|\boutr[oa]s? (?:resultado|saida)|\bpior|"
    r"(?:结果|输出|精度|准确率|性能|效果|损失).*(?:不同|不一样|不一致|差|下降)|(?:不同|不一样|别|其他)的?(?:结果|输出)|变差"
)
NO_SYMPTOM = r"\bdifference between\b|\bdiferencia entre\b|\bdiferenca entre\b|区别|\?.*\blayernorm\b"


def is_symptom(typed: str) -> bool:
    """Whether a reader says that a model gives other results in eval mode.

    >>> [is_symptom(text) for text in ("eval gives other results than train", "model.eval() is worse", "eval mode")]
    [True, True, False]
    """
    words = simplified(typed)
    return not re.search(NO_SYMPTOM, words) and all(re.search(pattern, words) for pattern in (EVAL, OTHER))


@dataclass(frozen=True)
class EvalCause:
    """A network with a fault. title: the cause, as a message. make: the network and its batches."""

    title: str
    text: str
    make: Callable[[], tuple[nn.Module, list[Tensor]]]


FEATURES, WIDTH, STEPS = 8, 16, 4


def _network() -> nn.Sequential:
    sizes = (FEATURES, WIDTH, WIDTH, WIDTH)
    parts: dict[str, nn.Module] = OrderedDict()
    for i, (before, after) in enumerate(pairwise(sizes), 1):
        parts |= {f"fc{i}": nn.Linear(before, after), f"bn{i}": nn.BatchNorm1d(after), f"relu{i}": nn.ReLU()}
    return nn.Sequential(OrderedDict(parts, fc=nn.Linear(WIDTH, 4)))


def _batches(n: int, size: int = 64) -> list[Tensor]:
    return [2 + 3 * torch.randn(size, FEATURES) for _ in range(n)]


def _settled() -> nn.Module:
    """A network whose running statistics are those of many examples: with momentum=None, they are the mean over the batches."""
    network = _network()
    for module in network:
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = None
    with torch.no_grad():
        network.train()(torch.cat(_batches(64)))
    return network.eval()


CASES = (
    EvalCause(
        N_("Statistics never updated"),
        N_("No batch went through the network in train mode, or its buffers were not loaded."),
        lambda: (_network().eval(), _batches(STEPS)),
    ),
    EvalCause(
        N_("Data of another kind"),
        N_(
            "Here x is 10 times as large as the data of the stored statistics, such as pixels that are not scaled as in training."
        ),
        lambda: (_settled(), [10 * x for x in _batches(STEPS)]),
    ),
    EvalCause(
        N_("Small batches, few elements"),
        N_("In train mode, a mean of 4 examples is far from that of all. The stored statistics are right."),
        lambda: (_settled(), _batches(STEPS, 4)),
    ),
)
NEXT = """import normviz as nv

found = nv.diagnose(model, batches)  # your model, and batches as in training: a list or a DataLoader
print(found)  # which layer, which cause, what to do
fixed = found.fixed()  # a copy with the measured statistics"""


@cache_by_language()
def diagnoses() -> tuple[Diagnosed, ...]:
    """What ``nv.diagnose`` finds in each network."""
    from normviz.measuring.diagnosis.diagnose import diagnosed
    from normviz.measuring.probe import measuring, same_random_states

    found = []
    with measuring(), same_random_states(), torch.device("cpu"):
        for case in CASES:
            torch.manual_seed(0)
            found.append(diagnosed(*case.make(), steps=STEPS))
    return tuple(found)


def causes_parts(_view: View) -> Iterator[Part]:
    yield Sentence(
        _(
            "Eval mode gives other results than train mode: here are three common causes. Each is in a network with three BatchNorm layers, which was run in both modes."
        )
    )
    first, second, third = (
        tuple(_case_parts(i, case, found)) for i, (case, found) in enumerate(zip(CASES, diagnoses(), strict=True))
    )
    yield Beside(first, (Beside(second, third),), (1, 2))
    yield Text(
        _(
            "**Next step:** `nv.diagnose` runs your model on your data in both modes, and says which layer makes the difference, why, and what to do."
        )
    )
    yield Code(NEXT)


def _case_parts(number: int, case: EvalCause, found: Diagnosed) -> Iterator[Part]:
    names, percents = zip(*((one.name, 100 * one.output_difference) for one in found.layers), strict=True)
    title = _("difference of the output between the modes, in %")
    drawn = bars(title, names, percents, "accent")
    lines = chart(
        [drawn], axis(_("layer"), type="category"), axis(_("difference, in %"), rangemode="tozero"), height=240
    )
    worst = found.findings[0]
    concerned = {one.layer for one in found.findings if one.cause == worst.cause}
    yield Heading(f"**{number + 1}. {_(case.title)}**")
    yield Chart(f"cause_{number}", lines, _("The difference between the modes at the output of each BatchNorm layer."))
    yield Text(
        _(
            "{text} The output of the network differs by **{percent} %**. `nv.diagnose` says: {layers}, *{cause}*. {remedy}",
            text=_(case.text), percent=f"{float(f'{100 * found.difference:.2g}'):g}", layers=_(", ").join(f"`{name}`" for name in names if name in concerned), cause=worst.cause, remedy=worst.remedy,
        )
    )  # fmt: skip


CAUSES = Experiment("causes", N_("Why eval differs"), causes_parts, "s3k", needs="")
