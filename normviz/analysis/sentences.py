"""The sentence under every figure and the captions of the panels. Numbers are in ``**``, code is in backquotes."""

from collections.abc import Iterable
from itertools import count
from math import prod

from normviz.analysis.description import Description
from normviz.layers.axes import divisors
from normviz.layers.norm import Norm
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _, format_count, ngettext

AXIS_NOUNS = {  # singular and plural: "one per channel", "shared by all channels"
    "n": (N_("example"), N_("examples")),
    "b": (N_("example"), N_("examples")),
    "c": (N_("channel"), N_("channels")),
    "h": (N_("row"), N_("rows")),
    "w": (N_("column"), N_("columns")),
    "l": (N_("position"), N_("positions")),
    "d": (N_("feature"), N_("features")),
    "g": (N_("group"), N_("groups")),
    "k": (N_("member of a group"), N_("members of a group")),
}


def axis_nouns(axis: str, axes: tuple[str, ...]) -> tuple[str, str]:
    """The singular and the plural noun for the indices of an axis.

    >>> axis_nouns("d", ("n", "c", "d", "h", "w")), axis_nouns("d", ("n", "d"))
    (('slice', 'slices'), ('feature', 'features'))
    """
    if axis not in AXIS_NOUNS:
        return _("index of axis {axis}", axis=axis), _("indices of axis {axis}", axis=axis)
    one, many = AXIS_NOUNS[axis]
    if axis == "h" and "l" in axes:
        one, many = N_("head"), N_("heads")
    elif axis == "d" and {"h", "w"} <= set(axes):
        one, many = N_("slice"), N_("slices")
    return _(one), _(many)


def axes_in_words(layouts: Iterable[tuple[str, ...]]) -> str:
    """What each letter of some layouts stands for.

    >>> axes_in_words([("n", "d"), ("n", "l", "c"), ("n", "c", "h", "w")])
    'N: examples, D: features, L: positions, C: channels, H: rows, W: columns.'
    """
    nouns: dict[str, str] = {}
    for axes in layouts:
        nouns |= {axis: axis_nouns(axis, axes)[1] for axis in axes if axis not in nouns}
    named = [_("{axis}: {noun}", axis=axis.upper(), noun=noun) for axis, noun in nouns.items()]
    return _("{axes}.", axes=_(", ").join(named))


def sentence(e: Description) -> str:
    """How many means, variances, gammas and betas there are, and which elements share them.

    >>> from normviz import explain
    >>> print(sentence(explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4))))
    `LayerNorm([3, 4, 4])` on (2, 3, 4, 4): **2** means and **2** variances, each from **48** elements; **48** gammas and **48** betas: one per normalized element, shared by all **2** examples.
    """
    return _(
        "`{layer}` on {shape}: {statistics}; {parameters}.",
        layer=e.title,
        shape=e.shape,
        statistics=_statistics(e),
        parameters=_parameters(e),
    )


def _statistics(e: Description) -> str:
    groups = e.counts.statistics
    if e.norm.running:
        return ngettext(
            "**{n:,}** running mean and **{n:,}** running variance, stored in the layer and not computed from this input",
            "**{n:,}** running means and **{n:,}** running variances, stored in the layer and not computed from this input",
            groups,
        )
    elements = _elements(e.counts.elements_per_statistic)
    if e.norm.center:
        return ngettext(
            "**{n:,}** mean and **{n:,}** variance, from {elements}",
            "**{n:,}** means and **{n:,}** variances, each from {elements}",
            groups,
            elements=elements,
        )
    return ngettext(
        "**{n:,}** mean square, from {elements}",
        "**{n:,}** mean squares, each from {elements}",
        groups,
        elements=elements,
    )


def _parameters(e: Description) -> str:
    if e.counts.gamma_shape is None:
        return _("no gamma and no beta")
    number, place = prod(e.counts.gamma_shape), _place(e)
    if e.norm.zero_centered_gamma:
        place = _("{place}; the layer multiplies by 1 + gamma", place=place)
    if e.norm.bias:
        return ngettext(
            "**{n:,}** gamma and **{n:,}** beta: {place}",
            "**{n:,}** gammas and **{n:,}** betas: {place}",
            number,
            place=place,
        )
    return ngettext(
        "**{n:,}** gamma and no beta: {place}", "**{n:,}** gammas and no beta: {place}", number, place=place
    )


