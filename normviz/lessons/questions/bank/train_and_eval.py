"""Questions on train() and eval(): which statistics each mode uses, and what a forward pass changes."""

from __future__ import annotations

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.analysis.running.modes import one_example, train_and_eval
from normviz.analysis.running.torch_module import buffers
from normviz.layers.layer import Layer
from normviz.lessons.figure_pages.train_and_eval import modes
from normviz.lessons.questions.facts import ROUNDING, count_buffers, module_of, normal, scene_of, which
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import ARTICLE, BATCH_NORM_PAPER, COURSE, issue, torch_page
from normviz.lessons.questions.topics import TRAIN_AND_EVAL

LAYER, BATCH = "LayerNorm(6)", "BatchNorm1d(6)"


@TRAIN_AND_EVAL.question("s1c", "train_and_eval", "show=modes&shape=4,6&layer=BatchNorm1d(6)", COURSE)
def layer_norm_modes() -> Facts:
    layer, batch = (
        modes.both_modes(scene_of(f"shape=4,6&layer={text}").description, 0).largest_difference
        for text in (LAYER, BATCH)
    )
    return {
        "layer": layer,
        "batch": batch,
        "right": which(layer=layer > 0, batch=batch > 0),
    }


WARM_UP = 20  # batches, the page's default


@TRAIN_AND_EVAL.question(
    "q16",
    "train_and_eval",
    "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=0,2",
    issue("pytorch", 5406),
    torch_page("BatchNorm1d"),
    BATCH_NORM_PAPER,
)
def eval_changes_outputs() -> Facts:
    """``train_and_eval`` runs without an optimizer and under ``no_grad``."""
    x = example("scales", (6, 3), ("n", "d"))
    first, later = (train_and_eval("BatchNorm1d(3)", x, warmup) for warmup in (1, WARM_UP))
    changed = bool(later.changed_by_train), bool(later.changed_by_eval)
    layer = train_and_eval("LayerNorm(3)", x)
    return {
        "changed": later.buffers_changed,
        "names": ", ".join(f"`{name}`" for name in later.changed_by_train),
        "first": first.largest_difference,
        "later": later.largest_difference,
        "batches": WARM_UP,
        "layer": layer.largest_difference,
        "right": {(False, False): "step", (True, False): "train", (True, True): "any"}.get(changed, "eval"),
    }


@TRAIN_AND_EVAL.question("s3k", "train_and_eval", "show=modes&shape=6,3&layer=BatchNorm1d(3)&at=2,1", ARTICLE)
def running_mean_used() -> Facts:
    x, differences = normal(6, 3), {}
    for mode in (True, False):
        fresh, overwritten = (module_of("BatchNorm1d(3)").train(mode) for _ in range(2))
        overwritten.get_buffer("running_mean").fill_(5)
        differences[mode] = largest_difference(fresh(x).detach(), overwritten(x).detach())
    found = modes.both_modes(scene_of("shape=6,3&layer=BatchNorm1d(3)").description, 0)
    return {
        "train_gap": differences[True],
        "eval_gap": differences[False],
        "changed": found.buffers_changed,
        "kept": len(found.changed_by_eval),
        "right": which(train=differences[True] > 0, eval=differences[False] > 0),
    }


@TRAIN_AND_EVAL.question("s1d", "compare", "shape=4,6&layers=LayerNorm(6);BatchNorm1d(6);GroupNorm(2,6)&at=1,4", COURSE)
def buffers_kept() -> Facts:
    mean, var, _count = buffers(BATCH)
    return {
        "layer": count_buffers(LAYER),
        "batch": count_buffers(BATCH),
        "mean": mean.elements,
        "var": var.elements,
        "right": count_buffers(LAYER),
    }


@TRAIN_AND_EVAL.question(
    "q17",
    "train_and_eval",
    "show=modes&shape=4,3,5&layout=NCL&layer=BatchNorm1d(3,track_running_stats=False)&at=0,1,2",
    issue("pytorch", 37823),
    torch_page("BatchNorm1d"),
)
def untracked() -> Facts:
    text, x = "BatchNorm1d(3, track_running_stats=False)", normal(4, 3, 5)
    alone, single = one_example(text, x).eval, one_example(text, normal(4, 3)).eval
    tracked = one_example("BatchNorm1d(3)", x).eval
    change = alone.difference or 0.0
    return {
        "buffers": count_buffers(text),
        "default_buffers": count_buffers("BatchNorm1d(3)"),
        "difference": change,
        "tracked": tracked.difference or 0.0,
        "words": single.refusal,
        "right": "refuses" if alone.refusal else "batch" if change > ROUNDING else "running",
    }


@TRAIN_AND_EVAL.question(
    "q10",
    "compare",
    "shape=2,3,4,4&layers=InstanceNorm2d(3,track_running_stats=True);"
    "InstanceNorm2d(3,track_running_stats=True).eval();BatchNorm2d(3).eval()&at=0,1,0,3",
    issue("pytorch", 58843),
    torch_page("InstanceNorm2d"),
)
def instance_norm_tracking() -> Facts:
    x, text = normal(2, 3, 4, 4), "InstanceNorm2d(3, track_running_stats=True)"
    train, evaluated = describe(text, x), describe(f"{text}.eval()", x)
    held = Values(running_mean=x.mean((0, 2, 3)), running_var=x.var((0, 2, 3)))
    instance, batch = (
        Layer.make(name, 3, affine=False, track_running_stats=True, training=False)
        for name in ("InstanceNorm2d", "BatchNorm2d")
    )
    return {
        "train": train.counts.statistics,
        "eval": evaluated.counts.statistics,
        "difference": largest_difference(run_module(instance, x, held), run_module(batch, x, held)),
        "change": train_and_eval(text, x).largest_difference,
        "right": evaluated.counts.statistics,
    }
