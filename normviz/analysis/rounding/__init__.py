"""Rounding: what floating-point arithmetic does to a mean, a variance and an eps."""
