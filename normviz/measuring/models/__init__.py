"""The normalization layers of a model, as they run."""
