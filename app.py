"""The application: `streamlit run app.py`, or `uvicorn app:app`."""

import streamlit as st

from normviz.ui.headers import middleware
from normviz.ui.logs import failed
from normviz.ui.process import lifespan
from normviz.ui.server import SHELL, routes

app = st.App(SHELL, routes=routes(), middleware=middleware(), lifespan=lifespan, on_script_error=failed)
