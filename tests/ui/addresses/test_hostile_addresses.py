"""Hostile addresses on every page, without a browser."""

import pytest

from tests.support.driver import query, set_control
from tests.support.lessons import CHOICE, NUMBER, compared_layers
from tests.support.opened import opened
from tests.support.pages import check_page, open_page
from tests.support.shown import figures, notes, problems

HOSTILE = {
    "compare": [
        "layers=", "layers=;;", "layers=x", "layers=x;y", "layers=Conv2d(3,3);LayerNorm(4)", "layers=__import__('os');LayerNorm(4)",
        f"layers={'LayerNorm(4);' * 9}", f"layers={'x' * 5000}", "layers=<script>;LayerNorm(4)", "layers=![x](https://example.org/x.png)",
        "layers=Norm('n c -> n');LayerNorm(4)", "shape=6&layers=BatchNorm2d(3)", "shape=0", "shape=0&layers=x", "at=9,9,9,9&layers=x",
        f"shape={2**40},{2**40}&layer=Norm('n d -> n d','n d')&layers=x", "layer=GroupNorm(2,3)",
    ],
    "step_by_step": ["step=7", "step=-1", "step=x", "step=", "step=1e9", "step=nan", "step=0.5", "shape=0&step=99", "layer=Conv2d(3,3)"],
    "train_and_eval": [
        "show=", "show=zzz", "batch_size=0", "batch_size=1", "batch_size=1025", "momentum=2", "momentum=-0.1", "momentum=nan", "momentum=",
        "drift=11", "drift=-1e300", "drift=inf", "steps=0", "steps=1000000000", "steps=<b>", "show=sequences&count=1", "show=sequences&count=257",
        "show=sequences&longest=0", "show=sequences&longest=101", "show=devices&devices=1", "show=devices&devices=9", "show=modes&shape=0",
        "seed=-1", "show=modes&layer=GroupNorm(2,3)&momentum=7", "batch_size=x&momentum=x&drift=x&steps=x&count=x&longest=x&devices=x&show=x",
    ],
    "gradients": ["show=", "show=zzz", "input=", "input=zzz", "show=<b>&input=<b>", "at=x", "at=9,9", "shape=0&show=matrix", "layer=GroupNorm(2,3)&show=backward"],
    "questions": [
        "q=nope", "q=<b>", f"q={'x' * 21}", f"q={'x' * 5000}", f"q={CHOICE.key}&guess=zzz", f"q={CHOICE.key}&guess={'x' * 41}", f"q={NUMBER.key}&guess=abc",
        f"q={NUMBER.key}&guess={'x' * 41}", f"search={'a' * 401}", f"q={'x' * 21}&search={'a' * 401}", "q=../../etc/passwd", "shape=0",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "link"),
    [(name, link) for name, links in HOSTILE.items() for link in links],
    ids=[f"{name}-{number}" for name, links in HOSTILE.items() for number in range(len(links))],
)
def test_a_hostile_address_gives_one_message_and_a_valid_view(name, link):
    check_message_and_view(opened(name, link), name, link)


def check_message_and_view(app, name, link):
    assert not app.exception, [error.message for error in app.exception]
    (warning,) = problems(app)
    assert 20 < len(warning) < 700
    assert (
        figures(app)
        or name == "questions"
        or "devices" in link
        or "too many" in "".join(notes(app))
        or "backward" in link
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_the_app_leaves_a_hostile_address_unchanged(name):
    for link in HOSTILE[name][::6]:
        app = open_page(name, link)
        check_message_and_view(app, name, link)
        assert query(app) == dict(part.split("=", 1) for part in link.split("&"))


def test_the_controls_work_after_a_hostile_address():
    app = open_page("train_and_eval", "steps=1000000000&show=x")
    app = set_control(app, "set_drift", "1")
    check_page(app)
    assert query(app) == {"steps": "500", "drift": "1"}
    app = set_control(open_page("compare", "shape=2,3,4,4&layers=RMSNorm(4);LayerNorm(4)&at=z"), "size_w", 5)
    check_page(app)
    assert compared_layers(app) == ["RMSNorm([5])", "LayerNorm([5])"]
