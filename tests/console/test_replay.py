"""Replay: the desk as it was, plainly marked; nothing is sent from it, and one key returns."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kit.console.doors import Running, running
from kit.console.every_screen import texts
from kit.console.snapshot import assert_snapshot
from kit.pages.steps import key_named, rows_of
from kit.samples.desk import NOW, sample_state
from kit.samples.whole import whole_desk
from service_tui.console.actions import ON_RECORD
from service_tui.console.closed_desk import DeskClosedError
from service_tui.console.fields import FieldError
from service_tui.console.freshness import NO_DESK
from service_tui.console.keys import KEYS, KeyBinding, keys_of
from service_tui.console.questions import short_question
from service_tui.console.replay_text import READINGS, is_of_view, read_time, replay_condition
from service_tui.console.shell.views import SCREENS
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import SetPreference, WatchMarket
from service_tui.desk.recording.moment import RecordedMoment
from service_tui.desk.recording.player import Player
from service_tui.desk.recording.recorder import Recorder
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import Recordings
from service_tui.units import Timestamp

LATER_S = 3_000.0
"""How long after the last record the person looks back."""


def moved(state: DeskState, rng: random.Random) -> DeskState:
    """The state a while later: prices, cash, an order."""
    markets = {
        name: replace(market, price=rng.uniform(0.02, 0.98))  # type: ignore[arg-type]
        for name, market in state.markets.items()
    }
    ticket = replace(
        state.tickets[0], ticket_id=f"n-{rng.random()}", opened_at=state.tickets[0].opened_at
    )
    account = state.account
    assert account is not None
    return replace(
        state,
        markets=markets,
        account=replace(account, cash=account.cash - rng.randrange(10_000_000)),
        positions=state.positions[rng.randrange(3) :],
        tickets=(ticket, *state.tickets),
    )


def test_the_line_of_a_recorded_state_names_its_event_and_the_way_out() -> None:
    state = sample_state(6)
    for event, begins in (("", "nothing can be sent; "), ("halted", "halted · nothing can be ")):
        live, alone = (
            replay_condition(RecordedMoment(NOW, event, state), is_alone=is_alone).sentence
            for is_alone in (False, True)
        )
        assert live.startswith(begins)
        assert alone.startswith(begins)
        assert "returns to now" in live
        assert " leaves" not in live
        assert " leaves" in alone


def record(folder: Path, count: int = 4, *, halted: bool = False) -> dict[Timestamp, DeskState]:
    """Records of as many states, the last at NOW."""
    store, recorder, rng = Recordings(folder), Recorder(), random.Random(5)
    store.begin()
    state = replace(whole_desk(), halt=HaltView(NOW) if halted else None)
    states: dict[Timestamp, DeskState] = {}
    for place in range(count):
        at = Timestamp(NOW - 60.0 * (count - 1 - place))
        row = recorder.record(state, at)
        assert row is not None
        store.add(row)
        states[at] = state
        state = moved(state, rng)
    return states


@pytest.mark.slow
async def test_every_screen_shows_a_moment_as_it_was(tmp_path: Path) -> None:
    states, player = record(tmp_path), Player(Recordings(tmp_path))
    drawn = [list(states)[place] for place in (0, 2)]
    async with running(states[drawn[0]], player=lambda: player, size=(120, 40)) as seen:
        then = {}
        for at in drawn:
            seen.clock[0] = at
            await seen.bring(replace(states[at], stars=frozenset({"none"})))
            await seen.bring(states[at])
            then[at] = await texts(seen)
        seen.clock[0] = NOW + LATER_S
        await seen.bring(moved(states[drawn[0]], random.Random(1)))
        for at in reversed(drawn):
            await seen.app.replay.show(at)
            again = await texts(seen)
            for name in SCREENS:
                assert again[name] == then[at][name], name
    assert then[drawn[0]] != then[drawn[1]]


@pytest.mark.slow
async def test_the_charts_of_a_moment_have_their_title_and_its_mark(tmp_path: Path) -> None:
    states, player = record(tmp_path), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, size=(120, 40)) as seen:
        seen.clock[0] = NOW + LATER_S
        await seen.press("1", "f3")
        await seen.until(lambda: seen.app.replay.moment is not None)
        market_id = seen.app.front.current_market()
        await seen.press("f4")
        await seen.until(lambda: "Charts" in seen.text)
        await seen.pilot.pause()
        question = states[NOW].markets[market_id].question
        title = next(line for line in seen.lines if "YES, 24 h" in line)
        assert short_question(question)[:22] in title
        assert "Charts  REPLAY 15 Jan 08:00:00" in seen.text
        await seen.press("escape", "f3", "f4")
        await seen.until(lambda: "Charts" in seen.text)
        assert "REPLAY" not in seen.text


@pytest.mark.slow
async def test_a_moment_is_marked_and_one_key_returns(tmp_path: Path) -> None:
    states, player = record(tmp_path), Player(Recordings(tmp_path))
    last = states[NOW]
    async with running(last, player=lambda: player, size=(100, 30)) as seen:
        seen.clock[0] = NOW + LATER_S
        await seen.press("f3")
        await seen.until(lambda: seen.app.replay.moment is not None)
        await seen.pilot.pause()
        assert "REPLAY 15 Jan 08:00:00" in seen.lines[0]
        assert "nothing can be sent; F3 returns to now" in seen.text
        await seen.press("left_parenthesis")
        await seen.until(lambda: "07:59:00" in seen.lines[0])
        await seen.press("left_curly_bracket")
        await seen.until(lambda: "07:58:00" in seen.lines[0])
        await seen.press("full_stop")
        await seen.until(lambda: "07:59:00" in seen.lines[0])
        await seen.press("ctrl+shift+left")
        await seen.until(lambda: "07:57:00" in seen.lines[0])
        await seen.press("left_parenthesis")
        await seen.until(lambda: "no earlier record" in seen.toasts)
        # The present goes on below.
        newer = moved(last, random.Random(3))
        await seen.bring(newer)
        assert seen.app.desk_state.rewound_to is not None
        await seen.press("f3")
        assert seen.app.replay.moment is None
        assert seen.app.desk_state.tickets == newer.tickets
        assert "REPLAY" not in seen.text


@pytest.mark.slow
async def test_the_keys_of_the_page_move_as_it_says(tmp_path: Path) -> None:
    states, player = record(tmp_path), Player(Recordings(tmp_path))
    rows = [[key_named(key) for key in keys] for keys, _ in rows_of("docs/replay.md", "")]
    pairs = [keys for keys in rows if len(keys) == 2]
    typed, now, halt = (key for keys in rows for key in keys if len(keys) == 1)
    assert len(pairs) == 3
    async with running(states[NOW], player=lambda: player, size=(100, 30)) as seen:
        seen.clock[0] = NOW + LATER_S
        await seen.press(now)
        await seen.until(lambda: "REPLAY 15 Jan 08:00:00" in seen.lines[0])
        for before, after in pairs:
            await seen.press(before)
            await seen.until(lambda: "07:59:00" in seen.lines[0])
            await seen.press(after)
            await seen.until(lambda: "08:00:00" in seen.lines[0])
        await seen.press(typed)
        await seen.until(lambda: len(seen.app.screen_stack) > 1)
        await seen.press("escape", now)
        await seen.until(lambda: "REPLAY" not in seen.text)
        await seen.press(now)
        await seen.until(lambda: "REPLAY" in seen.text)
        await seen.press(halt)
        await seen.until(lambda: seen.app.replay.moment is None)


@pytest.mark.slow
async def test_a_moment_looks_as_it_is_meant_to(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(
        states[NOW], player=lambda: player, first="portfolio", size=(80, 24)
    ) as seen:
        await seen.press("f3")
        await seen.until(lambda: seen.app.replay.moment is not None)
        seen.app.clear_notifications()
        await assert_snapshot(seen.pilot, "replay_80x24", themes=("night", "contrast"))


SENDING = {
    group: [key for key in keys_of(group) if key.ident not in ON_RECORD]
    for group in (*SCREENS, "app")
}
"""Keys that a moment refuses, by their screen."""


@pytest.mark.slow
async def test_no_key_sends_anything_from_a_moment(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, size=(120, 40)) as seen:
        await seen.press("f3")
        seen.doors.submitted.clear()
        for name in SCREENS:
            await seen.app.run_action(f"go('{name}')")
            await seen.pilot.pause()
            for key in SENDING[name]:
                assert "nothing can be sent" in seen.app.disabled_reason(key), key.ident
                # As a click on a row does it, past the reasons that the footer shows.
                await seen.app.run_action(key.action, seen.app.front)
                assert len(seen.app.screen_stack) == 1, key.ident
            await refused(seen, SENDING[name][:1])
        await refused(seen, SENDING["app"])
        assert seen.doors.submitted == []


async def refused(seen: Running, keys: list[KeyBinding]) -> None:
    """Press each key; it does nothing but say why."""
    for key in keys:
        seen.app.clear_notifications()
        await seen.pilot.press(key.keys[0])
        assert len(seen.app.screen_stack) == 1, key.ident
        assert seen.toasts, key.ident
        assert "nothing can be sent" in seen.toasts[-1], key.ident


@pytest.mark.slow
async def test_what_is_given_by_other_ways_is_refused_too(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, first="markets") as seen:
        await seen.press("f3")
        seen.doors.submitted.clear()
        for typed in ("buy", "sell", "star", "resume", "speed 10", "pause", "refresh", "drill"):
            await seen.press("colon", *typed, "enter")
            assert "nothing can be sent" in seen.text, typed
            await seen.press("escape")
        assert seen.app.give(WatchMarket("m-1")) == ""
        assert "nothing can be sent" in seen.app.give(SetPreference("autoexit", "off"))
        assert seen.doors.submitted == []
        # What a screen wanted meanwhile is asked for afterwards, once.
        await seen.press("f3")
        assert [c for c in seen.doors.submitted if isinstance(c, WatchMarket)] == [
            WatchMarket("m-1")
        ]


@pytest.mark.slow
async def test_amounts_are_masked_if_they_are_now_or_were_then(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, first="portfolio") as seen:
        await seen.press("f3")
        assert "•" not in seen.lines[0]
        await seen.press("z")
        assert seen.app.desk_state.preferences["privacy"] == "on"
        assert seen.app.replay.moment is not None
        masked = seen.text
        await seen.press("z")
        assert masked != seen.text


@pytest.mark.slow
async def test_a_theme_chosen_meanwhile_is_worn_and_masks_follow_the_present(
    tmp_path: Path,
) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, first="portfolio") as seen:
        await seen.press("f3")
        worn = seen.app.theme
        await seen.press("f8")
        assert seen.app.replay.moment is not None
        assert seen.app.theme != worn
        chosen = seen.app.theme
        await seen.press("f3")
        assert seen.app.theme == chosen


@pytest.mark.slow
async def test_leaving_from_a_moment_asks_for_what_is_pending_now(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    quiet = replace(states[NOW], tickets=())
    async with running(quiet, player=lambda: player) as seen:
        await seen.press("f3")
        sent = replace(states[NOW].tickets[0], state=TicketState.SENT, what="the present order")
        await seen.bring(replace(quiet, tickets=(sent,)))
        await seen.press("ctrl+q")
        await seen.until(lambda: "the present order" in seen.text)


@pytest.mark.slow
async def test_a_notice_of_the_present_is_marked(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player) as seen:
        await seen.press("f3")
        newest = max((notice.notice_id for notice in states[NOW].notices), default=0)
        await seen.bring(replace(states[NOW], notices=(Notice(newest + 1, "bad", "exit failed"),)))
        assert any("now: exit failed" in toast for toast in seen.toasts)


@pytest.mark.slow
async def test_a_halt_of_the_present_and_a_closed_desk_are_shown_beside_a_moment(
    tmp_path: Path,
) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player) as seen:
        await seen.press("f3")
        assert "now halted" not in seen.text
        await seen.bring(replace(states[NOW], halt=HaltView(NOW)))
        assert "now halted" in seen.text
        assert seen.app.replay.moment is not None
        seen.doors.fail(DeskClosedError("the database was removed", "restart"))
        await seen.until(lambda: "now desk closed" in seen.text)


@pytest.mark.slow
async def test_what_was_masked_when_it_was_recorded_stays_so_and_says_it(tmp_path: Path) -> None:
    states, store = record(tmp_path, 2), Recordings(tmp_path)
    masked = replace(states[NOW], preferences={**states[NOW].preferences, "privacy": "on"})
    row = Recorder().record(masked, Timestamp(NOW + 60))
    assert row is not None
    store.add(row)
    player = Player(store)
    async with running(states[NOW], player=lambda: player, first="portfolio") as seen:
        seen.clock[0] = NOW + LATER_S
        await seen.press("f3")
        await seen.until(lambda: seen.app.replay.moment is not None)
        await seen.press("z")
        seen.app.clear_notifications()
        await seen.press("z")
        assert any("they stay so here" in toast for toast in seen.toasts)
        assert not any("amounts shown" in toast for toast in seen.toasts)


@pytest.mark.slow
async def test_a_market_that_nobody_watched_is_not_said_to_load(tmp_path: Path) -> None:
    states, player = record(tmp_path, 2), Player(Recordings(tmp_path))
    async with running(states[NOW], player=lambda: player, first="markets", size=(160, 50)) as seen:
        await seen.press("f3")
        await seen.press("j", "j")
        await seen.pilot.pause(0.4)
        assert "not recorded" in seen.text
        assert "loading" not in seen.text


@pytest.mark.slow
async def test_a_console_that_only_replays_has_no_desk(tmp_path: Path) -> None:
    states, player = record(tmp_path, halted=True), Player(Recordings(tmp_path))
    async with running(
        alone(states[NOW]), player=lambda: player, replay_at=Timestamp(NOW - 30), first="portfolio"
    ) as seen:
        await seen.until(lambda: "15 Jan 07:59:00" in seen.lines[0])
        assert "q leaves" in seen.text
        await seen.press("f3")
        assert any("no desk is open here" in toast for toast in seen.toasts)
        for key in ("f9", "exclamation_mark"):
            seen.app.clear_notifications()
            await seen.press(key)
            assert any("'service-tui halt' halts" in toast for toast in seen.toasts)
            assert len(seen.app.screen_stack) == 1
        assert not [one for one in seen.doors.submitted if isinstance(one, Halt)]
        assert seen.app.replay.moment is not None


def alone(state: DeskState) -> DeskState:
    """The first state of a console without a desk."""
    nothing = replace(
        DeskState(service=state.service), preferences={"welcome": "seen"}, rewound_to=NOW
    )
    service = replace(nothing.service, phase=Phase.OFFLINE, problem=NO_DESK)
    return replace(nothing, service=service)


NOON = Timestamp(1_800_014_400.0)
"""15 January 2027, 12:00 UTC."""


@pytest.mark.parametrize(
    ("text", "ago_s"),
    [
        ("11:30", 1_800),
        ("11:59:30", 30),
        ("12:00", 0),
        ("12:30", 23.5 * 3_600),
        ("yesterday 11:30", 86_400 + 1_800),
        ("15 Jan 11:00", 3_600),
        ("16 jan 11:00:01", 364 * 86_400 + 3_600 - 1),
        ("2027-01-14 12:00", 86_400),
        ("2027-01-15T11:59:59", 1),
        ("20m", 1_200),
        ("-1h30m", 5_400),
        ("2d ago", 2 * 86_400),
        ("45s", 45),
    ],
)
def test_a_time_is_read_as_one_that_has_passed(text: str, ago_s: float) -> None:
    assert read_time(text, NOON, UTC) == NOON - ago_s


@pytest.mark.parametrize(
    "text",
    [
        "",
        "25:00",
        "11:60",
        "noon",
        "ago",
        "31 feb 10:00",
        "1 xyz 10:00",
        "2027-13-01 10:00",
    ],
)
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(FieldError, match="type a time, such as 03:12"):
        read_time(text, NOON, UTC)


def test_every_key_on_the_list_exists_and_what_screens_give_alone_changes_nothing() -> None:
    assert {key.ident for key in KEYS} >= ON_RECORD
    assert sum(map(len, SENDING.values())) > 60
    assert not any(is_of_view(SetPreference(name, "")) for name in ("autoexit", "reactor", "quiet"))
    assert all(
        "Watch" in one.__name__ or "Read" in one.__name__ or "Quote" in one.__name__
        for one in READINGS
    )


@pytest.mark.parametrize(
    ("typed", "now", "meant"),
    [
        # In Berlin 02:00 to 03:00 comes twice on this day: at 00:00 and at 01:00 UTC.
        ("02:40", "2026-10-25T01:45", "2026-10-25T01:40"),
        ("02:50", "2026-10-25T01:45", "2026-10-25T00:50"),
        ("02:40", "2026-10-25T00:45", "2026-10-25T00:40"),
        ("02:40", "2026-10-25T12:00", "2026-10-25T01:40"),
        ("yesterday 02:40", "2026-10-26T12:00", "2026-10-25T01:40"),
        ("2026-10-25 02:40", "2026-11-01T12:00", "2026-10-25T01:40"),
        ("25 Oct 02:40", "2026-11-01T12:00", "2026-10-25T01:40"),
        ("03:10", "2026-10-25T12:00", "2026-10-25T02:10"),
    ],
)
def test_of_an_hour_that_comes_twice_the_last_that_has_passed_is_meant(
    typed: str, now: str, meant: str
) -> None:
    def at(text: str) -> Timestamp:
        return Timestamp(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())

    assert read_time(typed, at(now), ZoneInfo("Europe/Berlin")) == at(meant)
