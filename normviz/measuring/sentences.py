"""What a function computes and how it differs, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from normviz.layers.messages import _, join_sentences, ngettext
from normviz.measuring.differences import Difference
from normviz.measuring.expected import Expected, layer_of_channels
from normviz.measuring.found_norm import norm_of, with_usual_formula
from normviz.measuring.measurement import Measurement
from normviz.measuring.words import axes_text, groups_text


def text(
    found: Measurement,
    expected: Expected | None,
    differs: Sequence[Difference],
    axes: Sequence[str],
) -> str:
    """What the function does, then each difference."""
    sentences = []
    if expected is None:
        sentences = [_groups(found, axes)]
    elif not differs:
        sentences = [_same(expected)]
    for one in differs:
        if one.what == "statistics" and expected is not None:  # then the function: the next sentence begins with "It"
            over = _("{layer} averages over {axes}.", layer=expected.title, axes=one.expected)
            sentences += [over, _groups(found, axes)]
        else:
            sentences.append(one.sentence)
    if found.instead is not None:
        sentences.append(
            ngettext(
                "x has {n:,} element; a smaller one of shape {shape} was measured, and one input of {whole} reaches the same axes.",
                "x has {n:,} elements; a smaller one of shape {shape} was measured, and one input of {whole} reaches the same axes.",
                prod(found.instead),
                shape=found.shape,
                whole=found.instead,
            )
        )
    elif found.reach.is_sampled:
        moved = len(found.reach.changed)
        sentences.append(
            ngettext(
                "x has {n:,} element; only {moved} of them were changed to see which outputs depend on them.",
                "x has {n:,} elements; only {moved} of them were changed to see which outputs depend on them.",
                found.reach.elements,
                moved=moved,
            )
        )
    return join_sentences(sentences)


def _same(expected: Expected) -> str:
    if expected.norm.running:
        return _("Your function does what {layer} does: it uses stored statistics.", layer=expected.title)
    over = axes_text(expected.norm, expected.axes, expected.shape)
    return _("Your function does what {layer} does: it averages over {axes}.", layer=expected.title, axes=over)


def _groups(found: Measurement, axes: Sequence[str]) -> str:
    layer = _similar_layer(found, axes)
    if found.running and layer:
        return _("Your function uses stored statistics (like {layer}).", layer=layer)
    if found.running:
        return _("Your function uses stored statistics.")
    if found.ids is None:
        return _("In your function, the elements do not form groups that share their statistics.")
    if layer:
        return _("Your function averages over {axes} (like {layer}).", axes=groups_text(found, axes), layer=layer)
    return _("Your function averages over {axes}.", axes=groups_text(found, axes))


def _similar_layer(found: Measurement, axes: Sequence[str]) -> str:
    """The name of the torch layer with the same groups and parameters, whatever its eps and variance are; empty if there is none."""
    if found.formula is None:
        return ""
    norm = norm_of(with_usual_formula(found), axes)
    layer = None if norm is None else layer_of_channels(norm, axes, found.shape)
    return "" if layer is None else layer.name
