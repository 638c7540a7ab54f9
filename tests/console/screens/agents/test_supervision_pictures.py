"""What needs me, the action log, the report and the chain of a trade, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import assert_at_sizes
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
    "mutes": (everything(), "attention", ("j", "j", "j", "j", "j", "j", "j", "m")),
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
@pytest.mark.parametrize("name", PICTURES)
async def test_supervision_looks_as_it_is_meant_to(name: str) -> None:
    state, first, keys = PICTURES[name]
    await assert_at_sizes(state, keys, f"supervision_{name}", first, anew=name == "report")
