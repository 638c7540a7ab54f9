"""The overview screen: rows that need the person, their order, and muting them."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import Running, running, seen_before
from kit.console.snapshot import assert_snapshot
from kit.examples import examples
from kit.samples.attention import alert_of, everything
from kit.samples.desk import NOW, QUESTIONS, sample_state
from kit.samples.reactor import reactor_state
from service_tui.console.fields import FieldError
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.needs import DISMISSED, DISMISSED_ABSENCE, absence_of, needs
from service_tui.console.needs_aside import MUTED, Mute, may_wait_for_change, written_mutes
from service_tui.console.ranking import Need, folded
from service_tui.console.screens.overview.detail import absence_text
from service_tui.console.screens.overview.forms import read_snooze
from service_tui.console.screens.overview.screen import AttentionScreen
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.markets import NewsView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import SignalState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.world import AbsenceView, ResolvedView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import MarketStatus, Mode, Side
from service_tui.units import Micros, Probability, Timestamp

STATE = seen_before(sample_state())
CALM = replace(STATE, tickets=(), positions=(), fleet=None, buy_limits=None)
AWAY_FOR = AbsenceView(
    closed_at=Timestamp(NOW - 90_000),
    opened_at=Timestamp(NOW - 20),
    world_elapsed_s=90_000.0,
    resolved_count=14,
    listed_count=22,
    resolved=tuple(
        ResolvedView(
            Timestamp(NOW - 5_000 * place),
            f"m-{place}",
            question,
            outcome=NO if place % 2 else YES,
            payout=Micros(120_000_000 * (place % 2 == 0)),
            pnl=Micros(43_100_000 if place % 2 == 0 else -25_000_000),
        )
        for place, question in enumerate(QUESTIONS)
    ),
    news=tuple(
        NewsView(Timestamp(NOW - place), f"m-{place}", f"Reading {place} revised", 0.41, 0.47)
        for place in range(5)
    ),
    equity_before=Micros(10_000_000_000),
    equity_after=Micros(10_241_200_000),
)


def away(state: DeskState = STATE) -> DeskState:
    return replace(state, world=replace(state.world, meanwhile=AWAY_FOR))


def words(state: DeskState, now: float = NOW) -> list[str]:
    return [need.word for need in needs(state, Timestamp(now))]


def at_cost(**changes: object) -> PositionView:
    """A position that is worth what it cost."""
    held = STATE.positions[0]
    return replace(held, cost=held.mark_value, unrealized=Micros(0), **changes)


def screen(seen: Running) -> AttentionScreen:
    front = seen.app.front
    assert isinstance(front, AttentionScreen)
    return front


def rows(seen: Running) -> list[Need]:
    order = screen(seen).table.order
    return [order[place] for place in range(len(order))]


# -- what needs somebody ------------------------------------------------------------------------


def test_what_runs_out_comes_before_what_only_stands() -> None:
    found = words(STATE)
    assert found[:2] == ["unknown", "resolves"]
    assert found.index("skill") > found.index("refused")


def test_calm_is_empty() -> None:
    assert words(CALM) == []


def test_what_only_the_cache_knows_asks_for_nothing() -> None:
    assert words(replace(STATE, from_cache=True)) == []


def test_refusals_are_forgotten_after_ten_minutes_and_unknown_orders_never() -> None:
    later = replace(STATE, positions=(), fleet=None, buy_limits=None)
    assert "refused" in words(later, NOW + 400)
    assert words(later, NOW + 700) == ["unknown"]


def test_the_time_that_counts_is_the_worlds() -> None:
    held = at_cost(resolves_at=Timestamp(NOW + 3_000))
    fast = replace(CALM, positions=(held,), markets={}, world=replace(STATE.world, speed=60))
    assert words(fast, NOW) == []
    assert words(fast, NOW + 36) == ["resolves"]


@pytest.mark.parametrize(
    ("side", "before", "now", "needed"),
    [
        (Side.YES, 0.50, 0.56, False),
        (Side.YES, 0.50, 0.58, True),
        (Side.YES, 0.50, 0.42, True),
        (Side.NO, 0.50, 0.42, True),
        (Side.NO, 0.80, 0.84, True),
        (Side.YES, 0.80, 0.84, False),
        (Side.YES, None, 0.84, False),
        (Side.YES, 0.0, 0.84, False),
    ],
)
def test_a_move_is_measured_on_the_side_held(
    side: Side, before: float | None, now: float, *, needed: bool
) -> None:
    held = at_cost(side=side, resolves_at=None, opened_at=None)
    market = replace(STATE.markets[held.market_id], price=Probability(now), price_24h_ago=before)
    state = replace(CALM, positions=(held,), markets={held.market_id: market})
    assert words(state) == (["moved"] if needed else [])


@pytest.mark.parametrize(("used", "needed"), [(400, False), (401, True), (900, True)])
@pytest.mark.parametrize("mode", [Mode.SIM, Mode.LIVE])
def test_a_day_limit_used_above_80_percent_needs_somebody(
    mode: Mode, used: int, *, needed: bool
) -> None:
    spent = Micros(used * 1_000_000 if mode is Mode.LIVE else 0)
    trades = used if mode is Mode.SIM else 0
    limits = replace(STATE.limits, day_spent=spent, day_trades=trades)
    state = replace(CALM, limits=limits, service=replace(STATE.service, mode=mode))
    assert words(state) == (["day limit"] if needed else [])


def test_paused_trading_needs_somebody_and_leads_to_the_settings() -> None:
    (need,) = needs(replace(CALM, limits=replace(STATE.limits, paused=True)), NOW)
    assert (need.word, need.screen) == ("paused", "settings")


def test_only_what_has_ended_can_be_put_aside() -> None:
    keys = "\n".join(need.key for need in needs(STATE, NOW))
    left = needs(replace(STATE, preferences={DISMISSED: keys}), NOW)
    assert {need.word for need in left} == {"unknown", "resolves", "moved", "skill"}


def test_privacy_masks_amounts() -> None:
    private = replace(STATE, preferences={"privacy": "on"})
    assert not any("25.00" in need.what for need in needs(private, NOW))


# -- while nobody looked ------------------------------------------------------------------------


@examples(10)
@given(st.integers(20, 250), st.integers(2, 60))
def test_an_absence_fits_wherever_it_is_told(width: int, lines: int) -> None:
    told = absence_text(AWAY_FOR, width=width, lines=lines, masked=False)
    assert len(told.split("\n")) <= lines
    assert all(line.cell_len <= width for line in told.split("\n"))


def test_an_absence_tells_equity_resolutions_and_news() -> None:
    told = absence_text(AWAY_FOR, width=120, lines=20, masked=False).plain
    for part in (
        "1d 01h of world time",
        "10,000.00 → 10,241.20 ▲ +241.20",
        "14 resolved, yours 7",
        "120.00",
        "-25.00",
        "Reading 0 revised",
    ):
        assert part in told


def test_a_masked_absence_tells_no_amount() -> None:
    told = absence_text(AWAY_FOR, width=120, lines=20, masked=True).plain
    assert "10,241.20" not in told
    assert "120.00" not in told


def test_an_absence_put_aside_stays_aside_and_the_next_one_is_told() -> None:
    seen = replace(away(), preferences={DISMISSED_ABSENCE: f"{AWAY_FOR.opened_at:.0f}"})
    assert absence_of(seen) is None
    later = replace(AWAY_FOR, opened_at=Timestamp(NOW + 99))
    assert absence_of(replace(seen, world=replace(seen.world, meanwhile=later))) is later


# -- the screen ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_the_screen_looks_so(size: tuple[int, int]) -> None:
    async with running(away(), size=size) as seen:
        seen.app.clear_notifications()
        await seen.pilot.pause()
        await assert_snapshot(seen.pilot, f"attention_{size[0]}x{size[1]}")


@pytest.mark.slow
async def test_calm_says_so() -> None:
    async with running(CALM) as seen:
        assert "All clear" in seen.text
        await seen.press("enter", "d", "u")
        assert seen.app.front is screen(seen)


@pytest.mark.slow
async def test_enter_leads_to_the_thing() -> None:
    async with running(STATE) as seen:
        unknown = next(t for t in STATE.tickets if t.state is TicketState.UNKNOWN)
        screen(seen).focus_row(f"ticket {unknown.ticket_id}")
        await seen.press("enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "blotter")
        assert seen.app.front.current_row() == unknown.ticket_id
        await seen.press("0")
        moved = next(need for need in rows(seen) if need.word == "moved")
        screen(seen).focus_row(moved.key)
        await seen.press("enter")
        await seen.until(lambda: moved.members[0] in rows(seen))
        screen(seen).focus_row(moved.members[0].key)
        await seen.press("enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "portfolio")
        assert seen.app.front.current_row() == moved.members[0].row


@pytest.mark.slow
async def test_a_row_of_several_opens_folds_and_goes_as_one() -> None:
    settled = tuple(
        at_cost(
            market_id=f"m{place}",
            status=MarketStatus.RESOLVED,
            outcome=YES,
            realized=Micros(place),
            resolves_at=Timestamp(NOW - 60),
        )
        for place in range(1, 5)
    )
    async with running(replace(CALM, positions=(), closed=settled)) as seen:
        (row,) = rows(seen)
        assert (len(row.members), row.verb) == (4, "Show all")
        assert "4 positions settled" in seen.text
        screen(seen).focus_row(row.key)
        await seen.press("enter")
        await seen.until(lambda: len(rows(seen)) == 5)
        assert rows(seen)[1:] == list(row.members)
        assert screen(seen).current_row() == row.key
        await seen.press("enter")
        await seen.until(lambda: len(rows(seen)) == 1)
        await seen.press("d")
        assert rows(seen) == []
        await seen.press("u")
        assert rows(seen) == [row]


@pytest.mark.slow
async def test_the_number_of_needs_stands_beside_the_key() -> None:
    async with running(STATE, first="settings") as seen:
        assert re.search(rf" 0 need\S*!{len(folded(needs(STATE, NOW)))} ", seen.lines[-1])
        await seen.bring(CALM)
        assert "!" not in seen.lines[-1]


# -- the inbox ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_each_row_shows_amount_time_left_and_agent_at_80_cells() -> None:
    async with running(everything(), size=(80, 24)) as seen:
        row = next(line for line in seen.lines if "? approve" in line and "moss" in line)
        assert re.search(r"┃\? approve .*moss-runn…\s+25\.00\s+4m20s", row)
        unpinned = next(line for line in seen.lines if "○ signal" in line)
        assert "┃" not in unpinned
        assert "┃ pinned, then time left, then amount" in seen.text


@pytest.mark.slow
async def test_a_row_is_snoozed_is_not_counted_and_comes_back() -> None:
    async with running(STATE) as seen:
        every = needs(STATE, NOW)
        first = next(one for one in rows(seen) if one.left_s is None and not one.members)
        others = [need for need in every if need.key != first.key]
        screen(seen).focus_row(first.key)
        await seen.press("Z", *"5m", "enter")
        assert first.key not in [need.key for need in rows(seen)]
        assert "1 snoozed (m lists them)" in seen.text
        assert re.search(rf" 0 need\S*!{len(folded(others))} ", seen.lines[-1])
        seen.clock[0] = NOW + 4 * 60
        seen.app.show_state()
        await seen.pilot.pause()
        assert "1 snoozed" in seen.text
        seen.clock[0] = NOW + 5 * 60
        seen.app.show_state()
        await seen.pilot.pause()
        assert "snoozed" not in seen.text


@pytest.mark.slow
async def test_a_snooze_is_kept_and_a_restart_still_hides_the_row() -> None:
    async with running(STATE) as seen:
        # What is pinned wants a time: a change of it might not be seen.
        pinned = rows(seen)[0]
        screen(seen).focus_row(pinned.key)
        await seen.press("Z", *"changes", "enter")
        assert "Give a time" in seen.text
        await seen.press("escape", "escape")
        await seen.until(lambda: len(seen.app.screen_stack) == 1)
        first = next(one for one in rows(seen) if may_wait_for_change(one) and not one.members)
        screen(seen).focus_row(first.key)
        await seen.press("Z", *"changes", "enter")
        kept = seen.doors.submitted[-1]
        assert isinstance(kept, SetPreference)
    after = replace(STATE, preferences={**STATE.preferences, kept.name: kept.value})
    async with running(after) as seen:
        assert first.key not in [need.key for need in rows(seen)]
        # The list names it, and shows it again.
        await seen.press("m")
        await seen.until(lambda: "it changes" in seen.text)
        await seen.press("G", "j", "j", "j", "enter")
        assert first.key in [need.key for need in rows(seen)]


@pytest.mark.slow
async def test_a_kind_is_muted_and_unmuted_by_the_same_key() -> None:
    async with running(STATE) as seen:
        row = next(need for need in rows(seen) if need.word == "moved")
        screen(seen).focus_row(row.key)
        await seen.press("m")
        assert "all positions moved" in seen.text
        await seen.press("enter")
        assert "moved" not in [need.word for need in rows(seen)]
        assert "muted (m lists them)" in seen.text
        await seen.press("u")
        assert "moved" in [need.word for need in rows(seen)]


@pytest.mark.slow
async def test_what_is_muted_is_listed_where_no_row_is() -> None:
    muted = written_mutes([Mute("signals", "signals")])
    state = replace(CALM, preferences={**CALM.preferences, MUTED: muted})
    async with running(state) as seen:
        assert rows(seen) == []
        await seen.press("m")
        assert "unmute all signals" in seen.text
        await seen.press("enter")
        assert seen.doors.submitted[-1] == SetPreference(MUTED, "")
        await seen.press("m")
        assert "Nothing is muted or snoozed" in seen.text


@pytest.mark.slow
async def test_marked_approvals_are_asked_about_at_once() -> None:
    async with running(everything()) as seen:
        first = next(need.key for need in rows(seen) if need.word == "approve")
        screen(seen).focus_row(first)
        await seen.press("space", "space")
        assert "2 marked" in seen.text
        await seen.press("enter")
        await seen.until(lambda: "Approve these trades?" in seen.text)
        assert isinstance(seen.app.screen, ConfirmMany)
        assert seen.app.front.name_in_keys == "approvals"


@pytest.mark.slow
async def test_marked_rows_of_several_kinds_have_no_common_action() -> None:
    async with running(everything()) as seen:
        screen(seen).focus_row(next(need.key for need in rows(seen) if need.word == "approve"))
        await seen.press("space", "space", "space", "enter")
        assert seen.toasts == ["! marked rows are of several kinds: mark one kind"]
        await seen.press("escape")
        assert "3 marked" not in seen.text


@pytest.mark.slow
async def test_marked_rows_are_dismissed_together_and_restored_together() -> None:
    async with running(STATE) as seen:
        ended = [need.key for need in rows(seen) if need.word in {"refused", "failed"}]
        screen(seen).focus_row(ended[0])
        await seen.press("space")
        screen(seen).focus_row(ended[1])
        await seen.press("space", "d")
        assert not {*ended} & {need.key for need in rows(seen)}
        await seen.press("u")
        assert {*ended} <= {need.key for need in rows(seen)}


@pytest.mark.slow
async def test_a_search_narrows_the_rows_and_not_their_number() -> None:
    async with running(everything()) as seen:
        await seen.press("slash", *"moss", "enter")
        assert {need.agent for need in rows(seen)} == {"moss-runner"}
        assert re.search(rf" 0 need\S*!{len(folded(needs(everything(), NOW)))} ", seen.lines[-1])
        await seen.press("slash", *["backspace"] * 4, *"amount:>90", "enter")
        assert rows(seen)
        assert all((need.money or 0) > 90_000_000 for need in rows(seen))
        await seen.press("slash", *["backspace"] * 10, *"zzz", "enter")
        assert "rows match the search" in seen.text
        await seen.press("escape")
        assert len(rows(seen)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("key", ["d", "enter", "Z"])
async def test_a_cursor_on_the_first_row_stays_there_when_a_newer_one_comes(key: str) -> None:
    async with running(STATE) as seen:
        await seen.press("g")
        risk = replace(STATE.risk, alerts=(alert_of(400),))
        await seen.bring(replace(STATE, risk=risk))
        assert screen(seen).current_row() == "alert al-1"
        # The person has not seen it yet: a key does nothing, and is told so.
        await seen.press(key)
        assert (seen.doors.submitted, len(seen.app.screen_stack)) == ([], 1)
        assert seen.toasts == [
            f"! The list has just changed: nothing sent. Press {key} again for this row."
        ]


@pytest.mark.slow
async def test_a_row_explains_its_place_and_is_copied() -> None:
    async with running(STATE) as seen:
        await seen.press("i")
        await seen.until(lambda: "pinned: it holds money or a decision" in seen.text)
        await seen.press("escape", "Y")
        assert seen.toasts[-1] == "✓ copied the row as JSON"


# -- until when ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "at"),
    [("", 3_600), ("1h", 3_600), ("45m", 2_700), ("changes", None), ("c", None), ("08:30", 1_800)],
)
def test_until_when_is_a_length_a_time_or_a_change(typed: str, at: float | None) -> None:
    found = read_snooze(typed, Timestamp(NOW)).at
    assert found == (None if at is None else NOW + at)


@pytest.mark.parametrize("typed", ["0m", "25:00", "soon", "1x"])
def test_what_is_no_moment_is_refused_with_examples(typed: str) -> None:
    with pytest.raises(FieldError, match="45m, 2h, 18:00, changes"):
        read_snooze(typed, Timestamp(NOW))


@pytest.mark.slow
async def test_a_marked_row_of_several_signals_is_mirrored_as_one() -> None:
    pending = [one for one in reactor_state().reactor.signals if one.state is SignalState.PENDING]
    two = tuple(
        replace(pending[0], signal_id=f"s-{place}", expires_at=Timestamp(NOW + 60 + place))
        for place in range(2)
    )
    reactor = replace(reactor_state().reactor, signals=two, choices={})
    async with running(replace(CALM, reactor=reactor)) as seen:
        (row,) = rows(seen)
        assert (len(row.members), row.word) == (2, "signal")
        await seen.press("space", "enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "reactor")
        await seen.until(lambda: len(seen.app.screen_stack) == 2)
        assert "2" in seen.text
