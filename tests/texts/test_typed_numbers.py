"""Numbers that readers type are read alike by Python and JavaScript, in the convention of the reader's language, or the reader is asked."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan

import pytest

from normviz.layers.layer import Layer
from normviz.lessons.compare import page as compare
from normviz.lessons.models import page as models
from normviz.parts.part import Prediction
from normviz.scene.controls import with_typed
from normviz.scene.edits import repair, with_eps, with_pattern_text
from normviz.scene.scene import SCENE_SETTINGS, SEED
from normviz.scene.setting import ASK, integer, number, plain_signs, read_number
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _, in_language
from tests.support.cases import case
from tests.support.javascript import evaluate

NAN = "gap"
ENGLISH, COMMA = ("en", "zh"), ("es", "pt")
EVERYWHERE = (*ENGLISH, *COMMA)
THIN, NARROW, NO_BREAK = "\u2009", "\u202f", "\u00a0"


class Ask(str):
    """The reader is asked, and this number is proposed."""

    __slots__ = ()


# The languages, what is typed, the number, and the number where a whole one is wanted if that is another.
TYPED = [
    *((EVERYWHERE, text, number) for text, number in {
        "48": 48, "-.5": -0.5, "+2.": 2, "1e3": 1000, "1E-3": 0.001, " 7 ": 7, "0.2": 0.2, "007": 7, "0.125": 0.125, "1234.5": 1234.5,
        "−2": -2, "–2": -2, "－２": -2, "＋２": 2, "１２．５": 12.5, "１ｅ－５": 1e-5,
        "1 024": 1024, "-1 024 000": -1024000, f"9{THIN}408": 9408, f"9{NARROW}408": 9408, f"9{NO_BREAK}408.5": 9408.5, "9\u3000408": 9408,
        "1,024,000": 1024000, "1.024.000": 1024000, "1e999": float("inf"),
    }.items()),
    *((EVERYWHERE, text, NAN) for text in (
        "", " ", "1 2", "1 0240", "12 34", "0x10", "Infinity", "nan", "1e", "e5", ".", ",", "4/2", "seven", "--1", "1.2.3", "1,2,3", "2,4,3",
        "1_000", "²", "٣", "1,024 000", "1,02,400", "- 2",
    )),
    *((ENGLISH, text, number) for text, number in {
        "9,408": 9408, "-9,408": -9408, "9，408": 9408, "1,234.5": 1234.5, "9.408": 9.408,
    }.items()),
    *((ENGLISH, text, Ask(number), NAN) for text, number in {
        "0,2": "0.2", "0,200": "0.200", "-1,5e-3": "-1.5e-3", "1234,5": "1234.5", "1.234,5": "1234.5", "9,4080": "9.4080", "1 024,5": "1024.5",
        "1 024,500": "1024.500", "０，２": "0.2",
    }.items()),
    *((COMMA, text, number) for text, number in {
        "0,2": 0.2, "0,200": 0.2, "-,5": -0.5, "1,5e-3": 0.0015, "1234,5": 1234.5, "1 024,5": 1024.5, f"1{NARROW}024,500": 1024.5, "2,": 2,
        "1.234,5": Ask("1234.5"), "1,234.5": Ask("1234.5"), "-1.234.567,8": Ask("-1234567.8"),
    }.items()),
    *((COMMA, text, number, whole) for text, number, whole in (
        ("9,408", 9.408, Ask("9408")), ("9.408", 9.408, Ask("9408")), ("-48.000", -48, Ask("-48000")),
    )),
]  # fmt: skip
CASES = [
    (language, text, whole, row[3] if whole and len(row) > 3 else row[2])
    for row in TYPED
    for language in row[0]
    for text in (row[1],)
    for whole in (False, True)
]


def asked(typed: str, proposed: str, name: str = "") -> str:
    return _(ASK, typed=name + echo(typed), number=proposed)


@contextmanager
def asks(typed: str, proposed: str, name: str = "") -> Iterator[None]:
    with pytest.raises(NormvizError, match=re.escape(asked(typed, proposed, name))):
        yield


@pytest.mark.parametrize("language", EVERYWHERE)
def test_python_reads_a_typed_number(language):
    for text, whole, expected in [(text, whole, expected) for name, text, whole, expected in CASES if name == language]:
        with in_language(language), case(text, whole):
            if isinstance(expected, Ask):
                with asks(text, expected):
                    read_number(text, whole=whole)
                assert read_number(expected) == pytest.approx(float(expected))  # the remedy is no question again
            else:
                found = read_number(text, whole=whole)
                assert isnan(found) if expected == NAN else found == expected


@pytest.mark.parametrize("language", EVERYWHERE)
def test_javascript_reads_the_same_numbers_and_asks_the_same_questions(language):
    own = [(text, whole, expected) for name, text, whole, expected in CASES if name == language]
    script = "args[0].map(([text, isWhole]) => [String(readNumber(text, isWhole)), askNumber(text, isWhole) !== '', numberIn(text, isWhole).number])"
    found = evaluate(script, [[text, whole] for text, whole, _expected in own], language=language)
    for (text, whole, expected), (read, is_asked, proposed) in zip(own, found, strict=True):
        assert is_asked == isinstance(expected, Ask), (text, whole)
        if is_asked:
            assert (read, proposed) == ("NaN", expected)
        else:
            assert read == "NaN" if expected == NAN else float(read.replace("Infinity", "inf")) == expected, text


# The places where numbers are typed


@pytest.mark.parametrize(
    ("language", "right", "guess", "is_right"),
    [
        ("es", 0.2, "0,2", True), ("pt", 0.2, "0.2", True), ("es", 0.2, "2", False), ("en", 9408, "9,408", True), ("zh", 9408, "９，４０８", True),
        ("es", 9408, "9 408", True), ("es", 9408, "9408", True), ("en", 0.2, "0.2", True), ("pt", 1.5, "−1,5", False), ("es", 9.408, "9,408", True),
    ],
)  # fmt: skip
def test_a_prediction_is_read_in_the_readers_convention(language, right, guess, is_right):
    with in_language(language):
        assert Prediction("How much?", {}, right, ()).is_right(guess) == is_right


@pytest.mark.parametrize(
    ("language", "right", "guess"), [("en", 0.2, "0,2"), ("es", 9408, "9,408"), ("es", 1234.5, "1.234,5")]
)
def test_a_prediction_that_is_not_clear_is_asked_about(language, right, guess):
    with in_language(language), asks(guess, str(right)):
        Prediction("How much?", {}, right, ()).is_right(guess)


def test_settings_eps_and_the_seed_take_a_decimal_comma_and_thousands():
    share, size, layer = (
        number("share", 0, 1, 0.5),
        integer("size", 1, 20_000, 8),
        repair(layer=Layer.parse("LayerNorm(5)")).scene,
    )
    with in_language("es"):
        assert (share.parse("0,2"), share.repair("0,2")) == (0.2, 0.2)  # type: ignore[misc]
        assert (size.parse("9 408"), SEED.parse("１２")) == (9408, 12)
        assert "eps=0.001" in str(with_eps(layer, "0,001").scene.layer)
        for setting in (share, size, SEED):
            with asks("1.234,5", "1234.5", f"{setting.name}="):
                setting.parse("1.234,5")
    with in_language("en"):
        assert size.parse("9,408") == 9408
        unclear = with_eps(layer, "0,001")
        assert (unclear.scene.layer, unclear.problem) == (layer.layer, asked("0,001", "0.001", "eps="))
        with asks("0,2", "0.2", "share="):
            share.parse("0,2")


@pytest.mark.parametrize("language", EVERYWHERE)
def test_a_list_stays_a_list(language):
    with in_language(language):
        assert SCENE_SETTINGS["shape"].parse("2,4,3") == (2, 4, 3)
        assert SCENE_SETTINGS["shape"].parse("（２，４、３）") == (2, 4, 3)
        assert SCENE_SETTINGS["shape"].parse("2,4") == (2, 4)
        assert evaluate("readIndex(...args)", "1,2,0,3", (2, 4, 3, 5), language=language) == [1, 2, 0, 3]
        assert evaluate("readIndex(...args)", "[１，２，０，３]", (2, 4, 3, 5), language=language) == [1, 2, 0, 3]


def test_a_layer_and_a_pattern_may_have_full_width_signs():
    scene = repair().scene
    assert str(with_typed(scene, "LayerNorm（９６） on （８，９６）").scene.layer) == "LayerNorm([96])"
    assert with_pattern_text(scene, "n （g k） h w -> n g； g＝２", "none").problem is None
    shown = models.PAGE.view("model=own&own=LayerNorm（９６） on （８，９６）；GroupNorm(2,4) on 1,4,3,5")
    assert shown.settings["own"] == ("LayerNorm(96) on (8,96)", "GroupNorm(2,4) on 1,4,3,5")
    (layers,) = (
        one
        for row in compare.PAGE.input_rows(compare.PAGE.view(""))
        for group in row.groups
        for one in group
        if one.key == "layers"
    )
    compared = layers.changed(compare.PAGE.view(""), ("GroupNorm（２，４）", "LayerNorm([4,5,2])"))
    assert compared.settings["layers"] == ("GroupNorm(2, 4)", "LayerNorm([4, 5, 2])")
    assert plain_signs("‑１") == "-1"


@pytest.mark.parametrize("language", EVERYWHERE)
def test_a_decimal_comma_in_code_gets_the_remedy(language):
    with in_language(language), pytest.raises(NormvizError, match=r"[^,]eps=0\.001"):
        with_typed(repair().scene, "LayerNorm(5, eps=0,001)")


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [("es", "0,5", 0.5), ("pt", "−0,5", -0.5), ("en", "0,5", None), ("zh", "０．５", 0.5), ("es", "1.234,5", None)],
)
def test_a_cell_takes_the_readers_decimals_or_asks(language, text, value):
    assert evaluate("readValue(args[0])", text, language=language) == value
    assert (
        evaluate("askNumber(args[0])", text, language=language)
        == evaluate("whyInvalid(args[0])", text, language=language)
    ) == (value is None)
