"""The recorded models: what is known of them by hand, and that each layer is one that torch accepts on its shape."""

from importlib.metadata import version
from importlib.util import find_spec

import pytest
import torch
from torch import nn

from normviz.lessons.models.page import REAL_MODELS, RecordedLayer, own_model, recorded, recorded_data
from normviz.lessons.pages import PAGES
from tests.support.needs import whole
from tools.record_models import MODELS, declare_operators, record

BY_HAND = {
    # ResNet-50: the stem, 16 blocks of 3, and a shortcut in each of 4 stages
    "resnet50": ({"BatchNorm": 1 + 16 * 3 + 4}, 25_557_032),
    # ViT-B/16: 2 in each of 12 blocks, and the last one
    "vit_b16": ({"LayerNorm": 12 * 2 + 1}, 86_567_656),
    # BERT: the embeddings, and 2 in each of 12 layers
    "bert": ({"LayerNorm": 1 + 12 * 2}, 109_482_240),
    "gpt2": ({"LayerNorm": 12 * 2 + 1}, 124_439_808),
    "llama3_8b": ({"RMSNorm": 32 * 2 + 1}, 8_030_261_248),
    # Qwen3 and OLMo 2 also normalize the queries and the keys; Gemma 3 has two more around each block
    "qwen3": ({"RMSNorm": 28 * 4 + 1}, 596_049_920),
    "olmo2": ({"RMSNorm": 32 * 4 + 1}, 7_298_617_344),
    "gemma3": ({"RMSNorm": 26 * 6 + 1}, 999_885_952),
    # 3 blocks down, 5 residual blocks of 2, 2 blocks up
    "style": ({"InstanceNorm": 3 + 5 * 2 + 2}, 1_679_235),
    # 22 residual blocks of 2, 16 attentions with one GroupNorm and 3 LayerNorms each, and the last one
    "sd_unet": ({"GroupNorm": 22 * 2 + 16 + 1, "LayerNorm": 16 * 3}, 859_520_964),
}


@pytest.mark.parametrize("key", BY_HAND)
def test_the_normalizations_and_parameters_are_those_that_are_known(key):
    families, parameters = BY_HAND[key]
    assert dict(recorded(key).families) == families
    assert recorded(key).parameters == parameters


@whole
def test_the_file_has_the_models_of_the_page():
    assert list(recorded_data()["models"]) == list(REAL_MODELS) == list(MODELS)


def kinds(key):
    return list(dict.fromkeys(row.kind for row in recorded(key).rows))


@pytest.mark.parametrize("key", REAL_MODELS)
def test_torch_accepts_each_layer_on_its_shape_and_it_has_as_many_parameters(key):
    model = recorded(key)
    for kind in kinds(key):
        e = kind.described
        assert kind.parameters == e.counts.parameters, kind
        if e.layer is not None:
            plain = e.layer.with_(zero_centered_gamma=False) if e.layer.zero_centered_gamma else e.layer
            with torch.device("meta"):
                module = plain.module()
            assert module(torch.empty(kind.shape, device="meta")).shape == kind.shape
    assert 0 < model.norm_parameters < 0.01 * model.parameters


@pytest.mark.parametrize("key", REAL_MODELS)
def test_each_layer_opens_in_explore_with_its_shape(key):
    for kind in kinds(key):
        view = PAGES["explore"].view(kind.query)
        assert view.problem is None
        assert (view.scene.shape, view.scene.description.title) == (kind.shape, kind.described.title)
        assert view.scene.description.norm.pattern == kind.described.norm.pattern


def test_only_batch_norm_averages_over_the_batch():
    found = {key for key in REAL_MODELS if any(row.kind.averages_over_the_batch for row in recorded(key).rows)}
    assert found == {"resnet50", "mobilenetv2", "efficientnet_b0"}


def test_positions_are_pixels_or_tokens_of_one_head():
    assert [(kind.channels, kind.positions) for kind in kinds("qwen3")] == [
        (1024, (128,)),
        (128, (128,)),
        (128, (128,)),
    ]
    assert [len(rows) for rows in recorded("resnet50").stages] == [1, 11, 13, 19, 9]
    assert [row.kind.positions for row, *_rest in recorded("resnet50").stages] == [(n, n) for n in (112, 56, 28, 14, 7)]


def test_a_layer_norm_of_permuted_images_is_a_layer_norm():
    found = kinds("convnext_t")
    assert {kind.family for kind in found} == {"LayerNorm"}
    assert found[0].described.layer is None


@pytest.mark.parametrize("text", ["nn.LayerNorm(768) on 2, 128, 768", "`nn.LayerNorm(768)` on `2, 128, 768`"])
def test_own_layers_are_read_with_their_parameters(text):
    (row,) = own_model([text]).rows
    assert row.kind == RecordedLayer("LayerNorm([768])", (2, 128, 768), parameters=1536)


@pytest.mark.parametrize("key", REAL_MODELS)
def test_a_new_recording_gives_the_file(key):
    library, _space, recorded_version = recorded(key).library.partition(" ")
    if library and (find_spec(library) is None or version(library) != recorded_version):
        pytest.skip(f"{library} {recorded_version} is not installed")
    declare_operators()
    kept = recorded_data()["models"][key]
    made = record(key)
    assert made | {"kinds": [[*map(_as_in_json, kind)] for kind in made["kinds"]]} == kept


def _as_in_json(value):
    return list(value) if isinstance(value, tuple) else value


def test_norms_in_training_are_recorded_in_training():
    from tools.record_models import in_training

    model = in_training(nn.Sequential(nn.BatchNorm2d(3), nn.Dropout()))
    assert [part.training for part in model] == [True, False]
