"""Practice: exercises that torch answered, chosen by a seed."""
