"""The frame around the screens: top bar, banners, toasts, and exits."""

import asyncio
import contextvars
import os
import random
import signal
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from textual import events
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
from textual.geometry import Offset, Size
from textual.worker import WorkerFailed

from kit.console.doors import RecordingDoors, Running, running, seen_before
from kit.console.limit_draft import open_order
from kit.console.snapshot import assert_snapshot
from kit.console.textual_private import active_app
from kit.examples import examples
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from service_tui.console.app import ConsoleApp
from service_tui.console.figures import figures
from service_tui.console.keys import KEYS, bindings_of, key_named
from service_tui.console.messages import KeyChosen, ThemeTried, ToastMessage
from service_tui.console.shell import fatal
from service_tui.console.shell.ending import KILLED, Ending
from service_tui.console.shell.frame import DEFAULT_THEME, WIDTH_MIN, known_theme, own_driver
from service_tui.console.shell.terminal import Terminal
from service_tui.console.theme import Themes, load_themes
from service_tui.console.widgets.banner import LastingCondition, lasting_conditions
from service_tui.console.widgets.key_bar import KeyBar, screen_keys
from service_tui.console.widgets.line_fit import GAP, Bit, fitted_bits, joined, meter
from service_tui.console.widgets.top_bar import (
    TopBar,
    approval_bits,
    badge_bits,
    drill_bits,
    money_bits,
    world_bits,
)
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import Micros, Timestamp

STATE = seen_before(sample_state())


def line(bits: tuple[Bit, ...], width: int = 200) -> str:
    return joined(fitted_bits(bits, width), width).plain


def with_service(**changes: object) -> DeskState:
    return replace(STATE, service=replace(STATE.service, **changes))


def lasting(state: DeskState, now: float = NOW, closed: str = "") -> tuple[LastingCondition, ...]:
    return lasting_conditions(state, Timestamp(now), started_at=Timestamp(now - 5), closed=closed)


# -- the top bar --------------------------------------------------------------------------------


def test_the_top_bar_says_mode_money_and_connection_in_words() -> None:
    told = line(money_bits(STATE, Timestamp(NOW + 3)))
    for part in ("SIM", "simulated", "venue sim", "plan pro", "equity 8,960.90", "▲ +41.20 today"):
        assert part in told
    assert told.endswith("● online 3s")


def test_real_money_is_said_in_words_and_never_gives_way() -> None:
    live = with_service(mode=Mode.LIVE, venue=Venue.EVM, embedded=False)
    assert "REAL MONEY" in line(money_bits(live, NOW), 60)
    tones = {str(bit.text.style) for bit in money_bits(live, NOW)}
    assert any("live" in tone for tone in tones)


@pytest.mark.parametrize(("width", "words"), [(150, "history 2024-09-03"), (60, "2024-09-03")])
def test_the_day_of_a_history_stays_in_the_head_at_every_width(width: int, words: str) -> None:
    assert STATE.world is not None
    world = replace(STATE.world, history="oslo", now=Timestamp(1_725_350_400.0), wall_at=NOW)
    assert words in line(money_bits(replace(STATE, world=world), NOW), width)


def test_what_open_buys_keep_is_not_called_spent() -> None:
    live = with_service(mode=Mode.LIVE, venue=Venue.EVM, embedded=False)
    kept = VenueSumView(Venue.EVM, None, Micros(5_000_000), Micros(0), 0, None, None)
    assert "spent today" in line(world_bits(live, NOW))
    told = line(world_bits(replace(live, venue_sums=(kept,)), NOW))
    assert "spent+reserved today" in told


