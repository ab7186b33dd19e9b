"""In real models: the sentence, the strip, the table, and a reader's own layers."""

import re
from html import escape

import pytest

from normviz.export.links import output_of_query
from normviz.lessons.models.page import REAL_MODELS, NormTable, Strip, own_model, recorded, tables
from normviz.lessons.pages import PAGES, page_view
from normviz.parts.html import Body
from normviz.parts.part import Details, Problem, Sentence
from normviz.texts.messages import plain
from tests.support.needs import cases_in_torch, needs_rms_norm


def page_of(query):
    return page_view(PAGES["models"], PAGES["models"].view(query))


def part(made, kind):
    return next(one for one in made.parts if isinstance(one, kind))


def sentence(query):
    return part(page_of(query), Sentence).plain_text()


def test_the_counts_of_a_model():
    assert sentence("") == "53 BatchNorm layers: 53,120 parameters, 0.21 % of the model's 25,557,032."
    assert sentence("model=sd_unet").startswith("61 GroupNorm layers, 48 LayerNorm layers: ")


@pytest.mark.parametrize(
    ("model", "begins"),
    [
        ("resnet50", "53 of 53 normalizations average over the batch: in training, "),
        ("gpt2", "None of the 25 normalizations averages over the batch: "),
        ("own", "1 of 2 normalizations averages over the batch: "),
    ],
)
def test_which_average_over_the_batch(model, begins):
    assert sentence(f"model={model}&mark=batch").startswith(begins)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("model=resnet50", "In training, 53 of 53 normalizations depend on the size of the batch. The fewest elements are those of layer4.0.bn2: 49 in a batch of 1, 98 in one of 2, 1,568 in one of 32. If they were independent, the standard error of a mean would be 14\u00a0%, 10\u00a0%, 2.5\u00a0% of a standard deviation."),
        ("model=gpt2", "Each of the 25 normalizations has the same number of elements for each mean in a batch of any size: a small batch breaks none."),
        ("model=own&own=BatchNorm1d(64) on 2,64", "A batch of 1 has one element for each mean, which torch refuses in training."),
    ],
)  # fmt: skip
def test_which_break_with_a_small_batch(query, words):
    assert words in sentence(f"{query}&mark=small")
    html = part(page_of(f"{query}&mark=small"), Strip).html(Body(app=""))
    assert all(("nv-unmarked" in bar) == ("gpt2" in query) for bar in re.findall(r'<a class="([^"]*)"', html))


def test_the_table_has_the_elements_of_a_mean_by_the_size_of_the_batch():
    """By hand: a mean of BatchNorm is over N, H and W, one of LayerNorm over C."""
    own = own_model(["BatchNorm2d(64) on 5,64,7,7", "LayerNorm(768) on 2,128,768"])
    lines = NormTable(own).plain_text().splitlines()[1:]
    assert [re.split(" {2,}", line)[-2] for line in lines] == ["49 · 98 · 1,568", "768"]


@pytest.mark.parametrize("key", REAL_MODELS)
def test_the_strip_has_a_bar_for_each_normalization_that_opens_it_in_explore(key):
    html = part(page_of(f"model={key}"), Strip).html(Body(app=""))
    rows = recorded(key).rows
    assert re.findall(r'title="([^"]*)"', html) == [escape(f"{row.name}: {row.kind.title}") for row in rows]
    assert html.count('data-page="explore"') == html.count('<a class="nv-go nv-norm') == len(rows)
    assert "nv-unmarked" not in html


def test_what_does_not_average_over_the_batch_is_hollow():
    html = part(page_of("model=own&mark=batch"), Strip).html(Body(app=""))
    assert [("nv-unmarked" in bar) for bar in re.findall(r'<a class="([^"]*)"', html)] == [False, True]


def test_without_an_app_the_bars_and_the_layers_are_no_links():
    made = page_of("model=gpt2")
    assert "<a " not in part(made, Strip).html(Body())
    assert "A click on a bar" not in part(made, Strip).html(Body())
    assert "A click on a bar opens its layer in Explore." in part(made, Strip).html(Body(app=""))
    assert "<a " not in part(made, NormTable).html(Body())
    assert "<code>LayerNorm([768])</code>" in part(made, NormTable).html(Body())


def lines(model):
    """The cells of each line of the table, or of the tables."""
    html = "".join(table.html(Body(app="")) for table in tables(recorded(model))).replace("<wbr>", "")
    return [re.findall(r"<td>(.*?)</td>", one) for one in re.findall(r"<tr>(<td>.*?)</tr>", html)]


