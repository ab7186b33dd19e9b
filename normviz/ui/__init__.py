"""The only package that imports Streamlit."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE_SCRIPTS = ROOT / "pages"
