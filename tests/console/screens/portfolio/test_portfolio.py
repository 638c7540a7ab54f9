"""The portfolio screen: account, positions, details, and actions."""

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host
from kit.console.painted import strips_of, words_of
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from service_tui.console import formats
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.keys import key_named
from service_tui.console.parts.explained import venue_numbers
from service_tui.console.screens.portfolio.detail import valued_by_rows, venue_lines
from service_tui.console.screens.portfolio.screen import PortfolioScreen
from service_tui.console.screens.portfolio.table import CLOSED as CLOSED_TABLE
from service_tui.console.screens.portfolio.table import totals
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state(60, held=12)
SMALL, WIDE, WIDEST = (80, 24), (120, 40), (160, 50)
THEMES = {
    (60, 18): ("night",),
    (80, 24): ("night",),
    (120, 40): ("night", "paper"),
    (160, 50): ("dune",),
}
CLOSED = tuple(
    replace(
        held,
        market_id=f"old-{place}",
        status=MarketStatus.RESOLVED,
        outcome=NO if place % 2 else YES,
        shares=Micros(0),
        realized=Micros((place - 1) * 7_500_000),
        resolves_at=Timestamp(NOW - 3_600 * (place + 1)),
    )
    for place, held in enumerate(STATE.positions[:3])
)


class View:
    """The screen, seen from outside."""

    def __init__(self, pilot: Pilot[None], app: Host, screen: PortfolioScreen) -> None:
        self.pilot = pilot
        self.app = app
        self.screen = screen

    def rows(self) -> list[PositionView]:
        order = self.screen.table.order
        return [order[place] for place in range(len(order))]

    def part(self, selector: str) -> str:
        return str(self.screen.query_one(selector, Static).content)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def ticket(self) -> tuple[str, Side, Action]:
        form = self.app.dialogs[-1]
        assert isinstance(form, TradeForm)
        return (form.market.market_id, form.side, form.action)


@asynccontextmanager
async def portfolio(
    state: DeskState = STATE, size: tuple[int, int] = SMALL, *, opens_dialogs: bool = False
) -> AsyncIterator[View]:
    app = Host(state, PortfolioScreen, opens_dialogs=opens_dialogs)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.front, PortfolioScreen)
        yield View(pilot, app, app.front)


@pytest.mark.slow
async def test_the_account_and_its_positions_are_there_the_largest_first() -> None:
    async with portfolio() as view:
        values = [held.mark_value for held in view.rows()]
        assert values == sorted(values, reverse=True)
        assert len(values) == 12
        figures = view.part("#portfolio-figures")
        for words in ("cash $", "8,214.33", "at mark $", "+41.20", "-118.40", "54.0%"):
            assert words in figures
        assert view.screen._curve._points


@pytest.mark.slow
async def test_a_position_without_a_price_shows_none_and_no_sum_holds_one() -> None:
    # Its market is not in the list either.
    unpriced = replace(
        STATE.positions[0], market_id="m-gone", question="Will it?", mark_price=None,
        mark_value=None, unrealized=None, exit_value=None, exit_together=None,
    )  # fmt: skip
    state = replace(STATE, positions=(unpriced, *STATE.positions[1:]))
    async with portfolio(state, WIDE) as view:
        lines = (strip.text for strip in strips_of(view.app.screen))
        line = next(line for line in lines if "Will it?" in line)
        assert line.count(formats.NOT_KNOWN) == 3
        assert "0.500" not in line
        sums = totals(view.rows(), ViewContext.of(state, NOW))
        assert sums[0].text.plain.count(formats.NOT_KNOWN) == 3


@pytest.mark.slow
async def test_both_sides_of_a_market_are_two_rows() -> None:
    first = STATE.positions[0]
    other = replace(first, side=first.side.other, mark_value=Micros(1))
    async with portfolio(replace(STATE, positions=(first, other))) as view:
        await view.press("x")
        assert view.ticket()[1] is first.side
        await view.press("j", "x")
        assert view.ticket()[1] is first.side.other


