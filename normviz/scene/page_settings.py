"""The settings of the page In real models: which model, which of its normalizations are marked, and a reader's own layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from normviz.analysis.comparison import MOST
from normviz.analysis.description import describe_shape
from normviz.analysis.rounding.groups import DISTANCES, DTYPES
from normviz.analysis.running.stream import BATCH_SIZES, LARGEST_DRIFT, STEPS
from normviz.layers.pasted import parse_layer_on_shape
from normviz.scene.setting import (
    Number,
    Segments,
    Setting,
    Several,
    TextField,
    choice,
    integer,
    number,
    number_or_none,
    power_of_ten,
    slider,
    text,
    texts,
    words,
)
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext

OWN_LAYERS = "own"
MOST_LAYERS, LONGEST = 40, 1500
EXAMPLE = ("nn.BatchNorm2d(64) on 2,64,56,56", "nn.LayerNorm(768) on 2,128,768")
REAL_MODELS: Mapping[str, str] = {
    "resnet50": "ResNet-50",
    "mobilenetv2": "MobileNetV2",
    "efficientnet_b0": "EfficientNet-B0",
    "convnext_t": "ConvNeXt-T",
    "vit_b16": "ViT-B/16",
    "swin_t": "Swin-T",
    "bert": "BERT base",
    "gpt2": "GPT-2",
    "llama3_8b": "Llama 3.1 8B",
    "qwen3": "Qwen3 0.6B",
    "gemma3": "Gemma 3 1B",
    "olmo2": "OLMo 2 7B",
    "sd_unet": "Stable Diffusion 1.5 U-Net",
    "wav2vec2": "wav2vec 2.0 base",
    "style": "Style transfer (Johnson et al.)",
}


def _parse_layers(text: str) -> tuple[str, ...]:
    """Layers on shapes, separated by semicolons. They are read, never executed. Raises NormvizError for one that torch does not accept."""
    found = tuple(part.strip() for part in text.split(";") if part.strip())
    if len(text) > LONGEST or not 1 <= len(found) <= MOST_LAYERS:
        raise NormvizError(
            ngettext(
                "own={text} must be 1 to {n} layer on a shape, separated by semicolons, such as {example}.",
                "own={text} must be 1 to {n} layers on shapes, separated by semicolons, such as {example}.",
                MOST_LAYERS,
                text=echo(text),
                example="; ".join(EXAMPLE),
            )
        )
    for one in found:
        describe_shape(*parse_layer_on_shape(one), None)
    return found


MODELS = (
    choice("model", {**REAL_MODELS, OWN_LAYERS: N_("Your own layers")}, segments=False, width=270, label=N_("Model"), about=N_("the model"), example="gpt2"),
    choice(
        "mark", {"all": N_("All"), "batch": N_("Which average over the batch?")},
        label=N_("Normalizations"), about=N_("which normalizations are marked: all, or those that average over the batch"), example="batch",
    ),
    Setting(
        "own", EXAMPLE, _parse_layers, "; ".join, label=N_("Your layers, each on the shape of its input, separated by semicolons"),
        about=N_("your own layers on shapes, separated by semicolons; the text is read and never executed"), example=EXAMPLE[1],
        widget=TextField(LONGEST), applies=lambda view: view.settings["model"] == OWN_LAYERS,
    ),
)  # fmt: skip


# The settings of each page, in addition to those of the scene. On pages with experiments, the first setting chooses one.


LAST_STEP = 6  # no layer has more than seven steps
START_STEPS = 7  # steps of Start here
MOST_DEVICES = 8
LARGEST_CONSTANT, LARGEST_SCALE = 65_504, 10_000  # float16 can represent every such x
SMALLEST_EPS = 1e-12
LONGEST_GUESS, LONGEST_SEARCH = 40, 400  # characters; a search may be an error message of torch


def _experiment(options: Mapping[str, str], example: str) -> Setting:
    return choice("show", options, label=N_("Experiment"), example=example, hide="experiment")


def _in(*experiments: str) -> Callable[[Any], bool]:
    """``applies`` of a setting that only these experiments have."""
    return lambda view: view.settings["show"] in experiments


START = (
    integer("step", 0, START_STEPS, 0, widget=None, about=N_("the step that is shown first; 0: where the reader left off"), example="3"),
)  # fmt: skip
COMPARE = (
    texts("layers", (), MOST, label=N_("Layers"), about=N_("the layers, separated by semicolons"), example="BatchNorm2d(3);LayerNorm([3,4,4])"),
)  # fmt: skip
STEP_BY_STEP = (integer("step", 0, LAST_STEP, 1, widget=None, about=N_("the step that is shown"), example="4"),)
TRAIN_AND_EVAL = (
    _experiment(
        {
            "stream": N_("Over time"),
            "modes": N_("train() and eval()"),
            "batches": N_("Small batches"),
            "sequences": N_("Sequences"),
            "devices": N_("Several devices"),
        },
        "devices",
    ),
    integer("batch_size", 2, BATCH_SIZES[-1], 8, widget=slider("2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"), label=N_("batch size"), about=N_("the examples in a batch"), example="16", applies=_in("stream", "batches")),
    number_or_none("momentum", 0, 1, 0.1, widget=slider("0", "0.001", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9", "1", "none"), label=N_("momentum"), about=N_("the momentum of the running statistics; none for a cumulative average"), example="none", applies=_in("stream")),
    number("drift", -LARGEST_DRIFT, LARGEST_DRIFT, 0.0, widget=slider("-10", "-1", "-0.5", "-0.1", "-0.05", "0", "0.05", "0.1", "0.5", "1", "10"), label=N_("mean drifts by"), about=N_("how far the mean moves in each step"), example="0.5", applies=_in("stream")),
    integer("steps", STEPS[0], STEPS[-1], 60, widget=slider("1", "5", "10", "20", "40", "60", "100", "200", "500"), label=N_("steps"), about=N_("the number of batches"), example="100", applies=_in("stream")),
    integer("count", 2, 256, 32, widget=slider("2", "4", "8", "16", "32", "64", "128", "256"), label=N_("sequences"), about=N_("the number of sequences"), example="64", applies=_in("sequences")),
    integer("longest", 1, 100, 30, widget=slider("1", "2", "5", "10", "20", "30", "60", "100"), label=N_("longest"), about=N_("the length of the longest sequence"), example="50", applies=_in("sequences")),
    integer("devices", 2, MOST_DEVICES, 4, widget=slider("2", "3", "4", "5", "6", "7", "8"), label=N_("devices"), about=N_("the number of devices"), example="8", applies=_in("devices")),
)  # fmt: skip
GRADIENTS = (
    _experiment(
        {
            "column": N_("Change one input"),
            "matrix": N_("The whole Jacobian"),
            "parameters": N_("gamma and beta"),
            "backward": N_("Backward pass"),
        },
        "matrix",
    ),
    choice(
        "input",
        {"x": N_("the tensor's own values"), "outlier": N_("one outlier in each group"), "signs": N_("alternating −1 and 1")},
        segments=False, width=220, label=N_("Values of x"), help=N_("With the last two, some derivatives within a group are 0."),
        about=N_("the values of x: x (its own), outlier or signs, for which some derivatives are 0"), example="signs",
    ),
)  # fmt: skip
NUMERICS = (
    _experiment(
        {
            "variance": N_("Four ways to compute a variance"),
            "eps": N_("How small may eps be?"),
            "constant": N_("A constant x"),
            "single": N_("Groups of one"),
            "placement": N_("eps inside or outside"),
        },
        "eps",
    ),
    choice(
        "dtype", {name: name for name in DTYPES}, "float32", label=N_("dtype of x"), example="float16", applies=_in("variance", "eps", "constant", "single"),
    ),
    power_of_ten("distance", 0, len(DISTANCES) - 1, 6, label=N_("distance from zero"), about=N_("how far x is from zero, a power of ten"), example="1e5", applies=_in("variance")),
    power_of_ten("spread", -12, 3, -4, label=N_("spread"), about=N_("the standard deviation of x, a power of ten"), example="1e-3", applies=_in("eps")),
    number("value", -LARGEST_CONSTANT, LARGEST_CONSTANT, 1234.567, width=300, label=N_("every element of x"), about=N_("every element of x"), example="0.1", applies=_in("constant")),
    number("scale", 0, LARGEST_SCALE, 1000, width=300, label=N_("standard deviation of x"), about=N_("the standard deviation of x"), example="100", applies=_in("single")),
    number("eps", SMALLEST_EPS, 1, 1e-5, width=300, label="eps", about=N_("the eps that is compared inside and outside the square root"), example="0.001", applies=_in("placement")),
)  # fmt: skip
MOST_EXERCISES, LEVELS, ALL_LEVELS = 100, range(1, 4), "all"
PRACTICE_TOPICS = ("statistics", "parameters", "code", "numbers", "dependence", "train_and_eval")
PRACTICE = (
    integer("count", 1, MOST_EXERCISES, 10, widget=Number(1, MOST_EXERCISES), label=N_("Exercises"), about=N_("the number of exercises; seed chooses them"), example="5", hide="exercises"),
    words("topics", PRACTICE_TOPICS, widget=Several(PRACTICE_TOPICS, len(PRACTICE_TOPICS)), label=N_("Topics, all if you choose none"), about=N_("their topics, separated by commas; without it, all"), example="statistics,parameters", hide="exercises"),
    choice(
        "level", {ALL_LEVELS: N_("all"), **{str(level): str(level) for level in LEVELS}}, label=N_("Level"),
        about=N_("how hard they are; 1: tables; 2: sequences and images; 3: groups and odd shapes; or all"), example="1", hide="exercises",
    ),
)  # fmt: skip
SEARCH = text(
    "search",
    LONGEST_SEARCH,
    label=N_("Search"),
    about=N_("words that the listed questions contain"),
    example="gamma",
)
QUESTIONS = (
    text("q", 20, about=N_("the question"), example="s0"),
    text("guess", LONGEST_GUESS, label=N_("Prediction"), about=N_("the prediction: the name of an option, or a number"), example="48"),
    SEARCH,
)  # fmt: skip

PAGE_SETTINGS: Mapping[str, tuple[Setting, ...]] = {
    "start": START,
    "explore": (),
    "compare": COMPARE,
    "step_by_step": STEP_BY_STEP,
    "train_and_eval": TRAIN_AND_EVAL,
    "gradients": GRADIENTS,
    "numerics": NUMERICS,
    "models": MODELS,
    "questions": QUESTIONS,
    "practice": PRACTICE,
}


def experiments(page: str) -> Mapping[str, str]:
    """The experiments of a page: the title of each, as a message."""
    widget = PAGE_SETTINGS[page][0].widget
    assert isinstance(widget, Segments)
    return widget.options


def parse_page_settings(page: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The page's settings. Raises NormvizError for an unknown name or an invalid value."""
    known = {setting.name: setting for setting in PAGE_SETTINGS[page]}
    values = {name: setting.default for name, setting in known.items()}
    for name, value in given.items():
        if name not in known:
            if not known:
                raise NormvizError(
                    _("{name}={value} is not a setting here; leave it out.", name=name, value=echo(value))
                )
            raise NormvizError(
                _(
                    "{name}={value} is not a setting here; choose {names}.",
                    name=name,
                    value=echo(value),
                    names=listed(known),
                )
            )
        values[name] = known[name].parse("none" if value is None else str(value))
    return values
