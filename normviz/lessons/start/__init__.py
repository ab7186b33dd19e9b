"""Start here: six steps for a reader who knows only that BatchNorm normalizes. Each has one figure to touch."""
