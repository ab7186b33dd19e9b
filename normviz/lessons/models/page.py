"""The normalizations of well-known models, as ``python -m tools.record_models`` has recorded them, and of the layers that a reader describes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from math import log2, prod
from pathlib import Path
from typing import Any, ClassVar

from normviz.analysis.description import Description, describe_shape
from normviz.layers.catalogue import COMPLETE, families_with_button
from normviz.layers.layer import Layer, is_in_torch
from normviz.layers.pasted import parse_layer_on_shape
from normviz.layers.sharing import counts
from normviz.lessons.page import ControlRow, Page, Plan, in_files
from normviz.measuring.models.names import block_name, common_name, name_pattern
from normviz.parts.html import Body, escape, scrolling
from normviz.parts.part import Caption, Details, Link, Part, Sentence
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene.scene import compact, query_of
from normviz.scene.setting import SEVERAL, Setting, TextField, Where, choice, parse_choice, plain_signs
from normviz.scene.view import View, link
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, WIDEST, _, align, format_count, join_sentences, ngettext

OWN_LAYERS = "own"
MOST_LAYERS, LONGEST = 40, 1500
EXAMPLE = ("nn.BatchNorm2d(64) on 2,64,56,56", "nn.LayerNorm(768) on 2,128,768")
_TITLES: Mapping[str, str] = {
    "resnet50": "ResNet-50",
    "mobilenetv2": "MobileNetV2",
    "efficientnet_b0": "EfficientNet-B0",
    "convnext_t": "ConvNeXt-T",
    "vit_b16": "ViT-B/16",
    "swin_t": "Swin-T",
    "bert": "BERT base",
    "gpt2": "GPT-2",
    "llama3_8b": "Llama 3.1 8B",
    "qwen3": "Qwen3 0.6B",
    "gemma3": "Gemma 3 1B",
    "olmo2": "OLMo 2 7B",
    "sd_unet": "Stable Diffusion 1.5 U-Net",
    "wav2vec2": "wav2vec 2.0 base",
    "style": "Style transfer (Ulyanov et al.)",
}


def _parse_layers(text: str) -> tuple[str, ...]:
    """Layers on shapes, separated by semicolons. They are read, never executed. Raises NormvizError for one that torch does not accept."""
    found = tuple(part.strip() for part in plain_signs(text).split(";") if part.strip())
    if len(text) > LONGEST or not 1 <= len(found) <= MOST_LAYERS:
        raise NormvizError(
            ngettext(
                "own={text} must be 1 to {n} layer on a shape, separated by semicolons, such as {example}.",
                "own={text} must be 1 to {n} layers on shapes, separated by semicolons, such as {example}.",
                MOST_LAYERS,
                text=echo(text),
                example="; ".join(EXAMPLE),
            )
        )
    for one in found:
        describe_shape(*parse_layer_on_shape(one), None)
    return found


FILE = Path(__file__).with_name("models.json")
OTHER = "Norm"  # the family of other patterns
OTHER_COLOR = 5  # of every family without a color of its own
BATCHES = (1, 2, 32)
MOST_LINES = 12  # of a table that is not divided into blocks


@dataclass(frozen=True)
class RecordedLayer:
    """A layer on a shape, as often as it occurs in a model.

    layer       its text
    shape       of x
    layout      of x; empty: the usual one of the layer
    parameters  the number of elements of its gamma and beta
    """

    layer: str
    shape: tuple[int, ...]
    layout: str = ""
    parameters: int = 0

    @cached_property
    def described(self) -> Description:
        return describe_shape(Layer.parse(self.layer), self.shape, self.layout or None)

    @property
    def title(self) -> str:
        """The layer with its shape: ``"LayerNorm([768]) on (2, 128, 768)"``."""
        return _("{layer} on {shape}", layer=self.described.title, shape=self.shape)

    @property
    def family(self) -> str:
        """``"BatchNorm"``; a pattern that normalizes over the channels alone, as a permuted LayerNorm does, is a LayerNorm."""
        e = self.described
        if e.layer is not None:
            return e.layer.kind.family
        return "LayerNorm" if e.norm.pattern.reduced == ("c",) and e.norm.center else OTHER

    @property
    def averages_over_the_batch(self) -> bool:
        """Whether examples share statistics."""
        return "n" in self.described.norm.pattern.reduced

    def elements(self, batch: int) -> int:
        """The elements of each mean for a batch of this size, also of one that torch refuses."""
        axes = self.described.axes
        shape = [batch if name == "n" else size for name, size in zip(axes, self.shape, strict=True)]
        return counts(self.described.norm, tuple(shape)).elements_per_statistic

    @property
    def channels(self) -> int:
        """The size of the axis C, else of the last axis."""
        axes = self.described.axes
        return self.shape[axes.index("c")] if "c" in axes else self.shape[-1]

    @property
    def positions(self) -> tuple[int, ...]:
        """The sizes of the axes of positions: all axes but the batch, the channels and the heads of attention."""
        axes = self.described.axes
        names = {"n", "c"} if "c" in axes else {"n", axes[-1]}
        if {"l", "h"} <= set(axes):
            names.add("h")
        return tuple(size for name, size in zip(axes, self.shape, strict=True) if name not in names)

    @property
    def query(self) -> dict[str, str]:
        """Its view in Explore, as the query of a link."""
        return query_of(self.layer, self.shape, self.layout)


@dataclass(frozen=True)
class RecordedNorm:
    """A normalization of a model: its name there, and the layer."""

    name: str
    kind: RecordedLayer


@dataclass(frozen=True)
class RecordedModel:
    """The normalizations of a model in the order in which they run.

    parameters  the number of elements of all its parameters; 0 if it is not known
    library     with its version, and ``constructor``: which of its models it is
    input       the shape of the model's input
    """

    rows: tuple[RecordedNorm, ...]
    parameters: int = 0
    library: str = ""
    constructor: str = ""
    input: tuple[int, ...] = ()

    @property
    def norm_parameters(self) -> int:
        return sum(row.kind.parameters for row in self.rows)

    @property
    def families(self) -> Counter[str]:
        """How many normalizations there are of each family: ``{"BatchNorm": 53}``."""
        return Counter(row.kind.family for row in self.rows)

    @property
    def repeated(self) -> list[list[RecordedNorm]]:
        """Rows of the same kind whose names differ only in numbers, in the order of the first of each."""
        found: dict[tuple[str, RecordedLayer], list[RecordedNorm]] = {}
        for row in self.rows:
            found.setdefault((name_pattern(row.name), row.kind), []).append(row)
        return list(found.values())

    @property
    def blocks(self) -> dict[str, "RecordedModel"]:
        """The normalizations of each block, by its name: ``layer1`` or ``down_blocks.0``. One outside of a block has its own name."""
        found: dict[str, list[RecordedNorm]] = {}
        for row in self.rows:
            found.setdefault(block_name(row.name), []).append(row)
        return {name: RecordedModel(tuple(rows)) for name, rows in found.items()}

    @property
    def stages(self) -> list[list[RecordedNorm]]:
        """Runs of normalizations with the same number of positions."""
        return [list(rows) for _positions, rows in groupby(self.rows, lambda row: prod(row.kind.positions))]


@cache
def recorded(key: str) -> RecordedModel:
    """The model of that name."""
    model = recorded_data()["models"][key]
    kinds = [
        RecordedLayer(layer, tuple(shape), layout, parameters) for layer, shape, layout, parameters in model["kinds"]
    ]
    rows = tuple(RecordedNorm(name, kinds[kind]) for name, kind in model["rows"])
    return RecordedModel(rows, model["parameters"], model["library"], model["constructor"], tuple(model["input"]))


@cache
def recorded_data() -> Any:
    """The whole file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def _is_in_torch(key: str) -> bool:
    """Whether the installed torch has the layers of the model. The file is read only if torch lacks a layer."""
    return COMPLETE or is_in_torch(str(recorded_data()["models"][key]["kinds"]))