BOOK = replace(
    STATE.positions[0],
    venue=Venue.EVM,
    mark_value=Micros(45_100_000),
    cost=Micros(40_000_000),
    unrealized=Micros(5_100_000),
)
SUM = VenueSumView(
    venue=Venue.EVM,
    cash=Micros(942_680_000),
    reserved=Micros(3_000_000),
    value=Micros(45_100_000),
    positions=1,
    pnl=Micros(-57_320_000),
    pnl_at=Timestamp(NOW - 720),
)
REAL = replace(STATE, on_venues=(BOOK,), venue_sums=(SUM,))


@pytest.mark.slow
async def test_positions_on_real_venues_stand_beside_the_others_and_in_no_sum_of_theirs() -> None:
    async with portfolio(STATE, WIDE) as view:
        plain = view.part("#portfolio-figures")
        assert not view.screen.query_one("#portfolio-venues").display
    async with portfolio(REAL, WIDE) as view:
        assert view.part("#portfolio-figures") == plain
        assert "open 13" in view.part("#portfolio-which")
        lines = view.part("#portfolio-venues")
        assert lines.startswith("evm_venue USDC.e  venue's P&L -57.32 as of ")
        assert "as of 07:48  1 open, value 45.10" in lines
        assert "cash 942.68" in lines
        assert "reserved 3.00" in lines
        same = [held for held in view.rows() if held.market_id == BOOK.market_id]
        assert {held.venue for held in same} == {Venue.SIM, Venue.EVM}
        assert len({held.key for held in same}) == len(same)
        view.screen.query_one(Input).value = "usdc.e"
        await view.pilot.pause()
        assert view.rows() == [BOOK]


@pytest.mark.slow
async def test_a_venue_that_was_traded_on_keeps_its_line_with_nothing_left_there() -> None:
    left = replace(SUM, positions=0, value=Micros(0), reserved=Micros(0), pnl=Micros(0))
    sold = replace(
        BOOK,
        status=MarketStatus.RESOLVED,
        shares=Micros(0),
        cost=Micros(0),
        mark_value=Micros(0),
        unrealized=Micros(0),
        realized=Micros(-13_710_000),
    )
    gone = replace(STATE, on_venues=(sold,), venue_sums=(replace(left, trades=2),))
    async with portfolio(gone, WIDE) as view:
        assert view.part("#portfolio-venues").startswith("evm_venue USDC.e  venue's P&L")
        counts = view.part("#portfolio-which")
        assert f"open {len(STATE.positions)}" in counts
        assert f"closed {len(STATE.closed) + 1}" in counts
    async with portfolio(replace(gone, venue_sums=(left,)), WIDE) as view:
        assert not view.screen.query_one("#portfolio-venues").display


async def test_a_venue_line_has_the_value_that_its_rows_add_up_to() -> None:
    one = replace(STATE, on_venues=(BOOK,), venue_sums=(replace(SUM, value=Micros(1)),))
    view = valued_by_rows(one.venue_sums[0], one)
    assert view.value == BOOK.mark_value
    # A position that is not listed yet is part of the service's sum only.
    two = replace(one, venue_sums=(replace(SUM, positions=2, value=Micros(1)),))
    assert valued_by_rows(two.venue_sums[0], two).value == 1


@pytest.mark.slow
async def test_a_venues_own_figure_that_is_old_looks_old() -> None:
    async with portfolio(REAL) as view:
        assert "STALE" not in view.part("#portfolio-venues")
        view.app.bring(later_s=300.0)
        assert "STALE 17m" in view.part("#portfolio-venues")
        sums = (replace(SUM, pnl=None, pnl_at=None),)
        view.app.bring(replace(REAL, venue_sums=sums))
        assert "STALE" not in view.part("#portfolio-venues")
    private = replace(REAL, preferences={"privacy": "on"})
    async with portfolio(private, WIDE) as view:
        assert "57.32" not in view.part("#portfolio-venues")


