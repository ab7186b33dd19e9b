"""Start here: every number and every claim of its steps, computed again."""

import json
from math import log10

import numpy as np
import pytest
import torch
from torch import nn

import normviz as nv
from normviz.lessons.pages import PAGES, page_data, page_view
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.part import Problem
from normviz.lessons.share import share_data
from normviz.lessons.start import LESSON_STEPS, START_STEPS, Lesson, affine, depth, images, marks, numbers, read_prose
from normviz.texts.errors import NormvizError
from tests.export.structure import Structure


def lesson(query: str = "") -> Lesson:
    (part,) = page_view(PAGES["start"], PAGES["start"].view(query)).parts
    assert isinstance(part, Lesson)
    return part


def test_the_numbers_of_four_are_those_that_anyone_can_check():
    data = numbers()
    assert (data["values"], data["mean"], data["std"]) == ([2, 5, 6, 9], 5.5, 2.5)
    assert "the mean, 5.5." in LESSON_STEPS[1].prose.done
    assert (
        "(3.5² + 0.5² + 0.5² + 3.5²) / 4 = 6.25; divide by its root, the standard deviation 2.5."
        in LESSON_STEPS[1].prose.done
    )
    assert (3.5**2 + 0.5**2) / 2 == 6.25 == 2.5**2
    assert "eps = 1e−5" in LESSON_STEPS[1].prose.done


def test_sliders_reach_the_goal_and_begin_elsewhere():
    for data in (numbers(), affine()):
        for slider in data["sliders"]:
            steps = (slider["goal"] - slider["low"]) / slider["step"]
            assert steps == int(steps)
            assert slider["low"] <= slider["first"] <= slider["high"] >= slider["goal"]
        assert any(slider["first"] != slider["goal"] for slider in data["sliders"])


def test_gamma_and_beta_can_undo_the_normalization_of_batchnorm():
    """Ioffe and Szegedy 2015, section 3: gamma = sqrt(Var[x]) and beta = E[x] recover x."""
    x = torch.tensor([[2.0], [5.0], [6.0], [9.0]], dtype=torch.float64)
    layer = nn.BatchNorm1d(1).double()
    assert (layer.weight.item(), layer.bias.item()) == (1, 0)
    layer.weight.data.fill_(affine()["sliders"][0]["goal"])
    layer.bias.data.fill_(affine()["sliders"][1]["goal"])
    y = layer(x).detach()
    assert torch.allclose(y, x, atol=1e-4)
    assert float(y.mean()) == pytest.approx(affine()["goal"]["mean"], abs=1e-4)
    assert float(y.std(correction=0)) == pytest.approx(affine()["goal"]["std"], abs=1e-4)


def test_without_normalization_the_spread_grows_or_shrinks_and_with_it_stays():
    data = depth()
    for size, plain, normalized in zip(data["sizes"], data["plain"], data["normalized"], strict=True):
        assert np.allclose(normalized, 1, atol=1e-3)
        assert abs(log10(plain[-1])) > abs(log10(plain[0])) or size == 1
        assert (plain[-1] > 10) == (size >= 1.4)
        assert (plain[-1] < 0.2) == (size <= 0.8)
    assert "back to 1," in LESSON_STEPS[0].prose.done


MODULES = [
    nn.BatchNorm1d(3),
    nn.LayerNorm(3),
    nn.BatchNorm2d(3),
    nn.LayerNorm([3, 2, 2]),
    nn.InstanceNorm2d(3),
    nn.LayerNorm(3),
]
TASKS = [*marks("BatchNorm1d(3)")["tasks"], *marks("LayerNorm(3)")["tasks"], *images()["tasks"]]