REAL_MODELS = {key: title for key, title in _TITLES.items() if _is_in_torch(key)}


def own_model(texts: Iterable[str]) -> RecordedModel:
    """Layers on shapes, as a reader describes them: ``["nn.LayerNorm(768) on 2,128,768"]``. Raises NormvizError for other texts."""

    read = map(parse_layer_on_shape, texts)
    kinds = (
        RecordedLayer(compact(layer), shape, parameters=describe_shape(layer, shape, None).counts.parameters)
        for layer, shape in read
    )
    return RecordedModel(tuple(RecordedNorm(str(n), kind) for n, kind in enumerate(kinds, 1)))


# The normalizations of a model as a strip of bars, in the order in which they run, and as a table. Each leads to its view in Explore.

HIGHEST, DEEPEST = 13, 17  # log2 of the most channels and positions that are drawn in full


@dataclass(frozen=True)
class Strip(Part):
    """One bar for each normalization: up, its channels; down, the positions of an example. Those that are not marked are gray.

    only_batch  whether only those are marked that average over the batch
    """

    model: RecordedModel
    title: str
    only_batch: bool = False
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        stages = "".join(self._stage(rows, body) for rows in self.model.stages)
        says = escape(_("A click on a bar opens its layer in Explore."))
        opens = f'<p class="nv-small">{says}</p>' if "<a " in stages else ""
        axes = "".join(
            f"<span>{escape(label)}</span>" for label in (_("channels, log scale"), _("positions, log scale"))
        )
        runs = scrolling(f'<div class="nv-runs" aria-hidden="true">{stages}</div>', self.plain_text(), "nv-model")
        box = f'<div class="nv-model-box"><div class="nv-model-axes" aria-hidden="true">{axes}</div>{runs}</div>'
        return self._legend() + box + opens

    def plain_text(self) -> str:
        """What the bars show, in a sentence."""
        stages = [f"{len(rows)} × {positions_text(rows[0].kind)}" for rows in self.model.stages]
        return ngettext(
            "{model}: {n} normalization. Number × positions of an example, in order: {stages}.",
            "{model}: {n} normalizations. Number × positions of an example, in order: {stages}.",
            len(self.model.rows),
            model=self.title,
            stages=_(", ").join(stages),
        )

    def _legend(self) -> str:
        items = [
            f'<li><span class="nv-family nv-family-{_number(family)}"></span>{escape(f"{n} {family}")}</li>'
            for family, n in self.model.families.items()
        ]
        if self.only_batch:
            items.append(f'<li><span class="nv-family nv-unmarked"></span>{escape(_("not over the batch"))}</li>')
        return f'<ul class="nv-families">{"".join(items)}</ul>'

    def _stage(self, rows: Sequence[RecordedNorm], body: Body) -> str:
        bars = "".join(self._bar(row, body) for row in rows)
        label = escape(positions_text(rows[0].kind))
        return f'<div class="nv-run" style="flex-grow:{len(rows)}"><div class="nv-norms">{bars}</div><span>{label}</span></div>'

    def _bar(self, row: RecordedNorm, body: Body) -> str:
        kind = row.kind
        faded = " nv-unmarked" if self.only_batch and not kind.averages_over_the_batch else ""
        up, down = (
            round(100 * log2(size + 1) / most, 1)
            for size, most in ((kind.channels, HIGHEST), (prod(kind.positions), DEEPEST))
        )
        title = escape(f"{row.name}: {kind.title}")
        look = f'style="--nv-up:{min(up, 100)}%;--nv-down:{min(down, 100)}%" title="{title}"'
        query = link(kind.query)
        address = body.address(f"/{query}")
        classes = f"nv-norm nv-family-{_number(kind.family)}{faded}"
        if address is None:
            return f'<span class="{classes}" {look}></span>'
        return (
            f'<a class="nv-go {classes}" tabindex="-1" data-page="explore" data-query="{escape(query)}" '
            f'href="{escape(address)}" {look}></a>'
        )


