"""The table of ``nv.norms`` in a notebook: its rows lead to their views."""

import re

import pytest
import torch
from torch import nn

import normviz as nv
from tests.measuring.models.zoo import Llama, OverChannels, Twice, images
from tests.support.needs import cases_in_torch

APP = "https://example.org/lab"


def table(model, *shape):
    return nv.norms(model, torch.zeros(shape))


@cases_in_torch
@pytest.mark.parametrize(
    ("model", "shape", "title"),
    [
        (nn.BatchNorm2d(8).eval(), (2, 8, 4, 4), "BatchNorm2d(8).eval()"),
        (images(OverChannels(8)), (2, 3, 4, 5), "Norm('n c h w -> n h w', 'c', eps=1e-06)"),
        (Llama(96), (1, 7, 7, 96), "RMSNorm([96], eps=1e-06)"),
        (Llama(4096), (1, 2048, 4096), "RMSNorm([4096], eps=1e-06)"),
    ],
)
def test_a_row_opens_its_view(monkeypatch, model, shape, title):
    monkeypatch.setenv("NORMVIZ_URL", f"{APP}/")
    found = table(model, *shape)
    (address,) = re.findall(r'href="([^"]*)"', found._repr_html_())
    assert address.startswith(f"{APP}/?shape=")
    assert nv.open(address.replace("&amp;", "&").replace("&#x27;", "'").replace("&gt;", ">")).title.startswith(title)
    assert found.explore(0).title.startswith(title)
    assert f"on {found[0].shape}" in found.explore(0).title


def test_half_a_surrogate_pair_in_a_name_is_replaced():
    model = nn.Sequential()
    model.add_module("a\ud800", nn.LayerNorm(4))
    assert "a\ufffd" in table(model, 2, 4)._repr_html_()


def test_without_an_app_the_table_says_how_to_open_a_row(monkeypatch):
    monkeypatch.delenv("NORMVIZ_URL", raising=False)
    html = table(Twice(), 2, 5, 8)._repr_html_()
    assert "href" not in html
    assert "norms.explore(0) shows the linked view of the first row." in html


def test_the_table_is_light_and_has_all_rows_and_notes():
    model = nn.Sequential(*(nn.GroupNorm(8, 8) for layer in range(100)), nn.Linear(3, 3))
    html = table(model, 2, 8, 4)._repr_html_()
    assert html.count("<tr>") == 101
    assert len(html) < 100_000
    assert "Each group has one channel" in html
    assert "The forward pass failed in 100 (Linear)" in html
    grouped = table(model, 2, 8, 4).grouped()
    assert grouped._repr_html_().count("<tr>") == 2
    assert "* x 100" in grouped._repr_html_()


def test_names_of_modules_are_text():
    model = nn.ModuleDict({"<b>": nn.LayerNorm(8)})
    model.forward = lambda x: model["<b>"](x)
    assert "&lt;b&gt;" in table(model, 2, 8)._repr_html_()
