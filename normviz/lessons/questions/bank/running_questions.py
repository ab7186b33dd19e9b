"""train() and eval(): which statistics are used when, and what one forward changes."""

from __future__ import annotations

from normviz.analysis.examples import example, from_values
from normviz.analysis.explanation import describe
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.analysis.running.modes import one_example, train_and_eval
from normviz.analysis.running.stream import follow
from normviz.analysis.running.torch_module import buffers
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.outputs import normal
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import BATCH_NORM_PAPER, issue, torch_page
from normviz.lessons.questions.topics import TRAINING

WARM_UP = 20  # batches, as on the page


def _tracking() -> Facts:
    x, text = normal(2, 3, 4, 4), "InstanceNorm2d(3, track_running_stats=True)"
    train, evaluated = describe(text, x), describe(f"{text}.eval()", x)
    kept = Values(running_mean=x.mean((0, 2, 3)), running_var=x.var((0, 2, 3)))
    instance, batch = (
        Layer.make(name, 3, affine=False, track_running_stats=True, training=False)
        for name in ("InstanceNorm2d", "BatchNorm2d")
    )
    own = train_and_eval("InstanceNorm2d(3)", x)
    return {
        "train": train.counts.statistics,
        "eval": evaluated.counts.statistics,
        "difference": largest_difference(run_module(instance, x, kept), run_module(batch, x, kept)),
        "change": train_and_eval(text, x).largest_difference,
        "right": evaluated.counts.statistics,
        "holds": {
            "in eval mode both images share a pair": (1, 0, 0, 0) in evaluated.peers((0, 0, 0, 0)),
            "in train mode they do not": (1, 0, 0, 0) not in train.peers((0, 0, 0, 0)),
            "BatchNorm2d in eval mode gives the same": largest_difference(
                run_module(instance, x, kept), run_module(batch, x, kept)
            )
            < ROUNDING,
            "without tracking the mode changes nothing": own.largest_difference == 0,
        },
    }


def _two_variances() -> Facts:
    x = from_values((0.0, 0.0, 6.0, 6.0), (4, 1))
    history = follow(x.T, momentum=1.0)
    both = train_and_eval("BatchNorm1d(1, momentum=1.0)", x, warmup=[x])
    m, biased, unbiased = len(x), float(history.batch_var[0]), float(history.batch_var_unbiased[0])
    deviation = float(x.max() - x.mean())
    return {
        "biased": biased,
        "unbiased": float(history.running_var[0]),
        "train": float(both.train.max()),
        "eval": float(both.eval.max()),
        "keras": float(history.running_var_biased[0]),
        "right": float(history.running_var[0]),
        "holds": {
            "the output is divided by the root of the biased variance": abs(
                float(both.train.max()) - deviation / biased**0.5
            )
            < ROUNDING,
            "running_var takes in the unbiased one, m / (m - 1) times as large": float(history.running_var[0])
            == unbiased
            == biased * m / (m - 1),
            "so eval mode gives less for the same batch": float(both.eval.max()) < float(both.train.max()),
        },
    }


def _broken() -> Facts:
    """train_and_eval runs under no_grad and has no optimizer."""
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
        "holds": {
            "one forward in train mode changes the buffers, without an optimizer and under no_grad": changed[0],
            "one in eval mode changes none": not changed[1],
            "the gap is larger while the buffers are young": first.largest_difference > later.largest_difference,
            "LayerNorm gives the same in both modes": layer.largest_difference == 0,
        },
    }


def _untracked() -> Facts:
    text, x = "BatchNorm1d(3, track_running_stats=False)", normal(4, 3, 5)
    alone, single = one_example(text, x).eval, one_example(text, normal(4, 3)).eval
    usual = one_example("BatchNorm1d(3)", x).eval
    moved = alone.difference or 0.0
    return {
        "buffers": sum(buffer.elements for buffer in buffers(text)),
        "usual_buffers": sum(buffer.elements for buffer in buffers("BatchNorm1d(3)")),
        "difference": moved,
        "usual": usual.difference or 0.0,
        "words": single.refusal,
        "right": "refuses" if alone.refusal else "batch" if moved > ROUNDING else "running",
        "holds": {
            "it keeps nothing": buffers(text) == (),
            "train and eval give the same": train_and_eval(text, x).largest_difference == 0,
            "in eval mode an example's output depends on the others": moved > 0.01,
            "with running statistics it does not": (usual.difference or 0.0) < ROUNDING,
            "one example of one value a channel is refused in eval mode too": single.refusal != "",
        },
    }


QUESTIONS = (
    Question(
        "q16",
        TRAINING,
        _broken,
        "train_and_eval",
        "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=0,2",
        (issue("pytorch", 5406), torch_page("BatchNorm1d"), BATCH_NORM_PAPER),
    ),
    Question(
        "q17",
        TRAINING,
        _untracked,
        "train_and_eval",
        "show=modes&shape=4,3,5&layout=NCL&layer=BatchNorm1d(3,track_running_stats=False)&at=0,1,2",
        (issue("pytorch", 37823), torch_page("BatchNorm1d")),
    ),
    Question(
        "q10",
        TRAINING,
        _tracking,
        "compare",
        "shape=2,3,4,4&layers=InstanceNorm2d(3,track_running_stats=True);"
        "InstanceNorm2d(3,track_running_stats=True).eval();BatchNorm2d(3).eval()&at=0,1,0,3",
        (issue("pytorch", 58843), torch_page("InstanceNorm2d")),
    ),
    Question(
        "q12",
        TRAINING,
        _two_variances,
        "train_and_eval",
        "show=stream&batch_size=4",
        (issue("pytorch", 19902), issue("pytorch", 62399), torch_page("BatchNorm1d")),
    ),
)
