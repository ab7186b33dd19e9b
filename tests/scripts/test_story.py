"""Which state a figure of the story shows. JavaScript, in node."""

from itertools import product

from normviz.lessons.story import figures
from tests.support.javascript import LESSONS, evaluate

STORY = LESSONS / "story/story.ts"


def test_the_chosen_options_find_the_state_that_python_has_made_of_them():
    for figure in (figures.batch_figure(), figures.eval_figure(), figures.padding_figure(), figures.pictures_figure()):
        controls = [{"options": list(control.options)} for control in figure.controls]
        for state, chosen in enumerate(product(*(range(len(control.options)) for control in figure.controls))):
            assert evaluate("stateNumber(...args)", controls, list(chosen), entry=STORY) == state
        first = [control.first for control in figure.controls]
        assert evaluate("stateNumber(...args)", controls, first, entry=STORY) == figure.first
