"""The smallest x that was found on which a function differs from a layer, and a test to paste that shows it.

The search begins with an x on which the output is wrong. It takes fewer rows, then rounder numbers, then zeros and ones, as long as the output
stays wrong by more than ``torch.testing.assert_close`` allows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import floor, isfinite, log10

import numpy as np
import torch
from torch import Tensor, nn

from normviz.measuring import probe
from normviz.measuring.formula import parameters_of
from normviz.measuring.groups import Index
from normviz.measuring.probe import Function
from normviz.measuring.trials import Subject, own_dtypes, with_strides
from normviz.measuring.verdict import EPS_SCALES, TIMES, TOLERANCES, LayerComparison, other_statistics, signed_values
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

__tracebackhide__ = True  # pytest shows the frame of the caller

MOST_CALLS = 80
MANY = 24  # nonzero elements that are replaced one by one
MANY_ELEMENTS = 64  # of an x of which one output is compared
MOST_NUMBERS = 1000  # of a module's parameters that are written into a test
MARGIN = 2.0  # times the tolerance
DIGITS = {torch.float64: 15, torch.float32: 7}  # of expected numbers; those of x are exact
EXACT = {
    torch.float64: np.float64,
    torch.float32: np.float32,
    torch.float16: np.float16,
}  # prints what identifies a number

Plain = float | str | list["Plain"]


@dataclass(frozen=True, eq=False)
class Example:
    """The smallest x found on which a function differs from a layer: printed, it is a test for pytest.

    x         a tensor
    got       the output of the function
    expected  the output of the layer, with the gamma, beta and stored statistics of the function
    test      the text of the test
    """

    x: Tensor
    got: Tensor
    expected: Tensor
    test: str

    def __str__(self) -> str:
        return self.test

    __repr__ = __str__

    def to_dict(self) -> dict[str, Plain]:
        """The example as plain values, for JSON; "nan", "inf" and "-inf" are texts."""
        values = {"x": self.x, "got": self.got, "expected": self.expected}
        return {name: _plain(value.double().tolist()) for name, value in values.items()} | {"test": self.test}


def _plain(value: object) -> Plain:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    assert isinstance(value, float)
    return value if isfinite(value) else str(value)


@dataclass(frozen=True, eq=False)
class _Case:
    """An x, and values of the function's tensors. ``arranged`` gives x its strides."""

    compared: LayerComparison
    x: Tensor
    values: Mapping[int, Tensor]
    arranged: Callable[[Tensor], Tensor] = torch.clone

    def outputs(self) -> tuple[Tensor, Tensor] | None:
        """The output of the function and of the layer, if they differ; None if the function does not take this x, too."""
        compared, x = self.compared, self.arranged(self.x)
        try:
            got = compared.function(x, self.values)
            exact = compared.exact(x, self.values)
            tensors = compared.function.with_values(self.values)
            error = compared.error_of(got, x, compared.best, tensors, x.dtype, strict=True)
        except (NormvizError, RuntimeError):  # gamma and beta do not fit this size
            return None
        wanted = exact.to(got.dtype)
        relative, absolute = self.tolerances(got.dtype)
        near = torch.allclose(got, wanted, MARGIN * relative, MARGIN * absolute, equal_nan=True)
        return None if error.ok or near or not exact.isfinite().all() else (got, wanted)

    def tolerances(self, dtype: torch.dtype) -> tuple[float, float]:
        """The relative and the absolute tolerance of a test: larger where right code has larger rounding errors, as far from zero."""
        low = min(self.x.dtype, dtype, key=lambda one: one.itemsize)
        relative, absolute = TOLERANCES[low]
        rounding = TIMES * self.compared.rounding(self.x, self.values, low)
        return relative, absolute if rounding < absolute else float(f"{1.5 * rounding:.0e}")


class _Search:
    """The search for a smaller case, which calls the function at most ``MOST_CALLS`` times."""

    def __init__(self) -> None:
        self.left = MOST_CALLS

    def first(self, cases: Iterator[_Case]) -> _Case | None:
        """The first one of the cases that shows a difference."""
        for case in cases:
            if self.left <= 0:
                return None
            self.left -= 1
            if case.outputs() is not None:
                return case
        return None


