"""The settings of the page In real models: which model, which of its normalizations are marked, and a reader's own layers."""

from __future__ import annotations

from collections.abc import Mapping

from normviz.analysis.description import describe_shape
from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import N_, ngettext
from normviz.layers.substitutes.pasted import parse_layer_on_shape
from normviz.scene.settings.kinds import choice
from normviz.scene.settings.setting import Setting
from normviz.scene.settings.widgets import TextField

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
