"""Tours: lists of views with captions, for a lesson in front of a class. Each tour is a YAML file."""
