"""The story: every figure equals torch in every state, its prose has the figures' numbers, and every layer is introduced with its paper."""

import io
import re
from base64 import b64decode
from inspect import signature
from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from normviz.figures.payload import GammaAndBeta, Statistics
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.questions.sources import PAPERS
from normviz.lessons.start import page as start
from normviz.lessons.story import figures
from normviz.lessons.story.figures import LEVELS, lake, numbers, town
from normviz.lessons.story.page import SECTIONS, StorySection, read_story
from normviz.lessons.story.parts import DepthFigure, LinkedFigure, Pictures, Story
from normviz.parts.part import Table
from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from tests.support.needs import needs_rms_norm, whole

Index = tuple[int, ...]
PROSE = {section.key: section for section in SECTIONS}


def panels(state) -> dict[str, Tensor]:
    """The values of the panels of a figure, in the shape of its tensor."""
    shape = state.data.grid.shape
    return {panel.key: torch.from_numpy(panel.z).reshape(shape) for panel in state.data.panels}


def options(figure) -> list[tuple[str, ...]]:
    return list(product(*(control.options for control in figure.controls)))


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=1e-5, atol=2e-6)


# Every figure of the story equals torch.


def test_the_first_figure_is_that_of_start_here():
    assert figures.depth_figure() == DepthFigure(start.depth())


def test_the_figure_of_the_batch_is_batchnorm_of_its_first_examples():
    figure = figures.batch_figure()
    for (n,), state in zip(options(figure), figure.states, strict=True):
        x, found = numbers()[: int(n)], panels(state)
        close(found["x"], x)
        close(found["output"], F.batch_norm(x, None, None, training=True))


def test_the_figure_of_the_modes_is_batchnorm_after_so_many_batches():
    figure, x = figures.eval_figure(), numbers()
    states = dict(zip(options(figure), figure.states, strict=True))
    mean, var, old = torch.zeros(6), torch.ones(6), dict(states)
    for seen in range(int(figure.controls[0].options[-1]) + 1):
        if (str(seen), "eval()") in states:
            close(panels(old.pop((str(seen), "eval()")))["output"], (x - mean) / (var + 1e-5).sqrt())
            close(panels(old.pop((str(seen), "train()")))["output"], F.batch_norm(x, None, None, training=True))
        batch = numbers(seen + 1)
        mean, var = 0.9 * mean + 0.1 * batch.mean(dim=0), 0.9 * var + 0.1 * batch.var(dim=0)
    assert old == {}


def test_the_figure_of_padding_is_the_layer_on_padded_sequences():
    figure = figures.padding_figure()
    for (padded, layer), state in zip(options(figure), figure.states, strict=True):
        x, found = numbers().reshape(2, 4, 6), panels(state)
        x[1, 4 - int(padded) :] = 0
        close(found["x"], x)
        over = (0, 1) if layer == "BatchNorm" else 2
        close(
            found["output"], (x - x.mean(over, keepdim=True)) / (x.var(over, correction=0, keepdim=True) + 1e-5).sqrt()
        )


def pixels(picture) -> Tensor:
    data = b64decode(picture.address.partition(",")[2])
    return torch.from_numpy(np.array(Image.open(io.BytesIO(data)))).permute(2, 0, 1) / 255


def test_the_pictures_below_are_those_above_after_the_layer():
    figure, scenes = figures.pictures_figure(), torch.stack([lake(), town()])
    for (contrast, layer), (first, second, *outputs) in zip(options(figure), figure.states, strict=True):
        share, mean = int(contrast.removesuffix(" %")) / 100, scenes.mean((2, 3), keepdim=True)
        x = torch.cat([mean[:1] + share * (scenes[:1] - mean[:1]), scenes[1:]])
        over = (0, 2, 3) if layer == "BatchNorm" else (2, 3)
        y = (x - x.mean(over, keepdim=True)) / (x.var(over, correction=0, keepdim=True) + 1e-5).sqrt()
        for picture, expected, values in zip((first, second, *outputs), (*x, *(0.5 + 0.2 * y)), (*x, *y), strict=True):
            assert float((pixels(picture) - expected.clamp(0, 1)).abs().max()) < 1 / LEVELS
            spread = float(values[0].std(correction=0))
            assert float(picture.caption.rpartition(" ")[2]) == pytest.approx(spread, rel=0.06), picture.caption


def dependent(layer: nn.Module, shape: Index, at: Index) -> list[Index]:
    """The elements on which the layer's output at an element depends."""
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    layer.double()(x)[at].backward()
    return [tuple(index) for index in x.grad.nonzero().tolist()]