def crowded() -> DeskState:
    """Everything that the head can have to say at once."""
    old = {**dict.fromkeys(STATE.polls, NOW), Topic.POSITIONS: NOW - 3_599.0}
    service = replace(STATE.service, read_only=True, mode=Mode.LIVE)
    account = replace(
        STATE.account,
        cash=Micros(-9_876_543_210_000_000),
        equity=Micros(9_876_543_210_000_000),
        day_pnl=Micros(-1_234_567_890_000),
    )
    limits = replace(STATE.limits, day_trades=4_321, day_resting=1_234, day_trades_max=99_999)
    held = tuple(pending_trade_of(f"h{at}") for at in range(99))
    return replace(
        STATE,
        seen=old,
        service=service,
        account=account,
        limits=limits,
        halt=HaltView(NOW),
        supervision=replace(STATE.supervision, pending_trades=held),
    )


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_cash_stands_beside_ten_approvals_and_notices(width: int) -> None:
    held = tuple(pending_trade_of(f"h{at}") for at in range(10))
    state = replace(STATE, supervision=replace(STATE.supervision, pending_trades=held))
    shown = line((*money_bits(state, NOW), *approval_bits(state, NOW), *badge_bits(3)), width)
    # Venue and plan stay, whatever waits; the label of the equity goes before the cash does.
    for part in ("sim", "pro", " 8,960.90", "+41.20", "cash 8,214.33", "online 0s"):
        assert part in shown
    assert ("& 10 approvals" if width > 100 else "&10") in shown
    assert any(words in shown for words in (" 3 notices ", " 3 new "))


def test_open_orders_are_counted_beside_the_pending_ones() -> None:
    order = open_order()
    resting = replace(
        STATE,
        tickets=(),
        orders=(order,),
        limits=replace(STATE.limits, day_trades=7, day_resting=1),
    )
    shown = line(world_bits(resting, NOW), 160)
    assert "buys 7/500 today +1 open order " in shown
    assert "0 orders pending, 1 open " in shown
    assert "0 orders pending" in line(world_bits(resting, NOW), 80)
    assert ", 0 open" not in line(world_bits(replace(resting, orders=()), NOW), 160)


@pytest.mark.slow
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("state", [STATE, crowded()], ids=["fair", "crowded"])
def test_the_head_drops_whole_parts_and_cuts_no_figure(state: DeskState, mode: Mode) -> None:
    known = replace(state, service=replace(state.service, mode=mode))
    above = (*money_bits(known, NOW), *approval_bits(known, NOW), *badge_bits(1_234))
    below = world_bits(known, NOW)
    for bits in (above, below, (*above, *below)):
        for width in range(WIDTH_MIN, 251):
            placed = fitted_bits(bits, width)
            assert all(left + text.cell_len <= width for _, left, text in placed), width
            for index, _, text in placed:
                bit = bits[index]
                assert text.plain in {bit.text.plain, bit.short and bit.short.plain}
            first = [bits[index].text.plain.strip() for index, _, _ in placed][:2]
            assert bits is below or mode.value in first


def test_a_label_gives_way_before_its_figure_is_cut() -> None:
    shown = figures((("unrealized $", Text("-1,234,567,890.12")),), across=1, width=24)
    assert shown.plain.endswith("-1,234,567,890.12")
    assert shown.plain.startswith("unrea")
    assert shown.cell_len == 24
    # A letter of two cells takes both, and a figure that fills its line stands apart from its name.
    wide = figures((("市場", Text("-12.34")),), across=1, width=14)
    assert wide.plain == "市場    -12.34"
    assert figures((("cash", Text("12.34")),), across=1, width=7).plain == "… 12.34"


@pytest.mark.parametrize(
    ("phase", "clock"),
    [
        (DrillPhase.BRIEFING, "not started"),
        (DrillPhase.RUNNING, "1:30 of 8:00"),
        (DrillPhase.ENDING, "working out the result"),
        (DrillPhase.OVER, "over"),
    ],
)
def test_a_drill_says_how_far_it_is(phase: DrillPhase, clock: str) -> None:
    began = None if phase is DrillPhase.BRIEFING else Timestamp(NOW - 90)
    drill = DrillView("crash", "Crash", "It falls.", 8, phase, began)
    (bit,) = drill_bits(replace(STATE, drill=drill), NOW)
    assert bit.text.plain == f" DRILL  Crash {clock}"
    assert bit.short is not None
    assert bit.short.plain == f" DRILL  {clock}"
    assert drill_bits(replace(STATE, drill=None), NOW) == ()


def test_a_dry_run_is_called_so() -> None:
    assert "DRY" in line(money_bits(with_service(mode=Mode.DRY), NOW))


@pytest.mark.parametrize(
    ("phase", "word"),
    [
        (Phase.CONNECTING, "connecting"),
        (Phase.OFFLINE, "○ offline"),
        (Phase.UNAUTHORIZED, "key refused"),
    ],
)
def test_the_connection_has_a_word_and_a_sign(phase: Phase, word: str) -> None:
    assert word in line(money_bits(with_service(phase=phase), NOW))


