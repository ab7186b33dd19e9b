"""An output in a notebook: HTML and plain text, and which output carries plotly.js."""

import sys
from types import SimpleNamespace

import pytest
import torch

import normviz as nv
from normviz.texts.errors import NormvizError

CARRIED = 'class="nv-carried"'


@pytest.fixture(autouse=True)
def reset_outputs(monkeypatch):
    """Make the next output the first one of the process."""
    monkeypatch.delenv("NORMVIZ_PLOTLYJS", raising=False)
    monkeypatch.delenv("NORMVIZ_URL", raising=False)
    monkeypatch.setattr("normviz.export.output._first", None)


def html_of(output=None):
    return (output or nv.explore("LayerNorm(4)", (2, 4)))._repr_mimebundle_()["text/html"]


def test_it_has_an_html_and_a_plain_form():
    bundle = nv.explore("LayerNorm([3, 4, 4])")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"].startswith('<div class="nv-doc"')
    assert "<html" not in bundle["text/html"]
    for words in ("n c h w → n", "2 groups of 48", "48 + 48 = 96", "nn.LayerNorm([3, 4, 4])"):
        assert words in bundle["text/plain"]


def test_an_explanation_is_displayed_as_its_output():
    e = nv.explain("LayerNorm(4)", torch.ones(2, 4))
    assert e._repr_mimebundle_()["text/plain"] == str(e.output())
    assert html_of(e).startswith('<div class="nv-doc"')


def test_only_the_first_output_carries_plotly_js():
    sizes = [len(html_of()) for _ in range(4)]
    assert sizes[0] > 800_000  # with the small plotly.js; three times as many with that of Python's Plotly
    assert all(size < 300_000 for size in sizes[1:])


def carries_in_runs(monkeypatch, *runs):
    """Whether each of the runs, given as (cell, message), carries plotly.js."""
    parent = {}
    shell = SimpleNamespace(get_parent=lambda: parent)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    found = []
    for cell, message in runs:
        parent.update({"metadata": {"cellId": cell}, "header": {"msg_id": message}})
        found.append(CARRIED in html_of())
    return found


def test_the_first_cell_carries_it_again_when_it_runs_again(monkeypatch):
    runs = [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4"), ("a", "5"), ("a", "5")]
    assert carries_in_runs(monkeypatch, *runs) == [True, False, True, False, True, False]


def test_a_front_end_without_cell_ids_gets_it_once(monkeypatch):
    assert carries_in_runs(monkeypatch, ("", "1"), ("", "2"), (None, "3")) == [True, False, False]


def test_a_shell_without_a_kernel_gets_it_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert [CARRIED in html_of() for _ in range(2)] == [True, False]


@pytest.mark.parametrize(("where", "carried"), [("inline", [True, True]), ("cdn", [False, False]), ("lib/plotly.min.js", [False, False])])  # fmt: skip
def test_plotlyjs_sets_which_outputs_carry_it(where, carried):
    output = nv.explore("LayerNorm(4)", (2, 4)).with_(plotlyjs=where)
    assert [CARRIED in html_of(output) for _ in range(2)] == carried
    assert CARRIED in html_of()  # the outputs above did not count as the first


def test_the_environment_variable_sets_it_for_all_outputs(monkeypatch):
    monkeypatch.setenv("NORMVIZ_PLOTLYJS", "inline")
    assert [CARRIED in html_of() for _ in range(2)] == [True, True]
    assert CARRIED not in html_of(nv.numerics().with_(plotlyjs="cdn"))
    monkeypatch.setenv("NORMVIZ_PLOTLYJS", "javascript:alert(1)")
    with pytest.raises(NormvizError, match=r"plotlyjs='javascript:alert\(1\)' is not a location"):
        nv.numerics()


def test_a_file_contains_plotly_js():
    output = nv.explore("LayerNorm(4)", (2, 4))
    assert CARRIED in output.to_html()
    assert CARRIED in output.to_html()
    assert output._repr_html_() == output.to_html()
    assert CARRIED not in output.to_html(plotlyjs="cdn")
    assert 'integrity":"sha384-' in output.to_html(plotlyjs="cdn")


def test_options_change_the_html():
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
        ({"hide": "code"}, "hide='code' is not an option of an output; choose theme, plotlyjs, caption or choices"),
    ],
)
def test_an_invalid_option_is_refused_at_once(options, words):
    with pytest.raises(NormvizError, match=words):
        nv.numerics().with_(**options)


def test_links_start_with_the_address_of_the_app(monkeypatch):
    output = nv.compare(["BatchNorm2d(3)", "LayerNorm([3,4,4])"])
    tensor = "shape=2,3,4,4&layer=BatchNorm2d(3)&data=normal&seed=0&params=init&at=1,2,0,3"
    query = f"?{tensor}&layers=BatchNorm2d(3);LayerNorm([3,4,4])&cards=mean"
    assert output.url() == f"/compare{query}"
    assert output.url("https://example.org/lab/") == f"https://example.org/lab/compare{query}"
    assert "Open in the app" not in output.to_html()
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab")
    assert output.url() == f"https://example.org/lab/compare{query}"
    assert "Open in the app" in output.to_html()


NO_ADDRESS = ["http://[::1/?shape=2,3", "https://[a]b/", "http://exa\u2100mple/?shape=2"]


@pytest.mark.parametrize("link", NO_ADDRESS)
def test_a_text_that_is_no_address_is_refused(link):
    with pytest.raises(NormvizError, match=r"link='http.* is not a web address; copy it again\."):
        nv.open(link)


def test_an_app_whose_address_is_none_is_named(monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "http://[::1")
    with pytest.raises(NormvizError, match=r"link='http://\[::1' is not a web address"):
        nv.open("https://example.org/")


def test_a_view_that_cannot_be_written_as_a_link_has_no_link():
    norm = nv.Norm(stats="batch channel -> batch", params="channel")
    with pytest.raises(NormvizError, match=r"no link can express this view .* to_html\(\)"):
        nv.explore(norm, (2, 4)).url()


def test_figure_returns_the_main_figure_of_the_page():
    assert nv.steps("LayerNorm(4)", (2, 4)).figure("dark").to_dict()["data"]
    with pytest.raises(NormvizError, match="has no figure, only text and tables"):
        nv.questions().figure()
