"""Whether the gradients of a function are those of a layer: dx, dgamma and dbeta for a random dout."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.forward import broadcast, factor, group_mean, used_eps
from normviz.measuring import probe
from normviz.measuring.formula import generic_values, parameters_of
from normviz.measuring.probe import Function
from normviz.measuring.report import Difference, also
from normviz.measuring.turn import ENDS
from normviz.measuring.verdict import (
    Error,
    GammaBeta,
    LayerComparison,
    Made,
    Reference,
    Role,
    autograd,
    compare,
    gradients,
    signed_values,
)
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, join_sentences, ngettext

__tracebackhide__ = True  # pytest shows the frame of the caller

NAMES = {"x": "dx", "gamma": "dgamma", "beta": "dbeta"}


@dataclass(frozen=True)
class Unjudged:
    """Why the gradients are not compared.

    reason    as a message
    is_fault  whether the function lacks them: then they are wrong if they were asked for
    """

    reason: str
    is_fault: bool = True


NO_GRADIENT = N_("its output requires no gradient, as under torch.no_grad() or through NumPy or JAX")
NO_REFERENCE = N_("{layer} has no gradient")
NOT_DIFFERENTIABLE = N_("autograd cannot differentiate it: {error}")


def compare_gradients(
    compared: LayerComparison, values: Mapping[int, Tensor] | None = None, strided: bool = False
) -> list[Difference] | Unjudged:
    """Compare the gradients on an x like the given one, and on x itself in half precision. The outputs must be right.

    values   of the function's tensors, for another shape than that of x: then only this shape is tried
    strided  x and dout are not contiguous
    """
    function, x, roles = compared.function, compared.x, compared.best
    if function.kind != probe.TENSORS or function.converts:
        return Unjudged(_(NO_GRADIENT))
    shape = compared.expected.shape if values is not None else tuple(x.shape)
    others = signed_values(parameters_of(function), seed=5) if values is None else values
    if values is None and not function.takes(shape, others):
        others = {}
    try:
        differs = _differences(compared, roles, compared.alike(shape, 15).to(function.dtype), others, strided)
        if differs or values is not None:
            return differs
        if x.dtype.itemsize < 4 <= function.dtype.itemsize:
            dtype = function.dtype
            function.use_own()
            try:
                return _differences(compared, roles, x, {})
            finally:
                function.use(dtype)
    except NoGradientError:
        return Unjudged(_(NO_GRADIENT))
    except NoReferenceError:
        return Unjudged(_(NO_REFERENCE, layer=compared.expected.title), is_fault=False)
    except RuntimeError as error:
        return Unjudged(_(NOT_DIFFERENTIABLE, error=str(error).splitlines()[0].rstrip(".")))
    return []


# Of x and of parameters, where the gradient of a wrong output is compared with differences of it.
STEPS = (1e-5, 3e-5, 1e-2)
SAME, SMOOTH = 1e-3, 0.2  # relative, of these


def inconsistent_gradients(compared: LayerComparison) -> list[Difference]:
    """Whether the gradients are those of the function's own output, which need not be right: by differences of it, in float64.

    All steps must give the same difference: of a function that rounds, or has an edge there, nothing is told.
    """
    function, roles = compared.function, named_roles(compared.function)
    if function.kind != probe.TENSORS or function.converts or function.dtype != torch.float64:
        return []
    shape = compared.expected.shape
    x, values = probe.generic(shape, torch.float64, 15), generic_values(parameters_of(function), seed=5)
    dout = probe.generic(shape, torch.float64, 16) - 0.5
    try:
        values = values if function.takes(shape, values) else {}
        own = own_gradients(function, roles, x, values, dout)
    except (NormvizError, RuntimeError, NoGradientError):
        return []
    wrong = list[str]()
    for name, gradient in own.items():
        role = None if name == "x" else getattr(roles, name)
        short, longer, far = (_slope(function, x, values, dout, role, step) for step in STEPS)
        along = float((gradient.double() * _direction(gradient.shape)).sum())
        size = max(abs(along), abs(short), abs(far))
        is_smooth = abs(short - longer) < 0.1 * SAME * size and abs(short - far) < SMOOTH * size
        if is_smooth and abs(along - short) > SAME * size > 0:
            wrong.append(name)
    if not wrong:
        return []
    names = listed([NAMES[name] for name in wrong], "and")
    text = ngettext(
        "Its gradient is not that of its output: {names} is wrong.",
        "Its gradients are not those of its output: {names} are wrong.",
        len(wrong),
        names=names,
    )
    return [Difference("backward", _("another {names}", names=names), names, text)]


def named_roles(function: Function, among: Container[int] | None = None) -> GammaBeta:
    """Its parameters that have the name of a gamma or a beta, whatever their shapes are. A number has no gradient. ``among``: only these positions."""
    learned = [i for i in parameters_of(function) if id(function.tensors[i]) not in function.numbers]
    learned = [i for i in learned if among is None or i in among]
    meant = {probe.meaning(function.names[i]): i for i in learned if i in function.names}
    roles = [meant.get(name) for name in ("gamma", "beta")]
    return GammaBeta(*(None if i is None else Role(i, None, tuple(function.tensors[i].shape)) for i in roles))


def _direction(shape: Sequence[int]) -> Tensor:
    return probe.generic(tuple(shape), torch.float64, 19) - 0.5


def _slope(
    function: Function, x: Tensor, values: Mapping[int, Tensor], dout: Tensor, role: Role | Made | None, step: float
) -> float:
    """How much the output, weighted with dout, grows with a small step of x, or of a parameter."""
    outputs = []
    for sign in (step, -step):
        if role is None:
            outputs.append(function(x + sign * _direction(x.shape), values))
        else:
            own = function.with_values(values)[role.position]
            outputs.append(function(x, {**values, role.position: own + sign * _direction(own.shape)}))
    return float(((outputs[0] - outputs[1]) * dout).sum()) / (2 * step)


class NoGradientError(Exception):
    """The output requires no gradient although x does."""


class NoReferenceError(Exception):
    """What the function is compared with has no gradient."""


def _differences(
    compared: LayerComparison, roles: GammaBeta, x: Tensor, values: Mapping[int, Tensor], strided: bool = False
) -> list[Difference]:
    function = compared.function
    tensors = function.with_values(values)
    dout = (probe.generic(tuple(x.shape), torch.float64, 16) - 0.5).to(x.dtype)
    own = own_gradients(function, roles, x, values, dout, strided)
    exact, rounded, low = _wanted(compared, x, tensors, dout)
    wrong = _wrong(own, exact, rounded, low)
    if not wrong:
        return []
    given = roles.values(tensors)
    return [_difference(wrong, _cause(compared.reference, own["x"], x, given, dout) if "x" in wrong else "")]


def _wanted(
    compared: LayerComparison, x: Tensor, tensors: Mapping[int, Tensor], dout: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor], torch.dtype]:
    """The gradients of the layer in float64, then in a lower dtype, and that dtype."""
    given = compared.best.values(tensors)
    stored = probe.floats(tensors)

    def wanted(dtype: torch.dtype) -> dict[str, Tensor]:
        parameters = {name: value.to(torch.promote_types(dtype, torch.float32)) for name, value in given.items()}
        return compared.reference.gradients(x.to(dtype), parameters, stored, dout.to(dtype))

    low = x.dtype if x.dtype.itemsize < 4 else torch.float32
    exact, rounded = wanted(torch.float64), wanted(low)
    wide = {name: value.double() for name, value in given.items()}
    own = _of_torch(compared, x.to(low), wide, stored, dout.to(low))
    farther = {
        name: max(value, own.get(name, value), key=partial(_distance, exact[name])) for name, value in rounded.items()
    }
    return exact, farther, low


def _of_torch(
    compared: LayerComparison, x: Tensor, given: Mapping[str, Tensor], stored: Mapping[int, Tensor], dout: Tensor
) -> dict[str, Tensor]:
    """The gradients of torch's own layer; empty if torch has none."""
    if compared.torch_output(x, given, stored) is None:
        return {}
    return gradients(lambda a, b: compared.torch_output(a, b, stored), x, given, dout)  # type: ignore[arg-type,return-value]


