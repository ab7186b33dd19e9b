"""Imports go one way, and names are unique. The contracts are in pyproject.toml; each is tested with an import that breaks it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "normviz"


def contract_report(folder: Path) -> str:
    """The report of import-linter on the project in ``folder``; empty if every contract is kept."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout


@pytest.mark.rule(
    "Imports go one way, from the UI down to the layers ([tool.importlinter] in pyproject.toml); lint-imports names the import"
)
def test_every_contract_is_kept():
    assert contract_report(ROOT) == ""


# A file, a line that breaks a contract, and what the report says about it. Where several chains of imports break a contract, the report
# may begin with any of them: only one line leads to streamlit, and only one to plotly.
WRONG = [
    ("layers/axes.py", "from normviz.layers.norm import Norm", "No cycles are allowed in normviz.layers. It could be made acyclic by removing"),
    ("layers/axes.py", "from normviz.analysis.forward import trace", "normviz.layers is not allowed to import normviz.analysis: - normviz.layers.axes -> normviz.analysis.forward"),
    ("analysis/description.py", "def late():\n    from normviz.figures import panels", "normviz.analysis is not allowed to import normviz.figures: - normviz.analysis.description -> normviz.figures"),
    ("scene/grid.py", "if TYPE_CHECKING:\n    from normviz.ui import request", "normviz.scene is not allowed to import normviz.ui: - normviz.scene.grid -> normviz.ui.request"),
    ("export/files.py", "import streamlit", "normviz.export is not allowed to import streamlit: - normviz.export.files -> streamlit"),
    ("layers/norm.py", "import plotly", "normviz.layers is not allowed to import plotly: - normviz.layers.norm -> plotly"),
    ("unheard.py", "", "The following modules are not listed as layers: - normviz.unheard"),
]  # fmt: skip


