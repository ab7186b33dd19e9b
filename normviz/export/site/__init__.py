"""The static site: Explore, Compare, Step by step, every question and every ready-made comparison as files, with an index."""

from normviz.export.site.languages import ALL, build_all
from normviz.export.site.writing import build, pack

__all__ = ["ALL", "build", "build_all", "pack"]
