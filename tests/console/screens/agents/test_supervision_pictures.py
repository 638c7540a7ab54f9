"""What needs me, the action log, the report and the chain of a trade, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import SIZES, seen
from kit.console.snapshot import assert_snapshot
from kit.samples.attention import CALM, everything
from kit.samples.desk import NOW
from kit.samples.log import sample_log
from kit.samples.report import STATE as REPORTED
from kit.samples.why import HELD, TRADE
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.state import DeskState

SALE = replace(
    TRADE, trade_id="t-9", action="sell", at=NOW, price_before=0.44, average=0.435,
    reasoning="the gauge falls again", signal_data=(),
)  # fmt: skip


def traded(*trades: TradeView) -> DeskState:
    return replace(REPORTED, trades=trades, positions=(HELD,))


PICTURES: dict[str, tuple[DeskState, str, tuple[str, ...]]] = {
    "needs": (everything(), "attention", ("j",)),
    "calm": (CALM, "attention", ()),
    "log": (replace(everything(), log=sample_log()), "log", ("j", "j", "j")),
    "log_broken": (
        replace(everything(), log=sample_log(verified=93, problem="line 94 is torn, or no entry")),
        "log",
        (),
    ),
    "report": (REPORTED, "agents", ("f5",)),
    "why": (traded(SALE, TRADE), "portfolio", ("Q",)),
    "why_unknown": (traded(), "portfolio", ("Q",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
async def test_supervision_looks_as_it_is_meant_to(name: str, size: tuple[int, int]) -> None:
    state, first, keys = PICTURES[name]
    async with seen(state, keys, size, first) as (pilot, _):
        await assert_snapshot(pilot, f"supervision_{name}_{size[0]}x{size[1]}")