def test_the_table_has_a_line_for_each_normalization_that_blocks_repeat():
    assert [line[0] for line in lines("llama3_8b")] == [
        "model.layers.*.input_layernorm ×\u00a032",
        "model.layers.*.post_attention_layernorm ×\u00a032",
        "model.norm",
    ]
    assert [line[0] for line in lines("resnet50")][:6] == [
        "bn1",
        "layer1.*.bn1 ×\u00a03",
        "layer1.*.bn2 ×\u00a03",
        "layer1.*.bn3 ×\u00a03",
        "layer1.0.downsample.1",
        "layer2.0.bn1",  # on a larger image than layer2.1.bn1
    ]


def test_a_model_with_many_lines_has_a_closed_table_for_each_block():
    made = page_of("model=sd_unet")
    blocks = [one for one in made.parts if isinstance(one, Details)]
    assert [one.title.split("`")[1] for one in blocks] == [
        *(f"down_blocks.{n}" for n in range(4)), "mid_block", *(f"up_blocks.{n}" for n in range(4)), "conv_norm_out",
    ]  # fmt: skip
    assert list(recorded("resnet50").blocks) == ["bn1", "layer1", "layer2", "layer3", "layer4"]
    assert plain(blocks[0].title) == "down_blocks.0 · 6 GroupNorm layers, 6 LayerNorm layers: 7,680 parameters."
    assert not any(one.is_open for one in blocks)
    assert not any(isinstance(one, NormTable) for one in made.parts)
    assert [len(lines(key)) for key in ("llama3_8b", "sd_unet")] == [3, len(recorded("sd_unet").repeated)]
    assert not any(isinstance(one, Details) for one in page_of("model=llama3_8b").parts)


def test_own_layers_have_one_table_because_they_have_no_blocks():
    own = "; ".join(f"LayerNorm({n}) on 2,{n}" for n in range(2, 22))
    made = page_of({"model": "own", "own": own})
    assert len(part(made, NormTable).model.repeated) == 20
    assert not any(isinstance(one, Details) for one in made.parts)


@pytest.mark.parametrize("key", REAL_MODELS)
def test_the_blocks_hold_all_normalizations_in_order(key):
    rows = [row for block in recorded(key).blocks.values() for row in block.rows]
    assert rows == list(recorded(key).rows)


@pytest.mark.parametrize("key", REAL_MODELS)
def test_the_modules_of_a_line_have_the_same_name_but_for_numbers(key):
    model = recorded(key)
    for rows in model.repeated:
        assert len({re.sub(r"(^|(?<=\.))\d+(?=\.|$)", "*", row.name) for row in rows}) == 1
        assert len({row.kind for row in rows}) == 1
    assert sorted(row.name for rows in model.repeated for row in rows) == sorted(row.name for row in model.rows)


@pytest.mark.parametrize(
    ("model", "axes"),
    [("resnet50", "N, H, W"), ("sd_unet", "C in 32 groups, H, W"), ("llama3_8b", "C"), ("style", "H, W")],
)
def test_the_table_says_over_which_axes_a_layer_averages(model, axes):
    assert lines(model)[0][3] == axes
    assert "Averaged over" in next(iter(tables(recorded(model)))).plain_text()


@needs_rms_norm
def test_the_parameters_of_a_line_are_those_of_all_its_modules():
    html = part(page_of("model=gemma3"), NormTable).html(Body(app=""))
    assert "zero_centered_gamma=True" in html
    assert f"{26 * 1152:,}" in html
    assert (
        "RMSNorm([256], eps=1e-06, zero_centered_gamma=True)" in part(page_of("model=gemma3"), NormTable).plain_text()
    )


def test_the_strip_has_the_names_of_its_two_scales():
    html = part(page_of(""), Strip).html(Body())
    assert re.findall(r"<span>([^<]*scale)</span>", html) == ["channels, log scale", "positions, log scale"]


def test_screen_readers_hear_the_strip_as_one_sentence():
    strip = part(page_of("model=wav2vec2"), Strip)
    assert strip.plain_text() == (
        "wav2vec 2.0 base: 27 normalizations. Number × positions of an example, in order: 1 × 3199, 26 × 49."
    )
    assert f'aria-label="{strip.plain_text()}"' in strip.html(Body())


