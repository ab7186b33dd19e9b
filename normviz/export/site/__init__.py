"""The static site: every question and every ready-made comparison as a page, with an index, for any web host or a disk."""

from normviz.export.site.writing import build, pack

__all__ = ["build", "pack"]
