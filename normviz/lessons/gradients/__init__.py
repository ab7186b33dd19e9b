"""The page Gradients."""
