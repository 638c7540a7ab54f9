"""The reactor on a desk: signals, mirrors, and lost answers."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import Fault, asleep, rows, said, until
from kit.desk.reactor import (
    ANN,
    PENDING,
    bought,
    choose,
    decisions,
    deleted,
    following,
    has,
    is_trade,
    settle,
    signals,
)
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.commands.reactor import (
    DismissSignal,
    MirrorAllFrom,
    MirrorSignal,
    ResetBreaker,
)
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reactor.stored import known_reactor
from service_tui.desk.slices.reactor import Policy, ReactorView, SignalState
from service_tui.desk.slices.tickets import TicketState
from service_tui.storage.blotter import StoredState
from service_tui.storage.reactor import StoredReactor
from service_tui.terms import Action
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PENDING_SIGNALS

pytestmark = pytest.mark.slow


async def test_a_signal_waits_for_the_person_and_is_mirrored_by_a_word(tmp_path: Path) -> None:
    async with following(tmp_path) as (desk, stage, line):
        (tx_hash,) = await settle(stage)
        state = await until(desk, has(SignalState.PENDING), stage)
        (signal,) = state.reactor.signals
        assert (signal.wallet, signal.label) == (ANN, "Harbour Pilot")
        assert signal.price_now == pytest.approx(signal.price, abs=1e-4)
        assert any(one.text.startswith("Harbour Pilot") for one in state.notices)
        await stage.clock.advance(5.0)
        assert bought(line) == []
        desk.submit(MirrorSignal(signal.signal_id))
        state = await until(desk, lambda s: s.reactor.signals[0].shares, stage)
        (signal,) = state.reactor.signals
        assert signal.state is SignalState.MIRRORED
        assert signal.fill_price is not None
        assert signal.fill_price <= signal.price_max
        await until(desk, lambda s: s.positions and deleted(line), stage)
        (order,) = bought(line)
        assert order["price"] == pytest.approx(min(0.999, signal.price * 1.1), abs=1e-5)
        assert order["signal_data"]["whale_wallet"] == ANN
        assert order["signal_data"]["whale_size"] == 40
        assert deleted(line) == [tx_hash]
        assert await decisions(stage) == ["mirrored"]
        (row,) = await rows(stage)
        assert (row.kind, row.state) == ("mirror", StoredState.DONE)
        wallet = desk.state.reactor.wallet(ANN)
        assert (wallet.tally.signals_count, wallet.tally.mirrored_count) == (1, 1)
        assert wallet.tally.slippage == pytest.approx(signal.slippage, abs=1e-6)


async def test_the_pnl_of_a_mirror_ends_with_the_sale_and_is_so_after_a_restart(
    tmp_path: Path,
) -> None:
    async with following(tmp_path) as (desk, stage, _):
        await settle(stage)
        state = await until(desk, has(SignalState.PENDING), stage)
        desk.submit(MirrorSignal(state.reactor.signals[0].signal_id))
        state = await until(desk, lambda s: s.reactor.signals[0].shares and s.positions, stage)
        (one,) = state.reactor.signals
        desk.submit(PlaceTrade(one.market_id, one.side, Action.SELL, one.venue, shares=one.shares))
        state = await until(desk, lambda s: s.reactor.signals[0].sold, stage)
        (sold,) = state.reactor.signals
        (row,) = [each for each in state.trades if each.action == "sell"]
        assert sold.pnl == row.pnl == row.cost - one.cost
        assert state.reactor.wallet(ANN).tally.pnl == row.pnl
        # The price goes on, and the mirror's P&L does not.
        moved = replace(sold, price_now=0.01)
        assert moved.pnl == row.pnl
        await until(desk, lambda s: s.reactor.signals[0].state is SignalState.MIRRORED, stage)
        await stage.clock.advance(5.0)
        (stored,) = known_reactor(StoredReactor(stage.database), ReactorView()).signals
        assert stored.pnl == row.pnl
        assert StoredReactor(stage.database).tallies(beyond=0)[0].pnl == row.pnl


async def test_an_automatic_mirror_buys_no_more_shares_where_the_price_has_fallen(
    tmp_path: Path,
) -> None:
    more = {"mirror_fraction": 1.0, "max_size": 25.0, "price_buffer": 0.2}
    async with following(tmp_path, policy=Policy.AUTO, **more) as (desk, stage, _):
        await settle(stage, price=0.9)
        state = await until(
            desk, lambda s: s.reactor.signals and s.reactor.signals[0].shares, stage
        )
        (signal,) = state.reactor.signals
        assert (signal.shares, signal.cost < signal.amount) == (Micros(25 * ONE), True)


async def test_auto_mirrors_in_the_listing_that_brings_it(tmp_path: Path) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        hashes = await settle(stage, 3)
        await until(desk, has(SignalState.MIRRORED, 3), stage)
        await until(desk, lambda _: len(deleted(line)) == 3, stage)
        assert [one["signal_data"]["tx_hash"] for one in bought(line)] == hashes
        assert [one.tx_hash for one in signals(desk.state)] == hashes[::-1]


async def test_what_is_switched_off_dismissed_or_halted_is_not_mirrored(tmp_path: Path) -> None:
    async with following(tmp_path, policy=Policy.OFF) as (desk, stage, line):
        await settle(stage)
        state = await until(desk, has(SignalState.SKIPPED), stage)
        assert "are off" in state.reactor.signals[0].detail
        await choose(desk, stage, Policy.ASK)
        (tx_hash,) = await settle(stage)
        await until(desk, has(SignalState.PENDING), stage)
        desk.submit(DismissSignal(tx_hash))
        await until(desk, lambda _: deleted(line) == [tx_hash], stage)
        assert desk.state.reactor.signals[0].detail == "dismissed by you"
        assert await decisions(stage) == ["skipped_filter"]
        # A halt holds back rule and hand alike, and the signal waits for its end.
        desk.submit(Halt())
        await choose(desk, stage, Policy.AUTO)
        (tx_hash,) = await settle(stage)
        await until(desk, lambda s: "halted" in s.reactor.signals[0].detail, stage)
        assert desk.state.reactor.signals[0].state is SignalState.PENDING
        ticket = desk.submit(MirrorSignal(tx_hash))
        assert ticket.view.state is TicketState.REFUSED
        await stage.clock.advance(4.0)
        assert bought(line) == []
        await until(desk, lambda s: s.halt and not s.halt.missing, stage)
        desk.submit(Resume("RESUME"))
        await until(desk, has(SignalState.MIRRORED), stage)
        assert len(bought(line)) == 1


async def test_five_failures_open_the_breaker_and_a_word_or_an_hour_closes_it(
    tmp_path: Path,
) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        await settle(stage, 5, price=0.02)
        state = await until(desk, lambda s: s.reactor.breaker.paused_at, stage)
        assert len(signals(state, SignalState.FAILED)) == 5
        assert all(one.detail for one in state.reactor.signals)
        assert state.reactor.breaker.left_s(stage.clock.now()) == pytest.approx(3_600, abs=10)
        assert any("circuit breaker open" in one.text for one in state.notices)
        assert await decisions(stage) == ["failed"] * 5
        assert deleted(line) == []
        await settle(stage)
        await until(desk, lambda s: s.reactor.breaker.skipped, stage)
        assert len(bought(line)) == 5
        desk.submit(ResetBreaker())
        await until(desk, lambda s: s.reactor.breaker.paused_at is None, stage)
        await settle(stage)
        await until(desk, has(SignalState.MIRRORED), stage)
        await settle(stage, 5, price=0.02)
        await until(desk, lambda s: s.reactor.breaker.paused_at, stage)
        await asleep(stage.clock, 3_601.0)
        await until(desk, lambda s: s.reactor.breaker.paused_at is None, stage)
        await settle(stage)
        await until(desk, has(SignalState.MIRRORED, 2), stage)


async def test_a_gap_is_caught_up_in_order_and_a_lost_answer_is_no_second_mirror(
    tmp_path: Path,
) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        line.fault = lambda one: Fault.FAILED if one.url.path == PENDING else None
        await stage.clock.advance(10.0)
        asked = line.asked(PENDING)
        hashes = await settle(stage, 4)
        await stage.clock.advance(20.0)
        # Backed off: not every two seconds.
        assert line.asked(PENDING) - asked <= 9
        lost: list[httpx.Request] = []

        def once(request: httpx.Request) -> Fault | None:
            if is_trade(request) and not lost:
                lost.append(request)
                return Fault.LOST
            return None

        line.fault = once
        await until(desk, has(SignalState.MIRRORED, 3), stage)
        state = await until(desk, has(SignalState.MIRRORED, 4), stage)
        assert [one["signal_data"]["tx_hash"] for one in bought(line)] == hashes
        assert [one.tx_hash for one in state.reactor.signals] == hashes[::-1]
        await until(desk, lambda _: sorted(deleted(line)) == hashes, stage)
        await until(desk, lambda s: all(one.shares for one in s.reactor.signals), stage)
        assert len(stage.world.reactor.mirrors.done[stage.agent_id]) == 4


async def test_closing_waits_for_the_answer_of_a_mirror(tmp_path: Path) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        line.fault = lambda one: Fault.SILENT if is_trade(one) else None
        await settle(stage)
        await until(desk, lambda _: line.waiting, stage)
        async with asyncio.TaskGroup() as tasks:
            closing = tasks.create_task(desk.close())
            await asyncio.sleep(0.05)
            assert not closing.done()
            line.released.set()
        assert signals(desk.state)[0].state is SignalState.MIRRORED
        assert [row.state for row in await rows(stage)] == [StoredState.DONE]


async def test_one_broken_signal_is_dropped_and_said_and_the_others_go_on(tmp_path: Path) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        (tx_hash,) = await settle(stage)
        (good,) = (await stage.client.call(PENDING_SIGNALS)).answer.reactor_signals
        row = good.model_dump(mode="json")
        hostile = [
            {},
            {**row, "tx_hash": "../../x"},
            {**row, "tx_hash": "0xb", "amount": 1e300},
            {**row, "tx_hash": "0xc", "taker_side": "SELL"},
            {**row, "tx_hash": "0xd", "taker_price": 1.0},
            {**row, "signal_id": "another-name"},
            {**row, "tx_hash": "0xe", "type": "shock_ladder"},
            # Far more than the config allows: cut to it.
            {**row, "tx_hash": "0xf", "amount": 90_000.0, "surprise": {"a": [1]},
             "market_title": "[red]\x1b]0;x\x07Rain?[/]"},
        ]  # fmt: skip
        body = {"reactor_signals": [*hostile, row], "breaker": {"state": "running"}}
        line.fault = lambda one: said(body) if one.url.path == PENDING else None
        state = await until(desk, has(SignalState.MIRRORED, 2), stage)
        assert state.reactor.dropped == 5
        assert state.reactor.broken
        assert any("signal skipped" in one.text for one in state.notices)
        cut = next(one for one in state.reactor.signals if one.tx_hash == "0xf")
        assert "\x1b" not in cut.question
        orders = {one["signal_data"]["tx_hash"]: one["amount"] for one in bought(line)}
        assert set(orders) == {"0xf", tx_hash}
        assert orders["0xf"] <= orders[tx_hash] + 0.011
        # What is listed again and again is mirrored no second time, under whatever name.
        body["reactor_signals"] = [
            {**row, "signal_id": tx_hash.upper(), "tx_hash": tx_hash.upper()}
        ]
        await stage.clock.advance(10.0)
        assert len(bought(line)) == 2


async def test_the_desks_own_cap_holds_whatever_the_service_lists(tmp_path: Path) -> None:
    async with following(tmp_path, daily_cap=25.0) as (desk, stage, line):
        await settle(stage)
        (good,) = (await stage.client.call(PENDING_SIGNALS)).answer.reactor_signals
        row = good.model_dump(mode="json")
        listed = [{**row, "tx_hash": f"0xa{n}", "signal_id": None} for n in range(5)]
        body = {"reactor_signals": listed}
        line.fault = lambda one: said(body) if one.url.path == PENDING else None
        await until(desk, has(SignalState.PENDING, 5), stage)
        desk.submit(MirrorAllFrom(ANN))
        await until(
            desk,
            lambda s: (
                signals(s, SignalState.SKIPPED)
                and not signals(s, SignalState.PENDING)
                and not signals(s, SignalState.MIRRORING)
            ),
            stage,
        )
        spent = sum(one["amount"] for one in bought(line))
        assert 25.0 - row["amount"] < spent <= 25.0
        skipped = signals(desk.state, SignalState.SKIPPED)
        assert all("cap" in one.detail for one in skipped)
        assert len(skipped) + len(bought(line)) == 5
