"""What training does around a layer: weights before it, decay, checkpoints, folding."""

import warnings
from copy import deepcopy

import torch
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.optim.swa_utils import update_bn
from torch.utils.checkpoint import checkpoint

from tests.claims.drawing import (
    OVER_LAST_AXES,
    changed,
    close,
    draw_case,
    draw_shape,
    element,
    make_layer,
    normal,
    run,
    with_random_parameters,
)
from tests.claims.modes import with_random_statistics
from tests.claims.predicates import predicate
from tests.claims.running import channels
from tests.support.needs import HAS_BIAS, HAS_HALF


@predicate(
    {
        "BatchNorm folds into the convolution in train mode, too": {"training": True},
        "A BatchNorm after a ReLU folds into the convolution before it": {"between": torch.relu},
    }
)
def batchnorm_in_eval_mode_folds_into_the_convolution(draw, training=False, between=lambda values: values):
    """In eval mode, a convolution and BatchNorm after it equal one convolution with other weights and another bias, for every x."""
    shape = draw_shape(draw, 4, 4, least=2)
    conv = nn.Conv2d(shape[1], draw(st.integers(1, 4)), 1, bias=draw(st.booleans())).double()
    with torch.no_grad():
        for parameter in conv.parameters():
            parameter.copy_(normal(draw, *parameter.shape))
    norm = with_random_statistics(draw, make_layer(draw, "BatchNorm", (1, conv.out_channels, 1, 1))).eval()
    fused = fuse_conv_bn_eval(conv.eval(), norm)
    x = normal(draw, *shape)
    close(between(run(fused, x)), run(norm.train(training), between(run(conv, x))), 1e-9)


@predicate(
    {
        "LayerNorm's gamma and beta fold through a ReLU": {"between": torch.relu},
        "LayerNorm cannot be folded, its gamma and beta neither": {"scaled": False},
        "Its mean and variance fold, too": {"normalized": False},
    }
)
def gamma_and_beta_of_layernorm_fold_into_the_next_linear_layer(
    draw, between=lambda values: values, scaled=True, normalized=True
):
    """A linear layer directly after LayerNorm can take its gamma and beta: only the normalization is left."""
    x = normal(draw, draw(st.integers(2, 4)), draw(st.integers(2, 5)), offset=1.0)
    n = x.shape[1]
    norm = with_random_parameters(draw, make_layer(draw, "LayerNorm", tuple(x.shape), 1))
    linear = nn.Linear(n, 3).double()
    weight, bias = linear.weight, linear.bias
    if scaled:
        weight, bias = weight * norm.weight, bias + linear.weight @ norm.bias
    plain = nn.functional.layer_norm(x, (n,)) if normalized else x
    close(nn.functional.linear(between(plain), weight, bias).detach(), run(linear, between(run(norm, x))))


@predicate({"Weight decay shrinks a gamma that gets no gradient": {"gradient": torch.zeros_like}})
def adamw_skips_a_parameter_without_a_gradient(draw, gradient=lambda w: None):
    """A step of AdamW does not change a parameter whose grad is None, whatever weight_decay is."""
    w = nn.Parameter(normal(draw, 3) + 2)
    before, w.grad = w.detach().clone(), gradient(w)
    torch.optim.AdamW([w], lr=0.1, weight_decay=draw(st.sampled_from([0.01, 0.5]))).step()
    assert torch.equal(w.detach(), before)


@predicate({"update_bn computes the variance of the whole data": {"whole": True}})
def update_bn_stores_means_over_the_batches(draw, whole=False):
    """update_bn stores the means of the batches' means and of their unbiased variances, however far the batches are apart."""
    batches = [normal(draw, 5, 2, offset=offset) for offset in (0.0, draw(st.sampled_from([3.0, 100.0])))]
    model = nn.Sequential(nn.BatchNorm1d(2).double())
    update_bn(batches, model)
    close(model[0].running_mean, torch.stack([batch.mean(0) for batch in batches]).mean(0))
    variances = torch.cat(batches).var(0) if whole else torch.stack([batch.var(0) for batch in batches]).mean(0)
    close(model[0].running_var, variances)


