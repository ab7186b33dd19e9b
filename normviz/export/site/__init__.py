"""The static site: pages with controls, every question, every ready-made comparison and Practice as files, with an index."""

from normviz.export.site.writing import ALL, build, build_all, pack

__all__ = ["ALL", "build", "build_all", "pack"]
