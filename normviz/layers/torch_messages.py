"""What an error message of torch about a normalization layer says: the layer, the shape of x, and what the message means.

``MESSAGES`` has torch's words, with a name in braces for each part that changes. ``normviz.layers.torch_errors`` explains those that a layer and
a shape bring about; the others have their meaning here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import gcd

import torch

from normviz.layers import arguments, axes, catalogue, fit, forms
from normviz.layers.layer import Layer
from normviz.texts.errors import NormvizError, closest, listed
from normviz.texts.messages import N_, _, english, join_sentences

C = 4
LARGEST_GROUPS = 4
USUAL_GROUPS = 32

About = tuple[Layer, tuple[int, ...]]


@dataclass(frozen=True)
class ReadMessage:
    """What a message is about. ``note``: what it means and what to do; "" if the layer on the shape says so itself."""

    layer: Layer
    shape: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True)
class Message:
    """Words of torch, and what they are about.

    words    as torch writes them; ``{name}`` is a part that changes, of the kind in ``PARTS``
    about    from these parts to the layer and the shape of x; without it, the layer is the one that the text names
    meaning  what the words mean and what to do: a message, or a function that makes it of the parts; "" if ``about`` says all
    general  whether other code raises it, too
    """

    words: str
    about: Callable[..., About] | None = None
    meaning: str | Callable[..., str] = ""
    general: bool = False


PARTS = {
    "int": r"(-?\d+)",
    "float": r"(-?[\d.]+(?:e[+-]?\d+)?)",
    "rule": r"(positive|non-negative)[^,]*",
    "fraction": r"(\d+(?:\.\d+)?e-?\d+|\d+\.\d+)",
    "sizes": r"(?:torch\.Size\()?[\[(]([\d, ]*)[\])]\)?",
    "size_list": r"\[([\d, ]*)\]",
    "star": r"\[\*(,?) ?([\d, ]*)\]",
    "word": r"([\w.]+)",
    "ranks": r"(at least 2D|[2-5]D(?: or [2-5]D)?)",
    "stored": r"(running_mean|running_var|weight|bias)",
    "any": r"(.*?)",
    "end": r"(.{0,1500})",
}
NAMES = r"(?:Lazy|Sync)?(?:Batch|Layer|Instance|Group|RMS)Norm(?:[123]d)?|LocalResponseNorm|CrossMapLRN2d|(?:native_)?(?:batch|layer|instance|group|rms)_norm|local_response_norm"
NAMED = re.compile(
    rf"(?:\b|wrapper_[A-Z]+_)_?(?:cudnn_|miopen_)?({NAMES})(?:Backward0)?\b"
)  # wrapper_CUDA__native_layer_norm


def told(text: str) -> ReadMessage | None:
    """What the first message of the table that is in the text is about; None if there is none.

    >>> found = told("ValueError: expected 4D input (got 3D input)")
    >>> str(found.layer), found.shape
    ('BatchNorm2d(4)', (2, 4, 5))
    """
    for message, pattern in patterns():
        if found := pattern.search(text):
            named = NAMED.findall(text)
            try:
                return _told(message, found, named[-1] if named else "")
            except (NormvizError, ValueError, IndexError):
                continue
    return None


@cache
def patterns() -> tuple[tuple[Message, re.Pattern[str]], ...]:
    """The messages of the table as patterns; a browser may have left out spaces at the ends of lines."""
    return tuple((message, re.compile(_pattern(message.words))) for message in MESSAGES)


def _pattern(words: str) -> str:
    texts = re.split(r"\{(\w+)\}", words)
    # A search from each letter of a long word takes seconds; Linear.__init__() is none of a normalization layer.
    begins_a_word = r"(?<![\w.])" if words.startswith(("{", "__init__", "forward")) else ""
    return begins_a_word + "".join(
        PARTS[text] if number % 2 else r"\s*".join(map(re.escape, text.split(" "))) for number, text in enumerate(texts)
    )


def _told(message: Message, found: re.Match[str], name: str) -> ReadMessage | None:
    if message.about is not None:
        layer, shape = message.about(*found.groups(), *([name] if message.about in BY_NAME else []))
    else:
        layer = _example_of(name)
        shape = fit.example_for(layer)
    if not shape or not all(1 <= size <= arguments.LARGEST_SIZE for size in shape):
        return None
    says = (
        message.meaning and _(message.meaning)
        if isinstance(message.meaning, str)
        else message.meaning(layer, *found.groups())
    )
    if not says:
        is_example = message.about in (_rank, _rank_before)
        return ReadMessage(layer, shape, _(RANK_ONLY, shape=shape) if is_example else "")
    if message.general and not name:
        return ReadMessage(
            layer, shape, _("Much code raises this. If a normalization layer does: {meaning}", meaning=says)
        )
    words = " ".join(found[0].split())
    words = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
    return ReadMessage(layer, shape, _('torch refuses: "{words}". {meaning}', words=english(words), meaning=says))


LONGEST = 200
RANK_ONLY = N_("The message says only which rank x has: the shape {shape} is an example.")


def _example_of(name: str) -> Layer:
    """An example of the layer with this name; LayerNorm if the text names none."""
    family = name.removeprefix("native_").replace("_", "").lower()
    usual = {
        "batchnorm": "BatchNorm2d",
        "instancenorm": "InstanceNorm2d",
        "localresponsenorm": "ChannelsFirstLayerNorm",
    }
    known = {kind.lower(): kind for kind in catalogue.KINDS}
    kind = known.get(usual.get(family, family).lower()) or known.get(family.removeprefix("lazy"), "LayerNorm")
    sizes = {"GroupNorm": (2, C), "LayerNorm": (C,), "RMSNorm": (C,)}
    return Layer.make(kind, *sizes.get(kind, (C,)))


# Sizes


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.replace(" ", "").split(",") if size)[: axes.MAX_RANK]


def _example(rank: int, channels: int = C) -> tuple[int, ...]:
    """A shape (N, C, H, W, ...) of this rank; (D,) for a vector."""
    layout = {1: "C", 2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}.get(
        rank, "NC" + "".join(f"D{i}" for i in range(2, rank))
    )
    return axes.example_shape(axes.parse_layout(layout, rank), {"c": channels})


def _by_rank(family: str, rank: int) -> str:
    """BatchNorm2d for four axes."""
    return f"{family}{min(3, max(1, rank - 2))}d"


def _trailing(wanted: str, comma: str, expected: str, shape: str) -> About:
    return Layer.make("LayerNorm" if comma else "RMSNorm", list(_sizes(wanted))), _sizes(shape) or (1,)


def _trailing_on_meta(wanted: str, expected: str, shape: str) -> About:
    return Layer.make("LayerNorm", list(_sizes(wanted))), _sizes(shape) or (1,)


def _too_few_dimensions(rank: str, found: str) -> About:
    shape = _example(max(1, int(found)))
    return Layer.make("RMSNorm", [axes.OTHER_SIZE] * (int(rank) - 1) + [shape[-1] + (int(rank) == 1)]), shape


def _of_weight(which: str, found: str, wanted: str) -> About:
    return Layer.make("LayerNorm", [*_sizes(wanted)]), (2, *_sizes(wanted))


def _groups_do_not_divide(channels: str, groups: str) -> About:
    return Layer.make("GroupNorm", int(groups), int(channels)), _example(4, int(channels))


def _groups_of_x(shape: str, groups: str) -> About:
    return Layer.make("GroupNorm", int(groups), int(groups)), _sizes(shape)


def _gamma_of_groups(which: str, gamma: str, shape: str) -> About:
    sizes, gammas = _sizes(shape), _sizes(gamma)
    channels = gammas[0] if len(gammas) == 1 else sizes[1]
    groups = max(d for d in range(1, LARGEST_GROUPS + 1) if gcd(channels, sizes[1]) % d == 0)
    return Layer.make("GroupNorm", groups, channels), sizes


def _group_of_one(shape: str, name: str) -> About:
    """GroupNorm writes a list, and so did BatchNorm before torch 1.0. No GroupNorm has as many groups as channels, if these are many."""
    _one, groups, *positions = _sizes(shape)
    if "atch" in name or ("roup" not in name and groups > USUAL_GROUPS):
        return _one_value(shape)
    return Layer.make("GroupNorm", groups, groups), (1, groups, *positions)


def _one_value(shape: str) -> About:
    sizes = _sizes(shape)
    return Layer.make(_by_rank("BatchNorm", len(sizes)), sizes[1]), sizes


def _one_position(shape: str) -> About:
    sizes = _sizes(shape)
    if len(sizes) < 3:  # F.instance_norm of a table
        return Layer.make("InstanceNorm1d", (sizes or (C,))[-1]), (*sizes, 1) if len(sizes) == 2 else (
            *(1, 1),
            *(sizes or (C,)),
        )[-3:]
    return Layer.make(_by_rank("InstanceNorm", len(sizes)), sizes[1]), sizes


def _statistics(which: str, found: str, wanted: str, name: str) -> About:
    family, rank = ("InstanceNorm", 4) if "nstance" in name else ("BatchNorm", 4)
    if numbered := re.search(r"([123])d$", name):
        rank = int(numbered[1]) + 2
    tracks = which in ("running_mean", "running_var")
    return Layer.make(_by_rank(family, rank), int(wanted), affine=True, track_running_stats=tracks), _example(
        rank, int(found)
    )


def _instance_channels(axis: str, wanted: str, found: str) -> About:
    shape = _example(4, int(found))
    return Layer.make("InstanceNorm2d", int(wanted), affine=True), shape[1 - int(axis) :]


def _rank(expected: str, found: str, name: str) -> About:
    """BatchNorm2d writes "expected 4D input", InstanceNorm2d "expected 3D or 4D input", and BatchNorm1d and InstanceNorm1d both "2D or 3D"."""
    ranks = [int(rank) for rank in re.findall(r"(\d+)D", expected)]
    if expected.startswith("at least"):
        return Layer.make("SyncBatchNorm", C), _example(max(1, int(found)))
    is_instance = len(ranks) > 1 and (ranks[-1] > 3 or "nstance" in name)
    return Layer.make(_by_rank("InstanceNorm" if is_instance else "BatchNorm", ranks[-1]), C), _example(
        max(1, int(found))
    )


def _rank_before(expected: str, found: str, name: str) -> About:
    return _rank(f"{expected}D", found, name)


def _eps(rule: str, eps: str) -> About:
    return Layer.make("BatchNorm2d", C, float(eps), training=rule != "non-negative"), _example(4)


# Meanings


def _no_axes(_layer: Layer, *parts: str) -> str:
    """What is said of an x without axes; else, the layer on the shape says it."""
    return _("x is one number, without an axis; x with one axis is shown.") if parts[-1].strip() in ("", "0") else ""


def _of_table(_layer: Layer, shape: str) -> str:
    """What is said of F.instance_norm on a vector or a table."""
    return (
        ""
        if len(_sizes(shape)) > 2
        else _(
            "instance_norm takes an x of shape (N, C, L) or (N, C, H, W), with more than one position for each channel."
        )
    )


def _of_channels(layer: Layer, which: str, gamma: str, shape: str) -> str:
    """What is said where it is not gamma's number of channels that is wrong; else, the layer on the shape says it."""
    if which == "weight" and len(_sizes(gamma)) == 1:
        return ""
    return _("{name} must have one number for each channel, shape {wanted}.", name=which, wanted=[_sizes(shape)[1]])


