"""How a view follows the data that the server sends while newer choices are on their way."""

import pytest

from normviz import explain
from normviz.figures.payload import compare_payload
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

# Events: a step chosen in the browser ("on", "back"), data of the server (its step, and the number of the newest choice that it has
# received), or a time in ms that passes; then the step that is shown.
EVENTS = [
    ([(1, 0)], 1),
    ([(1, 0), "on"], 2),
    ([(1, 0), "on", (2, 1)], 2),
    ([(1, 0), "on", (1, 0)], 2),  # data that the server made before it received the choice
    ([(1, 0), "on", "on", (2, 1)], 3),  # the response to the first of two quick choices
    ([(1, 0), "on", "on", (2, 1), (3, 2)], 3),
    ([(1, 0), "on", "on", (3, 2)], 3),
    ([(1, 0), "on", (2, 1), (1, 1)], 1),  # Back in the browser
    ([(1, 0), "on", (2, 1), (1, 1), (2, 1)], 2),  # and Forward
    ([(4, 0), (0, 0)], 0),  # another address
    ([(1, 0), "back", (0, 1), (1, 1), "back", (0, 2)], 0),
    ([(1, 0), "on", 2999, (1, 0)], 2),
    ([(1, 0), "on", 3001, (1, 0)], 1),  # without a response in time, the server's data is used again
    ([(1, 0), "on", (1, 0), 3001], 1),  # also data that came earlier
    ([(6, 5), "back", (6, 5), (5, 6)], 5),  # a view that replaces another one continues its numbers
]
FOLLOW = """(async () => {
  let now = 1e12, later = null;
  const timers = [globalThis.setTimeout, globalThis.clearTimeout];
  globalThis.setTimeout = (act, wait) => (later = { act, at: now + wait });
  globalThis.clearTimeout = () => (later = null);
  const grid = { indices: [[0, 1, 2]] }, view = Object.assign(Object.create(StepsView.prototype), {
    send() {}, draw() {}, place() {}, at: null, timer: null, set(data) {
      this.turns ??= new Turns(data.turn, () => now);
      this.takeSelection(data, "light");
      this.data = { ...data, sent: data.grid };
      this.takeStep();
    },
  });
  for (const event of args[0]) {
    if (event === "on" || event === "back") view.go(view.step + (event === "on" ? 1 : -1));
    else if (typeof event === "number") {
      now += event;
      if (later && later.at <= now) later.act();
    } else view.set({ step: event[0], turn: event[1], panels: Array(7), grid, at: [event[0] % 3] });
  }
  [globalThis.setTimeout, globalThis.clearTimeout] = timers;
  return view.step;
})()"""


@pytest.mark.parametrize(("events", "step"), EVENTS)
def test_a_newer_choice_is_kept_until_the_server_responds_to_it(events, step):
    assert evaluate(FOLLOW, events) == step


COPIES = """(() => {
  const turns = new Turns(0, () => 1e12), sent = turns.next(), waits = [turns.wait(sent - 1), turns.wait(sent)];
  turns.follow(7); // another copy of the page has sent six more
  return [...waits.map(Boolean), turns.next(), Boolean(turns.wait(7)), turns.wait(8)];
})()"""


def test_copies_of_a_page_number_their_choices_together():
    assert evaluate(COPIES) == [True, False, 8, True, 0]


ALONE = """(() => {
  const grid = { indices: [[0, 1, 2]] }, view = Object.assign(Object.create(FigureView.prototype), { at: null, turns: new Turns() });
  const shown = [];
  for (const [at, clicked] of args[0]) {
    const data = { grid, at };
    view.takeSelection(data, "light");
    view.data = { ...data, sent: data.grid };
    if (clicked) view.at = clicked;
    shown.push(view.at);
  }
  return shown;
})()"""


def test_without_a_server_the_selection_stays_until_the_data_has_a_different_one():
    assert evaluate(ALONE, [([0], [1]), ([0], None), ([2], None)]) == [[1], [1], [2]]


CHART_LABEL = """(async () => {
  const set = {}, plot = { setAttribute: (name, value) => (set[name] = value) };
  globalThis.window = { Plotly: { react() {}, newPlot() {} } };
  globalThis.getComputedStyle = () => ({});
  const data = { figure: { data: [], layout: {}, alt: "two lines" } };
  await ChartView.prototype.draw.call({ root: { clientWidth: 500, dataset: {} }, plot, data, colors: THEMES.light });
  return set["aria-label"];
})()"""


def test_a_chart_is_named_by_its_text():
    assert evaluate(CHART_LABEL) == "two lines"


REMOVED = """(async () => {
  const errors = [], { error } = console;
  console.error = (problem) => errors.push(problem.message);
  globalThis.window = { Plotly: {} };
  VIEWS.view = class {
    showError() {}
    set() { return new Promise((resolve, reject) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => reject(new Error("purged")))))); }
    destroy() {}
  };
  for (const stays of [true, false]) {
    const { drawn, remove } = mountFigure({ parentElement: { querySelector: () => ({}) }, data: { kind: "view", theme: "light" } });
    await Promise.resolve().then(() => Promise.resolve()).then(() => stays || remove());
    await drawn.catch(() => {});
  }
  console.error = error;
  VIEWS.view = FigureView;
  return errors;
})()"""


def test_a_view_that_is_removed_while_it_is_drawn_reports_no_error():
    assert evaluate(REMOVED) == ["purged"]  # the one that stayed


@pytest.mark.parametrize(
    ("layer", "shape", "cards", "across"),
    [
        ("LayerNorm([4, 5, 2])", (3, 4, 5, 2), 4, 4),  # high: one line fills the window
        ("LayerNorm([4, 3, 5])", (2, 4, 3, 5), 4, 2),  # wide
        ("LayerNorm([4, 3, 5])", (2, 4, 3, 5), 5, 3),  # three lines of cards would be too low
        ("LayerNorm(6)", (4, 6), 3, 3),
    ],
)
def test_projected_cards_stand_in_two_columns_where_they_are_larger(layer, shape, cards, across):
    e = explain(layer, shape)
    data = compare_payload([e, e], grid(e.shape, e.axes))
    script = "cardsAcross(args[0].grid, args[1], args[1] > 4 ? 3 : args[1], 1216, 720)"
    assert evaluate(script, data, cards) == across
