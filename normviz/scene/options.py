"""The settings of a scene without what reads them: ``normviz --help`` shows them, and does not import torch. ``scene.SCENE_SETTINGS`` has all.

A setting without a widget is changed by several controls (``scene.controls``) or in the figure.
"""

from normviz.scene.setting import Setting, choice
from normviz.texts.messages import N_

# Names in addresses that are not settings of a view. They are apart because the server looks at an address before torch is imported.


EMBEDDING = ("embed", "embed_options")  # Streamlit's own parameters
CAMPAIGN = ("utm_", "fbclid", "gclid", "mc_")  # how parameters begin that other sites append to links


DATA_LABELS = {
    "normal": N_("normal (seeded)"),
    "counting": N_("counting 0, 1, 2, …"),
    "scales": N_("per-channel scales"),
    "images": N_("small pictures"),
}
PARAMETER_LABELS = {"init": N_("1 and 0"), "index": N_("their index"), "random": N_("random")}

SHAPE = Setting("shape", about=N_("the sizes of x"), example="2,4,3,5", type="Sequence[int] | None")
LAYOUT = Setting(
    "layout",
    about=N_("the axis letters of x, if they differ from the layer's default"),
    example="NHWC",
    type="str | None",
)
DATA = choice(
    "data",
    DATA_LABELS,
    segments=False,
    about=N_("x: normal, counting, scales or images"),
    example="counting",
    label=N_("Values of x"),
)
SEED = Setting("seed", 0, about=N_("the seed of random numbers"), example="7", type="int | None", label=N_("Seed"))
VALUES = Setting(
    "values", about=N_("the values of x itself, for up to 128 elements"), example="1,2,3,4", type="Sequence[float]"
)
PARAMS = choice(
    "params",
    PARAMETER_LABELS,
    segments=False,
    about=N_("gamma and beta: init, index or random"),
    example="index",
    label=N_("Values of gamma and beta"),
    hide="parameters",
)
GAMMA = Setting(
    "gamma",
    about=N_("one gamma for all elements, from -3 to 3; without it, the layer's own"),
    example="1.8",
    type="float",
)
BETA = Setting(
    "beta",
    about=N_("one beta for all elements, from -3 to 3; without it, the layer's own"),
    example="0.5",
    type="float",
)
AT = Setting(
    "at",
    (),
    about=N_("the selected element, or none"),
    example="1,2,0,3",
    type="Sequence[int] | Literal['none'] | None",
)
FROM = Setting(
    "from",
    (),
    about=N_("the first slice that is drawn on each axis of a tensor that is not drawn whole"),
    example="0,8,0,0",
    type="Sequence[int]",
)
OPTIONS = (SHAPE, LAYOUT, DATA, SEED, VALUES, PARAMS, GAMMA, BETA, AT, FROM)
