"""A function compared with another one as it is: with a module or a function that no Norm describes, such as one with running statistics.

Parameters and buffers with the same meaning, by their names, have the same values in both; all others keep their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from normviz.analysis.description import Description
from normviz.layers.norm import Norm
from normviz.measuring import probe, trials
from normviz.measuring.check import TRIALS, Checked, has_example, notes_of, reduced_axes
from normviz.measuring.formula import Index
from normviz.measuring.probe import Function
from normviz.measuring.report import Difference, text
from normviz.measuring.running import close, run_module
from normviz.measuring.trials import Subject, TrialResult, example_of
from normviz.measuring.verdict import (
    GammaBeta,
    NoGradientError,
    NoReferenceError,
    Reference,
    Role,
    judge,
    named_roles,
    own_gradients,
)
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, join_sentences

__tracebackhide__ = True  # pytest shows the frame of the caller

EPS = 1e-5  # of which the outputs for small x are compared


@dataclass(frozen=True)
class AsItIs(Reference):
    """Another function in place of a layer.

    other   the function
    shared  for the positions of its tensors: those of the compared function with the same meaning
    """

    other: Function = field(kw_only=True)
    shared: Mapping[int, int] = field(kw_only=True)

    def __call__(self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Tensor:
        """Its output in the dtype of x. A function that does not take float64 is called in float32."""
        try:
            return self._run(x, values or {})
        except NormvizError:
            if x.dtype != torch.float64:
                raise
            return self._run(x.float(), values or {}).double()

    def _run(self, x: Tensor, values: Mapping[int, Tensor]) -> Tensor:
        self.other.use(x.dtype)
        return self.other(x, self._shared(x, values))

    def _shared(self, x: Tensor, values: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """The values of the compared function, for the tensors of the other one."""
        own = self.other.values
        return {i: values[j].reshape(own[i].shape).to(x.dtype) for i, j in self.shared.items() if j in values}

    def gradients(
        self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor], dout: Tensor
    ) -> dict[str, Tensor]:
        """dx, and the gradients of gamma and beta if both functions have them. Raises NoReferenceError if it has none."""
        other = self.other
        named = {probe.meaning(name): i for i, name in other.names.items() if i in self.shared}
        roles = GammaBeta(**{name: Role(named[name], None, tuple(value.shape)) for name, value in given.items()})
        for dtype in dict.fromkeys([x.dtype, min(x.dtype, torch.float32, key=lambda one: one.itemsize)]):
            other.use(dtype)
            with suppress(NormvizError, NoGradientError, RuntimeError):
                found = own_gradients(other, roles, x.to(dtype), self._shared(x.to(dtype), values), dout.to(dtype))
                return {name: one.to(x.dtype) for name, one in found.items()}
        raise NoReferenceError

    @contextmanager
    def in_mode(self, function: Function, expected: Description, training: bool) -> Iterator[Reference]:
        """With the other module in this mode, if it has modes."""
        other = self.other
        if not probe.has_modes(other.fn):
            yield self
            return
        other.restore()
        other.fn.train(training)  # until its Function restores it
        x = probe.generic(expected.shape, function.dtype).to(other.device)
        with probe.isolated(other.fn, x, other.kind, other.given_params, usual=other.usual) as in_mode:
            yield replace(self, other=in_mode)

    @property
    def is_layer(self) -> bool:
        """No Norm describes it."""
        return False

    def rounding(self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Tensor:
        """No error is expected beside that of the function itself."""
        return torch.zeros_like(x, dtype=torch.float64)


def compare_as_it_is(
    function: Function,
    other: Function,
    x: Tensor,
    name: str,
    known: Description | None,
    shapes: Sequence[Sequence[int]],
    backward: bool | None,
    batch_invariant: bool = False,
) -> Checked:
    """How the function differs from another one. ``name``: of the other one; ``known``: the Norm that describes it in its own mode."""
    axes = tuple(f"d{number}" for number in range(x.dim()))

    def on(shape: Index) -> Description | None:
        is_taken = shape == tuple(x.shape) or other.takes(shape)
        each = Norm(f"{' '.join(axes)} -> {' '.join(axes)}", None, eps=EPS)  # its statistics are not known
        return Description(each, shape, axes, name=name) if is_taken else None

    expected = on(tuple(x.shape))
    assert expected is not None
    meant, theirs = ({probe.meaning(one): i for i, one in each.names.items()} for each in (function, other))
    shared = {
        i: meant[one]
        for one, i in theirs.items()
        if one in meant and other.tensors[i].numel() == function.tensors[meant[one]].numel()
    }
    mean, var = (meant.get(one) for one in probe.STATISTICS)
    stats = None if mean is None or var is None or not {mean, var} <= {*shared.values()} else (mean, var)
    reference = AsItIs(expected.norm, stats, other=other, shared=shared)
    verdict, compared = judge(function, expected, reference, x, named_roles(function, set(shared.values())))
    for shape in shapes:
        other(probe.generic(tuple(shape), x.dtype))  # raises if it does not take this shape
    subject = Subject(compared, verdict, on, on, list(map(tuple, shapes)), backward, batch_invariant)
    table = [replace(one, run=_modes) if one.name == "modes" else one for one in TRIALS]
    result, tried = trials.run(table, subject)
    differs = result.differences
    notes = (*notes_of(function), *result.notes)
    words = text(None, known, differs, axes, "") if known else join_sentences(one.sentence for one in differs)
    is_same = known is not None and not differs
    return Checked(
        known.norm if known is not None and is_same else None,
        None,
        reduced_axes(known) if known is not None and is_same else (),
        differs,
        False,
        notes,
        known,
        text=join_sentences([words or _("Your function does what {layer} does.", layer=name), *notes]),
        trials=tried,
        example=example_of(subject, result.shape) if has_example(differs, tried) else None,
    )


# Modules in both modes


def _modes(subject: Subject) -> TrialResult:
    """Two modules in train mode on two batches, their running statistics, and then their outputs in eval mode."""
    function, reference, name = subject.function, subject.compared.reference, subject.compared.expected.title
    assert isinstance(reference, AsItIs)
    other, shared = reference.other, reference.shared
    if not probe.has_modes(function.fn) or not probe.has_modes(other.fn):
        return TrialResult(left_out=_("it has no train and eval mode"))
    batches = subject.compared.batches(subject.x.dtype)
    with trials.own_dtypes(function), trials.own_dtypes(other):
        given = {i: function.values[j].reshape(other.values[i].shape) for i, j in shared.items()}
        own, wanted = _InModes.of(function, {}, batches), _InModes.of(other, given, batches)
    if own.is_frozen != wanted.is_frozen:
        reason = _("one of the two has the same statistics in both modes")
        return TrialResult((), (_("The other mode is not compared: {reason}.", reason=reason),), left_out=reason)
    for number, (found, right) in enumerate(zip(own.outputs, wanted.outputs, strict=True)):
        wrong = list(_statistics(own, wanted, name, subject.x.dtype)) if number == 2 else []
        if right is None:
            return TrialResult(left_out=_("{layer} raises in the other mode", layer=name))
        if wrong or found is None or not close(found, right.double(), subject.x.dtype):
            return TrialResult(tuple(wrong) or (_in_mode(number < 2, name),))
    return TrialResult()


@dataclass(frozen=True, eq=False)
class _InModes:
    """What a module does in both modes.

    is_frozen   whether it does the same in both, and keeps its buffers
    outputs     of two batches in train mode and one in eval mode; None if it raises
    statistics  after the two batches
    """

    is_frozen: bool
    outputs: list[Tensor | None]
    statistics: dict[str, Tensor]

    @classmethod
    def of(cls, function: Function, values: Mapping[int, Tensor], batches: Sequence[Tensor]) -> "_InModes":
        """``values``: of its tensors. The module itself is run, and restored."""
        module, first = function.fn, batches[0]
        function.renew(values)
        before = {name: buffer.clone() for name, buffer in module.named_buffers()}
        both = [run_module(module.train(training), first, function) for training in (True, False)]
        is_same = both[0] is not None and both[1] is not None and close(both[0], both[1].double(), first.dtype)
        is_frozen = is_same and all(torch.equal(before[name], one) for name, one in module.named_buffers())
        function.renew(values)
        outputs = [run_module(module.train(), batch, function) for batch in batches[:2]]
        after = {probe.meaning(name): buffer.clone() for name, buffer in module.named_buffers()}
        outputs.append(run_module(module.eval(), batches[2], function))
        function.restore()
        return cls(is_frozen, outputs, {name: after[name] for name in probe.STATISTICS if name in after})


def _in_mode(training: bool, layer: str) -> Difference:
    if training:
        text = _("In train mode, its output is not that of {layer}.", layer=layer)
        return Difference("training", _("another output in train mode"), _("the same output"), text)
    text = _("In eval mode, after two batches, its output is not that of {layer}.", layer=layer)
    words = _("another output in eval mode"), _("the output with running statistics")
    return Difference("running", *words, text)


def _statistics(own: _InModes, wanted: _InModes, layer: str, dtype: torch.dtype) -> Iterator[Difference]:
    """The running statistics that differ after two batches."""
    for name, one in own.statistics.items():
        found, right = one.flatten(), wanted.statistics.get(name, one[:0]).flatten()
        if found.numel() == right.numel() and not close(found, right.double(), dtype):
            sentence = _("Its {name} after two batches differs from that of {layer}.", name=name, layer=layer)
            yield Difference("running", _("another {name}", name=name), name, sentence)
