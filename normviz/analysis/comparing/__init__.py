"""Several layers on one tensor: what they share, count, and leave unchanged."""
