"""Orders for real money: signatures, keys and limits."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import Dated, breaking, until, world_holds
from kit.desk.live_orders import live, placed
from kit.desk.redeeming import CountingSigner, known, open_wallet_desk
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import wallet_of
from kit.service.line import sink_on
from kit.service.stage import OPERATOR, Stage, open_stage
from kit.service.wallets import market_on_chain, operate, ready
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.desk.buy_limits import broken_by
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.commands.wallet import SetLive
from service_tui.desk.desk import Desk
from service_tui.desk.slices.risk import AlertState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import against_skill
from service_tui.engine.amm.market import Market
from service_tui.server.embedded import BASE_URL
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.orders import CENT
from service_tui.signing.policy import SigningPolicy
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.endpoints.public import MONITORS, RISK_ALERTS, SET_MONITOR
from service_tui.wire.endpoints.wallet import DESK_PATCH_WALLET
from service_tui.wire.monitors import MonitorRequest


def buy(market: Market, amount: int = 30, **other: object) -> PlaceTrade:
    order = PlaceTrade(
        market_id=market.market_id,
        side=Side.YES,
        action=Action.BUY,
        venue=Venue.EVM,
        amount=Micros(amount * ONE),
        confirmed=True,
    )
    return replace(order, **other)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("exchange", list(ExchangeVersion))
async def test_an_order_on_the_chain_venue_is_signed_and_filled(
    tmp_path: Path, exchange: ExchangeVersion
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        stage.sim.service.exchange = exchange
        await ready(stage)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, policy=SigningPolicy(exchange=exchange)) as desk:
            await live(desk, stage)
            market = market_on_chain(stage)
            state, words = await placed(desk, stage, buy(market))
            assert state is TicketState.DONE, words
            assert signer.count == 1
            assert re.search(
                r"for [0-9.]+ USDC\.e \(.*, (no fee|fee [0-9.]+ USDC\.e on top)", words
            )
            head = "LIVE buy YES for 30.00 USDC.e on evm_venue: bought"
            assert any(one.text.startswith(head) for one in desk.state.notices)
            row = await until(desk, lambda s: s.redemption.row(f"{market.market_id}:yes"), stage)
            held = row.redemption.row(f"{market.market_id}:yes").shares
            assert held > 0
            sale = replace(
                buy(market), action=Action.SELL, amount=Micros(0), shares=held, everything=True
            )
            state, words = await placed(desk, stage, sale)
            assert state is TicketState.DONE, words
            assert signer.count == 2


@pytest.mark.slow
async def test_each_thing_that_is_missing_is_said(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await ready(stage)
        signer = CountingSigner()
        path = {"agent_id": stage.agent_id}
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            await until(desk, lambda s: {Topic.MARKETS, Topic.POSITIONS} <= set(s.seen), stage)
            market = market_on_chain(stage)
            state, words = await placed(desk, stage, buy(market))
            assert (state, "live trading is off" in words) == (TicketState.REFUSED, True)
            desk.submit(SetLive(on=True, word="live"))
            await stage.clock.advance(1)
            assert not desk.state.wallet.live
            await live(desk, stage)
            state, words = await placed(desk, stage, buy(market, confirmed=False))
            assert (state, "not confirmed" in words) == (TicketState.REFUSED, True)
            state, words = await placed(desk, stage, buy(market, amount=101))
            assert (state, "limit per trade" in words) == (TicketState.REFUSED, True)
            await operate(stage, DESK_PATCH_WALLET, path=path, json={"restricted": True})
            await until(desk, lambda s: s.wallet.restricted, stage)
            state, words = await placed(desk, stage, buy(market))
            assert (state, "carry over" in words) == (TicketState.REFUSED, True)
            await operate(stage, DESK_PATCH_WALLET, path=path, json={"restricted": False})
            await until(desk, lambda s: not s.wallet.restricted, stage)
            desk.submit(Halt())
            state, words = await placed(desk, stage, buy(market))
            assert (state, "halted" in words) == (TicketState.REFUSED, True)
            assert signer.count == 0


@pytest.mark.slow
@pytest.mark.parametrize("signer", [None, CountingSigner("77" * 32)])
async def test_without_the_wallets_own_key_nothing_leaves(
    tmp_path: Path, signer: CountingSigner | None
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await ready(stage)
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            state, words = await placed(desk, stage, buy(market_on_chain(stage)))
            assert (state, "no signing key" in words) == (TicketState.REFUSED, True)
            assert signer is None or signer.count == 0


@pytest.mark.slow
async def test_with_a_clock_far_off_nothing_is_bought_and_a_sale_leaves(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        dated = Dated(whole.sim.transport, whole.clock)
        api_keys = ApiKeys(ApiKey(whole.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(dated, BASE_URL, api_keys, clock=whole.clock, rng=random.Random(1))
        stage, signer = replace(whole, client=client), CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            market = market_on_chain(stage)
            state, words = await placed(desk, stage, buy(market))
            assert state is TicketState.DONE, words
            row = await until(desk, lambda s: s.redemption.row(f"{market.market_id}:yes"), stage)
            held = row.redemption.row(f"{market.market_id}:yes").shares
            dated.ahead_s = 86_400.0
            await until(desk, lambda s: (s.service.skew_s or 0.0) < -86_000, stage)
            state, words = await placed(desk, stage, buy(market))
            assert state is not TicketState.DONE
            assert "the clock is more than 30 s off" in words
            sale = replace(
                buy(market), action=Action.SELL, amount=Micros(0), shares=held, everything=True
            )
            state, words = await placed(desk, stage, sale)
            assert state is TicketState.DONE, words


def test_a_skill_buys_for_real_money_only_within_what_binds_the_desk() -> None:
    state = sample_state()
    ready_wallet = wallet_of(live=True, real_trading=True, restricted="", ownership=None)
    account = replace(state.account, claimed=True)
    day = {"limits.desk_day": str(20 * ONE)}
    state = replace(state, wallet=ready_wallet, account=account, preferences=day, tickets=())
    state = replace(state, buy_limits=replace(state.buy_limits, own_spent=Micros(5 * ONE), at=NOW))
    order = PlaceTrade(
        "m-new", Side.YES, Action.BUY, Venue.SOL, amount=Micros(10 * ONE), confirmed=True
    )
    assert list(against_skill(state, order, NOW, Micros(5 * ONE))) == []
    # What other skills have spent counts against the desk's own day.
    ((words, _),) = against_skill(state, order, NOW, Micros(6 * ONE))
    assert "limit (daily spend) is 20.00" in words
    # The limits of the desk hold for each order as well, whoever places it.
    small = replace(state, preferences={**day, "limits.trade": str(9 * ONE)})
    reasons = [words for words, _ in against_skill(small, order, NOW, Micros(0))]
    assert [words for words, _ in broken_by(small, order, NOW, ())] == reasons != []
    off = replace(state, wallet=replace(ready_wallet, live=False))
    assert "live trading is off" in next(against_skill(off, order, NOW, Micros(0)))[0]
    unknown = replace(state, buy_limits=None)
    assert "not loaded" in next(against_skill(unknown, order, NOW, Micros(0)))[0]
    unseen = replace(order, confirmed=False)
    assert "not confirmed" in next(against_skill(state, unseen, NOW, Micros(0)))[0]


async def shares_of(desk: Desk, stage: Stage, market: Market) -> int:
    """Shares of YES that are held on the chain venue."""
    key = f"{market.market_id}:yes"
    seen = await until(desk, lambda s: s.redemption.row(key), stage)
    row = seen.redemption.row(key)
    assert row is not None
    return row.shares


def dust(state: AlertState) -> Callable[[DeskState], bool]:
    """An alert that ended so, and says what no order can sell."""
    return lambda seen: any(
        one.state is state and "below the venue's least order of 5" in one.detail
        for one in seen.risk.alerts
    )


@pytest.mark.slow
async def test_an_exit_sells_what_the_ticks_allow_and_the_dust_goes_along(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole), CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            market = market_on_chain(stage)
            state, words = await placed(desk, stage, buy(market))
            assert state is TicketState.DONE, words
            held = await shares_of(desk, stage, market)
            assert held % CENT, "the buy leaves parts of a tick"
            await stage.client.call(
                SET_MONITOR,
                path={"market_id": market.market_id},
                body=MonitorRequest(side=Side.YES, stop_loss_pct=0.0001, venue=Venue.EVM),
            )
            await sink_on(stage, market.market_id)
            await operate(stage, SET_SPEED, json={"speed": 1})
            await until(
                desk,
                lambda s: any(one.state is AlertState.EXECUTED for one in s.risk.alerts),
                stage,
            )
            # What a signature cannot name is sold with the rest: no dust stays behind.
            assert world_holds(stage) == 0
            await stage.clock.advance(60)
            assert not (await stage.client.call(RISK_ALERTS)).answer.risk_alerts
            assert not (await stage.client.call(MONITORS)).answer.monitors
        sales = [one["shares"] for one in line.orders() if one["action"] == Action.SELL]
        assert sales == [held // CENT * CENT / ONE]
        assert signer.count == 2


@pytest.mark.slow
async def test_an_alert_of_less_than_the_venue_takes_sends_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole), CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            market = market_on_chain(stage)
            state, words = await placed(desk, stage, buy(market))
            assert state is TicketState.DONE, words
            shares = await shares_of(desk, stage, market) - 3 * ONE
            sale = replace(buy(market), action=Action.SELL, amount=Micros(0), shares=Micros(shares))
            state, words = await placed(desk, stage, sale)
            assert state is TicketState.DONE, words
            await stage.client.call(
                SET_MONITOR,
                path={"market_id": market.market_id},
                body=MonitorRequest(side=Side.YES, stop_loss_pct=0.0001, venue=Venue.EVM),
            )
            await sink_on(stage, market.market_id)
            await operate(stage, SET_SPEED, json={"speed": 1})
            await until(desk, dust(AlertState.ENDED), stage)
            await stage.clock.advance(60)
            assert not (await stage.client.call(RISK_ALERTS)).answer.risk_alerts
        assert len([one for one in line.orders() if one["action"] == Action.SELL]) == 1
