"""Keys, and the one address that each may be sent to."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import httpx

from service_tui.client.errors import RefusalReason
from service_tui.client.reply import is_list, is_object
from service_tui.settings import PORT_MAX
from service_tui.wire.endpoints.public import AGENT, BRIEFING
from service_tui.wire.text import has_controls, letters

TRIED_AGAIN_S: Final = 60.0
"""How long a refused key rests. Source: decisions, "401"."""

WHOLE_KEY_PATHS: Final = frozenset({AGENT.path, BRIEFING.path})
"""A 401 of these counts for the whole key. Source: decisions, "401"."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,253}")

MASK: Final = "[key]"
"""What stands where a service repeated a key."""

_PLAIN: Final = re.compile(rb"[\t\n\r -\[\]-~]*")
"""Bytes that can hide nothing: plain letters, and no backslash."""

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_VISIBLE: Final = '"\\/'
_KEY: Final = re.compile(r"[!-~]{8,200}")
"""ours: shorter than eight letters is a typing error, and could not be masked in foreign text."""


class ForeignHostError(ValueError):
    """A key was about to go to an address that it does not belong to."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A secret of one service, which `base_url` names. Source: failures, T-07.

    Raises:
        ValueError: the secret holds spaces, line breaks or foreign letters.
    """

    secret: str = field(repr=False)
    base_url: str

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.secret):
            raise ValueError(
                "the key is too short, or holds spaces, line breaks or foreign letters"
            )

    def authorization(self, url: httpx.URL) -> str:
        """The header's value.

        Returns:
            The secret behind its scheme.

        Raises:
            ForeignHostError: scheme, host or port of `url` are not the key's own.
        """
        if origin(url) != _origin_of(self.base_url):
            raise ForeignHostError(f"this key belongs to {self.base_url}, not to {url.host}")
        return f"Bearer {self.secret}"


class RefusedApiKeys:
    """Keys that were refused, wholly or on one path, and when each may be tried again."""

    def __init__(self) -> None:
        self._until: dict[tuple[ApiKey, str], tuple[RefusalReason, float]] = {}

    def refuse(self, key: ApiKey, path: str, reason: RefusalReason, now: float) -> None:
        """Record a 401; one of the agent's own endpoint counts for every path."""
        self._until[key, path] = (reason, now + TRIED_AGAIN_S)
        if path in WHOLE_KEY_PATHS:
            self._until[key, ""] = (reason, now + TRIED_AGAIN_S)

    def why(
        self, key: ApiKey, path: str, now: float, *, sends: bool = True
    ) -> tuple[RefusalReason, bool] | None:
        """Reason why a key is not sent now.

        Once a minute one call goes through, to see whether the path takes the key again; whether
        any does is seen by those that say who we are.

        Args:
            key: the key.
            path: where it would go.
            now: of the monotonic clock.
            sends: it is sent now, if it may be; else this is only a look.

        Returns:
            The reason and whether it counts everywhere; None where the key may be sent.
        """
        for where in ("", path):
            refusal = self._until.get((key, where))
            if refusal is None:
                continue
            reason, until = refusal
            if now < until or (not where and path not in WHOLE_KEY_PATHS):
                return reason, not where
            if sends:
                self._until[key, where] = (reason, now + TRIED_AGAIN_S)
        return None

    def is_revoked(self, key: ApiKey) -> bool:
        """True if the key counts as refused everywhere."""
        return (key, "") in self._until

    def answered(self, key: ApiKey, path: str) -> None:
        """Allow a key again that was accepted."""
        self._until.pop((key, path), None)
        if path in WHOLE_KEY_PATHS and self._until.pop((key, ""), None) is not None:
            self.try_again()

    def try_again(self) -> None:
        """Let the next call of each through."""
        self._until = {one: (reason, 0.0) for one, (reason, _) in self._until.items()}

    def clear(self) -> None:
        """Forget all: there are other keys."""
        self._until.clear()


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """Keys of a client; `operator` governs the embedded service."""

    api: ApiKey | None = None
    operator: ApiKey | None = None

    def masked(self, raw: bytes) -> bytes:
        """Bytes from outside with these keys removed: a service may echo them.

        A key is also found where escapes of JSON hide it, or letters that are dropped before
        anything is shown. This is the one place: nobody has read the bytes before.

        Returns:
            The same bytes where they hold no key.
        """
        secrets = [key.secret for key in (self.api, self.operator) if key is not None]
        for secret in secrets:
            raw = raw.replace(secret.encode(), MASK.encode())
        if not secrets or _PLAIN.fullmatch(raw):
            return raw
        text = raw.decode("utf-8", "replace")
        resolved = _ESCAPE.sub(_resolved, text) if "\\" in text else text
        # Commands to a terminal may reach over several strings: then each is looked at.
        if not has_controls(resolved) and not _holds(resolved, secrets):
            return raw
        masked = _masked_json(text, secrets)
        if _holds(masked, secrets):
            # Hidden in another way still: nothing of it is worth reading.
            return MASK.encode()
        return raw if masked == text else masked.encode("utf-8", "replace")


def _holds(text: str, secrets: Sequence[str]) -> bool:
    """True if a secret occurs in a text, also after the text is cleaned."""
    shown = text if text.isascii() and text.isprintable() else letters(text)
    return any(secret in shown for secret in secrets)


def _resolved(escape: re.Match[str]) -> str:
    """Character of a JSON escape."""
    code, letter = escape.groups()
    if code:
        return chr(int(code, 16))
    return letter if letter in _VISIBLE else " "


def _masked_json(text: str, secrets: Sequence[str]) -> str:
    """The same without any string that holds a secret; the text itself where none does."""
    try:
        tree: object = json.loads(text)
        masked = _masked_value(tree, secrets)
        return text if masked == tree else json.dumps(masked, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _masked_value(value: object, secrets: Sequence[str]) -> object:
    if isinstance(value, str):
        return MASK if _holds(value, secrets) else value
    if is_list(value):
        return [_masked_value(entry, secrets) for entry in value]
    if is_object(value):
        return {
            str(_masked_value(name, secrets)): _masked_value(entry, secrets)
            for name, entry in value.items()
        }
    return value


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port or _PORTS.get(url.scheme)


@lru_cache(maxsize=16)
def _origin_of(base_url: str) -> tuple[str, str, int | None]:
    """Origin of the address of a call."""
    return origin(httpx.URL(base_url))


def service_address(base_url: str, *, may_be_plain: bool) -> httpx.URL:
    """Address of a service without a trailing slash.

    Args:
        base_url: as a person wrote it.
        may_be_plain: unencrypted http is accepted to any host, not to loopback only.

    Returns:
        The address.

    Raises:
        ValueError: no address, another scheme, a user name in it, or unencrypted http to a host
            that is not loopback.

    Source: wire reference, section 1.
    """
    try:
        url = httpx.URL(base_url.strip().rstrip("/"))
    except httpx.InvalidURL as error:
        raise ValueError("the base address cannot be read") from error
    if url.scheme not in _PORTS or not _HOST.fullmatch(url.raw_host):
        raise ValueError("the base address must begin with https:// and name a host")
    # The marks themselves count: 'https://host?' would swallow every path behind it.
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ValueError("the base address holds more than scheme, host, port and path")
    if url.port is not None and not 0 < url.port <= PORT_MAX:
        raise ValueError(f"the base address names no port from 1 to {PORT_MAX}")
    local = url.host in _LOOPBACK or url.host.endswith(".localhost")
    if url.scheme == "http" and not local and not may_be_plain:
        raise ValueError(f"unencrypted http to {url.host} would show the key: use https")
    return url
