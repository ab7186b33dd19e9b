"""Reading links leniently: the first error becomes a message, and the view is the nearest valid one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from normviz.layers.errors import closest, echo
from normviz.layers.messages import _, ngettext
from normviz.scene.repair import Reading, repair
from normviz.scene.scene import FIELD_NAMES
from normviz.scene.settings.page_settings import PAGE_SETTINGS
from normviz.scene.settings.scene_settings import SCENE_SETTINGS
from normviz.scene.settings.setting import Setting, parse_settings, read_settings
from normviz.scene.view import View
from normviz.scene.visibility import DISPLAY_SETTINGS, VERSION_SETTING, read_display

LONGEST_QUERY = 8192  # characters, names and values together
MOST_NAMES = 64
EMBEDDING = ("embed", "embed_options")  # Streamlit's own parameters
CAMPAIGN = ("utm_", "fbclid", "gclid", "mc_")  # parameters that other sites append to links
SETTING_NAMES = tuple(
    dict.fromkeys(
        setting.name
        for settings in (SCENE_SETTINGS.values(), *PAGE_SETTINGS.values(), DISPLAY_SETTINGS)
        for setting in settings
    )
)
READABLE = ",;()[]=.:'->_"  # characters that are not percent-encoded in a link


def read(query: Mapping[str, str]) -> Reading:
    """The scene of a query; names that are not settings of the scene are ignored.

    >>> read({"shape": "2,3,4,4", "layer": "GroupNorm(2,3)"}).scene.layer.given["num_groups"]
    1
    """
    found, wrong, problems = parse_settings(tuple(SCENE_SETTINGS.values()), query)
    for name in wrong:
        nearest = SCENE_SETTINGS[name].nearest(query[name])
        found |= {} if nearest == SCENE_SETTINGS[name].default else {name: nearest}
    reading = repair(**{FIELD_NAMES.get(name, name): value for name, value in found.items()})
    problem = next(filter(None, [*problems, reading.problem]), None)
    return replace(reading, problem=problem, substitute=reading.substitute or not {"shape", "layer"}.isdisjoint(wrong))


def read_view(query: Mapping[str, str], settings: Sequence[Setting] = ()) -> View:
    """The view of a query on a page with these settings, or the nearest valid one.

    >>> read_view({"shape": "2,3", "layer": "LayerNorm(3)"}).scene.shape
    (2, 3)
    """
    too_long = _too_long(query)
    query = {} if too_long else query
    reading = read(query)
    values, problem = read_settings(settings, query)
    _version, version_problem = read_settings([VERSION_SETTING], query)
    display, display_problem = read_display(query)
    first = too_long or version_problem or reading.problem or problem or display_problem or _unknown_name(query)
    remedies = reading.remedies if first == reading.problem else ()
    return View(reading.scene, values, first, display, reading.substitute, remedies)


def _unknown_name(query: Mapping[str, str]) -> str | None:
    """The message about the first name that no link has."""
    for name in query:
        if name in SETTING_NAMES or name in EMBEDDING or name.startswith(CAMPAIGN):
            continue
        meant = closest(name, SETTING_NAMES)
        if meant:
            return _("{name} is not a setting of a link. Did you mean {meant}?", name=echo(name), meant=meant)
        return _("{name} is not a setting of a link; leave it out.", name=echo(name))
    return None


def _too_long(query: Mapping[str, str]) -> str | None:
    size = sum(len(name) + len(value) for name, value in query.items())
    if size <= LONGEST_QUERY and len(query) <= MOST_NAMES:
        return None
    return ngettext(
        "this link has {n:,} setting and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        "this link has {n:,} settings and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        len(query), size=size, most_names=MOST_NAMES, most=LONGEST_QUERY,
    )  # fmt: skip


def link(query: Mapping[str, str]) -> str:
    """The query as text that a person can read and write: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])``; "" where it is empty."""
    pairs = "&".join(f"{name}={quote(value, safe=READABLE)}" for name, value in query.items())
    return f"?{pairs}" if pairs else ""
