"""The normalizations of a model: ``normalizations`` runs it once and lists what ran.

The calls are recorded in ``recording``; a module that torch.nn does not have is measured in ``probing``.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description, describe_shape, value_note
from normviz.layers.fit import is_probably_channels_last
from normviz.layers.layer import Layer, check_is_object
from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check
from normviz.measuring.models import flax_modules
from normviz.measuring.models.graph import (
    ACTIVATIONS,
    PRODUCTS,
    Node,
    Replay,
    candidates,
    chain,
    learned_in,
    region,
    source,
)
from normviz.measuring.models.kept import Kept, Trail
from normviz.measuring.models.others import Other, of_weights
from normviz.measuring.models.probing import Found, Prober, lacks_a_number
from normviz.measuring.models.recording import FORMULA, Call, Failure, Shape, layer_of, record, sealed, unwrapped
from normviz.measuring.own_modules import check_has_shapes
from normviz.measuring.probe import one_at_a_time
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, format_count

MOST_SHAPES = 8  # in the table
NOT_PLAIN = ("kept", "learned")


@dataclass(frozen=True)
class NormRow:
    """A normalization that ran.

    name          of the module, as in ``model.named_modules()``; of the calling module for a function
    layer         the text of the torch layer that computes the same, or None
    shape         of its first input
    reduced       the numbers of the axes of this shape over which its statistics are taken; () for stored statistics, as in ``Check``
    norm          the same as a Norm; None for a normalization of another kind, which has no groups: ``departures`` says what it does
    statistics    the number of means and variances for this shape
    parameters    the number of elements of its parameters without those that an earlier row has
    buffers       the number of elements of its buffers; 0 in a further row
    calls         how often it ran
    notes         what is legal and seldom intended
    function      the function that was called, such as "F.layer_norm"; empty for a module
    kind          the name of the module's class
    shapes        of all its inputs, each once, in the order of the calls
    of_parameter  the name of the parameter of the model that it normalizes, as in weight standardization; empty for activations
    departures    what it does otherwise than the layer, such as an eps outside the root, as sentences
    elements      m, the elements of x for each mean and variance; of stored statistics, those of a batch of this shape in train mode
    learned       its gammas and betas, by their names in the model
    """

    name: str
    layer: str | None
    shape: Shape
    reduced: tuple[int, ...]
    norm: Norm | None
    statistics: int
    parameters: int
    buffers: int
    calls: int
    notes: tuple[str, ...] = ()
    function: str = ""
    kind: str = ""
    shapes: tuple[Shape, ...] = ()
    of_parameter: str = ""
    departures: tuple[str, ...] = ()
    elements: int = 0
    kept: Kept | None = field(default=None, repr=False, compare=False)
    learned: Mapping[str, nn.Parameter] = field(default_factory=dict, repr=False, compare=False)

    @property
    def title(self) -> str:
        """The layer, or the Norm if torch has no such layer; and the parameter that it normalizes."""
        if self.of_parameter:
            return _("{layer} on {parameter}", layer=self._layer_title, parameter=self.of_parameter)
        return self._layer_title

    @property
    def _layer_title(self) -> str:
        return self.layer or (self.kind if self.norm is None else repr(self.norm))

    @property
    def mean_error(self) -> float | None:
        """The standard error of a mean of ``elements`` independent elements, in standard deviations; None without a mean."""
        return self.elements**-0.5 if self.norm is not None and self.norm.center and self.elements else None

    @property
    def var_error(self) -> float | None:
        """The standard error of a variance of ``elements`` independent normal elements, as a share of the variance; None for one element."""
        free = self.elements - (self.norm is not None and self.norm.center)
        return math.sqrt(2 / free) if free > 0 else None

    @property
    def numbers(self) -> tuple[str, ...]:
        """The cells of a table: statistics, elements of each, the standard errors of a mean and a variance, parameters."""
        errors = (
            "" if one is None else f"{float(f'{100 * one:.2g}'):g} %" for one in (self.mean_error, self.var_error)
        )
        elements = format_count(self.elements) if self.elements else ""
        return format_count(self.statistics), elements, *errors, format_count(self.parameters)

    @property
    def shapes_text(self) -> str:
        """The first shapes of its inputs."""
        return ", ".join([*map(str, self.shapes[:MOST_SHAPES]), *["..."] * (len(self.shapes) > MOST_SHAPES)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON. The keys are the names of its attributes.

        >>> import torch
        >>> import normviz as nv
        >>> nv.norms(nn.LayerNorm(8), torch.ones(2, 8))[0].to_dict()["shape"]
        [2, 8]
        """
        plain = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if name not in NOT_PLAIN
        }
        norm = None if self.norm is None else repr(self.norm)
        errors = {"mean_error": self.mean_error, "var_error": self.var_error}
        shapes = [list(shape) for shape in self.shapes]
        return plain | errors | {"title": self.title, "norm": norm, "shapes": shapes}


