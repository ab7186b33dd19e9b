"""What a term lights: the elements that share the mean or the gamma of the selected element, or the element; and which terms there are."""

import numpy as np
import pytest
import torch

from normviz import explain
from normviz.analysis import forward
from normviz.analysis.excerpt import steps
from normviz.figures.payload import steps_payload, view_payload
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

AT = (1, 2, 0, 3)
SHAPE = (2, 4, 3, 5)
LAYERS = [
    "BatchNorm2d(4)",
    "BatchNorm2d(4).eval()",
    "LayerNorm([4, 3, 5])",
    "LayerNorm([3, 5], bias=False)",
    "InstanceNorm2d(4, affine=True)",
    "GroupNorm(2, 4)",
    "RMSNorm(5)",
    "Norm('n c h w -> n h w', 'c w', zero_centered_gamma=True)",
    "Norm('n (g k) h w -> n g', 'h w', center=False, sizes={'g': 2})",
    "InstanceNorm2d(4)",
]
WORDS = ("x", "mean", "var", "eps", "gamma", "beta", "output")

VIEW = """
  const data = decodeData(args[0]), at = args[1], geometry = new Geometry(data.grid, 600, 300, { most: 50 });
  const views = (lit) => ({ lit, at, active: at, data });
  const panel = (figure, lit) => Object.assign(Object.create(Panel.prototype), {
    data, figure, geometry, view: views(lit), values: figure.z ? decodeFloats(figure.z) : null, outlines: new Map() });
  const source = { data, valueAt: (key, index) => panel(data.panels.find((one) => one.key === key), null).valueAt(index) };
"""
LIT = f"""(() => {{ {VIEW}
  return data.panels.map((figure) => args[2].map((word) => {{
    const boxes = rectanglesOf(panel(figure, {{ word, at: null }}).outlineOf(at)) ?? [], lit = [];
    geometry.each((index) => {{
      const {{ x, y, width, height }} = geometry.cellBox(index), [across, down] = [x + width / 2, y + height / 2];
      if (boxes.some(([left, top, right, bottom]) => left < across && across < right && top < down && down < bottom)) lit.push(index);
    }});
    return lit;
  }}));
}})()"""


def data_of(layer, make=view_payload):
    e = explain(layer, torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)))
    return e, make(e, grid(e.shape, e.axes))


def peers(ids):
    """The elements with the number that the selected element has."""
    return np.argwhere(np.asarray(ids) == np.asarray(ids)[AT]).tolist()


@pytest.mark.parametrize("layer", LAYERS)
def test_a_term_lights_in_every_panel_the_elements_that_share_it(layer):
    e, data = data_of(layer)
    means = forward.group_statistic(e.norm, e.x.double(), lambda values, axes: values.flatten(axes[0]).sum(-1))
    expected = {
        "x": [list(AT)],
        "output": [list(AT)],
        "var": peers(means.expand(SHAPE)),
        "eps": peers(means.expand(SHAPE)),
    }
    if e.norm.center or e.norm.running:
        expected["mean"] = expected["var"]
    if e.norm.params is not None:
        gammas = torch.arange(float(np.prod(e.counts.gamma_shape))).reshape(e.counts.gamma_shape)
        expected["gamma"] = peers(forward.broadcast(e.norm, SHAPE, gammas).expand(SHAPE))
    if e.norm.bias:
        expected["beta"] = expected["gamma"]
    for lit in evaluate(LIT, data, AT, list(expected)):
        assert dict(zip(expected, lit, strict=True)) == expected


TERMS = f"""(() => {{ {VIEW}
  const lights = (pieces) => pieces.filter((piece) => piece.lights).map(({{ lights, text, at }}) => [lights, text, at ?? null]);
  return [lights(formulaPieces(data.formula)), lights(formulaPieces(withNumbers(source, data.formula, undefined, at))),
    arithmeticLines(source, at).map(([quantity, expression, result]) => [quantity, lights(expression), result])];
}})()"""


@pytest.mark.parametrize("layer", LAYERS)
def test_the_formula_and_the_worked_numbers_have_the_terms_of_the_layer(layer):
    e, data = data_of(layer)
    symbols, numbers, lines = evaluate(TERMS, data, AT)
    has = {"mean": e.norm.center or e.norm.running, "gamma": e.norm.params is not None, "beta": e.norm.bias}
    words = {word for word in WORDS if has.get(word, True)}
    assert {lights for lights, *_ in symbols} == words
    assert [lights for lights, *_ in symbols] == [lights for lights, *_ in numbers]
    worked = {
        lights for _quantity, terms, result in lines for lights in [*(term[0] for term in terms), result["lights"]]
    }
    assert worked == words


def test_an_addend_lights_the_element_whose_value_it_is():
    e, data = data_of("GroupNorm(2, 4)")
    lines = {quantity: terms for quantity, terms, _result in evaluate(TERMS, data, AT)[2]}
    for quantity, value in (("sum", lambda x: x), ("squared deviations", None)):
        at = [tuple(term[2]) for term in lines[quantity]]
        assert at == [(1, 2, 0, 0), (1, 2, 0, 1), (1, 2, 0, 2), (1, 3, 2, 4)]  # the first three and the last
        if value:
            texts = [float(term[1].strip("()").replace("−", "-")) for term in lines[quantity]]
            assert texts == pytest.approx([float(e.x[index]) for index in at], rel=1e-2)


STEP = f"""(() => {{ {VIEW}
  return stepArithmetic(source, args[2], at).flat().filter((piece) => piece.lights).map(({{ lights }}) => lights);
}})()"""


@pytest.mark.parametrize("layer", LAYERS)
def test_every_step_has_terms(layer):
    e, data = data_of(layer, steps_payload)
    own = {"x": "x", "mean": "mean", "centered": "x", "squared": "x", "var": "var", "output": "output"}
    for step in steps(e):
        words = evaluate(STEP, data, AT, step.key)
        assert words
        assert words[-1] == own.get(step.key, "x" if e.norm.params is not None else "output")


ITERATION = f"(() => {{ {VIEW} return iterationOf(data, data.loops, at); }})()"


@pytest.mark.parametrize("layer", LAYERS)
def test_the_loops_are_at_the_iteration_of_the_element(layer):
    """Run as Python, the loops visit this element under these values of their variables."""
    e, data = data_of(layer)
    code, now = e.code("loops"), evaluate(ITERATION, data, AT)
    lines = code.split("\n")
    assert [len(values) for values in now] == [
        line.count("for ") if " in range" in line else values for line, values in zip(lines, map(len, now), strict=True)
    ]
    sizes, element, scope = lines[0], code[code.index("x[") : code.index("]") + 1], {"x": e.x}
    for statement in (
        sizes,
        *(value for line, values in zip(lines, now, strict=True) for value in values if "#" not in line),
    ):
        exec(statement, scope)
    assert eval(element, scope) == e.x[AT]
    if e.norm.params is not None:
        assert len(now[-1]) == len(e.norm.gamma_axes)
