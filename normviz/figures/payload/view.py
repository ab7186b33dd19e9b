"""The data of the page Explore: one layer on one tensor."""

from __future__ import annotations

from math import prod
from typing import Any

from normviz.analysis.description import Description
from normviz.figures.payload.linked import layer_data, linked_data, values_data
from normviz.figures.payload.moments import moments_data
from normviz.figures.payload.panels import sharing_panels, value_panels
from normviz.layers.messages import _
from normviz.scene.grid import Grid


def view_payload(
    e: Description, drawing: Grid, *, at: tuple[int, ...] | None = None, editable: bool = False
) -> dict[str, Any]:
    """The panels of both kinds of sharing and, if ``e`` has values, of the values. ``editable``: the reader can change values of x."""
    panels = [*sharing_panels(e), *value_panels(e, drawing)]
    values = values_data(e, drawing) if e.x is not None else None
    own = {"values": values, "moments": moments_data(e, drawing), "facts": counts(e), "editable": editable}
    return linked_data("view", drawing, panels, at) | layer_data(e) | own


def counts(e: Description) -> list[dict[str, str]]:
    """The numbers of statistics, elements, parameters and buffers, each with its label and a note."""
    found, has_means = e.counts, e.norm.center or e.norm.running
    gamma, beta = found.gamma_shape, found.beta_shape
    parameters, note = f"{found.parameters:,}", "" if gamma is None else f"gamma {gamma}"
    if gamma is not None and beta is not None:
        parameters, note = f"{prod(gamma):,} + {prod(beta):,} = {parameters}", f"{note} + beta {beta}"
    buffers = "running_mean, running_var, num_batches_tracked" if found.buffers else _("no running statistics")
    rows = (
        (_("(mean, variance) pairs") if has_means else _("mean squares"), f"{found.statistics:,}", ""),
        (_("elements in each group"), f"{found.elements_per_statistic:,}", ""),
        (_("parameters"), parameters, note),
        (_("buffers"), f"{found.buffers:,}", buffers),
    )
    return [{"label": label, "value": value, "note": note} for label, value, note in rows]
