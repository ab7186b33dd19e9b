"""Make the scripts that pages load: `python -m tools.bundles` bundles the TypeScript of the package with the esbuild of package-lock.json.

Each script of BUNDLES is one file in normviz/bundles, and messages.json there has the messages that it may show: a script has no texts in other
languages, and no colors. Python adds both in front of it (normviz/export/assets.py). The files are committed, so only who changes the browser's
code needs npm; a test makes them again and compares.

With --readable, the scripts are not minified and carry a source map, for a debugger; make them again without it before a commit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.npm import ROOT, NpmError, programs
from tools.translations import script_messages

PACKAGE = ROOT / "normviz"
FOLDER = PACKAGE / "bundles"
MESSAGES = "messages.json"
# The entry of each script, and whether the scripts of all pages are in it.
BUNDLES = {
    "app": ("ui/browser/component.ts", True),
    "exercises": ("export/browser/fixed.ts", True),
    "fixed": ("export/browser/fixed.ts", False),
    "playable": ("export/browser/playable.ts", False),
    "site": ("export/browser/site.ts", True),
    "widget": ("api/live/widget.ts", False),
}
MADE = "// Made by tools/bundles.py: do not edit. Python replaces this line with the colors and the messages."


def page_scripts(package: Path = PACKAGE) -> list[Path]:
    """The script of each page that has one: it bears the name of the page's folder."""
    scripts = (page.with_name(f"{page.parent.name}.ts") for page in sorted(package.glob("lessons/*/page.py")))
    return [script for script in scripts if script.is_file()]


def make(folder: Path, package: Path = PACKAGE, readable: bool = False) -> None:
    """Write the scripts and their messages into the folder. Raises NpmError where there is no esbuild."""
    esbuild = programs() / "esbuild"
    with TemporaryDirectory() as place:
        entries = [_entry(Path(place), package, name) for name in BUNDLES]
        made = Path(place) / "made.json"
        options = [
            f"--outdir={folder}",
            f"--metafile={made}",
            f"--tsconfig={ROOT / 'tsconfig.json'}",
            f"--banner:js={MADE}",
        ]
        options += ["--bundle", "--format=esm", "--charset=utf8", "--legal-comments=none", "--log-level=warning"]
        options += ["--sourcemap=inline"] if readable else ["--minify"]
        subprocess.run([esbuild, *entries, *options], cwd=package.parent, check=True)
        outputs = json.loads(made.read_text(encoding="utf-8"))["outputs"]
    sources = {Path(path).stem: output["inputs"] for path, output in outputs.items()}
    own = f"{package.name}/"
    messages = {
        name: _messages(package.parent / source for source in sources[name] if source.startswith(own))
        for name in BUNDLES
    }
    (folder / MESSAGES).write_text(json.dumps(messages, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _entry(place: Path, package: Path, name: str) -> Path:
    """A module, named as the script, that imports what belongs to it and exports what its entry does."""
    entry, has_pages = package / BUNDLES[name][0], BUNDLES[name][1]
    lines = [f'import "{script}";' for script in page_scripts(package)] if has_pages else []
    is_module = "\nexport default " in entry.read_text(encoding="utf-8")
    lines.append(f'export {{ default }} from "{entry}";' if is_module else f'import "{entry}";')
    module = place / f"{name}.ts"
    module.write_text("\n".join(lines), encoding="utf-8")
    return module


def _messages(sources: Iterable[Path]) -> list[str | tuple[str, str]]:
    """The messages of the scripts, each once: a text, or that for one and that for several."""
    texts = (path.read_text(encoding="utf-8") for path in sources)
    return sorted({message for text in texts for message in script_messages(text)}, key=str)


def main(arguments: Sequence[str] = ()) -> int:
    """Make the scripts; return the exit code."""
    try:
        make(FOLDER, readable="--readable" in arguments)
    except NpmError as error:
        print(f"THE SCRIPTS ARE NOT MADE: {error}.")
        return 1
    print(f"{FOLDER.relative_to(ROOT)}: {sum(path.stat().st_size for path in FOLDER.glob('*.js')):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
