"""Before which headlines the app asks how many means a layer has. JavaScript, in node."""

import pytest

from tests.support.javascript import LESSONS, evaluate

SCRIPT = LESSONS / "explore/how_many.ts"
START = ("LayerNorm([4, 3, 5])", 0, True)


def asked(*views):
    """What is asked at the last of these views, each a layer, the turn of the figure, and whether a control has led to it."""
    steps = [
        {"figures": [{"kind": "view", "layer": layer, "turn": turn, "grid": {"shape": shape}}], "isPicked": picked}
        for layer, turn, picked, shape in ((*view, [2, 4, 3, 5])[:4] for view in views)
    ]
    script = """(() => {
      globalThis.window = { addEventListener() {} };
      window.parent = window;
      const page = new HowMany({ addEventListener() {}, querySelector: () => null });
      for (const { figures, isPicked } of args[0]) {
        isPicked ? page.pick() : page.follow();
        page.set(figures);
      }
      return page.asked;
    })()"""
    return evaluate(script, steps, entry=SCRIPT)


ASKED = {
    "the first layer is shown": ([START], ""),
    "a name that is picked": ([START, ("BatchNorm2d(4)", 0, True)], "BatchNorm2d(4)"),
    "while an element is selected": (
        [START, ("BatchNorm2d(4)", 0, True), ("BatchNorm2d(4)", 1, True)],
        "BatchNorm2d(4)",
    ),
    "once": ([START, ("BatchNorm2d(4)", 0, True), START, ("BatchNorm2d(4)", 0, True)], ""),
    "another argument": ([START, ("LayerNorm([5])", 0, True)], ""),
    "a link": ([START, ("BatchNorm2d(4)", 0, False)], ""),
    "a toggle": ([START, ("InstanceNorm2d(4)", 1, True)], ""),
    "a pattern": ([START, ("statistics: n c h w -> h", 0, True)], ""),
    "another tensor": ([START, ("BatchNorm1d(4)", 0, True, [2, 4])], ""),
}


@pytest.mark.parametrize(("views", "layer"), ASKED.values(), ids=list(ASKED))
def test_it_asks_once_before_the_headline_of_a_layer_that_is_picked(views, layer):
    assert asked(*views) == layer
