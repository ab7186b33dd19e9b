"""The statements of the README are true."""

import doctest
import re
import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest

from normviz.scene.view import read

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_five_lines_of_notebook_use_run_and_end_in_a_figure(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    *lines, last = [line for line in block.splitlines() if line.strip()]
    names: dict[str, object] = {}
    exec("\n".join(lines), names)  # the text of the README
    assert isinstance(eval(last, names), go.Figure)
    printed = capsys.readouterr().out
    assert "n c h w -> n" in printed
    assert "parameters=96" in printed
    assert "(0, 2, 0, 3)" in printed


def test_the_check_of_the_first_screen_prints_what_it_says() -> None:
    assert "nv.check(" in "\n".join(README.splitlines()[:20])
    (block,) = re.findall(r"```pycon\n(.*?)```", README, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert doctest.DocTestRunner().run(test) == (0, 2)


def test_the_example_link_is_a_valid_view() -> None:
    (link,) = re.findall(r"^`\?(shape=.*)`$", README, re.MULTILINE)
    reading = read(dict(pair.split("=", 1) for pair in link.split("&")))
    assert reading.problem is None
    assert reading.scene.at == (1, 2, 0, 3)


def test_the_map_of_the_code_lists_the_package_in_the_order_of_its_imports() -> None:
    listed = re.findall(r"^  (\w+)(?:/|\.py) ", README.split("## The code")[1], re.MULTILINE)
    entries = {path.stem for path in (ROOT / "normviz").iterdir() if not path.name.startswith("__")} - {"py"}
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    order = re.findall(r"\w+", " ".join(contract["layers"]))
    assert set(listed) == entries == {*order, "locale"}  # which has no code
    level = {name: number for number, names in enumerate(contract["layers"]) for name in re.findall(r"\w+", names)}
    assert [level[name] for name in listed if name in level] == sorted(level.values(), reverse=True)


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_file_that_the_readme_links_is_there(target: str) -> None:
    assert (ROOT / target).exists()


def test_streamlit_is_pinned_to_one_version() -> None:
    pins = [
        re.findall(r"streamlit\[performance\]==([\d.]+)", (ROOT / name).read_text(encoding="utf-8"))
        for name in ("requirements.txt", "pyproject.toml")
    ]
    assert pins[0] == pins[1]
    assert len(pins[0]) == 1
