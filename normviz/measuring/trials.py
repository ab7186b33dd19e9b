"""The trials of a check: what is tried of a function, and the result of each trial.

A ``Trial`` is a function from a ``Subject`` to a ``TrialResult``: the differences that it finds, notes, or why it was left out. After one
that finds a difference, those that would only find it again are skipped. ``TRIALS`` in ``check`` is the table of them, from which the
documentation is made.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from math import floor, isfinite, log10
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.description import Description
from normviz.measuring import probe
from normviz.measuring.formula import Index, Measurement, parameters_of
from normviz.measuring.probe import Function
from normviz.measuring.report import Difference, also, extreme_note, other_dtype, other_size, vanishing_eps
from normviz.measuring.verdict import (
    EPS_SCALES,
    TIMES,
    TOLERANCES,
    Error,
    LayerComparison,
    Unjudged,
    Verdict,
    compare_gradients,
    constant_is_finite,
    extremes,
    inconsistent_gradients,
    other_statistics,
    signed_values,
)
from normviz.texts.errors import NormvizError, listed
from normviz.texts.messages import N_, _, ngettext

__tracebackhide__ = True  # pytest shows the frame of the caller

ROWS, FEW_ROWS = (1, 3, 65), (1, 3, 9)
CONSECUTIVE = 12  # calls without restoring what the function keeps


@dataclass(frozen=True, eq=False)
class Subject:
    """A function, and what it is compared with.

    compared  the comparison with the layer
    verdict   what is known of its outputs
    on        the layer on an x of another shape; None if it does not take it
    on_norm   the formula of the layer on an x of another shape, also where the layer fixes the sizes; None if it does not take it
    shapes    on which it must agree, as the caller asks
    backward  whether gradients are compared; None: if there are any
    batch_invariant  whether the output for a row must be the same, bit by bit, alone and in any batch
    """

    compared: LayerComparison
    verdict: Verdict
    on: Callable[[Index], Description | None]
    on_norm: Callable[[Index], Description | None]
    shapes: Sequence[Index] = ()
    backward: bool | None = None
    batch_invariant: bool = False

    @property
    def function(self) -> Function:
        return self.compared.function

    @property
    def x(self) -> Tensor:
        return self.compared.x


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What a trial finds.

    left_out  why it was not made; "" if it was
    tried     what was tried, where the trial's own words do not say it
    measured  the parts of the formula, if they were measured to explain the differences
    expected  the layer with which these are compared, if not on the given x
    shape     of the x on which the output is wrong; None for that of the given x
    """

    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: str = ""
    tried: str = ""
    measured: Measurement | None = None
    expected: Description | None = None
    shape: Index | None = None


@dataclass(frozen=True)
class Trial:
    """One trial.

    name   in the documentation
    what   of the differences that it finds
    tries  what is tried, as a message
    needs  what must not differ: a difference that was found before it might be found again
    """

    name: str
    what: str
    tries: str
    run: Callable[[Subject], TrialResult]
    needs: frozenset[str] = frozenset()


OUTCOMES = {
    "right": N_("right: {tried}"),
    "noted": N_("right, with a note: {tried}"),
    "differs": N_("differs: {tried}"),
    "left out": N_("left out: {tried} ({reason})"),
}


@dataclass(frozen=True)
class Tried:
    """The result of a trial, for the reader.

    trial   its name
    tried   what was tried
    result  "right", "noted" (the notes say what), "differs" or "left out"
    reason  why it was left out
    """

    trial: str
    tried: str
    result: str
    reason: str = ""

    @classmethod
    def of(cls, trial: Trial, result: TrialResult) -> Self:
        """The result for the reader."""
        word = "left out" if result.left_out else "noted" if result.notes else "right"
        word = "differs" if result.differences else word
        return cls(trial.name, result.tried or _(trial.tries), word, result.left_out)

    def __str__(self) -> str:
        return _(OUTCOMES[self.result], tried=self.tried, reason=self.reason)


