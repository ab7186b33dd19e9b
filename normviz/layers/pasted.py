"""What a reader pastes or types, as a layer and a shape: an error message of torch, "LayerNorm(96) on (8, 96, 56, 56)", a line of code or of
``print(model)``.

A text does not hold everything. What is missing gets the sizes of an example, and a note says so.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from normviz.layers import arguments, axes, catalogue, fit, forms, torch_errors
from normviz.layers.layer import Layer, decimal_comma
from normviz.layers.norm import Norm
from normviz.layers.torch_messages import ReadMessage, told
from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import _, join_sentences

MOST_TEXT = 4000  # characters of a pasted text that are read: half of them at its beginning, half at its end
MOST_CALLS = 40


@dataclass(frozen=True)
class Pasted:
    """What a text is about.

    layer    the layer
    shape    of x; None if the text says nothing about x
    layout   of x; "" for that which is usual for the layer
    note     what the text does not say, or what the message of torch means
    message  whether the text is an error message
    """

    layer: Layer | Norm
    shape: tuple[int, ...] | None = None
    layout: str = ""
    note: str = ""
    message: bool = False


def read_pasted(text: str, tensor: forms.Tensor | None = None) -> Pasted:
    """What a text is about: the error message in it, or the layer in it.

    tensor  the x that the reader looks at; None if there is none

    Raises NormvizError if the text has no layer that is read here, or if it could mean two things.

    >>> found = read_pasted("RuntimeError: running_mean should contain 64 elements not 128")
    >>> str(found.layer), found.shape
    ('BatchNorm2d(128)', (2, 64, 3, 5))
    >>> found = read_pasted("(norm1): LayerNorm((768,), eps=1e-05, elementwise_affine=True)")
    >>> str(found.layer), found.shape
    ('LayerNorm([768])', None)
    """
    line = plain_code(text)
    if message := told(line):
        return _of_message(message)
    if shape := sizes_alone(line):
        layer = fit.example_on(catalogue.KINDS["LayerNorm"], shape)
        return Pasted(layer, shape, note=_("The text has only the sizes of x; {layer} is shown.", layer=layer))
    found, problems = _layers_in(_as_call(line), tensor)
    if found:
        others = [one for one in dict.fromkeys(str(one.layer) for one in found) if one != str(found[0].layer)]
        more = _("The text has {layers}, too; the first is shown.", layers=listed(others[:3], "and")) if others else ""
        return replace(found[0], note=join_sentences([one for one in (found[0].note, more) if one]))
    if named := _by_name(line):
        return named
    raise problems[0] if problems else decimal_comma(line) or unread(line)


WITH_NUMBERS = re.compile(
    r"((?:\w+\.)*)((?:(?:layer|batch|group|instance|rms) )?\w+)[ :]+(\d+(?:[ ,]+\d+)*)(?:[ ,]+(?:with )?eps(?:ilon)?[ =:]*([\d.]+(?:e-?\d+)?))?",
    re.IGNORECASE,
)


def _as_call(line: str) -> str:
    """ "layernorm 768 eps 1e-6" as a call; another text as it is.

    >>> _as_call("Group Norm 32, 64")
    'GroupNorm(32, 64)'
    """
    found = WITH_NUMBERS.fullmatch(line)
    if found is None or (name := found[2].replace(" ", "")).lower() not in KNOWN:
        return line
    eps = f", eps={found[4]}" if found[4] else ""
    return f"{found[1]}{name}({', '.join(SIZE.findall(found[3]))}{eps})"


def _by_name(line: str) -> Pasted | None:
    """ "LayerNorm on 2x128x768": the layer of this name with its usual arguments. Raises NormvizError for a name alone."""
    found = NAME_ON.fullmatch(line)
    names = {name.lower(): kinds[0] for name, kinds in catalogue.FAMILIES.items()} | {
        name.lower(): kind for name, kind in catalogue.KINDS.items()
    }
    kind = names.get((found[1] if found else line).rpartition(".")[2].strip().lower())
    if kind is None:
        return None
    if not found:
        Layer.make(kind.name)  # raises NormvizError, which says what it needs
        return None
    if (shape := sizes(found[2])) and not kind.takes_rank(len(shape)):
        kind = fit.kind_for(
            kind.family, forms.Tensor.example({1: "D", 2: "ND", 3: "NCL", 4: "NCHW"}.get(len(shape), "NCDHW")).axes
        )
    return Pasted(fit.example_on(kind, shape), shape) if shape else None


def refused_layer(text: str) -> Pasted | None:
    """What an error message of torch is about, or a layer on a shape; None for another text."""
    try:
        found = read_pasted(text)
    except NormvizError:
        return None
    return found if found.shape and isinstance(found.layer, Layer) else None


def _of_message(message: ReadMessage) -> Pasted:
    return Pasted(message.layer, message.shape, note=message.note, message=True)


# The text without what a terminal, a notebook, Markdown or a web page adds

ADDED = re.compile(
    r"\x1b\[[\d;]*[A-Za-z]|[\u200b\ufeff]|`+(?:python|py|pytb|text)?(?=\s|`)|`|^[ \t]*(?:>(?!>)[ \t]?)+|^[ \t]*(?:>>>|\.\.\.)[ \t]|^(?:In|Out) ?\[\d*\]:",
    re.MULTILINE,
)
QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "×": "x"})


def plain_code(text: str) -> str:
    """The text on one line, without colors, quotation signs and prompts.

    >>> plain_code("> In [3]: nn.LayerNorm(4)")
    'nn.LayerNorm(4)'
    """
    half = MOST_TEXT // 2
    text = text if len(text) <= MOST_TEXT else f"{text[:half]} … {text[-half:]}"
    text = html.unescape(text).translate(QUOTES)
    return " ".join(ADDED.sub(" ", ADDED.sub("", text)).split())


# Calls in a text

CALL = re.compile(r"(?<!\w)[A-Za-z_][\w.]*(?= ?\()")
CLOSES = {"(": ")", "[": "]", "{": "}"}
CHILD = re.compile(r" \(\w+\): ")  # a module in a module, in print(model)
BEHIND = re.compile(r"\.(\w+)\(([^()]*)\)")  # .eval(), .to(device)
TRAINING = {"eval": False, "train": True}
NAME_OF = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*) ?= ?$")  # bn of bn = nn.BatchNorm2d(3); bn.eval()
# (x, training=False) of Keras, (x, use_running_average=True) of Flax, (x, is_training=False) of Haiku
MODE = re.compile(r" ?\([^()]*\b((?:is_)?training|use_running_average) ?= ?(True|False)\b")


@dataclass(frozen=True)
class Span:
    """A call in a text: where it begins and ends, and the call."""

    start: int
    end: int
    node: ast.Call


def _layers_in(line: str, tensor: forms.Tensor | None) -> tuple[list[Pasted], list[NormvizError]]:
    """The layers of the calls in a text, those of constructors and functions first; and why others are not read.

    Of statistics, the first has the notes of all that are the same layer: in ``(x - x.mean(-1)) / x.std(-1)``, that of ``std``.
    """
    found: list[tuple[bool, Pasted]] = []
    problems: list[NormvizError] = []
    for span in _outermost(list(_spans(line))):
        try:
            if one := _layer_of(line, span, tensor):
                found.append(
                    (ast.unparse(span.node.func).rpartition(".")[2].lower() in (*forms.OF_M, *forms.OF_M_MINUS_1), one)
                )
        except NormvizError as error:
            problems.append(error)
        except RecursionError:
            continue
    layers = [one for _is_statistic, one in sorted(found, key=lambda one: one[0])]
    if not layers or not all(is_statistic for is_statistic, _one in found):
        return layers, problems
    layers = _with_eps(line, layers)
    notes = dict.fromkeys(one.note for one in layers if str(one.layer) == str(layers[0].layer))
    if RESHAPED.search(line):
        notes[_("The text reshapes a tensor: what is shown is about the tensor whose mean is taken.")] = None
    return [replace(layers[0], note=join_sentences([note for note in notes if note])), *layers[1:]], problems


ROOT = re.compile(r"sqrt|std|\*\* ?-?\(?(?:0?\.5|1 ?/ ?2)")
NUMBER = r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?"
EPS = rf"{NUMBER}|(?:\w+\.)*\w*eps\w*"
SUMMAND = re.compile(rf"\+ ?({EPS})|({EPS}) ?\+", re.IGNORECASE)
OUTSIDE = re.compile(r"(?:std|sigma|sqrt)$", re.IGNORECASE)
LARGEST_EPS = 0.1  # the 1 of 1 + gamma is no eps


def _with_eps(line: str, layers: list[Pasted]) -> list[Pasted]:
    """The layers of the statistics in a text, with the eps that the text adds to the variance."""
    for found in SUMMAND.finditer(line) if ROOT.search(line) else ():
        written = found[1] or found[2]
        value = re.search(rf"(?<![\w.]){re.escape(written)} ?= ?({NUMBER})", line)
        number = value[1] if value else written if re.fullmatch(NUMBER, written) else ""
        if number and not 0 < float(number) < LARGEST_EPS:
            continue
        if found[1] and OUTSIDE.search(_called(line[: found.start()])):
            note = _("It adds eps to the standard deviation, outside the root, not to the variance.")
        elif number:
            return [replace(one, layer=_eps_in(one.layer, float(number))) for one in layers]
        else:
            shown = f"eps={layers[0].layer.eps if isinstance(layers[0].layer, Norm) else layers[0].layer.given['eps']}"
            note = _("The text has no value for {names}; shown is {values}.", names=echo(written), values=shown)
        return [replace(one, note=join_sentences([*filter(None, [one.note]), note])) for one in layers]
    return layers


def _eps_in(layer: Layer | Norm, eps: float) -> Layer | Norm:
    return replace(layer, eps=eps) if isinstance(layer, Norm) else layer.with_(eps=eps)


def _called(text: str) -> str:
    """A text up to the name at its end, or to the name of what is called there: ``x.std`` of ``x.std(-1)``."""
    text = text.rstrip()
    if not text.endswith(")"):
        return text
    depths = list(accumulate((letter == ")") - (letter == "(") for letter in reversed(text)))
    return text[: -1 - depths.index(0)] if 0 in depths else ""


RESHAPED = re.compile(r"\.(?:view|reshape|permute|transpose|flatten|movedim)\(|\brearrange\(")


def _spans(line: str) -> Iterator[Span]:
    """The calls of names that have a form."""
    for number, found in enumerate(CALL.finditer(line)):
        name = found[0].rpartition(".")[2].lower()
        if number > 10 * MOST_CALLS or name not in (*KNOWN, "partial"):
            continue
        opened = line.index("(", found.end())
        end = _closing(line, opened)
        start = _receiver(line, found.start())
        inside = CHILD.split(line[opened + 1 : end])[0]
        source = f"{line[start:opened]}({inside})"
        if name == "partial":
            called, _comma, inside = inside.partition(",")
            name, source = called.rpartition(".")[2].strip().lower(), f"{called.strip()}({inside})"
        try:
            node = ast.parse(source, mode="eval").body if len(source) <= axes.MAX_TEXT else None
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if isinstance(node, ast.Call):
            yield Span(start, end + 1, _whole(name, node) if found[0].endswith("partial") else node)


def _whole(name: str, node: ast.Call) -> ast.Call:
    """A call in which ``partial`` left out what is needed, with names for it."""
    given = {one.arg for one in node.keywords}
    for _known, form in forms.FORMS.get(name, []):
        needed = [one for one, default in form.takes.items() if default is catalogue.REQUIRED and one not in given]
        added = [ast.keyword(one, ast.Name(one)) for one in needed[len(node.args) :]]
        whole = ast.Call(node.func, node.args, [*node.keywords, *added])
        if form.bind(whole, with_receiver=False) is not None:
            return whole
    return node


def _closing(line: str, opened: int) -> int:
    """Where the bracket closes that opens at ``opened``; the end of the text, if it does not."""
    awaited: list[str] = []
    quote = ""
    for place in range(opened, len(line)):
        letter = line[place]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in CLOSES:
            awaited.append(CLOSES[letter])
        elif awaited and letter == awaited[-1]:
            awaited.pop()
            if not awaited:
                return place
    return len(line)


def _receiver(line: str, start: int) -> int:
    """Where the tensor begins whose method begins at ``start``: ``(x ** 2)`` of ``(x ** 2).mean``."""
    while start > 1 and line[start - 1] == "." and line[start - 2] in ")]":
        place, depth = start - 2, 0
        while place >= 0:
            depth += (line[place] in ")]") - (line[place] in "([")
            if not depth:
                break
            place -= 1
        start = max(place, 0)
        while start and (line[start - 1].isalnum() or line[start - 1] in "_."):
            start -= 1
        if line[start] == ".":
            start += 1
    return start


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """Not the calls in the arguments of others: of x.mean(-1).mean(-1), the inner one alone says something else."""
    return [
        one
        for one in spans
        if not any(other is not one and other.start <= one.start and one.end <= other.end for other in spans)
    ][:MOST_CALLS]


def _mode(line: str, span: Span) -> tuple[bool, str]:
    """Whether a layer is in training mode, as in ``nn.BatchNorm2d(3).eval()`` or ``bn.eval()``; and the text behind these calls."""
    said, rest = list[tuple[str, str]](), line[span.end :]
    while behind := BEHIND.match(rest):
        said.append((behind[1], behind[2]))
        rest = rest[behind.end() :]
    if name := NAME_OF.search(line[: span.start]):
        said += re.findall(rf"(?<![\w.]){re.escape(name[1])}\.(\w+)\(([^()]*)\)", rest)
    training = True
    for method, argument in said:
        if method in TRAINING:
            training = TRAINING[method] and not argument.strip().endswith("False")
    if of_call := MODE.match(rest):
        training = (of_call[1] != "use_running_average") == (of_call[2] == "True")
    return training, rest


def _layer_of(line: str, span: Span, tensor: forms.Tensor | None) -> Pasted | None:
    if line.lstrip().startswith("class "):  # the base class is no argument
        return None
    training, rest = _mode(line, span)
    shape = _shape_behind(rest)
    if shape and (tensor is None or len(tensor.shape) != len(shape)):
        tensor = _tensor(span.node, shape)
    elif shape and tensor:
        tensor = forms.Tensor(shape, tensor.axes)
    found = forms.read_call(span.node, tensor, training)
    if found is None:
        return None
    layer, of_form, note = found
    x = of_form if shape is None else tensor
    hint = None if x is not None or isinstance(layer, Norm) else _shape_hint(line, span, layer)
    return Pasted(layer, shape or (x.shape if x and tensor is None else hint), _layout(layer, x), note)


def _layout(layer: Layer | Norm, x: forms.Tensor | None) -> str:
    """The layout of x, if it is not the usual one of the layer."""
    if x is None or isinstance(layer, Norm):
        return ""
    layout = "".join(x.axes).upper()
    return "" if layer.kind.layout(len(x.shape)) == layout else layout


# The shape of x in a text

SIZE_LIST = r"(?:torch\.Size\(|tf\.TensorShape\()?[\[(]? ?(?<![\d.])(\d+(?: ?[,xX*] ?\d+)*)(?![-\da-wyzA-WYZ]| ?[,xX*] ?-?\d)(?: ?,)? ?[\])]?\)?"
ON = re.compile(
    rf" ?(?:(?:on|for|with|to|at|applied|an?|x|of|in|input|inputs|tensor|shape|size|shaped|images?|dims?)[ :=]+)+(?:\w+ ?= ?)?{SIZE_LIST}[ .;?!]*"
)
BARE = re.compile(rf"[ ,;:@=>-]+{SIZE_LIST}[ .;?!]*$")
NAME_ON = re.compile(rf"([\w.]+) (?:on|for|with) (?:x of shape )?{SIZE_LIST}")
APPLIED = re.compile(r" ?\((?:\w+ ?= ?)?(?:\w+\.)*(?:randn?|zeros|ones|empty|normal)\([(\[]?([\d, ]+)[)\]]?[^()]*\)")
MADE = re.compile(r"(?:randn?|zeros|ones|empty|Size)\([(\[]?(\d[\d, ]*)[)\]]?[^()]*\)")
SIZE = re.compile(r"\d+")
WRITTEN = re.compile(r" ?on (?:[(\[]([^()\[\]]+)[)\]]|(-?\d[-\d.,e]*))")


def sizes_alone(text: str) -> tuple[int, ...]:
    """The sizes, if the text has nothing else: "2x128x768", "torch.Size([2, 128, 768])", "x.shape = (2, 128, 768)"; else empty."""
    found = re.fullmatch(rf"(?:(?:\w+\.)?(?:shape|size\(\)) ?[=:]* ?)?{SIZE_LIST}", plain_code(text))
    shape = sizes(found[1]) if found else ()
    return shape if len(shape) > 1 else ()


def sizes(text: str) -> tuple[int, ...]:
    """The sizes in "2x128x768", "[2, 128, 768]" or "2, 128, 768"; empty if one is not a size."""
    try:
        found = tuple(int(size) for size in SIZE.findall(text))[: axes.MAX_RANK]
    except ValueError:  # more digits than Python reads
        return ()
    return found if all(1 <= size <= arguments.LARGEST_SIZE for size in found) else ()


def _shape_behind(rest: str) -> tuple[int, ...] | None:
    """The shape that stands behind a layer: " on (8, 96, 56, 56)", "(torch.randn(4, 20))", " 2x128x768"."""
    if written := WRITTEN.match(rest):
        value = (written[1] or written[2]).rstrip(" ,.-")
        elements = re.split(r"[ ,xX*]+", value)
        if any(one[0] in "-0123456789" for one in elements if one) and not all(map(str.isdecimal, elements)):
            raise NormvizError("shape={value} must be whole numbers; write shape=2,4,3,5.", value=echo(value))
    for pattern in (ON, APPLIED, BARE):
        if found := pattern.match(rest):
            if shape := sizes(found[1]):
                return shape if len(shape) > 1 or pattern is not BARE else None
            raise NormvizError(
                "shape={value} has a size below 1 or above {most:,}; write shape=2,4,3,5.",
                value=echo(found[1]),
                most=arguments.LARGEST_SIZE,
            )
    return None


def _shape_hint(line: str, span: Span, layer: Layer) -> tuple[int, ...] | None:
    """The shape of the only tensor that a text makes, if the layer takes it."""
    shapes = {sizes(found[1]) for found in MADE.finditer(f"{line[: span.start]} {line[span.end :]}")}
    if len(shapes) != 1 or not (shape := shapes.pop()):
        return None
    try:
        torch_errors.check(layer, shape)
    except NormvizError:
        return None
    return shape


def _tensor(node: ast.Call, shape: tuple[int, ...]) -> forms.Tensor:
    """x with the usual layout: for the layers of Keras, Flax and MLX, with the channels last."""
    name = ast.unparse(node.func).rpartition(".")[2].lower()
    last = name.endswith("normalization") or "channelslast" in name
    layouts = {3: "NLC", 4: "NHWC", 5: "NDHWC"} if last else {}
    kind = catalogue.KINDS.get(next((known for known, _form in forms.FORMS.get(name, [])), ""))
    default = (kind or catalogue.KINDS["LayerNorm"]).layout(len(shape))
    return forms.Tensor(shape, axes.parse_layout(layouts.get(len(shape), default), len(shape)))


def parse_layer_on_shape(text: str) -> tuple[Layer | Norm, tuple[int, ...]]:
    """ "LayerNorm(96) on (8, 96, 56, 56)" as a layer and a shape. Raises NormvizError if the text is not of this form.

    >>> parse_layer_on_shape("LayerNorm(96) on 8,56,56,96")[1]
    (8, 56, 56, 96)
    """
    found = re.fullmatch(rf"(.+\)(?:\.eval\(\)|\.train\(\))?) on (?:x of shape )?{SIZE_LIST} ?", plain_code(text))
    shape = sizes(found[2]) if found else ()
    if not found or not shape:
        raise NormvizError(
            "{text} is not a layer on a shape; write it as in LayerNorm([768]) on 32,128,768.", text=echo(text)
        )
    return Layer.parse(found[1]), shape


def typed_layer(text: str, axes: tuple[str, ...]) -> Layer | Norm:
    """A layer as one writes it; in any case, and by the name of its family: ``batchnorm(64)``. Raises NormvizError for another text.

    >>> str(typed_layer("nn.batchnorm(64, eps=1e-3)", ("n", "c", "h", "w")))
    'BatchNorm2d(64, eps=0.001)'
    """
    name, bracket, rest = text.replace("`", "").partition("(")
    prefix, dot, bare = name.rpartition(".")
    known = {known.lower(): known for known in (*catalogue.KINDS, "Norm")}
    families = {family.lower(): family for family in catalogue.FAMILIES if family not in catalogue.KINDS}
    bare = bare.strip().lower()
    if bare in families:
        known[bare] = fit.kind_for(families[bare], axes).name
    return Layer.parse(f"{prefix}{dot}{known.get(bare, bare)}{bracket}{rest}" if bare in known else text)


KNOWN = {*forms.FORMS, *(family.lower() for family in catalogue.FAMILIES), "norm"}
WORD = re.compile(r"[A-Za-z_]\w*")
OTHERS = (  # normalizations of another kind, and the layer with their groups; of a weight, none
    (re.compile(r"weight_?(?:norm|standardi)|spectral_?norm", re.IGNORECASE), ""),
    (re.compile(r"\bunit_?norm|\bnormalize\b|\bfrn|filter_?response_?norm", re.IGNORECASE), "RMSNorm"),
)


def unread(text: str) -> NormvizError:
    """What is read here, and what is nearest to the text."""
    names = [known for rows in forms.FORMS.values() for known, _form in rows if "Norm" in known and "_" not in known]
    other = next((name for found, name in OTHERS if found.search(text)), None)
    words = [word for word in WORD.findall(text[: axes.MAX_TEXT]) if len(word) > 5]
    meant = next((found for word in words if (found := closest(word.replace("_", ""), names))), None)
    meant = meant if other is None else other
    nearest = (
        _("Nearest to it is {meant}.", meant=meant)
        if meant
        else _("Layers are {layers}.", layers=listed([*catalogue.FAMILIES][:5], "and"))
    )
    reads = _(
        "{text}: what is read here is a layer, such as LayerNorm(96) on (8, 96, 56, 56), also in code or in print(model); an expression of torch, "
        "Keras, Flax, MLX or einops, such as F.layer_norm(x, x.shape[1:]) or x.mean((0, 2, 3)); or an error message about a normalization layer.",
        text=echo(text),
    )
    return NormvizError("{first} {second}", first=reads, second=nearest)
