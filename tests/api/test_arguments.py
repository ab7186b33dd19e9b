"""No function of the API ignores an argument: it changes the output, or an error names it."""

import inspect

import pytest
import torch

import normviz as nv
from normviz.lessons.pages import PAGES
from tests.api.test_pages import contents
from tests.measuring.models.zoo import Frozen
from tests.support.needs import HAS_RMS_NORM

X = torch.tensor([[1.0, 2, 3, 5], [5, -6, 7, 9], [0, 1, 1, 0]])
LAYER, BATCH_NORM, BOTH = "LayerNorm(4)", "BatchNorm1d(4)", ("LayerNorm(4)", "BatchNorm1d(4)")
GIVEN = {
    "at": (0, 1), "seed": 3, "layout": "NL", "layer": BATCH_NORM, "x": (6, 4), "shape": (6, 4), "from_": (0, 1),
    "data": "counting", "values": [0.5] * 12, "params": "index", "gamma": 2.0, "beta": 0.5,
    "hide": ["all", "panels"], "caption": "Week 3", "present": True, "lang": "es", "open": "code", "q": "s0",
}  # fmt: skip
OF_EVERY_PAGE = ("hide", "caption", "present", "lang")


def options(page, name):
    return next(one for one in PAGES[page].settings if one.name == name).widget.options


# Of a function: the name of its page, and calls without further arguments.
SHOWS = {page: options(page, "show") for page in ("gradients", "train_and_eval", "numerics")}
CALLS = {
    "explore": ("explore", [{"layer": LAYER, "x": x} for x in (X, (3, 4))]),
    "steps": ("step_by_step", [{"layer": LAYER, "x": x} for x in (X, (3, 4))]),
    "compare": ("compare", [{"layers": BOTH, "x": x} for x in (X, (3, 4))]),
    "all_layers": ("all_layers", [{"layer": LAYER, "x": x} for x in (X, (3, 4))]),
    "gradients": (
        "gradients",
        [{"layer": LAYER, "x": x, "show": show} for x in (X, (3, 4)) for show in SHOWS["gradients"]],
    ),
    "train_and_eval": (
        "train_and_eval",
        [
            *({"show": show} for show in SHOWS["train_and_eval"] if show != "modes"),
            *({"layer": BATCH_NORM, "x": x} for x in (X, (3, 4))),
        ],
    ),
    "numerics": ("numerics", [{"show": show} for show in SHOWS["numerics"]]),
    **{page: (page, [{}]) for page in ("start", "story", "models", "practice", "teach", "questions")},
}
LIVE = [
    ("explore", (LAYER, X), {}), ("step_by_step", (LAYER, X), {}), ("compare", (BOTH, X), {}),
    ("gradients", (LAYER, X), {}), ("gradients", (LAYER, X), {"show": "matrix"}),
    ("train_and_eval", (BATCH_NORM, X), {}), ("train_and_eval", (), {"show": "stream"}), ("numerics", (), {}),
]  # fmt: skip


def values(page, name):
    """Other values than the default."""
    if name in GIVEN:
        return [GIVEN[name]]
    setting = next(one for one in PAGES[page].settings if one.name == name)
    found = [setting.example, *getattr(setting.widget, "options", ())]
    texts = [one if isinstance(one, str) else setting.format(one) for one in found if one != ""]
    return [one for one in dict.fromkeys(texts) if one != setting.format(setting.default)]


def names(function, page):
    of_function = [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD) and name not in ("page", "layers")
    ]
    return list(dict.fromkeys([*of_function, *(one.name for one in PAGES[page].settings)]))


REFUSALS = (
    "has no effect",
    "does not use",
    "are both given",
    "is not a set of this app",
    "does not name the first slice",
)


def of_link(output):
    return output.query, output.lang


WITHOUT = {}  # what a call shows without the argument


