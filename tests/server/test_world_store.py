"""A scripted move is on disk before it is told, whatever it brought."""

from pathlib import Path

import pytest

from kit.service.stage import open_stage
from service_tui.storage.journal import JournalStore
from service_tui.units import Timestamp


@pytest.mark.parametrize("has_price", [False, True])
async def test_a_scripted_move_is_written_down_and_told(tmp_path: Path, *, has_price: bool) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        store, world = stage.sim.service.world_store, stage.world
        journal = JournalStore(stage.at_rest)
        seq, then = store.seq, Timestamp(world.world_at + 60.0)
        market = stage.open_markets()[0]
        prices = {market.market_id: 0.5} if has_price else {}
        events = await store.play((Timestamp(world.at + 1.0), then), prices)
        assert world.world_at == then
        assert bool(events)
        assert store.seq == seq + len(events)
        assert journal.last_seq() == store.seq
