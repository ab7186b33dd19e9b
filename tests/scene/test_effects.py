"""A setting that does nothing in the chosen view: it chooses its view, or a message says where it belongs; in links and in the library alike."""

import pytest

import normviz as nv
from normviz.lessons.pages import PAGES, view_of_link
from normviz.scene.setting import Where
from tests.support.needs import cases_in_torch

CHOSEN = [
    # a page, settings without the choice, what they choose
    ("train_and_eval", {"count": "64"}, {"show": "sequences"}),
    ("train_and_eval", {"count": "64", "longest": "9"}, {"show": "sequences"}),
    ("train_and_eval", {"devices": "8"}, {"show": "devices"}),
    ("train_and_eval", {"batch_size": "16"}, {"show": "stream"}),  # not batches, which has it too
    ("train_and_eval", {"batch": "2"}, {"show": "training"}),
    ("numerics", {"value": "3"}, {"show": "constant"}),
    ("numerics", {"dtype": "float16", "scale": "3"}, {"show": "single"}),
    ("numerics", {"dtype": "float16"}, {"show": "variance"}),
    ("models", {"own": "LayerNorm(768) on 2,128,768"}, {"model": "own"}),
]


def written(query):
    return f"?{'&'.join(f'{name}={value}' for name, value in query.items())}"


@cases_in_torch
@pytest.mark.parametrize(("page", "given", "chosen"), CHOSEN)
def test_a_setting_chooses_the_view_that_it_belongs_to(page, given, chosen):
    view = view_of_link(PAGES[page], given)
    assert view.problem is None
    assert chosen.items() <= view.settings.items()
    assert getattr(nv, page)(**given).view.settings == nv.open(page + written(given)).view.settings == view.settings
    assert view_of_link(PAGES[page], PAGES[page].query(view)) == view


REFUSED = [
    # a page, settings that contradict each other, the message
    ("train_and_eval", {"show": "modes", "count": "64"}, "count=64 has no effect with show='modes'; it belongs to show='sequences'."),
    ("train_and_eval", {"count": "64", "devices": "8"}, "devices=8 has no effect with show='sequences'; it belongs to show='devices'."),
    ("train_and_eval", {"show": "modes", "batch_size": "9"}, "batch_size=9 has no effect with show='modes'; it belongs to show='stream' or 'batches'."),
    ("numerics", {"show": "eps", "value": "3"}, "value=3 has no effect with show='eps'; it belongs to show='constant'."),
    ("models", {"model": "gpt2", "own": "LayerNorm(3) on 2,3"}, "own='LayerNorm(3) on 2,3' has no effect with model='gpt2'; it belongs to model='own'."),
]  # fmt: skip


@pytest.mark.parametrize(("page", "given", "message"), REFUSED)
def test_a_contradiction_is_told(page, given, message):
    view = view_of_link(PAGES[page], given)
    assert view.problem == message
    assert {"show", "model"} & {*given} == {name for name in given if view.settings[name] == given[name]} & {
        "show",
        "model",
    }
    for shown in (lambda: nv.open(page + written(given)), lambda: getattr(nv, page)(**given)):
        with pytest.raises(nv.NormvizError) as raised:
            shown()
        assert str(raised.value) == message


def test_a_guess_needs_its_question():
    with pytest.raises(nv.NormvizError, match="guess='48' has no effect without q; give q, too"):
        nv.open("/questions?guess=48")


def test_the_settings_of_another_page_are_told_where_they_belong():
    message = "momentum='0.5' has no effect on explore; it belongs to train_and_eval."
    assert view_of_link(PAGES["explore"], "layer=LayerNorm(4)&momentum=0.5").problem == message
    assert (
        view_of_link(PAGES["compare"], "step=4").problem
        == "step='4' has no effect on compare; it belongs to start and step_by_step."
    )
    with pytest.raises(nv.NormvizError, match=r"momentum=0\.5 has no effect on explore; it belongs to train_and_eval"):
        nv.explore("LayerNorm(4)", momentum=0.5)


@pytest.mark.parametrize(
    "page", [name for name, page in PAGES.items() if any(isinstance(one.applies, Where) for one in page.settings)]
)
def test_a_link_may_have_the_defaults_of_all_views(page):
    """Links that the app wrote before it left them out."""
    settings = PAGES[page].settings
    defaults = {one.name: one.format(one.default) for one in settings if one.default != ""}
    for name in [one.name for one in PAGES[page].experiments] or [None]:
        view = view_of_link(PAGES[page], defaults | ({"show": name} if name else {}))
        assert view.problem is None
        assert view.settings == {one.name: one.default for one in settings} | ({"show": name} if name else {})
    if page != "models":  # own= alone is the reader's, also where it is the example
        without = view_of_link(PAGES[page], {name: text for name, text in defaults.items() if name != "show"})
        assert (without.problem, without.settings) == (None, {one.name: one.default for one in settings})
    others = {
        name: text
        for other in PAGES.values()
        for one in other.settings
        if (name := one.name) and (text := one.format(one.default))
    }
    assert view_of_link(PAGES["explore"], others).problem is None


def test_the_address_leaves_out_what_another_experiment_has():
    view = view_of_link(PAGES["train_and_eval"], "show=sequences&count=64").with_settings(
        show="stream"
    )  # the reader goes back
    assert PAGES["train_and_eval"].query(view) == {"show": "stream"}
    assert view.with_settings(show="sequences").settings["count"] == 64


@pytest.mark.parametrize(
    "link", ["/?shap=2,3&layer=LayerNorm(3)", "/train_and_eval?shw=modes&count=1", "/numerics?valu=3&show=x"]
)
def test_a_misspelt_name_is_told_before_what_follows_from_it(link):
    with pytest.raises(nv.NormvizError, match=r"Did you mean (shape|show|value)"):
        nv.open(link)


def test_a_misspelt_keyword_is_told_before_what_follows_from_it():
    with pytest.raises(nv.NormvizError, match=r"shap=\(2, 3\) is not a setting here. Did you mean shape"):
        nv.explore("LayerNorm(3)", shap=(2, 3), at=(9, 9))
