"""Dependencies point one way, and torch, plotly and streamlit stay in their places."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "normviz"

LEVELS = [
    {"errors"},
    {"axes"},
    {"norm"},
    {"catalogue", "arguments", "layers", "refusals", "fit", "sharing", "compute", "data"}
    | {"code", "scratch", "frameworks", "counterparts", "placement"}
    | {"backward", "running", "rounding"},
    {"explanation"},
    {"scene"},  # and every part that is not named here: it may use the core, and no figure
    {"figures"},
    {"linked"},
    {"exhibit"},
    {"export"},
    {"site"},
    {"cli", "__main__"},
    {"ui"},
    {"pages", "app"},
]
LEVEL_OF = {part: level for level, parts in enumerate(LEVELS) for part in parts}


def level(part: str) -> int:
    return LEVEL_OF.get(part, LEVEL_OF["scene"])


# What the lessons compute, with torch.
LESSONS = {"backward", "invariance", "running", "rounding"}

MAY_IMPORT = {
    "torch": {"compute", "data", "layers", "catalogue", "explanation"} | LESSONS,
    "plotly": {"figures", "linked", "export"},
    "streamlit": {"ui", "pages", "app"},
    "starlette": {"ui", "app"},
}

UPWARDS = {
    ("explanation", "figures"),
    ("explanation", "export"),
}  # Explanation.figure() and .output(), imported when they are called
LONGEST_FILE = 400


@dataclass(frozen=True)
class Import:
    """One import statement that runs: which file, of what, and whether inside a function."""

    file: str
    module: str
    line: int
    late: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"

    @property
    def importer(self) -> str:
        return part_of(self.file.removesuffix(".py").replace("/", "."))

    @property
    def imported(self) -> str:
        return part_of(self.module)


def part_of(module: str) -> str:
    """``figures`` of ``normviz.figures.lines``, ``pages`` of ``pages.explore``; "" of the package itself."""
    names = [name for name in module.split(".") if name != "__init__"]
    return (names[1] if len(names) > 1 else "") if names[0] == "normviz" else names[0]


def imports_of(root: Path) -> list[Import]:
    """Every import in the project below ``root`` but those for the type checker alone."""
    found: list[Import] = []
    files = [*sorted((root / "normviz").rglob("*.py")), *sorted((root / "pages").glob("*.py")), root / "app.py"]
    for path in (path for path in files if path.exists()):
        tree = ast.parse(path.read_text())
        found += _imports(tree, path.relative_to(root).as_posix(), root, late=False)
    return found


def _imports(node: ast.AST, file: str, root: Path, late: bool) -> list[Import]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return [found for other in node.orelse for found in _imports(other, file, root, late)]
    if isinstance(node, ast.Import):
        return [Import(file, alias.name, node.lineno, late) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [Import(file, module, node.lineno, late) for module in sorted(set(_from(node, root)))]
    late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    return [found for child in ast.iter_child_nodes(node) for found in _imports(child, file, root, late)]


def _from(node: ast.ImportFrom, root: Path) -> list[str]:
    """``from normviz import wording`` imports normviz.wording, ``from normviz.norm import Norm`` imports normviz.norm."""
    module = node.module or ""
    folder = root / module.replace(".", "/")
    return [
        f"{module}.{alias.name}" if (folder / f"{alias.name}.py").exists() or (folder / alias.name).is_dir() else module
        for alias in node.names
    ]


def out_of_place(imports: list[Import]) -> list[str]:
    return [
        str(i) for i in imports if (top := i.module.split(".")[0]) in MAY_IMPORT and i.importer not in MAY_IMPORT[top]
    ]


def upward(imports: list[Import]) -> list[str]:
    ours = [i for i in imports if i.module.startswith(("normviz.", "pages")) and i.importer]
    return [
        str(i)
        for i in ours
        if level(i.imported) > level(i.importer) and not (i.late and (i.importer, i.imported) in UPWARDS)
    ]


def cycle(imports: list[Import]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for i in imports:
        if i.module.startswith("normviz.") and not i.late:
            file = i.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            graph.setdefault(file, set()).add(i.module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


IMPORTS = imports_of(ROOT)


def _is_package(path: Path) -> bool:
    return path.is_dir() and any(path.glob("*.py"))


def test_torch_plotly_and_streamlit_are_imported_only_in_their_places():
    assert out_of_place(IMPORTS) == []


def test_no_module_imports_one_above_it():
    assert upward(IMPORTS) == []


def test_no_imports_go_in_a_circle():
    assert cycle(IMPORTS) == []


def test_only_figures_draws_with_plotly():
    drawing = [i for i in IMPORTS if i.module.startswith("plotly") and i.importer == "linked"]
    assert [str(i) for i in drawing if i.module not in ("plotly", "plotly.offline")] == []


WRONG = [
    ("normviz/norm.py", "import streamlit", out_of_place),
    ("normviz/norm.py", "import torch.nn as nn", out_of_place),
    ("normviz/explanation.py", "def figure():\n    import plotly.graph_objects as go", out_of_place),
    ("normviz/scene.py", "try:\n    from streamlit import session_state\nexcept ImportError:\n    pass", out_of_place),
    ("normviz/axes.py", "from normviz.norm import Norm", upward),
    ("normviz/axes.py", "from normviz import norm", upward),
    ("normviz/axes.py", "def late():\n    from normviz.norm import Norm", upward),
    ("normviz/explanation.py", "from normviz.figures import explanation_figure", upward),
    ("normviz/figures/lines.py", "import normviz.ui.shell", upward),
    ("normviz/ui/shell.py", "from pages import explore", upward),
    ("normviz/norm.py", "import normviz.unheard", upward),
    ("normviz/unheard.py", "from normviz.figures import Theme", upward),
    ("normviz/sharing.py", "from normviz.compute import trace", cycle),
    ("normviz/figures/lines.py", "from normviz.figures import Theme", cycle),
]


@pytest.mark.parametrize(("file", "text", "finds"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_import_is_found(tmp_path, file, text, finds):
    project = {
        "normviz/__init__.py": "from normviz.explanation import explain",
        "normviz/norm.py": "Norm = 1",
        "normviz/compute.py": "from normviz.sharing import ids\ntrace = 1",
        "normviz/sharing.py": "ids = 1",
        "normviz/explanation.py": "import torch",
        "normviz/figures/__init__.py": "from normviz.figures.lines import Theme",
        "normviz/figures/lines.py": "import plotly\nTheme = 1",
        "normviz/ui/shell.py": "import streamlit",
        "pages/explore.py": "from normviz.ui import shell",
    }
    for path, content in project.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    assert [check(imports_of(tmp_path)) for check in (out_of_place, upward, cycle)] == [[], [], []]
    (tmp_path / file).write_text(f"{project.get(file, '')}\n{text}\n")
    assert finds(imports_of(tmp_path)) != []


RIGHT = [
    ("normviz/explanation.py", "def figure():\n    from normviz.figures import explanation_figure"),
    ("normviz/axes.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import streamlit\n    from normviz.ui import shell"),
    ("normviz/compute.py", "import torch"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text"), RIGHT, ids=range(len(RIGHT)))
def test_a_right_import_is_not(tmp_path, file, text):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    found = imports_of(tmp_path)
    assert out_of_place(found) + upward(found) + cycle(found) == []


def loaded_by(*modules: str, path: Path = ROOT) -> set[str]:
    """The top-level modules that a fresh interpreter holds after importing these."""
    program = (
        f"import sys; sys.path.insert(0, {str(path)!r}); import {', '.join(modules)}; print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=path)
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_normviz_loads_nothing_that_takes_a_while():
    assert loaded_by("normviz", "normviz.cli") & {"torch", "numpy", "plotly", "streamlit", "starlette"} == set()


def test_explain_loads_neither_streamlit_nor_plotly():
    loaded = loaded_by("normviz.explanation")
    assert "torch" in loaded
    assert loaded & {"streamlit", "starlette", "plotly"} == set()


def test_nothing_below_the_user_interface_loads_streamlit():
    parts = [*PACKAGE.glob("*.py"), *(path for path in PACKAGE.iterdir() if _is_package(path))]
    below = [f"normviz.{path.stem}" for path in parts if level(path.stem) < level("ui")]
    loaded = loaded_by(*below)
    assert "plotly" in loaded
    assert loaded & {"streamlit", "starlette"} == set()


def test_a_package_that_loads_streamlit_is_caught(tmp_path):
    (tmp_path / "streamlit.py").write_text("")
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "__init__.py").write_text("import importlib\nimportlib.import_module('stream' + 'lit')")
    assert "streamlit" in loaded_by("wrong", path=tmp_path)


def test_no_file_is_long():
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".js", ".css")]
    assert len(files) > 10
    assert [f"{path.name}: {n}" for path in files if (n := len(path.read_text().splitlines())) > LONGEST_FILE] == []
