"""What pyproject.toml cannot say.

- A wheel has the app, which is at the top of the repository, in ``normviz/ui/app/``, and the small plotly.js, which is fetched for it.
- README is shown by package indexes, too, where a link to a file of the repository needs the repository's address.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
APP = ("app.py", "pages/*.py", ".streamlit/config.toml")
LINK = re.compile(r"(?P<picture>!?)\[(?P<label>[^\]]*)\]\((?!https?:)(?P<target>[^)]+)\)")


class BuildWithApp(build_py):
    def run(self) -> None:
        if self.editable_mode:  # uses the repository
            super().run()
            return
        # If it cannot be fetched, the command says so, and files made by this wheel are 1.3 MB larger.
        subprocess.run([sys.executable, str(ROOT / "tools" / "plotlyjs.py")], check=False)
        super().run()
        for source in (path for pattern in APP for path in Path().glob(pattern)):
            target = Path(self.build_lib, "normviz", "ui", "app", source)
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))


def readme() -> str:
    """README with absolute links; while the repository has no address, with the labels of these links alone."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    address = urls.get("Repository", "").rstrip("/")

    def absolute(link: re.Match[str]) -> str:
        if address:
            folder = "raw" if link["picture"] else "blob"
            return f"{link['picture']}[{link['label']}]({address}/{folder}/main/{link['target']})"
        return "" if link["picture"] else link["label"]

    return LINK.sub(absolute, (ROOT / "README.md").read_text(encoding="utf-8"))


setup(cmdclass={"build_py": BuildWithApp}, long_description=readme(), long_description_content_type="text/markdown")
