"""The parts of each page that shows figures."""