def test_what_is_stale_is_named_with_its_age() -> None:
    old = replace(STATE, seen={**STATE.seen, Topic.POSITIONS: Timestamp(NOW - 9)})
    told = line(money_bits(old, NOW))
    assert "STALE positions 9s" in told
    assert "STALE" not in line(money_bits(STATE, Timestamp(NOW + 4)))


def test_the_world_shows_its_clock_and_pace() -> None:
    fast = replace(STATE, world=replace(STATE.world, speed=60))
    assert line(world_bits(fast, Timestamp(NOW + 60))).endswith("world 60x 15 Jan 09:00")
    still = replace(STATE, world=replace(STATE.world, speed=0))
    assert "world paused" in line(world_bits(still, NOW))
    remote = with_service(embedded=False)
    assert "world" not in line(world_bits(remote, NOW))


def test_a_cached_world_shows_no_time_of_its_own() -> None:
    assert line(world_bits(replace(STATE, from_cache=True), NOW)).endswith("world 1x")


def test_privacy_masks_the_bar() -> None:
    private = replace(STATE, preferences={"privacy": "on"})
    told = line(money_bits(private, NOW)) + line(world_bits(private, NOW))
    assert "8,960.90" not in told
    assert "41.20" not in told


def test_what_is_not_known_is_left_out() -> None:
    bare = DeskState(
        service=ServiceView("x", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING)
    )
    told = line(money_bits(bare, NOW)) + line(world_bits(bare, NOW))
    assert "equity" not in told
    assert "None" not in told


# -- what lasts ---------------------------------------------------------------------------------


def test_in_fair_weather_there_is_no_banner() -> None:
    assert lasting(STATE) == ()


def test_the_gravest_comes_first() -> None:
    bad = replace(
        with_service(phase=Phase.OFFLINE, problem="refused", read_only=True),
        limits=replace(STATE.limits, paused=True),
    )
    words = [thing.word for thing in lasting(bad, NOW + 125)]
    assert words == ["offline", "read-only", "paused"]
    assert lasting(bad, NOW + 125)[0].sentence.startswith("for 2m 05s: refused. ")


def test_a_refused_key_says_what_to_check() -> None:
    (thing,) = lasting(with_service(phase=Phase.UNAUTHORIZED))
    assert "prefix" in thing.sentence


def test_the_cache_says_its_age_and_how_long_it_has_taken() -> None:
    cold = replace(with_service(phase=Phase.CONNECTING), from_cache=True, seen={Topic.MARKETS: NOW})
    (thing,) = lasting(cold, NOW + 3 * 3600)
    assert thing.sentence == "showing data from 3h ago; connecting, 5s so far"


def test_a_closed_desk_outweighs_everything() -> None:
    first, *_ = lasting(with_service(phase=Phase.OFFLINE), closed="the disk is full; make room")
    assert first.word == "desk closed"
    assert "the disk is full; make room" in first.sentence


def test_stale_data_makes_a_banner() -> None:
    (thing,) = lasting(STATE, NOW + 5)
    assert thing.word == "stale"
    assert "5s old" in thing.sentence


# -- lines that fit -----------------------------------------------------------------------------

texts = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=12)
bits = st.builds(
    Bit,
    text=texts.map(Text),
    rank=st.integers(0, 4),
    short=st.none() | texts.map(lambda text: Text(text[:2])),
    right=st.booleans(),
)


@pytest.mark.slow
@examples(10)
@given(st.lists(bits, max_size=10), st.integers(1, 120))
def test_a_line_is_never_wider_than_its_room(made: list[Bit], width: int) -> None:
    assert joined(fitted_bits(made, width), width).cell_len <= width


@examples(10)
@given(st.lists(bits, max_size=10), st.integers(1, 120))
def test_pieces_keep_their_order_and_their_distance(made: list[Bit], width: int) -> None:
    placed = fitted_bits(made, width)
    for (_, left, text), (_, follows, _) in pairwise(placed):
        assert left + text.cell_len + GAP <= follows


@examples(10)
@given(st.lists(bits, max_size=10), st.integers(1, 120))
def test_what_has_rank_0_never_gives_way(made: list[Bit], width: int) -> None:
    kept = {index for index, _, _ in fitted_bits(made, width)}
    assert kept >= {index for index, bit in enumerate(made) if bit.rank == 0}


