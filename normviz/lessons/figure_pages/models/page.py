"""In real models: the normalizations of a well-known model in the order in which they run, or the layers that a reader describes."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.layers.messages import _, ngettext
from normviz.lessons.figure_pages.models.recorded import RecordedModel, own_model, recorded
from normviz.lessons.figure_pages.models.strip import NormTable, Strip
from normviz.lessons.parts.part import Caption, Part, Sentence
from normviz.scene.settings.model_settings import OWN_LAYERS, REAL_MODELS
from normviz.scene.view import View

ANSWERED = ("s3i", "q3", "q4", "q28")  # questions about layers of real models


def view_parts(view: View) -> Iterator[Part]:
    key, only_batch = view.settings["model"], view.settings["mark"] == "batch"
    model = own_model(view.settings["own"]) if key == OWN_LAYERS else recorded(key)
    yield Sentence(batch_sentence(model) if only_batch else counts_sentence(model))
    yield Strip(model, model_title(key), only_batch)
    yield Caption(
        _(
            "One bar for each normalization, in the order in which they run. The upper part shows its channels, the lower part the positions of "
            "an example, such as pixels or tokens; both scales are logarithmic, and the number of positions is written below."
        ),
        of=Strip.name,
    )
    yield NormTable(model)
    yield Caption(source_text(model, key), of=NormTable.name)


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


def source_text(model: RecordedModel, key: str) -> str:
    """Where the list is from."""
    if key == OWN_LAYERS:
        return _(
            "The text is read and never executed. `normviz norms` lists the normalizations of a whole model of your own."
        )
    made = (
        _("`{constructor}` of {library}", constructor=model.constructor, library=model.library)
        if model.library
        else _("A network as in the paper")
    )
    return _(
        "{made}, in training, without weights, on an input of shape {shape}. `normviz norms` lists the normalizations of your own models.",
        made=made,
        shape=model.input,
    )