def _of_class(name: str) -> Layer:
    return _example_of(name.lstrip("_").replace("NormBase", "BatchNorm").replace("Lazy", ""))


SAME_ARGUMENT = {
    "epsilon": "eps", "axis": "normalized_shape", "dim": "normalized_shape", "affine": "elementwise_affine", "elementwise_affine": "affine",
    "num_channels": "num_features", "num_features": "num_channels", "channels": "num_channels", "scale": "affine", "center": "bias",
    "use_bias": "bias", "dims": "normalized_shape", "groups": "num_groups",
}  # fmt: skip


def _unexpected(layer: Layer, owner: str, argument: str) -> str:
    """What the layer takes instead of an argument that it does not have."""
    names = [one.name for one in layer.kind.arguments if one.in_torch]
    if argument in names:
        return _(
            "{layer} of torch {version} has the argument {name}; your torch may be older: update it, or leave {name} out.",
            layer=layer.name, version=torch.__version__.partition("+")[0], name=argument,
        )  # fmt: skip
    same = SAME_ARGUMENT.get(argument, "")
    meant = same if same in names else closest(argument, names)
    takes = _(
        "{layer} has no argument {name}; it takes {names}.", layer=layer.name, name=argument, names=listed(names, "and")
    )
    if argument == "data_format":
        return join_sentences([takes, _("It is an argument of ConvNeXt's own LayerNorm: import that one.")])
    return join_sentences([takes, _("Write {meant}.", meant=f"{meant}=") if meant else ""])


