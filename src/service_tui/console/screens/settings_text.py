"""What binds us and where things lie: account, limits with what is used, world, places.

Knows the desk's state and the formats. Must not know a widget.
Used by the settings screen.
"""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, section
from service_tui.console.freshness import is_private, world_now
from service_tui.console.screens.base import Surroundings
from service_tui.console.widgets.line_fit import meter
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Mode
from service_tui.units import Timestamp

DAY_S: Final = 86_400
_METER: Final = 12
_LABEL: Final = 19
"""Cells of the labels."""

_UNKNOWN: Final = Text("not known yet", "muted")


def settings_text(state: DeskState, now: Timestamp, around: Surroundings) -> Text:
    """Everything that the settings screen tells beside themes and speed."""
    return Text("\n\n").join((
        section("limits", _limits(state, now)),
        section("account", _account(state)),
        section("world", _world(state, now)),
        section("service", _service(state)),
        section("places", _places(around)),
        section("keys", _keys()),
    ))


def next_midnight(now: Timestamp) -> Timestamp:
    """When the daily limits start anew: the next midnight UTC."""
    return Timestamp((now // DAY_S + 1) * DAY_S)


def trades_today(state: DeskState, now: Timestamp) -> int:
    """Buys since midnight UTC among the trades known here; the limit counts buys only."""
    since = next_midnight(now) - DAY_S
    return sum(trade.at >= since and trade.action == Action.BUY for trade in state.trades)


def _limits(state: DeskState, now: Timestamp) -> Text:
    limits, masked = state.limits, is_private(state)
    if limits is None:
        return _UNKNOWN
    spent = formats.money(limits.day_spent, masked=masked)
    most = formats.money(limits.day_spend_max, masked=masked)
    part = limits.day_spent / limits.day_spend_max if limits.day_spend_max > 0 else 1.0
    lines: list[Text] = []
    if state.service.mode is not Mode.SIM:
        lines.append(_used("spent today", part, used=spent, most=most))
    if limits.day_trades_max is not None:
        bought = limits.day_trades
        if bought is None:
            bought = trades_today(state, now)
        share = bought / limits.day_trades_max if limits.day_trades_max > 0 else 1.0
        lines.append(
            _used(
                "bought today",
                share,
                used=formats.count(bought),
                most=Text.assemble(formats.count(limits.day_trades_max), " trades"),
            )
        )
    midnight = next_midnight(now)
    here = formats.clock_time(midnight).plain.removesuffix(":00")
    anew = Text.assemble(formats.until(midnight, now), (f" at midnight UTC, {here} here", "muted"))
    running = Text("paused: buys are refused", "warn") if limits.paused else Text("running")
    rest: tuple[Figure, ...] = (
        ("starts anew", anew),
        ("most of one trade", formats.money(limits.max_trade, masked=masked)),
        ("trading", running),
    )
    return Text("\n").join([*lines, _rows(rest)])


def _rows(rows: tuple[Figure, ...]) -> Text:
    """Labels and values, both from the left: values here are words as often as numbers."""
    lines = [Text.assemble((label.ljust(_LABEL), "muted"), value) for label, value in rows]
    return Text("\n").join(lines)


def _used(label: str, part: float, *, used: Text, most: Text) -> Text:
    return Text.assemble(
        (label.ljust(_LABEL), "muted"),
        meter(part, _METER),
        " ",
        formats.percent(part, 0),
        "  ",
        used,
        (" of ", "muted"),
        most,
    )


def _account(state: DeskState) -> Text:
    account = state.account
    if account is None:
        return _UNKNOWN
    claimed = Text("yes") if account.claimed else Text("no: only simulated money", "muted")
    rows: tuple[Figure, ...] = (
        ("agent", formats.plain(account.name, 24)),
        ("status", Text(account.status.value)),
        ("plan", Text(account.plan.value)),
        ("claimed", claimed),
    )
    return _rows(rows)


def _world(state: DeskState, now: Timestamp) -> Text:
    world = state.world
    if not state.service.embedded or world is None:
        return Text("this service has no world of its own to speed up", "muted")
    rows: tuple[Figure, ...] = (
        ("its time", formats.date_time(world_now(state, now))),
        ("seed", Text(str(world.seed))),
        ("open markets", formats.count(world.open_count)),
    )
    return _rows(rows)


def _service(state: DeskState) -> Text:
    service = state.service
    took = formats.NOT_KNOWN if service.latency_s is None else f"{service.latency_s * 1000:,.0f} ms"
    mode = Text(service.mode.value, service.mode.value.lower())
    rows: tuple[Figure, ...] = (
        ("name", formats.plain(service.label, 24)),
        ("mode", mode),
        ("venue", Text(service.venue.value)),
        ("last answer took", Text(took)),
        ("unusable rows", formats.count(service.dropped_rows)),
    )
    if not service.embedded:
        return _rows(rows)
    who = "another program on this machine" if service.attached else "this program"
    return _rows((
        *rows,
        ("served by", Text(who)),
        ("agents reach it at", formats.plain(service.address or "no address yet", 60)),
    ))


def _places(around: Surroundings) -> Text:
    return _rows((
        ("data", formats.plain(around.data_path or "not told")),
        ("log", formats.plain(around.log_path or "not kept")),
    ))


def _keys() -> Text:
    pairs = (
        ("F8", "next theme"),
        ("p", "pause the world"),
        ("< >", "slower, faster"),
        ("z", "mask amounts"),
        ("F12", "the first page again"),
        ("?", "all keys"),
    )
    return Text("   ").join(
        Text.assemble((key, "accent"), (f" {does}", "muted")) for key, does in pairs
    )
