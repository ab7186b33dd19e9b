"""The arguments of every command, with a help that ends in a whole command. Neither --help nor --version imports torch."""

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

from normviz.__version__ import __version__
from normviz.code.programs import FLAVOR_LABELS
from normviz.figures.palette import FOLLOW, THEMES
from normviz.lessons.practice import settings
from normviz.scene import options
from normviz.scene.setting import Setting
from normviz.texts.errors import NormvizError, closest
from normviz.texts.messages import N_, _

ABOUT = N_("See which elements of a tensor share a mean and a variance, and which share a gamma and a beta.")
ALL = "all"  # the languages
META = "meta"
FLOATS = ("float32", "float64", "float16", "bfloat16")
QUIZZES: Mapping[str, str] = {
    "json": N_("one object for each exercise"),
    "html": N_("the page Practice as one file"),
    "moodle": N_("Moodle XML"),
    "qti": N_("a QTI 1.2 package, for Canvas and others"),
    "anki": N_("an Anki package"),
    "scorm": N_("a SCORM 1.2 package, for Moodle, Canvas, Blackboard, Open edX and ILIAS"),
    "paper": N_("an exam to print, and its key"),
}
SAME = {"--shape": "--input", "--input": "--shape"}  # options that other commands have by another name


class Help(argparse.HelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """A parser whose own words are messages too, except in its errors. ``example``: what follows its name in a whole command."""

    def __init__(self, prog: str, example: str = "", **options: Any) -> None:
        super().__init__(prog, formatter_class=Help, add_help=False, allow_abbrev=False, **options)
        self.example = f"{prog} {example}"
        self._positionals.title, self._optionals.title = _("positional arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("show this help message and exit"))

    def format_help(self) -> str:
        """The help, and below it a command that can be copied: argparse would break its line."""
        return f"{super().format_help()}\n{_('for example:')}\n  {self.example}\n"

    def error(self, message: str) -> NoReturn:
        raise NormvizError("{message}; {command} --help lists the arguments.", message=message, command=self.prog)

    def unknown(self, argument: str) -> NoReturn:
        """Raise NormvizError for an argument that the command does not have."""
        option = argument.partition("=")[0]
        if option.startswith("-"):
            _suggest(option, self._option_string_actions)
        self.error(f"unrecognized arguments: {argument}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = tuple(action.choices or ())
        if known and value not in known:
            _suggest(value, known, *action.option_strings)
        super()._check_value(action, value)


def _suggest(word: str, known: Collection[str], *before: str) -> None:
    """Raise NormvizError if a similar option, command or value is known. ``before``: the option whose value it is."""
    same = SAME.get(word)
    if meant := same if same in known else closest(word, known):
        raise NormvizError("{option} is unknown. Did you mean {meant}?", option=" ".join([*before, word]), meant=meant)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments as values; ``run`` names the function of the command. Raises NormvizError for invalid ones."""
    args, others = parser().parse_known_args(_join_values(list(arguments)))
    if others:
        args.parser.unknown(others[0])
    return args


def check_package(args: argparse.Namespace) -> None:
    """Raise NormvizError if the package that writes the format of a set of exercises is not installed: before torch is loaded."""
    if package := settings.missing_package(getattr(args, "format", "")):
        raise NormvizError(
            '--format {format} needs {module}, which is not installed; run pip install "normviz[practice]".',
            format=args.format,
            module=package,
        )


def _join_values(arguments: list[str]) -> list[str]:
    """``--values -1,2`` as ``--values=-1,2``: argparse would take a value that begins with a minus sign for an option."""
    if "--values" not in arguments[:-1]:
        return arguments
    at = arguments.index("--values")
    return [*arguments[:at], f"--values={arguments[at + 1]}", *arguments[at + 2 :]]


Command = tuple[str, str, Callable[[Parser], None], str]


def parser() -> Parser:
    """The parser of all commands."""
    made = Parser("normviz", 'explain "LayerNorm(4)" --shape 2,4', description=_(ABOUT))
    made.add_argument("--version", action="version", version=f"normviz {__version__}")
    commands = made.add_subparsers(metavar="COMMAND", required=True)
    # name, what it does, the function that does it, its arguments, the rest of a whole command
    listed: Mapping[str, Command] = {
        "explain": (_("what a layer does to a tensor, in a sentence"), "printing:explain", _add_explain,
            '"LayerNorm(4)" --shape 2,4'),
        "export": (_("one HTML file that needs no server"), "writing:export", _add_export,
            '"LayerNorm([3,4,4])" --shape 2,3,4,4 -o page.html'),
        "image": (_("a picture: SVG, PNG or PDF"), "writing:image", _add_image,
            '"BatchNorm2d(3)" --shape 2,3,4,4 -o figure.svg'),
        "site": (_("a static site: pages with controls, all questions and comparisons"), "writing:site", _add_site,
            "mysite --only explore s0"),
        "practice": (_("a set of exercises: JSON, a page, Moodle, QTI, Anki, SCORM, paper"), "practice:write_practice", _add_practice,
            "--seed 7 --count 5 --format html -o practice.html"),
        "questions": (_("the list of all questions"), "practice:write_questions", _add_questions,
            "-o questions.txt"),
        "check": (_("which normalization a function computes, and what differs"), "checking:run_check", _add_check,
            'torch.nn.functional:layer_norm --shape 3,4,5 --params "normalized_shape=[5]" --like "LayerNorm(5)"'),
        "norms": (_("the normalizations of a model, as a table"), "checking:run_norms", _add_norms,
            "torch.nn:Transformer --input 10,2,512 --input 20,2,512"),
        "diagnose": (_("why a model gives other results in eval mode than in train mode"), "checking:run_diagnose", _add_diagnose,
            "model.py:model --data model.py:batches"),
        "app": (_("the app, in the browser"), "app:start", _add_app,
            "--port 8600"),
        "plotlyjs": (_("plotly.js as a file, for --plotlyjs PATH"), "writing:plotlyjs", _add_plotlyjs,
            "plotly.min.js"),
    }  # fmt: skip
    for name, (about, run, add, example) in listed.items():
        command = commands.add_parser(name, help=about, description=about, example=example)
        add(command)
        command.set_defaults(run=f"normviz.cli.{run}", parser=command)
    return made


def _add_explain(parser: Parser) -> None:
    about = _('such as "LayerNorm([3,4,4])"; or a line of code, of print(model) or of an error message')
    parser.add_argument("layer", metavar="LAYER", help=about)
    _add_setting(parser, options.SHAPE)
    _add_setting(parser, options.LAYOUT)
    parser.add_argument("--code", choices=tuple(FLAVOR_LABELS), help=_("print the layer as a program instead"))
    _add_language(parser)


def _add_view(parser: Parser) -> None:
    """The arguments of every command that shows a view: each setting of a scene is an option; the layer has no name."""
    what = parser.add_argument_group(_("what to show"))
    what.add_argument("layer", metavar="LAYER", nargs="?", help=_('such as "LayerNorm([3,4,4])"'))
    what.add_argument("--layers", metavar="LAYER", nargs="+", help=_("only these layers; with --fixed, one tab each"))
    page = _("a page, such as step_by_step or compare; a question, such as s0; or a ready-made set, such as four")
    what.add_argument("--page", "--lesson", metavar="NAME", help=page)
    what.add_argument(
        "--set", metavar="NAME=VALUE", nargs="+", default=(), help=_("settings of the page, such as show=modes")
    )
    what.add_argument("--link", metavar="LINK", help=_('any link of the app, such as "/compare?shape=2,3,4,4"'))
    what.add_argument("--hide", metavar="NAME,NAME", help=_("parts to leave out, such as code,worked"))
    what.add_argument(
        "--tour", metavar="NAME|FILE", help=_("a tour, such as normalized-shape, or a YAML file of links with captions")
    )
    tensor = parser.add_argument_group(_("the tensor and the layer's numbers, as in a link of the app"))
    for setting in options.OPTIONS:
        _add_setting(tensor, setting)


def _add_export(parser: Parser) -> None:
    _add_view(parser)
    file = parser.add_argument_group(_("the file"))
    file.add_argument(
        "-o", "--out", metavar="FILE", required=True, help=_("such as page.html; - for the standard output")
    )
    _add_theme(file, (FOLLOW, *THEMES), FOLLOW)
    _add_language(file)
    file.add_argument(
        "--plotlyjs",
        metavar="inline|cdn|PATH",
        default="inline",
        help=_("where plotly.js is; PATH as the page sees it"),
    )
    file.add_argument("--caption", default="", help=_("a line below the figures"))
    file.add_argument("--title", help=_("the title of the page"))
    choices = parser.add_argument_group(_("what a reader can choose: every layer that takes the tensor"))
    choices.add_argument("--shapes", default="", metavar='"2,3,4,4; 5,7"', help=_("other tensors"))
    choices.add_argument(
        "--app", default="", metavar="URL", help=_("address of an app to link to for what the file cannot answer")
    )
    choices.add_argument("--fixed", action="store_true", help=_("a single view, or one tab for each of --layers"))


def _add_image(parser: Parser) -> None:
    _add_view(parser)
    picture = parser.add_argument_group(_("the picture"))
    picture.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        required=True,
        help=_("ends in .svg, .png or .pdf; - for an SVG on the standard output"),
    )
    _add_theme(picture, THEMES, "light")
    _add_language(picture)
    picture.add_argument("--width", metavar="PIXELS", type=int, help=_("the width of the file"))
    picture.add_argument(
        "--scale", metavar="2", type=float, default=2.0, help=_("pixels of a PNG for each pixel of the figure")
    )


def _add_site(parser: Parser) -> None:
    parser.add_argument("out", metavar="OUT", help=_("the directory"))
    parser.add_argument("--zip", action="store_true", help=_("write OUT.zip too"))
    parser.add_argument(
        "--scorm",
        action="store_true",
        help=_("write OUT.zip too, as a SCORM 1.2 package in which ten exercises report a score"),
    )
    _add_pass(parser)
    _add_theme(parser, (FOLLOW, *THEMES), FOLLOW)
    _add_language(parser, _("the language, such as es; all: one folder for each; default: NORMVIZ_LANG, or English"))
    parser.add_argument(
        "--only",
        metavar="KEY",
        nargs="+",
        default=(),
        help=_("pages, questions and ready-made sets, such as explore s0 four"),
    )
    parser.add_argument("--force", action="store_true", help=_("write even if the directory has other files"))


def _add_practice(parser: Parser) -> None:
    chosen = parser.add_argument_group(_("the exercises; the same arguments give the same set"))
    for setting in settings.OPTIONS:
        _add_setting(chosen, setting, setting.format(setting.default))
    many = parser.add_argument_group(_("many sets, in a directory"))
    roster = _("a CSV file with a column name: a set for each student, all parallel and all different")
    many.add_argument("--roster", metavar="FILE", help=roster)
    many.add_argument("--versions", metavar="4", type=int, help=_("so many versions instead, named A, B, ..."))
    key = _("chooses these sets; without it a fixed key, from which everyone can make them")
    many.add_argument("--key", metavar="WORDS", help=key)
    many.add_argument("--all", action="store_true", help=_("all exercises, a file for each topic and level"))
    own = parser.add_argument_group(_("your own questions"))
    add = _(
        "YAML or Markdown files with questions of your own, which come first; other exercises follow if an option above chooses them"
    )
    own.add_argument("--add", metavar="FILE", nargs="+", default=(), help=add)
    own.add_argument("--preview", action="store_true", help=_("show them in the browser, and write nothing else"))
    file = parser.add_argument_group(_("the file"))
    file.add_argument("--format", choices=tuple(QUIZZES), default="json", help=_("default: json"))
    file.add_argument(
        "--pdf", choices=("a4", "letter"), default="", help=_("with --format paper: also as PDF, on this paper")
    )
    file.add_argument("-o", "--out", metavar="FILE", help=_("without it, JSON is printed; of many sets, a directory"))
    _add_pass(file)
    file.add_argument(
        "--app", default="", metavar="URL", help=_("address of the app that the links lead to; default: NORMVIZ_URL")
    )
    _add_language(parser)


def _add_pass(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--pass",
        dest="passing",
        metavar="0.8",
        help=_(
            "SCORM: the share of the exercises that must be right at the first try; without it, a set is completed and not passed"
        ),
    )


def _add_questions(parser: Parser) -> None:
    formats = _("json: everything about each question; quiqui: YAML for a vote with QuiQui; default: text, the titles")
    parser.add_argument("--format", choices=("text", "json", "quiqui"), default="text", help=formats)
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help=_("the same as --format json")
    )
    only = _("questions, and pages whose questions are meant, such as explore s0")
    parser.add_argument("--only", metavar="KEY", nargs="+", default=(), help=only)
    parser.add_argument("-o", "--out", metavar="FILE", default="-", help=_("default: -, which is the standard output"))
    _add_language(parser)


def _add_check(parser: Parser) -> None:
    parser.add_argument(
        "code",
        metavar="MODULE:FUNCTION",
        help=_("such as mymodule:my_layernorm or submission.py:layer_norm; or a module object"),
    )
    parser.add_argument("--shape", metavar="3,4,5", required=True, help=_("the sizes of x"))
    parser.add_argument("--like", metavar="LAYER", help=_('what it should be, such as "LayerNorm(5)"'))
    parser.add_argument("--layout", metavar="NHWC", help=_("the axes of x; default: those of LAYER"))
    parser.add_argument(
        "--params",
        metavar="gamma=ones,beta=zeros",
        default="",
        help=_(
            "further arguments: ones, zeros or random, with a shape if LAYER has another one (gamma=ones:1,6,1,1); or values (groups=2)"
        ),
    )
    parser.add_argument("--numpy", action="store_true", help=_("the function takes a NumPy array"))
    parser.add_argument(
        "--dtype", choices=FLOATS, help=_("of x, gamma and beta; default: float32, and float64 for NumPy")
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, help=_("end after so many seconds, without a result")
    )
    parser.add_argument("--json", action="store_true", help=_("print the result as JSON"))
    _add_language(parser)


def _add_norms(parser: Parser) -> None:
    parser.add_argument(
        "code",
        metavar="MODULE:NAME",
        help=_("a model, or a function that makes one, such as models.py:small_gpt or torch.nn:Transformer"),
    )
    parser.add_argument(
        "--input",
        metavar="1,3,224,224",
        action="append",
        default=[],
        help=_("the shape of an input; repeat --input for each input; 1,16:int64 is an integer tensor"),
    )
    parser.add_argument("--device", metavar="cpu", default=META, help=_("default: meta, where tensors have no values"))
    parser.add_argument("--train", action="store_true", help=_("in training mode; default: in eval mode"))
    parser.add_argument("--all", action="store_true", help=_("one row for each normalization, even if rows are equal"))
    parser.add_argument("--json", action="store_true", help=_("print the result as JSON"))
    _add_language(parser)


def _add_diagnose(parser: Parser) -> None:
    parser.add_argument("code", metavar="MODULE:NAME", help=_("a model with its weights, or a function that makes one"))
    parser.add_argument(
        "--data",
        metavar="MODULE:NAME",
        required=True,
        help=_("the batches, such as a list or a DataLoader, or a function that makes them"),
    )
    parser.add_argument("--steps", metavar="8", type=int, default=8, help=_("read at most so many batches; default: 8"))
    parser.add_argument("--json", action="store_true", help=_("print the result as JSON"))
    _add_language(parser)


def _add_app(parser: Parser) -> None:
    parser.add_argument("--port", metavar="8501", type=int, help=_("default: 8501, or the next port that is free"))
    parser.add_argument("--address", help=_("0.0.0.0 accepts connections from other computers; default: localhost"))
    parser.add_argument("--no-browser", action="store_true", help=_("print the address, and open no browser"))


def _add_plotlyjs(parser: Parser) -> None:
    parser.add_argument("out", metavar="FILE", help=_("such as plotly.min.js"))


def _add_setting(parser: argparse._ActionsContainer, setting: Setting, default: str = "") -> None:
    """The option that sets what a link sets with the same name; its help names the default, if it is given."""
    about = setting.description
    about = _("{about}; default: {default}", about=about, default=default) if default else about
    parser.add_argument(f"--{setting.name}", metavar=setting.example, help=about)


def _add_theme(parser: argparse._ActionsContainer, themes: Collection[str], default: str) -> None:
    help_text = _("default: {default}", default=default)
    parser.add_argument("--theme", choices=tuple(themes), default=default, help=help_text)


def _add_language(parser: argparse._ActionsContainer, help_text: str = "") -> None:
    help_text = help_text or _("the language, such as es; default: NORMVIZ_LANG, or English")
    parser.add_argument("--lang", metavar="LANG", help=help_text)
