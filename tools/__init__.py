"""Developer tools; the app and the library do not use them."""
