"""The texts of an exercise: its prompt, its options, its explanation and the link to the view that settles it."""

from __future__ import annotations

from collections.abc import Mapping

from normviz.layers import sharing
from normviz.lessons.practice.case import EXERCISE_KINDS, BankRow, Box, Case, group_box, members, place
from normviz.texts.errors import listed
from normviz.texts.languages import with_language
from normviz.texts.messages import N_, _, join_sentences, ngettext
from normviz.texts.numbers import format_number

PROMPTS: Mapping[tuple[str, str], str] = {
    ("means", ""): N_("x has shape {axes} = {shape}. How many means does {layer} compute?"),
    ("means", "squares"): N_("x has shape {axes} = {shape}. How many mean squares does {layer} compute?"),
    ("gammas", ""): N_("x has shape {axes} = {shape}. How many gammas does {layer} have?"),
    ("parameters", ""): N_("x has shape {axes} = {shape}. How many parameters does {layer} learn?"),
    ("elements_per_mean", ""): N_("x has shape {axes} = {shape}. How many elements of x share one mean in {layer}?"),
    ("elements_per_mean", "squares"): N_("x has shape {axes} = {shape}. How many elements of x share one mean square in {layer}?"),
    ("peers", ""): N_("x has shape {axes} = {shape}. Mark all other elements that share a mean with x{at} in {layer}."),
    ("peers", "squares"): N_("x has shape {axes} = {shape}. Mark all other elements that share a mean square with x{at} in {layer}."),
    ("parameter_peers", ""): N_("x has shape {axes} = {shape}. Mark all other elements that use the same gamma as x{at} in {layer}."),
    ("pattern", ""): N_("x has shape {axes} = {shape}. Elements with the same number share a mean. Which layer is this?"),
    ("code", "einops"): N_("x has shape {axes} = {shape}. With which pattern does einops.reduce give the means of {layer}?"),
    ("code", "torch"): N_("x has shape {axes} = {shape}. Which call gives the means of {layer}?"),
    ("value", "mean"): N_("x has shape {axes} = {shape}. Which mean does {layer} subtract from x{at}?"),
    ("value", "variance"): N_("x has shape {axes} = {shape}. With which variance does {layer} normalize x{at}?"),
    ("value", "normalized"): N_("x has shape {axes} = {shape}. What is the output of {layer} at {at}? gamma is 1, beta is 0, and eps can be left out."),
    ("value", "rms"): N_("x has shape {axes} = {shape}. What is the output of {layer} at {at}? gamma is 1, and eps can be left out. Two decimals are enough."),
    ("moves", "train"): N_("x has shape {axes} = {shape}. In train mode, which elements of the output of {layer} change if x{at} changes? Mark them."),
    ("moves", "eval"): N_("x has shape {axes} = {shape}. In eval mode, which elements of the output of {layer} change if x{at} changes? Mark them."),
}  # fmt: skip

BY_MODE: Mapping[tuple[str, bool], str] = {  # the variant, and whether the layer is in train mode
    ("uses squares", True): N_("x has shape {axes} = {shape}. In train mode, which statistics does {layer} use?"),
    ("uses squares", False): N_("x has shape {axes} = {shape}. In eval mode, which statistics does {layer} use?"),
    ("uses", True): N_("x has shape {axes} = {shape}. In train mode, which mean and variance does {layer} use?"),
    ("uses", False): N_("x has shape {axes} = {shape}. In eval mode, which mean and variance does {layer} use?"),
    ("buffers", True): N_("In train mode, what does a forward pass of {layer} do to its running statistics?"),
    ("buffers", False): N_("In eval mode, what does a forward pass of {layer} do to its running statistics?"),
}

WITHOUT_MARKING: Mapping[str, str] = {
    "peers": N_("x has shape {axes} = {shape}. Which other elements share a mean with x{at} in {layer}?"),
    "peers squares": N_("x has shape {axes} = {shape}. Which other elements share a mean square with x{at} in {layer}?"),
    "parameter_peers": N_("x has shape {axes} = {shape}. Which other elements use the same gamma as x{at} in {layer}?"),
    "moves train": N_("x has shape {axes} = {shape}. In train mode, which elements of the output of {layer} change if x{at} changes?"),
    "moves eval": N_("x has shape {axes} = {shape}. In eval mode, which elements of the output of {layer} change if x{at} changes?"),
}  # fmt: skip

OPTIONS: Mapping[str, str] = {
    "batch": N_("those of the batch"),
    "example": N_("those of each example alone"),
    "running": N_("the running ones"),
    "change": N_("it updates them"),
    "stay": N_("nothing: they stay as they are"),
    "none": N_("nothing: the layer has none"),
}


