"""How outputs move with an input: the texts, values and rows of the page "Gradients". Numbers are in ``**``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from normviz.analysis.description import Description, describe
from normviz.analysis.gradients.closed_form import (
    ClosedForm,
    closed_column,
    closed_jacobian,
)
from normviz.analysis.gradients.derivatives import MOST_ELEMENTS, MOST_IN_MATRIX, Perturbation, jacobian, perturb
from normviz.analysis.gradients.vanishing import vanishing_entries, vanishing_input
from normviz.analysis.number_format import format_difference, format_number
from normviz.figures.payload.panels import PanelValues
from normviz.layers.errors import NormvizError
from normviz.layers.messages import _, join_sentences, ngettext
from normviz.layers.norm import Norm
from normviz.lessons.subject import Index

if TYPE_CHECKING:
    from torch import Tensor

SYMBOLS = str.maketrans({"-": "−"})


def on_input(e: Description, name: str) -> Description:
    """The layer on its own values, or on one of ``INPUTS`` at which derivatives vanish.

    Raises NormvizError for a tensor that is too large, and for an input that the layer does not have.
    """
    if e.x is None or e.x.numel() > MOST_ELEMENTS:
        raise NormvizError(
            ngettext(
                "derivatives are shown for up to {n:,} element; make the tensor smaller.",
                "derivatives are shown for up to {n:,} elements; make the tensor smaller.",
                MOST_ELEMENTS,
            )
        )
    if name == "x":
        return e
    return replace(e, x=vanishing_input(e.norm, e.shape, name).float(), values=e.layer_values())


def column(e: Description, at: Index) -> tuple[ClosedForm, Perturbation]:
    """The derivatives of all outputs by x[at] in closed form, and their approximation from actually moving x[at]."""
    moved = perturb(e, at)
    return closed_column(e, at, moved.exact), moved


def column_sentence(e: Description, at: Index, form: ClosedForm) -> str:
    """How many outputs move with x[at]."""
    group, count = int(form.group.sum()), form.autograd.numel()
    if unknown := int(form.autograd.isnan().sum()):
        return ngettext(
            "**{n}** of **{count:,}** derivatives is NaN.",
            "**{n}** of **{count:,}** derivatives are NaN.",
            unknown,
            count=count,
        )
    if not form.autograd.any():
        return ngettext(
            "Move x[{index}] and the only output does not move.",
            "Move x[{index}] and none of the **{n:,}** outputs moves.",
            count,
            index=", ".join(map(str, at)),
        )
    moving = ngettext(
        "Move x[{index}] and **{n}** of **{count:,}** outputs moves, in its statistics group of **{group}**.",
        "Move x[{index}] and **{n}** of **{count:,}** outputs move, all in its statistics group of **{group}**.",
        int((form.autograd != 0).sum()),
        index=", ".join(map(str, at)),
        count=count,
        group=group,
    )
    return join_sentences([moving, *_zeros_outside(form), *_zeros_inside(e, form, group)])


def _zeros_outside(form: ClosedForm) -> Iterator[str]:
    if zeros := int((form.autograd[~form.group] == 0).sum()):
        yield ngettext(
            "The **{n}** derivative outside is exactly 0.", "The **{n}** derivatives outside are exactly 0.", zeros
        )


def _zeros_inside(e: Description, form: ClosedForm, group: int) -> Iterator[str]:
    """How many derivatives of the group are 0, and how many would be without eps and rounding."""
    vanishing = vanishing_entries(e, form).entries
    if zeros := int((vanishing & (form.autograd == 0)).sum()):
        yield ngettext(
            "Inside the group, **{n}** of **{group}** is 0 too.",
            "Inside the group, **{n}** of **{group}** are 0 too.",
            zeros,
            group=group,
        )
    if nearly := int((vanishing & (form.autograd != 0)).sum()):
        yield ngettext(
            "Inside the group, **{n}** of **{group}** is nearly 0: it would vanish without eps and rounding.",
            "Inside the group, **{n}** of **{group}** are nearly 0: they would vanish without eps and rounding.",
            nearly,
            group=group,
        )


def column_panels(form: ClosedForm) -> Iterator[PanelValues]:
    """The column by autograd, and the terms of the closed form."""
    caption = _("how far each output moves")
    if form.m > 1 and form.through_var is not None:
        caption = _("how far each output moves; its own is off the color scale")
    others = _largest(form.autograd * (form.itself == 0))  # x's own derivative is much larger than the others
    through = _("through the variance") if form.through_mean is not None else _("through the mean of x²")
    yield PanelValues("autograd", _("d output / d x, by autograd"), caption, form.autograd, "stats", others)
    yield PanelValues("itself", _("identity"), "δᵢⱼ", form.itself, "stats")
    if form.through_mean is not None:
        yield PanelValues("mean", _("through the mean"), "− 1 / m", form.through_mean, "stats")
    if form.through_var is not None:
        yield PanelValues("var", through, "− x̂ᵢ x̂ⱼ / m", form.through_var, "stats")


def _largest(values: Tensor) -> float | None:
    """The largest absolute value, without NaN and infinity; None if it is 0."""
    return float(values.nan_to_num(0.0, 0.0, 0.0).abs().max()) or None


def column_texts(e: Description, form: ClosedForm, moved: Perturbation) -> Iterator[str]:
    """The formula, its differences from autograd and from moving x, and when a derivative vanishes."""
    yield _(
        "{formula}, with σ = **{sigma:.4g}** and m = **{m:,}**. Largest difference from autograd: **{autograd}**; "
        "from actually moving x by {step}: **{moving}**.",
        formula=_formula(e, form),
        sigma=form.sigma,
        m=form.m,
        autograd=format_difference(form.difference),
        step=format_number(moved.h, 1),
        moving=format_difference(moved.difference),
    )
    if e.norm.running:
        yield _("All derivatives except x's own vanish: running statistics do not move with x.")
        return
    found = vanishing_entries(e, form)
    yield _(
        "A derivative inside the group vanishes if {other}; x's own vanishes if {own}.",
        other=_typeset(found.off_diagonal),
        own=_typeset(found.diagonal),
    )


def _formula(e: Description, form: ClosedForm) -> str:
    mean = " − 1/m" if form.through_mean is not None else ""
    var = " − x̂ᵢ x̂ⱼ/m" if form.through_var is not None else ""
    return f"∂yᵢ/∂xⱼ = {'1' if e.norm.params is None else 'γᵢ'}/σ · (δᵢⱼ{mean}{var})"


def _typeset(condition: str) -> str:
    return condition.replace("xhat_i xhat_j", "x̂ᵢ x̂ⱼ").replace("xhat_j^2", "x̂ⱼ²").translate(SYMBOLS)


def symbols(e: Description) -> str:
    meanings = _(
        "autograd: torch's own differentiation. δᵢⱼ: 1 if i = j, else 0. x̂: the normalized value. σ: {sigma}. m: the number "
        "of elements in the group.",
        sigma=sigma_text(e),
    )
    return join_sentences([meanings, _up_to(MOST_ELEMENTS)])


def _up_to(elements: int) -> str:
    return ngettext("For tensors of up to {n:,} element.", "For tensors of up to {n:,} elements.", elements)


def sigma_text(e: Description) -> str:
    """What the layer divides by."""
    if e.norm.running:
        return "√(running_var + eps)"
    return "√(var + eps)" if e.norm.center else _("√(mean of x² + eps)")


@dataclass(frozen=True, eq=False)
class Matrix:
    """The Jacobian of all outputs by all inputs, each in row-major order.

    e           a description of the matrix's own shape, for drawing it
    difference  the largest difference of the closed form from autograd
    """

    e: Description
    values: Tensor
    difference: float

    @property
    def off_diagonal(self) -> float | None:
        """The largest absolute entry off the diagonal; None if all of them are 0."""
        return _largest(self.values - self.values.diagonal().diag())


def matrix(e: Description) -> Matrix:
    values = jacobian(e)
    own = describe(Norm("i j -> i"), tuple(values.shape))
    return Matrix(own, values, float((values - closed_jacobian(e)).abs().max()))


def matrix_sentence(found: Matrix) -> str:
    """How many entries are 0, and whether only the diagonal is not."""
    values = found.values
    sentences = [
        ngettext(
            "**{n:,}** of **{count:,}** derivatives is exactly 0.",
            "**{n:,}** of **{count:,}** derivatives are exactly 0.",
            int((values == 0).sum()),
            count=values.numel(),
        )
    ]
    if bool((values.diagonal().diag() == values).all()):
        sentences.append(_("Only the diagonal is left: no output depends on another input."))
    difference = format_difference(found.difference)
    sentences.append(_("Largest difference of the closed form from autograd: **{difference}**.", difference=difference))
    return join_sentences(sentences)


def jacobian_caption() -> str:
    what = _("The Jacobian: the derivatives of all outputs with respect to all inputs.")
    return join_sentences([what, _up_to(MOST_IN_MATRIX)])


def jacobian_reading() -> str:
    return _(
        "Row i is an output and column j an input, both in row-major order. Output i depends on input j only if both are in the same "
        "statistics group. In eval mode with running statistics, each output depends on its own input alone."
    )
