"""Start here as a file: a newcomer does every step, with the mouse and with the keyboard, and comes back."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import normviz as nv
from normviz.figures.wire import sent
from normviz.lessons.start.page import LESSON_STEPS, images, stream
from normviz.texts.messages import plain
from tests.browser.conftest import new_context
from tests.browser.lessons.lesson import NARROW, VISITORS, WIDE

pytestmark = pytest.mark.browser

TITLES = [step.prose.title for step in LESSON_STEPS]
# The figure and what leads on are on the first screen.
ON_SCREEN = """() => [...document.querySelectorAll(".nv-start-figure, .nv-start-foot")].filter((part) => part.checkVisibility())
  .every((part) => part.getBoundingClientRect().bottom <= innerHeight)"""
NEXT_ON_SCREEN = "() => document.querySelector('.nv-start-foot').getBoundingClientRect().bottom <= innerHeight"
# Nothing is wider than the page, and no cell is wider than its figure.
INSIDE = """() => document.scrollingElement.scrollWidth === innerWidth
  && [...document.querySelectorAll(".nv-marking-cell")].filter((cell) => cell.checkVisibility())
    .every((cell) => cell.getBoundingClientRect().right < cell.closest(".nv-start-figure").getBoundingClientRect().right)"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "start.html"
    path.write_text(nv.open("/start").to_html(), encoding="utf-8")
    return path


@pytest.fixture
def tab(page: Page, file: Path) -> Page:
    """The file in the tab of a newcomer."""
    page.set_viewport_size(WIDE)
    page.goto(file.as_uri())
    return page


def title(tab: Page) -> Locator:
    return tab.locator(".nv-start-step:visible h2")


def button(tab: Page, name: str) -> Locator:
    return tab.get_by_role("button", name=name, exact=True)


def cell(tab: Page, *index: int) -> Locator:
    return tab.get_by_role("gridcell", name=f"x[{', '.join(map(str, index))}]")


def test_every_step_opens_the_next_one_when_the_reader_has_done_it(tab):
    tab.get_by_role("slider").press("ArrowLeft")
    expect(button(tab, "Next")).to_be_hidden()
    tab.get_by_role("switch").press("Space")
    button(tab, "Next").press("Enter")
    expect(title(tab)).to_be_focused()

    tab.get_by_role("slider", name="subtract").fill("5.5")
    expect(tab.get_by_text("mean 0", exact=True)).to_be_visible()
    expect(button(tab, "Next")).to_be_hidden()
    tab.get_by_role("slider", name="divide by").fill("2.5")
    button(tab, "Next").click()

    cell(tab, 0, 0).click()
    status = tab.locator(".nv-start-status:visible")
    expect(status).to_contain_text("The cell with 1 does not belong to the group. A mean of BatchNorm")
    expect(cell(tab, 0, 0)).to_have_attribute("aria-invalid", "true")
    cell(tab, 0, 0).click()
    expect(cell(tab, 0, 0)).to_have_attribute("aria-invalid", "false")
    cell(tab, 1, 1).click()
    expect(tab.locator(".nv-start-done:visible")).to_have_text(plain(LESSON_STEPS[2].prose.done))
    button(tab, "Next").click()

    cell(tab, 0, 0).click()
    expect(tab.locator(".nv-start-status:visible")).to_have_text("One more cell belongs to the group.")
    cell(tab, 0, 2).press("Enter")
    button(tab, "Next").click()

    tab.locator(".nv-line-dot:visible").nth(1).drag_to(tab.locator(".nv-line-ring:visible").nth(1), force=True)
    expect(tab.get_by_role("slider", name="beta")).to_have_value("5")  # from -0.2 to 5, in steps of 0.5
    tab.get_by_role("slider", name="gamma").fill("2.5")
    tab.get_by_role("slider", name="beta").fill("5.5")
    assert tab.locator(".nv-line-number:visible").all_inner_texts() == ["2", "5", "6", "9"]
    button(tab, "Next").click()

    cell(tab, 1, 1).click()
    expect(tab.locator(".nv-start-status:visible")).to_have_text("Elements of one color share a gamma and a beta.")
    expect(button(tab, "Next")).to_be_hidden()
    button(tab, "A larger batch arrives").click()
    expect(tab.locator(".nv-start-status:visible")).to_have_text("3 rows would have no gamma.")
    expect(tab.locator(".nv-gammas th")).to_have_text(["γ₀", "γ₁", "γ₂", "γ₀", "γ₁", "none", "none", "none"])
    button(tab, "Next").click()

    push = button(tab, "Push a batch")
    for _ in range(3):
        push.press("Enter")
    tab.get_by_role("switch").press("Space")
    expect(button(tab, "Next")).to_be_hidden()
    push.click(click_count=2)
    button(tab, "Next").click()

    button(tab, "all with n = 0, c = 1").click()
    expect(tab.locator(".nv-start-status:visible")).to_contain_text("more cells belong to the group")
    button(tab, "Unfold").press("Enter")
    assert tab.get_by_role("gridcell", selected=True).count() == 3  # marks stay on their numbers
    button(tab, "all with c = 1").click()
    expect(button(tab, "Next")).to_be_hidden()
    button(tab, "Fold back").press("Enter")
    button(tab, "Next").click()

    button(tab, "LayerNorm([C, H, W])").click()
    button(tab, "all with n = 0").click()
    expect(tab.locator(".nv-start-done:visible")).to_have_count(0)
    button(tab, "gamma").click()
    cell(tab, 0, 0, 0, 0).click()
    expect(tab.locator(".nv-start-status:visible")).to_contain_text(
        "One gamma for each C, H and W, the same for every N"
    )
    cell(tab, 0, 0, 0, 0).click()
    cell(tab, 1, 1, 0, 1).click()
    expect(tab.locator(".nv-start-done:visible")).to_have_text(plain(LESSON_STEPS[8].prose.done))
    expect(button(tab, "Next")).to_be_hidden()
    assert tab.locator(".nv-start-was-done").count() == len(LESSON_STEPS)


