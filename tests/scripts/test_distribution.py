"""The distribution of a group: its stages in words and numbers, where its dots are, gamma and beta of the reader, and outlines in motion."""

from pathlib import Path

import pytest
import torch

import normviz
from normviz import explain
from normviz.analysis.checks import LARGEST_VALUE
from normviz.analysis.description import describe
from normviz.analysis.excerpt import MOST_DOTS
from normviz.figures.payload import steps_payload, view_payload
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

X = torch.tensor([[1.0, 5.0], [1.0, 1.0]])

SOURCE = """
  const sourceOf = (data) => {
    const geometry = new Geometry(data.grid, 600, 300, { most: 50 });
    const panels = Object.fromEntries(data.panels.map((figure) => [figure.key, Object.assign(Object.create(Panel.prototype), {
      geometry, data, figure, values: figure.z ? decodeFloats(figure.z) : null })]));
    return { data, valueAt: (key, index) => panels[key].valueAt(index) };
  };
"""
STAGES = f"""(() => {{ {SOURCE}
  return groupStages(sourceOf(decodeData(args[0])), args[1]).stages.map(({{ title, rule, moments, values }}) =>
    [title, rule, moments, values.map((value) => Number(value.toFixed(3))).join(" ")]);
}})()"""


def view(layer, x=X):
    e = describe(layer, x)
    return view_payload(e, grid(e.shape, e.axes))


# x is ((1, 5), (1, 1)), and eps = 12 makes sigma 4 in the first row: its variance is 4.
BY_HAND = [
    # layer, element; title, what is done, mean and variance, values
    ("LayerNorm(2, eps=12)", (0, 0), """
        x          | the input                                        | mean 3 · variance 4                           | 1 5
        centered   | minus the mean 3                                 | mean 0 · variance 4                           | -2 2
        normalized | divided by √(var + eps) = 4: narrower            | mean 0 · variance 0.25 = var / (var + eps)    | -0.5 0.5
        output     | times gamma = 1, plus beta = 0: unchanged        | mean 0 · variance 0.25                        | -0.5 0.5
    """),
    ("RMSNorm(2, eps=12)", (0, 0), """
        x          | the input                                        | mean 3 · mean square 13                       | 1 5
        normalized | divided by √(ms + eps) = 5: narrower             | mean 0.6 · mean square 0.52 = ms / (ms + eps) | 0.2 1
        output     | times gamma = 1: unchanged                       | mean 0.6 · mean square 0.52                   | 0.2 1
    """),
    ("RMSNorm(2, eps=12, zero_centered_gamma=True)", (0, 0), """
        x          | the input                                        | mean 3 · mean square 13                       | 1 5
        normalized | divided by √(ms + eps) = 5: narrower             | mean 0.6 · mean square 0.52 = ms / (ms + eps) | 0.2 1
        output     | times 1 + gamma = 1: unchanged                   | mean 0.6 · mean square 0.52                   | 0.2 1
    """),
    ("BatchNorm1d(2, eps=1e-6, affine=False).eval()", (0, 1), """
        x          | the input                                        | mean 3 · variance 4                           | 5 1
        centered   | minus the running mean 0                         | mean 3 · variance 4                           | 5 1
        normalized | divided by √(var + eps) = 1                      | mean 3 · variance 4                           | 5 1
    """),
    (Norm("n d -> n", eps=-3.75), (0, 0), """
        x          | the input                                        | mean 3 · variance 4                           | 1 5
        centered   | minus the mean 3                                 | mean 0 · variance 4                           | -2 2
        normalized | divided by √(var + eps) = 0.5: wider             | mean 0 · variance 16 = var / (var + eps)      | -4 4
    """),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "index", "table"), BY_HAND, ids=[str(layer) for layer, _, _ in BY_HAND])
def test_each_stage_says_what_is_done_and_what_mean_and_variance_become(layer, index, table):
    wanted = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    assert evaluate(STAGES, view(layer), list(index)) == wanted


def test_parameters_that_differ_within_the_group_are_not_written_as_one_number():
    e = explain(torch.nn.LayerNorm(2), X)
    e.values.gamma[1], e.values.beta[0] = 3, 2
    assert (
        evaluate(STAGES, view_payload(e, grid(e.shape, e.axes)), [0, 0])[-1][1]
        == "times gamma, plus beta, which differ within the group"
    )


