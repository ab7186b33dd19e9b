"""The state of a view: read from a link, changed by controls, written to a link."""