@dataclass(frozen=True)
class NormTable(Part):
    """One line for each normalization that blocks repeat: its name, how often it occurs, what it averages over, its parameters."""

    model: RecordedModel
    name: ClassVar[str] = "table"

    def html(self, body: Body) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self._head())
        lines = "".join(f"<tr>{self._cells(rows, body)}</tr>" for rows in self.model.repeated)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        return scrolling(table, _("The normalizations as a table"), "nv-table-box nv-norm-list")

    def plain_text(self) -> str:
        texts = ((rows[0].kind.described.title, _texts(rows)) for rows in self.model.repeated)
        return align([self._head(), *([name, layer, *others] for layer, (name, *others) in texts)], WIDEST)

    def _head(self) -> list[str]:
        return [
            _("Normalization"),
            _("Layer"),
            _("Shape of x"),
            _("Averaged over"),
            _("Over the batch"),
            _("Elements of a mean, for a batch of {sizes}", sizes=", ".join(map(str, BATCHES))),
            _("Parameters"),
        ]

    def _cells(self, rows: Sequence[RecordedNorm], body: Body) -> str:
        name, shape, axes, batch, elements, parameters = map(escape, _texts(rows))
        kind = rows[0].kind
        plain = kind.described.title
        name = name.replace(".", ".<wbr>")
        layer = (
            Link(f"`{plain}`", "explore", link(kind.query).removeprefix("?")).html(body)
            or f"<code>{escape(plain)}</code>"
        )
        return (
            f"<td>{name}</td><td>{layer}</td><td>{shape}</td><td>{axes}</td><td>{batch}</td>"
            f'<td class="nv-number">{elements}</td><td class="nv-number">{parameters}</td>'
        )


