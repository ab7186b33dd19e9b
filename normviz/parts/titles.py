"""The address of the app, and the names of the pages: in addresses, as titles, in groups, and what each page shows, in one line, as messages.

They are apart from the pages because the server names a page in its first HTML, and redirects an address, before torch is imported.
"""

from collections.abc import Iterable, Mapping
from os import environ

from normviz.scene.options import CAMPAIGN
from normviz.texts.errors import check_web_address
from normviz.texts.messages import N_, _

HOME = "home"  # the front page, at the address of the app
EXPLORE = "explore"  # where all other links to the address of the app lead
VIEWS = (EXPLORE, "compare", "step_by_step", "gradients", "all_layers")  # of one tensor: tabs under the title
LEARN, LOOK_UP, TEACH = N_("Learn"), N_("Look up"), N_("Teach")
NAME = "normviz"
TITLES: Mapping[str, tuple[str, str]] = {
    HOME: (
        NAME,
        N_("Which elements of a tensor share a mean, and which share a gamma, in torch's normalization layers."),
    ),
    "start": (N_("Start here"), N_("Six minutes: from four numbers to a batch of images.")),
    "story": (
        N_("Why five layers?"),
        N_("An article with eight figures: what each layer solves, and what it leaves open."),
    ),
    "explore": (
        N_("Explore"),
        N_("Which elements of a tensor share a mean and a variance, and which share gamma and beta."),
    ),
    "compare": (N_("Compare"), N_("Several layers on one tensor, element by element.")),
    "step_by_step": (N_("Step by step"), N_("The forward pass from x to the output, with the numbers of one element.")),
    "all_layers": (N_("All layers"), N_("A map of every layer that there can be on one tensor.")),
    "train_and_eval": (
        N_("Train and eval"),
        N_("What BatchNorm stores from batch to batch, what that changes, and where it fails."),
    ),
    "gradients": (N_("Gradients"), N_("How each output changes with one input, and what the backward pass sums.")),
    "numerics": (N_("Numerics"), N_("What rounding does to a mean, a variance and eps.")),
    "models": (N_("In real models"), N_("The normalizations of well-known models, in the order in which they run.")),
    "questions": (N_("Questions"), N_("Predict the answer, then see what torch computes.")),
    "practice": (N_("Practice"), N_("Exercises that torch has answered.")),
    "teach": (N_("For teachers"), N_("Project it, set exercises, put it into your own pages.")),
}


def full_title(name: str) -> str:
    """The title of a page in a list of windows.

    >>> full_title("compare"), full_title(HOME)
    ('Compare · normviz', 'normviz')
    """
    return NAME if name == HOME else f"{_(TITLES[name][0])} · {NAME}"


def asks_for_a_view(names: Iterable[str]) -> bool:
    """Whether a query with these names asks for more than the front page in a language or a theme. A campaign asks for nothing.

    >>> asks_for_a_view(["lang", "utm_source"]), asks_for_a_view(["shap"]), asks_for_a_view(["embed"])
    (False, True, True)
    """
    return any(name not in ("lang", "embed_options") and not name.startswith(CAMPAIGN) for name in names)


def app_of_environment() -> str:
    """The address of the app, with which links begin: NORMVIZ_URL without a slash at its end; "" if it is not set."""
    return environ.get("NORMVIZ_URL", "").strip().rstrip("/")


def app_of_files() -> str:
    """The same, for links in files and notebooks. Raises NormvizError if it is not a web address."""
    return check_web_address("NORMVIZ_URL=", app_of_environment())
