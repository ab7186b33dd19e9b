"""Bundles the browser's ES modules: an entry file and everything that it imports become one script.

The modules share one scope, so their top-level names must be unique. Here is also plotly.js, which is a script of its own.
"""

import gettext
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from os.path import normpath
from pathlib import Path

from normviz.figures.palette import THEMES
from normviz.texts.languages import find_language
from normviz.texts.messages import DECIMAL_COMMA, ENGLISH, translations

BROWSER = Path(__file__).with_name("browser")
IMPORT = re.compile(r'^import (?:\{ (?P<names>[\w$, ]+) \} from )?"(?P<source>[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) )", re.MULTILINE)
DEFAULT = re.compile(r"^export default (?=(?:async )?function |class )", re.MULTILINE)
NAME = re.compile(r"^(?:export (?:default )?)?(?:async )?(?:function\*?|class|const|let) ([\w$]+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|class|const) ([\w$]+)", re.MULTILINE)
COMMENT = re.compile(r"/\*\*.*?\*/|(?:^|(?<=[;,{}()\[]))[ \t]*//[^\n]*$", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r'\b(?:_|N_|ngettext)\(\s*("(?:[^"\\]|\\.)*")(?:,\s*("(?:[^"\\]|\\.)*"))?')

# The small bundle of plotly.js has all that we draw. A wheel and the image have it; in a checkout, tools/plotlyjs.py fetches it.
PLOTLY_VERSION = "4.1.1"
PLOTLY_SHA384 = "zc4SwKObGL/W0M3RUI09UPWjlgIZHfbwMgcZO6713mRh78tfUmIQKhzCyE2LIiUg"
CARTESIAN = Path(__file__).with_name("plotlyjs") / f"plotly-cartesian-{PLOTLY_VERSION}.min.js.gz"
# That of Plotly 5.24.0 would fetch a style for maps, which we do not draw. A link to "" fetches nothing.
MAPS = b"https://unpkg.com/maplibre-gl@^4.3.2/dist/maplibre-gl.css", b""

# Modules that Python generates, and the names that they export.
VIRTUAL = {"normviz:themes": ("THEMES",), "normviz:messages": ("TRANSLATIONS", "pluralForm", "LANGUAGE")}


class BundleError(Exception):
    """The modules do not fit together."""


@cache
def bundle(entry: Path, language: str = ENGLISH) -> str:
    """``entry`` and everything that it imports as one ES module, without comments. It exports only the entry's default export.

    Raises BundleError for an import of a file or a name that does not exist, a circle, two modules that define one name, and
    a form of import or export that is not supported.
    """
    text = _modules(entry)
    return "\n".join((_themes(), _catalogue(text, language), text))


@cache
def _modules(entry: Path) -> str:
    modules = _sources(entry.resolve(), (), {})
    _check(modules)
    script = "\n".join(EXPORT.sub("", IMPORT.sub("", source)) for source in modules.values())
    # Without comments, indentation and empty lines. No string in our modules spans two lines.
    return "\n".join(filter(None, map(str.strip, COMMENT.sub("", script).splitlines())))


def classic(script: str) -> str:
    """The bundle as a classic script, because browsers do not load modules from a disk. The entry must not export anything.

    >>> print(classic("mount();"))
    (() => {
    "use strict";
    mount();
    })();
    """
    return f'(() => {{\n"use strict";\n{script}\n}})();\n'


def module(language: str = ENGLISH) -> str:
    """The figures without a page, as a module whose default export mounts one: ``mountFigure`` of mount.js."""
    return f"{bundle(BROWSER / 'mount.js', language)}\nexport default mountFigure;"


@cache
def style() -> str:
    """The module's CSS; every rule is below ``.nv-view``'s own names."""
    return read_css(BROWSER / "linked.css")


def read_css(path: Path) -> str:
    """The style sheet without unnecessary spaces and line ends."""
    text = "".join(map(str.strip, path.read_text(encoding="utf-8").splitlines()))
    for sign in ("{", "}", ";", ":", ","):
        text = text.replace(f"{sign} ", sign)
    return text.replace(" {", "{")


@cache
def plotly_js() -> bytes:
    """The minified plotly.js: its small bundle, or without it the script of the installed plotly package."""
    try:
        return gzip.decompress(CARTESIAN.read_bytes())
    except FileNotFoundError:
        return (files("plotly") / "package_data" / "plotly.min.js").read_bytes().replace(*MAPS)


def _sources(path: Path, importers: tuple[Path, ...], found: dict[Path, str]) -> dict[Path, str]:
    """Adds the module and everything that it imports to ``found``, each module after the modules that it imports; returns ``found``."""
    if path in importers:
        circle = " -> ".join(each.name for each in (*importers[importers.index(path) :], path))
        raise BundleError(f"the imports form a circle: {circle}.")
    if path in found:
        return found
    if not path.is_file():
        raise BundleError(f"{importers[-1].name if importers else 'the bundle'} imports {path}, which does not exist.")
    text = path.read_text(encoding="utf-8")
    for _names, source in _imports(text):
        if source.startswith("."):
            _sources(_imported(path, source), (*importers, path), found)
    found[path] = text
    return found


def _imported(path: Path, source: str) -> Path:
    """The file that the module imports. Much faster than ``Path.resolve``, which asks the system about each folder."""
    return Path(normpath(path.parent / source))


def _imports(source: str) -> Iterator[tuple[list[str], str]]:
    """The names of each import, and where they come from."""
    for found in IMPORT.finditer(source):
        yield (found["names"] or "").replace(" ", "").split(",") if found["names"] else [], found["source"]


def _check(modules: dict[Path, str]) -> None:
    entry, owners = list(modules)[-1], {name: Path(origin) for origin, names in VIRTUAL.items() for name in names}
    exported = {path: EXPORTED.findall(source) for path, source in modules.items()}
    for path, source in modules.items():
        rest = EXPORT.sub("", IMPORT.sub("", DEFAULT.sub("", source) if path == entry else source))
        if found := re.search(r"^(import|export)\b.*", rest, re.MULTILINE):
            raise BundleError(f"{path.name}: {found[0]!r} is a form of import or export that is not bundled.")
        for name in NAME.findall(source):
            if name in owners:
                raise BundleError(f"{path.name} and {owners[name].name} both define {name}; rename one.")
            owners[name] = path
        for names, origin in _imports(source):
            known = exported[_imported(path, origin)] if origin.startswith(".") else VIRTUAL.get(origin, ())
            for name in names:
                if name not in known:
                    raise BundleError(f"{path.name} imports {name} from {origin}, which does not export it.")


@cache
def _themes() -> str:
    themes = {name: vars(colors) for name, colors in THEMES.items()}
    return f"const THEMES = {json.dumps(themes, separators=(',', ':'))};"


def _catalogue(script: str, language: str) -> str:
    """The translations of the messages in the script, from the same catalogue as Python's."""
    catalogue, found = translations(language), dict[str, str | list[str]]()
    formula = re.search(r"nplurals=(\d+);\s*plural=([^;]+)", catalogue.info().get("plural-forms", ""))
    plural = gettext.c2py(formula[2] if formula else "n != 1")
    forms = range(int(formula[1]) if formula else 0)
    samples = [
        next((n for n in range(1001) if plural(n) == form), 0) for form in forms
    ]  # one number for each plural form
    for match in MESSAGE.finditer(script):
        one, many = (part and json.loads(part) for part in match.groups())
        if match[0].startswith("ngettext"):
            plurals = [catalogue.ngettext(one, many, n) for n in samples]
            if not {*plurals} <= {one, many}:
                found[one] = plurals
        elif (text := catalogue.gettext(one)) != one:
            found[one] = text
    rule = f"Number({formula[2]})" if formula else "Number(n !== 1)"
    tag, direction = (shown := find_language(language)).tag, shown.direction
    about = {"tag": tag, "direction": direction, "decimalComma": language in DECIMAL_COMMA}
    named = f"const LANGUAGE = {json.dumps(about)};"
    return f"const TRANSLATIONS = {json.dumps(found)};\nconst pluralForm = (n) => {rule};\n{named}"