@examples(10)
@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 40))
def test_a_meter_always_has_its_width(fraction: float, width: int) -> None:
    assert meter(fraction, max(1, width)).cell_len == max(1, width)


def test_a_meter_shows_a_little_and_warns_of_much() -> None:
    tones = [str(meter(part, 8).spans[0].style) for part in (0.01, 0.85, 1.2)]
    assert tones == ["accent", "warn", "loss"]


# -- the whole frame ----------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_first_frame_has_all_its_bars() -> None:
    async with running(STATE, size=(80, 24)) as seen:
        assert seen.lines[0].lstrip().startswith("SIM")
        assert " 0 need" in seen.lines[-1]
        await assert_snapshot(seen.pilot, "frame_80x24", themes=("night", "paper"))


def test_a_click_on_the_top_bar_presses_the_key_of_what_is_clicked() -> None:
    posted, stopped = list[KeyChosen](), list[bool]()
    lines = ((Bit(Text("mode")), Bit(Text("held"), key="app.approvals")), (Bit(Text("day")),))
    bar: Any = SimpleNamespace(
        _lines=lines, _shown=lambda *_: lines, size=Size(20, 2), post_message=posted.append
    )

    def click(at: Offset | None) -> int:
        event: Any = SimpleNamespace(
            stop=lambda: stopped.append(True), get_content_offset=lambda _: at
        )
        TopBar._clicked(bar, event)
        return len(posted)

    beside = (None, Offset(0, 0), Offset(19, 0), Offset(0, 1), Offset(0, 2))
    assert [click(at) for at in beside] == [0] * len(beside)
    assert click(Offset(4 + GAP, 0)) == 1
    assert posted[0].key is key_named("app.approvals")
    assert len(stopped) == len(beside) + 1


@pytest.mark.slow
async def test_the_key_bar_does_what_is_clicked() -> None:
    async with running(STATE, size=(132, 30)) as seen:
        bar = seen.app.query_one(KeyBar)
        where = seen.lines[-1].index("9")
        await seen.pilot.click(bar, offset=(where, 1))
        await seen.until(lambda: seen.app.front.name_in_keys == "blotter")
        where = seen.lines[-2].index("? help")
        await seen.pilot.click(bar, offset=(where, 0))
        await seen.until(lambda: len(seen.app.screen_stack) == 2)


@pytest.mark.slow
async def test_a_window_that_is_too_small_says_so_and_recovers() -> None:
    async with running(STATE, size=(49, 20)) as seen:
        assert "49 x 20" in seen.text
        assert "needs me" not in seen.text
        await seen.pilot.resize_terminal(60, 18)
        await seen.until(lambda: "needs me" in seen.text)
        await seen.pilot.resize_terminal(60, 13)
        await seen.until(lambda: "60 x 13" in seen.text)


@pytest.mark.slow
async def test_a_storm_of_sizes_harms_nothing() -> None:
    rng = random.Random(3)
    sizes = [(1, 1), (250, 70), (1, 60), (60, 18)]
    async with running(STATE, first="settings") as seen:
        for size, key in zip(sizes, ("9", "0", "question_mark", "q"), strict=True):
            await seen.pilot.resize_terminal(*size)
            await seen.press(key)
            for _ in range(10):
                # Not waited for: they meet the console in the middle of its work.
                now = Size(rng.randint(1, 120), rng.randint(1, 50))
                seen.app.post_message(events.Resize(now, now))
        await seen.pilot.resize_terminal(100, 30)
        await seen.until(lambda: seen.app.query_one(TopBar).size.width > 0)


@pytest.mark.slow
async def test_back_from_the_shell_everything_is_painted_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE) as seen:
        painted: list[bool] = []
        monkeypatch.setattr(seen.app.screen, "refresh", lambda **how: painted.append(how["layout"]))
        seen.app.post_message(Driver.SignalResume())
        await seen.until(lambda: painted == [True])


@pytest.mark.slow
async def test_the_bar_of_real_money_is_dressed_otherwise() -> None:
    live = with_service(mode=Mode.LIVE, venue=Venue.EVM, embedded=False)
    async with running(live) as seen:
        assert seen.app.query_one(TopBar).has_class("-live")
        assert "REAL MONEY" in seen.lines[0]


