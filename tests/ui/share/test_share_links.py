"""The texts of Share: they describe the view completely, and hostile text stays text in them."""

import ast
import re
from typing import Any
from urllib.parse import unquote

import pytest

import normviz as nv
from normviz.lessons.compare.page import layers_of
from normviz.lessons.pages import PAGES, view_of_link
from normviz.scene.view import link, read_display
from tests.support.javascript import LESSONS, evaluate
from tests.support.pages import open_page
from tests.support.shown import page_data
from tests.support.snippets import HOSTILE, pairs, read_markdown, tag

APP = "https://example.org/lab/"
PATTERN = "Norm('n (g k) h w -> n g','c',sizes={'g':3})"
EVERY_TEXT = """(() => {
  const [app, view, choices] = args, link = viewUrl(app, view, choices), address = embedUrl(app, view, choices);
  return { link, address, markdown: markdown(link, view.title), notebook: notebook(view, choices, view.hint),
    iframe: iframe(address, view.title, null, [[320, 900], [700, 500]]), file: exportUrl(app, view, choices) };
})()"""


def run(expression: str, *arguments: Any) -> Any:
    return evaluate(expression, *arguments, entry=LESSONS / "share/links.ts")


def texts(view: dict[str, Any], **choices: str) -> dict[str, str]:
    """Every text of the view."""
    return run(EVERY_TEXT, APP, view, choices)  # type: ignore[no-any-return]


def shared(page: str, query: dict[str, str]) -> dict[str, Any]:
    """What the page sends to Share."""
    return page_data(open_page(page, query))["share"]  # type: ignore[no-any-return]


def link_in_cell(cell: str) -> str:
    """The link that a notebook cell opens."""
    call = ast.parse(cell).body[-1].value  # type: ignore[attr-defined]
    assert ast.unparse(call.func) == "nv.open"
    return ast.literal_eval(call.args[0])  # type: ignore[no-any-return]


VIEWS = [
    ("explore", {"layer": "LayerNorm([3,4,4])"}),
    ("explore", {"layer": PATTERN, "at": "1,2,0,1", "shape": "2,3,4,4"}),
    ("compare", {"shape": "2,3,4,4", "layers": "BatchNorm2d(3);Norm('n c h w -> n h w','c')"}),
    ("step_by_step", {"layer": "RMSNorm([3,4,4])", "shape": "2,3,4,4", "step": "3"}),
    ("numerics", {"show": "eps", "spread": "1e-08"}),
]


@pytest.mark.parametrize(("page", "query"), VIEWS)
def test_every_text_describes_the_view(page: str, query: dict[str, str]) -> None:
    shown, view = PAGES[page], shared(page, query)
    whole = PAGES[page].whole_query(view_of_link(shown, query))
    assert view_of_link(shown, whole) == view_of_link(shown, query)
    path, readable = page, link(whole)
    found = texts(view, theme="dark")
    assert found["link"] == f"{APP}{path}{readable}"
    title, address = read_markdown(found["markdown"])
    assert (title, unquote(address)) == (view["title"], unquote(found["link"]))
    assert link_in_cell(found["notebook"]) == f"/{path}{readable}"
    assert pairs(found["file"]) == {"page": page} | whole
    assert found["file"].startswith(f"{APP}export?")
    assert pairs(found["address"]) == whole | {"embed": "true", "embed_options": "dark_theme"}
    assert found["address"].startswith(f"{APP}{path}?")
    iframe = tag(found["iframe"])
    assert (iframe["src"], iframe["title"]) == (found["address"], view["title"])
    assert (iframe["loading"], iframe["allow"], iframe["width"]) == ("lazy", "clipboard-write", "100%")


DEFAULTS = [
    ("explore", "/explore?shape=2,4,3,5&layer=LayerNorm([4,3,5])&data=normal&seed=0&params=init&at=1,3,0,4"),
    ("step_by_step", "/step_by_step?shape=2,4,3,5&layer=LayerNorm([4,3,5])&data=normal&seed=0&params=init&at=1,3,0,4&step=1"),
    ("numerics", "/numerics?show=variance&dtype=float32&distance=1e6"),
    ("questions", "/questions"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "address"), DEFAULTS)
def test_the_link_of_a_default_view_names_the_view(page: str, address: str) -> None:
    """So it stays the same when a later version has other defaults."""
    assert link_in_cell(texts(shared(page, {}))["notebook"]) == address
    assert nv.open(address).url() == address


def test_the_link_of_a_default_comparison_names_its_layers() -> None:
    layers = dict(shared("compare", {})["query"])["layers"]
    assert len(layers.split(";")) == len(layers_of(view_of_link(PAGES["compare"], ""))[0]) > 1
    assert " " not in layers


def test_a_question_is_shared_without_the_answer_and_the_tensor_of_whoever_shares_it() -> None:
    view = shared("questions", {"q": "s0", "guess": "one", "shape": "4,6"})
    assert (view["query"], view["guess"]) == ([["q", "s0"]], "one")


