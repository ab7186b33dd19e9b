"""A question as data: the facts of its answer, the view that shows it, and its sources. Its prose is a Markdown file.

The prose of question ``s0`` is ``normviz/locale/<language>/questions/s0.md``. Numbers in an answer, and in the
reason below a wrong option, are placeholders filled from the facts: no number that torch can compute is typed by hand.

The options come in a random order, which ``lessons/practice/random.py`` draws with the seed ``options of <key>``: it is the same in
every language, in the app, in files, on the site and in JSON, and the order in the prose does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any
from unicodedata import combining, normalize
from urllib.parse import parse_qsl

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference, run_module
from normviz.analysis.running.torch_module import buffers
from normviz.code.frameworks import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.lessons.page import Page
from normviz.lessons.practice.random import Random
from normviz.scene.scene import Scene
from normviz.scene.view import read
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import read_text
from normviz.texts.messages import N_, _, english, format_number, language

if TYPE_CHECKING:
    from torch import Tensor, nn

Facts = Mapping[str, Any]
TINY = 1e-3  # smaller facts are mostly rounding
CODE_SPAN = re.compile(r"`[^`]*`")
ERROR, PLACEHOLDER = "{words}", re.compile(r"\{\w+\}")  # torch's message in an answer, and any fact
OPTION = re.compile(r"^- \[(\w+)\] (.+)((?:\n  .+)*)$", re.MULTILINE)  # an option, and its reason in indented lines
PROSE = re.compile(r"# (.+?)\n+> (.+?)\n+## Predict\n+(.+?)\n+## Answer\n+(.+?)\n*", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """Where a question was asked or its facts are documented: a name, and an address if there is one."""

    name: str
    address: str = ""

    @property
    def markdown(self) -> str:
        """The name, linked to the address."""
        return f"[{self.name}]({self.address})" if self.address else self.name


@dataclass(frozen=True)
class Topic:
    """A topic of questions: its identifier, and its English title, which is a message."""

    key: str
    english: str

    @property
    def title(self) -> str:
        """The heading above the topic's questions."""
        return _(self.english)

    def question(
        self, key: str, page: Page, query: str, *sources: Source, x: str = ""
    ) -> Callable[[Callable[[], Facts]], Question]:
        """Make a question of the decorated function, which computes its facts."""
        return lambda facts: Question(key, self, facts, page, query, sources, x)


@dataclass(frozen=True)
class Question:
    """One question.

    key      its identifier in links: ``?q=s0``
    topic    the topic under which it is listed
    facts    computes the placeholders of the answer, and ``"right"``: the key of the right option, or the right number
    page     the page that shows the answer
    query    the query of that page, without the "?"
    sources  where it was asked, and references
    x        the query of the tensor that the prompt is about, if the page shows another tensor: "shape=4,1&layout=ND"
    """

    key: str
    topic: Topic
    facts: Callable[[], Facts]
    page: Page
    query: str
    sources: tuple[Source, ...]
    x: str = ""


@dataclass(frozen=True)
class Prose:
    """The text of a question.

    title    the question, in a learner's words
    claim    a common claim
    predict  what to predict
    options  the key and the text of each option, in the order in which they are shown; empty if the answer is a number
    reasons  by the key of each wrong option: why it tempts, a sentence with placeholders
    answer   two to five sentences with placeholders
    """

    title: str
    claim: str
    predict: str
    options: Mapping[str, str]
    reasons: Mapping[str, str]
    answer: str


def prose(key: str) -> Prose:
    """The text of the question in the reader's language, or in English if there is no translation."""
    return _read_prose(key, language.get())


@cache
def _read_prose(key: str, name: str) -> Prose:
    parts = PROSE.fullmatch(read_text(f"questions/{key}.md"))
    if not parts:
        raise NormvizError(
            f"{name}/questions/{key}.md must have a title (#), a claim (>), '## Predict' and '## Answer'."
        )
    title, claim, predict, answer = (part.strip() for part in parts.groups())
    prompt, found = OPTION.sub("", predict), Random(f"options of {key}").shuffled(sorted(OPTION.findall(predict)))
    options = {option: text for option, text, _reason in found}
    reasons = {option: _one_line(reason) for option, _text, reason in found if reason}
    return Prose(title, _one_line(claim), _one_line(prompt), options, reasons, _one_line(answer))


def _one_line(text: str) -> str:
    """The paragraph on one line: a wrapped line that starts with a number and a point would become a list."""
    return " ".join(line.removeprefix(">").strip() for line in text.strip().splitlines())


def answer(question: Question) -> str:
    """The answer with its numbers. Raises NormvizError if a placeholder has no fact."""
    return _filled(question, "answer", prose(question.key).answer)


def reasons(question: Question) -> dict[str, str]:
    """Why each wrong option tempts, by its key, with numbers. Raises NormvizError if a placeholder has no fact."""
    found = prose(question.key).reasons
    return {option: _filled(question, f"reason of {option}", reason) for option, reason in found.items()}


