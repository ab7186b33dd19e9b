"""Every message that torch's normalization layers raise has a view, and says what to do; however it is pasted."""

import pytest

from normviz.layers.pasted import read_pasted
from normviz.layers.torch_messages import told
from normviz.scene.controls import fields_of
from normviz.scene.edits import repair
from tests.layers.raised import raised
from tests.support.needs import needs_rms_norm

FORMS = [
    "\x1b[0;31m{kind}\x1b[0m: {text}",
    "> {kind}: {text}",
    "```pytb\n{kind}: {text}\n```",
    "**{kind}: {text}**",
    '     12     def forward(self, x):\n---> 13         return self.norm(x)\n\n{kind}: {text}\n\nHow can I fix this?',
]  # fmt: skip


def meaning(text):
    """The layer and the shape, and what is said about them."""
    found = read_pasted(text)
    assert found.message
    reading = repair(**fields_of(found))
    return str(found.layer), found.shape, reading.problem or "", found.note


def test_each_message_that_torch_raises_has_a_view_and_says_what_to_do():
    messages = raised()
    assert len(messages) > 150
    unread = [text for text in messages if told(" ".join(text[:1000].split())) is None or not any(meaning(text)[2:])]
    assert unread == []


def test_each_message_is_read_as_terminals_notebooks_and_pages_show_it():
    for text in raised():
        kind, _colon, words = text.partition(": ")
        layer = meaning(text)[:2]
        wrong = [form for form in FORMS if meaning(form.format(kind=kind, text=words))[:2] != layer]
        assert (text, wrong) == (text, [])


SAYS = [
    # a message, the layer, words of what is said
    ("RuntimeError: mixed dtype (CPU): expect parameter to have scalar type of Float", "LayerNorm([4])", "write x.to(layer.weight.dtype)"),
    ('RuntimeError: "LayerNormKernelImpl" not implemented for \'Half\'', "LayerNorm([4])", "or use a newer torch"),
    ('NotImplementedError: "batch_norm" not implemented for \'Long\'', "BatchNorm2d(4)", "write x.float()"),
    ("AttributeError: 'tuple' object has no attribute 'dim'", "LayerNorm([4])", "Much code raises this. If a normalization layer does: "),
    ("File \"norm.py\", self.bn = nn.BatchNorm1d(4) AttributeError: 'tuple' object has no attribute 'dim'", "BatchNorm1d(4)", "torch refuses: \"'tuple' object"),
    ("TypeError: LayerNorm.__init__() got an unexpected keyword argument 'epsilon'", "LayerNorm([4])", "Write eps=."),
    ('"LayerNormKernelImpl" not implemented for \'Float8_e4m3fn\'', "LayerNorm([4])", "no such kernel for Float8_e4m3fn on this device"),
    ("TypeError: LayerNorm.__init__() got an unexpected keyword argument 'bias'", "LayerNorm([4])", "has the argument bias; your torch may be older: update it, or leave bias out."),
    ("size mismatch for bn1.weight: copying a param with shape torch.Size([64]) from checkpoint, the shape in current model is torch.Size([128]).", "BatchNorm2d(128)", "[64] in the file and [128] in the model"),
    ('Error(s) in loading state_dict for Net: Unexpected key(s) in state_dict: "a.running_mean", "a.running_var".', "BatchNorm2d(4)", "track_running_stats=True"),
    ("running_var must be defined in evaluation mode", "BatchNorm2d(4)", "give both, or training=True"),
    ("Expected more than 1 value per channel when training, got input size [1, 512]", "BatchNorm1d(512)", ""),  # of torch 0.4
    ("Expected 4D tensor as input, got 2D tensor instead.", "BatchNorm2d(4)", "only which rank x has: the shape (2, 4) is an example."),
    ("ValueError: expected 4D input (got 3D input)", "BatchNorm2d(4)", "the shape (2, 4, 5) is an example."),
    ("ValueError: Expected 3D or higher dimensionality                          input (got 2 dimensions)", "ChannelsFirstLayerNorm(4)", "has no view here"),
    ("Expected all tensors to be on the same device, but found cuda:0 and cpu! (when checking argument for argument weight in method wrapper_CUDA__native_layer_norm)", "LayerNorm([4])", "write layer.to(x.device)"),
    ("Expected all tensors to be on the same device, but found cuda:0 and cpu! (when checking argument for argument weight in method wrapper_CUDA__native_batch_norm)", "BatchNorm2d(4)", "torch refuses"),
    ("Expected all tensors to be on the same device, but found cuda:0 and cpu! (when checking argument for argument weight in method wrapper_CUDA__cudnn_batch_norm)", "BatchNorm2d(4)", "torch refuses"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "layer", "words"), SAYS)
def test_a_message_says_what_to_do(text, layer, words):
    found = read_pasted(text)
    assert str(found.layer) == layer
    assert words in found.note


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA out of memory",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4 and 5x6)",
        "Expected all tensors to be on the same device (when checking argument for argument mat1 in method wrapper_CUDA_addmm)",
        "TypeError: Linear.__init__() got an unexpected keyword argument 'epsilon'",
        "TypeError: Conv2d.__init__() missing 1 required positional argument: 'kernel_size'",
        "TypeError: Net.forward() missing 1 required positional argument: 'input'",
        '"addmm_impl_cpu_" not implemented for \'Half\'',
        "size mismatch for fc.weight: copying a param with shape torch.Size([10, 4]) from checkpoint, the shape in current model is torch.Size([2, 4]).",
        "Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 1, 28, 28] to have 3 channels, but got 1 channels instead",
    ],
)  # fmt: skip
def test_a_message_about_other_layers_is_about_none_here(text):
    assert told(text) is None


@needs_rms_norm
@pytest.mark.parametrize(
    "name", ["torch.nn' has no attribute 'RMSNorm", "torch.nn.functional' has no attribute 'rms_norm"]
)
def test_a_torch_without_rms_norm_is_told(name):
    found = read_pasted(f"AttributeError: module '{name}'")
    assert found.message
    assert str(found.layer).startswith("RMSNorm(")
    assert "torch has RMSNorm since version 2.4: install a newer torch" in found.note
