"""No screen shows an amount while amounts are masked."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Final

import pytest

from kit.console.doors import Running, running
from kit.samples.whole import whole_desk
from service_tui.console import formats
from service_tui.console.shell.views import SCREENS
from service_tui.desk.state import DeskState

pytestmark = pytest.mark.slow

ROWS: Final = 8
"""Rows whose detail is looked at: the limits of the settings are the first seven."""

TABS: Final = 3

AMOUNT: Final = re.compile(
    r"(?<![\w.,:])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|[1-9]\d*\.\d\d(?!\d)"
    r"|\d+\.\d\d+(?= (?:\$SIM|USDC|POL)))"
)
"""Thousands, hundredths of one and more, and whatever stands before a currency."""

WORD: Final = re.compile(r"[\d.,]*\w?")

SHOWN: Final = {"195,000", "0.01170"}
"""Gas and fee of a transaction, which are read before it is signed."""


def masked(state: DeskState) -> DeskState:
    return replace(state, preferences={**state.preferences, "privacy": "on"})


def public(state: DeskState) -> Iterator[str]:
    """Volume and liquidity of the markets, which everybody can read."""
    for market in state.markets.values():
        for amount in (market.volume, market.liquidity):
            yield formats.money(amount).plain
            yield formats.money_short(amount).plain


async def amounts(seen: Running, state: DeskState) -> set[tuple[str, str]]:
    """The amounts that each screen shows in the details of its first rows."""
    known = {*public(state), *SHOWN}
    result: set[tuple[str, str]] = set()
    for name in SCREENS:
        await seen.app.run_action(f"go('{name}')")
        await seen.pilot.pause(0.06)
        for _ in range(1 if name in {"markets", "settings"} else TABS):
            result |= {(name, each) async for each in of_rows(seen, known)}
            await seen.press("tab")
    return result


async def of_rows(seen: Running, known: set[str]) -> AsyncIterator[str]:
    """The amounts beside and below the next rows, as far as there are any."""
    for _ in range(ROWS):
        for one in matches(seen, known):
            yield f"{one[0]}: {one.string.strip()}"
        before = seen.app.front.current_row()
        await seen.pilot.press("j")
        if seen.app.front.current_row() == before:
            return


def matches(seen: Running, known: set[str]) -> Iterator[re.Match[str]]:
    for line in seen.lines:
        # A short amount of a market, `2.29k`, is known with its letter.
        for found in AMOUNT.finditer(line):
            word = WORD.match(line, found.start())
            if word is None or word[0] not in known:
                yield found


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_no_screen_shows_an_amount_while_they_are_masked(size: tuple[int, int]) -> None:
    state = whole_desk()
    async with running(masked(state), size=size) as seen:
        assert await amounts(seen, state) == set()


async def test_the_same_screens_show_amounts_while_they_are_not_masked() -> None:
    state = whole_desk()
    async with running(state, size=(80, 24)) as seen:
        found = {name for name, _ in await amounts(seen, state)}
    assert {"attention", "portfolio", "monitors", "redemption", "agents", "settings"} <= found
