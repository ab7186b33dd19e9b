"""The language of a reader: the one that the link names, else the one chosen in the header, else the browser's."""

from normviz.texts.languages import accepted_language, matching_language

COOKIE = "normviz-language"  # what a reader chose in the header, until the browser is closed


def language_of(named: str, chosen: str, accepted: str) -> str:
    """The language of a reader.

    named     by the link
    chosen    in the header, as the cookie says
    accepted  by the browser: its Accept-Language header

    >>> language_of("", "", "en-US,en;q=0.9"), language_of("nonsense", "en", "")
    ('en', 'en')
    """
    return matching_language(named) or matching_language(chosen) or accepted_language(accepted)
