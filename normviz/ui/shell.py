"""The Streamlit script."""

from normviz.ui.loading import loaded

loaded("normviz.ui.around").show()
