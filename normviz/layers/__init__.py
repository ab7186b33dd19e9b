"""Layers as data: axes, patterns, arguments, and what torch accepts."""
