"""The tags of an HTML text, and hostile texts that try to add tags or scripts."""

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

HOSTILE = [
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</script><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<!--<script>",
    "\u2028alert(1)\u2029//",
    "[x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "</style></title></textarea><svg onload=alert(1)>",
    "&lt;script&gt;",
]


def answers_of(html: str) -> dict[str, Any]:
    """The views that a page carries, as its script unpacks them."""
    (data,) = re.findall(r'class="nv-data">(.*?)</script>', html)
    packed: dict[str, Any] = json.loads(gzip.decompress(b64decode(json.loads(data)["answers"])))
    return packed


class Structure(HTMLParser):
    """Collects every tag with the names of its attributes, and the texts of scripts, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.attributes: list[list[tuple[str, str | None]]] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *sorted(name for name, _ in attrs)))
        self.attributes.append(attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def same_structure(html: str, plain: str) -> None:
    """Whether ``html`` has the tags and attributes of ``plain``, and no address in it runs code."""
    found, wanted = Structure(html), Structure(plain)
    assert found.tags == wanted.tags
    assert not [address for address in found.addresses if address.strip().lower().startswith("javascript")]
