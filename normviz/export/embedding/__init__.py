"""How an output has plotly.js."""
