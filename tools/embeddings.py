"""Run the commands of docs/embedding.md and docs/notebooks.md, for the tests of the guides and for their pictures."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.ports import free_port
from tools.servers import ROOT, running

GUIDES = (ROOT / "docs" / "embedding.md", ROOT / "docs" / "notebooks.md")


def commands(heading: str) -> list[str]:
    """The shell commands in the section of the guides whose heading starts with ``heading``."""
    texts = [guide.read_text(encoding="utf-8") for guide in GUIDES]
    (section,) = (part for text in texts for part in re.split(r"^## ", text, flags=re.M) if part.startswith(heading))
    blocks = re.findall(r"^```sh\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]


@dataclass(frozen=True)
class Workshop:
    """A copy of ``examples/`` in a separate folder, where the commands run without the user's settings."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Workshop:
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__*", ".ipynb*"))
        for name, settings in LAB_SETTINGS.items():
            path = folder / "lab" / "@jupyterlab" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(settings))
        return cls(folder)

    @property
    def environment(self) -> dict[str, str]:
        own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        own |= {"NORMVIZ_URL": "", "NORMVIZ_PLOTLYJS": "", "OMP_NUM_THREADS": "1"}
        own |= {"JUPYTERLAB_SETTINGS_DIR": str(self.folder / "lab")}
        for name in ("HOME", "XDG_CONFIG_HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_WORKSPACES_DIR"):  # fmt: skip
            own[name] = str(self.folder / "home" / name.lower())
        return os.environ | own

    def run(self, heading: str) -> None:
        """Run the commands of a section, one after the other."""
        for command in commands(heading):
            done = subprocess.run(
                command, shell=True, cwd=self.folder, env=self.environment, text=True, capture_output=True, timeout=900
            )
            if done.returncode:
                raise RuntimeError(f"`{command}` failed:\n{(done.stdout + done.stderr)[-3000:]}")

    @contextmanager
    def serve(self, command: str, *options: str, health: str = "") -> Iterator[str]:
        """The address of the server that the command starts; ``{port}`` in the options is a free port."""
        port = free_port()
        words = [*shlex.split(command), *(option.format(port=port) for option in options)]
        address = f"http://localhost:{port}"
        with running(words, f"{address}/{health}", cwd=self.folder, env=self.environment):
            yield address


LAB_SETTINGS = {
    "apputils-extension/themes.jupyterlab-settings": {"theme": "JupyterLab Light", "adaptive-theme": False},
    "apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
}
LAB_OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--port={port}",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--LabApp.extension_manager=readonly",
    "--LanguageServerManager.autodetect=False",  # a language server of the machine would read all of torch
)
MARIMO_OPTIONS = ("--headless", "--port={port}", "--host=localhost", "--no-token")
