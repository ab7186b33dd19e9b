"""Mutation testing: ``python -m tools.mutants layers/norm.py`` changes one thing at a time in a module and runs the tests that call it.

A change that no test notices is printed: it needs a test, or it computes the same as the original. mutmut writes the mutants to
``mutants/`` and chooses one while the tests run. The rest is here, for these reasons:

- One pytest session collects the tests once and forks a process for each mutant. mutmut starts pytest again in each, which takes longer
  than the tests.
- Decorated functions are mutated too. mutmut leaves them out, and with them every property and every cached function.
- Caches of functions are emptied before each test. Otherwise a test reads what the original computed before the fork. Where all tests
  pass, the tests that import the module run again, and import everything anew.
- The words of messages stay as they are: tests of messages quote some of the words. Values in messages are mutated.

Tables outside functions (the catalogue, the messages that torch writes) are not mutated. Only survivors, and functions that changed, are
tried again; ``make clean`` forgets all results. ``--sample 150`` tries 150 mutants of each module, the same ones on every run.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from mutmut import __main__ as mutmut
from mutmut.mutation import file_mutation
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.stats import load_stats, save_stats
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, setup_source_paths, walk_mutatable_files
from mutmut.utils.format_utils import mangled_name_from_mutant_name

PROCESSES = 2
MOST_SECONDS = 3  # of the tests of a mutant, the fastest first; a survivor of these is printed
MOST_TIME = 5 * MOST_SECONDS  # then the mutant does not end
MOST_MEMORY = 8 * 2**30
MESSAGES = ("_", "N_", "ngettext", "NormvizError")  # their first arguments are messages
FORWARD = [
    f"tests/analysis/test_{name}.py" for name in ("forward", "forward_agreement", "forward_types", "moments", "steps")
]
CORE = ["tests/layers", "tests/texts", *FORWARD]
# The tests of the modules in a folder of normviz.
TESTS = {"layers": CORE, "analysis": CORE, "measuring": ["tests/measuring", "tests/api/test_layers.py"]}
# Choosing the mutant is a call more. JAX starts threads, which a forked process does not have.
LEFT_OUT = ["-k", "not in_few_calls and not jax", "--ignore=tests/measuring/test_check_other_libraries.py"]
ARGUMENTS = ["-q", "-s", "-x", "--tb=native", "-p", "no:cacheprovider", *LEFT_OUT]

KILLED, SURVIVED, TIMEOUT = 1, 0, 36  # as in mutmut.stats


def main(modules: Sequence[str], sample: int | None = None) -> None:
    os.environ.setdefault("HYPOTHESIS_PROFILE", "mutants")
    write_mutants()
    tests = list(dict.fromkeys(test for module in modules for test in TESTS[module.partition("/")[0]]))
    prefixes = tuple("normviz." + module.removesuffix(".py").strip("/").replace("/", ".") + "." for module in modules)
    files = [SourceFileMutationData(path=path) for path in walk_mutatable_files()]
    for file in files:
        file.load()
    load_stats()
    chosen = {
        str(file.path): sampled([name for name in file.exit_code_by_key if name.startswith(prefixes)], sample)
        for file in files
    }
    with contextlib.chdir("mutants"):
        code = pytest.main([*tests, *ARGUMENTS, "--rootdir=."], plugins=[Session(files, chosen, tests)])
    if code:
        sys.exit(code)
    report(files, chosen)


def sampled(names: list[str], sample: int | None) -> list[str]:
    """Some of the mutants. Whether one is among them depends on its name alone, and on how many there are."""
    return sorted(names, key=lambda name: random.Random(name).random())[:sample]


def write_mutants() -> None:
    file_mutation.MutationVisitor = Visitor
    file_mutation.function_trampoline_arrangement = arranged
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        copy_src_dir()
        copy_also_copy_files()
        setup_source_paths()
        mutmut.create_mutants(PROCESSES)


class Visitor(file_mutation.MutationVisitor):
    """Finds what to mutate: also in decorated functions, but not the words of messages."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.words: set[cst.CSTNode] = set()

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in MESSAGES:
            self.words |= {argument.value for argument in node.args if argument.keyword is None}
        if node in self.words and isinstance(node, cst.SimpleString | cst.ConcatenatedString):
            return True
        return is_strict(node) or (not isinstance(node, cst.FunctionDef) and super()._skip_node_and_children(node))

    def _removes_ignored_code(self, node: cst.CSTNode, mutated: cst.CSTNode) -> bool:
        """Also whether only zip's ``strict`` changes. It states that the lengths are equal, so zip computes the same without it."""
        if isinstance(node, cst.Call) and isinstance(mutated, cst.Call):
            changed = {id(argument) for argument in node.args} ^ {id(argument) for argument in mutated.args}
            arguments = [argument for argument in (*node.args, *mutated.args) if id(argument) in changed]
            if arguments and all(map(is_strict, arguments)):
                return True
        return super()._removes_ignored_code(node, mutated)


