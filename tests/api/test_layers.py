"""Every entry of the API takes every kind of layer, and shows the numbers of that layer: its output, gamma, beta and running statistics."""

from base64 import b64decode
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import normviz as nv
from normviz.figures.wire import sent
from normviz.parts.part import Panels, flat
from tests.measuring.models.zoo import Frozen, Llama, OverChannels, Permuted, Pixel
from tests.support.needs import HAS_RMS_NORM

SHAPE = (2, 4, 2, 3)
X = torch.randn(SHAPE, generator=torch.Generator().manual_seed(3)) + 1


class OwnBatchNorm(nn.Module):
    """BatchNorm that does not inherit from torch's."""

    def __init__(self, size):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, self.training)


class Overridden(nn.BatchNorm2d):
    """A subclass of torch's with its own forward."""

    def forward(self, x):
        return super().forward(x) + 0


def trained(module, training=True):
    """The module with random gamma, beta and running statistics, far from those of a new one."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 1.5)
    return module.train(training)


def channels(values):
    return values.reshape(-1, 1, 1)


LAYERS = {
    "text": "LayerNorm([4, 2, 3])",
    "text in eval mode": "BatchNorm2d(4).eval()",
    "Layer": nv.Layer.parse("GroupNorm(2, 4)"),
    "Norm": nv.Norm("n c h w -> n h w", "c", eps=1e-6),
    "Norm with long names": nv.Norm("batch channel row column -> batch", "channel"),
    "LayerNorm": trained(nn.LayerNorm([4, 2, 3])),
    "LayerNorm in float64": trained(nn.LayerNorm([2, 3]).double()),
    **({"RMSNorm": trained(nn.RMSNorm(3))} if HAS_RMS_NORM else {}),
    "GroupNorm": trained(nn.GroupNorm(2, 4)),
    "BatchNorm": trained(nn.BatchNorm2d(4)),
    "BatchNorm in eval mode": trained(nn.BatchNorm2d(4), False),
    "BatchNorm that stores nothing": trained(nn.BatchNorm2d(4, track_running_stats=False), False),
    "InstanceNorm": trained(nn.InstanceNorm2d(4, affine=True, track_running_stats=True)),
    "InstanceNorm in eval mode": trained(nn.InstanceNorm2d(4, affine=True, track_running_stats=True), False),
    "own RMSNorm": trained(Llama(3)),
    "own RMSNorm in eval mode": trained(Llama(3), False),
    "own norm over channels": trained(OverChannels(4)),
    "own norm without parameters": trained(Pixel()),
    "own frozen BatchNorm": trained(Frozen(4)),
    "own BatchNorm": trained(OwnBatchNorm(4)),
    "own BatchNorm in eval mode": trained(OwnBatchNorm(4), False),
    "subclass of LayerNorm": trained(Permuted(4)),
    "subclass of BatchNorm": trained(Overridden(4)),
    "subclass of BatchNorm in eval mode": trained(Overridden(4), False),
}
MODULES = {name: layer for name, layer in LAYERS.items() if isinstance(layer, nn.Module)}
OWN = [name for name in MODULES if name.startswith(("own", "subclass"))]
NORMS = ["Norm", "Norm with long names"]
STORING = [
    name for name in OWN if "BatchNorm" in name and "frozen" not in name
]  # they store statistics in one mode and use them in the other
PER_CHANNEL = (nn.GroupNorm, nn.BatchNorm2d, nn.InstanceNorm2d, OverChannels, Frozen, OwnBatchNorm, Permuted)
NEW = {  # the modules of the layers that are no modules
    "text": nn.LayerNorm([4, 2, 3]),
    "text in eval mode": nn.BatchNorm2d(4).eval(),
    "Layer": nn.GroupNorm(2, 4),
    "Norm": OverChannels(4),
    "Norm with long names": nn.GroupNorm(1, 4),
}
GIVEN = pytest.mark.parametrize("given", [SHAPE, X], ids=["shape", "tensor"])
EVERY = pytest.mark.parametrize("name", LAYERS)


def given_to(layer, given):
    """The shape, or x with the dtype of a module."""
    parameter = next(layer.parameters(), None) if isinstance(layer, nn.Module) else None
    return given if parameter is None or isinstance(given, tuple) else given.to(parameter.dtype)


def module_of(name):
    return deepcopy(MODULES.get(name, NEW.get(name)))


def output(module, x):
    """The output of a module for x, of the dtype of its parameters."""
    parameter = next(module.parameters(), x)
    return deepcopy(module)(x.to(parameter.dtype)).detach().float()


def tensors_of(module):
    """gamma, beta, and in eval mode the running statistics, as they broadcast over x."""
    gamma, beta = getattr(module, "weight", None), getattr(module, "bias", None)
    found = {"gamma": gamma, "beta": beta}
    if getattr(module, "running_mean", None) is not None and (not module.training or isinstance(module, Frozen)):
        found |= {"mean": channels(module.running_mean), "var": channels(module.running_var)}
    for key in ("gamma", "beta"):
        if found[key] is not None and isinstance(module, PER_CHANNEL):
            found[key] = channels(found[key])
    return {key: value.detach().float().expand(SHAPE) for key, value in found.items() if value is not None}


def numbers(sent):
    """The numbers of a panel, of which every element is drawn: an array, or packed as the browser gets it."""
    if isinstance(sent, dict):
        sent = np.frombuffer(b64decode(sent["data"]), dtype="<f4").reshape(sent["shape"])
    return torch.from_numpy(np.array(sent, dtype=np.float32))


def drawn(data):
    """By key: the numbers of the panels of a figure."""
    return {panel["key"]: numbers(panel["z"]) for panel in data["panels"] if panel["z"] is not None}


def figure(shown):
    return sent(next(part for part in flat(shown.parts) if isinstance(part, Panels)).data)


@cache
def explored(name, given):
    """The figure of Explore, which several tests compare with another page."""
    return figure(nv.explore(LAYERS[name], given_to(LAYERS[name], given)))


@cache
def explained(name, given):
    return nv.explain(LAYERS[name], given_to(LAYERS[name], given))


def check(data, name, given, layer):
    """The figure shows x, and the numbers of the layer for it."""
    panels, module = drawn(data), module_of(name)
    if not isinstance(given, tuple):
        close(panels["x"], given)
    last = "output" if "output" in panels else "normalized"  # without gamma, the steps end there
    close(panels[last], output(module, panels["x"]))
    held = {key: numbers(value).expand(SHAPE) for key, value in data["values"].items() if key != "eps"}
    for key, value in tensors_of(module).items():
        close(held[key], value)


def close(found, expected):
    torch.testing.assert_close(found, expected.float(), rtol=2e-4, atol=2e-4)


def live_figure(widget):
    """The first figure that the widget sends."""
    sent = []
    widget.send = lambda content, buffers=None: sent.append(content)
    widget._handle_custom_msg({"name": "look", "turn": 1}, [])
    return sent[-1]["data"]["figures"][0]


@pytest.fixture(autouse=True)
def _nothing_is_modified():
    before = {
        name: (module.training, {key: value.clone() for key, value in module.state_dict().items()})
        for name, module in MODULES.items()
    }
    yield
    for name, (training, state) in before.items():
        assert MODULES[name].training == training
        assert all(torch.equal(state[key], value) for key, value in MODULES[name].state_dict().items())


@EVERY
@pytest.mark.parametrize(("page", "given"), [("explore", SHAPE), ("explore", X), ("steps", X)])
def test_explore_and_steps(page, name, given):
    layer = LAYERS[name]
    x = given_to(layer, given)
    check(explored(name, given) if page == "explore" else figure(nv.steps(layer, x)), name, x, layer)


@EVERY
def test_explain(name):
    layer = LAYERS[name]
    x = given_to(layer, X)
    e = explained(name, X)
    assert isinstance(e, nv.Explanation)
    close(e.trace.output.float(), output(module_of(name), x))
    check(figure(e.output()), name, x, layer)


@pytest.mark.parametrize("name", MODULES)
def test_explain_of_a_shape_has_the_tensors_of_the_module(name):
    e = explained(name, SHAPE)
    assert e.x is None
    with_x = explained(name, X)
    assert (e.norm, e.title) == (with_x.norm, with_x.title)
    held, expected = e.layer_values().tensors, with_x.layer_values().tensors
    assert held.keys() == expected.keys()
    for key, value in expected.items():
        close(held[key].float(), value)


@GIVEN
@EVERY
def test_gradients(name, given):
    layer, at = LAYERS[name], (1, 2, 0, 1)
    x = given_to(layer, given)
    panels = drawn(figure(nv.gradients(layer, x, at=at)))
    where = torch.as_tensor(drawn(explored(name, given))["x"])
    module = module_of(name)
    where = where.to(next(module.parameters(), where).dtype)
    whole = torch.autograd.functional.jacobian(lambda x: deepcopy(module)(x), where)
    close(next(iter(panels.values())), whole[(..., *at)].detach())


@GIVEN
@EVERY
def test_compare(name, given):
    layer = LAYERS[name]
    x = given_to(layer, given)
    if name == "Norm with long names":  # the other layer has the axes N, C, H and W
        pytest.skip("a comparison names the axes by one letter")
    shown = figure(nv.compare([layer, "InstanceNorm2d(4)"], x))
    assert shown["layers"][0]["name"] == explained(name, given).title
    alone = explored(name, given)
    assert (shown["sharings"]["stats0"], shown["sharings"]["params0"]) == (alone["stats"], alone["params"])


@GIVEN
@pytest.mark.parametrize("name", [name for name in LAYERS if name not in (*OWN, *NORMS) or name in STORING])
def test_both_modes(name, given):
    layer = LAYERS[name]
    x = given_to(layer, given)
    panels = drawn(figure(nv.train_and_eval(layer, x, show="modes")))
    module, where = module_of(name), drawn(explored(name, given))["x"]
    close(panels["train"], output(module.train(), where))
    if name in MODULES or "BatchNorm" not in str(layer):  # a new BatchNorm gets some batches first
        close(panels["eval"], output(module.eval(), where))


@GIVEN
@pytest.mark.parametrize("name", [name for name in OWN if name not in STORING])
def test_both_modes_of_a_module_with_a_forward_of_its_own_are_refused(name, given):
    is_frozen = name == "own frozen BatchNorm"
    message = f"{type(LAYERS[name]).__name__} " + (
        "is frozen: it uses its stored" if is_frozen else "has a forward of its own"
    )
    with pytest.raises(nv.NormvizError, match=message):
        nv.train_and_eval(LAYERS[name], given, show="modes")
    widget = nv.live("train_and_eval", LAYERS[name], given, show="modes")
    assert message in str(widget.output())
    other = nv.live("train_and_eval", "LayerNorm(3)", given, show="modes")
    other.layer = LAYERS[name]
    assert message in str(other.output())


@GIVEN
@pytest.mark.parametrize("name", [name for name in LAYERS if name != "Norm with long names"])
def test_live(name, given):
    layer = LAYERS[name]
    x = given_to(layer, given)
    widget = nv.live(layer, x)
    check(live_figure(widget), name, x, layer)
    assert isinstance(widget.explanation, nv.Explanation)
    close(widget.explanation.trace.output.float(), output(module_of(name), widget.explanation.x))


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "Norm with long names"])
@pytest.mark.parametrize(("page", "given"), [("explore", X), ("steps", SHAPE)])
def test_a_live_layer_that_is_set(page, given, name):
    layer = LAYERS[name]
    x = given_to(layer, given)
    widget = nv.live(page, "RMSNorm(3)", x)
    widget.layer = layer
    assert widget.problem == ""
    check(live_figure(widget), name, x, layer)


@pytest.mark.parametrize("name", ["own norm over channels", "own frozen BatchNorm", "BatchNorm in eval mode"])
def test_a_live_module_keeps_its_numbers_on_other_values_and_gives_them_up_on_another_number_of_channels(name):
    widget = nv.live(MODULES[name], SHAPE)
    widget.query += "&data=counting"
    assert torch.equal(widget.explanation.x, torch.arange(48.0).reshape(SHAPE))
    close(widget.explanation.trace.output, output(module_of(name), widget.explanation.x))
    widget.shape = (2, 6, 2, 3)
    assert widget.problem == ""
    assert torch.equal(widget.explanation.values.gamma, torch.ones(6))


def test_a_live_module_shows_both_of_its_modes():
    widget = nv.live("train_and_eval", MODULES["BatchNorm"], X, show="modes")
    panels = drawn(live_figure(widget))
    close(panels["train"], output(module_of("BatchNorm"), X))
    close(panels["eval"], output(module_of("BatchNorm").eval(), X))
