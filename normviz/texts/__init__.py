"""Languages, translated messages, errors and numbers as text."""
