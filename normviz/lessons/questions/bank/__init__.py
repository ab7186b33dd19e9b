"""The questions, one file per topic."""
