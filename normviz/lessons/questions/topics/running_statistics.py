"""Questions on running statistics: what is stored and how, what train() and eval() use, small batches and several devices."""

from math import prod, sqrt

import torch

from normviz.analysis import description, examples, forward
from normviz.analysis.running import modes, sampling, stream, torch_module
from normviz.analysis.running.stream import other_momentum, two_forms
from normviz.layers.layer import Layer
from normviz.lessons.questions import facts
from normviz.lessons.train_and_eval.modes import both_modes


def time_to_settle() -> facts.Facts:
    steps, keras = (
        stream.settle(stream.Stream(batch_size=64, momentum=momentum, steps=200), tolerance=0.25).expected_mean_steps
        for momentum in (0.1, other_momentum(facts.keras_default("momentum")))
    )
    assert steps is not None
    return {
        "mean": stream.TRUE_MEAN,
        "var": stream.TRUE_VAR,
        "start_mean": stream.START_MEAN,
        "start_var": stream.START_VAR,
        "left": other_momentum(0.1),
        "steps": steps,
        "keras": keras,
        "right": facts.only(once=steps == 1, few=1 < steps < 5, tens=5 <= steps <= 50, hundreds=steps > 50),
    }


def two_variances() -> facts.Facts:
    x = examples.from_values((0.0, 0.0, 6.0, 6.0), (4, 1))
    history = stream.follow(x.T, momentum=1.0)
    both = modes.train_and_eval("BatchNorm1d(1, momentum=1.0)", x, warmup=[x])
    return {
        "biased": float(history.batch_var[0]),
        "unbiased": float(history.running_var[0]),
        "train": float(both.train.max()),
        "eval": float(both.eval.max()),
        "keras": float(history.running_var_biased[0]),
        "right": float(history.running_var[0]),
    }


WEIGHTED = "moving * momentum + batch * rest"  # rest = 1 - momentum
STEPPED = "moving - (moving - batch) * rest"


def forms_of_the_average() -> facts.Facts:
    means, old = stream.run(stream.Stream(batch_size=8)).batch_mean, other_momentum(0.1)
    single, double = (two_forms(means, old, dtype=dtype) for dtype in ("float32", "float64"))
    difference, shape = single.largest_difference, (8, 64, 14, 14)
    return {
        "steps": len(means),
        "momentum": old,
        "single": difference,
        "double": double.largest_difference,
        "products": WEIGHTED.count("*"),
        "fewer": STEPPED.count("*"),
        "updates": 2 * description.describe("BatchNorm2d(64)", shape).counts.statistics,
        "elements": prod(shape),
        "right": facts.only(
            same=difference < 1e-5,
            sooner=difference >= 1e-5 and single.stepped[-1] > single.weighted[-1],
            later=difference >= 1e-5 and single.stepped[-1] < single.weighted[-1],
        ),
    }


@torch.no_grad()
def variance_between_images() -> facts.Facts:
    x = facts.x_of("q43")  # a dark and a bright image
    texts = "InstanceNorm2d(1, momentum=1.0, track_running_stats=True)", "BatchNorm2d(1, momentum=1.0)"
    instance, batch = map(facts.module_of, texts)
    outputs = [(layer(x), layer.eval()(x))[1] for layer in (instance, batch)]
    within, whole = (float(layer.get_buffer("running_var")) for layer in (instance, batch))
    return {
        "within": within,
        "whole": whole,
        "mean": float(instance.get_buffer("running_mean")),
        "batch_mean": float(batch.get_buffer("running_mean")),
        "far": float(outputs[0].max()),
        "near": float(outputs[1].max()),
        "right": within,
    }


# Questions on train() and eval(): which statistics each mode uses, and what a forward pass changes.

LAYER, BATCH = "LayerNorm(6)", "BatchNorm1d(6)"


def layer_norm_modes() -> facts.Facts:
    layer, batch = (
        both_modes(facts.scene_of(f"shape=4,6&layer={text}").description, 0).largest_difference
        for text in (LAYER, BATCH)
    )
    return {"layer": layer, "batch": batch, "right": facts.which(layer=layer > 0, batch=batch > 0)}


WARM_UP = 20  # batches, the page's default