class Trials(tuple[Tried, ...]):
    """What was tried, in this order, one line each.

    >>> print(
    ...     Trials(
    ...         (
    ...             Tried("given x", "the given x", "right"),
    ...             Tried("strides", "a slice", "left out", "it is an array of JAX"),
    ...         )
    ...     )
    ... )
    right: the given x
    left out: a slice (it is an array of JAX)
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or _("Nothing was compared; give like.")

    __repr__ = __str__

    def to_dict(self) -> list[dict[str, str]]:
        """The trials as plain values, for JSON.

        >>> Trials((Tried("given x", "the given x", "right"),)).to_dict()
        [{'trial': 'given x', 'tried': 'the given x', 'result': 'right', 'reason': ''}]
        """
        return [asdict(one) for one in self]


def run(trials: Sequence[Trial], subject: Subject) -> tuple[TrialResult, Trials]:
    """What the trials find, and the result of each for the reader. A trial that would only find again what differs already is skipped.

    Of a layer whose stored statistics are not known, only what the function computes is measured, in the first trial.
    """
    notes, tried, first, differs, found = list[str](), list[Tried](), TrialResult(), list[Difference](), set[str]()
    unknown = "" if subject.compared.reference.is_known else _("its stored statistics are not known")
    for trial in trials:
        if found & trial.needs:
            continue
        result = TrialResult(left_out=unknown) if unknown and tried else trial.run(subject)
        # A function that keeps something from call to call may be wrong anywhere.
        again = repeated(subject.compared) if result.differences and trial.what in ("sizes", "strides") else None
        result = result if again is None else TrialResult((again,), tried=result.tried)
        notes += result.notes
        if unknown and not result.differences:
            result = replace(result, left_out=unknown)
        tried.append(Tried.of(trial, result))
        if len(tried) == 1 or (result.differences and not differs):  # the first one may have measured
            first = result
        differs += result.differences
        found |= {trial.what, *(one.what for one in result.differences)} if result.differences else set()
    return replace(first, differences=tuple(differs), notes=tuple(notes)), Trials(tried)


@contextmanager
def own_dtypes(function: Function) -> Iterator[None]:
    """The function's tensors in their own dtypes."""
    dtype = function.dtype
    function.use_own()
    try:
        yield
    finally:
        function.use(dtype)


# Values


def unlike(subject: Subject) -> TrialResult:
    """The errors for x unlike the given one, as notes."""
    title = subject.compared.expected.title
    with own_dtypes(subject.function):
        errors = list(extremes(subject.compared))
    return TrialResult(notes=tuple(extreme_note(name, error, title) for name, error in errors))


def equal_values(subject: Subject) -> TrialResult:
    """Whether the output is finite for equal values in half precision."""
    if subject.x.dtype.itemsize >= 4:
        return TrialResult(left_out=_("x is not in half precision"))
    with own_dtypes(subject.function):
        is_finite = constant_is_finite(subject.compared)
    return TrialResult(() if is_finite else (vanishing_eps(subject.x.dtype),))


def gradients(subject: Subject) -> TrialResult:
    """Whether the gradients are right; a note if they cannot be compared, or a difference if they were asked for.

    Of a wrong output, whether they are those of this output.
    """
    if subject.backward is False:
        return TrialResult(left_out="backward=False")
    verdict = subject.verdict
    if not verdict.right or verdict.given is None or not verdict.given.ok:
        return TrialResult(tuple(inconsistent_gradients(subject.compared)), tried=_("the gradients of its own output"))
    found = compare_gradients(subject.compared)
    if not isinstance(found, Unjudged):
        of_x_alone = not subject.compared.reference.is_layer and not subject.compared.best.count
        return TrialResult(tuple(found), tried=_("the gradient of x") if of_x_alone else "")
    if subject.backward and found.is_fault:
        text = _("It has no gradient: {reason}.", reason=found.reason)
        return TrialResult((Difference("backward", _("no gradient"), _("the gradient of the layer"), text),))
    note = _("Its gradients are not compared: {reason}.", reason=found.reason)
    return TrialResult((), (note,), left_out=found.reason)


def dtype(subject: Subject) -> TrialResult:
    """Whether the output has the dtype that it should have."""
    dtypes = subject.verdict.dtype
    return TrialResult() if dtypes is None else TrialResult((other_dtype(*dtypes),))


# x is not changed


def in_place(subject: Subject) -> TrialResult:
    """Whether the function writes into x, or returns it."""
    function, x = subject.function, subject.x
    with own_dtypes(function):
        function(x)
        passed = function.passed
    if passed is None or function.kind == probe.JAX:
        return TrialResult(left_out=_("arrays of JAX cannot be changed"))
    if not torch.equal(passed.to(x.device).nan_to_num(), x.nan_to_num()):
        text = _("It writes into x: after the call, x has other values.")
        return TrialResult((Difference("in_place", _("another x"), _("x as it was"), text),))
    if function.returns_x and x.numel():
        text = _("It returns the memory of x: a change of the output changes x.")
        return TrialResult((Difference("in_place", _("the memory of x"), _("memory of its own"), text),))
    return TrialResult()


# Strides


def with_strides(x: Tensor) -> Iterator[Tensor]:
    """The same values transposed in memory, and as a slice with a step."""
    if x.dim() > 1:
        yield x.transpose(-1, -2).contiguous().transpose(-1, -2)
    yield probe.with_step(x)


