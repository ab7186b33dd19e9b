"""What a reader pastes or types, as a layer and a shape: an error message of torch, "LayerNorm(96) on (8, 96, 56, 56)", "batchnorm(64)".

A message of torch does not hold everything. What is missing gets the sizes of an example.
"""

import re
from collections.abc import Callable, Sequence
from math import gcd

from normviz.layers.arguments import LARGEST_SIZE
from normviz.layers.axes import MAX_RANK, OTHER_SIZE, example_shape, parse_layout
from normviz.layers.catalogue import FAMILIES, KINDS
from normviz.layers.fit import kind_for
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError, echo

MOST_TEXT = 2000  # characters of a traceback that are read
LARGEST_GROUPS = 4

Refused = tuple[Layer, tuple[int, ...]]
TYPED = r"([\w.]+\(.*\)(?:\.eval\(\)|\.train\(\))?) on (?:x of shape )?[([]?([\d, ]+)[)\]]?"
LIST = r"(?:torch\.Size\()?\[([\d, ]*)\]\)?"
C = 4


def refused_layer(text: str) -> Refused | None:
    """The layer and the shape of an error message of torch, or of "LayerNorm(96) on (8, 96, 56, 56)"; None if it is neither.

    >>> layer, shape = refused_layer("RuntimeError: running_mean should contain 64 elements not 128")
    >>> str(layer), shape
    ('BatchNorm2d(128)', (2, 64, 3, 5))
    """
    line = " ".join(text[-MOST_TEXT:].split())
    for pattern, read in MESSAGES:
        found = re.search(pattern, line)
        if found:
            try:
                layer, shape = read(*found.groups())
            except (NormvizError, ValueError, IndexError):
                return None
            return (layer, shape) if _is_shape(shape) else None
    return None


def _is_shape(sizes: tuple[int, ...]) -> bool:
    return bool(sizes) and all(1 <= size <= LARGEST_SIZE for size in sizes)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.replace(" ", "").split(",") if size)[:MAX_RANK]


def _example(rank: int, channels: int = C) -> tuple[int, ...]:
    """A shape (N, C, H, W, ...) of this rank; (D,) for a vector."""
    layout = {1: "C", 2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}.get(
        rank, "NC" + "".join(f"D{i}" for i in range(2, rank))
    )
    return example_shape(parse_layout(layout, rank), {"c": channels})


def _by_rank(family: str, rank: int) -> str:
    """BatchNorm2d for four axes."""
    return f"{family}{max(1, rank - 2)}d"


def _trailing(wanted: str, comma: str, expected: str, shape: str) -> Refused:
    return Layer.make("LayerNorm" if comma else "RMSNorm", list(_sizes(wanted))), _sizes(shape)


def _too_few_dimensions(rank: str, found: str) -> Refused:
    shape = _example(int(found))
    return Layer.make("RMSNorm", [OTHER_SIZE] * (int(rank) - 1) + [shape[-1]]), shape


def _groups_do_not_divide(channels: str, groups: str) -> Refused:
    return Layer.make("GroupNorm", int(groups), int(channels)), _example(4, int(channels))


def _groups_of_x(shape: str, groups: str) -> Refused:
    return Layer.make("GroupNorm", int(groups), int(groups)), _sizes(shape)


def _gamma_of_groups(channels: str, shape: str) -> Refused:
    sizes = _sizes(shape)
    groups = max(d for d in range(1, LARGEST_GROUPS + 1) if gcd(int(channels), sizes[1]) % d == 0)
    return Layer.make("GroupNorm", groups, int(channels)), sizes


def _group_of_one(shape: str) -> Refused:
    _one, groups, *positions = _sizes(shape)
    return Layer.make("GroupNorm", groups, groups), (1, groups, *positions)


def _one_value(shape: str) -> Refused:
    sizes = _sizes(shape)
    return Layer.make(_by_rank("BatchNorm", len(sizes)), sizes[1]), sizes


