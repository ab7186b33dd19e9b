"""What the page "Gradients" says, with its numbers: sentences, panels and rows. Numbers stand in ``**``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from normviz.analysis.comparison import suggestions
from normviz.analysis.explanation import Explanation, describe
from normviz.analysis.gradients.closed_form import (
    ClosedForm,
    ParameterSum,
    autograd_backward,
    backward,
    closed_column,
    closed_jacobian,
    gradient_differences,
    parameter_sum,
    upstream,
)
from normviz.analysis.gradients.derivatives import MOST_ELEMENTS, MOST_IN_MATRIX, Perturbation, jacobian, perturb
from normviz.analysis.gradients.vanishing import EXAMPLES, vanishing_input, vanishing_of
from normviz.analysis.number_format import format_difference, format_number
from normviz.layers.errors import NormvizError
from normviz.layers.messages import N_
from normviz.layers.norm import Norm
from normviz.lessons.parts.table import Column

if TYPE_CHECKING:
    from torch import Tensor

INPUTS = {"x": "the tensor's own values", "outlier": "one outlier a group", "signs": "−1 and 1 in turn"}
assert set(INPUTS) == {"x", *EXAMPLES}


class Panel(NamedTuple):
    """One panel: key, title, caption, values of x's shape, whose peers it outlines, and where its colours end."""

    key: str
    title: str
    caption: str
    values: Tensor
    links: str
    most: float | None = None


def explained(e: Explanation, given: str) -> Explanation:
    """The layer on its values, or on an input of which derivatives vanish."""
    if e.x is None or e.x.numel() > MOST_ELEMENTS:
        raise NormvizError(f"derivatives are shown for up to {MOST_ELEMENTS:,} elements; make the tensor smaller.")
    if given == "x":
        return e
    return replace(e, x=vanishing_input(e.norm, e.shape, given).float(), values=e.layer_values())


def column_sentence(e: Explanation, at: tuple[int, ...], form: ClosedForm, moved: Perturbation) -> str:
    """Which outputs move, and that all others stay."""
    number, group = int((form.autograd != 0).sum()), int(form.group.sum())
    outside = int((form.autograd[~form.group] == 0).sum())
    gone = int(vanishing_of(e, form).entries.sum())
    where = ", ".join(map(str, at))
    vanish = f" Inside the group **{gone}** of **{group}** vanish too." if gone else ""
    return (
        f"Move x[{where}] and **{number}** of **{form.autograd.numel():,}** outputs move, all in its statistics group of **{group}**; "
        f"the **{outside}** derivatives outside are exactly 0.{vanish}"
    )


def column_panels(e: Explanation, form: ClosedForm) -> Iterator[Panel]:
    """Autograd's column, and the terms of the closed form."""
    own = (
        "how far each output moves; its own is off the colour scale"
        if form.m > 1 and form.through_var is not None
        else "how far each output moves"
    )
    yield Panel("autograd", "d output / d x, by autograd", own, form.autograd, "stats", _others(form))
    yield Panel("itself", "1 for itself", "δᵢⱼ", form.itself, "stats")
    if form.through_mean is not None:
        yield Panel("mean", "through the mean", "− 1 / m", form.through_mean, "stats")
    if form.through_var is not None:
        yield Panel("var", "through the variance", "− x̂ᵢ x̂ⱼ / m", form.through_var, "stats")


def _others(form: ClosedForm) -> float | None:
    """The largest derivative but x's own, which dwarfs them."""
    return _largest(form.autograd * (form.itself == 0))


def _largest(values: Tensor) -> float | None:
    """The largest size of those that are numbers; None where that is 0."""
    return float(values.nan_to_num(0.0, 0.0, 0.0).abs().max()) or None


def column_lines(e: Explanation, form: ClosedForm, moved: Perturbation) -> Iterator[str]:
    """The formula, how well it agrees, and when an entry vanishes."""
    terms = ["δᵢⱼ"]
    if form.through_mean is not None:
        terms.append("1/m")
    if form.through_var is not None:
        terms.append("x̂ᵢ x̂ⱼ/m")
    scale = "γᵢ/σ" if e.norm.params is not None else "1/σ"
    yield (
        f"∂yᵢ/∂xⱼ = {scale} · ({' − '.join(terms)}), with σ = **{form.sigma:.4g}** and m = **{form.m:,}**. "
        f"Largest difference from autograd: **{format_difference(form.difference)}**; from really moving x by {format_number(moved.h, 1)}: **{format_difference(moved.difference)}**."
    )
    if e.norm.running:
        yield "All derivatives but x's own vanish: running statistics do not move with x."
        return
    found = vanishing_of(e, form)
    words = (found.off_diagonal, found.diagonal)
    other, own = (
        text.replace("xhat_i xhat_j", "x̂ᵢ x̂ⱼ").replace("xhat_j^2", "x̂ⱼ²").replace("-1", "−1").replace("- 1", "− 1")
        for text in words
    )
    yield f"A derivative inside the group vanishes when {other}; x's own, when {own}."