def eval_changes_outputs() -> facts.Facts:
    """``train_and_eval`` runs without an optimizer and under ``no_grad``."""
    x = examples.example("scales", (6, 3), ("n", "d"))
    first, later = (modes.train_and_eval("BatchNorm1d(3)", x, warmup) for warmup in (1, WARM_UP))
    layer = modes.train_and_eval("LayerNorm(3)", x)
    norm = facts.module_of("BatchNorm1d(3)")
    norm(x)
    before = [one.clone() for one in norm.parameters()]
    uses_running = _uses(norm.eval(), x, norm.get_buffer("running_mean"), norm.get_buffer("running_var"))
    uses_own = _uses(norm.train(), x, x.mean(0), x.var(0, correction=0))
    is_changed = any(not one.equal(other) for one, other in zip(norm.parameters(), before, strict=True))
    return {
        "changed": len(later.changed_by_train),
        "names": ", ".join(f"`{name}`" for name in later.changed_by_train),
        "first": first.largest_difference,
        "later": later.largest_difference,
        "batches": WARM_UP,
        "layer": layer.largest_difference,
        "right": facts.which(statistics=uses_running and uses_own, weights=is_changed, neither="broken"),
    }


def _uses(norm: torch.nn.Module, x: torch.Tensor, mean: torch.Tensor, var: torch.Tensor) -> bool:
    """Whether a layer with a fresh gamma and beta normalizes x with this mean and variance."""
    by_hand = (x - mean) / torch.sqrt(var + 1e-5)  # before the forward pass, which may write the running ones
    return forward.largest_difference(by_hand, norm(x).detach()) < facts.ROUNDING


def running_mean_used() -> facts.Facts:
    x, differences = facts.normal(6, 3), {}
    for mode in (True, False):
        fresh, overwritten = (facts.module_of("BatchNorm1d(3)").train(mode) for _ in range(2))
        overwritten.get_buffer("running_mean").fill_(5)
        differences[mode] = forward.largest_difference(fresh(x).detach(), overwritten(x).detach())
    found = both_modes(facts.scene_of("shape=6,3&layer=BatchNorm1d(3)").description, 0)
    return {
        "train_gap": differences[True],
        "eval_gap": differences[False],
        "changed": len(found.changed_by_train),
        "kept": len(found.changed_by_eval),
        "right": facts.which(train=differences[True] > 0, eval=differences[False] > 0),
    }


def buffers_kept() -> facts.Facts:
    kept = torch_module.buffers(BATCH)
    return {"mean": prod(kept["running_mean"]), "var": prod(kept["running_var"])}


def untracked() -> facts.Facts:
    text, x = "BatchNorm1d(3, track_running_stats=False)", facts.normal(4, 3, 5)
    alone, single = modes.one_example(text, x).eval, modes.one_example(text, facts.normal(4, 3)).eval
    change = alone.difference or 0.0
    return {
        "difference": change,
        "tracked": modes.one_example("BatchNorm1d(3)", x).eval.difference or 0.0,
        "words": single.refusal,
        "right": "refuses" if alone.refusal else "batch" if change > facts.ROUNDING else "running",
    }


def instance_norm_tracking() -> facts.Facts:
    x = facts.normal(2, 3, 4, 4)
    held = forward.Values(running_mean=x.mean((0, 2, 3)), running_var=x.var((0, 2, 3)))
    instance, batch = (
        Layer.make(name, 3, affine=False, track_running_stats=True, training=False)
        for name in ("InstanceNorm2d", "BatchNorm2d")
    )
    return {
        "difference": forward.largest_difference(
            forward.run_module(instance, x, held), forward.run_module(batch, x, held)
        ),
        "change": modes.train_and_eval("InstanceNorm2d(3, track_running_stats=True)", x).largest_difference,
    }


# Questions on few values per mean: small batches, time steps, one example at inference, and several devices.

SMALL, LARGE = 4, 64  # batch sizes
TWO_IMAGES = (2, 3, 16, 16)
CORRELATION = 0.5  # correlation of two pixels of one image
# Validation error in percent with two images per GPU: Wu & He 2018, table 2.


def spread_of_mean(images: int, pixels: int, correlation: float) -> float:
    """The standard deviation of a mean over values of variance 4. Values of the same image are correlated, values of two images are not.

    >>> spread_of_mean(4, 1, 0.5), spread_of_mean(4, 100, 1.0)
    (1.0, 1.0)
    """
    return sqrt(stream.TRUE_VAR * (correlation + (1 - correlation) / pixels) / images)


