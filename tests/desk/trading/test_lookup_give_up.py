"""Giving up an order of unknown end by hand."""

from pathlib import Path

import pytest

from kit.desk.faults import ready
from kit.service.stage import open_stage, open_test_desk, until
from service_tui.desk.changes import Changed
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.units import Micros, Timestamp


@pytest.mark.slow
async def test_an_order_is_closed_by_the_person_only_after_it_was_looked_for(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        await until(desk, ready, stage.clock)
        opened = Timestamp(stage.clock.now() - 700)
        lost = TicketView(
            "lost", "trade", "m", "buy YES for 5.00", TicketState.UNKNOWN, opened,
            sent_at=opened, client_ref="ref-of-nobody", amount=Micros(5_000_000),
        )  # fmt: skip
        from service_tui.desk.blotter import intent_of  # noqa: PLC0415

        await desk.ports.blotter.open_ticket(intent_of(lost, "{}"))
        desk.ports.emit(Changed(lost))
        desk.submit(GiveUp("lost"))
        await stage.clock.advance(0.5)
        assert desk.state.tickets[0].state is TicketState.UNKNOWN
        await until(desk, lambda s: s.tickets[0].outcome == NO_TRACE, stage.clock, tries=400)
        desk.submit(GiveUp("lost"))
        state = await until(desk, lambda s: s.tickets[0].state is TicketState.FAILED, stage.clock)
        assert "closed by you" in state.tickets[0].outcome
        for _ in range(20):
            await stage.clock.advance(0.2)
        assert [row.state.value for row in desk.ports.blotter.recent(1)] == ["failed"]
