"""The server around the Streamlit script: routes, headers, logs, start-up."""
