"""Whether two norms that ran compute the same: both run on the input of the first, with its gamma, beta and statistics.

``mismatch`` finds where they differ; ``reasons`` asks ``check`` why.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.check import compare as compare_with_layer
from normviz.measuring.check import expect, expected_of
from normviz.measuring.formula import generic_values
from normviz.measuring.models.kept import Kept, WithOthers
from normviz.measuring.models.layout import Layout, Shape, layouts, same
from normviz.measuring.probe import Function, home_of, isolated, same_random_states
from normviz.measuring.report import Difference, imprecise, other_dtype, rounds, unexpected
from normviz.measuring.verdict import FAR_FROM_ZERO, Error, Reference, compare, signed_values
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, ngettext

SCALES = tuple(10.0**-k for k in range(1, 8))  # of an x at which some eps counts
OF_OTHERS = (0.0, 1.5, -0.75)  # values of the tensors beside x: two functions may be equal at one of them
# Errors that the outputs of a group have in common, in units of the dtype: 0.05 with statistics in float32, 0.25 with rounded ones
EXACT, COARSE = 0.1, 0.15
FEWEST_OF_GROUP = 32  # elements, so that the errors of single outputs cancel
LARGEST = 2**20  # elements of a whole input that is tried before a difference is told
OWN_VALUES, GENERIC = "own", "generic"
GAMMA, BETA, MEAN, VAR, OTHER = "gamma", "beta", "mean", "var", ""


# The two norms as modules with the same input


class Laid(nn.Module):
    """A norm that takes the input of another norm, whose axes have another layout."""

    def __init__(self, inner: nn.Module, layout: Layout) -> None:
        super().__init__()
        self.inner, self.layout = inner, layout

    def forward(self, x: Tensor) -> Tensor:
        output = self.inner(self.layout.there(x))
        first = output[0] if isinstance(output, tuple | list) and output else output
        return self.layout.back(first, tuple(x.shape))


def runnable(kept: Kept, layout: Layout | None = None, value: float = 0.0) -> nn.Module:
    """A copy of a norm as a module with one input, in the layout of another norm."""
    module = copy.deepcopy(kept.module)
    if kept.others:
        module = WithOthers(module, kept.others, value)
    return module if layout is None or layout.is_identity else Laid(module, layout)


def possible_layouts(first: Kept, second: Kept) -> list[Layout]:
    """The layouts that may lead from the input of the first to that of the second: by values, by how both were made, or else by sizes."""
    several = layouts(first.shape, second.shape)
    if len(several) < 2:
        if several:
            return several
        rank = len(first.shape)
        if len(second.shape) == 2 < rank and first.shape[-1] == second.shape[-1]:  # another number of rows
            return [Layout(same(first.shape).parts, tuple(range(rank)), (rank - 1, 1))]
        return [same(first.shape)] if rank == len(second.shape) else []
    if max(map(prod, (first.shape, first.trail.shape, second.trail.shape))) <= LARGEST:
        for chosen in (_by_values(first, second, several), _by_trails(first, second, several)):
            if 0 < len(chosen) < len(several):
                return chosen
    usual = [layout for layout in several if not layout.rank[0]]
    return several[:1] if several[0].is_identity else usual or several[:1]


def shared_values(first: Kept, second: Kept, layout: Layout) -> tuple[Tensor, Tensor]:
    """The elements that are kept of both inputs: their values in the first, and in the second."""
    part = tuple(slice(0, size) for size in first.x.shape)
    whole = torch.full(first.shape, torch.nan, dtype=torch.float64)
    whole[part] = first.x.cpu().double()
    there = layout.there(whole)[tuple(slice(0, size) for size in second.x.shape)]
    known = ~there.isnan()
    return there[known], second.x.cpu().double()[known]


def are_close(one: Tensor, other: Tensor) -> bool:
    """Whether two inputs are the same apart from rounding."""
    spread = float((one - one.mean()).abs().max()) if one.numel() else 0.0
    return spread > 0 and float((one - other).abs().max()) <= 0.02 * spread


def _by_values(first: Kept, second: Kept, several: Sequence[Layout]) -> list[Layout]:
    return [layout for layout in several if are_close(*shared_values(first, second, layout))]


def _by_trails(first: Kept, second: Kept, several: Sequence[Layout]) -> list[Layout]:
    """The layouts that agree with how both were made, if they were made in the same layout, or in ones whose channels are known."""
    one, other = first.trail, second.trail
    made = torch.arange(prod(one.shape)).reshape(one.shape)
    as_other = made
    if one.channel is not None and other.channel is not None:
        as_other = made.movedim(one.channel, other.channel)
    if tuple(as_other.shape) != other.shape:
        return []
    with suppress(RuntimeError):  # a step that was written for other sizes
        positions = one.positions(made), other.positions(as_other)
        return [layout for layout in several if torch.equal(layout.there(positions[0]), positions[1])]
    return []


# Which tensors of the two stand for each other


def role_of(name: str, is_parameter: bool) -> str:
    """gamma, beta, mean, var or another parameter, by the name of a tensor.

    >>> role_of("norm.weight", True), role_of("moving_mean", False), role_of("a_2", True)
    ('gamma', 'mean', '')
    """
    base = name.rpartition(".")[2].lower()
    if base in probe.GAMMA_NAMES:
        return GAMMA
    if base in probe.BETA_NAMES:
        return BETA
    if is_parameter:
        return OTHER
    return MEAN if "mean" in base or "avg" in base else VAR if "var" in base else "constant"


def tensors_of(module: nn.Module) -> dict[str, list[Tensor]]:
    """The floating-point tensors of a module by their role, also those that are plain attributes."""
    found: dict[str, list[Tensor]] = {role: [] for role in (GAMMA, BETA, OTHER, MEAN, VAR, "constant")}
    for name, parameter in module.named_parameters():
        found[role_of(name, True)].append(parameter)
    for part in module.modules():
        plain = [(name, value) for name, value in vars(part).items() if isinstance(value, Tensor)]
        for name, value in (*part.named_buffers(recurse=False), *plain):
            if value.is_floating_point():
                found[role_of(name, False)].append(value)
    return found


@dataclass(frozen=True, eq=False)
class Matched:
    """A tensor of the first norm and one of the second, by their numbers in ``Function.tensors``, and how the first becomes the second."""

    role: str
    first: int
    second: int
    order: tuple[int, ...]
    shape: Shape

    def of(self, value: Tensor) -> Tensor:
        """The value for the second norm."""
        long = value.reshape([size for size in value.shape if size > 1])
        return (long.permute(self.order) if self.order else long).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Both:
    """Two norms as functions of the same x.

    learned  for each norm, the numbers of the tensors that may be gamma or beta, by role
    stored   the same for the statistics
    dtypes   the most precise dtypes that the two take
    """

    first: Function
    second: Function
    learned: tuple[Mapping[int, str], Mapping[int, str]]
    stored: tuple[Mapping[int, str], Mapping[int, str]]
    dtypes: tuple[torch.dtype, torch.dtype]

    @classmethod
    def of(cls, first: Function, second: Function) -> Both:
        learned, stored = [], []
        for function in (first, second):
            numbers = {id(tensor): number for number, tensor in enumerate(function.tensors)}
            by_role = {
                role: [numbers[id(one)] for one in several if id(one) in numbers]
                for role, several in tensors_of(function.fn).items()
            }
            learned.append({number: role for role in (GAMMA, BETA, OTHER) for number in by_role[role]})
            stored.append({number: role for role in (MEAN, VAR) for number in by_role[role]})
        return cls(first, second, (learned[0], learned[1]), (stored[0], stored[1]), (first.dtype, second.dtype))

    def matches(self) -> list[tuple[Matched, ...]]:
        """Every way in which the tensors may stand for each other, the likeliest first."""
        statistics = self._paired(self.stored[0], self.stored[1])
        pairs = self._paired(*self.learned)
        rest = [[n for n in own if n not in {pair[k] for pair in pairs}] for k, own in enumerate(self.learned)]
        found = []
        for second in (rest[1], rest[1][::-1]) if len(rest[1]) > 1 else (rest[1],):
            free, more = list(second), []
            for number in rest[0]:
                fitting = next((n for n in free if self._elements(0, number) == self._elements(1, n)), None)
                if fitting is not None:
                    free.remove(fitting)
                    more.append((number, fitting))
            several = [*pairs, *more]
            for order in self._orders(several):
                found.append(tuple(self._matched(i, j, order) for i, j in (*several, *statistics)))
        return found

    def _elements(self, model: int, number: int) -> int:
        return (self.first, self.second)[model].tensors[number].numel()

    def _paired(self, one: Mapping[int, str], other: Mapping[int, str]) -> list[tuple[int, int]]:
        pairs, free = [], dict(other)
        for i, role in one.items():
            j = next(
                (j for j, own in free.items() if own == role != OTHER and self._elements(0, i) == self._elements(1, j)),
                None,
            )
            if j is not None:
                del free[j]
                pairs.append((i, j))
        return pairs

    def _orders(self, several: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
        """The permutations of the axes of a gamma that give the shape of the other."""
        yield ()
        long = [
            tuple(size for size in function.tensors[k].shape if size > 1)
            for pair in several[:1]
            for function, k in zip((self.first, self.second), pair, strict=True)
        ]
        if long and 1 < len(long[0]) <= 4:
            for order in permutations(range(len(long[0]))):
                if tuple(long[0][i] for i in order) == long[1]:
                    yield order

    def _matched(self, i: int, j: int, order: tuple[int, ...]) -> Matched:
        shape = tuple(self.second.tensors[j].shape)
        long = [size for size in self.first.tensors[i].shape if size > 1]
        return Matched(
            self.learned[0].get(i, self.stored[0].get(i, "")), i, j, order if len(order) == len(long) else (), shape
        )

    def unmatched(self, matched: Sequence[Matched]) -> tuple[dict[int, str], dict[int, str]]:
        """The learned tensors that only one of the two has."""
        used = {one.first for one in matched}, {one.second for one in matched}
        first, second = (
            {n: role for n, role in own.items() if n not in taken}
            for own, taken in zip(self.learned, used, strict=True)
        )
        return first, second

    # Values

    def own_values(self, matched: Sequence[Matched]) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """The values of the first, put into the second."""
        return {}, {one.second: one.of(self.first.originals[one.first]) for one in matched}

    def generic(
        self, matched: Sequence[Matched], seed: int, positive: bool = False
    ) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """Other values of gamma, beta and the statistics: ones and zeros would hide how they are used."""
        make = generic_values if positive else signed_values
        first = make({i: self.first.originals[i] for i in self.learned[0]}, seed)
        statistics = {
            i: self.first.originals[i] for i, role in self.stored[0].items() if i in {one.first for one in matched}
        }
        first |= signed_values({i: one for i, one in statistics.items() if self.stored[0][i] == MEAN}, seed)
        first |= {i: _spread(one, seed) for i, one in statistics.items() if self.stored[0][i] == VAR}
        second = make({j: self.second.originals[j] for j in self.unmatched(matched)[1]}, seed + 50)
        return first, second | {one.second: one.of(first[one.first]) for one in matched if one.first in first}

    def neutral(self, matched: Sequence[Matched]) -> Iterator[tuple[dict[int, float], dict[int, float]]]:
        """1 or 0 for each learned tensor that only one of the two has: as if it were not there."""
        only = self.unmatched(matched)
        numbers = [(k, n) for k in (0, 1) for n in only[k]]
        if 0 < len(numbers) < 5:
            for values in product((1.0, 0.0), repeat=len(numbers)):
                found: tuple[dict[int, float], dict[int, float]] = ({}, {})
                for (k, n), value in zip(numbers, values, strict=True):
                    found[k][n] = value
                yield found


def _spread(tensor: Tensor, seed: int) -> Tensor:
    """Variances from 1e-9 to 1, so that eps counts."""
    steps = torch.linspace(9, 0, tensor.numel() + 1, dtype=torch.float64).roll(seed)[: tensor.numel()]
    return (10.0**-steps).reshape(tensor.shape).to(tensor.dtype)


# Where the two differ


@dataclass(frozen=True, eq=False)
class Mismatch:
    """Where two norms differ.

    what      "raises", "dtype", "precision", "steps", "values", "backward" or "running"
    training  the mode in which they differ
    error     how far apart they are
    told      the whole difference; None if ``check`` has to find the reason
    values    the outputs of the second and of the first, where they are farthest apart
    missing   gamma or beta that only the first has, and that only the second has
    whole     whether ``missing`` explains the whole difference
    is_note   whether the two compute the same, so that this is a note
    """

    what: str
    training: bool
    x: Tensor
    error: Error | None = None
    told: Difference | None = None
    values: tuple[float, float] = (0.0, 0.0)
    missing: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    whole: bool = True
    is_note: bool = False


def mismatch(first: Kept, second: Kept, layout: Layout, norm: Norm | None) -> Mismatch | None:
    """Where the second norm differs from the first, as functions of the first's input; None if they compute the same.

    norm  the pattern of the first, for the rounding of its mean

    Raises NormvizError if the first cannot be run again.
    """
    found = _in_modes(first, second, layout, norm, first.x)
    if found is None or (found.x.shape == first.shape and found.x.numel() == prod(first.shape)):
        return found
    if first.x.shape == first.shape or prod(first.shape) > LARGEST:
        return found
    x = _alike(first.x, first.shape, 3).to(first.x.dtype)
    again = _in_modes(first, second, layout, norm, x)  # a part of x may have one group too few
    return None if again is None else found


def _in_modes(first: Kept, second: Kept, layout: Layout, norm: Norm | None, x: Tensor) -> Mismatch | None:
    own = first.module.training, second.module.training
    both, values = [own], OF_OTHERS if first.others or second.others else (0.0,)
    if not (first.is_function or second.is_function):
        both.append((not own[0], not own[1]))
    for training in both:
        try:
            several = (_in_mode(first, second, layout, norm, x, training, value) for value in values)
            found = next((one for one in several if one is not None), None)
        except NormvizError:
            if training == own:
                raise
            continue  # such as with dropout, or with too few values for train mode
        if found is not None:
            told = None if training == own or any(own) else _frozen(first, second, layout, x)
            return found if told is None else replace(found, told=told, what="running", is_note=True)
    if own[0] == own[1] and not (first.is_function or second.is_function):
        return running_mismatch(runnable(first), runnable(second, layout), x)
    return None


def _in_mode(
    first: Kept, second: Kept, layout: Layout, norm: Norm | None, x: Tensor, training: tuple[bool, bool], value: float
) -> Mismatch | None:
    one, two = (
        runnable(kept, own, value).train(mode)
        for kept, own, mode in zip((first, second), (None, layout), training, strict=True)
    )
    with ExitStack() as stack:
        try:
            f = stack.enter_context(isolated(one, x, probe.TENSORS, {}))
        except NormvizError:
            if x.shape == first.shape:
                raise  # it cannot run in this mode, or is random
            return _in_mode(first, second, layout, norm, _alike(x, first.shape, 3).to(x.dtype), training, value)
        if not value and (first.others or second.others) and bool((f.first == 0).all()):
            return None  # a gate that is closed; the next values open it
        try:
            g = stack.enter_context(isolated(two, x, probe.TENSORS, {}))
        except NormvizError as error:
            if _is_random(two, x):
                raise
            if x.shape != first.shape:
                return _in_mode(first, second, layout, norm, _alike(x, first.shape, 3).to(x.dtype), training, value)
            text = _("It does not run on the input of the first: {error}", error=str(error))
            return Mismatch("raises", training[0], x, told=Difference("values", "", "", text))
        return Duel(Both.of(f, g), x, second.x.dtype, norm).found(training[0])


def _frozen(first: Kept, second: Kept, layout: Layout, x: Tensor) -> Difference | None:
    """That one of two norms with stored statistics uses them in train mode, too, which is right for a frozen one; else None."""
    same = []
    for module in (runnable(first), runnable(second, layout)):
        with suppress(Exception), torch.no_grad(), same_random_states():  # of the module
            outputs = [copy.deepcopy(module).train(mode)(x.clone()) for mode in (False, True)]
            same.append(torch.equal(*(one[0] if isinstance(one, tuple | list) else one for one in outputs)))
    if sorted(same) != [False, True]:
        return None
    text = _("It is frozen: it uses its stored statistics in train mode, too. The other one does so in eval mode only.")
    return Difference("running", "frozen", "first" if same[0] else "", text)


def _is_random(module: nn.Module, x: Tensor) -> bool:
    """Whether a second call with the same x gives another output, as with dropout."""
    with suppress(Exception), torch.no_grad(), same_random_states():  # of the module
        outputs = [copy.deepcopy(module)(x.clone()) for _call in range(2)]
        return not torch.equal(*(one[0] if isinstance(one, tuple | list) else one for one in outputs))
    return False


def _alike(x: Tensor, shape: Shape, seed: int) -> Tensor:
    """Other values like those of x, in float64; near zero if x is far from it."""
    usable = x.cpu().double()[x.cpu().isfinite()]
    spread = float(usable.std(correction=0)) if usable.numel() > 1 else 0.0
    mean = float(usable.mean()) if usable.numel() else 0.5
    values = probe.generic(shape, torch.float64, seed).to(home_of(x))
    if not spread or abs(mean) > FAR_FROM_ZERO * spread:
        return values
    return (values - 0.5) * spread + mean


@dataclass(frozen=True, eq=False)
class Duel:
    """What is tried of two norms on the same input.

    x      the input of the first
    dtype  of the input of the second
    """

    both: Both
    x: Tensor
    dtype: torch.dtype
    norm: Norm | None

    @property
    def low(self) -> torch.dtype:
        """The dtype whose rounding is allowed, although each function gets the most precise dtype that it takes."""
        least = min(self.both.dtypes, key=lambda dtype: dtype.itemsize)
        return least if least.itemsize < 4 else torch.float32

    def found(self, training: bool) -> Mismatch | None:
        """The first difference."""
        several = self.both.matches()
        wrong: list[Mismatch] = []
        for matched in several:
            found = self._values(matched, training)
            if found is None:
                return self._gradients(matched, training)
            wrong.append(found)
        if (used := self._without_unused()) is not None:
            return used.found(training)
        for matched in several:
            for neutral in self.both.neutral(matched):
                if self._values(matched, training, neutral) is None and self._depends_on_x(matched, neutral[0]):
                    return replace(wrong[0], missing=self._named(matched, neutral))
        return replace(wrong[0], missing=self._by_name(), whole=False)

    def _without_unused(self) -> Duel | None:
        """The same without the parameters that change no output; None if all are used."""
        learned = []
        functions = self.both.first, self.both.second
        for function, own, dtype in zip(functions, self.both.learned, self.both.dtypes, strict=True):
            function.use(dtype)
            outputs = {
                n: [function(self.x.to(dtype), {n: signed_values({n: one}, seed)[n].to(dtype)}) for seed in (4, 5)]
                for n, one in ((n, function.originals[n]) for n in own)
            }
            learned.append({n: role for n, role in own.items() if not torch.equal(*outputs[n])})
        if learned == list(self.both.learned):
            return None
        return replace(self, both=replace(self.both, learned=(learned[0], learned[1])))

    def _depends_on_x(self, matched: Sequence[Matched], fixed: Mapping[int, float]) -> bool:
        """Whether these values of the first do not hide its output, as a gamma of 0 does."""
        first = self.both.first
        values = self._usable(matched)[0]
        values |= {n: torch.full_like(first.originals[n], value) for n, value in fixed.items()}
        shape, dtype = tuple(self.x.shape), self.both.dtypes[0]
        one, other = (self._run(first, _alike(self.x, shape, seed), values, dtype) for seed in (11, 12))
        return not torch.allclose(one, other, atol=1e-3)

    def _named(
        self, matched: Sequence[Matched], neutral: Sequence[Mapping[int, float]]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """gamma or beta, for each that only the first, or only the second has."""
        only, found = self.both.unmatched(matched), []
        for own, values in zip(only, neutral, strict=True):
            found.append(tuple(dict.fromkeys(own[n] or (GAMMA if value else BETA) for n, value in values.items())))
        return found[0], found[1]

    def _by_name(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The same by the names of the tensors, where other differences hide what the tensors do. Other names say nothing."""
        roles = [set(own.values()) for own in self.both.learned]
        if any(OTHER in own for own in roles):
            return (), ()
        return tuple(sorted(roles[0] - roles[1], reverse=True)), tuple(sorted(roles[1] - roles[0], reverse=True))

    # Values

    def _values(
        self,
        matched: Sequence[Matched],
        training: bool,
        neutral: tuple[Mapping[int, float], Mapping[int, float]] | None = None,
    ) -> Mismatch | None:
        both, shape = self.both, tuple(self.x.shape)
        values = self._usable(matched)
        if neutral is not None:
            for own, fixed, function in zip(values, neutral, (both.first, both.second), strict=True):
                own.update({n: torch.full_like(function.originals[n], value) for n, value in fixed.items()})
        for x in self._inputs(shape):
            error = self._error(x, values)
            if error is not None and not error[0].ok:
                return Mismatch("values", training, self.x, error[0], values=error[1])
        return self._given(matched, training) if neutral is None else None

    def _inputs(self, shape: Shape) -> Iterator[Tensor]:
        """Values like those of x, small ones, and other batches."""
        yield from (_alike(self.x, shape, seed) for seed in (11, 12))
        yield from ((probe.generic(shape, torch.float64, 13) - 0.5) * scale for scale in SCALES)
        yield from (_alike(self.x, (shape[0] + more, *shape[1:]), 17) for more in (1, shape[0]))

    def _usable(self, matched: Sequence[Matched]) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """Values of the parameters for which the first is finite."""
        for positive in (False, True):
            values = self.both.generic(matched, 4, positive)
            with suppress(NormvizError):
                if bool(self._run(self.both.first, self.x, values[0], self.both.dtypes[0]).isfinite().all()):
                    return values
        return self.both.own_values(matched)

    @staticmethod
    def _run(function: Function, x: Tensor, values: Mapping[int, Tensor], dtype: torch.dtype) -> Tensor:
        function.use(dtype)
        return function(x.to(dtype), {n: value.to(dtype) for n, value in values.items()})

    def _error(self, x: Tensor, values: Sequence[Mapping[int, Tensor]]) -> tuple[Error, tuple[float, float]] | None:
        """How far the two are apart; None if the first does not take this x."""
        first, second = self.both.first, self.both.second
        try:
            exact = self._run(first, x, values[0], self.both.dtypes[0])
            rounded = self._run(first, x, values[0], self.low)
        except NormvizError:
            return None
        try:
            output = self._run(second, x, values[1], self.both.dtypes[1])
        except NormvizError:
            return None if x.shape != self.x.shape else (Error(float("nan"), (0,) * x.dim(), False), (0.0, 0.0))
        error = compare(output, exact.double(), rounded, self.low)
        if not error.ok:
            of_second = self._run(second, x, values[1], self.low).double()
            slack = (of_second - output.double()).abs().nan_to_num(0, 0, 0).clamp(max=1e-3)
            error = compare(output, exact.double(), rounded, self.low, rounding=slack)
        return error, (float(output[error.at]), float(exact[error.at]))

    def _given(self, matched: Sequence[Matched], training: bool) -> Mismatch | None:
        """The given x in its own dtype, and the dtypes of the outputs."""
        first, second, x = self.both.first, self.both.second, self.x
        own = self.both.own_values(matched)[1]
        exact = self._run(first, x, {}, self.both.dtypes[0]).double()
        for function in (first, second):
            function.use_own()
        rounded = first(x)
        fitting = {n: value.to(second.originals[n].dtype) for n, value in own.items()}
        try:
            output = second(x.to(self.dtype), fitting)
        except NormvizError as problem:
            text = _("It does not run on the input of the first: {error}", error=str(problem))
            return Mismatch("raises", training, x, told=Difference("values", "", "", text))
        if self.dtype == x.dtype and output.dtype != rounded.dtype:
            return Mismatch("dtype", training, x, told=other_dtype(output.dtype, rounded.dtype))
        low = min((output.dtype, rounded.dtype, self.dtype), key=lambda dtype: dtype.itemsize)
        slack = torch.zeros(())
        if self.norm is not None and not self.norm.running:
            with suppress(NormvizError, RuntimeError):
                plain = Reference(self.norm.without_gamma())
                slack = plain.rounding(x, {}).nan_to_num(0, 0, 0) * float(
                    exact.abs().nan_to_num(0, 0, 0).max().clamp(min=1)
                )
        error = compare(output, exact, rounded, low, rounding=slack)
        if error.ok:
            return self._of_statistics(fitting, training) if x.dtype == self.dtype and x.dtype.itemsize == 2 else None
        return Mismatch(
            "precision", training, x, error, imprecise(error, low), (float(output[error.at]), float(exact[error.at]))
        )

    def _of_statistics(self, fitting: Mapping[int, Tensor], training: bool) -> Mismatch | None:
        """That only one of the two rounds its statistics to 16 bits: then the outputs of a group have an error in common.

        The rounding of each output alone, which both have, is lost in the mean over a group.
        """
        norm = self.norm
        if norm is None or norm.running:
            return None
        reduced = tuple(axis for axis, parts in enumerate(norm.pattern.left) if not {*parts} & {*norm.pattern.right})
        if prod(self.x.shape[axis] for axis in reduced) < FEWEST_OF_GROUP:
            return None
        first, second = self.both.first, self.both.second
        common: tuple[list[Tensor], list[Tensor]] = [], []
        for seed in range(8):
            x = (_alike(self.x, tuple(self.x.shape), 31 + seed) * 1.3**seed).to(self.x.dtype)
            exact = self._run(first, x, {}, self.both.dtypes[0]).double()
            first.use_own()
            second.use_own()
            for found, output in zip(common, (first(x), second(x, fitting)), strict=True):
                share = (output.double() * exact).sum(reduced) / exact.square().sum(reduced)
                found.append((share - 1).flatten())
        sizes = [float(torch.cat(found).square().mean().sqrt()) / torch.finfo(self.x.dtype).eps for found in common]
        if min(sizes) > EXACT or max(sizes) < COARSE:
            return None
        told = rounds(None, self.x.dtype, torch.float32)
        return Mismatch("steps", training, self.x, told=replace(told, expected="first" if sizes[0] > sizes[1] else ""))

    # Gradients

    def _gradients(self, matched: Sequence[Matched], training: bool) -> Mismatch | None:
        first, second = self.both.first, self.both.second
        values, x = self._usable(matched), _alike(self.x, tuple(self.x.shape), 15)
        learned = [one for one in matched if one.first in self.both.learned[0]]
        numbers = [one.first for one in learned], [one.second for one in learned]
        exact = _gradients_of(first, x, values[0], numbers[0], self.both.dtypes[0])
        rounded = _gradients_of(first, x, values[0], numbers[0], self.low)
        own = _gradients_of(second, x, values[1], numbers[1], self.both.dtypes[1])
        if exact is None or rounded is None:
            return None
        if own is None:
            text = _("Its output has no gradient.")
            return Mismatch("backward", training, self.x, told=Difference("backward", "", "", text))
        for number, (wanted, low, found) in enumerate(zip(exact, rounded, own, strict=True)):
            if number and wanted is not None and low is not None:
                wanted, low = learned[number - 1].of(wanted), learned[number - 1].of(low)
            if wanted is None or low is None or found is None:
                wrong = (wanted is None) != (found is None) and not _is_zero(wanted) and not _is_zero(found)
                error = Error(float((wanted if found is None else found).abs().max()), (0,), False) if wrong else None  # type: ignore[union-attr]
            else:
                error = compare(found, wanted.double(), low, self.low, relative_to_largest=True)
            if error is not None and not error.ok:
                name = "x" if not number else learned[number - 1].role or "gamma"
                text = ngettext(
                    "Its output is right, but not its gradient: {names} differs by up to {largest:.2g}.",
                    "Its output is right, but not its gradient: {names} differ by up to {largest:.2g}.",
                    1,
                    names=f"d{name}",
                    largest=error.largest,
                )
                return Mismatch("backward", training, self.x, error, Difference("backward", "", "", text))
        return None


