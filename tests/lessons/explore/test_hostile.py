"""Hostile addresses and huge tensors on the Explore page, without a browser."""

import pytest

from tests.support.driver import check, expected, open_explore, query, scene, sentence_text, set_control
from tests.support.opened import opened
from tests.support.shown import elements, figures, notes, problems, tabs

HOSTILE = [
    "shape=", "shape=0,3", "shape=-1,2", "shape=2,3,x", "shape=1e3,2", f"shape={10**30},2", f"shape={'2,' * 5000}2",
    "shape=<script>alert(1)</script>", "shape=2,3\x00", "shape=nan,inf", f"shape={','.join('2' * 13)}", "shape=2,3&layout=NCHW",
    "shape=2,3,4,4&layout=NCH", "layout=NNCC", "layout=<b>", "layer=", "layer=__import__('os').system('true')", "layer=GroupNorm(2,3)",
    "layer=GroupNorm(0,3)", "shape=2,3,4,4&layer=LayerNorm(7)", "shape=2,3,4,4&layer=BatchNorm1d(3)", "layer=Conv2d(3,3)", f"layer=LayerNorm({'[' * 300})",
    "shape=2,3,4,4&layer=Norm('n c -> n')", "layer=Norm('batch c h w -> batch')", "layer=Norm('n c h w -> n')&layout=NHWC",
    "shape=1,3&layer=BatchNorm1d(3)", "shape=1,3,1,1&layer=InstanceNorm2d(3)", f"layer={'x' * 100_000}", "data=", "data=noise",
    "data=![x](https://example.org/x.png)", "seed=-1", "seed=1.5", f"seed={10**30}", "seed=٣,٤", "params=ones", "at=9,9,9,9",
    "at=1,2", "at=x", "at=-1,0,0,0", "values=1,2", "values=nan,1&shape=1,2", "values=1e400,1&shape=1,2", "values=<b>", "from=1,0,0,0",
    "from=x", f"from={10**30},0,0,0", "from=-1,0,0,0&shape=2,64,56,56", "shape=2,64,56,56&from=0,64,0,0",
    "shape=0&layout=?&layer=?&data=?&seed=?&values=?&params=?&at=?&from=?",
]  # fmt: skip


@pytest.mark.parametrize("link", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_address_gives_one_message_and_a_valid_view(link):
    check_message_and_view(opened("explore", link))


def check_message_and_view(app):
    assert not app.exception
    (warning,) = problems(app)
    assert 20 < len(warning) < 700
    assert sentence_text(app) == expected(scene(app))


@pytest.mark.parametrize("link", HOSTILE[::8], ids=range(0, len(HOSTILE), 8))
def test_the_app_leaves_a_hostile_address_unchanged_and_its_controls_work(link):
    app = open_explore(link)
    check_message_and_view(app)
    assert query(app) == dict(part.split("=", 1) for part in link.split("&"))
    app = set_control(app, f"size_{scene(app).axes[-1]}", scene(app).shape[-1] + 1)
    check(app)
    assert not problems(app)


@pytest.mark.parametrize(
    "text", ["![x](https://example.org/x.png)", "[x](https://example.org)", "**x**", "$x$", ":red[x]", "`x`"]
)
def test_markdown_in_a_message_stays_text(text):
    (message,) = elements(open_explore(f"data={text}"), "nv-problem")
    assert text in (message.text or "")
    assert len(message) == 0


HUGE = [
    "shape=100000,100000,100000&layer=LayerNorm([100000,100000])",
    "shape=1099511627776,1099511627776,4&layer=LayerNorm([4])",
    "shape=1099511627776,1099511627776,1099511627776&layer=LayerNorm([1099511627776,1099511627776])",
    "shape=1025,1024",
    "shape=2,720720,720720&layer=GroupNorm(7,720720)",
]


@pytest.mark.parametrize("link", HUGE)
def test_a_tensor_of_any_size_has_counts_code_and_values(link):
    app = opened("explore", link)
    assert not app.exception
    assert not problems(app)
    assert sentence_text(app) == expected(scene(app))
    assert sum("import" in text for text in tabs(app).values()) > 2
    refused = any("groups are too many to number" in note for note in notes(app))
    assert refused == (figures(app) == [])
    assert refused or figures(app)[0]["group"]["count"] <= 2**18
