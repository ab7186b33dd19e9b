"""The lessons as data: ready-made sets and questions. No figures, and no number that a computer can compute."""
