"""What chooses a set of exercises, as settings. Nothing here needs torch: ``normviz practice --help`` lists them."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec

from normviz.scene import options
from normviz.scene.setting import Number, Several, choice, integer, words
from normviz.texts.messages import N_

MOST_EXERCISES = 100
LARGEST_SEED = 2**31 - 1
LEVELS = {1: N_("1: tables"), 2: N_("2: sequences and images"), 3: N_("3: groups and odd shapes")}
ALL_LEVELS, RISING = "all", "rising"
TOPICS = ("statistics", "parameters", "code", "numbers", "dependence", "train_and_eval")  # those that have exercises
NUMBER, MARK, CHOICE, BUILD = "number", "mark", "choice", "build"
# The names of ``kinds=``, and what each is called in the form. A set has those of ``FIRST_FORMS``, unless its link names others: a kind
# that is new needs a form of its own, so that a kept link keeps its exercises.
FORMS: Mapping[str, str] = {
    NUMBER: N_("Write a number"),
    MARK: N_("Mark elements"),
    CHOICE: N_("Choose an option"),
    BUILD: N_("Build it"),
}
FIRST_FORMS = (NUMBER, MARK, CHOICE)

COUNT = integer("count", 1, MOST_EXERCISES, 10, widget=Number(1, MOST_EXERCISES), hide="exercises").described(
    N_("Exercises"), N_("the number of exercises; seed chooses them"), "5"
)
OF_TOPICS = words("topics", TOPICS, widget=Several(TOPICS, len(TOPICS)), hide="exercises").described(
    N_("Topics, all if you choose none"),
    N_("their topics, separated by commas; without it, all"),
    "statistics,parameters",
)
OF_LEVELS = {RISING: N_("rising with your answers"), ALL_LEVELS: N_("all")} | {str(one): LEVELS[one] for one in LEVELS}
LEVEL = choice("level", OF_LEVELS, ALL_LEVELS, hide="exercises").described(
    N_("Level"),
    N_(
        "how hard they are; 1: tables; 2: sequences and images; 3: groups and odd shapes; all; or rising: from level 1, after the reader's answers"
    ),
    "1",
)
KINDS = words("kinds", tuple(FORMS), widget=Several(tuple(FORMS), len(FORMS)), hide="exercises").described(
    N_("Kinds"), N_("how they are answered: number, mark, choice and build; without it, all but build"), "build"
)
_MIXTURE = integer("mixture", 0, LARGEST_SEED, 0)
MIXTURE = replace(
    _MIXTURE,
    default=None,
    parse=lambda text: None if text.strip().lower() in ("", "none") else _MIXTURE.parse(text),
    format=lambda value: "" if value is None else str(value),
    widget=Number(0, LARGEST_SEED),
    limits=None,
    hide="exercises",
    type="int | None",
).described(
    N_("Mixture, for parallel sets"),
    N_(
        "a whole number; sets with the same mixture are parallel: the same kinds and levels in the same order; without it, seed chooses these, too"
    ),
    "3",
)
OF_SET = (COUNT, OF_TOPICS, LEVEL, KINDS, MIXTURE)
OPTIONS = (options.SEED, *OF_SET)

WRITERS = {"moodle": "lxml", "qti": "text2qti", "anki": "genanki"}  # the packages that write a format


def missing_package(name: str) -> str:
    """The package that writes the format of this name, if it is not installed; otherwise ""."""
    package = WRITERS.get(name, "")
    return package if package and find_spec(package) is None else ""
