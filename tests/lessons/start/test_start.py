"""Start here: every number and every claim of its steps, computed again."""

import json
import re
from math import log10

import numpy as np
import pytest
import torch
from torch import nn

import normviz as nv
from normviz.analysis.description import describe
from normviz.figures.wire import sent
from normviz.layers.layer import Layer
from normviz.lessons.pages import PAGES, page_data, page_view
from normviz.lessons.share.panel import share_data
from normviz.lessons.start.page import (
    LESSON_STEPS,
    START_STEPS,
    Lesson,
    affine,
    asked,
    depth,
    gammas,
    groups_picture,
    images,
    marks,
    numbers,
    pixels,
    read_prose,
    stream,
)
from normviz.parts.html import Body, words_in
from normviz.parts.part import Problem
from normviz.texts.errors import NormvizError
from tests.support.needs import HAS_RMS_NORM, whole
from tests.support.structure import Structure


def lesson(query: str = "") -> Lesson:
    part, _plan = page_view(PAGES["start"], PAGES["start"].view(query)).parts
    assert isinstance(part, Lesson)
    return part


def test_the_numbers_of_four_are_those_that_anyone_can_check():
    data = sent(numbers())
    assert (data["values"], data["mean"], data["std"]) == ([2, 5, 6, 9], 5.5, 2.5)
    assert "the mean, 5.5." in LESSON_STEPS[1].prose.done
    assert (
        "(3.5² + 0.5² + 0.5² + 3.5²) / 4 = 6.25; divide by its root, the standard deviation 2.5."
        in LESSON_STEPS[1].prose.done
    )
    assert (3.5**2 + 0.5**2) / 2 == 6.25 == 2.5**2


def test_sliders_reach_the_goal_and_begin_elsewhere():
    for data in (sent(numbers()), sent(affine())):
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
    layer.weight.data.fill_(sent(affine())["sliders"][0]["goal"])
    layer.bias.data.fill_(sent(affine())["sliders"][1]["goal"])
    y = layer(x).detach()
    assert torch.allclose(y, x, atol=1e-4)
    assert float(y.mean()) == pytest.approx(sent(affine())["goal"]["mean"], abs=1e-4)
    assert float(y.std(correction=0)) == pytest.approx(sent(affine())["goal"]["std"], abs=1e-4)


def test_without_normalization_the_spread_grows_or_shrinks_and_with_it_stays():
    data = sent(depth())
    for size, plain, normalized in zip(data["sizes"], data["plain"], data["normalized"], strict=True):
        assert np.allclose(normalized, 1, atol=1e-3)
        assert abs(log10(plain[-1])) > abs(log10(plain[0])) or size == 1
        assert (plain[-1] > 10) == (size >= 1.4)
        assert (plain[-1] < 0.2) == (size <= 0.8)
    assert "equally spread out in every layer, wherever the slider stands" in LESSON_STEPS[0].prose.done


MODULES = [
    nn.BatchNorm1d(3),
    nn.LayerNorm(3),
    nn.BatchNorm2d(4),
    nn.BatchNorm1d(4),
    nn.BatchNorm2d(4),
    nn.LayerNorm([4, 2, 2]),
    nn.LayerNorm([2, 2]),
    nn.LayerNorm(4),
    nn.InstanceNorm2d(4),
    nn.GroupNorm(2, 4),
    nn.LayerNorm(3),
    *([nn.RMSNorm(3)] if HAS_RMS_NORM else []),
]
TASKS = [
    *sent(marks("BatchNorm1d(3)"))["tasks"],
    *sent(marks("LayerNorm(3)"))["tasks"],
    *({"label": "", "task": task} for task in sent(pixels())["tasks"]),
    *(task for task in sent(images())["tasks"] if task["shares"] != "gamma"),
]
OF_GAMMA = [task for task in sent(images())["tasks"] if task["shares"] == "gamma"]