def small_batches() -> facts.Facts:
    found, (images, _channels, *sizes) = sampling.spread(sampling.SmallBatches()), TWO_IMAGES
    small, large = (found.batch_size.tolist().index(size) for size in (SMALL, LARGE))
    factor = float(found.expected_spread[small] / found.expected_spread[large])
    return {
        "factor": factor,
        "small": SMALL,
        "large": LARGE,
        "small_spread": float(found.mean_spread[small]),
        "large_spread": float(found.mean_spread[large]),
        "draws": sampling.SmallBatches().draws,
        "measured": float(found.mean_spread[small] / found.mean_spread[large]),
        "independent": spread_of_mean(images, prod(sizes), 0),
        "correlation": CORRELATION,
        "correlated": spread_of_mean(images, prod(sizes), CORRELATION),
        "right": factor,
    }


def one_value() -> facts.Facts:
    image, pixel = facts.normal(1, 3, 4, 4), facts.normal(1, 3, 1, 1)
    refused = (
        bool(torch_module.torch_refusal("BatchNorm2d(3)", image)),
        bool(torch_module.torch_refusal("BatchNorm2d(3)", pixel)),
    )
    options = {(True, True): "every", (False, True): "pixel", (False, False): "none"}
    return {"values": image[:, 0].numel(), "right": options.get(refused, "image")}


def two_rows() -> facts.Facts:
    text, apart = "BatchNorm1d(1)", 0.001
    x, nearer, close = (examples.from_values((high, 50.0), (2, 1)) for high in (1000.0, 60.0, 50.0))
    before, after = (facts.output(text, one) for one in (x, nearer))
    changes = (after - before).abs().flatten().tolist()
    given = nearer.double().requires_grad_()
    facts.module_of(text, torch.float64)(given)[0].sum().backward()
    assert given.grad is not None
    return {
        "high": float(after.max()),
        "low": float(after.min()),
        "change": max(changes),
        "gradient": float(given.grad.abs().max()),
        "apart": apart,
        "tiny": float(facts.output(text, examples.from_values((apart, 0.0), close.shape)).max()),
        "right": facts.only(
            same=max(changes) < 1e-5,
            closer=min(changes) >= 1e-5 and bool(after.abs().max() < before.abs().max()),
            first=changes[0] >= 1e-5 > changes[1],
        ),
    }


def batch_of_one() -> facts.Facts:
    x = facts.normal(3, 6)
    layer, batch = (torch_module.torch_refusal(text, x[:1]) == "" for text in ("LayerNorm(6)", "BatchNorm1d(6)"))
    gap = forward.largest_difference(facts.output("LayerNorm(6)", x)[:1], facts.output("LayerNorm(6)", x[:1]))
    return {"gap": gap, "right": facts.which(layer=layer, batch=batch)}


def no_batch_axis() -> facts.Facts:
    x = facts.normal(4, 3, 2, 2)
    single, bare = (torch_module.torch_refusal("BatchNorm2d(3).eval()", image) for image in (x[:1], x[0]))
    alone, module, sequence = (
        modes.one_example("BatchNorm2d(3)", x),
        facts.module_of("BatchNorm1d(3)").eval(),
        facts.normal(3, 3),
    )
    module.get_buffer("running_mean").copy_(torch.arange(3))
    return {
        "words": bare.split(" (")[0],
        "silent": forward.largest_difference(module(sequence).detach(), module(sequence[None])[0].detach()),
        "eval_gap": alone.eval.difference,
        "train_gap": alone.train.difference,
        "right": facts.which(single=single == "", bare=bare == "", neither="none"),
    }


def time_steps() -> facts.Facts:
    found = sampling.per_time_step(sampling.Sequences())
    first, last = int(found.left[0]), int(found.left[-1])
    return {
        "first": first,
        "last": last,
        "length": len(found.left),
        "first_error": float(found.rms_error[0]),
        "last_error": float(found.rms_error[-1]),
        "right": facts.only(all=last == first, half=first / 4 < last < first, few=last <= first / 4),
    }


def gpus() -> facts.Facts:
    x = examples.example("scales", (26, 2), ("n", "c"))
    sizes = sampling.even_sizes(26, 2)
    parts = sampling.shard(x.double(), sizes)
    return {
        "devices": len(sizes),
        "values": int(parts.counts[0]),
        "apart": parts.shard_difference,
        "sync": parts.output_difference,
        "naive": parts.naive_difference,
        "accumulated": sampling.accumulation_difference("BatchNorm1d(2)", x, sizes),
        "right": int(parts.counts[0]),
    }
