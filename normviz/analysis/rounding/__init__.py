"""Numerics: what rounding does to a mean, a variance and an eps, in each floating-point type.

groups      the types, groups of numbers at a distance from zero, exact rational answers, torch's own layers
variance    E[x^2] - E[x]^2, two passes, Welford and shifted data, over the distance from zero
eps         how small eps may be in each type, RMSNorm's eps=None, inside or outside the square root
degenerate  a constant x, and groups of one element, in every layer of the catalogue
"""

from normviz.analysis.rounding.degenerate import Degenerate, constant_groups, single_elements
from normviz.analysis.rounding.eps import (
    EPSILONS,
    VARIANCES,
    EpsOutcome,
    NoEps,
    Placement,
    by_hand,
    eps_placement,
    eps_table,
    no_eps,
)
from normviz.analysis.rounding.groups import (
    DISTANCES,
    DTYPES,
    LARGEST_DISTANCE,
    OWN,
    SAMPLES,
    exact_output,
    exact_variance,
    own_output,
    sequence,
)
from normviz.analysis.rounding.variance import (
    FLAX,
    METHODS,
    Estimate,
    flax_fast,
    one_pass,
    shifted,
    sweep,
    two_passes,
    welford,
)

__all__ = [
    "DISTANCES",
    "DTYPES",
    "EPSILONS",
    "FLAX",
    "LARGEST_DISTANCE",
    "METHODS",
    "OWN",
    "SAMPLES",
    "VARIANCES",
    "Degenerate",
    "EpsOutcome",
    "Estimate",
    "NoEps",
    "Placement",
    "by_hand",
    "constant_groups",
    "eps_placement",
    "eps_table",
    "exact_output",
    "exact_variance",
    "flax_fast",
    "no_eps",
    "one_pass",
    "own_output",
    "sequence",
    "shifted",
    "single_elements",
    "sweep",
    "two_passes",
    "welford",
]
