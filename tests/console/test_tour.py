"""The tour: each step is done once the desk shows it, and says what to do on the way."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import sample_state
from kit.samples.fleet import fleet_state, pending_trade_of
from kit.samples.guarded import guarded_state
from service_tui.console.messages import TourRequested
from service_tui.console.tour import STEPS, Tour, TourView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import PendingStatus, Venue

WATCH, ANSWER, PAUSE, RESUME, HALT, LET_GO, REPLAY, BUY, STOP = range(len(STEPS))


def with_agents(state: DeskState, **changes: object) -> DeskState:
    """The state with all agents but the person's own changed."""
    assert state.fleet is not None
    agents = tuple(one if one.is_own else replace(one, **changes) for one in state.fleet.agents)
    return replace(state, fleet=replace(state.fleet, agents=agents))


STATE = with_agents(replace(fleet_state(), halt=None, tickets=()), paused=False, retired=False)
HALTED = replace(
    STATE, world=replace(STATE.world, halted_at=STATE.world.wall_at) if STATE.world else None
)


def after(place: int, state: DeskState, screen: str = "agents", **seen: bool) -> int:
    """How many steps are done after a state, at this step until now."""
    tour = Tour(STATE, place)
    return tour.advanced(TourView(tour.start, state, screen, **seen)).place


def test_agents_are_watched_first() -> None:
    assert after(WATCH, STATE, "portfolio") == WATCH
    assert after(WATCH, STATE, "agents") == ANSWER


def test_a_request_is_answered_or_there_is_nobody_to_ask() -> None:
    decided = (pending_trade_of("h9", status=PendingStatus.APPROVED),)
    quiet = replace(STATE, supervision=replace(STATE.supervision, pending_trades=(), decided=()))
    assert after(ANSWER, quiet) == ANSWER
    answered = replace(STATE, supervision=replace(STATE.supervision, decided=decided))
    assert after(ANSWER, answered) == PAUSE
    assert after(ANSWER, with_agents(quiet, retired=True)) == PAUSE
    # Neither has a step that no agent can take.
    assert after(PAUSE, with_agents(quiet, retired=True)) == RESUME
    assert after(RESUME, with_agents(quiet, retired=True)) == HALT


def test_a_request_is_named_or_waited_for() -> None:
    tour = Tour(STATE, ANSWER)
    quiet = replace(STATE, supervision=replace(STATE.supervision, pending_trades=()))
    assert "within a minute" in tour.text(TourView(STATE, quiet, "agents"))
    asked = replace(
        STATE, supervision=replace(STATE.supervision, pending_trades=(pending_trade_of("h1"),))
    )
    text = tour.text(TourView(STATE, asked, "agents"))
    assert pending_trade_of("h1").agent_name in text
    assert "leaves it waiting" in text


def test_agents_are_paused_and_let_go_and_all_are_halted_and_let_go() -> None:
    assert after(PAUSE, STATE) == PAUSE
    assert after(PAUSE, with_agents(STATE, paused=True)) == RESUME
    assert after(RESUME, with_agents(STATE, paused=True)) == RESUME
    assert after(RESUME, STATE) == HALT
    assert after(HALT, STATE) == HALT
    assert after(HALT, HALTED) == LET_GO
    assert after(LET_GO, HALTED) == LET_GO
    assert after(LET_GO, STATE) == REPLAY


def test_the_past_is_looked_at_where_it_is_recorded() -> None:
    assert after(REPLAY, STATE) == REPLAY
    assert after(REPLAY, STATE, has_replayed=True) == BUY
    assert after(REPLAY, STATE, is_recorded=False) == BUY


def test_a_buy_is_led_from_the_list_to_the_ticket() -> None:
    tour = Tour(STATE, BUY)
    assert "{app.markets}" in tour.text(TourView(STATE, STATE, "agents"))
    assert "{markets.buy}" in tour.text(TourView(STATE, STATE, "markets"))
    ticket = tour.text(TourView(STATE, STATE, "markets", has_dialog=True))
    assert "leaves and sends nothing" in ticket
    known = sample_state().tickets[0]
    done = replace(known, ticket_id="new", kind="trade", state=TicketState.DONE)
    refused = replace(done, state=TicketState.REFUSED)
    assert after(BUY, replace(STATE, tickets=(refused,))) == BUY
    assert after(BUY, replace(STATE, tickets=(done,))) == STOP


def test_a_changed_stop_ends_the_tour() -> None:
    first, *others = guarded_state().risk.monitors
    state = replace(STATE, risk=replace(STATE.risk, monitors=(first, *others)))
    tour = Tour(state, STOP)
    arrived = replace(first, market_id="m-other")
    enrolled = replace(state, risk=replace(state.risk, monitors=(arrived, first, *others)))
    assert tour.advanced(TourView(state, enrolled, "monitors")) == tour
    moved = replace(first, stop_loss_pct=0.11)
    changed = replace(state, risk=replace(state.risk, monitors=(moved, *others)))
    over = tour.advanced(TourView(state, changed, "monitors"))
    assert over.is_over
    assert over.text(TourView(state, changed, "monitors")) == ""


@pytest.mark.slow
async def test_the_step_stands_below_the_head_until_it_is_done_or_left() -> None:
    async with running(seen_before(STATE), first="portfolio", size=(80, 24)) as seen:
        seen.app.post_message(TourRequested())
        await seen.until(lambda: f"TOUR 1/{len(STEPS)}" in seen.text)
        assert "7 shows the agents" in seen.text
        await seen.press("7")
        await seen.until(lambda: f"TOUR 2/{len(STEPS)}" in seen.text)
        await seen.press("colon", *"tour end", "enter")
        await seen.until(lambda: "TOUR" not in seen.text)
        await seen.press("colon", *"tour end", "enter")
        await seen.until(lambda: any("no tour is under way" in toast for toast in seen.toasts))


@pytest.mark.slow
async def test_the_last_step_ends_the_tour_and_says_so() -> None:
    state = seen_before(guarded_state())
    first, *others = state.risk.monitors
    async with running(state, first="monitors", size=(120, 40)) as seen:
        seen.app.guide.tour = Tour(state, STOP)
        moved = replace(first, stop_loss_pct=0.11)
        await seen.bring(replace(state, risk=replace(state.risk, monitors=(moved, *others))))
        await seen.until(lambda: any("tour done" in toast for toast in seen.toasts))
        assert "TOUR" not in seen.text


@pytest.mark.slow
async def test_the_cursor_stands_on_the_monitor_of_what_was_bought() -> None:
    state = seen_before(guarded_state())
    monitor = next(one for one in state.risk.monitors[2:] if one.venue is Venue.SIM)
    ticket = replace(state.tickets[0], kind="trade", state=TicketState.DONE, holding=monitor.key)
    state = replace(state, tickets=(ticket, *state.tickets))
    async with running(state, first="markets", size=(120, 40)) as seen:
        seen.app.guide.tour = Tour(state, STOP)
        await seen.press("3")
        await seen.bring(replace(state, stars=frozenset({"x"})))
        assert seen.app.front.current_row() == monitor.key
        await seen.press("g")
        await seen.bring(state)
        assert seen.app.front.current_row() != monitor.key


@pytest.mark.slow
async def test_no_tour_without_play_money() -> None:
    state = seen_before(sample_state())
    remote = replace(state, service=replace(state.service, embedded=False))
    async with running(remote, first="markets") as seen:
        seen.app.post_message(TourRequested())
        await seen.until(lambda: any("play money" in toast for toast in seen.toasts))
        assert "TOUR" not in seen.text
