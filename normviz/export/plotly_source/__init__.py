"""Where an output takes plotly.js from."""
