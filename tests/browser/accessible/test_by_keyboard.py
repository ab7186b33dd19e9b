"""With a keyboard alone: Start here, a core question, a set of exercises, Share, and the table and the keys of a figure."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible.keys import Keys
from tests.browser.view import View

pytestmark = pytest.mark.browser


@pytest.fixture
def keys(tab) -> Keys:
    view, _watch = tab
    return Keys(view.page)


def show(tab, address: str, selector: str) -> View:
    view, _watch = tab
    view.visit(address)
    view.find(selector).first.wait_for()
    view.wait_until_drawn()
    view.page.evaluate("document.activeElement.blur()")
    return view


def test_start_here_from_the_first_step_to_the_last(tab, keys):
    view, _watch = tab
    view.page.evaluate("localStorage.clear()")
    show(tab, "start?step=1", ".nv-start-step:not([hidden])")
    steps = view.find(".nv-start-step").count()
    for number in range(1, steps + 1):
        expect(view.find(".nv-start-place[aria-current]")).to_have_text(str(number))
        if view.find(".nv-start-step:not([hidden]) .nv-marking").count():  # mark an element, and unmark it
            keys.tab_to("", "nv-marking-cell")
            keys.press("ArrowRight")
            if view.find(".nv-marking-framed:focus").count():  # it is the one whose peers are asked for
                keys.press("ArrowRight")
            keys.press("Space")
            expect(view.find(".nv-marking-cell:focus")).to_have_attribute("aria-selected", "true")
            keys.press("Space")
        keys.tab_to("Show me")
        keys.press("Enter")
        expect(view.find(".nv-start-step:not([hidden]) .nv-start-done")).to_be_visible()
        if number < steps:
            view.page.evaluate("document.activeElement.blur()")
            keys.tab_to("Next")
            keys.press("Enter")
    keys.tab_to("", "nv-go")  # where to go from here


def test_a_core_question_is_predicted_and_its_figure_explored(tab, keys):
    view = show(tab, "questions?q=s0", ".nv-prediction")
    view.find(".nv-back a").focus()
    keys.tab_until(".nv-predict input[type=radio]")
    keys.press("ArrowDown")
    keys.tab_to("Check")
    keys.press("Enter")
    expect(view.find(".nv-verdict")).to_be_visible()
    view.wait_until_drawn()
    keys.tab_until(".nv-over")
    keys.press("n")
    expect(view.find(".nv-view .nv-hidden[role=status]").first).to_contain_text("; shares its ")


def test_a_set_of_exercises_is_answered_to_its_summary(tab, keys):
    view, _watch = tab
    view.page.evaluate("sessionStorage.clear()")
    show(tab, "practice?seed=7&count=3", ".nv-exercise").find(".nv-exercise-prompt").focus()
    for number in range(1, 4):
        expect(view.find(".nv-practice-place")).to_contain_text(f"{number} ")
        keys.tab_until(".nv-typed, .nv-choice input, .nv-marking-cell")
        if view.find(".nv-marking").count():
            keys.press("ArrowRight", "Space")
        elif view.find(".nv-choices").count():
            keys.press("Space")
        else:
            view.page.keyboard.type("2")
        keys.tab_to("Check")
        keys.press("Enter")
        expect(view.find(".nv-exercise-hint > p, .nv-exercise-feedback[data-result]").first).to_be_visible()
        if view.find(".nv-exercise-hint > p").count():  # a second try is open
            keys.tab_to("Show the answer")
            keys.press("Enter")
        expect(view.find(".nv-exercise-feedback")).to_be_focused()
        keys.tab_to("Next exercise" if number < 3 else "Summary")
        keys.press("Enter")
    expect(view.find(".nv-practice-summary h2")).to_be_focused()


def test_a_view_is_shared_and_the_focus_returns(look, keys):
    view = look("?shape=2,3&layer=LayerNorm(3)&at=0,0")
    view.page.evaluate("document.activeElement.blur()")
    keys.tab_to("Share")
    keys.press("Enter")
    dialog = view.page.get_by_role("dialog", name="Share this view")
    expect(dialog.get_by_role("button", name="Copy: Link")).to_be_focused()
    keys.press("Enter")
    expect(dialog.get_by_role("status")).to_have_text("Copied: Link")
    keys.press("Escape")
    expect(view.page.get_by_role("button", name="Share", exact=True)).to_be_focused()


def test_a_screen_reader_finds_the_parts_of_a_figure_and_its_table_and_keys_give_the_focus_back(look, keys):
    view = look("?shape=2,3&layer=LayerNorm(3)&at=1,0&open=values,worked")
    view.page.get_by_role("button", name="Show all four").click()
    tree = view.find(".nv-view").aria_snapshot()
    for line in (
        '- figure "mean over n d → n · 2 groups of 3',
        '- group "mean over"',
        '- figure "own gamma for each d · 3 + 3 = 6 parameters',
        '- application "Who shares my mean and variance?"',
        '- application "Who shares my gamma and beta?"',
        '- application "x"',
        "- status",
        '- button "The figure as a table"',
        '- button "Keys"',
        '- slider "gamma"',
        '- heading "Worked out for x[1, 0]" [level=2]',
    ):
        assert line in tree, tree
    assert "−" not in tree.partition('- application "x"')[2].splitlines()[0]  # numbers in cells are in the table
    panel = view.panel("x")
    panel.press("t")
    x = view.scene.description.x
    dialog = view.page.get_by_role("dialog", name="The figure as a table")
    rows = [row.split() for row in dialog.get_by_role("row").all_inner_texts()]
    assert rows[0] == ["d", "=", "0", "d", "=", "1", "d", "=", "2"]
    for n, row in enumerate(rows[1:]):
        numbers = [text for text in row[3:] if text not in ("◉", "•")]
        assert [float(text.replace("−", "-")) for text in numbers] == pytest.approx(x[n].tolist(), rel=1e-3)
    assert rows[2].count("◉") == 1
    assert rows[2].count("•") == 2  # the others of example 1
    dialog.get_by_role("combobox", name="Panel").select_option("Who shares my mean and variance?")
    assert [row.split()[3:] for row in dialog.get_by_role("row").all_inner_texts()][1] == 3 * ["mean", "0"]
    keys.press("Escape")
    expect(panel).to_be_focused()
    keys.press("?")
    listed = view.page.get_by_role("dialog", name="Keys")
    assert {"N", "P", "G", "T", "Enter", "Esc"} <= set(listed.locator("kbd").all_inner_texts())
    keys.press("r", "c", "Escape")  # Streamlit does not hear them
    expect(panel).to_be_focused()
    keys.press("r", "c")
    view.page.evaluate("document.activeElement.blur()")
    keys.press("r", "c")
    assert view.page.get_by_role("dialog").count() == 0
    assert view.scene.at == (1, 0)
