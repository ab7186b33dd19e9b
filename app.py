"""The application: `streamlit run app.py`, or `uvicorn app:app`."""

import streamlit as st

from normviz.ui.logs import on_script_error
from normviz.ui.server.process import lifespan
from normviz.ui.server.routes import SHELL, middleware, routes

app = st.App(SHELL, routes=routes(), middleware=middleware(), lifespan=lifespan, on_script_error=on_script_error)