def test_the_stored_mean_follows_the_batches_and_stays_in_eval_mode(tab):
    tab.goto(f"{tab.url.partition('?')[0]}?step=7")
    data, rows = sent(stream()), tab.locator(".nv-stream-rows tbody tr")
    push, switch = button(tab, "Push a batch"), tab.get_by_role("switch")
    means = [f"{mean:.4g}" for mean in data["means"]]
    for number in range(2):
        push.click()
        expect(rows.last.get_by_role("cell").nth(1)).to_have_text(means[number])
        expect(rows.last.get_by_role("cell").nth(2)).to_have_text(f"{data['stored'][number + 1]:.4g}")
    switch.check()
    for _ in range(2):
        push.click()
    stays = [rows.nth(at).get_by_role("cell").all_inner_texts() for at in (2, 3)]
    assert [(mode, stored, output) for mode, _mean, stored, output in stays] == [("eval", *stays[0][2:])] * 2
    assert stays[0][1] != stays[1][1]  # though the batches differ
    expect(tab.locator(".nv-start-done:visible")).to_have_count(0)  # one batch in train mode is missing
    switch.uncheck()
    push.click()
    assert rows.last.get_by_role("cell").all_inner_texts()[:2] == ["train", means[2]]
    switch.check()
    push.click()
    expect(button(tab, "Next")).to_be_visible()