@pytest.mark.parametrize("width", [60, 76, 106, 156])
def test_a_venues_own_figure_is_named_with_its_time_at_every_width(width: int) -> None:
    line = venue_lines(REAL, NOW, width, masked=False)
    taken = formats.moment(Timestamp(NOW - 720), 900)
    assert line.cell_len <= width
    assert "venue's P&L -57.32" in line.plain
    assert taken in line.plain
    assert ("cash 942.68" in line.plain) is (width >= 76)
    assert ("as of" in line.plain) is (width >= 106)
    assert ("(refreshed every 15 min)" in line.plain) is (width >= 156)


def test_a_venues_own_figure_is_explained_beside_that_of_the_agents() -> None:
    (told,) = venue_numbers(REAL, NOW)
    assert told.name == "venue's P&L, USDC.e on evm_venue"
    assert "every 15 minutes" in told.formula
    assert "may differ" in told.formula
    assert "12m" in told.age.plain
    assert venue_numbers(STATE, NOW) == ()


@pytest.mark.slow
async def test_search_narrows_and_escape_brings_all_back() -> None:
    async with portfolio() as view:
        await view.press("slash")
        view.screen.query_one(Input).value = "pnl:>0 !kestrels"
        await view.pilot.pause()
        rows = view.rows()
        assert rows
        assert all(held.pnl > 0 and "Kestrels" not in held.question for held in rows)
        for typed in (
            "pnl:>x",
            "value:<1k",
            "left:<1d",
            "percent:>-5%",
            "exit:>1 mark:<0.5",
            "yes",
        ):
            view.screen.query_one(Input).value = typed
            await view.pilot.pause()
        assert {held.side for held in view.rows()} == {Side.YES}
        await view.press("escape")
        assert len(view.rows()) == 12


@pytest.mark.slow
async def test_closed_positions_take_the_place_of_open_ones_and_are_not_traded() -> None:
    async with portfolio(replace(STATE, closed=CLOSED)) as view:
        assert "closed 3" in view.part("#portfolio-which")
        await view.press("o", "o")
        assert {held.market_id for held in view.rows()} == {held.market_id for held in CLOSED}
        assert view.screen.table.has_focus
        await view.press("x")
        assert view.app.dialogs == []
        assert "closed" in view.app.said[-1]
        await view.press("escape")
        assert len(view.rows()) == 12
        await view.pilot.click("#portfolio-which", offset=(27, 0))
        assert len(view.rows()) == 3


@pytest.mark.slow
async def test_after_the_last_sale_nothing_asks_to_select_a_position() -> None:
    async with portfolio(replace(STATE, positions=STATE.positions[:1]), WIDE) as view:
        view.app.bring(replace(STATE, positions=()))
        await view.pilot.pause()
        text = words_of(view.app.screen)
        assert "Select a position" not in text
        assert text.count("No open positions.") == 2


@pytest.mark.slow
async def test_an_empty_portfolio_says_why_and_how_to_begin() -> None:
    async with portfolio(replace(STATE, positions=())) as view:
        assert "Press 2, choose a market, press b." in view.screen.table.empty
        await view.press("o")
        assert "No open orders" in view.screen.table.empty
        await view.press("o")
        assert "No position was closed yet" in view.screen.table.empty
        await view.press("o", "x")
        assert "No open positions" in view.app.said[-1]
        for phase, words in (
            (Phase.CONNECTING, "Connecting"),
            (Phase.OFFLINE, "cannot be reached"),
            (Phase.UNAUTHORIZED, "refuses this key"),
        ):
            service = replace(STATE.service, phase=phase)
            view.app.bring(replace(STATE, positions=(), account=None, service=service))
            assert words in view.screen.table.empty
            assert "not known yet" in view.part("#portfolio-figures")


