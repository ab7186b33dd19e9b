"""The help of every command: short to wait for, and ended by a command that works as it stands."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import normviz as nv
from normviz.cli import app, arguments
from normviz.code.programs import FLAVOR_LABELS, FLAVORS
from normviz.export.document import CHOICES
from normviz.figures import palette
from normviz.lessons.practice import settings
from normviz.lessons.practice.page import SETTINGS
from normviz.scene import options
from normviz.scene.scene import SCENE_SETTINGS

ROOT = Path(__file__).parents[2]
SUBPARSERS = next(one for one in arguments.parser()._actions if isinstance(one, argparse._SubParsersAction))
COMMANDS = list(SUBPARSERS.choices)


def example(text):
    """The command at the end of a help."""
    return re.search(r"\n\nfor example:\n  (normviz .+)\n\Z", text)[1]


def test_the_commands_are_listed(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert re.findall(r"^    (\w+)(?:  +\S|$)", out, re.M) == COMMANDS
    assert example(out) == 'normviz explain "LayerNorm(4)" --shape 2,4'
    assert run("--version") == (0, f"normviz {nv.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_ends_in_a_command_that_works(run, tmp_path, monkeypatch, command):
    code, text, err = run(command, "--help")
    assert (code, err) == (0, "")
    _normviz, *words = shlex.split(example(text))
    assert words[0] == command
    started = []
    if command == "site":  # its pages with controls take seconds
        monkeypatch.setattr("normviz.export.playable.MOST_VIEWS", 60)
    monkeypatch.setattr(app.runpy, "run_module", lambda *_, **__: started.append(sys.argv))
    if command == "diagnose":  # no module of torch has a model and its data
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        (tmp_path / "model.py").write_text("import torch\nmodel, batches = torch.nn.LayerNorm(2), [torch.ones(3, 2)]\n")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    (tmp_path / "model.py").unlink(missing_ok=True)
    files = [word for word in words if (tmp_path / word).exists() and word not in words[:1]]
    assert os.listdir(tmp_path) == files
    if command == "app":
        assert "--server.port=8600" in started[0]
    elif "-o" in words or command in ("site", "plotlyjs"):  # it says what it wrote, and how large that is
        assert out.startswith(files[0])
        assert re.search(r"\d (kB|MB)\b", out)
    else:
        assert files == []
        assert len(out) > 40


def test_explain_prints_the_sentence_of_the_library(run):
    sentence = str(nv.explain("LayerNorm(4)", (2, 4)))
    assert run("explain", "LayerNorm(4)", "--shape", "2,4") == (0, f"{sentence}\n", "")
    assert run("explain", "BatchNorm2d(64)")[1].startswith("BatchNorm2d(64) on (2, 64, 3, 5): 64 means")
    code = nv.explain("GroupNorm(2, 4)", (2, 4, 3)).code("numpy")
    assert run("explain", "GroupNorm(2, 4)", "--shape", "2,4,3", "--code", "numpy") == (0, f"{code}\n", "")


PASTED = [
    # a text, what is printed begins with, what is said begins with
    ("self.norm = nn.LayerNorm(768, eps=self.eps)", "LayerNorm([768]) on (2, 5, 768): 10 means", "normviz: The text has no value for 'self.eps'; shown is eps=1e-05."),
    ("x.mean((0, 2, 3), keepdim=True)", "BatchNorm2d(4, affine=False) on (2, 4, 3, 5): 4 means", ""),
    ("layers.LayerNormalization()", "LayerNorm([4], eps=0.001) on (2, 3, 5, 4): 30 means", ""),
    ("LayerNorm(768) on 2x128x768", "LayerNorm([768]) on (2, 128, 768): 256 means", ""),
    ("batch norm", "BatchNorm2d(4) on (2, 4, 3, 5): 4 means", ""),
    ("RuntimeError: running_mean should contain 64 elements not 128", 'torch refuses: "running_mean should contain 64 elements not 128". BatchNorm2d has num_features=128', ""),
    ("AttributeError: 'tuple' object has no attribute 'dim'", "Much code raises this. If a normalization layer does: The layer takes one tensor.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "out", "err"), PASTED)
def test_explain_reads_what_the_field_of_the_front_page_reads(run, text, out, err):
    code, printed, said = run("explain", text)
    assert code == 0
    assert printed.startswith(out)
    assert said.startswith(err)
    assert bool(said) == bool(err)


def test_explain_of_a_message_lists_what_torch_accepts(run):
    text = "Given normalized_shape=[96], expected input with shape [*, 96], but got input of size[8, 96, 56, 56]"
    lines = run("explain", text)[1].splitlines()
    assert lines[1:4] == [
        "What may have been meant:",
        "  ChannelsFirstLayerNorm(96, eps=1e-05)",
        "  LayerNorm([96]) on x.movedim(1, -1), shape (8, 56, 56, 96)",
    ]


def test_an_expression_is_read_on_the_tensor_that_is_named(run):
    assert run("explain", "x.mean(-1)", "--shape", "2,4,3")[1].startswith(
        "LayerNorm([3], elementwise_affine=False) on (2, 4, 3)"
    )
    assert run("explain", "BatchNormalization()", "--shape", "2,3,5,4", "--layout", "NHWC")[1].startswith(
        "ChannelsLastBatchNorm(4"
    )


def test_explain_writes_warnings_to_the_error_stream(run):
    code, out, err = run("explain", "BatchNorm1d(4)", "--shape", "2,4,4", "--layout", "NLC")
    assert code == 0
    assert out.startswith("BatchNorm1d(4) on (2, 4, 4): ")
    assert err.startswith("normviz: BatchNorm1d uses axis 1 of x as the channel axis; in NLC that is L (size 4).")
    assert len(err.splitlines()) == 1


def test_neither_help_nor_version_imports_torch():
    """One process asks for all of them; a module that must not be imported would raise."""
    asked = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
    program = (
        "import sys; from normviz.cli import main\n"
        f"for words in {asked}:\n"
        "    try: main(words)\n"
        "    except SystemExit as end: assert end.code == 0\n"
        "print(sorted({'torch', 'numpy', 'plotly'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_options_are_the_settings_of_a_scene_and_of_a_set_of_exercises(run):
    assert [setting.name for setting in options.OPTIONS] == [name for name in SCENE_SETTINGS if name != "layer"]
    assert [setting.name for setting in settings.OPTIONS] == [setting.name for setting in SETTINGS]
    for known, without_parser in zip(SETTINGS, settings.OPTIONS, strict=True):
        assert (known.default, known.description) == (without_parser.default, without_parser.description)
    for name, default in {"seed": "0", "count": "10", "level": "all"}.items():
        found = re.search(rf"  --{name} .*?default:\s+(\w+)", run("practice", "--help")[1], re.DOTALL)
        assert found[1] == default


def test_the_choices_of_options_are_those_of_the_library():
    assert (palette.FOLLOW, *palette.THEMES) == CHOICES
    assert tuple(FLAVORS) == tuple(FLAVOR_LABELS)
