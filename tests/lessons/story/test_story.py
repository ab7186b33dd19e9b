"""The story: every figure and every small picture equals torch in every state, its prose has the figures' numbers, and every layer is introduced with its paper."""

import io
import json
import re
from base64 import b64decode
from html import unescape
from inspect import signature
from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from normviz.figures.payload import GammaAndBeta, Statistics
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.questions.sources import PAPERS
from normviz.lessons.start import page as start
from normviz.lessons.story import figures
from normviz.lessons.story.figures import LEVELS, DepthFigure, LinkedFigure, Pictures, Story, lake, numbers, town
from normviz.lessons.story.page import SECTIONS, StorySection, read_story
from normviz.parts.html import Body
from normviz.parts.part import Table
from normviz.texts.errors import NormvizError
from normviz.texts.languages import languages, read_text
from normviz.texts.messages import in_language, plain
from tests.support.needs import needs_rms_norm, whole

Index = tuple[int, ...]
PROSE = {section.key: section for section in SECTIONS}


def panels(state) -> dict[str, Tensor]:
    """The values of the panels of a figure, in the shape of its tensor."""
    shape = state.data.grid.shape
    return {panel.key: torch.from_numpy(panel.z).reshape(shape) for panel in state.data.panels}


def options(figure) -> list[tuple[str, ...]]:
    return list(product(*(control.options for control in figure.controls)))


def sent_story(figure) -> dict:
    """What a page sends of a figure."""
    (found,) = re.findall(r'data-story="([^"]*)"', figure.html(Body()))
    return json.loads(unescape(found))


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=1e-5, atol=2e-6)


# Every figure of the story equals torch.


def test_the_first_figure_is_that_of_start_here():
    figure, data = figures.depth_figure(), start.depth()
    for size, bare, normalized in zip(start.SIZES, data.plain, data.normalized, strict=True):
        name = f"{size:g}"
        shown = dict(zip(figure.state_names, figure.states, strict=True))
        assert (shown[name], shown[f"{name}, BatchNorm"]) == (bare, normalized)
    assert sent_story(figure)["depth"] == sent(data)


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


def test_the_pictures_beside_a_photograph_are_what_the_layers_make_of_it():
    figure, scenes = figures.pictures_figure(), torch.stack([lake(), town()])
    for (contrast,), shown in zip(options(figure), figure.states, strict=True):
        share, mean = int(contrast.removesuffix(" %")) / 100, scenes.mean((2, 3), keepdim=True)
        x = torch.cat([mean[:1] + share * (scenes[:1] - mean[:1]), scenes[1:]])
        batch, instance = (
            (x - x.mean(over, keepdim=True)) / (x.var(over, correction=0, keepdim=True) + 1e-5).sqrt()
            for over in ((0, 2, 3), (2, 3))
        )
        columns = (x, x), (0.5 + 0.2 * batch, batch), (0.5 + 0.2 * instance, instance)
        expected = [(seen[i], values[i]) for i in range(len(x)) for seen, values in columns]
        assert [picture.head for picture in shown] == ["the input", "BatchNorm", "InstanceNorm"] * 2
        for picture, (seen, values) in zip(shown, expected, strict=True):
            assert float((pixels(picture) - seen.clamp(0, 1)).abs().max()) < 1 / LEVELS
            assert float(picture.caption) == pytest.approx(float(values[0].std(correction=0)), rel=0.06)


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


GROUPS, FIVE = figures.groups_figure().states, figures.five_figure().states


@pytest.mark.parametrize("states", [GROUPS, FIVE[:1]], ids=["groups", "same"])
def test_a_panel_of_sharing_is_what_torchs_output_depends_on(states):
    for state in states:
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
    data = FIVE[1].data
    shown = [panel for panel in data.panels if panel.row == "params"]
    assert len(shown) == 5
    for panel, code in zip(shown, figures.five_layers(), strict=True):
        layer, x = module(code), torch.randn(2, 6, 2, 2)
        before = layer(x).detach()
        layer.weight.data.flatten()[5] = 2
        moved = [tuple(index) for index in (layer(x) != before).nonzero().tolist()]
        assert together(data.sharings[panel.key], (2, 6, 2, 2), moved[0]) == moved


def test_the_table_counts_what_torch_has():
    table = PROSE["choose"].figure()
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
    return " ".join(plain(f"{prose.lead} {prose.text}").replace("−", "-").split())


