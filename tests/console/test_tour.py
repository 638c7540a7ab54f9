"""The tour: each step is done once the desk shows it, and names the keys in use."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from service_tui.console.messages import TourRequested
from service_tui.console.tour import STEPS, Tour
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import ReactorView, SignalState
from service_tui.desk.slices.tickets import TicketState
from service_tui.terms import Venue


def test_each_step_waits_for_what_the_person_does() -> None:
    state = replace(sample_state(), quote=None)
    tour = Tour(state).advanced(state, NOW, "portfolio")
    assert tour.place == 0
    tour = tour.advanced(state, NOW, "markets")
    assert tour.place == 1
    refused = replace(state, quote=QuoteView(1, ok=False, problem="no"))
    assert tour.advanced(refused, NOW, "markets") == tour
    state = replace(state, quote=QuoteView(2, ok=True))
    # A quote from before the tour is not the person's answer to it.
    assert replace(tour, start=state).advanced(state, NOW, "markets").place == 1
    tour = tour.advanced(state, NOW, "markets")
    assert tour.place == 2

    ticket = replace(state.tickets[0], ticket_id="new", kind="trade", state=TicketState.REFUSED)
    assert tour.advanced(replace(state, tickets=(ticket,)), NOW, "markets") == tour
    ticket = replace(ticket, state=TicketState.DONE)
    state = replace(state, tickets=(ticket, *state.tickets))
    tour = tour.advanced(state, NOW, "markets")
    assert tour.place == 3

    first, *others = guarded_state().risk.monitors
    state = replace(state, risk=replace(state.risk, monitors=(first, *others)))
    tour = replace(tour, start=state)
    arrived = replace(first, market_id="m-other")
    enrolled = replace(state, risk=replace(state.risk, monitors=(arrived, first, *others)))
    assert tour.advanced(enrolled, NOW, "monitors") == tour
    moved = replace(first, stop_loss_pct=0.11)
    state = replace(state, risk=replace(state.risk, monitors=(moved, *others)))
    tour = tour.advanced(state, NOW, "monitors")
    assert tour.place == 4
    assert not tour.is_over

    mirrored = replace(
        reactor_state().reactor.signals[0], signal_id="s", state=SignalState.MIRRORED
    )
    done = replace(state, reactor=replace(state.reactor, signals=(mirrored,)))
    assert tour.advanced(done, NOW, "reactor").is_over
    assert tour.advanced(done, NOW, "reactor").text(done, NOW, "reactor") == ""


def test_the_last_step_names_the_next_key_on_the_way() -> None:
    state = reactor_state()
    tour = Tour(state, len(STEPS) - 1)
    assert "{app.reactor}" in tour.text(state, NOW, "markets")
    empty = replace(state, reactor=ReactorView())
    assert "{reactor.follow}" in tour.text(empty, NOW, "reactor")
    assert state.reactor.config is not None
    off = replace(state.reactor, config=replace(state.reactor.config, enabled=False))
    followed = replace(state, reactor=off)
    assert "{reactor.run}" in tour.text(followed, NOW, "reactor")
    waiting = replace(state, reactor=replace(state.reactor, signals=()))
    assert "wait for a signal" in tour.text(waiting, NOW, "reactor")


@pytest.mark.slow
async def test_the_step_stands_below_the_head_until_it_is_done_or_left() -> None:
    async with running(seen_before(sample_state()), first="portfolio", size=(80, 24)) as seen:
        seen.app.post_message(TourRequested())
        await seen.until(lambda: "TOUR 1/5" in seen.text)
        assert "2 lists the markets" in seen.text
        await seen.press("2")
        await seen.until(lambda: "TOUR 2/5 b opens a ticket: type 25, read the quote" in seen.text)
        await seen.press("colon", *"tour end", "enter")
        await seen.until(lambda: "TOUR" not in seen.text)
        assert seen.app.guide.tour is None


@pytest.mark.slow
async def test_the_cursor_stands_on_the_row_of_the_step() -> None:
    state = seen_before(guarded_state())
    monitor = next(one for one in state.risk.monitors[2:] if one.venue is Venue.SIM)
    ticket = replace(state.tickets[0], kind="trade", state=TicketState.DONE, holding=monitor.key)
    able = next(
        one
        for one in reactor_state().reactor.signals
        if one.can_mirror(NOW) and not one.is_too_dear
    )
    ended = replace(able, signal_id="old", state=SignalState.MIRRORED)
    reactor = replace(reactor_state().reactor, signals=(ended, able))
    state = replace(state, tickets=(ticket, *state.tickets), reactor=reactor)
    async with running(state, first="markets", size=(120, 40)) as seen:
        seen.app.guide.tour = Tour(state, 3)
        await seen.press("3")
        await seen.bring(replace(state, stars=frozenset({"x"})))
        assert seen.app.front.current_row() == monitor.key
        await seen.press("g")
        await seen.bring(state)
        assert seen.app.front.current_row() != monitor.key
        seen.app.guide.tour = Tour(state, 4)
        await seen.press("4")
        await seen.bring(replace(state, stars=frozenset({"x"})))
        assert seen.app.front.current_row() == able.signal_id
        assert "f buys what the selected signal bought" in seen.text


@pytest.mark.slow
async def test_no_tour_without_play_money() -> None:
    state = seen_before(sample_state())
    remote = replace(state, service=replace(state.service, embedded=False))
    async with running(remote, first="markets") as seen:
        seen.app.guide.begin()
        assert seen.app.guide.tour is None