@pytest.mark.slow
async def test_without_any_theme_file_the_console_still_runs() -> None:
    app = ConsoleApp(
        lambda: pytest.fail("never opened"),
        STATE,
        now=lambda: NOW,
        themes=Themes((), ()),
        log_path="",
        first="attention",
    )
    async with app.run_test(size=(80, 24)):
        assert app.theme_names == ()
        app.exit(0)


@pytest.mark.slow
async def test_a_signal_ends_the_console_from_outside_of_any_app(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE) as seen:
        # As a signal does: by the loop, with nothing of the app around it.
        painted = KeyBar.render_line
        asking = active_app.get
        monkeypatch.setattr(KeyBar, "render_line", lambda bar, y: asking() and painted(bar, y))
        seen.app.query_one(KeyBar).refresh()
        ended = asyncio.Event()

        def end() -> None:
            seen.app.exit(0)
            ended.set()

        asyncio.get_running_loop().call_soon(end, context=contextvars.Context())
        await asyncio.wait_for(ended.wait(), 5)
        assert any(line.strip() for line in seen.app.picture)


@pytest.mark.slow
async def test_what_cannot_be_shown_any_more_does_not_keep_the_end() -> None:
    async with running(STATE) as seen:
        seen.app._keep_picture(object())  # type: ignore[arg-type]
        assert seen.app.picture == ()
        seen.app.exit(0)


def test_every_key_has_an_id_of_its_own_and_binds() -> None:
    idents = [key.ident for key in KEYS]
    assert len(idents) == len(set(idents))
    groups = {key.group for key in KEYS}
    assert sum(len(bindings_of(group)) for group in groups) == len(KEYS)


def test_no_key_of_a_screen_hides_one_of_the_frame() -> None:
    frame = {name: key.ident for key in KEYS if key.group == "app" for name in key.keys}
    for key in KEYS:
        if key.group in {"attention", "blotter", "settings", "markets", "portfolio", "rows"}:
            assert not [name for name in key.keys if name in frame], key.ident


def test_the_screens_keep_their_numbers() -> None:
    assert [key.keys[0] for key in screen_keys()] == list("0123456789")


# -- themes, toasts and the terminal ---------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "name", "known"),
    [
        (("day", DEFAULT_THEME), "day", "day"),
        (("day", DEFAULT_THEME), "gone", DEFAULT_THEME),
        (("day", "dusk"), "gone", "day"),
        ((), "gone", ""),
    ],
)
def test_the_theme_is_the_named_one_else_the_usual_one_else_any(
    names: tuple[str, ...], name: str, known: str
) -> None:
    assert known_theme(name, names) == known


def test_our_driver_has_a_terminal_or_a_browser_and_nothing_else() -> None:
    assert own_driver(LinuxDriver) is Terminal
    assert own_driver(WebDriver).__name__ == "WebTerminal"
    assert own_driver(HeadlessDriver) is HeadlessDriver


@pytest.mark.slow
async def test_a_toast_leaves_the_keys_in_sight() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        seen.app.show_toast("sold it all", "good", "fill")
        await seen.until(lambda: "sold it all" in seen.text)
        assert "F9 halt" in seen.lines[-2]
        assert "sold it all" in seen.lines[-3]


@pytest.mark.slow
async def test_toasts_have_the_sign_of_their_tone_and_one_may_replace_another() -> None:
    async with running(STATE) as seen:
        seen.app.show_toast("sold [b]all[/b]", "bad", "fill")
        seen.app.show_toast("of tomorrow", "a strange tone")
        await seen.until(lambda: len(seen.toasts) == 2)
        assert seen.toasts == ["✗ sold [b]all[/b]", "of tomorrow"]
        seen.app.show_toast("instead", "good", "fill")
        await seen.until(lambda: "✓ instead" in seen.toasts)
        assert seen.toasts == ["of tomorrow", "✓ instead"]
        seen.app.post_message(ToastMessage("from a screen", "warn"))
        await seen.until(lambda: "! from a screen" in seen.toasts)


