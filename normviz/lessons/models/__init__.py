"""In real models: the normalizations of well-known models."""