def outcome(show, name, candidates, call):
    """ "changes" if one of the values changes what is shown; else "ignored", or the error."""
    # a page need not have what is hidden, and some texts are the browser's
    what = of_link if name in ("hide", "present", "lang") else contents
    if (what, call) not in WITHOUT:
        WITHOUT[what, call] = what(show({}))
    before = WITHOUT[what, call]
    try:
        return "changes" if any(what(show({name: value})) != before for value in candidates) else "ignored"
    except nv.NormvizError as error:
        return str(error)


def check(show, name, candidates, call):
    found = outcome(show, name, candidates, call)
    assert found == "changes" or (name.rstrip("_") in found and any(words in found for words in REFUSALS)), found


CASES = [
    pytest.param(function, page, call, name, id=f"{function}-{number}-{name}")
    for function, (page, calls) in CALLS.items()
    for number, call in enumerate(calls)
    for name in names(getattr(nv, function), page)
    if name not in call and not (function == "compare" and name == "layers") and not (number and name in OF_EVERY_PAGE)
]


@pytest.mark.parametrize(("function", "page", "call", "name"), CASES)
def test_an_argument_has_an_effect_or_is_refused(function, page, call, name):
    check(lambda more: getattr(nv, function)(**call, **more), name, values(page, name), (function, id(call)))


def test_a_module_with_statistics_of_its_own_draws_nothing():
    module = torch.nn.BatchNorm1d(4)
    module(X)
    for show in (nv.train_and_eval, lambda *given, **more: nv.live("train_and_eval", *given, **more)):
        show(module, X)
        with pytest.raises(nv.NormvizError, match="seed has no effect on train_and_eval"):
            show(module, X, seed=1)
    drawn = [contents(nv.train_and_eval(torch.nn.BatchNorm1d(4, eps=1e-3), X, seed=seed)) for seed in (1, 2)]
    assert drawn[0] != drawn[1]  # other layers in the table


LIVE_CASES = [
    pytest.param(page, given, call, name, id=f"{page}-{number}-{name}")
    for number, (page, given, call) in enumerate(LIVE)
    for name in names(nv.live, page)
    if name not in call
]


@pytest.mark.parametrize(("page", "given", "call", "name"), LIVE_CASES)
def test_a_live_page_ignores_no_argument(page, given, call, name):
    check(lambda more: nv.live(page, *given, **call, **more).output(), name, values(page, name), ("live", id(call)))


@pytest.mark.parametrize("page", [name for name, page in PAGES.items() if page.uses != "tensor"])
def test_a_page_without_a_tensor_takes_no_layer(page):
    with pytest.raises(nv.NormvizError, match=rf"layer has no effect on {page}"):
        nv.live(page, LAYER)


def test_live_takes_a_layer_and_x():
    with pytest.raises(nv.NormvizError, match="3 has no effect on step_by_step"):
        nv.live("steps", LAYER, X, 3)


def detached(x):
    """LayerNorm whose mean has no gradient."""
    centered = x - x.mean(-1, keepdim=True).detach()
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def scaled(x, scale=1):
    return torch.nn.functional.layer_norm(x, x.shape[-1:]) * scale


def only_small(x):
    return scaled(x, 2 if x.shape[0] == 7 else 1)


def forward(x, scale=1):
    y = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * scale
    return y, (x, scale)


def backward(dout, cache):
    x, scale = cache
    return torch.autograd.functional.vjp(lambda x: forward(x, scale)[0], x, dout)[1]


@pytest.mark.parametrize(
    "show",
    [nv.explore, lambda layer, x: nv.explain(layer, x).output(), lambda layer, x: nv.compare([layer, BATCH_NORM], x)],
)
def test_a_single_view_takes_no_choices(show):
    output = show(LAYER, X)
    if output.view is None:
        with pytest.raises(nv.NormvizError, match="is a single view without choices"):
            output.with_(choices=nv.Choices())
    else:
        assert output.with_(choices=nv.Choices()).to_html() != output.to_html()


def is_measured(check):
    try:
        check()
    except nv.NormvizError as error:
        return "longer timeout" not in str(error)
    return True


