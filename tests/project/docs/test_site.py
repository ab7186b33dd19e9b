"""The documentation as a site (``make docs``)."""

import re
import subprocess
import sys
from pathlib import Path

from tests.project.docs.pages import PAGES, ROOT
from tests.project.docs.session import without_settings


def test_the_site_is_built_without_a_warning_and_its_views_are_live(tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        tmp_path / "cache",
        "docs",
        tmp_path / "site",
    ]
    done = subprocess.run(command, cwd=ROOT, env=without_settings(), capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    pages = {page.stem for page in PAGES if page.parent == ROOT / "docs"}
    assert {page.stem for page in (tmp_path / "site").glob("*.html")} == pages | {"index", "genindex", "search"}
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    (frame,) = re.findall(r'<iframe src="([^"]+)"', index)
    assert "LayerNorm([3, 4, 4])" in (tmp_path / "site" / frame).read_text(encoding="utf-8")
    assert {f"{name}.html" for name in pages - {"README"}} <= set(re.findall(r'href="([\w-]+\.html)"', index))