def example_of(subject: Subject, shape: Index | None = None, mode: str = "") -> Example | None:
    """The smallest x found on which the output differs; None if none was found.

    shape  of an x on which it differs, if not that of the given x
    mode   of the module in the test, if not that of the given one
    """
    if not subject.compared.alive or not subject.compared.reference.is_known:
        return None
    search, function = _Search(), subject.function
    with own_dtypes(function):
        case = search.first(_beginnings(subject, shape or tuple(subject.x.shape)))
        if case is None:
            return None
        on = subject.on if shape is None else subject.on_norm
        case = _fewer(case, on, search)
        for step in (_rounder, _fewer_digits_of_parameters):
            case = search.first(step(case)) or case
        case = _with_zeros(case, search)
        shown = case.outputs()
        if shown is None:  # the function is another one after some calls
            return None
        expected = subject.compared.expected
        is_other = expected.layer is not None and case.compared.expected.layer is None
        title = _("{layer}, for x of this size", layer=expected.title) if is_other else expected.title
        is_in_eval = probe.has_modes(function.fn) and not function.fn.training
        test = _test(case, *shown, title, mode or ("eval" if is_in_eval else ""))
        return Example(case.arranged(case.x), *shown, test)


def _beginnings(subject: Subject, shape: Index) -> Iterator[_Case]:
    """The given x, and others like it, with the function's own values and with others; then these in other places of the memory."""
    compared, function, given = subject.compared, subject.function, subject.x
    several: list[Mapping[int, Tensor]] = [{}]
    if shape != tuple(given.shape):
        sizes = {old: new for old, new in zip(given.shape, shape, strict=True) if old != new}
        expected = subject.on_norm(shape)
        if expected is None:
            return
        compared, resized = compared.resized(expected, sizes)
        several = [resized]
    else:
        others = signed_values(parameters_of(function), 4) | other_statistics(function, compared.reference, 4)
        if all(_can_be_set(function, i) for i in others):
            several.append({i: (10 * one).round() / 10 for i, one in others.items()})
    eps = compared.reference.norm.eps or 0.0
    small = probe.generic(shape, torch.float64, 13) - 0.5
    inputs = [] if shape != tuple(given.shape) else [given.contiguous()]
    inputs += [compared.alike(shape, seed).to(given.dtype) for seed in (11, 42)]
    inputs += [(small * scale * eps**0.5).to(given.dtype) for scale in EPS_SCALES if eps]
    inputs.append(torch.full(shape, compared.mean, dtype=given.dtype))
    for values in several:
        for x in inputs:
            yield _Case(compared, x, values)
    for number in range(2 if len(shape) > 1 else 1):
        yield _Case(compared, inputs[0], several[0], lambda x, number=number: list(with_strides(x))[number])  # type: ignore[misc]


def _fewer(case: _Case, on: Callable[[Index], object], search: _Search) -> _Case:
    """The case with fewer elements along one axis after the other, around the largest difference."""
    shown = case.outputs()
    assert shown is not None
    wrong = (shown[0].double() - shown[1].double()).abs().nan_to_num(torch.inf)
    at = np.unravel_index(int(wrong.argmax()), wrong.shape)
    for axis in range(case.x.dim()):
        smaller = [_narrowed(case, axis, size, int(at[axis]), on) for size in range(1, min(4, case.x.shape[axis]))]
        case = search.first(one for one in smaller if one is not None) or case
    return case


def _narrowed(case: _Case, axis: int, size: int, at: int, on: Callable[[Index], object]) -> _Case | None:
    """The case with this size of an axis, and with the part of x that has the index ``at``."""
    old, shape = case.x.shape[axis], list(case.x.shape)
    shape[axis] = size
    expected = on(tuple(shape))
    if expected is None:
        return None
    compared, fresh = case.compared.resized(expected, {old: size})  # type: ignore[arg-type]
    function = compared.function
    values = dict(case.values)
    for position, value in fresh.items():
        own = values.get(position, function.values[position])
        values[position] = own[tuple(slice(n) for n in value.shape)]
    x = case.x.narrow(axis, min(at, old - size), size).contiguous()
    return replace(case, compared=compared, x=x, values=values)