IN_AND_OUT = [
    ("LayerNorm(2, eps=12)", [["x", "the input", "mean 3 · variance 4"], ["output", "(x − mean) / √(var + eps) · gamma + beta", "mean 0 · variance 0.25"]]),
    ("RMSNorm(2, eps=12)", [["x", "the input", "mean 3 · mean square 13"], ["output", "x / √(ms + eps) · gamma", "mean 0.6 · mean square 0.52"]]),
    ("LayerNorm(2, eps=12, elementwise_affine=False)", [["x", "the input", "mean 3 · variance 4"], ["output", "(x − mean) / √(var + eps)", "mean 0 · variance 0.25"]]),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "wanted"), IN_AND_OUT, ids=[layer for layer, _ in IN_AND_OUT])
def test_x_and_output_alone_say_what_the_layer_does_between_them(layer, wanted):
    script = f"""(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])), {{ stages }} = groupStages(source, [0, 0]);
      return inAndOut(source.data, stages, [0, 0]).map(({{ title, rule, moments }}) => [title, rule, moments]); }})()"""
    assert evaluate(script, view(layer)) == wanted


HOLLOW = [
    ("BatchNorm1d(2)", [False, True]), ("LayerNorm(2)", [False, False]),
    (Norm("d n -> d"), [False, True]), (Norm("h w -> h"), [False, False]), (Norm("b c -> c"), [False, True]), (Norm("b h -> h"), [False, False]),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "others"), HOLLOW, ids=[str(layer) for layer, _ in HOLLOW])
def test_dots_of_other_examples_are_hollow_and_the_note_says_so(layer, others):
    script = f"""(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])), group = groupStages(source, [0, 0]);
      return [group.others, notesOf(source.data, group).includes("Hollow dots: other examples.")]; }})()"""
    assert evaluate(script, view(layer)) == [others, True in others]


@pytest.mark.parametrize(("span", "step"), [(4.3, 0.05), (100, 1), (101, 2), (0.9, 0.01), (5e6, 5e4)])
def test_an_arrow_key_moves_the_dot_by_about_a_hundredth_of_the_axis(span, step):
    assert evaluate("stepOf(args[0])", span) == pytest.approx(step)


def test_the_slider_says_the_value_and_the_moments_of_its_group():
    words = "valueInWords(args[0], { center: args[1] }, { mean: 1, var: 2 })"
    assert evaluate(words, 0.5, True) == "0.5; mean 1, variance 2"
    assert evaluate(words, -0.5, False) == "−0.5; mean 1, mean square 3"


def test_with_running_statistics_the_note_says_that_mean_0_and_variance_1_need_not_hold():
    script = f"(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])); return notesOf(source.data, groupStages(source, [0, 0])); }})()"
    assert "need not become 0" in evaluate(script, view("BatchNorm1d(2, affine=False).eval()"))
    assert "need not" not in evaluate(script, view("BatchNorm1d(2, affine=False)"))


def test_of_a_group_that_is_not_drawn_whole_the_note_counts_the_dots():
    x = torch.zeros(40, 4000)
    data = view("LayerNorm(4000)", x)
    script = f"(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])); return notesOf(source.data, groupStages(source, [0, 0])); }})()"
    drawn = len(data.grid.indices[1])
    assert (
        f"Dots: the {drawn:,} of 4,000 values that are drawn above. The numbers are for the whole group."
        in evaluate(script, data)
    )


MOTIONS = [
    ("LayerNorm(2)", "mean", "The group has 2 values; they share the mean 3."),
    ("BatchNorm1d(2, affine=False).eval()", "mean", "No value of this group flows into its running mean: it is stored in the layer."),
    ("LayerNorm(2)", "centered", "All values move by the same distance. Their spread does not change."),
    ("RMSNorm(2)", "squared", ""),
    ("LayerNorm(2)", "x", "2 values in one group, before anything is computed."),
    ("LayerNorm(2)", "var", "The bar is √var = 2 long on each side of the mean."),
    ("RMSNorm(2)", "output", "Each value is multiplied by its gamma; the panel of the step shows which elements share it."),
    ("LayerNorm(2)", "output", "Each value is multiplied by its gamma and its beta is added; the panel of the step shows which elements share them."),
    ("RMSNorm(2, zero_centered_gamma=True)", "output", "Each value is multiplied by its 1 + gamma; the panel of the step shows which elements share it."),
    ("LayerNorm(2, zero_centered_gamma=True)", "output", "Each value is multiplied by its 1 + gamma and its beta is added; the panel of the step shows which elements share them."),
    (Norm("n c -> n c", "c"), "mean", "The group has 1 value; its mean is that value."),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "step", "text"), MOTIONS)
