"""Write the TypeScript interfaces of what Python sends to the browser, from its dataclasses: ``python -m tools.payload_types``.

Each room with scripts has one file of them, ``payloads.d.ts``. A test fails where a file is not up to date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Literal, NewType, Union, get_args, get_origin

import numpy as np

from normviz.figures.palette import Theme
from normviz.figures.wire import LEFT_OUT, GridData, Payload
from normviz.scene.grid import Grid

PACKAGE = Path(__file__).parents[1] / "normviz"
ROOMS = {  # the file, and the modules whose payloads are in it
    "figures/browser/payloads.d.ts": ("figures.palette", "figures.wire", "figures.payload", "figures.charts"),
    "parts/browser/payloads.d.ts": ("parts.html", "parts.part"),
    "lessons/browser/payloads.d.ts": ("lessons.page", "lessons.pages", "lessons.share.panel", "lessons.train_and_eval.training", "lessons.practice.page", "lessons.start.page", "lessons.story.figures", "lessons.home.page", "lessons.all_layers.page"),
    "export/browser/payloads.d.ts": ("export.playable", "export.document"),
    "ui/browser/payloads.d.ts": ("ui.page",),
    "api/live/payloads.d.ts": ("api.live.widget",),
}  # fmt: skip
SENT = (Payload, Theme)  # a theme is in front of each script; the command reads its name, and loads no NumPy
FIRST_LINE = "// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it."
SIMPLE = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", object: "unknown"}
DESCRIBED = re.compile(r"^(\w+)  +(.+)$", re.MULTILINE)  # a field in a docstring


def text_of(modules: Sequence[ModuleType], known: set[type]) -> str:
    """The file of the payloads of these modules; ``known`` are those of other files, and grows."""
    blocks = [FIRST_LINE]
    for module in modules:
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, SENT) and is_dataclass(kind):
                blocks += _with_parts(kind, known)
    return "\n\n".join(blocks) + "\n"


def _with_parts(kind: type, known: set[type]) -> Iterator[str]:
    """The interface of a dataclass, after those of its base and of its fields that have none yet."""
    if kind in known:
        return
    known.add(kind)
    for part in (*kind.__bases__, *(one for type_ in _types(kind).values() for one in _classes(type_))):
        if is_dataclass(part) and part is not Grid:
            yield from _with_parts(part, known)
    yield interface(kind)


def interface(kind: type) -> str:
    """
    >>> from normviz.figures.payload import NearLayer
    >>> print(interface(NearLayer))
    /** A layer, and the query of its view in Explore. */
    interface NearLayer {
      name: string;
      query: string;
    }
    """
    base = next((one for one in kind.__bases__ if is_dataclass(one)), None)
    about = dict(DESCRIBED.findall(getdoc(kind) or ""))
    lines = [
        f"/** {(getdoc(kind) or '').splitlines()[0]} */",
        f"interface {kind.__name__}{f' extends {base.__name__}' if base else ''} {{",
    ]
    types = _types(kind)
    for one in fields(kind):
        if one.name in vars(kind).get("__annotations__", {}):
            comment = f" // {about[one.name]}" if one.name in about else ""
            lines.append(f"  {_declared(one, types[one.name])};{comment}")
    return "\n".join([*lines, "}"])


def _declared(one: Field[object], kind: object) -> str:
    is_optional = LEFT_OUT in one.metadata
    if is_optional and one.default is None:  # then it is never null
        kind = Union[tuple(part for part in get_args(kind) if part is not NoneType)]  # noqa: UP007
    return f"{one.name}{'?' if is_optional else ''}: {type_of(kind)}"


def _types(kind: type) -> Mapping[str, object]:
    """The type of each field."""
    found = {}
    for owner in reversed(kind.__mro__):
        names = {**vars(sys.modules[owner.__module__]), "Json": object}
        for name, annotation in vars(owner).get("__annotations__", {}).items():
            found[name] = eval(annotation, names) if isinstance(annotation, str) else annotation
    return found


def _classes(kind: object) -> Iterator[type]:
    for part in get_args(kind):
        yield from _classes(part)
    if isinstance(kind, type):
        yield kind


def type_of(kind: object) -> str:
    """A type in TypeScript.

    >>> type_of(dict[str, tuple[int, str] | None]), type_of(list[Literal["a", True]])
    ('Record<string, [number, string] | null>', '("a" | true)[]')
    """
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, str):  # Json
        return "unknown"
    if isinstance(kind, NewType) or (isinstance(kind, type) and is_dataclass(kind)):
        return GridData.__name__ if kind is Grid else kind.__name__
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(type_of, parts)))
    if origin is Literal:
        return " | ".join(map(json.dumps, parts))
    if origin is np.ndarray:
        return "PackedArray"
    if origin is tuple and parts[-1] is not Ellipsis:
        return f"[{', '.join(map(type_of, parts))}]"
    if origin in (list, tuple, Sequence):
        inner = type_of(parts[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin in (dict, Mapping):
        return f"Record<{', '.join(map(type_of, parts))}>"
    return SIMPLE[kind]  # type: ignore[index]


def files() -> dict[Path, str]:
    """Each file, and what must be in it."""
    known: set[type] = set()
    return {
        PACKAGE / name: text_of([import_module(f"normviz.{module}") for module in modules], known)
        for name, modules in ROOMS.items()
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
