"""``nv.norms``: the normalizations of a model as a table, whose rows open their views: as links, or with ``explore``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from torch import nn

from normviz.api.result import Result, on_cpu
from normviz.measuring.models.decay import Decayed, decayed
from normviz.measuring.models.diff import Differences, differences
from normviz.measuring.models.names import common_name, name_pattern
from normviz.measuring.models.norms import NOT_PLAIN, NormRow, normalizations, number_heads
from normviz.measuring.models.recording import FORMULA
from normviz.texts.errors import NormvizError, checked_call, echo
from normviz.texts.messages import _, align, ngettext

if TYPE_CHECKING:
    from normviz.export.output import Options, Output

__tracebackhide__ = True  # pytest shows the frame of the caller


@checked_call
def norms(model: nn.Module | object, *inputs: object, **kwargs: object) -> Norms:
    """The normalizations that run in ``model(*inputs, **kwargs)``, in order: found by what they do, not by the names of their classes.

    A formula in the middle of a larger module is found by its operations; what cannot be measured alone is noted.

    What a module of your own does otherwise than the layer in its row is in ``departures``, such as an eps outside the root.

    The model and its inputs may be on ``torch.device("meta")``: only modules of your own and formulas are computed then, on small
    copies, and a large model takes seconds. Afterwards the model's buffers, mode and gradients and the random states are as before. A forward pass
    that fails gives the rows up to the failure, which ``failure`` explains. ``to_dict()`` is for JSON, ``to_pandas()`` gives a DataFrame.

    A model of ``torch.compile`` is read as it was before. A model of Flax gets arrays of JAX; one of Linen is bound to its variables, as in
    ``norms(model.bind(variables), x, train=False)``. Raises NormvizError if ``model`` is not a module, is lazy, or is scripted, traced or exported.

    >>> import torch
    >>> found = norms(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), torch.randn(2, 3, 8, 8))
    >>> found[0].name, found[0].layer, found[0].shape, found[0].reduced
    ('1', 'BatchNorm2d(8)', (2, 8, 6, 6), (0, 2, 3))
    >>> print(found.summary)
    1 normalization, 16 parameters, 6.7 % of the model
    """
    return Norms(*normalizations(model, inputs, kwargs))


class NoRowError(NormvizError, IndexError):
    """A number without a row."""

    def __init__(self, index: object, rows: int) -> None:
        super().__init__(
            ngettext(
                "there is no row {index}: the model has {n} normalization, with the number 0.",
                "there is no row {index}: the model has {n} normalizations, with the numbers 0 to {last}.",
                rows,
                index=echo(index),
                last=rows - 1,
            )
            if rows
            else _("there is no row {index}: the model has no normalization.", index=echo(index))
        )


@dataclass(frozen=True, repr=False)
class Norms(Sequence[NormRow], Result):
    """The normalizations of a model, in the order in which they ran first.

    rows              one for each module, for each function in a module, and for each formula
    model_parameters  the number of elements of all parameters of the model
    notes             about the model: norms that never ran, and parts in which none can be seen
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
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> NormRow | Self:
        if isinstance(index, slice):
            return replace(self, rows=self.rows[index], members=self.members[index])
        try:
            return self.rows[index]
        except (IndexError, TypeError):
            raise NoRowError(index, len(self)) from None

    def __iter__(self) -> Iterator[NormRow]:
        return iter(self.rows)

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

    def grouped(self) -> Self:
        """One row for the modules of the same layer and shape whose names differ only in numbers, such as ``layers.*.norm1``.

        It has the sums of their parameters, buffers and calls; ``members`` counts them.

        >>> import torch
        >>> grouped = norms(nn.Sequential(nn.LayerNorm(8), nn.LayerNorm(8)), torch.ones(2, 8)).grouped()
        >>> grouped[0].name, grouped[0].parameters, grouped.members
        ('*', 32, (2,))
        """
        groups: dict[tuple[object, ...], list[NormRow]] = {}
        for row in self.rows:
            names = name_pattern(row.name), name_pattern(row.of_parameter)
            key = (row.layer or row.norm, row.shapes, row.function, row.departures, *names)
            groups.setdefault(key, []).append(row)
        rows = tuple(
            replace(
                rows[0],
                name=common_name([row.name for row in rows]),
                of_parameter=common_name([row.of_parameter for row in rows]),
                parameters=sum(row.parameters for row in rows),
                buffers=sum(row.buffers for row in rows),
                learned={name: one for row in rows for name, one in row.learned.items()},
                calls=sum(row.calls for row in rows),
                notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)),
            )
            for rows in groups.values()
        )
        return replace(self, rows=rows, members=tuple(map(len, groups.values())))

    @checked_call
    def diff(self, other: Norms, *, weights: bool = False, names: Mapping[str, str] | None = None) -> Differences:
        """What differs in a port of the model, in sentences; ``()`` if nothing does.

        Each norm of the port is run on the input of the model's, with its gamma, beta and statistics, in both modes and with the
        gradients. Names of classes and axes do not matter. Norms without values, as on the meta device, are compared by their patterns; then
        the ``notes`` of the result say so.

        other    the normalizations of the port
        weights  whether each norm is compared with its own weights, too: the first one whose output differs for the same input is told
        names    names in the model, or their beginnings, and what they are in the port, as in ``{"blocks": "layers"}``

        Raises NormvizError if ``other`` is something else, such as the model, and for a name that is in neither.

        >>> import torch
        >>> ours, theirs = (norms(nn.LayerNorm(8, eps=eps), torch.randn(2, 8)) for eps in (1e-5, 1e-6))
        >>> ours.diff(theirs)
        the model itself, second model: Its eps is 1e-06, not 1e-05.
        """
        if not isinstance(other, Norms):
            raise NormvizError(
                "{other} is not a list of normalizations; give one, as in a.diff(nv.norms(model, x)).",
                other=type(other).__name__,
            )
        return differences(self, other, weights, names)

    @checked_call
    def decayed(self, optimizer: object) -> Decayed:
        """Which gammas and betas of these norms an optimizer decays: those in a param group whose weight_decay is not 0.

        optimizer  of torch, such as AdamW or SGD, that trains the model

        A parameter without requires_grad is not decayed. Raises NormvizError if ``optimizer`` is something else, and if it has none of the
        parameters of these norms.

        >>> import torch
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8))
        >>> print(norms(model, torch.ones(2, 4)).decayed(torch.optim.AdamW(model.parameters())))
        parameter  role   weight_decay
        1.weight   gamma  0.01
        1.bias     beta   0.01
        <BLANKLINE>
        AdamW decays 2 of 2 parameters of the norms.
        Weight decay pulls gamma and beta to 0, not to the identity, which has gamma = 1 and beta = 0.
        To leave them out, give them a param group of their own, with weight_decay=0.
        """
        return decayed(self.rows, optimizer)

    def to_dict(self) -> dict[str, Any]:
        """The list as plain values, for JSON. The keys are the names of its attributes.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).to_dict()["parameters"]
        16
        """
        return {
            "rows": [row.to_dict() for row in self.rows],
            "summary": self.summary,
            "parameters": self.parameters,
            "model_parameters": self.model_parameters,
            "share": self.share,
            "notes": list(self.notes),
            "failure": self.failure,
            "members": list(self.members),
        }

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas, with a column for each attribute of a row.

        Raises NormvizError if pandas is not installed.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).to_pandas()["layer"][0]
        'LayerNorm([8])'
        """
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError as error:
            raise NormvizError(
                "to_pandas() needs {module}, which is not installed; install it, or use to_dict().", module=error.name
            ) from error
        own = [one.name for one in fields(NormRow) if one.name not in ("name", *NOT_PLAIN)]
        columns = ["name", "title", *own, "mean_error", "var_error"]
        table = pandas.DataFrame([[getattr(row, column) for column in columns] for row in self.rows], columns=columns)
        return table.assign(norm=list(map(repr, table["norm"])))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each row with its function, and in a grouped list with the number of its members."""
        names = [_name(row) for row in self.rows]
        counts = self.members or [1] * len(names)
        return tuple(f"{name} x {n}" if n > 1 else name for name, n in zip(names, counts, strict=True))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The departures and notes of the rows with their names, the notes about the model, and why the forward pass failed."""
        of_rows = [
            f"{name}: {note}"
            for name, row in zip(self.names, self.rows, strict=True)
            for note in (*row.departures, *row.notes)
        ]
        return (*of_rows, *self.notes, *filter(None, [self.failure]))

    @on_cpu
    def output(self, **options: Unpack[Options]) -> Output:
        """The table, as a file has it. It has no figure and no link: ``explore`` shows a row.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).output(caption="Week 3").caption
        'Week 3'
        """
        from normviz.api.html import ModelTable
        from normviz.export.output import Output

        return Output((ModelTable(self._table(), str(self)),), f"{self.summary} · normviz", "models", None).with_(
            **options
        )

    @checked_call
    @on_cpu
    def explore(self, index: int) -> Output:
        """The linked view of one row.

        index  of the row, from 0

        Raises NormvizError if there is no such row, and if the app has no view of it, such as for more than 12 axes.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).explore(0).page
        'explore'
        """
        from normviz.api.html import view_query
        from normviz.export.links import output_of_query

        return output_of_query("explore", view_query(self[index]))

    def _repr_html_(self) -> str:
        return self._table()

    def _table(self) -> str:
        from normviz.api.html import table

        return table(self.rows, self.names, [self.summary, *self.remarks])

    def __str__(self) -> str:
        table = [
            (_("name"), _("layer"), _("shape"), _("reduced axes"), *number_heads()),
            *(
                (name, row.title, row.shapes_text, str(row.reduced), *row.numbers)
                for name, row in zip(self.names, self.rows, strict=True)
            ),
        ]
        return "\n".join([align(table), "", self.summary, *self.remarks])

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


def _name(row: NormRow) -> str:
    name = row.name or "-"
    if row.function == FORMULA:
        return _("formula in {name}", name=name)
    return f"{name} ({row.function})" if row.function else name