def _texts(rows: Sequence[RecordedNorm]) -> list[str]:
    """Name, shape, averaged axes, whether the batch is among them, elements by the size of the batch, and the parameters of all rows."""
    kind, name = rows[0].kind, common_name([row.name for row in rows])
    batch = _("yes") if kind.averages_over_the_batch else _("no")
    return [
        f"{name} ×\u00a0{len(rows)}" if len(rows) > 1 else name,
        str(kind.shape),
        averaged_axes(kind.described),
        batch,
        " · ".join(dict.fromkeys(format_count(kind.elements(size)) for size in BATCHES)),
        format_count(len(rows) * kind.parameters),
    ]


def averaged_axes(e: Description) -> str:
    """The axes over which a layer averages; of a split axis, in how many groups.

    >>> averaged_axes(describe_shape(Layer.parse("GroupNorm(2, 4)"), (2, 4, 3, 5), None))
    'C in 2 groups, H, W'
    """
    sizes, found = e.norm.axis_sizes(e.shape), []
    for axis, parts in e.norm.parts.items():
        kept = [name for name in parts if name in e.norm.pattern.right]
        if not kept:
            found.append(axis.upper())
        elif len(kept) < len(parts):
            groups = prod(sizes[name] for name in kept)
            found.append(ngettext("{axis} in {n} group", "{axis} in {n} groups", groups, axis=axis.upper()))
    return ", ".join(found) or _("nothing")


def positions_text(kind: RecordedLayer) -> str:
    """``56 × 56``; of an x without positions, 1.

    >>> positions_text(RecordedLayer("BatchNorm2d(64)", (2, 64, 56, 56)))
    '56 × 56'
    """
    return " × ".join(map(str, kind.positions)) or "1"


def _number(family: str) -> int:
    """The number of the family's color."""
    colored = families_with_button()[:OTHER_COLOR]
    return colored.index(family) if family in colored else OTHER_COLOR


