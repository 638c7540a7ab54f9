"""Entrances: the ports on which the service accepts calls, and the checks of Host, Origin and peer.

An entrance is local (loopback, or in process) or on a network, where callers use its names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service_tui.server.http.refusals import denied
from service_tui.server.http.service import EMBEDDED_HOST

IN_PROCESS: Final = (EMBEDDED_HOST, 0)
"""Client address of calls from the console in this process; no socket has such an address."""

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "[::1]", "::1", EMBEDDED_HOST})

_SCOPE: Final = "service_tui.entrance"
"""Key of a call's entrance in its ASGI scope. No header can set it."""

_AGENT: Final = "service_tui.agent"
"""Key of the place for a call's agent, which whoever logs calls puts into the scope."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """A port on which the service accepts calls.

    `names` are the allowed names in a Host header; empty for a local port, which allows those of
    this machine. `scheme` is the scheme of its public address. `proxy` is the address of the proxy
    from which all calls must come, None without one. `tls` is the context of encryption, None
    without. `address` is the public address, `link` the address for other processes of the desk;
    empty: the address of the socket.
    """

    names: frozenset[str] = frozenset()
    scheme: str = "http"
    proxy: str | None = None
    tls: SSLContext | None = field(default=None, repr=False, compare=False)
    address: str = ""
    link: str = ""

    @property
    def is_local(self) -> bool:
        """True for a port that only this machine can reach."""
        return not self.names

    def knows(self, host: str) -> bool:
        """True if a Host header names this entrance."""
        name = host_name(host)
        return is_loopback(host) if self.is_local else name in self.names

    def around(self, app: ASGIApp) -> ASGIApp:
        """The app wrapped so that `entrance_of` finds this entrance in each call."""
        if self.is_local:
            return app

        async def entered(scope: Scope, receive: Receive, send: Send) -> None:
            scope[_SCOPE] = self
            await app(scope, receive, send)

        return entered

    def check(self, headers: Headers, peer: str, *, own_page: bool = False) -> None:
        """Refuse other peers, other hosts, and web pages except the service's own form.

        Raises:
            Denied: 403 for another peer than the proxy, a host that is not ours, or any Origin; of
                `own_page`, any but ours; 400 for no host at all, or two.
        """
        if self.proxy is not None and plain_address(peer) != self.proxy:
            raise denied(403, "this port takes calls of its proxy only", "call the proxy's address")
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            raise denied(400, "the Host header was not sent once", "send it once, as HTTP/1.1 asks")
        host = hosts[0].lower()
        if not self.knows(host):
            raise self._foreign()
        if own_page:
            is_ours = headers.getlist("origin") == [f"{self.scheme}://{host}"]
            if not is_ours or headers.get("sec-fetch-site", "same-origin") != "same-origin":
                raise denied(403, "the form came from another page", "open the claim link itself")
        elif "origin" in headers:
            raise denied(
                403, "requests from web pages are refused", "call from a program, no browser"
            )

    def _foreign(self) -> Exception:
        if self.is_local:
            return denied(
                403, "this service answers on loopback only", "use http://127.0.0.1:<port>"
            )
        return denied(403, "this service has another name", "call it by the name you were given")


LOCAL: Final = Entrance()
"""The entrance of loopback and of calls in process."""


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    return host if host.endswith("]") else host.rsplit(":", 1)[0]


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Whether a Host header names this machine."""
    name = host_name(host)
    return name in HOSTS or name.endswith(".localhost")


@lru_cache(64)
def plain_address(text: str) -> str:
    """An IP address in its canonical form, an IPv4-mapped one as IPv4; other text unchanged."""
    try:
        number = ip_address(text)
    except ValueError:
        return text
    return str(getattr(number, "ipv4_mapped", None) or number)


def entrance_of(scope: Mapping[str, object]) -> Entrance:
    """The entrance by which a call came."""
    found = scope.get(_SCOPE)
    return found if isinstance(found, Entrance) else LOCAL


def with_place_for_agent(scope: Scope) -> tuple[Scope, list[str]]:
    """The scope of a call, and a place where its agent's id stands once the key is known."""
    place: list[str] = scope.get(_AGENT, [])
    return {**scope, _AGENT: place}, place


def note_agent(scope: Scope, agent_id: str) -> None:
    """Say which agent calls to whoever logs the call."""
    if (place := scope.get(_AGENT)) is not None:
        place[:] = [agent_id]


def peer_of(scope: Scope, headers: Headers) -> str:
    """The address of the machine that called; behind a proxy the one that the proxy names."""
    peer = direct_peer_of(scope)
    if entrance_of(scope).proxy is None:
        return peer
    # The proxy adds the last address, to the last line or as one of its own; the caller may have
    # forged those before it.
    lines = headers.getlist("x-forwarded-for") or [""]
    return lines[-1].rpartition(",")[2].strip() or peer


def direct_peer_of(scope: Scope) -> str:
    """The address at the other end of the connection."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""