def number_heads() -> tuple[str, ...]:
    """Those of ``NormRow.numbers``."""
    return _("statistics"), _("elements"), _("error of mean"), _("error of variance"), _("parameters")


# What is legal in a model and seldom intended, and what to do when its forward pass fails.


def notes_of(described: Description, call: Call, model_trains: bool) -> Iterator[str]:
    """Notes about one normalization. The notes of ``explain`` come first."""
    layer, norm = described.layer, described.norm
    is_constant = not norm.running and norm.center and described.counts.elements_per_statistic == 1
    less = value_note(described) if is_constant else None  # than what follows
    yield from (note for note in described.notes if note != less)
    if call.of_parameter:
        yield _("It normalizes a parameter of the model, not what flows through it.")
    if call.layer is None and lacks_a_number(call.module):
        yield _(
            "It holds a number as a tensor, which has no value on the meta device: eps may differ; run it on the CPU."
        )
    if is_constant:
        if norm.eps == 0:
            yield _("Each mean is over a single value, and eps is 0, so the output is 0 / 0, which is NaN.")
        elif norm.params is not None and norm.bias:
            yield _("Each mean is over a single value, so the output is beta, but for rounding, whatever the value is.")
        else:
            yield _("Each mean is over a single value, so the output is 0, but for rounding, whatever the value is.")
    if layer is None:
        return
    if _rows_of_images(layer, call.shape):
        yield _(
            "It normalizes each row of an image alone: {size} is the size of H and of W. To normalize over C, move it last; over the image, "
            "use LayerNorm({image}).",
            size=call.shape[-1],
            image=list(call.shape[1:]),
        )
    groups = layer.given.get("num_groups")
    if groups is not None and groups == layer.given["num_channels"] > 1:
        yield _("Each group has one channel, so this is an InstanceNorm; fewer groups are usual.")
    if (
        layer.kind.family in ("BatchNorm", "SyncBatchNorm")
        and not call.function
        and not norm.running
        and not model_trains
    ):
        if not layer.given["track_running_stats"]:
            yield _("It has no running statistics: its output depends on the batch in eval mode, too.")
            return
        yield _(
            "It is in training mode inside a model in eval mode: its output depends on the batch; call {module}.eval().",
            module=f'model.get_submodule("{call.name}")' if call.name else "model",
        )


def _rows_of_images(layer: Layer, shape: Shape) -> bool:
    """Whether a LayerNorm of one size normalizes over the width of square images (N, C, H, W)."""
    return (
        len(shape) == 4
        and layer.given.get("normalized_shape") == shape[-1:]
        and shape[1] != shape[2] == shape[3]
        and shape[2] > 1
    )


def told_name(name: str) -> str:
    """The name of a module in a sentence: that of the model itself is empty."""
    return name or _("the model itself")


def failure_text(failure: Failure) -> str:
    """Which module failed, with which shapes, and what to do."""
    shapes = ", ".join(map(str, failure.shapes))
    name, kind = told_name(failure.name), type(failure.module).__name__
    if not shapes:
        return _(
            "The forward pass failed in {name} ({kind}): {explained}",
            name=name,
            kind=kind,
            explained=_explained(failure),
        )
    return _(
        "The forward pass failed in {name} ({kind}) on an input of shape {shapes}: {explained}",
        name=name,
        kind=kind,
        shapes=shapes,
        explained=_explained(failure),
    )