def test_sharing_a_shared_link_gives_the_same_link() -> None:
    page, query = VIEWS[1]
    address = texts(shared(page, query))["link"]
    assert texts(shared(page, pairs(address)))["link"] == address


@pytest.mark.parametrize("text", [HOSTILE, "]( [ ) \\ ](", "*a* _b_ ~c~ # - + |", "&quot;&#39;&amp;", "ä 😀"])
def test_hostile_text_stays_text(text: str) -> None:
    view = {"page": "explore", "query": [["layer", text]], "title": text, "hint": ""}
    found = texts(view, caption=text)
    for name in ("link", "address", "file"):
        assert pairs(found[name]).items() >= {"layer": text, "caption": text}.items()
        assert not re.search(r'[\s"<`\\^{|}]', found[name])
    assert read_display(pairs(found["link"]))[0].caption == text
    iframe = tag(found["iframe"])
    assert set(iframe) == {"src", "title", "width", "height", "loading", "allow", "style"}
    assert (iframe["src"], iframe["title"]) == (found["address"], text)
    title, address = read_markdown(found["markdown"])
    assert (title, pairs(address)) == (text, pairs(found["link"]))
    assert pairs(link_in_cell(found["notebook"])) == pairs(found["link"])


def test_a_notebook_cell_tells_how_to_use_the_reader_s_own_x() -> None:
    view = {"page": "explore", "query": [], "title": "", "hint": 'nv.explain("LayerNorm(4)", x)'}
    cell = 'import normviz as nv\n\nnv.open("/explore")'
    assert texts(view)["notebook"] == f'{cell}\n# With your own x: nv.explain("LayerNorm(4)", x)'
    assert texts(view | {"hint": ""})["notebook"] == cell


ROOTS = [
    ("/", "explore", "/"),
    ("/compare", "compare", "/"),
    ("/lab", "home", "/lab/"),
    ("/lab/", "home", "/lab/"),
    ("/lab/explore", "explore", "/lab/"),
    ("/lab/compare", "compare", "/lab/"),
    ("/lab/compare/", "compare", "/lab/"),
    ("/compare/compare", "compare", "/compare/"),
]


@pytest.mark.parametrize(("path", "page", "root"), ROOTS)
def test_the_root_of_the_app_is_found_from_the_path_of_a_page(path: str, page: str, root: str) -> None:
    assert run("rootOf(...args)", path, page) == root


GROUPS = [
    {"names": [{"name": "layer"}, {"name": "data"}]},
    {"names": [{"name": "text"}, {"name": "panels", "figure": True}]},
]
HIDDEN = [
    ("", ""),
    ("data", "data"),
    ("data layer", "controls"),
    ("panels layer data", "controls,panels"),
    ("text data", "data,text"),
    ("layer data text", "all"),
    ("text panels layer data", "all,panels"),
]


@pytest.mark.parametrize(("names", "hide"), HIDDEN)
def test_the_shortest_hide_is_written(names: str, hide: str) -> None:
    assert run("hideText(args[0], new Set(args[1]))", GROUPS, names.split()) == hide


HEIGHTS = [
    # measured heights by width; the breakpoints: a height, and the width below which it is used (None: at all larger widths)
    ([[320, 900]], [[None, 900]]),
    ([[320, 500], [700, 500]], [[None, 500]]),
    ([[320, 549], [700, 500]], [[None, 549]]),  # at most a tenth higher
    ([[320, 551], [700, 500]], [[700, 551], [None, 500]]),
    ([[320, 900], [400, 800], [700, 500]], [[400, 900], [700, 800], [None, 500]]),
    ([[320, 600], [400, 900], [700, 500]], [[700, 900], [None, 500]]),
]


@pytest.mark.parametrize(("heights", "breakpoints"), HEIGHTS)
def test_few_heights_suffice_at_every_width(heights: list[list[int]], breakpoints: list[list[int | None]]) -> None:
    assert run("breakpointsOf(args[0])", heights) == breakpoints
    style = tag(run("iframe('/', '', null, args[0])", heights))["style"]
    found = re.findall(r"min\((\d+)px, \((\d+)px - 100cqw\) \* 9999\)", style)
    assert [[int(below), int(height)] for height, below in found][::-1] == (
        breakpoints[:-1] if len(breakpoints) > 1 else []
    )
    assert tag(run("iframe('/', '', '320', args[0])", heights)) | {"src": "", "title": ""} == {
        "src": "", "title": "", "width": "320", "height": str(max(height for _, height in heights)),
        "loading": "lazy", "allow": "clipboard-write", "style": "border: 0",
    }  # fmt: skip


def test_the_snippet_of_an_exercise_ends_in_one_line_of_script() -> None:
    plain, snippet = (run("iframe('/', '', null, args[0], args[1])", HEIGHTS[3][0], grows) for grows in (False, True))
    before, _, script = snippet.partition("\n")
    assert before == plain
    assert re.fullmatch(r"<script>[^\n]*</script>", script)
    assert "script" not in plain
