"""What a reader types into the field of the front page, where no tensor is shown: ``/explore?typed=LayerNorm(96)``."""

from collections.abc import Mapping

from normviz.layers.pasted import MOST_TEXT, refused_layer, typed_layer
from normviz.scene.controls import with_typed
from normviz.scene.edits import repair
from normviz.scene.scene import commas, compact
from normviz.texts.errors import NormvizError

TYPED = "typed"  # the name of the field


def typed_query(text: str) -> dict[str, str]:
    """The query of the view of a layer, on an example of its size; of a layer on a shape; or of an error message of torch.

    Raises NormvizError if the text is none of these.

    >>> typed_query("nn.batchnorm(64)"), typed_query("LayerNorm(96) on (8, 56, 56, 96)")
    ({'layer': 'BatchNorm2d(64)'}, {'shape': '8,56,56,96', 'layer': 'LayerNorm([96])'})
    """
    line = " ".join(text[-MOST_TEXT:].split())
    if found := refused_layer(line):
        layer, shape = found
        return {"shape": commas(shape), "layer": compact(layer)}
    scene = repair().scene
    changed = with_typed(scene, line).scene
    return {"layer": compact(typed_layer(line, scene.axes))} if "(" in line else changed.query()


def with_view_of_typed(query: Mapping[str, str]) -> dict[str, str]:
    """The query, with the view that the field asks for in place of its text. A text without a view stays."""
    if TYPED not in query or typed_problem(query):
        return dict(query)
    return {name: text for name, text in query.items() if name != TYPED} | typed_query(query[TYPED])


def typed_problem(query: Mapping[str, str]) -> str | None:
    """Why the text of the field has no view."""
    try:
        typed_query(query.get(TYPED, ""))
    except NormvizError as error:
        return str(error)
    return None
