"""Run blocks of the documentation in a fresh process, as a reader would: ``ran``. The process has torch, NumPy and Plotly, but not normviz.

Importing torch takes seconds. So one server imports them, and each process is a fork of it.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(["torch", "numpy", "plotly.graph_objects", __name__])
LONGEST = 300  # seconds


def without_settings() -> dict[str, str]:
    """The environment without the variables of normviz."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NORMVIZ_")}


def ran(run: Callable[[Any], Any], given: Any, folder: Path) -> Any:
    """The result of ``run(given)``, one of the functions below, in a new process whose current directory is the folder."""
    ours, theirs = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=_child, args=(run, given, str(folder), theirs))
    with patch.dict(
        sys.modules, {"__main__": ModuleType("__main__")}
    ):  # the new process would run the file of that module
        process.start()
    theirs.close()
    try:
        assert ours.poll(LONGEST), f"it takes more than {LONGEST} seconds"
        error, result = ours.recv()
    finally:
        process.kill()
        process.join()
        ours.close()
    assert not error, error
    return result


def _child(run: Callable[[Any], Any], given: Any, folder: str, pipe: Connection) -> None:
    kept = without_settings()
    os.environ.clear()
    os.environ.update(kept)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.modules["torch"].set_num_threads(1)
    try:
        assert "normviz" not in sys.modules
        pipe.send(("", run(given)))
    except BaseException:
        pipe.send((traceback.format_exc(), None))


def python(text: str) -> str:
    """What the text prints. Tests in it are called, and an expression at its end is shown as the last line of a cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    tree, last = ast.parse(text), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, "<block>", "exec"), names)
        for name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_"]:
            names[name]()
        value = None if last is None else eval(compile(last, "<block>", "eval"), names)
        for show in ("_repr_mimebundle_", "_repr_html_"):
            if hasattr(value, show):
                assert getattr(value, show)()
                break
    return out.getvalue()


def examples(texts: list[str]) -> str:
    """What fails in the examples of an interpreter, each with its own names."""
    runner, out = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), io.StringIO()
    for text in texts:
        result = runner.run(doctest.DocTestParser().get_doctest(text, {}, "block", "block", 0), out=out.write)
        assert result.attempted, text
    return out.getvalue()


def normviz(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code and the output of the command."""
    from normviz.cli import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(arguments)
        except SystemExit as end:  # --help
            code = int(end.code or 0)
    out.seek(0)
    return code, out.read(), err.getvalue()


def parsed(arguments: list[str]) -> None:
    """Raise an error where the command does not accept the arguments."""
    from normviz.cli.arguments import parsed as read

    assert read(arguments)


EXAMPLES = {  # of each command, what it needs beside options
    "export": (["LayerNorm([3,4,4])", "--shape", "2,3,4,4", "-o", "page.html"], ["-o", "page.html"]),
    "image": (["LayerNorm([3,4,4])", "--shape", "2,3,4,4", "-o", "figure.png"], ["-o", "figure.png"]),
    "site": (["site"],),
    "explain": (["LayerNorm(4)"],),
    "check": (["torch.nn.functional:layer_norm", "--shape", "2,4"],),
    "norms": (["torch.nn:Transformer", "--input", "10,2,512"],),
    "diagnose": (["torch.nn:Transformer", "--data", "torch.nn:Transformer"],),
    "practice": ([], ["-o", "set"]),
    "questions": ([],),
    "app": ([],),
}


def refused(given: list[tuple[list[str], list[str]]]) -> list[str]:
    """What the command does not accept of these options; each is tried with every one of these commands, and shows a view where it makes one."""
    return [" ".join(options) for options, commands in given if not any(_accepts(name, options) for name in commands)]


def _accepts(name: str, options: list[str]) -> bool:
    from normviz.cli.arguments import parsed as read
    from normviz.cli.arguments import parser
    from normviz.cli.writing import output_of
    from normviz.texts.errors import NormvizError

    if len(options) == 1:  # a name
        (commands,) = (one.choices for one in parser()._actions if isinstance(one.choices, dict))
        return options[0] in commands[name]._option_string_actions
    for example in EXAMPLES[name]:
        try:
            args = read([name, *example, *options])
            if name in ("export", "image"):
                output_of(args)
        except NormvizError:
            continue
        return True
    return False
