"""Train and eval: train() and eval() of one layer on x, and of others beside it. Numbers in texts are in ``**``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from normviz.analysis import comparison, description, examples, forward
from normviz.analysis.excerpt import MOST_OF_A_GROUP, Neighborhood, neighborhood
from normviz.analysis.on_demand import MOST_HELD
from normviz.analysis.running.modes import TrainAndEval, element_in_modes, example_alone, most_warm_up, train_and_eval
from normviz.analysis.running.torch_module import buffers
from normviz.figures.payload import PanelValues
from normviz.layers import fit
from normviz.layers.axes import example_axis
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check
from normviz.lessons.page import Experiment
from normviz.parts.part import Caption, Cell, Index, Note, Part, Sentence, Table, Text, part_or_note, value_part
from normviz.scene.scene import OWN, Scene
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.languages import paragraphs
from normviz.texts.messages import N_, _, format_number, join_sentences, ngettext

MOST_WARMED = 2**17  # elements in all batches of a warm-up, so that a page appears at once
MOST_COMPARED = 2**17  # elements of x; on a larger x, other layers are not compared


def modes_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    e, is_own = scene.description, scene.shown_params == OWN
    try:
        if reason := refusal(scene):
            raise NormvizError(reason)
        near = near_drawn(scene)
        found = both_modes(near.layer, scene.seed, near.layer.values if is_own else None)
    except NormvizError as error:  # a pattern, or a layer that torch does not have
        yield Note(str(error))
        return
    yield Sentence(modes_sentence(found, e.layer))
    yield from map(Caption, filter(None, [part_note(near, e)]))
    at = scene.at or _most_different(found)
    if explained := element_sentence(found, at if near.layer is e else near.at, at):
        yield Text(explained)
    yield value_part(e, scene.grid, scene.at, modes_outputs(found), take=near.take)
    yield from map(Text, one_example_texts(found, e.shape))
    yield Text(_("**The same comparison for other layers**"), of="table")
    yield part_or_note(lambda: modes_table(e, scene.seed, found))


def _most_different(found: TrainAndEval) -> Index:
    gap = np.nan_to_num(np.abs(found.train - found.eval))
    return tuple(map(int, np.unravel_index(gap.argmax(), gap.shape)))


def near_drawn(scene: Scene) -> Neighborhood:
    """The layer on x; of a large x, on the groups that are drawn, or on samples of them.

    Raises NormvizError if torch refuses x.
    """
    e, drawing = scene.description, scene.grid
    at = scene.at or tuple(along[0] for along in drawing.indices)
    if e.layer is None or prod(e.shape) <= MOST_HELD:
        return Neighborhood(e, at, drawing.take)
    check(e.layer.with_(training=True), e.shape)
    near = neighborhood(e, drawing.indices, at, MOST_OF_A_GROUP, samples=True)
    assert near is not None  # samples are never too large
    smaller = near.layer
    layer = fit.refit(e.layer, smaller.shape, e.axes, e.layer.kind)
    if "num_groups" in layer.given:
        layer = layer.with_(num_groups=smaller.norm.split_sizes["g"])
    return replace(near, layer=replace(smaller, layer=layer))


def part_note(near: Neighborhood, e: description.Description) -> str:
    """Says that some elements of a large x are computed; "" if all are."""
    if near.layer is e:
        return ""
    message = N_(
        "Here train() and eval() are computed only for the groups that are drawn (elements: **{count:,}** of **{size:,}**)."
    )
    if near.sampled:
        message = N_(
            "Here train() and eval() are computed only for a sample of the groups that are drawn (elements: **{count:,}** of **{size:,}**). "
            "Means, variances and outputs are approximate."
        )
    return _(message, count=prod(near.layer.shape), size=prod(e.shape))


def both_modes(e: description.Description, seed: int, values: forward.Values | None = None) -> TrainAndEval:
    """The layer on x in train mode and in eval mode: a new one after a warm-up, or one with the ``values`` of a module.

    Raises NormvizError if torch does not have the layer.
    """
    if e.layer is None:
        raise NormvizError("a pattern has neither train() nor eval(); choose a layer of torch.nn.")
    assert e.x is not None  # of a large x, e has a part
    return train_and_eval(e.layer, e.x, _warm_up(e), seed, e.layout, values)


def refusal(scene: Scene) -> str:
    """Why a reader's module cannot be shown in both modes; "" if it can."""
    if scene.own is None or scene.shown_params != OWN or not scene.own.module:
        return ""
    if scene.own.frozen:
        return _(
            "{module} is frozen: it uses its stored statistics in train mode, too, so both modes give the same; nv.explain(module, x) shows it.",
            module=scene.own.module,
        )
    return _(
        "{module} has a forward of its own, so torch.nn does not know what it stores between batches; give a layer of "
        "torch.nn, such as BatchNorm2d(3).",
        module=scene.own.module,
    )