@pytest.mark.slow
async def test_one_toast_is_seen_at_a_time_and_an_error_comes_back() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        seen.app.show_toast("not saved: disk full", "bad", "disk")
        await seen.until(lambda: "disk full" in seen.text)
        seen.app.show_toast("bought 3 shares", "good", "fill")
        await seen.until(lambda: "bought 3 shares" in seen.text)
        assert "disk full" not in seen.text
        await seen.click("bought 3 shares")
        await seen.until(lambda: "disk full" in seen.text)


@pytest.mark.slow
async def test_there_are_never_two_answers_to_keys_at_once() -> None:
    async with running(STATE) as seen:
        for number in range(3):
            seen.app.show_toast(f"answer {number}")
        await seen.until(lambda: "answer 2" in seen.toasts)
        assert seen.toasts == ["answer 2"]


@pytest.mark.slow
async def test_two_keys_of_the_terminal_are_answered() -> None:
    async with running(STATE) as seen:
        await seen.press("ctrl+c")
        assert seen.toasts[-1].endswith("quits, y copies")


@pytest.mark.slow
async def test_a_theme_that_is_tried_is_previewed_and_without_one_the_kept_one() -> None:
    async with running(STATE) as seen:
        kept = seen.app.theme
        other = next(name for name in seen.app.theme_names if name != kept)
        for tried, worn in ((other, other), ("of tomorrow", other), ("", kept)):
            seen.app.post_message(ThemeTried(tried))
            await seen.press()
            assert seen.app.theme == worn


@pytest.mark.slow
async def test_what_is_wrong_with_a_theme_file_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("name = 3", "utf-8")
    doors = RecordingDoors(STATE)
    app = ConsoleApp(
        doors.open,
        STATE,
        now=lambda: NOW,
        themes=load_themes(tmp_path),
        log_path="",
        first="attention",
    )
    async with app.run_test(size=(120, 24), notifications=True) as pilot:
        await pilot.pause()
        seen = Running(app, pilot, doors)
        assert any("broken.toml" in text for text in seen.toasts)
        app.exit(0)


# -- faults -------------------------------------------------------------------------------------


def broken(secret: str) -> Exception:
    under, error = KeyError(secret), ValueError(f"bad {secret}")
    try:
        raise error from under
    except ValueError as caught:
        return caught


def test_a_report_names_kinds_and_places_and_no_values() -> None:
    secret = "0x" + "ab" * 32
    grouped = ExceptionGroup(f"tasks {secret}", [broken(secret), RuntimeError(secret)])
    page = fatal.report(WorkerFailed(grouped), "/var/log/desk")
    assert secret not in page
    for part in ("ValueError", "KeyError", "RuntimeError", "test_frame.py", "/var/log/desk", "70"):
        assert part in page
    assert len(page.splitlines()) < 60


def test_a_report_ends_also_for_errors_that_go_round_in_circles() -> None:
    one, two = ValueError("a"), ValueError("b")
    one.__cause__, two.__cause__ = two, one
    assert len(fatal.places(one)) == 2


def test_a_deep_recursion_is_cut_to_a_page() -> None:
    def down(depth: int) -> None:
        if depth == 0:
            raise RecursionError
        down(depth - 1)

    with pytest.raises(RecursionError) as caught:
        down(200)
    lines = fatal.places(caught.value)
    assert len(lines) == 2 + fatal.FRAMES_MAX
    assert "earlier frames" in lines[1]


@pytest.mark.slow
async def test_what_fails_in_the_keyboard_thread_ends_with_our_page(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with running(STATE) as seen:
        seen.app.panic("locals: sk_live_CANARY")
        await asyncio.sleep(0)
    assert seen.app.return_code == 70
    told = capfd.readouterr().err
    assert "service-tui stopped" in told
    assert "CANARY" not in told


@pytest.mark.slow
@pytest.mark.parametrize("ends_by", ["a signal", "a fault"])
async def test_an_end_that_takes_too_long_is_bound_from_its_beginning(ends_by: str) -> None:
    codes: list[int] = []
    came = threading.Event()

    def take(code: int) -> None:
        codes.append(code)
        came.set()

    async with running(STATE) as seen:
        seen.app.ending = Ending(take, note=lambda: None, bound_s=0.0)
        if ends_by == "a signal":
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            seen.app.panic()
        assert await asyncio.to_thread(came.wait, 10)
    assert codes == [KILLED + signal.SIGTERM if ends_by == "a signal" else fatal.EXIT_FAULT]
