"""Reads the texts that Share writes."""

import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

HOSTILE = "\"><script>alert(1)</script>'</iframe></script> javascript:alert(2) & [x](y) `c` <!-- %22"
_LINK = re.compile(r"\[((?:\\.|[^\]\\])*)\]\(([^()\s<>]*)\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # in Markdown, a backslash before any other letter is a backslash


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def tag(snippet: str) -> dict[str, str]:
    """The attributes of the only iframe in the snippet."""
    tags = _Tags(snippet)
    *around, (name, attributes) = tags.found
    assert name == "iframe"
    assert around in ([], [("div", {"style": "container-type: inline-size"})])
    assert tags.words.strip() == ""
    return {name: value or "" for name, value in attributes.items()}


def pairs(address: str) -> dict[str, str]:
    """The query of an address."""
    return dict(parse_qsl(urlsplit(address).query))


def read_markdown(text: str) -> tuple[str, str]:
    """The title and the address of a link in Markdown."""
    found = _LINK.fullmatch(text)
    assert found, text
    return _ESCAPED.sub(r"\1", found[1]), found[2]
