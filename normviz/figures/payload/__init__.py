"""The data of each kind of figure, as JSON for the browser module."""
