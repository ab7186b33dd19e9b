"""What a notebook file keeps of the widget: HTML with precomputed views, and without scripts the sentence and a table."""

import json
import re
import sys
from types import SimpleNamespace

import IPython
import pytest
import torch

import normviz as nv
from tests.support.structure import Structure, answers_of

VIEW, HTML = "application/vnd.jupyter.widget-view+json", "text/html"
X = torch.arange(96.0).reshape(2, 3, 4, 4)


@pytest.fixture(autouse=True)
def _an_output_before(monkeypatch):
    """Another output of the notebook carries plotly.js."""
    monkeypatch.setattr("normviz.export.output._first", ("", ""))


def bundle_of(widget):
    """The forms of the output, without their metadata."""
    found = widget._repr_mimebundle_()
    return found[0] if isinstance(found, tuple) else found


@pytest.fixture
def in_jupyter(monkeypatch):
    """A kernel that a Jupyter server started, with the names of the reader."""
    names = {}
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(user_ns=names))
    return names


def test_jupyterlab_gets_html_that_names_the_widget(in_jupyter):
    widget = nv.live("LayerNorm(4)", X)
    bundle = bundle_of(widget)
    assert set(bundle) == {"text/plain", HTML}
    assert f'"widget":"{widget.key}"' in bundle[HTML]
    assert '"answers":"' in bundle[HTML]


@pytest.mark.parametrize("host", ["VS Code", "Colab", "another"])
def test_other_front_ends_get_the_view_of_the_widget_too(in_jupyter, monkeypatch, host):
    if host == "VS Code":
        in_jupyter["__vsc_ipynb_file__"] = "notebook.ipynb"
    elif host == "Colab":
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    else:
        monkeypatch.delenv("JPY_PARENT_PID")
    bundle = bundle_of(nv.live("LayerNorm(4)", X))
    assert set(bundle) == {"text/plain", HTML, VIEW}


def test_the_output_keeps_other_layers_on_the_readers_own_x(in_jupyter):
    html = bundle_of(nv.live("LayerNorm(4)", X))[HTML]
    assert "BatchNorm2d(3)" in json.dumps(answers_of(html))
    assert "95" in re.sub(r"<[^>]+>", " ", html)
    assert len(html) < 400_000


def test_a_large_x_keeps_a_single_view(in_jupyter):
    html = bundle_of(nv.live("LayerNorm(4)", torch.ones(300, 4)))[HTML]
    assert '"answers"' not in html
    assert len(html) < 350_000


def test_the_output_shows_the_current_view(in_jupyter):
    widget = nv.live("LayerNorm(4)", X)
    widget.layer = "BatchNorm2d(3)"
    assert "3 means and 3 variances" in bundle_of(widget)["text/plain"]


def without_scripts(html):
    """The HTML as GitHub shows it: without scripts and styles."""
    return re.sub(r"<(script|style|noscript)\b.*?</\1>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("LayerNorm([3, 4, 4])", X), ["2 means and 2 variances", "n c h w → n", "48 + 48 = 96"]),
        (("steps", "LayerNorm(4)", X), ["24 means and 24 variances"]),
        (("compare", ["BatchNorm2d(3)", "LayerNorm(4)"], X), ["BatchNorm2d(3)", "n c h w → c"]),
    ],
)
def test_without_scripts_there_is_the_sentence_and_a_table(in_jupyter, given, words):
    shown = Structure(without_scripts(bundle_of(nv.live(*given))[HTML]))
    text = " ".join(shown.text.split())
    assert [word for word in words if word not in text] == []
    assert "table" in {tag[0] for tag in shown.tags}
    assert not {"script", "style"} & {tag[0] for tag in shown.tags}


def test_an_output_can_be_written_as_a_file():
    widget = nv.live("LayerNorm(4)", X)
    assert widget.output().to_html(plotlyjs="plotly.min.js").startswith("<!doctype html>")
