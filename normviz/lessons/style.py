"""The style of a page and of its figures, for the app, files and notebooks."""

from functools import cache
from pathlib import Path

from normviz.figures.bundle import read_css, style
from normviz.figures.palette import THEMES

LESSONS = Path(__file__).parent
PARTS = LESSONS.parent / "parts" / "browser"
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
    inner = read_css(PARTS / "page.css") + read_css(sheet("models")) + style() + read_css(PARTS / "preferences.css")
    return f":is(.nv-doc, #nv-doc){{{modes}{inner}}}"


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
