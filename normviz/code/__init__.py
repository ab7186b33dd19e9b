"""The same layer as code: torch, NumPy, einops, loops, Keras, Flax."""
