"""Running statistics and modes: whether a module does what a layer does in train and in eval mode, and after two batches.

The module itself is run, because a copy may use tensors of the original: those to which its ``forward`` refers. Its function restores it.
"""

import copy
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from normviz.analysis.description import Description
from normviz.analysis.forward import dtype_name
from normviz.measuring.formula import parameters_of
from normviz.measuring.probe import STATISTICS, Function, meaning
from normviz.measuring.report import Difference
from normviz.measuring.verdict import LayerComparison, compare, signed_values
from normviz.texts.messages import _

__tracebackhide__ = True  # pytest shows the frame of the caller


def mode_differences(module: nn.Module, compared: LayerComparison) -> Iterator[Difference]:
    """What differs in the modes, or in the running statistics after two batches. In its own mode the module is right."""
    expected, x = compared.expected, compared.x
    values = _other_values(compared)
    compared.function.renew(values)
    reference = _torch_layer(expected, compared, module, values)
    batches = compared.batches(_dtype(module, x))
    if reference is None or reference.running_mean is None:
        yield from _other_mode(module, compared, batches[0], not module.training, values)
    else:
        yield from _tracking(module, reference, compared, batches, values)
    compared.function.restore()


def _dtype(module: nn.Module, x: Tensor) -> torch.dtype:
    tensors = [*module.parameters(), *module.buffers()]
    return next((tensor.dtype for tensor in tensors if tensor.is_floating_point()), x.dtype)


def _other_values(compared: LayerComparison) -> dict[int, Tensor]:
    """Values of the function's tensors: other ones of its parameters, because ones and zeros would hide how gamma and beta are used."""
    function = compared.function
    values = {position: one.to(function.home) for position, one in enumerate(function.originals)}
    others = signed_values(parameters_of(function), seed=25)
    if function.takes(tuple(compared.x.shape), others):
        values |= {position: value.to(values[position].dtype) for position, value in others.items()}
    return values


def _other_mode(
    module: nn.Module, compared: LayerComparison, x: Tensor, training: bool, values: Mapping[int, Tensor]
) -> Iterator[Difference]:
    """A layer without running statistics does the same in both modes."""
    output = run_module(module.train(training), x, compared.function)
    if output is None or not compared.error_of(output, x, compared.best, values, x.dtype, strict=True).ok:
        mode = "train" if training else "eval"
        sentence = _(
            "In {mode} mode, its output is not that of {layer}, which is the same in both modes.",
            mode=mode,
            layer=compared.expected.title,
        )
        yield Difference("training", _("another output in {mode} mode", mode=mode), _("the same output"), sentence)


def run_module(module: nn.Module, x: Tensor, function: Function) -> Tensor | None:
    """The output of the module of the function, in the state that it has now; None if it raises."""
    try:
        with torch.set_grad_enabled(module.training):
            return function.run(x.to(function.device, copy=True)).detach().to(function.home)
    except Exception:
        return None


# Running statistics


def _torch_layer(
    expected: Description, compared: LayerComparison, module: nn.Module, values: Mapping[int, Tensor]
) -> _NormBase | None:
    """torch's layer in float64 with gamma and beta of the function, if the expected layer is one of channels with running statistics."""
    if expected.layer is None or expected.layer.kind.module is None:
        return None
    made = expected.layer.with_(training=True).module(torch.float64)
    if not isinstance(made, _NormBase):
        return None
    arguments = {
        name: value
        for name, value in expected.layer.given.items()
        if name in ("eps", "momentum", "affine", "track_running_stats")
    }
    kind = nn.BatchNorm1d if "Instance" not in expected.layer.kind.name else nn.InstanceNorm1d
    reference = kind(made.num_features, **arguments, dtype=torch.float64)
    given = compared.best.values(values)
    with torch.no_grad():
        for name, parameter in (("gamma", reference.weight), ("beta", reference.bias)):
            if parameter is not None:
                if name in given:
                    parameter.copy_(given[name].double())
                else:
                    parameter.fill_(1.0 if name == "gamma" else 0.0)
    if reference.running_mean is not None:
        _set(reference, _named(module, reference.num_features))
    return reference