def together(sharing: Statistics | GammaAndBeta, shape: Index, at: Index) -> list[Index]:
    """The elements that a panel draws as one group."""

    def group(index: Index) -> list[int]:
        return [index[axis.axis] // axis.divide % axis.modulo for axis in sharing.axes]

    return [index for index in np.ndindex(*shape) if group(index) == group(at)]


def module(code: str) -> nn.Module:
    return eval(code, vars(nn) | {"__builtins__": {"True": True}})  # the title of a panel


@pytest.mark.parametrize("figure", [figures.groups_figure(), figures.five_figure()], ids=["groups", "same"])
def test_a_panel_of_sharing_is_what_torchs_output_depends_on(figure):
    for state in figure.states:
        shape = tuple(state.data.grid.shape)
        shown = [panel for panel in state.data.panels if panel.row == "stats"]
        assert shown
        for panel in shown:
            for at in ((0, 0, 0, 0), (1, 4, 1, 0)):
                sharing = state.data.sharings[panel.key]
                assert together(sharing, shape, at) == dependent(module(panel.title), shape, at), panel.title


def test_the_slider_chooses_the_groups_of_groupnorm():
    figure = figures.groups_figure()
    shown = [[panel.title for panel in state.data.panels][1] for state in figure.states]
    assert shown == [f"GroupNorm({groups}, 6)" for (groups,) in options(figure)]


@whole
def test_a_panel_of_gamma_is_what_torchs_gamma_moves():
    data = figures.five_figure().states[0].data
    shown = [panel for panel in data.panels if panel.row == "params"]
    assert len(shown) == 5
    for panel, code in zip(shown, figures.five_layers(), strict=True):
        layer, x = module(code), torch.randn(2, 6, 2, 2)
        before = layer(x).detach()
        layer.weight.data.flatten()[5] = 2
        moved = [tuple(index) for index in (layer(x) != before).nonzero().tolist()]
        assert together(data.sharings[panel.key], (2, 6, 2, 2), moved[0]) == moved


def test_the_table_counts_what_torch_has():
    (table,) = PROSE["same"].after()
    assert isinstance(table, Table)
    for title, means, elements, gammas, keeps in table.rows:
        layer = module(str(title))
        assert (elements, means) == (len(dependent(layer, (2, 6, 2, 2), (0, 0, 0, 0))), 48 / elements)
        assert (gammas, keeps) == (layer.weight.numel(), bool(list(layer.buffers())))


def test_the_figure_of_rmsnorm_is_the_layers_on_what_the_reader_makes():
    figure = figures.rms_figure()
    for (shift, factor), state in zip(options(figure), figure.states, strict=True):
        x, found = numbers().reshape(2, 4, 6) * float(factor) + float(shift), panels(state)
        close(found["LayerNorm"], F.layer_norm(x, (6,)))
        close(found["RMSNorm"], x / (x.square().mean(dim=2, keepdim=True) + torch.finfo(x.dtype).eps).sqrt())


# The prose.


def text(key: str) -> str:
    prose = PROSE[key].prose
    return " ".join(f"{prose.lead} {prose.text}".replace("−", "-").split())


def test_the_numbers_of_the_prose_are_those_of_the_figures():
    x, y = numbers(), F.batch_norm(numbers(), None, None, training=True)
    two = F.batch_norm(x[:2], None, None, training=True)
    assert (
        f"which is {x[0, 1]:.3g}. In the batch of 8 it becomes {y[0, 1]:.3f}; in a batch of two it becomes {two[0, 1]:.3g}."
        in text("batch")
    )
    modes = dict(zip(options(figures.eval_figure()), figures.eval_figure().states, strict=True))
    off = [float((panels(modes[n, "eval()"])["output"] - y).abs().max()) for n in ("1", "50")]
    assert f"differ by up to {off[0]:.2g}; after 50 batches of the same kind, by up to {off[1]:.2g}." in text("eval")
    padded = dict(zip(options(figures.padding_figure()), figures.padding_figure().states, strict=True))
    before, after = (panels(padded[n, "BatchNorm"])["output"][0, 0, 1] for n in ("0", "3"))
    assert f"changes from {before:.3f} to {after:.3g}, although" in text("padding")
    assert f"is {panels(padded['0', 'LayerNorm'])['output'][0, 0, 1]:.3g} with and without padding" in text("padding")
    moved = dict(zip(options(figures.rms_figure()), map(panels, figures.rms_figure().states), strict=True))
    change = (moved["3", "1"]["RMSNorm"] - moved["0", "1"]["RMSNorm"]).abs().max()
    assert f"the output of RMSNorm by up to {change:.2g}." in text("rms")
    assert f"`RMSNorm(6)` has {6} learned numbers, its *parameters*, and `LayerNorm(6)` has {12}." in text("rms")
    plain = figures.depth_figure().depth.plain
    assert (
        f"it is {plain[start.depth().first][-1]:.2g} after the last layer; with weights 0.5 times as large, it is {plain[0][-1]:.2g}."
        in text("depth")
    )


def test_what_the_prose_says_of_contrast_is_so():
    def outputs(contrast: float, normalize) -> Tensor:
        return normalize(figures.photographs(contrast))[0]

    def change(normalize) -> float:
        return float((outputs(1, normalize) - outputs(0.2, normalize)).abs().max())

    batch, instance = change(lambda x: F.batch_norm(x, None, None, training=True)), change(F.instance_norm)
    assert (
        f"BatchNorm changes by up to {batch:.2g}, the output of InstanceNorm by up to {instance:.2g}, and only because of eps."
        in text("pictures")
    )
    assert change(lambda x: F.instance_norm(x.double(), eps=0)) < 1e-5  # only because of eps
    assert float(F.instance_norm(figures.photographs(1)).mean((2, 3)).abs().max()) < 1e-5


def test_what_the_prose_says_of_padding_examples_and_shifts_is_so():
    states = dict(zip(options(figures.padding_figure()), map(panels, figures.padding_figure().states), strict=True))
    assert torch.equal(states["0", "LayerNorm"]["output"][0], states["3", "LayerNorm"]["output"][0])
    x, norm = torch.randn(2, 6, 2, 2), nn.GroupNorm(2, 6)
    torch.testing.assert_close(norm(x)[:1], norm(x[:1]))
    x = torch.randn(2, 4, 6, dtype=torch.float64)
    for layer in (nn.LayerNorm(6, eps=0).double(), nn.RMSNorm(6, eps=0).double()):
        torch.testing.assert_close(layer(x), layer(10 * x))
    assert "Multiply every number by 10: neither" in text("rms")
    assert float((F.layer_norm(x, (6,)) - F.layer_norm(x + 3, (6,))).abs().max()) < 1e-12


def test_what_the_prose_says_of_torch_is_so():
    assert not any(
        list(layer.buffers()) for layer in (nn.LayerNorm(6), nn.InstanceNorm2d(6), nn.GroupNorm(2, 6), nn.RMSNorm(6))
    )
    assert list(signature(nn.BatchNorm1d.forward).parameters) == ["self", "input"]  # no mask
    assert nn.InstanceNorm2d(6).weight is None
    assert nn.InstanceNorm2d(6, affine=True).weight.shape == nn.GroupNorm(2, 6).weight.shape == (6,)
    for layer in (nn.BatchNorm2d, nn.InstanceNorm2d):
        assert not list(layer(6, affine=False).parameters())
    assert not list(nn.GroupNorm(2, 6, affine=False).parameters())
    for layer in (nn.LayerNorm, nn.RMSNorm):
        assert not list(layer(6, elementwise_affine=False).parameters())
    alone = nn.BatchNorm1d(6, track_running_stats=False)
    assert not list(alone.buffers())
    torch.testing.assert_close(alone.eval()(numbers()), nn.BatchNorm1d(6)(numbers()))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(6)(torch.randn(1, 6))


def test_the_papers_on_layernorm_and_instancenorm_are_of_one_month():
    assert {PAPERS[name][1].partition(".")[0] for name in ("LayerNorm", "InstanceNorm")} == {"1607"}


def source(section: StorySection) -> str:
    return read_text(f"story/{section.key}.md")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.key)