# Of each other function: every argument by name, with a call that has it and one that has not.
RMS = {"x": (3, 4), "like": "RMSNorm(4, eps=1e-6)", "forward": forward}
EFFECTS = {
    "explain": {"layout": [lambda **more: repr(nv.explain(LAYER, (3, 4), **more).axes), "NL"]},
    "check": {
        "layout": [lambda **more: nv.check(scaled, (3, 4), **more).to_dict(), "NL"],
        "params": [lambda **more: nv.check(scaled, (3, 4), LAYER, **more).ok, {"scale": 2.0}],
        "shapes": [lambda **more: nv.check(only_small, (3, 4), LAYER, **more).ok, [(7, 4)]],
        "backward": [lambda **more: nv.check(detached, (3, 4), LAYER, **more).ok, False],
        "batch_invariant": [lambda **more: nv.check(scaled, (3, 4), LAYER, **more).trials.to_dict(), True],
        "timeout": [lambda **more: is_measured(lambda: nv.check(scaled, (3, 4), LAYER, **more)), 1e-9],
    },
    "check_backward": {
        "layout": [lambda **more: repr(nv.check_backward(backward, **RMS, **more).norm), "NL"],
        "params": [lambda **more: nv.check_backward(backward, **RMS, **more).text, {"scale": 3.0}],
        "timeout": [lambda **more: is_measured(lambda: nv.check_backward(backward, **RMS, **more)), 1e-9],
    },
    "norms": {},
    "diagnose": {
        "steps": [lambda **more: nv.diagnose(MODEL, [torch.ones(2, 3), torch.zeros(2, 3)], **more).batches, 1],
        "other": [lambda **more: nv.diagnose(MODEL, [torch.eye(3)], **more).notes, torch.nn.BatchNorm1d(4)],
    },
}
MODEL = torch.nn.BatchNorm1d(3).eval()


@pytest.mark.parametrize(("function", "name"), [(one, name) for one, names in EFFECTS.items() for name in names])
def test_an_argument_of_another_function_has_an_effect(function, name):
    if function == "check_backward" and not HAS_RMS_NORM:
        pytest.skip("the backward is that of an RMSNorm")
    call, value = EFFECTS[function][name]
    assert call(**{name: value}) != call()


def test_a_measured_module_uses_the_layout():
    found = nv.explain(Frozen(3), (2, 3, 4, 5), layout="NCWH")
    assert (found.layout, found.norm.stats) == ("NCWH", "n c w h -> c")


@pytest.mark.rule(
    "Each keyword of a function is tried: add it to EFFECTS in this file, with a value that changes the view"
)
def test_every_function_and_argument_is_tried():
    functions = {name for name in nv.__all__ if inspect.isfunction(getattr(nv, name))}
    assert functions == {*CALLS, *EFFECTS, "live", "step_by_step"}
    assert {"step_by_step", *CALLS} - {"steps"} == {*PAGES} - {"home"}  # the front page shows no view
    assert nv.step_by_step is nv.steps
    for function, tried in EFFECTS.items():
        parameters = inspect.signature(getattr(nv, function)).parameters.values()
        assert {one.name for one in parameters if one.kind == one.KEYWORD_ONLY} - {"forward"} == {*tried}


def test_the_defaults_of_a_signature_are_values_that_the_function_takes():
    defaults = {}
    for page in ("numerics", "practice", "train_and_eval", "start", "models"):
        for name, one in inspect.signature(getattr(nv, page)).parameters.items():
            if one.kind == one.KEYWORD_ONLY and one.default not in (None, ""):
                defaults[page, name] = one.default
    assert defaults["numerics", "distance"] == 1e6
    assert defaults["numerics", "spread"] == 1e-4
    assert defaults["practice", "time"] is False
    assert defaults["train_and_eval", "batch"] == 2
    for (page, name), default in defaults.items():
        if name not in ("data", "params", "seed"):
            getattr(nv, page)(**{name: default})
