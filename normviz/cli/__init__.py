"""The command ``normviz``: a view as one HTML file or as an image, and all lessons as a static site."""

from normviz.cli.command import main

__all__ = ["main"]
