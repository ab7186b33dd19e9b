"""The built wheel, installed outside the repository: it contains every file, and reads no file of the repository."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from tools.ports import free_port
from tools.servers import POLL, STOP_TIMEOUT, WITHOUT_PROXY, running

ROOT = Path(__file__).resolve().parents[2]
APP = ("app.py", "pages", ".streamlit/config.toml")
TOOLS = ("tools/__init__.py", "tools/address.py", "tools/plotlyjs.py", "tools/npm.lock")
SOURCES = ("normviz", *APP, *TOOLS, "pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-prose.md")


def without_repository() -> dict[str, str]:
    """The variables for a process that must not find the repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}


def run(*command: str | Path, cwd: Path, given: str = "") -> str:
    """Run the command in an environment without the repository; return what it prints."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=without_repository(),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, because a build leaves files behind: also the small plotly.js, which it fetches into the package."""
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (copy / name).parent.mkdir(exist_ok=True)
            shutil.copy(source, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that setuptools builds from the copy."""
    out = tmp_path_factory.mktemp("wheel")
    said = run(
        sys.executable, "-c", f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})", cwd=copy
    )
    assert re.search(r"^(plotly\.js: |THE SMALL PLOTLY\.JS IS MISSING)", said, re.MULTILINE)
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


IN_WHEEL = "normviz/ui/app/"


def test_the_app_is_in_the_wheel_as_it_is_in_the_repository(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {
            name.removeprefix(IN_WHEEL): archive.read(name) for name in archive.namelist() if name.startswith(IN_WHEEL)
        }
    paths = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), ROOT / ".streamlit" / "config.toml"]
    assert held == {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.rule("A wheel has every file of the package: add its kind to package-data in pyproject.toml")
def test_every_file_of_the_package_is_in_the_wheel(copy, wheel):
    names = zipfile.ZipFile(wheel).namelist()
    held = {name for name in names if name.startswith("normviz/") and not name.startswith(IN_WHEEL)}
    wanted = {path.relative_to(copy).as_posix() for path in (copy / "normviz").rglob("*") if path.is_file()}
    sources = (".po", ".ts")  # of what the package has in another form
    assert held == {name for name in wanted if "__pycache__" not in name and not name.endswith(sources)}
    assert {Path(name).suffix for name in held} >= {".py", ".js", ".css", ".md", ".mo", ".typed"}


def test_the_metadata_say_what_an_index_shows_and_pip_resolves(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    assert {*metadata.get_all("Provides-Extra")} == {"app", "images", "notebook", "practice"}
    assert not [one for one in metadata.get_all("Requires-Dist") if ">=" not in one or re.search("==[^=]*;|<", one)]
    versions = [f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)]
    assert {*versions} <= {*metadata.get_all("Classifier")}
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "normviz app\n" in metadata.get_payload()
    assert not re.findall(r"\]\((?!https?:).*?\)", metadata.get_payload())


# In a process of its own: importing setuptools puts its own copies of packages on the path of all later tests.
LEFT_OUT = """
import sys
from setuptools._distutils.filelist import FileList
files = FileList()
files.allfiles = sys.stdin.read().splitlines()
for line in open("MANIFEST.in", encoding="utf-8").read().splitlines():
    if not line.startswith("#"):
        files.process_template_line(line)
print(*sorted({*files.allfiles} - {*files.files}), sep="\\n", end="")
"""


@pytest.mark.rule("The source distribution has what git has: add the file to MANIFEST.in")
def test_the_source_distribution_has_what_git_has():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
    assert run(sys.executable, "-c", LEFT_OUT, cwd=ROOT, given=tracked).splitlines() == []


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


def test_the_app_starts_from_the_wheel_opens_a_browser_and_ends_with_ctrl_c(bin_folder, tmp_path):
    browser, opened, log, port = tmp_path / "browser", tmp_path / "opened", tmp_path / "log.txt", free_port()
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    environment = without_repository() | {"DISPLAY": ":99", "BROWSER": f"{browser} %s"}
    command, address = [str(bin_folder / "normviz"), "app", "--port", str(port)], f"http://localhost:{port}"
    with running(command, f"{address}/readyz", cwd=tmp_path, env=environment, log=log) as process:
        for page in ("", "explore", "compare"):
            assert '<div id="root">' in WITHOUT_PROXY.open(f"{address}/{page}").read().decode()
        for _ in range(1000):
            if opened.exists():
                break
            sleep(POLL)
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_TIMEOUT) == 128 + signal.SIGINT
    assert opened.read_text() == f"{address}\n"
    assert log.read_text().split()[-2:] == ["URL:", address]


OPTIONS = """
import json, os, sys, tomllib
from streamlit import config
from streamlit.web.server.starlette import starlette_server
from normviz.cli import main
def listen(*given):
    print(json.dumps({name: config.get_option(name) for name in json.loads(sys.stdin.readline())}), flush=True)
    os._exit(0)
starlette_server._bind_server_socket = listen
main(["app", "--no-browser"])
"""


def flat(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The options of a file by their whole names."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def test_the_app_of_the_wheel_has_the_options_of_the_repository_whatever_the_folder_says(bin_folder, tmp_path):
    wanted = flat(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text()))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(
        '[client]\nshowErrorDetails = "full"\n[theme.light]\nprimaryColor = "#00ff00"\n'
    )
    printed = run(bin_folder / "python", "-c", OPTIONS, cwd=tmp_path, given=json.dumps([*wanted]))
    assert json.loads(printed.splitlines()[-1]) == wanted