def strides(subject: Subject) -> TrialResult:
    """Whether the output and the gradients are right for x and dout of other strides."""
    compared, function, x = subject.compared, subject.function, subject.x
    if function.kind == probe.JAX:
        return TrialResult(left_out=_("arrays of JAX have no strides"))
    values, raised = compared.alike(tuple(x.shape), 41).to(x.dtype), list[str]()
    several = list(with_strides(values))
    with own_dtypes(function):
        if not compared.agrees(values, {}, x.dtype, strict=True).ok:
            return TrialResult(left_out=_("x is far from zero"))
        for other in several:
            try:
                error = compared.agrees(other, {}, x.dtype, strict=True)
            except NormvizError as problem:
                raised.append(str(problem))
                continue
            if not error.ok:
                return TrialResult((wrong_strides(other, error),))
    notes = [_("An x that is not contiguous is not tried: {reason}", reason=one) for one in raised[:1]]
    return TrialResult((), tuple(notes), left_out=raised[0] if len(raised) == len(several) else "")


def wrong_strides(x: Tensor, error: Error) -> Difference:
    """A wrong output for an x that is not contiguous."""
    text = _(
        "It is right for a contiguous x, but not for the same values with the strides {strides}: its output differs by up to {largest:.3g}, at {at}.",
        strides=x.stride(),
        largest=error.largest,
        at=list(error.at),
    )
    return Difference(
        "strides", _("another output with the strides {strides}", strides=x.stride()), _("the same output"), text
    )


# Sizes


def other_sizes(subject: Subject) -> Iterator[tuple[LayerComparison, dict[int, Tensor]]]:
    """Other numbers of rows, and of features or channels if gamma and beta are arguments or there are none; with values of these."""
    norm, shape, names = subject.compared.expected.norm, tuple(subject.x.shape), subject.compared.expected.axes
    free = subject.function.has_free_sizes(subject.compared.best) and not norm.running and not norm.sizes
    learned = [axis for axis, name in enumerate(names) if axis and (name in norm.gamma_axes or axis == len(shape) - 1)]
    numbers = [(0, rows) for rows in rows_of(subject.x)]
    numbers += [(axis, n) for axis in learned[:2] for n in (shape[axis] + 1, shape[axis] - 1, 17, 100) if free]
    for axis, size in dict.fromkeys(numbers):
        other = (*shape[:axis], size, *shape[axis + 1 :])
        if other == shape or size < 1 or torch.Size(other).numel() > probe.LARGE:
            continue
        expected = subject.on_norm(other)
        if expected is not None:
            yield subject.compared.resized(expected, {shape[axis]: size})


def rows_of(x: Tensor) -> tuple[int, ...]:
    """The numbers of rows that are tried: few in Triton's interpreter, which runs the programs of a kernel one after the other."""
    is_interpreted = x.device.type == "cpu" and "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") == "1"
    return FEW_ROWS if is_interpreted else ROWS


def sizes(subject: Subject) -> TrialResult:
    """Whether the output is right for other sizes. A size at which the function raises does not count."""

    def errors() -> Iterator[tuple[Index, Error]]:
        dtype = subject.function.dtype
        for compared, values in other_sizes(subject):
            shape = compared.expected.shape
            with suppress(NormvizError):
                yield shape, compared.agrees(compared.alike(shape, 42).to(dtype), values, dtype)

    return on_other_shapes(subject, errors(), _("it takes no other sizes"))


def on_other_shapes(subject: Subject, errors: Iterable[tuple[Index, Error]], none: str = "") -> TrialResult:
    """The first wrong output among those on other shapes. ``none``: why there are none."""
    tried = list[Index]()
    for shape, error in errors:
        tried.append(shape)
        if not error.ok:
            told = other_size(tuple(subject.x.shape), shape, error)
            return TrialResult((told,), tried=shapes_text(tried), shape=shape)
    if not tried:
        layer = subject.compared.expected.title
        return TrialResult(left_out=none or _("{layer} and the function take no other shape", layer=layer))
    return TrialResult(tried=shapes_text(tried))


def shapes_text(shapes: Sequence[Index]) -> str:
    """The shapes of x that were tried."""
    return _("an x of shape {shapes}", shapes=", ".join(map(str, shapes)))


def gradients_elsewhere(subject: Subject) -> TrialResult:
    """Whether the gradients are right for other sizes and strides."""
    if subject.backward is False:
        return TrialResult(left_out="backward=False")
    in_half = subject.function.dtype.itemsize < 4  # sums of many rows are coarse
    several = (
        []
        if in_half
        else [one for one in other_sizes(subject) if {rows_of(subject.x)[-1], 17} & {*one[0].expected.shape}]
    )
    cases = [(compared, values, False) for compared, values in several]
    own = signed_values(subject.compared.learned, seed=5)
    tried, raised = list[str](), list[str]()
    for compared, values, strided in [(subject.compared, own, True), *cases]:
        try:
            found = compare_gradients(compared, values, strided)
        except NormvizError as problem:
            raised.append(str(problem))
            continue
        tried.append(
            _("an x and a dout that are not contiguous") if strided else shapes_text([compared.expected.shape])
        )
        if isinstance(found, Unjudged):
            return TrialResult(left_out=found.reason)
        if found:
            text = (
                _("This is the gradient for an x and a dout that are not contiguous.")
                if strided
                else _("This is the gradient on an x of shape {shape}.", shape=compared.expected.shape)
            )
            return TrialResult(tuple(also(one, text) for one in found))
    where = _("the gradients for {several}", several=listed(tried, "and")) if tried else ""
    return TrialResult(tried=where, left_out="" if tried else raised[0])


