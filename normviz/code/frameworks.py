"""The layers of Keras and Flax as data: which Norms each does, and with which arguments.

A layer is asked about a Placement, and never about torch's layer. Facts: keras.io/api/layers/normalization_layers, the
page "Normalization" of flax.nnx, and the sources of the versions that pyproject.toml pins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from normviz.code.axis_numbers import Axes, Placement
from normviz.code.from_scratch import FLOAT32_EPS, JAX, KERAS, KERAS_BACKEND, Library

Arguments = dict[str, str]


@dataclass(frozen=True)
class Counterpart:
    """A framework's layer.

    name        as it is called
    fits        whether it does this Norm
    arguments   its arguments for this Norm, as Python text
    normalized  the axes that it normalizes, said with its arguments
    learned     the same for the axes of gamma and beta
    defaults    of epsilon and momentum
    learns      what it calls gamma and beta, each with the argument that leaves it out when False ("": none does)
    running     what it calls the running mean and variance, where it has them
    call        how it is called
    """

    name: str
    fits: Callable[[Placement], bool]
    arguments: Callable[[Placement], Arguments]
    normalized: str
    learned: str
    defaults: Mapping[str, float]
    learns: Mapping[str, str]
    running: tuple[str, ...] = ()
    call: Callable[[Placement], str] = lambda p: "layer(x)"


@dataclass(frozen=True)
class Framework:
    """A framework: its layers, and the array library that serves where none of them does.

    arrays    what its array functions are called
    flat      whether gamma is one axis long, whatever axes it stands on
    counted   how it counts its parameters, given those that learn and those that run
    """

    name: str
    imports: str
    arrays: str
    library: Library
    flat: bool
    counted: Callable[[int, int], str]
    layers: tuple[Counterpart, ...]

    def layer(self, p: Placement) -> Counterpart | None:
        """Its first layer that does this Norm; None where it has none."""
        return next((layer for layer in self.layers if p.plain and layer.fits(p)), None)


def _epsilon(p: Placement) -> Arguments:
    return {"epsilon": FLOAT32_EPS if p.e.norm.eps is None else repr(p.e.norm.eps)}


def _momentum(p: Placement) -> Arguments:
    return {} if p.momentum is None else {"momentum": repr(p.momentum)}


def _left_out(p: Placement, learns: Mapping[str, str]) -> Arguments:
    absent = (p.gamma is None, not p.e.norm.bias)
    return {switch: "False" for switch, off in zip(learns.values(), absent, strict=False) if off}


def _split(p: Placement) -> tuple[int, int]:
    """The axis and the number of groups, of a Norm that has them."""
    assert p.per_group is not None
    return p.per_group


GAMMA_BETA = {"gamma": "scale", "beta": "center"}
SCALE = {"scale": ""}


def _keras(p: Placement, axes: Axes, learns: Mapping[str, str] = GAMMA_BETA, /, **more: str) -> Arguments:
    return {"axis": p.text(axes, list)} | more | _epsilon(p) | _left_out(p, learns)


KERAS_LAYERS = Framework(
    name="Keras",
    imports=f"{KERAS_BACKEND}\nimport keras",
    arrays="keras.ops",
    library=KERAS,
    flat=False,
    counted=lambda learn, run: f"{learn + run} parameters" + (f": {learn} trainable, {run} not" if run else ""),
    layers=(
        Counterpart(
            "keras.layers.BatchNormalization",
            fits=lambda p: p.per_channel,
            arguments=lambda p: _keras(p, p.kept, **_momentum(p)),
            normalized="all but axis={axis}",
            learned="axis={axis}",
            defaults={"epsilon": 1e-3, "momentum": 0.99},
            learns=GAMMA_BETA,
            running=("moving_mean", "moving_variance"),
            call=lambda p: f"layer(x, training={not p.e.norm.running})",
        ),
        Counterpart(
            "keras.layers.LayerNormalization",
            fits=lambda p: p.fresh and not p.groups and p.reduced != () and p.gamma in (None, p.reduced),
            arguments=lambda p: _keras(p, p.reduced),
            normalized="axis={axis}",
            learned="axis={axis}",
            defaults={"epsilon": 1e-3},
            learns=GAMMA_BETA,
        ),
        Counterpart(
            "keras.layers.GroupNormalization",
            fits=lambda p: p.per_group is not None,
            arguments=lambda p: {"groups": str(_split(p)[1])} | _keras(p, _split(p)[:1]),
            normalized="all but 0, and axis={axis} in groups={groups}",
            learned="axis={axis}",
            defaults={"epsilon": 1e-3},
            learns=GAMMA_BETA,
        ),
        Counterpart(  # it lays its scale along the last axes, whatever axis says, and is never without one
            "keras.layers.RMSNormalization",
            fits=lambda p: p.rms and p.gamma == p.reduced != () and p.last(p.reduced),
            arguments=lambda p: _keras(p, p.reduced, {}),
            normalized="axis={axis}",
            learned="axis={axis}",
            defaults={"epsilon": 1e-6},
            learns=SCALE,
        ),
    ),
)
SCALE_BIAS = {"scale": "use_scale", "bias": "use_bias"}
USE_SCALE = {"scale": "use_scale"}


def _flax(p: Placement, axes: Axes, learns: Mapping[str, str] = SCALE_BIAS, /, **more: str) -> Arguments:
    """``num_features`` is how many elements scale has, which is flat; ``axes`` are where it stands."""
    passes = {"use_fast_variance": "False"} if p.fresh else {}
    features = {"num_features": str(prod(p.sizes(axes)))}
    return features | more | _epsilon(p) | _left_out(p, learns) | passes | {"rngs": "nnx.Rngs(0)"}


def _both(p: Placement, learns: Mapping[str, str] = SCALE_BIAS) -> Arguments:
    """Arguments of the layers that take both patterns, each for itself."""
    reduction = p.text(p.reduced)
    if p.gamma is None:
        return _flax(p, p.reduced, learns, reduction_axes=reduction)
    return _flax(p, p.gamma, learns, reduction_axes=reduction, feature_axes=p.text(p.gamma))


def _channels_last(p: Placement) -> str:
    axis = _split(p)[0]
    if p.last((axis,)):
        return "layer(x)"
    return f"jnp.moveaxis(layer(jnp.moveaxis(x, {axis}, -1)), -1, {axis})  # its channels are the last axis"


FLAX_LAYERS = Framework(
    name="Flax",
    imports="import jax\nfrom flax import nnx",
    arrays="jax.numpy",
    library=JAX,
    flat=True,
    counted=lambda learn, run: f"{learn} in Param" + (f", {run} in BatchStat" if run else ""),
    layers=(
        Counterpart(
            "nnx.BatchNorm",
            fits=lambda p: p.per_channel,
            arguments=lambda p: _flax(
                p, p.kept, axis=p.text(p.kept), use_running_average=str(p.e.norm.running), **_momentum(p)
            ),
            normalized="all but axis={axis}",
            learned="axis={axis}",
            defaults={"epsilon": 1e-5, "momentum": 0.99},
            learns=SCALE_BIAS,
            running=("mean", "var"),
        ),
        Counterpart(
            "nnx.GroupNorm",
            fits=lambda p: p.groups is not None and p.per_group is not None,
            arguments=lambda p: _flax(p, _split(p)[:1], num_groups=str(_split(p)[1])),
            normalized="all but 0, and the last in num_groups={num_groups}",
            learned="the last",
            defaults={"epsilon": 1e-6},
            learns=SCALE_BIAS,
            call=_channels_last,
        ),
        Counterpart(
            "nnx.InstanceNorm",
            fits=lambda p: p.per_instance,
            arguments=lambda p: _flax(p, p.kept[1:], feature_axes=p.text(p.kept[1:])),
            normalized="all but 0 and feature_axes={feature_axes}",
            learned="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            learns=SCALE_BIAS,
        ),
        Counterpart(
            "nnx.LayerNorm",
            fits=lambda p: p.fresh and not p.groups,
            arguments=_both,
            normalized="reduction_axes={reduction_axes}",
            learned="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            learns=SCALE_BIAS,
        ),
        Counterpart(
            "nnx.RMSNorm",
            fits=lambda p: p.rms and not p.groups,
            arguments=lambda p: _both(p, USE_SCALE),
            normalized="reduction_axes={reduction_axes}",
            learned="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            learns=USE_SCALE,
        ),
    ),
)
