"""What a reader of the library calls: ``nv.explain``, ``nv.check``, ``nv.norms``, the functions of the pages, and ``nv.live``."""
