"""The flavors of the code of a layer. Nothing here needs torch: ``normviz --help`` lists them."""

from collections.abc import Mapping
from typing import Literal

from normviz.texts.messages import N_

Flavor = Literal["torch", "torch-scratch", "numpy", "einops", "loops", "keras", "flax"]
LABELS: Mapping[str, str] = {
    "torch": "torch.nn",
    "torch-scratch": N_("torch from scratch"),
    "numpy": "NumPy",
    "einops": "einops",
    "loops": N_("loops"),
    "keras": "Keras",
    "flax": "Flax",
}