def _distance(exact: Tensor, other: Tensor) -> float:
    return float((other.double() - exact).abs().nan_to_num(posinf=0.0).max())


def _wrong(
    own: Mapping[str, Tensor], exact: Mapping[str, Tensor], rounded: Mapping[str, Tensor], dtype: torch.dtype
) -> dict[str, Error]:
    """The errors of the gradients that rounding does not explain."""
    found = {}
    for name, gradient in own.items():
        # A small gradient is a difference of large numbers, and a sum of many rounded terms.
        error = compare(gradient, exact[name], rounded[name], dtype, relative_to_largest=True)
        if not error.ok:
            found[name] = error
    return found


def own_gradients(
    function: Function, roles: GammaBeta, x: Tensor, values: Mapping[int, Tensor], dout: Tensor, strided: bool = False
) -> dict[str, Tensor]:
    """The gradients of the function. Raises NoGradientError, or RuntimeError of autograd."""
    leaf = x.detach().clone().requires_grad_()
    used = {
        name: role
        for name, role in (("gamma", roles.gamma), ("beta", roles.beta))
        if role is not None and not role.is_log and not role.is_number
    }
    tensors = {name: function.tensors[role.position] for name, role in used.items()}
    required = {name: tensor.requires_grad for name, tensor in tensors.items()}
    try:
        for tensor in tensors.values():
            tensor.requires_grad_()
        with torch.enable_grad():
            output = function.with_graph(probe.with_step(leaf) if strided else leaf, values)
        if not output.requires_grad:
            raise NoGradientError
        found = autograd(output, [leaf, *tensors.values()], probe.with_step(dout) if strided else dout)
    finally:
        for name, tensor in tensors.items():
            tensor.requires_grad_(required[name])
    own = {"x": torch.zeros_like(leaf) if found[0] is None else found[0]}
    for (name, role), gradient in zip(used.items(), found[1:], strict=True):
        own_gradient = torch.zeros_like(tensors[name]) if gradient is None else gradient
        own[name] = role.of({role.position: own_gradient.to(function.home)}).detach()
    return own


