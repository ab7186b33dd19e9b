"""Write the parts of docs/ that the code knows, between ``<!-- made: NAME -->`` and ``<!-- end -->``: ``python -m tools.reference``.

They are the Python API, from its docstrings, a page for each subject and their index; the command, from its parser; the default axis letters of the layers; what a
check tries, the kinds of differences and the schema of its JSON; and, in README, too, what usual tests let through. A test fails where a page is not up to date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any
from unittest.mock import patch

import normviz as nv
from bench.tests import table as tests
from normviz.cli.arguments import parser as parser_of_command
from normviz.layers.catalogue import KINDS
from normviz.measuring.check import TRIALS
from normviz.measuring.report import KINDS as DIFFERENCES
from normviz.measuring.trials import OUTCOMES, Tried
from tools.link_tables import table

DOCS = Path(__file__).parents[1] / "docs"
SCHEMA = DOCS / "check.schema.json"
WIDTH = 100  # of a signature and of a help text

API = {  # page: its subject, and the names that it has
    "api-layers": ("A layer on a tensor", ("explain", "Explanation", "Layer", "Norm", "Counts", "Trace")),
    "api-functions": ("A function of your own", ("check", "check_backward", "Check", "Difference")),
    "api-models": ("A model", ("norms", "Norms", "NormRow", "diagnose", "Diagnosis", "DiagnosedLayer", "Finding")),
    "api-pages": ("The pages", ("explore", "compare", "steps", "step_by_step", "train_and_eval", "gradients", "all_layers", "numerics", "models", "questions", "practice", "start", "story", "teach", "open", "live", "Output", "Choices")),
    "api-errors": ("Errors", ("NormvizError", "NormvizWarning")),
}  # fmt: skip
MADE_BY_FUNCTIONS = (nv.Explanation, nv.Check, nv.Norms)


def api() -> str:
    """All public names and their methods, by subject, each with the anchor that it had when all were on one page."""
    return "".join(
        f"## {title}\n\n{''.join(_line(page, name) for name in names)}\n" for page, (title, names) in API.items()
    )


def _line(page: str, name: str) -> str:
    value = getattr(nv, name)
    first = _marks(" ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()))
    methods = [f"{name}.{each}" for each, _member in _methods(value)] if inspect.isclass(value) else []
    links = "".join(f"\n  - {_link(page, method)}" for method in methods)
    return f"- {_link(page, name)}: {first}{links}\n"


def _link(page: str, heading: str) -> str:
    anchor = re.sub(r"[^\w]", "", heading.lower())
    anchor += "-1" if heading != anchor and anchor in API[page][1] else ""  # Check, below check
    return f'<a id="{anchor}"></a>[`{heading}`]({page}.md#{anchor})'


def subject(page: str) -> str:
    """The public names of a page, with signature and docstring."""
    return "".join(_entry(name, getattr(nv, name)) for name in API[page][1])


def _entry(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return f"## {name}\n\n{_class(name, value)}"
    return f"## {name}\n\n{_signature(name, value)}{_text(value)}"


def _class(name: str, value: type) -> str:
    if issubclass(value, Exception | Warning):
        return _text(value)
    made = _signature("__init__", value, name) if value in (nv.Norm, nv.Choices) else ""
    properties = [_property(each, member) for each, member in _members(value) if not inspect.isfunction(member)]
    methods = [f"### {name}.{each}\n\n{_signature(each, member)}{_text(member)}" for each, member in _methods(value)]
    about = _text(value, [one.name for one in fields(value)] if is_dataclass(value) else ())
    return made + about + "".join([*properties, "\n" if properties else "", *methods])


def _property(name: str, member: Any) -> str:
    """An item of a list: sentences, and below them the example."""
    blocks = re.split(r"\n\s*\n", inspect.getdoc(member) or "")
    sentences = " ".join(" ".join(block.split()) for block in blocks if not block.startswith(">>>"))
    examples = [_block(block, ()) for block in blocks if block.startswith(">>>")]
    return f"- `{name}`: {_marks(sentences)}\n" + "".join(f"\n{indent(each, '  ')}\n\n" for each in examples)


def _methods(value: type) -> list[tuple[str, Any]]:
    return [(name, member) for name, member in _members(value) if inspect.isfunction(member)]


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties with a docstring, in the order of the source."""
    found: dict[str, Any] = {}
    for base in reversed([base for base in value.__mro__ if base.__module__.startswith("normviz.")]):
        found |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    for name, member in found.items():
        member = getattr(member, "__func__", member)  # of a class method
        is_member = inspect.isfunction(member) or (hasattr(type(member), "__get__") and not inspect.isclass(member))
        if is_member and inspect.getdoc(member) and not (name.startswith("of") and value in MADE_BY_FUNCTIONS):
            yield name, member


