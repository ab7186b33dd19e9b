"""Words and signs that a language avoids, because readers understand something else."""

import re
from collections.abc import Iterator
from itertools import combinations

import pytest

from normviz.texts.errors import listed
from normviz.texts.messages import _, in_language
from tests.support.javascript import evaluate
from tools.translations import LOCALE, read_catalog, shown_files

LAYER = r"`?(?:Batch|Layer|RMS|Instance|Group|SyncBatch)Norm"
CHINESE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
PLURAL = {r"\w\(s\)": "plural forms, or a sentence without a count"}
LAYOUT = r"(?i)(?<![`{])\blayout\b(?![=`}])"
AVOIDED = {  # with what is written instead
    "es": PLURAL
    | {
        rf"(?i)\b(?:un|el|del|al|este|otro|mismo|propio) {LAYER}": "names of layers are feminine: una BatchNorm",
        LAYOUT: "orden de los ejes",
        r"\bunos(?:$|[,;.]| y ceros)": "todos iguales a uno: unos means some",
        r"(?i)\bmedia cuadrática": "media de los cuadrados",
        r"(?i)\b(?:escriba|elija|pegue|muévalo|escríbalo|indique|pulse)\b": "escribe, elige: readers are tú",
        r"\bEso es la\b": "Es la",
        CHINESE: "no Chinese signs",
        "[«»]": "“ ”",
        r"(?i)\buna x\b": "un x: the tensor is masculine",
    },
    "pt": PLURAL
    | {
        r"(?i)\bdê\b": "informe",
        r"\bvis(?:ão|ões)\b(?! computacional| com uma)": "visualização; visão is eyesight",
        LAYOUT: "ordem dos eixos",
        r"\ba menos (?:do|da|de arredondamento|de \{(?!tolerance))": "exceto por, com diferença máxima de",
        r"(?i)\bmédia quadrática": "média dos quadrados",
        r"\bIsso é a\b": "É a",
        r"[\d}*] +%": "no space before %",
        CHINESE: "no Chinese signs",
        "[«»]": "“ ”",
        r"\bretorn(?:a|ar|e|ou)\b": "devolve",
    },
    "zh": {
        r"[\d}*] +%": "no space before %",
        rf"{CHINESE} +{CHINESE}": "no space within Chinese",
        "几[个对][^，。]*？": "多少个: 几个 says that there are fewer than ten",
        "没有 ?`?(?:elementwise_)?affine": "设 affine=False 时",
        "得到同一个": "……的输入是同一个: 得到 is the result",
        "百万个": "万",
        "输出的大小": "幅度: 大小 is the size of an axis",
        "(?:train|eval|[{]mode[}]) 模式": "训练模式, 评估模式; train() 下",
    },
}


def texts(language: str) -> Iterator[tuple[str, str]]:
    """Each message and each file, with its name."""
    for message in read_catalog(language):
        if message.id and not message.fuzzy:
            for text in [message.string] if isinstance(message.string, str) else message.string:
                yield str(message.id), text
    for path in shown_files(language):
        yield path, (LOCALE / language / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", AVOIDED)
def test_no_text_has_a_word_that_the_language_avoids(language):
    found = [
        (name, match[0], better)
        for name, text in texts(language)
        for pattern, better in AVOIDED[language].items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("element", "phrase"), [("x[0, 1]", "x[0, 1] 的均值"), ("选中的元素", "选中的元素的均值"), ("（0）", "（0）的均值")]
)
def test_a_space_beside_a_placeholder_stays_only_beside_latin(element, phrase):
    values = {"element": element, "step": "均值"}
    with in_language("zh"):
        assert _("{step} for {element}", **values) == phrase
    assert evaluate('_("{step} for {element}", args[0])', values, language="zh") == phrase


@pytest.mark.parametrize(
    ("values", "last", "phrase"),
    [
        (["LayerNorm", "`InstanceNorm1d`"], "and", "LayerNorm e `InstanceNorm1d`"),
        (["H", "W"], "and", "H y W"),
        ([1, 2, 4, 8], "or", "1, 2, 4 u 8"),
        ([11, 110], "or", "11 o 110"),
        ([1, 11], "or", "1 u 11"),
    ],
)
def test_a_spanish_list_has_another_word_before_its_own_sound(values, last, phrase):
    with in_language("es"):
        assert listed(values, last) == phrase


def copied(translations: dict[str, dict[str, str]]) -> list[str]:
    """The texts that are the same in two languages.

    A text that is the English one does not count. A short text does not, either: it may be the same in Spanish and Portuguese.
    """
    return [
        text
        for one, other in combinations(translations, 2)
        for english, text in translations[one].items()
        if text == translations[other].get(english)
        and text != english
        and number_of_words(text) >= (3 if "zh" in (one, other) else 6)
    ]


def number_of_words(text: str) -> int:
    """Without placeholders and code."""
    return len(re.findall(r"[^\W\d]{2,}", re.sub(r"\{[^{}]*\}|`[^`]*`", " ", text)))


def test_no_text_is_copied_from_another_language():
    translations = {language: dict(texts(language)) for language in AVOIDED}
    assert copied(translations) == []
    text = translations["es"]["It applies tanh to its output."]
    assert copied(translations | {"zh": {"It applies tanh to its output.": text}}) == [text]
