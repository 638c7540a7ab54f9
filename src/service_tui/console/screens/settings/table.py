"""The table of the settings: value, use, and meaning."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.buy_limit_text import figure, source_text, used_bar
from service_tui.console.forms.ticket_guards import slippage_max, slippage_text
from service_tui.console.keys import cap
from service_tui.console.notifications import KINDS, Channel, Choices, choices_of, is_quiet
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.buy_limits import buy_limits
from service_tui.desk.slices.buy_limits import RULES, BuyLimitView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Timestamp

STOP, TARGET, AUTO = "risk.stop", "risk.target", "risk.auto"
SLIPPAGE_ROW = "ticket.slippage"
PAUSED, PLAN, COOLDOWNS = "trading.paused", "trading.plan", "trading.cooldowns"
QUIET_ROW, PROTOCOL_ROW = "tell.quiet", "tell.protocol"
THEME_ROW, PACE, PRIVACY, ABOUT = "desk.theme", "desk.pace", "desk.privacy", "desk.about"
WEBHOOKS = "desk.webhooks"
"""Keys of the rows that are no limit and no kind of notice."""

LIMIT: Final = "limit."
NOTIFY_ROW: Final = "tell."

THEME: Final = "theme"
"""The preference that names the theme."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting.

    `value` is its value, `used` a bar beside it, `beside` the rest or its source;
    `meaning` is its description, in a sentence or two.
    """

    key: str
    group: str
    name: str
    value: Text
    used: Text
    beside: Text
    meaning: str
    limit: BuyLimitView | None = None
    kind: NoticeKind | None = None


def settings(view: ViewContext, theme: str) -> tuple[SettingRow, ...]:
    """Every setting, in the order of its groups; the name of a group is at its first row.

    `theme` is the present one.
    """
    rows = (
        *_limits(view),
        *_risk(view.state),
        *_trading(view),
        *_notification_rows(view),
        *_desk(view, theme),
    )
    shown: list[SettingRow] = []
    last = ""
    for row in rows:
        group = "" if row.group == last else row.group
        last = row.group
        shown.append(replace(row, group=group))
    return tuple(shown)


def _limits(view: ViewContext) -> Iterator[SettingRow]:
    for limit in buy_limits(view.state, view.now):
        rule = RULES[limit.limit_kind]
        value = figure(limit.limit_kind, limit.limit, masked=view.masked)
        if limit.is_broken:
            value = Text("unreadable", "loss")
        yield SettingRow(
            LIMIT + limit.limit_kind.value,
            "limits",
            rule.name,
            value,
            used_bar(limit),
            _left(limit, masked=view.masked),
            rule.description,
            limit=limit,
        )


def _left(limit: BuyLimitView, *, masked: bool) -> Text:
    """The rest if the limit is counted, else the source of its figure."""
    if limit.left is None:
        return Text(source_text(limit), "muted")
    return Text.assemble(figure(limit.limit_kind, limit.left, masked=masked), (" left", "muted"))


def _percent(fraction: float | None, direction: str) -> Text:
    if fraction is None:
        return Text("off", "muted")
    return Text.assemble(formats.percent(fraction), (f" {direction}", "muted"))


def _on_off(*, on: bool, word: str = "on", other: str = "off") -> Text:
    return Text(word, "accent") if on else Text(other, "muted")


def _risk(state: DeskState) -> Iterator[SettingRow]:
    if state.buy_limits is None:
        return
    known = state.buy_limits.defaults
    plain = Text("new buys", "muted")
    yield SettingRow(
        STOP, "risk", "stop-loss", _percent(known.stop_loss_pct, "down"), Text(), plain,
        "Sells a new position when it is down by this much.",
    )  # fmt: skip
    yield SettingRow(
        TARGET, "risk", "take-profit", _percent(known.take_profit_pct, "up"), Text(), plain,
        "Sells a new position when it is up by this much.",
    )  # fmt: skip
    yield SettingRow(
        AUTO, "risk", "auto stop-loss", _on_off(on=known.auto_monitor), Text(), plain,
        "Sets a monitor with these thresholds on each filled buy. Turning it off removes "
        "automatic monitors; manual ones stay.",
    )  # fmt: skip


def _trading(view: ViewContext) -> Iterator[SettingRow]:
    state, now = view.state, view.now
    limits, account = state.limits, state.account
    if limits is not None:
        value, beside = _trading_text(state, paused=limits.paused)
        yield SettingRow(
            PAUSED, "trading", "this desk's agent",
            value, Text(), beside,
            "Paused, the service refuses this agent's buys; sales and redemptions stay "
            f"possible. Resuming needs a confirmation. {cap('app.halt')} halts all agents.",
        )  # fmt: skip
    if account is not None:
        yield SettingRow(
            PLAN, "trading", "plan", Text(account.plan.value), Text(), Text(),
            "Free: 50 buys/day, 1 agent. Pro: 500 buys/day, rates x3, 10 agents. Elite: no "
            "daily cap, rates x10, 20 agents.",
        )  # fmt: skip
    if state.buy_limits is not None:
        waiting = [cooldown for cooldown in state.buy_limits.cooldowns if cooldown.until > now]
        yield SettingRow(
            COOLDOWNS, "trading", "cooldowns",
            Text(f"{len(waiting)} now", "warn") if waiting else Text("none now", "muted"),
            Text(), _longest(max((cooldown.until for cooldown in waiting), default=now), now),
            "A failed order on a real venue blocks buys of that side for 30 minutes. On the "
            "free plan, buys of a side on sim are two minutes apart.",
        )  # fmt: skip


def _trading_text(state: DeskState, *, paused: bool) -> tuple[Text, Text]:
    if state.halted_since is not None:
        return Text("halted", "loss"), Text(f"{cap('app.halt')} shows it", "muted")
    if paused:
        return Text("paused", "warn"), Text("buys blocked", "muted")
    return Text("running", "accent"), Text(f"{cap('settings.edit')} pauses", "muted")


def _longest(until: Timestamp, now: Timestamp) -> Text:
    return Text(formats.duration(until - now), "muted") if until > now else Text()


def _notification_rows(view: ViewContext) -> Iterator[SettingRow]:
    choices = choices_of(view.state.preferences)
    for kind, rule in KINDS.items():
        value, beside = _channels(choices, kind)
        yield SettingRow(
            NOTIFY_ROW + kind.value,
            "notices",
            rule.name,
            value,
            Text(),
            beside,
            rule.meaning,
            kind=kind,
        )
    quiet = choices.quiet
    hours = Text("off", "muted") if quiet is None else Text(quiet.describe())
    now_quiet = Text("quiet now", "warn") if is_quiet(quiet, view.now) else Text()
    yield SettingRow(
        QUIET_ROW, "notices", "quiet hours", hours, Text(), now_quiet,
        "Local time. No bell and no desktop notification; toasts and the count continue.",
    )  # fmt: skip
    yield SettingRow(
        PROTOCOL_ROW, "notices", "desktop via", Text(choices.protocol.value), Text(), Text(),
        "The terminal's protocol: OSC 9 (iTerm2, kitty, WezTerm, Windows Terminal, Ghostty) or "
        "OSC 777 (urxvt, foot, Ghostty, VTE). Enter switches.",
    )  # fmt: skip


def _channels(choices: Choices, kind: NoticeKind) -> tuple[Text, Text]:
    """The display channels, and the sounding ones."""
    channels = choices.channels_of(kind)
    shown = " ".join(
        channel.value for channel in (Channel.TOAST, Channel.BADGE) if channel in channels
    )
    rings = " ".join(
        channel.value for channel in (Channel.BELL, Channel.DESKTOP) if channel in channels
    )
    return Text(shown or "not shown", "" if shown else "muted"), Text(
        rings or "no bell", "accent" if rings else "muted"
    )


def _desk(view: ViewContext, theme: str) -> Iterator[SettingRow]:
    state = view.state
    yield SettingRow(
        THEME_ROW, "desk", "theme", Text(theme), Text(),
        Text(f"{cap('app.theme')} next", "muted"),
        f"Enter lists the themes and previews each. {cap('app.theme')} takes the next one.",
    )  # fmt: skip
    if state.service.embedded and state.world is not None:
        pace = Text(f"{state.world.speed}x") if state.world.speed else Text("paused", "warn")
        yield SettingRow(
            PACE, "desk", "world speed", pace, Text(), Text("< > changes", "muted"),
            "Speed of the offline world: up to 60 times, on a history 3600. Alerts, limits and "
            "midnight follow the wall clock.",
        )  # fmt: skip
    slippage = slippage_max(state)
    yield SettingRow(
        SLIPPAGE_ROW, "desk", "slippage without asking",
        Text("any", "warn") if slippage is None else Text(f"{slippage_text(slippage)} pt"),
        Text(), Text("enter changes", "muted"),
        "Most slippage that the ticket sends at the first enter: average price - price now, in "
        "points. Beyond it the figure is coloured, and a second enter sends.",
    )  # fmt: skip
    yield SettingRow(
        PRIVACY, "desk", "amounts", _on_off(on=view.masked, word="masked", other="shown"), Text(),
        Text(f"{cap('app.privacy')} masks", "muted"),
        "Hides amounts and addresses, on the desktop too.",
    )  # fmt: skip
    yield SettingRow(
        WEBHOOKS, "desk", "webhooks", _webhooks_text(state), Text(), Text("enter lists", "muted"),
        "Your programs that receive trades, resolutions and prices. Enter lists, adds, tests "
        "and removes them.",
    )  # fmt: skip
    yield SettingRow(
        ABOUT, "desk", "account, service, paths", Text(), Text(), Text("enter shows", "muted"),
        "This desk's agent, its service, the data directory and the log.",
    )  # fmt: skip


def _webhooks_text(state: DeskState) -> Text:
    """How many addresses there are, and how many of them fail; empty before they were read."""
    if state.webhooks is None or state.webhooks.at is None:
        return Text()
    rows = state.webhooks.rows
    failing = sum(bool(row.failures) for row in rows)
    if failing:
        return Text(f"{failing} failing", "warn")
    return Text(f"{len(rows)}") if rows else Text("none", "muted")


def _rows(state: DeskState) -> tuple[SettingRow, ...]:
    # As of the newest answer: the screen, which has clock and theme, reads them itself.
    at = max(state.seen.values(), default=Timestamp(0.0))
    return settings(ViewContext.of(state, at), state.preferences.get(THEME, ""))


SETTINGS: Final = TableSpec[SettingRow](
    "settings",
    rows=_rows,
    key=lambda row: row.key,
    # 80 cells hold all but the last.
    columns=(
        Column("group", "", 7, lambda row, _: Text(row.group, "heading"), glows=False),
        Column("name", "setting", 24, lambda row, _: row.name, flex=True),
        Column("value", "", 11, lambda row, _: row.value, align="right"),
        Column("used", "used", 10, lambda row, _: row.used, glows=False),
        Column("beside", "", 13, lambda row, _: row.beside, glows=False),
    ),
    search_text=lambda row, _: folded(row.name),
    empty_text=lambda _: "Not loaded yet: no response from the service.",
)
