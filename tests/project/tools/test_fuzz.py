"""The long fuzz: how many rounds it runs, what it prints, and how it ends. The rounds themselves are fakes."""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import fuzz


@pytest.fixture
def rounds(monkeypatch):
    """The recorded runs. Each is replaced by a fake that writes a report; ``rounds.fails`` is the (part, round) that fails."""
    made = SimpleNamespace(runs=[], fails=None, examples=30_000)

    def run(command, cwd, env):
        part, number = command[-1], 1 + len(made.runs) // len(fuzz.PARTS)
        made.runs.append((part, env["MONKEY_SEED"], command[-2]))
        if part == fuzz.PARTS[0]:
            seen = {
                "examples": made.examples,
                "refused": 7,
                "seconds": number / 1000,
                "slowest": f"round {number}",
                "bytes": 1e6,
                "largest": "x",
            }
            Path(env["FUZZ_REPORT"], "1.json").write_text(json.dumps(seen))
        return SimpleNamespace(returncode=int(made.fails == (part, number)))

    monkeypatch.setattr(subprocess, "run", run)
    return made


def test_rounds_with_different_seeds_run_until_there_are_enough_examples(rounds, capsys):
    fuzz.command([])
    assert [part for part, *_ in rounds.runs] == [*fuzz.PARTS] * 4
    printed = capsys.readouterr().out
    seeds = re.findall(r"^Round \d, seed (\d+)$", printed, re.MULTILINE)
    assert [seed for _, seed, _ in rounds.runs] == [seed for seed in seeds for _ in fuzz.PARTS]
    assert all(option == f"--hypothesis-seed={seed}" for _, seed, option in rounds.runs)
    assert "120,000 examples so far, 28 rejected with a message." in printed
    assert "The slowest took 4 ms of computing time: round 4" in printed


@pytest.mark.parametrize("part", fuzz.PARTS)
def test_it_stops_after_a_failed_round_and_says_how_to_repeat_it(rounds, capsys, part):
    rounds.fails = part, 2
    with pytest.raises(SystemExit) as ended:
        fuzz.command(["60"])
    seed = rounds.runs[-1][1]
    assert ended.value.code == f"make fuzz SEED={seed} repeats this round."  # printed, and exit code 1
    assert len(rounds.runs) == 2 * len(fuzz.PARTS)
    assert "60,000 examples so far" in capsys.readouterr().out


def test_with_a_seed_there_is_one_round(rounds, capsys):
    fuzz.command(["0", "294682"])
    assert [seed for _, seed, _ in rounds.runs] == ["294682"] * len(fuzz.PARTS)
    assert "Round 1, seed 294682" in capsys.readouterr().out


def test_ctrl_c_ends_it_without_a_traceback(rounds, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "run", interrupted)
    with pytest.raises(SystemExit) as ended:
        fuzz.command([])
    assert ended.value.code == 130


@pytest.mark.parametrize("words", [["soon"], ["1", "x"], ["1", "2", "3"]])
def test_invalid_arguments_are_refused(rounds, capsys, words):
    with pytest.raises(SystemExit) as ended:
        fuzz.command(words)
    assert ended.value.code == 2
    assert "usage: tools.fuzz" in capsys.readouterr().err
    assert rounds.runs == []