def test_a_motion_shows_what_its_text_states(layer, step, text):
    script = f"(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])); return motionText(source.data, groupStages(source, [0, 0]), args[1]); }})()"
    assert evaluate(script, view(layer), step) == text


# gamma and beta as the reader moves them

SCALED = f"""(() => {{ {SOURCE}
  const source = sourceOf(withGammaAndBeta(decodeData(args[0]), {{ gamma: 2, beta: 1 }}));
  const [output] = source.data.panels.filter(({{ key }}) => key === "output");
  return {{ values: [...decodeFloats(output.z)], range: [output.low, output.high],
            stage: groupStages(source, [0, 0]).stages.at(-1), line: arithmeticLines(source, [0, 1]).at(-1).map((part) => part.text ?? (Array.isArray(part) ? textOf(part) : part)) }};
}})()"""


def test_one_gamma_and_one_beta_change_the_output_and_its_numbers():
    found = evaluate(SCALED, view("LayerNorm(2, eps=12)"))  # normalized: -0.5 0.5 and 0 0
    assert found["values"] == [0, 2, 1, 1]
    assert found["range"] == [-2, 2]
    assert (found["stage"]["rule"], found["stage"]["moments"]) == (
        "times gamma = 2, plus beta = 1",
        "mean 1 · variance 1",
    )
    assert found["line"] == ["output", "0.5 · 2 + 1", "2"]


def test_a_layer_that_multiplies_by_1_plus_gamma_adds_1_to_the_gamma_that_is_chosen():
    found = evaluate(SCALED, view("LayerNorm(2, eps=12, zero_centered_gamma=True)"))  # gamma 2 is a factor of 3
    assert (found["values"], found["range"]) == ([-0.5, 2.5, 1, 1], [-2.5, 2.5])
    assert (found["stage"]["rule"], found["stage"]["moments"]) == (
        "times 1 + gamma = 3, plus beta = 1",
        "mean 1 · variance 2.25",
    )
    assert found["line"] == ["output", "0.5 · (1 + 2) + 1", "2.5"]


def test_a_layer_without_beta_gets_none_and_one_without_gamma_stays():
    assert evaluate(SCALED, view("RMSNorm(2, eps=12)"))["values"] == pytest.approx([0.4, 2, 0.5547, 0.5547], abs=1e-4)
    unchanged = "withGammaAndBeta(args[0], { gamma: 2, beta: 1 }) === args[0]"
    assert evaluate(unchanged, view("LayerNorm(2, elementwise_affine=False)"))


# The formula with numbers

NUMBERED = [
    ("x", "y = (5 − mean) / √(var + eps) · gamma + beta"),
    ("mean", "y = (5 − 3) / √(var + eps) · gamma + beta"),
    ("var", "y = (5 − 3) / √(4 + eps) · gamma + beta"),
    ("normalized", "y = (5 − 3) / √(4 + 12) · gamma + beta"),
    ("output", "0.5 = (5 − 3) / √(4 + 12) · 1 + 0"),
]
ZERO_CENTERED = [
    ("normalized", "y = (5 − 3) / √(4 + 12) · (1 + gamma) + beta"),
    ("output", "0.5 = (5 − 3) / √(4 + 12) · (1 + 0) + 0"),
]


@pytest.mark.parametrize(
    ("layer", "step", "text"),
    [("LayerNorm(2, eps=12)", *case) for case in NUMBERED]
    + [("LayerNorm(2, eps=12, zero_centered_gamma=True)", *case) for case in ZERO_CENTERED],
)
def test_the_formula_has_the_numbers_that_the_steps_have_computed(layer, step, text):
    e = explain(layer, X)
    script = f"(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])); return withNumbers(source, source.data.formula, args[1], [0, 1]); }})()"
    tokens = evaluate(script, steps_payload(e, grid(e.shape, e.axes)), step)
    assert "".join(token["text"] for token in tokens) == text


# Where the dots are


