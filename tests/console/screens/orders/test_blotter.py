"""The orders screen: the blotter, its details, and its actions."""

from dataclasses import replace

import pytest
from textual.widgets import Input, Static

from kit.console.doors import Running, running, seen_before
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import HASH, redemption_of, run_of
from service_tui.console.screens.orders.detail import describe
from service_tui.console.screens.orders.screen import BlotterScreen
from service_tui.console.screens.orders.table import BLOTTER, STATES, took_s
from service_tui.console.view_context import ViewContext
from service_tui.desk.chain.run_tickets import run_tickets
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.redemption import ChainRunState, RunView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(seen_before(sample_state()), trades=())
UNKNOWN = next(ticket for ticket in STATE.tickets if ticket.state is TicketState.UNKNOWN)
REFUSED = next(ticket for ticket in STATE.tickets if ticket.state is TicketState.REFUSED)


def screen(seen: Running) -> BlotterScreen:
    front = seen.app.front
    assert isinstance(front, BlotterScreen)
    return front


def rows(seen: Running) -> list[str]:
    order = screen(seen).table.order
    return [order[place].ticket_id for place in range(len(order))]


def detail(seen: Running) -> str:
    return str(seen.app.query_one("#blotter-detail-text", Static).content)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (160, 50)])
async def test_the_blotter_looks_so(size: tuple[int, int]) -> None:
    themes = ("night", "paper") if size == (80, 24) else ("night",)
    async with running(STATE, first="blotter", size=size) as seen:
        await assert_snapshot(seen.pilot, f"blotter_{size[0]}x{size[1]}", themes=themes)


@pytest.mark.slow
async def test_the_newest_command_comes_first_and_keeps_the_cursor() -> None:
    async with running(STATE, first="blotter") as seen:
        assert rows(seen) == [ticket.ticket_id for ticket in STATE.tickets]
        await seen.press("j")
        newer = replace(STATE.tickets[0], ticket_id="new", opened_at=Timestamp(NOW))
        await seen.bring(replace(STATE, tickets=(newer, *STATE.tickets)))
        assert rows(seen)[0] == "new"
        assert screen(seen).table.selected() == STATE.tickets[1]


@pytest.mark.slow
async def test_a_command_that_ends_is_shown_so_at_once() -> None:
    async with running(STATE, first="blotter") as seen:
        screen(seen).focus_row(UNKNOWN.ticket_id)
        assert "? unknown" in detail(seen)
        done = replace(
            UNKNOWN, state=TicketState.DONE, settled_at=NOW, outcome="it did happen", fix=""
        )
        tickets = tuple(done if old is UNKNOWN else old for old in STATE.tickets)
        await seen.bring(replace(STATE, tickets=tickets))
        assert "✓ done" in detail(seen)
        assert "it did happen" in detail(seen)


@pytest.mark.slow
async def test_the_line_searches_words_and_numbers() -> None:
    async with running(STATE, first="blotter") as seen:
        await seen.press("slash")
        line = seen.app.query_one("#filter-typed", Input)
        for typed, found in (
            ("refused", [REFUSED.ticket_id]),
            ("took:>10 !refused", ["k-0", "k-2", "k-4"]),
            ("harbour", ["k-0"]),
            ("amount:<1", []),
        ):
            line.value = typed
            await seen.pilot.pause()
            assert rows(seen) == found
        await seen.press("escape")
        assert len(rows(seen)) == len(STATE.tickets)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50)])
async def test_a_row_shows_the_price_and_the_size_of_its_command(size: tuple[int, int]) -> None:
    venue = "USDC.e on evm_venue"
    orders = {
        f"LIVE buy YES at 0.405 for 1,250.00 {venue}": "LIVE buy YES at 0.405 for 1,250.00",
        "exit, trailing stop: LIVE sell 26.25 YES on evm_venue": (
            "LIVE sell 26.25 YES, trailing stop"
        ),
        f"LIVE buy NO at 0.4 for 25.00 {venue}, stop 20.0% down": ("LIVE buy NO at 0.4 for 25.00,"),
    }
    tickets = tuple(
        replace(STATE.tickets[0], ticket_id=f"real-{place}", what=what, venue=Venue.EVM)
        for place, what in enumerate(orders)
    )
    async with running(replace(STATE, tickets=tickets), first="blotter", size=size) as seen:
        for shown in orders.values():
            assert shown in seen.text
        assert seen.text.count("EVM ") >= len(orders)


