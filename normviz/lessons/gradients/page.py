"""Gradients: move one input and see which outputs move; the closed form term by term; the sums in the gradients of gamma and beta.

Numbers in texts are in ``**``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import torch
from torch import Tensor

from normviz.analysis import closed_form, sentences
from normviz.analysis.derivatives import MOST_ELEMENTS, MOST_IN_MATRIX, Perturbation, jacobian, perturb
from normviz.analysis.description import Description, describe
from normviz.analysis.excerpt import Neighborhood, neighborhood
from normviz.figures.payload import PanelValues, values_payload
from normviz.layers.norm import Norm
from normviz.lessons.alternatives import views_of_one_layer
from normviz.lessons.page import GAMMA_AND_BETA, SCENE_ROWS, Experiment, Page, Plan, in_files, settings_of, shown_by
from normviz.parts import part, titles
from normviz.scene import controls, grid, scene, setting
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, format_difference, format_number, join_sentences, ngettext

# Elements of x whose derivatives are all computed; of a larger x, only those in the groups that are drawn.
MOST_WHOLE = 4096


def on_input(e: Description, name: str, most: int = closed_form.MOST_IN_BACKWARD) -> Description:
    """The layer on its own values, or on one of ``INPUTS`` at which derivatives vanish.

    Raises NormvizError for a tensor that is too large, and for an input that the layer does not have.
    """
    if e.x is None or e.x.numel() > most:
        raise too_large(most)
    if name == "x":
        return e
    return replace(e, x=closed_form.vanishing_input(e.norm, e.shape, name).float(), values=e.layer_values())


def too_large(most: int) -> NormvizError:
    return NormvizError(
        ngettext(
            "derivatives are shown for up to {n:,} element; make the tensor smaller.",
            "derivatives are shown for up to {n:,} elements; make the tensor smaller.",
            most,
        )
    )


def near(e: Description, drawing: grid.Grid, at: part.Index) -> Neighborhood:
    """The layer on x; of a large x, on the groups that are drawn, outside of which no derivative by the element differs from 0.

    Raises NormvizError if they are too large.
    """
    if e.x is not None and e.x.numel() <= MOST_WHOLE:
        return Neighborhood(e, at, drawing.take)
    found = neighborhood(e, drawing.indices, at, MOST_ELEMENTS)
    if found is None:
        raise NormvizError(
            ngettext(
                "derivatives are shown where the groups that are drawn have up to {n:,} element; make the tensor smaller.",
                "derivatives are shown where the groups that are drawn have up to {n:,} elements; make the tensor smaller.",
                MOST_ELEMENTS,
            )
        )
    return found


def column(e: Description, at: part.Index) -> tuple[closed_form.ClosedForm, Perturbation]:
    """The derivatives of all outputs by x[at] in closed form, and their approximation from actually moving x[at]."""
    moved = perturb(e, at)
    return closed_form.closed_column(e, at, moved.exact), moved


def column_sentence(
    e: Description, at: part.Index, form: closed_form.ClosedForm, whole: Sequence[int] = (), of: part.Index = ()
) -> str:
    """How many derivatives by x[at] are not 0. Where one in the group is 0, a larger change may still change its output.

    whole, of  the shape of a large x, of whose groups ``form`` has some, and the index of the element in it
    """
    group, count, name = int(form.group.sum()), prod(whole or e.shape), ", ".join(map(str, of or at))
    if unknown := int(form.autograd.isnan().sum()):
        return ngettext(
            "**{n:,}** of **{count:,}** derivatives is NaN.",
            "**{n:,}** of **{count:,}** derivatives are NaN.",
            unknown,
            count=count,
        )
    if not form.autograd.any():
        return ngettext(
            "The derivative of the only output with respect to x[{index}] is 0.",
            "The derivatives of all **{n:,}** outputs with respect to x[{index}] are 0.",
            count,
            index=name,
        )
    moving = ngettext(
        "**{n:,}** of **{count:,}** derivatives with respect to x[{index}] is not 0, in its statistics group of **{group:,}**.",
        "**{n:,}** of **{count:,}** derivatives with respect to x[{index}] are not 0, all in its statistics group of **{group:,}**.",
        int((form.autograd != 0).sum()),
        index=name,
        count=count,
        group=group,
    )
    return join_sentences([moving, *_zeros(e, at, form, group, count, name)])


LARGEST_MOVED = 1e6  # of an element of x that is moved by 1
CLEAR = 1e-9  # a change of an output that is no rounding


def _zeros(
    e: Description, at: part.Index, form: closed_form.ClosedForm, group: int, count: int, name: str
) -> Iterator[str]:
    """How many derivatives outside the group and in it are 0, how many would be without eps and rounding, and what a larger change does."""
    if zeros := int((form.autograd[~form.group] == 0).sum()) + count - form.autograd.numel():
        yield ngettext(
            "The **{n:,}** derivative outside is exactly 0.", "The **{n:,}** derivatives outside are exactly 0.", zeros
        )
    vanishing = closed_form.vanishing_entries(e, form)
    if zeros := int((vanishing & (form.autograd == 0)).sum()):
        yield ngettext(
            "Inside the group, **{n:,}** of **{group:,}** is 0 too.",
            "Inside the group, **{n:,}** of **{group:,}** are 0 too.",
            zeros,
            group=group,
        )
    if nearly := int((vanishing & (form.autograd != 0)).sum()):
        yield ngettext(
            "Inside the group, **{n:,}** of **{group:,}** is nearly 0: it would vanish without eps and rounding.",
            "Inside the group, **{n:,}** of **{group:,}** are nearly 0: they would vanish without eps and rounding.",
            nearly,
            group=group,
        )
    assert e.x is not None
    if vanishing.any() and not e.norm.running and abs(float(e.x[at])) < LARGEST_MOVED:
        moved = perturb(e, at, h=1.0)
        yield ngettext(
            "Moving x[{index}] by {step:g}, which is not tiny, changes **{n:,}** output.",
            "Moving x[{index}] by {step:g}, which is not tiny, changes **{n:,}** outputs.",
            int(((moved.after - moved.before).abs() > CLEAR).sum()),
            index=name,
            step=moved.h,
        )


def column_panels(form: closed_form.ClosedForm) -> Iterator[PanelValues]:
    """The column by autograd, and the terms of the closed form without the identity, which is a text."""
    shown = [each for each in (form.autograd, form.through_mean, form.through_var) if each is not None]
    others = _largest(torch.stack(shown) * (form.itself == 0))  # x's own is often much larger
    caption = _("slope of each output")
    if others is not None and (_largest(form.autograd) or 0.0) > others:
        caption = _("slope of each output; its own is off the color scale")
    through = _("through the variance") if form.through_mean is not None else _("through the mean of x²")
    yield PanelValues("autograd", _("d output / d x, by autograd"), caption, form.autograd, "stats", others)
    if form.through_mean is not None:
        yield PanelValues("mean", _("through the mean"), "− 1 / m", form.through_mean, "stats", others)
    if form.through_var is not None:
        yield PanelValues("var", through, "− x̂ᵢ x̂ⱼ / m", form.through_var, "stats", others)


def identity_text(elements: int) -> str:
    """The term of the closed form that is 1 for one output and 0 for the others."""
    return ngettext(
        "The identity, δᵢⱼ, is **1** for the output at x's own place and **0** for the **{n:,}** other.",
        "The identity, δᵢⱼ, is **1** for the output at x's own place and **0** for the **{n:,}** others.",
        elements - 1,
    )


def _largest(values: Tensor) -> float | None:
    """The largest absolute value, without NaN and infinity; None if it is 0."""
    return float(values.nan_to_num(0.0, 0.0, 0.0).abs().max()) or None


def column_texts(e: Description, form: closed_form.ClosedForm, moved: Perturbation) -> Iterator[str]:
    """The formula, its differences from autograd and from moving x, and when a derivative vanishes."""
    mean = " − 1/m" if form.through_mean is not None else ""
    var = " − x̂ᵢ x̂ⱼ/m" if form.through_var is not None else ""
    factor = "(1 + γᵢ)" if e.norm.zero_centered_gamma else "1" if e.norm.params is None else "γᵢ"
    yield _(
        "{formula}, with σ = **{sigma:.4g}** and m = **{m:,}**. Largest difference from autograd: **{autograd}**; "
        "from actually moving x by {step}: **{moving}**.",
        formula=f"∂yᵢ/∂xⱼ = {factor}/σ · (δᵢⱼ{mean}{var})",
        sigma=form.sigma,
        m=form.m,
        autograd=format_difference(form.difference),
        step=format_number(moved.h, 1),
        moving=format_difference(moved.difference),
    )
    if e.norm.running:
        yield _("All derivatives except x's own vanish: running statistics do not move with x.")
        return
    other, own = closed_form.conditions(e.norm)
    yield _(
        "A derivative inside the group vanishes if {other}; x's own vanishes if {own}.",
        other=_typeset(other),
        own=_typeset(own),
    )


def _typeset(condition: str) -> str:
    return condition.replace("xhat_i xhat_j", "x̂ᵢ x̂ⱼ").replace("xhat_j^2", "x̂ⱼ²").replace("-", "−")


def symbols(e: Description) -> str:
    meanings = _(
        "autograd: torch's own differentiation. x̂: the normalized value. σ: {sigma}. m: the number "
        "of elements in the group.",
        sigma=sigma_text(e),
    )
    return meanings


def _up_to(elements: int) -> str:
    return ngettext("For tensors of up to {n:,} element.", "For tensors of up to {n:,} elements.", elements)


def sigma_text(e: Description) -> str:
    """What the layer divides by."""
    if e.norm.running:
        return "√(running_var + eps)"
    return "√(var + eps)" if e.norm.center else _("√(mean of x² + eps)")


def whole_matrix(e: Description) -> tuple[Tensor, float]:
    """The Jacobian of all outputs by all inputs, each in row-major order, and its largest difference from the closed form."""
    values = jacobian(e)
    return values, float((values - closed_form.closed_jacobian(e)).abs().max())


def off_diagonal(values: Tensor) -> float | None:
    """The largest absolute entry off the diagonal; None if all of them are 0."""
    return _largest(values - values.diagonal().diag())


def matrix_sentence(values: Tensor, difference: float) -> str:
    """How many entries are 0, and whether only the diagonal is not."""
    zeros = ngettext(
        "**{n:,}** of **{count:,}** derivatives is exactly 0.",
        "**{n:,}** of **{count:,}** derivatives are exactly 0.",
        int((values == 0).sum()),
        count=values.numel(),
    )
    is_diagonal = bool((values.diagonal().diag() == values).all())
    diagonal = (
        _("Only the diagonal is left: the derivative of each output by any other input is 0.") if is_diagonal else ""
    )
    largest = _(
        "Largest difference of the closed form from autograd: **{difference}**.",
        difference=format_difference(difference),
    )
    return join_sentences([zeros, diagonal, largest])


# What starts from an example gradient of the outputs, dout: the sums in the gradients of gamma and beta, and the backward pass.


def parameter_panels(e: Description, at: part.Index, seed: int) -> tuple[closed_form.ParameterSum, list[PanelValues]]:
    """dout, and its terms in the gradients of the gamma and the beta that x[at] uses."""
    dout = closed_form.upstream(e.shape, seed)
    found = closed_form.parameter_sum(e, at, dout)
    largest = _largest(torch.stack([dout, found.for_gamma]))
    gamma, beta = _("summed into this gamma"), _("summed into this beta")
    panels = [
        PanelValues("dout", "dout", _("the gradient of each output"), dout, "params", largest),
        PanelValues("for_gamma", _("dout × normalized"), gamma, found.for_gamma, "params", largest),
    ]
    if found.for_beta is not None:
        panels.append(PanelValues("for_beta", _("dout, for beta"), beta, found.for_beta, "params", largest))
    return found, panels


def parameter_sentence(found: closed_form.ParameterSum) -> str:
    """How many elements are summed, and the sums."""
    beta = "" if found.dbeta is None else f", dbeta = **{format_number(found.dbeta)}**"
    return ngettext(
        "**{n:,}** element uses this gamma, and its term is the gradient: {sums}.",
        "**{n:,}** elements use this gamma, and their terms are summed: {sums}.",
        int(found.elements.sum()),
        sums=f"dgamma = **{format_number(found.dgamma)}**{beta}",
    )


def backward_panels(dout: Tensor, terms: closed_form.BackwardTerms) -> Iterator[PanelValues]:
    """From dout to dx, term by term."""
    most = _largest(torch.stack([each for each in (dout, terms.mean, terms.along_xhat, terms.dx) if each is not None]))
    yield PanelValues("dout", "dout", _("the gradient of each output"), dout, "stats", most)
    if terms.mean is not None:
        caption = _("subtracted: one number for each group")
        yield PanelValues("dxhat_mean", "mean(dxhat)", caption, terms.mean, "stats", most)
    if terms.along_xhat is not None:
        caption = _("subtracted: xhat, times one number for each group")
        yield PanelValues("along_xhat", "xhat · mean(dxhat · xhat)", caption, terms.along_xhat, "stats", most)
    yield PanelValues("dx", "dx", _("the gradient of each input"), terms.dx, "stats", most)


def backward_sentence(terms: closed_form.BackwardTerms, at: part.Index) -> str:
    """dx of the element, worked out."""
    numbers = [float(each[at]) for each in (terms.dxhat, terms.mean, terms.along_xhat) if each is not None]
    first, *others = map(format_number, numbers)
    bracket = " − ".join([first, *(f"({text})" if text.startswith("−") else text for text in others)])
    return _(
        "dx[{index}] = {bracket} / {sigma} = **{dx}**",
        index=", ".join(map(str, at)),
        bracket=f"({bracket})" if others else bracket,
        sigma=format_number(float(terms.sigma[at])),
        dx=format_number(float(terms.dx[at])),
    )


def backward_texts(e: Description, dout: Tensor, terms: closed_form.BackwardTerms) -> Iterator[str]:
    """The formula of this layer, and how closely its gradients agree with autograd."""
    mean = " − mean(dxhat)" if terms.mean is not None else ""
    along_xhat = " − xhat · mean(dxhat · xhat)" if terms.along_xhat is not None else ""
    factor = "" if e.norm.params is None else f" · {sentences.factor_of_product(e.norm)}"
    bracket = f"(dxhat{mean}{along_xhat})" if mean or along_xhat else "dxhat"
    formula = _(
        "`dx = {bracket} / σ`, with `{dxhat}` and `σ = {sigma}`.",
        bracket=bracket,
        dxhat=f"dxhat = dout{factor}",
        sigma=sigma_text(e),
    )
    means = _("The means are over statistics groups.") if mean or along_xhat else ""
    yield join_sentences([formula, means])
    differences = closed_form.gradient_differences(terms, closed_form.autograd_backward(e, dout))
    named = [f"{name} **{format_difference(difference)}**" for name, difference in differences.items()]
    yield _("Largest differences from autograd: {differences}.", differences=_(", ").join(named))


# The experiments.


def on_element(view: View) -> tuple[Description, part.Index]:
    """The layer on the input of a view, and the selected element. Raises NormvizError if the tensor is too large, or has no such input."""
    e = on_input(view.scene.description, view.settings["input"])
    return e, view.scene.at or scene.default_at(e.shape, e.axes)


def column_parts(view: View) -> Iterator[part.Part]:
    e, drawing = view.scene.description, view.scene.grid
    at = view.scene.at or scene.default_at(e.shape, e.axes)
    around = near(e, drawing, at)
    of_groups = on_input(around.layer, view.settings["input"], MOST_ELEMENTS)
    form, moved = column(of_groups, around.at)
    yield part.Sentence(column_sentence(of_groups, around.at, form, e.shape, at))
    yield part.value_part(e, drawing, at, column_panels(form), of_element=True, take=around.take)
    yield from map(part.Text, column_texts(of_groups, form, moved))
    yield part.Text(identity_text(prod(e.shape)), of="itself")
    yield part.Caption(symbols(e))


def matrix_parts(view: View) -> Iterator[part.Part]:
    e, _at = on_element(view)
    matrix, difference = whole_matrix(e)
    yield part.Sentence(matrix_sentence(matrix, difference))
    count = len(matrix)
    drawn_as = describe(Norm("i j -> i"), (count, count))
    drawing = grid.pixels((count, count), drawn_as.axes)
    drawn, caption = drawing.extent[0], _("the diagonal is off the color scale")
    if drawn < count:
        first = ngettext("the first of {count} is drawn", "the first {n} of {count} are drawn", drawn, count=count)
        caption = f"{caption}; {first}"
    values = PanelValues("jacobian", _("d output i / d x j"), caption, matrix, "", off_diagonal(matrix))
    yield part.part_or_note(  # the elements of the matrix cannot be selected
        lambda: part.Panels(values_payload(drawn_as, drawing, [values], name="J", square=True), ())
    )
    reading = _(
        "Row i is an output and column j an input, both in row-major order. Output i depends on input j only if both are in the same "
        "statistics group. In eval mode with running statistics, each output depends on its own input alone."
    )
    yield part.Text(reading)
    what = _("The Jacobian: the derivatives of all outputs with respect to all inputs.")
    yield part.Caption(join_sentences([what, _up_to(MOST_IN_MATRIX)]))


def parameters_parts(view: View) -> Iterator[part.Part]:
    e, at = on_element(view)
    found, panels = parameter_panels(e, at, view.scene.seed)
    yield part.Sentence(parameter_sentence(found))
    yield part.value_part(e, view.scene.grid, at, panels, of_element=True)


def backward_parts(view: View) -> Iterator[part.Part]:
    e, at = on_element(view)
    dout = closed_form.upstream(e.shape, view.scene.seed)
    terms = closed_form.backward_terms(e, dout)
    yield part.Sentence(backward_sentence(terms, at))
    yield part.value_part(e, view.scene.grid, at, backward_panels(dout, terms), of_element=True)
    yield from map(part.Text, backward_texts(e, dout, terms))
    yield part.Details(_("As the course CS231n writes it"), part.course_pair())


# The page.

EXPERIMENTS = (
    Experiment("column", N_("Change one input"), column_parts, "q7", ignores=("beta",)),
    Experiment("matrix", N_("The whole Jacobian"), matrix_parts, "s3i", ignores=("at", "from", "layout", "beta")),
    Experiment(
        "parameters", N_("gamma and beta"), parameters_parts, "s1g", draws=setting.always, ignores=GAMMA_AND_BETA
    ),
    Experiment("backward", N_("Backward pass"), backward_parts, "q40", draws=setting.always, ignores=("beta",)),
)
INPUT = setting.choice(
    "input",
    {
        "x": N_("the tensor's own values"),
        "outlier": N_("one outlier in each group"),
        "signs": N_("alternating −1 and 1"),
    },
    segments=False,
    help=N_("With the last two, some derivatives within a group are 0, or nearly 0 because of eps."),
).described(
    N_("Special values of x"),
    N_("the values of x: x (its own), outlier or signs, for which some derivatives are 0"),
    "signs",
)
SETTINGS = settings_of(EXPERIMENTS, INPUT, example="matrix")
ROWS = (  # what is chosen less often is behind More: then all is in one row
    replace(
        SCENE_ROWS[0],
        groups=(SETTINGS[:1], (controls.LAYER, controls.ARGUMENTS)),
        more=(
            (controls.TENSOR, controls.SIZES, *controls.MORE_ABOUT_X),
            (INPUT, controls.NAMES, controls.PATTERN, *controls.MORE_ABOUT_LAYER),
        ),
    ),
)


def parts(view: View) -> list[part.Part]:
    """The notes on the layer, and the experiment. Raises NormvizError if the layer or the tensor has no such figure."""
    return [*map(part.LayerNote, view.scene.description.notes), *shown_by(EXPERIMENTS)(view)]


def view_parts(view: View) -> list[part.Part]:
    try:
        return parts(view)
    except NormvizError as error:  # this layer or this tensor has no such figure
        return [part.Note(str(error))]


class GradientsPage(Page):
    """The page: on other values of x, its own are not used."""

    def replaces_x(self, view: View) -> str:
        return INPUT.name if view.settings[INPUT.name] != INPUT.default else ""


PAGE = GradientsPage(
    "gradients",
    *titles.TITLES["gradients"],
    view_parts,
    SETTINGS,
    EXPERIMENTS,
    rows=lambda _view: ROWS,
    other_views=views_of_one_layer,
    call=lambda view: f'nv.gradients("{scene.compact(view.scene.layer)}", x)',
    file_choices=(("show", *controls.FILE_LAYER), in_files(SETTINGS)),
    group=titles.LOOK_UP,
    plan=Plan(
        N_("Students say which outputs change with one input, and over which elements a gradient is summed."),
        10,
        ("q26|s3i", "q51", "s1g"),
    ),
)
