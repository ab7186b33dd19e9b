"""docs/grading.md: its code runs, and prints what the page says."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "grading.md"


def test_the_assignment_is_graded_as_the_page_says():
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names, printed, compared = {}, "", 0
    for kind, text in blocks:
        if kind == "text":
            assert printed == text
            compared += 1
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(text, names)
        printed = out.getvalue()
    assert compared == 6