def _arguments(layer: Layer, *_parts: str) -> str:
    names = [one.name for one in layer.kind.arguments if one.in_torch]
    return _(
        "{layer} takes {names}, as in {example}.", layer=layer.name, names=listed(names, "and"), example=f"nn.{layer}"
    )


FUNCTIONS = {
    "layer": "F.layer_norm(x, x.shape[-1:])", "rms": "F.rms_norm(x, x.shape[-1:])", "group": "F.group_norm(x, 2)",
    "batch": "F.batch_norm(x, None, None, training=True)", "instance": "F.instance_norm(x)",
}  # fmt: skip


def _of_function(_layer: Layer, family: str, *_parts: str) -> str:
    family = family.removeprefix("native_")
    _name, form = forms.FORMS[f"{family}_norm"][0]
    return _(
        "{layer} takes {names}, as in {example}.",
        layer=f"{family}_norm",
        names=listed(form.takes, "and"),
        example=FUNCTIONS[family],
    )


TENSOR_NEEDED = N_(
    "The layer takes one tensor. Of a tuple, as an LSTM returns it, give the first, x[0]; of a list or an array, torch.as_tensor(x)."
)
OF_ARGUMENT: Mapping[str, str] = {
    "input": TENSOR_NEEDED,
    "normalized_shape": N_("normalized_shape is a list of whole numbers, the last sizes of x: write [5] or x.shape[-1:]."),
    "eps": N_("eps is a number, such as 1e-5."),
    "momentum": N_("momentum is a number, such as 0.1; for a cumulative average, nn.BatchNorm2d takes None."),
    "num_groups": N_("num_groups is a whole number: write int(...) or //."),
    "training": N_("training is True or False. Name the arguments: F.batch_norm(x, running_mean, running_var, weight=..., bias=..., training=True)."),
    "size": N_("The sizes of a layer are whole numbers: write int(...) or //, and give no tensor."),
}  # fmt: skip