def prompt(exercise: BankRow, marking: bool = True) -> str:
    """The question, in one or two sentences; ``marking``: whether elements can be marked, or an option is chosen."""
    case, key = exercise.case, (exercise.kind, exercise.variant)
    if exercise.kind == "mode":
        has_no_mean = exercise.variant == "uses" and not case.norm.center
        message = BY_MODE["uses squares" if has_no_mean else exercise.variant, case.layer.training]
    else:
        message = (None if marking else WITHOUT_MARKING.get(" ".join(key).strip())) or PROMPTS[key]
    return _(
        message,
        layer=case.text.removesuffix(".eval()"),
        axes=axes_text(case),
        shape=case.shape,
        at=list(exercise.at),
    )


def axes_text(case: Case) -> str:
    """The axes as a shape: "(N, C, H, W)"."""
    return f"({', '.join(name.upper() for name in case.axes)})"


def nested(values: tuple[float, ...] | list[int], shape: tuple[int, ...]) -> str:
    """The values as nested lists.

    >>> nested((1.0, 2.0, 3.0, 4.5), (2, 2))
    '[[1, 2], [3, 4.5]]'
    """
    if not values:
        return ""
    if not shape:
        return f"{values[0]:g}"
    step = len(values) // shape[0]
    rows = [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(rows)}]"


def numbers(exercise: BankRow) -> str:
    """The numbers in the picture of the exercise, as nested lists: x, or the groups of a pattern; "" if it has none."""
    case = exercise.case
    return nested(group_numbers(case) if exercise.kind == "pattern" else exercise.values, case.shape)


def group_numbers(case: Case) -> list[int]:
    """The number of the group of each element, in row-major order."""
    found: list[int] = sharing.ids(sharing.stat_tables(case.norm, case.shape)).flatten().tolist()
    return found


def option_text(exercise: BankRow, option: str) -> str:
    return _(OPTIONS[option]) if exercise.kind == "mode" else option


def box_text(box: Box, exercise: BankRow) -> str:
    """A set of elements in words: "the other elements with n = 0 and c = 2 or 3"."""
    case, itself = exercise.case, exercise.itself_counts
    found = exercise.elements(box)
    if not found:
        return _("none") if itself else _("no other element")
    if itself and found == [exercise.at]:
        return _("only {at}", at=list(exercise.at))
    conditions = [
        f"{name} = {listed(positions)}"
        for name, positions, size in zip(case.axes, box, case.shape, strict=True)
        if len(positions) < size
    ]
    if not conditions:
        return _("all elements") if itself else _("all other elements")
    which = listed(conditions, "and")
    return _("the elements with {which}", which=which) if itself else _("the other elements with {which}", which=which)


def explanation(exercise: BankRow) -> str:
    """Why the answer is right, in one or two sentences."""
    return _EXPLAIN[exercise.kind](exercise)


def _statistics(exercise: BankRow) -> str:
    case, norm = exercise.case, exercise.case.norm
    found = sharing.counts(norm, case.shape)
    number = found.statistics
    elements = ngettext("{n:,} element", "{n:,} elements", found.elements_per_statistic)
    if norm.center:
        means = ngettext("{n:,} mean, over {each}", "{n:,} means, each over {each}", number, each=elements)
    else:
        means = ngettext(
            "{n:,} mean square, over {each}", "{n:,} mean squares, each over {each}", number, each=elements
        )
    return _(
        "{layer} averages over {reduced}. Its pattern is {pattern}: {means}.",
        layer=case.text,
        reduced=_averaged(case),
        pattern=norm.stats,
        means=means,
    )


def _averaged(case: Case) -> str:
    """The averaged axes: "n, h and w", "the channels of a group and l"."""
    names = [name if name in case.axes else _("the channels of a group") for name in case.norm.pattern.reduced]
    return listed(names, "and") if names else _("nothing")


def _parameters(exercise: BankRow) -> str:
    case, norm = exercise.case, exercise.case.norm
    counts = sharing.counts(norm, case.shape)
    if counts.gamma_shape is None:
        return _("{layer} has neither gamma nor beta.", layer=case.text)
    if len(counts.gamma_shape) > 1:
        gamma = _(
            "In {layer}, gamma has the axes {axes} and the shape {shape}.",
            layer=case.text,
            axes=norm.params,
            shape=counts.gamma_shape,
        )
    else:
        gamma = ngettext(
            "In {layer}, gamma has {n:,} number, along {axes}.",
            "In {layer}, gamma has {n:,} numbers, along {axes}.",
            counts.gamma_shape[0],
            layer=case.text,
            axes=norm.params,
        )
    if not norm.bias:
        return join_sentences([gamma, _("There is no beta.")])
    both = ngettext("With beta, that is {n:,} parameter.", "With beta, that is {n:,} parameters.", counts.parameters)
    return join_sentences([gamma, both])