@pytest.fixture(scope="module")
def report_on_wrong_imports(tmp_path_factory) -> str:
    """The report on a copy of the package with all lines of WRONG, without line breaks."""
    folder = tmp_path_factory.mktemp("wrong")
    shutil.copytree(
        PACKAGE, folder / "normviz", ignore=shutil.ignore_patterns("__pycache__", "*.md", "*.ts", "bundles")
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    for file, statement, _ in WRONG:
        with (folder / "normviz" / file).open("a") as source:
            source.write(f"\n{statement}\n")
    return " ".join(contract_report(folder).split())


@pytest.mark.parametrize(("file", "statement", "words"), WRONG)
def test_a_wrong_import_breaks_its_contract(report_on_wrong_imports, file, statement, words):
    assert words in report_on_wrong_imports


def imported_by_name(path: Path) -> set[str]:
    """The modules of normviz that the file names in a string, as ``import_module("normviz.api.pages")`` does."""
    strings = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    return {text for text in strings if isinstance(text, str) and text.startswith("normviz.")}


def circle(graph: grimp.ImportGraph, folder: Path) -> list[str]:
    """The modules of a cycle of imports, including imports by name; empty if there is no cycle."""
    edges = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    for module in graph.modules:
        path = folder / Path(*module.split("."))
        package = path / "__init__.py"  # a folder that was renamed may still have a cache
        file = package if package.is_file() else path.with_suffix(".py")
        edges[module] |= imported_by_name(file) & graph.modules
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_by_name_make_no_cycle_and_a_cycle_would_be_found():
    assert imported_by_name(PACKAGE / "__init__.py") >= {"normviz.api.pages", "normviz.layers.layer"}
    graph = grimp.build_graph("normviz")
    assert circle(graph, ROOT) == []
    graph.add_import(importer="normviz.export.output", imported="normviz")
    assert {"normviz", "normviz.export.output"} <= set(circle(graph, ROOT))


# also of types
SCRIPT_IMPORT = re.compile(r"""\b(?:from|import)\b[\s(]*["'](\.{1,2}/[^"']+)["']""")


def imported_scripts(package: Path) -> dict[Path, set[Path]]:
    """The scripts, and files of types alone, from which each of them imports values or types."""
    paths = list(package.resolve().rglob("*.ts"))
    sources = {path: SCRIPT_IMPORT.findall(path.read_text(encoding="utf-8")) for path in paths}
    return {path: {(path.parent / source).resolve() for source in found} for path, found in sources.items()}


def imported_folders(package: Path) -> dict[Path, set[Path]]:
    """The other folders from which the scripts of each folder import."""
    folders: dict[Path, set[Path]] = {}
    for path, imported in imported_scripts(package).items():
        folders.setdefault(path.parent, set()).update(one.parent for one in imported if one.parent != path.parent)
    return folders


def imported_siblings(package: Path) -> dict[Path, set[Path]]:
    """What each script or folder imports from beside it, in the same folder. A folder imports what any script in it does, at any depth."""
    siblings: dict[Path, set[Path]] = {}
    for path, imported in imported_scripts(package).items():
        for one in imported - {path}:
            level = len(Path(os.path.commonpath([path, one])).parts) + 1
            siblings.setdefault(Path(*path.parts[:level]), set()).add(Path(*one.parts[:level]))
    return siblings


SCRIPT_GRAPHS = [imported_scripts, imported_folders, imported_siblings]


@pytest.mark.parametrize("graph", SCRIPT_GRAPHS)
def test_scripts_import_in_one_direction(graph):
    assert all(path.exists() for imported in graph(PACKAGE).values() for path in imported)
    TopologicalSorter(graph(PACKAGE)).prepare()


@pytest.mark.parametrize(
    "line",
    [
        'import { x } from "../{}.ts";',
        'import "../{}.ts";',
        'const x = import("../{}.ts");',
        'import { x, type T } from "../{}.ts";',
        'import type { T } from "../{}.ts";',
        "import type {\n  T,\n} from '../{}.ts';",
        'function f(x: import("../{}.ts").T) {}',
        'type T = Pick<typeof import("../{}.ts"), "x">;',
    ],
)
@pytest.mark.parametrize("graph", SCRIPT_GRAPHS)
def test_a_circle_of_scripts_is_found_also_if_only_types_are_imported(tmp_path, graph, line):
    for importer, imported in (("a/one", "b/two"), ("b/two", "a/one")):
        path = tmp_path / f"{importer}.ts"
        path.parent.mkdir()
        path.write_text(line.replace("{}", imported), encoding="utf-8")
    with pytest.raises(CycleError):
        TopologicalSorter(graph(tmp_path)).prepare()


def test_circles_of_folders_are_found_although_their_scripts_have_none(tmp_path):
    for importer, imported in (("a/one", "../b/two"), ("b/three", "../a/deep/four")):
        (tmp_path / importer).parent.mkdir()
        (tmp_path / f"{importer}.ts").write_text(f'import type {{ T }} from "{imported}.ts";', encoding="utf-8")
    TopologicalSorter(imported_folders(tmp_path)).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter(imported_siblings(tmp_path)).prepare()
    (tmp_path / "b" / "three.ts").write_text('import type { T } from "../a/four.ts";', encoding="utf-8")
    TopologicalSorter(imported_scripts(tmp_path)).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter(imported_folders(tmp_path)).prepare()


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """The top-level modules that one fresh interpreter has loaded after importing normviz, then its analysis, then its API."""
    program = """
import json, sys
notes = {}
def note(name): notes[name] = sorted({module.split(".")[0] for module in sys.modules})
import normviz, normviz.cli; note("normviz")
import normviz.analysis.description; note("analysis")
import normviz.api.pages; note("api")
print(json.dumps(notes))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def test_importing_normviz_loads_no_slow_package(loaded):
    slow = {"torch", "numpy", "plotly", "streamlit", "starlette", "einops", "markdown_it", "yaml", "tqdm"}
    assert loaded["normviz"] & slow == set()


def test_the_analysis_loads_neither_streamlit_nor_plotly(loaded):
    assert "torch" in loaded["analysis"]
    assert loaded["analysis"] & {"streamlit", "starlette", "plotly"} == set()


def test_the_library_loads_no_widgets_before_they_are_used(loaded):
    assert "plotly" in loaded["api"]
    assert loaded["api"] & {"anywidget", "ipywidgets", "IPython"} == set()


@pytest.mark.rule("A name of a class has one meaning in the package: choose another name")
def test_each_name_of_a_class_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name not in {
                ast.unparse(base).rpartition(".")[2] for base in node.bases
            }:
                places.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
