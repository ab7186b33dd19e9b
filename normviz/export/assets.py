"""The scripts of pages, which tools/bundles.py makes of the package's TypeScript, and the style of pages and of their figures.

A script gets its colors and its messages from Python, so that it is the same in all languages. Here is also plotly.js, which is a script of its own.
"""

import gettext
import gzip
import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from normviz.figures.palette import THEMES
from normviz.texts.languages import find_language
from normviz.texts.messages import DECIMAL_COMMA, ENGLISH, translations

PACKAGE = Path(__file__).parents[1]
BROWSER, BUNDLES = PACKAGE / "figures" / "browser", PACKAGE / "bundles"
PARTS, LESSONS = PACKAGE / "parts" / "browser", PACKAGE / "lessons"

# The small bundle of plotly.js has all that we draw. A wheel and the image have it; in a checkout, tools/plotlyjs.py fetches it.
PLOTLY_VERSION = "4.1.1"
PLOTLY_SHA384 = "zc4SwKObGL/W0M3RUI09UPWjlgIZHfbwMgcZO6713mRh78tfUmIQKhzCyE2LIiUg"
CARTESIAN = PACKAGE / "figures" / "plotlyjs" / f"plotly-cartesian-{PLOTLY_VERSION}.min.js.gz"
# That of Plotly 5.24.0 would fetch a style for maps, which we do not draw. A link to "" fetches nothing.
MAPS = b"https://unpkg.com/maplibre-gl@^4.3.2/dist/maplibre-gl.css", b""


@cache
def bundle(name: str, language: str = ENGLISH) -> str:
    """A script in a language, as an ES module whose first line has the colors and the messages."""
    script = (BUNDLES / f"{name}.js").read_text(encoding="utf-8")
    return constants(tuple(_messages()[name]), language) + script[script.index("\n") :]


def classic(script: str) -> str:
    """A script as a classic one, because browsers do not load modules from a disk. It must not export anything.

    >>> print(classic("mount();"))
    (() => { "use strict"; mount();
    })();
    """
    return f'(() => {{ "use strict"; {script}\n}})();\n'


@cache
def constants(messages: tuple[str | tuple[str, str], ...], language: str) -> str:
    """What each script finds in front of it (``globals.d.ts``): the colors, and the translations from the same catalogue as Python's."""
    themes = {name: vars(colors) for name, colors in THEMES.items()}
    catalogue, reader = translations(language), find_language(language)
    formula = re.search(r"nplurals=(\d+);\s*plural=([^;]+)", catalogue.info().get("plural-forms", ""))
    about = {"tag": reader.tag, "direction": reader.direction, "decimalComma": language in DECIMAL_COMMA}
    values = {"THEMES": themes, "TRANSLATIONS": _translated(messages, catalogue, formula), "LANGUAGE": about}
    named = ",".join(
        f"{name}={json.dumps(value, ensure_ascii=False, separators=(',', ':'))}" for name, value in values.items()
    )
    return f"const {named},pluralForm=(n)=>{f'Number({formula[2]})' if formula else 'Number(n !== 1)'};"


def _translated(
    messages: tuple[str | tuple[str, str], ...], catalogue: gettext.NullTranslations, formula: re.Match[str] | None
) -> dict[str, str | list[str]]:
    """The messages with another text than in English; one with a number has a text for each plural form."""
    forms, plural = (range(int(formula[1])), gettext.c2py(formula[2])) if formula else (range(0), int)
    numbers = [next((n for n in range(1001) if plural(n) == form), 0) for form in forms]  # one of each form
    found = dict[str, str | list[str]]()
    for message in messages:
        if isinstance(message, str):
            if (text := catalogue.gettext(message)) != message:
                found[message] = text
        elif not {*(texts := [catalogue.ngettext(*message, n) for n in numbers])} <= {*message}:
            found[message[0]] = texts
    return found


@cache
def _messages() -> dict[str, list[str | tuple[str, str]]]:
    """The messages of each script."""
    named = json.loads((BUNDLES / "messages.json").read_text(encoding="utf-8"))
    return {name: [one if isinstance(one, str) else (one[0], one[1]) for one in found] for name, found in named.items()}


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


# The style of a page and of its figures, for the app, files and notebooks.


VARIABLES = ("background", "card", "text", "muted", "border", "accent", "veil")


def sheet(page: str) -> Path:
    """The style sheet of a page: it bears the name of the page's folder."""
    return LESSONS / page / f"{page}.css"


def variables(theme: str) -> str:
    """The colors of a theme as CSS variables."""
    colors = THEMES[theme]
    families = enumerate(colors.more if theme == "light" else colors.few)  # 3 times as bright or dark as the background
    named = [f"--nv-{key}:{getattr(colors, key)}" for key in VARIABLES]
    return ";".join([*named, *(f"--nv-family-{i}:{color}" for i, color in families)])


@cache
def controls_style() -> str:
    """The style of the control bar, and of a training, which a view behind a control may show."""
    inner = read_css(LESSONS / "browser" / "controls.css") + read_css(sheet("train_and_eval"))
    return f":is(.nv-doc, #nv-doc){{{inner}}}"


@cache
def share_style() -> str:
    """The style of the Share panel."""
    return f":is(.nv-doc, #nv-doc){{{read_css(LESSONS / 'share' / 'share.css')}}}"


@cache
def page_style() -> str:
    """All rules apply only inside ``.nv-doc``. The id in their selector gives them precedence over the rules of a surrounding page."""
    modes = "".join(f"&[data-mode={name}]{{color-scheme:{name};{variables(name)}}}" for name in ("light", "dark"))
    sheets = (PARTS / "page.css", sheet("models"), BROWSER / "linked.css", PARTS / "preferences.css")
    return f":is(.nv-doc, #nv-doc){{{modes}{''.join(map(read_css, sheets))}}}"


@cache
def first_style(pages: tuple[str, ...]) -> str:
    """The style of pages whose text is in the first HTML, before the script has added that of all pages."""
    light, dark = THEMES["light"], THEMES["dark"]
    named = ";".join(f"--nv-{key}:light-dark({getattr(light, key)},{getattr(dark, key)})" for key in VARIABLES)
    return f".nv-doc:not([data-mode]){{{named}}}:is(.nv-doc, #nv-doc){{{''.join(read_css(sheet(page)) for page in pages)}}}"


@cache
def exercises_style() -> str:
    """The style of the parts that set ``exercises`` of their Body: that of all pages, but for what every document has."""
    pages = sorted(path.parent.name for path in LESSONS.glob("*/page.py"))
    sheets = (sheet(page) for page in pages if page != "models" and sheet(page).is_file())
    return f":is(.nv-doc, #nv-doc){{{''.join(map(read_css, (PARTS / 'marking.css', *sheets)))}}}"
