"""Scenes from links, and what a change has made of them."""

from normviz.layers.layer import Layer
from normviz.scene.query import read


def scene(link=""):
    reading = read(dict(part.split("=", 1) for part in link.split("&") if part))
    assert reading.problem is None
    return reading.scene


def shown(scene):
    """The tensor and the layer, as in a link."""
    layer = str(scene.layer) if isinstance(scene.layer, Layer) else repr(scene.layer)
    return f"{scene.layout} {scene.shape} {layer}"


def done(reading):
    assert reading.problem is None
    assert read(reading.scene.query()).scene == reading.scene
    return reading.scene
