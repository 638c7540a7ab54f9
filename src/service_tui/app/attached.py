"""The process that owns a data directory: its address, and requests to it."""

import logging
import random
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx

from service_tui.app.closing_transport import ClosingTransport
from service_tui.app.renewal import client_keys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock
from service_tui.credentials.api_keys import ApiKeysError, DeskKeys, stored_desk_keys
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import Holder, StorageError
from service_tui.wire.endpoints.desk import WORLD

if TYPE_CHECKING:
    from service_tui.desk.facts import Fact

log = logging.getLogger(__name__)

HOLDER_URL: Final = "http://holder.localhost"
"""Host name under which an attached desk reaches the directory's owner, whatever its address."""

CHECK_S: Final = 2.0
"""How long an owner may take to answer."""

KEEPALIVE_S: Final = 4.0
"""Shorter than the usual five seconds of servers: a write on a connection that is just being closed
would end as unknown."""

STARTING_S: Final = 10.0
AGAIN_S: Final = 0.25
"""ours: a holder that started so recently may not serve yet; how often it is looked at."""

_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:[1-9][0-9]{0,4}")


def address_of(data_dir: Path) -> str | None:
    """The owner's address; None while no process serves the directory."""
    try:
        holder = holder_of(data_dir)
    except StorageError as error:
        log.warning("lock file without an address: %s", error)
        return None
    return None if holder is None else loopback_address(holder)


def loopback_address(holder: Holder) -> str | None:
    """The address that the owner published, if it is on this machine."""
    address = holder.address or ""
    return address if _ADDRESS.fullmatch(address) else None


def loopback_transport() -> ClosingTransport:
    """A transport to programs of this machine, without encryption.

    The machine's certificates, which take 20 ms to read, are not loaded: no others are trusted.
    """
    limits = httpx.Limits(keepalive_expiry=KEEPALIVE_S)
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ClosingTransport(verify=nobody, retries=0, limits=limits)


class HolderTransport(httpx.AsyncBaseTransport):
    """Sends each request to the current owner of the data directory.

    The lock file is read for each request: another program may have yesterday's port today,
    and must never get the keys.

    """

    def __init__(self, data_dir: Path, line: httpx.AsyncBaseTransport | None = None) -> None:
        # `line` carries the requests; one to this machine by default.
        self._data_dir = data_dir
        self._emit: Callable[[Fact], None] | None = None
        self._own: Callable[[], str] = str
        self._reported = ""
        self._transport = line or loopback_transport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the owner's address.

        Returns:
            The owner's answer.

        Raises:
            ConnectError: no process serves the directory; nothing was sent.
        """
        address = address_of(self._data_dir)
        if address is None:
            raise httpx.ConnectError("no program serves this data directory")
        place = httpx.URL(address)
        sent = httpx.Request(
            request.method,
            request.url.copy_with(scheme=place.scheme, host=place.host, port=place.port),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        sent.headers["Host"] = place.netloc.decode()
        response = await self._transport.handle_async_request(sent)
        if self._emit is not None and address != self._reported:
            self._reported = address
            # Who reports has a desk, so this is loaded; who only sends needs none.
            from service_tui.desk.facts import Served  # noqa: PLC0415

            self._emit(Served(address, attached=address != self._own()))
        return response

    def report_to(self, emit: "Callable[[Fact], None]", *, own: Callable[[], str]) -> None:
        """Emit a fact from now on whenever the owner's address differs from `own`."""
        self._emit, self._own = emit, own

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()


async def is_served(data_dir: Path, clock: Clock) -> bool:
    """True if the owner answers and accepts the directory's operator key."""
    try:
        api_keys = stored_desk_keys(data_dir)
    except ApiKeysError:
        return False
    if api_keys is None or api_keys.agent is None or address_of(data_dir) is None:
        return False
    transport = HolderTransport(data_dir)
    async with client_of_holder(
        transport, api_keys, clock, random.SystemRandom(), read_only=True
    ) as client:
        try:
            await client.health()
            await client.call(WORLD, deadline_s=CHECK_S)
        except ServiceError as error:
            log.warning("the owner of the data directory did not respond: %s", error)
            return False
    return True


def may_still_serve(holder: Holder, now: float) -> bool:
    """True if an owner may not have begun to serve yet; one without a name has just ended."""
    return holder.since is None or now - holder.since < STARTING_S


def client_of_holder(
    transport: httpx.AsyncBaseTransport,
    api_keys: DeskKeys,
    clock: Clock,
    rng: random.Random,
    *,
    read_only: bool,
) -> Client:
    """A client with the directory's keys, which are sent to its owner alone."""
    both = client_keys(api_keys, HOLDER_URL)
    return Client(transport, HOLDER_URL, both, clock=clock, rng=rng, read_only=read_only)
