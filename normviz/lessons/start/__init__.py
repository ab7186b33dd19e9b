"""Start here: the first lesson."""
