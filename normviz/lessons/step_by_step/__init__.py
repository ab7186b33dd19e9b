"""Step by step: the forward pass."""
