"""The keywords of the functions of the pages, for type checkers. ``python -m tools.keywords`` writes this file."""

from collections.abc import Sequence
from typing import Literal, TypedDict

class DisplaySettings(TypedDict, total=False):
    hide: str | Sequence[str]
    caption: str
    present: bool
    lang: str

class ShapeSettings(TypedDict, total=False):
    shape: Sequence[int] | None
    layout: str | None
    at: Sequence[int] | Literal["none"] | None
    from_: Sequence[int]

class ValuesSettings(TypedDict, total=False):
    data: Literal["normal", "counting", "scales", "images"]
    seed: int | None
    values: Sequence[float]
    params: Literal["init", "index", "random"]
    gamma: float
    beta: float

class StartSettings(DisplaySettings, total=False):
    step: int

class StorySettings(DisplaySettings, total=False):
    pass

class ExploreSettings(DisplaySettings, ShapeSettings, ValuesSettings, total=False):
    open: Literal["values", "worked", "code"] | Sequence[Literal["values", "worked", "code"]]

class CompareSettings(DisplaySettings, ShapeSettings, total=False):
    cards: Literal["mean", "gamma", "cube"]

class StepByStepSettings(DisplaySettings, ShapeSettings, ValuesSettings, total=False):
    step: int

class GradientsSettings(DisplaySettings, ShapeSettings, ValuesSettings, total=False):
    show: Literal["column", "matrix", "parameters", "backward"]
    input: Literal["x", "outlier", "signs"]

class AllLayersSettings(DisplaySettings, total=False):
    shape: Sequence[int] | None
    layout: str | None

class TrainAndEvalSettings(DisplaySettings, ShapeSettings, ValuesSettings, total=False):
    show: Literal["training", "stream", "modes", "batches", "sequences", "devices", "causes"]
    norm: Literal["BatchNorm", "GroupNorm", "LayerNorm", "none"]
    batch: Literal[2, 4, 8, 16, 32, 64, 128]
    batch_size: int
    momentum: float | None
    drift: float
    steps: int
    count: int
    longest: int
    devices: int

class NumericsSettings(DisplaySettings, total=False):
    show: Literal["variance", "eps", "constant", "single", "placement"]
    dtype: Literal["float16", "bfloat16", "float32", "float64"]
    distance: float
    spread: float
    value: float
    scale: float
    eps: float
    seed: int | None

class ModelsSettings(DisplaySettings, total=False):
    model: Literal[
        "resnet50",
        "mobilenetv2",
        "efficientnet_b0",
        "convnext_t",
        "vit_b16",
        "swin_t",
        "bert",
        "gpt2",
        "llama3_8b",
        "qwen3",
        "gemma3",
        "olmo2",
        "sd_unet",
        "wav2vec2",
        "style",
        "own",
    ]
    mark: Literal["all", "batch", "small"]
    own: str | Sequence[str]

class QuestionsSettings(TypedDict, total=False):
    search: str
    of: Literal["explore", "compare", "step_by_step", "gradients", "train_and_eval", "numerics", "models"]
    hide: str | Sequence[str]
    caption: str
    lang: str

class PracticeSettings(DisplaySettings, total=False):
    count: int
    topics: (
        Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]
        | Sequence[Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]]
    )
    level: Literal["rising", "all", 1, 2, 3]
    kinds: Literal["number", "mark", "choice", "build"] | Sequence[Literal["number", "mark", "choice", "build"]]
    mixture: int | None
    time: bool
    content: str
    seed: int | None

class TeachSettings(DisplaySettings, total=False):
    plan: Literal[
        "start",
        "story",
        "explore",
        "compare",
        "step_by_step",
        "gradients",
        "all_layers",
        "train_and_eval",
        "numerics",
        "models",
        "questions",
        "practice",
    ]
    count: int
    topics: (
        Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]
        | Sequence[Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]]
    )
    level: Literal["rising", "all", 1, 2, 3]
    kinds: Literal["number", "mark", "choice", "build"] | Sequence[Literal["number", "mark", "choice", "build"]]
    mixture: int | None
    seed: int | None

class LiveSettings(DisplaySettings, ShapeSettings, ValuesSettings, total=False):
    q: str
    step: int
    open: Literal["values", "worked", "code"] | Sequence[Literal["values", "worked", "code"]]
    cards: Literal["mean", "gamma", "cube"]
    show: (
        Literal["column", "matrix", "parameters", "backward"]
        | Literal["training", "stream", "modes", "batches", "sequences", "devices", "causes"]
        | Literal["variance", "eps", "constant", "single", "placement"]
    )
    input: Literal["x", "outlier", "signs"]
    norm: Literal["BatchNorm", "GroupNorm", "LayerNorm", "none"]
    batch: Literal[2, 4, 8, 16, 32, 64, 128]
    batch_size: int
    momentum: float | None
    drift: float
    steps: int
    count: int
    longest: int
    devices: int
    dtype: Literal["float16", "bfloat16", "float32", "float64"]
    distance: float
    spread: float
    value: float
    scale: float
    eps: float
    model: Literal[
        "resnet50",
        "mobilenetv2",
        "efficientnet_b0",
        "convnext_t",
        "vit_b16",
        "swin_t",
        "bert",
        "gpt2",
        "llama3_8b",
        "qwen3",
        "gemma3",
        "olmo2",
        "sd_unet",
        "wav2vec2",
        "style",
        "own",
    ]
    mark: Literal["all", "batch", "small"]
    own: str | Sequence[str]
    search: str
    of: Literal["explore", "compare", "step_by_step", "gradients", "train_and_eval", "numerics", "models"]
    topics: (
        Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]
        | Sequence[Literal["statistics", "parameters", "code", "numbers", "dependence", "train_and_eval"]]
    )
    level: Literal["rising", "all", 1, 2, 3]
    kinds: Literal["number", "mark", "choice", "build"] | Sequence[Literal["number", "mark", "choice", "build"]]
    mixture: int | None
    time: bool
    content: str
    plan: Literal[
        "start",
        "story",
        "explore",
        "compare",
        "step_by_step",
        "gradients",
        "all_layers",
        "train_and_eval",
        "numerics",
        "models",
        "questions",
        "practice",
    ]
