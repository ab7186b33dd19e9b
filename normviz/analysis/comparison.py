"""Several layers on one tensor: the table, the sentence, and suggestions of layers."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from normviz.analysis.description import Description, describe, describe_shape
from normviz.analysis.invariance import invariances, reduced_copy, train_equals_eval
from normviz.layers import fit, naming, sharing
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer, check_is_object
from normviz.layers.norm import Norm
from normviz.texts.errors import LONGEST_ECHO, NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext

FEWEST, MOST = 2, 6
MOST_SUGGESTED_GROUPS = 8
LABELS = {  # each completes "the output stays the same when you ..."
    "add": N_("add one number to everything"),
    "add_channel": N_("add a different number to each channel"),
    "add_feature": N_("add a different number to each feature"),
    "add_slice": N_("add a different number to each slice"),
    "add_example": N_("add a different number to each example"),
    "add_position": N_("add a different number to each position"),
    "scale": N_("multiply everything by a positive number"),
    "scale_channel": N_("multiply one channel by a positive number"),
    "scale_feature": N_("multiply one feature by a positive number"),
    "scale_slice": N_("multiply one slice by a positive number"),
    "scale_example": N_("multiply one example by a positive number"),
    "scale_position": N_("multiply one position by a positive number"),
    "shuffle": N_("shuffle the examples (the outputs are shuffled in the same order)"),
    "others": N_("change the other examples"),
}
COLUMNS = {  # the keys of a row and their labels, in the order in which they are displayed
    "layer": N_("layer"),
    "stats": N_("statistics pattern"),
    "params": N_("parameter pattern"),
    "statistics": N_("number of statistics"),
    "elements_per_statistic": N_("elements per statistic"),
    "gamma_shape": N_("shape of gamma"),
    "beta_shape": N_("shape of beta"),
    "parameters": N_("parameters"),
    "buffers": N_("buffers"),
    "train_equals_eval": N_("train = eval?"),
    "batch_dependent": N_("depends on the batch?"),
    **{key: label for key, label in LABELS.items() if key != "others"},
}

Cell = str | int | bool | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two to six layers on one tensor; the result of ``compare``."""

    descriptions: tuple[Description, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.descriptions[0].shape

    @property
    def layout(self) -> str:
        return self.descriptions[0].layout

    def rows(self) -> tuple[dict[str, Cell], ...]:
        """One row for each layer. Every row has the same keys: the ``COLUMNS`` that apply to x.

        None means that the layer has no such value or that the question does not apply. The keys of
        ``LABELS`` say under which changes of x the output stays the same.

        >>> first, second = compare(["LayerNorm(3)", "BatchNorm1d(3)"], (2, 3), "ND").rows()
        >>> first["stats"], second["batch_dependent"], second["scale_feature"]
        ('n d -> n', True, True)
        """
        return tuple(_row(e) for e in self.descriptions)


def compare(layers: Sequence[str | Layer | Norm], shape: object, layout: str) -> Comparison:
    """The layers on one tensor.

    layers  two to six: their text, such as ``"GroupNorm(2, 4)"``, or values
    shape   x's sizes, ``(2, 4, 3, 5)``; or x itself, which every description then uses
    layout  one letter for each axis, ``"NCHW"``; patterns use its letters

    Raises NormvizError for another number of layers, for a layer that does not take x, with its name, and if x has too many
    axes to measure invariances.

    >>> [e.counts.statistics for e in compare(["LayerNorm(3)", "BatchNorm1d(3)"], (2, 3), "ND").descriptions]
    [2, 3]
    """
    if not isinstance(layers, tuple | list) or not FEWEST <= len(layers) <= MOST:
        raise NormvizError(_number_problem(layers))
    return Comparison(tuple(_describe(layer, shape, layout) for layer in layers))


def _number_problem(layers: object) -> str:
    if not isinstance(layers, tuple | list):
        check_is_object(layers)
        return ngettext(
            "a comparison takes {fewest} to {n} layer and got {text}; give a list of them.",
            "a comparison takes {fewest} to {n} layers and got {text}; give a list of them.",
            MOST,
            text=echo(layers),
            fewest=FEWEST,
        )
    limits = {"fewest": FEWEST, "number": len(layers)}
    if len(layers) < FEWEST:
        return ngettext(
            "a comparison takes {fewest} to {n} layer and got {number}; add {missing}.",
            "a comparison takes {fewest} to {n} layers and got {number}; add {missing}.",
            MOST,
            missing=FEWEST - len(layers),
            **limits,
        )
    return ngettext(
        "a comparison takes {fewest} to {n} layer and got {number}; remove {extra}.",
        "a comparison takes {fewest} to {n} layers and got {number}; remove {extra}.",
        MOST,
        extra=len(layers) - MOST,
        **limits,
    )


def _describe(layer: str | Layer | Norm, shape: object, layout: str) -> Description:
    spec = Layer.parse(layer) if isinstance(layer, str) else layer
    try:
        e = describe_shape(spec, shape, layout) if isinstance(shape, tuple) else describe(spec, shape, layout=layout)
        reduced_copy(e)
    except NormvizError as error:
        raise NormvizError(f"{_name(spec)}: {error}") from None
    return e


def _name(spec: object) -> str:
    if not isinstance(spec, Layer):
        return echo(spec)
    return str(spec) if len(str(spec)) <= LONGEST_ECHO else f"{str(spec)[:LONGEST_ECHO]}…"


def _row(e: Description) -> dict[str, Cell]:
    holds = {one.key: one.holds for one in invariances(e)}
    batch_dependent = not holds.pop("others") if "others" in holds else None
    return {
        "layer": e.title,
        "stats": _("{pattern} (running)", pattern=e.norm.stats) if e.norm.running else e.norm.stats,
        "params": _parameters(e.norm),
        "statistics": e.counts.statistics,
        "elements_per_statistic": e.counts.elements_per_statistic,
        "gamma_shape": None if e.counts.gamma_shape is None else str(e.counts.gamma_shape),
        "beta_shape": None if e.counts.beta_shape is None else str(e.counts.beta_shape),
        "parameters": e.counts.parameters,
        "buffers": e.counts.buffers,
        "train_equals_eval": train_equals_eval(e) if e.layer else _("no mode"),
        "batch_dependent": batch_dependent,
        **holds,
    }


def _parameters(norm: Norm) -> str | None:
    axes = _("one for all") if norm.params == "" else norm.params
    return _("{axes} (1 + gamma)", axes=axes) if norm.zero_centered_gamma else axes


def sentence(comparison: Comparison, at: Sequence[int]) -> str:
    """The number of other elements with which x[at] shares its mean, for each layer; numbers are in ``**``, code is in backquotes.

    Raises NormvizError where ``at`` is not an element of x.

    >>> print(sentence(compare(["LayerNorm(3)", "BatchNorm1d(3)", "RMSNorm(3)"], (2, 3), "ND"), (0, 1)))
    x[0, 1] shares its mean with **2** others under `LayerNorm([3])`, **1** other under `BatchNorm1d(3)` and **2** others under `RMSNorm([3])` (a mean square).
    """
    index = ", ".join(map(str, sharing.check_index(at, comparison.shape)))
    return _(
        "x[{index}] shares its mean with {counts}.",
        index=index,
        counts=listed([_others(e) for e in comparison.descriptions], "and"),
    )


def _others(e: Description) -> str:
    layer = f"`{e.title}`"
    if not e.norm.center:
        layer = _("{layer} (a mean square)", layer=layer)
    elif e.norm.running:
        layer = _("{layer} (a running mean)", layer=layer)
    others = e.counts.elements_per_statistic - 1
    return ngettext("**{n:,}** other under {layer}", "**{n:,}** others under {layer}", others, layer=layer)


@lru_cache(maxsize=256)
def suggestions(shape: tuple[int, ...], layout: str) -> tuple[str, ...]:
    """The layers of the catalogue that take such an x, as text; GroupNorm with up to 8 groups.

    A layer that would use another axis than C as its channels is left out.

    Raises NormvizError for an invalid shape or layout.

    >>> suggestions((2, 3), "ND")[:4]
    ('BatchNorm1d(3)', 'LayerNorm([3])', 'LayerNorm([2, 3])', 'RMSNorm([3])')
    """
    found = []
    for layer in naming.layers_on(shape, parse_layout(layout, len(shape))):
        with suppress(NormvizError):
            found.append(describe_shape(layer, shape, layout))
    return tuple(e.title for e in sorted(found, key=lambda e: bool(e.notes)))


@lru_cache(maxsize=256)
def one_of_each_family(shape: tuple[int, ...], layout: str) -> Mapping[str, Layer]:
    """The default layer of each family that takes such an x, in the order of ``suggestions``.

    Raises NormvizError for an invalid shape or layout.

    >>> [str(layer) for layer in one_of_each_family((2, 4, 3), "NLC").values()][:2]
    ['ChannelsLastBatchNorm(3)', 'LayerNorm([3])']
    """
    axes = parse_layout(layout, len(shape))
    layers = map(Layer.parse, suggestions(shape, layout))
    families = dict.fromkeys(layer.kind.family for layer in layers if isinstance(layer, Layer))
    found = {}
    for family in families:
        with suppress(NormvizError):  # a family without a form on such an x
            found[family] = fit.layer_for(family, shape, axes)
    return found
