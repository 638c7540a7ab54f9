"""What the settings screen tells beside its rows: one row in full, and whose desk this is."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, section
from service_tui.console.freshness import is_private, world_now
from service_tui.console.keys import cap
from service_tui.console.parts.base import Surroundings
from service_tui.console.rail_text import figure, source_words, used_line
from service_tui.console.screens.settings.rows import COOLDOWNS, SettingRow
from service_tui.desk.slices.rails import RULES, Rail, RailView
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import Timestamp

_SKILLS_MAX: Final = 8
_NARROW: Final = 13
_LABEL: Final = 19
"""Cells of the labels, in the detail and on the page; how many skills are listed."""

_UNKNOWN: Final = Text("not known yet", "muted")


def about_text(state: DeskState, now: Timestamp, around: Surroundings) -> Text:
    """Which agent, which service, which world, and where things lie."""
    return Text("\n\n").join((
        section("account", _account(state)),
        section("world", _world(state, now)),
        section("service", _service(state)),
        section("places", _places(around)),
        section("keys", _keys()),
    ))


def detail_text(row: SettingRow, state: DeskState, now: Timestamp) -> Text:
    """One row in full: what it means, its figures, and when it starts anew."""
    parts = [Text.assemble((row.name, "bold"), "\n", row.says)]
    if row.rail is not None:
        parts.append(_rail(row.rail, state, now))
    if row.key == COOLDOWNS:
        parts.append(_cooldowns(state, now))
    return Text("\n\n").join(parts)


def hint_text(row: SettingRow, now: Timestamp) -> Text:
    """One row in a line, for where there is no room for more."""
    view = row.rail
    if view is None:
        return Text(row.says, "muted")
    figures = f"service {_bare(view, view.service)}"
    if RULES[view.rail].on_desk:
        figures += f", this desk {_bare(view, view.own)}"
    anew = ""
    if view.resets_at is not None:
        here = formats.clock_time(view.resets_at).plain.removesuffix(":00")
        left = formats.until(view.resets_at, now).plain
        anew = f"; anew {left}, midnight UTC, {here} here"
    return Text(f"{figures}{anew} — {row.says}", "muted")


def _bare(view: RailView, amount: int | None) -> str:
    return "none" if amount is None else figure(view.rail, amount).plain


def _rail(view: RailView, state: DeskState, now: Timestamp) -> Text:
    masked, rule = is_private(state), RULES[view.rail]
    shown: list[Figure] = []
    if rule.on_service or view.service is not None:
        fixed = Text("  fixed", "muted") if not rule.on_service else Text()
        service = figure(view.rail, view.service, masked=masked)
        shown.append(("service", Text.assemble(service, fixed)))
    if rule.on_desk:
        own = figure(view.rail, view.own, masked=masked)
        shown.append(("this desk", Text("unreadable", "loss") if view.is_broken else own))
    whose = Text(f"  {source_words(view)}", "muted")
    shown.append(("binds", Text.assemble(figure(view.rail, view.limit, masked=masked), whose)))
    if view.used is not None:
        shown.append(("used", used_line(view, masked=masked)))
    if view.left is not None:
        shown.append(("left", figure(view.rail, view.left, masked=masked)))
    if view.about:
        shown.append(("most in", formats.plain(_about(view.about, state), 60)))
    if view.resets_at is not None:
        here = formats.clock_time(view.resets_at).plain.removesuffix(":00")
        shown += [
            ("starts anew", formats.until(view.resets_at, now)),
            ("", Text(f"midnight UTC, {here} here", "muted")),
        ]
    lines = [_rows(tuple(shown), _NARROW)]
    if view.rail is Rail.SKILL_DAY:
        lines.append(_skills(state, masked=masked))
    return Text("\n").join(line for line in lines if line.plain)


def _about(name: str, state: DeskState) -> str:
    market = state.markets.get(name)
    return name if market is None else market.question


def _skills(state: DeskState, *, masked: bool) -> Text:
    skills = () if state.rails is None else state.rails.skills[:_SKILLS_MAX]
    return _rows(
        tuple(
            (formats.plain(one.slug, _NARROW - 2).plain, formats.money(one.spent, masked=masked))
            for one in skills
        ),
        _NARROW,
    )


def _cooldowns(state: DeskState, now: Timestamp) -> Text:
    known = () if state.rails is None else state.rails.cooldowns
    waiting = [one for one in known if one.until > now][:_SKILLS_MAX]
    return Text("\n").join(
        Text.assemble(
            formats.until(one.until, now),
            "  ",
            (one.side.value.upper(), "yes" if one.side is Side.YES else "no"),
            "  ",
            formats.plain(_about(one.market_id, state), 40),
            (f"  {one.after}", "muted"),
        )
        for one in waiting
    )


def _rows(rows: tuple[Figure, ...], wide: int = _LABEL) -> Text:
    """Labels and values, both from the left: values here are words as often as numbers."""
    lines = [Text.assemble((label.ljust(wide), "muted"), value) for label, value in rows]
    return Text("\n").join(lines)


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
        (cap("app.theme"), "next theme"),
        (cap("app.pause"), "pause the world"),
        (f"{cap('app.slower')} {cap('app.faster')}", "slower, faster"),
        (cap("app.privacy"), "mask amounts"),
        (cap("app.welcome"), "the first page again"),
        (cap("app.help"), "all keys"),
    )
    return Text("   ").join(
        Text.assemble((key, "accent"), (f" {does}", "muted")) for key, does in pairs
    )