@pytest.mark.slow
async def test_of_an_empty_list_no_row_is_said_to_be_gone_and_a_new_one_is_highlighted() -> None:
    first, second = STATE.positions[:2]
    async with portfolio(replace(STATE, positions=(first,))) as view:
        table = view.screen.table
        view.app.bring(replace(STATE, positions=()))
        assert table.has_lost_row
        await view.press("x")
        assert "The list has just changed" in view.app.said[-1]
        table._cursor_loss.end()
        await view.press("x")
        assert view.app.said[-1] == table.empty
        # The next position is highlighted; a key that was pressed before it came does nothing.
        view.app.bring(replace(STATE, positions=(second,)))
        assert table.highlighted() == second
        await view.press("x")
        assert view.app.dialogs == []
        table._cursor_loss.end()
        await view.press("x")
        assert len(view.app.dialogs) == 1


@pytest.mark.slow
async def test_the_detail_tells_cost_mark_exit_and_the_own_trades() -> None:
    async with portfolio(size=WIDE) as view:
        held = view.screen.table.selected()
        assert held is not None
        assert held.question in view.part(".detail-head")
        assert "3.0% below mark" in view.part(".detail-body")
        assert "the gauge rises faster" in view.part(".detail-more")
    async with portfolio() as view:
        await view.press("enter")
        await view.pilot.pause()
        assert held.question in view.part(".detail-head")
        await view.press("x", "escape")
        assert view.ticket()[0] == held.market_id
        assert view.screen.table.has_focus


@pytest.mark.slow
async def test_keys_that_cannot_work_say_why() -> None:
    async with portfolio(replace(STATE, positions=())) as view:
        assert view.screen.disabled_reason(key_named("portfolio.sell")) == "select a row"
        view.app.bring(replace(STATE, service=replace(STATE.service, read_only=True)))
        await view.press("j")
        assert "read-only" in view.screen.disabled_reason(key_named("portfolio.buy"))
        assert view.screen.disabled_reason(key_named("rows.sort")) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("before_s", "acts"), [(0.0, False), (2.0, True)])
