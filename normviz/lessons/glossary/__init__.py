"""The words that a page explains where they first occur."""