# Again


def repeat(subject: Subject) -> TrialResult:
    """Whether the same x gives the same output after other calls, and earlier outputs stay as they are."""
    found = repeated(subject.compared)
    return TrialResult(() if found is None else (found,))


def repeated(compared: LayerComparison) -> Difference | None:
    """What differs if the function is called again, also a dozen times in a row, without restoring what a module keeps."""
    function, x = compared.function, compared.x
    words = _("another output for the same x"), _("the same output")
    with own_dtypes(function):
        try:
            wrong = _later(function, x)
        except Exception as error:  # of the function
            wrong = _("The same x raises after other calls: {error}", error=str(error))
    return None if not wrong else Difference("repeat", *words, wrong)


def kept_by_shape(subject: Subject) -> Difference | None:
    """Whether the function is right for the first x of a shape, and not for the next one."""
    compared, shape, dtype = subject.compared, tuple(subject.x.shape), subject.function.dtype

    def is_right(x: Tensor) -> bool | None:
        """None if the layer or the function does not take it."""
        expected = subject.on_norm(tuple(x.shape))
        if expected is None:
            return None
        other, values = compared.resized(expected, {shape[0]: len(x)})
        with suppress(NormvizError):
            return other.agrees(x.to(dtype), values, dtype).ok
        return None

    for rows in (shape[0] + 2, shape[0] + 3):  # of which one may have been tried
        first, second = (probe.generic((rows, *shape[1:]), torch.float64, seed) for seed in (51, 52))
        if is_right(first) and is_right(second) is False:
            # If its values were wrong, they would be so in the first x of another shape, too.
            if is_right(torch.cat([second, first[:5]])) is False:
                return None
            words = _("another output for the next x"), _("the output of the layer")
            text = _(
                "It is right for the first x of a shape, but not for the next one: it keeps results by the shape of x."
            )
            return Difference("repeat", *words, text)
    return None


def _later(function: Function, x: Tensor) -> str:
    if not probe.is_repeated(function(x), function.first):
        return _("After other calls, the same x gives another output: it keeps something from call to call.")
    is_expanded = any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape, strict=True))
    memory = x.clone() if is_expanded else probe.same_strides(x)
    other = memory.clone() if is_expanded else probe.same_strides(x)
    other.copy_(x.flip(tuple(range(x.dim()))) * 0.75 + 0.125)
    several = list(function.consecutive([x, other, *[x] * CONSECUTIVE, other]))
    kept, before = several[0]
    if not probe.is_repeated(kept, before):
        return _("An earlier output changes with the next call: it returns the same memory each time.")
    for number, (output, _before) in enumerate(several[2:-1], 3):
        if not probe.is_repeated(output, before):
            return _("Its call number {n} with the same x gives another output.", n=number)
    outputs = list(function.in_memory(memory, [x, other]))
    if not probe.is_repeated(outputs[1], several[1][1]):
        return _(
            "Other values at the same address give the output of the values before: it keeps results by the address of x."
        )
    return ""


# A fused kernel


def residual(subject: Subject) -> TrialResult:
    """Whether a function with a residual normalizes the sum, and returns it."""
    compared, function, x = subject.compared, subject.function, subject.x
    if function.residual is None:
        return TrialResult(left_out=_("it has no argument residual of the shape of x"))
    added = compared.alike(tuple(x.shape), 46).to(x.dtype)
    with own_dtypes(function):
        output, *second = function.with_residual(x, added)
    sums = (x + added).double(), x.double() + added.double()  # rounded to the dtype of x, or not

    def error(output: Tensor, x: Tensor) -> Error:
        return compared.error_of(output, x, compared.best, dict(enumerate(function.values)), added.dtype, strict=True)

    errors = [error(output, total) for total in sums]
    words = _("another output with a residual"), _("the output for x + residual")
    if not any(one.ok for one in errors):
        if error(output - added, x).ok:
            text = _("It adds the residual after the normalization; add it to x before.")
        else:
            text = _(
                "With a residual it must normalize x + residual: its output differs from that by up to {largest:.3g}, at {at}.",
                largest=errors[0].largest,
                at=list(errors[0].at),
            )
        return TrialResult((Difference("residual", *words, text),))
    for one in second:
        close = 2 * torch.finfo(x.dtype).eps * (x.double().abs() + added.double().abs())
        difference = (one.double() - sums[1]).abs()
        if not bool((difference <= close).all()):
            text = _(
                "Its second output is not x + residual: it differs from that by up to {largest:.3g}.",
                largest=float(difference.max()),
            )
            words = _("another second output"), _("x + residual")
            return TrialResult((Difference("residual", *words, text),))
    return TrialResult(tried="" if second else _("a residual that is not zero: x + residual is normalized"))


