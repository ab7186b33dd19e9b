from dataclasses import dataclass
from typing import Literal

import pytest

from normviz.figures import payload
from normviz.figures.wire import Payload, left_out, sent
from tools.payload_types import FIRST_LINE, PACKAGE, files, interface

FILES = files()


@pytest.mark.rule("The types of payloads in TypeScript come from the dataclasses: make made")
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_the_types_of_the_scripts_are_those_of_python(path):
    assert path.read_text(encoding="utf-8") == FILES[path]
    assert FILES[path].startswith(FIRST_LINE)


@dataclass(frozen=True)
class Count(Payload):
    """A number of the layer."""

    label: str
    value: int  # a text before
    note: str


def test_a_changed_field_is_noticed(monkeypatch):
    monkeypatch.setattr(payload, "Count", Count)
    changed = {path for path, text in files().items() if text != path.read_text(encoding="utf-8")}
    assert changed == {PACKAGE / "figures/browser/payloads.d.ts"}
    assert "  value: number;" in interface(Count)


@dataclass(frozen=True, kw_only=True)
class Example(Payload):
    """An example.

    kind  what it is
    """

    kind: Literal["a", "b"]
    at: tuple[int, ...] | None
    pair: tuple[int, str]
    counts: dict[str, list[Count | None]]
    why: str = left_out("")
    most: float | None = left_out(None)


def test_an_interface_by_hand():
    assert interface(Example).splitlines() == [
        "/** An example. */",
        "interface Example {",
        '  kind: "a" | "b"; // what it is',
        "  at: number[] | null;",
        "  pair: [number, string];",
        "  counts: Record<string, (Count | null)[]>;",
        "  why?: string;",
        "  most?: number;",
        "}",
    ]


def test_what_is_left_out_has_no_key():
    short = Example(kind="a", at=None, pair=(1, "x"), counts={})
    assert sent(short) == {"kind": "a", "at": None, "pair": [1, "x"], "counts": {}}
    long = Example(kind="b", at=(0, 1), pair=(1, "x"), counts={"n": [Count("l", 2, "")]}, why="so", most=0)
    assert list(sent(long)) == ["kind", "at", "pair", "counts", "why", "most"]
    assert sent(long)["counts"] == {"n": [{"label": "l", "value": 2, "note": ""}]}


def test_a_value_without_a_form_in_json_is_refused():
    with pytest.raises(TypeError, match="set has no form in JSON"):
        sent({1})