@pytest.mark.slow
async def test_i_explains_how_long_it_took() -> None:
    async with running(STATE, first="blotter") as seen:
        await seen.press("i")
        assert "settled - sent" in seen.text


@pytest.mark.slow
async def test_an_empty_blotter_says_what_fills_it() -> None:
    async with running(replace(STATE, tickets=()), first="blotter") as seen:
        assert "No orders yet." in seen.text
        assert "b opens the order ticket" in seen.text
        await seen.press("enter", "y", "i")
        assert seen.app.clipboard == ""


# -- the words alone ----------------------------------------------------------------------------


def told(ticket: TicketView, state: DeskState = STATE) -> str:
    return describe(ticket, ViewContext.of(state, NOW, 200)).plain


def test_a_refusal_tells_outcome_and_remedy() -> None:
    text = told(REFUSED)
    assert "✗ refused" in text
    assert "insufficient balance: 12.10 $SIM" in text
    assert "lower the amount or sell something" in text


def test_every_step_tells_how_long_it_took() -> None:
    slow = replace(
        STATE.tickets[0],
        opened_at=Timestamp(NOW - 100),
        sent_at=Timestamp(NOW - 99.75),
        settled_at=Timestamp(NOW - 30),
    )
    text = told(slow)
    assert "+250 ms" in text
    assert "+1m 09s" in text
    assert took_s(slow) == pytest.approx(69.75)


def test_a_step_of_another_day_tells_its_day() -> None:
    old = replace(
        STATE.tickets[0],
        opened_at=Timestamp(NOW - 86_401),
        sent_at=Timestamp(NOW - 86_400),
        settled_at=Timestamp(NOW - 30),
    )
    lines = told(old).splitlines()
    assert "opened     14 Jan 07:59:59  1d ago" in lines
    assert "sent       14 Jan 08:00:00  +1s" in lines
    assert "settled    07:59:30  +23h 59m" in lines


def test_a_long_outcome_stays_beside_its_label() -> None:
    text = describe(replace(REFUSED, outcome="word " * 40), ViewContext.of(STATE, NOW, 40)).plain
    lines = [line for line in text.splitlines() if "word" in line]
    assert len(lines) > 3
    assert all(len(line) <= 40 for line in lines)
    assert all(line[:11] in {"outcome    ", " " * 11} for line in lines)


def test_what_was_never_sent_says_so() -> None:
    queued = replace(
        STATE.tickets[0], state=TicketState.QUEUED, sent_at=None, settled_at=None, outcome=""
    )
    assert "not sent yet" in told(queued)
    assert "not yet" in told(queued)
    assert took_s(queued) is None


def test_foreign_words_stay_words() -> None:
    odd = replace(REFUSED, outcome="[/] \x1b[2J no", fix="[@click=quit]x")
    text = told(odd)
    assert "[/]" in text
    assert "[@click=quit]x" in text
    assert "\x1b" not in text


def test_every_state_has_a_glyph_a_word_and_a_tone() -> None:
    assert set(STATES) == set(TicketState)
    assert len({(glyph, word) for glyph, word, _ in STATES.values()}) == len(STATES)


def test_searched_numbers_are_milliseconds_money_and_seconds() -> None:
    ticket = replace(STATE.tickets[0], amount=Micros(25_000_000))
    assert BLOTTER.compared["took"](ticket, ViewContext.of(STATE, NOW)) == pytest.approx(20, abs=1)
    assert BLOTTER.compared["amount"](ticket, ViewContext.of(STATE, NOW)) == 25.0
    assert BLOTTER.compared["age"](ticket, ViewContext.of(STATE, NOW)) == pytest.approx(5)
    assert BLOTTER.compared["took"](UNKNOWN, ViewContext.of(STATE, NOW)) is None


RUNS = redemption_of().runs


def redeemed(*runs: RunView) -> DeskState:
    return replace(STATE, tickets=(), redemption=redemption_of(runs=runs))


