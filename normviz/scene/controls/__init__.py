"""Controls: how a reader changes a view, as data for whatever draws them."""
