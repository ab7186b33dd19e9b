"""What the server imports before it listens, what it imports in the background, and what it never imports."""

import gc
import json
import subprocess
import sys
from concurrent.futures import Future
from typing import Any

import pytest

from normviz.ui import ROOT
from normviz.ui.server import process


def modules_after(program: str) -> dict[str, list[str]]:
    """The modules that a fresh interpreter has loaded at each ``note("...")`` of the program."""
    begin = "import json, sys; notes = {}; note = lambda name: notes.update({name: sorted(sys.modules)})\n"
    end = "\nprint(json.dumps(notes))"
    done = subprocess.run(
        [sys.executable, "-c", begin + program + end], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def packages(modules: list[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.fixture(scope="module")
def visit() -> dict[str, list[str]]:
    """The modules loaded from the start of a server until its first visitor has opened every page."""
    return modules_after(
        "import app\n"
        "note('listening')\n"
        "from normviz.ui.server.process import import_ready\n"
        "import_ready('normviz.ui.page')\n"
        "note('loaded')\n"
        "from normviz.ui import PAGE_SCRIPTS\n"
        "from tests.support.pages import open_page\n"
        "note('requested')\n"
        "assert not open_page('explore').exception\n"
        "note('explored')\n"
        "for name in PAGE_SCRIPTS.glob('*.py'): assert not open_page(name.stem).exception\n"
        "note('shown')\n"
    )


def test_the_server_listens_before_torch_is_imported(visit: dict[str, list[str]]) -> None:
    assert packages(visit["listening"]) & {"torch", "einops", "markdown_it"} == set()
    assert "normviz.lessons.pages" not in visit["listening"]


def test_everything_that_the_first_page_needs_is_imported_in_the_background(visit: dict[str, list[str]]) -> None:
    assert {"torch", "normviz.lessons.pages", "normviz.ui.page", "normviz.ui.export"} <= set(visit["loaded"])
    late = set(visit["explored"]) - set(visit["requested"])
    assert {name for name in late if name.startswith(("torch.", "plotly.", "normviz."))} == set()


def test_no_page_imports_what_is_large_and_not_needed(visit: dict[str, list[str]]) -> None:
    assert packages(visit["shown"]) & {"pandas", "pyarrow", "sympy", "mpmath"} == set()


def test_a_module_is_imported_once() -> None:
    assert process.import_future() is process.import_future()
    assert process.import_ready("normviz.texts.errors") is sys.modules["normviz.texts.errors"]


def test_garbage_collection_is_off_during_the_imports_and_skips_imported_objects_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collecting = []
    monkeypatch.setattr(process, "import_module", _recording_import(collecting))
    process._import_all()
    assert set(collecting) == {False}
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def _recording_import(collecting: list[bool]) -> Any:
    imported = process.import_module

    def note(name: str) -> Any:
        collecting.append(gc.isenabled())
        return imported(name)

    return note


def test_import_ready_raises_the_error_of_a_failed_import(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: Future[None] = Future()
    failed.set_exception(ImportError("no such torch"))
    monkeypatch.setattr(process, "import_future", lambda: failed)
    with pytest.raises(ImportError, match="no such torch"):
        process.import_ready("normviz.texts.errors")


def test_the_server_stops_if_the_import_fails() -> None:
    program = """
import asyncio
from normviz.ui.server import process
def fail(): raise ImportError("no such torch")
process._import_all = fail
async def serve():
    async with process.lifespan(None):
        await asyncio.Event().wait()
asyncio.run(serve())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )
    assert done.returncode == 1
    assert "ImportError: no such torch" in done.stderr