def _named(module: nn.Module, channels: int) -> dict[str, Tensor]:
    """The buffers with the names of torch's running statistics, in its order; empty unless there is one of each."""
    found: dict[str, Tensor] = {}
    for name in STATISTICS:
        one = [b for full, b in module.named_buffers() if meaning(full) == name and b.numel() == channels]
        if len(one) != 1:
            return {}
        found[name] = one[0].detach().to(torch.empty(0).device, torch.float64, copy=True).flatten()
    return found


def _set(reference: nn.Module, statistics: Mapping[str, Tensor]) -> None:
    for name, value in statistics.items():
        getattr(reference, name).copy_(value)


def _on_channels(reference: nn.Module, expected: Description, x: Tensor) -> Tensor:
    """torch's layer on the channels of x, wherever they are."""
    axis = expected.axes.index("c") if "c" in expected.axes else 1
    dtype = next(value.dtype for value in reference.buffers() if value.is_floating_point())
    moved = x.to(dtype).movedim(axis, 1)
    with torch.no_grad():
        output = reference(moved.flatten(2) if moved.dim() > 2 else moved)
    return output.reshape(moved.shape).movedim(1, axis)


def _tracking(
    module: nn.Module,
    reference: _NormBase,
    compared: LayerComparison,
    batches: list[Tensor],
    values: Mapping[int, Tensor],
) -> Iterator[Difference]:
    """The module in train mode on two batches, its running statistics, and then its output in eval mode."""
    expected, dtype = compared.expected, batches[0].dtype
    begin = _named(module, reference.num_features)
    if expected.norm.running and begin:
        if _is_frozen(module.train(), reference, expected, batches[0], compared):
            return
        compared.function.renew(values)
    module.train()
    reference.train()
    # The same layer in the dtype of x has rounding errors, too.
    low = copy.deepcopy(reference).to(dtype if dtype.itemsize < 4 else torch.float32)
    for batch in batches[:2]:
        output = run_module(module, batch, compared.function)
        if output is None or not _is_output(output, reference, low, expected, batch):
            sentence = _("In train mode, its output is not that of {layer}.", layer=expected.title)
            yield Difference("training", _("another output in train mode"), _("the same output"), sentence)
            return
    end = _named(module, reference.num_features)
    if begin:
        wrong = list(_wrong_statistics(begin, end, reference, low, expected, batches[:2]))
        if not wrong and not begin["running_var"].any():
            sentence = _("Its running_var begins with 0; torch begins with 1.")
            wrong = [Difference("running", "0", "1", sentence)]
        if wrong:
            yield from wrong
            return
        _set(reference, end)
        _set(low, end)
    module.eval()
    reference.eval()
    low.eval()
    output = run_module(module, batches[2], compared.function)
    if output is None or not _is_output(output, reference, low, expected, batches[2]):
        yield _in_eval(output, reference, expected, batches[2])
        return
    after = _named(module, reference.num_features)
    for name in STATISTICS:
        if begin and not torch.equal(end[name], after[name]):
            sentence = _("It updates {name} in eval mode, too.", name=name)
            yield Difference("running", _("another {name}", name=name), name, sentence)


def _is_frozen(
    module: nn.Module, reference: _NormBase, expected: Description, x: Tensor, compared: LayerComparison
) -> bool:
    """Whether the module uses its stored statistics in train mode, too, and keeps them."""
    before = _named(module, reference.num_features)
    frozen = copy.deepcopy(reference).eval()
    low = copy.deepcopy(frozen).to(x.dtype if x.dtype.itemsize < 4 else torch.float32)
    output = run_module(module, x, compared.function)
    right = output is not None and _is_output(output, frozen, low, expected, x)
    return right and all(
        torch.equal(before[name], value) for name, value in _named(module, reference.num_features).items()
    )


def _is_output(output: Tensor, reference: nn.Module, low: nn.Module, expected: Description, x: Tensor) -> bool:
    exact, rounded = (_on_channels(one, expected, x) for one in (reference, low))
    return compare(output, exact, rounded, rounded.dtype).ok


def close(output: Tensor, wanted: Tensor, dtype: torch.dtype) -> bool:
    """Whether an output is the wanted one, up to rounding."""
    scale = max(1.0, float(wanted.abs().max()))
    limit = {torch.float16: 5e-3, torch.bfloat16: 4e-2}.get(dtype, 1e-5)
    return bool(((output.double() - wanted).abs() <= limit * scale).all())


