"""The layers of Keras and Flax as data: which Norms each computes, and with which arguments.

The layers are chosen by AxisNumbers, not by the torch layer. Sources: keras.io/api/layers/normalization_layers, the page
"Normalization" of flax.nnx, and the source code of the versions in pyproject.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from normviz.code.axis_numbers import Axes, AxisNumbers
from normviz.code.from_scratch import FLOAT32_EPS, JAX, KERAS, KERAS_BACKEND, Library
from normviz.layers.messages import N_

CallArguments = dict[str, str]


@dataclass(frozen=True)
class FrameworkLayer:
    """A layer of a framework.

    name             of the class
    matches          whether it computes a Norm
    arguments        its arguments for a Norm, as Python text
    normalized_axes  the axes that it normalizes, with placeholders for its arguments
    parameter_axes   the axes of gamma and beta, with the same placeholders
    defaults         of epsilon and momentum
    parameters       its names for gamma and beta, each with the argument that removes it if False ("": there is none)
    running          its names for the running mean and the running variance, if it has them
    call             the call
    """

    name: str
    matches: Callable[[AxisNumbers], bool]
    arguments: Callable[[AxisNumbers], CallArguments]
    normalized_axes: str
    parameter_axes: str
    defaults: Mapping[str, float]
    parameters: Mapping[str, str]
    running: tuple[str, ...] = ()
    call: Callable[[AxisNumbers], str] = lambda a: "layer(x)"


@dataclass(frozen=True)
class Framework:
    """A framework: its layers, and its array library for Norms that none of them computes.

    arrays      the name of its array functions
    flat_gamma  whether gamma always has one axis
    counts      messages for the number of parameters: without and with running statistics
    """

    name: str
    imports: str
    arrays: str
    library: Library
    flat_gamma: bool
    counts: tuple[str, str]
    layers: tuple[FrameworkLayer, ...]

    def layer(self, a: AxisNumbers) -> FrameworkLayer | None:
        """The first layer that computes this Norm, or None."""
        return next((layer for layer in self.layers if a.complete and layer.matches(a)), None)


def _epsilon(a: AxisNumbers) -> CallArguments:
    return {"epsilon": FLOAT32_EPS if a.e.norm.eps is None else repr(a.e.norm.eps)}


def _momentum(a: AxisNumbers) -> CallArguments:
    return {} if a.old_weight is None else {"momentum": repr(a.old_weight)}


def _switches(a: AxisNumbers, parameters: Mapping[str, str]) -> CallArguments:
    absent = (a.gamma is None, not a.e.norm.bias)
    return {switch: "False" for switch, off in zip(parameters.values(), absent, strict=False) if off}


def _groups(a: AxisNumbers) -> tuple[int, int]:
    """The axis and the number of groups of a Norm that has groups."""
    assert a.per_group is not None
    return a.per_group


GAMMA_BETA = {"gamma": "scale", "beta": "center"}


def _keras(a: AxisNumbers, axes: Axes, parameters: Mapping[str, str] = GAMMA_BETA, /, **more: str) -> CallArguments:
    return {"axis": a.argument(axes, list)} | more | _epsilon(a) | _switches(a, parameters)


KERAS_LAYERS = Framework(
    name="Keras",
    imports=f"{KERAS_BACKEND}\nimport keras",
    arrays="keras.ops",
    library=KERAS,
    flat_gamma=False,
    counts=("{all}", N_("{all}: {learned} trainable, {running} not trainable")),
    layers=(
        FrameworkLayer(
            "keras.layers.BatchNormalization",
            matches=lambda a: a.per_channel,
            arguments=lambda a: _keras(a, a.kept, **_momentum(a)),
            normalized_axes=N_("all but axis={axis}"),
            parameter_axes="axis={axis}",
            defaults={"epsilon": 1e-3, "momentum": 0.99},
            parameters=GAMMA_BETA,
            running=("moving_mean", "moving_variance"),
            call=lambda a: f"layer(x, training={not a.e.norm.running})",
        ),
        FrameworkLayer(
            "keras.layers.LayerNormalization",
            matches=lambda a: a.centered and not a.groups and a.reduced != () and a.gamma in (None, a.reduced),
            arguments=lambda a: _keras(a, a.reduced),
            normalized_axes="axis={axis}",
            parameter_axes="axis={axis}",
            defaults={"epsilon": 1e-3},
            parameters=GAMMA_BETA,
        ),
        FrameworkLayer(
            "keras.layers.GroupNormalization",
            matches=lambda a: a.per_group is not None,
            arguments=lambda a: {"groups": str(_groups(a)[1])} | _keras(a, _groups(a)[:1]),
            normalized_axes=N_("all but 0, and axis={axis} in groups={groups}"),
            parameter_axes="axis={axis}",
            defaults={"epsilon": 1e-3},
            parameters=GAMMA_BETA,
        ),
        FrameworkLayer(  # it always has a scale, on the last axes
            "keras.layers.RMSNormalization",
            matches=lambda a: a.rms and a.gamma == a.reduced != () and a.are_last(a.reduced),
            arguments=lambda a: _keras(a, a.reduced, {}),
            normalized_axes="axis={axis}",
            parameter_axes="axis={axis}",
            defaults={"epsilon": 1e-6},
            parameters={"scale": ""},
        ),
    ),
)
SCALE_BIAS = {"scale": "use_scale", "bias": "use_bias"}
USE_SCALE = {"scale": "use_scale"}


def _flax(a: AxisNumbers, axes: Axes, parameters: Mapping[str, str] = SCALE_BIAS, /, **more: str) -> CallArguments:
    """``axes`` are those of scale, which is flat: ``num_features`` is its number of elements."""
    two_pass = {"use_fast_variance": "False"} if a.centered else {}
    features = {"num_features": str(prod(a.sizes(axes)))}
    return features | more | _epsilon(a) | _switches(a, parameters) | two_pass | {"rngs": "nnx.Rngs(0)"}


def _flax_with_axes(a: AxisNumbers, parameters: Mapping[str, str] = SCALE_BIAS) -> CallArguments:
    """The arguments of the layers that take the reduced axes and the axes of scale separately."""
    reduction = a.argument(a.reduced)
    if a.gamma is None:
        return _flax(a, a.reduced, parameters, reduction_axes=reduction)
    return _flax(a, a.gamma, parameters, reduction_axes=reduction, feature_axes=a.argument(a.gamma))


def _call_channels_last(a: AxisNumbers) -> str:
    axis = _groups(a)[0]
    return "layer(x)" if a.are_last((axis,)) else f"jnp.moveaxis(layer(jnp.moveaxis(x, {axis}, -1)), -1, {axis})"


FLAX_LAYERS = Framework(
    name="Flax",
    imports="import jax\nfrom flax import nnx",
    arrays="jax.numpy",
    library=JAX,
    flat_gamma=True,
    counts=(N_("{learned} in Param"), N_("{learned} in Param, {running} in BatchStat")),
    layers=(
        FrameworkLayer(
            "nnx.BatchNorm",
            matches=lambda a: a.per_channel,
            arguments=lambda a: _flax(
                a, a.kept, axis=a.argument(a.kept), use_running_average=str(a.e.norm.running), **_momentum(a)
            ),
            normalized_axes=N_("all but axis={axis}"),
            parameter_axes="axis={axis}",
            defaults={"epsilon": 1e-5, "momentum": 0.99},
            parameters=SCALE_BIAS,
            running=("mean", "var"),
        ),
        FrameworkLayer(
            "nnx.GroupNorm",
            matches=lambda a: a.groups is not None and a.per_group is not None,
            arguments=lambda a: _flax(a, _groups(a)[:1], num_groups=str(_groups(a)[1])),
            normalized_axes=N_("all but 0, and the last axis in num_groups={num_groups}"),
            parameter_axes=N_("the last axis"),
            defaults={"epsilon": 1e-6},
            parameters=SCALE_BIAS,
            call=_call_channels_last,
        ),
        FrameworkLayer(
            "nnx.InstanceNorm",
            matches=lambda a: a.per_instance,
            arguments=lambda a: _flax(a, a.kept[1:], feature_axes=a.argument(a.kept[1:])),
            normalized_axes=N_("all but 0 and feature_axes={feature_axes}"),
            parameter_axes="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            parameters=SCALE_BIAS,
        ),
        FrameworkLayer(
            "nnx.LayerNorm",
            matches=lambda a: a.centered and not a.groups,
            arguments=_flax_with_axes,
            normalized_axes="reduction_axes={reduction_axes}",
            parameter_axes="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            parameters=SCALE_BIAS,
        ),
        FrameworkLayer(
            "nnx.RMSNorm",
            matches=lambda a: a.rms and not a.groups,
            arguments=lambda a: _flax_with_axes(a, USE_SCALE),
            normalized_axes="reduction_axes={reduction_axes}",
            parameter_axes="feature_axes={feature_axes}",
            defaults={"epsilon": 1e-6},
            parameters=USE_SCALE,
        ),
    ),
)
