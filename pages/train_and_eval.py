"""Train and eval: what BatchNorm stores from batch to batch, what that changes, and where it fails."""

from normviz.ui.page import show

show("train_and_eval")