def _in_eval(output: Tensor | None, reference: _NormBase, expected: Description, x: Tensor) -> Difference:
    reference.train()
    if output is not None and close(output, _on_channels(reference, expected, x), x.dtype):
        sentence = _("In eval mode it uses the statistics of x, not the running ones.")
    else:
        sentence = _("In eval mode, after two batches, its output is not that of {layer}.", layer=expected.title)
    return Difference("running", _("another output in eval mode"), _("the output with running statistics"), sentence)


def _wrong_statistics(
    begin: Mapping[str, Tensor],
    end: Mapping[str, Tensor],
    reference: _NormBase,
    low: _NormBase,
    expected: Description,
    batches: list[Tensor],
) -> Iterator[Difference]:
    for name in STATISTICS:
        wanted, rounded, found = getattr(reference, name), getattr(low, name), end[name]
        if compare(found, wanted, rounded, rounded.dtype).ok:
            continue
        several = [*_mistaken(name, begin[name], found, reference, expected, batches)]
        sentence, value = min(several, key=lambda one: round(float((found - one[1]).abs().max()), 9))
        error, limit = float((found - value).abs().max()), 1e-5 * max(1.0, float(value.abs().max()))
        if rounded.dtype.itemsize < 4:  # as near may be another mistake, or none
            limit = min(
                4 * torch.finfo(rounded.dtype).eps * float(value.abs().max()), float((found - wanted).abs().max()) / 4
            )
        if not error <= limit:
            sentence = _("Its {name} after two batches differs from that of {layer}.", name=name, layer=expected.title)
            for half in (torch.float16, torch.bfloat16) if rounded.dtype.itemsize >= 4 else ():
                near = (found - wanted).abs() <= 3 * torch.finfo(half).eps * wanted.abs()
                is_rounded = torch.equal(found.to(half).double(), found) and bool((found != begin[name]).all())
                if is_rounded and bool(near.all()):  # a number of bfloat16 is usually one of float16
                    sentence = _("It rounds {name} to {dtype}.", name=name, dtype=dtype_name(half))
        yield Difference("running", _("another {name}", name=name), name, sentence)


def _mistaken(
    name: str, begin: Tensor, end: Tensor, reference: _NormBase, expected: Description, batches: list[Tensor]
) -> Iterator[tuple[str, Tensor]]:
    """Each usual mistake, and the running statistic that it would give. ``end``: the one that was found."""
    axis = expected.axes.index("c") if "c" in expected.axes else 1
    momentum = reference.momentum
    rows = [batch.double().movedim(axis, 0).flatten(1) for batch in batches]

    def updated(statistics: list[Tensor], rate: float | Tensor | None = momentum, decay: float | None = None) -> Tensor:
        if rate is None:
            return torch.stack(statistics).mean(0)
        value = begin
        for one in statistics:
            value = (1 - rate if decay is None else decay) * value + rate * one
        return value

    if name == "running_mean":
        right = [row.mean(1) for row in rows]
    else:
        right = [row.var(1, correction=1) for row in rows]
        text = _("Its {name} is updated with the biased variance; torch uses the unbiased one, divided by m - 1.", name=name)  # fmt: skip
        yield text, updated([row.var(1, correction=0) for row in rows])
        for correction in (1, 0):
            text = _("Its {name} is updated with the standard deviation, not with the variance.", name=name)
            yield text, updated([row.std(1, correction=correction) for row in rows])
    yield _("It never updates {name}.", name=name), begin
    yield _("It replaces {name} with the statistics of the last batch.", name=name), right[-1]
    if momentum is None:
        return
    yield _("It exchanges momentum and 1 - momentum in {name}.", name=name), updated(right, 1 - momentum)
    text = _("It adds to {name} without multiplying it by 1 - momentum before.", name=name)
    yield text, updated(right, decay=1.0)
    if len(begin) > 1:  # of one channel, some number always fits
        yield _("It averages {name} over all batches, as with momentum=None.", name=name), updated(right, None)
        if batches[0].dtype.itemsize >= 4:
            rates = torch.arange(1, 1000, dtype=torch.float64)[:, None] / 1000
            rate = float(rates[(updated(right, rates) - end).abs().amax(1).argmin()])
            text = _("It updates {name} with a momentum of {rate:g}, not {momentum:g}.", name=name, rate=rate, momentum=momentum)  # fmt: skip
            yield text, updated(right, rate)
