"""Calls of the measured function, and the inputs with which it is called."""
