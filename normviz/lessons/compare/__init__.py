"""Compare: several layers on one tensor."""
