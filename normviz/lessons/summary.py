"""What the controls of a page have chosen, in a few words. On a narrow screen these words stand in place of the controls."""

from __future__ import annotations

from normviz.lessons.compare import layers_of
from normviz.lessons.models import model_title
from normviz.lessons.rows import SCENE_ROWS, rows
from normviz.scene.view import View
from normviz.texts.messages import _, ngettext


def summary(page: str, view: View) -> str:
    """The layer and the tensor, or the model; "" on a page without them."""
    shape = view.scene.shape
    if page == "compare":
        return ngettext("{n} layers on {shape}", "{n} layers on {shape}", len(layers_of(view)[0]), shape=shape)
    if page == "models":
        return model_title(view.settings["model"])
    if SCENE_ROWS[0] in rows(page, view):
        return _("{layer} on {shape}", layer=view.scene.layer, shape=shape)
    return ""
