"""Scene: a tensor, a layer on it, and what is selected; and its settings, with which a teacher can write it by hand as a query.

``?shape=2,4,3,5&layer=LayerNorm([4,3,5])&data=normal&seed=0&at=1,2,0,3``

``normviz.scene.view`` reads queries. Descriptions of scenes are computed once for all pages, sessions and exports that show the same scene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from numbers import Integral
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from normviz.analysis import checks, examples
from normviz.analysis.description import Description, describe_shape
from normviz.analysis.forward import Values
from normviz.analysis.on_demand import MOST_HELD, OnDemand
from normviz.layers import arguments, catalogue, fit, pasted, sharing
from normviz.layers.axes import MAX_RANK, layout_text, parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene import options
from normviz.scene.grid import Grid, grid, start_with
from normviz.scene.setting import Number, Setting, number, or_none, plain_signs, read_number, write_settings
from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, ngettext

MOST_EDITABLE = 128  # elements whose values a link can hold
LONGEST_NUMBERS = 16 * MOST_EDITABLE  # characters: "-1.23456789e-10,"
LARGEST_SCALE = 3.0  # of a gamma or beta for all elements
LARGEST_INTEGER = 2**53 - 1  # the largest integer that JavaScript represents exactly


def commas(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def compact(layer: Layer | Norm | str) -> str:
    """The layer's text without the spaces between arguments: ``LayerNorm([4,3,5])``."""
    return (repr(layer) if isinstance(layer, Norm) else str(layer)).replace(", ", ",")


def query_of(layer: Layer | Norm | str, shape: tuple[int, ...], layout: str = "") -> dict[str, str]:
    """The query of the layer on a shape.

    layout  the letters of its axes; "" for the default ones

    >>> query_of("LayerNorm([4, 3])", (2, 4, 3))
    {'shape': '2,4,3', 'layer': 'LayerNorm([4,3])'}
    """
    query = {"shape": commas(shape), "layer": compact(layer)}
    return query | {"layout": layout} if layout else query


def _parse_numbers(name: str, text: str, most: int, convert: Callable[[str], object], example: str) -> tuple[Any, ...]:
    words = plain_signs(text).replace("(", "").replace(")", "").strip(" ,").split(",")
    if len(text) > LONGEST_NUMBERS:
        raise NormvizError(
            ngettext(
                "{name}={value} is too long; use at most {n} character.",
                "{name}={value} is too long; use at most {n} characters.",
                LONGEST_NUMBERS,
                name=name,
                value=echo(text),
            )
        )
    try:
        numbers = tuple(convert(word) for word in words)
    except (ValueError, OverflowError):
        raise NormvizError(
            "{name}={value} is not a list of numbers; write {name}={example}.",
            name=name,
            value=echo(text),
            example=example,
        ) from None
    if len(numbers) > most:
        raise NormvizError("the list {name} has length {n}; the limit is {most}.", name=name, n=len(numbers), most=most)
    return numbers


def _parse_shape(text: str) -> tuple[int, ...]:
    sizes = _parse_numbers("shape", text, MAX_RANK, int, options.SHAPE.example)
    if not all(1 <= size <= arguments.LARGEST_SIZE for size in sizes):
        raise NormvizError(
            "shape={value} has a size below 1 or above {most:,}; write shape=2,4,3,5.",
            value=echo(text),
            most=arguments.LARGEST_SIZE,
        )
    return sizes


def axes_of(layout: str) -> tuple[str, ...]:
    """The axes of a layout of any rank."""
    return parse_layout(layout, sum(letter.isalpha() for letter in layout))


