"""The script that Streamlit runs for each visitor and each change."""

from normviz.ui.server.process import import_ready

import_ready("normviz.ui.page").navigate()