# Rows alone and in a batch

MOST_ROWS = 8  # alone
BATCHES = (2, 16, 65)


def batch(subject: Subject) -> TrialResult:
    """Whether a row is the same, bit by bit, alone, in the given batch and in smaller and larger ones."""
    function, x, norm = subject.function, subject.x.contiguous(), subject.compared.expected.norm
    if not subject.batch_invariant:
        return TrialResult(left_out=_("batch_invariant is not True"))
    if not norm.running and set(norm.pattern.left[0]) & set(norm.pattern.reduced):
        return TrialResult(left_out=_("its rows share statistics"))
    batches = [[row] for row in range(min(len(x), MOST_ROWS))]
    batches += [[row % len(x) for row in range(size)] for size in (*BATCHES, len(x) + 1)]
    apart, sizes, raised = 0, {len(x)}, list[str]()
    with own_dtypes(function):
        whole = function(x)
        for rows in batches:
            try:
                apart = max(apart, _units(function(x[rows]), whole[rows]))
            except NormvizError as problem:
                raised.append(str(problem))
            else:
                sizes.add(len(rows))
    if len(sizes) == 1:
        return TrialResult(left_out=raised[0])
    if not apart:
        several = listed(map(str, sorted(sizes)), "and")
        return TrialResult(tried=_("rows in batches of {sizes}, bit by bit", sizes=several))
    text = ngettext(
        "The output for a row depends on the batch: it differs by {n} unit in the last place.",
        "The output for a row depends on the batch: it differs by up to {n} units in the last place.",
        apart,
    )
    words = _("another output for a row in another batch"), _("the same output, bit by bit")
    return TrialResult((Difference("batch", *words, text),))


def _units(one: Tensor, other: Tensor) -> int:
    """How many numbers of their dtype two tensors are apart at most."""
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[one.element_size()]
    places = []
    for tensor in (one, other):
        bits = tensor.contiguous().view(whole).to(torch.int64)
        places.append(torch.where(bits < 0, torch.iinfo(whole).min - bits, bits))
    return int((places[0] - places[1]).abs().max())


LARGE_IN_HALF = 300.0  # its square is not finite in float16


def half_precision(subject: Subject) -> TrialResult:
    """Whether the output is finite for large values in float16."""
    compared, function = subject.compared, subject.function
    if subject.x.dtype != torch.float16:
        return TrialResult(left_out=_("x is not float16"))
    values = (compared.alike(tuple(subject.x.shape), 44) - compared.mean) / compared.spread
    x = (LARGE_IN_HALF * values.sign() * (1 + 0.1 * values.abs())).to(torch.float16)
    with own_dtypes(function):
        output, wanted = function(x), compared.exact(x, {})
    if not bool((wanted.isfinite() & ~output.isfinite()).any()) and compared.near_enough(output, wanted):
        return TrialResult()
    text = _(
        "For values of {size:g} in float16 it overflows: convert x to float32 before you square it.", size=LARGE_IN_HALF
    )
    return TrialResult(notes=(text,))


# The smallest x that was found on which a function differs from a layer: fewer rows, then rounder numbers, then zeros and ones, as long as the
# output stays wrong by more than ``torch.testing.assert_close`` allows.

MOST_CALLS = 80
MANY = 24  # nonzero elements that are replaced one by one
MANY_ELEMENTS = 64  # of an x of which one output is compared
MOST_NUMBERS = 1000  # of a module's parameters that are written into a test
MARGIN = 2.0  # times the tolerance
DIGITS = {torch.float64: 15, torch.float32: 7}  # of expected numbers; those of x are exact
EXACT = {
    torch.float64: np.float64,
    torch.float32: np.float32,
    torch.float16: np.float16,
}  # prints what identifies a number

Plain = float | str | list["Plain"]


@dataclass(frozen=True, eq=False)
class Example:
    """The smallest x found on which a function differs from a layer: printed, it is a test for pytest.

    x         a tensor
    got       the output of the function
    expected  the output of the layer, with the gamma, beta and stored statistics of the function
    test      the text of the test
    """

    x: Tensor
    got: Tensor
    expected: Tensor
    test: str

    def __str__(self) -> str:
        return self.test

    __repr__ = __str__

    def to_dict(self) -> dict[str, Plain]:
        """The example as plain values, for JSON; "nan", "inf" and "-inf" are texts."""
        values = {"x": self.x, "got": self.got, "expected": self.expected}
        return {name: _plain(value.double().tolist()) for name, value in values.items()} | {"test": self.test}


