"""Record the normalizations of well-known models: ``python -m tools.record_models`` writes the data of the page In real models.

It needs timm, transformers and diffusers, but no weights: the models are made on the meta device, where tensors have shapes and no values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from normviz.api.html import view_query
from normviz.api.norms import Norms, norms
from normviz.lessons.models.page import FILE
from normviz.measuring.models.norms import NormRow

BATCH, TOKENS, IMAGE, SAMPLES = 2, 128, 224, 16_000
Made = tuple[nn.Module, dict[str, Tensor]]


@dataclass(frozen=True)
class Source:
    """Where a model comes from: a library ("": this file), the name of what makes it there, and a function that makes it with its inputs."""

    library: str
    constructor: str
    make: Callable[[], Made]


def write(path: Path = FILE) -> None:
    """Record all models."""
    lines = ",\n".join(f'"{key}":{json.dumps(record(key), separators=(",", ":"))}' for key in MODELS)
    path.write_text(f'{{"models":{{\n{lines}\n}}}}\n', encoding="utf-8")


def record(key: str) -> dict[str, Any]:
    """A model: its normalizations in order, each with its name and the number of its kind."""
    source = MODELS[key]
    with torch.device("meta"):
        model, inputs = source.make()
    found = norms(in_training(model), **inputs)
    if found.failure:
        raise RuntimeError(f"{key}: {found.failure}")
    return {
        "library": f"{source.library} {version(source.library)}" if source.library else "",
        "constructor": source.constructor,
        "input": list(next(iter(inputs.values())).shape),
        "parameters": found.model_parameters,
        **_compact(found, with_heads=source.library == "transformers"),
    }


def _compact(found: Norms, with_heads: bool) -> dict[str, Any]:
    kinds: dict[tuple[Any, ...], int] = {}
    rows = []
    for row in found:
        kind = (view_query(row)["layer"], row.shape, _layout(row, with_heads), row.parameters)
        rows.append([row.name, kinds.setdefault(kind, len(kinds))])
    return {"kinds": list(kinds), "rows": rows}


def _layout(row: NormRow, with_heads: bool) -> str:
    """The layout of x if it is not that of the layer: images with the channels last, or the heads of an attention (H) and their elements (D)."""
    if with_heads and len(row.shape) == 4:
        return "NLHD" if row.shape[1] == TOKENS else "NHLD"
    return view_query(row).get("layout", "")


def in_training(model: nn.Module) -> nn.Module:
    """The model in eval mode, but with its normalizations in train mode: what is random in training does not run on the meta device."""
    model.eval()
    for module in model.modules():
        if any(name.endswith("running_mean") for name, _buffer in module.named_buffers(recurse=False)):
            module.training = True
    return model


def declare_operators() -> None:
    """Declare torchvision's operators, which its wheels for CUDA do not load beside a torch for the CPU."""
    found = find_spec("torchvision")
    if found is None or not found.submodule_search_locations:
        return
    text = (Path(found.submodule_search_locations[0]) / "_meta_registrations.py").read_text(encoding="utf-8")
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in {*re.findall(r'(?:register_meta|register_fake)\("(?:torchvision::)?(\w+)"', text), "nms"}:
        with suppress(RuntimeError):  # it is there
            library.define(f"{name}(Tensor x) -> Tensor")
    LIBRARY.append(library)


LIBRARY: list[torch.library.Library] = []  # its operators exist as long as it does


def _of_timm(name: str) -> Source:
    def make() -> Made:
        import timm

        return timm.create_model(name), {"x": torch.zeros(BATCH, 3, IMAGE, IMAGE)}

    return Source("timm", name, make)


def _of_transformers(config: str, model: str, inputs: Callable[[], dict[str, Tensor]], **values: Any) -> Source:
    def make() -> Made:
        import transformers

        return getattr(transformers, model)(getattr(transformers, config)(**values)), inputs()

    return Source("transformers", model, make)


def _tokens() -> dict[str, Tensor]:
    return {"input_ids": torch.zeros(BATCH, TOKENS, dtype=torch.int64)}


def _sound() -> dict[str, Tensor]:
    return {"input_values": torch.zeros(BATCH, SAMPLES)}


def _unet() -> Made:
    import diffusers

    model = diffusers.UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    text = torch.zeros(BATCH, 77, 768)
    return model, {"sample": torch.zeros(BATCH, 4, 64, 64), "timestep": torch.zeros(()), "encoder_hidden_states": text}


class StyleTransfer(nn.Module):
    """The network of Johnson et al. (2016), with instance normalization (Ulyanov et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.down3 = _block(3, 32, 9), _block(32, 64, 3, 2), _block(64, 128, 3, 2)
        self.residual = nn.ModuleList(Residual(128) for _ in range(5))
        self.up1, self.up2 = _block(128, 64, 3), _block(64, 32, 3)
        self.last = nn.Conv2d(32, 3, 9, padding=4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.down3(self.down2(self.down1(x)))
        for block in self.residual:
            x = block(x)
        x = self.up1(nn.functional.interpolate(x, scale_factor=2))
        return self.last(self.up2(nn.functional.interpolate(x, scale_factor=2)))


class Residual(nn.Module):
    """Two convolutions, each with a normalization, and a skip connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = _block(channels, channels, 3)
        self.conv2, self.norm2 = nn.Conv2d(channels, channels, 3, padding=1), nn.InstanceNorm2d(channels, affine=True)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.norm2(self.conv2(self.conv1(x)))


def _block(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2)
    return nn.Sequential(convolution, nn.InstanceNorm2d(outputs, affine=True), nn.ReLU())


def _style_transfer() -> Made:
    return StyleTransfer(), {"x": torch.zeros(BATCH, 3, 256, 256)}


LLAMA = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5,
}
QWEN = {
    "vocab_size": 151_936,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "tie_word_embeddings": True,
}
GEMMA = {
    "vocab_size": 262_144,
    "hidden_size": 1152,
    "intermediate_size": 6912,
    "num_hidden_layers": 26,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "tie_word_embeddings": True,
}
OLMO = {
    "vocab_size": 100_352,
    "hidden_size": 4096,
    "intermediate_size": 11_008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "rms_norm_eps": 1e-6,
}

MODELS: dict[str, Source] = {
    "resnet50": _of_timm("resnet50"),
    "mobilenetv2": _of_timm("mobilenetv2_100"),
    "efficientnet_b0": _of_timm("efficientnet_b0"),
    "convnext_t": _of_timm("convnext_tiny"),
    "vit_b16": _of_timm("vit_base_patch16_224"),
    "swin_t": _of_timm("swin_tiny_patch4_window7_224"),
    "bert": _of_transformers("BertConfig", "BertModel", _tokens),
    "gpt2": _of_transformers("GPT2Config", "GPT2LMHeadModel", _tokens),
    "llama3_8b": _of_transformers("LlamaConfig", "LlamaForCausalLM", _tokens, **LLAMA),
    "qwen3": _of_transformers("Qwen3Config", "Qwen3ForCausalLM", _tokens, **QWEN),
    "gemma3": _of_transformers("Gemma3TextConfig", "Gemma3ForCausalLM", _tokens, **GEMMA),
    "olmo2": _of_transformers("Olmo2Config", "Olmo2ForCausalLM", _tokens, **OLMO),
    "sd_unet": Source("diffusers", "UNet2DConditionModel", _unet),
    "wav2vec2": _of_transformers("Wav2Vec2Config", "Wav2Vec2Model", _sound),
    "style": Source("", "StyleTransfer", _style_transfer),
}  # fmt: skip


if __name__ == "__main__":
    declare_operators()
    write()
