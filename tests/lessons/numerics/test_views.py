"""Links of the page Numerics: extreme settings, settings that read back, and invalid values."""

from urllib.parse import parse_qsl

import pytest

from normviz.analysis.rounding import DTYPES
from normviz.lessons.numerics.page import SETTINGS
from normviz.lessons.pages import PAGES
from normviz.parts.html import Body
from normviz.parts.part import Chart, Details, Sentence, Table, flat
from normviz.scene.setting import read_settings, write_settings
from tests.fuzz.building import build
from tests.support.needs import cases_in_torch

PAGE = PAGES["numerics"]
DEFAULTS = {field.name: field.default for field in SETTINGS}


def view_of(link):
    return PAGE.view(dict(parse_qsl(link, keep_blank_values=True)))


EXTREMES = [
    *(f"show=variance&dtype={dtype}&distance={distance}" for dtype in DTYPES for distance in ("1e0", "1e7")),
    *(f"show=eps&dtype={dtype}&spread={spread}" for dtype in DTYPES for spread in ("1e-12", "1e3")),
    *(f"show=constant&dtype={dtype}&value={value}" for dtype in DTYPES for value in ("-65504", "65504")),
    *(f"show=single&dtype={dtype}&scale={scale}" for dtype in DTYPES for scale in ("0", "10000")),
    "show=placement&eps=1e-12",
    "show=placement&eps=1",
    "show=variance&seed=2147483647",
]


@pytest.mark.parametrize("link", EXTREMES)
def test_every_experiment_with_extreme_settings_has_a_sentence_with_numbers_and_a_chart(link):
    view = view_of(link)
    assert PAGE.problem(view) is None
    assert PAGE.view(view.query(SETTINGS)) == view
    parts = list(flat(PAGE.parts(view)))
    (sentence,) = [part for part in parts if isinstance(part, Sentence)]
    assert "**" in sentence.text
    (chart,) = [part for part in parts if isinstance(part, Chart)]
    assert chart.alt.endswith(".")
    assert build("numerics", view.query(SETTINGS)) == len(parts)


HOSTILE = [
    # link, words of the warning, the settings that are shown
    ("show=nonsense", "show='nonsense' is unknown", {}),
    ("show=", "show='' is unknown", {}),
    ("dtype=int8", "dtype='int8' is unknown; choose float16, bfloat16, float32 or float64.", {}),
    ("distance=0", "distance='0' must be a number from 1 to 10,000,000.", {"distance": 0}),
    ("distance=1e8", "distance='1e8' must be a number from 1 to 10,000,000.", {"distance": 7}),
    ("distance=5000", "distance='5000' must be a power of ten, such as 1e4.", {"distance": 4}),
    ("distance=-3", "distance='-3' must be a number", {"distance": 0}),
    ("distance=nan", "distance='nan' must be a number", {}),
    ("distance=inf", "distance='inf' must be a number", {}),
    (f"distance={'9' * 5000}", "distance=", {}),
    ("show=eps&spread=1e-13", "spread='1e-13' must be a number from 1e-12 to 1,000.", {"show": "eps", "spread": -12}),
    ("show=eps&spread=1e4", "spread='1e4' must be a number", {"show": "eps", "spread": 3}),
    ("show=eps&spread=2", "spread='2' must be a power of ten, such as 1e0.", {"show": "eps", "spread": 0}),
    ("show=constant&value=65505", "value='65505' must be a number from -65,504 to 65,504.", {"show": "constant", "value": 65504}),
    ("show=constant&value=-1e300", "value='-1e300' must be a number", {"show": "constant", "value": -65504}),
    ("show=constant&value=<script>", "value='<script>' must be a number", {"show": "constant"}),
    ("show=single&scale=-1", "scale='-1' must be a number from 0 to 10,000.", {"show": "single", "scale": 0}),
    ("show=single&scale=1e5", "scale='1e5' must be a number", {"show": "single", "scale": 10000}),
    ("show=placement&eps=0", "eps='0' must be a number from 1e-12 to 1.", {"show": "placement", "eps": 1e-12}),
    ("show=placement&eps=2", "eps='2' must be a number", {"show": "placement", "eps": 1}),
    ("show=placement&eps=**", "eps='**' must be a number", {"show": "placement"}),
    ("show=eps&dtype=x&spread=y&distance=z", "dtype='x' is unknown", {"show": "eps"}),
    ("seed=-1&distance=1e4", "seed='-1' must be a whole number", {"distance": 4}),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "message", "settings"), HOSTILE)
def test_an_invalid_link_gives_one_message_and_the_nearest_view(link, message, settings):
    view = view_of(link)
    assert PAGE.problem(view).startswith(message)
    assert view.settings == DEFAULTS | settings
    assert view.scene == view_of("").scene


@pytest.mark.parametrize("field", SETTINGS, ids=[field.name for field in SETTINGS])
def test_a_written_setting_reads_back(field):
    by_name = {
        "show": [one.name for one in PAGES["numerics"].experiments],
        "dtype": list(DTYPES),
        "distance": range(8),
        "spread": range(-12, 4),
        "value": [-65504.0, 0.1, 1234.567, 65504.0],
        "scale": [0.0, 1e-8, 10000.0],
        "eps": [1e-12, 1e-5, 3e-4, 1.0],
    }
    experiment = {"spread": "eps", "value": "constant", "scale": "single", "eps": "placement"}.get(field.name)
    for value in by_name[field.name]:
        assert field.parse(field.format(value)) == value
        opened = {"show": experiment} if experiment and value != field.default else {}
        assert read_settings(SETTINGS, write_settings(SETTINGS, DEFAULTS | {field.name: value})) == (
            DEFAULTS | {field.name: value} | opened,
            None,
        )


def test_a_power_of_ten_can_be_written_in_full():
    texts = {"10000": 4, "1e4": 4, "1E+4": 4, "10000.0": 4, "1": 0}
    distance = next(field for field in SETTINGS if field.name == "distance")
    assert {text: distance.parse(text) for text in texts} == texts


@pytest.mark.parametrize("show", ["variance", "eps", "constant", "single"])
def test_the_table_is_closed_until_it_is_asked_for(show):
    parts = PAGE.visible(PAGE.view(f"show={show}"))
    assert not [part for part in parts if isinstance(part, Table)]
    assert [type(part).__name__ for part in parts[:2]] == ["Sentence", "Chart"]
    (table,) = [part for part in flat(parts) if isinstance(part, Table)]
    (details,) = [part for part in parts if table in part.children]
    assert isinstance(details, Details)
    assert "<details" in details.html(Body())
    assert "<details open" not in details.html(Body())
