"""Predict first, then see the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import ClassVar

from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.messages import N_, _, join_sentences
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import block, escape, line
from normviz.lessons.parts.part import Hides, Part, without_hidden
from normviz.lessons.parts.text import plain, text

RIGHT = N_("Your prediction is correct.")
PREDICTED, WRONG = N_("You predicted: {guess}."), N_("That is not correct.")
NOT_A_NUMBER = N_("{guess} is not a number; write one, such as 48.")
RIGHT_OPTION, WRONG_OPTION = N_("✓ right answer"), N_("✗ your prediction")
TOLERANCE = 1e-6  # relative error of a numeric guess


@dataclass(frozen=True)
class Prediction(Part):
    """A question with its answer, which the reader opens after a prediction.

    prompt   what to predict
    options  the text of each choice by its key; empty if a number is asked for
    right    the key of the right choice, or the right number
    answer   the parts that are shown with the answer
    key      of the question: the browser keeps a guess and an opened answer only for the same question
    reasons  why each wrong choice tempts, by its key; shown with the answer
    about    what the question is about, beside it
    """

    prompt: str
    options: Mapping[str, str]
    right: str | float
    answer: tuple[Part, ...]
    key: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    about: Part | None = None
    name: ClassVar[str] = "guess"

    @property
    def children(self) -> tuple[Part, ...]:
        return self.answer

    def is_right(self, guess: str) -> bool:
        """Is the guess, the key of a choice or a number, right? Raises NormvizError if it is neither."""
        if self.options:
            if guess not in self.options:
                raise NormvizError(
                    _(
                        "guess={guess} is not a choice; choose {options}.",
                        guess=echo(guess),
                        options=listed(self.options),
                    )
                )
            return guess == self.right
        try:
            number, right = float(guess.replace(",", "")), float(self.right)
        except ValueError:
            number = float("nan")
        if not isfinite(number):
            raise NormvizError(_(NOT_A_NUMBER, guess=echo(guess)))
        return abs(number - right) <= TOLERANCE * max(1.0, abs(right))

    def verdict(self, guess: str) -> str:
        """Whether the guess is right, as Markdown. Raises NormvizError as ``is_right`` does."""
        if self.is_right(guess):
            return f"**{_(RIGHT)}**"
        return join_sentences([f"**{_(PREDICTED, guess=self.options.get(guess, guess))}**", _(WRONG)])

    def html(self, body: Body) -> str:
        """The page's script compares the guess with ``data-right``; without scripts, the answer can still be opened."""
        texts = {
            "question": self.key,
            "right": self.right,
            "correct": _(RIGHT),
            "predicted": _(PREDICTED),
            "wrong": _(WRONG),
            "not-a-number": _(NOT_A_NUMBER),
            "right-option": _(RIGHT_OPTION),
            "wrong-option": _(WRONG_OPTION),
        }
        attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in texts.items())
        return (
            f'<div class="nv-prediction"{attributes}>\n<div class="nv-predict">{block(self.prompt)}\n{self._field(body)}</div>\n'
            f"{self.about.html(body) if self.about else ''}\n"
            f'<details class="nv-answer"><summary><span>{escape(_("Show the answer"))}</span><span>{escape(_("Hide the answer"))}</span></summary>\n'
            f'<p class="nv-verdict" role="status" hidden></p>\n{body.html(self.answer)}</details></div>'
        )

    def _field(self, body: Body) -> str:
        label = escape(plain(self.prompt))
        if not self.options:
            hint = escape(_("a number"))
            field = f'<input type="text" inputmode="text" maxlength="40" autocomplete="off" placeholder="{hint}" aria-label="{label}">'
            return f'{field}<p class="nv-refusal" role="status"></p>'
        name = body.unique("guess")
        choices = "".join(
            f'<label class="nv-option"><input type="radio" name="{name}" value="{escape(key)}"><span>{line(option)}</span><span class="nv-mark"></span></label>{self._reason(key)}'
            for key, option in self.options.items()
        )
        return f'<div role="radiogroup" aria-label="{label}">{choices}</div>'

    def _reason(self, key: str) -> str:
        """Why the choice tempts, outside its label: the style shows it with the answer."""
        reason = self.reasons.get(key)
        return f'<p class="nv-reason">{line(reason)}</p>' if reason else ""

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return () if hides(self, self.name) else (replace(self, answer=without_hidden(self.answer, hides)),)

    def plain_text(self) -> str:
        options = "\n".join(f"- {plain(option)}" for option in self.options.values())
        others = "\n".join(f"- {plain(self.options[key])}: {plain(reason)}" for key, reason in self.reasons.items())
        wrong = f"{_('The other options:')}\n\n{others}" if others else ""
        return "\n\n".join(filter(None, (plain(self.prompt), options, _("Answer:"), text(self.answer), wrong)))