def is_strict(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == "strict"


write_function = file_mutation.function_trampoline_arrangement


def arranged(function: cst.FunctionDef, mutants: Any, class_name: str | None) -> Any:
    """The original and its mutants without decorators, and a decorated function that calls one of them."""
    if all(
        isinstance(each.decorator, cst.Name) and each.decorator.value == "classmethod" for each in function.decorators
    ):
        return write_function(function, mutants, class_name)
    empty, nodes, assigned, names = write_function(function.with_changes(decorators=[]), mutants, class_name)
    caller = nodes[0].with_changes(decorators=[*function.decorators, *nodes[0].decorators])
    return empty, [caller, *nodes[1:]], assigned, names


class Session:
    """A pytest plugin: instead of running the tests once, runs those of each mutant in a process of its own."""

    def __init__(self, files: list[SourceFileMutationData], chosen: dict[str, list[str]], tests: list[str]) -> None:
        self.files, self.chosen, self.tests = files, chosen, tests

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        with contextlib.chdir(".."):
            load_stats()
        self.record_calls([item for name, item in items.items() if name not in state().duration_by_test])
        if not session.testsfailed:
            self.run_mutants(session, items)
        return True

    def record_calls(self, items: list[pytest.Item]) -> None:
        """Which functions each test calls, and how long it takes."""
        set_mutant_under_test("stats")
        for item in items:
            state()._stats.clear()
            start = time.process_time()
            run(item)
            if item.session.testsfailed:
                break
            state().duration_by_test[item.nodeid] = time.process_time() - start
            for function in state()._stats:
                state().tests_by_mangled_function_name[function].add(item.nodeid)
        with contextlib.chdir(".."):
            save_stats()

    def run_mutants(self, session: pytest.Session, items: dict[str, pytest.Item]) -> None:
        running: dict[int, tuple[SourceFileMutationData, str]] = {}
        gc.freeze()  # a collection in a new process would copy all that it shares with this one
        for file, name in self.survivors():
            tests = [items[test] for test in fastest(name) if test in items]
            if len(running) == PROCESSES:
                self.wait(running)
            process = os.fork()
            if not process:
                run_mutant(session, name, tests, self.tests)
            running[process] = file, name
        while running:
            self.wait(running)

    def survivors(self) -> Iterator[tuple[SourceFileMutationData, str]]:
        for file in self.files:
            for name in self.chosen[str(file.path)]:
                if file.exit_code_by_key[name] not in (KILLED, TIMEOUT):
                    yield file, name

    def wait(self, running: dict[int, tuple[SourceFileMutationData, str]]) -> None:
        process, status = os.wait()
        file, name = running.pop(process)
        file.exit_code_by_key[name] = TIMEOUT if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        with contextlib.chdir(".."):
            file.save()


def fastest(mutant: str) -> Iterator[str]:
    """The tests that call the mutated function, until they take longer than MOST_SECONDS."""
    tests, seconds = state().tests_by_mangled_function_name[mangled_name_from_mutant_name(mutant)], 0.0
    for test in sorted(tests, key=lambda test: (state().duration_by_test[test], test)):
        yield test
        seconds += state().duration_by_test[test]
        if seconds > MOST_SECONDS:
            return


def run_mutant(session: pytest.Session, name: str, tests: list[pytest.Item], paths: list[str]) -> None:
    """Run the tests until one fails, and end this process. ``paths`` has all tests."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_TIME, 4 * MOST_TIME))
    signal.alarm(20 * MOST_TIME)
    set_mutant_under_test(name)
    for test in tests:
        run(test)
        if session.testsfailed:
            os._exit(KILLED)
    resource.setrlimit(resource.RLIMIT_CPU, (4 * MOST_TIME, 4 * MOST_TIME))
    os._exit(KILLED if fails_anew(name, paths) else SURVIVED)


def fails_anew(mutant: str, tests: list[str]) -> bool:
    """Whether the tests that import the mutant's module fail if normviz and they are imported anew.

    Tables of normviz and of the tests hold what the original computed when they were imported.
    """
    for number in (signal.SIGXCPU, signal.SIGALRM):
        signal.signal(number, lambda *_: os._exit(SURVIVED))
    module = mutant.rpartition(".")[0]
    files = [
        path for test in tests for path in ([Path(test)] if test.endswith(".py") else Path(test).rglob("test_*.py"))
    ]
    importing = [str(path) for path in files if f"from {module} import" in path.read_text()]
    for name in [name for name in sys.modules if name.startswith(("normviz", "tests."))]:
        del sys.modules[name]
    return bool(importing) and pytest.main([*importing, *ARGUMENTS]) not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)


def run(item: pytest.Item) -> None:
    empty_caches()
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)


def empty_caches() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("normviz."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def report(files: list[SourceFileMutationData], chosen: dict[str, list[str]]) -> None:
    total = Counter[str]()
    for file in files:
        found = {name: file.exit_code_by_key[name] for name in chosen[str(file.path)]}
        survivors = [name for name, code in found.items() if code not in (KILLED, TIMEOUT)]
        for name in survivors:
            print(f"\n{name}")
            print(get_diff_for_mutant(name, path=file.path))
        if found:
            total += Counter({"killed": len(found) - len(survivors), "all": len(found)})
            print(f"{file.path}: {len(found) - len(survivors)} of {len(found)} killed")
    if total:
        print(f"\n{total['killed']} of {total['all']} mutants killed, {total['killed'] / total['all']:.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--sample", type=int)
    arguments = parser.parse_args()
    main(arguments.modules, arguments.sample)
