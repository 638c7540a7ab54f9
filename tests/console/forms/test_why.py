"""The chain of a trade as a page: complete, within its width, masked where amounts are."""

from dataclasses import replace

import pytest

from kit.console.doors import running
from kit.samples.desk import NOW
from kit.samples.why import HELD, STATE, TRADE
from service_tui.console.forms.why import Why, chain_text
from service_tui.desk.audit.why import why_position

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
        assert "The trade, signal to exit" in seen.text
        await seen.press("escape", "9", "Q")
        await seen.until(lambda: isinstance(seen.app.screen, Why))
