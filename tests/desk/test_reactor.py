from pathlib import Path

import pytest

from faults import rows, until
from reactor_stage import ANN, bought, decisions, deleted, following, has, settle, signals
from service_tui.desk.commands_reactor import MirrorSignal
from service_tui.desk.records_reactor import Policy, SignalState
from service_tui.storage.blotter import TicketState as StoredState


async def test_a_signal_waits_for_the_person_and_is_mirrored_by_a_word(tmp_path: Path) -> None:
    async with following(tmp_path) as (desk, stage, line):
        (tx_hash,) = await settle(stage)
        state = await until(desk, has(SignalState.PENDING), stage)
        (signal,) = state.reactor.signals
        assert (signal.wallet, signal.label) == (ANN, "Harbour Pilot")
        assert signal.price_now == pytest.approx(signal.price, abs=1e-4)
        assert any("signal: Harbour Pilot" in one.text for one in state.notices)
        await stage.clock.advance(5.0)
        assert bought(line) == []
        desk.submit(MirrorSignal(signal.signal_id))
        state = await until(desk, has(SignalState.MIRRORED), stage)
        (signal,) = state.reactor.signals
        assert signal.shares > 0
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


async def test_auto_mirrors_in_the_listing_that_brings_it(tmp_path: Path) -> None:
    async with following(tmp_path, policy=Policy.AUTO) as (desk, stage, line):
        hashes = await settle(stage, 3)
        await until(desk, has(SignalState.MIRRORED, 3), stage)
        await until(desk, lambda _: len(deleted(line)) == 3, stage)
        assert [one["signal_data"]["tx_hash"] for one in bought(line)] == hashes
        assert [one.tx_hash for one in signals(desk.state)] == hashes[::-1]
