"""Numbers as readers type them; and Setting: a named value of a view, which a link holds and a reader changes with a control, and the kinds of its inputs, as data.

A setting is declared once, as data and pure functions. Its place in the link, its control, its option of the command line, its name in
``hide=`` and its row in docs/links.md follow from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from keyword import iskeyword
from math import inf, isclose, isfinite, log10, nan
from typing import Any, Self

from normviz.texts.errors import NormvizError, echo, encodable, listed
from normviz.texts.messages import DECIMAL_COMMA, N_, _, format_count, group_digits, language, ngettext

# Numbers as readers type them. ``figures/browser/common/numbers.ts`` has the same rule, and one table of inputs tests both.
#
# A point begins the decimals. In the languages of ``DECIMAL_COMMA`` a comma does so, too; in the others commas group the digits of thousands.
# Where a text has another meaning by the other convention, the reader is asked: no guess is 1000 times too large.


ASK = N_("{typed} can be read in more than one way. Write {number} if you mean that number.")
SPACES = "\u00a0\u2009\u202f\u3000"  # no-break, thin, narrow no-break, and full-width
PLAIN = {ord(space): " " for space in SPACES} | {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2212"}
PLAIN |= {ord("、"): ","} | {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width ASCII
TYPED = re.compile(r"([-+]?)(?=[.,]*\d)([\d.,]+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
SPACED = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?=[.,e]|$)", re.ASCII | re.IGNORECASE)
DIGITS = re.compile(r"\d*\.?\d*", re.ASCII)
GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
SWAPPED = str.maketrans(".,", ",.")


def plain_signs(text: str) -> str:
    """The text with ASCII's digits, brackets, commas, minus signs and spaces in place of those of other keyboards.

    >>> plain_signs("LayerNorm（９６）"), plain_signs("−0.5")
    ('LayerNorm(96)', '-0.5')
    """
    return text.translate(PLAIN)


def read_number(text: str, name: str = "", *, whole: bool = False) -> float:
    """The number that a reader has typed, in the convention of the reader's language; NaN if it is none.

    name   of a setting, for the message
    whole  whether a whole number is wanted: then 9.408 is not clear where a comma begins the decimals, because it may be 9408

    Raises NormvizError if the text can be read in more than one way.

    >>> read_number("9,408"), read_number("1 024"), read_number("4/2")
    (9408.0, 1024.0, nan)
    """
    plain = plain_signs(text).strip()
    spaced = SPACED.match(plain)
    found = TYPED.fullmatch(spaced[0].replace(" ", "") + plain[spaced.end() :] if spaced else plain)
    if not found:
        return nan
    sign, digits, exponent = found.groups(default="")
    point, comma = _digits(digits, not spaced), _digits(digits.translate(SWAPPED), not spaced)
    chosen, is_clear = _choose(digits, point, comma, whole)
    if chosen is None:
        return nan
    number = f"{sign}{chosen}{exponent}"
    if not is_clear:
        raise NormvizError(ASK, typed=f"{name}={echo(text)}" if name else echo(text), number=number)
    return float(number)


def _choose(digits: str, point: str | None, comma: str | None, whole: bool) -> tuple[str | None, bool]:
    """The digits by one of the two conventions, and whether they are the only meaning."""
    signs = [sign for sign in digits if sign in ".,"]
    either = point or comma
    if language.get() not in DECIMAL_COMMA:
        if point is None and comma is not None and "." in comma:  # a decimal comma, which is no whole number
            return (None, True) if whole else (comma, False)
        return either, True
    if len({*signs}) > 1:
        return either, False
    if len(signs) != 1:
        return either, True
    decimal, thousands = (point, comma) if signs == ["."] else (comma, point)
    return (thousands, False) if whole and thousands else (decimal, True)


def _digits(digits: str, may_be_grouped: bool) -> str | None:
    """The digits where a point begins the decimals, without commas between thousands; None if they are not written so."""
    if DIGITS.fullmatch(digits):
        return digits
    return digits.replace(",", "") if may_be_grouped and GROUPED.fullmatch(digits) else None


@dataclass(frozen=True)
class Number:
    """An input for a whole number, with buttons for the next and the previous one."""

    low: int
    high: int


@dataclass(frozen=True)
class TextField:
    """An input for a line of text."""

    max_chars: int
    placeholder: str = ""


@dataclass(frozen=True)
class Choice:
    """A drop-down list: the label of each option.

    accept_new      whether the reader may type another option
    dynamic_labels  whether the labels depend on the view
    """

    options: Mapping[Any, str]
    accept_new: bool = False
    dynamic_labels: bool = False


@dataclass(frozen=True)
class Segments:
    """Buttons side by side, one of them pressed: the label of each option."""

    options: Mapping[Any, str]


@dataclass(frozen=True)
class Several:
    """A list from which a reader chooses up to ``most`` options; the reader may also type others."""

    options: Sequence[str]
    most: int


@dataclass(frozen=True)
class Slider:
    """A slider over a few options: the label of each.

    typed  whether the options are texts of a number that has many values; a value without an option gets one
    """

    options: Mapping[Any, str]
    typed: bool = False

    def including(self, text: str) -> Slider:
        """With this text among its options, in the order of numbers; "none" comes last.

        >>> list(slider("0.1", "1", "none").including("0.5").options)
        ['0.1', '0.5', '1', 'none']
        """
        return slider(*sorted({*self.options, text}, key=lambda one: inf if one == "none" else float(one)))


def slider(*texts: str) -> Slider:
    """A slider over a few values of a number that has many."""
    return Slider({text: text for text in texts}, typed=True)


@dataclass(frozen=True)
class Toggle:
    """A switch."""


Widget = Number | TextField | Choice | Segments | Several | Slider | Toggle


# Settings

LIMITS = N_("{label} ({low} to {high})")
LIMITS_OR_NONE = N_("{label} ({low} to {high}, or none)")


def always(view: object) -> bool:
    """A setting that applies to every view of its page."""
    return True


@dataclass(frozen=True)
class Where:
    """A setting that applies to the views in which another one has one of these values; without ``values``, in which it is not empty."""

    name: str
    values: tuple[str, ...] = ()

    def __call__(self, view: Any) -> bool:
        return self.holds(view.settings)

    def holds(self, settings: Mapping[str, object]) -> bool:
        """Whether it applies where the settings of the page have these values."""
        return settings[self.name] in self.values if self.values else bool(settings[self.name])

    @property
    def in_words(self) -> tuple[str, ...]:
        """What a link has where it applies: ``show=stream``, or the name of the other setting."""
        return tuple(f"{self.name}={value}" for value in self.values) or (self.name,)


@dataclass(frozen=True)
class Setting:
    """One setting.

    name            in the link, and as an option of the command line
    default         its value if the link does not have it
    parse, format   from text to value, and back; ``parse`` raises NormvizError
    repair          from a text that ``parse`` refuses to the nearest valid value; without it, the default is used
    label           of its control, as a message
    about, example  a description, as a message, and an example value: for the documentation and the command line; without ``about``, the
                    options are the description
    type            of its keyword in Python, for help and type checkers
    keyword         whether the functions of all its pages take it, and not only links
    widget          the widget of its control; None if it has no control of its own
    width, help     of the control: in pixels, and as a message
    limits          the smallest and the largest value, as shown in the label; ``or_none``: the value may also be none
    hide            the control's name in ``hide=``; without it, the setting's name
    applies         whether a view has the control
    in_file         the values that a file offers, if it has too many for a file
    """

    name: str
    default: Any = None
    parse: Callable[[str], Any] = str
    format: Callable[[Any], str] = str
    repair: Callable[[str], Any] | None = None
    label: str = ""
    about: str = ""
    example: str = ""
    type: str = "str"
    keyword: bool = True
    widget: Widget | None = None
    width: int | None = None
    help: str | None = None
    limits: tuple[str, str] | None = None
    or_none: bool = False
    hide: str = ""
    applies: Callable[[Any], bool] = always
    in_file: Sequence[Any] = ()

    @property
    def hidden_by(self) -> str:
        """The name of its control in ``hide=``."""
        return self.hide or self.name

    @property
    def is_typed(self) -> bool:
        """Whether its control takes a text: of any value, or of one of a slider's options."""
        return isinstance(self.widget, TextField) or (isinstance(self.widget, Slider) and self.widget.typed)

    @property
    def key(self) -> str:
        """The key of its control."""
        return f"set_{self.name}" if isinstance(self.widget, TextField | Slider) else self.name

    @property
    def input_label(self) -> str:
        """The label of its control, with its limits."""
        return self._with_limits(_(self.label))

    @property
    def help_text(self) -> str:
        """What its keyword sets, with its limits."""
        return self._with_limits(self.description)

    def _with_limits(self, text: str) -> str:
        if self.limits is None:
            return text
        pattern = LIMITS_OR_NONE if self.or_none else LIMITS
        return _(pattern, label=text, low=self.limits[0], high=self.limits[1])

    def described(self, label: str, about: str, example: str) -> Setting:
        """The setting with the label of its control, what it sets, as messages, and an example."""
        return replace(self, label=label, about=about, example=example)

    @property
    def description(self) -> str:
        """What a link sets with it."""
        if not self.about and isinstance(self.widget, Choice | Segments):
            return listed(self.widget.options)
        return _(self.about)

    @property
    def keyword_name(self) -> str:
        """The name in Python: ``from`` is a word of the language."""
        return f"{self.name}_" if iskeyword(self.name) else self.name

    def text(self, value: object) -> str:
        """What a caller gives as the value, as a link has it: ``count=64``, ``time=True``, ``hide=["layer", "code"]``."""
        if hasattr(value, "tolist"):  # an array, or a number of NumPy or torch
            value = value.tolist()
        if isinstance(value, list | tuple | set | frozenset):
            value = tuple(sorted(value, key=str) if isinstance(value, set | frozenset) else value)
            with suppress(TypeError, ValueError):
                return self.format(value)
            return ",".join(map(str, value))
        return value if isinstance(value, str) else Written("none" if value is None else value)

    def in_message(self, value: object) -> str:
        """The value in a message."""
        return self.format(value) if isinstance(value, int | float) else echo(self.format(value))

    def chosen(self, value: object) -> str:
        """What a reader has chosen with its control, in words."""
        if isinstance(self.widget, Choice | Segments):
            return _(self.widget.options[value])
        labels = self.widget.options if isinstance(self.widget, Slider) else {}
        return _("{title}: {caption}", title=_(self.label), caption=labels.get(value, self.format(value)))

    def nearest(self, text: str) -> Any:
        """The nearest valid value to a text that ``parse`` refuses."""
        try:
            return self.repair(text) if self.repair else self.default
        except NormvizError:
            return self.default