def rounded(x: Tensor, digits: int) -> Tensor:
    """Integers for 0 digits; else numbers with so many digits of the largest one.

    >>> rounded(torch.tensor([0.00234, -0.0111]), 1).tolist() == torch.tensor([0.0, -0.01]).tolist()
    True
    """
    largest = float(x.double().abs().nan_to_num(posinf=0.0).max()) if x.numel() else 0.0
    if digits == 0 or not largest:
        return x.round()
    step = 10.0 ** (floor(log10(largest)) - digits + 1)
    return ((x.double() / step).round() * step).to(x.dtype)


def _rounder(case: _Case) -> Iterator[_Case]:
    """The case with integers, or with few digits."""
    for digits in (0, 1, 2, 3):
        yield replace(case, x=rounded(case.x, digits))


def _fewer_digits_of_parameters(case: _Case) -> Iterator[_Case]:
    """The case with rounder values of the function's tensors."""
    if case.values:
        for digits in (0, 1):
            values = {i: rounded(one, digits) if one.is_floating_point() else one for i, one in case.values.items()}
            yield replace(case, values=values)


def _with_zeros(case: _Case, search: _Search) -> _Case:
    """The case with zeros, in blocks of elements that get smaller; then with ones."""
    size = case.x.numel()
    while size > 1:
        size = (size + 1) // 2
        for start in range(0, case.x.numel(), size):
            flat = case.x.flatten().clone()
            if flat[start : start + size].any():
                flat[start : start + size] = 0
                case = search.first(iter([replace(case, x=flat.reshape(case.x.shape))])) or case
    nonzero = case.x.flatten().nonzero().flatten().tolist()
    unit = 10.0 ** floor(log10(float(case.x.double().abs().max()))) if nonzero and case.x.isfinite().all() else 1.0
    for position in nonzero if len(nonzero) <= MANY else ():
        flat = case.x.flatten().clone()
        if float(flat[position]) != unit:
            flat[position] = unit
            case = search.first(iter([replace(case, x=flat.reshape(case.x.shape))])) or case
    return case


# The test


def _can_be_set(function: Function, position: int) -> bool:
    """Whether a test can give this tensor of the function other values: an argument, or one of the module."""
    return function.is_argument(position) or position in _registered(function)


def _registered(function: Function) -> dict[int, str]:
    """The names of the module's parameters and buffers, by position."""
    if not isinstance(function.fn, nn.Module):
        return {}
    named = [*function.fn.named_parameters(), *function.fn.named_buffers()]
    names = {id(tensor): name for name, tensor in named if tensor.is_floating_point()}
    return {i: names[id(tensor)] for i, tensor in enumerate(function.tensors) if id(tensor) in names}


def _test(case: _Case, got: Tensor, expected: Tensor, layer: str, mode: str) -> str:
    """The text of a test that fails for the function and passes for the layer. ``mode``: into which it puts the module, or ""."""
    function, x = case.compared.function, case.arranged(case.x)
    returned = function.raw(x, case.values)  # afterwards its tensors have these values
    imports, lines = [_LIBRARIES[function.kind]], _lines_of_x(case.x, function)
    if not x.is_contiguous():
        places = 1 + sum(step * (size - 1) for step, size in zip(x.stride(), x.shape, strict=True))
        lines.append(f"x = torch.ones({places}, device=x.device).as_strided({tuple(x.shape)}, {x.stride()}).copy_(x)")
    lines += [f"module.{mode}()"] if mode else []
    at, shown = "", expected
    if x.numel() > MANY_ELEMENTS:
        index = np.unravel_index(int((got.double() - expected).abs().nan_to_num(torch.inf).argmax()), got.shape)
        at, shown = str([int(i) for i in index]), expected[index]
    lines.append(
        f"got = {_call(function, case.x, case.values)}{'[0]' if isinstance(returned, tuple | list) else ''}{at}"
    )
    lines.append(f"expected = {_code(function.own_array(shown), is_exact=False)}  # {layer}")
    relative, absolute = case.tolerances(got.dtype)
    if function.kind == probe.TENSORS:
        same = "" if got.dtype == x.dtype else ", check_dtype=False"
        same += "" if (relative, absolute) == TOLERANCES[got.dtype] else f", rtol={relative:g}, atol={absolute:g}"
        lines.append(f"torch.testing.assert_close(got, expected{same})")
    else:
        imports = list(dict.fromkeys([*imports, _LIBRARIES[probe.ARRAYS]]))
        lines.append(f"np.testing.assert_allclose(got, expected, rtol={relative:g}, atol={absolute:g})")
    function.restore()
    name = "it" if _name(function) == "fn" else _name(function)
    return "\n".join([*imports, "", "", f"def test_{name}():", *(f"    {line}" for line in lines)])