def test_nothing_answers_before_the_reader_has_marked_and_what_is_shown_is_not_praised(tab):
    tab.goto(f"{tab.url.partition('?')[0]}?step=9")
    status, colored = (
        tab.locator(".nv-start-status:visible"),
        tab.locator(".nv-start-learnt figure:has(.nv-start-seen:not(.nv-start-unseen))"),
    )
    tasks = {(task["label"], task["shares"]): task for task in sent(images())["tasks"]}
    for (label, shares), asked in tasks.items():
        button(tab, label).click()
        button(tab, shares).click()
        expect(status).to_be_empty()
        expect(tab.locator(".nv-start-step:visible")).not_to_contain_text(asked["hint"], use_inner_text=True)
    expect(tab.locator(".nv-start-learnt")).to_be_hidden()

    button(tab, "GroupNorm").click()
    button(tab, "Show me").click()
    expect(status).to_have_text(tasks["GroupNorm", "mean"]["seen"])
    expect(button(tab, f"Step 9, shown: {TITLES[8]}")).not_to_contain_class("nv-start-was-done")
    expect(tab.locator(".nv-marking-cell[data-result]:visible, .nv-solved:visible")).to_have_count(0)
    expect(colored.locator("strong")).to_have_text("GroupNorm")

    button(tab, "InstanceNorm").click()
    expect(button(tab, "Show me")).to_be_visible()
    for row in (0, 1):
        button(tab, f"all with n = 0, c = 1, h = {row}").click()
    expect(status).to_have_text(f"Right. {tasks['InstanceNorm', 'mean']['seen']}")
    expect(button(tab, "Show me")).to_be_hidden()
    expect(colored.locator("strong")).to_have_text(["InstanceNorm", "GroupNorm"])
    expect(button(tab, f"Step 9, done: {TITLES[8]}")).to_be_visible()


def test_the_conclusion_of_a_step_is_not_read_out_in_the_next_one(tab):
    said = tab.locator(".nv-start > [role=status]")
    button(tab, "Show me").click()
    expect(said).to_have_text(plain(LESSON_STEPS[0].prose.done))
    button(tab, "Next").click()
    expect(said).to_be_empty()


def test_show_me_leads_through_every_step_and_each_begins_on_one_screen(tab, subtests):
    for screen, theme in ((WIDE, "light"), (NARROW, "dark")):
        with subtests.test(theme):
            tab.set_viewport_size(screen)
            tab.emulate_media(color_scheme=theme)
            for number, name in enumerate(TITLES):
                expect(title(tab)).to_have_text(name)
                assert (number in (7, 8) and screen == NARROW) or tab.evaluate(ON_SCREEN), name
                assert tab.evaluate(INSIDE), name
                button(tab, "Show me").click()
                expect(button(tab, "Show me")).to_be_hidden()
                if number < len(TITLES) - 1:
                    assert tab.evaluate(NEXT_ON_SCREEN), name
                    button(tab, "Next").click()
            button(tab, "Start again").click()


def test_the_browser_remembers_the_step_and_the_reader_can_start_again(browser: Browser, file: Path) -> None:
    for _ in range(VISITORS):
        tab = new_context(browser).new_page()
        tab.goto(file.as_uri())
        for _ in range(2):
            button(tab, "Show me").click()
            button(tab, "Next").click()
        tab.reload()
        if title(tab).inner_text() == TITLES[2]:
            break
        tab.context.close()
    else:
        pytest.fail("no step was remembered")
    expect(button(tab, f"Step 4: {TITLES[3]}")).to_be_disabled()
    button(tab, f"Step 1, shown: {TITLES[0]}").click()
    expect(button(tab, "Next")).to_be_visible()
    button(tab, "Start again").click()
    expect(title(tab)).to_have_text(TITLES[0])
    expect(button(tab, "Show me")).to_be_visible()
    tab.goto(f"{tab.url.partition('?')[0]}?step=5")
    expect(title(tab)).to_have_text(TITLES[4])
    tab.context.close()


def test_words_of_the_glossary_are_marked_in_each_step(tab: Page):
    step, word = tab.locator(".nv-start-step:visible"), tab.locator(".nv-term:visible")
    for number in (2, 7):
        tab.goto(f"{tab.url.partition('?')[0]}?step={number}")
        step.get_by_role("button", name="Show me").click()
        marked = word.all_inner_texts()
        assert len(marked) == len({one.lower() for one in marked}) > 0
        assert {2: "standard deviation", 7: "running mean"}[number] in marked
        expect(step.locator(".nv-start-figure .nv-term")).to_have_count(0)
    word.filter(has_text="running mean").click()
    expect(tab.locator(".nv-definition")).to_contain_text("past batches")


def test_without_storage_everything_works(tab):
    tab.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } })"
    )
    tab.reload()
    button(tab, "Show me").click()
    button(tab, "Next").click()
    expect(title(tab)).to_have_text(TITLES[1])
    tab.reload()
    expect(title(tab)).to_have_text(TITLES[0])