def parse_settings(settings: Iterable[Setting], query: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of the valid settings, and the error message for each invalid one, by name."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for setting in settings:
        if setting.name in query:
            try:
                values[setting.name] = setting.parse(query[setting.name])
            except NormvizError as error:
                problems[setting.name] = str(error)
    return values, problems


def read_settings(settings: Sequence[Setting], query: Mapping[str, str]) -> tuple[dict[str, Any], str | None]:
    """The value of every setting, and the first error, if any.

    >>> read_settings([Setting("step", 1, int)], {"step": "4"})
    ({'step': 4}, None)
    """
    valid, problems = parse_settings(settings, query)
    others = {one.name: one.nearest(query[one.name]) if one.name in problems else one.default for one in settings}
    values = others | valid
    return values | implied(settings, values, query), next(iter(problems.values()), None)


def implied(settings: Sequence[Setting], values: Mapping[str, object], named: Collection[str]) -> dict[str, Any]:
    """What the named settings say of one that is not named: ``count=64`` says show=sequences.

    Values other than the defaults count. If they say different things, the first of them counts. If all values are defaults, they count
    where they say the same.

    >>> show = choice("show", {"stream": "", "sequences": ""})
    >>> count = integer("count", 2, 256, 32, applies=Where("show", ("sequences",)))
    >>> implied([show, count], {"show": "stream", "count": 64}, ["count"])
    {'show': 'sequences'}
    """
    given = [(one, one.applies) for one in settings if one.name in named and isinstance(one.applies, Where)]
    changed = [(one, rule) for one, rule in given if values[one.name] != one.default]
    found: dict[str, Any] = {}
    for other in settings:
        wanted = [{*rule.values} for _one, rule in changed or given if rule.name == other.name and rule.values]
        if wanted and other.name not in named:
            common = set.intersection(*wanted) or (wanted[0] if changed else set())
            if len(common) == 1:
                found[other.name] = common.pop()
    return found


def without_effect(settings: Iterable[Setting], values: Mapping[str, object], named: Collection[str]) -> str | None:
    """The message about the first named setting that does nothing where the others have these values, if there is one.

    >>> show = choice("show", {"modes": "", "sequences": ""})
    >>> count = integer("count", 2, 256, 32, applies=Where("show", ("sequences",)))
    >>> without_effect([show, count], {"show": "modes", "count": 64}, ["show", "count"])
    "count=64 has no effect with show='modes'; it belongs to show='sequences'."
    """
    for one in settings:
        rule = one.applies
        if one.name not in named or not isinstance(rule, Where) or rule.holds(values):
            continue
        said: dict[str, Any] = {"name": one.name, "value": one.in_message(values[one.name]), "other": rule.name}
        if not rule.values:
            return _("{name}={value} has no effect without {other}; give {other}, too.", **said)
        said |= {"chosen": repr(values[rule.name]), "values": listed(map(repr, rule.values))}
        return _("{name}={value} has no effect with {other}={chosen}; it belongs to {other}={values}.", **said)
    return None


def parse_given(settings: Sequence[Setting], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of the settings. Raises NormvizError for an unknown name or an invalid value."""
    known = {setting.name: setting for setting in settings}
    values = {name: setting.default for name, setting in known.items()}
    for name, value in given.items():
        if not known:
            raise NormvizError("{name}={value} is not a setting here; leave it out.", name=name, value=echo(value))
        if name not in known:
            raise NormvizError(
                "{name}={value} is not a setting here; choose {names}.",
                name=name,
                value=echo(value),
                names=listed(known),
            )
        values[name] = known[name].parse(known[name].text(value))
    return values | implied(settings, values, given)


class Written(str):
    """The text of a value that is no text: a message writes it without quotes."""

    def __new__(cls, value: object) -> Self:
        return super().__new__(cls, str(value).lower() if isinstance(value, bool) else value)

    def __repr__(self) -> str:
        return str(self)


def write_settings(settings: Sequence[Setting], values: Mapping[str, object]) -> dict[str, str]:
    """The part of a link that holds the values that are not defaults."""
    return {
        setting.name: setting.format(values[setting.name])
        for setting in settings
        if values.get(setting.name, setting.default) != setting.default
    }


# Kinds of settings: a choice, a number, a power of ten, a text, several texts.

LONGEST_NUMBER = 40  # characters
LONGEST_LIST = 1500
SEVERAL = "str | Sequence[str]"  # the type of one text or several


def parse_choice(name: str, options: Sequence[str]) -> Callable[[str], str]:
    """A parser of one of a few words."""

    def parse(text: str) -> str:
        if text not in options:
            raise NormvizError(
                "{name}={value} is unknown; choose {options}.", name=name, value=echo(text), options=listed(options)
            )
        return text

    return parse


def literal(options: Iterable[str]) -> str:
    """The type of one of these words; numbers and truth values are written as in Python.

    >>> literal(["rising", "1"]), literal(["false", "true"])
    ("Literal['rising', 1]", 'bool')
    """
    words = list(options)
    if {*words} == {"false", "true"}:
        return "bool"
    return f"Literal[{', '.join(word if word.isdecimal() else repr(word) for word in words)}]"


def choice(
    name: str, options: Mapping[str, str], default: str | None = None, *, segments: bool = True, **rest: object
) -> Setting:
    """One of a few words, each with its label; by default the first."""
    widget = Segments(options) if segments else Choice(options)
    return word(name, options, default or next(iter(options)), widget=widget, **rest)


def word(name: str, options: Iterable[str], default: str, **rest: Any) -> Setting:
    """One of a few words."""
    words = tuple(options)
    return Setting(name, default, parse_choice(name, words), type=literal(words), **rest)


INTEGER = N_("{name}={value} must be a whole number from {low} to {high}.")
NUMBER = N_("{name}={value} must be a number from {low} to {high}.")
NUMBER_OR_NONE = N_("{name}={value} must be a number, or none, from {low} to {high}.")


def integer(name: str, low: int, high: int, default: int, stops: str = "", **rest: object) -> Setting:
    """A whole number from ``low`` to ``high``. Its control takes a text, or is a slider with ``stops``: "2 4 8"."""
    return _numeric(name, low, high, default, int, INTEGER, _with_stops(stops, rest))


def number(name: str, low: float, high: float, default: float, stops: str = "", **rest: object) -> Setting:
    """A number from ``low`` to ``high``; ``stops`` as for ``integer``."""
    return _numeric(name, low, high, default, float, NUMBER, _with_stops(stops, rest))


def _with_stops(stops: str, rest: Mapping[str, object]) -> dict[str, Any]:
    return {"widget": slider(*stops.split()), **rest} if stops else {**rest}


def number_or_none(name: str, low: float, high: float, default: float, stops: str = "", **rest: object) -> Setting:
    """A number from ``low`` to ``high``, or none; ``stops`` as for ``integer``."""
    rest = _with_stops(stops, rest)
    plain = _numeric(name, low, high, default, float, NUMBER_OR_NONE, {})
    assert plain.repair is not None

    options = _in_text_input(low, high, rest) | {"or_none": True, "type": "float | None"}
    return Setting(
        name, default, or_none(plain.parse), lambda value: "none" if value is None else number_in_link(value), or_none(plain.repair), **options
    )  # fmt: skip


def or_none(read: Callable[[str], object]) -> Callable[[str], Any]:
    """The parser of a value that may be none."""
    return lambda text: None if text.strip().lower() == "none" else read(text)


def power_of_ten(name: str, low: int, high: int, default: int, **rest: Any) -> Setting:
    """A power of ten; the value is its exponent: ``distance=1e6`` is 6."""
    plain = number(name, 10.0**low, 10.0**high, 10.0**default)

    def parse(text: str) -> int:
        value = plain.parse(text)
        exponent = round(log10(value))
        if not isclose(value, 10.0**exponent):
            raise NormvizError(
                "{name}={value} must be a power of ten, such as 1e{exponent}.",
                name=name,
                value=echo(text),
                exponent=exponent,
            )
        return exponent

    labels = {exponent: power(exponent) for exponent in range(low, high + 1)}
    options = {"widget": Slider(labels), "width": 360, "limits": (labels[low], labels[high]), "type": "float", **rest}
    return Setting(name, default, parse, "1e{}".format, lambda text: round(log10(plain.nearest(text))), **options)


def power(exponent: int) -> str:
    """A power of ten with its exponent raised.

    >>> power(-12)
    '10⁻¹²'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _numeric(
    name: str,
    low: float,
    high: float,
    default: float,
    kind: type[int] | type[float],
    message: str,
    rest: Mapping[str, object],
) -> Setting:
    def read(text: str) -> float:
        return read_number(text, name, whole=kind is int) if len(text) <= LONGEST_NUMBER else nan

    def parse(text: str) -> Any:
        value = read(text)
        if not low <= value <= high or kind(value) != value:
            raise NormvizError(message, name=name, value=echo(text), low=_with_commas(low), high=_with_commas(high))
        return kind(value)

    def clamp(text: str) -> Any:
        value = read(text)
        return kind(min(max(value, low), high)) if isfinite(value) else default

    options = {"type": kind.__name__} | _in_text_input(low, high, rest)
    return Setting(name, default, parse, number_in_link, clamp, **options)


def _in_text_input(low: float, high: float, rest: Mapping[str, object]) -> dict[str, Any]:
    return {"widget": TextField(20), "width": 190, "limits": (_short(low), _short(high)), **rest}


def _short(number: float) -> str:
    return format_count(number) if number == int(number) else f"{number:g}"


def number_in_link(number: float) -> str:
    """The number as text for a link: nine digits if they are enough, else all."""
    short = f"{number:.9g}"
    return short if float(short) == number else repr(number)


def _with_commas(number: float) -> str:
    return group_digits(f"{int(number):,}" if number == int(number) else f"{number:,}")


def check_length(name: str, given: str, most: int) -> str:
    """The text, ready for a page. Raises NormvizError if it has more than ``most`` characters."""
    if len(given) > most:
        raise NormvizError(
            ngettext(
                "{name}={value} is too long; use at most {n} character.",
                "{name}={value} is too long; use at most {n} characters.",
                most,
                name=name,
                value=echo(given),
            )
        )
    return encodable(given)


def text(name: str, most: int, **rest: Any) -> Setting:
    """A text of up to ``most`` characters; by default empty."""
    parse = partial(check_length, name, most=most)
    return Setting(name, "", parse, repair=lambda given: parse(given[:most]), **rest)


def words(name: str, options: Sequence[str], **rest: Any) -> Setting:
    """Some of a few words, separated by commas; by default none."""

    def found(given: str) -> tuple[list[str], list[str]]:
        named = {word.strip().lower() for word in given.split(",") if word.strip()}
        return [option for option in options if option in named], sorted(named - {*options})

    def parse(given: str) -> tuple[str, ...]:
        known, unknown = found(given)
        if unknown:
            raise NormvizError(
                "{name}={value} is unknown; choose {options}.",
                name=name,
                value=echo(unknown[0]),
                options=listed(options),
            )
        return tuple(known)

    of_type = f"{literal(options)} | Sequence[{literal(options)}]"
    return Setting(name, (), parse, ",".join, lambda given: tuple(found(given)[0]), type=of_type, **rest)


def texts(name: str, default: tuple[str, ...], most: int, **rest: Any) -> Setting:
    """Up to ``most`` texts, separated by semicolons."""

    def parse(given: str) -> tuple[str, ...]:
        given = encodable(given)
        parts = tuple(part.strip() for part in given.split(";") if part.strip())
        if len(given) > LONGEST_LIST or not 1 <= len(parts) <= most:
            raise NormvizError(
                ngettext(
                    "{name}={value} must be 1 to {n} text, separated by semicolons.",
                    "{name}={value} must be 1 to {n} texts, separated by semicolons.",
                    most,
                    name=name,
                    value=echo(given),
                )
            )
        return parts

    def repair(given: str) -> tuple[str, ...]:
        return parse(";".join(given[:LONGEST_LIST].split(";")[:most]))

    return Setting(name, default, parse, ";".join, repair, type=SEVERAL, **rest)