def _argument(layer: Layer, function: str, name: str, *_parts: str) -> str:
    return _(OF_ARGUMENT[name]) if name in OF_ARGUMENT else _(forms.TENSORS, name=name)


def _no_kernel(layer: Layer, kernel: str, dtype: str) -> str:
    if "Complex" in dtype:
        return _(
            "x is complex, and the layer takes real numbers: normalize x.real and x.imag, or torch.view_as_real(x)."
        )
    if dtype in ("Half", "BFloat16"):
        return _(
            "This torch has no such kernel in 16 bits on this device: write layer.float() and x.float(), or use a newer torch."
        )
    if dtype in ("Byte", "Char", "Short", "Int", "Long", "Bool") or dtype.startswith("UInt"):
        return _("x has whole numbers or truth values, and a mean needs floating-point numbers: write x.float().")
    return _(
        "This torch has no such kernel for {dtype} on this device: write layer.float() and x.float().", dtype=dtype
    )


STATE = re.compile(r"size mismatch for ([\w.]+): copying a param with shape (?:torch\.Size\()?\[([\d, ]*)\]\)? from checkpoint, the shape in current model is (?:torch\.Size\()?\[([\d, ]*)\]")  # fmt: skip
KEYS = re.compile(r"(Missing|Unexpected) key\(s\) in state_dict:((?:,? ?\"[\w.]+\")+)")
OF_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