@pytest.mark.parametrize(("module", "asked"), list(zip(MODULES, TASKS, strict=True)), ids=map(str, MODULES))
def test_what_is_to_be_marked_is_what_torchs_output_depends_on(module, asked):
    task = asked["task"]
    assert type(module).__name__.startswith(asked["label"].removeprefix("Sequences: ").partition("(")[0])

    def group(index):
        return [index[axis["axis"]] // axis["divide"] % axis["modulo"] for axis in task["axes"]]

    shape, at = task["shape"], tuple(task["at"])
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    module.double()(x)[at].backward()
    moved = [tuple(index) for index in x.grad.nonzero().tolist()]
    assert [index for index in np.ndindex(*shape) if group(index) == group(at)] == moved
    if "hint" in asked:
        assert f": {x.numel() // len(moved)} means. Each is the mean of {len(moved)} elements." in asked["hint"]


def test_the_sums_of_the_table_are_its_own():
    assert "(4 + 8) / 2 = 6." in LESSON_STEPS[2].prose.done
    assert "(1 + 4 + 10) / 3 = 5." in LESSON_STEPS[3].prose.done
    x, (task,) = torch.tensor([[1.0, 4, 10], [3, 8, 13]]), marks("LayerNorm(3)")["tasks"]
    assert task["task"]["texts"] == ["1", "4", "10", "3", "8", "13"]
    assert (x.mean(dim=0)[1], x.mean(dim=1)[0]) == (6, 5)
    assert "gives the 3 means" in LESSON_STEPS[2].prose.done
    assert "gives the 2 means" in LESSON_STEPS[3].prose.done


def test_the_gammas_of_layernorm_and_of_batchnorm_belong_to_columns():
    x, (asked,) = torch.randn(2, 3), marks("LayerNorm(3)", "gamma")["tasks"]
    at, same = asked["task"]["at"], [axis["axis"] for axis in asked["task"]["axes"]]
    for layer in (nn.LayerNorm(3), nn.BatchNorm1d(3)):
        before = layer(x).detach()
        layer.weight.data[at[1]] = 2
        moved = (layer(x) != before).nonzero().tolist()
        assert moved == [[n, d] for n in range(2) for d in range(3) if all((n, d)[axis] == at[axis] for axis in same)]
        assert (layer.weight.numel(), sum(one.numel() for one in layer.parameters())) == (3, 6)
    assert "3 gammas and 3 betas, 6 parameters," in LESSON_STEPS[5].prose.done


def test_batchnorm_updates_running_statistics_in_train_mode_and_leaves_them_in_eval_mode():
    x, layer = torch.randn(4, 3), nn.BatchNorm1d(3)
    layer(x)
    after = layer.running_mean.clone()
    assert after.any()
    output = layer.eval()(x)
    assert torch.equal(layer.running_mean, after)
    assert torch.allclose(output[:1], layer(x[:1]))
    assert "BatchNorm updates running statistics; in eval mode it uses them as they are." in LESSON_STEPS[2].prose.done
    assert [
        step.prose.text.count(name)
        for step, name in zip(LESSON_STEPS[2:4], ("`BatchNorm1d(3)`", "`LayerNorm(3)`"), strict=True)
    ] == [1, 1]


def test_layernorm_needs_no_other_example_and_computes_the_same_in_eval():
    x, layer = torch.randn(4, 3), nn.LayerNorm(3)
    assert torch.allclose(layer(x)[:1], layer(x[:1]))
    assert torch.equal(layer(x), layer.eval()(x))
    assert not torch.allclose(nn.BatchNorm1d(3)(x)[:2], nn.BatchNorm1d(3)(x[:2]))
    assert not list(layer.buffers())
    batchnorm = nn.BatchNorm1d(3)
    batchnorm(x)
    mean, var = batchnorm.running_mean, batchnorm.running_var
    assert torch.allclose(batchnorm.eval()(x), (x - mean) / (var + batchnorm.eps).sqrt(), atol=1e-6)


def test_the_page_has_every_step_with_its_figure_as_strict_json():
    structure = Structure(Body().page([lesson()]))
    figures = [dict(attrs)["data-figure"] for attrs in structure.attributes if "data-figure" in dict(attrs)]
    assert [json.loads(text, parse_constant=pytest.fail)["kind"] for text in figures] == [
        "depth",
        "numbers",
        "marks",
        "marks",
        "affine",
        "marks",
        "marks",
    ]
    for step in LESSON_STEPS:
        assert step.prose.title in structure.text
        assert "{" not in f"{step.prose}".replace("Prose(", "")
    assert len(LESSON_STEPS) == START_STEPS
    assert json.loads(json.dumps(page_data(PAGES["start"], Body(app=""), [lesson()])))["parts"]


def test_the_page_can_be_shared_and_has_no_controls():
    made = page_view(PAGES["start"], PAGES["start"].view("step=3"))
    data = share_data(made)
    assert (data["page"], data["query"], data["title"]) == ("start", [["step", "3"]], "Start here")
    assert not made.rows
    assert made.hideable == {"panels"}


def test_only_its_files_have_the_script_of_the_steps():
    file, other = (nv.open(link).to_html() for link in ("/start", "/?shape=2,3&layer=LayerNorm(3)"))
    assert "StartLesson" in file
    assert ".nv-start-step{" in file
    assert "StartLesson" not in other
    assert ".nv-start-step{" not in other
    assert len(file) < 350_000  # without plotly.js


def test_each_step_is_short():
    for step in LESSON_STEPS:
        for text in (step.prose.text, step.prose.act, step.prose.done):
            assert len(text.split()) <= 50
            assert text.count(". ") <= 2


def test_a_link_opens_a_step_and_the_page_without_one_where_the_reader_left_off():
    assert [lesson(query).first for query in ("", "step=3")] == [0, 3]
    assert isinstance(page_view(PAGES["start"], PAGES["start"].view("step=8")).parts[0], Problem)
    assert page_view(PAGES["start"], PAGES["start"].view("")).whole_query == {"step": "0"}


@pytest.mark.parametrize(
    "text",
    [
        "Text.\n\n## Do\n\nx\n\n## Done\n\ny",
        "# T\n\nText.\n\n## Do\n\nx",
        "# T\n\nText.\n\n## Do\n\nx\n\n## Done\n\ny\n\n## More\n\nz",
    ],
)
def test_a_file_of_prose_without_its_parts_is_refused(text):
    with pytest.raises(NormvizError, match=r"a\.md must have a title \(#\), a text, '## Do', '## Done'"):
        read_prose(text, "a.md")
