"""The ready-made sets: counts by hand, and every statement of their notes compared with torch."""

import re

import pytest
import torch
from torch import nn

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.invariance import depends_on_batch
from normviz.lessons.compare import page as compare
from normviz.lessons.compare.page import LOOPS, READY_SETS, loops_difference
from normviz.texts.errors import NormvizError

EVERY = list(READY_SETS.values())

HOW_MANY = [
    # for each layer: the number of statistics, the elements of each, the parameters; they can be counted in the figure
    ("four", [4, 3, 12, 6], [30, 40, 10, 20], [8, 80, 0, 8]),
    ("layer-norms", [3, 12, 30, 3], [40, 10, 4, 40], [80, 20, 8, 8]),
    ("sequences", [6, 12, 24, 8], [12, 6, 3, 9], [12, 12, 0, 12]),
    ("dim-0", [40, 4], [3, 30], [8, 8]),
    ("loops", [15, 5], [4, 12], [30, 10]),
]


@pytest.mark.parametrize(("key", "statistics", "elements", "parameters"), HOW_MANY)
def test_the_counts_of_every_set(key, statistics, elements, parameters):
    counts = [e.counts for e in READY_SETS[key].comparison.descriptions]
    assert [c.statistics for c in counts] == statistics
    assert [c.elements_per_statistic for c in counts] == elements
    assert [c.parameters for c in counts] == parameters


def test_the_table_above_has_every_set():
    assert [key for key, *_ in HOW_MANY] == list(READY_SETS)


@pytest.mark.parametrize("ready", EVERY, ids=list(READY_SETS))
def test_a_set_is_valid(ready):
    assert READY_SETS[ready.key] is ready
    assert re.fullmatch(r"[a-z0-9-]+", ready.key)
    assert 2 <= len(ready.layers) <= 6
    assert len(ready.comparison.rows()) == len(ready.layers)
    assert [e.title for e in ready.comparison.descriptions] == list(ready.layers)  # as one would write them
    assert len(set(ready.shape)) == len(ready.shape)  # so that no two axes look alike


@pytest.mark.parametrize("ready", EVERY, ids=list(READY_SETS))
def test_no_layer_uses_another_axis_as_channels(ready):
    assert [e.notes for e in ready.comparison.descriptions] == [()] * len(ready.layers)


@pytest.mark.parametrize("ready", EVERY, ids=list(READY_SETS))
def test_a_note_is_short_and_its_numbers_are_computed(ready):
    assert len(ready.text.split()) <= 40
    prose = re.sub(r"\{[^}]*\}|`dim=0`|axis 1|`bn[^`]*`|BatchNorm[12]d", "", ready.note)
    assert not re.findall(r"\d", prose.replace("GroupNorm(1, C)", ""))
    assert "{" not in ready.text


@pytest.mark.parametrize("ready", EVERY, ids=list(READY_SETS))
def test_a_note_follows_the_layers(ready):
    """The numbers of a note are the layers' own."""
    numbers = [number.replace(",", "") for number in re.findall(r"\*\*([\d,]+)\*\*", ready.text)]
    counts = [e.counts for e in ready.comparison.descriptions]
    known = {str(number) for c in counts for number in (c.statistics, c.parameters)}
    assert set(numbers) <= known
    assert len(numbers) == len(re.findall(r"\*\*\{", ready.note))


# What the notes say, each derived once more, from torch or from the ids.


def explanations(key):
    return READY_SETS[key].comparison.descriptions


def ranges_over(e):
    """For each axis, the indices at which the first element has peers."""
    together = [(0,) * len(e.shape), *e.peers((0,) * len(e.shape))]
    return {axis: sorted({index[i] for index in together}) for i, axis in enumerate(e.axes)}


def test_the_groups_of_the_four_layers():
    every = {"n": [0, 1, 2], "c": [0, 1, 2, 3], "h": [0, 1, 2, 3, 4], "w": [0, 1]}
    batch, layer, instance, group = map(ranges_over, explanations("four"))
    assert batch == {**every, "c": [0]}
    assert layer == {**every, "n": [0]}
    assert instance == {**every, "n": [0], "c": [0]}
    assert group == {**every, "n": [0], "c": [0, 1]}
    assert [depends_on_batch(e) for e in explanations("four")] == [True, False, False, False]


def test_group_norm_of_one_group_has_the_means_of_layer_norm_and_other_gammas():
    layer, _, _, group = explanations("layer-norms")
    assert (layer.stat_ids == group.stat_ids).all()
    assert layer.counts.gamma_shape == layer.shape[1:]
    assert group.counts.gamma_shape == layer.shape[1:2]
    x = example("scales", layer.shape, layer.axes)
    alike = nn.LayerNorm(layer.shape[1:])(x) - nn.GroupNorm(1, layer.shape[1])(x)
    assert alike.abs().max() < 1e-5


def test_the_layer_norm_of_convnext_averages_over_channels():
    x = torch.randn(3, 4, 5, 2)
    e = describe(READY_SETS["layer-norms"].layers[2], x)
    assert torch.equal(e.trace.mean.squeeze(1), x.mean(1))