def _loading(layer: Layer, owner: str, rest: str) -> str:
    """What ``load_state_dict`` misses, has too much, or has in another size."""
    says: list[str] = []
    if "While copying the parameter" in rest:
        says.append(_("Each value of the dictionary is a tensor: write torch.as_tensor(value)."))
    for name, saved, own in STATE.findall(rest)[:1]:
        mended = _(
            "{name} has {saved} in the file and {own} in the model: make the layer with the size of the file.",
            name=name,
            saved=[*_sizes(saved)],
            own=[*_sizes(own)],
        )
        if len(_sizes(saved)) != len(_sizes(own)) and sorted(size for size in _sizes(saved) if size > 1) == sorted(
            _sizes(own)
        ):
            mended = _("{name} has {saved} in the file and {own} in the model: reshape it, as in state[name].flatten().", name=name, saved=[*_sizes(saved)], own=[*_sizes(own)])  # fmt: skip
        says.append(mended)
    found = {kind: re.findall(r'"([\w.]+)"', names) for kind, names in KEYS.findall(rest)}
    missing, more = found.get("Missing", []), found.get("Unexpected", [])
    if missing and any(name.removeprefix("module.") in missing for name in more if name.startswith("module.")):
        says.append(
            _(
                "The file was saved from nn.DataParallel: take model.module, or leave out module. at the beginning of each key."
            )
        )
    elif any(name.endswith(OF_STATISTICS) for name in more):
        says.append(
            _(
                "The file has running statistics and the layer has none: make it with track_running_stats=True, or load with strict=False, which leaves them out."
            )
        )
    elif any(name.endswith(OF_STATISTICS) for name in missing):
        says.append(_("The layer has running statistics and the file has none: with strict=False they stay 0 and 1, which is wrong in eval mode; make the layer with track_running_stats=False if it was trained so."))  # fmt: skip
    elif missing:
        says.append(
            _(
                "The layer has a gamma or a beta that the file does not have: make the layer with the arguments with which it was saved, or rename the keys."
            )
        )
    elif more:
        says.append(
            _(
                "The file has more than the layer: make the layer with the arguments with which it was saved, such as affine=True, or rename the keys."
            )
        )
    return join_sentences(says)


def _of_owner(owner: str, *_parts: str) -> About:
    """The layer of the class; for a model, BatchNorm2d."""
    layer = _of_class(
        owner if NAMED.fullmatch(owner) or owner.lstrip("_") in ("LazyNormBase", "NormBase") else "BatchNorm2d"
    )
    return layer, fit.example_for(layer)


def _of_keys(rest: str) -> About:
    """The layer of the keys of a model, with the size that the model has. Raises ValueError if none is one of a normalization layer."""
    names = " ".join([*re.findall(r'"([\w.]+)"', rest), *(one[0] for one in STATE.findall(rest))])
    if not re.search(r"norm|bn|running_|num_batches", names, re.IGNORECASE):
        raise ValueError(names)
    is_layer_norm = "running_" not in names and re.search(r"ln|layer_?norm", names, re.IGNORECASE)
    return _of_size("LayerNorm" if is_layer_norm else "BatchNorm2d", rest)


def _of_size(owner: str, rest: str) -> About:
    layer, shape = _of_owner(owner)
    sizes = [_sizes(own) for _name, _saved, own in STATE.findall(rest)]
    if not sizes or not sizes[0] or layer.name == "GroupNorm":
        return layer, shape
    layer = Layer.make(layer.name, list(sizes[0]) if "normalized_shape" in layer.given else sizes[0][0])
    return layer, fit.example_for(layer)


def _of_mismatch(name: str, rest: str) -> About:
    return _of_keys(f"size mismatch for {name}: copying a param with shape {rest}")


def _loaded(owner: str, rest: str) -> About:
    return _of_size(owner, rest) if NAMED.fullmatch(owner) else _of_keys(rest)


def _on_devices(rest: str, name: str) -> About:
    """Raises ValueError if torch names another function than one of a normalization, as in wrapper_CUDA_addmm."""
    if "in method wrapper" in rest and not NAMED.search(rest):
        raise ValueError(rest)
    return _of_owner(name or "LayerNorm")


def _local_response(*_parts: str) -> About:
    """The nearest layer: it has one number for all channels of a position, too."""
    layer = Layer.make("ChannelsFirstLayerNorm", C)
    return layer, fit.example_for(layer)


def _nothing_to_divide(*_parts: str) -> About:
    return Layer.make("GroupNorm", 2, C), _example(4)


