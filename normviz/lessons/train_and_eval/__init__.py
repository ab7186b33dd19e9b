"""Train and eval: both modes, and running statistics."""