def _difference(wrong: Mapping[str, Error], cause: str, is_output_right: bool = True) -> Difference:
    names = listed([NAMES[name] for name in wrong], "and")
    largest = max(error.largest for error in wrong.values())
    if is_output_right:
        sentence = ngettext(
            "Its output is right, but not its gradient: {names} differs by up to {largest:.2g}.",
            "Its output is right, but not its gradient: {names} differ by up to {largest:.2g}.",
            len(wrong),
            names=names,
            largest=largest,
        )
    else:
        sentence = ngettext(
            "Its gradient is not right: {names} differs by up to {largest:.2g}.",
            "Its gradient is not right: {names} differ by up to {largest:.2g}.",
            len(wrong),
            names=names,
            largest=largest,
        )
    text = join_sentences([sentence, _(CAUSES[cause])]) if cause else sentence
    # The cause is of dx: with another gradient, it would not be all.
    remedy = _(REMEDIES[cause]) if cause and list(wrong) == ["x"] else ""
    return Difference("backward", _("another {names}", names=names), names, text, remedy)


REMEDIES = {  # of the same causes
    "mean": N_("Let the gradient pass through the mean."),
    "variance": N_("Let the gradient pass through the variance."),
    "both": N_("Let the gradient pass through the mean and the variance."),
    "square": N_("Let the gradient pass through the mean of x^2."),
    "gamma": N_("Multiply dout by gamma before the rest of dx."),
    "sign": N_("Change the sign of dx."),
}
CAUSES = {
    "mean": N_("It treats the mean as a constant: do not detach it."),
    "variance": N_("It treats the variance as a constant: do not detach it."),
    "both": N_("It treats the mean and the variance as constants: do not detach them."),
    "square": N_("It treats the mean of x^2 as a constant: do not detach it."),
    "gamma": N_("dx does not contain gamma."),
    "sign": N_("dx has the opposite sign."),
}


def _cause(reference: Reference, dx: Tensor, x: Tensor, given: Mapping[str, Tensor], dout: Tensor) -> str:
    """What was forgotten, a name in ``CAUSES``, if one of the usual mistakes gives this dx."""
    wide = {name: value.double() for name, value in given.items()}

    def run(detached: tuple[str, ...], parameters: Mapping[str, Tensor]) -> Tensor:
        def output(a: Tensor, b: Mapping[str, Tensor]) -> Tensor:
            return _detached(reference, a, b, detached)

        return gradients(output, x.double(), parameters, dout.double())["x"]

    if reference.norm.running or not reference.is_layer:
        return ""
    tries = {
        "mean": lambda: run(("mean",), wide),
        "variance": lambda: run(("variance",), wide),
        "both": lambda: run(("mean", "variance"), wide),
        "gamma": lambda: run((), {}),
        "sign": lambda: -run((), wide),
    }
    for name, make in tries.items():
        wanted = make()
        scale = float(wanted.abs().max())
        if scale and float((dx.double() - wanted).abs().max()) < 1e-4 * scale:
            return "square" if name == "variance" and not reference.norm.center else name
    return ""