def _is_zero(gradient: Tensor | None) -> bool:
    return gradient is not None and not bool(gradient.any())


def _gradients_of(
    function: Function, x: Tensor, values: Mapping[int, Tensor], numbers: Sequence[int], dtype: torch.dtype
) -> list[Tensor | None] | None:
    """The gradients of x and of these tensors for a random dout; None if the output requires none, or has none."""
    function.use(dtype)
    leaf, tensors = x.to(dtype).requires_grad_(), [function.tensors[n] for n in numbers]
    required = [tensor.requires_grad for tensor in tensors]
    dout = probe.generic(tuple(x.shape), torch.float64, 16) - 0.5
    try:
        for tensor in tensors:
            tensor.requires_grad_()
        with torch.enable_grad():
            output = function.with_graph(leaf, {n: value.to(dtype) for n, value in values.items()})
            if not output.requires_grad:
                return None
            loss = (output * dout.to(output.dtype)).sum()
        return list(torch.autograd.grad(loss, [leaf, *tensors], allow_unused=True))
    except (RuntimeError, NormvizError):
        return None
    finally:
        for tensor, own in zip(tensors, required, strict=True):
            tensor.requires_grad_(own)


# Running statistics


def running_mismatch(one: nn.Module, two: nn.Module, x: Tensor) -> Mismatch | None:
    """What differs in the statistics that both keep, after two batches in train mode."""
    batches = [_alike(x, tuple(x.shape), seed) for seed in (21, 22)]
    ends = []
    for module in (one, two):
        with suppress(Exception):  # of the module
            ends.append(_after(copy.deepcopy(module).double().train(), batches, 0.0))
    if len(ends) < 2:
        return None
    for role in (MEAN, VAR):
        for mine, yours in zip(ends[0][role], ends[1][role], strict=False):
            if mine.numel() != yours.numel():
                continue
            error = compare(yours.flatten(), mine.flatten(), mine.flatten().float(), torch.float32)
            if not error.ok:
                told = _of_running(one, two, role, batches)
                return Mismatch("running", True, x, error, told, is_note=told.found == "never")
    return None