_LIBRARIES = {probe.TENSORS: "import torch", probe.ARRAYS: "import numpy as np", probe.JAX: "import jax.numpy as jnp"}


def _lines_of_x(x: Tensor, function: Function) -> list[str]:
    """x in code: where it has many elements, its nonzero ones."""
    nonzero = x.nonzero().tolist()
    if x.numel() <= MANY_ELEMENTS or len(nonzero) > MANY or function.kind == probe.JAX:
        return [f"x = {_code(function.own_array(x))}"]
    library = "torch" if function.kind == probe.TENSORS else "np"
    dtype = _code(function.own_array(x[:0].flatten())).removeprefix(f"{library}.").partition("[]")[2]
    values = [f"x{at} = {_numbers(x[tuple(at)], library)}" for at in nonzero]
    return [f"x = {library}.zeros({tuple(x.shape)}{dtype}", *values]


def _call(function: Function, x: Tensor, values: Mapping[int, Tensor]) -> str:
    """The call of the function, whose tensors have these values."""
    name = _name(function)
    arguments = {one: _code(value, name=one) for one, value in function.arguments(x).items()}
    state = {one: values.get(i, function.values[i]) for i, one in _registered(function).items()}
    if state and sum(value.numel() for value in state.values()) <= MOST_NUMBERS:
        own = ", ".join(f'"{one}": {_code(value)}' for one, value in state.items())
        given = ", ".join(f'"{one}": {value}' for one, value in arguments.items())
        return f"torch.func.functional_call(module, {{{own}}}, (x,){f', {{{given}}}' if given else ''})"
    return f"{name}({', '.join(['x', *(f'{one}={value}' for one, value in arguments.items())])})"


def _name(function: Function) -> str:
    """How the test calls the function."""
    if isinstance(function.fn, nn.Module):
        return "module"
    name = str(getattr(function.fn, "__name__", "fn"))
    return name if name.isidentifier() else "fn"


def _code(value: object, name: str = "", is_exact: bool = True) -> str:
    """A value as code; the name for a value that has no short code."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_code(one, str(key))}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        several = ", ".join(_code(one, name) for one in value)
        return f"[{several}]" if isinstance(value, list) else f"({several}{',' * (len(value) == 1)})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Tensor):
        dtype = "" if value.dtype in (torch.float32, torch.int64, torch.bool) else f", dtype={value.dtype}"
        device = "" if value.device.type == "cpu" else f', device="{value.device}"'
        return f"torch.tensor({_numbers(value, 'torch', is_exact)}{dtype}{device})"
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64) else f', dtype="{value.dtype}"'
        return f"np.array({_numbers(torch.as_tensor(value), 'np', is_exact)}{dtype})"
    if probe.is_jax(value):
        return f"jnp.array({_numbers(probe.from_jax(value), 'jnp', is_exact)})"
    return name


def _numbers(value: Tensor, library: str, is_exact: bool = True) -> str:
    def shown(one: float) -> str:
        if is_exact and value.dtype in EXACT:
            return str(EXACT[value.dtype](one))
        return f"{one:.{DIGITS.get(value.dtype, 5)}g}"

    def text(one: object) -> str:
        if isinstance(one, list):
            return f"[{', '.join(map(text, one))}]"
        if not isinstance(one, float):
            return repr(one)
        return repr(float(shown(one)) + 0.0) if isfinite(one) else str(one).replace("nan", f"{library}.nan").replace("inf", f"{library}.inf")  # fmt: skip

    return text(value.detach().tolist())