def _filled(question: Question, name: str, text: str) -> str:
    facts = facts_of(question)
    try:
        filled = text.format_map({fact: _shown_fact(fact, value) for fact, value in facts.items()})
    except KeyError as error:
        raise NormvizError(
            f"{question.key}: the {name} has the placeholder {error}, but the facts are {listed(facts, 'and')}."
        ) from None
    return CODE_SPAN.sub(lambda code: code[0].replace("−", "-"), filled)


def _shown_fact(name: str, value: Any) -> str:
    """The fact as text; ``words`` are torch's own."""
    return english(format_fact(value)) if name == "words" else format_fact(value)


def format_fact(value: Any) -> str:
    """A fact as the answer prints it: floats with three digits, tiny floats with two, booleans as yes or no.

    >>> format_fact(-131072), format_fact(1.234567), format_fact(1.7166e-05), format_fact(True)
    ('−131,072', '1.23', '1.7e−5', 'yes')
    """
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return format_number(value, 2 if abs(value) < TINY else 3) if isinstance(value, float) else str(value)


_FACTS: dict[tuple[str, str], Facts] = {}  # the keys include the language: a fact may be a message


def facts_of(question: Question) -> Facts:
    """The question's facts, computed once for each language."""
    place = question.key, language.get()
    if place not in _FACTS:
        _FACTS[place] = dict(question.facts())
    return _FACTS[place]


def matches(question: Question, words: str) -> bool:
    """Whether the question, its options or its answer contain all words of a search."""
    text = search_text(question)
    return all(word in text for word in without_accents(words.lower()).split())


def search_text(question: Question) -> str:
    """The words that a search looks through, in lower case and without accents: of the title, the prompt, the options and the answer, with torch's errors."""
    text = prose(question.key)
    quoted = str(facts_of(question)["words"]) if ERROR in text.answer else ""  # the other facts take long to compute
    parts = (text.title, text.claim, text.predict, *text.options.values(), PLACEHOLDER.sub("", text.answer), quoted)
    words = re.sub(r"[`*]", "", f"{question.key} {question.topic.title} {' '.join(parts)}").lower().split()
    return without_accents(" ".join(dict.fromkeys(words)))


def without_accents(text: str) -> str:
    """The text as it is often typed in a search.

    >>> without_accents("variância ou média")
    'variancia ou media'
    """
    return "".join(letter for letter in normalize("NFD", text) if not combining(letter))


# The topics of the questions, in the order of the list.


STATISTICS = Topic("statistics", N_("Shared means and variances"))
PARAMETERS = Topic("parameters", N_("Gamma and beta"))
DEPENDENCE = Topic("dependence", N_("What an output depends on"))
SHAPES = Topic("shapes", N_("Axes and shapes"))
TRAIN_AND_EVAL = Topic("train_and_eval", N_("Train and eval"))
RUNNING_STATISTICS = Topic("running_statistics", N_("Running statistics"))
SMALL_BATCHES = Topic("small_batches", N_("Small batches and several devices"))
NUMBERS = Topic("numbers", N_("Numbers and rounding"))
CODE = Topic("code", N_("Layers written by hand"))
FRAMEWORKS = Topic("frameworks", N_("Other frameworks"))
BUGS = Topic("bugs", N_("Bugs in real models"))
TOPICS = (
    STATISTICS, PARAMETERS, DEPENDENCE, SHAPES, TRAIN_AND_EVAL, RUNNING_STATISTICS, SMALL_BATCHES, NUMBERS, CODE, FRAMEWORKS, BUGS,
)  # fmt: skip


# The sources of questions: threads, reference pages, papers and documents.


def issue(project: str, number: int, kind: str = "issues") -> Source:
    """An issue on GitHub, or a pull request with ``kind="pull"``.

    >>> issue("pytorch", 71465).address
    'https://github.com/pytorch/pytorch/issues/71465'
    """
    label = "PR #" if kind == "pull" else "#"
    return Source(f"{project} {label}{number}", f"https://github.com/{REPOSITORIES[project]}/{kind}/{number}")


def torch_page(name: str) -> Source:
    """The page of torch's reference on ``torch.nn.<name>``, or on a full name such as ``torch.var``."""
    full_name = name if name.startswith("torch.") else f"torch.nn.{name}"
    return Source(full_name, f"https://docs.pytorch.org/docs/stable/generated/{full_name}.html")