def _warm_up(e: description.Description) -> int:
    elements = prod(e.shape)
    return min(20, most_warm_up(elements), max(1, MOST_WARMED // elements))


def modes_sentence(found: TrainAndEval, whole: Layer | None = None) -> str:
    """How many elements differ between the modes, and how many buffers one forward pass changes; ``whole``: the layer on all of x."""
    differing, layer = int(found.differs.sum()), (whole or found.layer).with_(training=True)
    if not differing and buffers(found.layer):
        return _(
            "`{layer}` gives the same output in train() and eval() on this x; on another x it may not, because it stores running statistics.",
            layer=layer,
        )
    if not differing:
        return _(
            "`{layer}` gives the same output in train() and eval(): it stores nothing between batches.", layer=layer
        )
    modes_outputs = ngettext(
        "`{layer}` differs in **{differing:,}** of **{n:,}** element, by up to **{largest:.3g}**.",
        "`{layer}` differs in **{differing:,}** of **{n:,}** elements, by up to **{largest:.3g}**.",
        found.differs.size,
        layer=layer,
        differing=differing,
        largest=found.largest_difference,
    )
    changed = ngettext(
        "One forward pass in train() changes **{n}** buffer, without any optimizer.",
        "One forward pass in train() changes **{n}** buffers, without any optimizer.",
        len(found.changed_by_train),
    )
    return join_sentences([modes_outputs, changed])


def modes_outputs(found: TrainAndEval) -> Iterator[PanelValues]:
    """The outputs of both modes, in which a color stands for the same value, and their difference."""
    outputs = np.abs([found.train, found.eval])
    most = float(outputs.max(initial=0, where=np.isfinite(outputs))) or None
    yield PanelValues("train", "train()", _used(found.train_norm), examples.from_array(found.train), most=most)
    yield PanelValues("eval", "eval()", _used(found.eval_norm), examples.from_array(found.eval), most=most)
    yield PanelValues(
        "gap", "train() − eval()", _("zero where they agree"), examples.from_array(found.train - found.eval)
    )


def element_sentence(found: TrainAndEval, at: Index, name: Index = ()) -> str:
    """From which numbers the outputs for x[at] differ; "" if they do not. ``name``: its index in all of x."""
    if not found.differs[at]:
        return ""
    train, evaluated = element_in_modes(found, at)
    example = example_axis(found.train_norm.axes)
    shares = example is not None and found.train_norm.axes[example] not in found.train_norm.pattern.right
    return paragraphs(
        "element_in_modes",
        index=", ".join(map(str, name or at)),
        value=format_number(float(found.warmed_up.x[at]), 3),
        train=format_number(train.output, 3),
        eval=format_number(evaluated.output, 3),
        difference=format_number(abs(train.output - evaluated.output), 3),
        here=_("in this batch") if shares else _("in this example"),
        mean=format_number(train.mean, 3),
        var=format_number(train.var, 3),
        running_mean=format_number(evaluated.mean, 3),
        running_var=format_number(evaluated.var, 3),
    )


def _used(norm: Norm) -> str:
    """Which statistics an output is normalized with."""
    if norm.running:
        return _("with running statistics")
    example = example_axis(norm.axes)
    if example is None:
        return _("with this input's statistics")
    if norm.axes[example] in norm.pattern.right:
        return _("with each example's own statistics")
    return _("with this batch's statistics")


def one_example_texts(found: TrainAndEval, shape: Sequence[int] = ()) -> Iterator[str]:
    """The first example alone, as in inference; ``shape``: that of all of x."""
    axis = example_axis(found.warmed_up.axes)
    if axis is None:
        return
    alone = example_alone(found.warmed_up)
    whole = [1 if i == axis else size for i, size in enumerate(shape or alone.x.shape)]
    for mode, outcome in (("train()", alone.train), ("eval()", alone.eval)):
        if outcome.refusal:
            yield _(
                "The first example alone, in {mode}: torch refuses. `{refusal}`",
                mode=mode,
                refusal=outcome.refusal.replace(str(list(alone.x.shape)), str(whole)),
            )
        elif outcome.difference is not None:
            yield _(
                "The first example alone, in {mode}: largest difference from its output within the batch **{difference:.2g}**.",
                mode=mode,
                difference=outcome.difference,
            )


def _compared_layers(e: description.Description) -> list[Layer]:
    return [layer for layer in comparison.one_of_each_family(e.shape, e.layout).values() if layer.kind.module]


def draws_batches(scene: Scene) -> bool:
    """Whether random batches warm up the layer, or another layer of the table; a reader's module has statistics of its own."""
    e, is_own = scene.description, scene.shown_params == OWN
    warmed = [] if is_own or e.layer is None else [e.layer]
    if prod(e.shape) <= MOST_COMPARED:
        warmed += [layer for layer in _compared_layers(e) if layer != e.layer]
    return any(layer.tracks for layer in warmed)


def modes_table(e: description.Description, seed: int, known: TrainAndEval) -> Table:
    """The largest difference between the modes for each family of layers, and for BatchNorm without running statistics.

    known  ``both_modes(e, seed)``: if its layer is among them, it is not computed again

    Raises NormvizError above 2^17 elements.
    """
    if prod(e.shape) > MOST_COMPARED:
        raise NormvizError(
            ngettext(
                "other layers are compared on an x of up to {n:,} element, and this one has {elements:,}; make it smaller.",
                "other layers are compared on an x of up to {n:,} elements, and this one has {elements:,}; make it smaller.",
                MOST_COMPARED,
                elements=prod(e.shape),
            )
        )
    assert e.x is not None  # it is small
    layers = _compared_layers(e)
    untracked = [layer.with_(track_running_stats=False) for layer in layers if layer.tracks]
    heads = _("layer"), _("largest difference"), _("elements in buffers"), _("eval() uses running statistics")
    rows: list[tuple[Cell, ...]] = []
    for layer in (*layers, *untracked):
        try:
            found = known if layer == known.layer else train_and_eval(layer, e.x, _warm_up(e), seed, e.layout)
        except NormvizError:  # torch refuses this x
            continue
        in_buffers = sum(map(prod, buffers(layer).values()))
        rows.append((str(layer), f"{found.largest_difference:.3g}", in_buffers, found.eval_norm.running))
    return Table(heads, tuple(rows), code=(0,))


MODES = Experiment("modes", N_("train() and eval()"), modes_parts, "q16", draws=lambda view: draws_batches(view.scene))
