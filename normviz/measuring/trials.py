"""The trials of a check: what is tried of a function, and the result of each trial.

A ``Trial`` is a function from a ``Subject`` to a ``TrialResult``: the differences that it finds, notes, or why it was left out. After one
that finds a difference, those that would only find it again are skipped. ``TRIALS`` in ``check`` is the table of them, from which the
documentation is made.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Self

import torch
from torch import Tensor

from normviz.analysis.description import Description
from normviz.measuring import probe
from normviz.measuring.backward import Unjudged, compare_gradients, inconsistent_gradients
from normviz.measuring.formula import Measurement
from normviz.measuring.groups import Index
from normviz.measuring.probe import Function
from normviz.measuring.report import (
    Difference,
    also,
    extreme_note,
    other_dtype,
    other_size,
    unexpected_change,
    vanishing_eps,
)
from normviz.measuring.verdict import Error, LayerComparison, Verdict, constant_is_finite, extremes, signed_values
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
        return TrialResult((unexpected_change("in_place", _("another x"), _("x as it was"), text),))
    if function.returns_x and x.numel():
        text = _("It returns the memory of x: a change of the output changes x.")
        return TrialResult((unexpected_change("in_place", _("the memory of x"), _("memory of its own"), text),))
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
    return unexpected_change(
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
    function, tried = subject.function, list[Index]()
    for compared, values in other_sizes(subject):
        shape = compared.expected.shape
        try:
            error = compared.agrees(compared.alike(shape, 42).to(function.dtype), values, function.dtype)
        except NormvizError:
            continue
        tried.append(shape)
        if not error.ok:
            told = other_size(tuple(subject.x.shape), shape, error)
            return TrialResult((told,), tried=shapes_text(tried), shape=shape)
    if not tried:
        return TrialResult(left_out=_("it takes no other sizes"))
    return TrialResult(tried=shapes_text(tried))


def on_other_shapes(subject: Subject, errors: Iterable[tuple[Index, Error]]) -> TrialResult:
    """The first wrong output among those on other shapes."""
    tried = list[Index]()
    for shape, error in errors:
        tried.append(shape)
        if not error.ok:
            told = other_size(tuple(subject.x.shape), shape, error)
            return TrialResult((told,), tried=shapes_text(tried), shape=shape)
    if not tried:
        layer = subject.compared.expected.title
        return TrialResult(left_out=_("{layer} and the function take no other shape", layer=layer))
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
    return None if not wrong else unexpected_change("repeat", *words, wrong)


def kept_by_shape(subject: Subject) -> Difference | None:
    """Whether the function is right for the first x of a shape, and not for the next one."""
    compared, shape, dtype = subject.compared, tuple(subject.x.shape), subject.function.dtype
    for rows in (shape[0] + 2, shape[0] + 3):  # of which one may have been tried
        expected = subject.on_norm((rows, *shape[1:]))
        if expected is None:
            return None
        other, values = compared.resized(expected, {shape[0]: rows})
        try:
            several = [other.agrees(other.alike(expected.shape, seed).to(dtype), values, dtype).ok for seed in (51, 52)]
        except NormvizError:
            return None
        if several == [True, False]:
            words = _("another output for the next x"), _("the output of the layer")
            text = _(
                "It is right for the first x of a shape, but not for the next one: it keeps results by the shape of x."
            )
            return unexpected_change("repeat", *words, text)
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
        return TrialResult((unexpected_change("residual", *words, text),))
    for one in second:
        close = 2 * torch.finfo(x.dtype).eps * (x.double().abs() + added.double().abs())
        difference = (one.double() - sums[1]).abs()
        if not bool((difference <= close).all()):
            text = _(
                "Its second output is not x + residual: it differs from that by up to {largest:.3g}.",
                largest=float(difference.max()),
            )
            words = _("another second output"), _("x + residual")
            return TrialResult((unexpected_change("residual", *words, text),))
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
    return TrialResult((unexpected_change("batch", *words, text),))


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
