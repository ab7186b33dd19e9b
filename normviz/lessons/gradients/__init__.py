"""Gradients: derivatives and the backward pass."""
