"""The page "Numerics": every experiment with extreme settings, and valid and invalid addresses."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from normviz.analysis.rounding.groups import DTYPES
from normviz.lessons.pages import PAGES
from normviz.scene.settings.page_settings import NUMERICS as SETTINGS
from normviz.scene.settings.page_settings import experiments
from normviz.scene.settings.setting import read_settings, write_settings
from normviz.ui.paths import ROOT
from normviz.ui.server.routes import SHELL
from tests.ui.driver import query, sentence_text, unescaped, warning_texts

PAGE = str(ROOT / "pages" / "numerics.py")
DEFAULTS = {field.name: field.default for field in SETTINGS}


def open_numerics(link=""):
    app = AppTest.from_file(str(SHELL), default_timeout=60).run()
    for part in filter(None, link.split("&")):
        name, value = part.split("=", 1)
        app.query_params[name] = value
    return app.switch_page(PAGE).run()


def charts(app):
    given = [json.loads(component.proto.json)[0] for component in app.get("bidi_component")]
    return [data["figure"] for data in given if "figure" in data]


def check(app):
    """Assert: no traceback, one large sentence with numbers, one chart with an alt text, and the address alone gives the same page."""
    assert not app.exception, [exception.message for exception in app.exception]
    assert len(app.subheader) == 1
    assert ":primary[" in app.subheader[0].value
    assert "**" not in sentence_text(app)
    (chart,) = charts(app)
    assert chart["alt"].endswith(".")
    again = open_numerics("&".join(f"{name}={value}" for name, value in query(app).items()))
    assert not again.exception
    assert not again.warning
    assert (sentence_text(again), charts(again)) == (sentence_text(app), charts(app))


def test_without_a_query_it_shows_a_negative_variance():
    app = open_numerics()
    check(app)
    assert not app.warning
    assert "gives a variance of −131,072" in sentence_text(app)
    (chart,) = charts(app)
    assert "output is NaN" in [trace["name"] for trace in chart["data"]]
    assert "| E[x²] − E[x]² | −131,072 |" in "".join(text.value for text in app.markdown)


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
def test_every_experiment_with_extreme_settings(link):
    app = open_numerics(link)
    check(app)
    assert not app.warning


HOSTILE = [
    # address, words of the warning, the settings that are shown
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


@pytest.mark.parametrize(("link", "message", "settings"), HOSTILE)
def test_an_invalid_address_gives_one_message_and_the_nearest_view(link, message, settings):
    app = open_numerics(link)
    assert not app.exception
    assert len(app.warning) == 1
    assert warning_texts(app)[0].startswith(message)
    wanted = write_settings(SETTINGS, {**DEFAULTS, **settings})
    nearest = open_numerics("&".join(f"{name}={value}" for name, value in wanted.items()))
    assert not nearest.warning
    assert (sentence_text(app), charts(app)) == (sentence_text(nearest), charts(nearest))


@pytest.mark.parametrize("field", SETTINGS, ids=[field.name for field in SETTINGS])
def test_a_written_address_reads_back(field):
    by_name = {
        "show": list(experiments("numerics")),
        "dtype": list(DTYPES),
        "distance": range(8),
        "spread": range(-12, 4),
        "value": [-65504.0, 0.1, 1234.567, 65504.0],
        "scale": [0.0, 1e-8, 10000.0],
        "eps": [1e-12, 1e-5, 3e-4, 1.0],
    }
    for value in by_name[field.name]:
        assert field.parse(field.format(value)) == value
        assert read_settings(SETTINGS, write_settings(SETTINGS, DEFAULTS | {field.name: value})) == (
            DEFAULTS | {field.name: value},
            None,
        )


def test_a_power_of_ten_can_be_written_in_full():
    texts = {"10000": 4, "1e4": 4, "1E+4": 4, "10000.0": 4, "1": 0}
    distance = next(field for field in SETTINGS if field.name == "distance")
    assert {text: distance.parse(text) for text in texts} == texts


TURNED = [
    # the link, the control, its new value, the resulting address
    ("", "show", "eps", {"show": "eps"}),
    ("", "dtype", "float16", {"dtype": "float16"}),
    ("", "set_distance", 3, {"distance": "1e3"}),
    ("distance=1e3", "set_distance", 6, {}),
    ("show=eps", "set_spread", -12, {"show": "eps", "spread": "1e-12"}),
    ("show=constant", "set_value", "-0.5", {"show": "constant", "value": "-0.5"}),
    ("show=single&dtype=float16", "set_scale", "10", {"show": "single", "dtype": "float16", "scale": "10"}),
    ("show=placement", "set_eps", " 1e-3 ", {"show": "placement", "eps": "0.001"}),
]


@pytest.mark.parametrize(("link", "key", "value", "address"), TURNED)
def test_a_control_changes_the_sentence_and_the_address(link, key, value, address):
    app = open_numerics(link)
    before = sentence_text(app)
    app = app.get_by_key(key).set_value(value).run()
    check(app)
    assert not app.warning
    assert sentence_text(app) != before
    assert query(app) == address


@pytest.mark.parametrize(
    ("link", "key", "text", "message"),
    [
        ("show=constant", "set_value", "1e9", "value='1e9' must be a number from -65,504 to 65,504."),
        ("show=single", "set_scale", "", "scale='' must be a number from 0 to 10,000."),
        ("show=placement", "set_eps", "0", "eps='0' must be a number from 1e-12 to 1."),
    ],
)
def test_an_invalid_entry_gives_a_warning_and_keeps_the_view(link, key, text, message):
    app = open_numerics(link)
    before = sentence_text(app)
    app = app.get_by_key(key).set_value(text).run()
    assert not app.exception
    assert warning_texts(app) == [message]
    assert sentence_text(app) == before


def test_the_label_of_every_control_states_its_limits():
    for show in experiments("numerics"):
        app = open_numerics(f"show={show}")
        labels = [element.label for element in (*app.text_input, *app.select_slider)]
        assert len(labels) == 1
        assert re.search(r"\(.+ to .+\)", labels[0])
    assert open_numerics().get_by_key("dtype").options == list(DTYPES)


def test_the_page_is_listed_and_links_to_its_questions():
    assert PAGES["numerics"].title == "Numerics"
    links = [unescaped(link.proto.label) for link in open_numerics().get("page_link")]
    assert links
