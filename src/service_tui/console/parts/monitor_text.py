"""What is told about monitors, alerts, exits and price alerts: heads, figures, sentences."""

from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.exit_estimate import exit_at, guarded
from service_tui.console.figures import Figure, figures, section
from service_tui.console.freshness import (
    counted,
    is_heard,
    is_private,
    not_told,
    of_wall,
    on_wall,
)
from service_tui.console.keys import cap, with_keys
from service_tui.console.parts.alert_columns import (
    alert_state_text,
    left_text,
    points_off,
    price_alert_state,
    price_now,
    sold_by,
)
from service_tui.console.parts.monitor_columns import kind_word, percent_short, state_text, track
from service_tui.console.parts.risk_rows import LISTS, PRICE_ALERTS, RiskRow
from service_tui.desk.figures import guard_counts
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_EXITS_MAX: Final = 6
_ENDS: Final = 14
"""Cells of what stands on either end of the bar: a word, a blank, a price."""

_WAITING: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nMonitors appear with its first answer.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} tries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show which.",
}

_EMPTY: Final = (
    (
        "Nothing is guarded.\n\n"
        "A monitor watches the price of one position: when it falls to the stop,\n"
        "or rises to the target, all of the position is sold, once.\n\n"
        "Every buy gets one by itself while that is on in the settings ({app.settings}).\n"
        "Portfolio ({app.portfolio}): put the cursor on a position, {portfolio.monitor} guards it."
    ),
    (
        "No alert.\n\n"
        "When a monitor's stop or target is reached, its alert stands here\n"
        "with what is left of its hour, and what became of the exit."
    ),
    (
        "No exit yet.\n\n"
        "Every position that a stop or a target sold is listed here,\n"
        "with the price that set it off and what it brought."
    ),
    (
        "No price alert.\n\n"
        "It tells you once when a price is there, and trades nothing.\n"
        "Markets ({app.markets}) or Portfolio ({app.portfolio}): put the cursor on a row, "
        "{markets.alert} adds one."
    ),
)
"""What each empty list says, in the order of the lists."""


class Told(NamedTuple):
    """The blocks of the detail pane."""

    head: Text
    body: Text
    more: Text


def why_empty(state: DeskState, place: int) -> str:
    """Why a list is empty and what to do; `place` is that of `risk_rows.LISTS`."""
    if LISTS[place] != PRICE_ALERTS and Topic.MONITORS not in state.seen:
        service = state.service
        if service.phase in _WAITING:
            return with_keys(_WAITING[service.phase]).replace(
                "{problem}", service.problem or "no answer"
            )
        return not_told("monitors")
    return with_keys(_EMPTY[place])


def guard_line(state: DeskState) -> Text:
    """How many positions are guarded."""
    guarded_count, held_count = guard_counts(state)
    is_less = guarded_count < held_count and Topic.MONITORS in state.seen
    both = is_heard(state, Topic.MONITORS, Topic.POSITIONS)
    guarded_words = counted(guarded_count, heard=both)
    held_words = counted(held_count, heard=is_heard(state, Topic.POSITIONS))
    words = f"{'! ' if is_less else ''}{guarded_words} of {held_words} guarded"
    return Text(words, "warn" if is_less else "muted")


def freshness_of(state: DeskState, now: Timestamp) -> Text:
    """The age of what is told of monitors, once it is older than its period."""
    period = state.polls.get(Topic.MONITORS)
    if period is None or Topic.MONITORS not in state.seen:
        return Text()
    return formats.freshness(age_s(state, Topic.MONITORS, now), period)


def urgent_line(state: DeskState, now: Timestamp) -> Text:
    """What cannot wait: old data, alerts before their exit, a heartbeat that is missing."""
    waiting = state.risk.open_alerts
    line = freshness_of(state, now)
    if line:
        line.append(
            "  " if waiting else f"  what guards was last told then: {cap('app.refresh')} asks now",
            "warn",
        )
    if waiting:
        first = min(waiting, key=lambda alert: alert.expires_at)
        count = f"{len(waiting)} alerts wait" if len(waiting) > 1 else "1 alert waits"
        line.append(f"▼ {count}", "bold breach")
        line.append(f" for an exit, {formats.duration(first.left_s(now))} left: ", "warn")
        line.append_text(formats.side(first.side))
        line.append(f" {formats.plain(first.question, 60).plain}")
    elif state.risk.briefing_late:
        line.append(f"! {formats.plain(state.risk.briefing_late).plain}", "warn")
    return line