@pytest.mark.slow
async def test_a_redemption_has_a_row_with_amount_state_and_the_whole_hash() -> None:
    under_way = replace(run_of(0), opened_at=Timestamp(NOW - 26))
    refused = replace(RUNS[1], opened_at=Timestamp(NOW - 60), settled_at=Timestamp(NOW - 59))
    done = replace(RUNS[2], opened_at=Timestamp(NOW - 7_200), settled_at=Timestamp(NOW - 7_180))
    prepared = run_of(3, state=ChainRunState.PREPARED, steps=(), tx_hash="")
    state = redeemed(under_way, refused, done, prepared)
    async with running(state, first="blotter", size=(160, 50)) as seen:
        assert rows(seen) == [f"redeem:{run.key}" for run in (under_way, refused, done)]
        screen(seen).focus_row(f"redeem:{done.key}")
        await seen.pilot.pause()
        told = detail(seen)
        for words in ("redeem YES for 50.00 USDC.e", "✓ done", done.question, "USDC.e received"):
            assert words in told
        # Broken over lines, but whole.
        assert HASH in "".join(told.split())
        screen(seen).focus_row(f"redeem:{refused.key}")
        await seen.pilot.pause()
        assert "the venue has not finalized the market" in detail(seen)
        await seen.press("w")
        assert rows(seen) == [f"redeem:{under_way.key}"]
        assert "→ sent" in detail(seen)
        unconfirmed = replace(under_way, state=ChainRunState.UNCONFIRMED, words="not confirmed")
        await seen.bring(redeemed(unconfirmed, refused, done))
        assert "? unknown" in detail(seen)


def test_a_run_of_an_earlier_version_and_one_without_an_amount_have_a_row_too() -> None:
    early, bare = run_tickets((run_of(0), run_of(1, amount=Micros(0), steps=())))
    assert early.opened_at == run_of(0).steps[0].at
    assert bare.what == "redeem YES"
    assert bare.state is TicketState.QUEUED


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_real_order_tells_its_money_its_venue_and_that_it_is_real(
    size: tuple[int, int],
) -> None:
    order = PlaceTrade("m-1", Side.YES, Action.BUY, Venue.EVM, Micros(20 * ONE))
    real = replace(REFUSED, ticket_id="real", what=order.describe(), venue=Venue.EVM)
    play = replace(REFUSED, what=replace(order, venue=Venue.SIM).describe())
    async with running(replace(STATE, tickets=(real, play)), first="blotter", size=size) as seen:
        shown = [line for line in seen.text.splitlines() if "buy YES" in line]
        assert any("LIVE buy YES" in line for line in shown)
        # Where a list has no room for the venue, its place is the detail.
        where = shown if size[0] > 110 else detail(seen).splitlines()
        assert any("USDC.e" in line and "evm_venue" in line for line in where)
        assert any(" buy YES for 20.00 " in line and "USDC.e evm" not in line for line in shown)
        assert "LIVE buy YES for 20.00 USDC.e on evm_venue" in detail(seen)
        assert "money      USDC.e on evm_venue" in detail(seen)
        screen(seen).focus_row(play.ticket_id)
        assert "USDC.e" not in detail(seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blotter", "timeline"])
async def test_a_journal_by_time_is_at_its_newest_row_until_the_cursor_moves(name: str) -> None:
    state = seen_before(sample_state())
    newest = replace(state.tickets[0], ticket_id="k-new", opened_at=NOW)
    newer = replace(newest, ticket_id="k-newer", opened_at=Timestamp(NOW + 1))
    async with running(state, first=name, size=(120, 40)) as seen:
        await seen.bring(replace(state, tickets=(*state.tickets, newest)))
        table = seen.app.front.table
        assert table.order.index == 0
        # Elsewhere meanwhile, and back: still at the newest one.
        await seen.press("8")
        await seen.bring(replace(state, tickets=(*state.tickets, newest, newer)))
        await seen.press("left_square_bracket")
        assert (seen.app.front.table, table.order.index) == (table, 0)
        read = table.order.key_at(1)
        await seen.press("j")
        await seen.bring(replace(state, tickets=(*state.tickets, newest)))
        assert table.order.cursor == read
