"""The types of the keywords of the functions of the pages.

The keywords of a page's function are the settings of its link. Their names and values are those of the declarations in
``normviz.lessons``, which tests compare with these types; ``from`` is ``from_`` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

# The settings of a link: how a view is shown, a tensor, and the settings of each page.


class DisplaySettings(TypedDict, total=False):
    hide: str | Sequence[str]
    caption: str
    present: bool
    lang: str


class ShapeSettings(DisplaySettings, total=False):
    shape: Sequence[int] | None
    layout: str | None
    at: Sequence[int] | Literal["none"] | None
    from_: Sequence[int]


class TensorSettings(ShapeSettings, total=False):
    data: Literal["normal", "counting", "scales", "images"]
    seed: int | None
    values: Sequence[float]
    params: Literal["init", "index", "random"]
    gamma: float
    beta: float


Opened = Literal["values", "worked", "code"]


class ExploreSettings(TensorSettings, total=False):
    open: Opened | Sequence[Opened]


class StepByStepSettings(TensorSettings, total=False):
    step: int


class CompareSettings(ShapeSettings, total=False):
    cards: Literal["mean", "gamma", "cube"]


Derivatives = Literal["column", "matrix", "parameters", "backward"]


class GradientsSettings(TensorSettings, total=False):
    show: Derivatives
    input: Literal["x", "outlier", "signs"]


Training = Literal["training", "stream", "modes", "batches", "sequences", "devices"]


class OfTraining(TypedDict, total=False):
    norm: Literal["BatchNorm", "GroupNorm", "LayerNorm", "none"]
    batch: Literal[2, 4, 8, 16, 32, 64, 128]
    batch_size: int
    momentum: float | None
    drift: float
    steps: int
    count: int
    longest: int
    devices: int


class TrainAndEvalSettings(TensorSettings, OfTraining, total=False):
    show: Training


Rounding = Literal["variance", "eps", "constant", "single", "placement"]


class OfNumerics(TypedDict, total=False):
    dtype: Literal["float16", "bfloat16", "float32", "float64"]
    distance: float
    spread: float
    value: float
    scale: float
    eps: float


class NumericsSettings(DisplaySettings, OfNumerics, total=False):
    seed: int | None
    show: Rounding


class OfModels(TypedDict, total=False):
    model: Literal[
        "resnet50", "mobilenetv2", "efficientnet_b0", "convnext_t", "vit_b16", "swin_t", "bert", "gpt2", "llama3_8b",
        "qwen3", "gemma3", "olmo2", "sd_unet", "wav2vec2", "style", "own",
    ]  # fmt: skip
    mark: Literal["all", "batch"]
    own: str | Sequence[str]


class ModelsSettings(DisplaySettings, OfModels, total=False):
    pass


class StartSettings(DisplaySettings, total=False):
    step: int


Topic = Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]
Kind = Literal["number", "mark", "choice", "build"]


class OfPractice(TypedDict, total=False):
    topics: Topic | Sequence[Topic]
    level: Literal["rising", "all", 1, 2, 3]
    kinds: Kind | Sequence[Kind]
    time: bool


class PracticeSettings(DisplaySettings, OfPractice, total=False):
    seed: int | None
    count: int


Asking = Literal["explore", "compare", "step_by_step", "gradients", "train_and_eval", "numerics", "models"]


class QuestionsSettings(TypedDict, total=False):
    search: str
    of: Asking
    hide: str | Sequence[str]
    caption: str
    lang: str


class LiveSettings(ExploreSettings, OfTraining, OfNumerics, OfModels, OfPractice, total=False):
    """Of all pages."""

    step: int
    cards: Literal["mean", "gamma", "cube"]
    show: Derivatives | Training | Rounding
    input: Literal["x", "outlier", "signs"]
    q: str
    search: str
    of: Asking
