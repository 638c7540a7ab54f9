"""The chain of a trade as a page: complete, within its width, masked where amounts are."""

from dataclasses import replace

import pytest

from kit.console.doors import running
from kit.samples.desk import NOW
from kit.samples.why import HELD, STATE, TRADE
from service_tui.console.forms.why import WIDTH, Why, chain_text
from service_tui.desk.audit.why import LabelledValue, Link, TradeHistory, Unit, why_position
from service_tui.units import Timestamp

TRADED = replace(STATE, trades=(TRADE,))


def test_every_link_stands_there_with_its_time_and_figures() -> None:
    text = chain_text(why_position(TRADED, HELD), NOW, masked=False)
    for part in (
        "signal",
        "edge 0.06",
        "the gauge rises [red]",
        "51.20",
        "21.00",
        "5m ago",
        "exit",
    ):
        assert part in text.plain
    assert all(line.cell_len <= 68 for line in text.split("\n")[2:])


def test_amounts_are_masked_and_prices_are_not() -> None:
    text = chain_text(why_position(TRADED, HELD), NOW, masked=True).plain
    assert "21.00" not in text
    assert "51.20" not in text
    assert "0.412" in text


@pytest.mark.slow
async def test_the_key_works_on_both_screens_and_stands_in_the_help() -> None:
    async with running(TRADED, first="portfolio", size=(100, 40)) as seen:
        seen.app.front.focus_row(HELD.key)
        await seen.press("Q")
        assert isinstance(seen.app.screen, Why)
        assert "the gauge rises" in seen.text
        await seen.press("escape", "question_mark")
        assert "The trade, signal to sale" in seen.text
        await seen.press("escape", "9", "Q")
        await seen.until(lambda: isinstance(seen.app.screen, Why))


def test_a_history_has_a_rail_until_its_last_link_and_no_line_is_too_wide() -> None:
    values = tuple(LabelledValue(f"figure {place}", 0.5, Unit.PRICE) for place in range(6))
    long = LabelledValue("said", "word " * 60)
    links = (
        Link("agent", at=NOW, values=(*values, long)),
        Link("market", missing="not recorded"),
        Link("trade", when="unknown time", values=(LabelledValue("edge", 0.05, Unit.POINTS),)),
    )
    shown = chain_text(
        TradeHistory("Why", links), Timestamp(NOW + 60), masked=False
    ).plain.splitlines()
    assert max(len(line) for line in shown[3:]) <= WIDTH + 2
    heads = [line for line in shown if line[:2] in {"● ", "○ "}]
    assert [line[:8].strip() for line in heads] == ["● agent", "○ market", "● trade"]
    assert heads[2].rstrip().endswith("unknown time")
    assert all(line.startswith("│ ") for line in shown[3:-2] if line not in heads)
    assert shown.count("│ not recorded") == 1
    # Two figures at least stand on one line, where they have room.
    assert any(line.count("figure") > 1 for line in shown)
    assert "+5.0" in shown[-1]
