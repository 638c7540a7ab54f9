"""Texts of the monitors screen on a row, and above its tables. Pure functions."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.exit_estimate import exit_at, guarded
from service_tui.console.figures import Figure, figures, section
from service_tui.console.forms.explain import Explanation
from service_tui.console.forms.monitor_draft import exit_terms, trail_text
from service_tui.console.freshness import counted, is_answered, of_wall, on_wall
from service_tui.console.keys import cap
from service_tui.console.screens.monitors.table import (
    KEPT_HERE,
    RiskRow,
    alert_state_text,
    exit_left_text,
    kind_word,
    left_text,
    monitor_state_text,
    percent_short,
    points_off,
    price_alert_state,
    price_now,
    sold_by,
    track,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.figures import guard_counts
from service_tui.desk.freshness import age_s
from service_tui.desk.reduce_risk import exit_of
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.risk import (
    AlertView,
    ExitView,
    MonitorView,
    PriceAlertView,
    seller,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_EXITS_MAX: Final = 6
_ENDS: Final = 14
"""Cells at either end of the bar: a word, a blank, a price."""


# -- above the tables ---------------------------------------------------------------------------


def guarded_text(state: DeskState) -> Text:
    """The number of protected positions."""
    guarded_count, position_count = guard_counts(state)
    is_less = guarded_count < position_count and Topic.MONITORS in state.seen
    both = is_answered(state, Topic.MONITORS, Topic.POSITIONS)
    guarded_number = counted(guarded_count, is_loaded=both)
    position_number = counted(position_count, is_loaded=is_answered(state, Topic.POSITIONS))
    text = f"{'! ' if is_less else ''}{guarded_number}/{position_number} protected"
    return Text(text, "warn" if is_less else "muted")


def freshness_text(state: DeskState, now: Timestamp) -> Text:
    """The age of the monitors, once it exceeds their period."""
    period = state.polls.get(Topic.MONITORS)
    if period is None or Topic.MONITORS not in state.seen:
        return Text()
    return formats.freshness(age_s(state, Topic.MONITORS, now), period)


def urgent_text(view: ViewContext) -> Text:
    """Urgent conditions: stale data, alerts before their exit, a missing heartbeat."""
    state, now = view.state, view.now
    waiting = state.risk.open_alerts
    line = freshness_text(state, now)
    if line:
        line.append(
            "  " if waiting else f"  monitors may be out of date: {cap('app.refresh')} refreshes",
            "warn",
        )
    if waiting:
        first = min(waiting, key=lambda alert: alert.expires_at)
        count = f"{len(waiting)} alerts" if len(waiting) > 1 else "1 alert"
        line.append(f"▼ {count}", "bold breach")
        line.append(f" to be sold, {formats.duration(first.left_s(now))} left: ", "warn")
        line.append_text(formats.side(first.side))
        line.append(f" {formats.plain(first.question, 60).plain}")
    elif state.risk.briefing_late:
        line.append(f"! {formats.plain(state.risk.briefing_late).plain}", "warn")
    return line


# -- a row --------------------------------------------------------------------------------------


def describe(row: RiskRow, view: ViewContext) -> Detail:
    """One row in full; `view.width` is the cells of a line."""
    match row:
        case MonitorView():
            return _describe_monitor(row, view)
        case AlertView():
            return _describe_alert(row, view)
        case ExitView():
            return _describe_exit(row, view)
        case PriceAlertView():
            return _describe_price_alert(row, view)


def distance_line(monitor: MonitorView, width: int) -> Text:
    """The bar over the full width, its ends named."""
    room = max(9, width - 2 * (_ENDS + 1))
    left = Text("no stop", "muted")
    if monitor.floor_price is not None:
        word = "trail " if monitor.is_trailing else "stop "
        left = Text.assemble((word, "muted"), formats.price(monitor.floor_price))
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


def _describe_monitor(row: MonitorView, view: ViewContext) -> Detail:
    kind = "auto (on buy)" if kind_word(row) == "auto" else "manual"
    tail = Text.assemble(monitor_state_text(row), (f"  {kind}, on {row.venue.value}", "muted"))
    market = view.state.markets.get(row.market_id)
    stop = exit_at(row, row.floor_price, market)
    target = exit_at(row, row.target_price, market)
    unit = formats.unit(row.venue)
    shown: tuple[Figure, ...] = (
        ("entry", formats.price(row.entry)),
        ("mark", formats.price(row.mark)),
        (f"if sold now {unit}", view.money(row.exit_value)),
        (f"P&L {unit}", view.pnl(row.exit_pnl)),
        (f"if stopped out {unit}", view.money(None if stop is None else stop.brings)),
        (f"P&L {unit}", view.pnl(None if stop is None else stop.pnl)),
        (
            f"at target {unit}",
            view.money(None if target is None else target.brings),
        ),
        (f"P&L {unit}", view.pnl(None if target is None else target.pnl)),
    )
    body = Text.assemble(
        distance_line(row, view.width), "\n", figures(shown, across=2, width=view.width)
    )
    return Detail(_head(row.question, row, tail), body, _future(row, view))


def _future(row: MonitorView, view: ViewContext) -> Text:
    """The effect of a breach, then the exits of this position so far."""
    ends: list[str] = []
    if row.floor_price is not None and row.floor_price > 0:
        trailing = " (trailing stop)" if row.is_trailing else ""
        ends.append(f"at {formats.price(row.floor_price).plain} or below{trailing}")
    if row.target_price is not None and row.target_price < 1:
        ends.append(f"at {formats.price(row.target_price).plain} or above")
    if row.exit_at is not None:
        left = formats.duration(max(0.0, row.exit_at - view.now))
        wall = of_wall(view.state)
        ends.append(f"at the latest {moment_text(row.exit_at)}{wall} (in {left})")
    shares = view.shares(row.shares).plain
    cost = view.money(row.cost).plain
    side = row.side.value.upper()
    sentence = f"Sells all {shares} {side} (cost {cost}) {', or '.join(ends)} (one-shot)."
    if row.is_spent:
        sentence = f"Breached: its sale is of {shares} {side} (cost {cost})."
    elif not ends:
        sentence = "Target out of reach: never sells."
    if row.thresholds.trails and row.peak is not None:
        distance = trail_text(row.thresholds)
        sentence += f" The trailing stop stays {distance} below the highest mark, "
        sentence += f"{formats.price(row.peak).plain} so far, and never falls."
    blocks = [section("effect", Text(sentence))]
    lines = [
        Text.assemble(
            alert_state_text(alert), "  ", _breach(alert), "  ", left_text(alert, view.now)
        )
        for alert in view.state.risk.alerts
        if alert.holding == row.key
    ]
    lines += [
        Text.assemble(
            (f"{formats.date_time(exit_.at).plain}  ", "muted"),
            f"{formats.plain(exit_.cause, 30).plain}  ",
            view.pnl(exit_.pnl),
        )
        for exit_ in view.state.risk.exits
        if (exit_.market_id, exit_.side, exit_.venue) == (row.market_id, row.side, row.venue)
    ]
    if lines:
        blocks.append(section(f"history{of_wall(view.state)}", Text("\n").join(lines[:_EXITS_MAX])))
    return Text("\n\n").join(blocks)


def _breach(alert: AlertView) -> str:
    reason = formats.plain(alert.reason, 20).plain
    return f"{reason} hit at {formats.price(alert.trigger_price).plain}"


def _describe_alert(row: AlertView, view: ViewContext) -> Detail:
    tail = Text.assemble(alert_state_text(row), (f"  {_breach(row)}  on {row.venue.value}", ""))
    held = guarded(view.state, row.holding)
    shown: tuple[Figure, ...] = (
        ("set at", formats.price(row.level)),
        ("hit at", formats.price(row.trigger_price)),
        ("mark now", formats.price(None if held is None else held.mark)),
        (f"breached{on_wall(view.state)}", formats.clock_time(row.breached_at)),
        (f"expires{on_wall(view.state)}", formats.clock_time(row.expires_at)),
        ("time left", left_text(row, view.now)),
        ("tries", formats.count(row.attempts)),
        ("shares", view.shares(row.shares)),
        (
            f"if sold now {formats.unit(row.venue)}",
            view.money(None if held is None else held.exit_value),
        ),
    )
    who = _who_exits(row, view.state)
    more = section("status", Text(view.sentence(row.detail) or who))
    if who and who != row.detail and row.detail:
        more.append(f"\n{who}", "muted")
    if row.ticket_id:
        more.append(f"\norders ({cap('app.blotter')}): {row.ticket_id}", "muted")
    return Detail(_head(row.question, row, tail), figures(shown, across=2, width=view.width), more)


def _who_exits(row: AlertView, state: DeskState) -> str:
    """Who sells or sold, in the words of the list of exits; empty for an end without a sale."""
    if not row.state.is_open:
        sale = exit_of(row, state.risk.exits)
        return "" if sale is None else f"sold by {sold_by(sale)}"
    if row.managed or state.risk.executes:
        return f"to be sold by {seller(by_service=row.managed)}"
    return (
        "stop sales run in another program on this data directory, if any: "
        f"{cap('monitors.exit')} shows details"
    )


def _describe_exit(row: ExitView, view: ViewContext) -> Detail:
    tail = Text.assemble(formats.plain(row.cause, 60), (f"  on {row.venue.value}", "muted"))
    average = row.proceeds / row.shares if row.shares > 0 else None
    shown: tuple[Figure, ...] = (
        (f"sold{on_wall(view.state)}", formats.date_time(row.at)),
        ("sold by", Text(sold_by(row))),
        ("hit at", formats.price(row.trigger_price)),
        ("average price", formats.price(average)),
        ("shares", view.shares(row.shares)),
        (f"proceeds {formats.unit(row.venue)}", view.money(row.proceeds)),
        (f"P&L {formats.unit(row.venue)}", view.pnl(row.pnl)),
    )
    text = Text("Slippage: selling a whole position usually averages below")
    text.append(" the price that hit the stop or the target.")
    return Detail(
        _head(row.question, row, tail), figures(shown, across=2, width=view.width),
        section("price and proceeds", text),
    )  # fmt: skip


def _describe_price_alert(row: PriceAlertView, view: ViewContext) -> Detail:
    tail = price_alert_state(row, view.now)
    shown: tuple[Figure, ...] = (
        ("condition", Text(row.condition.describe)),
        ("price", formats.price(row.threshold)),
        ("now", formats.price(price_now(row, view.state))),
        ("distance pt", formats.points(points_off(row, view.state))),
        (f"since{on_wall(view.state)}", formats.date_time(row.created_at)),
        (f"fired{on_wall(view.state)}", formats.date_time(row.triggered_at)),
    )
    kept = f"{KEPT_HERE}. " if row.is_local and row.is_open else ""
    text = (
        f"{kept[:1].upper()}{kept[1:]}One-shot notification; no trade. "
        f"{cap('monitors.remove')} removes it."
    )
    return Detail(
        _head(row.question, row, tail), figures(shown, across=2, width=view.width),
        section("effect", Text(text)),
    )  # fmt: skip


def removed_text(row: MonitorView) -> str:
    """A monitor to be removed, in a line: its thresholds until now."""
    stop = (
        "no stop" if row.stop_loss_pct is None else f"stop {percent_short(row.stop_loss_pct)} down"
    )
    target = (
        "no target"
        if row.take_profit_pct is None
        else f"target {percent_short(row.take_profit_pct)} up"
    )
    return ", ".join((stop, target, *exit_terms(row.thresholds)))


# -- the numbers of a row -----------------------------------------------------------------------


def explain_monitor(row: MonitorView, view: ViewContext) -> tuple[Explanation, ...]:
    """Sources of stop, target, and the proceeds of an exit now and at the stop."""
    age = _age(view)
    entry, mark = ("entry", formats.price(row.entry)), ("mark", formats.price(row.mark))
    stop = exit_at(row, row.floor_price, view.state.markets.get(row.market_id))
    shares = ("shares", view.shares(row.shares))
    return (
        Explanation(
            "stop price",
            formats.price(row.stop_price),
            "reference x (1 - stop), which is the lower of entry and mark after the buy; sells all "
            "at or below",
            (
                entry,
                ("reference", formats.price(row.stop_from)),
                ("stop", formats.percent(row.stop_loss_pct, 2)),
            ),
            "computed here from service data (monitors)",
            age,
        ),
        Explanation(
            "trailing stop price",
            formats.price(row.trail_price),
            "highest mark since it was set, less the distance; sells all at or below",
            (
                ("highest mark", formats.price(row.peak)),
                ("distance", Text(trail_text(row.thresholds) or formats.NOT_KNOWN)),
            ),
            "service data (monitors)",
            age,
        ),
        Explanation(
            "time stop",
            Text(formats.NOT_KNOWN if row.exit_at is None else moment_text(row.exit_at)),
            "sells all then, at any price",
            (("time left", exit_left_text(row, view.now)),),
            "service data (monitors)",
            age,
        ),
        Explanation(
            "target price",
            formats.price(row.target_price),
            "entry x (1 + target); sells all once the sale price reaches it",
            (entry, ("target", formats.percent(row.take_profit_pct, 2))),
            "computed here from service data (monitors)",
            age,
        ),
        Explanation(
            "distance",
            mark[1],
            "left of the middle: towards the stop; right: towards the target",
            (
                mark,
                ("distance to stop", formats.percent(row.to_stop, 0)),
                ("sale price", formats.price(row.exit_price)),
                ("distance to target", formats.percent(row.to_target, 0)),
            ),
            "computed here",
            age,
        ),
        Explanation(
            f"sale value, {formats.unit(row.venue)}",
            view.money(row.exit_value),
            "proceeds of selling all now, slippage included",
            (shares, mark),
            "service data (positions)",
            age,
        ),
        Explanation(
            f"if stopped out, {formats.unit(row.venue)}",
            view.money(None if stop is None else stop.brings),
            "estimate: selling all at the stop price, depth as now",
            (shares, ("stop price", formats.price(row.floor_price))),
            "computed here",
            age,
        ),
    )


def _age(view: ViewContext) -> Text:
    age = age_s(view.state, Topic.MONITORS, view.now)
    return formats.age(None if age is None else Timestamp(view.now - age), view.now)