def told_of(row: RiskRow, state: DeskState, now: Timestamp, width: int) -> Told:
    """Everything about one row. `now` is wall time, `width` the cells of a line."""
    match row:
        case MonitorView():
            return _monitor(row, state, now, width)
        case AlertView():
            return _alert(row, state, now, width)
        case ExitView():
            return _exit(row, state, width)
        case PriceAlertView():
            return _price_alert(row, state, now, width)


def way_line(monitor: MonitorView, width: int) -> Text:
    """The bar over the whole width, its ends named."""
    room = max(9, width - 2 * (_ENDS + 1))
    left = Text("no stop", "muted")
    if monitor.stop_price is not None:
        left = Text.assemble(("stop ", "muted"), formats.price(monitor.stop_price))
    right = Text("no target", "muted")
    if monitor.target_price is not None and monitor.target_price < 1:
        right = Text.assemble(formats.price(monitor.target_price), (" target", "muted"))
    elif monitor.target_price is not None:
        right = Text("never reached", "warn")
    left.truncate(_ENDS, pad=True)
    return Text.assemble(left, " ", track(monitor, room | 1), " ", right)


def _head(question: str, row: RiskRow, tail: Text) -> Text:
    return Text.assemble(
        (formats.plain(question, 300).plain, "bold"), "\n", formats.side(row.side), "  ", tail
    )


def _monitor(row: MonitorView, state: DeskState, now: Timestamp, width: int) -> Told:
    masked = is_private(state)
    kind = "a buy set it" if kind_word(row) == "auto" else "set by hand"
    tail = Text.assemble(state_text(row), (f"  {kind}, on {row.venue.value}", "muted"))
    market = state.markets.get(row.market_id)
    stop = exit_at(row, row.stop_price, market)
    target = exit_at(row, row.target_price, market)
    shown: tuple[Figure, ...] = (
        ("entry", formats.price(row.entry)),
        ("mark", formats.price(row.mark)),
        ("exit now $", formats.money(row.exit_value, masked=masked)),
        ("its P&L $", formats.pnl(row.exit_pnl, masked=masked)),
        ("at the stop $", formats.money(None if stop is None else stop.brings, masked=masked)),
        ("its P&L $", formats.pnl(None if stop is None else stop.pnl, masked=masked)),
        (
            "at the target $",
            formats.money(None if target is None else target.brings, masked=masked),
        ),
        ("its P&L $", formats.pnl(None if target is None else target.pnl, masked=masked)),
    )
    body = Text.assemble(way_line(row, width), "\n", figures(shown, across=2, width=width))
    return Told(_head(row.question, row, tail), body, _becomes(row, state, now))


def _becomes(row: MonitorView, state: DeskState, now: Timestamp) -> Text:
    """What a breach does, then what has happened in this position already."""
    masked = is_private(state)
    ends: list[str] = []
    if row.stop_price is not None:
        ends.append(f"falls to {formats.price(row.stop_price).plain}")
    if row.target_price is not None and row.target_price < 1:
        ends.append(f"rises to {formats.price(row.target_price).plain}")
    shares = formats.shares(row.shares, masked=masked).plain
    cost = formats.money(row.cost, masked=masked).plain
    side = row.side.value.upper()
    sentence = f"When {side} {' or '.join(ends)}, all {shares} shares (cost {cost}) are sold, once."
    if not ends:
        sentence = "Its target is out of reach: nothing will set it off."
    blocks = [section("what it does", Text(sentence))]
    lines = [
        Text.assemble(alert_state_text(alert), "  ", _breach(alert), "  ", left_text(alert, now))
        for alert in state.risk.alerts
        if alert.holding == row.key
    ]
    lines += [
        Text.assemble(
            (f"{formats.date_time(each.at).plain}  ", "muted"),
            f"{formats.plain(each.cause, 30).plain}  ",
            formats.pnl(each.pnl, masked=masked),
        )
        for each in state.risk.exits
        if (each.market_id, each.side, each.venue) == (row.market_id, row.side, row.venue)
    ]
    if lines:
        blocks.append(section(f"before{of_wall(state)}", Text("\n").join(lines[:_EXITS_MAX])))
    return Text("\n\n").join(blocks)


