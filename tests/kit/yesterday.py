"""A data directory that an earlier version left, and every figure that it showed then.

`python -m kit.yesterday` (with `tests` on the path) makes both anew with the version of today: to
be done when a later version may forget what an older one wrote, and at no other time.
"""

import asyncio
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from kit.clock import leap
from kit.desk.redeeming import hold, settle
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from kit.service.wallets import ready
from service_tui.clock import ManualClock
from service_tui.engine.amm.market import Market
from service_tui.terms import Venue
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import DESK_AGENTS, DESK_CLAIM, DESK_WALLETS, SET_SPEED, WORLD
from service_tui.wire.endpoints.fleet import DESK_LEASHES
from service_tui.wire.endpoints.public import (
    AGENT,
    MONITORS,
    OPEN_ORDERS,
    PATCH_REACTOR,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    POST_SETTINGS,
    REACTIONS,
    REACTOR,
    REGISTER,
    RISK_ALERTS,
    SET_MONITOR,
    SETTINGS,
    TRADES,
    USER_SETTINGS,
)
from service_tui.wire.endpoints.research import EXPERIMENTS, POST_EXPERIMENT, RESEARCH_STATE
from service_tui.wire.endpoints.wallet import REDEMPTIONS, WALLET

FOLDER: Final = Path(__file__).parent / "samples" / "yesterday"
DATA: Final = FOLDER / "data.tar.xz"
FIGURES: Final = FOLDER / "figures.json"
SKILL: Final = "weather-edge"

Json = dict[str, Any]

SHOWN: Final[dict[str, tuple[Endpoint[Any], Json]]] = {
    "agent": (AGENT, {}),
    "portfolio": (PORTFOLIO, {}),
    "positions": (POSITIONS, {"venue": "all"}),
    "closed": (POSITIONS, {"status": "closed"}),
    "trades": (TRADES, {"venue": "all", "limit": "200"}),
    "orders": (OPEN_ORDERS, {}),
    "monitors": (MONITORS, {}),
    "alerts": (RISK_ALERTS, {}),
    "settings": (SETTINGS, {}),
    "user": (USER_SETTINGS, {}),
    "reactor": (REACTOR, {}),
    "reactions": (REACTIONS, {}),
    "experiments": (EXPERIMENTS, {"skill_slug": SKILL}),
    "session": (RESEARCH_STATE, {"skill_slug": SKILL}),
    "redemptions": (REDEMPTIONS, {}),
    "wallet": (WALLET, {}),
}
OPERATED: Final[dict[str, tuple[Endpoint[Any], Json]]] = {
    "world": (WORLD, {}),
    "agents": (DESK_AGENTS, {}),
    "wallets": (DESK_WALLETS, {}),
    "leashes": (DESK_LEASHES, {}),
}


async def figures(stage: Stage, keys: dict[str, str]) -> Json:
    """Every answer of the service to each agent and to the operator, by name."""
    found: Json = {}
    lines = {name: (Line(stage, key), SHOWN) for name, key in keys.items()}
    for name, (line, shown) in (lines | {"operator": (Line(stage, OPERATOR), OPERATED)}).items():
        for what, (endpoint, asked) in shown.items():
            answer = await line.ask(endpoint, **asked)
            found[f"{name} {what}"] = [answer.status_code, answer.json()]
    accounts = stage.world.ledger.balances()
    found["ledger"] = dict(sorted(accounts.items()))
    return found


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[tuple[Stage, Json]]:
    """The service on a copy of the kept directory, as it was left, and what it showed."""
    with tarfile.open(DATA) as kept:
        # Python has the name of this filter since 3.11.4: before, a file of our own is trusted.
        kept.extraction_filter = getattr(tarfile, "data_filter", None)
        kept.extractall(path)  # noqa: S202 - the project made this archive itself
    known = json.loads(FIGURES.read_text())
    one = known["first"]
    clock = ManualClock(known["now"])
    async with open_stage(path, clock, key=one["key"], agent_id=one["agent_id"]) as stage:
        yield stage, known