@pytest.mark.parametrize(
    ("key", "layer", "to_channels_second"),
    [("sequences", 0, (0, 2, 1)), ("dim-0", 1, (0, 3, 1, 2)), ("loops", 1, (0, 2, 1))],
)
def test_the_pattern_is_torchs_batch_norm_on_x_permuted(key, layer, to_channels_second):
    ready = READY_SETS[key]
    x = torch.randn(ready.shape, dtype=torch.float64)
    back = [to_channels_second.index(axis) for axis in range(x.ndim)]
    module = {3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[x.ndim](ready.shape[-1], dtype=torch.float64)
    output = module(x.permute(to_channels_second)).permute(back)
    assert torch.allclose(describe(ready.layers[layer], x).trace.output, output, atol=1e-12)


def test_batch_norm_1d_uses_the_positions_as_channels():
    ready = READY_SETS["sequences"]
    _, length, channels = ready.shape
    with pytest.raises(NormvizError, match="axis 1 of x, its channel axis, has size"):
        describe(f"BatchNorm1d({channels})", ready.shape)
    assert "that is L" in describe(f"BatchNorm1d({length})", ready.shape, layout="NLC").notes[0]


def test_a_pattern_has_no_mode():
    assert [row["train_equals_eval"] for row in READY_SETS["loops"].comparison.rows()] == ["no mode", False]


def test_sequences_average_over_what_the_note_says():
    reduced = [e.norm.pattern.reduced for e in explanations("sequences")]
    assert reduced == [("n", "l"), ("c",), ("l",), ("l", "k")]
    first, second = explanations("dim-0")
    assert (first.norm.pattern.reduced, second.norm.pattern.reduced) == (("n",), ("n", "h", "w"))


def test_dim_0_is_the_norm_of_the_blog_post():
    """``Norm(num_features).forward(x, dim=0)``, as printed there."""
    x = torch.randn(3, 5, 2, 4, dtype=torch.float64)
    u = x.mean(0, keepdim=True)
    s = (x - u).pow(2).mean(0, keepdim=True)
    e = describe(READY_SETS["dim-0"].layers[0], x)
    assert torch.allclose(e.trace.output, (x - u) / torch.sqrt(s + 1e-12), atol=1e-12)
    assert u.numel() == e.counts.statistics


def blog_loops(x):
    """The batch norm of the blog post: its loops, with a Norm of the numbers that they gather."""
    batch_size, seq_len, hidden_size = x.shape
    output = torch.empty_like(x)
    for i in range(seq_len):
        for j in range(hidden_size):
            numbers = torch.stack([x[k][i][j] for k in range(batch_size)])
            output[:, i, j] = (numbers - numbers.mean()) / torch.sqrt(numbers.var(correction=0) + 1e-5)
    return output


def test_the_loops_are_the_pattern_and_batch_norm_on_flattened_input():
    x = torch.randn(READY_SETS["loops"].shape, dtype=torch.float64)
    _, length, channels = x.shape
    output = blog_loops(x)
    assert torch.allclose(describe(LOOPS, x).trace.output, output, atol=1e-12)
    twin = nn.BatchNorm1d(length * channels, dtype=torch.float64)(x.flatten(1))
    assert torch.allclose(twin, output.flatten(1), atol=1e-12)
    per_channel = nn.BatchNorm1d(channels, dtype=torch.float64)(x.transpose(1, 2)).transpose(1, 2)
    assert (per_channel - output).abs().max() > 0.1


def test_the_loops_have_a_mean_for_every_position_and_channel():
    loops, per_channel = explanations("loops")
    _, length, channels = loops.shape
    assert (loops.counts.statistics, per_channel.counts.statistics) == (length * channels, channels)
    assert f"`BatchNorm1d({length * channels})`" in READY_SETS["loops"].text


@pytest.mark.parametrize("shape", [(2, 3, 4), (4, 3, 5), (2, 1, 1), (16, 16, 1024)])
@pytest.mark.parametrize("seed", [0, 7])
def test_batch_norm_on_the_flattened_x_gives_the_numbers_of_the_loops(shape, seed):
    assert loops_difference(shape, seed) < 1e-10


def test_a_twin_with_other_groups_differs(monkeypatch):
    monkeypatch.setattr(compare, "LOOPS", "Norm('n l c -> c', 'l c')")
    assert loops_difference.__wrapped__((4, 3, 5)) > 0.1  # not from the cache


NO_TWIN = [
    ((1, 3, 4), "Use a batch of at least two"),
    ((2, 3), r"shape=\(2, 3\) must have the three sizes N, L and C and at most 262,144 elements, as in \(2, 3, 4\)"),
    ((2, 2**10, 2**10), "must have the three sizes N, L and C and at most"),
]


@pytest.mark.parametrize(("shape", "words"), NO_TWIN)
def test_shapes_without_a_twin_are_refused(shape, words):
    with pytest.raises(NormvizError, match=words):
        loops_difference(shape)


def test_the_loops_are_compared_with_their_twin_on_the_flattened_tensor() -> None:
    twins = {key: ready.loops_text for key, ready in READY_SETS.items()}
    assert [key for key, twin in twins.items() if twin] == ["loops"]
    assert "`BatchNorm1d(15)` on x flattened to (4, 15): largest difference **" in twins["loops"]
    assert float(twins["loops"].split("**")[1].replace("\u2212", "-")) < 1e-12
