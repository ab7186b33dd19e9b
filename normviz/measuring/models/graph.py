"""The operations that a model's own modules run, as a graph of which a part can run again.

So a formula in the middle of a larger module is found, and the gamma and beta that a module applies to the output of a norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import isclose
from typing import Any

import torch
from torch import Tensor, nn

from normviz.measuring.models.kept import MOVES, ByTensor, Room, has_values, part_of
from normviz.measuring.models.layout import Shape


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


CASTS = _set("to float double half bfloat16 type type_as contiguous clone detach")
BROADCASTS = _set("expand expand_as repeat repeat_interleave broadcast_to")
PRODUCTS = _set("mul rmul imul multiply div truediv itruediv rtruediv true_divide divide")
SUMS = _set("add radd iadd sub rsub isub subtract neg addcmul addcdiv")
AFFINE = PRODUCTS | SUMS | CASTS | MOVES
REDUCTIONS = _set("mean var std var_mean std_mean sum einsum norm vector_norm linalg_norm linalg_vector_norm")
ROOTS = _set("sqrt rsqrt std std_mean norm vector_norm linalg_norm linalg_vector_norm")
POWERS = _set("pow square float_power abs")
SIMPLE = AFFINE | BROADCASTS | REDUCTIONS | ROOTS | POWERS | _set("clamp clamp_min maximum reciprocal getitem")
ACTIVATIONS = _set(
    "relu relu6 gelu silu elu selu celu leaky_relu leakyrelu prelu mish hardswish hardsigmoid hardtanh sigmoid tanh softplus "
    "max maximum clamp"
)
NONE, REDUCED, ROOTED, INVERSE = range(4)  # whether a tensor is made of means; of their root; of 1 / root
MOST_NODES = 64  # of a formula
LOW = (torch.float16, torch.bfloat16)


@dataclass(eq=False, repr=False)
class Node:
    """A tensor of the forward pass, and what made it.

    number    its place in the order of execution
    function  what computed it from ``args`` and ``kwargs``, whose tensors are nodes; None if it comes from elsewhere
    item      which of several outputs it is
    fixed     a parameter, a buffer, or a number of the model
    is_fixed  whether it follows from those alone
    state     NONE, REDUCED, ROOTED or INVERSE
    users     what is computed from it
    sample    a part of its values, if a mean of it is taken
    is_whole  whether a function of others computed it, of whose operations nothing is seen
    """

    number: int
    shape: Shape
    name: str = ""
    function: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    item: int | None = None
    fixed: Tensor | None = None
    parents: tuple[Node, ...] = ()
    is_fixed: bool = False
    state: int = NONE
    users: list[Node] = field(default_factory=list)
    sample: Tensor | None = None
    parameter: str = ""
    is_whole: bool = False

    @property
    def elements(self) -> int:
        return torch.Size(self.shape).numel()

    def __lt__(self, other: Node) -> bool:
        return self.number > other.number  # the last one is the first of a heap


class Graph:
    """The nodes of a forward pass."""

    def __init__(self, model: nn.Module) -> None:
        self.nodes = ByTensor[Node]()
        self.room = Room()
        self.count = 0
        # what is divided by a root, and the modules that run
        self.quotients: list[tuple[Node, tuple[nn.Module, ...]]] = []
        self.fixed = ByTensor[str]()
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            self.fixed.put(tensor, name)

    def node(self, tensor: Tensor) -> Node:
        """The node of a tensor."""
        known = self.nodes.get(tensor)
        if known is None:
            name = self.fixed.get(tensor)
            is_fixed = name is not None or tensor.dim() == 0
            known = self._made(tensor, fixed=tensor if is_fixed else None, is_fixed=is_fixed, parameter=name or "")
        return known

    def _made(self, tensor: Tensor, **given: Any) -> Node:
        self.count += 1
        node = Node(self.count, tuple(tensor.shape), **given)
        self.nodes.put(tensor, node)
        for parent in node.parents:
            parent.users.append(node)
        return node

    def other(self, output: Tensor, inputs: Sequence[object], name: str) -> Node:
        """The output of a layer, or of anything else whose operations are not seen."""
        parents = tuple(self.node(one) for one in inputs if isinstance(one, Tensor))
        return self._made(output, parents=parents, name=name)

    def add(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any,
        running: tuple[nn.Module, ...],
    ) -> None:  # fmt: skip
        """What an operation makes."""
        parents: list[Node] = []

        def seen(value: Any) -> Any:
            if isinstance(value, Tensor):
                parents.append(self.node(value))
                return parents[-1]
            if type(value) in (list, tuple):
                return type(value)(map(seen, value))
            return value

        name = name_of(function)
        replaced, named = tuple(map(seen, args)), {key: seen(value) for key, value in kwargs.items()}
        if name in REDUCTIONS or name in POWERS:
            self._sample(args, parents)
        several = list(enumerate(output)) if isinstance(output, tuple | list) else [(None, output)]
        for item, one in several:
            if not isinstance(one, Tensor):
                continue
            state = _state(name, one.numel(), parents, replaced)
            is_quotient = bool(_divided(name, one.numel(), parents, replaced))
            node = self._made(
                one, name=name, function=function, args=replaced, kwargs=named, item=item, parents=tuple(parents),
                is_fixed=bool(parents) and all(parent.is_fixed for parent in parents),
                state=NONE if is_quotient else state,
            )  # fmt: skip
            if is_quotient:
                self.quotients.append((node, running))
        if name == "setitem" and parents:
            self.nodes.put(args[0], None)

    def add_function(
        self,
        function: type[torch.autograd.Function],
        args: tuple[Any, ...],
        output: Any,
        running: tuple[nn.Module, ...],
    ) -> None:
        """What a function of others makes, such as a kernel of Triton: it may be a norm if its output has the shape of x."""
        x = next((one for one in args if isinstance(one, Tensor)), None)
        y = output[0] if isinstance(output, tuple | list) and output else output
        if x is None or not isinstance(y, Tensor) or y is x:
            return
        self.add(function.apply, args, {}, output, running)
        node = self.node(y)
        node.name, node.is_whole = function.__name__, True
        if x.shape == y.shape and x.is_floating_point():
            self._sample(args, node.parents)
            self.quotients.append((node, running))

    def _sample(self, args: tuple[Any, ...], parents: Sequence[Node]) -> None:
        x = args[0] if args else None
        if parents and isinstance(x, Tensor) and parents[0].sample is None and x.is_floating_point() and has_values(x):
            rank = x.dim()
            parents[0].sample = part_of(x, lambda axis, _size: axis in (1, rank - 1), self.room)


def name_of(function: Any) -> str:
    """The name of an operation: the same for ``torch.mul``, ``Tensor.__mul__``, ``Tensor.mul_`` and ``aten.mul.Tensor``."""
    name = str(getattr(function, "__name__", ""))
    if name == "__get__":
        name = str(getattr(getattr(function, "__self__", None), "__name__", name))
    return name.partition(".")[0].strip("_")


def _state(name: str, elements: int, parents: Sequence[Node], args: Sequence[Any]) -> int:
    if name in REDUCTIONS and any(parent.elements > elements for parent in parents):
        return ROOTED if name in ROOTS else REDUCED
    own = [one for one in parents if not one.is_fixed] or list(parents)
    is_scale = len(own) == 1 or name in BROADCASTS
    found = max((one.state for one in own if is_scale or one.elements == elements), default=NONE)
    power = args[1] if name == "pow" and len(args) > 1 else None
    if found == NONE or name not in SIMPLE:
        return NONE
    if name == "rsqrt" or power == -0.5 or (name == "reciprocal" and found == ROOTED):
        return INVERSE
    if name in ROOTS or power == 0.5:
        return ROOTED
    divides = name in ("div", "truediv", "true_divide", "divide", "rtruediv")
    return INVERSE if divides and getattr(_denominator(name, args), "state", NONE) == ROOTED else found


def _denominator(name: str, args: Sequence[Any]) -> Any:
    return args[0] if name == "rtruediv" else args[1] if len(args) > 1 else None


def _divided(name: str, elements: int, parents: Sequence[Node], args: Sequence[Any]) -> Node | None:
    """What is divided by a root of means, or None."""
    if name not in PRODUCTS or len(parents) != 2:
        return None
    for x, scale in (parents, parents[::-1]):
        is_inverse = scale.state == INVERSE and "div" not in name
        is_root = scale.state == ROOTED and "div" in name and _denominator(name, args) is scale
        if (is_inverse or is_root) and x.elements == elements and x.state != scale.state:
            if x.is_fixed and scale.elements == elements and not scale.is_fixed:
                continue  # gamma / root
            return x
    return None


# Parts of the graph


def dominators(end: Node, ends: Iterable[Node] = ()) -> Iterator[tuple[Node, bool]]:
    """The tensors on which all that leads to this one depends, from the nearest on; whether a mean is taken after each."""
    heap, seen, reduced, stops = [end], {end}, False, set(ends)
    while heap and len(seen) < MOST_NODES:
        node = heappop(heap)
        if not heap and node is not end:
            yield node, reduced
            reduced = False
        if node is not end and (node.function is None or node.name not in SIMPLE or node in stops):
            return
        reduced |= node.name in REDUCTIONS or node.is_whole
        for parent in node.parents:
            if parent not in seen and (end.is_fixed or not parent.is_fixed):
                seen.add(parent)
                heappush(heap, parent)


def region(end: Node, start: Node) -> list[Node] | None:
    """What has to be computed of ``end`` if ``start`` is known, in order; None if it needs another tensor."""
    found, waiting = {start}, [end]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        if (node.function is None and node.fixed is None) or len(found) > MOST_NODES:
            return None
        found.add(node)
        waiting += node.parents
    return sorted(found - {start}, key=lambda node: node.number)


def chain(start: Node, with_means: bool = False) -> list[Node]:
    """What a tensor goes through next, as long as that is one product with a parameter or one sum with it after the other.

    with_means  whether means of the same tensor may be used, too, as in x * a - mean * a
    """
    found = [start]
    while len(found[-1].users) == 1:
        (user,) = found[-1].users
        others = [parent for parent in user.parents if parent is not found[-1]]
        fixed = all(one.is_fixed or (with_means and one.state != NONE) for one in others)
        if user.name not in AFFINE or user.function is None or not fixed or len(found) > MOST_NODES:
            break
        found.append(user)
    return found[1:]


def candidates(quotient: Node, ends: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """What a formula with this quotient may be: from which tensor, to which, the longest one first.

    ends  the results of other formulas, of which this one may be made
    """
    several = list(dominators(quotient, ends))
    starts = list[Node]()
    for place in reversed([k for k, (_node, reduced) in enumerate(several) if reduced]):
        starts.append(several[place][0])
        for node, _reduced in several[place + 1 :]:  # an axis may be split before
            if not all(user.name in MOVES for user in node.users if user.number <= starts[-1].number):
                break
            starts.append(node)
    for end in reversed([quotient, *chain(quotient, True)]):
        yield from ((start, end) for start in starts if start.shape == end.shape and region(end, start) is not None)


def source(node: Node) -> str:
    """The name of the largest parameter that it is made of."""
    several = [node, *(region(node, Node(0, ())) or ())]
    return max(several, key=lambda one: one.elements if one.parameter else 0).parameter


def learned_in(end: Node, start: Node) -> dict[str, nn.Parameter]:
    """The parameters in a part of the graph, by their names in the model."""
    return {one.parameter: one.fixed for one in region(end, start) or () if isinstance(one.fixed, nn.Parameter)}


class Tensors(nn.Module):
    """A parameter or a buffer under its own name."""

    def __init__(self, name: str, tensor: Tensor) -> None:
        super().__init__()
        self.name = name.rpartition(".")[2].removeprefix("original") or "number"
        if isinstance(tensor, nn.Parameter):
            self.register_parameter(self.name, nn.Parameter(tensor.detach().clone()))
        else:
            self.register_buffer(self.name, tensor.detach().clone())

    @property
    def tensor(self) -> Any:
        return getattr(self, self.name)


@dataclass(frozen=True)
class Place:
    """A tensor of a part of a graph, by its number there: 0 is the first one."""

    number: int


@dataclass(frozen=True)
class GraphStep:
    """An operation of a part of a graph, or its next parameter.

    given  the places of the tensors that it is given
    """

    name: str
    function: Callable[..., Any] | None
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    item: int | None
    given: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"{self.name}{self.args}{self.kwargs}{self.item}"


def steps(end: Node, start: Node) -> tuple[GraphStep, ...]:
    """A part of a graph without its tensors."""
    places = {start: 0}

    def placed(value: Any) -> Any:
        if isinstance(value, Node):
            return Place(places[value])
        return type(value)(map(placed, value)) if type(value) in (list, tuple) else value

    found = []
    for node in region(end, start) or ():
        kwargs = tuple((name, placed(value)) for name, value in node.kwargs.items())
        given = tuple(places[parent] for parent in node.parents)
        function = None if node.fixed is not None else node.function
        found.append(GraphStep(node.name, function, tuple(map(placed, node.args)), kwargs, node.item, given))
        places[node] = len(found)
    return tuple(found)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, tuple | list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, int | float):
        yield float(value)


def _is_whole(index: object) -> bool:
    """Whether an index takes all elements of each axis."""
    several = index if isinstance(index, tuple) else (index,)
    return all(one is None or one is ... or one == slice(None) for one in several)


class Replay(nn.Module):
    """A part of a graph as a module: what is computed from ``start``, or from what ``inner`` makes of x in place of it."""

    def __init__(self, end: Node, start: Node, inner: nn.Module | None = None) -> None:
        super().__init__()
        self.inner, self.sizes, self.steps = inner, dict[int, int](), steps(end, start)
        fixed = [node for node in region(end, start) or () if node.fixed is not None]
        self.tensors = nn.ModuleList(Tensors(one.parameter, one.fixed) for one in fixed if one.fixed is not None)

    def depends_on(self, size: int) -> bool:
        """Whether a number in it is, or may follow from, the size of an axis."""
        numbers = [value for step in self.steps for value in _numbers((step.args, step.kwargs))]
        is_number = any(isclose(number, size**power) for number in numbers for power in (1, 0.5, -0.5, -1))
        return is_number or self.takes_parts

    @property
    def takes_parts(self) -> bool:
        """Whether it takes a part of an axis, such as x[..., :4], which may be the whole axis of a smaller x."""
        return any(step.name == "getitem" and not _is_whole(step.args[1]) for step in self.steps)

    @property
    def text(self) -> str:
        """The same for the same operations."""
        return ", ".join(step.text for step in self.steps)

    def forward(self, x: Tensor) -> Any:
        y = x if self.inner is None else self.inner(x)
        y = y[0] if isinstance(y, tuple | list) else y
        known, fixed = [y], iter(self.tensors)
        for step in self.steps:
            known.append(next(fixed).tensor if step.function is None else self._run(step, known, x))
        output = known[-1]
        return output if self.inner is None else self._moved_back(output, y)

    def _run(self, step: GraphStep, known: Sequence[Any], x: Tensor) -> Any:
        def given(value: Any) -> Any:
            if isinstance(value, Place):
                return known[value.number]
            if type(value) in (list, tuple):
                return type(value)(map(given, value))
            if isinstance(value, torch.device):
                return x.device
            if type(value) is int:
                return self.sizes.get(value, value)
            return x.dtype if value in LOW else value

        assert step.function is not None
        args, kwargs = list(map(given, step.args)), {name: given(value) for name, value in step.kwargs}
        if step.name in ("half", "bfloat16"):
            return args[0].to(x.dtype)
        if getattr(step.function, "__name__", "").endswith("_"):  # it may write into its first argument
            args[:1] = [one.clone() if isinstance(one, Tensor) else one for one in args[:1]]
        output = step.function(*args, **kwargs)
        return output if step.item is None else output[step.item]

    def _moved_back(self, output: Tensor, y: Tensor) -> Tensor:
        """The output with the axes of y."""
        known: list[Any] = [torch.arange(y.numel(), device=y.device).reshape(y.shape)]
        for step in self.steps:
            moved = next((known[place] for place in step.given if known[place] is not None), None)
            known.append(self._run(step, known, y) if step.name in MOVES and moved is not None else moved)
        return output.flatten()[known[-1].flatten().argsort()].reshape(y.shape)