def _peers(exercise: BankRow) -> str:
    assert isinstance(exercise.answer, tuple)
    reason = _parameters(exercise) if exercise.kind == "parameter_peers" else _statistics(exercise)
    return _("{answer}. {reason}", answer=_capitalized(box_text(exercise.answer, exercise)), reason=reason)


def _value(exercise: BankRow) -> str:
    assert isinstance(exercise.answer, float)
    own, group = exercise.values[place(exercise.at, exercise.case.shape)], values_of_group(exercise)
    mean = sum(group) / len(group)
    square = sum((value - mean * exercise.case.norm.center) ** 2 for value in group) / len(group)
    numbers = {
        "numbers": ", ".join(f"{value:g}" for value in group),
        "mean": format_number(mean, 4),
        "square": format_number(square, 4),
        "value": f"{own:g}",
        "answer": format_number(exercise.answer, 4),
    }
    return _(ARITHMETIC[exercise.variant], **numbers)


ARITHMETIC: Mapping[str, str] = {
    "mean": N_("The group is {numbers}, and its mean is {answer}."),
    "variance": N_("The group is {numbers} with the mean {mean}; the mean of the squared deviations is {answer}."),
    "normalized": N_("The group is {numbers}, with mean {mean} and variance {square}: ({value} − {mean}) / √{square} = {answer}."),
    "rms": N_("The group is {numbers}, with mean square {square}: {value} / √{square} = {answer}."),
}  # fmt: skip


def values_of_group(exercise: BankRow) -> list[float]:
    """The values of x that share the statistics of the framed element."""
    case = exercise.case
    return [
        exercise.values[place(index, case.shape)] for index in members(group_box(case.norm, case.shape, exercise.at))
    ]


def _moves(exercise: BankRow) -> str:
    assert isinstance(exercise.answer, tuple)
    answer = _capitalized(box_text(exercise.answer, exercise))
    if exercise.case.layer.running:
        reason = _("In eval mode the running statistics are used, so each output depends on its own input alone.")
    elif not exercise.answer and exercise.case.norm.params is not None and exercise.case.norm.bias:
        reason = _("The group has one element, and its mean is the element itself: up to rounding, the output is beta.")
    elif not exercise.answer:
        reason = _("The group has one element, and its mean is the element itself: up to rounding, the output is 0.")
    elif not exercise.case.norm.center:
        reason = _("The input changes the mean square of its group, and so each output of the group.")
    else:
        reason = _("The input changes the mean and the variance of its group, and so each output of the group.")
    return _("{answer}. {reason}", answer=answer, reason=reason)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _mode(exercise: BankRow) -> str:
    layer, name = exercise.case.layer, exercise.case.text.removesuffix(".eval()")
    if not layer.tracks:
        return _("{layer} has no running statistics: it computes the same in train and eval mode.", layer=name)
    if layer.training:
        return _(
            "In train mode, {layer} normalizes with the statistics of x, and updates the running ones.", layer=name
        )
    return _("In eval mode, {layer} normalizes with the running statistics, and does not change them.", layer=name)


_EXPLAIN = {
    "means": _statistics,
    "elements_per_mean": _statistics,
    "pattern": _statistics,
    "code": _statistics,
    "gammas": _parameters,
    "parameters": _parameters,
    "peers": _peers,
    "parameter_peers": _peers,
    "value": _value,
    "moves": _moves,
    "mode": _mode,
}


def link(exercise: BankRow) -> str:
    """The view that settles the exercise."""
    case, kind = exercise.case, EXERCISE_KINDS[exercise.kind]
    layer = case.text.removesuffix(".eval()") if exercise.kind == "mode" else case.text
    query = f"shape={_commas(case.shape)}&layer={layer.replace(' ', '')}"
    if case.layout != case.layer.kind.layout(len(case.shape)):
        query += f"&layout={case.layout}"
    if exercise.at:
        query += f"&at={_commas(exercise.at)}"
    if exercise.values:
        query += f"&values={','.join(f'{value:g}' for value in exercise.values)}"
    return with_language(f"/{kind.page.name}?{query}{kind.query}")


def _commas(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
