"""The parts of a page and their HTML and text."""
