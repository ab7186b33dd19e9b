"""Start here: short steps for a reader who knows only that BatchNorm normalizes. Each has one figure to touch."""
