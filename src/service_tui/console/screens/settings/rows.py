"""The rows of the settings screen: what is set, how much of it is used, and what it means."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.deliveries import KINDS, Choices, Way, choices_of, is_quiet
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.rail_text import figure, source_words, used_bar
from service_tui.console.widgets.columns import Column
from service_tui.desk.rails import rails
from service_tui.desk.slices.rails import RULES, RailView
from service_tui.desk.slices.records import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STOP, TARGET, AUTO = "risk.stop", "risk.target", "risk.auto"
PAUSED, PLAN, COOLDOWNS = "trading.paused", "trading.plan", "trading.cooldowns"
QUIET_ROW, PROTOCOL_ROW = "tell.quiet", "tell.protocol"
THEME_ROW, PACE, PRIVACY, ABOUT = "desk.theme", "desk.pace", "desk.privacy", "desk.about"
"""Keys of the rows that are no limit and no kind of notice."""

LIMIT: Final = "limit."
TELL: Final = "tell."

THEME: Final = "theme"
"""The preference that names the theme."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One thing that can be set.

    `value` is what is set, `used` a bar beside it, `beside` what is left or where it comes from;
    `says` is what it means, in a sentence or two.
    """

    key: str
    group: str
    name: str
    value: Text
    used: Text
    beside: Text
    says: str
    rail: RailView | None = None
    kind: NoticeKind | None = None


def columns() -> tuple[Column[SettingRow], ...]:
    """From left to right; 80 cells hold all but the last."""
    return (
        Column[SettingRow]("group", "", 7, lambda row: Text(row.group, "heading"), glows=False),
        Column[SettingRow]("name", "setting", 24, lambda row: row.name, flex=True),
        Column[SettingRow]("value", "", 11, lambda row: row.value, align="right"),
        Column[SettingRow]("used", "used", 10, lambda row: row.used, glows=False),
        Column[SettingRow]("beside", "", 13, lambda row: row.beside, glows=False),
    )


def rows(state: DeskState, now: Timestamp, theme: str) -> tuple[SettingRow, ...]:
    """Every row, in the order of its groups; the name of a group stands at its first row."""
    found = (
        *_limits(state, now),
        *_risk(state),
        *_trading(state, now),
        *_telling(state, now),
        *_desk(state, theme),
    )
    shown: list[SettingRow] = []
    last = ""
    for row in found:
        group = "" if row.group == last else row.group
        last = row.group
        shown.append(replace(row, group=group))
    return tuple(shown)


def _limits(state: DeskState, now: Timestamp) -> Iterator[SettingRow]:
    masked = is_private(state)
    for view in rails(state, now):
        rule = RULES[view.rail]
        value = figure(view.rail, view.limit, masked=masked)
        if view.is_broken:
            value = Text("unreadable", "loss")
        yield SettingRow(
            LIMIT + view.rail.value,
            "limits",
            rule.name,
            value,
            used_bar(view),
            _left(view, masked=masked),
            rule.says,
            rail=view,
        )


def _left(view: RailView, *, masked: bool) -> Text:
    """What is left where something is counted, else whose figure it is."""
    if view.left is None:
        return Text(source_words(view), "muted")
    return Text.assemble(figure(view.rail, view.left, masked=masked), (" left", "muted"))


def _percent(fraction: float | None, way: str) -> Text:
    if fraction is None:
        return Text("off", "muted")
    return Text.assemble(formats.percent(fraction), (f" {way}", "muted"))


def _on_off(*, on: bool, word: str = "on", other: str = "off") -> Text:
    return Text(word, "accent") if on else Text(other, "muted")


def _risk(state: DeskState) -> Iterator[SettingRow]:
    if state.rails is None:
        return
    known = state.rails.defaults
    plain = Text("buys to come", "muted")
    yield SettingRow(
        STOP, "risk", "stop-loss", _percent(known.stop_loss_pct, "down"), Text(), plain,
        "A position bought from now on is sold when it is down by this part.",
    )  # fmt: skip
    yield SettingRow(
        TARGET, "risk", "take-profit", _percent(known.take_profit_pct, "up"), Text(), plain,
        "A position bought from now on is sold when it is up by this part.",
    )  # fmt: skip
    yield SettingRow(
        AUTO, "risk", "guard buys by itself", _on_off(on=known.auto_monitor), Text(), plain,
        "Every successful buy gets a monitor with these thresholds. Turned off, automatic monitors "
        "are removed and those set by hand stay.",
    )  # fmt: skip


def _trading(state: DeskState, now: Timestamp) -> Iterator[SettingRow]:
    limits, account = state.limits, state.account
    if limits is not None:
        value, beside = _trading_words(state, paused=limits.paused)
        yield SettingRow(
            PAUSED, "trading", "this desk's agent",
            value, Text(), beside,
            "Paused, the service refuses every buy of this agent; sales, exits and redemptions "
            f"pass. Pausing asks nothing, resuming does. {cap('app.halt')} halts all agents.",
        )  # fmt: skip
    if account is not None:
        yield SettingRow(
            PLAN, "trading", "plan", Text(account.plan.value), Text(), Text(),
            "Free: 50 buys a day, 1 agent. Pro: 500 buys a day, rates x3, 10 agents. Elite: no "
            "daily cap, rates x10, 20 agents.",
        )  # fmt: skip
    if state.rails is not None:
        waiting = [one for one in state.rails.cooldowns if one.until > now]
        yield SettingRow(
            COOLDOWNS, "trading", "cooldowns",
            Text(f"{len(waiting)} now", "warn") if waiting else Text("none now", "muted"),
            Text(), _longest(max((one.until for one in waiting), default=now), now),
            "After an order that failed on a real venue a side of a market takes no buy for half "
            "an hour; on the free plan two minutes lie between two buys of a side on sim.",
        )  # fmt: skip


def _trading_words(state: DeskState, *, paused: bool) -> tuple[Text, Text]:
    if state.halted_since is not None:
        return Text("halted", "loss"), Text(f"{cap('app.halt')} shows it", "muted")
    if paused:
        return Text("paused", "warn"), Text("buys refused", "muted")
    return Text("running", "accent"), Text(f"{cap('settings.edit')} pauses", "muted")


def _longest(until: Timestamp, now: Timestamp) -> Text:
    return Text(formats.duration(until - now), "muted") if until > now else Text()


def _telling(state: DeskState, now: Timestamp) -> Iterator[SettingRow]:
    choices = choices_of(state.preferences)
    for kind, rule in KINDS.items():
        value, beside = _ways(choices, kind)
        yield SettingRow(
            TELL + kind.value, "tell me", rule.name, value, Text(), beside, rule.says, kind=kind
        )
    quiet = choices.quiet
    hours = Text("off", "muted") if quiet is None else Text(quiet.in_words())
    now_quiet = Text("quiet now", "warn") if is_quiet(quiet, now) else Text()
    yield SettingRow(
        QUIET_ROW, "tell me", "quiet hours", hours, Text(), now_quiet,
        "Local time. No bell and nothing on the desktop in them; toasts come, the count goes on.",
    )  # fmt: skip
    yield SettingRow(
        PROTOCOL_ROW, "tell me", "desktop by", Text(choices.protocol.value), Text(), Text(),
        "What the terminal understands: OSC 9 (iTerm2, kitty, WezTerm, Windows Terminal, Ghostty) "
        "or OSC 777 (urxvt, foot, Ghostty, VTE). Enter takes the other one.",
    )  # fmt: skip


def _ways(choices: Choices, kind: NoticeKind) -> tuple[Text, Text]:
    """Where it is shown, and what it rings."""
    ways = choices.ways_of(kind)
    shown = " ".join(way.value for way in (Way.TOAST, Way.BADGE) if way in ways)
    rings = " ".join(way.value for way in (Way.BELL, Way.DESKTOP) if way in ways)
    return Text(shown or "not shown", "" if shown else "muted"), Text(
        rings or "silent", "accent" if rings else "muted"
    )


def _desk(state: DeskState, theme: str) -> Iterator[SettingRow]:
    yield SettingRow(
        THEME_ROW, "desk", "theme", Text(theme), Text(),
        Text(f"{cap('app.theme')} the next", "muted"),
        "Enter shows them by name, and each as you pass it. "
        f"{cap('app.theme')} takes the next one.",
    )  # fmt: skip
    if state.service.embedded and state.world is not None:
        pace = Text(f"{state.world.speed}x") if state.world.speed else Text("paused", "warn")
        yield SettingRow(
            PACE, "desk", "pace of the world", pace, Text(), Text("< > change it", "muted"),
            "How fast the offline world's tape runs: paused, 1, 10 or 60 times. Alerts, limits and "
            "midnight go by the wall clock all the same.",
        )  # fmt: skip
    masked = is_private(state)
    yield SettingRow(
        PRIVACY, "desk", "amounts", _on_off(on=masked, word="masked", other="shown"), Text(),
        Text("z", "muted"), "Masked, amounts and addresses are dots, on the desktop as well.",
    )  # fmt: skip
    yield SettingRow(
        ABOUT, "desk", "account, service, places", Text(), Text(), Text("enter", "muted"),
        "Which agent this desk trades as, which service answers, where data and log lie.",
    )  # fmt: skip
