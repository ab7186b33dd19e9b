"""The headings under which the questions of the four documents stand."""

SHARING = "Who shares what"
SHAPES = "Axes and shapes"
TRAINING = "Train and eval"
LIMITS = "The limits of BatchNorm"
NUMBERS = "Numbers and rounding"
CUSTOMS = "Names and customs"
