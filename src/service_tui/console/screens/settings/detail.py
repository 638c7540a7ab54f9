"""Texts of the settings screen: one row in full, and this desk's agent, service and files."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.buy_limit_text import figure, source_text, used_line
from service_tui.console.figures import Figure, section
from service_tui.console.freshness import world_now
from service_tui.console.keys import cap
from service_tui.console.reasons import without_amounts
from service_tui.console.registering import how_to_register
from service_tui.console.screens.settings.table import COOLDOWNS, SettingRow
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.numbered_view import ProgramInfo
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import Timestamp

_SKILLS_MAX: Final = 8
_NARROW: Final = 13
_LABEL: Final = 19
"""Cells of the labels, in the detail and on the page; number of listed skills."""

_UNKNOWN: Final = Text("not loaded yet", "muted")


def about_text(state: DeskState, now: Timestamp, program: ProgramInfo) -> Text:
    """The agent, the service, the world, and the places of files."""
    return Text("\n\n").join((
        section("account", _account(state)),
        section("world", _world(state, now)),
        section("service", _service(state)),
        section("places", _places(program)),
        section("keys", _keys()),
    ))


def describe(row: SettingRow, view: ViewContext) -> Text:
    """One row in full: its meaning, its figures, and its reset time."""
    parts = [Text.assemble((row.name, "bold"), "\n", _meaning(row, view))]
    if row.limit is not None:
        parts.append(_limit(row.limit, view))
    if row.key == COOLDOWNS:
        parts.append(_cooldowns(view))
    return Text("\n\n").join(parts)


def describe_shortly(row: SettingRow, view: ViewContext) -> Text:
    """One row in a line, without room for more."""
    limit = row.limit
    if limit is None:
        return Text(row.meaning, "muted")
    figures = f"service {_bare(limit, limit.service, view)}"
    if RULES[limit.limit_kind].on_desk:
        figures += f", this desk {_bare(limit, limit.own, view)}"
    anew = ""
    if limit.resets_at is not None:
        here = formats.clock_time(limit.resets_at).plain.removesuffix(":00")
        left = formats.until(limit.resets_at, view.now).plain
        anew = f"; resets {left}, midnight UTC, {here} here"
    return Text(f"{figures}{anew} — {_meaning(row, view)}", "muted")


def _meaning(row: SettingRow, view: ViewContext) -> str:
    """The description of a row; that of a limit without its amounts while they are masked."""
    return without_amounts(row.meaning, masked=view.masked and row.limit is not None)


def _bare(limit: BuyLimitView, amount: int | None, view: ViewContext) -> str:
    return "none" if amount is None else figure(limit.limit_kind, amount, masked=view.masked).plain


def _limit(limit: BuyLimitView, view: ViewContext) -> Text:
    rule = RULES[limit.limit_kind]
    shown: list[Figure] = []
    if rule.on_service or limit.service is not None:
        fixed = Text("  fixed", "muted") if not rule.on_service else Text()
        service = figure(limit.limit_kind, limit.service, masked=view.masked)
        shown.append(("service", Text.assemble(service, fixed)))
    if rule.on_desk:
        own = figure(limit.limit_kind, limit.own, masked=view.masked)
        shown.append(("this desk", Text("unreadable", "loss") if limit.is_broken else own))
    whose = Text(f"  {source_text(limit)}", "muted")
    binds = figure(limit.limit_kind, limit.limit, masked=view.masked)
    shown.append(("effective", Text.assemble(binds, whose)))
    if limit.used is not None:
        shown.append(("used", used_line(limit, masked=view.masked)))
    if limit.left is not None:
        shown.append(("left", figure(limit.limit_kind, limit.left, masked=view.masked)))
    if limit.about:
        shown.append(("highest", formats.plain(_about(limit.about, view.state), 60)))
    if limit.resets_at is not None:
        here = formats.clock_time(limit.resets_at).plain.removesuffix(":00")
        shown += [
            ("resets", formats.until(limit.resets_at, view.now)),
            ("", Text(f"midnight UTC, {here} here", "muted")),
        ]
    lines = [_rows(tuple(shown), _NARROW)]
    if limit.limit_kind is BuyLimit.SKILL_DAY:
        lines.append(_skills(view))
    return Text("\n").join(line for line in lines if line.plain)


def _about(name: str, state: DeskState) -> str:
    market = state.markets.get(name)
    return name if market is None else market.question


def _skills(view: ViewContext) -> Text:
    buy_limits = view.state.buy_limits
    skills = () if buy_limits is None else buy_limits.skills[:_SKILLS_MAX]
    return _rows(
        tuple(
            (formats.plain(skill.slug, _NARROW - 2).plain, view.money(skill.spent))
            for skill in skills
        ),
        _NARROW,
    )


def _cooldowns(view: ViewContext) -> Text:
    buy_limits = view.state.buy_limits
    known = () if buy_limits is None else buy_limits.cooldowns
    waiting = [one for one in known if one.until > view.now][:_SKILLS_MAX]
    return Text("\n").join(
        Text.assemble(
            formats.until(cooldown.until, view.now),
            "  ",
            (cooldown.side.value.upper(), "yes" if cooldown.side is Side.YES else "no"),
            "  ",
            formats.plain(_about(cooldown.market_id, view.state), 40),
            (f"  {cooldown.after}", "muted"),
        )
        for cooldown in waiting
    )


def _rows(rows: tuple[Figure, ...], wide: int = _LABEL) -> Text:
    """Labels and values, both left-aligned: values here are words as often as numbers."""
    lines = [Text.assemble((label.ljust(wide), "muted"), value) for label, value in rows]
    return Text("\n").join(lines)


def _account(state: DeskState) -> Text:
    account = state.account
    if account is None:
        return _UNKNOWN
    claimed = Text("yes") if account.claimed else Text("no: not approved for real money", "muted")
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
        return Text("this service has no simulated world to speed up", "muted")
    rows: tuple[Figure, ...] = (
        ("world time", formats.date_time(world_now(state, now))),
        (
            ("history", formats.plain(world.history, 40))
            if world.history
            else ("seed", Text(str(world.seed)))
        ),
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
        ("response time", Text(took)),
        ("rejected rows", formats.count(service.dropped_rows)),
    )
    if not service.embedded:
        return _rows(rows)
    who = "another program on this machine" if service.attached else "this program"
    return (
        _rows((
            *rows,
            ("served by", Text(who)),
            ("agent address", formats.plain(service.address or "no address yet", 60)),
        ))
        .append("\n\n")
        .append_text(how_to_register(state))
    )


def _places(program: ProgramInfo) -> Text:
    return _rows((
        ("data", formats.plain(program.data_path or "unknown")),
        ("log", formats.plain(program.log_path or "not stored")),
    ))


def _keys() -> Text:
    pairs = (
        (cap("app.theme"), "next theme"),
        (cap("app.pause"), "pause the world"),
        (f"{cap('app.slower')} {cap('app.faster')}", "slower, faster"),
        (cap("app.privacy"), "mask amounts"),
        (cap("app.welcome"), "welcome page"),
        (cap("app.help"), "all keys"),
    )
    return Text("   ").join(
        Text.assemble((key, "accent"), (f" {does}", "muted")) for key, does in pairs
    )
