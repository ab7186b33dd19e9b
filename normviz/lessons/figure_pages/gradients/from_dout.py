"""What starts from an example gradient of the outputs, dout: the sums in the gradients of gamma and beta, and the backward pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from normviz.analysis.description import Description
from normviz.analysis.gradients.closed_form import (
    BackwardTerms,
    ParameterSum,
    autograd_backward,
    backward_terms,
    gradient_differences,
    parameter_sum,
    upstream,
)
from normviz.analysis.number_format import format_difference, format_number
from normviz.figures.payload.panels import PanelValues
from normviz.layers.messages import _, join_sentences, ngettext
from normviz.lessons.figure_pages.gradients.derivatives import sigma_text
from normviz.lessons.subject import Index

if TYPE_CHECKING:
    from torch import Tensor


def parameter_panels(e: Description, at: Index, seed: int) -> tuple[ParameterSum, list[PanelValues]]:
    """dout, and its terms in the gradients of the gamma and the beta that x[at] uses."""
    dout = upstream(e.shape, seed)
    found, largest = parameter_sum(e, at, dout), float(dout.abs().max())
    gamma, beta = _("summed into this gamma"), _("summed into this beta")
    panels = [
        PanelValues("dout", "dout", _("the gradient of each output"), dout, "params"),
        PanelValues("for_gamma", _("dout × normalized"), gamma, found.for_gamma, "params"),
    ]
    if found.for_beta is not None:
        panels.append(PanelValues("for_beta", _("dout, for beta"), beta, found.for_beta, "params", largest))
    return found, panels


def parameter_sentence(found: ParameterSum) -> str:
    """How many elements are summed, and the sums."""
    beta = "" if found.dbeta is None else f", dbeta = **{format_number(found.dbeta)}**"
    return ngettext(
        "**{n:,}** element uses this gamma, and its term is the gradient: {sums}.",
        "**{n:,}** elements use this gamma, and their terms are summed: {sums}.",
        int(found.elements.sum()),
        sums=f"dgamma = **{format_number(found.dgamma)}**{beta}",
    )


@dataclass(frozen=True, eq=False)
class BackwardPass:
    """The backward pass of the layer from an example dout to dx.

    differences  the largest difference of each gradient from autograd, by name: "dx", "dgamma", "dbeta"
    """

    dout: Tensor
    terms: BackwardTerms
    differences: Mapping[str, float]


def backward_pass(e: Description, seed: int) -> BackwardPass:
    dout = upstream(e.shape, seed)
    terms = backward_terms(e, dout)
    return BackwardPass(dout, terms, gradient_differences(terms.gradients, autograd_backward(e, dout)))


def backward_panels(found: BackwardPass) -> Iterator[PanelValues]:
    """From dout to dx, term by term."""
    terms, most = found.terms, float(found.dout.abs().max())
    yield PanelValues("dout", "dout", _("the gradient of each output"), found.dout, "stats", most)
    if terms.mean is not None:
        yield PanelValues(
            "dxhat_mean", "mean(dxhat)", _("subtracted: one number for each group"), terms.mean, "stats", most
        )
    if terms.along_xhat is not None:
        caption = _("subtracted: xhat, times one number for each group")
        yield PanelValues("along_xhat", "xhat · mean(dxhat · xhat)", caption, terms.along_xhat, "stats", most)
    yield PanelValues("dx", "dx", _("the gradient of each input"), terms.dx, "stats")


def backward_sentence(found: BackwardPass, at: Index) -> str:
    """dx of the element, worked out."""
    terms = found.terms
    numbers = [float(each[at]) for each in (terms.dxhat, terms.mean, terms.along_xhat) if each is not None]
    first, *others = numbers
    bracket = format_number(first) + "".join(f" − {_in_brackets(number)}" for number in others)
    return _(
        "dx[{index}] = {bracket} / {sigma} = **{dx}**",
        index=", ".join(map(str, at)),
        bracket=f"({bracket})" if others else bracket,
        sigma=format_number(float(terms.sigma[at])),
        dx=format_number(float(terms.dx[at])),
    )


def _in_brackets(number: float) -> str:
    text = format_number(number)
    return f"({text})" if number < 0 else text


def backward_texts(e: Description, found: BackwardPass) -> Iterator[str]:
    """The formula of this layer, and how closely its gradients agree with autograd."""
    mean = " − mean(dxhat)" if found.terms.mean is not None else ""
    along_xhat = " − xhat · mean(dxhat · xhat)" if found.terms.along_xhat is not None else ""
    dxhat = "dxhat = dout" if e.norm.params is None else "dxhat = dout · gamma"
    bracket = f"(dxhat{mean}{along_xhat})" if mean or along_xhat else "dxhat"
    formula = _(
        "`dx = {bracket} / σ`, with `{dxhat}` and `σ = {sigma}`.", bracket=bracket, dxhat=dxhat, sigma=sigma_text(e)
    )
    means = _("The means are over statistics groups.") if mean or along_xhat else ""
    yield join_sentences([formula, means])
    named = [f"{name} **{format_difference(difference)}**" for name, difference in found.differences.items()]
    yield _("Largest differences from autograd: {differences}.", differences=", ".join(named))
