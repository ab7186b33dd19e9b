"""All layers: a map of every layer that there can be on one tensor."""
