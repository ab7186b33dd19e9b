"""A set as an object of a course, in a real run-time of SCORM 1.2, scorm-again: every call stays within the limits of the standard, which it does not check."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from normviz.export.scorm import scorm_package
from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.settings import BUILD, CHOICE, MARK, NUMBER
from tests.browser.conftest import NewTab
from tests.browser.watch import Watch
from tests.support.needs import skip_or_fail
from tools.npm import NpmError, unpacked

pytestmark = pytest.mark.browser

RUN_TIME = "scorm-again", "3.4.3", "Zbe+7ArMUbT1lVnqYxsbGRfI9JD9JVqEPzZLQdk0nfNmcDYJ404rMO9nbkQ0Hzwux5uACF9zKsvc29Q/ZzMOdg=="  # fmt: skip
HOST = "http://course.localhost"  # answered by the test itself
SET = tuple(next(one for one in bank() if one.about.form == form and one.wrong) for form in (NUMBER, CHOICE, MARK, BUILD))  # fmt: skip
NUMBERED, CHOSEN, _MARKED, _BUILT = SET

# The course: it keeps what a session has committed, and writes down each call. ``isBroken``: its server does not answer.
COURSE = """<!doctype html><title>course</title><script src="/scorm12.js"></script><script>
const api = new Scorm12API({ autocommit: false, logLevel: 5 }), kept = JSON.parse(localStorage.getItem("kept") ?? "null");
window.calls = []; window.isBroken = false;
if (kept) api.loadFromJSON({ ...kept, core: { ...kept.core, session_time: undefined } });
const keep = () => { if (!isBroken) localStorage.setItem("kept", JSON.stringify(api.cmi.toJSON())); };
window.API = {};
for (const name of ["LMSInitialize", "LMSFinish", "LMSGetValue", "LMSSetValue", "LMSCommit", "LMSGetLastError"])
  API[name] = (...values) => {
    const isLost = isBroken && name === "LMSCommit", answer = isLost ? "false" : api[name](...values);
    if (name === "LMSCommit" || name === "LMSFinish") keep();
    calls.push([name, ...values, answer]);
    return answer;
  };
