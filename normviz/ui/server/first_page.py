"""The page as part of the first HTML, so that a reader on a slow line reads and points while Streamlit's scripts load.

Our script draws it (``first_page.js``), and removes it when the app shows the same page with its controls. It answers without a server.
"""

from urllib.parse import parse_qsl

from normviz.figures.brand import wordmark
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.parts.html import Body, data, escape
from normviz.lessons.parts.links import page_path
from normviz.scene.view import LONGEST_QUERY, Display
from normviz.texts.messages import _, cache_by_language, language
from normviz.ui.assets import component
from normviz.ui.component import data_of

MOST = 150_000  # characters of data: more would hold up the scripts of the app
KEPT = 32  # pages in memory
# The script that draws it. A page that cannot be drawn stays as it is without it.
DRAW = (
    'import("./{path}").then(({default:mount})=>mount({parentElement:document.getElementById("normviz-first"),'
    'data:JSON.parse(document.getElementById("normviz-data").textContent)})).catch(console.info)'
)


@cache_by_language(KEPT)
def first_page(name: str, query: str, embedded: bool) -> str:
    """The HTML of a page and its query; "" if the page is too large."""
    if len(query) > LONGEST_QUERY:
        return ""
    page = PAGES[name]
    view = page.view(dict(parse_qsl(query, keep_blank_values=True)))
    made, body = page_view(page, view), Body(app="")
    text = data(data_of(made, body))
    if len(text) > MOST:
        return ""
    head = "" if embedded or view.display.present else _header(name)
    title = f"<h1>{escape(page.title)} <small>{escape(page.purpose)}</small></h1>"
    heading = title if view.display == Display() and not embedded else ""
    rows = sum(bool(row.inputs) for row in made.rows)
    loading = f'<p class="nv-loading" style="--rows:{rows}">{escape(_("The controls are loading …"))}</p>'
    return (
        f'<div id="normviz-first" hidden>{head}<main>{heading}{loading if rows else ""}<div class="nv-doc nv-app"></div></main></div>\n'
        f'<script type="application/json" id="normviz-data">{text}</script>\n<script>{DRAW.replace("{path}", component(language.get()).path)}</script>\n'
    )


def page_titles() -> dict[str, str]:
    """The path and the title of each page, as HTML, in the order of the header."""
    return {page_path(name): escape(kind.title) for name, kind in PAGES.items()}


def _header(name: str) -> str:
    """The logo and the links of Streamlit's header."""
    here = page_path(name)
    links = (
        f'<a href="./{path}"{" aria-current=page" if path == here else ""}>{title}</a>'
        for path, title in page_titles().items()
    )
    return f'<header><img src="{wordmark()}" alt="normviz" height="24"><nav>{"".join(links)}</nav></header>'
