"""The bare page in a process that imports torch, as normviz does."""

import streamlit as st
import torch

number = st.slider("number", 0, 100, 50)
st.text(f"{number} {torch.__version__}")