def matrix(e: Explanation) -> tuple[Explanation, Tensor, float]:
    """The whole Jacobian, an explanation of its own shape, and its largest difference from the closed form."""
    found = jacobian(e)
    return describe(Norm("i j -> i"), tuple(found.shape)), found, float((found - closed_jacobian(e)).abs().max())


def matrix_sentence(e: Explanation, found: Tensor, difference: float) -> str:
    """How many of the entries are zero, and whether only the diagonal is left."""
    zero = int((found == 0).sum())
    diagonal = bool((found.diagonal().diag() == found).all())
    shape = " Only the diagonal is left: no output looks at another input." if diagonal else ""
    return (
        f"Of **{found.numel():,}** derivatives **{zero:,}** are exactly 0.{shape} Largest difference of the closed form from "
        f"autograd: **{format_difference(difference)}**."
    )


def columns(e: Explanation, at: tuple[int, ...]) -> tuple[ClosedForm, Perturbation]:
    """The column of x[at] in closed form, and x[at] really moved."""
    return closed_column(e, at), perturb(e, at)


def parameter_panels(e: Explanation, at: tuple[int, ...], seed: int) -> tuple[ParameterSum, list[Panel]]:
    """dout, and what of it is summed into the gamma and the beta that x[at] meets."""
    dout = upstream(e.shape, seed)
    found, most = parameter_sum(e, at, dout), float(dout.abs().max())
    panels = [
        Panel("dout", "dout", "the gradient that arrives at each output", dout, "params"),
        Panel("for_gamma", "dout × normalized", "summed into this gamma", found.for_gamma, "params"),
    ]
    if found.for_beta is not None:
        panels.append(Panel("for_beta", "dout, once more", "summed into this beta", found.for_beta, "params", most))
    return found, panels


def parameter_sentence(found: ParameterSum) -> str:
    """How many elements are summed, and what comes out."""
    number = int(found.elements.sum())
    beta = "" if found.dbeta is None else f" and dbeta = **{format_number(found.dbeta)}**"
    return f"**{number:,}** elements meet this gamma, and their terms are summed: dgamma = **{format_number(found.dgamma)}**{beta}."


def off_diagonal(found: Tensor) -> float | None:
    """The largest entry off the diagonal, or None where there is none but 0."""
    return _largest(found - found.diagonal().diag())


BACKWARD_COLUMNS = (
    Column("layer", N_("layer"), code=True),
    Column("dx", "dx"),
    Column("dgamma", "dgamma"),
    Column("dbeta", "dbeta"),
)


def backward_rows(given: Explanation, seed: int) -> list[dict[str, object]]:
    """The closed-form backward pass beside autograd, for every family of layers on the explanation's x."""
    rows: list[dict[str, object]] = []
    seen: set[str] = set()
    for text in suggestions(given.shape, given.layout):
        e = describe(text, given.x, layout=given.layout)
        assert e.layer is not None
        if e.layer.kind.family in seen:
            continue
        seen.add(e.layer.kind.family)
        for each in dict.fromkeys((e.layer, e.layer.with_(training=not e.layer.tracks))):
            one = describe(each, given.x, layout=given.layout)
            dout = upstream(given.shape, seed)
            gaps = gradient_differences(backward(one, dout), autograd_backward(one, dout))
            rows.append(
                {
                    "layer": str(each),
                    **{
                        name: format_difference(gaps[name]) if name in gaps else None
                        for name in ("dx", "dgamma", "dbeta")
                    },
                }
            )
    return rows


TERMS = (
    "autograd: torch's own differentiation. δᵢⱼ: 1 where i = j, else 0. x̂: the normalized value. σ: √(var + eps). m: elements in the "
    f"group. For tensors of up to {MOST_ELEMENTS:,} elements."
)
JACOBIAN = (
    f"The Jacobian: the derivative of every output by every input. For tensors of up to {MOST_IN_MATRIX} elements."
)