def _explained(failure: Failure) -> str:
    """For a normalization, torch's words and what they mean; otherwise the error and where to look."""
    layer = layer_of(failure.module)
    try:
        if layer is not None and failure.shapes:
            check(layer, failure.shapes[0])
    except NormvizError as error:
        return str(error)
    of_error = type(failure.error).__name__
    words = (" ".join(str(failure.error).split()) or of_error).rstrip(".")
    if not isinstance(failure.error, Exception):  # the text of SystemExit is a number
        return f"{of_error}: {words}."
    module, kind = failure.module, type(failure.module).__name__
    axis, size = None, 0
    if isinstance(module, nn.Linear):
        axis, size = -1, module.in_features
    elif isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        axis, size = 1, module.in_channels
    if isinstance(module, nn.SyncBatchNorm) and "GPU" in words:
        return _(
            "{words}. Where torch.distributed is initialized, SyncBatchNorm in training mode needs a GPU; call model.eval() first.",
            words=words,
        )
    if axis is not None and failure.shapes and failure.shapes[0][axis:][:1] != (size,):
        return _(
            "{words}. Expected size {size} in axis {axis} of its input, got shape {shape}. Change {kind}, or what comes before it.",
            words=words,
            size=size,
            axis=axis,
            shape=failure.shapes[0],
            kind=kind,
        )
    if "bf16" in words.lower() or "bfloat16" in words.lower():
        return _("{words}. Give model.to(torch.bfloat16), with inputs of that dtype.", words=words)
    if not failure.shapes:
        return f"{words}."
    return _(
        "{words}. Compare this shape with what {kind} takes; the rows show the shapes up to here.",
        words=words,
        kind=kind,
    )