class _Raw:
    """An annotation that is printed as it is written."""

    def __init__(self, text: object) -> None:
        written = text if isinstance(text, str) else inspect.formatannotation(text)
        self.text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", written)  # without the modules

    def __repr__(self) -> str:
        return self.text


def _signature(name: str, value: Any, owner: str = "") -> str:
    """The signature as in a stub file."""
    found = inspect.signature(value)
    parameters = [
        one if one.annotation is one.empty else one.replace(annotation=_Raw(one.annotation))
        for one in found.parameters.values()
    ]
    if owner:
        parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *parameters]
    back = "" if owner or found.return_annotation is found.empty else f" -> {_Raw(found.return_annotation)}"
    inner = [one.replace("<factory>", "...") for one in _with_star(parameters)]
    line = f"def {name}({', '.join(inner)}){back}: ..."
    if len(line) > WIDTH:
        line = f"def {name}(\n{''.join(f'    {one},' + chr(10) for one in inner)}){back}: ..."
    if owner:
        line = f"class {owner}:\n" + "".join(f"    {each}\n" for each in line.splitlines()).rstrip()
    return f"```pyi\n{line}\n```\n\n"


def _with_star(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    seen = False
    for one in parameters:
        seen = seen or one.kind is one.VAR_POSITIONAL
        if one.kind is one.KEYWORD_ONLY and not seen:
            seen = True
            yield "*"
        yield str(one)


def _text(value: Any, names: Collection[str] = ()) -> str:
    """A docstring as Markdown: its paragraphs, its list of arguments or fields as a list, and its examples."""
    if inspect.isfunction(value):
        names = inspect.signature(value).parameters
    blocks = re.split(r"\n\s*\n", inspect.getdoc(value) or "")
    return "".join(f"{_block(block, names)}\n\n" for block in blocks if block)


def _block(block: str, names: Collection[str]) -> str:
    lines = block.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        block = block.replace("describe(", "explain(")  # which returns the same, and is public
        named = [name for name in (*nv.__all__, "open") if re.search(rf"(?<![\w.\"'/]){name}[(.]", block)]
        first = f">>> from normviz import {', '.join(named)}\n" if named else ""
        first += ">>> from torch import nn\n" if re.search(r"(?<!\.)\bnn\.", block) and "import nn" not in block else ""
        return f"```pycon\n{first}{inspect.cleandoc(block)}\n```"
    block = inspect.cleandoc(block)
    if _is_list(block, names):
        items = re.split(r"\n(?=\S)", block)
        return "\n".join(_item(item) for item in items)
    return _marks(" ".join(block.split()))


def _is_list(block: str, names: Collection[str]) -> bool:
    """Whether each item begins with a name of an argument or field, or with a word and a gap."""
    heads = [line for line in block.splitlines() if not line.startswith(" ")]
    return all(line.split()[0].strip(",") in names or re.match(r"\w+(?:, \w+)*  +\S", line) for line in heads)


def _item(item: str) -> str:
    """``mean, var   one number for each group`` as an item of a list."""
    head, rest = re.match(r"((?:\w+, )*\w+)\s*(.*)", item, re.DOTALL).groups()  # type: ignore[union-attr]
    shown = ", ".join(f"`{name}`" for name in head.split(", "))
    return f"- {shown}: {_marks(' '.join(rest.split()))}"


def _marks(text: str) -> str:
    return text.replace("``", "`")


def command() -> str:
    """The help of every subcommand."""
    with patch.dict(os.environ, COLUMNS=str(WIDTH), NO_COLOR="1"):
        parser = parser_of_command()
        (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
        return "".join(f"## normviz {name}\n\n{_help(one)}" for name, one in commands.choices.items())


def _help(parser: argparse.ArgumentParser) -> str:
    return f"```\n{parser.format_help()}```\n\n"


def axes() -> str:
    """The default axis letters, by rank."""
    rows = []
    for rank in range(1, 6):
        layouts: dict[str, list[str]] = {}
        for kind in KINDS.values():
            low, high = kind.ranks
            if low <= rank <= (high or rank):
                layouts.setdefault(", ".join(kind.layout(rank)), []).append(f"`{kind.name}`")
        rows += [(str(rank), letters, ", ".join(names)) for letters, names in layouts.items()]
    return table(("axes of x", "letters", "layers"), rows)


def trials() -> str:
    """What a check tries, in the order in which it does."""
    rows = [(one.name, f"`{one.what}`" if one.what else "a note", one.tries) for one in TRIALS]
    return table(("trial", "difference", "what is tried"), rows)


def kinds() -> str:
    """The kinds of differences."""
    return table(("`what`", "meaning"), [(f"`{name}`", kind.meaning) for name, kind in DIFFERENCES.items()])


def schema() -> str:
    """The JSON Schema of ``Check.to_dict()`` and of ``normviz check --json``."""
    text, numbers = {"type": "string"}, {"$ref": "#/$defs/numbers"}
    difference = {each.name: {**text, "description": ABOUT[each.name]} for each in fields(nv.Difference)}
    trial = {each.name: text for each in fields(Tried)}
    properties = {
        "ok": {"type": "boolean", "description": "whether nothing differs"},
        "text": {**text, "description": "the result in sentences"},
        "norm": {"type": ["string", "null"], "description": "the Norm that computes the same, as code"},
        "layer": {"type": ["string", "null"], "description": "the layer of torch that computes the same"},
        "reduced": {"type": "array", "items": {"type": "integer"}, "description": "axes of x over which statistics are taken"},
        "differences": {"type": "array", "items": _object(difference | {"what": difference["what"] | {"enum": list(DIFFERENCES)}})},
        "sampled": {"type": "boolean", "description": "whether only some elements of x, or a smaller x, were measured"},
        "notes": {"type": "array", "items": text, "description": "what is not judged, and where x unlike the given one differs"},
        "trials": {"type": "array", "items": _object(trial | {"trial": {"enum": [one.name for one in TRIALS]}, "result": {"enum": list(OUTCOMES)}})},
        "example": {"oneOf": [{"type": "null"}, _object({"x": numbers, "got": numbers, "expected": numbers, "test": text})]},
    }  # fmt: skip
    one = {"oneOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}, {"type": "array", "items": numbers}]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The result of normviz.check"}
    return json.dumps(head | _object(properties) | {"$defs": {"numbers": one}}, indent=2) + "\n"


ABOUT = {
    "what": "the kind of the difference",
    "found": "what the function does",
    "expected": "what it should do",
    "sentence": "both in a sentence",
    "remedy": "what to change; empty where the difference does not tell",
}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


MADE: Mapping[str, Callable[[], str]] = {
    "api": api,
    "command": command,
    "axes": axes,
    "tests": tests,
    "trials": trials,
    "kinds": kinds,
    **{page: partial(subject, page) for page in API},
}


def updated(text: str) -> str:
    """The page with its made parts made again, formatted as ``make format`` does."""
    made = re.sub(
        r"(<!-- made: ([\w-]+) -->\n).*?(?=<!-- end -->)",
        lambda found: f"{found[1]}\n{MADE[found[2]]().rstrip()}\n\n",
        text,
        flags=re.DOTALL,
    )
    return formatted(made, "page.md")


def formatted(text: str, name: str) -> str:
    """The text of a file of this name, formatted as ``make format`` does."""
    config = str(DOCS.parent / "pyproject.toml")
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--config", config, "--stdin-filename", name]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=DOCS).stdout


def pages() -> list[Path]:
    """The pages that have made parts, and README."""
    every = [*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md"]
    return [page for page in every if "<!-- made: " in page.read_text(encoding="utf-8")]


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    for page in pages():
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
