"""Another value of one element, computed in the browser while it is dragged, gives what torch gives for that x."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from normviz.analysis.description import describe
from normviz.analysis.forward import Values
from normviz.figures.payload import view_payload
from normviz.figures.wire import sent
from normviz.layers.catalogue import KINDS
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate
from tests.support.needs import needs_rms_norm

LAYERS = [
    ("LayerNorm([3, 5])", (2, 4, 3, 5)),
    ("LayerNorm(5, bias=False)", (2, 4, 5)),
    ("LayerNorm(5, elementwise_affine=False)", (2, 5)),
    ("RMSNorm([4, 5])", (3, 4, 5)),
    ("RMSNorm(6, eps=0.5)", (4, 6)),
    ("RMSNorm(6, zero_centered_gamma=True)", (4, 6)),
    ("LayerNorm(5, zero_centered_gamma=True)", (2, 5)),
    ("BatchNorm1d(4)", (2, 4, 5)),
    ("BatchNorm1d(6, eps=0.1).eval()", (4, 6)),
    ("BatchNorm2d(4)", (2, 4, 3, 5)),
    ("BatchNorm2d(4).eval()", (2, 4, 3, 5)),
    ("BatchNorm2d(4, affine=False).eval()", (2, 4, 3, 5)),
    ("SyncBatchNorm(4)", (2, 4, 3, 5)),
    ("BatchNorm3d(2)", (2, 2, 2, 3, 4)),
    ("InstanceNorm1d(4)", (2, 4, 5)),
    ("InstanceNorm2d(4)", (2, 4, 3, 5)),
    ("InstanceNorm2d(4, affine=True, track_running_stats=True).eval()", (2, 4, 3, 5)),
    ("InstanceNorm3d(2, affine=True)", (2, 2, 2, 3, 4)),
    ("GroupNorm(2, 4)", (2, 4, 3, 5)),
    ("GroupNorm(2, 6)", (3, 6)),
    ("ChannelsFirstLayerNorm(4)", (2, 4, 3, 5)),
    ("DimNorm(4, dim=1)", (2, 3, 5, 4)),
    ("ChannelsLastBatchNorm(4)", (2, 3, 5, 4)),
    ("ChannelsLastBatchNorm(4).eval()", (2, 5, 4)),
    ("ChannelsLastInstanceNorm(4)", (2, 5, 4)),
    ("ChannelsLastGroupNorm(2, 4)", (2, 3, 5, 4)),
    (Norm("n (g k) h w -> g h", "k w", sizes={"g": 2}), (2, 4, 3, 5)),
    (Norm("n c -> n c", "c"), (3, 4)),
]

EDITED = """(() => {
  const data = withValue(decodeData(args[0]), args[1], args[2]), numbers = ({ values }) => [...values];
  return {
    z: Object.fromEntries(data.panels.filter(({ z }) => z).map(({ key, z }) => [key, [...decodeFloats(z)]])),
    ends: data.panels.map(({ low, high }) => [low, high]),
    values: { mean: numbers(data.values.mean), var: numbers(data.values.var) },
    moments: Object.fromEntries(Object.entries(data.moments).map(([stage, { mean, var: variance }]) => [stage, [numbers(mean), numbers(variance)]])),
  };
})()"""


def random_layer(layer, shape):
    """The layer with random gamma, beta and running statistics, on a random x."""
    random = torch.Generator().manual_seed(3)
    e = describe(layer, torch.randn(shape, generator=random) * 2 + 1)
    held = e.layer_values()
    running = None if held.running_var is None else torch.rand(held.running_var.shape, generator=random) + 0.5
    drawn = {name: torch.randn(value.shape, generator=random) for name, value in held.tensors.items()}
    return replace(e, values=Values(**drawn | ({} if running is None else {"running_var": running})))


def payload(e):
    return view_payload(e, grid(e.shape, e.axes))


@needs_rms_norm
def test_the_layers_are_all_of_the_catalogue():
    assert {layer.partition("(")[0] for layer, _shape in LAYERS if isinstance(layer, str)} == set(KINDS)


@pytest.mark.parametrize(("layer", "shape"), LAYERS, ids=[str(layer) for layer, _shape in LAYERS])
@pytest.mark.parametrize("value", [-4.25, 1000.0])
def test_another_value_gives_what_torch_gives_and_leaves_other_groups(layer, shape, value):
    before = random_layer(layer, shape)
    index = tuple(size // 2 for size in shape)
    x = before.x.clone()
    x[index] = value
    after = payload(replace(before, x=x))
    found = evaluate(EDITED, payload(before), list(index), value)

    def check(numbers, wanted):
        np.testing.assert_allclose(numbers, np.ravel(wanted), rtol=2e-5, atol=2e-5)

    for panel in after.panels:
        if panel.z is not None:
            check(found["z"][panel.key], panel.z)
    assert found["ends"] == [[panel.low, panel.high] for panel in payload(before).panels]
    for name in ("mean", "var"):
        check(found["values"][name], getattr(after.values, name))
    for stage, moments in after.moments.items():
        for numbers, name in zip(found["moments"][stage], ("mean", "var"), strict=True):
            check(numbers, getattr(moments, name))


# What the reader changes in a view, until the server answers

VIEW = """
  const viewOf = (data) => {
    const view = { panels: new Map(), turns: new Turns(), sent: [], refresh() {}, send: (name, value) => view.sent.push([name, value]) };
    view.valueAt = (key, index) => {
      const { z } = view.data.panels.find((panel) => panel.key === key);
      return decodeFloats(z)[positionOf(index, view.data.grid.shape)];
    };
    view.changes = new Changes(view);
    view.changes.take(decodeData(data));
    return view;
  };
  const view = viewOf(args[0]), { changes } = view, x = (...index) => view.valueAt("x", index), output = () => view.valueAt("output", [0, 0]);
