"""The process that holds a data directory: where it serves, and how it is asked."""

import logging
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock
from service_tui.desk.facts import Fact, Served
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import Holder, StorageError
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wiring.keys import DeskKeys, KeysError, stored_desk_keys
from service_tui.wiring.renewal import client_keys

log = logging.getLogger(__name__)

HOLDER_URL: Final = "http://holder.localhost"
"""Name under which an attached desk reaches whoever holds the directory, wherever that serves."""

CHECK_S: Final = 2.0
"""How long a holder may take to show that it is there."""

KEEPALIVE_S: Final = 4.0
"""Shorter than the usual five seconds of servers: a write on a line that is just being closed would
end as unknown."""

STARTING_S: Final = 10.0
AGAIN_S: Final = 0.25
"""ours: a holder that started so recently may not serve yet; how often it is looked at."""

_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:[1-9][0-9]{0,4}")


def address_of(data_dir: Path) -> str | None:
    """Where the holder of a data directory serves; None while nobody does."""
    try:
        holder = holder_of(data_dir)
    except StorageError as error:
        log.warning("the lock file tells nothing: %s", error)
        return None
    return None if holder is None else loopback_address(holder)


def loopback_address(holder: Holder) -> str | None:
    """What the holder has published, if it is an address of this machine."""
    address = holder.address or ""
    return address if _ADDRESS.fullmatch(address) else None


class HolderTransport(httpx.AsyncBaseTransport):
    """Carries requests to whoever holds the data directory now.

    The lock file is read for each request: a port of yesterday may belong to somebody else today,
    and the keys must never go there.

    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._say: Callable[[Fact], None] | None = None
        self._own: Callable[[], str] = str
        self._told = ""
        limits = httpx.Limits(keepalive_expiry=KEEPALIVE_S)
        self._line = httpx.AsyncHTTPTransport(retries=0, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to where the holder serves.

        Returns:
            Its answer.

        Raises:
            ConnectError: nobody serves the directory; nothing was sent.
        """
        address = address_of(self._data_dir)
        if address is None:
            raise httpx.ConnectError("no program serves this data directory now")
        place = httpx.URL(address)
        sent = httpx.Request(
            request.method,
            request.url.copy_with(scheme=place.scheme, host=place.host, port=place.port),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        sent.headers["Host"] = place.netloc.decode()
        response = await self._line.handle_async_request(sent)
        if self._say is not None and address != self._told:
            self._told = address
            self._say(Served(address, attached=address != self._own()))
        return response

    def tell(self, say: Callable[[Fact], None], *, own: Callable[[], str]) -> None:
        """From now on say where the holder is found, whenever that is another place than `own`."""
        self._say, self._own = say, own

    async def aclose(self) -> None:
        """Close every connection."""
        await self._line.aclose()


async def is_served(data_dir: Path, clock: Clock) -> bool:
    """Whether the holder of a data directory answers, and knows the directory's operator key."""
    try:
        keys = stored_desk_keys(data_dir)
    except KeysError:
        return False
    if keys is None or keys.agent is None or address_of(data_dir) is None:
        return False
    transport = HolderTransport(data_dir)
    async with client_of_holder(
        transport, keys, clock, random.SystemRandom(), read_only=True
    ) as client:
        try:
            await client.health()
            await client.call(WORLD, deadline_s=CHECK_S)
        except ServiceError as error:
            log.warning("the holder of the data directory is no help: %s", error)
            return False
    return True


def may_still_serve(holder: Holder, now: float) -> bool:
    """Whether a holder may not have come to serving yet; one without a name has just ended."""
    return holder.since is None or now - holder.since < STARTING_S


def client_of_holder(
    transport: httpx.AsyncBaseTransport,
    keys: DeskKeys,
    clock: Clock,
    rng: random.Random,
    *,
    read_only: bool,
) -> Client:
    """A client with the directory's keys, which go to its holder alone."""
    both = client_keys(keys, HOLDER_URL)
    return Client(transport, HOLDER_URL, both, clock=clock, rng=rng, read_only=read_only)
