"""The port of a call: on this machine alone, or on a network; checks its Host and its peer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service_tui.server.http.refusals import denied

EMBEDDED_HOST: Final = "embedded.localhost"
"""Name under which the console reaches the app in process; it never leaves the process."""

IN_PROCESS: Final = (EMBEDDED_HOST, 0)
"""Where calls of the console in this process come from; a socket's peer is never called so."""

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "[::1]", "::1", EMBEDDED_HOST})

_SCOPE: Final = "service_tui.entrance"
"""Under which a call's scope has its entrance. No header can set it."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """A port of the service: its names, its encryption, its proxy.

    `names` are what Host may say, empty for those of this machine. `scheme` is what browsers see.
    `proxy` is the one peer that may speak without encryption, None where it is not asked for.
    `tls` encrypts. `address` is how callers reach the port, `link` how other processes of the desk
    do; empty for what the socket itself says.
    """

    names: frozenset[str] = frozenset()
    scheme: str = "http"
    proxy: str | None = None
    tls: SSLContext | None = field(default=None, repr=False, compare=False)
    address: str = ""
    link: str = ""

    @property
    def is_local(self) -> bool:
        """True for a port that only this machine reaches, and that asks for no name of ours."""
        return not self.names

    def knows(self, host: str) -> bool:
        """True if a Host header names this entrance."""
        name = host_name(host)
        return is_loopback(host) if self.is_local else name in self.names

    def around(self, app: ASGIApp) -> ASGIApp:
        """The app, with this entrance noted in each call."""
        if self.is_local:
            return app

        async def entered(scope: Scope, receive: Receive, send: Send) -> None:
            scope[_SCOPE] = self
            await app(scope, receive, send)

        return entered

    def check(self, headers: Headers, peer: str, *, own_page: bool = False) -> None:
        """Refuse foreign peers, foreign hosts and every browser page, but our own form's.

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
"""The port on loopback, and the way without a port."""


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
    """An address in its one spelling; one of IPv4 inside of IPv6 is one of IPv4."""
    try:
        number = ip_address(text)
    except ValueError:
        return text
    return str(getattr(number, "ipv4_mapped", None) or number)


def entrance_of(scope: Mapping[str, object]) -> Entrance:
    """The entrance by which a call came."""
    found = scope.get(_SCOPE)
    return found if isinstance(found, Entrance) else LOCAL


def peer_of(scope: Scope, headers: Headers) -> str:
    """The address of the machine that called; behind a proxy the one that the proxy names."""
    peer = direct_peer_of(scope)
    if entrance_of(scope).proxy is None:
        return peer
    # The last one is the proxy's own word; what stands before it the caller may have made up.
    return headers.get("x-forwarded-for", "").rpartition(",")[2].strip() or peer


def direct_peer_of(scope: Scope) -> str:
    """The address at the other end of the connection."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""