def _after(module: nn.Module, batches: Sequence[Tensor], mean: float) -> dict[str, list[Tensor]]:
    """The statistics that a module keeps after these batches, from this mean and a variance of 1."""
    for role, value in ((MEAN, mean), (VAR, 1.0)):
        for tensor in tensors_of(module)[role]:
            tensor.data = torch.full_like(tensor, value)
    for batch in batches:
        module(batch)
    return {role: [one.detach().clone() for one in several] for role, several in tensors_of(module).items()}


def _of_running(one: nn.Module, two: nn.Module, role: str, batches: Sequence[Tensor]) -> Difference:
    rates = [_momentum(module, batches) for module in (one, two)]
    text = _("After two batches in train mode, its {name} differs.", name=f"running_{role}")
    if rates[0] is not None and rates[1] is not None and abs(rates[0] - rates[1]) > 1e-6:
        text = _("Its momentum is {own:g}, not {wanted:g}.", own=rates[1], wanted=rates[0])
    if 0.0 in rates:
        text = _("It never updates {name}.", name=f"running_{role}")
    return Difference("running", "never" if 0.0 in rates else "", "first" if rates[0] == 0.0 else "", text)


def _momentum(module: nn.Module, batches: Sequence[Tensor]) -> float | None:
    """The weight of the new mean, if it is one number."""
    if any(vars(part).get("momentum", 0) is None for part in module.modules()):
        return None  # another weight for each batch
    found = []
    for count in (1, 2):
        zero, one = (_after(copy.deepcopy(module).double().train(), batches[:count], mean)[MEAN] for mean in (0.0, 1.0))
        rest = one[0] - zero[0] if zero and one else torch.zeros(())
        if not zero or float(rest.max() - rest.min()) > 1e-6:
            return None
        found.append(1 - float(rest.mean().clamp(min=0)) ** (1 / count))
    return float(f"{found[0]:.6g}") if abs(found[0] - found[1]) < 1e-6 else None