def _one_position(shape: str) -> Refused:
    sizes = _sizes(shape)
    return Layer.make(_by_rank("InstanceNorm", len(sizes)), sizes[1]), sizes


def _statistics(name: str, found: str, wanted: str) -> Refused:
    return Layer.make(
        "BatchNorm2d", int(wanted), track_running_stats=name in ("running_mean", "running_var")
    ), _example(4, int(found))


def _instance_channels(axis: str, wanted: str, found: str) -> Refused:
    shape = _example(4, int(found))
    return Layer.make("InstanceNorm2d", int(wanted), affine=True), shape[1 - int(axis) :]


def _rank(expected: str, found: str) -> Refused:
    """BatchNorm2d writes "expected 4D input", InstanceNorm2d "expected 3D or 4D input", and BatchNorm1d and InstanceNorm1d both "2D or 3D"."""
    ranks = [int(rank) for rank in re.findall(r"(\d+)D", expected)]
    if expected.startswith("at least"):
        return Layer.make("SyncBatchNorm", C), _example(int(found))
    family = "InstanceNorm" if len(ranks) > 1 and ranks[-1] > 3 else "BatchNorm"
    return Layer.make(_by_rank(family, ranks[-1]), C), _example(int(found))


def _eps(rule: str, eps: str) -> Refused:
    return Layer.make("BatchNorm2d", C, float(eps), training=rule != "non-negative"), _example(4)


def parse_layer_on_shape(text: str) -> tuple[Layer | Norm, tuple[int, ...]]:
    """ "LayerNorm(96) on (8, 96, 56, 56)" as a layer and a shape. Raises NormvizError if the text is not of this form.

    >>> parse_layer_on_shape("LayerNorm(96) on 8,56,56,96")[1]
    (8, 56, 56, 96)
    """
    found = re.fullmatch(TYPED, text.replace("`", "").strip())  # Markdown puts code in backticks
    try:
        sizes = _sizes(found[2]) if found else ()
    except ValueError:  # more digits than Python reads
        sizes = ()
    if not found or not _is_shape(sizes):
        raise NormvizError(
            "{text} is not a layer on a shape; write it as in LayerNorm([768]) on 32,128,768.", text=echo(text)
        )
    return Layer.parse(found[1]), sizes


def typed_layer(text: str, axes: tuple[str, ...]) -> Layer | Norm:
    """A layer as one writes it; in any case, and by the name of its family: ``batchnorm(64)``. Raises NormvizError for another text.

    >>> str(typed_layer("nn.batchnorm(64, eps=1e-3)", ("n", "c", "h", "w")))
    'BatchNorm2d(64, eps=0.001)'
    """
    name, bracket, rest = text.replace("`", "").partition("(")
    prefix, dot, bare = name.rpartition(".")
    known = {known.lower(): known for known in (*KINDS, "Norm")}
    families = {family.lower(): family for family in FAMILIES if family not in KINDS}
    bare = bare.strip().lower()
    if bare in families:
        known[bare] = kind_for(families[bare], axes).name
    return Layer.parse(f"{prefix}{dot}{known.get(bare, bare)}{bracket}{rest}" if bare in known else text)


# What stands before a layer in print(model), "(bn1):", or in code, "self.norm ="; and a layer that is called, as in
# nn.BatchNorm1d(10)(torch.randn(4, 20, 10)).
ASSIGNED = re.compile(r"^(?:\(\w+\): ?|[\w.\[\]]+ ?(?:: ?[\w.]+ ?)?=(?!=) ?)")
APPLIED = re.compile(r"(.*\)) ?\((?:\w+\.)?\w+\([(\[]?([\d, ]+)[)\]]?\)\)")
NAME = r"(?!(?:True|False|None)\b)[A-Za-z_][\w.]*(?:\[-?\d+\])?"
OPTION_BY_NAME = re.compile(rf", ?(?:eps|momentum|affine|elementwise_affine|bias|device|dtype)={NAME}(?=[,)])")
SIZE_BY_NAME = re.compile(rf"(?<![\w.'\"]){NAME}(?![\w.'\"(=\[])")
SIZES = {"n": 2, "b": 2, "h": 3, "w": 5, "l": 5, "t": 5, "g": 2, "groups": 2, "num_groups": 2}


