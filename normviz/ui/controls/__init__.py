"""The controls of the pages."""
