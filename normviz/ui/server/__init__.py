"""The server around the Streamlit script: routes, headers, the first HTML, readiness, start and stop."""
