"""What each option of the command sets, as in a link: in words, and an example. The settings use the same; --help needs only these texts."""

from collections.abc import Mapping
from typing import TypedDict

from normviz.texts.messages import N_


class Described(TypedDict):
    """``about``, a message, and an example value."""

    about: str
    example: str


SCENE: Mapping[str, Described] = {
    "shape": {"about": N_("the sizes of x"), "example": "2,4,3,5"},
    "layout": {"about": N_("the axis letters of x, if they differ from the layer's default"), "example": "NHWC"},
    "data": {"about": N_("x: normal, counting, scales or images"), "example": "counting"},
    "seed": {"about": N_("the seed of random numbers"), "example": "7"},
    "values": {"about": N_("the values of x itself, for up to 128 elements"), "example": "1,2,3,4"},
    "params": {"about": N_("gamma and beta: init, index or random"), "example": "index"},
    "gamma": {"about": N_("one gamma for all elements, from -3 to 3; without it, the layer's own"), "example": "1.8"},
    "beta": {"about": N_("one beta for all elements, from -3 to 3; without it, the layer's own"), "example": "0.5"},
    "at": {"about": N_("the selected element, or none"), "example": "1,2,0,3"},
    "from": {
        "about": N_("the first slice that is drawn on each axis of a tensor that is not drawn whole"),
        "example": "0,8,0,0",
    },
}
PRACTICE: Mapping[str, Described] = {
    "seed": SCENE["seed"],
    "count": {"about": N_("the number of exercises; seed chooses them"), "example": "5"},
    "topics": {"about": N_("their topics, separated by commas; without it, all"), "example": "statistics,parameters"},
    "level": {
        "about": N_(
            "how hard they are; 1: tables; 2: sequences and images; 3: groups and odd shapes; all; or rising: from level 1, after the reader's answers"
        ),
        "example": "1",
    },
    "kinds": {
        "about": N_("how they are answered: number, mark, choice and build; without it, all but build"),
        "example": "build",
    },
}
