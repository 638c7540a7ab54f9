"""Texts beside the rows: absence summary, heartbeat, idle text."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fleet_strip import standings
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private, of_wall
from service_tui.console.idle_time import IdleTime
from service_tui.console.keys import cap, key_named
from service_tui.console.questions import short_question
from service_tui.console.ranking import Need
from service_tui.console.screens.overview.table import ALL_CLEAR, ALL_RUN, end_text
from service_tui.console.view_context import ViewContext
from service_tui.desk.figures import open_news
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.briefing import BriefingView, StandingView
from service_tui.desk.slices.markets import NewsView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.world import AbsenceView, ResolvedView
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

RESOLVED_MAX: Final = 5
NEWS_MAX: Final = 3
"""Lines of each part; the rest is counted."""

_AMOUNT: Final = 10
"""Cells of an amount, right-aligned."""

PAID_FROM: Final = 72
"""Width from which there is room for the payout beside the P&L."""

ALARM_S: Final = 1_800.0
"""Without a briefing for so long alerts may come and go unseen. Source: spec, "Limits"."""

LATE_S: Final = 60.0
"""Beyond this the age is marked: a briefing comes every 15 s."""

_ITEMS_MAX: Final = 3


# -- the absence ----------------------------------------------------------------------------------


def absence_text(absence: AbsenceView, *, width: int, lines: int, masked: bool) -> Text:
    """Duration, change of the equity, resolved markets, news.

    Args:
        absence: the world's summary.
        width: cells of a line.
        lines: the number of lines available, >= 2.
        masked: hide amounts.

    Returns:
        At most `lines` lines.
    """
    head = Text.assemble(
        ("While you were away", "bold heading"),
        f"  {formats.duration(absence.world_elapsed_s)}",
        (" of world time, since ", "muted"),
        formats.date_time(absence.closed_at),
    )
    rows = [head, _sums(absence, masked=masked)]
    resolved = [_resolved(each, width, masked=masked) for each in absence.resolved[:RESOLVED_MAX]]
    rows += resolved[: max(0, lines - len(rows))]
    news = [_news(item) for item in absence.news[:NEWS_MAX]]
    rows += news[: max(0, lines - len(rows))]
    for row in rows:
        row.truncate(width, overflow="ellipsis")
    return Text("\n").join(rows)


def _sums(absence: AbsenceView, *, masked: bool) -> Text:
    line = Text()
    if absence.equity_before is not None and absence.equity_after is not None:
        change = Micros(absence.equity_after - absence.equity_before)
        line.append_text(
            Text.assemble(
                ("equity ", "muted"),
                formats.money(absence.equity_before, masked=masked),
                " → ",
                formats.money(absence.equity_after, masked=masked),
                " ",
                formats.pnl(change, masked=masked, arrow=True),
                "   ",
            )
        )
    line.append_text(
        Text.assemble(
            f"{absence.resolved_count:,}",
            (" resolved, yours ", "muted"),
            f"{len(absence.resolved)}",
            ("   ", "muted"),
            f"{absence.listed_count:,}",
            (" new   ", "muted"),
            f"{len(absence.news)}",
            (" news", "muted"),
        )
    )
    return line


def _resolved(resolved: ResolvedView, width: int, *, masked: bool) -> Text:
    won = resolved.payout > 0
    mark = (" ✓ ", "profit") if won else (" ✗ ", "loss")
    if resolved.outcome.winner is None:
        mark = (" · ", "muted")
    line = Text.assemble(
        mark,
        (f"{resolved.outcome.word:<5}", formats.outcome_ink(resolved.outcome)),
        Text(short_question(resolved.question)),
    )
    sums = [("  P&L ", formats.pnl(resolved.pnl, masked=masked))]
    if width >= PAID_FROM:
        sums.insert(0, ("  paid ", formats.money(resolved.payout, masked=masked)))
    tail = Text()
    for label, amount in sums:
        tail.append(label, "muted")
        tail.append(" " * max(0, _AMOUNT - amount.cell_len))
        tail.append_text(amount)
    line.truncate(max(1, width - tail.cell_len), overflow="ellipsis", pad=True)
    line.append_text(tail)
    return line


def _news(news: NewsView) -> Text:
    rose = news.price_after >= news.price_before
    return Text.assemble(
        (" ▲ " if rose else " ▼ ", "profit" if rose else "loss"),
        formats.price(news.price_before),
        " → ",
        formats.price(news.price_after),
        "  ",
        formats.plain(news.headline),
    )


# -- the heartbeat --------------------------------------------------------------------------------


def is_alarming(state: DeskState, now: Timestamp) -> bool:
    """True if no briefing has come for so long that alerts may have been missed."""
    age = age_s(state, Topic.BRIEFING, now)
    return age is not None and not age <= ALARM_S


def briefing_text(view: ViewContext, lines: int) -> Text:
    """The heartbeat in at most so many lines, >= 1, each cut at `view.width`.

    Returns:
        The age, then grave items, tasks, and new items.
    """
    lines_of_text = [_head(view.state, view.now)]
    if view.state.briefing is not None:
        lines_of_text += _items(view.state.briefing, view)
    for line in lines_of_text[:lines]:
        line.truncate(max(1, view.width), overflow="ellipsis")
    return Text("\n").join(lines_of_text[:lines])


def _head(state: DeskState, now: Timestamp) -> Text:
    """The counts and the age; a missing briefing takes the whole line."""
    age = age_s(state, Topic.BRIEFING, now)
    late = state.risk.briefing_late
    if is_alarming(state, now):
        text = late or f"no briefing for {formats.duration(age or 0.0)}"
        return Text.assemble((" NO BRIEFING ", "bold reverse loss"), (f" {text}", "bold loss"))
    if late:
        return Text.assemble(("briefing  ", "bold heading"), (f"LATE  {late}", "bold warn"))
    head = Text.assemble(("briefing  ", "bold heading"))
    known = state.briefing
    if known is None or age is None:
        head.append("not received yet", "muted")
        return head
    tone = "warn" if age > LATE_S else "muted"
    head.append(f"{formats.age(Timestamp(now - age), now)} ago", tone)
    for part in _counts(known, masked=is_private(state)):
        head.append("   ", "")
        head.append_text(part)
    return head


def _counts(known: BriefingView, *, masked: bool) -> Iterator[Text]:
    for count, one, many, tone in (
        (len(known.alerts), "risk alert", "risk alerts", "loss"),
        (len(known.warnings), "warning", "warnings", "warn"),
        (known.attention_count, "position to review", "positions to review", "warn"),
        (known.redeemable_count, "to redeem", "to redeem", "accent"),
    ):
        if count:
            noun = one if count == 1 else many
            yield Text.assemble((f"{count:,}", f"bold {tone}"), (f" {noun}", "muted"))
    standing = known.standing
    if standing.rank is not None or standing.pnl_percent is not None:
        yield _standing(standing, masked=masked)
    if standing.win_rate is not None:
        yield Text.assemble(("win rate ", "muted"), formats.percent(standing.win_rate, 0))


_ORDINALS: Final = ("first", "second", "third")


def _standing(standing: StandingView, *, masked: bool) -> Text:
    """The place among all agents, and the P&L that gives it: of all time, not of the day."""
    parts: list[Text] = []
    if standing.rank is not None:
        words = dict(enumerate(_ORDINALS, 1))
        place = words.get(standing.rank, f"number {standing.rank:,}")
        noun = "agent" if standing.agents == 1 else "agents"
        among = "" if standing.agents is None else f" of {standing.agents:,} {noun}"
        parts.append(Text.assemble(place if among else f"rank {place}", (among, "muted")))
    if standing.pnl_percent is not None:
        percent = standing.pnl_percent
        ink = "profit" if percent > 0 else "loss" if percent < 0 else "flat"
        # Two decimals of a percent would give the amount away.
        parts.append(Text(f"{percent:+.1f} %" if masked else f"{percent:+.2f} %", ink))
    return Text(", ", "muted").join(parts)


def _items(known: BriefingView, view: ViewContext) -> Iterator[Text]:
    for texts, glyph, tone in (
        (known.alerts, "▼", "loss"),
        (known.warnings, "!", "warn"),
        (known.every_action, "→", "accent"),
    ):
        for text in texts[:_ITEMS_MAX]:
            line = view.sentence(text)
            yield Text.assemble((f"{glyph} ", tone), line)
        if len(texts) > _ITEMS_MAX:
            yield Text(f"  and {len(texts) - _ITEMS_MAX} more", "muted")
    yield from _new(known, view)


def _new(known: BriefingView, view: ViewContext) -> Iterator[Text]:
    """The number of new markets that still trade, and the first of them."""
    fresh = open_news(known, view.state, view.world_now)
    count = len(fresh)
    if count:
        first, left_s = fresh[0]
        text = first.left if left_s is None else formats.duration(left_s)
        left = f"  {text}" if text else ""
        noun = "new market" if count == 1 else "new markets, the first:"
        yield Text.assemble(
            ("+ ", "accent"), (f"{count} {noun} ", "muted"), formats.plain(first.question),
            (formats.plain(left).plain and left, "muted"),
        )  # fmt: skip
    if known.skills:
        names = formats.plain(", ".join(known.skills))
        key = cap("attention.run")
        yield Text.assemble(
            ("+ ", "accent"), ("Try a skill: ", "muted"), (key, "accent"), " (", names, ")"
        )


# -- the rows -------------------------------------------------------------------------------------


def advice_text(need: Need) -> Text:
    """The action's key on a row, the action, what happens without it, and the note."""
    key = cap("attention.open")
    return Text.assemble(
        (f"{key} ", "muted"), (need.verb, "accent"), ", otherwise ", end_text(need)
    )


