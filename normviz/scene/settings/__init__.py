"""The settings of a view, each declared once."""
