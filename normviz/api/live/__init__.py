"""A page in a notebook whose kernel answers: ``nv.live(...)``."""