ONE_DTYPE = N_(
    "x has another dtype than gamma, beta or the stored statistics: write x.to(layer.weight.dtype), or layer.to(x.dtype)."
)
ONE_DEVICE = N_("x is on another device than the layer: write layer.to(x.device), or x.to(layer.weight.device).")
CALLED_WITH_X = N_("A layer is made first, and then called with one tensor: layer = nn.LayerNorm(4); y = layer(x).")
STORED = N_(
    "Without statistics of x, running_mean and running_var are needed: give both, or training=True (use_input_stats=True for instance_norm) and neither of them."
)
GROUP_NUMBER = N_(
    "num_groups is a whole number of at least 1 that divides the number of channels, as in nn.GroupNorm(2, 4)."
)
DENSE = N_("x is sparse: write x.to_dense().")
ELEMENTS = N_("x has no elements on an axis, or too few axes: print x.shape, and give an x of shape (N, C, ...).")
POSITIVE = N_("The number of features is a whole number of at least 1, as in nn.BatchNorm2d(4).")
DTYPE = N_("dtype is a floating-point type, such as torch.float32, and device a name, such as 'cpu' or 'cuda'.")
META = N_(
    "On meta, tensors have no values: give momentum a number, or move the layer to another device, layer.to_empty(device='cpu')."
)
LAZY = N_(
    "A lazy layer gets its sizes with the first call: call it with one batch before you load, copy or count its parameters."
)
SYNC = N_(
    "In a process group, SyncBatchNorm trains on a GPU alone: on the CPU, or with one process, use nn.BatchNorm2d."
)
STATE_DICT = N_(
    "load_state_dict takes the dictionary of names and tensors that state_dict() returns: give torch.load(path), or its entry, as in checkpoint['state_dict']."
)
SINCE_2_4 = N_(
    "torch has RMSNorm since version 2.4: install a newer torch, or write x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight."
)
EPS_TEXT = N_("eps is a number, such as 1e-5. YAML reads 1e-5 as a text: write 1.0e-5, or float(eps).")
SIZE_LIST = N_("normalized_shape is a whole number or a list of them, the last sizes of x, as in nn.LayerNorm([4, 3]).")

