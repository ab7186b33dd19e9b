"""The framework's floor: one slider, one line of text."""

import streamlit as st

number = st.slider("number", 0, 100, 50)
st.text(f"{number}")
