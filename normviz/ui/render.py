"""Shows the parts of a page with Streamlit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import streamlit as st

from normviz.lessons.parts.containers import Beside, Details, Tabs
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.part import Caption, Chart, Code, Heading, Note, Panels, Part, Sentence, Text
from normviz.lessons.parts.table import Table
from normviz.ui.component import chart, linked_view, tabs
from normviz.ui.text import literal


def show(parts: Iterable[Part], live: bool = True) -> None:
    """Show the parts. A figure that is not live responds to the pointer but sends nothing to the server.

    A part for which Streamlit has no element is shown by its HTML.
    """
    for kind, same in groupby(parts, type):
        for part in [_joined(same)] if kind is Text else same:
            NATIVE.get(kind, _html)(part, live)


def _joined(paragraphs: Iterable[Part]) -> Text:
    """One text, because the server sends a message for each element."""
    return Text("\n\n".join(part.text for part in paragraphs if isinstance(part, Text)))


def _html(part: Part, live: bool) -> None:
    st.html(part.html(Body()))


def _sentence(part: Sentence, live: bool) -> None:
    with st.container(key="sentence"):
        st.subheader(re.sub(r"\*\*(.+?)\*\*", r":primary[\1]", part.text), anchor=False)


def _table(part: Table, live: bool) -> None:
    if part.rows:
        with st.container(key=f"table_{part.key}"):
            st.markdown(part.markdown)


def _details(part: Details, live: bool) -> None:
    with st.expander(part.title):
        show(part.parts, live)


def _beside(part: Beside, live: bool) -> None:
    """Two columns; within a question, where there is less room, one below the other."""
    columns = st.columns(part.widths, gap="medium") if live else (st.container(), st.container())
    for column, parts in zip(columns, (part.left, part.right), strict=True):
        with column:
            show(parts, live)


NATIVE: dict[type[Part], Callable[[Any, bool], object]] = {
    Sentence: _sentence,
    Heading: lambda part, live: st.subheader(part.text, anchor=False),
    Text: lambda part, live: st.markdown(part.text),
    Caption: lambda part, live: st.caption(part.text),
    Note: lambda part, live: st.info(literal(part.text)),
    Panels: lambda part, live: linked_view(part.data, part.events if live else ()),
    Chart: lambda part, live: chart(part.lines, part.alt, part.key),
    Table: _table,
    Code: lambda part, live: st.code(part.text, language="python"),
    Tabs: lambda part, live: tabs(part.html(Body()), f"tabs_{part.tabs[0][0]}"),
    Details: _details,
    Beside: _beside,
}
