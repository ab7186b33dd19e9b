"""Explore: one layer on one tensor."""