def keras_page(name: str) -> Source:
    """The page of Keras's reference on a normalization layer."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
    return Source(f"keras.layers.{name}", f"https://keras.io/api/layers/normalization_layers/{words}/")


def paper(name: str, number: str) -> Source:
    """A paper on arXiv."""
    return Source(name, f"https://arxiv.org/abs/{number}")


REPOSITORIES = {
    "pytorch": "pytorch/pytorch",
    "ConvNeXt": "facebookresearch/ConvNeXt",
    "minGPT": "karpathy/minGPT",
    "mmsegmentation": "open-mmlab/mmsegmentation",
    "Wan2.1": "Wan-Video/Wan2.1",
    "onnx": "onnx/onnx",
    "fastai": "fastai/fastai",
    "keras": "keras-team/keras",
    "transformers": "huggingface/transformers",
    "tensorflow": "tensorflow/tensorflow",
    "vllm": "vllm-project/vllm",
    "vllm-metal": "vllm-project/vllm-metal",
    "labml": "labmlai/annotated_deep_learning_paper_implementations",
    "mmt": "gabeur/mmt",
    "VSRN": "KunpengLi1994/VSRN",
    "mlx-vlm": "Blaizzy/mlx-vlm",
    "executorch": "pytorch/executorch",
    "Open-Sora-Plan": "PKU-YuanGroup/Open-Sora-Plan",
    "indexnet_matting": "poppinace/indexnet_matting",
}
FLAX_PAGE = Source(
    "flax.linen.LayerNorm",
    "https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html#flax.linen.LayerNorm",
)
FORUM = Source("PyTorch forum: PyTorch doc about LayerNormalization is confusing")
COURSE = Source("stats.stackexchange: question on CS231n's layernorm_forward")
ANNOTATED = Source("labml: annotated LayerNorm")
ARTICLE = Source("Article: LayerNorm vs BatchNorm")
BATCH_NORM_PAPER = paper("Ioffe & Szegedy 2015", "1502.03167")
LAYER_NORM_PAPER = paper("Ba, Kiros & Hinton 2016", "1607.06450")
INSTANCE_NORM_PAPER = paper("Ulyanov et al. 2016", "1607.08022")
GROUP_NORM_PAPER = paper("Wu & He 2018", "1803.08494")
RMS_NORM_PAPER = paper("Zhang & Sennrich 2019", "1910.07467")
LLAMA_2_PAPER = paper("Touvron et al. 2023", "2307.09288")
CONVNEXT_PAPER = paper("Liu et al. 2022", "2201.03545")


# Building blocks of facts: tensors, torch's own modules, outputs of layers by their text, and the option that is true.


ROUNDING = 1e-5  # larger than float32's rounding of outputs near 1


def only(**options: bool) -> str:
    """The key of the one option that is true. Raises NormvizError unless exactly one is.

    >>> only(rows=False, columns=6 == 2 * 3)
    'columns'
    """
    true = [key for key, is_true in options.items() if is_true]
    if len(true) != 1:
        raise NormvizError(f"exactly one of the options {list(options)} must be true, but these are: {true}.")
    return true[0]


def which(both: str = "both", neither: str = "neither", **pair: bool) -> str:
    """Which of two statements is true: the key of one of them, ``both`` or ``neither``.

    >>> which(layer=False, batch=True), which(layer=False, batch=False, neither="none")
    ('batch', 'none')
    """
    (first, is_first), (second, is_second) = pair.items()
    return only(
        **{
            both: is_first and is_second,
            first: is_first and not is_second,
            second: is_second and not is_first,
            neither: not is_first and not is_second,
        }
    )


def scene_of(query: str) -> Scene:
    """The scene of a page with this query."""
    return read(dict(parse_qsl(query))).scene


def module_of(layer: str, dtype: object = None) -> nn.Module:
    """A fresh module of torch.nn, from the layer's text."""
    parsed = Layer.parse(layer)
    assert isinstance(parsed, Layer)
    return parsed.module(dtype)


def output(layer: str, x: Any) -> Tensor:
    """The output of a fresh layer on x, computed by torch's own layer where torch has it.

    >>> from normviz.analysis.examples import from_values
    >>> output("RMSNorm(2, eps=0.0)", from_values((3.0, 3.0), (1, 2))).tolist()
    [[1.0, 1.0]]
    """
    e = describe(layer, x)
    assert e.x is not None
    return e.trace.output if e.torch_layer is None else run_module(e.torch_layer, e.x, e.layer_values())


def output_change(layer: str, x: Tensor, other: Tensor, where: Any = ...) -> float:
    """The largest change of a fresh layer's output at the index ``where`` when x is replaced by ``other``."""
    return largest_difference(output(layer, x)[where], output(layer, other)[where])


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers of ``shape``, rounded to two decimals."""
    return example("normal", shape, tuple("abcdefgh"[: len(shape)]), seed)


def count_gammas(layer: str, shape: Sequence[int]) -> int:
    """The number of gammas of the layer on x of that shape; 0 if the layer has no gamma."""
    gamma_shape = describe(layer, tuple(shape)).counts.gamma_shape
    return 0 if gamma_shape is None else prod(gamma_shape)


def count_buffers(layer: str) -> int:
    """The number of values that the layer keeps in buffers."""
    return sum(map(prod, buffers(layer).values()))


def keras_default(argument: str) -> float:
    """The default of "epsilon" or "momentum" in Keras's BatchNormalization.

    >>> keras_default("momentum")
    0.99
    """
    batch_norm = next(layer for layer in KERAS_LAYERS.layers if layer.name.endswith(".BatchNormalization"))
    return batch_norm.defaults[argument]
