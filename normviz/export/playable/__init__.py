"""Files that answer a reader without a server: the views that they hold, and their controls."""
