"""Numerics: what rounding does to a mean, a variance and an eps."""

from normviz.ui.controls.experiments import numerics_controls
from normviz.ui.page import page

page("numerics", numerics_controls, notes=False)
