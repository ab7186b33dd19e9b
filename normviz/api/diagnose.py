"""``nv.diagnose``: why a model gives other results in eval mode, which of its norms makes the difference, and what to do."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import torch
from torch import nn

from normviz.api.result import Result, on_cpu
from normviz.measuring.diagnosis.causes import Measured
from normviz.measuring.diagnosis.diagnose import Diagnosed, diagnosed
from normviz.measuring.diagnosis.passes import Stored
from normviz.measuring.models.recording import unwrapped
from normviz.measuring.probe import one_at_a_time
from normviz.texts.errors import NormvizError, checked_call, echo, listed
from normviz.texts.messages import _, align, format_count, ngettext

if TYPE_CHECKING:
    from normviz.export.output import Options, Output

__tracebackhide__ = True  # pytest shows the frame of the caller


@checked_call
@on_cpu
@one_at_a_time
def diagnose(model: nn.Module, batches: Iterable[Any], *, steps: int = 8, other: nn.Module | None = None) -> Diagnosis:
    """Why ``model`` gives other results in eval mode than in train mode, on your data.

    batches  an iterable of inputs (tensors, tuples or dicts), such as a DataLoader; labels are left out if the model refuses them
    steps    the largest number of batches that are read, each of them once
    other    a copy of the model, such as its moving average or the model of another process: ``notes`` say where the statistics of the
             copy differ

    The model runs on each batch in both modes. Afterwards its parameters, buffers, modes and gradients, and the random states, are as
    before. Raises NormvizError if there is no batch, if the model raises, and for a scripted, traced or exported model.

    >>> import torch
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    >>> found = diagnose(model, [10 + 3 * torch.randn(64, 4) for _ in range(4)])
    >>> found.findings[0].layer, found.findings[0].cause
    ('1', 'never updated')
    >>> diagnose(found.fixed(), [10 + 3 * torch.randn(64, 4) for _ in range(4)]).findings
    ()
    """
    model = unwrapped(model) if isinstance(model, nn.Module) else model
    return Diagnosis(**vars(diagnosed(model, batches, steps, other)))


@dataclass(frozen=True, repr=False)
class Diagnosis(Diagnosed, Result):
    """How a model differs between its modes, and why.

    difference  of the model's output between train mode and eval mode, relative and over all batches: the root of the sum of the squared
                differences, divided by the root of the sum of the squared outputs in train mode; NaN if the outputs cannot be compared
    left        the difference that remains on the first batch with the measured statistics, which ``fixed()`` stores
    layers      the norms, in the order in which they ran
    findings    what is wrong, worst first; empty for a healthy model
    notes       what is allowed, but seldom intended
    batches     the number of batches that were read
    model       the model
    statistics  the measured statistics of the norms that have stored ones, by name
    """

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @torch.no_grad()
    def fixed(self) -> nn.Module:
        """A copy of the model whose norms store the measured statistics: the means over the batches that were read.

        BatchNorm gets the statistics that ``torch.optim.swa_utils.update_bn`` computes on the same batches. InstanceNorm, which
        ``update_bn`` leaves out, gets the same means over the batches.

        >>> import torch
        >>> model = nn.Sequential(nn.BatchNorm1d(2))
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> diagnose(model, [x]).fixed()[0].running_mean.tolist()
        [2.0, 4.0]
        """
        twin = copy.deepcopy(self.model, _calculated(self.model))
        modules = dict(twin.named_modules())
        for name, measured in self.statistics.items():
            _store(modules[name], measured)
        return twin

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON. NaN and infinite numbers are None.

        >>> import torch
        >>> diagnose(nn.Sequential(nn.BatchNorm1d(2)), [torch.randn(512, 2)]).to_dict()["findings"]
        []
        """
        return {
            "difference": _plain(self.difference),
            "left": _plain(self.left),
            "batches": self.batches,
            "verdict": self.verdict,
            "findings": [vars(one) | {"channels": list(one.channels)} for one in self.findings],
            "layers": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "input_difference": _plain(one.input_difference),
                    "output_difference": _plain(one.output_difference),
                    "share": _plain(one.share),
                    "elements": one.elements,
                    "standard_error": _plain(one.standard_error),
                    "channels_outside": None if one.deviation is None else list(one.deviation.outside),
                }
                for one in self.layers
            ],
            "notes": list(self.notes),
        }

    @property
    def verdict(self) -> str:
        """How far eval mode differs from train mode, and the worst finding with its remedy."""
        if self.difference != self.difference:
            first = _("Train mode and eval mode were not compared.")
        elif self.difference == float("inf"):
            first = _("In eval mode the output is not finite.")
        else:
            first = _("Eval differs by {percent} %.", percent=_percent(self.difference))
        if not self.findings:
            return f"{first} {_('Nothing is wrong with the normalizations.')}"
        worst = self.findings[0]
        if worst.share > 0:
            first += " " + _(
                "{percent} % of it comes from {layer}.",
                percent=_percent(worst.share),
                layer=worst.layer or _("the model"),
            )
        first_word = worst.sentence.partition(" ")[0]
        is_word = first_word.isalpha() and len(first_word) > 1 and first_word != worst.layer  # not a symbol or a name
        start = worst.sentence[:1].upper() if is_word else worst.sentence[:1]
        found = f"{start}{worst.sentence[1:-1]} ({worst.cause}){worst.sentence[-1]}"
        more = len(self.findings) - 1
        rest = ngettext("There is {n:,} more finding.", "There are {n:,} more findings.", more) if more else ""
        return " ".join(filter(None, [first, found, worst.remedy, rest]))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The findings after the worst one, and the notes."""
        return (*(f"{one.cause}: {one.sentence} {one.remedy}" for one in self.findings[1:]), *self.notes)

    @on_cpu
    def output(self, **options: Unpack[Options]) -> Output:
        """The verdict, a bar for each norm, its channels, and the table, as a file has them. It has no link; ``explore`` shows a norm.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> import torch
        >>> diagnose(nn.Sequential(nn.BatchNorm1d(2)), [torch.randn(512, 2)]).output(caption="Week 3").caption
        'Week 3'
        """
        from normviz.api.html import ChannelMap
        from normviz.export.output import Output
        from normviz.figures.charts import axis, bars, chart
        from normviz.parts.part import Chart, Note, Sentence, Table

        names = [one.name or "-" for one in self.layers]
        percents = [100 * one.output_difference for one in self.layers]
        title = _("difference of the output between the modes, in %")
        lines = chart(
            [bars(title, names, percents, "accent")], axis(_("layer"), type="category"), _("difference, in %")
        )
        parts = [
            Sentence(self.verdict),
            Chart("difference_chart", lines, self.verdict),
            ChannelMap(self.layers),
            Table(self._heads, self._rows),
        ]
        return Output((*parts, *map(Note, self.remarks)), f"{_('Train and eval')} · normviz", "models", None).with_(
            **options
        )

    @checked_call
    @on_cpu
    def explore(self, name: str) -> Output:
        """The view of a norm with the measured statistics in place of the stored ones, on an x of the shape of its input.

        name  of the norm, as in ``model.named_modules()``

        Raises NormvizError if there is no such norm.

        >>> import torch
        >>> diagnose(nn.Sequential(nn.BatchNorm1d(2)), [torch.randn(8, 2)]).explore("0").page
        'explore'
        """
        from normviz.api.explain import explain

        layer = next((one for one in self.layers if one.name == name), None)
        if layer is None:
            raise NormvizError(
                "there is no norm {name}; choose {names}.",
                name=echo(name),
                names=listed(one.name for one in self.layers),
            )
        module = self.model.get_submodule(name)
        twin = copy.deepcopy(module, _calculated(module)).eval()
        if name in self.statistics:
            _store(twin, self.statistics[name])
        return explain(twin, layer.shape).output()

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()

    @property
    def _heads(self) -> tuple[str, ...]:
        return (_("layer"), _("class"), _("input"), _("output"), _("share"), _("elements"), _("channels beyond chance"))

    @property
    def _rows(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (
                one.name or "-",
                one.kind,
                *(_shown(value) for value in (one.input_difference, one.output_difference, one.share)),
                "" if one.elements is None else format_count(one.elements),
                "" if one.deviation is None else f"{len(one.deviation.outside)} / {len(one.deviation.shift)}",
            )
            for one in self.layers
        )

    def __str__(self) -> str:
        table = align([self._heads, *self._rows])
        return "\n".join([self.verdict, "", table, *[""] * bool(self.remarks), *self.remarks])

    __repr__ = __str__


@torch.no_grad()
def _store(module: nn.Module, measured: Measured) -> None:
    """Store the measured statistics."""
    stored = Stored.of(module)
    assert stored is not None, module
    stored.put(module, measured.mean, measured.var)
    count = getattr(module, stored.count, None) if stored.count else None
    if count is not None:
        count.fill_(measured.batches)


def _calculated(model: nn.Module) -> dict[int, Any]:
    """By id, for deepcopy: copies of the tensors that modules calculate, which torch refuses to copy, such as a weight under spectral_norm."""
    held = [value for module in model.modules() for value in vars(module).values() if isinstance(value, torch.Tensor)]
    return {id(one): one.detach().clone() for one in held if not one.is_leaf}


def _plain(value: float | None) -> float | None:
    return None if value is None or not abs(value) < float("inf") else float(value)


def _percent(value: float) -> str:
    return f"{float(f'{100 * value:.2g}'):g}"


def _shown(value: float | None) -> str:
    return "" if value is None or value != value else f"{_percent(value)} %"