def group_of(task):
    """The elements that share with the framed one, by the axes of the task."""

    def group(index):
        return [index[axis["axis"]] // axis["divide"] % axis["modulo"] for axis in task["axes"]]

    return [index for index in np.ndindex(*task["shape"]) if group(index) == group(task["at"])]


@pytest.mark.parametrize(("module", "asked"), list(zip(MODULES, TASKS, strict=True)), ids=map(str, MODULES))
def test_what_is_to_be_marked_is_what_torchs_output_depends_on(module, asked):
    task = asked["task"]
    assert type(module).__name__.startswith(asked["label"].rpartition(": ")[2].partition("(")[0])
    shape, at = task["shape"], tuple(task["at"])
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    module.double()(x)[at].backward()
    moved = [tuple(index) for index in x.grad.nonzero().tolist()]
    assert group_of(task) == moved
    x.grad = None
    module.eval()(x)[at].backward()  # "except for BatchNorm in eval mode"
    in_eval = [tuple(index) for index in x.grad.nonzero().tolist()]
    assert in_eval == ([at] if "BatchNorm" in str(module) else moved)
    if "hint" in asked:
        count, ends = x.numel() // len(moved), f" means. Each is the mean of {len(moved)} elements."
        assert asked["hint"].endswith(f": {count} in all." if "RMSNorm" in str(module) else f": {count}{ends}")
        assert asked["about"].startswith(f"{str(module).partition('(')[0]}(")
        assert str(count) not in asked["about"].partition(". ")[2]


def test_the_sums_of_the_table_are_its_own():
    assert "(4 + 8) / 2 = 6." in LESSON_STEPS[2].prose.done
    assert "(1 + 4 + 10) / 3 = 5." in LESSON_STEPS[3].prose.done
    x, (task,) = torch.tensor([[1.0, 4, 10], [3, 8, 13]]), sent(marks("LayerNorm(3)"))["tasks"]
    assert task["task"]["texts"] == ["1", "4", "10", "3", "8", "13"]
    assert (x.mean(dim=0)[1], x.mean(dim=1)[0]) == (6, 5)
    assert x.mean(dim=1).shape == (2,)  # one for each row
    assert x.mean(dim=0).shape == (3,)  # one for each column
    assert "`x.mean(dim=1)` gives the mean of each row, and `x.mean(dim=0)`" in LESSON_STEPS[3].prose.done


def test_the_gammas_of_layernorm_and_of_batchnorm_belong_to_columns():
    x, (asked,) = torch.randn(2, 3), sent(gammas())["tasks"]
    at, same = asked["task"]["at"], [axis["axis"] for axis in asked["task"]["axes"]]
    for layer in (nn.LayerNorm(3), nn.BatchNorm1d(3)):
        before = layer(x).detach()
        layer.weight.data[at[1]] = 2
        moved = (layer(x) != before).nonzero().tolist()
        assert moved == [[n, d] for n in range(2) for d in range(3) if all((n, d)[axis] == at[axis] for axis in same)]
        assert (layer.weight.numel(), sum(one.numel() for one in layer.parameters())) == (3, 6)
    assert "for 2 examples and for 5: 3 gammas and 3 betas" in LESSON_STEPS[5].prose.done


def test_a_larger_batch_fits_a_gamma_for_each_column_and_none_for_each_row():
    data = sent(gammas())
    batch = torch.tensor([[float(text) for text in row] for row in data["batch"]])
    assert [list(map(str, row)) for row in ([1, 4, 10], [3, 8, 13])] == data["batch"][:2]
    layer = nn.LayerNorm(3)
    assert (layer(batch).shape, data["gammas"]) == ((5, 3), 3)
    with pytest.raises(RuntimeError):
        batch * torch.ones(2, 1)  # a gamma for each of the two rows
    assert "fit batches of 2 only" in LESSON_STEPS[5].prose.done


@pytest.mark.parametrize("asked", OF_GAMMA, ids=lambda asked: asked["label"])
def test_what_shares_a_gamma_is_what_torch_multiplies_by_it(asked):
    task = asked["task"]
    shape, at = task["shape"], tuple(task["at"])
    module = eval(asked["about"].partition(" on ")[0], vars(nn) | {"__builtins__": {}})
    x = torch.randn(shape)
    before = module(x).detach()
    number = torch.arange(module.weight.numel()).reshape(module.weight.shape)
    for which in number.flatten().tolist():
        module.weight.data = torch.where(number == which, 2.0, 1.0)
        moved = [tuple(index) for index in (module(x) != before).nonzero().tolist()]
        if at in moved:
            assert group_of(task) == moved
    assert asked["seen"].endswith(f": {module.weight.numel()} gammas.")
    assert asked["hint"] == asked["seen"]


def test_the_layers_say_chw_and_hw_gammas():
    found = {task["label"]: task["seen"] for task in OF_GAMMA}
    assert found["LayerNorm([C, H, W])"] == "One gamma for each C, H and W, the same for every N: 16 gammas."
    assert found["LayerNorm([H, W])"] == "One gamma for each H and W, the same for every N and C: 4 gammas."
    assert found["Sequences: LayerNorm(C)"] == "One gamma for each C, the same for every N and L: 3 gammas."


def test_the_variance_is_also_the_mean_square_minus_the_squared_mean():
    x = torch.tensor([2.0, 5, 6, 9])
    assert (float(x.square().mean()), float(x.mean() ** 2), 36.5 - 30.25) == (36.5, 30.25, x.var(correction=0))
    assert "the mean of squares minus the squared mean, 36.5 − 30.25." in LESSON_STEPS[1].prose.done


def test_batchnorm_updates_running_statistics_in_train_mode_and_leaves_them_in_eval_mode():
    x, layer = torch.randn(4, 3), nn.BatchNorm1d(3)
    layer(x)
    after = layer.running_mean.clone()
    assert after.any()
    output = layer.eval()(x)
    assert torch.equal(layer.running_mean, after)
    assert torch.allclose(output[:1], layer(x[:1]))
    assert (
        "BatchNorm uses the running mean and a running variance, its running statistics, and changes neither"
        in LESSON_STEPS[6].prose.done
    )
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


def test_the_running_mean_follows_the_batches_and_eval_mode_uses_it():
    """torch adds ``momentum * (mean - running_mean)``, and normalizes with the running variance, too, which is unbiased."""
    data, running_mean, running_var = sent(stream()), 0.0, 1.0
    batches = [data["batches"][number % len(data["batches"])] for number in range(len(data["stored"]))]
    first = batches[0][0]
    assert {batch[0] for batch in batches} == {first}
    for batch, stored, in_eval in zip(batches, data["stored"], data["outputs"]["eval"], strict=True):
        assert stored == pytest.approx(running_mean)
        assert in_eval == pytest.approx((first - running_mean) / (running_var + 1e-5) ** 0.5)
        running_mean += 0.5 * (np.mean(batch) - running_mean)
        running_var += 0.5 * (np.var(batch, ddof=1) - running_var)
    in_train = [(first - np.mean(batch)) / (np.var(batch) + 1e-5) ** 0.5 for batch in data["batches"]]
    assert data["outputs"]["train"] == pytest.approx(in_train)
    assert data["means"] == pytest.approx([np.mean(batch) for batch in data["batches"]])
    seen = data["outputs"]["train"][: data["asked"]["train"]]
    assert min(abs(one - other) for i, one in enumerate(seen) for other in seen[:i]) > 0.5  # they differ at a glance
    assert "here by 0.5 of the distance, in PyTorch by default by 0.1" in LESSON_STEPS[6].prose.text
    low, high = data["range"]
    assert all(low <= value <= high for value in sum(data["batches"], data["stored"]))


def test_a_pixel_is_a_row_of_the_table_and_a_channel_a_column():
    images_task, table_task = sent(pixels())["tasks"]
    x, table = (np.array(task["texts"], dtype=float).reshape(task["shape"]) for task in (images_task, table_task))
    n, c, h, w = x.shape
    rows = [[x[at_n, at_c, at_h, at_w] for at_c in range(c)] for at_n in range(n) for at_h in range(h) for at_w in range(w)]  # fmt: skip
    assert table.tolist() == rows
    assert len(set(x.flat)) == x.size  # each number can be followed
    assert x[tuple(images_task["at"])] == table[tuple(table_task["at"])] == 5
    folded = torch.tensor(table).reshape(n, h, w, c).permute(0, 3, 1, 2)
    assert torch.equal(folded, torch.tensor(x))
    done = LESSON_STEPS[7].prose.done
    assert len(x[:, 1].flat) == 8
    assert torch.tensor(x).mean(dim=(0, 2, 3)).shape == (4,)
    assert ("one channel of all images, 8 numbers" in done, "`x.mean(dim=(0, 2, 3))` gives its 4 means" in done) == (True, True)  # fmt: skip


def test_a_step_introduces_two_words_of_the_glossary_at_most():
    known: set[str] = set()
    for step in LESSON_STEPS:
        prose = step.prose
        new = {word.name for word in words_in(" ".join((prose.title, prose.text, prose.act, prose.done)))} - known
        assert len(new) <= 2, (step.key, new)
        known |= new
    assert len(known) > 5


def test_reading_takes_three_to_four_minutes_at_200_words_a_minute():
    """As much time again is for the figures: the page takes five to seven minutes."""
    words = sum(len(f"{s.prose.title} {s.prose.text} {s.prose.act} {s.prose.done}".split()) for s in LESSON_STEPS)
    assert 3 <= words / 200 <= 4


@pytest.mark.parametrize(
    ("layer", "shape", "colors"),
    [
        ("LayerNorm(2)", (2, 2), [0, 0, 1, 1]),
        ("BatchNorm1d(2)", (2, 2), [0, 1, 0, 1]),
        ("InstanceNorm2d(2)", (2, 2, 1, 2), [0, 0, 1, 1, 2, 2, 3, 3]),
        ("GroupNorm(1, 2)", (2, 2, 1, 2), [0, 0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_in_the_picture_at_the_end_a_color_is_a_group(layer, shape, colors):
    svg = groups_picture(describe(Layer.parse(layer), shape))
    cells = [(place, fill) for path, fill in re.findall(r'd="(.+?)" style="fill:(.+?)"', svg) for place in re.findall(r"M\d+ \d+", path)]  # fmt: skip
    in_order = sorted(cells, key=lambda cell: tuple(reversed([int(at) for at in cell[0][1:].split()])))
    fills = [fill for _place, fill in in_order]
    assert len(dict(cells)) == len(cells)
    assert [list(dict.fromkeys(fills)).index(fill) for fill in fills] == colors


def test_a_layer_that_has_no_gamma_says_so_after_marking_and_at_the_end():
    modules = {one.layer: eval(one.layer, vars(nn) | {"__builtins__": {}}) for one in asked()}
    bare = [one.label for one in asked() if modules[one.layer].weight is None]
    said = "In PyTorch, it has no gamma and no beta by default."
    assert bare == [task["label"] for task in sent(images())["tasks"] if said in task["seen"]] == ["InstanceNorm"]
    assert [one.label for one in asked() if one.label not in {task["label"] for task in OF_GAMMA}] == bare
    assert lesson().plain_text().count(said) == 1


@whole
def test_the_picture_at_the_end_has_a_card_for_each_layer_of_the_last_step_and_leads_to_one_page():
    html = lesson().html(Body(app="https://example.org"))
    ending = html[html.index("nv-start-learnt") :]
    tasks = sent(images())["tasks"]
    assert re.findall(r"<strong>(.+?)</strong>", ending) == list(dict.fromkeys(task["label"] for task in tasks))
    assert ending.count("<svg") == ending.count("nv-start-seen") == len(tasks) == 15
    assert len(asked()) == 8
    assert re.findall(r'href="(.+?)"', html) == ["https://example.org/practice"]
    runs = [one.label for one in asked() if "running means" in ending.partition(f"<strong>{one.label}<")[2].partition("</figure>")[0]]  # fmt: skip
    assert runs == [one.label for one in asked() if one.description.buffers] == ["BatchNorm"]


def test_the_page_has_every_step_with_its_figure_as_strict_json():
    structure = Structure(Body().page([lesson()]))
    figures = [dict(attrs)["data-figure"] for attrs in structure.attributes if "data-figure" in dict(attrs)]
    assert [json.loads(text, parse_constant=pytest.fail)["kind"] for text in figures] == [
        "depth",
        "numbers",
        "marks",
        "marks",
        "affine",
        "gammas",
        "stream",
        "pixels",
        "marks",
    ]
    for step in LESSON_STEPS:
        assert step.prose.title in structure.text
        assert "{" not in f"{step.prose}".replace("Prose(", "")
    assert len(LESSON_STEPS) == START_STEPS
    assert json.loads(json.dumps(sent(page_data(PAGES["start"], Body(app=""), [lesson()]))))["parts"]


def test_the_page_can_be_shared_and_has_no_controls():
    made = page_view(PAGES["start"], PAGES["start"].view("step=3"))
    data = sent(share_data(made))
    assert (data["page"], data["query"], data["title"]) == ("start", [["step", "3"]], "Start here")
    assert not made.rows
    assert made.hideable == {"panels", "questions"}  # the steps, and the lesson plan


def test_only_its_files_have_the_script_of_the_steps():
    file, other = (nv.open(link).to_html() for link in ("/start", "/?shape=2,3&layer=LayerNorm(3)"))
    assert "normviz.start" in file  # where the script keeps the steps that are done
    assert ".nv-start-step{" in file
    assert "normviz.start" not in other
    assert ".nv-start-step{" not in other
    assert len(file) < 410_000  # without plotly.js; the script of Practice is in it, too


def test_each_step_is_short():
    for step in LESSON_STEPS:
        for text in (step.prose.text, step.prose.act, step.prose.done):
            assert len(text.split()) <= 50
            assert text.count(". ") <= 2


def test_a_link_opens_a_step_and_the_page_without_one_where_the_reader_left_off():
    assert [lesson(query).first for query in ("", "step=3")] == [0, 3]
    assert isinstance(page_view(PAGES["start"], PAGES["start"].view("step=10")).parts[0], Problem)
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
