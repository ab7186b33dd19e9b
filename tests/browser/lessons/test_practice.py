"""Practice in a browser: answering, feedback, the summary, a reload; and the same set in the app and in a file."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from normviz.export.links import output_of_query
from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.confusions import feedback as feedback_on
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.page import SHOWN_BY_STEP, ExerciseSet, Practice
from normviz.lessons.practice.settings import CHOICE, MARK, NUMBER
from normviz.texts.messages import in_language
from tests.browser.lessons.conftest import Show
from tests.browser.lessons.lesson import NARROW, VISITORS, WIDE, Lesson

pytestmark = pytest.mark.browser


def with_confusion(form: str, kind: str = "") -> Exercise:
    """The first exercise of this form that a documented confusion answers wrongly."""
    return next(one for one in bank() if one.about.form == form and one.wrong and kind in ("", one.kind))


NUMERIC, CHOSEN, MARKED = with_confusion(NUMBER), with_confusion(CHOICE), with_confusion(MARK)


class HandMade(ExerciseSet):
    """A set of one exercise of each form."""

    def exercises(self) -> list[Exercise]:
        return [NUMERIC, CHOSEN, MARKED]


PRACTICE = Practice(HandMade(7, 3, (), None), timed=True)


@pytest.fixture
def practice(show: Show) -> Page:
    """Three exercises that nobody has answered yet, in a blank tab."""
    tab = show([])
    tab.evaluate(
        "() => (sessionStorage.setItem('normviz.practice', '[]'), localStorage.removeItem('normviz.confusions'))"
    )
    tab.set_viewport_size(WIDE)
    return show([PRACTICE])


def check(tab: Page) -> None:
    tab.get_by_role("button", name="Check").click()


def cell(tab: Page, index: list[int] | tuple[int, ...]) -> None:
    name = re.escape(f"x{list(index)}")
    tab.get_by_role(
        "gridcell", name=re.compile(rf"^{name}(,|$)")
    ).click()  # a framed or marked one says so after its name


def following(tab: Page) -> None:
    tab.get_by_role("button", name="Next exercise").click()


def test_a_set_is_answered_with_feedback_on_each_confusion_and_ends_with_a_summary(practice: Page, show: Show):
    tab, feedback, hint = practice, practice.locator(".nv-exercise-feedback"), practice.locator(".nv-exercise-hint")
    confusion, wrong = NUMERIC.wrong[0]
    begin = tab.get_by_role("link", name="New here, or coming from BatchNorm? Start here")

    expect(begin).to_have_count(0)  # nothing stands beside an open exercise
    check(tab)
    expect(feedback).to_have_text("Write a number.")
    tab.get_by_role("textbox").fill("many")
    tab.keyboard.press("Enter")
    expect(feedback).to_contain_text("'many' is not a number")
    tab.get_by_role("textbox").fill(str(wrong))
    tab.keyboard.press("Enter")
    known, told = f"Not right. That is {CONFUSIONS[confusion].name}.", feedback_on(confusion, NUMERIC.case)
    sentence = told.removeprefix(f"That is {CONFUSIONS[confusion].name}. ")
    expect(hint).to_contain_text(known)
    expect(hint).to_contain_text(sentence)
    expect(tab.locator(".nv-practice-card")).not_to_contain_text("The answer is")  # only the hint
    expect(tab.get_by_role("button", name="Next exercise")).to_have_count(0)
    show([])
    show([PRACTICE])  # as after a reload: the hint is still there
    expect(hint).to_contain_text(known)
    tab.get_by_role("textbox").press("Enter")
    expect(feedback).to_have_text("You have checked this answer. Try another one.")
    tab.get_by_role("textbox").fill("1000")
    tab.keyboard.press("Enter")
    expect(feedback).to_be_focused()
    expect(hint).to_have_count(0)
    expect(feedback).to_contain_text(f"Not right. The answer is {NUMERIC.answer}.")
    expect(feedback).to_contain_text(NUMERIC.explanation)
    expect(tab.get_by_role("link", name="See it in a figure")).to_have_attribute("data-page", NUMERIC.about.page.name)

    following(tab)
    expect(tab.locator(".nv-exercise-prompt")).to_be_focused()
    show([])
    show([PRACTICE])  # as after a reload
    expect(tab.locator(".nv-practice-place")).to_have_text("2 of 3")
    right = CHOSEN.text_of(CHOSEN.answer)
    tab.keyboard.press("Tab")  # the button "Choose exercises"
    tab.get_by_role("radio", name=right, exact=True).check()
    tab.keyboard.press("Enter")
    expect(feedback).to_contain_text("Right.")
    expect(tab.locator(".nv-practice-score")).to_have_text("1 right")

    following(tab)
    elements = MARKED.elements(MARKED.answer)
    check(tab)
    expect(feedback).to_contain_text("Nothing is marked.")
    other = next(one for one in CASE_ELEMENTS if one not in elements and one != MARKED.at)
    for index in (*elements[1:], other):
        cell(tab, index)
    check(tab)
    expect(hint).to_contain_text("Try once more.")
    tab.get_by_role("gridcell", name=f"x{list(other)}", exact=False).click()
    check(tab)
    expect(feedback).to_contain_text("1 missing")
    expect(feedback).not_to_contain_text("too many")
    expect(feedback).to_contain_text(f"The answer: {MARKED.explanation}")
    expect(tab.locator(".nv-marking-cell[data-result=missing]")).to_have_attribute(
        "aria-label", f"x{list(elements[0])}, missing"
    )

    tab.get_by_role("button", name="Summary").click()
    title = tab.get_by_role("heading", level=2)
    expect(title).to_be_focused()
    expect(title).to_contain_text("1 of 3 right at the first try, in 0:0")
    expect(tab.locator(".nv-practice-confusions li")).to_have_count(1)
    expect(tab.locator(".nv-practice-answers li[data-result=wrong]")).to_have_count(2)
    copied = tab.locator(".nv-practice-copied").input_value()
    assert (
        "Practice with normviz, seed 7\nhttps://example.org/practice?seed=7&count=3&level=all&time=true\n1 of 3 right"
        in copied
    )
    assert all(f". {one.prompt}" in copied and one.id in copied for one in (NUMERIC, CHOSEN, MARKED))
    assert f"✗ {wrong}, then 1000; right: {NUMERIC.answer}" in copied
    progress = tab.locator(".nv-practice-progress")
    progress.locator("summary").click()
    expect(progress.locator("li")).to_have_text(
        f"{CONFUSIONS[confusion].name} 1 time, ✓ overcome"
    )  # by the second exercise
    tab.get_by_role("button", name="Delete my progress").click()
    expect(progress).to_have_count(0)
    assert tab.evaluate("localStorage.getItem('normviz.confusions')") == "{}"
    steps = tab.locator(".nv-practice-confusions [data-page=start]")
    expect(begin).to_be_visible()  # fewer than half are right
    expect(steps).to_have_count(sum(confusion in shown for shown in SHOWN_BY_STEP.values()))
    expect(tab.get_by_role("button", name="Go on with level")).to_have_count(0)
    tab.get_by_role("button", name="Do these again").click()
    expect(tab.locator(".nv-practice-place")).to_have_text("1 of 3")


CASE_ELEMENTS = MARKED.elements(tuple(tuple(range(size)) for size in MARKED.case.shape))


def answer(tab: Page) -> Exercise:
    """Answers the exercise that is shown, rightly."""
    name = tab.locator(".nv-exercise").get_attribute("data-exercise")
    asked = next(one for one in bank() if one.id == name)
    if asked.about.form == NUMBER:
        tab.get_by_role("textbox").fill(str(asked.answer))
    elif asked.about.form == CHOICE:
        tab.get_by_role("radio", name=asked.text_of(asked.answer), exact=True).check()
    elif asked.about.form == MARK:
        for index in asked.elements(asked.answer):
            cell(tab, index)
        if not asked.elements(asked.answer):
            check(tab)
    else:
        build(tab, asked)
    check(tab)
    expect(tab.locator(".nv-exercise-feedback")).to_contain_text("Right.")
    return asked


def build(tab: Page, asked: Exercise) -> None:
    """Sets the toggles to the first accepted position."""
    for axis, steps, wanted in zip(asked.case.axes, asked.steps, asked.answer[0], strict=True):
        off = 0 if 0 in steps else max(steps)
        pressed = steps[0] if wanted == off else wanted
        if wanted != steps[0]:
            name = axis.upper() if pressed == 1 else f"{axis.upper()}/{pressed}"
            tab.locator(f".nv-build button[data-axis={axis}]").get_by_text(name, exact=True).press("Enter")


def test_a_rising_set_goes_up_after_two_right_answers_and_is_kept_and_new_exercises_are_others(show: Show):
    rising = Practice(ExerciseSet(0, 5, (), None, is_rising=True))
    tab = show([])
    tab.evaluate(
        "() => { window.ownRandom = Math.random; Math.random = () => 0.25; }"
    )  # the same exercises in each run
    tab.evaluate(
        "() => (sessionStorage.setItem('normviz.practice', '[]'), localStorage.removeItem('normviz.confusions'))"
    )
    show([rising])
    level, place = tab.locator(".nv-practice-level"), tab.locator(".nv-practice-place")
    expect(level).to_have_text("Level 1: tables")
    expect(tab.locator(".nv-practice-time")).to_be_hidden()
    first = answer(tab)
    following(tab)
    expect(level).to_have_text("Level 1: tables")
    second = answer(tab)
    following(tab)
    expect(level).to_have_text("Level 2: sequences and images")
    third = tab.locator(".nv-exercise").get_attribute("data-exercise")
    show([])
    show([rising])  # as after a reload
    expect(place).to_have_text("3 of 5")
    expect(tab.locator(f"[data-exercise='{third}']")).to_be_visible()
    for _number in range(3):
        tab.get_by_role("button", name="Show the answer").click()
        tab.locator(".nv-exercise-actions button").click()
    kept = tab.evaluate("() => JSON.parse(sessionStorage.getItem('normviz.practice'))[0]")
    assert kept["ids"][:3] == [first.id, second.id, third]
    assert len(kept["ids"]) == len(kept["tries"]) == 5
    assert [one.get_attribute("data-exercise") for one in tab.locator(".nv-practice-answers li").all()] == kept["ids"]
    expect(tab.get_by_role("heading", level=2)).to_have_text("2 of 5 right at the first try")
    tab.get_by_role("button", name="New exercises").click()
    expect(place).to_have_text("1 of 5")
    expect(level).to_have_text("Level 1: tables")
    tab.evaluate("() => { Math.random = window.ownRandom; }")


def test_toggles_are_set_with_the_keyboard_until_the_outlines_agree(show: Show):
    grouped = next(one for one in bank() if one.variant == "groups" and len(one.case.shape) == 4)

    class One(ExerciseSet):
        def exercises(self) -> list[Exercise]:
            return [grouped]

    tab = show([])
    tab.evaluate("() => sessionStorage.setItem('normviz.practice', '[]')")
    show([Practice(One(7, 1, (), None))])
    target, outlined = tab.locator(".nv-build-target"), tab.locator(".nv-build .nv-shared-same")
    expect(target).to_have_count(len(grouped.target))
    expect(outlined).not_to_have_count(len(grouped.target))
    build(tab, grouped)
    expect(outlined).to_have_count(len(grouped.target))
    expect(tab.locator(".nv-build-target.nv-shared-same")).to_have_count(len(grouped.target))
    number = len(grouped.target)
    expect(tab.locator(".nv-build .nv-shared-foot p")).to_have_text(
        f"The outlined elements share one mean: {number} of the {number} filled ones, and 0 others."
    )
    groups = grouped.answer[0][1]
    expect(tab.get_by_role("button", name=f"C, channels: {groups} groups", pressed=True)).to_be_visible()
    check(tab)
    expect(tab.locator(".nv-exercise-feedback")).to_contain_text(f"Right. {grouped.explanation}", use_inner_text=False)
    expect(tab.locator(".nv-toggle").first).to_be_disabled()


def test_figures_have_labeled_axes_and_prompts_and_feedback_explain_words_of_the_glossary(practice: Page, show: Show):
    small, shape = practice.locator(".nv-numbers"), NUMERIC.case.shape
    assert len(shape) == 2
    expect(small.locator("td")).to_have_count(shape[0] * shape[1])
    expect(small.locator("td[style]")).to_have_count(0)
    heads = [f"{NUMERIC.case.axes[1]} =", *map(str, range(shape[1]))]
    expect(small.locator("th")).to_have_text([*heads, *(f"{NUMERIC.case.axes[0]} = {i}" for i in range(shape[0]))])

    large = next(
        one for one in bank() if one.about.form == CHOICE and len(one.case.shape) == 4 and min(one.case.shape) > 3
    )
    pattern = next(one for one in bank() if one.kind == "pattern" and len(one.case.shape) == 2)
    negative = next(one for one in bank() if one.kind == "value" and str(one.answer).startswith("-"))

    class Three(ExerciseSet):
        def exercises(self) -> list[Exercise]:
            return [large, pattern, negative]

    tab = show([Practice(Three(1, 3, (), None))])
    figure = tab.locator(".nv-numbers")
    n, c = large.case.shape[:2]
    captions = [f"n = {i}, c = {j}" for i in (0, n - 1) for j in (0, c - 1)]
    expect(figure.locator("caption")).to_have_text(captions)
    expect(figure.locator("table").first.locator("td:not(.nv-numbers-gap)")).to_have_count(4)
    tab.get_by_role("button", name="Show the answer").click()
    following(tab)
    expect(figure.locator("td[style]")).to_have_count(pattern.case.shape[0] * pattern.case.shape[1])
    expect(figure.locator("th[scope=col]")).to_have_text([str(i) for i in range(pattern.case.shape[1])])
    tab.get_by_role("button", name="Show the answer").click()
    following(tab)
    expect(tab.get_by_role("textbox")).to_have_attribute("inputmode", "text")  # a keyboard with a minus sign

    gammas, means = (next(one for one in bank() if one.kind == kind) for kind in ("gammas", "means"))

    class Two(ExerciseSet):
        def exercises(self) -> list[Exercise]:
            return [gammas, means]

    tab = show([Practice(Two(1, 2, (), None))])
    word = tab.locator(".nv-exercise-prompt .nv-term")
    expect(word).to_have_text("gammas")
    word.click()
    expect(tab.locator(".nv-definition")).to_contain_text("gamma")
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Show the answer").click()
    following(tab)
    tab.get_by_role("button", name="Show the answer").click()
    expect(tab.locator(".nv-exercise-feedback .nv-term").first).to_have_text("pattern")


def test_a_set_without_a_mistake_leads_to_the_next_level_and_one_of_the_last_level_does_not(show: Show):
    class One(ExerciseSet):
        def exercises(self) -> list[Exercise]:
            return [NUMERIC]

    for level, offers in ((2, 1), (3, 0)):
        tab = show([])
        tab.evaluate("() => sessionStorage.setItem('normviz.practice', '[]')")
        show([Practice(One(7, 1, (), level))])
        tab.get_by_role("textbox").fill(str(NUMERIC.answer))
        check(tab)
        tab.get_by_role("button", name="Summary").click()
        expect(tab.get_by_role("button", name="New exercises")).to_be_visible()
        harder = tab.get_by_role("button", name="Go on with level 3: groups and odd shapes")
        expect(harder).to_have_count(offers)
        if offers:
            harder.click()
            assert tab.evaluate("window.sent") == ["go practice?seed=7&count=1&level=3"]
        show([])


def test_the_form_makes_the_link_that_a_teacher_hands_out(practice: Page):
    tab, opener = practice, practice.get_by_role("button", name="Choose exercises")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    tab.get_by_label("Gamma and beta").check()
    tab.get_by_role("radio", name="2: sequences and images").check()
    tab.get_by_label("Build it").check()
    tab.get_by_label("Seed").fill("12")
    tab.get_by_label("Show the time").uncheck()
    query = "?seed=12&count=3&topics=parameters&level=2&kinds=number,mark,choice,build"
    expect(tab.get_by_label("Link to this set")).to_have_value(f"https://example.org/practice{query}")
    tab.get_by_role("button", name="Start").click()
    assert tab.evaluate("window.sent") == [f"go practice{query}"]


def test_on_a_phone_each_form_is_answered_without_scrolling_and_with_a_thumb(practice: Page):
    practice.set_viewport_size(NARROW)
    for number in range(3):
        sizes = practice.locator(".nv-exercise :is(button:not(.nv-marking button), .nv-choice, .nv-typed)")
        boxes = [box for box in (each.bounding_box() for each in sizes.all()) if box]
        assert all(box["height"] >= 44 for box in boxes)
        bottom = practice.get_by_role("button", name="Check").bounding_box()
        assert bottom
        assert bottom["y"] + bottom["height"] <= NARROW["height"]
        practice.get_by_role("button", name="Show the answer").click()
        if number < 2:
            following(practice)


def prompts_of(tab: Page, count: int) -> list[str]:
    """The prompts of a set, one exercise after the other."""
    found = []
    for _number in range(count):
        found.append(tab.locator(".nv-exercise").get_attribute("data-exercise") or "")
        tab.get_by_role("button", name="Show the answer").click()
        tab.locator(".nv-exercise-actions button").click()
    return found


def test_the_same_link_gives_the_same_set_in_the_app_and_in_a_file(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab")
    query = "?seed=41&count=5&topics=statistics,code&level=2&hide=time"
    chosen = ExerciseSet(41, 5, ("statistics", "code"), 2).exercises()
    lesson.visit(f"practice{query}")
    lesson.find("#root .nv-exercise").wait_for()
    expect(lesson.find(".nv-practice-time")).to_be_hidden()
    assert prompts_of(lesson.page, 5) == [one.id for one in chosen]
    path = tmp_path / "practice.html"
    path.write_text(output_of_query("practice", {"seed": "1"}).to_html(plotlyjs="none.js"), encoding="utf-8")
    for _ in range(VISITORS):
        tab = lesson.page.context.new_page()
        tab.goto(f"{path.as_uri()}#{query[1:]}")
        expect(tab.locator(f"[data-exercise='{chosen[0].id}']")).to_be_visible()
        expect(tab.locator(".nv-practice-time")).to_be_hidden()
        tab.get_by_role("button", name="Show the answer").click()
        expect(tab.get_by_role("link", name="See it in a figure")).to_have_attribute(
            "href", f"https://example.org/lab{chosen[0].link}"
        )
        tab.reload()
        expect(tab.locator(f"[data-exercise='{chosen[0].id}']")).to_be_visible()
        if tab.get_by_role("button", name="Next exercise").is_visible():
            break
        tab.close()
    else:
        pytest.fail("no tab kept the attempt")
    tab.get_by_role("button", name="Choose exercises").click()
    tab.get_by_role("button", name="New exercises").click()
    expect(tab.get_by_role("button", name="Check")).to_be_visible()
    tab.go_back()
    following(tab)  # the first exercise is still answered
    assert prompts_of(tab, 4) == [one.id for one in chosen[1:]]
    tab.close()


def test_the_address_of_a_file_changes_what_it_names_and_without_a_set_the_file_shows_its_own(
    lesson: Lesson, tmp_path: Path
):
    path, own = tmp_path / "practice.html", {"seed": "3", "count": "4", "topics": "statistics,code", "level": "1"}
    path.write_text(output_of_query("practice", own).to_html(plotlyjs="none.js"), encoding="utf-8")
    tab = lesson.page.context.new_page()

    def expect_set(chosen: ExerciseSet) -> None:
        expect(tab.locator(f"[data-exercise='{chosen.exercises()[0].id}']")).to_be_visible()
        expect(tab.locator(".nv-practice-place")).to_have_text(f"1 of {chosen.count}")

    tab.goto(path.as_uri())
    expect_set(ExerciseSet(3, 4, ("statistics", "code"), 1))
    tab.goto(f"{path.as_uri()}#seed=8")
    expect_set(ExerciseSet(8, 4, ("statistics", "code"), 1))
    tab.goto(f"{path.as_uri()}#seed=8&topics=&level=all")
    expect_set(ExerciseSet(8, 4, (), None))
    tab.get_by_role("button", name="Choose exercises").click()
    tab.get_by_label("Exercises", exact=True).fill("2")
    link = tab.get_by_label("Link to this set").input_value()
    tab.get_by_role("button", name="Start").click()
    expect_set(ExerciseSet(8, 2, (), None))
    tab.go_back()
    expect_set(ExerciseSet(8, 4, (), None))
    tab.goto(f"{path.as_uri()}#seed=9")
    expect_set(ExerciseSet(9, 4, ("statistics", "code"), 1))
    tab.goto(f"{path.as_uri()}#hide=time")
    expect_set(ExerciseSet(3, 4, ("statistics", "code"), 1))
    tab.goto(link)
    expect_set(ExerciseSet(8, 2, (), None))
    tab.close()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_decimal_comma_is_right_in_spanish_and_a_number_with_both_signs_is_asked_about(
    practice: Page, tmp_path: Path, size: ViewportSize
):
    asked = {"seed": "17", "count": "1", "topics": "numbers", "kinds": "number"}
    (exercise,) = ExerciseSet(17, 1, ("numbers",), None, (NUMBER,)).exercises()
    path = tmp_path / "practice.html"
    with in_language("es"):
        path.write_text(output_of_query("practice", asked).to_html(plotlyjs="none.js"), encoding="utf-8")
    tab = practice.context.new_page()
    tab.set_viewport_size(size)
    tab.goto(path.as_uri())
    field, feedback = tab.get_by_role("textbox"), tab.locator(".nv-exercise-feedback")
    field.fill("1.234,5")
    field.press("Enter")
    expect(feedback).to_contain_text("1234.5")
    expect(field).to_have_value("1.234,5")
    typed = str(exercise.answer).replace(".", ",")
    assert "," in typed
    field.fill(typed)
    field.press("Enter")
    expect(feedback).to_have_attribute("data-result", "right")
    expect(field).to_have_value(typed)
    tab.close()
