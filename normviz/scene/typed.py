"""What a reader types into the field of the front page, where no tensor is shown: ``/explore?typed=LayerNorm(96)``."""

from collections.abc import Mapping

from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.pasted import MOST_TEXT, refused_layer, typed_layer
from normviz.scene.controls import with_typed
from normviz.scene.edits import Reading, repair
from normviz.scene.expressions import KERAS, expressed_layer
from normviz.scene.scene import Scene, compact, query_of
from normviz.texts.errors import NormvizError
from normviz.texts.numbers import plain_signs

TYPED = "typed"  # the name of the field
CHANNELS_LAST = {"shape": (2, 3, 5, 4), "layout": "NHWC"}  # an example for layers of Keras


def typed_query(text: str) -> dict[str, str]:
    """The query of the view of a layer, on an example of its size; of a layer on a shape; of an expression; or of an error message of torch.

    Raises NormvizError if the text is none of these.

    >>> typed_query("nn.batchnorm(64)"), typed_query("LayerNorm(96) on (8, 56, 56, 96)")
    ({'layer': 'BatchNorm2d(64)'}, {'shape': '8,56,56,96', 'layer': 'LayerNorm([96])'})
    """
    line = " ".join(plain_signs(text[-MOST_TEXT:]).split())
    if refused := refused_layer(line):
        return query_of(*refused)
    scene = repair(**CHANNELS_LAST if KERAS.search(line) else {}).scene
    reading = with_typed(scene, line)
    layer = _layer_of(line, scene, reading)
    if reading.problem and layer is None:
        raise NormvizError(reading.problem)
    return {"layer": compact(layer)} if layer else reading.scene.query()


def _layer_of(line: str, scene: Scene, reading: Reading) -> Layer | Norm | None:
    """The layer that is shown on an example of its size; None for a view that names its tensor."""
    try:
        return typed_layer(line, scene.axes)
    except NormvizError:
        return expressed_layer(line, scene) if reading.problem else None


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
