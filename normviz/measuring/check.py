"""Which normalization a function computes, and whether it is the one that it should be.

``measure`` finds the first, ``compare`` the second. ``norm_of`` gives the Norm of a measured function.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import prod
from numbers import Integral

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description, describe, spec_on, tensor_and_shape
from normviz.analysis.forward import CPU
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_of_channels, torch_layer, usual_layer
from normviz.layers.norm import Norm
from normviz.measuring import probe, trials
from normviz.measuring.formula import (
    BIASED,
    UNBIASED,
    Axis,
    Eps,
    Groups,
    Measurement,
    Quotient,
    from_ids,
    measure_function,
    parameters_of,
    same_partition,
    smaller_shape,
)
from normviz.measuring.probe import Function, measuring
from normviz.measuring.reasons import UNKNOWN, fast_variance, half_sums, just_updated, made_from_condition, reasons
from normviz.measuring.report import (
    TRIED,
    Difference,
    also,
    differs_by,
    divisor_difference,
    from_x_instead,
    imprecise,
    not_normalization,
    other_dtype,
    stored_instead,
    text,
    unexplained,
    with_remedy,
    without_like,
)
from normviz.measuring.running import mode_differences
from normviz.measuring.trials import (
    Example,
    Subject,
    Trial,
    TrialResult,
    Trials,
    example_of,
    kept_by_shape,
    own_dtypes,
    repeated,
    wrong_strides,
)
from normviz.measuring.verdict import (
    Error,
    LayerComparison,
    Unjudged,
    Verdict,
    compare_by_hand,
    compare_gradients,
    judge,
    on_shapes,
    reference_of,
    signed_values,
)
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, join_sentences

__tracebackhide__ = True  # pytest shows the frame of the caller

LAYOUTS = {1: "D", 2: "ND", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
USUAL_EPS = 1e-5  # assumed where eps cannot be measured, as with stored statistics that no module has


Like = str | Layer | Norm | Callable[..., object]


@dataclass(frozen=True, eq=False)
class Checked:
    """What a function computes, and how it differs from what it should compute: what ``normviz.check`` finds.

    ``normviz.Check``, which adds what a reader asks of it, describes the fields.
    """

    norm: Norm | None
    layer: str | None
    reduced: tuple[int, ...]
    differences: tuple[Difference, ...]
    sampled: bool
    notes: tuple[str, ...] = ()
    expected: Description | None = field(default=None, repr=False)
    measured: Measurement | None = field(default=None, repr=False)
    text: str = field(default="", repr=False)
    trials: Trials = field(default=Trials(), repr=False)
    example: Example | None = field(default=None, repr=False)


def measure_module(module: nn.Module, x: object, layout: str | None, whole: bool = False) -> Checked:
    """What a module of the reader's own computes, and nothing else. Raises NormvizError if it cannot be measured.

    whole  never measure a smaller tensor instead of x
    """
    with measuring(None):
        kind, tensor = kind_and_tensor(module, x, None)
        with probe.isolated(module, tensor, kind, {}) as function:
            return measure(function, tensor, layout, whole)


def measure(function: Function, x: Tensor, layout: str | None, whole: bool = False) -> Checked:
    """What the function computes."""
    x = probe.same_strides(x, function.home)
    found, shape = measure_function(function, x, whole=whole), tuple(x.shape)
    axes = usual_axes(len(shape)) if layout is None else parse_layout(layout, len(shape))
    usual = None if found.formula is None else norm_of(with_usual_formula(found), axes)
    if layout is None and usual is not None:
        axes, usual = usual_names(found, usual, axes)
    norm = norm_of(found, axes)
    layer = None if norm is None else usual_layer(norm, found.shape, _known_layers(function.fn))
    mistake = _forgotten(function, found, axes)
    differs = (mistake,) if mistake else tuple(without_like(found, norm))
    similar = "" if usual is None else _similar(usual, axes, found.shape)
    return Checked(
        norm,
        None if layer is None else str(layer),
        found.reach.reduced,
        differs,
        found.is_sampled or found.instead is not None,
        notes_of(function),
        None,
        found,
        join_sentences([text(found, None, differs, axes, similar), *notes_of(function)]),
    )


def compare(
    function: Function,
    x: Tensor,
    expected: Description,
    shapes: Sequence[Sequence[int]],
    backward: bool | None = None,
    batch_invariant: bool = False,
) -> Checked:
    """How the function differs from the expected layer."""
    x = probe.same_strides(x, function.home)
    function.fix_numbers(
        [
            *(probe.GAMMA_NAMES if expected.norm.params is None else ()),
            *(() if expected.norm.params is not None and expected.norm.bias else probe.BETA_NAMES),
        ]
    )
    others = [_other_shape(one, expected) for one in (shapes if isinstance(shapes, Sequence) else [shapes])]
    reference = reference_of(function, expected)
    if reference.is_known:
        verdict, compared = judge(function, expected, reference, x)
        made = None if verdict.right else made_from_condition(compared)
        if made is not None:
            verdict, compared = judge(function, expected, reference, x, made)
    else:
        verdict, compared = Verdict(), LayerComparison(function, expected, reference, x)
    on, on_norm = partial(_on_or_none, expected), partial(_on_norm, expected)
    subject = Subject(compared, verdict, on, on_norm, others, backward, batch_invariant)
    result, tried = trials.run(TRIALS, subject)
    example = example_of(subject, result.shape) if has_example(result.differences, tried) else None
    if any(one.trial == "modes" and one.result == "differs" for one in tried):
        example = example or _example_in_other_mode(subject)
    differs, found, notes = list(result.differences), result.measured, [*notes_of(function), *result.notes]
    forward_ok = verdict.right and verdict.given is not None and verdict.given.ok
    expected = result.expected or expected
    if not reference.is_known and not differs:
        notes.append(_("Its stored statistics are not compared: none are named running_mean and running_var."))
    if verdict.dtype is not None and all(one.what != "dtype" for one in differs):
        differs.insert(0, other_dtype(*verdict.dtype))
    differs = [with_remedy(one, expected) if one.what in TRIED else one for one in differs]
    norm = (
        _norm_of_pass(expected, compared)
        if forward_ok and found is None
        else norm_of(found, expected.axes)
        if found
        else None
    )
    layer = None
    if norm is not None:
        preferred = [] if expected.layer is None else [expected.layer]
        layer = usual_layer(norm, expected.shape, [*preferred, *_known_layers(function.fn)])
    usual = None if found is None or found.formula is None else norm_of(with_usual_formula(found), expected.axes)
    similar = "" if usual is None or found is None else _similar(usual, expected.axes, found.shape)
    words = text(found, expected, differs, expected.axes, similar)
    return Checked(
        norm,
        None if layer is None else str(layer),
        reduced_axes(expected) if found is None else found.reach.reduced,
        tuple(differs),
        found is not None and (found.is_sampled or found.instead is not None),
        tuple(notes),
        expected,
        found,
        join_sentences([words, *notes]),
        tried,
        example,
    )


def compare_backward(backward: Callable[..., object], function: Function, x: Tensor, expected: Description) -> Checked:
    """How the gradients of a backward pass differ from those of the expected layer. ``function``: the forward pass."""
    x = probe.same_strides(x, function.home)
    reference = reference_of(function, expected)
    compared = LayerComparison(function, expected, reference, x)
    if not reference.is_known:
        raise NormvizError("{layer} uses stored statistics: its gradient is not compared.", layer=expected.title)
    function.use_own()
    forward_ok = compared.agrees(x, {}, x.dtype, strict=True).ok
    differs = compare_by_hand(backward, compared)
    roles = compared.best
    notes = (
        []
        if forward_ok
        else [_("The output of forward is not that of {layer}: use check first.", layer=expected.title)]
    )
    names = ["dx", *(f"d{name}" for name, role in vars(roles).items() if role is not None)]
    right = _(
        "Your backward function gives the gradients of {layer}: {names}.",
        layer=expected.title,
        names=listed(names, "and"),
    )
    return Checked(
        expected.norm,
        None if expected.layer is None else str(expected.layer),
        reduced_axes(expected),
        tuple(differs),
        False,
        tuple(notes),
        expected,
        None,
        join_sentences([*([one.sentence for one in differs] or [right]), *notes]),
    )


def kind_and_tensor(fn: Callable[..., object], x: object, params: Mapping[str, object] | None) -> tuple[str, Tensor]:
    """What ``fn`` takes, and x as a tensor; values for it, if only its shape is given."""
    probe.check_callable(fn)
    if params is not None and not isinstance(params, Mapping):
        raise NormvizError(
            "params={params} has no names; give a dictionary, such as params={{'gamma': gamma}}.", params=echo(params)
        )
    kind = probe.kind_of(fn, x)
    tensor, shape = tensor_and_shape(probe.from_jax(x) if probe.is_jax(x) else x)
    if tensor is not None:
        return kind, tensor
    probe.check_fits(shape)
    dtype, device = _usual(fn, kind, params)
    return kind, probe.generic(shape, dtype).to(device)


def _usual(
    fn: Callable[..., object], kind: str, params: Mapping[str, object] | None
) -> tuple[torch.dtype, torch.device]:
    """The dtype and the device of an x of which only the shape is given: those of the parameters; else float32 for torch and JAX, float64 for NumPy."""
    tensors = list(fn.parameters()) if isinstance(fn, nn.Module) else []
    for value in [*tensors, *(params or {}).values()]:
        if kind != probe.JAX and probe.is_number_array(value):
            one = value if isinstance(value, Tensor) else torch.as_tensor(value)
            return one.dtype, CPU if one.is_meta else one.device
    return torch.float64 if kind == probe.ARRAYS else torch.float32, CPU


def _known_layers(fn: object) -> list[Layer]:
    known = _known(fn)
    return [] if known is None else [known]


def notes_of(function: Function) -> tuple[str, ...]:
    """What is said of the way in which the function was called."""
    if not function.switched:
        return ()
    if function.kind == probe.JAX:
        return (_("Your function was called with JAX arrays, because it returns one."),)
    return (_("Your function was called with NumPy arrays, because it returns one."),)


def _other_shape(shape: Sequence[int], expected: Description) -> tuple[int, ...]:
    """One of ``shapes``. Raises NormvizError if the expected layer does not take it."""
    if not isinstance(shape, Sequence) or not all(isinstance(size, Integral) for size in shape):
        raise NormvizError(
            "shapes has {shape}, which is no shape; write a list of shapes, such as shapes=[(5, 6)].", shape=echo(shape)
        )
    found = tuple(shape)
    probe.check_fits(found)
    _on(expected, found)
    return found


# The trials


def _given_x(subject: Subject) -> TrialResult:
    """The output for the given x."""
    is_right = subject.verdict.given is not None and subject.verdict.given.ok
    return TrialResult() if is_right else _wrong_output(subject)


def _other_values(subject: Subject) -> TrialResult:
    """The outputs for other values."""
    if not subject.verdict.right:
        return _wrong_output(subject)
    norm, roles = subject.compared.reference.norm, subject.compared.best
    if roles.is_made or (roles.count and not subject.verdict.other_parameters):
        return TrialResult(tried=_("other values of x"))
    return TrialResult(tried="" if norm.eps and not norm.running else _("other values of x, gamma and beta"))


def _wrong_output(subject: Subject) -> TrialResult:
    """Why the output is wrong."""
    compared, verdict, function, x = subject.compared, subject.verdict, subject.function, subject.x
    expected, is_known, is_layer = compared.expected, compared.reference.is_known, compared.reference.is_layer
    if is_known and (again := repeated(compared)) is not None:
        return TrialResult(((just_updated(compared) if is_layer else None) or again,))
    if is_known and verdict.given is not None and verdict.given.ok and (kept := kept_by_shape(subject)) is not None:
        return TrialResult((kept,))
    if verdict.given is not None and not verdict.given.ok and (strides := _of_strides(compared, x)) is not None:
        return TrialResult((strides,))
    if verdict.right and verdict.own_right and verdict.given is not None:
        with own_dtypes(function):
            has_cause = is_known and is_layer
            cause = (fast_variance(compared, verdict.given) or half_sums(compared)) if has_cause else ""
        return TrialResult((imprecise(verdict.given, x.dtype, verdict.only_near, cause),))
    if not is_layer and verdict.given is not None:
        return TrialResult((_shown(compared, verdict.given),))
    found = measure_function(function, x, partial(_takes, expected), probe.FEW_INPUTS)
    if expected.shape != found.shape:
        expected = _on(expected, found.shape)
        compared = compared.on(expected)
    error = verdict.given or Error(float("nan"), (), False)
    told = _why(compared, found, error, is_known)
    differs, measured = told or (list(unexplained(found, expected, _shown(compared, error))), found)
    return TrialResult(tuple(differs), measured=measured, expected=expected)


def _other_shapes(subject: Subject) -> TrialResult:
    """The output on other shapes, and why it is wrong there, if that can be told."""
    compared = subject.compared
    return _with_reason(subject, trials.on_other_shapes(subject, on_shapes(compared, subject.shapes, subject.on)))


def _sizes(subject: Subject) -> TrialResult:
    """The output for other sizes, and why it is wrong there, if that can be told."""
    return _with_reason(subject, trials.sizes(subject))


def _with_reason(subject: Subject, found: TrialResult) -> TrialResult:
    """What a trial finds on another size, with the reason, if one is found there."""
    shape = found.shape
    if shape is None or not subject.compared.reference.is_layer or repeated(subject.compared) is not None:
        return found
    # In an even number of rows, blocks of rows are seen.
    even = [(shape[0] - 1, *shape[1:])] if shape[0] == trials.ROWS[-1] else []
    for size in (shape, *even):
        if (why := _on_other_size(subject, size)) is not None:
            differs = found.differences + why.differences
            return replace(found, differences=differs, measured=why.measured, expected=why.expected)
    return found


def _on_other_size(subject: Subject, shape: tuple[int, ...]) -> TrialResult | None:
    """Why the output is wrong on this size; None if that cannot be told."""
    compared, function, expected = subject.compared, subject.function, subject.on_norm(shape)
    if expected is None:
        return None
    sizes = {old: new for old, new in zip(subject.x.shape, shape, strict=True) if old != new}
    with function.resized(compared.resized(expected, sizes)[1]):
        other = compared.on(expected)  # with gamma and beta of this size
        x = other.alike(shape, 18).to(other.x.dtype)
        found = measure_function(function, x, most_inputs=probe.FEW_INPUTS)
        told = _why(other, found, Error(float("nan"), (), False), True)
    if told is None or (found.ids is not None and from_ids(found.ids) is None):
        return None
    differs, measured = told
    m = Groups(expected.stat_ids).elements
    differs = [divisor_difference(str(m - 1), m) if one.found == UNBIASED else one for one in differs]  # m of this size
    # Another number is, for example, a share of the mean, which is that of this size.
    unlike = {_("another number"), not_normalization(found).found}
    if any(one.found in unlike or one.sentence in map(_, UNKNOWN) for one in differs):
        return None
    return TrialResult(tuple(differs), measured=measured, expected=expected)


def _modes(subject: Subject) -> TrialResult:
    """A module in its other mode, and its running statistics after two batches."""
    module, compared = subject.function.fn, subject.compared
    if (unknown := _no_other_mode(subject)) is not None:
        return unknown
    assert isinstance(module, nn.Module)
    return TrialResult(tuple(mode_differences(module, compared)))


def _no_other_mode(subject: Subject) -> TrialResult | None:
    """Why the other mode is not compared; None if it is."""
    module, compared = subject.function.fn, subject.compared
    if not isinstance(module, nn.Module) or not probe.has_modes(module):
        return TrialResult(left_out=_("it has no train and eval mode"))
    stored = any(probe.meaning(name) in probe.STATISTICS for name, _buffer in module.named_buffers())
    is_unknown = stored and compared.reference.is_layer and compared.expected.layer is None
    if compared.best.is_made or is_unknown:
        reason = _("{layer} does not say what to compute in that mode", layer=compared.expected.title)
        return TrialResult((), (_("The other mode is not compared: {reason}.", reason=reason),), left_out=reason)
    return None


def _gradients_in_modes(subject: Subject) -> TrialResult:
    """The gradients of a module in its other mode."""
    if (unknown := _no_other_mode(subject)) is not None:
        return replace(unknown, notes=())
    if subject.backward is False:
        return TrialResult(left_out="backward=False")
    subject.function.restore()
    return TrialResult(tuple(_gradients_in_other_mode(subject.function.fn, subject.compared)))


@contextmanager
def _in_other_mode(module: nn.Module, compared: LayerComparison) -> Iterator[LayerComparison]:
    """The comparison of the module in the mode in which it is not, of a smaller x if x is large."""
    expected, x, own = compared.expected, compared.x, compared.function
    training = not module.training
    if expected.layer is not None:
        expected = _on(replace(expected, layer=expected.layer.with_(training=training)), expected.shape)
    shape = smaller_shape(own, expected.shape, partial(_takes, expected))
    if shape != expected.shape:
        expected, x = _on(expected, shape), compared.alike(shape, 27).to(x.dtype)
    own.restore()
    module.train(training)  # until its function restores it
    with (
        probe.isolated(module, x.to(own.device), own.kind, own.given_params, usual=own.usual) as function,
        compared.reference.in_mode(function, expected, training) as reference,
    ):
        in_mode = LayerComparison(function, expected, reference, x, compared.best)
        in_mode.near = compared.near
        yield in_mode


def _gradients_in_other_mode(module: nn.Module, compared: LayerComparison) -> Iterator[Difference]:
    """The differences of the gradients in the mode in which the module is not; its outputs there are right."""
    training = module.training
    with suppress(NormvizError), _in_other_mode(module, compared) as in_mode:
        function, shape = in_mode.function, in_mode.expected.shape
        if in_mode.reference.is_known:
            values = signed_values(parameters_of(function), seed=26)
            if not in_mode.agrees(in_mode.alike(shape, 26).to(function.dtype), values, function.dtype).ok:
                return  # statistics that are frozen in train mode, too
            found = compare_gradients(in_mode)
            only = _("This is the gradient in eval mode.") if training else _("This is the gradient in train mode.")
            for one in [] if isinstance(found, Unjudged) else found:
                yield also(one, only)


def _example_in_other_mode(subject: Subject) -> Example | None:
    """The smallest x on which the output of a module is wrong in the mode in which it is not."""
    module = subject.function.fn
    assert isinstance(module, nn.Module)
    subject.function.restore()
    with suppress(NormvizError), _in_other_mode(module, subject.compared) as compared:
        on, on_norm = partial(_on_or_none, compared.expected), partial(_on_norm, compared.expected)
        mode = "train" if module.training else "eval"
        return example_of(replace(subject, compared=compared, on=on, on_norm=on_norm), mode=mode)
    return None


def _why(
    compared: LayerComparison, found: Measurement, error: Error, is_known: bool
) -> tuple[list[Difference], Measurement | None] | None:
    """The differences that explain a wrong output, and the measurement, if the differences do not contradict it; None if nothing explains it."""
    expected, norm = compared.expected, compared.expected.norm
    if found.affine:
        return [not_normalization(found)], found
    if found.running and not norm.running:
        return [stored_instead()], found
    if not is_known:
        other = not_normalization(found) if found.formula is None else from_x_instead()
        return [] if found.running else [other], found
    is_constant = found.reach.is_empty and Groups(expected.stat_ids).elements > 1
    explained = None if is_constant else reasons(compared, found, error)
    if explained is not None:
        agrees = found.formula is not None and found.agrees
        told = [with_remedy(one, expected) for one in explained.differences]
        return told, found if explained.measured or agrees else None
    if not found.reach.is_elementwise and (updated := just_updated(compared)) is not None:
        return [updated], None
    return None


def _shown(compared: LayerComparison, error: Error) -> Difference:
    """By how much the output differs on the given x, and where."""
    function, x = compared.function, compared.x
    own = wanted = float("nan")
    is_of_x = len(error.at) == x.dim() and all(i < n for i, n in zip(error.at, x.shape, strict=True))
    if not error.ok and is_of_x:
        whole = (
            compared
            if tuple(x.shape) == compared.expected.shape
            else compared.on(_on(compared.expected, tuple(x.shape)))
        )
        with own_dtypes(function):
            own, wanted = float(function(x)[error.at]), float(whole.exact(x, {})[error.at])
    return differs_by(error, own, wanted, compared.expected.title)


VALUES = ("values", "precision", "strides", "sizes")  # what the trials find that have an example
# A trial is skipped if one of these differs already.
OUTPUT = frozenset({"values", "repeat"})
MEMORY = OUTPUT | {"in_place"}
PLACES = MEMORY | {"sizes", "strides"}
TRIALS = (
    Trial("given x", "values", N_("the given x, as it is, with the gamma and beta of the function"), _given_x),
    Trial("other values", "values", N_("other values of x, gamma and beta, and an x so small that eps counts"),
          _other_values, OUTPUT),
    Trial("other shapes", "sizes", N_("other sizes of the axes that the layer leaves free"), _other_shapes, OUTPUT),
    Trial("equal values", "precision", N_("equal values in half precision, where a small eps is 0"),
          trials.equal_values, OUTPUT),
    Trial("unlike values", "", N_("an x much farther from zero, a much larger and a much smaller one"),
          trials.unlike, PLACES | {"precision"}),
    Trial("gradients", "backward", N_("the gradients of x, gamma and beta"),
          trials.gradients, frozenset({"repeat", "training"})),
    Trial("dtype", "dtype", N_("the dtype of the output"), trials.dtype, OUTPUT),
    Trial("in place", "in_place", N_("x is as it was after the call, and the output has memory of its own"),
          trials.in_place, frozenset({"repeat"})),
    Trial("strides", "strides", N_("the same values transposed in memory, and as a slice with a step"),
          trials.strides, MEMORY | {"strides"}),
    Trial("sizes", "sizes", N_("1, 3 and 65 rows; one feature or channel more and less, 17 and 100 of them"),
          _sizes, PLACES),
    Trial("gradients elsewhere", "backward", N_("the gradients at these sizes and strides"),
          trials.gradients_elsewhere, PLACES | {"backward"}),
    Trial("residual", "residual", N_("a residual that is not zero: x + residual is normalized, and returned"),
          trials.residual, MEMORY),
    Trial("batch", "batch", N_("a row alone and in other batches, bit by bit, with `batch_invariant=True`"),
          trials.batch, PLACES),
    Trial("half precision", "", N_("values of 300 in float16, whose square is too large for it"),
          trials.half_precision, PLACES | {"precision"}),
    Trial("repeat", "repeat", N_("the same x again, earlier outputs, other values at the same address"),
          trials.repeat, PLACES),
    Trial("modes", "training", N_("a module in its other mode; with running statistics after two batches"),
          _modes, MEMORY),
    Trial("gradients in modes", "backward", N_("the gradients of a module in its other mode"),
          _gradients_in_modes, MEMORY | {"backward", "training", "running"}),
)  # fmt: skip


def has_example(differs: Sequence[Difference], tried: Trials) -> bool:
    """Whether the first difference is one of values, so that an x shows it."""
    kinds = {one.name: one.what for one in TRIALS}
    first = [kinds[one.trial] for one in tried if one.result == "differs"][:1]
    return bool({*first} & {*VALUES}) and all(one.what != "repeat" for one in differs)


def _forgotten(function: Function, found: Measurement, axes: Sequence[str]) -> Difference | None:
    """What a function with the groups of a normalization lacks, such as the root, if it is none: of a layer with a mean, or without."""
    stats = None if found.formula is not None or found.ids is None else from_ids(found.ids)
    if stats is None or found.reach.is_elementwise:
        return None
    norm, x = _with_patterns(axes, stats, None), probe.generic(found.shape, function.dtype)
    several = []
    for one in (norm, replace(norm, center=False)):
        expected = Description(one, found.shape, tuple(axes))
        compared = LayerComparison(function, expected, reference_of(function, expected), x)
        explained = reasons(compared, found, Error(float("nan"), (0,) * x.dim(), False))
        several += [] if explained is None else [explained.differences]
    told = min(several, key=len, default=())
    return next((one for one in told if one.what == "variance"), None)


def _norm_of_pass(expected: Description, compared: LayerComparison) -> Norm:
    """The Norm of a function that does what the layer does: it may lack gamma or beta."""
    norm, roles = expected.norm, compared.best
    if norm.params is None or norm.running:
        return norm
    if roles.gamma is None and roles.beta is None:
        return norm.without_gamma()
    return replace(norm, bias=norm.bias and roles.beta is not None)


def reduced_axes(expected: Description) -> tuple[int, ...]:
    """The axes along which elements share statistics."""
    norm, sizes = expected.norm, expected.norm.axis_sizes(expected.shape)
    if norm.running:
        return ()
    return tuple(
        axis
        for axis, parts in enumerate(norm.pattern.left)
        if any(part in norm.pattern.reduced and sizes[part] > 1 for part in parts)
    )


# What a function should be: ``like`` on the axes of x.


def expect(like: Like, shape: tuple[int, ...], layout: str | None, name: str = "") -> Description:
    """``like`` on an x of this shape. A layer of channels uses the axis C of the layout, wherever it is.

    >>> expect("BatchNorm1d(5)", (3, 4, 5), "NLC").norm.stats
    'n l c -> c'
    """
    name = like.strip() if isinstance(like, str) else name
    spec = spec_on(like, shape, layout)
    axes = None if layout is None else parse_layout(layout, len(shape))
    order = None if axes is None or not isinstance(spec, Layer) else _channels_where_torch_expects_them(spec, axes)
    if axes is None or order is None:
        return replace(describe(spec, shape, layout=layout), name=name)
    moved = describe(spec, tuple(shape[i] for i in order), layout=layout_text([axes[i] for i in order]))
    back = [order.index(i) for i in range(len(order))]
    return replace(moved, norm=moved.norm.permuted(back), shape=shape, axes=axes, name=name)


@dataclass(frozen=True, eq=False)
class Expected:
    """What a function should do.

    nearest   the layer, or the Norm that was measured; None if there is none
    is_whole  whether that is all that ``like`` does; a factor of 2, for example, is not in a Norm
    as_it_is  whether the function is compared with ``like`` itself
    """

    nearest: Description | None
    is_whole: bool = True
    as_it_is: bool = False

    @property
    def layer(self) -> Description | None:
        """The layer that does the same; None if there is none."""
        return self.nearest if self.is_whole else None


def expected_of(like: Like, x: Tensor, layout: str | None, params: Mapping[str, object]) -> Expected:
    """What ``like`` does to an x of this shape. A function, and a module that torch.nn does not know, is measured. ``params``: its further arguments."""
    shape = tuple(x.shape)
    if isinstance(like, str | Layer | Norm | type) or not callable(like) or _known(like):
        return Expected(expect(like, shape, layout))
    name = name_of(like)
    with probe.isolated(like, x, probe.kind_of(like, x), params) as function:
        found = measure(function, x, layout)
        measured = found.measured
        if measured is None or measured.affine or (measured.reach.is_elementwise and not measured.running):
            raise NormvizError("like={like} is not one normalization. {text}", like=echo(name), text=found.text)
        if found.norm is None:
            return Expected(None, as_it_is=True)
        expected = expect(found.norm, shape, layout, name)
        reference = reference_of(function, expected)
        is_same = reference.is_known and judge(function, expected, reference, x)[0].right
        has_modes = found.norm.running or {*map(probe.meaning, function.names.values())} & {*probe.STATISTICS}
    return Expected(expected, is_same, not is_same or bool(has_modes))


def arguments_for(like: object, params: Mapping[str, object]) -> dict[str, object]:
    """Those of the arguments that ``like`` takes."""
    try:
        taken = inspect.signature(like.forward if isinstance(like, nn.Module) else like).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}
    has_any = any(one.kind == inspect.Parameter.VAR_KEYWORD for one in taken.values())
    return {name: value for name, value in params.items() if has_any or name in taken}


def name_of(like: object) -> str:
    """The name of a function, or of the class of a module."""
    return str(getattr(like, "__name__", type(like).__name__))


def _on(expected: Description, shape: tuple[int, ...]) -> Description:
    """The same layer on an x of another shape."""
    return replace(expect(expected.layer or expected.norm, shape, expected.layout), name=expected.name)


def _on_norm(expected: Description, shape: tuple[int, ...]) -> Description | None:
    """The layer on an x of another shape; the same formula where the layer fixes the sizes, such as another normalized_shape."""
    if (found := _on_or_none(expected, shape)) is not None:
        return found
    try:
        return replace(expect(expected.norm, shape, expected.layout), name=expected.name)
    except NormvizError:
        return None


def _of_strides(compared: LayerComparison, x: Tensor) -> Difference | None:
    """Whether the given x is wrong only for its strides."""
    if x.is_contiguous():
        return None
    with own_dtypes(compared.function):
        given = compared.agrees(x, {}, x.dtype, strict=True)
        plain = compared.agrees(x.contiguous(), {}, x.dtype, strict=True)
    return wrong_strides(x, given) if plain.ok and not given.ok else None


def _on_or_none(expected: Description, shape: tuple[int, ...]) -> Description | None:
    """The same layer on an x of another shape; None if it does not take it."""
    try:
        return _on(expected, shape)
    except NormvizError:
        return None


def _takes(expected: Description, shape: tuple[int, ...]) -> bool:
    """Whether the layer takes an x of this shape too."""
    return _on_or_none(expected, shape) is not None


def _known(module: object) -> Layer | None:
    """The layer of a module of torch.nn; None for anything else."""
    try:
        return Layer.of(module) if isinstance(module, nn.Module) else None
    except NormvizError:
        return None


def _channels_where_torch_expects_them(layer: Layer, axes: tuple[str, ...]) -> list[int] | None:
    """The order of the axes with C where the layer has its channels; None if it is there, or if there is no such axis."""
    channel = layer.kind.channel(len(axes))
    if channel is None or "c" not in axes or axes[channel] == "c":
        return None
    order = [i for i, name in enumerate(axes) if name != "c"]
    order.insert(channel % len(axes), axes.index("c"))
    return order


# The Norm and the torch layer that compute the same as a measured function.


def norm_of(found: Measurement, names: Sequence[str]) -> Norm | None:
    """The Norm, with these axis names; None if no Norm computes the same.

    A difference in the values of gamma and beta does not matter: a Norm has none.
    """
    if found.formula is None or found.ids is None or found.divisor != BIASED or not found.agrees:
        return None
    kind, eps = found.formula.kind or Quotient(True, True), found.eps or Eps(USUAL_EPS, "inside")
    if kind.center != kind.spread or eps.place != "inside":
        return None
    ids = found.param_ids
    stats, shared = from_ids(found.ids), None if ids is None else from_ids(ids)
    if stats is None or (ids is not None and shared is None):
        return None
    is_machine_eps = not kind.center and eps.value == float(f"{torch.finfo(torch.float64).eps:.5e}")
    try:
        norm = replace(
            _with_patterns(names, stats, shared),
            center=kind.center,
            eps=None if is_machine_eps else eps.value,
            bias=found.has_beta,
            running=found.running,
            zero_centered_gamma=found.gamma is not None and bool(found.gamma.zero_centered),
        )
        described = Description(norm, found.shape, tuple(names))
        params = described.param_ids
        same = params is ids if params is None or ids is None else same_partition(params, ids)
        return norm if same and same_partition(described.stat_ids, found.ids) else None
    except NormvizError:
        return None


def with_usual_formula(found: Measurement) -> Measurement:
    """The same groups and parameters, with the biased variance and the usual eps inside the root."""
    assert found.formula is not None
    kind = found.formula.kind
    usual = None if kind is None else Quotient(kind.center, kind.center)
    formula = replace(found.formula, kind=usual, factor=found.gammas)
    return replace(found, formula=formula, divisor=BIASED, eps=Eps(USUAL_EPS, "inside"), agrees=True)


def _with_patterns(names: Sequence[str], stats: Sequence[Axis], shared: Sequence[Axis] | None) -> Norm:
    """The Norm with these groups, and with one gamma and beta for each group of ``shared``."""
    left: list[str] = []
    right: list[str] = []
    params: list[str] = []
    sizes: dict[str, int] = {}
    spare = _spare(names)
    for name, stat, gamma in zip(names, stats, shared or stats, strict=True):
        strides = sorted({*_strides(stat), *_strides(gamma)}, reverse=True)
        parts = [name] if len(strides) == 1 else [next(spare) for _stride in strides]
        left.append(name if len(parts) == 1 else f"({' '.join(parts)})")
        ends = (prod(stat.parts), *strides)
        sizes |= {part: end // stride for part, end, stride in zip(parts[:-1], ends, strides, strict=False)}
        right += _kept(stat, parts, strides)
        if len(gamma.parts) > 1:
            params += _kept(gamma, parts, strides)
        elif gamma.kept[0] and gamma.parts[0] > 1:
            params.append(name)
    pattern = f"{' '.join(left)} -> {' '.join(right)}"
    return Norm(pattern, None if shared is None else " ".join(params), sizes=sizes)


def _strides(axis: Axis) -> list[int]:
    """How far apart neighbors along each part are on the axis."""
    return [prod(axis.parts[i + 1 :]) for i in range(len(axis.parts))]


def _kept(axis: Axis, parts: Sequence[str], strides: Sequence[int]) -> list[str]:
    """The kept ones of the parts, into which the axis may be split further."""
    own = dict(zip(_strides(axis), axis.kept, strict=True))
    return [part for part, stride in zip(parts, strides, strict=True) if own[max(one for one in own if one <= stride)]]


def _spare(names: Sequence[str]) -> Iterator[str]:
    """Names for the parts of split axes: g and k first."""
    for number in count():
        for letter in "gk":
            name = f"{letter}{number or ''}"
            if name not in names:
                yield name


def _similar(norm: Norm, names: Sequence[str], shape: tuple[int, ...]) -> str:
    """The name of ``layer_of_channels``; "" if there is none."""
    layer = layer_of_channels(replace(norm, zero_centered_gamma=False), names, shape)
    if layer is None:
        return ""
    return _("{layer} with 1 + gamma", layer=layer.name) if norm.zero_centered_gamma else layer.name


def usual_axes(rank: int) -> tuple[str, ...]:
    """The usual axis names of an x of this rank.

    >>> usual_axes(4), usual_axes(6)
    (('n', 'c', 'h', 'w'), ('n', 'd1', 'd2', 'd3', 'd4', 'd5'))
    """
    return parse_layout(LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank)


def usual_names(found: Measurement, norm: Norm, axes: tuple[str, ...]) -> tuple[tuple[str, ...], Norm]:
    """The axis names of the layout that the layer of torch.nn has for this rank, if there is such a layer; and the Norm with these names.

    An RMSNorm has the names of the LayerNorm with its groups: an older torch has no RMSNorm.
    """
    layer = torch_layer(norm, found.shape) or torch_layer(replace(norm, center=True, eps=1e-5), found.shape)
    if layer is None or layer.kind.channels_last:
        return axes, norm
    names = parse_layout(layer.kind.layout(len(axes)), len(axes))
    return names, norm_of(found, names) or norm
