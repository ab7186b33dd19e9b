"""Modules of Flax as modules of torch, so that they are measured and compared as all others.

A model of Linen is bound to its variables, as in ``model.bind(variables)``; one of NNX has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from normviz.measuring.models.kept import Trail, part_of
from normviz.measuring.models.recording import Call, Failure
from normviz.measuring.probe import ENDS, STATISTICS, from_jax, is_jax
from normviz.texts.errors import NormvizError

STORED = dict(zip(("mean", "var"), STATISTICS, strict=True))
MODE, CALL = "use_running_average", "__call__"
# Of packages that need not be installed
Array: TypeAlias = Any
Model: TypeAlias = Any
Arguments = tuple[Array, ...]
Named = Mapping[str, Array]
Function = Callable[..., Array]
Path = tuple[str, ...]  # of a variable: its collection, and its name
Variables = Mapping[Any, Array]  # by paths; of Linen, by collections
Apply = Callable[
    [Variables, Array, bool], tuple[Array, Variables]
]  # the variables, x, training -> y, the new variables


def is_flax(model: object) -> bool:
    """Whether it is a module of Flax, which is not imported for this."""
    bases = [f"{one.__module__}.{one.__name__}" for one in type(model).__mro__]
    return any(one.startswith(("flax.linen.", "flax.nnx.")) and one.endswith(".Module") for one in bases)


class _Applied(torch.autograd.Function):
    """What a module of Flax computes of x and its parameters, with gradients; in train mode, it renews its buffers."""

    @staticmethod
    def forward(ctx: Any, module: FlaxModule, x: Tensor, *learned: Tensor) -> Tensor:
        with _precision(x):
            stored = {module.paths[name]: _to_jax(one.to(x.dtype)) for name, one in module.named_buffers()}
            names, training = [module.paths[name] for name, _one in module.named_parameters()], module.training

            def apply(x: Array, *values: Array) -> Array:
                return module.apply_to(dict(zip(names, values, strict=True)) | stored, x, training)

            ctx.of_arrays, ctx.given = apply, [*map(_to_jax, (x, *learned))]
            y, changed = apply(*ctx.given)
            for name, buffer in module.named_buffers():
                buffer.copy_(from_jax(changed.get(module.paths[name], stored[module.paths[name]])))
            return from_jax(y)

    @staticmethod
    def backward(ctx: Any, *dout: Tensor) -> Any:
        with _precision(dout[0]):
            _y, backwards, _changed = import_module("jax").vjp(ctx.of_arrays, *ctx.given, has_aux=True)
            return None, *map(from_jax, backwards(_to_jax(dout[0])))


def _precision(x: Tensor) -> Any:
    """Arrays of float64 exist only within this."""
    return import_module("jax").enable_x64(True) if x.dtype == torch.float64 else nullcontext()


def _to_jax(tensor: Tensor) -> Array:
    return import_module("jax.numpy").from_dlpack(tensor.detach().contiguous())


class FlaxModule(nn.Module):
    """A module of Flax with its variables as parameters and buffers. Its mode is that of ``training``, if it has modes.

    apply_to    computes y
    definition  the same text for modules that differ in their variables alone
    paths       of the variables in Flax, by the names of the parameters and buffers
    """

    def __init__(self, apply_to: Apply, variables: Variables, learned: Sequence[str], definition: str) -> None:
        super().__init__()
        compiled = import_module("jax").jit(apply_to, static_argnums=2)
        self.apply_to = lambda *given: compiled(*given)  # a copy of the module shares it
        self.definition, self.paths = definition, dict[str, Path]()
        for path, value in variables.items():
            name = path[-1] if path[0] in learned else STORED.get(path[-1], path[-1])
            self.paths[name] = path
            tensor = from_jax(value) if _has_values(value) else torch.ones(value.shape)
            if path[0] in learned:
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = _Applied.apply(self, x, *self.parameters())
        return y


def _has_values(array: object) -> bool:
    """Whether it is no tracer, as in a loop of JAX."""
    return is_jax(array) and not isinstance(array, import_module("jax").core.Tracer)


class _Watch:
    """The calls of the modules of a model, of which those without modules in them may be norms."""

    def __init__(self) -> None:
        self.calls: dict[object, Call] = {}
        self.open: list[bool] = []  # for each running module, whether it has called another one
        self.failure: Failure | None = None

    def run(
        self, name: str, module: object, function: Function, args: Arguments, kwargs: Named,
        read: Callable[[], FlaxModule],
    ) -> Array:  # fmt: skip
        """Call a module. ``read``: the module as one of torch."""
        self.open = [*([True] * len(self.open)), False]
        try:
            output = function(*args, **kwargs)
        except (Exception, *ENDS) as error:
            if self.failure is None or self.failure.error is not error:
                shapes = [tuple(one.shape) for one in args if hasattr(one, "shape")]
                self.failure = Failure(name, type(type(module).__name__, (nn.Module,), {})(), shapes, error)
            raise
        finally:
            has_parts = self.open.pop()
        x: Array = args[0] if args else None
        y = output[0] if isinstance(output, tuple) and output else output
        if not has_parts and hasattr(x, "shape") and getattr(y, "shape", None) == x.shape and x.ndim:
            self._add(name, module, x, read)
        return output

    def _add(self, name: str, module: object, x: Array, read: Callable[[], FlaxModule]) -> None:
        shape = tuple(x.shape)
        if (name, shape) in self.calls:
            self.calls[name, shape].count += 1
            return
        found = read()
        found.__class__ = type(type(module).__name__, (FlaxModule,), {})  # the name of its class is that in Flax
        call = Call(name, found, shape, shape, place=len(self.calls), trail=Trail(shape))
        if _has_values(x):
            rank = len(shape)
            call.x = part_of(from_jax(x), lambda axis, _size: axis in (1, rank - 1))
        self.calls[name, shape] = call


def record(
    model: Model, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[tuple[Call, ...], Failure | None, int]:
    """The calls of the modules that contain no others, where the model failed, and the number of elements of its parameters.

    Raises NormvizError for a model of Linen without variables.
    """
    watch, is_linen = _Watch(), hasattr(model, "unbind")
    run, parameters = (_linen if is_linen else _nnx)(model, watch)
    failure = None
    try:
        with import_module("jax").disable_jit():  # so that arrays have values
            run(*args, **kwargs)
    except (Exception, *ENDS) as error:
        seen = watch.failure
        empty = type(type(model).__name__, (nn.Module,), {})()
        failure = seen if seen is not None and seen.error is error else Failure("", empty, [], error)
    leaves = import_module("jax").tree.leaves(parameters)
    return tuple(watch.calls.values()), failure, sum(one.size for one in leaves)


def _linen(model: Model, watch: _Watch) -> tuple[Function, Variables]:
    """A function that runs a model of Linen; its parameters."""
    linen, core, jax = import_module("flax.linen"), import_module("flax.core"), import_module("jax")
    if getattr(model, "scope", None) is None:
        raise NormvizError(
            "{model} has no variables; give model.bind(variables), with variables = model.init(key, x).",
            model=type(model).__name__,
        )
    rngs = {name: jax.random.key(0) for name in ("dropout", *model.scope.rngs)}
    module, variables = model.unbind()

    def seen(function: Function, args: Arguments, kwargs: Named, context: Any) -> Array:
        if context.method_name != "__call__":
            return function(*args, **kwargs)
        inner = context.module
        before = inner.unbind()
        return watch.run(
            ".".join(inner.path), inner, function, args, kwargs, lambda: _of_linen(before, args[1:], kwargs)
        )

    def run(*args: object, **kwargs: object) -> None:
        with linen.intercept_methods(seen):
            module.apply(variables, *args, rngs=rngs, mutable=core.DenyList("params"), **kwargs)

    return run, variables.get("params", {})


def _of_linen(unbound: tuple[Model, Variables], args: Arguments, kwargs: Named) -> FlaxModule:
    module, variables = unbound
    flat: Variables = {(kind, name): value for kind, several in variables.items() for name, value in several.items()}
    has_mode = hasattr(module, MODE)
    mode = kwargs.get(MODE, args[0] if args and has_mode else None)
    named = {name: value for name, value in kwargs.items() if name != MODE}
    mode, given = getattr(module, MODE, None) if mode is None else mode, () if has_mode else args

    def apply(values: Variables, x: Array, training: bool) -> tuple[Array, Variables]:
        nested: dict[str, dict[str, Array]] = {}
        for (kind, name), value in values.items():
            nested.setdefault(kind, {})[name] = value
        own = module.clone(**{MODE: not training}) if has_mode else module
        y, changed = own.apply(nested, x, *given, mutable=[kind for kind in nested if kind != "params"], **named)
        return y, {(kind, name): value for kind, several in changed.items() for name, value in several.items()}

    found = FlaxModule(apply, flat, ["params"], f"{module} {args} {kwargs}")
    return found.train(not mode)


def _nnx(model: Model, watch: _Watch) -> tuple[Function, Variables]:
    """A function that runs a copy of a model of NNX; its parameters."""
    nnx = import_module("flax.nnx")
    model = nnx.clone(model)
    names = {id(module): ".".join(map(str, path)) for path, module in nnx.iter_modules(model)}

    def run(*args: object, **kwargs: object) -> None:
        with _seen_calls({type(module) for _path, module in nnx.iter_modules(model)}, names, watch):
            model(*args, **kwargs)

    return run, nnx.state(model, nnx.Param)


@contextmanager
def _seen_calls(kinds: set[type], names: Mapping[int, str], watch: _Watch) -> Iterator[None]:
    """Until the end, calls of objects of these classes are recorded."""

    def seen(kind: Any) -> Function:
        own = kind.__call__

        def call(module: Model, *args: Array, **kwargs: object) -> Array:
            if type(module) is not kind:  # by a class that is made of this one
                return own(module, *args, **kwargs)
            name = names.get(id(module), kind.__name__)
            before = import_module("flax.nnx").clone(module)
            return watch.run(
                name, module, partial(own, module), args, kwargs, lambda: _of_nnx(before, args[1:], kwargs)
            )

        return call

    before = {kind: vars(kind).get(CALL) for kind in kinds if any(CALL in vars(base) for base in kind.__mro__)}
    try:
        replaced = {kind: seen(kind) for kind in before}
        for kind, call in replaced.items():
            setattr(kind, CALL, call)
        yield
    finally:
        for kind, own in before.items():
            if own is None:
                delattr(kind, CALL)
            else:
                setattr(kind, CALL, own)


def _of_nnx(module: Model, args: Arguments, kwargs: Named) -> FlaxModule:
    nnx = import_module("flax.nnx")
    graph, learned, stored, rest = nnx.split(module, nnx.Param, nnx.BatchStat, ...)
    flat: Variables = {
        (kind, *map(str, path)): value[...]
        for kind, state in (("params", learned), ("stored", stored))
        for path, value in nnx.to_flat_state(state)
    }
    mode = kwargs.get(MODE, getattr(module, MODE, None))
    named = {name: value for name, value in kwargs.items() if name != MODE}

    def apply(values: Variables, x: Array, training: bool) -> tuple[Array, Variables]:
        own = nnx.merge(graph, learned, stored, rest, copy=True)
        if mode is not None:
            own.set_attributes(**{MODE: not training})
        for (_kind, *path), value in values.items():
            variable = own
            for part in path:
                variable = getattr(variable, part)
            variable[...] = value
        y = own(x, *args, **named)
        changed = {
            ("stored", *map(str, path)): one[...] for path, one in nnx.to_flat_state(nnx.state(own, nnx.BatchStat))
        }
        return y, changed

    plain = {name: value for name, value in vars(module).items() if isinstance(value, int | float | str | tuple | None)}
    found = FlaxModule(apply, flat, ["params"], f"{type(module)} {plain} {args} {kwargs}")
    return found.train(not mode)
