"""An output in a notebook: its two forms, and who carries plotly.js."""

import sys
from types import SimpleNamespace

import pytest
import torch

import normviz as nv
from normviz.export import notebook
from normviz.layers.errors import NormvizError

CARRIED = 'class="nv-carried"'


@pytest.fixture(autouse=True)
def first(monkeypatch):
    """The next output is the first of its process."""
    monkeypatch.delenv("NORMVIZ_PLOTLYJS", raising=False)
    monkeypatch.delenv("NORMVIZ_URL", raising=False)
    notebook.forget()
    yield
    notebook.forget()


def shown(output=None):
    return (output or nv.explore("LayerNorm(4)", (2, 4)))._repr_mimebundle_()["text/html"]


def test_it_has_an_html_and_a_plain_form():
    bundle = nv.explore("LayerNorm([3, 4, 4])")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"].startswith('<div class="nv-doc"')
    assert "<html" not in bundle["text/html"]
    for words in ("n c h w → n", "2 groups of 48", "48 + 48 = 96", "nn.LayerNorm([3, 4, 4])"):
        assert words in bundle["text/plain"]


def test_an_explanation_shows_as_its_output_does():
    e = nv.explain("LayerNorm(4)", torch.ones(2, 4))
    assert e._repr_mimebundle_()["text/plain"] == str(e.output())
    assert shown(e).startswith('<div class="nv-doc"')


def test_only_the_first_output_carries_plotly_js():
    sizes = [len(shown()) for _ in range(4)]
    assert sizes[0] > 1_500_000
    assert all(size < 150_000 for size in sizes[1:])


def in_cells(monkeypatch, *runs):
    """Which of these runs - (cell, message) - carry plotly.js."""
    parent = {}
    shell = SimpleNamespace(get_parent=lambda: parent)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    found = []
    for cell, message in runs:
        parent.update({"metadata": {"cellId": cell}, "header": {"msg_id": message}})
        found.append(CARRIED in shown())
    return found


def test_the_first_cell_carries_it_again_when_it_runs_again(monkeypatch):
    runs = [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4"), ("a", "5"), ("a", "5")]
    assert in_cells(monkeypatch, *runs) == [True, False, True, False, True, False]


def test_a_front_end_that_names_no_cells_gets_it_once(monkeypatch):
    assert in_cells(monkeypatch, ("", "1"), ("", "2"), (None, "3")) == [True, False, False]


def test_a_shell_without_a_kernel_gets_it_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert [CARRIED in shown() for _ in range(2)] == [True, False]


@pytest.mark.parametrize(("where", "carried"), [("inline", [True, True]), ("cdn", [False, False]), ("lib/plotly.min.js", [False, False])])  # fmt: skip
def test_plotlyjs_says_who_carries_it(where, carried):
    output = nv.explore("LayerNorm(4)", (2, 4)).with_(plotlyjs=where)
    assert [CARRIED in shown(output) for _ in range(2)] == carried
    assert CARRIED in shown()  # and it was not counted as the first


def test_the_environment_says_it_for_all(monkeypatch):
    monkeypatch.setenv("NORMVIZ_PLOTLYJS", "inline")
    assert [CARRIED in shown() for _ in range(2)] == [True, True]
    assert CARRIED not in shown(nv.numerics().with_(plotlyjs="cdn"))
    monkeypatch.setenv("NORMVIZ_PLOTLYJS", "javascript:alert(1)")
    with pytest.raises(NormvizError, match=r"plotlyjs='javascript:alert\(1\)' is not a location"):
        nv.numerics()


def test_a_file_stands_alone():
    output = nv.explore("LayerNorm(4)", (2, 4))
    assert CARRIED in output.to_html()
    assert CARRIED in output.to_html()
    assert output._repr_html_() == output.to_html()
    assert CARRIED not in output.to_html(plotlyjs="cdn")
    assert 'integrity":"sha384-' in output.to_html(plotlyjs="cdn")


def test_options_go_into_the_html():
    output = nv.numerics().with_(theme="dark", caption="Week <3>")
    assert 'data-theme="dark"' in output.to_html()
    assert "Week &lt;3&gt;" in output.to_html()
    assert "Week" not in output.to_html(caption="")
    assert 'data-theme="light"' in output.to_html(theme="light", full=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"theme": "blue"}, "theme='blue' is unknown; choose follow, light or dark"),
        ({"plotlyjs": "javascript:x"}, "is not a location of plotly.js; write inline, cdn"),
        ({"caption": "x" * 301}, "is too long; use at most 300 characters"),
        ({"hide": "code"}, "hide='code' is not an option of an output; choose theme, plotlyjs or caption"),
    ],
)
def test_an_option_that_is_none_is_refused_at_once(options, words):
    with pytest.raises(NormvizError, match=words):
        nv.numerics().with_(**options)


def test_links_begin_with_the_address_of_the_app(monkeypatch):
    output = nv.compare(["BatchNorm2d(3)", "LayerNorm([3,4,4])"])
    query = "?shape=2,3,4,4&layer=BatchNorm2d(3)&layers=BatchNorm2d(3);LayerNorm([3,4,4])"
    assert output.url() == f"/compare{query}"
    assert output.url("https://example.org/lab/") == f"https://example.org/lab/compare{query}"
    assert "Open in the app" not in output.to_html()
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab")
    assert output.url() == f"https://example.org/lab/compare{query}"
    assert "Open in the app" in output.to_html()


def test_a_view_that_no_link_can_say_has_none():
    norm = nv.Norm(stats="batch channel -> batch", params="channel")
    with pytest.raises(NormvizError, match=r"no link can express this view .* to_html\(\)"):
        nv.explore(norm, (2, 4)).url()


def test_its_figure_is_the_main_one_of_the_page():
    assert nv.steps("LayerNorm(4)", (2, 4)).figure("dark").to_dict()["data"]
    with pytest.raises(NormvizError, match="has no figure, only text and tables"):
        nv.questions().figure()
