"""Orders from the command line: quoted, asked for, sent once, and only with play money."""

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from service_tui.cli import main as cli
from service_tui.clock import SystemClock
from service_tui.terms import Action, MarketStatus, Side
from service_tui.units import ONE
from service_tui.wiring.halt_command import HaltReport
from service_tui.wiring.options import Options
from service_tui.wiring.ownership import own_directory
from service_tui.wiring.trade_command import LEFT, OrderRequest, trade


async def test_an_order_is_quoted_asked_for_and_sent_once(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7, speed=0
    )
    asked: list[Sequence[str]] = []

    async def ordered(request: OrderRequest, *, answer: bool = True) -> HaltReport:
        def confirm(lines: Sequence[str]) -> bool:
            asked.append(lines)
            return answer

        return await asyncio.to_thread(trade, options, request, confirm)

    async with own_directory(options, SystemClock()) as owner:
        world = owner.sim.service.world
        now = world.world_at
        market = next(
            one for one in world.markets.values() if one.status(now) is MarketStatus.ACTIVE
        )
        agent_id = owner.sim.service.operator_agent
        assert agent_id is not None
        cash = lambda: world.cash(world.agents[agent_id])  # noqa: E731
        start = cash()
        buy = OrderRequest(Action.BUY, market.market_id, Side.YES, "25")

        quote = await ordered(
            OrderRequest(Action.BUY, market.market_id, Side.YES, "25", is_quote=True)
        )
        assert quote.is_done
        assert (asked, cash()) == ([], start)
        assert any(line.split() == ["max", "loss", "-25.00", "$SIM"] for line in quote.lines)

        left = await ordered(buy, answer=False)
        assert (left.is_done, left.lines, cash()) == (False, (LEFT,), start)
        assert asked == [quote.lines]

        done = await ordered(buy)
        assert done.is_done, done.lines
        assert done.lines[0].startswith("done: bought ")
        assert start - cash() == 25 * ONE

        vague = await ordered(OrderRequest(Action.BUY, "will", Side.YES, "25"))
        assert not vague.is_done
        assert "markets match: give the id" in vague.lines[0]
        sold = await ordered(OrderRequest(Action.SELL, market.market_id, Side.YES, "all"))
        assert sold.is_done, sold.lines
        assert 0 < start - cash() < ONE


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("buy", "rain", "yes", "5"), cli.CANNOT, "nothing sent; add --yes"),
        (("sell", "rain", "maybe", "5"), 2, "invalid choice"),
        (("buy", "rain", "yes"), 2, "AMOUNT"),
        (("quote", "rain", "yes", "5", "--yes"), 2, "unrecognized"),
    ],
)
def test_without_a_terminal_or_with_wrong_words_nothing_is_sent(  # noqa: PLR0917 - fixtures
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    problem: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(cli, "_start_log", lambda *_: None)
    try:
        ended: object = cli.run([*words, "--data-dir", str(tmp_path / "d")])
    except SystemExit as end:
        ended = end.code
    assert ended == code
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