def own_mismatch(first: Kept, second: Kept, layout: Layout) -> Error | None:
    """How far the outputs on the input of the first are apart, each with its own weights; None if rounding explains it."""
    try:
        with (
            isolated(runnable(first), first.x, probe.TENSORS, {}) as f,
            isolated(runnable(second, layout), first.x.to(second.x.dtype), probe.TENSORS, {}) as g,
        ):
            exact = Duel._run(f, first.x, {}, f.dtype).double()
            f.use_own()
            g.use_own()
            rounded, output = f(first.x), g(first.x.to(second.x.dtype))
            low = min((output.dtype, rounded.dtype, second.x.dtype), key=lambda dtype: dtype.itemsize)
            error = compare(output, exact, rounded, low)
    except NormvizError:
        return None
    return None if error.ok else error


# Why


def expected(row_layer: str | None, kept: Kept, x: Tensor, training: bool) -> Description | None:
    """The norm as the layer that another norm should be; None if no layer describes it."""
    try:
        if kept.is_of_torch and row_layer is not None:
            layer = Layer.parse(row_layer)
            assert isinstance(layer, Layer)
            return expect(
                layer.with_(training=training) if layer.tracks and not kept.is_function else layer, tuple(x.shape), None
            )
        return expected_of(runnable(kept).train(training), x, None, {}).nearest
    except NormvizError:
        return None


