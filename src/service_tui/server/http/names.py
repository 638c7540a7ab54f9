"""Names of venues, neutral or public: which of them a caller uses, and answers in those names.

Source: wire reference, section 0.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from service_tui.terms import PUBLIC_VENUES

_SDK: Final = re.compile(r"\w[\w-]*-sdk/([0-9A-Za-z.+!_-]{1,32})(?=[\s(;,]|\Z)", re.ASCII)

_OWN: Final = re.compile(r"service-tui/[0-9A-Za-z.+!_-]{1,32}(?=[\s(;,]|\Z)", re.ASCII)

_PUBLIC: Final = frozenset(PUBLIC_VENUES.values())
_NEUTRAL: Final = {venue.value: name for venue, name in PUBLIC_VENUES.items()}
_WORD: Final = re.compile(rf"\b({'|'.join(_NEUTRAL)})\b")
_KEY: Final = re.compile(rf"\A({'|'.join(_NEUTRAL)})(?=_|\Z)")

VENUES: Final = frozenset({"venue", "venues", "import_source", "market_source", "platform"})
"""Fields that hold a venue."""

_SENTENCES: Final = frozenset({
    "actions",
    "detail",
    "error",
    "error_hint",
    "fee_note",
    "fix",
    "hint",
    "message",
    "msg",
    "warning",
    "warnings",
})
"""Fields that hold sentences of ours; no text of others stands in them."""

_OF_OTHERS: Final = frozenset({"signal_data", "by_source", "by_skill", "config", "reasoning"})
"""Fields whose words belong to somebody else: they come back as they were sent."""


@dataclass(slots=True)
class Speech:
    """One caller: its client, by the User-Agent, and which names of venues it uses.

    `version` is of the published client, `own` names ours with its version.
    """

    version: str | None
    public: bool
    own: str | None = None

    def note_venues(self, values: Iterable[tuple[str, object]]) -> None:
        """Note the venues of a request: after one public name all answers use public names."""
        self.public = self.public or names_public(values)

    def renamed(self, text: str) -> str:
        """An encoded answer in the names of the caller."""
        return in_public_names(text) if self.public else text


def speech_of(user_agent: str) -> Speech:
    """The names of a caller that has named no venue yet, by its User-Agent."""
    version = sdk_version(user_agent)
    own = _OWN.match(user_agent)
    return Speech(version, version is not None, own[0] if own else None)


def sdk_version(user_agent: str) -> str | None:
    """The version of the published client, where the caller is one: `<word>-sdk/<version>`."""
    found = _SDK.match(user_agent)
    return found[1] if found else None


def names_public(values: Iterable[tuple[str, object]]) -> bool:
    """Whether a field that holds a venue was sent with a public name in it."""
    return any(
        name in VENUES and isinstance(value, str) and value in _PUBLIC for name, value in values
    )


def in_public_names(text: str) -> str:
    """An encoded answer with the public names of the venues in the place of the neutral ones."""
    if not any(name in text for name in _NEUTRAL):
        return text
    tree: JsonValue = json.loads(text)
    return json.dumps(_public(tree, ""), separators=(",", ":"), ensure_ascii=False)


def _public(node: JsonValue, field: str) -> JsonValue:
    """A part of an answer, under the name of the field that holds it."""
    if isinstance(node, str):
        if field in VENUES:
            return _NEUTRAL.get(node, node)
        return _WORD.sub(_renamed, node) if field in _SENTENCES else node
    if isinstance(node, dict):
        return {
            _KEY.sub(_renamed, name): part if name in _OF_OTHERS else _public(part, name)
            for name, part in node.items()
        }
    if isinstance(node, list):
        return [_public(part, field) for part in node]
    return node


def _renamed(found: re.Match[str]) -> str:
    return _NEUTRAL[found[1]]