@predicate(
    {
        "the gradient does not depend on the size of the weights": {"power": 0},
        "The same holds if the bias is not scaled": {"bias": 1.0},
    }
)
def the_gradient_falls_as_the_weights_before_a_norm_grow(draw, power=1, bias=None):
    """With f times the weights and the bias before it, a norm's output is the same but for eps, and the gradient of the weights is 1 / f of it."""
    family, factor = draw(st.sampled_from(["BatchNorm", *OVER_LAST_AXES])), draw(st.sampled_from([0.5, 10.0]))
    x = normal(draw, draw(st.integers(3, 5)), 4)
    linear, norm = nn.Linear(4, 3).double(), make_layer(draw, family, (3, 3), 1, eps=1e-16)
    scaled, dout = deepcopy(linear), normal(draw, len(x), 3)
    with torch.no_grad():
        linear.bias.copy_(normal(draw, 3))
        linear.weight.copy_(normal(draw, 3, 4))
        scaled.weight.copy_(linear.weight * factor)
        scaled.bias.copy_(linear.bias * (factor if bias is None else bias))
    outputs = [norm(before(x)) for before in (linear, scaled)]
    for out in outputs:
        out.backward(dout)
    close(outputs[1].detach(), outputs[0].detach(), 1e-5)
    close(scaled.weight.grad * factor**power, linear.weight.grad, 1e-4)


@predicate({"Where the layer multiplies by `1 + w`, weight decay pulls gamma to zero": {"added": 0.0}})
def weight_decay_pulls_what_is_stored_to_zero(draw, added=1.0):
    """Without a gradient of the loss, AdamW multiplies a stored gamma by 1 - lr · decay in each step; a gamma of 1 + w goes to 1."""
    w = nn.Parameter(normal(draw, 3) + 2)
    before, steps = w.detach().clone(), draw(st.integers(1, 5))
    optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    for _step in range(steps):
        w.grad = torch.zeros_like(w)
        optimizer.step()
    close(w.detach(), before * (1 - 0.1 * 0.5) ** steps)
    gamma = 1 + w.detach()
    assert bool(((gamma - added).abs() < (1 + before - added).abs()).all())
    close((gamma - added) / (1 + before - added), torch.full((3,), (1 - 0.1 * 0.5) ** steps, dtype=torch.float64))


@predicate({"checkpointing updates running statistics once": {"count": 1}})
def checkpointing_updates_the_running_statistics_twice(draw, count=2):
    """With activation checkpointing a batch updates BatchNorm twice, with the gradients of one pass; momentum 1 - sqrt(1 - m) makes up for it."""
    momentum = draw(st.sampled_from([0.1, 0.5]))
    case = draw_case(draw, "BatchNorm", momentum=momentum)
    plain, layer = deepcopy(case.layer), deepcopy(case.layer)
    layer.momentum = 1 - (1 - momentum) ** 0.5
    x, dout = case.x.clone().requires_grad_(), normal(draw, *case.x.shape)
    with warnings.catch_warnings():  # torch 2.4 uses what it warns of
        warnings.simplefilter("ignore", FutureWarning)
        checkpoint(layer, x, use_reentrant=False).backward(dout)
    other = case.x.clone().requires_grad_()
    plain(other).backward(dout)
    assert int(layer.num_batches_tracked) == count
    close(x.grad, other.grad)
    close(layer.running_mean, plain.running_mean)
    close(layer.running_var, plain.running_var)


@predicate({"InstanceNorm and BatchNorm store the same running variance": {"between": True}})
def instancenorm_stores_the_mean_of_the_variances_of_the_images(draw, between=False):
    """InstanceNorm's running_var averages the images' own (unbiased) variances; its running_mean is BatchNorm's."""
    case = draw_case(draw, "InstanceNorm", track_running_stats=True, momentum=1.0)
    x = (case.x + 5 * normal(draw, len(case.x), *(1 for _ in case.x.shape[1:]))).to(case.x.dtype)
    run(case.layer, x)
    close(case.layer.running_mean, channels(x).mean(1))
    close(case.layer.running_var, channels(x).var(1) if between else x.flatten(2).var(2).mean(0))


@predicate(
    {"RMSNorm takes `bias=False`, too": {"takes": ("BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm", "RMSNorm")}},
    needs=HAS_BIAS,
)
def layers_with_a_beta_can_leave_it_out(draw, takes=("BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm")):
    """BatchNorm, InstanceNorm, GroupNorm and LayerNorm take bias=False, and keep gamma alone; RMSNorm has no such argument."""
    family = draw(st.sampled_from(("BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm", "RMSNorm")))
    try:
        layer = make_layer(draw, family, (2, draw(st.integers(1, 4)), 3), bias=False)
        names = [name for name, _parameter in layer.named_parameters()]
    except TypeError:
        names = []
    assert names == (["weight"] if family in takes else [])


@predicate(
    {
        "What leaves a pre-norm block is normalized": {"post": False},
        "What leaves it has variance one, whatever eps is": {"with_eps": False},
    }
)
def what_leaves_a_post_norm_block_is_normalized(draw, post=True, with_eps=True):
    """norm(x + f(x)) has mean zero and variance var / (var + eps) before gamma and beta, whatever the branch f is."""
    n, eps = draw(st.integers(3, 6)), draw(st.sampled_from([1e-5, 0.1]))
    x, weight = normal(draw, draw(st.integers(1, 4)), n), normal(draw, n, n)
    norm = nn.LayerNorm(n, eps=eps).double()
    total = x + x @ weight if post else x + run(norm, x) @ weight
    y, variance = run(norm, total) if post else total, total.var(1, correction=0)
    close(y.mean(1), torch.zeros(len(x)).double())
    close(y.var(1, correction=0), variance / (variance + eps) if with_eps else torch.ones(len(x)).double())


