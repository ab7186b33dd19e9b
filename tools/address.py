"""The address of the repository: `make address` writes it where it is needed.

One setting holds it, in pyproject.toml:

    [project.urls]
    Repository = "https://github.com/OWNER/REPOSITORY"

While it is not set, the project has no public address, and nothing names one: no badge, no link, no command that needs it. The text between
`address:NAME` and `/address`, each in a comment of its own line, is written by this command, from the table below. In a Markdown file:

    <!-- address:badges -->
    <!-- /address -->
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "pyproject.toml",
    "docs/*.md",
    "examples/*.yml",
)
NOTEBOOK = "examples/notebook.ipynb"
GITHUB = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)(?<!\.git)")
BLOCK = re.compile(
    r"^(?P<start> *(?:<!--|#) address:(?P<name>\w+)(?: -->)?\n)(?P<text>.*?)(?P<end>^ *(?:<!--|#) /address(?: -->)?$)",
    re.MULTILINE | re.DOTALL,
)

LINK = re.compile(r"(?P<picture>!?)\[(?P<label>[^\]]*)\]\((?!https?:)(?P<file>[^)]+)\)")

BADGES = """\
[![tests]({address}/actions/workflows/tests.yml/badge.svg)]({address}/actions/workflows/tests.yml)
[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})
"""
CLONE = """\
<!-- not run here: it needs a network -->
```sh
git clone {address}
cd {repository}
```
"""
WHEEL = """\
In a clone of the repository, build the wheel, and copy it to the top folder of your course's repository:

<!-- not run here: it needs a network -->
```sh
python -m pip install build
python -m tools.plotlyjs
python -m build --wheel
cp dist/normviz-*.whl ../course/
```

"""
NO_COLAB = """\
Colab opens a notebook of a public repository. This project has no public address yet (see below). Until then: upload
[`examples/notebook.ipynb`](../examples/notebook.ipynb) and the wheel to Colab, and install the wheel in a first cell,
`%pip install ./normviz-*.whl anywidget`.
"""
BLOCKS = {  # name: the text without an address, and with one
    "badges": ("", BADGES),
    "clone": ("In a clone of the repository:\n", CLONE),
    "report": ("", "To report a wrong sentence or a missing layer, or to offer a translation: [{address}/issues]({address}/issues/new/choose).\n"),
    "urls": ("", 'Changelog = "{address}/blob/main/CHANGELOG.md"\nDocumentation = "{address}/blob/main/docs/README.md"\nIssues = "{address}/issues"\n'),
    "changes": ("", "{changes}"),
    "citation": ("", "repository-code: {address}\n"),
    "pages": ("  NORMVIZ: ./normviz-*.whl # in the top folder of your repository\n", "  NORMVIZ: {archive}\n"),
    "wheel": (WHEEL, ""),
    "colab": (NO_COLAB, "[The notebook in Colab]({colab}): its first cell installs normviz.\n"),
}  # fmt: skip
HIDDEN = {"slideshow": {"slide_type": "skip"}}  # in the slides that docs/notebooks.md makes of the notebook
INSTALL = ['import sys\n', '\n', 'if "google.colab" in sys.modules:\n', '    %pip install --quiet "normviz[notebook] @ {archive}"']  # fmt: skip


def main(root: Path = ROOT) -> int:
    """Write the address, or its absence, into every file; return the exit code."""
    address = setting(root)
    if address and not GITHUB.fullmatch(address):
        print(f"{address} is not like https://github.com/OWNER/REPOSITORY", file=sys.stderr)
        return 2
    for path in (found for pattern in FILES for found in sorted(root.glob(pattern))):
        text = path.read_text(encoding="utf-8")
        path.write_text(BLOCK.sub(lambda block: _block(block, address, root), text), encoding="utf-8")
    notebook = root / NOTEBOOK
    notebook.write_text(_with_install(notebook.read_text(encoding="utf-8"), address, root), encoding="utf-8")
    print(address or "pyproject.toml has no address of a repository: no text names one")
    return 0


def setting(root: Path) -> str:
    """The address in pyproject.toml; "" if there is none."""
    urls = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    return str(urls.get("Repository", "")).rstrip("/")


def elsewhere(text: str, address: str) -> str:
    """A text of the top folder for a place that has only the text, such as a package index: its links are absolute.

    Without an address, a link is its label, and a picture is left out.
    """

    def absolute(link: re.Match[str]) -> str:
        if not address:
            return "" if link["picture"] else link["label"]
        return (
            f"{link['picture']}[{link['label']}]({address}/{'raw' if link['picture'] else 'blob'}/main/{link['file']})"
        )

    return LINK.sub(absolute, text)


def _block(block: re.Match[str], address: str, root: Path) -> str:
    return block["start"] + _fill(BLOCKS[block["name"]][bool(address)], address, root) + block["end"]


def _fill(text: str, address: str, root: Path) -> str:
    found = GITHUB.fullmatch(address)
    if found is None:
        return text
    colab = f"https://colab.research.google.com/github/{found['owner']}/{found['repository']}/blob/main/{NOTEBOOK}"
    archive = f"{address}/archive/refs/heads/main.zip"
    changes = _changes((root / "CHANGELOG.md").read_text(encoding="utf-8"), address)
    return text.format(address=address, archive=archive, changes=changes, colab=colab, repository=found["repository"])


def _changes(changelog: str, address: str) -> str:
    """The addresses of the headings of the changelog: what is in each version and not in the one before."""
    names = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    tags = ["HEAD", *(f"v{name}" for name in names[1:])]
    newer = [f"{address}/compare/{before}...{tag}" for tag, before in pairwise(tags)]
    links = zip(names, [*newer, f"{address}/releases/tag/{tags[-1]}"], strict=True)
    return "".join(f"[{name}]: {link}\n" for name, link in links)


def _with_install(text: str, address: str, root: Path) -> str:
    """The notebook, with a cell that installs normviz in Colab if there is an address."""
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if cell["id"] != "install"]
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "install",
        "metadata": HIDDEN,
        "outputs": [],
    }
    first = [cell | {"source": [_fill(line, address, root) for line in INSTALL]}] if address else []
    return json.dumps(notebook | {"cells": [*first, *cells]}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