def _breach(alert: AlertView) -> str:
    reason = formats.plain(alert.reason, 20).plain
    return f"{reason} at {formats.price(alert.trigger_price).plain}"


def _alert(row: AlertView, state: DeskState, now: Timestamp, width: int) -> Told:
    masked = is_private(state)
    tail = Text.assemble(alert_state_text(row), (f"  {_breach(row)}", ""))
    held = guarded(state, row.holding)
    shown: tuple[Figure, ...] = (
        ("trigger price", formats.price(row.trigger_price)),
        ("mark now", formats.price(None if held is None else held.mark)),
        (f"breached{on_wall(state)}", formats.clock_time(row.breached_at)),
        (f"expires{on_wall(state)}", formats.clock_time(row.expires_at)),
        ("time left", left_text(row, now)),
        ("tries", formats.count(row.attempts)),
        ("shares", formats.shares(row.shares, masked=masked)),
        (
            "exit now $",
            formats.money(None if held is None else held.exit_value, masked=masked),
        ),
    )
    who = "the service itself exits" if row.managed else "this desk exits"
    if not row.managed and not state.risk.executes:
        who = (
            "another program on this data directory exits, or nobody: "
            f"{cap('monitors.exit')} says more"
        )
    words = told(formats.plain(row.words).plain, masked=masked) or who
    more = section("how it stands", Text(words))
    if row.words:
        more.append(f"\n{who}", "muted")
    if row.ticket_id:
        more.append(f"\nblotter ({cap('app.blotter')}): {row.ticket_id}", "muted")
    return Told(_head(row.question, row, tail), figures(shown, across=2, width=width), more)


def _exit(row: ExitView, state: DeskState, width: int) -> Told:
    masked = is_private(state)
    tail = Text.assemble(formats.plain(row.cause, 60), (f"  on {row.venue.value}", "muted"))
    average = row.proceeds / row.shares if row.shares > 0 else None
    shown: tuple[Figure, ...] = (
        (f"sold{on_wall(state)}", formats.date_time(row.at)),
        ("by", Text(sold_by(row))),
        ("trigger price", formats.price(row.trigger_price)),
        ("got a share", formats.price(average)),
        ("shares", formats.shares(row.shares, masked=masked)),
        ("proceeds $", formats.money(row.proceeds, masked=masked)),
        ("P&L $", formats.pnl(row.pnl, masked=masked)),
    )
    said = Text("Selling a whole position lowers its price, so a share mostly brings less than")
    said.append(" the price that set it off.")
    return Told(
        _head(row.question, row, tail), figures(shown, across=2, width=width),
        section("price and proceeds", said),
    )  # fmt: skip


def _price_alert(row: PriceAlertView, state: DeskState, now: Timestamp, width: int) -> Told:
    tail = price_alert_state(row, now)
    shown: tuple[Figure, ...] = (
        ("tell when", Text(row.condition.in_words)),
        ("price", formats.price(row.threshold)),
        ("now", formats.price(price_now(row, state))),
        ("points off", formats.points(points_off(row, state))),
        (f"since{on_wall(state)}", formats.date_time(row.created_at)),
        (f"fired{on_wall(state)}", formats.date_time(row.triggered_at)),
    )
    said = (
        f"It is told once, here on this desk. Nothing is traded. {cap('monitors.remove')} "
        "forgets it."
    )
    return Told(
        _head(row.question, row, tail), figures(shown, across=2, width=width),
        section("what it does", Text(said)),
    )  # fmt: skip


def removed_words(row: MonitorView) -> str:
    """A monitor that goes, in a line: what guards it until now."""
    stop = "no stop" if row.stop_pct is None else f"stop {percent_short(row.stop_pct)} down"
    target = "no target" if row.target_pct is None else f"target {percent_short(row.target_pct)} up"
    return f"{stop}, {target}"
