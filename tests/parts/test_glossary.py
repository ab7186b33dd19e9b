"""The glossary: its size and form, and what its sentences say about torch."""

from inspect import signature

import pytest
import torch
from torch import nn

from normviz.parts import html as module
from normviz.parts.html import Body, Word, glossary, words_in
from normviz.parts.part import Text
from normviz.texts import messages
from normviz.texts.errors import NormvizError
from tests.support.javascript import PARTS, evaluate

MOST_WORDS, LONGEST = 36, 170  # characters
ABOUT = {word.name: word.about for word in glossary()}


def test_the_glossary_is_short_and_no_form_has_two_meanings():
    assert 12 <= len(ABOUT) <= MOST_WORDS
    forms = [form.lower() for word in glossary() for form in word.forms]
    assert len(forms) == len(set(forms))
    assert {name: len(about) for name, about in ABOUT.items() if len(about) > LONGEST} == {}
    assert all(about.endswith(".") and about.count(". ") <= 1 for about in ABOUT.values())


def test_words_are_found_whole_in_any_form_and_the_data_of_a_page_has_those_of_its_parts():
    assert [word.name for word in words_in("Two Axes, the eps and a gammatone.")] == ["axis", "eps"]
    body = Body()
    body.keyed([Text("a **peer**"), Text("`x`")])
    assert [term.forms for term in body.terms()] == [("peer", "peers")]
    assert len(body.terms(whole=True)) == len(ABOUT)


FOUND = "[...args[0].matchAll(formsPattern(args[1]))].map(([word]) => word)"


@pytest.mark.parametrize(
    ("text", "forms", "found"),
    [
        ("the axes, an axis; taxis", ["axis", "axes"], ["axes", "axis"]),
        ("taxis, Axis", ["axis"], ["Axis"]),
        ("eps = eps(1) x.eps eps", ["eps"], ["eps", "eps"]),
        ("el eje único, ejército, el ejé", ["eje"], ["eje"]),
        ("保留的轴和gamma的轴，gammas", ["轴", "保留的轴", "gamma"], ["保留的轴", "gamma", "轴"]),
    ],
)
def test_words_are_whole_in_languages_with_and_without_spaces(text, forms, found, monkeypatch):
    assert evaluate(FOUND, text, forms, entry=PARTS / "glossary.ts") == found
    glossary = tuple(Word((form,), "") for form in forms)
    monkeypatch.setattr(module, "glossary", lambda: glossary)
    assert {word.name for word in words_in(text)} == {form for form in forms if form in map(str.lower, found)}


def test_an_entry_without_its_paragraph_raises_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "glossary.md").write_text("## axis, axes\n\nA dimension.\n\n## eps\n")
    module._read_glossary.cache_clear()
    with pytest.raises(NormvizError, match=r"en/glossary\.md must have '## word, other form' and a paragraph below it"):
        glossary()
    (tmp_path / "en" / "glossary.md").write_text("## axis, axes\n\nA\ndimension.\n")
    assert glossary() == (Word(("axis", "axes"), "A dimension."),)
    module._read_glossary.cache_clear()


def test_the_sentences_agree_with_torch():
    x = torch.tensor([[1.0, 3.0], [5.0, 11.0]])
    layer = nn.BatchNorm1d(2)
    y = layer(x)
    assert torch.allclose(y, (x - x.mean(0)) / (x.var(0, correction=0) + layer.eps).sqrt())  # biased variance, eps
    assert torch.allclose(layer.running_mean, 0.1 * x.mean(0))  # momentum
    assert torch.allclose(layer.running_var, 0.9 + 0.1 * x.var(0))  # unbiased variance: x.var()
    assert {name for name, _ in layer.named_buffers()} >= {"running_mean", "running_var"}  # buffer
    assert {name for name, _ in layer.named_parameters()} == {"weight", "bias"}  # gamma, beta
    kept = layer.eval().running_mean.clone()
    assert torch.equal(layer(x)[:1], layer(x[:1]))  # eval mode
    assert torch.equal(layer.running_mean, kept)
    assert {"eps", "momentum", "affine"} <= set(signature(nn.BatchNorm1d).parameters)
    assert all("elementwise_affine" in signature(kind).parameters for kind in (nn.LayerNorm, nn.RMSNorm))
    squares = x.square().mean(1, keepdim=True)
    assert torch.allclose(nn.RMSNorm(2, eps=1.0)(x), x / (squares + 1.0).sqrt())  # mean square, eps
    cells = torch.arange(6).reshape(2, 3)
    assert cells.stride() == (3, 1)  # stride
    assert cells.flatten().tolist() == [*cells[0].tolist(), *cells[1].tolist()]  # row-major
    row, column = torch.arange(3), torch.arange(2)[:, None]
    assert torch.equal(cells - row, cells - row.repeat(2, 1))  # broadcast: an axis that it lacks
    assert torch.equal(cells - column, cells - column.repeat(1, 3))  # and one of size 1