# In real models: the normalizations of a well-known model in the order in which they run, or the layers that a reader describes.


def view_parts(view: View) -> Iterator[Part]:
    key, mark, model = view.settings["model"], view.settings["mark"], model_of(view)
    yield Sentence(SENTENCES[mark](model))
    yield Strip(model, model_title(key), mark != "all")
    yield from tables(model)
    yield Caption(source_text(model, key), of=NormTable.name)


def model_of(view: View) -> RecordedModel:
    """The model that a view shows."""
    key = view.settings["model"]
    return own_model(view.settings["own"]) if key == OWN_LAYERS else recorded(key)


def tables(model: RecordedModel) -> Iterator[Part]:
    """The normalizations as a table; of a model with many different ones, a closed table for each block."""
    if len(model.repeated) <= max(MOST_LINES, len(model.blocks)):
        yield NormTable(model)
        return
    for name, block in model.blocks.items():
        yield Details(f"`{name}` · {counts_sentence(block)}", (NormTable(block),), of=NormTable.name)


# The key of the question with which the view of a model ends, or of a model with mostly this family of layers.
ASKED = {
    "convnext_t": "q3",
    "BatchNorm": "s3i",
    "LayerNorm": "q4",
    "RMSNorm": "q28",
    "GroupNorm": "q8",
    "InstanceNorm": "q9",
}


def model_title(key: str) -> str:
    """The name of a model."""
    return _("Your own layers") if key == OWN_LAYERS else REAL_MODELS[key]


def counts_sentence(model: RecordedModel) -> str:
    """How many normalizations of each family, and their share of the parameters."""
    found = _(", ").join(
        ngettext("**{n}** {family} layer", "**{n}** {family} layers", n, family=family)
        for family, n in model.families.items()
    )
    if not model.parameters:
        return ngettext(
            "{layers}: **{n:,}** parameter.", "{layers}: **{n:,}** parameters.", model.norm_parameters, layers=found
        )
    return ngettext(
        "{layers}: **{n:,}** parameter, **{share} %** of the model's {all:,}.",
        "{layers}: **{n:,}** parameters, **{share} %** of the model's {all:,}.",
        model.norm_parameters,
        layers=found,
        share=f"{float(f'{100 * model.norm_parameters / model.parameters:.2g}'):g}",
        all=model.parameters,
    )


def batch_sentence(model: RecordedModel) -> str:
    """How many normalizations average over the batch, and what follows."""
    n, of = sum(row.kind.averages_over_the_batch for row in model.rows), len(model.rows)
    if not n:
        return ngettext(
            "The only normalization does not average over the batch: the output for an example does not depend on the other examples.",
            "None of the **{n}** normalizations averages over the batch: the output for an example does not depend on the other examples.",
            of,
        )
    return ngettext(
        "**{n}** of {all} normalizations averages over the batch: in training, the output for an example depends on the other examples.",
        "**{n}** of {all} normalizations average over the batch: in training, the output for an example depends on the other examples.",
        n,
        all=of,
    )


def small_batch_sentence(model: RecordedModel) -> str:
    """How many normalizations have fewer elements for a smaller batch, and where the fewest are."""
    rows = [row for row in model.rows if row.kind.averages_over_the_batch]
    if not rows:
        return ngettext(
            "The only normalization has the same number of elements for each mean in a batch of any size: a small batch does not break it.",
            "Each of the **{n}** normalizations has the same number of elements for each mean in a batch of any size: a small batch breaks none.",
            len(model.rows),
        )
    fewest = min(rows, key=lambda row: row.kind.elements(1))
    one, two, many = map(fewest.kind.elements, BATCHES)
    sentence = ngettext(
        "In training, **{n}** of {all} normalizations depends on the size of the batch. The fewest elements are those of `{name}`: **{one:,}** in a batch of 1, **{two:,}** in one of 2, **{many:,}** in one of 32. If they were independent, the standard error of a mean would be {percents} of a standard deviation.",
        "In training, **{n}** of {all} normalizations depend on the size of the batch. The fewest elements are those of `{name}`: **{one:,}** in a batch of 1, **{two:,}** in one of 2, **{many:,}** in one of 32. If they were independent, the standard error of a mean would be {percents} of a standard deviation.",
        len(rows), all=len(model.rows), name=fewest.name, one=one, two=two, many=many,
        percents=_(", ").join(f"{float(f'{100 * m**-0.5:.2g}'):g}\u00a0%" for m in (one, two, many)),
    )  # fmt: skip
    refused = _("A batch of 1 has one element for each mean, which torch refuses in training.")
    return join_sentences([sentence, refused]) if one == 1 else sentence


