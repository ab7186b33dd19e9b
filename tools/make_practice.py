"""Makes the bank of exercises: `python -m tools.make_practice` asks torch for every answer and writes normviz/lessons/practice/bank.json.

`python -m tools.make_practice --check` asks torch again for every exercise of the bank and fails where an answer differs.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from normviz.analysis.forward import use_one_thread
from normviz.lessons.practice.bank import FILE, VERSION, bank
from normviz.lessons.practice.case import Case
from normviz.lessons.practice.exercise import Exercise
from tools.practice import arithmetic, building, choices, rows
from tools.practice.cases import all_cases, mode_cases
from tools.practice.own import own_answer, torch_answer

MAKERS: tuple[Callable[[int, Case], Iterator[Exercise]], ...] = (
    rows.counting,
    rows.marking,
    rows.pattern,
    choices.code,
    arithmetic.value,
)


def exercises() -> list[Exercise]:
    """Every exercise that torch answers now, in the order of the bank."""
    found: dict[str, Exercise] = {}
    for level, case in all_cases():
        for make in MAKERS:
            for exercise in make(level, case):
                found.setdefault(exercise.id, exercise)
    for level, case in mode_cases():
        for exercise in choices.mode(level, case):
            found.setdefault(exercise.id, exercise)
    for level, case in building.build_cases():
        for exercise in building.build(level, case):
            found.setdefault(exercise.id, exercise)
    return [exercise for exercise in found.values() if exercise.wrong]  # a choice needs a wrong option


def main() -> int:
    use_one_thread()
    made = exercises()
    if "--check" in sys.argv:
        return _compare(made)
    lines = ",\n".join(json.dumps(each.row(), separators=(",", ":")) for each in made)
    FILE.write_text(f'{{"version": {VERSION}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{FILE}: {len(made):,} exercises, {dict(Counter(each.kind for each in made))}")
    return 0


def _compare(made: list[Exercise]) -> int:
    """Compare the bank with what torch and normviz answer now; 1 if they differ."""
    answers, kept = {each.id: each for each in made}, bank()
    wrong = [each for each in kept if answers.get(each.id) != each]
    for each in wrong[:10]:
        now = answers.get(each.id)
        print(f"{each.id}: the bank has {each.row()}, torch has {now.row() if now else 'no such exercise'}")
    differing = [each for each in kept if own_answer(each) != torch_answer(each)]
    for each in differing[:10]:
        print(f"{each.id}: torch answers {torch_answer(each)}, normviz {own_answer(each)}: {each.row()}")
    if wrong or differing or len(kept) != len(made):
        print(f"{len(wrong):,} of {len(kept):,} exercises differ from torch, and {len(differing):,} from normviz.")
        print("If the exercises change on purpose, raise VERSION and run python -m tools.make_practice.")
        return 1
    print(f"All {len(kept):,} exercises agree with torch and with normviz.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
