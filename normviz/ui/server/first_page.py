"""The page as part of the first HTML, so that a reader on a slow line reads and points while Streamlit's scripts load.

Our script draws it (``first_page.ts``), and removes it when the app shows the same page with its controls. It answers without a server.
"""

from urllib.parse import parse_qsl

from normviz.export.assets import first_style
from normviz.figures.palette import wordmark
from normviz.lessons.page import Page
from normviz.lessons.pages import GROUPS, PAGES, leads_to, page_data, page_view, view_of_link, view_tabs
from normviz.parts.html import Body, data, escape
from normviz.parts.part import page_path
from normviz.parts.titles import LEARN, LOOK_UP, TEACH
from normviz.scene.view import LONGEST_QUERY, Display, link
from normviz.texts.messages import _, cache_by_language, language
from normviz.ui.assets import component
from normviz.ui.load import turn
from normviz.ui.page import data_of

MOST = 200_000  # characters of data, a fifth when compressed: more would hold up the scripts of the app
KEPT = 32  # pages in memory
# The script that draws it. A page that cannot be drawn stays as it is without it. Streamlit's scripts are fetched next (``index.py``): on a
# slow line, beside ours, they would take most of it, and the page would answer twice as late.
DRAW = (
    "{const script=import('./{path}'),follow=()=>document.head.append(document.getElementById('normviz-app').content);"
    "script.then(follow,follow);script.then(({default:mount})=>mount({parentElement:document.getElementById('normviz-first'),"
    "data:JSON.parse(document.getElementById('normviz-data').textContent)})).catch(console.info)}"
)


@cache_by_language(KEPT)
def first_page(name: str, query: str, embedded: bool) -> str:
    """The HTML of a page and its query; "" if the page is too large, or the app will go to another one.

    Raises Busy while another large tensor is computed.
    """
    if len(query) > LONGEST_QUERY or redirect(name, query):
        return ""
    page = PAGES[name]
    view = view_of_link(page, dict(parse_qsl(query, keep_blank_values=True)))
    with turn(view.scene.shape, patience=0):
        made, body = page_view(page, view), Body(app="." if page.in_first_html else "")
        drawn = page_data(page, body, made.parts)
    text = data(data_of(made, drawn, embedded))
    if len(text) > MOST:
        return ""
    head = "" if embedded or view.display.present else _header(page)
    title, small = map(escape, page.heading)
    is_headed = view.display == Display() and not embedded
    heading = f"<h1>{title}{small and f' <small>{small}</small>'}</h1>{view_tabs(page, made.view)}" if is_headed else ""
    rows = sum(bool(row.inputs) for row in made.rows)
    loading = f'<p class="nv-loading" style="--rows:{rows}">{escape(_("The controls are loading …"))}</p>'
    hidden, parts = ("", _text(drawn.parts)) if page.in_first_html else (" hidden", "")
    return (
        f'<div id="normviz-first"{hidden}>{head}<main>{heading}{loading if rows else ""}<div class="nv-doc nv-app">{parts}</div></main></div>\n'
        f'<script type="application/json" id="normviz-data">{text}</script>\n<script>{DRAW.replace("{path}", component(language.get()).path)}</script>\n'
    )


def _text(parts: list[tuple[str, str]]) -> str:
    """The page as HTML: its text, its links and its field are there before the script has drawn the figures."""
    divs = "".join(f'<div class="nv-part" data-key="{key}">{html}</div>' for key, html in parts)
    pages = tuple(page.name for page in PAGES.values() if page.in_first_html)
    return f'<style>{first_style(pages)}</style><div class="nv-page">{divs}</div>'


def redirect(name: str, query: str) -> str:
    """The address of the page that the app goes to, relative to this one; "" if it stays.

    >>> redirect("explore", "tour=train-and-eval&stop=3"), redirect("explore", "tour=train-and-eval&stop=1")
    ('./train_and_eval?tour=train-and-eval&stop=3', '')
    """
    given = dict(parse_qsl(query, keep_blank_values=True))
    page, wanted = leads_to(name, given) if name in PAGES else (None, given)
    if page is None or (page.name, wanted) == (name, given):
        return ""
    return f"./{page_path(page.name)}{link(wanted) if wanted != given else f'?{query}'}"


def page_titles() -> dict[str, str]:
    """The path and the title of each page, as HTML, in the order of the header."""
    return {page_path(name): escape(kind.title) for name, kind in PAGES.items()}


def _header(shown: Page) -> str:
    """The logo and the groups of pages of Streamlit's header."""
    groups = "".join(_group(group, shown) for group in (LEARN, LOOK_UP, TEACH))
    return f'<header><a href="./"><img src="{wordmark()}" alt="normviz" height="24"></a><nav>{groups}</nav></header>'


def _group(group: str, shown: Page) -> str:
    links = "".join(
        f'<a href="./{page_path(page.name)}"{" aria-current=page" if page is shown else ""}>{escape(page.title)}</a>'
        for page in GROUPS[group]
    )
    mark = " aria-current=true" if group == shown.group else ""
    return f'<details name="normviz-group"><summary{mark}>{escape(_(group))}</summary><div>{links}</div></details>'
