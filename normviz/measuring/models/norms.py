"""Every normalization of a model: ``norms`` runs it once and lists what ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from torch import nn
from torch.nn.parameter import is_lazy

from normviz.analysis.description import Description, describe
from normviz.layers.errors import NormvizError
from normviz.layers.fit import torch_layer
from normviz.layers.layer import Layer
from normviz.layers.messages import _, ngettext
from normviz.layers.norm import Norm
from normviz.layers.substitutes.remedies import is_probably_channels_last
from normviz.measuring.models.diff import differences
from normviz.measuring.models.notes import failure_text, notes_of
from normviz.measuring.models.probing import Prober
from normviz.measuring.models.recording import Call, Recording, Shape, layer_of, record
from normviz.measuring.models.row import NormRow


@dataclass(frozen=True, repr=False)
class Norms(Sequence[NormRow]):
    """The normalizations of a model, in the order in which they ran first.

    rows              one for each module, and for each function in a module
    model_parameters  the number of elements of all parameters of the model
    notes             about the model: norms that never ran
    failure           where the forward pass failed and why, or an empty text
    """

    rows: tuple[NormRow, ...]
    model_parameters: int = 0
    notes: tuple[str, ...] = ()
    failure: str = ""
    members: tuple[int, ...] = field(default=())

    @overload
    def __getitem__(self, index: int) -> NormRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[NormRow]: ...
    def __getitem__(self, index: int | slice) -> NormRow | Sequence[NormRow]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def parameters(self) -> int:
        """The number of elements of the parameters of all norms."""
        return sum(row.parameters for row in self.rows)

    @property
    def share(self) -> float:
        """Their share of the parameters of the model, from 0 to 1."""
        return self.parameters / self.model_parameters if self.model_parameters else 0.0

    def grouped(self) -> Norms:
        """One row for each layer and shape, with the name of the first and the sums of parameters, buffers and calls; ``members`` counts them."""
        groups: dict[tuple[str, Shape, str, bool], list[NormRow]] = {}
        for row in self.rows:
            groups.setdefault((row.title, row.shape, row.function, row.plus_one), []).append(row)
        rows = tuple(
            replace(
                first := rows[0],
                parameters=sum(row.parameters for row in rows),
                buffers=sum(row.buffers for row in rows),
                calls=sum(row.calls for row in rows),
                notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)),
                name=first.name,
            )
            for rows in groups.values()
        )
        return replace(self, rows=rows, members=tuple(map(len, groups.values())))

    def diff(self, other: Norms) -> tuple[str, ...]:
        """What differs between these norms and those of a port of the model, one sentence for each difference."""
        return tuple(differences(self, other))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each row with its function, and in a grouped list with the number of its members."""
        names = [f"{row.name or '-'}{f' ({row.function})' if row.function else ''}" for row in self.rows]
        counts = self.members or [1] * len(names)
        return tuple(f"{name} x {n}" if n > 1 else name for name, n in zip(names, counts, strict=True))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes of the rows with their names, those about the model, and why the forward pass failed."""
        of_rows = [f"{name}: {note}" for name, row in zip(self.names, self.rows, strict=True) for note in row.notes]
        return (*of_rows, *self.notes, *filter(None, [self.failure]))

    def __str__(self) -> str:
        table = [
            (_("name"), _("layer"), _("shape"), _("reduced axes"), _("statistics"), _("parameters")),
            *(
                (name, row.title, str(row.shape), str(row.reduced), f"{row.statistics:,}", f"{row.parameters:,}")
                for name, row in zip(self.names, self.rows, strict=True)
            ),
        ]
        widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
        ]
        return "\n".join([*lines, "", self.summary, *self.remarks])

    __repr__ = __str__

    @property
    def summary(self) -> str:
        """How many norms there are, and how many parameters they have."""
        return ngettext(
            "{n:,} normalization, {parameters:,} parameters, {share} % of the model",
            "{n:,} normalizations, {parameters:,} parameters, {share} % of the model",
            sum(self.members) or len(self.rows),
            parameters=self.parameters,
            share=f"{float(f'{100 * self.share:.2g}'):g}",
        )


def norms(model: nn.Module, *inputs: Any, **kwargs: Any) -> Norms:
    """The normalizations that run in ``model(*inputs, **kwargs)``, found by what they do, not by the names of their classes.

    The model and its inputs may be on ``torch.device("meta")``. Nothing is changed: the model's buffers, mode and gradients and the
    random states are as before. A forward pass that fails gives the rows up to the failure, which ``failure`` explains.

    Raises NormvizError if ``model`` is not a module.

    >>> import torch
    >>> from torch import nn
    >>> [row.layer for row in norms(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), torch.randn(2, 3, 8, 8))]
    ['BatchNorm2d(8)']
    """
    if not isinstance(model, nn.Module):
        raise NormvizError(
            _("{model} is not a model; give a torch.nn.Module and its inputs.", model=type(model).__name__)
        )
    _check_not_lazy(model)
    recording = record(model, inputs, kwargs)
    rows = tuple(_rows(recording, model))
    failure = "" if recording.failure is None else failure_text(recording.failure)
    notes = (
        ()
        if recording.failure
        else tuple(_never_called(model, recording, {row.kind for row in rows if not row.function}))
    )
    return Norms(rows, sum(parameter.numel() for parameter in model.parameters()), notes, failure)


def _check_not_lazy(model: nn.Module) -> None:
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if is_lazy(tensor):
            raise NormvizError(
                _("{name} of the model has no shape yet, because it is lazy; call the model once first.", name=name)
            )


def _rows(recording: Recording, model: nn.Module) -> Iterator[NormRow]:
    prober, normalizing = Prober(), set[int]()
    found: list[NormRow | Call] = []
    for call in recording.calls.values():
        if call.function:
            found.append(call)
            continue
        row = _module_row(call, prober, model.training)
        if row is not None:
            normalizing.add(id(call.module))
            found.append(row)
    for one in found:
        if isinstance(one, NormRow):
            yield one
        elif id(one.module) not in normalizing and one.layer is not None:
            yield _row(one, one.layer, model.training)


def _module_row(call: Call, prober: Prober, model_trains: bool) -> NormRow | None:
    layer = call.torch_layer
    if layer is not None:
        return None if call.returned is None else _row(call, layer, model_trains)
    probed = prober.find(call)
    return None if probed is None else _row(call, probed.norm, model_trains, probed.plus_one)


def _row(call: Call, layer: Layer | Norm, model_trains: bool, plus_one: bool = False) -> NormRow:
    described = _described(layer, call.shape)
    norm = described.norm
    parameters, buffers = call.parameters, call.buffers
    if not call.function:
        # Includes the parameters of parametrizations.
        parameters = sum(tensor.numel() for tensor in call.module.parameters())
        buffers = sum(tensor.numel() for tensor in call.module.buffers())
    same = layer if isinstance(layer, Layer) else _same_layer(norm, call)
    return NormRow(
        call.name,
        None if same is None else str(same),
        call.shape,
        tuple(i for i, parts in enumerate(norm.pattern.left) if not set(parts) <= set(norm.pattern.right)),
        norm,
        described.counts.statistics,
        parameters,
        buffers,
        call.count,
        tuple(notes_of(described, call, model_trains)),
        call.function,
        type(call.module).__name__,
        plus_one,
    )


def _described(layer: Layer | Norm, shape: Shape) -> Description:
    """The layer on x, of which only the shape is known; images whose channels are probably last are read as NHWC."""
    found = describe(layer, shape)
    return (
        describe(layer, shape, layout="NHWC")
        if isinstance(layer, Layer) and is_probably_channels_last(layer, shape, found.axes)
        else found
    )


def _same_layer(norm: Norm, call: Call) -> Layer | None:
    """The torch layer that computes the same, also on an x with two elements along the axes that have one here."""
    if call.function == "F.normalize":
        return None
    return torch_layer(norm, tuple(max(2, size) for size in call.shape))


def _never_called(model: nn.Module, recording: Recording, own: set[str]) -> Iterator[str]:
    called = {id(call.module) for call in recording.calls.values()}
    for name, module in model.named_modules():
        if id(module) not in called and (layer_of(module) is not None or type(module).__name__ in own):
            yield _("{name} ({layer}) was never called.", name=name, layer=type(module).__name__)
