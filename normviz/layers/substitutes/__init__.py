"""What can be shown in place of what a reader gave: a layer that torch accepts, the layer of an error message, a small look-alike."""
