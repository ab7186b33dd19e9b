"""The pages of the documentation, and their fenced blocks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(
    r"^(?: *<!-- (?P<mark>not run here|file): (?P<note>[^\n]+) -->\n)?(?P<indent> *)```(?P<kind>[\w-]*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    kind  its language
    text  what it contains
    mark  the comment above it: "not run here", with the reason as ``note``; or "file", with the name under which the page saves it
    """

    kind: str
    text: str
    mark: str
    note: str

    @property
    def commands(self) -> list[str]:
        """The lines of a shell, without comments."""
        lines = self.text.replace("\\\n", " ").replace(" && ", "\n").splitlines()
        return [re.sub(r"(^|\s+)#.*$", "", line) for line in lines if re.sub(r"(^|\s+)#.*$", "", line).strip()]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(found["kind"], re.sub(f"^{found['indent']}", "", found["text"], flags=re.M), found["mark"] or "", found["note"] or "")
        for found in FENCE.finditer(text)
    ]  # fmt: skip


def spans(text: str) -> list[str]:
    """What stands between backticks in sentences and tables."""
    outside = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", outside)


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them, and those that it names."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    named = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    again = {f"{name}-{times - 1}" for name, times in Counter(named).items() if times > 1}
    return {*named} | again | {*re.findall(r'<a id="([^"]+)">', outside)}
