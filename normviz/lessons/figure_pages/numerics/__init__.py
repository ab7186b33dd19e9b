"""The page Numerics."""