def test_dots_are_stacked_where_they_would_overlap():
    places = [0, 1, 30, 31.4, 29, 36.5]
    found = evaluate("stackDots(args[0], 34, 3)", places)
    assert [dot["x"] for dot in found] == places  # each is at its value
    assert [dot["y"] for dot in found] == [31, 25, 25, 19, 31, 31]
    assert evaluate("stackDots([NaN, 6], 34, 3)") == [None, {"x": 6, "y": 31}]
    assert evaluate("levelsOf([0, 1, 2, 30], 6, 2)") == [1, 2, 0, 0]  # the selected dot is on the ground
    many = evaluate("stackDots(Array(50).fill(0), 34, 3)")
    assert min(dot["y"] for dot in many) == pytest.approx(3)


@pytest.mark.parametrize(
    ("values", "ticks"), [([-2, 2], [-2, -1, 0, 1, 2]), ([0, 30], [0, 10, 20, 30]), ([0, 0], [-1, -0.5, 0, 0.5, 1]), ([0.001], [0, 0.0005, 0.001])]
)  # fmt: skip
def test_the_axis_contains_zero_and_has_round_ticks(values, ticks):
    assert evaluate("ticksIn(rangeOf(args[0]), 5)", values) == pytest.approx(ticks)


# Motion and dragging


def test_an_outline_in_motion_has_the_rectangles_of_both_ends():
    one, two = "M0,0H10V10H0Z", "M0,0H4V10H0ZM6,0H10V10H6Z"
    between = "outlineBetween(rectanglesOf(args[0]), rectanglesOf(args[1]), args[2])"
    assert evaluate(between, one, two, 0) == one * 2
    assert evaluate(between, one, two, 0.5) == "M0,0H7V10H0ZM3,0H10V10H3Z"
    assert evaluate(between, one, two, 1) == two
    assert evaluate("[rectanglesOf(''), rectanglesOf('M0,0L5,5Z'), rectanglesOf(args[0])]", one * 301) == [None] * 3


@pytest.mark.parametrize(
    ("value", "pixels", "most", "text"), [(0.5, 20, 2, "0.9"), (0.5, -50, 2, "-0.5"), (100, 1, 1000, "110"), (0, 1, 0.001, "0.00001")]
)  # fmt: skip
def test_a_dragged_value_has_as_many_digits_as_it_needs(value, pixels, most, text):
    assert evaluate("draggedValue(...args)", value, pixels, most) == text


def test_a_field_takes_the_values_that_a_link_takes():
    assert evaluate("[LARGEST_VALUE, formatNumber(LARGEST_VALUE)]") == [LARGEST_VALUE, "1e12"]


MORPH = """(() => {
  const [before, after, reduced] = args, frames = [], seen = [];
  const outline = { d: after, getAttribute: () => outline.d, setAttribute: (_name, d) => seen.push((outline.d = d)) };
  let time = 0;
  const kept = ["window", "performance"].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  Object.defineProperty(globalThis, "window", { configurable: true, value: { matchMedia: () => ({ matches: reduced }) } });
  Object.defineProperty(globalThis, "performance", { configurable: true, value: { now: () => time } });
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  morphOutline(outline, before);
  for (time = 350; frames.length; time += 350) frames.shift()();
  for (const [name, descriptor] of kept) descriptor ? Object.defineProperty(globalThis, name, descriptor) : delete globalThis[name];
  return [seen, outline.d];
})()"""


def test_an_outline_grows_into_the_new_one_unless_the_reader_prefers_reduced_motion():
    one, two = "M0,0H10V10H0Z", "M0,0H4V10H0ZM6,0H10V10H6Z"
    assert evaluate(MORPH, one, two, False) == [[one * 2, "M0,0H7V10H0ZM3,0H10V10H3Z", two], two]
    assert evaluate(MORPH, one, two, True) == [[], two]


def test_a_file_says_why_x_cannot_be_edited_in_it():
    script = """(() => {
      globalThis.document = { querySelector: () => null };
      const view = { line: {}, panels: new Map(), data: { fixed: true } };
      editValue(view, [0]);
      delete globalThis.document;
      return view.line.textContent;
    })()"""
    assert evaluate(script) == "This file holds the results for its own x; other values of x need torch."


def test_at_most_60_values_travel_into_the_mean_from_all_over_the_group():
    assert evaluate("[someOf(3), someOf(120).slice(0, 3), someOf(120).length]") == [[0, 1, 2], [0, 2, 4], 60]


def test_python_and_the_script_draw_as_many_values_one_by_one():
    text = (Path(normviz.__file__).parent / "figures/browser/distribution/distribution.ts").read_text(encoding="utf-8")
    assert f"const MOST_DOTS = {MOST_DOTS};" in text