def _place(e: Description) -> str:
    """What each gamma belongs to, such as one channel, and which elements use it."""
    named = e.norm.gamma_axes
    names = set(e.norm.pattern_names(named))
    used = _elements_per_parameter(e)
    if names and names == set(e.norm.pattern.reduced):
        inner = len(named) == 1 and named[0] in e.axes[:-1]
        kind = axis_nouns(named[0], e.axes)[0] if inner else _("normalized element")
        parts = [
            part for axis in e.axes for part in (e.norm.parts[axis] if names & set(e.norm.parts[axis]) else (axis,))
        ]
        others = [part for part in parts if part not in names]
        if not others:
            return _("one per {axes}", axes=kind)
        return _("one per {axes}, {shared}", axes=kind, shared=_shared(e, others))
    if not named and e.norm.bias:
        return ngettext("one of each for **{n:,}** element", "one of each for all **{n:,}** elements", used)
    if not named:
        return ngettext("one for **{n:,}** element", "one for all **{n:,}** elements", used)
    axes, elements = listed([axis_nouns(name, e.axes)[0] for name in named], "and"), _elements(used)
    if len(named) > 1:
        axes = _("combination of {axes}", axes=axes)
    if prod(e.counts.gamma_shape or ()) > 1 or e.norm.bias:
        return _("one per {axes}, each used by {elements}", axes=axes, elements=elements)
    return _("one per {axes}, used by {elements}", axes=axes, elements=elements)


def _shared(e: Description, names: list[str]) -> str:
    if len(names) > 1:
        return _("the same in every {axes}", axes=listed([axis_nouns(name, e.axes)[0] for name in names], "and"))
    size, (one, many) = e.norm.axis_sizes(e.shape)[names[0]], axis_nouns(names[0], e.axes)
    return ngettext("used by the only {one}", "shared by all **{n:,}** {many}", size, one=one, many=many)


def groups_note(e: Description) -> str | None:
    """For GroupNorm with a number of channels that has no real divisor: which groups it can have at all."""
    channels = e.layer.given.get("num_channels") if e.layer and "num_groups" in e.layer.given else None
    if channels is None or divisors(channels)[1:-1]:
        return None
    return _(
        "C = {channels} has no divisor between 1 and {channels}: GroupNorm has one group of all channels, or the groups of InstanceNorm. "
        "With C = {other} it has groups of its own.",
        channels=channels,
        other=next(size for size in count(channels + 1) if divisors(size)[1:-1]),
    )


def pairs_note(e: Description) -> str | None:
    """For groups of two elements: they lie equally far from their mean, so their normalized values are always the same two."""
    if not e.norm.center or e.norm.running or e.counts.elements_per_statistic != 2:
        return None
    return _(
        "Each group has two elements: as long as eps is small against their variance, their normalized values are 1 and −1, whatever x is."
    )


def _elements(number: int) -> str:
    return ngettext("**{n:,}** element", "**{n:,}** elements", number)


def _elements_per_parameter(e: Description) -> int:
    return prod(e.shape) // prod(e.counts.gamma_shape or ())


def statistics_title(e: Description) -> str:
    """The title of the statistics panel."""
    if e.norm.running:
        return _("Who shares my running mean and variance?")
    return _("Who shares my mean and variance?") if e.norm.center else _("Who shares my mean square?")


def statistics_caption(e: Description) -> str:
    """How many groups there are, and their size: ``2 groups of 48``."""
    size = format_count(e.counts.elements_per_statistic)
    return ngettext("{n:,} group of {size}", "{n:,} groups of {size}", e.counts.statistics, size=size)


def parameters_title(e: Description) -> str:
    """The title of the parameters panel."""
    if e.counts.gamma_shape is None:
        return _("This layer has no gamma and no beta")
    return _("Who shares my gamma and beta?") if e.norm.bias else _("Who shares my gamma?")


def parameters_caption(e: Description) -> str:
    """How many parameters there are: ``48 + 48 = 96 parameters, each used by 2 elements``."""
    if e.counts.gamma_shape is None:
        return _("0 parameters: this layer learns nothing")
    number, total = prod(e.counts.gamma_shape), e.counts.parameters
    return ngettext(
        "{sum} parameter, used by {elements}",
        "{sum} parameters, each used by {elements}",
        total,
        sum=f"{format_count(number)} + {format_count(number)} = {format_count(total)}"
        if e.norm.bias
        else format_count(total),
        elements=ngettext("{n:,} element", "{n:,} elements", _elements_per_parameter(e)),
    )


def scaling(e: Description) -> str:
    """The formula from the normalized values to the output, of a layer with gamma."""
    scaled = f"normalized · {factor_of_product(e.norm)}"
    return f"{scaled} + beta" if e.norm.bias else scaled


def factor_of_product(norm: Norm) -> str:
    """What the normalized values are multiplied by, as a part of a product: with brackets around 1 + gamma."""
    return f"({norm.factor})" if norm.zero_centered_gamma else norm.factor
