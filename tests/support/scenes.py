"""Scenes from links, and the scenes that edits return."""

from normviz.layers.layer import Layer
from normviz.scene.view import read


def query_of(link):
    """The query of "shape=2,3&seed=1", unquoted."""
    return dict(part.split("=", 1) for part in link.split("&") if part)


def scene(link=""):
    reading = read(query_of(link))
    assert reading.problem is None
    return reading.scene


def summary(scene):
    """The tensor and the layer, as in a link."""
    layer = str(scene.layer) if isinstance(scene.layer, Layer) else repr(scene.layer)
    return f"{scene.layout} {scene.shape} {layer}"


def done(reading):
    """The scene of an edit; assert that the edit had no error and that the scene reads back from its link."""
    assert reading.problem is None
    assert read(reading.scene.query()).scene == reading.scene
    return reading.scene