"""
X = torch.tensor([[1.0, 5.0], [1.0, 1.0]])


def live(layer="LayerNorm(2, eps=12)", x=X, **more):
    e = describe(layer, x)
    return sent(view_payload(e, grid(e.shape, e.axes), editable=True)) | {"turn": 0} | more


def changed(script, data, *more):
    return evaluate(f"(() => {{ {VIEW} {script} }})()", data, *more)


def test_while_a_value_is_dragged_nothing_is_sent_and_cancel_brings_it_back():
    script = """
      const before = output();
      changes.preview([0, 1], 9);
      const dragged = [x(0, 1), output(), view.sent.length];
      changes.cancel();
      return [before, ...dragged, x(0, 1), output()];
    """
    before, value, output, sent, again, last = changed(script, live())
    assert (before, value, sent, again, last) == (-0.5, 9, 0, 5, -0.5)
    assert output == pytest.approx(-4 / 28**0.5)


def test_undo_takes_the_last_edit_back_and_no_other():
    script = """
      changes.preview([0, 1], 9);
      changes.edit([0, 1], 9);
      changes.edit([1, 0], 3);
      const seen = [[x(0, 1), x(1, 0)]];
      for (let i = 0; i < 3; i++) {
        changes.undo();
        seen.push([x(0, 1), x(1, 0)]);
      }
      return [seen, view.sent.map(([name, { at, value }]) => [name, at, value]), changes.last];
    """
    seen, sent, last = changed(script, live())
    assert seen == [[9, 3], [9, 1], [5, 1], [5, 1]]
    assert sent == [["edit", [0, 1], 9], ["edit", [1, 0], 3], ["edit", [1, 0], 1], ["edit", [0, 1], 5]]
    assert last is None


def test_an_edit_of_an_x_that_has_changed_since_is_not_undone():
    script = """
      changes.edit([0, 1], 9);
      changes.settle(args[1]);
      changes.take(decodeData(args[1]));
      const same = changes.last?.before;
      changes.take(decodeData(args[2]));
      return [same, changes.last, changes.undo()];
    """
    answer = live(x=torch.tensor([[1.0, 9.0], [1.0, 1.0]]))
    assert changed(script, live(), answer, live(x=torch.zeros(2, 2))) == [5, None, None]


def test_data_from_before_an_edit_do_not_bring_the_old_value_back_and_the_answer_does_not_change_it_twice():
    script = """
      changes.edit([0, 1], 9);
      changes.take(decodeData(args[0]));
      const older = x(0, 1);
      changes.settle(args[1]);
      changes.take(decodeData(args[1]));
      return [older, x(0, 1), changes.values.size];
    """
    assert changed(script, live(), live(x=torch.tensor([[1.0, 8.0], [1.0, 1.0]]))) == [9, 8, 0]


@pytest.mark.parametrize(
    ("data", "can"),
    [
        (live(), True),
        (live(editable=False), False),
        (live(editable=False, fixed=True), True),
        (live("LayerNorm(128)", torch.zeros(1, 128)), False),
    ],
    ids=["app", "answer", "file", "drawn in part"],
)
def test_a_value_can_be_dragged_where_x_can_be_edited_and_its_group_is_drawn_whole(data, can):
    assert changed("return changes.canDrag([0, 0]);", data) is can


def test_the_server_is_asked_for_gamma_and_beta_when_the_slider_is_let_go_and_then_its_own_are_used():
    script = """
      changes.choose({ gamma: 2, beta: 1 }, false);
      const seen = [output(), view.sent.length];
      changes.settle(args[0]);
      changes.take(decodeData(args[0]));
      seen.push(output());
      changes.choose({ gamma: 2, beta: 1 }, true);
      changes.settle(args[0]);
      changes.take(decodeData(args[0]));
      return [...seen, view.sent[0], output()];
    """
    sent = ["scale", {"gamma": 2, "beta": 1, "turn": 1}]
    assert changed(script, live()) == [0, 0, 0, sent, -0.5]


def test_a_layer_without_beta_sends_none():
    script = "changes.choose({ gamma: 2, beta: 0 }, true); return view.sent[0][1].beta;"
    assert changed(script, live("RMSNorm(2)")) is None


def test_in_a_file_an_edit_ends_with_the_next_view_and_gamma_and_beta_come_from_its_address():
    script = """
      changes.edit([0, 1], 9);
      changes.settle(args[1]);
      changes.take(decodeData(args[1]));
      return [x(0, 1), output()];
    """
    file = {name: value for name, value in live(fixed=True).items() if name != "turn"}
    assert changed(script, file, file | {"choice": {"gamma": 2, "beta": 1}}) == [5, 0]


# What the reader types

INDICES = [
    ("1, 2, 0, 3", [1, 2, 0, 3]), ("x[1, 2, 0, 3]", [1, 2, 0, 3]), ("(1,2,0,3)", [1, 2, 0, 3]), (" 1 2 0 3 ", [1, 2, 0, 3]),
    ("1, 2, 0", None), ("1, 2, 0, 3, 0", None), ("2, 2, 0, 3", None), ("-1, 2, 0, 3", None), ("1, 2, 0, 3.5", None), ("a", None), ("", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "index"), INDICES)
def test_an_index_is_read_as_people_write_it(text, index):
    assert evaluate("readIndex(...args)", text, (2, 4, 3, 5)) == index


def test_a_wrong_index_and_a_wrong_value_get_the_rule_the_value_and_a_remedy():
    assert evaluate("whyNoIndex(...args)", "9, 9 ", ["n", "d"], [4, 6]) == (
        "“9, 9” is not an element of x. Write one number for each axis: N from 0 to 3, D from 0 to 5."
    )
    assert evaluate("whyInvalid(args[0])", "abc") == (
        "“abc” is not a number from −1e12 to 1e12. Write one, such as 0.5."
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("−2", -2), ("0,5", None), ("1,024", 1024), (" 1e3 ", 1000), ("1e12", 1e12), ("1e13", None), ("abc", None), (" ", None), ("1,2,3", None)],
)  # fmt: skip
def test_a_value_is_read_as_people_write_it(text, value):
    assert evaluate("readValue(args[0])", text) == value
