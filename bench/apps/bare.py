"""The minimum that Streamlit needs: one slider and one line of text."""

import streamlit as st

number = st.slider("number", 0, 100, 50)
st.text(f"{number}")