SENTENCES = {"all": counts_sentence, "batch": batch_sentence, "small": small_batch_sentence}


def source_text(model: RecordedModel, key: str) -> str:
    """Where the list is from."""
    if key == OWN_LAYERS:
        return _(
            "The text is read and never executed. `normviz norms` lists the normalizations of a whole model of your own."
        )
    made = _("The network of Johnson et al. (2016), with the instance normalization of Ulyanov et al. (2016)")
    if model.library:
        made = _("`{constructor}` of {library}", constructor=model.constructor, library=model.library)
    return _(
        "{made}, in training, without weights, on an input of shape {shape}. `normviz norms` lists the normalizations of your own models.",
        made=made,
        shape=model.input,
    )


MODELS = {**REAL_MODELS, OWN_LAYERS: N_("Your own layers")}


def _parse_model(text: str) -> str:
    """A model; the beginning of a name is enough, where it is that of one model."""
    meant = [name for name in MODELS if text and name.startswith(text.lower())]
    return parse_choice("model", tuple(MODELS))(meant[0] if len(meant) == 1 else text)


SETTINGS = (
    replace(choice("model", MODELS, segments=False, width=270), parse=_parse_model).described(
        N_("Model"), N_("the model"), "gpt2"
    ),
    choice(
        "mark",
        {
            "all": N_("All"),
            "batch": N_("Which average over the batch?"),
            "small": N_("Which break with a small batch?"),
        },
    ).described(
        N_("Normalizations"),
        N_(
            "which normalizations are marked: all, or those that average over the batch; small also says how few elements a small batch has"
        ),
        "batch",
    ),
    Setting(
        "own",
        EXAMPLE,
        _parse_layers,
        "; ".join,
        type=SEVERAL,
        widget=TextField(LONGEST),
        applies=Where("model", (OWN_LAYERS,)),
    ).described(
        N_("Your layers, each on the shape of its input, separated by semicolons"),
        N_("your own layers on shapes, separated by semicolons; the text is read and never executed"),
        EXAMPLE[1],
    ),
)


class ModelsPage(Page):
    """The page: the normalizations of one model."""

    answers = tuple(ASKED.values())

    def asks(self, view: View) -> str:
        ((family, _count),) = model_of(view).families.most_common(1)
        return ASKED.get(view.settings["model"]) or ASKED.get(family, ASKED["BatchNorm"])

    def summary(self, view: View) -> str:
        return model_title(view.settings["model"])

    def share_title(self, view: View) -> str:
        return _("{title}: {caption}", title=self.title, caption=self.summary(view))

    def file_title(self, view: View) -> str:
        return self.summary(view)


PAGE = ModelsPage(
    "models",
    *TITLES["models"],
    view_parts,
    SETTINGS,
    rows=lambda _view: (ControlRow("controls", (SETTINGS,), "medium"),),
    uses="nothing",
    file_choices=(in_files(SETTINGS),),
    group=LOOK_UP,
    plan=Plan(
        N_("Students take a model that they know, and find where it normalizes and over which axes."),
        10,
        ("s3i", "q4", "q28|q3"),
    ),
)
