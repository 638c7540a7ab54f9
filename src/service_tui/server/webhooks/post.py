"""One attempt at one delivery: a signed POST to the IP address that was checked."""

import asyncio
import hashlib
import hmac
import ssl
from dataclasses import dataclass
from typing import Final, Protocol

import httpx

from service_tui.server.webhooks.address import (
    AddressRefusedError,
    Lookup,
    parsed,
    reachable,
    system_lookup,
)
from service_tui.wire.webhooks import DELIVERY_HEADER, EVENT_HEADER, SIGNATURE_HEADER

TIMEOUT_S: Final = 5.0
"""Source: wire reference, 2.4."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A delivery: `body` is the same, byte for byte, at each attempt."""

    delivery_id: str
    event: str
    body: bytes


def signature(secret: str, body: bytes) -> str:
    """The value of the signature header."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Post(Protocol):
    """Sends a parcel to an address, signed by a secret; returns the failure, "" for success."""

    async def __call__(
        self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool
    ) -> str:
        """One attempt."""
        ...


class HttpPost:
    """Sends by HTTP, follows no redirect and uses no proxy."""

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._tls: ssl.SSLContext | None = None

    async def __call__(
        self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool
    ) -> str:
        """One attempt.

        Returns:
            The failure in a few words; empty if the address answered with 2xx.
        """
        try:
            async with asyncio.timeout(TIMEOUT_S):
                status = await self._send(url, parcel, secret, allows_loopback=allows_loopback)
        except AddressRefusedError as refused:
            return str(refused)
        except TimeoutError:
            return f"no response within {TIMEOUT_S:.0f} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return f"no connection ({type(error).__name__})"
        return "" if httpx.codes.is_success(status) else f"responded with status {status}"

    async def _send(self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> int:
        address = parsed(url, allows_loopback=allows_loopback)
        number = await reachable(address, self._lookup, allows_loopback=allows_loopback)
        host = f"[{number}]" if number.version == 6 else str(number)  # noqa: PLR2004
        request = httpx.Request(
            "POST",
            f"{address.scheme}://{host}:{address.port}{address.target}",
            content=parcel.body,
            headers={
                "Host": address.host_header,
                "Content-Type": "application/json",
                "User-Agent": "service-tui-webhooks",
                EVENT_HEADER: parcel.event,
                DELIVERY_HEADER: parcel.delivery_id,
                SIGNATURE_HEADER: signature(secret, parcel.body),
            },
            # The certificate is checked against the name, though the connection is to the IP
            # address.
            extensions={"sni_hostname": address.host, "timeout": _TIMEOUTS},
        )
        if self._tls is None:
            # To read all certificates takes longer than a tick may wait.
            self._tls = await asyncio.to_thread(httpx.create_ssl_context, trust_env=False)
        transport = httpx.AsyncHTTPTransport(verify=self._tls, retries=0, trust_env=False)
        async with transport:
            response = await transport.handle_async_request(request)
            # The answer's body is not read: only its status counts.
            await response.aclose()
            return response.status_code


_TIMEOUTS: Final = httpx.Timeout(TIMEOUT_S).as_dict()
