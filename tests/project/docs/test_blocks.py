"""Every fenced block of the documentation runs, or says why it does not; so do commands in sentences and tables."""

import ast
import re
import shlex
import shutil
import sys
import tomllib
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from normviz.lessons.practice.own import read_markdown
from normviz.lessons.practice.roster import read_roster
from tests.project.docs import session
from tests.project.docs.pages import NAMES, PAGES, ROOT, Block, blocks, spans

MAKE = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
# Their arguments are read here, and tests of their own run them: a server, a browser, and two that take half a minute.
PARSED = ("app", "image", "site", "plotlyjs")
OTHER_OPTIONS = ("--build-arg", "--SlidesExporter", "---")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path):
    if page.name == "kernels.md":
        pytest.importorskip("triton")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    for block in found:
        if block.mark == "file":
            (tmp_path / block.note).write_text(block.text, encoding="utf-8")
    if examples := [block.text for block in found if block.kind == "pycon"]:
        assert session.ran(session.examples, examples, tmp_path) == ""
    last = ""
    for block in found:
        if block.mark == "not run here":
            assert not any(line.startswith("normviz ") for line in block.commands), "it can run"
        elif block.kind == "python":
            last = session.ran(session.python, block.text, tmp_path)
        else:
            last = _try(block, last, tmp_path)


def test_every_command_in_a_sentence_or_a_table_runs(tmp_path: Path):
    options = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = {*re.findall(r"\bnormviz (\w+)", text)} & {*session.EXAMPLES} or {*session.EXAMPLES}
        for span in spans(text):
            words = shlex.split(span) if re.match(r"normviz |make |pip |python3? -m |--[a-z]", span) else [""]
            if words[0].startswith("--"):
                options += [(words, sorted(named))] if not words[0].startswith(OTHER_OPTIONS) else []
            elif words[0] == "normviz" and len(words) == 2:  # the name of a command
                assert words[1] in {*session.EXAMPLES, "plotlyjs", "--help"}, span
            elif words[0]:
                _shell(span, tmp_path)
    assert len(options) > 50
    assert session.ran(session.refused, options, tmp_path) == []


def _try(block: Block, printed: str, folder: Path) -> str:
    """Try a block that is not Python; what it prints, if a block with its output follows."""
    output = ""
    if block.kind == "text":
        assert printed == block.text
    elif block.kind == "pycon":
        pass  # all of a page in one process, above
    elif block.kind == "sh":
        for command in block.commands:
            output = _shell(command, folder)
    elif block.kind == "console":
        for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
            assert _shell(command, folder, codes=(0, 1)) == expected
    elif block.kind == "pyi":
        ast.parse(block.text)
    elif block.kind == "html":
        for address in re.findall(r'src="(https://normviz[^"]*)"', block.text):
            _open(unescape(address))
    elif block.kind == "yaml":
        assert list(yaml.safe_load_all(block.text))
    elif block.kind == "csv":
        assert read_roster(block.text.encode(), block.note)
    elif block.kind == "markdown":
        assert read_markdown(block.text, block.note).exercises
    elif block.kind == "":
        _literal(block.text)
    else:
        pytest.fail(f"a block of {block.kind!r} is not tested; run it here, or mark it as `not run here: REASON`")
    return output


def _shell(command: str, folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    """Run a command of normviz; of others, see that they exist."""
    words = shlex.split(command)
    while "=" in words[0]:
        del words[0]
    if words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= MAKE, command
        return ""
    if words[:3] == ["python", "-m", "normviz"]:
        words = [*words[2:], *(["--version"] if len(words) == 3 else [])]
    if words[0] in ("python", "python3") and words[1] == "-m":
        assert find_spec(words[2]), command
        return ""
    if words == [".", ".venv/bin/activate"]:
        return ""
    if words[:2] == ["pip", "install"]:
        named = set(re.findall(r"[a-z]+", "".join(re.findall(r"^\.\[(.+)\]$", " ".join(words[2:])))))
        assert named <= EXTRAS, command
        return ""
    assert words[0] == "normviz", f"{command}: it is not tested; mark its block as `not run here: REASON`"
    if words[1] in PARSED:
        session.ran(session.parsed, words[1:], folder)
        return ""
    code, out, err = session.ran(session.normviz, words[1:], folder)
    assert code in codes, err
    return out


def _literal(text: str) -> None:
    """Lines that a reader sees: links of the app are valid."""
    for line in text.splitlines():
        if line.startswith(("/", "https://normviz")):
            _open(line)


def _open(address: str) -> None:
    import normviz as nv

    assert nv.open(re.sub(r"&embed=true|&embed_options=\w+", "", address)).parts


def test_a_command_that_is_refused_in_a_table_is_found(tmp_path: Path):
    wrong = [
        ["--set", "show=modes"],
        ["--page", "train_and_eval", "--set", "show=modes", "momentum=none"],
        ["--capton"],
    ]
    right = [["--page", "train_and_eval", "--set", "show=stream", "momentum=none"], ["--caption"], ["--page", "s0"]]
    found = session.ran(session.refused, [(words, ["export"]) for words in wrong + right], tmp_path)
    assert found == [" ".join(words) for words in wrong]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "install.md"], ids=lambda page: page.name)
def test_an_install_makes_an_environment_first_in_words_of_every_shell(page: Path):
    text = page.read_text(encoding="utf-8")
    lines = [line for block in blocks(text) if block.kind == "sh" for line in block.text.splitlines()]
    assert lines[:2] == ["python3 -m venv .venv", ". .venv/bin/activate"]
    assert "&&" not in text  # PowerShell 5.1 has no such operator


def test_the_readme_has_the_two_commands_of_a_clone_each_in_a_block_of_its_own():
    found = [block.text for block in blocks((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert {"make run\n", "make test\n"} <= {*found}


def test_a_block_that_nobody_runs_is_a_failure(tmp_path: Path):
    for text in ("```sh\ncurl example.org\n```\n", "```ruby\nputs 1\n```\n", "```sh\nnormviz export LayerNorm\n```\n"):
        (block,) = blocks(text)
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            _try(block, "", tmp_path)


def test_a_block_runs_without_the_app_that_an_earlier_test_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    app = ModuleType("__main__")  # Streamlit's runner leaves such a module
    app.__file__ = str(tmp_path / "app.py")
    (tmp_path / "app.py").write_text("import normviz\n")
    monkeypatch.setitem(sys.modules, "__main__", app)
    assert session.ran(session.python, "print(1)", tmp_path) == "1\n"
