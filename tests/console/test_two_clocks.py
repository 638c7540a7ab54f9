"""The world's clock and the wall's are named where both appear; elsewhere there is one time."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from service_tui.console.freshness import of_wall, of_world
from service_tui.console.needs import needs
from service_tui.console.screens.log.detail import entry_text
from service_tui.console.screens.markets.detail import news, rules, trades
from service_tui.console.screens.monitors.detail import describe
from service_tui.console.screens.portfolio.detail import closed_body, own_trades
from service_tui.console.screens.portfolio.table import CLOSED
from service_tui.console.view_context import ViewContext
from service_tui.desk.audit.why import why_position
from service_tui.desk.cached_state import dump_state, load_state
from service_tui.desk.slices.log import ActionView
from service_tui.desk.slices.topics import Topic
from service_tui.outcome import YES
from service_tui.units import Timestamp

STATE = sample_state()
VIEW = ViewContext.of(STATE, NOW, 80)
REAL = replace(STATE, service=replace(STATE.service, embedded=False), world=None)


def test_each_kind_of_event_names_its_clock() -> None:
    clock, detail = of_world(STATE), STATE.detail
    market = STATE.markets[detail.market_id]
    assert news(detail, NOW, clock).plain.startswith("news, world time\n")
    assert trades(detail, NOW, 60, clock).plain.startswith("trades, world time\n")
    assert "market, world time" in rules(market, detail, 60, clock).plain
    assert own_trades(STATE.positions[0], VIEW).plain.startswith("your trades, wall time\n")
    assert "resolved, world" in closed_body(STATE.positions[0], VIEW).plain
    titles = {one.id: one.title for one in CLOSED.columns}
    assert titles["resolved"] == "world end"


def test_where_there_is_one_clock_none_is_named() -> None:
    assert (of_world(REAL), of_wall(REAL)) == ("", "")
    assert news(REAL.detail, NOW, of_world(REAL)).plain.startswith("news\n")


def test_an_outcome_among_links_of_wall_time_names_its_clock() -> None:
    held = replace(STATE.positions[0], outcome=YES)
    state = replace(STATE, positions=(), closed=(held,), trades=())
    (link,) = (one for one in why_position(state, held).links if one.name == "exit")
    assert ("clock", "world time") in {(one.label, one.value) for one in link.values}


def test_monitors_redemption_and_needs_name_the_clock_of_their_times() -> None:
    state = replace(guarded_state(), world=STATE.world, service=STATE.service)
    (alert, *_), (sold, *_) = state.risk.alerts, state.risk.exits
    (told,) = state.risk.price_alerts[:1]
    assert "breached, wall" in describe(alert, ViewContext.of(state, NOW, 100)).body.plain
    assert "expires, wall" in describe(alert, ViewContext.of(state, NOW, 100)).body.plain
    assert "sold, wall" in describe(sold, ViewContext.of(state, NOW, 100)).body.plain
    assert "fired, wall" in describe(told, ViewContext.of(state, NOW, 100)).body.plain
    one_clock = replace(state, world=None)
    assert ", wall" not in describe(alert, ViewContext.of(one_clock, NOW, 100)).body.plain


def test_what_resolves_soon_says_by_which_clock() -> None:
    found = [one for one in needs(STATE, NOW) if one.key.startswith("resolves")]
    assert found
    assert all(one.otherwise.endswith(", world time") for one in found)
    assert all("world time" not in one.otherwise + one.note for one in needs(REAL, NOW))


@pytest.mark.slow
async def test_a_page_a_log_and_a_signal_name_the_clock_of_their_times() -> None:
    state = seen_before(reactor_state())
    async with running(state, first="portfolio", size=(120, 40)) as seen:
        await seen.press("i")
        assert "wall time, esc closes" in seen.text
        await seen.press("escape", "at")
        assert "wall time" in seen.text
        await seen.press("4")
        assert "at, wall" in seen.text


def test_an_entry_of_the_log_names_its_clock() -> None:
    entry = ActionView(1, "ab" * 32, NOW, "you", "intent", "trade", "buy")
    assert " wall time  " in entry_text(entry, STATE, NOW).plain
    assert "wall" not in entry_text(entry, REAL, NOW).plain


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1, 60])
async def test_the_first_frame_after_a_night_counts_with_the_clock_of_now(speed: int) -> None:
    night_s = 16 * 3_600.0
    closed = Timestamp(NOW - night_s)
    held = replace(STATE.positions[0], resolves_at=Timestamp(closed + night_s + 5_400))
    evening = replace(
        seen_before(STATE),
        seen={Topic.POSITIONS: closed, Topic.MARKETS: closed},
        positions=(held,),
        world=replace(STATE.world, now=closed, wall_at=closed, speed=speed),
    )
    bare = replace(evening, account=None, limits=None, markets={}, positions=(), seen={})
    initial = load_state(dump_state(evening), bare, NOW)
    async with running(
        evening, first="portfolio", size=(140, 40), initial=initial, waits=False,
        prepare=lambda doors: doors.may_open.clear(),
    ) as seen:  # fmt: skip
        text = seen.text
        assert "data from 16h ago" in text
        # The world ran on at 1x while nobody was there.
        (row,) = (line for line in seen.lines if line.rstrip().endswith("1h30m"))
        assert " NO " in row or " YES " in row
        # The day's figures are of yesterday.
        assert "+41.20" not in text
        assert "7/500" not in text