def test_own_layers_are_read_and_never_executed():
    made = page_of("model=own&own=nn.LayerNorm(768) on 2, 128, 768; BatchNorm1d(4) on 8,4")
    assert not any(isinstance(part, Problem) for part in made.parts)
    assert part(made, Sentence).plain_text() == "1 LayerNorm layer, 1 BatchNorm layer: 1,544 parameters."
    code = page_of("model=own&own=__import__('os').abort() on 2,3")
    assert isinstance(code.parts[0], Problem)
    assert part(code, Sentence).plain_text().startswith("1 BatchNorm layer")  # those of the start


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("nn.LayerNorm(768)", "'nn.LayerNorm\\(768\\)' is not a layer on a shape; write it as in"),
        ("nn.LayerNorm(5) on 2,3", "torch refuses: .*expected input with shape .*, 5.*must be the last sizes of x"),
        (";", "must be 1 to 40 layers on shapes"),
    ],
)
def test_what_is_no_layer_on_a_shape_is_refused(own, words):
    problem = page_of({"model": "own", "own": own}).parts[0]
    assert isinstance(problem, Problem)
    assert re.search(words, problem.text), problem.text


def test_its_own_layers_have_a_field_only_where_they_are_shown():
    assert [[one.key for one in row.inputs] for row in page_of("").rows] == [["model", "mark"]]
    assert [[one.key for one in row.inputs] for row in page_of("model=own").rows] == [["model", "mark", "set_own"]]


def test_a_file_and_a_link_are_named_after_the_model():
    output = output_of_query("models", {"model": "gpt2", "mark": "batch"})
    assert (output.title, output.query) == ("GPT-2 · In real models · normviz", {"model": "gpt2", "mark": "batch"})
    assert "None of the <strong>25</strong> normalizations" in output.to_html(plotlyjs="none.js")
    assert PAGES["models"].share_title(PAGES["models"].view("model=gpt2")) == "In real models: GPT-2"


@cases_in_torch
@pytest.mark.parametrize(
    ("own", "channels", "positions"),
    [
        ("LayerNorm(5) on 5", 5, ()),
        ("BatchNorm1d(4) on 8,4", 4, ()),
        ("RMSNorm(1) on 1", 1, ()),
        ("LayerNorm([4,5]) on 2,3,4,5", 3, (4, 5)),
        ("Norm('n (g k) h w -> n g','g k',sizes={'g':2}) on 2,6,4,4", 6, (4, 4)),
        ("LayerNorm(2) on 1099511627776,2", 2, ()),
    ],
)
def test_any_layer_on_any_shape_has_a_bar(own, channels, positions):
    made = page_of({"model": "own", "own": own})
    assert not any(isinstance(part, Problem) for part in made.parts), made.parts[0]
    (row,) = part(made, Strip).model.rows
    assert (row.kind.channels, row.kind.positions) == (channels, positions)
    assert part(made, Strip).html(Body(app="")).count("nv-norm ") == 1
    assert PAGES["explore"].view(row.kind.query).scene.shape == row.kind.shape


@pytest.mark.parametrize(
    "layer", ["DimNorm(3,dim=1)", "SyncBatchNorm(3)", "ChannelsFirstLayerNorm(3)", "Norm('n c h w -> n')"]
)
def test_a_family_without_a_color_of_its_own_is_gray(layer):
    strip = part(page_of({"model": "own", "own": f"{layer} on 2,3,4,3; GroupNorm(1,3) on 2,3,4,3"}), Strip)
    assert re.findall(r"nv-norm nv-family-(\d)", strip.html(Body(app=""))) == ["5", "3"]


def test_what_is_typed_in_vain_stays_in_its_field_with_the_reason():
    view = PAGES["models"].view("model=own")
    field = page_view(PAGES["models"], view).rows[0].inputs[-1]
    typed = field.changed(view, "nn.GroupNorm(3, 6) on 2,6,4,4; nn.LayerNorm(6) on 8,6")
    assert [row.kind.family for row in part(page_view(PAGES["models"], typed), Strip).model.rows] == [
        "GroupNorm",
        "LayerNorm",
    ]
    refused = field.changed(view, "nn.GroupNorm(4, 6) on 2,6,4,4")
    assert "C=6 channels cannot be split into 4 equal groups" in refused.problem
    assert page_view(PAGES["models"], refused).rows[0].inputs[-1].value == "nn.GroupNorm(4, 6) on 2,6,4,4"


@needs_rms_norm
def test_the_beginning_of_a_name_is_enough_where_it_is_that_of_one_model():
    read = {text: PAGES["models"].view(f"model={text}") for text in ("llama", "Llama3", "bert", "s", "llamas")}
    assert [read[text].settings["model"] for text in ("llama", "Llama3", "bert")] == ["llama3_8b", "llama3_8b", "bert"]
    assert [bool(read[text].problem) for text in read] == [False, False, False, True, True]  # "s" begins three names
