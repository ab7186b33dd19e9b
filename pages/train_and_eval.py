"""Train and eval: what BatchNorm keeps from batch to batch, what that changes, and where it fails."""

from normviz.ui.controls.experiments import training_controls
from normviz.ui.page import page

page("train_and_eval", training_controls, notes=False)
