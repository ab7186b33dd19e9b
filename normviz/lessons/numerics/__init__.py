"""Numerics: what rounding does."""