def _plain(value: object) -> Plain:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    assert isinstance(value, float)
    return value if isfinite(value) else str(value)


@dataclass(frozen=True, eq=False)
class _Case:
    """An x, and values of the function's tensors. ``arranged`` gives x its strides."""

    compared: LayerComparison
    x: Tensor
    values: Mapping[int, Tensor]
    arranged: Callable[[Tensor], Tensor] = torch.clone

    def outputs(self) -> tuple[Tensor, Tensor] | None:
        """The output of the function and of the layer, if they differ; None if the function does not take this x, too."""
        compared, x = self.compared, self.arranged(self.x)
        try:
            got = compared.function(x, self.values)
            tensors = compared.function.with_values(self.values)
            if compared.error_of(got, x, compared.best, tensors, x.dtype, strict=True).ok:
                return None
            exact = compared.exact(x, self.values)
        except (NormvizError, RuntimeError):  # gamma and beta do not fit this size
            return None
        wanted = exact.to(got.dtype)
        relative, absolute = self.tolerances(got.dtype)
        near = torch.allclose(got, wanted, MARGIN * relative, MARGIN * absolute, equal_nan=True)
        return None if near or not exact.isfinite().all() else (got, wanted)

    def tolerances(self, dtype: torch.dtype) -> tuple[float, float]:
        """The relative and the absolute tolerance of a test: larger where right code has larger rounding errors, as far from zero."""
        low = min(self.x.dtype, dtype, key=lambda one: one.itemsize)
        relative, absolute = TOLERANCES[low]
        rounding = TIMES * self.compared.rounding(self.x, self.values, low)
        return relative, absolute if rounding < absolute else float(f"{1.5 * rounding:.0e}")


class _Search:
    """The search for a smaller case, which calls the function at most ``MOST_CALLS`` times."""

    def __init__(self) -> None:
        self.left = MOST_CALLS

    def first(self, cases: Iterator[_Case]) -> _Case | None:
        """The first one of the cases that shows a difference."""
        for case in cases:
            if self.left <= 0:
                return None
            self.left -= 1
            if case.outputs() is not None:
                return case
        return None


def example_of(subject: Subject, shape: Index | None = None, mode: str = "") -> Example | None:
    """The smallest x found on which the output differs; None if none was found.

    shape  of an x on which it differs, if not that of the given x
    mode   of the module in the test, if not that of the given one
    """
    if not subject.compared.alive or not subject.compared.reference.is_known:
        return None
    search, function = _Search(), subject.function
    with own_dtypes(function):
        case = search.first(_beginnings(subject, shape or tuple(subject.x.shape)))
        if case is None:
            return None
        on = subject.on if shape is None else subject.on_norm
        case = _fewer(case, on, search)
        for step in (_rounder, _fewer_digits_of_parameters):
            case = search.first(step(case)) or case
        case = _with_zeros(case, search)
        shown = case.outputs()
        if shown is None:  # the function is another one after some calls
            return None
        expected = subject.compared.expected
        is_other = expected.layer is not None and case.compared.expected.layer is None
        title = _("{layer}, for x of this size", layer=expected.title) if is_other else expected.title
        is_in_eval = probe.has_modes(function.fn) and not function.fn.training
        test = _test(case, *shown, title, mode or ("eval" if is_in_eval else ""))
        return Example(case.arranged(case.x), *shown, test)


def _beginnings(subject: Subject, shape: Index) -> Iterator[_Case]:
    """The given x, and others like it, with the function's own values and with others; then these in other places of the memory."""
    compared, function, given = subject.compared, subject.function, subject.x
    several: list[Mapping[int, Tensor]] = [{}]
    if shape != tuple(given.shape):
        sizes = {old: new for old, new in zip(given.shape, shape, strict=True) if old != new}
        expected = subject.on_norm(shape)
        if expected is None:
            return
        compared, resized = compared.resized(expected, sizes)
        several = [resized]
    else:
        others = signed_values(parameters_of(function), 4) | other_statistics(function, compared.reference, 4)
        if all(_can_be_set(function, i) for i in others):
            several.append({i: (10 * one).round() / 10 for i, one in others.items()})
    eps = compared.reference.norm.eps or 0.0
    small = probe.generic(shape, torch.float64, 13) - 0.5
    inputs = [] if shape != tuple(given.shape) else [given.contiguous()]
    inputs += [compared.alike(shape, seed).to(given.dtype) for seed in (11, 42)]
    inputs += [(small * scale * eps**0.5).to(given.dtype) for scale in EPS_SCALES if eps]
    inputs.append(torch.full(shape, compared.mean, dtype=given.dtype))
    for values in several:
        for x in inputs:
            yield _Case(compared, x, values)
    for number in range(2 if len(shape) > 1 else 1):
        yield _Case(compared, inputs[0], several[0], lambda x, number=number: list(with_strides(x))[number])  # type: ignore[misc]