def test_the_numbers_of_the_prose_are_those_of_the_figures():
    def of(figure) -> dict:
        return dict(zip(figure.state_names, figure.states, strict=True))

    x, y = numbers(), F.batch_norm(numbers(), None, None, training=True)
    two, four = (F.batch_norm(x[:n], None, None, training=True)[0, 1] for n in (2, 4))
    assert f"which is {x[0, 1]:.3g}: in the batch of 8 it becomes {y[0, 1]:.3f}." in text("batch")
    assert f"In a batch of 4 it becomes {four:.2g}." in text("batch")
    assert f"{x[0, 1]:.3g} becomes {two:.3g}." in text("batch")
    modes = of(figures.eval_figure())
    off = [float((panels(modes[f"{n}, eval()"])["output"] - y).abs().max()) for n in (1, 50)]
    assert (
        f"differ by up to {off[0]:.2g}. After 50 batches of the same kind, they differ by up to {off[1]:.2g}"
        in text("eval")
    )
    padded = of(figures.padding_figure())
    before, after = (panels(padded[f"{n}, BatchNorm"])["output"][0, 0, 1] for n in (0, 3))
    assert f"the output for x[0, 0, 1] is {before:.3f}." in text("padding")
    assert f"the output for the first becomes {after:.3g}." in text("padding")
    alone = F.batch_norm(x[:5], None, None, training=True)[0, 1]  # the tokens that are no padding
    assert f"Statistics without the padding give {alone:.3f};" in text("padding")
    assert f"is {panels(padded['0, LayerNorm'])['output'][0, 0, 1]:.3g} with and without padding" in text("padding")
    moved = {name: panels(state) for name, state in of(figures.rms_figure()).items()}
    change = (moved["3, 1"]["RMSNorm"] - moved["0, 1"]["RMSNorm"]).abs().max()
    assert f"the output of RMSNorm by up to {change:.2g}." in text("rms")
    assert f"RMSNorm(6) has {6} learned numbers, its *parameters*, and LayerNorm(6) has {12}." in text("rms")
    last = {name: state[-1] for name, state in of(figures.depth_figure()).items()}
    assert f"with weights of size 0.5, their standard deviation is {last['0.5']:.2g} after 10 layers." in text("depth")
    assert f"With size 1, it is {last['1']:.2g}." in text("depth")
    assert f"With size 1.6, it is {last['1.6']:.2g}." in text("depth")
    assert f"the standard deviation is {last['1.6, BatchNorm']:.2g} after each layer" in text("depth")


def test_what_the_prose_says_of_contrast_is_so():
    def outputs(contrast: float, normalize) -> Tensor:
        return normalize(figures.photographs(contrast))[0]

    def change(normalize) -> float:
        return float((outputs(1, normalize) - outputs(0.2, normalize)).abs().max())

    batch, instance = change(lambda x: F.batch_norm(x, None, None, training=True)), change(F.instance_norm)
    assert (
        f"after BatchNorm has changed by up to {batch:.2g}, after InstanceNorm by up to {instance:.2g}, and only because of eps."
        in text("pictures")
    )
    assert change(lambda x: F.instance_norm(x.double(), eps=0)) < 1e-5  # only because of eps
    assert float(F.instance_norm(figures.photographs(1)).mean((2, 3)).abs().max()) < 1e-5


def test_what_the_prose_says_of_padding_examples_and_shifts_is_so():
    figure = figures.padding_figure()
    states = dict(zip(figure.state_names, map(panels, figure.states), strict=True))
    assert torch.equal(states["0, LayerNorm"]["output"][0], states["3, LayerNorm"]["output"][0])
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
    with pytest.raises(
        NormvizError, match=r"^es/a.md must have a title \(#\) and a text; '## Figure' and a caption may follow.$"
    ):
        read_story("Text\n\n## Figure\n\nMove it.", "es/a.md", {})


# The page.


def story() -> Story:
    part, _plan = page_view(PAGES["story"], PAGES["story"].view("")).parts
    assert isinstance(part, Story)
    return part


@whole
def test_there_are_eight_figures_a_table_and_at_most_1200_words_of_prose():
    kinds = [type(section.figure) for section in story().sections]
    assert kinds == [DepthFigure, *[LinkedFigure] * 4, Pictures, *[LinkedFigure] * 2, Table]
    assert len(" ".join(map(text, PROSE)).split()) < 1200


def test_the_switch_between_mean_and_gamma_stands_in_the_second_section():
    assert story().sections[1].figure.state_names == ["mean", "gamma"]


