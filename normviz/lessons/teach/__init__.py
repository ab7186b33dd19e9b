"""For teachers."""
