"""What pyproject.toml cannot say: a wheel has the app, which is at the top of the repository, in ``normviz/ui/app/``."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

APP = ("app.py", "pages/*.py", ".streamlit/config.toml")


class BuildWithApp(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # uses the repository
            return
        for source in (path for pattern in APP for path in Path().glob(pattern)):
            target = Path(self.build_lib, "normviz", "ui", "app", source)
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))


setup(cmdclass={"build_py": BuildWithApp})