def _fewer(case: _Case, on: Callable[[Index], object], search: _Search) -> _Case:
    """The case with fewer elements along one axis after the other, around the largest difference."""
    shown = case.outputs()
    assert shown is not None
    wrong = (shown[0].double() - shown[1].double()).abs().nan_to_num(torch.inf)
    at = np.unravel_index(int(wrong.argmax()), wrong.shape)
    for axis in range(case.x.dim()):
        smaller = [_narrowed(case, axis, size, int(at[axis]), on) for size in range(1, min(4, case.x.shape[axis]))]
        case = search.first(one for one in smaller if one is not None) or case
    return case


def _narrowed(case: _Case, axis: int, size: int, at: int, on: Callable[[Index], object]) -> _Case | None:
    """The case with this size of an axis, and with the part of x that has the index ``at``."""
    old, shape = case.x.shape[axis], list(case.x.shape)
    shape[axis] = size
    expected = on(tuple(shape))
    if expected is None:
        return None
    compared, fresh = case.compared.resized(expected, {old: size})  # type: ignore[arg-type]
    function = compared.function
    values = dict(case.values)
    for position, value in fresh.items():
        own = values.get(position, function.values[position])
        values[position] = own[tuple(slice(n) for n in value.shape)]
    x = case.x.narrow(axis, min(at, old - size), size).contiguous()
    return replace(case, compared=compared, x=x, values=values)


def rounded(x: Tensor, digits: int) -> Tensor:
    """Integers for 0 digits; else numbers with so many digits of the largest one.

    >>> rounded(torch.tensor([0.00234, -0.0111]), 1).tolist() == torch.tensor([0.0, -0.01]).tolist()
    True
    """
    largest = float(x.double().abs().nan_to_num(posinf=0.0).max()) if x.numel() else 0.0
    if digits == 0 or not largest:
        return x.round()
    step = 10.0 ** (floor(log10(largest)) - digits + 1)
    return ((x.double() / step).round() * step).to(x.dtype)


def _rounder(case: _Case) -> Iterator[_Case]:
    """The case with integers, or with few digits."""
    for digits in (0, 1, 2, 3):
        yield replace(case, x=rounded(case.x, digits))


def _fewer_digits_of_parameters(case: _Case) -> Iterator[_Case]:
    """The case with rounder values of the function's tensors."""
    if case.values:
        for digits in (0, 1):
            values = {i: rounded(one, digits) if one.is_floating_point() else one for i, one in case.values.items()}
            yield replace(case, values=values)


def _with_zeros(case: _Case, search: _Search) -> _Case:
    """The case with zeros, in blocks of elements that get smaller; then with ones."""
    size = case.x.numel()
    while size > 1:
        size = (size + 1) // 2
        for start in range(0, case.x.numel(), size):
            flat = case.x.flatten().clone()
            if flat[start : start + size].any():
                flat[start : start + size] = 0
                case = search.first(iter([replace(case, x=flat.reshape(case.x.shape))])) or case
    nonzero = case.x.flatten().nonzero().flatten().tolist()
    unit = 10.0 ** floor(log10(float(case.x.double().abs().max()))) if nonzero and case.x.isfinite().all() else 1.0
    for position in nonzero if len(nonzero) <= MANY else ():
        flat = case.x.flatten().clone()
        if float(flat[position]) != unit:
            flat[position] = unit
            case = search.first(iter([replace(case, x=flat.reshape(case.x.shape))])) or case
    return case


# The test


def _can_be_set(function: Function, position: int) -> bool:
    """Whether a test can give this tensor of the function other values: an argument, or one of the module."""
    return function.is_argument(position) or position in _registered(function)


def _registered(function: Function) -> dict[int, str]:
    """The names of the module's parameters and buffers, by position."""
    if not isinstance(function.fn, nn.Module):
        return {}
    named = [*function.fn.named_parameters(), *function.fn.named_buffers()]
    names = {id(tensor): name for name, tensor in named if tensor.is_floating_point()}
    return {i: names[id(tensor)] for i, tensor in enumerate(function.tensors) if id(tensor) in names}


