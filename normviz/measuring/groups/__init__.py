"""Which elements share their statistics."""