async def test_a_key_counts_from_its_press_however_late_its_turn_comes(
    before_s: float, *, acts: bool
) -> None:
    async with portfolio() as view:
        table = view.screen.table
        view.app.bring(replace(STATE, positions=tuple(
            held for held in STATE.positions if held.key != table.order.cursor
        )))  # fmt: skip
        assert table.has_lost_row
        # The row has gone two seconds ago; the key was pressed in that moment, or now.
        assert table._cursor_loss._at is not None
        table._cursor_loss._at -= 2.0
        key = events.Key("x", "x")
        key.time -= 2.0 - before_s
        view.app.post_message(key)
        await view.pilot.pause()
        assert bool(view.app.dialogs) is acts
        assert acts or "The list has just changed" in view.app.said[-1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_no_key_ever_acts_on_another_position_than_the_one_highlighted(seed: int) -> None:
    rng = random.Random(seed)
    async with portfolio(size=(60, 12)) as view:
        for _ in range(30):
            shake(view, rng)
            table, before = view.screen.table, len(view.app.dialogs)
            # While its row is gone nothing is highlighted; should it come back, it is that row.
            highlighted = table.order.cursor
            said = len(view.app.said)
            key = rng.choice("bx")
            view.app.post_message(events.Key(key, key))
            if rng.random() < 0.5:
                # A newer state between the key and its action.
                view.app.bring(shaken(rng))
            await view.pilot.pause()
            if len(view.app.dialogs) > before:
                market_id, side, _ = view.ticket()
                assert f"{market_id}:{side.value}" == highlighted
            else:
                assert len(view.app.said) > said


def shake(view: View, rng: random.Random) -> None:
    """Something that happens between two keys."""
    screen = view.screen
    match rng.randrange(5):
        case 0:
            screen.table.action_sort_next()
        case 1:
            screen.table.action_sort_reverse()
        case 2:
            screen.narrow(rng.choice(["", "harbour", "pnl:>0", "!kestrels"]))
        case 3:
            screen.table.action_move(rng.randint(-4, 4))
        case _:
            view.app.bring(shaken(rng))


def shaken(rng: random.Random) -> DeskState:
    """Some positions go, some come back, some turn into the other side, values move."""
    kept = [
        replace(
            held,
            mark_value=Micros(rng.randrange(10**9)),
            side=held.side if rng.random() < 0.9 else held.side.other,
        )
        for held in STATE.positions
        if rng.random() < 0.7
    ]
    rng.shuffle(kept)
    return replace(STATE, positions=tuple(kept))


@pytest.mark.slow
async def test_the_screen_looks_as_kept_at_every_size() -> None:
    async with portfolio(replace(STATE, closed=CLOSED)) as view:
        for size, themes in THEMES.items():
            await view.pilot.resize_terminal(*size)
            await view.pilot.pause()
            await assert_snapshot(view.pilot, f"portfolio_{size[0]}x{size[1]}", themes=themes)
        for size in ((250, 70), (60, 18), (20, 5), (1, 1), (80, 24)):
            await view.pilot.resize_terminal(*size)
            await view.press("enter")
        await view.press("o", "enter")
        assert view.app.is_running


def test_sums_of_the_list_are_by_currency_and_unknown_while_one_part_is() -> None:
    play = replace(
        STATE.positions[0],
        mark_value=Micros(2 * ONE),
        exit_value=Micros(ONE),
        unrealized=Micros(-ONE),
    )
    real = replace(play, venue=Venue.EVM, exit_value=None)
    view = ViewContext.of(STATE, NOW, 80)
    assert [bit.text.plain for bit in totals((play, real, play), view)] == [
        "2 in $SIM  value 4.00  sale value 2.00  P&L -2.00",
        f"1 in USDC.e  value 2.00  sale value {formats.NOT_KNOWN}  P&L -1.00",
    ]
    assert totals((), view) == ()


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), WIDE, WIDEST])
async def test_no_label_of_a_position_on_a_real_venue_is_cut(size: tuple[int, int]) -> None:
    held = replace(BOOK, exit_value=Micros(1_234_560_000), mark_value=Micros(1_240_000_000))
    async with portfolio(replace(REAL, positions=(), on_venues=(held,)), size) as view:
        await view.press("enter")
        body = view.part(".detail-body")
        assert "…" not in body
        for label in ("cost USDC.e", "mark value", "sale value", "unrealized", "realized"):
            assert label in body
        assert ("sale value USDC.e" in body) is (size != WIDE)


@pytest.mark.slow
async def test_a_position_that_was_sold_shows_its_sale_and_no_outcome() -> None:
    held = replace(CLOSED[0], outcome=None, resolves_at=Timestamp(NOW + 86_400))
    at = Timestamp(NOW - 300)
    sale = replace(
        STATE.trades[0],
        market_id=held.market_id,
        side=held.side,
        venue=held.venue,
        action=Action.SELL.value,
        shares=ONE,
        cost=ONE,
        at=at,
    )
    state = replace(STATE, closed=(held,), trades=(sale,))
    when = formats.date_time(at).plain
    async with portfolio(state, WIDE) as view:
        await view.press("o", "o")
        assert view.rows() == [held]
        body = view.part(".detail-body")
        assert "outcome" not in body
        assert "resolved" not in body
        assert re.search(rf"sold, wall +{when}", body)
        cells = {one.id: one.cell(held, view.screen.view) for one in CLOSED_TABLE.columns}
        assert str(cells["outcome"]) == f"sold {when}"
        assert str(cells["resolved"]) == formats.NOT_KNOWN
        assert view.part(".detail-head").endswith("sold")
