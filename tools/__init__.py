"""Helpers of the developers; the app and the library do not need them."""
