"""The rows of a list of normalizations, their notes, and what is said where a forward pass fails."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.api.norms import Norms
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.models import norms as lists
from normviz.measuring.models.diff import differences
from normviz.measuring.models.names import block_name, common_name, name_pattern
from normviz.measuring.models.norms import NormRow
from normviz.measuring.models.recording import Failure
from tests.support.needs import HAS_RMS_NORM, needs_rms_norm

BATCH = NormRow(
    "0", "BatchNorm2d(8)", (2, 8, 4, 4), (0, 2, 3), Norm("n c h w -> c", "c"), 8, 16, 17, 1, kind="BatchNorm2d"
)
OTHER = replace(BATCH, name="1")


def sentences(first, second):
    return list(differences([first], [second]))


ONE_EACH = [
    ({"norm": Norm("n c h w -> c", "c", eps=1e-3)}, ["0: eps differs: 1e-05 and 0.001."]),
    ({"norm": Norm("n c h w -> n c", "c")}, ["0: the patterns of the statistics differ: n=2 c=8 h=4 w=4 -> c and n=2 c=8 h=4 w=4 -> n c."]),
    ({"norm": Norm("n c h w -> c", "c", zero_centered_gamma=True)}, ["0: the factors differ: gamma and 1 + gamma."]),
    ({"layer": "BatchNorm2d(8, momentum=0.5)"}, ["0: momentum differs: 0.1 and 0.5."]),
    ({"layer": None}, []),
    ({"norm": Norm("n c h w -> c", "h")}, ["0: the patterns of gamma differ: n=2 c=8 h=4 w=4 -> c and n=2 c=8 h=4 w=4 -> h."]),
    ({"norm": Norm("n c h w -> c", None)}, ["0: only the first has a gamma.", "0: only the first has a beta."]),
    ({"norm": Norm("n c w h -> c", "c")}, []),
    ({"norm": Norm("n c h w -> c", "c", center=False)}, ["0: only the first subtracts the mean."]),
    ({"norm": Norm("n c h w -> c", "c", bias=False)}, ["0: only the first has a beta."]),
    ({"norm": Norm("n c h w -> c", "c", running=True)}, ["0: only the second uses stored statistics."]),
    ({}, []),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "wanted"), ONE_EACH)
def test_two_rows_differ(changes, wanted):
    assert sentences(BATCH, replace(BATCH, **changes)) == wanted


def test_a_pattern_of_gamma_differs_although_its_shape_does_not():
    square = replace(BATCH, layer=None, shape=(2, 4, 4, 4))
    other = replace(square, norm=Norm("n c h w -> c", "w"))
    assert sentences(square, other) == [
        "0: the patterns of gamma differ: n=2 c=4 h=4 w=4 -> c and n=2 c=4 h=4 w=4 -> w."
    ]


def test_only_the_second_has_what_the_first_has_not():
    first = replace(BATCH, norm=Norm("n c h w -> c", "c", center=False, bias=False, running=True))
    assert sentences(first, BATCH) == [
        "0: only the second subtracts the mean.", "0: only the second has a beta.", "0: only the first uses stored statistics.",
    ]  # fmt: skip


def test_rows_are_compared_by_name_or_in_order():
    assert sentences(BATCH, OTHER) == []
    wider = replace(OTHER, norm=Norm("n c h w -> c", "c", eps=1e-3))
    assert sentences(BATCH, wider) == ["0 / 1: eps differs: 1e-05 and 0.001."]
    assert list(differences([BATCH, OTHER], [wider])) == [
        "0 (BatchNorm2d(8)) is missing in the second model.", "1: eps differs: 1e-05 and 0.001.",
    ]  # fmt: skip
    assert list(differences([OTHER], [BATCH, wider])) == [
        "0 (BatchNorm2d(8)) is only in the second model.", "1: eps differs: 1e-05 and 0.001.",
    ]  # fmt: skip
    assert sentences(BATCH, replace(BATCH, function="F.batch_norm")) == []
    narrow = replace(OTHER, shape=(2, 8, 4, 5))
    assert list(differences([BATCH, OTHER], [replace(narrow, name="2")])) == [
        "0 (BatchNorm2d(8)) is missing in the second model.",
        "1 (BatchNorm2d(8)) is missing in the second model.",
        "2 (BatchNorm2d(8)) is only in the second model.",
    ]


def test_a_row_in_another_place_is_compared_with_its_namesake():
    third = replace(BATCH, name="2")
    moved = replace(BATCH, norm=Norm("n c h w -> c", "c", eps=1e-3))
    assert list(differences([BATCH, OTHER, third], [OTHER, third, moved])) == [
        "0 (BatchNorm2d(8)) has another place in the order of the second model.", "0: eps differs: 1e-05 and 0.001.",
    ]  # fmt: skip
    assert list(differences([BATCH, OTHER, third], [OTHER, third, BATCH, BATCH])) == [
        "0 (BatchNorm2d(8)) has another place in the order of the second model.",
        "0 (BatchNorm2d(8)) is only in the second model.",
    ]


def test_a_row_has_a_title_and_its_shapes():
    assert BATCH.title == "BatchNorm2d(8)"
    assert replace(BATCH, layer=None).title == "Norm('n c h w -> c', 'c')"
    assert replace(BATCH, of_parameter="w").title == "BatchNorm2d(8) on w"
    many = tuple((size,) for size in range(9))
    assert replace(BATCH, shapes=many[:8]).shapes_text == "(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,)"
    assert replace(BATCH, shapes=many).shapes_text == "(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,), ..."


def test_a_list_is_a_table_with_remarks():
    rows = (
        replace(BATCH, shapes=(BATCH.shape,), notes=("A note.",)),
        replace(OTHER, name="", function="F.x", parameters=1234),
    )
    found = Norms(rows, 3000, ("About the model.",), "It failed.")
    assert str(found) == repr(found) == (
        "name     layer           shape         reduced axes  statistics  elements  error of mean  error of variance  parameters\n"
        "0        BatchNorm2d(8)  (2, 8, 4, 4)  (0, 2, 3)     8                                                       16\n"
        "- (F.x)  BatchNorm2d(8)                (0, 2, 3)     8                                                       1,234\n"
        "\n"
        "2 normalizations, 1,250 parameters, 42 % of the model\n"
        "0: A note.\n"
        "About the model.\n"
        "It failed."
    )  # fmt: skip
    assert (found[1], found[:1].rows, len(found), found.share) == (rows[1], rows[:1], 2, 1250 / 3000)
    assert found.to_dict() | {"rows": []} == {
        "rows": [], "summary": found.summary, "parameters": 1250, "model_parameters": 3000, "share": 1250 / 3000,
        "notes": ["About the model."], "failure": "It failed.", "members": [],
    }  # fmt: skip
    assert found.to_dict()["rows"][0] == {
        "name": "0", "layer": "BatchNorm2d(8)", "shape": [2, 8, 4, 4], "reduced": [0, 2, 3], "norm": "Norm('n c h w -> c', 'c')",
        "statistics": 8, "parameters": 16, "buffers": 17, "calls": 1, "notes": ["A note."], "function": "", "kind": "BatchNorm2d",
        "shapes": [[2, 8, 4, 4]], "of_parameter": "", "departures": [], "title": "BatchNorm2d(8)",
        "elements": 0, "mean_error": None, "var_error": None,
    }  # fmt: skip


def test_the_share_of_the_model_has_two_digits():
    assert [Norms((BATCH,), of).summary.split(", ")[2] for of in (0, 16, 1000, 123_456)] == [
        "0 % of the model", "100 % of the model", "1.6 % of the model", "0.013 % of the model",
    ]  # fmt: skip
    assert Norms(()).share == 0


def test_equal_rows_are_one():
    rows = [replace(BATCH, name=f"blocks.{i}.norm", notes=(f"{i % 2}",), calls=i + 1) for i in range(3)]
    odd = [
        replace(BATCH, name="blocks.3.norm", shapes=((1,),)),
        replace(BATCH, name="blocks.4.norm", function="F.x"),
        replace(BATCH, name="blocks.5.norm", layer="LayerNorm([4], zero_centered_gamma=True)"),
        replace(BATCH, name="blocks.6.norm", layer="BatchNorm2d(8).eval()"),
        replace(BATCH, name="blocks.7.norm", of_parameter="w"),
        replace(BATCH, name="blocks.8.norm", layer=None),
    ]
    found = Norms((*rows, *odd), 1000).grouped()
    assert found.members == (3, 1, 1, 1, 1, 1, 1)
    first = found[0]
    assert (first.name, first.parameters, first.buffers, first.calls, first.notes) == (
        "blocks.*.norm",
        48,
        51,
        6,
        ("0", "1"),
    )
    assert found.names[:2] == ("blocks.*.norm x 3", "blocks.3.norm")
    assert found.summary == "9 normalizations, 144 parameters, 14 % of the model"
    assert found.remarks == ("blocks.*.norm x 3: 0", "blocks.*.norm x 3: 1")
    assert found.model_parameters == 1000


def test_names_of_blocks():
    assert name_pattern("layers.31.bn1") == "layers.*.bn1"
    assert common_name(["a.1.b.0", "a.1.b.2"]) == "a.1.b.*"
    assert [block_name(name) for name in ("down.0.norm", "layer1.0.bn", "mid.resnets.0", "norm", "x1y.2")] == [
        "down.0", "layer1", "mid", "norm", "x1y.2",
    ]  # fmt: skip


ONE = "Each group has one channel, so this is an InstanceNorm; fewer groups are usual."
NOTES = [
    (nn.GroupNorm(4, 4), (2, 4, 3), [ONE]),
    (nn.GroupNorm(1, 1), (2, 1, 3), []),
    (nn.GroupNorm(2, 4), (2, 4, 3), []),
    (nn.LayerNorm(1), (2, 4, 1), ["Each mean is over a single value, so the output is beta, but for rounding, whatever the value is."]),
    (nn.LayerNorm(1, bias=False), (2, 4, 1), ["Each mean is over a single value, so the output is 0, but for rounding, whatever the value is."]),
    (nn.LayerNorm(1, elementwise_affine=False), (2, 4, 1), ["Each mean is over a single value, so the output is 0, but for rounding, whatever the value is."]),
    (nn.LayerNorm(1, eps=0.0), (2, 4, 1), ["Each mean is over a single value, and eps is 0, so the output is 0 / 0, which is NaN."]),
    *([(nn.RMSNorm(1), (2, 4, 1), ["Each mean square is that of one element: without eps, the output depends only on the sign of x."])] if HAS_RMS_NORM else []),
    (nn.BatchNorm1d(4).eval(), (1, 4), []),
    (nn.LayerNorm(6), (2, 3, 6, 6), ["It normalizes each row of an image alone: 6 is the size of H and of W. To normalize over C, move it last; over the image, use LayerNorm([3, 6, 6])."]),
    (nn.LayerNorm(6), (2, 6, 6, 6), []),
    (nn.LayerNorm([6, 6]), (2, 3, 6, 6), []),
    (nn.LayerNorm(6), (2, 3, 5, 6), []),
    (nn.LayerNorm(6), (2, 3, 6), []),
]  # fmt: skip


@pytest.mark.parametrize(("module", "shape", "notes"), NOTES, ids=str)
def test_the_notes_about_a_layer(module, shape, notes):
    (row,) = nv.norms(module, torch.zeros(shape))
    assert [note for note in row.notes if "same size" not in note] == notes


def test_a_norm_that_trains_in_a_model_in_eval_mode_is_noted():
    def notes(kind, shape, training, name=True):
        model = nn.Sequential(kind).eval() if name else kind
        kind.train(training)
        return nv.norms(model, torch.rand(shape))[0].notes

    words = "It is in training mode inside a model in eval mode: its output depends on the batch; call {}.eval()."
    assert notes(nn.BatchNorm1d(3), (4, 3), True) == (words.format('model.get_submodule("0")'),)
    assert notes(nn.BatchNorm1d(3), (4, 3), False) == ()
    assert notes(nn.BatchNorm1d(3), (4, 3), True, name=False) == ()
    assert notes(nn.InstanceNorm1d(3, track_running_stats=True), (4, 3, 2), True) == ()
    untracked = ("It has no running statistics: its output depends on the batch in eval mode, too.",)
    assert notes(nn.BatchNorm1d(3, track_running_stats=False), (4, 3), True) == untracked
    assert notes(nn.BatchNorm1d(3, track_running_stats=False), (4, 3), False) == untracked


def test_the_norm_of_a_parameter_and_a_division_by_a_sum_are_noted():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(3, 4))

        def forward(self, x):
            return F.normalize(x, dim=-1) @ F.layer_norm(self.weight, (4,)).T

    one, two = nv.norms(Both(), torch.rand(2, 4))
    assert one.departures == ("It divides by the root of the sum of squares, not of their mean.",)
    assert (one.layer, one.title) == (None, "Norm('n d -> n', center=False, eps=0.0)")
    assert two.notes == ("It normalizes a parameter of the model, not what flows through it.",)
    assert (two.of_parameter, two.statistics, two.shapes) == ("weight", 3, ((3, 4),))


def failure(module, shapes, words="no", name="a.b"):
    return lists.failure_text(Failure(name, module, shapes, RuntimeError(words)))


FAILURES = [
    (nn.Linear(3, 4), [(2, 5)], "no", "on an input of shape (2, 5): no. Expected size 3 in axis -1 of its input, got shape (2, 5). Change Linear, or what comes before it."),
    (nn.Linear(3, 4), [(2, 3)], "no", "on an input of shape (2, 3): no. Compare this shape with what Linear takes; the rows show the shapes up to here."),
    (nn.Conv2d(3, 4, 1), [(2, 5, 3, 3)], "no", "on an input of shape (2, 5, 3, 3): no. Expected size 3 in axis 1 of its input, got shape (2, 5, 3, 3). Change Conv2d, or what comes before it."),
    (nn.Conv1d(3, 4, 1), [(3,)], "no", "on an input of shape (3,): no. Expected size 3 in axis 1 of its input, got shape (3,). Change Conv1d, or what comes before it."),
    (nn.Conv3d(3, 4, 1), [(1, 3, 2, 2, 2)], "no", "on an input of shape (1, 3, 2, 2, 2): no. Compare this shape with what Conv3d takes; the rows show the shapes up to here."),
    (nn.GELU(), [(2, 3), (4,)], "two\n  lines.", "on an input of shape (2, 3), (4,): two lines. Compare this shape with what GELU takes; the rows show the shapes up to here."),
    (nn.GELU(), [(2, 3)], "", "on an input of shape (2, 3): RuntimeError. Compare this shape with what GELU takes; the rows show the shapes up to here."),
    (nn.SyncBatchNorm(3), [(2, 3)], "needs a GPU.", "on an input of shape (2, 3): needs a GPU. Where torch.distributed is initialized, SyncBatchNorm in training mode needs a GPU; call model.eval() first."),
    (nn.SyncBatchNorm(3), [(2, 3)], "no", "on an input of shape (2, 3): no. Compare this shape with what SyncBatchNorm takes; the rows show the shapes up to here."),
]  # fmt: skip


@pytest.mark.parametrize(("module", "shapes", "words", "text"), FAILURES)
def test_a_failure_says_where_and_why(module, shapes, words, text):
    assert failure(module, shapes, words) == f"The forward pass failed in a.b ({type(module).__name__}) {text}"


def test_a_failure_without_shapes():
    assert failure(nn.GELU(), []) == "The forward pass failed in a.b (GELU): no."
    assert failure(nn.LayerNorm(3), [], "no", "") == "The forward pass failed in the model itself (LayerNorm): no."


def test_a_failure_of_a_norm_is_explained():
    text = failure(nn.LayerNorm(5), [(2, 3)])
    assert text.startswith("The forward pass failed in a.b (LayerNorm) on an input of shape (2, 3): ")
    assert "must be the last sizes of x" in text
    assert failure(nn.LayerNorm(3), [(2, 3)]).endswith("no. Compare this shape with what LayerNorm takes; the rows show the shapes up to here.")  # fmt: skip


class Modes(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.spare = nn.BatchNorm1d(3), nn.LayerNorm(3)

    def forward(self, x):
        first = self.norm(x)
        self.norm.eval()
        second = self.norm(first)
        self.norm.train()
        return second[:2] + self.norm(x[:2])


def test_a_module_in_two_modes_has_two_rows_and_its_parameters_once():
    found = nv.norms(Modes(), torch.rand(4, 3))
    assert [(row.name, row.layer, row.shapes, row.calls, row.reduced, row.parameters, row.buffers) for row in found] == [
        ("norm", "BatchNorm1d(3)", ((4, 3), (2, 3)), 2, (0,), 6, 7),
        ("norm", "BatchNorm1d(3).eval()", ((4, 3),), 1, (), 0, 0),
    ]  # fmt: skip
    assert found.notes == ("spare (LayerNorm) was never called.",)
    assert (found.model_parameters, found.failure) == (12, "")


def test_functions_in_a_module_that_normalizes_are_its_own():
    class Own(nn.Module):
        def forward(self, x):
            return F.layer_norm(x, x.shape[-1:])

    (row,) = nv.norms(nn.Sequential(Own()), torch.rand(2, 3))
    assert (row.name, row.function, row.kind, row.layer) == ("0", "", "Own", "LayerNorm([3], elementwise_affine=False)")


@needs_rms_norm
def test_a_norm_with_one_element_along_an_axis_is_the_layer_for_more():
    class Last(nn.Module):
        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    (row,) = nv.norms(Last(), torch.rand(1, 1, 6))
    assert row.layer == "RMSNorm([6], eps=1e-06, elementwise_affine=False)"
    assert str(Layer.parse(row.layer)) == row.layer


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.BatchNorm1d(3), nn.BatchNorm1d(3)

    def forward(self, x):
        self.two(self.one(x))
        self.eval()
        return self.two(self.one(x))


def test_each_of_several_modules_counts_its_parameters_once():
    found = nv.norms(Several(), torch.rand(4, 3))
    assert [(row.name, row.parameters, row.buffers) for row in found] == [
        ("one", 6, 7), ("two", 6, 7), ("one", 0, 0), ("two", 0, 0),
    ]  # fmt: skip


def test_a_part_that_cannot_be_seen_is_a_note():
    unseen = type("Unseen", (nn.Module,), {"__module__": "torch.export.unflatten", "forward": lambda self, x: x})()
    words = (
        "is scripted, traced or exported, so its normalizations cannot be seen; give the module from which it was made."
    )
    found = nv.norms(nn.Sequential(unseen, nn.LayerNorm(3), nn.Linear(4, 4)), torch.rand(2, 3))
    assert found.notes == (f"0 (Unseen) {words}",)
    assert (found.model_parameters, len(found), found.failure.partition(" on")[0]) == (
        26,
        1,
        "The forward pass failed in 2 (Linear)",
    )
    with pytest.raises(nv.NormvizError) as raised:
        nv.norms(unseen, torch.rand(2, 3))
    assert str(raised.value) == f"the model itself (Unseen) {words}"
