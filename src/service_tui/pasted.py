"""Parses pasted text: addresses of markets, tickers, wallets and keys.

A copied text brings its surroundings along: quotes, brackets, the full stop of a sentence, a blank
of a chat, letters that nobody sees. None of them can be a part of what was meant.
"""

import re
import unicodedata
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

_AROUND: Final = " \t\r\n<>()[]{}\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb.,;:!|*"
"""Marks around what was meant. A slash, a dash or a question mark may be a part of it."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Kinds of letters that show nothing, or a blank. Source: Unicode, general categories."""

_LINK: Final = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
"""A link of Markdown, with its target."""

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):(?!\d+(?:/|\Z))", re.IGNORECASE)
_ONLY_HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/|\Z)", re.IGNORECASE)
_WEB: Final = frozenset({"http", "https"})
_FRONTS: Final = ("www.", "m.", "mobile.", "amp.")
"""Names under which a site serves the same page."""

_QUOTES: Final = " \t\r\n<>\"'`\u201c\u201d\u201e\u2018\u2019"
"""Marks around a key. Any other may be its own letter."""

_ASSIGNED: Final = re.compile(
    r"(?:export\s+|set\s+|\$env:)?[A-Z_]*API_?KEY\s*[=:]\s*", re.IGNORECASE
)
_HEADER: Final = re.compile(r"(?:authorization\s*:\s*)?bearer\s+", re.IGNORECASE)


class WebPlace(NamedTuple):
    """A page, as far as it names a market: the site, and the last part of its path."""

    host: str
    name: str


def bare(text: str) -> str:
    """The text without what surrounds it, and without letters that show nothing."""
    return _visible(unquote(text) if "%" in text else text).strip(_AROUND)


def _visible(text: str) -> str:
    """The text with plain blanks, and without other letters that show nothing."""
    return "".join(
        letter if unicodedata.category(letter) not in _HIDDEN else " " if letter.isspace() else ""
        for letter in text
    )


def web_place(text: str) -> WebPlace | None:
    """The page that an address means, with a scheme or without one.

    Returns:
        The host in small letters, without `www.` or `m.`, and the last part of the path as it is
        written; None for a text that is no address of the web, or that has another scheme.
    """
    link = _LINK.search(text)
    address = bare(link[1] if link else text)
    scheme = _SCHEME.match(address)
    if scheme is not None and scheme[1].lower() not in _WEB:
        return None
    if scheme is None:
        address = address.removeprefix("//")
        if _ONLY_HOST.match(address) is None:
            return None
        address = f"https://{address}"
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    for front in _FRONTS:
        host = host.removeprefix(front)
    # A bracket or a full stop may stand before the query as well.
    name = bare(parts.path.rstrip("/").rpartition("/")[2])
    return WebPlace(host, name) if host and " " not in address else None


def ticker(text: str) -> str:
    """A venue's short name of a market or event, in capitals; of an address its last part."""
    place = web_place(text) if "/" in text else None
    return (bare(text) if place is None else place.name).upper()


def wallet(text: str) -> str:
    """The address of a wallet without blanks around or within it; `0X` becomes `0x`.

    What is no address stays what it is: whoever reads it says what is wrong.
    """
    found = "".join(bare(text).split())
    return f"0x{found[2:]}" if found[:2] == "0X" else found


def api_key(text: str) -> str:
    """A key of a service without quotes, blanks, `Bearer` or the assignment that it stood in."""
    found = _visible(text).strip(_QUOTES)
    for front in (_ASSIGNED, _HEADER):
        match = front.match(found)
        found = found if match is None else found[match.end() :].strip(_QUOTES)
    return found
