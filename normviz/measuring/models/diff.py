"""What differs between the norms of a model and those of its port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.measuring.models.row import NormRow


def differences(one: Sequence[NormRow], other: Sequence[NormRow]) -> Iterator[str]:
    """One sentence for each difference. Rows of the same name belong together; without common names, those in the same order."""
    for first, second in _pairs(one, other):
        if first is None and second is not None:
            yield _("{name} ({layer}) is only in the second model.", name=second.name, layer=second.title)
        elif second is None and first is not None:
            yield _("{name} ({layer}) is missing in the second model.", name=first.name, layer=first.title)
        elif first is not None and second is not None:
            yield from _between(first, second)


def _pairs(one: Sequence[NormRow], other: Sequence[NormRow]) -> Iterator[tuple[NormRow | None, NormRow | None]]:
    names = {(row.name, row.function) for row in one} & {(row.name, row.function) for row in other}
    key = (lambda row: (row.name, row.function)) if names else (lambda row: (row.norm.center, row.shape[-1]))
    matcher = SequenceMatcher(None, list(map(key, one)), list(map(key, other)), autojunk=False)
    for _kind, i, j, k, m in matcher.get_opcodes():
        count = max(j - i, m - k)
        pair = _kind == "equal" or (not names and j - i == m - k)
        if pair:
            yield from zip(one[i:j], other[k:m], strict=True)
        elif count:
            yield from ((row, None) for row in one[i:j])
            yield from ((None, row) for row in other[k:m])


def _between(first: NormRow, second: NormRow) -> Iterator[str]:
    name = first.name if first.name == second.name else f"{first.name} / {second.name}"
    one, other = first.norm, second.norm
    shapes, factors = (_gamma_shape(first), _gamma_shape(second)), (_factor(first), _factor(second))
    values = [
        (one.eps, other.eps, _("{name}: eps differs: {ours} and {theirs}.")),
        (first.reduced, second.reduced, _("{name}: the averaged axes differ: {ours} and {theirs}.")),
        (*factors, _("{name}: the factors differ: {ours} and {theirs}.")),
        (_momentum(first), _momentum(second), _("{name}: momentum differs: {ours} and {theirs}.")),
        (*shapes, _("{name}: the shapes of gamma differ: {ours} and {theirs}.")),
    ]
    if first.reduced == second.reduced:
        values.append(
            (one.stats, other.stats, _("{name}: the patterns of the statistics differ: {ours} and {theirs}."))
        )
    if shapes[0] == shapes[1]:
        values.append((one.params, other.params, _("{name}: the patterns of gamma differ: {ours} and {theirs}.")))
    for ours, theirs, message in values:
        if ours != theirs:
            yield message.format(name=name, ours=ours, theirs=theirs)

    only_first_or_second = [
        (
            one.center,
            other.center,
            _("{name}: only the first subtracts the mean."),
            _("{name}: only the second subtracts the mean."),
        ),
        (one.bias, other.bias, _("{name}: only the first has a beta."), _("{name}: only the second has a beta.")),
        (
            one.running,
            other.running,
            _("{name}: only the first uses stored statistics."),
            _("{name}: only the second uses stored statistics."),
        ),
    ]
    for ours, theirs, only_first, only_second in only_first_or_second:
        if ours != theirs:
            yield (only_first if ours else only_second).format(name=name)


def _factor(row: NormRow) -> str:
    return "1 + gamma" if row.plus_one else "gamma"


def _momentum(row: NormRow) -> object:
    try:
        layer = Layer.parse(row.layer or "")
    except NormvizError:
        return None
    return layer.given.get("momentum") if isinstance(layer, Layer) else None


def _gamma_shape(row: NormRow) -> tuple[int, ...] | None:
    sizes = row.norm.axis_sizes(row.shape)
    return None if row.norm.params is None else tuple(sizes[name] for name in row.norm.gamma_axes)