def check_seed(seed: object, given: object) -> int:
    """The seed. Raises NormvizError, with the value as ``given``, unless it is a whole number from 0 to 2^31 - 1."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) not in checks.SEEDS:
        raise NormvizError(
            "{name}={value} must be a whole number from {low:,} to {high:,}.",
            name="seed",
            value=echo(given),
            low=checks.SEEDS[0],
            high=checks.SEEDS[-1],
        )
    return int(seed)


def _parse_seed(text: str) -> int:
    seed = read_number(text, "seed", whole=True)
    return check_seed(int(seed) if seed.is_integer() else None, text)


def _nearest_layer(text: str) -> Layer | Norm:
    """The layer with the name that was probably meant: ``batchnorm2d(3)`` is BatchNorm2d(3)."""
    try:
        return pasted.typed_layer(text, parse_layout("NCHW", 4))
    except NormvizError:
        name, _bracket, rest = text.partition("(")
        return Layer.parse(f"{closest(name.rpartition('.')[2].strip(), [*catalogue.KINDS, 'Norm'])}({rest}")


DATA_SETTING = options.DATA
SEED = replace(
    options.SEED,
    parse=_parse_seed,
    widget=Number(-LARGEST_INTEGER, LARGEST_INTEGER),
    applies=lambda view: view.scene.shown_data in ("normal", "scales", "images") and view.scene.values is None,
)
PARAMS = replace(options.PARAMS, applies=lambda view: view.scene.shape_description.counts.gamma_shape is not None)


def _for_all(setting: Setting) -> Setting:
    """A gamma or beta for all elements; by default the layer's own."""
    one = number(setting.name, -LARGEST_SCALE, LARGEST_SCALE, 0.0)
    return replace(setting, parse=one.parse, format=one.format, applies=PARAMS.applies)


def _numbers(setting: Setting, most: int, convert: Callable[[str], object], example: str = "") -> Callable[[str], Any]:
    """The parser of a list of numbers."""
    return lambda text: _parse_numbers(setting.name, text, most, convert, example or setting.example)


SCENE_SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        replace(options.SHAPE, parse=_parse_shape, format=commas),
        replace(options.LAYOUT, parse=lambda text: layout_text(axes_of(text))),
        Setting(
            "layer",
            None,
            Layer.parse,
            compact,
            _nearest_layer,
            about=N_("a torch.nn layer, with .eval() in eval mode; or a pattern, such as Norm('n c h w -> n h w','c')"),
            example="GroupNorm(2,4)",
        ),
        DATA_SETTING,
        SEED,
        replace(
            options.VALUES,
            parse=_numbers(options.VALUES, MOST_EDITABLE, float, "1,2,3.5"),
            format=lambda values: ",".join(
                f"{number:.9g}".replace("e+", "e") for number in values
            ),  # in a URL, "+" is a space
        ),
        PARAMS,
        _for_all(options.GAMMA),
        _for_all(options.BETA),
        replace(
            options.AT,
            parse=or_none(_numbers(options.AT, MAX_RANK, int)),
            format=lambda at: "none" if at is None else commas(at),
        ),
        replace(options.FROM, parse=_numbers(options.FROM, MAX_RANK, int), format=commas),
    )
}


# What a reader of a notebook brings: an x, and a module with its own gamma, beta and running statistics

OWN = "own"  # as ``data``, it is the reader's own x; as ``params``, it is gamma and beta of the reader's module


@dataclass(frozen=True, eq=False)
class Own:
    """A reader's own tensors. No link holds them, so they are compared by identity.

    x       the tensor; None if only a shape was given
    layer   of the module
    values  its gamma, beta and running statistics; None if the layer was given as text
    module  the name of its class, if it has a forward of its own: only one of its modes was measured
    frozen  whether it uses stored statistics in both modes
    """

    x: Tensor | None = None
    layer: Layer | Norm | None = None
    values: Values | None = None
    module: str = ""
    frozen: bool = False

    def has_x(self, shape: tuple[int, ...]) -> bool:
        """Whether x has this shape."""
        return self.x is not None and tuple(self.x.shape) == shape

    def has_values(self, layer: Layer | Norm, shape: tuple[int, ...]) -> bool:
        """Whether the module's tensors fit ``layer`` on ``shape``. The layer may differ from the module in eps and in its mode."""
        own = self.layer
        if self.values is None:
            return False
        if isinstance(own, Layer) and isinstance(layer, Layer):
            return own.name == layer.name and layer.with_(eps=own.given["eps"], training=own.training) == own
        if isinstance(own, Norm) and isinstance(layer, Norm) and replace(layer, eps=own.eps) == own:
            gamma = self.values.gamma
            return sharing.counts(own, shape).gamma_shape == (None if gamma is None else gamma.shape)
        return False

    def numbers(self, most: int, largest: float) -> tuple[float, ...] | None:
        """The values of x, row-major, as a link holds them; None if there are more than ``most``, or one that is not from -largest to largest."""
        if self.x is None or prod(self.x.shape) > most or not bool((self.x.abs() <= largest).all()):
            return None
        return tuple(map(shortest, self.x.flatten().tolist()))


# The Descriptions of scenes, computed once for all pages, sessions and exports that show the same scene.
# The cache is bounded in number and in bytes. Its values are shared: a page reads them and never writes into them. A view stores only
# its Scene, so the cache alone keeps tensors in memory.

