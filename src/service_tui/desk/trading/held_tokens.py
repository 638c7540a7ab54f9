"""Stores the outcome token of each position of the linked wallet when it is first listed.

In the same turn it remembers the marks that are shown.
"""

import asyncio
import logging
from typing import Final

from service_tui.desk.ports import Ports
from service_tui.desk.trading.signed_terms import tokens_held
from service_tui.storage.errors import StorageError
from service_tui.storage.kept_tokens import Holding, KeptToken

log = logging.getLogger(__name__)

LOOK_S: Final = 2.0
"""ours: how often new positions are looked for; they are polled as seldom or more so."""


async def keep_held(ports: Ports) -> None:
    """Keep what is not kept yet; runs for ever. What a buy of this desk kept stays as it is."""
    done: set[Holding] = set()
    while True:
        ports.marks.note(ports.state().on_venues, ports.clock.monotonic())
        for held in tokens_held(ports.state(), ports.now()):
            if held.place in done:
                continue
            try:
                await _keep(held, ports)
            except StorageError as error:
                log.warning("the token of a position was not kept: %s", error)
                break
            if held.fee_rate_bps is not None:
                done.add(held.place)
        await ports.clock.sleep(LOOK_S)


async def _keep(held: KeptToken, ports: Ports) -> None:
    known = await asyncio.to_thread(ports.tokens.find, held.place)
    lacks_fee = known is not None and known.fee_rate_bps is None and held.fee_rate_bps is not None
    if known is None or lacks_fee:
        await ports.tokens.keep(held)
