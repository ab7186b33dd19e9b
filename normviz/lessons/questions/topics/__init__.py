"""The questions, a file for each topic or two, and the facts that torch computes for their answers."""
