"""Where readers report an error in a page: the variable ``NORMVIZ_REPORT``, an address with the placeholder ``{text}``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import _

SETTING = "NORMVIZ_REPORT"
SCHEMES = ("mailto:", "https://", "http://")


def report_address(environ: Mapping[str, str] = os.environ) -> str:
    """The address; "" if none is set, and the reader copies the text.

    Raises NormvizError if it is not an address with ``{text}``.

    >>> report_address({"NORMVIZ_REPORT": "mailto:normviz@example.edu?subject={title}&body={text}"})
    'mailto:normviz@example.edu?subject={title}&body={text}'
    """
    address = environ.get(SETTING, "").strip()
    if address and not (address.startswith(SCHEMES) and "{text}" in address and address.isprintable()):
        raise NormvizError(
            _(
                "{setting}={address} must be an address with {text}; write, for example, "
                "mailto:normviz@example.edu?subject={title}&body={text}.",
                setting=SETTING,
                address=echo(address),
                text="{text}",
                title="{title}",
            )
        )
    return address
