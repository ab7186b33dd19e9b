"""What a page of the app consists of: its settings, its controls, its parts, and how it is shared."""
