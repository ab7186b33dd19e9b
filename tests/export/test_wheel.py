"""The built wheel, installed outside the repository: it contains every file, and reads no file of the repository."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("normviz", "pyproject.toml", "README.md", "LICENSE", "LICENSE-prose.md")


def run(*command: str | Path, cwd: Path) -> str:
    """Run the command in an environment without the repository; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that setuptools builds from a copy of the sources, because a build leaves files behind."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    run(sys.executable, "-c", f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})", cwd=copy)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of a new environment with the wheel, and all other packages from the environment of the tests."""
    place = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place.parent)
    python = place / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--no-compile", wheel)
    run(
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "--python",
        python,
        *install,
        cwd=place.parent,
    )
    own = sysconfig.get_path("purelib", "venv", {"base": str(place)})
    (Path(own) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("normviz/")}
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "normviz").rglob("*") if path.is_file()}
    assert held == {name for name in wanted if "__pycache__" not in name and not name.endswith(".po")}
    assert {Path(name).suffix for name in held} >= {".py", ".js", ".css", ".md", ".mo", ".typed"}


def test_outside_the_repository_only_files_of_the_wheel_are_used(bin_folder, tmp_path):
    """Make a view and a site of a few pages; no file that they open is in the repository."""
    listing = tmp_path / "opened.txt"
    program = f"""
import sys
opened = set()
sys.addaudithook(lambda event, args: event == "open" and isinstance(args[0], str) and opened.add(args[0]))
import normviz
from normviz.cli import main
assert main(["export", "LayerNorm([3,4,4])", "--shape", "2,3,4,4", "-o", "page.html"]) == 0
assert main(["site", "site", "--only", "s0", "four", "--zip"]) == 0
open({str(listing)!r}, "w").write("\\n".join([normviz.__file__, *map(str, opened)]))
"""
    run(bin_folder / "python", "-c", program, cwd=tmp_path)
    own, *opened = listing.read_text().splitlines()
    assert own.startswith(str(bin_folder.parent))
    assert not [path for path in opened if path.startswith((f"{ROOT}/normviz", f"{ROOT}/pages", f"{ROOT}/app.py"))]
    assert sorted(os.listdir(tmp_path)) == ["opened.txt", "page.html", "site", "site.zip"]
    assert "nv-panel" in (tmp_path / "page.html").read_text()
    assert {"index.html", "question-s0.html", "compare-four.html", "lib"} <= set(os.listdir(tmp_path / "site"))


def test_the_command_is_installed(bin_folder, tmp_path):
    assert {"export", "image", "site"} <= set(run(bin_folder / "normviz", "--help", cwd=tmp_path).split())
