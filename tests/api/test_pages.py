"""Each page has a function of the same name: its values are those of torch, its errors one line, and its link opens the same view."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import normviz as nv
from normviz.figures.wire import sent
from normviz.lessons.all_layers.page import LayerMap
from normviz.lessons.models.page import NormTable, Strip
from normviz.lessons.pages import PAGES
from normviz.lessons.practice.page import Practice
from normviz.lessons.start.page import Lesson
from normviz.lessons.story.figures import Story
from normviz.lessons.train_and_eval.training import Training
from normviz.parts.part import Chart, Code, Note, Panels, QuestionList, Sentence, Table, flat
from normviz.texts.errors import NormvizError
from tests.support.needs import needs_rms_norm

SMALL = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 9]])
PATTERN = nv.Norm(stats="n c h w -> n h w", params="c")


def contents(output):
    """Everything that the output shows, as values that can be compared."""
    found = []
    for part in flat(output.parts):
        if isinstance(part, Panels):
            found.append(sent(part.data) | {"editable": False})  # only the app is editable
        elif isinstance(part, Chart):
            found.append((part.lines.figure().to_json(), part.alt))
        elif isinstance(
            part,
            Sentence
            | Table
            | Code
            | Note
            | Training
            | Lesson
            | NormTable
            | Practice
            | QuestionList
            | Story
            | Strip
            | LayerMap,
        ):
            found.append(part)
        else:
            found.append(getattr(part, "text", getattr(part, "title", type(part).__name__)))
    return found


def panels(output):
    return sent(next(part for part in output.parts if isinstance(part, Panels)).data)


OUTPUTS = {
    "explore": lambda: nv.explore("LayerNorm([3,4,4])"),
    "at": lambda: nv.explore("GroupNorm(2,4)", (2, 4, 3, 3), at=(0, 1, 2, 2)),
    "values": lambda: nv.explore("LayerNorm(4)", SMALL),
    "eval": lambda: nv.explore("BatchNorm2d(3).eval()"),
    "pattern": lambda: nv.explore(PATTERN),
    "layout": lambda: nv.explore("LayerNorm(3)", (2, 4, 4, 3), layout="NHWC"),
    "compare": lambda: nv.compare(["BatchNorm2d(3)", "LayerNorm([3,4,4])"]),
    "compare values": lambda: nv.compare(["LayerNorm(4)", "RMSNorm(4)"], SMALL),
    "compare patterns": lambda: nv.compare(["BatchNorm2d(3)", PATTERN]),
    "steps": lambda: nv.steps("LayerNorm([3,4,4])", step=3),
    "gradients": lambda: nv.gradients("LayerNorm(4)", (2, 4)),
    "matrix": lambda: nv.gradients("LayerNorm(4)", SMALL, show="matrix"),
    "backward": lambda: nv.gradients("BatchNorm1d(4)", (3, 4), show="backward", seed=2),
    "train and eval": lambda: nv.train_and_eval(),
    "numerics": lambda: nv.numerics(seed=2, show="eps"),
    "question": lambda: nv.questions("s0"),
    "questions": lambda: nv.questions(),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_its_link_opens_the_same_view(name):
    output = OUTPUTS[name]()
    opened = nv.open(output.url("https://example.org/normviz"))
    assert opened.title == output.title
    assert opened.page == output.page
    assert contents(opened) == contents(output)


def test_explain_and_explore_show_the_same():
    assert contents(nv.explain("LayerNorm(4)", SMALL).output()) == contents(nv.explore("LayerNorm(4)", SMALL))


def test_the_drawn_values_are_those_of_the_module():
    torch.manual_seed(1)
    layer, x = nn.GroupNorm(2, 4), torch.randn(2, 4, 3, 3)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    e = nv.explain(layer, x)
    data = panels(e.output())
    drawn = {figure["key"]: figure for figure in data["panels"]}
    assert set(drawn) == {"stats", "params", "x", "normalized", "output"}
    assert data["stats"]["count"] == 4
    torch.testing.assert_close(e.trace.output, layer(x).detach())
    z = np.frombuffer(__import__("base64").b64decode(drawn["output"]["z"]["data"]), dtype="<f4")
    expected = np.sort(layer(x).detach().numpy().ravel())
    np.testing.assert_allclose(np.sort(z[~np.isnan(z)]), expected, rtol=1e-5, atol=1e-6)
    assert all(torch.equal(before[name], value) for name, value in layer.state_dict().items())


def test_explain_of_a_shape_shows_the_sharing_and_no_values():
    assert [figure["key"] for figure in panels(nv.explain("LayerNorm(4)", (2, 4)).output())["panels"]] == [
        "stats",
        "params",
    ]


def test_arrays_and_layers_of_every_type_are_accepted():
    shown = [nv.explore(layer, SMALL.numpy()) for layer in ("LayerNorm(4)", nn.LayerNorm(4), nv.Layer.parse("LayerNorm(4)"))]  # fmt: skip
    assert contents(shown[0]) == contents(shown[1]) == contents(shown[2])


REFUSED = [
    (lambda: nv.compare("LayerNorm(4)"), "a comparison takes 2 to 6 layers"),
    (lambda: nv.compare([]), "a comparison takes 2 to 6 layers"),
    (lambda: nv.compare(["LayerNorm(4)"] * 7, (2, 4)), "remove 1"),
    (
        lambda: nv.compare(["LayerNorm(4)", nn.LayerNorm(4)], (2, 4)),
        r"a comparison shows LayerNorm\(\[4\]\) once; leave out what is equal",
    ),
    (lambda: nv.steps("LayerNorm(4)", (2, 4), step=99), "whole number from 0 to 6"),
    (lambda: nv.gradients("LayerNorm(4)", (2, 4), show="x"), "show='x' is unknown; choose column"),
    (lambda: nv.gradients("LayerNorm(4)", (2, 4), seed="a"), "seed='a' must be a whole number"),
    (lambda: nv.train_and_eval(what=1), "what=1 is not a setting here; choose show"),
    (lambda: PAGES["explore"].parse({"what": 1}), "what=1 is not a setting here; leave it out"),
    (lambda: nv.numerics(seed=-1), "seed=-1 must be a whole number"),
    (lambda: nv.questions("zz"), "q='zz' is not a question"),
    (lambda: nv.open("/nowhere?x=1"), "does not name a page; choose start, story, explore"),
    (lambda: nv.open(3), "link=3 does not name a page"),
    (lambda: nv.open("http://example.com"), "names neither a page nor a setting, so it may be a link to another site"),
    (lambda: nv.open("https://example.com/?x=1"), "add the page, as in https://example.com/explore"),
    (lambda: nv.open("/?shap=2,3"), "Did you mean shape.$"),
    (lambda: nv.open("/?shape=2,x"), "shape"),
    (lambda: nv.explain(nn.Sequential(nn.ReLU(), nn.BatchNorm2d(3)), (2, 3, 4, 4)), "It contains '1' .BatchNorm2d."),
    (lambda: nv.explore("LayerNorm(4)", (2, 4), at=(9, 9)), "index .9, 9. is not an element"),
    (lambda: nv.explore(3), "layer=3 is not a layer"),
    (lambda: nv.explain(nn.LazyBatchNorm1d(), (3, 4)), "no shape yet, because it is lazy; call the model once first"),
    (
        lambda: nv.train_and_eval("LayerNorm(4)", (2, 4), show="stream"),
        "show='stream' has batches of its own and does not use layer and x",
    ),
    (
        lambda: nv.train_and_eval("LayerNorm(4)", steps=5),
        "steps=5 has no effect with show='modes'; it belongs to show='stream'.",
    ),
    (lambda: nv.live("train_and_eval", "BatchNorm1d(4)", show="batches"), "does not use layer"),
    (lambda: nv.numerics(show="constant", seed=1), r"seed has no effect on numerics\(show='constant'\)"),
    (lambda: nv.steps(LastAxis(7)), "LastAxis has a forward of its own, which is measured on x; give x"),
]


class LastAxis(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight, self.shape = nn.Parameter(torch.full((size,), 2.0)), (size,)

    def forward(self, x):
        return self.weight * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-3).sqrt()


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=range(len(REFUSED)))
def test_invalid_arguments_are_refused_with_one_line(call, words):
    with pytest.raises(NormvizError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "link", ["https://example.com/?shape=2,3", "http://localhost:8501", "https://own.example.com/", "/"]
)
def test_a_link_to_the_app_itself_opens_explore(link, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://own.example.com")
    assert nv.open(link).page == "explore"


@pytest.mark.parametrize("link", ["/questions", "/questions?q=s0", "/questions?of=compare", "/questions?search=eps"])
def test_a_link_to_questions_opens_what_it_names(link):
    output = nv.open(link)
    assert output.url() == link
    assert "of=" not in link or contents(output) != contents(nv.open("/questions"))


def test_an_explanation_prints_as_its_sentence():
    assert str(nv.explain("BatchNorm2d(3)", (2, 3, 4, 4))) == (
        "BatchNorm2d(3) on (2, 3, 4, 4): 3 means and 3 variances, each from 32 elements; 3 gammas and 3 betas: one per channel, "
        "each used by 32 elements."
    )


def test_an_x_that_is_probably_nhwc_gives_a_warning():
    with pytest.warns(nv.NormvizWarning, match=r"x is read as NCHW.* then give layout NHWC\.$"):
        nv.explain("LayerNorm(96)", (8, 56, 56, 96))


EXAMPLES = [
    ("LayerNorm(96)", (2, 5, 96)),
    ("LayerNorm([3,4,4])", (2, 3, 4, 4)),
    ("BatchNorm2d(64)", (2, 64, 3, 5)),
    ("ChannelsLastBatchNorm(6)", (2, 5, 6)),
    (nn.GroupNorm(2, 6), (2, 6, 3, 5)),
]


@pytest.mark.parametrize(("layer", "shape"), EXAMPLES)
def test_without_x_a_layer_is_shown_on_an_example_of_its_size(layer, shape):
    assert f" on {shape} " in nv.explore(layer).title


def test_without_x_layers_are_compared_on_an_example_that_all_of_them_take():
    layers = ["BatchNorm2d(3)", "LayerNorm([3,4,4])"]
    assert "shape=2,3,4,4" in nv.compare(layers).url()
    assert nv.live("compare", layers).shape == (2, 3, 4, 4)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("show", [{}, {"show": "modes"}])
def test_train_and_eval_uses_the_running_statistics_of_the_module(training, show):
    module, x = nn.BatchNorm1d(3).train(training), torch.randn(8, 3)
    module.running_mean.fill_(5)
    module.running_var.fill_(9)
    fresh = copy.deepcopy(module)
    with torch.no_grad():
        gap = (fresh.train()(x) - copy.deepcopy(module).eval()(x)).abs().max()
    assert f"by up to {float(gap):.3g}." in str(nv.train_and_eval(module, x, **show))
    assert f"by up to {float(gap):.3g}." in str(nv.live("train_and_eval", module, x, **show).output())
    assert module.running_mean.tolist() == [5, 5, 5]


class Ghost(nn.Module):
    """It normalizes each half of the batch."""

    def forward(self, x):
        halves = x.reshape(2, -1, *x.shape[1:])
        deviation = (halves.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
        return ((halves - halves.mean(1, keepdim=True)) / deviation).reshape(x.shape)


@pytest.mark.parametrize("layers", [[Ghost(), "LayerNorm(3)"], ["LayerNorm(3)", Ghost()], [nn.LayerNorm(3), Ghost()]])
def test_groups_of_the_batch_are_compared_with_a_layer(layers):
    x = torch.randn(6, 3)
    assert "Norm('(g k) d -> g d', sizes={'g': 2})" in nv.compare(layers, x).title
    widget = nv.live("compare", layers, x)
    assert widget.problem == ""
    assert "Norm('(g k) d -> g d'" in str(widget.output())


def test_every_page_takes_a_module_of_ones_own():
    module, x = LastAxis(4), torch.randn(3, 4)
    assert nv.explain(module, x.numpy()).title == nv.explain(module, x).title == nv.explain(module, (3, 4)).title
    for shown in (nv.steps, nv.explore, nv.gradients):
        assert nv.explain(module, x).title in shown(module, x).title
    assert nv.live("steps", module, x).shape == nv.live(module, x).shape == (3, 4)
    for layers in ([module, "BatchNorm1d(4)"], ["BatchNorm1d(4)", module]):
        assert "Norm('n d -> n', 'd', eps=0.001, bias=False)" in nv.compare(layers, x).title
        assert nv.live("compare", layers, x).problem == ""


RESULTS = {
    "explain": lambda: nv.explain("LayerNorm(4)", SMALL),
    "check": lambda: nv.check(nn.LayerNorm(4), SMALL, like="LayerNorm(4)"),
    "norms": lambda: nv.norms(nn.Sequential(nn.LayerNorm(4)), SMALL),
    "live": lambda: nv.live("LayerNorm(4)", SMALL),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_the_methods_of_an_output_or_say_why_not(name):
    result = RESULTS[name]()
    output = result.with_(theme="dark", caption="Week 3")
    assert (output.theme, output.caption) == ("dark", "Week 3")
    assert result.output(caption="Week 4").caption == "Week 4"
    assert result.to_html(theme="dark", plotlyjs="cdn").startswith("<!doctype html>")
    assert "Week 3" in output.to_html(full=False, plotlyjs="cdn")
    if name == "norms":
        with pytest.raises(NormvizError, match="has no figure, only text and tables; use to_html"):
            result.figure()
    else:
        assert result.figure("dark").data
    if name in ("explain", "live"):
        assert nv.open(result.url()).title == result.output().title
    else:
        with pytest.raises(NormvizError, match=r"no link can express this view of .*; share it as a file"):
            result.url()


def test_a_slice_of_norms_is_norms():
    found = nv.norms(nn.Sequential(nn.LayerNorm(4), nn.LayerNorm(4), nn.RMSNorm(4)), SMALL)
    last = found[1:]
    assert (type(last), len(last), last.parameters, last.model_parameters) == (nv.Norms, 2, 12, 20)
    assert "RMSNorm" in last.explore(1).title
    assert found.grouped()[:1].members == (2,)
    assert len(found[3:]) == 0


def test_links_and_functions_name_the_same_view():
    """Every name of the link of Explore that changes what is shown, by keyword and in a link."""
    given = {
        "data": "scales", "seed": 3, "params": "random", "gamma": 2.0, "beta": -0.5, "at": (1, 2), "layout": "NL",
        "hide": ["code", "facts"], "caption": "Week 3", "present": True, "open": ("values", "worked"), "lang": "es",
    }  # fmt: skip
    output = nv.explore("LayerNorm(4)", shape=(2, 4), **given)
    opened = nv.open(
        "/explore?layer=LayerNorm(4)&shape=2,4&data=scales&seed=3&params=random&gamma=2&beta=-0.5&at=1,2&layout=NL"
        "&hide=code,facts&caption=Week 3&present=true&open=values,worked&lang=es"
    )
    assert output.query == opened.query
    assert (contents(output), output.lang) == (contents(opened), opened.lang)
    drawn = nv.explore("LayerNorm(64)", (8, 64, 64), from_=(0, 5, 9), at="none")
    assert (drawn.query["at"], drawn.query["from"]) == ("none", "0,5,9")


CONTRADICTIONS = [
    (lambda: nv.explore("LayerNorm(4)", SMALL, data="counting"), "data has no effect on an x that has values; give its shape as x."),
    (lambda: nv.explore("LayerNorm(4)", (2, 4), data="counting", values=[1.0] * 8), "data has no effect with values; leave it out."),
    (lambda: nv.explore("LayerNorm(4)", (2, 4), data="counting", seed=1), "seed has no effect on explore; leave it out."),
    pytest.param(lambda: nv.explore("RMSNorm(4)", (2, 4), beta=1), "beta has no effect on RMSNorm([4]), which has no beta; leave it out.", marks=needs_rms_norm),
    (lambda: nv.steps("InstanceNorm1d(4)", (2, 4, 3), params="index"), "params has no effect on InstanceNorm1d(4), which has no gamma; leave it out."),
    (lambda: nv.gradients("LayerNorm(4)", (2, 4), input="signs", data="counting"), "data has no effect on gradients(input='signs'); leave it out."),
    (lambda: nv.explore("LayerNorm(4)", (2, 4), shape=(2, 4)), "x and shape are both given; leave shape=(2, 4) out."),
    (lambda: nv.questions("s0", of="compare"), "of='compare' has no effect with q='s0'; it belongs to the list of questions."),
    (lambda: nv.explore("LayerNorm(4)", lang="xx"), "xx"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), CONTRADICTIONS, ids=range(len(CONTRADICTIONS)))
def test_an_argument_without_effect_is_told_with_the_reason(call, message):
    with pytest.raises(NormvizError) as raised:
        call()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "show", [lambda: nv.explore("LayerNorm(4)", (2, 4)), lambda: nv.numerics(), lambda: nv.open("/story")]
)
def test_a_page_does_not_use_the_default_device(show):
    with torch.device("meta"):
        made = show()
    assert contents(made) == contents(show())