def _check_inputs(inputs: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise NormvizError if a model that failed got nothing, or a shape instead of a tensor."""
    if not inputs and not kwargs:
        raise NormvizError("the model got no inputs; give them too, as in nv.norms(model, torch.randn(2, 3, 8, 8)).")
    for value in (inputs, *inputs):
        if isinstance(value, tuple | list) and value and all(isinstance(size, int) for size in value):
            raise NormvizError("a model takes tensors, not shapes; give torch.randn{shape}.", shape=tuple(value))


# The rows.


@one_at_a_time
def normalizations(
    model: object, inputs: tuple[object, ...], kwargs: dict[str, Any]
) -> tuple[tuple[NormRow, ...], int, tuple[str, ...], str]:
    """The normalizations that run in ``model(*inputs, **kwargs)``, the number of elements of the parameters of the model, the notes about
    it, and where the forward pass failed and why, or "".

    Raises NormvizError if ``model`` is not a module, is lazy, or is scripted, traced or exported.
    """
    if isinstance(model, torch.export.ExportedProgram):
        raise NormvizError(_unseen("", model))
    check_is_object(model)
    if flax_modules.is_flax(model):
        calls, failure, parameters = flax_modules.record(model, inputs, kwargs)
        rows, _unmeasured = _rows(calls, nn.Module())
        return rows, parameters, (), "" if failure is None else failure_text(failure)
    if not isinstance(model, nn.Module):
        raise NormvizError("{model} is not a model; give a torch.nn.Module and its inputs.", model=type(model).__name__)
    model, unseen = unwrapped(model), [_unseen(*each) for each in sealed(model)]
    check_has_shapes(model)
    calls, failure = record(model, inputs, kwargs)
    in_low = failure is not None and _wants_bfloat16(failure, model)
    if in_low:
        model, inputs, kwargs = copy.deepcopy(model).bfloat16(), _low(inputs), _low(kwargs)
        calls, failure = record(model, inputs, kwargs)
    rows, unmeasured = _rows(calls, model)
    if unseen and not rows:
        raise NormvizError(unseen[0])
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if failure is not None and not rows:
        _check_inputs(inputs, kwargs)
    unseen += unmeasured
    if in_low:
        unseen.append(_("A layer takes no float32 on the device meta, so a copy of the model ran in bfloat16."))
    if failure is not None:
        return rows, parameters, tuple(unseen), failure_text(failure)
    return rows, parameters, (*unseen, *_never_called(model, calls, rows)), ""


def _wants_bfloat16(failure: Failure, model: nn.Module) -> bool:
    """Whether a layer on the device meta refuses float32, as a grouped product of the experts of a mixture does."""
    on_meta = all(parameter.is_meta for parameter in model.parameters())
    words = str(failure.error).lower()
    return on_meta and ("bf16" in words or "bfloat16" in words)


def _low(value: Any) -> Any:
    """The inputs in bfloat16."""
    if isinstance(value, Tensor):
        return value.bfloat16() if value.is_floating_point() else value
    if type(value) in (tuple, list):
        return type(value)(map(_low, value))
    return {name: _low(each) for name, each in value.items()} if type(value) is dict else value


def _rows(calls: Sequence[Call], model: nn.Module) -> tuple[tuple[NormRow, ...], list[str]]:
    """One row for all calls of a module, of a function with the same arguments, or of a formula, in the order of the first calls.

    Also returns notes on the formulas that could not be measured.
    """
    prober = Prober()
    several = {id(call.module) for call in calls if call.function not in ("", FORMULA) and call.nth > 1}
    of_modules = [
        None if call.function or id(call.module) in several else _module_row(call, prober, model.training)
        for call in calls
    ]
    normalizing = {id(call.module) for call, row in zip(calls, of_modules, strict=True) if row is not None}
    formulas, notes = _formulas(calls, normalizing, prober, model.training)
    outputs = {id(call.module): call.node for call in calls if not call.function and call.node is not None}
    with_formula = {id(call.module) for call in calls if call.function}
    same: dict[object, list[NormRow]] = {}
    for call, of_module in zip(calls, of_modules, strict=True):
        key: tuple[object, ...] = call.name, call.function, str(call.layer), call.of_parameter, call.gamma, call.mode
        row = of_module
        if call.function == FORMULA and id(call) in formulas:
            row, formula = formulas[id(call)]
            key = (*key, formula)
        elif call.function and call.layer is not None and id(call.module) not in normalizing:
            row = _row(call, call.layer, model.training)
        elif not call.function and row is None and id(call.module) not in with_formula:
            other = prober.other(call)
            row = None if other is None else _other_row(call, other)
        for one in () if call.function else of_weights(call.module):
            weight = NormRow(
                call.name, None, one.shape, (), None, 0, one.parameters, one.buffers, call.count, function=one.kind,
                kind=one.kind, shapes=(one.shape,), of_parameter=_joined(call.name, one.name), departures=(one.does,),
            )  # fmt: skip
            same.setdefault((call.name, one.name, one.kind), []).append(weight)
        if row is not None:
            if call.function and (behind := _behind(call, outputs)):
                row = replace(row, departures=(*row.departures, behind))
            same.setdefault(key, []).append(row)
    modules, counted, rows = set[str](), set[int](), list[NormRow]()
    for row in map(_merged, same.values()):
        again = sum(one.numel() for one in row.learned.values() if id(one) in counted)
        counted |= set(map(id, row.learned.values()))
        is_known = not row.function and row.name in modules  # with another mode, or on a parameter
        modules |= set() if row.function else {row.name}
        own = replace(row, parameters=row.parameters - again) if again else row
        rows.append(replace(row, parameters=0, buffers=0) if is_known else own)
    return tuple(rows), notes


def _formulas(
    calls: Sequence[Call], normalizing: set[int], prober: Prober, model_trains: bool
) -> tuple[dict[int, tuple[NormRow, str]], list[str]]:
    """A row for each formula in the middle of a module, by the id of its call, with the text of its operations; and notes on others."""
    found, notes = dict[int, tuple[NormRow, str]](), dict[str, None]()
    ends, covered = [call.node for call in calls if id(call.module) in normalizing and call.node], set[Node]()
    for call in calls:
        inside = any(id(module) in normalizing for module in call.running)
        if call.function != FORMULA or call.node is None or inside or call.node in covered:
            continue
        for start, end in candidates(call.node, ends):
            formula = Replay(end, start)
            tried = replace(
                call, module=formula, called=formula, shape=start.shape, returned=end.shape, x=start.sample,
                trail=Trail(start.shape), of_parameter=source(start) if start.is_fixed else "",
                parameters=sum(one.numel() for one in formula.parameters()), node=end, learned=learned_in(end, start),
            )  # fmt: skip
            if (probed := prober.find(tried)) is not None:
                row = _row(tried, probed.norm, model_trains, probed)
                named = replace(row, function=f"{call.node.name}.apply") if call.node.is_whole else row
                found[id(call)] = replace(named, kind=type(call.module).__name__), formula.text
                covered |= set(region(end, start) or ())
                ends.append(end)
                break
        else:
            notes |= {} if call.node.is_whole else {call.name: None}
    return found, [
        _(
            "{name} ({kind}) divides by a root of means, but what it normalizes could not be measured; to see it, put the formula into a module of its own.",
            name=told_name(name),
            kind=next(type(call.module).__name__ for call in calls if call.name == name),
        )
        for name in notes
    ]


def _merged(rows: list[NormRow]) -> NormRow:
    """The first row, with the shapes, the calls and the notes of all."""
    if len(rows) == 1:
        return rows[0]
    notes = list(rows[0].notes)
    for row in rows[1:]:
        notes += [f"{row.shape}: {note}" for note in row.notes if note not in rows[0].notes]
    shapes = tuple(row.shape for row in rows)
    return replace(rows[0], shapes=shapes, calls=sum(row.calls for row in rows), notes=tuple(notes))


def _unseen(name: str, module: object) -> str:
    return _(
        "{name} ({kind}) is scripted, traced or exported, so its normalizations cannot be seen; give the module from which it was made.",
        name=told_name(name),
        kind=type(module).__name__,
    )


def _module_row(call: Call, prober: Prober, model_trains: bool) -> NormRow | None:
    if call.layer is not None:
        return None if call.returned is None else _row(call, call.layer, model_trains)
    probed = prober.find(call)
    return None if probed is None else _row(call, probed.norm, model_trains, probed)


def _row(call: Call, layer: Layer | Norm | Other, model_trains: bool, probed: Found | None = None) -> NormRow:
    if isinstance(layer, Other):
        return _other_row(call, layer)
    described, same, reduced = _described(layer, call.shape)
    norm = described.norm
    return NormRow(
        call.name,
        None if call.function == "F.normalize" else same,
        call.shape,
        reduced,
        norm,
        described.counts.statistics,
        *call.sizes,
        call.count,
        tuple(notes_of(described, call, model_trains)),
        call.function,
        type(call.module).__name__,
        (call.shape,),
        call.of_parameter,
        _departures(call) if probed is None else probed.departures,
        described.counts.elements_per_statistic,
        call.kept,
        call.learned if call.function else dict(call.module.named_parameters(call.name)),
    )


@lru_cache(maxsize=1024)
def _described(layer: Layer | Norm, shape: Shape) -> tuple[Description, str | None, tuple[int, ...]]:
    """A norm on this shape; the text of the torch layer that computes the same; the axes over which its statistics are taken."""
    described = describe_shape(layer, shape, None)
    if isinstance(layer, Layer) and is_probably_channels_last(layer, shape, described.axes):
        described = describe_shape(layer, shape, "NHWC")
    norm = described.norm
    # also on an x with two elements along the axes that have one here
    same = layer if isinstance(layer, Layer) else torch_layer(norm, tuple(max(2, size) for size in shape))
    return described, None if same is None else str(same), () if norm.running else _axes(norm, shape)


def _behind(call: Call, outputs: Mapping[int, Node]) -> str:
    """What the module of a function or of a formula does with its output, if it returns the result."""
    if call.node is None:
        return ""
    last = [call.node, *chain(call.node, True)][-1]
    if len(last.users) != 1 or outputs.get(id(call.module)) is not last.users[0]:
        return ""
    name = last.users[0].name
    if name in PRODUCTS:
        return _("Its output is multiplied by another tensor.")
    return _("Its output goes through {function}.", function=name) if name.lower() in ACTIVATIONS else ""


def _other_row(call: Call, other: Other) -> NormRow:
    is_own = type(call.module) is nn.LocalResponseNorm
    return NormRow(
        call.name, None, call.shape, (), None, 0, *call.sizes, call.count,
        function="" if is_own else call.function, kind=type(call.module).__name__, shapes=(call.shape,),
        departures=(other.does,), kept=call.kept,
    )  # fmt: skip


def _joined(name: str, parameter: str) -> str:
    return f"{name}.{parameter}" if name else parameter


def _axes(norm: Norm, shape: Shape) -> tuple[int, ...]:
    """The axes over which its statistics are taken; of stored statistics, were taken."""
    return tuple(axis for axis, kept in enumerate(_kept(norm, shape)) if kept is not None)


def _kept(norm: Norm, shape: Shape) -> tuple[int | None, ...]:
    """In how many groups each axis is averaged; None if it is not: each index has its own mean, as in groups of one channel."""
    pattern, sizes = norm.pattern, norm.axis_sizes(shape)
    kept = [[name for name in parts if name in pattern.right] for parts in pattern.left]
    groups = [prod(sizes[name] for name in names) for names in kept]
    whole = [
        set(names) == set(parts) or (bool(names) and n == prod(sizes[name] for name in parts))
        for names, parts, n in zip(kept, pattern.left, groups, strict=True)
    ]
    return tuple(None if all_kept else n for all_kept, n in zip(whole, groups, strict=True))


def _departures(call: Call) -> tuple[str, ...]:
    """Of a function of torch."""
    if call.function != "F.normalize":
        return ()
    return (_("It divides by the root of the sum of squares, not of their mean."),)


def _never_called(model: nn.Module, calls: Sequence[Call], rows: Sequence[NormRow]) -> Iterator[str]:
    """Norms of torch.nn, and modules of a class that is a norm elsewhere in the model."""
    called, own = {id(call.module) for call in calls}, {row.kind for row in rows if not row.function}
    for name, module in model.named_modules():
        if id(module) not in called and (layer_of(module) is not None or type(module).__name__ in own):
            yield _("{name} ({layer}) was never called.", name=name, layer=type(module).__name__)
