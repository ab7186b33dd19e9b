"""The parser of the command, whose own words are messages too, and the options that several sub-commands have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NoReturn

from normviz.texts.errors import NormvizError
from normviz.texts.messages import _


class Help(argparse.HelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """A parser whose own words are messages too, except in its errors."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, formatter_class=Help, add_help=False, **options)
        self._positionals.title, self._optionals.title = _("positional arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("show this help message and exit"))

    def error(self, message: str) -> NoReturn:
        raise NormvizError(_("{message}; {command} --help lists the arguments.", message=message, command=self.prog))


def add_theme(parser: argparse._ActionsContainer, themes: Iterable[str], default: str) -> None:
    help_text = _("default: {default}", default=default)
    parser.add_argument("--theme", choices=tuple(themes), default=default, help=help_text)


def add_language(parser: argparse._ActionsContainer, help_text: str = "") -> None:
    help_text = help_text or _("the language, such as es; default: NORMVIZ_LANG, or English")
    parser.add_argument("--lang", metavar="LANG", help=help_text)
