"""Gradients: which outputs move when one input moves, and what the parameters' gradients are sums of.

derivatives  the Jacobian, one column and one row of it by torch autograd; one input perturbed for real
closed_form  a column term by term; the backward pass by formula, beside autograd's
vanishing    where an entry is 0 inside the statistics group too, and inputs made for it

All is float64 and takes any ``Explanation`` with values. The pair of CS231n is in ``normviz.code.cs231n``.
"""

from normviz.analysis.gradients.closed_form import (
    MOST_IN_BACKWARD,
    ClosedForm,
    Gradients,
    ParameterSum,
    autograd_backward,
    backward,
    closed_column,
    closed_jacobian,
    gap,
    parameter_sum,
    upstream,
)
from normviz.analysis.gradients.derivatives import (
    LARGEST_STEP,
    MOST_ELEMENTS,
    MOST_IN_MATRIX,
    Perturbation,
    column,
    jacobian,
    perturb,
    row,
)
from normviz.analysis.gradients.vanishing import (
    EXAMPLES,
    Vanishing,
    conditions,
    vanishing,
    vanishing_input,
    vanishing_of,
)

__all__ = [
    "EXAMPLES",
    "LARGEST_STEP",
    "MOST_ELEMENTS",
    "MOST_IN_BACKWARD",
    "MOST_IN_MATRIX",
    "ClosedForm",
    "Gradients",
    "ParameterSum",
    "Perturbation",
    "Vanishing",
    "autograd_backward",
    "backward",
    "closed_column",
    "closed_jacobian",
    "column",
    "conditions",
    "gap",
    "jacobian",
    "parameter_sum",
    "perturb",
    "row",
    "upstream",
    "vanishing",
    "vanishing_input",
    "vanishing_of",
]