def reasons(module: nn.Module, x: Tensor, wanted: Description, only: Collection[str]) -> list[str]:
    """Why a module is not this layer, as ``check`` says; empty if that says nothing of its values.

    only  what one of the two norms has and the other has not: gamma, beta; it is told elsewhere
    """
    x = x if float(x.double().std()) > 0 else _alike(x, tuple(x.shape), 3).to(x.dtype)
    try:
        with isolated(module, x, probe.TENSORS, {}) as function:
            found = compare_with_layer(function, x, wanted, (), None)
    except NormvizError:
        return []
    told, elsewhere = [], [unexpected(role, wanted).sentence for role in only]
    # Of the values on this x, these say nothing.
    beside = {"strides", "repeat", "in_place", "residual", "batch", "sizes"}
    if any(one.what in beside for one in found.differences[:1]):
        return []
    for one in found.differences:
        if one.what in beside:
            continue
        sentence = one.sentence
        if one.what == "statistics" and wanted.title in sentence:  # this sentence speaks of "your function"
            sentence = _(
                "It averages over {own}; {layer} averages over {wanted}.",
                own=one.found,
                layer=wanted.title,
                wanted=one.expected,
            )
        is_unknown = one.what == "values" and wanted.title in sentence
        if one.what not in ("running", "backward") and not is_unknown and sentence not in elsewhere:
            told.append(sentence)
    return list(dict.fromkeys(told))