def marked_text(count: int) -> Text:
    """The keys that apply to marked rows."""
    keys = ("attention.open", "attention.dismiss", "attention.snooze")
    named = "  ".join(f"{cap(key)} {key_named(key).label}" for key in keys)
    return Text.assemble((f"{count:,} marked", "bold"), (f"   {named}", "muted"))


def explain_need(need: Need, view: ViewContext) -> tuple[Explanation, ...]:
    """Why a row is where it is: pinned or not, its time left, its amount."""
    left = Text("no deadline") if need.left_s is None else Text(formats.duration(need.left_s))
    pinned = "pinned: it holds money or a decision" if need.is_pinned else "not pinned"
    return (
        Explanation(
            "place",
            Text(pinned),
            "pinned rows, then the step of the time left, then the amount",
            (
                ("time left", left),
                ("steps", Text("1m, 10m, 1h, 1d, more, no deadline")),
                ("amount", view.money(need.money)),
                ("money", Text("real" if need.is_real else "play")),
            ),
            "the desk's newest state",
            Text(),
        ),
    )


def record_of(need: Need) -> dict[str, object]:
    """A row for the clipboard, amounts in micros."""
    return {
        "kind": need.word,
        "what": need.what,
        "agent": need.agent,
        "figure": need.figure.plain.strip(),
        "amount": need.money,
        "left_s": need.left_s,
        "otherwise": need.otherwise,
        "note": need.note,
        "key": need.key,
    }


def idle_text(idle_time: IdleTime, view: ViewContext) -> str:
    """The text without any need: since when; the day of the agents stands below it."""
    agents = standings(view.state)
    all_run = bool(agents) and all(one.is_inconspicuous for one in agents)
    funded = f" {ALL_RUN}" if all_run else ""
    if idle_time.since is None:
        return f"{ALL_CLEAR}.{funded}"
    since = formats.moment_of(idle_time.since, view.now).plain
    length = formats.duration(max(0.0, view.now - idle_time.since))
    if idle_time.is_from_start:
        return f"{ALL_CLEAR}. Watching for {length}.{funded}"
    return f"{ALL_CLEAR} since {since}{of_wall(view.state)} ({length}).{funded}"
