"""``nv.check`` and ``nv.check_backward``: which normalization a function computes, with its view: its groups next to the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from normviz.analysis.description import Array, Description, X
from normviz.analysis.forward import usual_device
from normviz.api.result import Result, on_cpu
from normviz.layers.axes import layout_text
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import check as checking
from normviz.measuring.as_it_is import compare_as_it_is
from normviz.measuring.probe import check_callable, isolated, kind_of, measuring
from normviz.texts.errors import NormvizError, checked_call, echo
from normviz.texts.messages import _, join_sentences, ngettext

if TYPE_CHECKING:
    from normviz.export.output import Options, Output
    from normviz.parts.part import Part

__tracebackhide__ = True  # pytest shows the frame of the caller


@checked_call
def check(
    fn: Callable[..., object],
    x: X | Array,
    like: str | Layer | Norm | Callable[..., object] | None = None,
    *,
    layout: str | None = None,
    params: Mapping[str, object] | None = None,
    shapes: Sequence[Sequence[int]] = (),
    backward: bool | None = None,
    batch_invariant: bool = False,
    timeout: float | None = None,
) -> Check:
    """Which normalization ``fn`` computes, measured from outside, and whether it is the one of ``like``.

    With ``like``, the output of fn is compared with that of ``like`` on x, in its dtype, with the gamma and beta of fn; then on other
    values of x, gamma and beta, with the gradients, and for a module in both modes and after two batches. An output is wrong if its
    error exceeds the tolerance of ``torch.testing.assert_close`` and a few times torch's own error. If it is, the parts of the formula
    are measured to say why.

    fn      a function of a tensor (or of a NumPy array, if x is one), or a module; the output has the shape of x, or is the first
            of a tuple
    x       a tensor, an array of NumPy or JAX, or a shape: fn is called with x, and with other values of its shape, on its device. If
            x is a shape, fn is called on the device of the parameters
    like    what fn should be: the text of a layer, a ``Norm``, a module, or another function. A module gives its layer: the values of its
            gamma and beta do not matter. A function, and a module with a forward of its own, is called with those of params that it
            takes; where no Norm describes it, the two outputs are compared, in both modes if both are modules.
    layout  axis letters, ``"NHWC"``; default: the axes of ``like``. Layers of channels, such as BatchNorm2d, are expected to use the
            axis C, wherever it is.
    params  further arguments of fn by name; gamma and beta are found among them, also in lists and dictionaries, by name or by what they
            do. Stored statistics have the names running_mean and running_var. With ``like``, a tensor of the shape of x with the name
            residual makes fn a fused kernel: fn(x, residual) must normalize x + residual, and may return the sum as its second output
    shapes  other shapes of x on which fn must do the same; ``like`` must take them, too
    backward  whether the gradients are compared; default: if the output requires a gradient. If it is true, no gradient is a difference
    batch_invariant  whether the output for a row must be the same, bit by bit, alone and in other batches
    timeout seconds after which the check ends, at the next call of fn; default: none

    Parameters of a module, and tensors in a closure that require a gradient, may have any values. Other numbers that fn multiplies by
    or adds are differences. Without params and parameters, gamma is 1 and beta is 0.

    Afterwards x, modules that fn uses, params, the random state and the settings of torch and NumPy are as before; what else fn writes
    to, such as a list or a NumPy array outside of it, has changed. Checks in several threads wait for each other. A check that takes
    more than two seconds shows how often it has called fn; Ctrl-C ends it. Where the parts of the formula are measured, only some
    elements are moved above 4,096 (with ``like`` above 150), and above 262,144, a smaller tensor is measured where fn and like take it; the text says so.

    Raises NormvizError if fn raises, is random, or returns something else than a tensor of the shape of x, if ``like``
    does not take an x of this shape or of one of ``shapes``.

    >>> import torch
    >>> print(check(torch.nn.BatchNorm1d(4), (4, 4), like="LayerNorm(4)"))
    LayerNorm(4) averages over D. Your function averages over N (like BatchNorm1d).
    >>> found = check(torch.nn.GroupNorm(2, 4), (3, 4, 5))
    >>> found.layer, found.reduced
    ('GroupNorm(2, 4)', (1, 2))
    >>> check(
    ...     lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True), (4, 6), like="LayerNorm(6, eps=0.0)"
    ... ).differences[0].what
    'variance'
    """
    if backward not in (None, True, False):
        raise NormvizError(
            "backward={value} is not True, False or None; check_backward takes a backward function.",
            value=echo(backward),
        )
    if like is None and (shapes or backward):
        raise NormvizError("shapes and backward compare with a layer; give like, such as like='LayerNorm(6)'.")
    if like is None and batch_invariant:
        raise NormvizError("batch_invariant compares with a layer; give like, such as like='LayerNorm(6)'.")
    with _ShortTraceback(), measuring(timeout), usual_device() as usual:
        kind, tensor = checking.kind_and_tensor(fn, x, params)
        own = {} if like is None else checking.arguments_for(like, params or {})
        expected = checking.Expected(None) if like is None else checking.expected_of(like, tensor, layout, own)
        layer, other = expected.layer, None
        with ExitStack() as stack:
            if expected.as_it_is and callable(like):
                other = stack.enter_context(isolated(like, tensor, kind_of(like, tensor), own, usual=usual))
                other.restore()  # it may have the tensors of fn
            fused = layer is not None and other is None
            function = stack.enter_context(isolated(fn, tensor, kind, params or {}, fused=fused, usual=usual))
            found = None
            if other is not None:
                found = compare_as_it_is(
                    function, other, tensor, checking.name_of(like), layer, shapes, backward, batch_invariant
                )
            elif layer is None:
                found = checking.measure(function, tensor, layout)
            if layer is not None and (found is None or any(one.what == "values" for one in found.differences)):
                told = checking.compare(function, tensor, layer, shapes, backward, batch_invariant)
                found = told if found is None or told.differences else found
            assert found is not None
    return Check(**vars(found))


@checked_call
def check_backward(
    backward: Callable[..., object],
    x: X | Array,
    like: str | Layer | Norm | Callable[..., object],
    *,
    forward: Callable[..., object],
    layout: str | None = None,
    params: Mapping[str, object] | None = None,
    timeout: float | None = None,
) -> Check:
    """Whether ``backward`` gives the gradients of ``like``: dx, dgamma and dbeta for a random dout.

    backward  called as ``backward(dout, cache)`` to get dx, or (dx, dgamma, dbeta)
    x         a tensor, an array of NumPy or JAX, or a shape
    like      the layer, as in ``check``
    forward   called as ``forward(x, **params)`` to get (out, cache)
    layout    axis letters, as in ``check``
    params    further arguments of forward by name, as in ``check``
    timeout   seconds after which the check ends, at the next call

    Only the gradients are compared; ``check`` compares the output of forward.

    Raises NormvizError if forward or backward raises or returns something else, and if ``like`` does not take x or uses stored statistics.

    >>> import numpy as np
    >>> def forward(x):
    ...     return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6), x
    >>> def backward(dout, x):
    ...     return dout / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    >>> print(check_backward(backward, (4, 6), like="RMSNorm(6, eps=1e-6)", forward=forward).differences[0].what)
    backward
    """
    with _ShortTraceback(), measuring(timeout), usual_device() as usual:
        check_callable(backward)
        kind, tensor = checking.kind_and_tensor(forward, x, params)
        expected = checking.expected_of(like, tensor, layout, checking.arguments_for(like, params or {})).layer
        if expected is None:
            raise NormvizError(
                "like={like} is a function whose gradients are not known; give a layer, such as like='LayerNorm(6)'.",
                like=echo(checking.name_of(like)),
            )
        with isolated(forward, tensor, kind, params or {}, usual=usual) as function:
            found = checking.compare_backward(backward, function, tensor, expected)
    return Check(**vars(found))


class _ShortTraceback:
    """Errors have no frames of this library. It is no generator: ``contextmanager`` gives an error its frames back."""

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _frames: object) -> None:
        if isinstance(error, NormvizError):
            raise error.with_traceback(None) from error.__cause__


@dataclass(frozen=True, eq=False, repr=False)
class Check(checking.Checked, Result):
    """The result of ``check``. It is true if the function does what it should; as text, it says what differs.

    norm         the Norm that computes the same, or None
    layer        the text of the torch layer that computes the same, or None
    reduced      the numbers of the axes over which the statistics are taken: those along which elements reach each other; () for stored statistics
    differences  from the expected layer; without one, from any normalization that a Norm describes
    sampled      whether x was too large to move every element: then some elements, or a smaller x, were measured
    notes        what the check does not judge, and differences that show only for x unlike the given one, as sentences
    expected     what it should be; None without ``like``
    measured     the parts of the formula; None if the outputs are right without them
    text         the result in sentences
    trials       what was tried, in this order, and the result of each trial; printed, one line for each
    example      the smallest x found on which the output is wrong, with ``got`` and ``expected``; printed, a test for pytest to paste.
                 None if no output is wrong, or if none was found
    """

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def require(self) -> None:
        """Raise NormvizError with the text of the differences, if there are any: for a test that is one line.

        >>> from torch import nn
        >>> check(nn.LayerNorm(4), (2, 4), "RMSNorm(4)").require()
        Traceback (most recent call last):
        ...
        normviz.texts.errors.NormvizError: It subtracts the mean, and it should not. ...
        """
        __tracebackhide__ = True
        if not self.ok:
            raise NormvizError(str(self))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for JSON. The keys are the names of its attributes.

        >>> from torch import nn
        >>> check(nn.LayerNorm(4), (2, 4)).to_dict()["layer"]
        'LayerNorm([4])'
        """
        return {
            "ok": self.ok,
            "text": self.text,
            "norm": None if self.norm is None else repr(self.norm),
            "layer": self.layer,
            "reduced": list(self.reduced),
            "differences": [vars(one) for one in self.differences],
            "sampled": self.sampled,
            "notes": list(self.notes),
            "trials": self.trials.to_dict(),
            "example": None if self.example is None else self.example.to_dict(),
        }

    @on_cpu
    def output(self, **options: Unpack[Options]) -> Output:
        """The text, and the groups of the function next to the expected ones.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> from torch import nn
        >>> check(nn.LayerNorm(4), (2, 4)).output(theme="dark").title
        'What your function computes'
        """
        from normviz.analysis.comparison import Comparison
        from normviz.export.output import Output
        from normviz.lessons.compare.page import panels
        from normviz.parts.part import Caption, Code, Text
        from normviz.scene.grid import grid, start_with

        parts: list[Part] = [Text(self.text)]
        shown = [one for one in (_as_layer(self), self.expected) if one is not None]
        if shown:
            e, at = shown[0], (0,) * len(shown[0].shape)  # patterns that differ differ at the first element
            drawing = grid(e.shape, e.axes, start_with(at, e.shape, e.axes))
            differs = ("stats0", "stats1") if len(shown) == 2 else ()
            parts.append(panels(Comparison(tuple(shown)), drawing, at, differs=differs))
        if len(shown) == 2:
            parts.append(Caption(_peers_text(*shown)))
            marks = _(
                "A dark corner marks each of the elements in which the two groups differ. Point at another element to compare its groups."
            )
            parts.append(Caption(marks))
        if self.example is not None:
            parts += [
                Caption(_("The smallest x that was found to show the difference, as a test:")),
                Code(str(self.example)),
            ]
        output = Output(tuple(parts), _("What your function computes"), "compare", None)
        return output.with_(**options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude) | {"text/plain": self.text}

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def _as_layer(check: Check) -> Description | None:
    """The function as a layer, whatever its eps and variance are; None if no pattern describes its groups."""
    found, norm, known = check.measured, check.norm, check.norm or check.expected
    if known is None:
        return None
    if norm is None and found is not None and found.formula is not None:
        norm = checking.norm_of(checking.with_usual_formula(found), known.axes)
    shape = found.shape if found is not None else check.expected.shape if check.expected is not None else None
    return (
        None
        if norm is None or shape is None
        else checking.expect(norm, shape, layout_text(known.axes), _("your function"))
    )


def _peers_text(own: Description, expected: Description) -> str:
    """How many elements share their statistics with the first one, and how many of them should not or are missing."""
    masks = [e.stat_ids == e.stat_ids.flat[0] for e in (own, expected)]
    peers, wanted = (int(mask.sum()) - 1 for mask in masks)
    in_yours = ngettext(
        "In your function, the first element of x shares its statistics with {n:,} other.",
        "In your function, the first element of x shares its statistics with {n:,} others.",
        peers,
    )
    under = ngettext(
        "Under {layer}, it shares them with {n:,} other.",
        "Under {layer}, it shares them with {n:,} others.",
        wanted,
        layer=expected.title,
    )
    differ = int((masks[0] != masks[1]).sum())
    other = ngettext("The groups differ in {n:,} element.", "The groups differ in {n:,} elements.", differ)
    return join_sentences([in_yours, under, other])
