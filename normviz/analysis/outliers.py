"""Channels whose values dominate the statistics that they share with others.

In language models, a few channels have values many times as large as the others, in every token: they make most of the variance, and so decide how
much LayerNorm or RMSNorm divides all channels by (Kovaleva et al. 2021, "BERT Busters"; Dettmers et al. 2022, "LLM.int8()").
"""

from collections import defaultdict
from dataclasses import dataclass
from math import prod, sqrt
from statistics import NormalDist

import numpy as np
import torch

from normviz.analysis import forward
from normviz.analysis.description import Description, no_values
from normviz.analysis.examples import channel_axis
from normviz.layers.sharing import LIMIT
from normviz.texts.errors import listed
from normviz.texts.messages import _, format_number, ngettext

MANY_TIMES = 10.0  # the share of an outlier, compared with an equal share
CHANCE = 0.001  # how often normal values have an outlier by chance, at most


@dataclass(frozen=True)
class Outlier:
    """A channel that dominates statistics.

    channel  its index
    share    of the sum of the squared deviations (RMSNorm: of the squares) in its groups, on average over the groups
    times    the share, compared with that of all channels of the group alike
    """

    channel: int
    share: float
    times: float


@torch.no_grad()
def outliers(e: Description) -> tuple[Outlier, ...]:
    """The channels whose values dominate the statistics of ``e``, the largest share first.

    A channel is an outlier if it makes at least 10 times its equal share of the sum of squares, and more than chance explains for normal values. There is
    none where each channel has statistics of its own, as in BatchNorm and InstanceNorm, and with running statistics.

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> x = torch.ones(100, 64).cumsum(0) % 2
    >>> x[:, 7] = 50.0
    >>> [(found.channel, round(found.share, 2)) for found in outliers(explain("RMSNorm(64)", x))]
    [(7, 0.99)]
    """
    if e.x is None:
        raise no_values(e.shape)
    axis = channel_axis(e.axes)
    parts = e.norm.pattern.left[axis]
    together = prod(e.norm.axis_sizes(e.shape)[name] for name in parts if name not in e.norm.pattern.right)
    if e.norm.running or together == 1:
        return ()
    x = e.x.to(forward.computes_in(e.norm, e.x.dtype))
    squares = (x - forward.group_mean(e.norm, x) if e.norm.center else x).square()
    total = forward.group_mean(e.norm, squares) * e.counts.elements_per_statistic
    shares = squares.div_(total).nan_to_num_(0.0, 0.0, 0.0)
    groups = e.counts.statistics * together // e.shape[axis]  # that a channel has elements in
    others = [other for other in range(x.ndim) if other != axis]
    found = (shares.sum(others) if others else shares).double() / groups  # a sum over no axes is one over all
    limit = max(MANY_TIMES, _by_chance(x.numel() // e.shape[axis], e.shape[axis])) / together
    order = found.argsort(descending=True, stable=True)[: int((found >= limit).sum())]
    return tuple(Outlier(int(channel), float(found[channel]), float(found[channel]) * together) for channel in order)


def _by_chance(elements: int, channels: int) -> float:
    """How many times its equal share the largest of so many channels of normal values has, by chance: Wilson & Hilferty's quantile of chi squared."""
    part = 2 / (9 * elements)
    return float((1 - part + NormalDist().inv_cdf(1 - CHANCE / channels) * sqrt(part)) ** 3)


MOST_NAMED = 5


def outliers_note(e: Description) -> str:
    """The outliers in a sentence; "" if there are none, if no x is in memory, and above 2^26 elements."""
    found = outliers(e) if e.x is not None and e.x.numel() <= LIMIT else ()
    if not found:
        return ""
    named = [f"**{one.channel}**" for one in found[:MOST_NAMED]]
    values = {
        "channels": listed(named, "and") if len(found) <= MOST_NAMED else _(", ").join([*named, "…"]),
        "percent": format_number(100 * _share_of(e, found), 3),
        "all": e.shape[channel_axis(e.axes)],
    }
    if e.norm.center:
        return ngettext(
            "**{n}** of {all:,} channels makes **{percent} %** of the variance of its groups: channel {channels}.",
            "**{n}** of {all:,} channels make **{percent} %** of the variance of their groups: channels {channels}.",
            len(found),
            **values,
        )
    return ngettext(
        "**{n}** of {all:,} channels makes **{percent} %** of the mean square of its groups: channel {channels}.",
        "**{n}** of {all:,} channels make **{percent} %** of the mean square of their groups: channels {channels}.",
        len(found),
        **values,
    )


def _share_of(e: Description, found: tuple[Outlier, ...]) -> float:
    """What the outliers make together, on average over the groups of channels that have one."""
    axis = channel_axis(e.axes)
    parts, sizes = e.norm.pattern.left[axis], e.norm.axis_sizes(e.shape)
    sums: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for one in found:
        place = np.unravel_index(one.channel, [sizes[name] for name in parts])
        sums[tuple(int(at) for name, at in zip(parts, place, strict=True) if name in e.norm.pattern.right)] += one.share
    return sum(sums.values()) / len(sums)
