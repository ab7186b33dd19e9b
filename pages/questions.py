"""Questions that learners ask: predict the answer, then see torch's own numbers and the view that shows it."""

from normviz.ui.page import show

show("questions")