MESSAGES: Sequence[Message] = (
    Message("Given normalized_shape={size_list}, expected input with shape {star}, but got input of size{sizes}", _trailing, _no_axes),
    Message("Given normalized_shape={size_list}, expected input with shape {size_list}, but got input of size {sizes}", _trailing_on_meta),
    Message("Input tensor must have at least {int} dimensions, but got {int}", _too_few_dimensions, _no_axes),
    Message(
        "Expected {word} to be of same shape as normalized_shape, but got {word} of shape {sizes} and normalized_shape = {size_list}",
        lambda _which, which, found, wanted: _of_weight(which, found, wanted),
        lambda _layer, _which, which, found, wanted: _("{name} has the shape {found}; it must be that of normalized_shape, {wanted}.", name=which, found=[*_sizes(found)], wanted=[*_sizes(wanted)]),
    ),
    Message("Expected normalized_shape to be at least 1-dimensional", None, SIZE_LIST),
    Message("num_channels ({int}) must be divisible by num_groups ({int})", _groups_do_not_divide),
    Message("num_channels ({fraction}) must be divisible by num_groups ({int})", _nothing_to_divide, GROUP_NUMBER),
    Message("num_channels must be divisible by num_groups", lambda: _groups_do_not_divide("6", "4")),
    Message("channels in input to be divisible by num_groups, but got input of shape {sizes} and num_groups={int}", _groups_of_x),
    Message("number of channels in input, but got {word} of shape {sizes} and input of shape {sizes}", _gamma_of_groups, _of_channels),
    Message("Expected at least 2 dimensions for input tensor but received {int}", lambda found: (Layer.make("GroupNorm", 1, C), _example(max(1, int(found)))), _no_axes),
    Message("Expected num groups to be greater than 0, got {int}", _nothing_to_divide, GROUP_NUMBER),
    Message("Expected more than 1 value per channel when training, got input size {size_list}", _group_of_one),
    Message("Expected more than 1 value per channel when training, got input size {sizes}", _one_value),
    Message("Expected more than 1 spatial element when training, got input size {sizes}", _one_position, _of_table),
    Message("{stored} should contain {int} elements not {int}", _statistics),
    Message("size at dim={int} to match num_features ({int}), but got: {int}", _instance_channels),
    Message("expected {ranks} input (got {int}D input)", _rank, _no_axes),
    Message("Expected {int}D tensor as input, got {int}D tensor instead", _rank_before),
    Message("batch_norm eps must be {rule}, but got {float}", _eps),
    Message("{stored} must be defined in evaluation mode", lambda _which: _of_owner("BatchNorm2d"), STORED),
    Message("Expected running_mean and running_var to be defined when use_input_stats is false", lambda: _of_owner("InstanceNorm2d"), STORED),
    Message("running_mean and running_var must either both be None or neither be None", lambda: _of_owner("BatchNorm2d"), STORED),
    # load_state_dict
    Message("Error(s) in loading state_dict for {word}:{end}", _loaded, _loading),
    Message("Missing key(s) in state_dict:{end}", _of_keys, lambda layer, rest: _loading(layer, "", f"Missing key(s) in state_dict:{rest}")),
    Message("Unexpected key(s) in state_dict:{end}", _of_keys, lambda layer, rest: _loading(layer, "", f"Unexpected key(s) in state_dict:{rest}")),
    Message("Unexpected running stats buffer(s) {end}", lambda _rest: _of_owner("InstanceNorm2d"), lambda layer, rest: _loading(layer, "", 'Unexpected key(s) in state_dict: "running_mean"')),
    Message("size mismatch for {word}: copying a param with shape {end}", _of_mismatch, lambda layer, name, rest: _loading(layer, "", f"size mismatch for {name}: copying a param with shape {rest}")),
    Message("Expected state_dict to be dict-like, got {any}.", None, STATE_DICT, general=True),
    # dtypes and devices
    Message('"{word}_pool{word}" not implemented for \'{word}\'', _local_response, forms.NO_VIEW, general=True),
    Message('"{word}" not implemented for \'{word}\'', lambda kernel, _dtype: _of_kernel(kernel), _no_kernel),
    Message("mixed dtype (CPU): {any} datatype", None, ONE_DTYPE),
    Message("mixed dtype (CPU): expect parameter to have scalar type of {word}", None, ONE_DTYPE),
    Message("expected scalar type {word} but found {word}", None, ONE_DTYPE, general=True),
    Message("Expected all tensors to be on the same device{end}", _on_devices, ONE_DEVICE, general=True),
    Message("Tensor on device {any} is not on the expected device {any}!", None, ONE_DEVICE, general=True),
    Message("SyncBatchNorm expected input tensor to be on {any}GPU", lambda _which: _of_owner("SyncBatchNorm"), SYNC),
    Message("SyncBatchNorm number of input channels should be non-zero", lambda: _of_owner("SyncBatchNorm"), ELEMENTS),
    Message("Only Tensors of floating point and complex dtype can require gradients", None, DTYPE, general=True),
    Message("Could not run 'aten::{word}' with arguments from the 'Sparse{word}' backend", lambda kernel, _where: _of_kernel(kernel), DENSE, general=True),
    Message("unsupported memory format option Contiguous", None, DENSE, general=True),
    Message("Tensor.item() cannot be called on meta tensors", None, META, general=True),
    Message("device type at start of device string: {word}", None, DTYPE, general=True),
    # arguments
    Message("LocalResponseNorm.__init__() {any} argument", _local_response, forms.NO_VIEW),
    Message("local_response_norm() missing {int} required", _local_response, forms.NO_VIEW),
    Message("{word}.__init__() got an unexpected keyword argument '{word}'", lambda owner, _name: _of_known(owner), _unexpected),
    Message("{word}.__init__() {any} positional argument{end}", lambda owner, *_rest: _of_known(owner), _arguments),
    Message("{word}.__init__() got multiple values for argument '{word}'", lambda owner, _name: _of_known(owner), _arguments),
    Message("__init__() got an unexpected keyword argument '{word}'", None, lambda layer, argument: _unexpected(layer, "", argument), general=True),
    Message("__init__() missing {int} required positional argument", None, _arguments, general=True),
    Message("{word}.forward() {any} positional argument", lambda owner, _what: _of_known(owner), CALLED_WITH_X),
    Message("forward() missing {int} required positional argument: 'input'", None, CALLED_WITH_X, general=True),
    Message("_LazyNormBase.initialize_parameters() {any} positional argument", lambda _what: _of_owner("BatchNorm2d"), CALLED_WITH_X),
    Message("{word}_norm(): argument '{word}' (position {int}) must be {any}, {end}", lambda family, *_rest: _of_known(f"{family}_norm"), _argument),
    Message("{word}_norm() got an unexpected keyword argument '{word}'", lambda family, _name: _of_known(f"{family}_norm"), _of_function),
    Message("{word}_norm() got multiple values for argument '{word}'", lambda family, _name: _of_known(f"{family}_norm"), _of_function),
    Message("{word}_norm() missing {int} required positional argument", lambda family, _number: _of_known(f"{family}_norm"), _of_function),
    Message("empty(): argument 'size' (position {int}) must be tuple of ints, {end}", None, lambda layer, *_rest: _(OF_ARGUMENT["size"]), general=True),
    Message("empty() received an invalid combination of arguments", None, lambda layer, *_rest: _(OF_ARGUMENT["size"]), general=True),
    Message("empty(): argument 'dtype' must be torch.dtype, not {word}", None, DTYPE, general=True),
    Message("module '{any}' has no attribute 'RMSNorm'", lambda _module: _of_owner("RMSNorm"), SINCE_2_4),
    Message("module '{any}' has no attribute 'rms_norm'", lambda _module: _of_owner("rms_norm"), SINCE_2_4),
    Message("'{word}' object has no attribute 'dim'", None, TENSOR_NEEDED, general=True),
    Message("'{word}' object has no attribute 'shape'", None, TENSOR_NEEDED, general=True),
    Message("'{word}' object has no attribute 'size'", None, TENSOR_NEEDED, general=True),
    Message("'<=' not supported between instances of 'str' and 'float'", lambda: _of_owner("BatchNorm2d"), EPS_TEXT, general=True),
    Message("Trying to create tensor with negative dimension {int}", None, POSITIVE, general=True),
    Message("integer division or modulo by zero", _nothing_to_divide, GROUP_NUMBER, general=True),
    Message("integer modulo by zero", _nothing_to_divide, GROUP_NUMBER, general=True),
    Message("not all arguments converted during string formatting", _nothing_to_divide, GROUP_NUMBER, general=True),
    Message("unsupported operand type(s) for {any}: '{word}' and '{word}'", _nothing_to_divide, GROUP_NUMBER, general=True),
    Message("'{word}' object is not iterable", lambda _what: _of_owner("LayerNorm"), SIZE_LIST, general=True),
    Message("select(): index {int} out of range for tensor of size {sizes}", None, ELEMENTS, general=True),
    Message("tuple index out of range", None, ELEMENTS, general=True),
    Message("shape '{size_list}' is invalid for input of size {int}", None, ELEMENTS, general=True),
    Message("Attempted to use an uninitialized parameter", lambda: _of_owner("BatchNorm2d"), LAZY, general=True),
    Message("{word} must be an UninitializedParameter", lambda _what: _of_owner("BatchNorm2d"), LAZY, general=True),
    # LocalResponseNorm
    Message("Expected 3D or higher dimensionality input (got {int} dimensions)", _local_response, forms.NO_VIEW),
    Message("CrossMapLRN2d: Expected input to be 4D, got {int}D instead.", _local_response, forms.NO_VIEW),
    Message("kernel size should be greater than zero, but got {any}kW: {int}", _local_response, forms.NO_VIEW, general=True),
    Message("Found dtype {word} but expected {word}", _local_response, forms.NO_VIEW, general=True),
    Message("result type {word} can't be cast to the desired output type {word}", _local_response, forms.NO_VIEW, general=True),
    Message('pad(): argument \'pad\' failed to unpack the object at pos {int} with error "type must be tuple of ints,but got {word}"', _local_response, forms.NO_VIEW, general=True),
)  # fmt: skip


BY_NAME = (_group_of_one, _statistics, _rank, _rank_before, _on_devices)  # they take the name that the text gives, too


def _of_known(name: str) -> About:
    """The layer of a class or a function of torch. Raises ValueError for another name."""
    bare = name.rpartition(".")[2].lstrip("_")
    if "esponse" in bare or "MapLRN" in bare:
        return _local_response()
    if bare not in ("LazyNormBase", "NormBase", "InstanceNorm", "BatchNorm") and not NAMED.fullmatch(bare):
        raise ValueError(name)
    return _of_owner(bare)


def _of_kernel(kernel: str) -> About:
    """The layer of a kernel, such as LayerNormKernelImpl or native_batch_norm. Raises ValueError for another kernel."""
    found = re.search(r"(batch|layer|group|rms|instance)_?norm", kernel, re.IGNORECASE)
    if found is None and kernel != "mean.dim":
        raise ValueError(kernel)
    return _of_owner(f"{found[1].lower()}_norm" if found else "rms_norm")