@predicate(
    {
        "bfloat16() turns them into infinity, too": {"dtype": torch.bfloat16},
        "half() leaves the running statistics in float32": {"kept": True},
    },
    needs=HAS_HALF,
)
def half_turns_large_running_variances_into_infinity(draw, dtype=torch.float16, kept=False):
    """half() converts the running statistics; a variance beyond float16 becomes infinity, and the output in eval mode is beta."""
    norm = nn.BatchNorm1d(2).eval()
    norm.running_var.fill_(draw(st.sampled_from([65_520.0, 1e5, 1e8])))
    norm.bias.data.copy_(normal(draw, 2))
    x = 100 * normal(draw, 3, 2).to(dtype)
    norm.to(dtype)
    assert (norm.running_var.dtype == torch.float32) is kept
    assert norm.running_var.isinf().all()
    assert torch.equal(norm(x), norm.bias.expand(3, 2))


@predicate({"The stored statistics are the mean of what all devices saw": {"averaged": True}})
def broadcast_buffers_are_those_of_the_first_device(draw, averaged=False):
    """If the buffers of the first device are copied to all before each pass, it ends with those of its own batches alone."""
    devices, passes = draw(st.integers(2, 3)), draw(st.integers(1, 3))
    norms, alone = [nn.BatchNorm1d(2).double() for _ in range(devices)], nn.BatchNorm1d(2).double()
    whole = nn.BatchNorm1d(2).double()
    for _ in range(passes):
        batches = [normal(draw, 3, 2, offset=float(device)) for device in range(devices)]
        for norm in norms[1:]:
            norm.load_state_dict(norms[0].state_dict())
        for norm, batch in zip(norms, batches, strict=True):
            norm(batch)
        alone(batches[0])
        whole(torch.cat(batches))
    close(norms[0].running_mean, (whole if averaged else alone).running_mean)


@predicate({"A gamma of zero gets no gradient": {"learns": False}, "Any gamma stops the gradient": {"gamma": 0.5}})
def a_gamma_of_zero_stops_the_gradient_of_x(draw, gamma=0.0, learns=True):
    """Where gamma is zero, the gradient of x through the layer is zero, and that of gamma is not."""
    case = draw_case(draw, least=2)
    x = case.x.clone().requires_grad_()
    with torch.no_grad():
        case.layer.weight.fill_(gamma)
    (case.layer(x) * normal(draw, *x.shape)).sum().backward()
    assert not x.grad.any()
    assert bool(case.layer.weight.grad.any()) is learns


@predicate(
    {
        "It changes those of all in eval mode, too": {"training": False},
        "It changes those of all with LayerNorm": {"layer": "LayerNorm"},
    }
)
def an_example_changes_the_gradients_of_all_in_batchnorm(draw, training=True, layer="BatchNorm"):
    """In train mode of BatchNorm, one example changes the gradient of the loss of each other example with respect to weights before."""
    n, features = draw(st.integers(3, 5)), draw(st.integers(2, 4))
    x, upstream = normal(draw, n, features), normal(draw, n, features)
    norm = make_layer(draw, layer, (n, features), 1).train(training)
    other = changed(x, -1)
    before, after = (_example_gradients(norm, one, upstream) for one in (x, other))
    assert ((before - after).abs().amax((1, 2)) > 1e-9).all()


def _example_gradients(norm: nn.Module, x: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    weight = torch.eye(x.shape[1], dtype=x.dtype, requires_grad=True)
    losses = (norm(x @ weight) * upstream).sum(1)
    return torch.stack([torch.autograd.grad(loss, weight, retain_graph=True)[0] for loss in losses])


@predicate({"An output of LayerNorm depends on its own element alone": {"averages": True}})
def tanh_of_each_element_averages_nothing(draw, averages=False):
    """An output of gamma * tanh(alpha * x) + beta changes only where x does."""
    shape = draw_shape(draw, 2, 4, least=2)
    x, alpha = normal(draw, *shape), draw(st.sampled_from([0.5, 1.0, 2.0]))
    gamma, beta = normal(draw, shape[-1]), normal(draw, shape[-1])
    at = element(draw, x)

    def layer(values):
        whole = nn.functional.layer_norm(values, shape[-1:]) if averages else torch.tanh(alpha * values)
        return gamma * whole + beta

    difference = layer(changed(x, at)) != layer(x)
    difference[at] = False
    assert not difference.any()
