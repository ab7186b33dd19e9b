"""The summary at the end of the core path: where it stands, and that each of its sentences is true of the layers in its picture."""

import pytest
import torch

from normviz.analysis.description import describe
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.questions.facts import module_of, normal
from normviz.lessons.questions.page import CORE, QUESTIONS, SUMMARY
from normviz.parts.html import Body
from normviz.parts.part import AfterAnswer, Links, Panels

SHAPE = (2, 4, 3, 3)
LAYERS = ("BatchNorm2d(4)", "LayerNorm([4, 3, 3])", "InstanceNorm2d(4)", "GroupNorm(2, 4)")
X = normal(*SHAPE)


def shown(key: str):
    return page_view(PAGES["questions"], PAGES["questions"].view(f"q={key}"))


def test_the_last_question_of_the_path_ends_in_the_summary_with_its_picture_and_leads_to_practice():
    page = shown(CORE[-1])
    (summary,) = (part for part in page.parts if isinstance(part, AfterAnswer))
    assert [type(part) for part in summary.parts][-1] is Panels
    assert SUMMARY.split("layers=")[1].split("&")[0] == ";".join(LAYERS).replace(" ", "")
    (*_before, last, _plan) = (part for part in page.parts if isinstance(part, Links))
    assert [(link.page, link.query) for link in last.links] == [("practice", "")]
    html = Body(app="").html(page.parts)
    assert html.index("</details>") < html.index('<section class="nv-after-answer">')


@pytest.mark.parametrize("key", [key for key in QUESTIONS if key != CORE[-1]][::9])
def test_other_questions_have_no_summary(key):
    assert not [part for part in shown(key).parts if isinstance(part, AfterAnswer)]


def test_it_says_which_elements_share_a_mean_and_a_gamma():
    found = {text: describe(text, SHAPE) for text in LAYERS}
    reduced = {text: one.norm.pattern.reduced for text, one in found.items()}
    assert reduced["BatchNorm2d(4)"] == ("n", "h", "w")
    assert reduced["LayerNorm([4, 3, 3])"] == ("c", "h", "w")
    assert reduced["InstanceNorm2d(4)"] == ("h", "w")
    assert found["GroupNorm(2, 4)"].counts.elements_per_statistic == 2 * 3 * 3
    gammas = [one.counts.gamma_shape for one in found.values()]
    assert gammas == [(4,), (4, 3, 3), None, (4,)]


@pytest.mark.parametrize("layer", LAYERS)
def test_batchnorm_alone_needs_a_batch_and_differs_in_eval(layer):
    norm, other = module_of(layer), X.clone()
    other[1] += normal(4, 3, 3, seed=1)
    with torch.no_grad():
        in_batch, with_another = norm(X)[0], norm(other)[0]
        differs = not torch.equal(norm.eval()(X), norm.train()(X))
    is_batchnorm = layer.startswith("BatchNorm")
    assert torch.allclose(in_batch, with_another, atol=1e-6) is not is_batchnorm
    assert differs is is_batchnorm


def test_the_running_variance_divides_by_one_less():
    norm = module_of("BatchNorm2d(4, momentum=1.0)")
    norm(X)
    assert torch.allclose(norm.get_buffer("running_var"), X.var((0, 2, 3), correction=1))
    assert not torch.allclose(norm.get_buffer("running_var"), X.var((0, 2, 3), correction=0), atol=1e-3)


@pytest.mark.parametrize("layer", LAYERS)
def test_all_four_divide_by_the_number_of_elements(layer):
    dims = {"BatchNorm2d(4)": (0, 2, 3), "LayerNorm([4, 3, 3])": (1, 2, 3), "InstanceNorm2d(4)": (2, 3)}.get(layer)
    x = X if dims else X.reshape(2, 2, 2, 3, 3)
    dims = dims or (2, 3, 4)
    var = x.var(dims, correction=0, keepdim=True)
    by_hand = ((x - x.mean(dims, keepdim=True)) / torch.sqrt(var + 1e-5)).reshape(SHAPE)
    assert torch.allclose(by_hand, module_of(layer)(X).detach(), atol=1e-5)
