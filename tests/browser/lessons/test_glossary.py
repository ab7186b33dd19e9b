"""Words of the glossary in the page of the browser, in the tab without the app."""

import pytest
from playwright.sync_api import expect

from normviz.lessons.questions.page import QUESTIONS, question_parts
from normviz.parts.html import glossary
from normviz.parts.part import Caption, Heading, Note, Sentence, Text
from tests.browser.lessons.conftest import Show

pytestmark = pytest.mark.browser

PARTS = [
    Heading("Axes and buffers"),
    Sentence("**2** axes, `eps` and [a buffer](https://example.org)"),
    Text("An axis again, BatchNorm's **eps**, and eps."),
    Caption("Another eps. Running means, too."),
]
ABOUT = {word.name: word.about.replace("`", "") for word in glossary()}


def test_the_first_occurrence_of_a_word_is_a_button_but_not_in_code_links_headings_and_options(show: Show) -> None:
    words = show(PARTS).locator(".nv-term")
    expect(words).to_have_text(["axes", "eps", "Running means"])
    assert words.evaluate_all("all => all.map(word => word.dataset.term)") == ["axis", "eps", "running statistics"]
    show([Note("The eps comes first."), *PARTS])  # the page changes, and no word is marked twice
    expect(words).to_have_text(["eps", "axes", "Running means"])
    expect(words.first).to_have_js_property("parentElement.className", "nv-note-box")
    tab = show(list(question_parts(QUESTIONS["q16"])), guess="")
    assert "eval mode" in words.evaluate_all("all => all.map(word => word.dataset.term)")
    expect(tab.locator(".nv-option .nv-term")).to_have_count(0)


def test_a_word_explains_itself_to_the_pointer_and_to_the_keyboard_and_stays_with_its_comma(show: Show) -> None:
    tab = show(PARTS)
    axes, eps, means = tab.locator(".nv-term").all()
    box = tab.locator(".nv-definition")
    expect(box).to_be_hidden()
    axes.click()
    expect(box).to_contain_text(ABOUT["axis"])
    expect(axes).to_have_attribute("aria-expanded", "true")
    assert box.bounding_box()["y"] >= axes.bounding_box()["y"]
    axes.click()
    expect(box).to_be_hidden()
    means.click()
    eps.focus()
    tab.keyboard.press("Enter")
    expect(box).to_contain_text(ABOUT["eps"])
    expect(means).to_have_attribute("aria-expanded", "false")
    tab.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(eps).to_be_focused()
    show(PARTS)
    expect(tab.locator(".nv-term", has_text="eps")).to_be_focused()
    tab.locator(".nv-term", has_text="eps").click()
    expect(box).to_be_visible()
    tab.mouse.click(5, 600)
    expect(box).to_be_hidden()
    ends = show(PARTS).locator(".nv-term-end")
    expect(ends).to_have_text(["axes,", "Running means,"])
    assert ends.first.evaluate("""end => Array.from({length: 30}, (_, i) => {
      end.parentElement.style.width = `${40 + 5 * i}px`;
      const sign = document.createRange();
      sign.selectNodeContents(end.lastChild);
      return sign.getBoundingClientRect().top < end.firstChild.getBoundingClientRect().bottom;
    }).every(Boolean)""")