def test_a_section_types_no_number_that_torch_can_compute(section):
    """But the number of its heading, of another section, of axes in code, and 0, 1 and -1, which no data change."""
    typed = re.sub(r"`[^`]*`|\{[^}]*\}|^# \d\.|section\s+\d|Llama 2", "", source(section), flags=re.MULTILINE)
    assert {*re.findall(r"[\d.]*\d", typed)} <= {"0", "1"}


@needs_rms_norm
def test_every_layer_is_introduced_with_its_paper():
    introduced = {
        "depth": "BatchNorm",
        "padding": "LayerNorm",
        "pictures": "InstanceNorm",
        "groups": "GroupNorm",
        "rms": "RMSNorm",
    }
    for key, layer in introduced.items():
        assert f"https://arxiv.org/abs/{PAPERS[layer][1]}" in PROSE[key].prose.text


def test_a_file_without_a_part_is_refused():
    with pytest.raises(NormvizError, match=r"^es/a.md must have a title \(#\), a text, '## Figure' and a caption.$"):
        read_story("# Title\n\nText", "es/a.md", {})


# The page.


def story() -> Story:
    (part,) = page_view(PAGES["story"], PAGES["story"].view("")).parts
    assert isinstance(part, Story)
    return part


@whole
def test_there_are_eight_figures_and_about_1500_words():
    assert [type(section.figure) for section in story().sections] == [
        DepthFigure,
        *[LinkedFigure] * 3,
        Pictures,
        *[LinkedFigure] * 3,
    ]
    assert 1400 < len(" ".join(map(text, PROSE)).split()) < 1700


def test_it_leads_to_exercises():
    assert (story().next.page, story().next.query) == ("practice", "")
