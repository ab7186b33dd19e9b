"""What pyproject.toml cannot say: a wheel has the app, which is at the top of the repository, and README has links that work elsewhere."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # a build has no other way to tools/

from tools import address, plotlyjs  # noqa: E402

APP = ("app.py", "pages/*.py", ".streamlit/config.toml")


class BuildWithApp(build_py):
    def run(self) -> None:
        if self.editable_mode:  # uses the repository
            super().run()
            return
        plotlyjs.main()  # without the small plotly.js, the build says so and goes on
        super().run()
        for source in (path for pattern in APP for path in Path().glob(pattern)):
            target = Path(self.build_lib, "normviz", "ui", "app", source)
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))


setup(
    cmdclass={"build_py": BuildWithApp},
    long_description=address.elsewhere((ROOT / "README.md").read_text(encoding="utf-8"), address.setting(ROOT)),
    long_description_content_type="text/markdown",
)
