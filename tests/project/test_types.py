"""A caller's script under mypy and pyright, both strict: each right line has no error, each wrong line has one; and the types are those of the links."""

import inspect
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

import normviz as nv
from normviz.api.pages import OF_VALUES
from normviz.code.programs import FLAVOR_LABELS, FLAVORS, Flavor
from normviz.export.document import CHOICES, Plotlyjs, Theme
from normviz.figures.palette import THEMES, FigureTheme
from normviz.lessons.pages import PAGES
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.view import DISPLAY_SETTINGS
from tests.support.needs import skip_or_fail
from tools import keywords

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

import normviz as nv

x = torch.zeros(2, 3, 4, 4)
array = np.zeros((2, 3), np.float32)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
norms = nv.norms(model, x)
"""
RIGHT = [
    'nv.explain("LayerNorm(4)", (2, 4))',
    'nv.explain("LayerNorm(4)", [2, 4], layout="NC")',
    "nv.explain(nn.LayerNorm(3), array).counts.parameters + 1",
    "nv.explain(nn.GroupNorm(1, 3), x.shape).peers((0, 0, 0, 0))[0][0] + 1",
    'nv.explain(nv.Norm(stats="n c -> n", params="c"), array).figure("dark").update_layout(width=100)',
    'nv.explain(nv.Layer.parse("LayerNorm(3)"), array).code("torch-scratch").splitlines()',
    'nv.explain("LayerNorm(3)", array).output(theme="dark", caption="a").to_html(full=False)',
    'nv.explain("LayerNorm(3)", array).with_(plotlyjs="_static/plotly.min.js").url("https://example.org").upper()',
    'nv.explain("LayerNorm(3)", array).trace.output.sum()',
    'nv.compare(["BatchNorm2d(3)", nn.GroupNorm(1, 3)], x)',
    "nv.compare([nn.GroupNorm(1, 3)], x)",
    'nv.compare(("BatchNorm2d(3)", "GroupNorm(1, 3)"), x, cards="cube", at=(0, 0, 0, 0), hide=["table"])',
    'nv.live("compare", ["LayerNorm(4)", nn.LayerNorm(4)], (2, 4)).output().title',
    "norms.grouped().explore(0).to_html()",
    "norms[0:1].explore(0).with_(theme='follow')",
    "norms[0].layer, norms[1:].grouped().share + 1.0, norms.diff(norms[:1])",
    "norms.to_html(plotlyjs='cdn'), norms.output().title",
    "[row.parameters + 1 for row in norms]",
    "nv.check(lambda x: x - x.mean(0), (4, 6), like='LayerNorm(6)').differences[0].what.upper()",
    "nv.check(nn.BatchNorm1d(3), array, shapes=[(7, 3)]).figure()",
    'nv.explore("LayerNorm(4)", (2, 4), data="counting", params="index", seed=3, hide="code", open="code")',
    'nv.explore("LayerNorm(4)", values=[1.0, 2.0], shape=(1, 2), at="none", gamma=2.0, beta=0.5, from_=(0, 0), lang="es")',
    'nv.steps("LayerNorm(4)", (2, 4), step=3), nv.step_by_step("LayerNorm(4)", caption="a", present=True)',
    'nv.gradients("LayerNorm(4)", (2, 4), show="matrix", input="outlier", seed=None)',
    "nv.train_and_eval(), nv.train_and_eval(nn.BatchNorm1d(3), array), nv.train_and_eval(count=64, momentum=None)",
    'nv.numerics(show="eps", dtype="float16", spread=1e-3).with_(theme="dark", caption="Week 3").caption.upper()',
    'nv.models(own="nn.LayerNorm(768) on 2,128,768"), nv.models(model="gpt2", mark="batch")',
    'nv.practice(seed=7, topics=["code", "numbers"], level=1, kinds="build", time=True)',
    'nv.start(step=2), nv.story(), nv.teach(hide="text"), nv.questions(), nv.questions("s0"), nv.questions(of="compare")',
    'nv.open("/start").with_(choices=nv.Choices(few=True)).title.upper()',
    'nv.live("steps", nn.LayerNorm(3), array).to_html(), nv.live("LayerNorm(3)", (2, 3), hide="code").explanation',
    'Path("a.html").write_text(nv.open("/numerics").to_html(theme=None))',
    "nv.__version__.split('.')",
]
WRONG = [
    'nv.explains("LayerNorm(4)")',
    "nv.import_module",
    'nv.explain("LayerNorm(4)", 5)',
    'nv.explain("LayerNorm(4)", "2,4")',
    'nv.explain("LayerNorm(4)")',
    "nv.explain(nn.BatchNorm2d, x)",
    'nv.explain(x, "LayerNorm(4)")',
    "nv.explain(3, x)",
    'nv.explain("LayerNorm(4)", (2, 4)).code("pytorch")',
    'nv.explain("LayerNorm(4)", (2, 4)).code("jax")',
    'nv.explain("LayerNorm(4)", (2, 4)).figure(theme="black")',
    'nv.explain("LayerNorm(4)", (2, 4)).figure(theme="follow")',
    'nv.explain("LayerNorm(4)", (2, 4)).to_html(theme="black")',
    'nv.explain("LayerNorm(4)", (2, 4)).output(them="dark")',
    'nv.compare("LayerNorm(4)", x, show="x")',
    "nv.compare([3, 4], x)",
    'nv.compare(["LayerNorm(4)"], x, cards="means")',
    'nv.compare(["LayerNorm(4)"], x, data="counting")',
    'nv.gradients("LayerNorm(4)", (2, 4), show="jacobian")',
    'nv.gradients("LayerNorm(4)", (2, 4), input="y")',
    'nv.gradients("LayerNorm(4)", (2, 4), seed="a")',
    'nv.explore("LayerNorm(4)", momentum=0.1)',
    'nv.explore("LayerNorm(4)", hid="code")',
    'nv.explore("LayerNorm(4)", data="zeros")',
    'nv.explore("LayerNorm(4)", 2, 3, 4)',
    'nv.train_and_eval(shw="modes")',
    'nv.train_and_eval(show="mode")',
    'nv.numerics(shw="eps")',
    'nv.numerics(dtype="int8")',
    'nv.numerics().with_(themes="x")',
    'nv.numerics().with_(theme="x")',
    "nv.numerics().with_(plotlyjs=3)",
    'nv.models(model="gpt3")',
    "nv.practice(level=9)",
    'nv.questions("s0", guess="48")',
    'nv.live("gradients", "LayerNorm(4)", show="jacobian")',
    "norms[0:1].layer",
    "norms.explore('first')",
    "nv.check(3, x)",
    "nv.check(lambda x: x, 5)",
]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("types") / "script.py"
    file.write_text(HEAD + "\n".join([*RIGHT, *WRONG]) + "\n", encoding="utf-8")
    return file


def judged(file: Path, lines: set[int]) -> tuple[list[str], list[str]]:
    """The right lines with an error, and the wrong lines without one."""
    written = file.read_text(encoding="utf-8").splitlines()
    first = len(HEAD.splitlines())
    of_right = [written[number - 1] for number in sorted(lines) if number <= first + len(RIGHT)]
    return of_right, [text for number, text in enumerate(WRONG, first + len(RIGHT) + 1) if number not in lines]


# Of torch, mypy reads what a caller names: the other modules take three quarters of its time, and change no message.
MYPY = """
[mypy]
strict = true
[mypy-torch.*,sympy.*,networkx.*,IPython.*,PIL.*]
follow_imports = skip
[mypy-torch,torch._tensor,torch._C,torch._C.*,torch.nn,torch.nn.modules,torch.nn.modules.*,torch.nn.parameter,torch.types,torch.functional,torch.autograd.*]
follow_imports = normal
"""


def test_mypy_tells_right_lines_from_wrong_ones(script: Path) -> None:
    config = script.with_name("mypy.ini")
    config.write_text(MYPY, encoding="utf-8")
    options = ["--output", "json", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache" / "types")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(script)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1, done.stderr
    lines = {one["line"] for one in found if one["severity"] == "error" and Path(one["file"]).name == script.name}
    assert judged(script, lines) == ([], []), done.stdout


def test_pyright_tells_right_lines_from_wrong_ones(script: Path) -> None:
    if find_spec("basedpyright") is None:
        skip_or_fail("basedpyright, pyright with its own node, is not installed")
    settings = {
        "typeCheckingMode": "strict",
        "include": [script.name],
        "extraPaths": [str(ROOT)],
        "pythonVersion": "3.11",
    }
    settings |= dict.fromkeys(
        (
            "reportUnusedExpression",
            "reportUnknownMemberType",
            "reportUnknownLambdaType",
            "reportUnknownArgumentType",
            "reportUnknownVariableType",
        ),
        False,
    )
    project = script.with_name("pyrightconfig.json")
    project.write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "-p", str(project), "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
    assert judged(script, lines) == ([], []), done.stdout


# The types and the declarations of the settings

OF_TENSOR = {*SCENE_SETTINGS}
LEFT_OUT: dict[str, set[str]] = {  # the names of a page's link that its function does not take by keyword
    "explore": {"layer"},
    "step_by_step": {"layer", "open"},
    "all_layers": {"layer", "open", "at", "from", *OF_VALUES},
    "gradients": {"layer", "open"},
    "train_and_eval": {"layer", "open"},
    "compare": {"layer", "layers", "open", *OF_VALUES},  # it shows no values
    "numerics": OF_TENSOR - {"seed"} | {"open"},
    **dict.fromkeys(("practice", "teach"), OF_TENSOR - {"seed"} | {"open"}),
    **dict.fromkeys(("models", "start", "story"), OF_TENSOR | {"open"}),
    "questions": OF_TENSOR | {"open", "present", "q", "guess"},  # it shows the answers
}
OF_LINKS_ONLY = {"v", "tour", "stop", "like"}  # of links that the app makes


def names_of(page: str) -> set[str]:
    shown = {setting.name for setting in DISPLAY_SETTINGS} - OF_LINKS_ONLY
    return {*SCENE_SETTINGS, *(setting.name for setting in PAGES[page].settings), *shown}


@pytest.mark.parametrize("page", LEFT_OUT)
def test_a_function_takes_the_names_of_its_link(page: str) -> None:
    taken = {name.rstrip("_") for name in keywords.keywords(page)}
    assert taken <= names_of(page)
    assert names_of(page) - taken == LEFT_OUT[page]
    parameters = inspect.signature(getattr(nv, page)).parameters
    assert {*parameters} - {*keywords.keywords(page)} <= {"layer", "layers", "x", "q"}
    assert {*LEFT_OUT} == {*PAGES} - {"home"}


@pytest.mark.rule("normviz/api/keywords.pyi comes from the settings that are declared: make made")
def test_the_types_are_up_to_date() -> None:
    assert keywords.FILE.read_text(encoding="utf-8") == keywords.text()


def words_in(kind: str) -> set[str]:
    """The words and numbers of a type, also in a union or in a sequence."""
    return {word or number for word, number in re.findall(r"'([^']+)'|\b(\d+)\b", kind)}


def options_of(page: str, name: str) -> set[str]:
    """The words that a setting takes, as the message about another word lists them."""
    declared = [*PAGES[page].settings, *SCENE_SETTINGS.values(), *DISPLAY_SETTINGS]
    with pytest.raises(nv.NormvizError) as raised:
        next(one for one in declared if one.name == name.rstrip("_")).parse("?")
    found = re.search(r"(?:choose|write open=) ?(.*)\.$", str(raised.value))
    assert found, raised.value
    return set(re.split(", | or |,", found[1]))


WORDS = [
    (page, name, kind)
    for page in LEFT_OUT
    for name, kind in keywords.keywords(page).items()
    if words_in(kind) and name != "at"
]


@pytest.mark.parametrize(("page", "name", "kind"), WORDS)
def test_the_words_of_a_type_are_those_of_the_setting(page: str, name: str, kind: str) -> None:
    assert words_in(kind) == options_of(page, name)


def test_the_words_of_the_results_are_those_that_they_take() -> None:
    assert set(get_args(Flavor)) == set(FLAVORS) == set(FLAVOR_LABELS)
    assert set(get_args(FigureTheme)) == set(THEMES)
    assert set(get_args(Theme)) == set(CHOICES)
    assert get_args(get_args(Plotlyjs)[0]) == ("once", "inline", "cdn")


def test_completion_shows_the_public_names_alone() -> None:
    assert set(dir(nv)) == {*nv.__all__, "open", "__version__"}
    assert all(getattr(nv, name) is not None for name in dir(nv))