SMALL = 4096  # elements; with every step of the forward pass about 100 kB
MOST_SMALL, MOST_LARGE = 256, 1


def _described(
    on_shape: Description,
    data: str,
    seed: int,
    values: tuple[float, ...] | None,
    params: str,
    for_all: tuple[float | None, float | None],
    own: Own | None,
) -> Description:
    """The layer on example values, on x's own ``values``, or on what a reader of a notebook brings.

    on_shape  the layer on the shape of x, without values
    for_all   gamma and beta for all elements; None: the layer's own
    """
    own = own or Own()
    brings = own.values if params == OWN else None
    if values is not None:
        x = examples.from_values(values, on_shape.shape)
        x = x if own.x is None else x.to(own.x)  # of the reader's own dtype and on the same device
    elif data == OWN and own.x is not None:
        x = own.x
    else:
        x = examples.example(data, on_shape.shape, on_shape.axes, seed)
    if brings is not None:
        of_module = next(iter(brings.tensors.values()), x)
        e = replace(on_shape, x=x if own.x is not None else x.to(of_module), values=brings)
    else:
        e = replace(on_shape, x=x, values=_layer_values(on_shape, params, seed, x))
    return e if for_all == (None, None) else replace(e, values=_with_constants(e.layer_values(), *for_all))


def _with_constants(values: Values, gamma: float | None, beta: float | None) -> Values:
    """The values with these constants instead of gamma and beta, where the layer has them."""
    given = {"gamma": gamma, "beta": beta}
    return replace(values, **{name: torch.full_like(values.tensors[name], constant) for name, constant in given.items() if constant is not None and name in values.tensors})  # fmt: skip


def _layer_values(on_shape: Description, params: str, seed: int, x: Tensor) -> Values:
    """The layer's values, of the dtype of x: gamma and beta as chosen, running statistics as in a new layer."""
    norm, values, gamma_shape = on_shape.norm, replace(on_shape, x=x).layer_values(), on_shape.counts.gamma_shape
    if gamma_shape is not None:
        gamma, beta = (value.to(x) for value in examples.parameters(params, gamma_shape, seed, norm.new_gamma))
        values = replace(values, gamma=gamma, beta=beta if norm.bias else None)
    if norm.running and values.running_mean is None:
        kept = [norm.axis_sizes(on_shape.shape)[name] for name in norm.pattern.right]
        values = replace(values, running_mean=x.new_zeros(kept), running_var=x.new_ones(kept))
    return values


def _on_demand(scene: Scene) -> Description:
    """The layer on an example that is too large to hold."""
    on_shape, norm = scene.shape_description, scene.shape_description.norm
    brings = scene.own.values if scene.own else None
    found = {"x": examples.example_on_demand(scene.shown_data, scene.shape, scene.axes, scene.seed)}
    if brings is not None and scene.shown_params == OWN:
        values = brings
        found = {"x": found["x"].to(next(iter(brings.tensors.values()), torch.empty(0)))}
    else:
        kept = [norm.axis_sizes(scene.shape)[name] for name in norm.pattern.right] if norm.running else []
        stored = (torch.zeros(()).expand(kept), torch.ones(()).expand(kept))  # one number each, whatever the size
        values = Values(None, None, *stored) if norm.running else Values()
        if (shape := on_shape.counts.gamma_shape) is not None:
            gamma, beta = examples.parameters_on_demand(scene.shown_params, shape, scene.seed, norm.new_gamma)
            found |= {"gamma": gamma} | ({"beta": beta} if norm.bias else {})
    shapes = {name: tuple(held.shape) for name, held in (values.tensors | found).items()}
    for_all = {"gamma": scene.gamma, "beta": scene.beta}
    found |= {
        name: OnDemand.constant(shapes[name], one)
        for name, one in for_all.items()
        if one is not None and name in shapes
    }
    return replace(on_shape, on_demand=found, values=values)


_small = lru_cache(maxsize=MOST_SMALL)(_described)
_large = lru_cache(maxsize=MOST_LARGE)(_described)


# The scene

DEFAULT_SHAPE, DEFAULT_FAMILY = (2, 4, 3, 5), "LayerNorm"
PATTERN_FAMILY = "Norm"  # the family of a layer that is a pattern
MOST_RANK = 12  # of an x that a link shows; ``axes.MAX_RANK`` is the limit of torch


