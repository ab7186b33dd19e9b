"""What a link hides on a page, and the caption that it adds.

``hide=layer,code`` hides two things, ``hide=controls`` all controls, ``hide=all`` everything but the figure. The settings of a
hidden control still apply.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from normviz.layers.pasted import parse_layer_on_shape
from normviz.layers.substitutes import LayerOnShape
from normviz.scene.controls import PASTE, SCENE_CONTROLS
from normviz.scene.scene_settings import commas, compact
from normviz.scene.setting import OF_PAGES, Setting, check_length, integer, read_settings, text, write_settings
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import N_, _, ngettext

VERSION = "1"
MOST_CAPTION = 300
MOST_STOPS = 99
ALL, ALL_CONTROLS = "all", "controls"


def controls() -> dict[str, str]:
    """The labels of the controls that can be hidden, by name."""
    return {
        **{control.hidden_by: control.label for control in (*SCENE_CONTROLS, PASTE)},
        "more": N_("More, with all its controls"),
        "reset": N_("Back to the start"),
        "set": N_("Ready-made sets"),
        **{setting.hidden_by: setting.label for setting in OF_PAGES if setting.label},
        "questions": N_("Links to questions"),
        "exercises": N_("Choose exercises"),
    }


# The labels of the parts and panels that can be hidden, by name.
PARTS: Mapping[str, str] = {
    "sentence": N_("Sentence"),
    "text": N_("Text"),
    "notes": N_("Notes"),
    "panels": N_("Figures"),
    "table": N_("Tables"),
    "code": N_("Code"),
    "details": N_("Details"),
    "time": N_("Time"),
}
PANELS: Mapping[str, str] = {
    "stats": N_("Who shares my mean and variance?"),
    "params": N_("Who shares my gamma and beta?"),
    "x": "x",
    "normalized": N_("normalized"),
    "output": N_("output"),
    "cube": N_("Cubes"),
    "train": "train()",
    "eval": "eval()",
    "gap": N_("Their difference"),
    "autograd": N_("By autograd"),
    "itself": N_("Identity"),
    "mean": N_("Through the mean"),
    "var": N_("Through the variance"),
    "jacobian": N_("Jacobian"),
    "dout": "dout",
    "for_gamma": N_("Summed into gamma"),
    "for_beta": N_("Summed into beta"),
    "dxhat_mean": "mean(dxhat)",
    "along_xhat": "xhat · mean(dxhat · xhat)",
    "dx": "dx",
    "stepper": N_("Buttons of the steps"),
    "formula": N_("Formula"),
    "readout": N_("Read-out"),
    "window": N_("Which slices are drawn"),
    "facts": N_("Counts"),
    "distribution": N_("Distribution of the group"),
    "worked": N_("Worked arithmetic"),
    "loops": N_("Loops"),
}
BESIDE_THE_FIGURE = {"distribution", "facts", "worked", "loops"}  # drawn with a figure, but not a part of it
# Not shown on a projector, besides the controls.
NOT_PRESENTED = BESIDE_THE_FIGURE | {"x", "normalized", "output", "table", "code", "details", "text"}
FIELDS = {"hide": "hidden"}  # settings whose field of Display has another name
FIGURE = {"panels", "notes", *PANELS} - BESIDE_THE_FIGURE


@dataclass(frozen=True)
class Display:
    """How a view is shown.

    hidden   the names of hidden controls and parts
    caption  under the figure
    present  for a projector: the figure fills the screen, without controls
    tour     the name of a tour that the view belongs to
    stop     the number of the view in the tour, from 1; 0: the tour's beginning
    like     the layer and the shape that the view is a small look-alike of
    lang     the language that the link names; "" for the reader's own. Ignored by ``==``.
    """

    hidden: tuple[str, ...] = ()
    caption: str = ""
    present: bool = False
    tour: str = ""
    stop: int = 0
    like: LayerOnShape | None = None
    lang: str = field(default="", compare=False)

    def hides(self, name: str) -> bool:
        """Whether the control or part called ``name`` is hidden.

        >>> Display(("all",)).hides("code"), Display(("all",)).hides("stats"), Display(("controls",)).hides("layer")
        (True, False, True)
        """
        if name in self.hidden or (self.present and name in NOT_PRESENTED):
            return True
        if (self.present or ALL_CONTROLS in self.hidden) and name in controls():
            return True
        return ALL in self.hidden and name not in FIGURE

    def query(self) -> dict[str, str]:
        """The settings ``hide``, ``caption``, ... of a link; defaults are left out."""
        values = {
            setting.name: getattr(self, FIELDS.get(setting.name, setting.name)) for setting in DISPLAY_SETTINGS[1:]
        }
        return write_settings(DISPLAY_SETTINGS, values)


def read_display(query: Mapping[str, str]) -> tuple[Display, str | None]:
    """The display of a query, and the first error, if any.

    >>> read_display({"hide": "layer, data", "caption": "Look at row 2."})
    (Display(hidden=('layer', 'data'), caption='Look at row 2.', present=False, tour='', stop=0, like=None, lang=''), None)
    """
    values, problem = read_settings(DISPLAY_SETTINGS, query)
    return Display(
        **{FIELDS.get(setting.name, setting.name): values[setting.name] for setting in DISPLAY_SETTINGS[1:]}
    ), problem


def _parse_version(text: str) -> str:
    if text.strip() != VERSION:
        raise NormvizError(
            _(
                "v={value} is an unknown version of links; this app reads v={version} and ignores settings that it does not know.",
                value=echo(text),
                version=VERSION,
            )
        )
    return VERSION


def _parse_present(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise NormvizError(_("present={value} must be true or false.", value=echo(text)))
    return text.strip().lower() == "true"


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))


def _is_known(name: str) -> bool:
    return name in (ALL, ALL_CONTROLS) or name in PARTS or name in PANELS or name in controls()


def _parse_hide(text: str) -> tuple[str, ...]:
    unknown = [name for name in _names(text) if not _is_known(name)]
    if unknown:
        raise NormvizError(
            ngettext(
                "hide={names} is not the name of a control or a part; write, for example, hide=layer,code, hide=controls or hide=all.",
                "hide={names} are not names of controls or parts; write, for example, hide=layer,code, hide=controls or hide=all.",
                len(unknown),
                names=listed(map(echo, unknown[:3]), "and"),
            )
        )
    return _names(text)


def _one_line(text: str) -> str:
    """The text on one line, without control characters."""
    kept = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    return " ".join(kept.split())


def _parse_caption(text: str) -> str:
    return check_length("caption", _one_line(text), MOST_CAPTION)


VERSION_SETTING = Setting("v", VERSION, _parse_version, about=N_("the version of the link; without it, 1"), example="1")
DISPLAY_SETTINGS = (
    VERSION_SETTING,
    Setting(
        "hide", (), _parse_hide, ",".join, lambda text: tuple(filter(_is_known, _names(text))),
        about=N_("what is not shown: names from the next table, separated by commas"), example="layer,data",
    ),
    Setting(
        "caption", "", _parse_caption, repair=lambda text: _one_line(text)[:MOST_CAPTION].strip(),
        about=N_("a line under the figure, up to 300 characters, shown as text"), example="Look at row 2.",
    ),
    Setting(
        "present", False, _parse_present, lambda present: str(present).lower(),
        about=N_("true: for a projector, the figure fills the screen"), example="true",
    ),
    text("tour", 60, about=N_("the name of a tour"), example="normalized-shape"),
    integer("stop", 0, MOST_STOPS, 0, widget=None, about=N_("which view of the tour is shown"), example="2"),
    Setting(
        "like", None, parse_layer_on_shape, lambda like: f"{compact(like[0])} on {commas(like[1])}",
        about=N_("the layer and the shape that the view is a small look-alike of"), example="LayerNorm([768]) on 32,128,768",
    ),
    Setting("lang", "", parse_language, about=N_("the language; without it, that of the browser"), example="es"),
)  # fmt: skip
