"""Draws the parts of a page with Streamlit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby
from typing import Any

import streamlit as st

from normviz.lessons.parts.html import Body
from normviz.lessons.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Heading,
    Legend,
    Note,
    Panels,
    Part,
    Sentence,
    Table,
    Tabs,
    Text,
)
from normviz.ui.component import chart, linked_view, tabs
from normviz.ui.text import literal


def show(parts: Iterable[Part], live: bool = True) -> None:
    """Draw them. A figure that is not live answers the pointer, and changes nothing on the server."""
    for kind, same in groupby(parts, type):
        for part in [_joined(same)] if kind is Text else same:
            DRAWN[kind](part, live)


def _joined(paragraphs: Iterable[Part]) -> Text:
    """As one: each element of a page costs the server a message, and the browser more."""
    return Text("\n\n".join(part.text for part in paragraphs if isinstance(part, Text)))


def _sentence(part: Sentence, live: bool) -> None:
    with st.container(key="sentence"):
        st.subheader(re.sub(r"\*\*(.+?)\*\*", r":primary[\1]", part.text), anchor=False)


def _panels(part: Panels, live: bool) -> None:
    linked_view(part.data, part.events if live else ())


def _chart(part: Chart, live: bool) -> None:
    chart(part.lines, part.alt, part.key)


def _table(part: Table, live: bool) -> None:
    if part.rows:
        with st.container(key=f"table_{part.key}"):
            st.markdown(part.markdown)


def _tabs(part: Tabs, live: bool) -> None:
    tabs(Body().tabbed(part), f"tabs_{part.tabs[0][0]}")


def _details(part: Details, live: bool) -> None:
    with st.expander(part.title):
        show(part.parts, live)


def _beside(part: Beside, live: bool) -> None:
    """Within a question, where there is less room, one stands below the other."""
    columns = st.columns(part.shares, gap="medium") if live else (st.container(), st.container())
    for column, parts in zip(columns, (part.left, part.right), strict=True):
        with column:
            show(parts, live)


DRAWN: dict[type[Part], Callable[[Any, bool], object]] = {
    Sentence: _sentence,
    Heading: lambda part, live: st.subheader(part.text, anchor=False),
    Text: lambda part, live: st.markdown(part.text),
    Caption: lambda part, live: st.caption(part.text),
    Legend: lambda part, live: st.html(f'<p class="normviz-legend">{escape(part.text)}</p>'),
    Note: lambda part, live: st.info(literal(part.text)),
    Panels: _panels,
    Chart: _chart,
    Table: _table,
    Code: lambda part, live: st.code(part.text, language="python"),
    Tabs: _tabs,
    Details: _details,
    Beside: _beside,
}