def _test(case: _Case, got: Tensor, expected: Tensor, layer: str, mode: str) -> str:
    """The text of a test that fails for the function and passes for the layer. ``mode``: into which it puts the module, or ""."""
    function, x = case.compared.function, case.arranged(case.x)
    returned = function.raw(x, case.values)  # afterwards its tensors have these values
    imports, lines = [_LIBRARIES[function.kind]], _lines_of_x(case.x, function)
    if not x.is_contiguous():
        places = 1 + sum(step * (size - 1) for step, size in zip(x.stride(), x.shape, strict=True))
        lines.append(f"x = torch.ones({places}, device=x.device).as_strided({tuple(x.shape)}, {x.stride()}).copy_(x)")
    lines += [f"module.{mode}()"] if mode else []
    at, shown = "", expected
    if x.numel() > MANY_ELEMENTS:
        index = np.unravel_index(int((got.double() - expected).abs().nan_to_num(torch.inf).argmax()), got.shape)
        at, shown = str([int(i) for i in index]), expected[index]
    lines.append(
        f"got = {_call(function, case.x, case.values)}{'[0]' if isinstance(returned, tuple | list) else ''}{at}"
    )
    lines.append(f"expected = {_code(function.own_array(shown), is_exact=False)}  # {layer}")
    relative, absolute = case.tolerances(got.dtype)
    if function.kind == probe.TENSORS:
        same = "" if got.dtype == x.dtype else ", check_dtype=False"
        same += "" if (relative, absolute) == TOLERANCES[got.dtype] else f", rtol={relative:g}, atol={absolute:g}"
        lines.append(f"torch.testing.assert_close(got, expected{same})")
    else:
        imports = list(dict.fromkeys([*imports, _LIBRARIES[probe.ARRAYS]]))
        lines.append(f"np.testing.assert_allclose(got, expected, rtol={relative:g}, atol={absolute:g})")
    function.restore()
    name = "it" if _name(function) == "fn" else _name(function)
    return "\n".join([*imports, "", "", f"def test_{name}():", *(f"    {line}" for line in lines)])


_LIBRARIES = {probe.TENSORS: "import torch", probe.ARRAYS: "import numpy as np", probe.JAX: "import jax.numpy as jnp"}


def _lines_of_x(x: Tensor, function: Function) -> list[str]:
    """x in code: where it has many elements, its nonzero ones."""
    nonzero = x.nonzero().tolist()
    if x.numel() <= MANY_ELEMENTS or len(nonzero) > MANY or function.kind == probe.JAX:
        return [f"x = {_code(function.own_array(x))}"]
    library = "torch" if function.kind == probe.TENSORS else "np"
    dtype = _code(function.own_array(x[:0].flatten())).removeprefix(f"{library}.").partition("[]")[2]
    values = [f"x{at} = {_numbers(x[tuple(at)], library)}" for at in nonzero]
    return [f"x = {library}.zeros({tuple(x.shape)}{dtype}", *values]


def _call(function: Function, x: Tensor, values: Mapping[int, Tensor]) -> str:
    """The call of the function, whose tensors have these values."""
    name = _name(function)
    arguments = {one: _code(value, name=one) for one, value in function.arguments(x).items()}
    state = {one: values.get(i, function.values[i]) for i, one in _registered(function).items()}
    if state and sum(value.numel() for value in state.values()) <= MOST_NUMBERS:
        own = ", ".join(f'"{one}": {_code(value)}' for one, value in state.items())
        given = ", ".join(f'"{one}": {value}' for one, value in arguments.items())
        return f"torch.func.functional_call(module, {{{own}}}, (x,){f', {{{given}}}' if given else ''})"
    return f"{name}({', '.join(['x', *(f'{one}={value}' for one, value in arguments.items())])})"


def _name(function: Function) -> str:
    """How the test calls the function."""
    if isinstance(function.fn, nn.Module):
        return "module"
    name = str(getattr(function.fn, "__name__", "fn"))
    return name if name.isidentifier() else "fn"


def _code(value: object, name: str = "", is_exact: bool = True) -> str:
    """A value as code; the name for a value that has no short code."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_code(one, str(key))}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        several = ", ".join(_code(one, name) for one in value)
        return f"[{several}]" if isinstance(value, list) else f"({several}{',' * (len(value) == 1)})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Tensor):
        dtype = "" if value.dtype in (torch.float32, torch.int64, torch.bool) else f", dtype={value.dtype}"
        device = "" if value.device.type == "cpu" else f', device="{value.device}"'
        return f"torch.tensor({_numbers(value, 'torch', is_exact)}{dtype}{device})"
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64) else f', dtype="{value.dtype}"'
        return f"np.array({_numbers(torch.as_tensor(value), 'np', is_exact)}{dtype})"
    if probe.is_jax(value):
        return f"jnp.array({_numbers(probe.from_jax(value), 'jnp', is_exact)})"
    return name


def _numbers(value: Tensor, library: str, is_exact: bool = True) -> str:
    def shown(one: float) -> str:
        if is_exact and value.dtype in EXACT:
            return str(EXACT[value.dtype](one))
        return f"{one:.{DIGITS.get(value.dtype, 5)}g}"

    def text(one: object) -> str:
        if isinstance(one, list):
            return f"[{', '.join(map(text, one))}]"
        if not isinstance(one, float):
            return repr(one)
        return repr(float(shown(one)) + 0.0) if isfinite(one) else str(one).replace("nan", f"{library}.nan").replace("inf", f"{library}.inf")  # fmt: skip

    return text(value.detach().tolist())
