"""A program that redeems by itself and is killed on the way.

`redeem_crash.py directory where now key agent market side`: the directory holds a settled position.

It prints first what its successor needs: the agent, the position, and the money before.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from kit.clock import patch_program
from kit.desk.faults import until
from kit.desk.redeeming import CountingSigner, Won, balance, open_wallet_desk
from kit.service.line import line_to
from kit.service.stage import OPERATOR, first_state, open_stage
from kit.service.wallets import KEYS, External
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import ManualClock
from service_tui.desk.redemption.handlers import ALLOWED
from service_tui.server.embedded import BASE_URL
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Side, Venue
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC, REDEEM, REPORT_REDEMPTION

Place = Callable[[httpx.Request], bool]


def asks(path: str, method: str = "") -> Place:
    return lambda request: request.url.path == path and method.encode() in request.content


PLACES: dict[str, tuple[Place, bool]] = {
    "asked": (asks(REDEEM.path), True),
    "checked": (asks(CHAIN_RPC.path, "eth_estimateGas"), True),
    "signed": (asks(BROADCAST.path), False),
    "broadcast": (asks(BROADCAST.path), True),
    "seen": (asks(CHAIN_RPC.path, "eth_getTransactionReceipt"), True),
    "confirmed": (asks(REPORT_REDEMPTION.path), False),
    "reported": (asks(REPORT_REDEMPTION.path), True),
}
"""What has just been done when it is killed: at which call, and whether that had its answer."""


class Dying(httpx.AsyncBaseTransport):
    """Ends the program at one call, as a power cut would."""

    def __init__(self, inner: httpx.AsyncBaseTransport, where: str) -> None:
        self._inner = inner
        self._is_there, self._after = PLACES[where]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not self._is_there(request):
            return await self._inner.handle_async_request(request)
        if self._after:
            await self._inner.handle_async_request(request)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("killed")


async def main(directory: Path, where: str, story: list[str]) -> None:
    now, key, agent_id, market_id, side = story
    clock = ManualClock(float(now))
    async with open_stage(directory, clock, key=key, agent_id=agent_id) as whole:
        own = External(line_to(whole), LocalSigner(KEYS[0]))
        held = Won(own, whole.world.market(market_id), Side(side))
        account = whole.world.venues.account(whole.agent_id, Venue.EVM)
        left = {
            "key": whole.key,
            "agent_id": whole.agent_id,
            "now": whole.clock.now(),
            "row": held.key,
            "cash": balance(whole),
            "due": account.holdings[held.market.market_id].position.shares(held.side),
        }
        sys.stdout.write(json.dumps(left) + "\n")
        sys.stdout.flush()
        api_keys = ApiKeys(ApiKey(whole.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        line = Dying(whole.sim.transport, where)
        client = Client(line, BASE_URL, api_keys, clock=whole.clock, rng=random.Random(1))
        stage = replace(whole, client=client)
        known = replace(first_state(), preferences={ALLOWED: "1"})
        async with open_wallet_desk(stage, CountingSigner(), initial=known) as desk:
            await until(desk, lambda _: False, stage)


if __name__ == "__main__":
    patch_program()
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
