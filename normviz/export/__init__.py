"""What leaves the app: one HTML file, a part of another page, a whole site. The figures are the app's own module."""

from normviz.export.document import document, fragment

__all__ = ["document", "fragment"]
