"""The workflows, the forms of issues and docs/publishing.md name only files, targets, commands and options that exist."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

import normviz as nv
from normviz.cli.arguments import parsed
from normviz.scene.view import read
from normviz.texts.errors import NormvizError

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COURSE = ROOT / "examples" / "pages.yml"  # for the repository of a course
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
RECIPES = ROOT / "docs" / "publishing.md"
NAMING = [*WORKFLOWS, COURSE, *FORMS, RECIPES]

SYSTEM = {"cd", "cp", "curl", "docker", "echo", "exit", "gh", "git", "grep", "gzip", "hf", "kill", "mkdir", "pip", "realpath", "sudo", "tar", "test", "apt-get"}  # fmt: skip
WRITTEN = {"public/index.html", ".github/workflows/pages.yml"}  # by the reader, or by a command
VALUES = {"LANGUAGE": "en"}  # what the variables in the commands hold
SEPARATORS = {"&&", "||", "|", ";", "&", ">"}


def jobs(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"])


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


def scripts(path: Path) -> list[str]:
    """The shell commands: the steps of a workflow, or the blocks of a guide."""
    if path.suffix == ".md":
        return re.findall(r"^ *```sh\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = [step["run"] for step in steps(path) if "run" in step and "matrix." not in step["run"]]
    matrices = [job.get("strategy", {}).get("matrix", {}).get("include", []) for job in jobs(path).values()]
    return found + [one["run"] for include in matrices for one in include]


def commands(path: Path) -> Iterator[list[str]]:
    """Each command with its arguments, also those in $( )."""
    for line in "\n".join(scripts(path)).splitlines():
        text = re.sub(r"\$(\w+)", lambda name: VALUES.get(name[1], "x"), line)
        inner = re.findall(r"\$\((.*?)\)", text)
        for one in [re.sub(r"\$\(.*?\)", "x", text), *inner]:
            lexer = shlex.shlex(one, posix=True, punctuation_chars=";|&>{")
            lexer.whitespace_split = True
            words: list[str] = []
            for word in [*lexer, ";"]:
                if word not in SEPARATORS | {"{", "}"}:
                    words.append(word)
                elif words:
                    yield words
                    words = []


def test_a_command_is_read_as_a_shell_reads_it(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("```sh\npip install \"$(grep '^torch==' a.txt)\" && make x | y > z\n```\n")
    assert [*commands(tmp_path / "x.md")] == [
        ["pip", "install", "x"], ["make", "x"], ["y"], ["z"], ["grep", "^torch==", "a.txt"],
    ]  # fmt: skip


def problems(words: list[str]) -> list[str]:
    """What a command names that is not there."""
    words = words[1:] if words[0] in ("do", "sudo") else words
    if not words:
        return []
    name, arguments = Path(words[0]).name, words[1:]
    if name in ("for", "done") or re.match(r"\w+=", words[0]):
        return []
    if name == "make":
        targets = re.findall(r"^([\w-]+(?: [\w-]+)*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return [one for one in arguments if "=" not in one and one not in " ".join(targets).split()]
    if name == "normviz":
        try:
            parsed(arguments)
        except NormvizError as error:
            return [str(error)]
        return []
    if name == "python" and arguments[0] == "-m":
        return [] if find_spec(arguments[1]) else arguments[1:2]
    if name == "python":
        return [one for one in arguments[:1] if not (ROOT / one).is_file()]
    if words[:3] == ["git", "archive", "HEAD"]:
        return [one for one in arguments[2:] if not (ROOT / one).exists()]
    if name == "cp":
        return [one for one in arguments[:-1] if not one.startswith("dist/") and not (ROOT / one).exists()]
    if name == "grep" and len(arguments) > 1:
        return [] if re.search(arguments[0], (ROOT / arguments[1]).read_text(), re.MULTILINE) else arguments
    return [] if name in SYSTEM or Path(words[0]).suffix in (".json", ".gz") else [name]


@pytest.mark.parametrize("path", [*WORKFLOWS, COURSE, RECIPES], ids=lambda path: path.name)
def test_each_command_exists_with_its_options(path: Path) -> None:
    found = [*commands(path)]
    assert len(found) > (0 if path.suffix == ".md" else 1)
    assert [(words, missing) for words in found if (missing := problems(words))] == []


@pytest.mark.parametrize("line", ["make tset", "normviz site x --langs en", "python -m tools.adress", "python tools/sbon.py", "cp deploy/x.md y", "grep '^torhc==' requirements.txt", "git archive HEAD app.pyy", "nromviz app"])  # fmt: skip
def test_a_misspelt_command_is_found(line: str) -> None:
    assert problems(shlex.split(line))


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.name)
def test_each_file_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    paths = set(re.findall(r"(?<![\w/.@:-])(?:\.?[\w-]+/)+[\w-]+\.(?:md|py|yml|txt|json|ipynb|html)\b", text)) - WRITTEN
    for step in steps(path) if path in WORKFLOWS else ():
        paths |= set(step.get("with", {}).get("cache-dependency-path", "").split())
    if path in WORKFLOWS:
        paths |= {job["uses"] for job in jobs(path).values() if "uses" in job}
    assert [one for one in sorted(paths) if not (ROOT / one).exists()] == []
    links = re.findall(r"\]\(((?!https?:)[^)#]+)", text) if path == RECIPES else []
    assert [one for one in links if not (RECIPES.parent / one).exists()] == []


@pytest.mark.parametrize("path", [*WORKFLOWS, COURSE], ids=lambda path: path.name)
def test_a_workflow_may_do_little_ends_and_names_each_action_by_its_commit(path: Path) -> None:
    text = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert text["permissions"] == {"contents": "read"}
    assert text["concurrency"]["group"]
    for job in text["jobs"].values():
        assert ("timeout-minutes" in job) != ("uses" in job)
        assert len([one for one in job.get("permissions", {}).values() if one == "write"]) <= 2
    uses = [step["uses"] for step in steps(path) if "uses" in step]
    assert uses
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in uses)
    assert all(step["with"]["persist-credentials"] is False for step in steps(path) if "actions/checkout" in step.get("uses", ""))  # fmt: skip
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_only_the_job_that_publishes_gets_an_identity_at_pypi() -> None:
    release = jobs(ROOT / ".github" / "workflows" / "release.yml")
    assert [name for name, job in release.items() if "id-token" in job.get("permissions", {})] == ["pypi"]
    assert release["pypi"]["needs"] == ["tests", "build"]
    assert len(release["pypi"]["steps"]) == 2


def test_the_workflow_of_a_course_needs_no_file_of_this_repository() -> None:
    assert {words[0] for words in commands(COURSE)} == {"pip", "normviz"}


def test_make_check_validates_every_workflow_and_form() -> None:
    lines = re.findall(r"\$\(BIN\)/check-jsonschema .*", (ROOT / "Makefile").read_text(encoding="utf-8"))
    found = {path for line in lines for word in line.split() if "/" in word for path in ROOT.glob(word)}
    assert found >= {*WORKFLOWS, COURSE, *FORMS}


def test_a_space_gets_every_file_of_the_image_and_its_port() -> None:
    (archive,) = [words[3:] for words in commands(RECIPES) if words[:2] == ["git", "archive"]]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    needed = {line.removeprefix("!").split("/")[0] for line in ignored if line.startswith("!")}
    assert set(archive) == needed | {"Dockerfile", ".dockerignore"}
    _, settings, _text = (ROOT / "deploy" / "space" / "README.md").read_text(encoding="utf-8").split("---\n")
    space, image = yaml.safe_load(settings), (ROOT / "Dockerfile").read_text()
    assert space["sdk"] == "docker"
    assert f"EXPOSE {space['app_port']}\n" in image
    assert "useradd --uid 1000 " in image
    assert len(space["short_description"]) <= 60


def test_the_example_of_the_form_for_a_layer_runs_and_its_measurement_too() -> None:
    fields = {field["id"]: field["attributes"] for field in yaml.safe_load(FORMS[1].read_text())["body"]}
    names: dict[str, Any] = {"normviz": nv}
    exec(fields["code"]["placeholder"], names)
    (call,) = re.findall(r"`(normviz\.check\(.*?\))`", fields["measured"]["description"])
    assert fields["shape"]["placeholder"] in call
    assert str(eval(call, names))


def test_the_example_of_the_form_for_a_sentence_is_a_view() -> None:
    fields = {field["id"]: field["attributes"] for field in yaml.safe_load(FORMS[0].read_text())["body"] if "id" in field}  # fmt: skip
    link = fields["link"]["placeholder"].removeprefix("/explore?")
    assert read(dict(pair.split("=", 1) for pair in link.split("&"))).problem is None
    assert json.dumps(fields).count("normviz --version") == 1
