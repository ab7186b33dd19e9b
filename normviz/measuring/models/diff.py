"""What differs between the norms of a model and those of its port.

Norms that ran on values are run again, in ``ports``. Of those that did not, as on the meta device, the patterns are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.models.gates import alone
from normviz.measuring.models.kept import MOST_KEPT, Kept, has_learned
from normviz.measuring.models.layout import Layout, Shape, layouts
from normviz.measuring.models.norms import NormRow, told_name
from normviz.measuring.models.pairs import moved, pairs
from normviz.measuring.models.ports import (
    GAMMA,
    OTHER,
    Mismatch,
    are_close,
    expected,
    mismatch,
    own_mismatch,
    possible_layouts,
    reasons,
    runnable,
    shared_values,
    tensors_of,
)
from normviz.measuring.probe import one_at_a_time
from normviz.measuring.report import differs_by
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _


class Differences(tuple[str, ...]):
    """What differs, in sentences; it is empty, and equal to ``()``, if nothing does.

    notes  what was not run, in sentences; printed, too
    """

    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*self, *self.notes]) or _("Nothing differs.")

    __repr__ = __str__


class Told(NamedTuple):
    """A message about a pair of norms.

    values   for the placeholders of the message, without the name
    is_note  whether the two compute the same all the same
    """

    message: str
    values: Mapping[str, object] = {}
    is_note: bool = False


FIRST, SECOND = N_("{name}, first model: {sentence}"), N_("{name}, second model: {sentence}")
SHAPES = {
    "gamma": N_("{name}: the shapes of gamma differ: {ours} and {theirs}."),
    "beta": N_("{name}: the shapes of beta differ: {ours} and {theirs}."),
}
PRODUCTS_OF_LAYERS = ("linear", "conv", "matmul", "bmm", "addmm", "baddbmm")  # no activation was before them
# Activations of which no two are the same function
DISTINCT = frozenset(("relu", "gelu", "silu", "selu", "mish", "hardswish", "sigmoid", "tanh", "softplus"))
LEFT_OUT = N_(
    "{name}: only one of the two is given a tensor beside x, such as a gate or a residual; what it does with that tensor is not compared."
)
MODES = (N_("In eval mode: {sentence}"), N_("In train mode: {sentence}"))
ONLY = (
    {
        "gamma": N_("{name}: only the first has a gamma."),
        "beta": N_("{name}: only the first has a beta."),
        "center": N_("{name}: only the first subtracts the mean."),
        "running": N_("{name}: only the first uses stored statistics."),
        "tracks": N_("{name}: only the first keeps running statistics, so the two differ in eval mode."),
    },
    {
        "gamma": N_("{name}: only the second has a gamma."),
        "beta": N_("{name}: only the second has a beta."),
        "center": N_("{name}: only the second subtracts the mean."),
        "running": N_("{name}: only the second uses stored statistics."),
        "tracks": N_("{name}: only the second keeps running statistics, so the two differ in eval mode."),
    },
)


@one_at_a_time
def differences(
    one: Sequence[NormRow], other: Sequence[NormRow], weights: bool = False, names: Mapping[str, str] | None = None
) -> Differences:
    """What differs between the norms of two models.

    weights  whether each norm is compared with its own weights, too
    names    names, or beginnings of names, in the first model, and what they are in the second

    Raises NormvizError if a name in ``names`` is not that of a row.
    """
    told, notes, not_run = list[str](), list[str](), list[str]()
    several, known = pairs(one, other, names or {}), dict[object, list[Told]]()
    elsewhere, explained = moved(several), not weights
    again = [list(_again(rows)) for rows in (one, other)]
    for i, j in several:
        if (i is None or j is None) and _runs_again(one[i or 0] if j is None else other[j], again[j is None]):
            continue
        if j is None:
            row = one[i or 0]
            told.append(
                _("{name} ({layer}) is missing in the second model.", name=told_name(row.name), layer=row.title)
            )
            continue
        if i is None:
            row = other[j]
            told.append(_("{name} ({layer}) is only in the second model.", name=told_name(row.name), layer=row.title))
            continue
        pair = Pair(one[i], other[j])
        if i in elsewhere and not pair.has_same_input:
            place = _(
                "{name} ({layer}) has another place in the order of the second model.",
                name=told_name(one[i].name),
                layer=one[i].title,
            )
            told.append(place)
        key = pair.key
        found = known.get(key) if key is not None else None
        if found is None:
            found = list(pair.told())
            known[key] = found
        if not explained:
            found = [*found, *([] if any(not each.is_note for each in found) else pair.with_own_weights())]
            explained = any(not each.is_note for each in found)
        for each in found:
            (notes if each.is_note else told).append(_(each.message, name=pair.name, **each.values))
        not_run += [] if pair.kept else [pair.name]
    result = Differences(told)
    if not_run and len(not_run) == sum(i is not None and j is not None for i, j in several):
        notes.append(
            _("Nothing was run: these norms have no values, as on the device meta. Their patterns are compared.")
        )
    else:
        notes += [_("{name}: not run. The patterns are compared.", name=name) for name in not_run]
    result.notes = tuple(notes)
    return result


def _again(rows: Sequence[NormRow]) -> Iterator[NormRow]:
    """Norms without tensors that run several times, once for each further time: they may stand for several norms of the other model."""
    for row in rows:
        if not (row.parameters or row.buffers):
            yield from [row] * (row.calls - 1)


def _runs_again(row: NormRow, again: list[NormRow]) -> bool:
    """Whether one of these norms computes the same; it is taken from the list."""
    for other in [] if row.parameters or row.buffers else again:
        if row.shape in other.shapes and all(each.is_note for each in Pair(row, other).told()):
            again.remove(other)
            return True
    return False


@dataclass(frozen=True, eq=False)
class Pair:
    """A row of a model, and the one that stands for it in its port."""

    first: NormRow
    second: NormRow

    @property
    def name(self) -> str:
        """The names of both rows."""
        one, other = told_name(self.first.name), told_name(self.second.name)
        return one if one == other else f"{one} / {other}"

    @cached_property
    def kept(self) -> tuple[Kept, Kept] | None:
        """Both norms, to run again; None if one of them has no values. Tensors that only one is given beside x are left out."""
        first, second = self.first.kept, self.second.kept
        if first is None or second is None:
            return None
        if bool(first.others) == bool(second.others):
            return first, second
        return (alone(first), second) if first.others else (first, alone(second))

    @property
    def key(self) -> object:
        """Equal for pairs that differ in the same way; None for those that are not run."""
        if (both := self.kept) is None:
            return None
        return both[0].key, both[1].key, tuple(possible_layouts(*both))

    @property
    def has_same_input(self) -> bool:
        """Whether the two ran on the same values, so that the order of their models does not matter."""
        both = self.kept
        if both is None:
            return False
        several = layouts(both[0].shape, both[1].shape)
        return any(are_close(*shared_values(*both, layout)) for layout in several)

    def told(self) -> Iterator[Told]:
        """What differs."""
        if self.kept is None:
            yield from patterns(self.first, self.second)
            return
        first, second = self.kept
        whole = [one.around if one.around and (one.has_gamma or one.has_number) else one for one in (first, second)]
        after = whole != [first, second] and not (has_learned(first.module) or has_learned(second.module))
        first, second = whole if after else (first, second)
        possible, found = possible_layouts(first, second), None
        if not possible:
            values: dict[str, object] = {"ours": self.first.shape, "theirs": self.second.shape}
            yield Told(N_("{name}: the shapes {ours} and {theirs} do not have the same elements."), values)
        if possible and possible[0].is_identity and not after and self._is_same_layer(first, second):
            yield from self._behind()
            return
        for layout in possible:
            try:
                here = mismatch(first, second, layout, self.first.norm)
            except NormvizError as problem:
                yield Told(
                    N_("{name}: not run again, so the patterns are compared: {problem}"),
                    {"problem": str(problem)},
                    True,
                )
                yield from patterns(self.first, self.second)
                return
            if here is None:
                yield from self._behind()
                return
            found = found or (here, layout)
        if found is None:
            return
        several = [(first, second, *found)]
        for one, other, here, layout in [] if after else self.around:
            if here is None:
                return
            several.append((one, other, here, layout))
        yield from self._why(*min(several, key=lambda each: sum(map(len, each[2].missing))))

    def _behind(self) -> Iterator[Told]:
        """What differs behind two equal norms, in the modules that call them: a number, an activation.

        It is told if the calling module returns the result, and if the other model does not make the same of its norm elsewhere.
        """
        both = self.kept or ()
        for place, own in enumerate(both):
            several = [each for each in self.around if each[place] is own.around] if own.has_number else []
            if several and all(each[2] is not None for each in several):
                one, other, here, layout = next(each for each in several if each[1 - place] is both[1 - place])
                yield from () if here is None else self._why(one, other, here, layout)
        for row, own, theirs, model in zip((self.first, self.second), both, both[::-1], (FIRST, SECOND), strict=True):
            has_none = bool(theirs.users) and all(name.startswith(PRODUCTS_OF_LAYERS) for name in theirs.users)
            is_another = own.activation != theirs.activation and DISTINCT.issuperset(
                (own.activation, theirs.activation)
            )
            if own.activation and (has_none or is_another):
                yield Told(model, {"sentence": _("Its output goes through {function}.", function=own.activation)})
            if row.kept is not None and row.kept.others and not own.others:
                sentence = {"sentence": own.beside}
                yield Told(model, sentence) if own.beside and has_none else Told(LEFT_OUT, is_note=True)

    @cached_property
    def around(self) -> list[tuple[Kept, Kept, Mismatch | None, Layout]]:
        """The two with the module around one or both, which may apply gamma or beta, and where they differ."""
        first, second = self.kept or (None, None)
        several = []
        for one, other in product((first, first and first.around), (second, second and second.around)):
            if one is None or other is None or (one, other) == (first, second):
                continue
            with suppress(NormvizError):
                found = [
                    (one, other, mismatch(one, other, layout, self.first.norm), layout)
                    for layout in possible_layouts(one, other)
                ]
                several += [each for each in found if each[2] is None][:1] or found[:1]
        return several

    def _is_same_layer(self, first: Kept, second: Kept) -> bool:
        """Whether it is the same layer of torch, which computes the same."""
        same = [
            (row.layer, kept.is_of_torch, kept.dtypes, kept.is_function, kept.module.training)
            for row, kept in zip((self.first, self.second), (first, second), strict=True)
        ]
        return self.first.layer is not None and first.is_of_torch and same[0] == same[1]

    def _why(self, first: Kept, second: Kept, found: Mismatch, layout: Layout) -> Iterator[Told]:
        mode = None if found.training == first.module.training else found.training
        if (first.others or second.others) and set(self.first.departures) ^ set(self.second.departures):
            yield from _departures(self.first, self.second)
            return
        if found.told is not None and found.what != "precision":
            which = FIRST if found.told.expected == "first" else SECOND
            mode = None if found.what == "running" else mode
            yield _sentence(which, mode, found.told.sentence)._replace(is_note=found.is_note)
            return
        own, theirs = map(set, found.missing)
        only = [Told(ONLY[k][role]) for k, roles in enumerate(found.missing) for role in roles if role in own ^ theirs]
        shapes = [self._shapes(first, second, role) for role in found.missing[0] if role in found.missing[1]]
        if found.whole and (only or shapes):
            yield from (*shapes, *only)
            return
        told = self._reasons(first, second, found, layout, mode, own ^ theirs)
        shown = found.told
        if not told and shown is None and found.error is not None:
            shown = differs_by(found.error, *found.values, self.first.title)
        yield from told
        rest = [one for one in only if one not in told]
        yield from rest if told or only or shown is None else [_sentence(SECOND, mode, shown.sentence)]

    def _shapes(self, first: Kept, second: Kept, role: str) -> Told:
        place = 0 if role == GAMMA else -1
        several = [tensors_of(kept.module) for kept in (first, second)]
        shapes = [tuple((own[role] or own[OTHER])[place].shape) for own in several]
        return Told(SHAPES[role], {"ours": shapes[0], "theirs": shapes[1]})

    def _reasons(
        self, first: Kept, second: Kept, found: Mismatch, layout: Layout, mode: bool | None, only: Collection[str]
    ) -> list[Told]:
        """The reasons of ``check``, with the second like the first, or the first like the second; else the differences of the patterns.

        only  what only one of the two has, which is told separately
        """
        around = [ONLY[k][role] for k in (0, 1) for role in ("gamma", "beta") if role not in only]
        by_patterns = [one for one in patterns(self.first, self.second) if one.message not in around]
        if by_patterns and found.x.numel() > 2 * MOST_KEPT:  # check would take long
            return by_patterns
        training = found.training if first.module.training == second.module.training else second.module.training
        wanted = expected(self.first.layer, first, found.x, found.training)
        told = [] if wanted is None else reasons(runnable(second, layout).train(training), found.x, wanted, only)
        if told:
            return [_sentence(SECOND, mode, one) for one in told]
        x = layout.there(found.x)
        other = expected(self.second.layer, second, x, training)
        told = [] if other is None else reasons(runnable(first, layout.inverted).train(found.training), x, other, only)
        return [_sentence(FIRST, mode, one) for one in told] or by_patterns

    def with_own_weights(self) -> Iterator[Told]:
        """What differs on the input of the first if each has its own weights."""
        both = next(((one, other) for one, other, here, _layout in self.around if here is None), self.kept)
        if both is None:
            return
        for layout in possible_layouts(*both)[:1]:
            error = own_mismatch(*both, layout)
            if error is not None:
                values: dict[str, object] = {"largest": error.largest, "which": other_weights(*both)}
                yield Told(
                    N_(
                        "{name}: with its own weights, its output differs by up to {largest:.3g} for the same input. {which}"
                    ),
                    values,
                )
            elif not are_close(*shared_values(*both, layout)):
                yield Told(
                    N_(
                        "{name}: its input differs, and no normalization before it says why. Compare the weights of what runs before it."
                    ),
                    {},
                )


def _sentence(message: str, training: bool | None, sentence: str) -> Told:
    """``training``: the mode in which the sentence holds; None if the model ran in that mode."""
    return Told(message, {"sentence": sentence if training is None else _(MODES[training], sentence=sentence)})


def other_weights(first: Kept, second: Kept) -> str:
    """By how much the tensors of the two differ."""
    found, theirs = list[str](), tensors_of(second.module)
    for role, several in tensors_of(first.module).items():
        for one, other in zip(several, theirs[role], strict=False):
            apart = (
                float((one.detach().double().flatten() - other.detach().double().flatten()).abs().max())
                if one.numel() == other.numel()
                else 0.0
            )
            found += [_("{tensor} differs by up to {apart:.3g}.", tensor=role or "gamma", apart=apart)] if apart else []
    return " ".join(found)


# The patterns of norms that were not run


def patterns(first: NormRow, second: NormRow) -> Iterator[Told]:
    """What differs in the patterns and numbers of two rows."""
    one, other = first.norm, second.norm
    if one is None or other is None:
        yield from _departures(first, second)
        return
    tracks = _tracks(first), _tracks(second)
    compared: list[tuple[object, object, str]] = [
        (one.eps, other.eps, N_("{name}: eps differs: {ours} and {theirs}.")),
        (one.factor, other.factor, N_("{name}: the factors differ: {ours} and {theirs}.")),
    ]
    if None not in tracks and tracks[0] == tracks[1]:
        compared.append((_momentum(first), _momentum(second), N_("{name}: momentum differs: {ours} and {theirs}.")))
    for ours, theirs, message in compared:
        if ours != theirs:
            yield Told(message, {"ours": ours, "theirs": theirs})
    both = (one, first.shape), (other, second.shape)
    for is_same, which, message in zip(_same_groups(*both), (1, 2), GROUPS, strict=True):
        if not is_same:
            yield Told(message, {"ours": _pattern(*both[0], which), "theirs": _pattern(*both[1], which)})
    flags = {
        "center": (one.center, other.center),
        "gamma": (one.params is not None, other.params is not None),
        "beta": (one.bias, other.bias),
        "running": (one.running, other.running),
    }
    if None not in tracks and one.running == other.running:
        flags["tracks"] = bool(tracks[0]), bool(tracks[1])
    yield from (Told(ONLY[theirs][name]) for name, (ours, theirs) in flags.items() if ours != theirs)
    yield from _departures(first, second)


def _departures(first: NormRow, second: NormRow) -> Iterator[Told]:
    for own, theirs, model in ((first, second, FIRST), (second, first, SECOND)):
        yield from (Told(model, {"sentence": one}) for one in own.departures if one not in theirs.departures)


GROUPS = (
    N_("{name}: the patterns of the statistics differ: {ours} and {theirs}."),
    N_("{name}: the patterns of gamma differ: {ours} and {theirs}."),
)


def _pattern(norm: Norm, shape: Shape, which: int) -> str:
    """The pattern of its statistics, or of its gamma, with the sizes."""
    sizes = norm.axis_sizes(shape)
    axes = [" ".join(f"{name}={sizes[name]}" for name in parts) for parts in norm.pattern.left]
    left = " ".join(f"({axis})" if " " in axis else axis for axis in axes)
    return f"{left} -> {' '.join(norm.pattern.right if which == 1 else norm.gamma_axes)}"


Part = tuple[int, bool, bool]  # its size, whether it has its own mean, and its own gamma


def _same_groups(first: tuple[Norm, Shape], second: tuple[Norm, Shape]) -> tuple[bool, bool]:
    """Whether the same elements share statistics, and gamma, in some usual layout of the second."""
    with_gamma = first[0].params is not None and second[0].params is not None
    several = [one for one in layouts(first[1], second[1]) if not one.rank[0]]
    if not several:  # other sizes: the axes in their order
        forms = [
            [[(1 if len(axis) == 1 else part[0], *part[1:]) for part in axis] for axis in _form(*each)]
            for each in (first, second)
        ]
        return _alike(forms[0], forms[1], 1), not with_gamma or _alike(forms[0], forms[1], 2)
    best = (False, False)
    for layout in several[:1] if several[0].is_identity else several:
        ours = _form(*first)
        if all(len(sizes) == 1 for sizes in layout.parts):
            ours = [ours[axis] for axis in layout.order]
        found = [_merged(ours, which) == _merged(_form(*second), which) for which in (1, 2)]
        best = max(best, (found[0], found[1] or not with_gamma))
    return best


def _alike(ours: list[list[Part]], theirs: list[list[Part]], which: int) -> bool:
    return [[(part[0], part[which]) for part in axis] for axis in ours] == [
        [(part[0], part[which]) for part in axis] for axis in theirs
    ]


def _form(norm: Norm, shape: Shape) -> list[list[Part]]:
    """The parts of each axis of x, without those of size 1."""
    sizes = norm.axis_sizes(shape)
    learned = norm.pattern_names(norm.gamma_axes)
    return [
        [(sizes[name], name in norm.pattern.right, name in learned) for name in parts if sizes[name] > 1]
        for parts in norm.pattern.left
    ]


def _merged(axes: list[list[Part]], which: int) -> list[tuple[int, bool]]:
    """All parts in their order, neighbors that are alike as one."""
    found: list[tuple[int, bool]] = []
    for part in (part for axis in axes for part in axis):
        if found and found[-1][1] == part[which]:
            found[-1] = (found[-1][0] * part[0], found[-1][1])
        else:
            found.append((part[0], bool(part[which])))
    return found


def _given(row: NormRow) -> Mapping[str, object]:
    """The arguments of its layer of torch."""
    try:
        layer = Layer.parse(row.layer or "")
    except NormvizError:
        return {}
    return layer.given if isinstance(layer, Layer) else {}


def _momentum(row: NormRow) -> object:
    given = _given(row)
    return given.get("momentum") if given.get("track_running_stats", True) else None


def _tracks(row: NormRow) -> bool | None:
    """Whether a layer of torch.nn keeps running statistics; None for a function and a module of your own, of which this is not known."""
    if row.function or not (row.layer or "").startswith(f"{row.kind}("):
        return None
    return bool(_given(row).get("track_running_stats", False))