# Paragraphs and numbers show states; small pictures of them are correct.


@pytest.mark.parametrize("name", languages())
def test_each_paragraph_with_a_state_is_there_in_every_language(name):
    with in_language(name):
        for section in story().sections[:-1]:
            steps, paragraphs = section.figure.steps, section.text.split("\n\n")
            assert len(steps) >= 2
            assert len(paragraphs) == len(PROSE[section.key].prose.text.split("\n\n")) >= len(steps)
    english = [len(section.text.split("\n\n")) for section in story().sections]
    with in_language(name):
        assert [len(section.text.split("\n\n")) for section in story().sections] == english


def shown_by(section, what: str) -> list[tuple[str, str]]:
    """The states that paragraphs (``nv-story-step``) or numbers show, and the text of each."""
    found = re.findall(rf'class="{what}" data-show="(\d+)">(.*?)</', section.html(Body()), re.DOTALL)
    return [(section.figure.state_names[int(number)], said) for number, said in found]


def test_paragraphs_show_the_states_that_they_tell():
    steps = {
        section.key: [name for name, _text in shown_by(section, "nv-story-step")] for section in story().sections[:-1]
    }
    assert steps["depth"] == ["0.5", "1", "1.6", "1.6, BatchNorm"]
    assert steps["batch"] == ["8", "4", "2"]
    assert steps["pictures"] == ["100 %", "50 %", "20 %"]
    assert sum(map(len, steps.values())) >= 20


def test_a_number_shows_the_state_that_it_comes_from():
    for section in story().sections[:-1]:
        if section.key not in ("batch", "depth", "padding"):
            continue
        states = dict(zip(section.figure.state_names, section.figure.states, strict=True))
        for name, said in shown_by(section, "nv-story-number"):
            values = states[name] if section.key == "depth" else panels(states[name])["output"].flatten()[1:2].tolist()
            sizes = [float(one) for one in name.split(",")[:1]]
            assert any(
                float(said.replace("−", "-")) == pytest.approx(one, rel=0.01) for one in (*values[-1:], *sizes)
            ), said


def test_a_figure_opens_where_it_hurts():
    opened = {section.key: section.figure.state_names[section.figure.first] for section in story().sections[:-1]}
    assert (opened["depth"], opened["batch"], opened["padding"], opened["pictures"]) == (
        "1.6",
        "2",
        "3, BatchNorm",
        "20 %",
    )


def cells(picture: str) -> list[float]:
    return [
        float(one.replace("−", "-"))
        for text in re.findall(r"<pre>(.*?)</pre>", picture, re.DOTALL)
        for one in text.split()
    ]


def test_the_small_picture_of_a_state_has_the_values_of_its_output():
    for figure in (figures.batch_figure(), figures.eval_figure(), figures.padding_figure(), figures.rms_figure()):
        for name, state in zip(figure.state_names, figure.states, strict=True):
            found, shown = cells(figure.still(name)), panels(state)
            outputs = [shown["output"]] if "output" in shown else [shown["LayerNorm"][0], shown["RMSNorm"][0]]
            expected = torch.cat([one.flatten() for one in outputs]).tolist()
            assert found == pytest.approx(expected, rel=0.06, abs=1e-6), name


def test_the_small_pictures_of_sharing_have_a_color_for_each_group():
    means, gammas = (re.findall(r"<svg.*?</svg>", figures.five_figure().still(name)) for name in ("mean", "gamma"))
    assert len(means) == len(gammas) == len(figures.five_layers())
    table = figures.five_table()
    assert [picture.count("<path") for picture in means] == [row[1] for row in table.rows]
    assert [picture.count("<path") for picture in gammas] == [row[3] for row in table.rows]
    for picture in (*means, *gammas):
        colors = re.findall(r'style="fill:([^"]+)"', picture)
        assert len({*colors}) == len(colors)


def test_the_small_pictures_of_the_first_figure_have_the_heights_of_its_bars():
    figure = figures.depth_figure()
    for name, spreads in zip(figure.state_names, figure.states, strict=True):
        heights = [int(one) for one in re.findall(r'style="height:(\d+)%"', figure.still(name))]
        assert heights == pytest.approx([min(100, max(0, (np.log10(one) + 3) / 6 * 100)) for one in spreads], abs=0.6)


def test_it_leads_to_exercises():
    assert (story().next.page, story().next.query) == ("practice", "")
