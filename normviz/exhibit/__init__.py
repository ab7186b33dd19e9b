"""Every page as plain parts: what the app shows, an exported file shows, and a notebook."""

from normviz.exhibit.pages import PAGES, Page
from normviz.exhibit.parts import Part

__all__ = ["PAGES", "Page", "Part"]