def layer_in_code(line: str) -> str:
    """A layer as it stands in code or in print(model), as one types it: names of sizes get those of an example.

    >>> (
    ...     layer_in_code("(bn1): BatchNorm2d(64, eps=1e-05)"),
    ...     layer_in_code("self.norm = nn.LayerNorm([C, H, W], eps=eps)"),
    ... )
    ('BatchNorm2d(64, eps=1e-05)', 'nn.LayerNorm([4, 3, 5])')
    """
    line = ASSIGNED.sub("", line)
    if applied := APPLIED.fullmatch(line):
        line = f"{applied[1]} on {applied[2]}"
    name, bracket, rest = line.partition("(")
    if not bracket or name.rpartition(".")[2] not in KINDS:
        return line
    groups = re.match(r"(\d+),", rest) if name.endswith("GroupNorm") else None
    channels = 2 * int(groups[1]) if groups else C
    arguments, end, after = OPTION_BY_NAME.sub("", rest).rpartition(")")
    return f"{name}({SIZE_BY_NAME.sub(lambda found: str(SIZES.get(found[0].lower(), channels)), arguments)}{end}{after}"


def _typed(layer: str, shape: str) -> Refused:
    found, sizes = parse_layer_on_shape(f"{layer} on {shape}")
    if isinstance(found, Norm):
        raise NormvizError(f"{layer} is not a layer of torch.")
    return found, sizes


MESSAGES: Sequence[tuple[str, Callable[..., Refused]]] = (
    (rf"Given normalized_shape=\[([\d, ]*)\], expected input with shape \[\*(,?) ?([\d, ]*)\], but got input of size ?{LIST}", _trailing),
    (r"Input tensor must have at least (\d\d?) dimensions, but got (\d\d?)", _too_few_dimensions),
    (
        r"Expected (?:weight|bias) to be of same shape as normalized_shape, but got \w+ of shape \[[\d, ]*\] and normalized_shape = \[([\d, ]+)\]",
        lambda wanted: (Layer.make("LayerNorm", [*_sizes(wanted)]), (2, *_sizes(wanted))),
    ),
    (r"num_channels \((\d+)\) must be divisible by num_groups \((\d+)\)", _groups_do_not_divide),
    (r"num_channels must be divisible by num_groups", lambda: _groups_do_not_divide("6", "4")),
    (rf"channels in input to be divisible by num_groups, but got input of shape {LIST} and num_groups= ?(\d+)", _groups_of_x),
    (rf"number of channels in input, but got weight of shape \[(\d+)\] and input of shape {LIST}", _gamma_of_groups),
    (r"Expected at least 2 dimensions for input tensor but received (\d\d?)", lambda found: (Layer.make("GroupNorm", 1, C), _example(int(found)))),
    (r"Expected more than 1 value per channel when training, got input size \[([\d, ]*)\]", _group_of_one),
    (rf"Expected more than 1 value per channel when training, got input size {LIST}", _one_value),
    (rf"Expected more than 1 spatial element when training, got input size {LIST}", _one_position),
    (r"(running_mean|running_var|weight|bias) should contain (\d+) elements not (\d+)", _statistics),
    (r"size at dim=(\d) to match num_features \((\d+)\), but got: (\d+)", _instance_channels),
    (r"expected (at least 2D|[2-5]D(?: or [2-5]D)?) input \(got (\d\d?)D input\)", _rank),
    (r"batch_norm eps must be (positive|non-negative).*, but got (-?[\d.e+-]+)", _eps),
    (rf"^{TYPED}$", _typed),
)  # fmt: skip
