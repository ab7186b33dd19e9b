"""Figures: pure functions from values to what Plotly and the browser module draw. No Streamlit, no state, no global template."""