@dataclass(frozen=True)
class Scene:
    """What a view shows.

    shape, layout, layer  the tensor, its axis letters, and the layer on it
    data, seed            the example values of x (``normviz.analysis.examples.DATA``)
    values                x's own values, row-major, for a tensor of up to 128 elements; they replace ``data``
    params                the values of gamma and beta: "init", "index" or "random"
    gamma, beta           one gamma and one beta for all elements, which replace those of ``params``; None: the layer's own
    at                    the selected element, or None
    start                 the first slice that is drawn on each axis, for a tensor that is not drawn whole
    own                   in a notebook, the reader's own x and module: where ``data`` or ``params`` is "own", and they fit
    chosen                if x has changed since the reader chose a layer: that layer, and the axes that x had then; never in a link

    Raises NormvizError unless the layer takes the tensor and the other fields fit it.
    """

    shape: tuple[int, ...]
    layout: str
    layer: Layer | Norm
    data: str = DATA_SETTING.default
    seed: int = SEED.default
    values: tuple[float, ...] | None = None
    params: str = PARAMS.default
    gamma: float | None = None
    beta: float | None = None
    at: tuple[int, ...] | None = None
    start: tuple[int, ...] = ()
    own: Own | None = None
    chosen: tuple[Layer | Norm, tuple[str, ...]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, e: Description, at: Sequence[int] | None = None, seed: int = 0, module: str = "", frozen: bool = False
    ) -> Self:
        """The scene of a reader's own layer and x; for a shape, on the app's example. Raises NormvizError if ``at`` is no element.

        seed    of the example and of other random numbers
        module  the name of a module's class, if it has a forward of its own
        frozen  whether this module uses stored statistics in both modes
        """
        layer = e.layer or e.norm
        selected = default_at(e.shape, e.axes) if at is None else sharing.check_index(at, e.shape)
        return cls(
            e.shape,
            e.layout,
            layer,
            data=DATA_SETTING.default if e.x is None else OWN,
            seed=seed,
            params=PARAMS.default if e.values is None else OWN,
            at=selected,
            start=start_with(selected, e.shape, e.axes),
            own=Own(e.x, layer, e.values, module, frozen),
        )

    def __post_init__(self) -> None:
        if self.own is None:
            check_rank(self.shape)
        _description = self.shape_description  # raises NormvizError unless the layer takes the tensor
        self._check_at()
        self._check_values()
        names = (OWN,) if self.own else ()
        if self.data not in (*examples.DATA, *names) or self.params not in (*examples.PARAMETERS, *names):
            raise NormvizError(
                "data must be {data}, and params must be {params}.",
                data=listed(examples.DATA),
                params=listed(examples.PARAMETERS),
            )
        for name in ("gamma", "beta"):
            if getattr(self, name) is not None:
                SCENE_SETTINGS[name].parse(str(getattr(self, name)))
        self._check_start()

    def _check_at(self) -> None:
        if self.at is None:
            return
        if len(self.at) != len(self.shape) or any(not 0 <= i < n for i, n in zip(self.at, self.shape, strict=True)):
            raise NormvizError(
                "at={at} is not an element of a tensor of shape {shape}; the indices start at 0.",
                at=echo(self.at),
                shape=self.shape,
            )

    def _check_values(self) -> None:
        if self.values is None:
            return
        if len(self.values) != prod(self.shape) or not self.editable:
            raise NormvizError(
                ngettext(
                    "values has {n} number, and the size of x is {size}; give one number for each element, for an x of at most {most}.",
                    "values has {n} numbers, and the size of x is {size}; give one number for each element, for an x of at most {most}.",
                    len(self.values),
                    size=prod(self.shape),
                    most=MOST_EDITABLE,
                )
            )
        if not all(abs(number) <= checks.LARGEST_VALUE for number in self.values):
            raise NormvizError("values contains a number outside -{most:g} to {most:g}.", most=checks.LARGEST_VALUE)
        object.__setattr__(self, "values", tuple(map(shortest, self.values)))

    def _check_start(self) -> None:
        if not self.start:
            return
        most = tuple(size - 1 if i in self.grid.partial else 0 for i, size in enumerate(self.shape))
        if len(self.start) != len(most) or not all(0 <= i <= last for i, last in zip(self.start, most, strict=True)):
            raise NormvizError(
                "from={start} does not name the first slice that is drawn on each axis; give {first} to {last}.",
                start=echo(self.start),
                first=commas((0,) * len(most)),
                last=commas(most),
            )
        object.__setattr__(self, "start", self.grid.start if any(self.grid.start) else ())

    @cached_property
    def axes(self) -> tuple[str, ...]:
        return self.shape_description.axes

    @property
    def editable(self) -> bool:
        """Whether single values can be edited."""
        return prod(self.shape) <= MOST_EDITABLE

    @property
    def scaled(self) -> bool:
        """Whether the reader has chosen a gamma or a beta for all elements."""
        return (self.gamma, self.beta) != (None, None)

    @property
    def is_held(self) -> bool:
        """Whether x is in memory: it is small, or the reader's own. The values of others are computed where they are needed."""
        return prod(self.shape) <= MOST_HELD or self.shown_data == OWN

    @cached_property
    def shape_description(self) -> Description:
        """The layer on the shape: patterns and counts, for an x of any size."""
        has_names = isinstance(self.layer, Norm) and self.layout == layout_text(self.layer.axes)
        return describe_shape(self.layer, self.shape, None if has_names else self.layout)  # names may be long

    @property
    def shown_data(self) -> str:
        """``data``, or the default if the reader's own x has a different shape."""
        has_x = self.data != OWN or (self.own is not None and self.own.has_x(self.shape))
        return self.data if has_x else DATA_SETTING.default

    @property
    def shown_params(self) -> str:
        """``params``, or the default if the reader's module does not match the layer."""
        has_values = self.params != OWN or (self.own is not None and self.own.has_values(self.layer, self.shape))
        return self.params if has_values else PARAMS.default

    @property
    def description(self) -> Description:
        """The layer on the values of x."""
        if not self.is_held:
            return _on_demand(self)
        compute = _small if prod(self.shape) <= SMALL else _large
        for_all = (self.gamma, self.beta)
        return compute(
            self.shape_description, self.shown_data, self.seed, self.values, self.shown_params, for_all, self.own
        )

    @cached_property
    def grid(self) -> Grid:
        """How the tensor is drawn, whole or as a schematic."""
        return grid(self.shape, self.axes, self.start)

    @property
    def in_link(self) -> Scene:
        """The scene that its link opens: a small x of the reader's own as its values, another as the default example, and no module."""
        if self.own is None:
            return self
        values = self.values
        if self.shown_data == OWN and values is None:
            values = self.own.numbers(MOST_EDITABLE, checks.LARGEST_VALUE)
        data = DATA_SETTING.default if self.data == OWN else self.data
        params = PARAMS.default if self.params == OWN else self.params
        return replace(self, own=None, data=data, params=params, values=values)

    def query(self) -> dict[str, str]:
        """The query that reads back as this scene; defaults are left out."""
        if self.own is not None:
            return self.in_link.query()
        values = {setting: getattr(self, FIELD_NAMES.get(setting, setting)) for setting in SCENE_SETTINGS}
        if self.at is not None and not self.start and not self.grid.shows(self.at):
            values["from"] = (0,) * len(self.shape)
        if self.shape == DEFAULT_SHAPE and self.layer == fit.layer_for(DEFAULT_FAMILY, self.shape, self.axes):
            del values["shape"], values["layer"]
        layer, rank = self.layer, len(self.shape)
        if self.layout == (layer.kind.layout(rank) if isinstance(layer, Layer) else layout_text(layer.axes)):
            del values["layout"]
        if self.at == default_at(self.shape, self.axes, self.start):
            del values["at"]
        return write_settings(tuple(SCENE_SETTINGS.values()), values)


def check_rank(shape: tuple[int, ...]) -> None:
    """Raise NormvizError for more axes than a link holds. A reader's own x may have more."""
    if len(shape) > MOST_RANK:
        raise NormvizError(
            ngettext(
                "a view shows at most {n} axis, and this x has {rank}; give fewer.",
                "a view shows at most {n} axes, and this x has {rank}; give fewer.",
                MOST_RANK,
                rank=len(shape),
            )
        )


FIELD_NAMES = {"from": "start"}  # fields of Scene for settings whose names are Python keywords


@lru_cache(maxsize=1024)
def default_at(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The element that is selected by default: the last one of the first drawn row, so that its indices differ."""
    drawing = grid(shape, axes, start)
    row = drawing.row if len(shape) > 2 else None
    return tuple(part[0] if axis == row else part[-1] for axis, part in enumerate(drawing.indices))


def shortest(number: float) -> float:
    """The number with the fewest digits that is the same float32.

    >>> shortest(0.30000000000000004)
    0.3
    """
    return float(str(np.float32(number)))