</script>FRAMES"""
FRAME = '<iframe src="/set/index.html" width="900" height="800"></iframe>'

TIME, SPAN = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,2})?", r"\d{2,4}:[0-5]\d:[0-5]\d(\.\d{1,2})?"
DECIMAL, ANY = r"-?\d+(\.\d+)?", r"[\x21-\x7e]{1,255}"
RESPONSES = {"choice": r"[a-z0-9](,[a-z0-9])*", "numeric": DECIMAL, "performance": ANY, "fill-in": ANY}
FORMS = {  # of each element that a package may set
    r"suspend_data": r"[\x20-\x7e]{0,4096}",
    r"core\.score\.(raw|min|max)": r"(100|\d{1,2})(\.\d+)?|",
    r"core\.lesson_status": "passed|completed|failed|incomplete|browsed",
    r"core\.exit": "time-out|suspend|logout|",
    r"core\.session_time": SPAN,
    r"interactions\.\d+\.id": ANY,
    r"interactions\.\d+\.type": "true-false|choice|fill-in|matching|performance|likert|sequencing|numeric",
    r"interactions\.\d+\.time": TIME,
    r"interactions\.\d+\.(student_response|correct_responses\.\d+\.pattern)": "RESPONSE",
    r"interactions\.\d+\.result": f"correct|wrong|unanticipated|neutral|{DECIMAL}",
    r"interactions\.\d+\.weighting": DECIMAL,
    r"interactions\.\d+\.latency": SPAN,
}


def check_calls(calls: list[list[str]]) -> None:
    """Each value has the form of the standard; interactions are numbered one after the other, and have a type before they have a response."""
    types: dict[int, str] = {}
    for name, *values, answer in calls:
        if name != "LMSSetValue":
            continue
        element, value = values[0].removeprefix("cmi."), values[1]
        assert answer == "true", (element, value)
        number = int(found[1]) if (found := re.match(r"interactions\.(\d+)\.", element)) else None
        if number is not None and element.endswith(".id"):
            assert number == max(types, default=number - 1) + 1
            types[number] = ""
        if number is not None and element.endswith(".type"):
            types[number] = value
        form = next(form for known, form in FORMS.items() if re.fullmatch(known, element))
        assert re.fullmatch(
            form if number is None else form.replace("RESPONSE", RESPONSES.get(types[number], "")), value
        ), (element, value)


@pytest.fixture(scope="module")
def run_time(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    try:
        return (unpacked(*RUN_TIME, tmp_path_factory.mktemp("npm")) / "dist" / "scorm12.min.js").read_bytes()
    except NpmError as error:
        skip_or_fail(f"no run-time of SCORM: {error}")


class Course:
    """A tab with the course. A visit begins a session, and leaving ends it."""

    def __init__(self, tab: Page, files: dict[str, bytes]) -> None:
        self.tab, self.files = tab, files
        tab.context.route(f"{HOST}/**", self._answer)

    def _answer(self, route: Route) -> None:
        path = route.request.url.removeprefix(HOST).partition("?")[0]
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        route.fulfill(body=self.files.get(path, b""), content_type=f"{kind}; charset=utf-8")

    def install(self, package: bytes) -> None:
        archive = zipfile.ZipFile(io.BytesIO(package))
        self.files |= {f"/set/{name}": archive.read(name) for name in archive.namelist()}

    def visit(self, frames: int = 1) -> FrameLocator:
        self.files["/"] = COURSE.replace("FRAMES", FRAME * frames).encode()
        self.tab.goto(f"{HOST}/")
        return self.frame(0)

    def frame(self, number: int) -> FrameLocator:
        return self.tab.frame_locator("iframe").nth(number)

    @property
    def core(self) -> Any:
        return self.kept["core"]

    @property
    def kept(self) -> Any:
        return self.tab.evaluate("JSON.parse(localStorage.getItem('kept'))")

    def leave(self) -> list[list[str]]:
        """End the session, whose calls are checked."""
        self.tab.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())")
        calls: list[list[str]] = self.tab.evaluate("calls")
        check_calls(calls)
        names = [name for name, *_values in calls]
        assert (names.count("LMSFinish"), names[-1]) == (1, "LMSFinish")
        return calls


@pytest.fixture
def course(new_tab: NewTab, run_time: bytes) -> Iterator[Course]:
    watch = Watch(new_tab())
    course = Course(watch.page, {"/scorm12.js": run_time})
    course.install(scorm_package([one.data() for one in SET], "a set", mastery=25))
    yield course
    watch.check()
    watch.page.close()


def press(frame: FrameLocator, *names: str) -> None:
    for name in names:
        frame.get_by_role("button", name=name, exact=True).click()


def answer_number(frame: FrameLocator, exercise: Exercise) -> None:
    frame.get_by_role("textbox").fill(str(exercise.answer))
    press(frame, "Check")


def choose(frame: FrameLocator, exercise: Exercise, is_right: bool) -> None:
    option = next(option for confusion, option in exercise.choices if bool(confusion) != is_right)
    frame.get_by_text(exercise.text_of(option), exact=True).click()
    press(frame, "Check")


def results(calls: list[list[str]]) -> list[str]:
    return [call[2] for call in calls if call[0] == "LMSSetValue" and call[1].endswith(".result")]


def test_a_set_is_answered_left_resumed_and_finished(course: Course):
    frame = course.visit()
    expect(frame.locator(".nv-exercise-prompt")).to_be_visible()  # without a start page
    answer_number(frame, NUMBERED)
    press(frame, "Next exercise")
    choose(frame, CHOSEN, is_right=False)
    assert (course.core["lesson_status"], course.core["score"]["raw"]) == ("incomplete", "25")
    assert results(course.leave()) == ["correct", "wrong"]
    assert (course.core["lesson_status"], course.core["score"]["raw"]) == (
        "incomplete",
        "",
    )  # a course would say "failed"

    frame = course.visit()
    expect(frame.locator(".nv-practice-place")).to_have_text("2 of 4")
    expect(frame.locator(".nv-exercise-hint")).to_contain_text("Try once more.")
    choose(frame, CHOSEN, is_right=True)
    press(frame, "Next exercise")
    frame.locator("[role=gridcell]:not([aria-disabled])").first.click()
    press(frame, "Check")
    marked = frame.locator("[role=gridcell][aria-selected=true]").count()
    assert results(course.leave()) == ["correct", "wrong"]

    frame = course.visit()
    expect(frame.locator("[role=gridcell][aria-selected=true]")).to_have_count(marked)
    press(frame, "Show the answer", "Next exercise", "Check", "Show the answer", "Summary")
    expect(frame.locator("h2")).to_have_text("1 of 4 right at the first try, 1 at the second")
    expect(frame.get_by_role("button", name="Do these again")).to_have_count(0)
    assert results(course.leave()) == ["neutral", "wrong", "neutral"]
    assert (course.core["lesson_status"], course.core["score"]["raw"], course.core["exit"]) == ("passed", "25", "suspend")  # fmt: skip
    assert [one["type"] for one in course.kept["interactions"].values()] == ["numeric", *["choice"] * 2, *["performance"] * 4]  # fmt: skip


def test_a_lost_connection_and_a_second_window_lose_no_answer(course: Course):
    frame, note = course.visit(), course.frame(0).get_by_role("alert")
    course.tab.evaluate("isBroken = true")
    answer_number(frame, NUMBERED)
    expect(note).to_contain_text("your last answers are not saved yet")
    assert course.core["score"]["raw"] == "0"
    course.tab.evaluate("isBroken = false")
    press(frame, "Next exercise")
    expect(note).to_have_count(0)
    assert course.core["score"]["raw"] == "25"

    with course.tab.expect_popup() as opened:  # it finds the course in the window that has opened it
        course.tab.evaluate("window.open('/set/index.html')")
    popup = opened.value
    expect(popup.locator(".nv-practice-place")).to_have_text("2 of 4")
    choose(frame, CHOSEN, is_right=True)
    expect(popup.locator(".nv-exercise-feedback")).to_contain_text("Right.")
    popup.get_by_role("button", name="Next exercise").click()
    expect(frame.locator(".nv-practice-place")).to_have_text("3 of 4")
    popup.get_by_role("button", name="Show the answer").click()
    expect(frame.locator(".nv-exercise-feedback")).to_be_visible()
    assert len(course.kept["interactions"]) == 3
    assert course.core["score"]["raw"] == "50"
    popup.goto("about:blank")  # the session is not the popup's to end
    popup.close()
    press(frame, "Next exercise")
    expect(note).to_have_count(0)
    assert course.core["lesson_status"] == "incomplete"

    other = Course(course.tab.context.new_page(), course.files)  # the same page of the course, in a session of its own
    other_frame = other.visit()
    expect(other_frame.locator(".nv-practice-place")).to_have_text("4 of 4")
    press(other_frame, "Show the answer")
    expect(frame.locator(".nv-exercise-feedback")).to_be_visible()
    course.leave()
    assert (course.core["lesson_status"], course.core["score"]["raw"]) == ("passed", "50")
    other.leave()
    other.tab.close()
