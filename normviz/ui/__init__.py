"""The only package that imports Streamlit."""

from pathlib import Path

_IN_A_WHEEL = Path(__file__).resolve().with_name("app")  # see setup.py

ROOT = _IN_A_WHEEL if _IN_A_WHEEL.is_dir() else Path(__file__).resolve().parents[2]
PAGE_SCRIPTS = ROOT / "pages"
