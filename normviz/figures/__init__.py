"""Pure functions that turn values into figures for Plotly and for the browser. No Streamlit, no state, no global template."""