def _open(stage: Stage, venue: Venue, life_s: float = 86_400.0) -> list[Market]:
    world = stage.world
    return [
        one
        for one in stage.open_markets()
        if (venue is Venue.SIM or one.listing.home is venue)
        and 0.2 < one.price() < 0.8
        and one.listing.resolves_at - world.world_at > life_s
    ]


async def _live(stage: Stage) -> Json:
    """A day's life of two agents; what a successor must know of it."""
    own = await ready(stage)
    won = await hold(stage, own)
    await settle(stage, won)
    await leap(stage.clock, 120.0)
    nobody = Line(stage, "")
    born = await nobody.said(REGISTER, json={"name": "second"})
    operator = Line(stage, OPERATOR)
    await operator.said(DESK_CLAIM, path={"agent_id": born["agent_id"]})
    await operator.said(SET_SPEED, json={"speed": 0})
    second, first = Line(stage, born["api_key"]), line_to(stage)
    await second.said(POST_SETTINGS, json={"sdk_real_trading_enabled": True})

    async def trade(line: Line, market: Market, **more: object) -> None:
        body: Json = {"market_id": market.market_id, "side": "yes", "amount": 25.0}
        answer = await line.said(PLACE_TRADE, json=body | more)
        assert answer["success"], answer

    for line, offset in ((first, 0), (second, 2)):
        sims = _open(stage, Venue.SIM)[offset : offset + 2]
        await trade(line, sims[0], source="sdk:manual", reasoning="it will rain")
        await trade(line, sims[1], side="no", amount=40.0, skill_slug=SKILL, source=f"sdk:{SKILL}")
        await trade(line, sims[1], side="no", action="sell", amount=0, shares=10.0)
        await line.said(
            SET_MONITOR,
            path={"market_id": sims[0].market_id},
            json={"side": "yes", "stop_loss_pct": 0.3, "take_profit_pct": 0.5},
        )
    for venue in (Venue.EVM, Venue.SOL):
        market = _open(stage, venue)[-1]
        await trade(second, market, venue=venue.value)
    market = _open(stage, Venue.EVM)[-2]
    resting = {"venue": "evm_venue", "order_type": "GTC", "price": 0.1, "amount": 20.0}
    await trade(second, market, **resting)
    wallets = (await operator.said(DESK_WALLETS))["wallets"]
    following = {"wallets": [one["address"] for one in wallets][:3], "enabled": True}
    await second.said(PATCH_REACTOR, json=following | {"max_size": 50, "daily_cap": 500})
    for number, value in ((1, 1.5), (2, 2.25), (3, -0.5)):
        status = "discard" if value < 0 else "keep"
        body = {"skill_slug": SKILL, "experiment_number": number, "metric_value": value}
        body |= {"status": status, "metric_unit": "$", "session": "first", "segment": 1}
        await second.said(POST_EXPERIMENT, json=body)
    keys = {"first": stage.key, "second": born["api_key"]}
    return {
        "now": stage.clock.now(),
        "first": {"key": stage.key, "agent_id": stage.agent_id},
        "keys": keys,
        "market": won.market.market_id,
        "side": won.side.value,
    }


async def _shown(path: Path, known: Json) -> Json:
    one = known["first"]
    clock = ManualClock(known["now"])
    async with open_stage(path, clock, key=one["key"], agent_id=one["agent_id"]) as stage:
        return await figures(stage, known["keys"])


def make() -> None:
    """Live a day, be killed in the middle of a redemption, and keep what is on the disk."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as ground:
        path = Path(ground) / "data"
        known = asyncio.run(_lived(path))
        one = known["first"]
        story = (str(known["now"]), one["key"], one["agent_id"], known["market"], known["side"])
        program = Path(__file__).parent / "programs" / "redeem_crash.py"
        dead = subprocess.run(
            [sys.executable, program, path, "broadcast", *story],
            check=False,
            capture_output=True,
            text=True,
        )
        assert dead.returncode < 0, dead.stderr
        known["now"] += 120.0
        with tarfile.open(DATA, "w:xz") as kept:
            kept.add(path, ".")
        known["figures"] = asyncio.run(_shown(path, known))
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


async def _lived(path: Path) -> Json:
    async with open_stage(path, ManualClock(), speed=60) as stage:
        return await _live(stage)


if __name__ == "__main__":
    make()
