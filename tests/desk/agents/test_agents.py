"""The desk hears what happens, and governs the agents of the embedded service."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kit.desk.faults import breaking, ready
from kit.service.stage import Stage, client_of, first_state, open_stage, open_test_desk
from service_tui.client.client import Client
from service_tui.client.errors import Called, ServiceFaultError, UnauthenticatedError
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import (
    AgentAct,
    ApproveTrade,
    DetachSkill,
    Govern,
    PauseAll,
    SetLeash,
    StartSkill,
)
from service_tui.desk.commands.settings import Forget
from service_tui.desk.desk import Desk
from service_tui.desk.fill_tickets import fill_tickets
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.supervision import Pace
from service_tui.desk.state import DeskState
from service_tui.engine.books.liquidity import fee_rate_bps
from service_tui.server.events.listeners import Subscription
from service_tui.storage.blotter import Blotter
from service_tui.terms import Action, AgentStatus, LeashMode, Plan, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.fleet import DESK_REFUSE
from service_tui.wire.endpoints.public import AGENT, MARKETS, PLACE_TRADE, POSITIONS, REGISTER
from service_tui.wire.events import EventBody
from service_tui.wire.fleet import RefuseRequest
from service_tui.wire.trades import TradeRequest

NAME = "heron"


@dataclass
class Told:
    """The stream of a service, which a test may break."""

    stage: Stage
    events: Subscription | None = None
    is_broken: bool = False
    opened: list[int | None] = field(default_factory=list)

    async def listen(self, after: int | None) -> AsyncGenerator[EventBody]:
        self.opened.append(after)
        if self.is_broken:
            raise ServiceFaultError("the line broke", Called("GET", "/api/desk/events"))
        async with self.stage.sim.service.subscribe(after) as self.events:
            async for body in self.events:
                yield body

    def tear(self) -> None:
        self.is_broken = True
        if self.events is not None:
            self.events.end()


@asynccontextmanager
async def listening(
    path: Path, *, read_only: bool = False
) -> AsyncGenerator[tuple[Desk, Stage, Told, list[str]]]:
    """A desk that hears; the last part grows by the path of each call that it makes."""
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        told, asked = Told(whole), list[str]()
        line.seen = lambda request: asked.append(request.url.path)
        initial = first_state(read_only=read_only)
        async with open_test_desk(stage, initial, listen=told.listen) as desk:
            await until(desk, lambda s: ready(s) and s.fleet and s.listening, stage)
            asked.clear()
            yield desk, stage, told, asked


async def until(
    desk: Desk, is_so: Callable[[DeskState], object], stage: Stage, *, within_s: float = 60.0
) -> DeskState:
    """The wanted state, reached before so much manual time has passed."""

    def stands() -> object:
        # An agent that is not listed yet is not as wanted either.
        with suppress(StopIteration):
            return is_so(desk.state)
        return False

    end = stage.clock.monotonic() + within_s
    for _ in range(400):
        for _ in range(20):
            if stands():
                return desk.state
            await asyncio.to_thread(int)
        assert stage.clock.monotonic() < end
        await stage.clock.advance(0.1)
    raise AssertionError("the desk never came to the wanted state")


async def registered(stage: Stage, name: str = NAME) -> tuple[Client, str]:
    async with client_of(stage.sim, stage.clock, None) as nobody:
        made = (await nobody.call(REGISTER, body=RegisterRequest(name=name))).answer
    return client_of(stage.sim, stage.clock, made.api_key), made.agent_id


async def buy(client: Client, market_id: str, amount: float = 200.0) -> None:
    order = TradeRequest(market_id=market_id, side=Side.NO, action=Action.BUY, amount=amount)
    assert (await client.call(PLACE_TRADE, body=order)).answer.success


def the(state: DeskState, name: str = NAME) -> AgentView:
    assert state.fleet is not None
    return next(agent for agent in state.fleet.agents if agent.name == name)


def files_with(text: str, folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text.encode() in path.read_bytes()]


def names(state: DeskState) -> list[str]:
    return [agent.name for agent in state.fleet.agents] if state.fleet else []


# -- hearing ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_an_agent_that_registers_is_there_at_once(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        await registered(stage)
        state = await until(desk, lambda s: NAME in names(s), stage, within_s=1.0)
        assert (the(state).cash, the(state).plan) == (10_000 * ONE, Plan.PRO)
        # Those that come together are told in one notice, a moment later.
        await until(desk, lambda s: any(NAME in one.text for one in s.notices), stage)


@pytest.mark.slow
async def test_a_trade_of_any_agent_is_heard_with_its_price(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, asked):
        agent, agent_id = await registered(stage)
        market = stage.open_markets()[0]
        before = desk.state.markets[market.market_id].price
        asked.clear()
        await buy(agent, market.market_id)
        state = await until(desk, lambda s: s.fills, stage, within_s=1.0)
        fill = state.fills[0]
        assert (fill.agent_id, fill.agent_name, fill.side) == (agent_id, NAME, Side.NO)
        assert fill.money == 200 * ONE
        after = state.markets[market.market_id].price
        assert after < before
        assert after == pytest.approx(market.price(), abs=1e-4)
        await until(desk, lambda s: the(s).trades_count == 1, stage, within_s=1.0)
        assert the(desk.state).cash == 9_800 * ONE
        # The price came with the event, and nothing of it is the desk's own.
        assert not {MARKETS.path, POSITIONS.path} & set(asked)


@pytest.mark.slow
async def test_a_trade_on_a_real_venue_is_heard_and_its_money_seen(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        agent, agent_id = await registered(stage)
        rich = {"claimed": True, "real_trading_enabled": True}
        world_store = stage.sim.service.world_store
        await world_store.commit(
            stage.world.change(stage.world.agents[agent_id], rich, stage.world.at)
        )
        market = next(
            one
            for one in stage.open_markets()
            if one.listing.home is Venue.EVM and fee_rate_bps(one.listing)
        )
        before = desk.state.markets[market.market_id].price
        order = TradeRequest(market_id=market.market_id, side=Side.NO, amount=30.0, venue=Venue.EVM)
        assert (await agent.call(PLACE_TRADE, body=order)).answer.success
        state = await until(desk, lambda s: s.fills, stage, within_s=1.0)
        fill = state.fills[0]
        assert (fill.agent_name, fill.venue, fill.side) == (NAME, Venue.EVM, Side.NO)
        # The market maker's price is another one.
        assert state.markets[market.market_id].price == before
        state = await until(desk, lambda s: the(s).venues, stage, within_s=1.0)
        (money,) = the(state).venues
        assert (money.venue, money.positions_count, money.orders_count) == (Venue.EVM, 1, 0)
        assert money.cash < 970 * ONE
        assert money.equity - 1_000 * ONE == money.total_pnl < 0
        assert the(state).cash == 10_000 * ONE


@pytest.mark.slow
async def test_a_trade_of_the_own_agent_elsewhere_is_looked_at_at_once(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        other = client_of(stage.sim, stage.clock, stage.key)
        await buy(other, stage.open_markets()[0].market_id, 50.0)
        state = await until(desk, lambda s: s.positions, stage, within_s=1.0)
        assert state.positions[0].cost == 50 * ONE
        await until(desk, lambda s: s.account.cash == 9_950 * ONE, stage, within_s=1.0)
        await until(desk, lambda s: s.trades, stage, within_s=1.0)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (SetLeash("a", NAME, None), "permissions of heron: free"),
        (SetLeash("a", NAME, LeashMode.OBSERVE), "permissions of heron: observe"),
        (
            SetLeash("a", NAME, LeashMode.ASK, Micros(500_000)),
            "permissions of heron: ask above 0.50",
        ),
        (
            SetLeash("a", NAME, LeashMode.AUTO, Micros(500_000), budget=Micros(1_234_560_000)),
            "permissions of heron: auto, 1,234.56 a day",
        ),
        (
            SetLeash("a", NAME, LeashMode.AUTO, budget=Micros(0)),
            "permissions of heron: auto, 0.00 a day",
        ),
        (ApproveTrade("h", "buy YES"), "approve: buy YES"),
        (ApproveTrade("h", "buy YES", Micros(2_500_000)), "approve for 2.50: buy YES"),
        (ApproveTrade("h", "buy YES", not_above=0.47), "approve not above 0.47: buy YES"),
        (PauseAll(paused=True), "pause all agents"),
        (PauseAll(paused=False), "resume all agents"),
        (StartSkill("weather", Pace.EVERY, 90, name=NAME), "run weather every 90 s as heron"),
        (StartSkill("weather", Pace.ONCE), "run weather once as a new agent"),
        (DetachSkill("r1"), "detach r1"),
        (DetachSkill("r1", detached=False, what="weather"), "keep weather"),
        (Govern(AgentAct.SUSPEND, "a", NAME), "suspend heron"),
        (Govern(AgentAct.PLAN, plan=Plan.ELITE), "change the plan of new agents to elite"),
    ],
)
def test_a_command_is_described_with_its_figures(command: Command, text: str) -> None:
    assert command.describe() == text


@pytest.mark.slow
async def test_a_trade_that_waits_is_shown_at_once_and_so_is_its_end(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        agent, agent_id = await registered(stage)
        await until(desk, lambda s: NAME in names(s), stage)
        desk.submit(SetLeash(agent_id, NAME, LeashMode.ASK))
        await until(desk, lambda s: s.supervision.leashes, stage, within_s=1.0)
        market = stage.open_markets()[0]
        order = TradeRequest(market_id=market.market_id, side=Side.NO, amount=5.0)
        pending = (await agent.call(PLACE_TRADE, body=order)).answer
        # Polled it would take two seconds.
        state = await until(desk, lambda s: s.supervision.pending_trades, stage, within_s=1.0)
        assert state.supervision.pending_trades[0].pending_id == pending.trade_id
        # More freedom lets nothing go that waits already: that is said.
        desk.submit(SetLeash(agent_id, NAME, LeashMode.AUTO))
        still = "1 trade needs approval"
        await until(desk, lambda s: any(still in one.text for one in s.notices), stage)
        await stage.client.call(
            DESK_REFUSE, path={"held_id": pending.trade_id}, body=RefuseRequest(reason="no")
        )
        await until(desk, lambda s: not s.supervision.pending_trades, stage, within_s=1.0)
        assert desk.state.supervision.decided[0].reason == "no"


@pytest.mark.slow
async def test_a_desk_that_is_started_again_knows_all_fills(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        agent, agent_id = await registered(stage)
        first, second, *_ = stage.open_markets()
        await buy(agent, first.market_id)
        await buy(agent, second.market_id, 30.0)
        await buy(stage.client, first.market_id, 7.0)
        async with open_test_desk(stage, first_state()) as desk:
            state = await until(desk, lambda s: len(s.fills) == 3 and s.trades, stage)
            found = {(one.agent_id, one.market_id, one.money) for one in state.fills}
            assert found == {
                (agent_id, first.market_id, 200 * ONE),
                (agent_id, second.market_id, 30 * ONE),
                (stage.agent_id, first.market_id, 7 * ONE),
            }
            # The blotter as well, of the own agent: no command of this console made it.
            (row,) = fill_tickets(state.trades, state.tickets)
            assert (row.what, row.market_id) == ("buy NO for 7.00", first.market_id)


@pytest.mark.slow
async def test_what_was_missed_is_read_again(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, asked):
        asked.clear()
        stage.sim.service.world_store.events.start_over(99, stage.clock.now())
        await until(desk, lambda _: {MARKETS.path, POSITIONS.path, AGENT.path} <= set(asked), stage)


# -- governing ----------------------------------------------------------------------------------


async def govern(
    desk: Desk, stage: Stage, order: Govern, is_so: Callable[[AgentView], object]
) -> AgentView:
    desk.submit(order)
    return the(await until(desk, lambda s: is_so(the(s)), stage, within_s=2.0))


@pytest.mark.slow
async def test_an_agent_is_claimed_paused_suspended_and_let_go_on(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        _, agent_id = await registered(stage)
        await until(desk, lambda s: NAME in names(s), stage)

        def order(act: AgentAct) -> Govern:
            return Govern(act, agent_id, NAME)

        claimed = await govern(desk, stage, order(AgentAct.CLAIM), lambda one: one.claimed)
        assert claimed.status is AgentStatus.ACTIVE
        await govern(desk, stage, order(AgentAct.PAUSE), lambda one: one.paused)
        await govern(desk, stage, order(AgentAct.RESUME), lambda one: not one.paused)
        barred = await govern(desk, stage, order(AgentAct.SUSPEND), lambda one: one.suspended)
        assert barred.status is AgentStatus.SUSPENDED
        await govern(desk, stage, order(AgentAct.READMIT), lambda one: not one.suspended)
        assert (await govern(desk, stage, order(AgentAct.RETIRE), lambda a: a.retired)).suspended
        await govern(desk, stage, order(AgentAct.READMIT), lambda one: not one.retired)
        elite = replace(order(AgentAct.PLAN), plan=Plan.ELITE)
        await govern(desk, stage, elite, lambda one: one.plan is Plan.ELITE)
        assert "bad" not in {notice.tone for notice in desk.state.notices}


@pytest.mark.slow
async def test_the_wallet_is_read_again_once_its_own_agent_is_claimed(tmp_path: Path) -> None:
    async with listening(tmp_path) as (desk, stage, _, _):
        await until(desk, lambda s: s.account is not None and s.wallet.is_read, stage)
        account = desk.state.account
        assert account is not None
        assert not account.claimed
        desk.submit(Govern(AgentAct.CLAIM, account.agent_id, account.name))

        def is_claimed(state: DeskState) -> bool:
            return any(one.is_done for one in state.wallet.checks if one.name == "agent claimed")

        await until(desk, is_claimed, stage, within_s=1.0)


@pytest.mark.slow
async def test_a_new_key_is_shown_once_and_stands_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with listening(tmp_path) as (desk, stage, _, _):
        old, agent_id = await registered(stage)
        await until(desk, lambda s: NAME in names(s), stage)
        desk.submit(Govern(AgentAct.NEW_KEY, agent_id, NAME))
        state = await until(desk, lambda s: s.revealed, stage)
        key = state.revealed.secret
        fresh = client_of(stage.sim, stage.clock, key)
        assert (await fresh.call(AGENT)).answer.agent_id == agent_id
        with pytest.raises(UnauthenticatedError):
            await old.call(AGENT)
        desk.submit(Forget())
        later = await until(desk, lambda s: s.revealed is None, stage)
        texts = [notice.text for notice in later.notices]
        assert key not in f"{state!r}{later!r}{texts}{caplog.text}"
        assert Blotter(stage.database).recent(10) == []
    assert files_with("heron", tmp_path)
    assert files_with(key, tmp_path) == []
