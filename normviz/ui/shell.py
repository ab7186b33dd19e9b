"""The Streamlit script."""

from normviz.ui.server.imports import loaded

loaded("normviz.ui.navigation").show()