def _detached(reference: Reference, x: Tensor, given: Mapping[str, Tensor], detached: tuple[str, ...]) -> Tensor:
    """The output without beta, with some statistics treated as constants."""
    norm, shape = reference.norm, tuple(x.shape)
    mean = group_mean(norm, x) if norm.center else torch.zeros_like(x)
    used = mean.detach() if "mean" in detached else mean
    variance = group_mean(norm, (x - mean).square())
    if "variance" in detached:
        variance = variance.detach()
    output = (x - used) / (variance + used_eps(norm, x)).sqrt()
    if "gamma" in given:
        output = output * broadcast(norm, shape, factor(norm, given["gamma"]))
    return output


# A backward function that is written by hand


def compare_by_hand(backward: Callable[..., object], compared: LayerComparison) -> list[Difference]:
    """Compare ``backward(dout, cache)`` with the gradients of the layer. The compared function is forward, which makes the cache.

    The values of gamma and beta are the given ones, then others: ones and zeros would hide a missing gamma.

    Raises NormvizError if forward gives no cache, backward no gradients, or if it raises.
    """
    function, x = compared.function, compared.x
    others = signed_values(parameters_of(function), seed=5)
    choices: list[Mapping[int, Tensor]] = [{}]
    if others and function.takes(tuple(x.shape), others):
        choices.append(others)
    for number, values in enumerate(choices):
        dout = (probe.generic(tuple(x.shape), torch.float64, 16 + number) - 0.5).to(x.dtype)
        differs = _by_hand(_returned(backward, function, x, values, dout), compared, values, dout)
        if differs:
            return differs
    return []


def _returned(
    backward: Callable[..., object], function: Function, x: Tensor, values: Mapping[int, Tensor], dout: Tensor
) -> list[Tensor]:
    """What backward returns."""
    with torch.no_grad():
        found = function.raw(x, values)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise NormvizError("forward must return (out, cache), and it returned {found}.", found=echo(found))
        try:
            gradients = backward(function.own_array(dout.clone()), found[1])
        except (Exception, *ENDS) as error:
            raise NormvizError("backward raises {kind}: {error}", kind=type(error).__name__, error=error) from error
    several = list(gradients) if isinstance(gradients, tuple | list) else [gradients]
    several = [np.asarray(one) if isinstance(one, np.floating) else one for one in several]  # a sum over all elements
    for one in several:
        if not probe.is_number_array(one) or (isinstance(one, Tensor) and not probe.is_dense(one)):
            raise NormvizError(
                "backward must return arrays of floating-point numbers; one is {found}.", found=echo(one)
            )
    found = [one.detach() if isinstance(one, Tensor) else torch.from_numpy(np.array(one)) for one in several]
    return [one.to(function.home) for one in found]


def _by_hand(
    found: Sequence[Tensor], compared: LayerComparison, values: Mapping[int, Tensor], dout: Tensor
) -> list[Difference]:
    """What differs in dx, dgamma and dbeta."""
    function, x = compared.function, compared.x
    tensors = function.with_values(values)
    given = compared.best.values(tensors)
    names = [NAMES[name] for name in ("x", *given)]
    if len(found) != len(names):
        raise NormvizError(
            "backward must return {names}, and it returned {n} of them.",
            names=f"({', '.join(names)})" if len(names) > 1 else names[0],
            n=len(found),
        )
    own = dict(zip(("x", *given), found, strict=True))
    exact, rounded, low = _wanted(compared, x, tensors, dout)
    for name, gradient in own.items():
        shape = tuple(exact[name].shape)
        if gradient.numel() != exact[name].numel() or (name == "x" and tuple(gradient.shape) != shape):
            sentence = _(
                "{name} has the shape {own}; it must be {wanted}.",
                name=NAMES[name],
                own=tuple(gradient.shape),
                wanted=shape,
            )
            return [Difference("backward", str(tuple(gradient.shape)), str(shape), sentence)]
    flat = {name: gradient.reshape(exact[name].shape) for name, gradient in own.items()}
    wrong = _wrong(flat, exact, rounded, low)
    if not wrong:
        return []
    cause = _cause(compared.reference, flat["x"], x, given, dout) if "x" in wrong else ""
    told = _difference(wrong, cause, is_output_right=False)
    if {"gamma", "beta"} <= wrong.keys() and not _wrong(
        {"gamma": flat["beta"], "beta": flat["gamma"]}, exact, rounded, low
    ):
        told = also(told, _("dgamma and dbeta are exchanged."))
    return [told]
