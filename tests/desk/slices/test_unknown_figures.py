"""A figure that is made of something unknown is unknown."""

from pathlib import Path

import pytest

from kit.console.doors import running, seen_before
from kit.desk.faults import breaking, said, until
from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.wire.endpoints.public import POSITIONS


@pytest.mark.slow
async def test_without_positions_there_is_no_equity(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        refused = {"error": "the list is too long"}
        line.fault = lambda request: (
            said(refused, 413) if request.url.path == POSITIONS.path else None
        )
        async with open_test_desk(stage) as desk:
            state = await until(
                desk, lambda s: Topic.ACCOUNT in s.seen and Topic.MARKETS in s.seen, stage
            )
            account = state.account
            assert account is not None
            assert state.service.phase is Phase.ONLINE
            assert account.cash > 0
            derived = (account.equity, account.unrealized, account.realized, account.total_pnl)
            assert derived == (None,) * 4
            assert (account.day_pnl, account.mark_equity) == (None, None)
            assert state.equity == ()
            async with running(seen_before(state), first="portfolio", size=(140, 40)) as seen:
                top = seen.lines[0]
                assert "10,000.00" not in top.partition("cash")[0]
                assert "0.00" not in top.partition("cash")[0]
            line.fault = lambda _: None
            state = await until(desk, lambda s: s.account and s.account.equity, stage)
            assert state.account is not None
            assert state.account.unrealized == 0
