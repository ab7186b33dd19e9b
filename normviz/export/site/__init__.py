"""The static site: pages with controls, every question, every ready-made comparison and Practice as files, with an index."""

from normviz.export.site.languages import ALL, build_all
from normviz.export.site.writing import build, pack

__all__ = ["ALL", "build", "build_all", "pack"]
