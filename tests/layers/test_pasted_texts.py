"""What people paste: lines of code, of print(model), of tracebacks and of other libraries. Each is read as what it says, or gets a sentence."""

import re

import pytest

from normviz.layers.forms import Tensor
from normviz.layers.layer import Layer
from normviz.layers.pasted import read_pasted, sizes
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch

READ = [
    # a text, the layer, the shape of x if the text or the way of writing says it, words of the note
    # print(model)
    ("(bn1): BatchNorm2d(64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", "BatchNorm2d(64)", None, ""),
    ("(norm1): LayerNorm((768,), eps=1e-05, elementwise_affine=True)", "LayerNorm([768])", None, ""),
    ("(norm): GroupNorm(32, 320, eps=1e-06, affine=True)", "GroupNorm(32, 320, eps=1e-06)", None, ""),
    ("(1): InstanceNorm2d(64, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)", "InstanceNorm2d(64)", None, ""),
    ("(input_layernorm): LlamaRMSNorm((4096,), eps=1e-05)", "RMSNorm([4096], eps=1e-05)", None, ""),
    ("(input_layernorm): Gemma2RMSNorm((2304,), eps=1e-06)", "RMSNorm([2304], eps=1e-06, zero_centered_gamma=True)", None, ""),
    ("(bn1): BatchNormAct2d(\n  64, eps=1e-05, momentum=0.1\n  (drop): Identity()\n  (act): ReLU(inplace=True)\n)", "BatchNorm2d(64)", None, ""),
    ("Sequential(\n  (0): Conv2d(64, 256, kernel_size=(1, 1))\n  (1): BatchNorm2d(256, eps=1e-05)\n)", "BatchNorm2d(256)", None, ""),
    ("ResNet(\n (bn1): BatchNorm2d(64)\n (norm): LayerNorm((10,), eps=1e-05)\n)", "BatchNorm2d(64)", None, "The text has LayerNorm([10]), too; the first is shown."),
    # timm, torchvision, ConvNeXt
    ("LayerNorm2d((96,), eps=1e-06, elementwise_affine=True)", "ChannelsFirstLayerNorm(96)", None, ""),
    ("timm.layers.LayerNorm2d(96)", "ChannelsFirstLayerNorm(96)", None, ""),
    ("FrozenBatchNorm2d(64, eps=1e-05)", "BatchNorm2d(64).eval()", None, ""),
    ("torchvision.ops.misc.FrozenBatchNorm2d(num_features=64)", "BatchNorm2d(64).eval()", None, ""),
    ('LayerNorm(96, eps=1e-6, data_format="channels_first")', "ChannelsFirstLayerNorm(96)", None, ""),
    ('LayerNorm(96, data_format="channels_last")', "LayerNorm([96], eps=1e-06)", None, ""),
    ("GroupNorm1(64)", "GroupNorm(1, 64)", None, ""),
    # code of torch
    ("self.norm = nn.LayerNorm(768)", "LayerNorm([768])", None, ""),
    ("self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps)", "LayerNorm([4])", None, "no value for 'd_model' and 'layer_norm_eps'; shown is normalized_shape=[4] and eps=1e-05."),
    ("self.norm = nn.GroupNorm(num_groups=32, num_channels=in_channels, eps=1e-6)", "GroupNorm(32, 64, eps=1e-06)", None, "shown is num_channels=64"),
    ("nn.LayerNorm([C, H, W])", "LayerNorm([4, 3, 5])", None, "shown is normalized_shape=[4, 3, 5]"),
    ("nn.LayerNorm(x.shape[1:])", "LayerNorm([4, 3, 5])", None, "shown is normalized_shape=[4, 3, 5]"),
    ("nn.BatchNorm2d(2 * 32)", "BatchNorm2d(64)", None, ""),
    ("nn.LayerNorm(torch.Size([3, 4]))", "LayerNorm([3, 4])", None, ""),
    ("nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU())", "BatchNorm2d(16)", None, ""),
    ("nn.BatchNorm2d(num_features=64, eps=1e-3).cuda().eval()", "BatchNorm2d(64, eps=0.001).eval()", None, ""),
    ("m = nn.BatchNorm1d(100, affine=False)\ninput = torch.randn(20, 100)\noutput = m(input)", "BatchNorm1d(100, affine=False)", (20, 100), ""),
    ("nn.BatchNorm1d(10)(torch.randn(4, 20, 10))", "BatchNorm1d(10)", (4, 20, 10), ""),
    ("x = torch.randn(1, 3, 224, 224); bn = nn.BatchNorm2d(64)", "BatchNorm2d(64)", None, ""),  # that x is not the layer's
    (">>> nn.LayerNorm(768", "LayerNorm([768])", None, ""),
    ("nn.batchnorm(64)", "BatchNorm2d(64)", None, ""),
    ("bn = nn.BatchNorm2d(64)\nbn.eval()\ny = bn(x)", "BatchNorm2d(64).eval()", None, ""),
    ("bn = nn.BatchNorm2d(64)\nbn.eval()\nbn.train()", "BatchNorm2d(64)", None, ""),
    ("bn = nn.BatchNorm2d(64)\nother.eval()", "BatchNorm2d(64)", None, ""),
    ("nn.BatchNorm2d(64).train(mode=False)", "BatchNorm2d(64).eval()", None, ""),
    ("nn.BatchNorm2d(64).train(mode=True)", "BatchNorm2d(64)", None, ""),
    ("norm_layer = partial(nn.LayerNorm, eps=1e-6)", "LayerNorm([4], eps=1e-06)", None, "no value for 'normalized_shape'; shown is normalized_shape=[4]."),
    ("functools.partial(nn.GroupNorm, 32)", "GroupNorm(32, 64)", None, "no value for 'num_channels'; shown is num_channels=64."),
    ("partial(nn.BatchNorm2d, 64, eps=1e-3)", "BatchNorm2d(64, eps=0.001)", None, ""),
    ("norm = partial(nn.LayerNorm, epsilon=1e-6, dtype=self.dtype)", "LayerNorm([4], eps=1e-06)", (2, 5, 4), "the layer LayerNorm of Flax"),
    # a name and numbers; sizes alone
    ("layernorm 768 eps 1e-6", "LayerNorm([768], eps=1e-06)", None, ""),
    ("nn.GroupNorm: 32, 64", "GroupNorm(32, 64)", None, ""),
    ("group norm 32 64, with epsilon=1e-3", "GroupNorm(32, 64, eps=0.001)", None, ""),
    ("2x128x768", "LayerNorm([768])", (2, 128, 768), "The text has only the sizes of x; LayerNorm([768]) is shown."),
    ("torch.Size([2, 3, 4, 5])", "LayerNorm([3, 4, 5])", (2, 3, 4, 5), "only the sizes of x"),
    ("x.shape = (8, 3)", "LayerNorm([3])", (8, 3), "only the sizes of x"),
    # functions of torch, as in a traceback
    ("F.layer_norm(x, x.shape[:1])", "LayerNorm([2], elementwise_affine=False)", (2, 4, 3, 5), ""),  # torch refuses it on this x
    ("F.layer_norm(x, [x.size(0)])", "LayerNorm([2], elementwise_affine=False)", (2, 5, 4), ""),
    ("    return F.layer_norm(\n        input, self.normalized_shape, self.weight, self.bias, self.eps)", "LayerNorm([4])", (2, 5, 4), "no value for 'self.normalized_shape' and 'self.eps'"),
    ("--> 2515     return torch.layer_norm(input, normalized_shape, weight, bias, eps, torch.backends.cudnn.enabled)", "LayerNorm([4])", (2, 5, 4), "normalized_shape"),
    ("return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, torch.backends.cudnn.enabled)", "BatchNorm2d(4).eval()", (2, 4, 3, 5), "training=False"),
    ("F.batch_norm(x, None, None, training=True)", "BatchNorm2d(4, affine=False, track_running_stats=False)", (2, 4, 3, 5), ""),
    ("F.group_norm(x, 8, self.weight, self.bias)", "GroupNorm(8, 16)", (2, 16, 3, 5), ""),
    # statistics
    ("mean = x.mean(dim=(0, 2, 3), keepdim=True)", "BatchNorm2d(4, affine=False)", (2, 4, 3, 5), ""),
    ("mean = x.mean(-1, keepdim=True)\nstd = x.std(-1, keepdim=True)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "torch's std divides by m - 1"),
    ("mean = x.mean(-1, keepdim=True)\nstd = x.std(-1, keepdim=True, unbiased=False)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), ""),
    ("np.var(x, axis=-1, ddof=1)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "With ddof=1, var divides by m - 1, and a layer by m; write ddof=0."),
    ("np.var(x, axis=-1, ddof=0)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), ""),
    ("x.var(-1, correction=2)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "With correction=2, var divides by m - 2"),
    ("x.var(-1, keepdim=True)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "torch's var divides by m - 1"),
    ("x.std(dim=(2, 3), unbiased=False)", "InstanceNorm2d(4)", (2, 4, 3, 5), ""),
    ("torch.var(x, dim=[0, 2, 3], correction=0)", "BatchNorm2d(4, affine=False)", (2, 4, 3, 5), ""),
    ("np.var(x, axis=0)", "BatchNorm1d(6, affine=False)", (4, 6), ""),
    ("var = ((x - mean) ** 2).mean(dim=(0, 2, 3))", "BatchNorm2d(4, affine=False)", (2, 4, 3, 5), ""),
    ("variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)", "RMSNorm([4], elementwise_affine=False)", (2, 5, 4), ""),
    ("torch.mean(x * x, dim=-1)", "RMSNorm([4], elementwise_affine=False)", (2, 5, 4), ""),
    ("x = x.view(N, G, -1)\nmean = x.mean(-1, keepdim=True)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "The text reshapes a tensor"),
    ("tf.nn.moments(x, axes=[0, 1, 2])", "ChannelsLastBatchNorm(4, affine=False)", (2, 3, 5, 4), ""),
    ("mean, var = tf.nn.moments(x, [1, 2], keep_dims=True)", "ChannelsLastInstanceNorm(4)", (2, 3, 5, 4), ""),
    ("einops.reduce(x, 'b c h w -> b c', 'mean')", "InstanceNorm2d(4)", (2, 4, 3, 5), ""),
    ("reduce(x, 'b t d -> b t', 'mean')", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), ""),
    ("reduce(x, 'b h w c -> c', 'mean')", "ChannelsLastBatchNorm(4, affine=False)", (2, 3, 5, 4), ""),
    # Keras, tensorflow_addons
    ("BatchNormalization(axis=1, scale=False, name='bn_conv1')", "BatchNorm2d(4, eps=0.001, momentum=0.01)", (2, 4, 3, 5), "A beta without a gamma"),
    ("x = BatchNormalization(axis=bn_axis)(x)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)", (2, 3, 5, 4), "no value for 'bn_axis'; shown is axis=-1."),
    ("layers.LayerNormalization(epsilon=1e-6)(x)", "LayerNorm([4], eps=1e-06)", (2, 3, 5, 4), ""),
    ("tfa.layers.InstanceNormalization(axis=3, center=True, scale=True, beta_initializer='random_uniform')", "ChannelsLastInstanceNorm(4, eps=0.001, affine=True)", (2, 3, 5, 4), ""),
    ("tfa.layers.GroupNormalization(groups=8, axis=-1)", "ChannelsLastGroupNorm(8, 16, eps=0.001)", (2, 3, 5, 16), ""),
    ("keras.layers.BatchNormalization(center=False)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01, bias=False)", (2, 3, 5, 4), ""),
    ("BatchNormalization(trainable=False)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01).eval()", (2, 3, 5, 4), ""),
    ("BatchNormalization(trainable=True)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)", (2, 3, 5, 4), ""),
    ("x = BatchNormalization()(x, training=False)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01).eval()", (2, 3, 5, 4), ""),
    ("x = BatchNormalization()(x, training=True)", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)", (2, 3, 5, 4), ""),
    # Flax, MLX
    ("nn.BatchNorm(momentum=0.9)(x, use_running_average=True)", "ChannelsLastBatchNorm(4).eval()", (2, 3, 5, 4), "Flax"),
    ('nn.LayerNorm(dtype=self.dtype, name="ln")(x)', "LayerNorm([4], eps=1e-06)", (2, 5, 4), "the layer LayerNorm of Flax"),
    ("nn.RMSNorm(reduction_axes=(-2, -1))", "Norm('n h w c -> n h', 'c', center=False, eps=1e-06, bias=False)", (2, 3, 5, 4), "Flax"),
    ("nn.RMSNorm(reduction_axes=(-2, -1), feature_axes=(-2, -1))", "RMSNorm([5, 4], eps=1e-06)", (2, 3, 5, 4), "Flax"),
    ("nn.LayerNorm(64, rngs=rngs)", "LayerNorm([64], eps=1e-06)", (2, 5, 64), "Flax"),
    ("nn.GroupNorm(num_groups=None, group_size=8)", "ChannelsLastGroupNorm(2, 16, eps=1e-06)", (2, 3, 5, 16), "Flax"),
    ("mlx.nn.GroupNorm(groups, 8, pytorch_compatible=True)", "ChannelsLastGroupNorm(2, 8)", (2, 3, 5, 8), "no value for 'groups'; shown is num_groups=2."),
    ("nn.LayerNorm(epsilon=1e-6, use_bias=False)(x)", "LayerNorm([4], eps=1e-06, bias=False)", (2, 5, 4), "the layer LayerNorm of Flax"),
    ("nn.BatchNorm(use_running_average=not train, momentum=0.9)", "ChannelsLastBatchNorm(4)", (2, 3, 5, 4), "no value for 'not train'"),
    ("nn.GroupNorm(num_groups=8)", "ChannelsLastGroupNorm(8, 16, eps=1e-06)", (2, 3, 5, 16), "Flax"),
    ("nnx.LayerNorm(768, rngs=rngs)", "LayerNorm([768], eps=1e-06)", (2, 5, 768), "Flax"),
    ("nnx.BatchNorm(num_features=64, use_running_average=True, rngs=rngs)", "ChannelsLastBatchNorm(64, momentum=0.01).eval()", (2, 3, 5, 64), "Flax"),
    ("flax.linen.RMSNorm()", "RMSNorm([4], eps=1e-06)", (2, 5, 4), "Flax"),
    ("mlx.nn.RMSNorm(4096)", "RMSNorm([4096], eps=1e-05)", None, "MLX"),
    ("mlx.nn.GroupNorm(8, 64)", "Norm('n h w (k g) -> n g', 'c', sizes={'g': 8})", (2, 3, 5, 64), "MLX"),
    ("nn.GroupNorm(32, 320, pytorch_compatible=True)", "ChannelsLastGroupNorm(32, 320)", (2, 3, 5, 320), "MLX"),
    ("nn.InstanceNorm(dims=64)", "ChannelsLastInstanceNorm(64)", (2, 3, 5, 64), "MLX"),
    ("mx.fast.rms_norm(x, self.weight, self.eps)", "RMSNorm([4], eps=1e-05)", (2, 5, 4), "'self.eps'"),
    # Haiku, Equinox
    ("hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)", "LayerNorm([4])", (2, 3, 5, 4), "the layer LayerNorm of Haiku"),
    ("hk.LayerNorm(-1, True, False)(x)", "LayerNorm([4], bias=False)", (2, 3, 5, 4), "Haiku"),
    ("LayerNorm([1, 2, 3], create_scale=True, create_offset=True)", "ChannelsLastGroupNorm(1, 4)", (2, 3, 5, 4), "Haiku"),
    ("hk.BatchNorm(True, True, 0.99)", "ChannelsLastBatchNorm(4, momentum=0.01)", (2, 3, 5, 4), "the layer BatchNorm of Haiku"),
    ("hk.BatchNorm(create_scale=False, create_offset=False, decay_rate=0.9)", "ChannelsLastBatchNorm(4, affine=False)", (2, 3, 5, 4), "Haiku"),
    ("hk.GroupNorm(8)", "ChannelsLastGroupNorm(8, 16)", (2, 3, 5, 16), "Haiku"),
    ("hk.InstanceNorm(create_scale=True, create_offset=True)", "ChannelsLastInstanceNorm(4, affine=True)", (2, 3, 5, 4), "Haiku"),
    ("eqx.nn.LayerNorm(512, use_bias=False)", "LayerNorm([512], bias=False)", None, "the layer LayerNorm of Equinox"),
    ("eqx.nn.LayerNorm((4, 3), use_weight=False, use_bias=False)", "LayerNorm([4, 3], elementwise_affine=False)", None, "Equinox"),
    ("LayerNorm(shape=64, use_weight=False)", "LayerNorm([64])", None, "A beta without a gamma"),
    ("eqx.nn.GroupNorm(groups=8, channels=64)", "GroupNorm(8, 64)", None, "the layer GroupNorm of Equinox"),
    ("eqx.nn.GroupNorm(8, 64, channelwise_affine=False)", "GroupNorm(8, 64, affine=False)", None, "Equinox"),
    ("hk.BatchNorm(True, True, 0.99, 1e-3, None, None, [0, 1, 2])", "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)", (2, 3, 5, 4), "Haiku"),
    ("hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9, axis=(0,))", "Norm('n h w c -> h w c', 'h w c')", (2, 3, 5, 4), "Haiku"),
    ('hk.BatchNorm(True, True, 0.9, data_format="NCHW", name="bn")', "BatchNorm2d(4)", (2, 4, 3, 5), "Haiku"),
    ("hk.BatchNorm(True, True, 0.9)(x, is_training=False)", "ChannelsLastBatchNorm(4).eval()", (2, 3, 5, 4), "Haiku"),
    ('hk.GroupNorm(8, data_format="channels_first")', "GroupNorm(8, 16)", (2, 16, 3, 5), "Haiku"),
    ("hk.LayerNorm(axis=(1, 2), create_scale=True, create_offset=True, param_axis=(1, 2))", "Norm('n h w c -> n c', 'h w')", (2, 3, 5, 4), "Haiku"),
    ("hk.RMSNorm(-1, 1e-6, create_scale=False)", "RMSNorm([4], eps=1e-06, elementwise_affine=False)", (2, 3, 5, 4), "the layer RMSNorm of Haiku"),
    ('eqx.nn.BatchNorm(64, axis_name="batch")', "BatchNorm2d(64, momentum=0.01)", (2, 64, 3, 5), "the layer BatchNorm of Equinox"),
    ("eqx.nn.BatchNorm(input_size=64, axis_name=axes, channelwise_affine=False, momentum=0.9, inference=True)", "BatchNorm2d(64, affine=False).eval()", (2, 64, 3, 5), "Equinox"),
    ("eqx.nn.RMSNorm(768, use_bias=False)", "RMSNorm([768], eps=1e-05)", None, "the layer RMSNorm of Equinox"),
    ("eqx.nn.RMSNorm(768)", "Norm('n l c -> n l', 'c', center=False)", (2, 5, 768), "Equinox"),
    ("eqx.nn.LayerNorm(shape=(768,), elementwise_affine=False)", "LayerNorm([768], elementwise_affine=False)", None, "Equinox"),
    # on a shape
    ("LayerNorm(768) on 2x128x768", "LayerNorm([768])", (2, 128, 768), ""),
    ("LayerNorm(768) on [2, 128, 768]", "LayerNorm([768])", (2, 128, 768), ""),
    ("LayerNorm(768) on x of shape torch.Size([2, 128, 768])", "LayerNorm([768])", (2, 128, 768), ""),
    ("nn.BatchNorm2d(64) with input (8, 64, 32, 32)", "BatchNorm2d(64)", (8, 64, 32, 32), ""),
    ("LayerNorm(768), 2×128×768", "LayerNorm([768])", (2, 128, 768), ""),
    ("LayerNorm(768) on 2,128,768, and then a Linear", "LayerNorm([768])", (2, 128, 768), ""),
    ("LayerNorm(768) on 2X128 X 768", "LayerNorm([768])", (2, 128, 768), ""),
    ("LayerNorm(768) on 2d images", "LayerNorm([768])", None, ""),
    ("LayerNorm(768) on 2-d images", "LayerNorm([768])", None, ""),
    ("LayerNorm on 2x128x768", "LayerNorm([768])", (2, 128, 768), ""),
    ("BatchNormalization() on 8,56,56,96", "ChannelsLastBatchNorm(96, eps=0.001, momentum=0.01)", (8, 56, 56, 96), ""),
    ("x / sqrt(mean(x**2, -1) + 1e-6)", "RMSNorm([4], eps=1e-06, elementwise_affine=False)", (2, 5, 4), ""),
    ("eps = 1e-3; x / sqrt(mean(x**2, -1) + eps)", "RMSNorm([4], eps=0.001, elementwise_affine=False)", (2, 5, 4), ""),
    ("v = x.pow(2).mean(-1); x * torch.rsqrt(1e-8 + v) * (1 + g)", "RMSNorm([4], eps=1e-08, elementwise_affine=False)", (2, 5, 4), ""),
    ("x * torch.rsqrt(x.pow(2).mean(-1) + self.eps)", "RMSNorm([4], elementwise_affine=False)", (2, 5, 4), "no value for 'self.eps'"),
    ("(x - x.mean(-1)) / (x.var(-1, correction=0) + 1e-3) ** 0.5", "LayerNorm([4], eps=0.001, elementwise_affine=False)", (2, 5, 4), ""),
    ("(x - x.mean(-1)) / (x.std(-1, unbiased=False) + 1e-3)", "LayerNorm([4], elementwise_affine=False)", (2, 5, 4), "outside the root"),
    ("x / (torch.sqrt(x.pow(2).mean(-1)) + 1e-3)", "RMSNorm([4], elementwise_affine=False)", (2, 5, 4), "outside the root"),
    ("paddle.nn.LayerNorm(768, epsilon=1e-6)", "LayerNorm([768], eps=1e-06)", None, ""),
    ("paddle.nn.BatchNorm2D(64, 0.99, 1e-3)", "BatchNorm2d(64, eps=0.001, momentum=0.01)", None, ""),
    ("nn.LocalResponseNorm(5)", "ChannelsFirstLayerNorm(4)", None, "has no view here; ChannelsFirstLayerNorm is the nearest"),
]  # fmt: skip


def written(layer):
    return str(layer) if isinstance(layer, Layer) else repr(layer)


@cases_in_torch
@pytest.mark.parametrize(("text", "layer", "shape", "words"), READ)
def test_a_text_is_read_as_what_it_says(text, layer, shape, words):
    found = read_pasted(text)
    assert (written(found.layer), found.shape) == (layer, shape)
    assert (words in found.note) if words else not found.note


REFUSED = [
    # a text, words of the sentence
    ("x.mean([2, 3]).mean(0)", "Write the mean of one tensor"),  # the inner one alone says something else
    ("x.view(b, c, -1).mean(-1)", "Write the mean of one tensor"),
    (".mean()", "Write the mean of one tensor"),
    ("x.mean(dims)", "The value of 'dims' is not in the text"),
    ("self.layer_norm(x)", "Nearest to it is LayerNorm."),
    ("F.normalize(x, dim=-1)", "Nearest to it is RMSNorm."),
    ("keras.layers.UnitNormalization(axis=-1)", "Nearest to it is RMSNorm."),
    ("FilterResponseNorm(64)", "Nearest to it is RMSNorm."),
    ("nn.utils.spectral_norm(nn.Linear(20, 40))", "normalization layer. Layers are"),
    ("WeightNorm(64)", "normalization layer. Layers are"),
    ("foo.LayerNorm(epsilon=1e-6)", "LayerNorm has no argument 'epsilon'"),
    ("nn.LayerNrm(5)", "Nearest to it is LayerNorm."),
    ("nn.Conv2d(3, 64, 3)", "what is read here is a layer, such as LayerNorm(96) on (8, 96, 56, 56)"),
    ("CUDA out of memory. Tried to allocate 2.00 GiB", "or an error message about a normalization layer. Layers are"),
    ("torch.nn.modules.batchnorm.BatchNorm2d", "BatchNorm2d needs num_features, as in BatchNorm2d(3)."),
    ("nn.LayerNorm(768) on 0x5", "has a size below 1"),
    ("nn.LayerNorm(768) on 2.5,768", "shape='2.5,768' must be whole numbers; write shape=2,4,3,5."),
    ("nn.LayerNorm(768) on 2,-3,768", "shape='2,-3,768' must be whole numbers"),
    ("nn.LayerNorm(768) on (2, n, 768)", "shape='2, n, 768' must be whole numbers"),
    ("F.layer_norm(x, [4], 1e-5)", "weight is a tensor, or None. Name the arguments"),
    ("nn.BatchNorm(axis=(0, 1), use_running_average=False)", "BatchNorm takes one axis."),
    ("nn.RMSNorm(use_bias=True)", "RMSNorm"),
    ("BatchNorm2d(4, dim=3)", "BatchNorm2d has no argument 'dim'"),
    ("nn.BatchNorm2d(4, training=False)", "BatchNorm2d is read with these arguments: num_features, eps"),
    ("nn.LayerNorm(4, training=False)", "LayerNorm is read with these arguments: normalized_shape, eps"),
    ('nn.GroupNorm(2, 4, name="gn")', "GroupNorm is read with these arguments: num_groups, num_channels"),
    ("jnp.mean(x, axis=-1, where=mask)", "mean is read with these arguments: x, dim and keepdim"),
    ('rearrange(x, "b c h w -> b (h w) c")', "rearrange moves elements and takes no mean. Give the layer or the mean behind it"),
    ("hk.BatchNorm(True, True, 0.9, axis=(0,), other=1)", "BatchNorm is read with these arguments: create_scale, create_offset, decay_rate"),
    ("hk.GroupNorm(8, axis=(1, 2))", "A GroupNorm of Haiku is read without axis"),
    ('hk.BatchNorm(True, True, 0.9, data_format="CN")', "data_format='CN' must be 'channels_last' or 'channels_first'."),
    ('eqx.nn.BatchNorm(64, "batch", mode="ema")', "A BatchNorm of Equinox is read with mode='batch'."),
    ("x.T.mean(0)", "Write the mean of one tensor"),
    ("class LayerNorm(nn.Module):", "Nearest to it is LayerNorm"),
    ('LayerNorm(96, data_format="channels_middle")', "data_format='channels_middle' must be channels_first or channels_last."),
    ("nn.GroupNorm(group_size=8)", "with group_size, write num_groups=None"),
    ("GroupNormalization(groups=0)", "groups=0 must be a whole number of at least 1"),
    ("BatchNormalization(momentum=None)", "momentum=None must be a number from 0 to 1."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_of_another_text_it_is_said_what_is_read(text, words):
    with pytest.raises(NormvizError, match=re.escape(words)) as caught:
        read_pasted(text)
    assert " is not a " not in str(caught.value)


def test_names_of_sizes_get_those_of_the_tensor_that_is_shown():
    images = Tensor((2, 4, 3, 5), ("n", "c", "h", "w"))
    assert str(read_pasted("nn.LayerNorm(dim)", images).layer) == "LayerNorm([5])"
    assert str(read_pasted("nn.BatchNorm2d(dim)", images).layer) == "BatchNorm2d(4)"
    assert str(read_pasted("nn.LayerNorm(x.shape[2:])", images).layer) == "LayerNorm([3, 5])"


@pytest.mark.parametrize(
    ("text", "found"), [("2x128x768", (2, 128, 768)), ("[2, 3]", (2, 3)), ("0, 5", ()), ("9" * 5000, ())]
)
def test_sizes(text, found):
    assert sizes(text) == found
