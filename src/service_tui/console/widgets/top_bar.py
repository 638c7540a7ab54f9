"""The top lines: meaning of a trade, money, and state of the service."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rich.text import Text
from textual import events, on

from service_tui.console import formats
from service_tui.console.fleet_strip import AgentStanding, standings, strip
from service_tui.console.freshness import is_private, world_now
from service_tui.console.keys import cap, key_named
from service_tui.console.messages import KeyChosen
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import Bit, bit_at, fitted_bits, joined, meter, spare
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.account import LimitsView
from service_tui.desk.slices.drill import DrillPhase
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Mode
from service_tui.units import Timestamp

FRESH_TOPICS: Final = (Topic.MARKETS, Topic.POSITIONS, Topic.ACCOUNT)
"""Topics that a trade depends on: the oldest of them is named when it is stale."""

STALE_PERIODS: Final = 2.0
"""Source: ux, "Looks"."""

_METER: Final = 8
_FIRST: Final = 18
"""The rank of the count of open orders on its line: it is cut first."""

DRILL_TITLE_MAX: Final = 32
TEAM_NAME_MAX: Final = 16
OTHERS_MAX: Final = 3

# Ranks from 11 on are cut for a better look, those below only to keep figures whole.

_MEANS: Final = {Mode.SIM: "simulated", Mode.DRY: "dry run", Mode.LIVE: "REAL MONEY"}
_PHASES: Final = {
    Phase.CONNECTING: ("◌", "connecting", "muted"),
    Phase.ONLINE: ("●", "online", "profit"),
    Phase.OFFLINE: ("○", "offline", "loss"),
    Phase.UNAUTHORIZED: ("✗", "key refused", "loss"),
}


class TopBar(Bar):
    """One line on wide terminals, two on others, one short one where lines are rare."""

    def __init__(self) -> None:
        super().__init__(id="top-bar")
        self._lines: tuple[tuple[Bit, ...], ...] = ()
        self._fleet: tuple[AgentStanding, ...] = ()

    def take(self, state: DeskState, now: Timestamp, unseen: int = 0) -> None:
        """Receive the newest state, at wall time `now`, and the number of unseen notices."""
        lines = (
            (*money_bits(state, now), *approval_bits(state, now), *badge_bits(unseen)),
            world_bits(state, now),
        )
        fleet = standings(state)
        if (lines, fleet) != (self._lines, self._fleet):
            self._lines, self._fleet = lines, fleet
            # If one line is enough for all the rest, the agents have one of their own.
            self.set_class(bool(fleet), "-fleet")
            self.set_class(state.service.mode is Mode.LIVE, "-live")
            self.set_class(state.halted_since is not None, "-halted")
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """Money above, the day and the world below; all in one line if there is only one."""
        shown = self._shown(width, height)
        return Text("\n").join(joined(fitted_bits(bits, width), width) for bits in shown)

    def _shown(self, width: int, height: int) -> list[tuple[Bit, ...]]:
        lines = self._lines if height > 1 else (tuple(bit for line in self._lines for bit in line),)
        *above, last = lines
        return [*above, with_fleet(last, self._fleet, width)]

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        lines = self._shown(self.size.width, self.size.height) if self._lines else []
        if offset is None or not offset.y < len(lines):
            return
        index = bit_at(lines[offset.y], self.size.width, offset.x)
        if index is not None and lines[offset.y][index].key:
            self.post_message(KeyChosen(key_named(lines[offset.y][index].key)))


def with_fleet(
    bits: tuple[Bit, ...], fleet: tuple[AgentStanding, ...], width: int
) -> tuple[Bit, ...]:
    """The line, with the agents if there is room: they displace only the count of open orders."""
    short = tuple(
        replace(bit, text=bit.short) if bit.rank == _FIRST and bit.short else bit for bit in bits
    )
    text = strip(fleet, spare(bits, width)) or strip(fleet, spare(short, width))
    return bits if text is None else (*bits, Bit(text))


def approval_bits(state: DeskState, now: Timestamp) -> tuple[Bit, ...]:
    """The number of trades that wait for approval, the nearest deadline, and the key."""
    pending = state.supervision.pending_trades
    if not pending:
        return ()
    left = formats.duration(min(trade.left_s(now) for trade in pending))
    key, word = cap("app.approvals"), "approval" if len(pending) == 1 else "approvals"
    short = Text(f" {key}{len(pending)} ", "bold reverse warn")
    full = Text(f" {key} {len(pending)} {word}, {left} ", "bold reverse warn")
    return (Bit(full, 16, short, 2, right=True, key="app.approvals"),)


def drill_bits(state: DeskState, now: Timestamp) -> tuple[Bit, ...]:
    """The drill that is played and its time; empty without one."""
    drill = state.drill
    if drill is None:
        return ()
    word = Text(" DRILL ", "bold reverse warn")
    whole_s = drill.minutes * 60.0
    clock = {
        DrillPhase.BRIEFING: "not started",
        DrillPhase.ENDING: "working out the result",
        DrillPhase.OVER: "over",
    }.get(drill.phase) or f"{minutes_text(drill.elapsed_s(now))} of {minutes_text(whole_s)}"
    title = formats.plain(drill.title, DRILL_TITLE_MAX).plain
    full = Text.assemble(word, (f" {title} ", "warn"), (clock, "bold warn"))
    return (Bit(full, 9, Text.assemble(word, (f" {clock}", "bold warn"))),)


def minutes_text(seconds: float) -> str:
    """Seconds as minutes and seconds: 3:20."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def team_bits(state: DeskState) -> tuple[Bit, ...]:
    """My name on a shared desk, and the others online; empty on a desk that is not shared."""
    team = state.team
    if team is None:
        return ()
    name = formats.plain(team.name, TEAM_NAME_MAX).plain
    me = Text.assemble(name, (f" {team.role.value}", "muted"))
    others = ", ".join(formats.plain(one, TEAM_NAME_MAX).plain for one in team.others[:OTHERS_MAX])
    more = len(team.others) - OTHERS_MAX
    beside = f"{others} +{more}" if more > 0 else others
    full = Text.assemble(me, (" with ", "muted"), beside) if beside else me
    return (Bit(full, 14, me, 9, key="app.team"),)


def badge_bits(unseen: int) -> tuple[Bit, ...]:
    """The number of unseen notices; empty without any."""
    if not unseen:
        return ()
    # A bare number would mean nothing.
    short = Text(f" {unseen:,} new ", "bold reverse warn")
    word = "notice" if unseen == 1 else "notices"
    full = Text(f" {unseen:,} {word} ", "bold reverse warn")
    return (Bit(full, 15, short, 7, right=True, key="app.attention"),)


def rewound_bits(state: DeskState) -> tuple[Bit, ...]:
    """The mark and the wall time of a recorded state; empty for the present one."""
    if state.rewound_to is None:
        return ()
    at = formats.date_time_s(state.rewound_to)
    mark = f" REPLAY {at}"
    return (
        Bit(
            Text(f"{mark} wall time ", "bold reverse warn"),
            20,
            Text(f"{mark} ", "bold reverse warn"),
        ),
    )


def money_bits(state: DeskState, now: Timestamp) -> tuple[Bit, ...]:
    """Mode, venue, plan and money on the left; the connection on the right."""
    service, account, masked = state.service, state.account, is_private(state)
    mode = service.mode
    tone = mode.value.lower()
    means = _means(state, now, f"bold {tone}" if mode is Mode.LIVE else tone)
    halted = [] if state.halted_since is None else [Bit(Text(" HALTED ", "bold reverse loss"))]
    bits = [
        *rewound_bits(state),
        *halted,
        Bit(Text(f" {mode.value} ", f"bold reverse {tone}")),
        means,
        _place_bit(state),
    ]
    if account is not None:
        today = formats.pnl(account.day_pnl, masked=masked, arrow=True)
        equity = formats.money(account.equity, masked=masked)
        label = "equity at mark" if account.is_at_mark else "equity"
        bits += [
            Bit(_labelled(label, equity), 11, equity, 3),
            Bit(Text.assemble(today, (" today", "muted")), 12, today, 5),
            Bit(_labelled("cash", formats.money(account.cash, masked=masked)), 10),
        ]
    return (*bits, *_connection_bits(state, now))


def _means(state: DeskState, now: Timestamp, ink: str) -> Bit:
    """Whose money it is; on a history its day, which is that of every price on the screen.

    That of a history stays whatever waits: its year stands nowhere else.
    """
    world, mode = state.world, state.service.mode
    if mode is not Mode.SIM or world is None or not world.history:
        return Bit(Text(_MEANS[mode], ink), 0 if mode is Mode.LIVE else 20)
    day = formats.day(world_now(state, now))
    return Bit(Text(f"history {day}", ink), 14, Text(day, ink))


def _place_bit(state: DeskState) -> Bit:
    """Venue and plan, which lose their labels and stay whatever waits."""
    venue = state.service.venue.value
    full, short = _labelled("venue", Text(venue)), venue
    if state.account is not None:
        plan = state.account.plan.value
        full = Text.assemble(full, "  ", _labelled("plan", Text(plan)))
        short = f"{venue} {plan}"
    return Bit(full, 19, Text(short))


def world_bits(state: DeskState, now: Timestamp) -> tuple[Bit, ...]:
    """Spend of the day and pending commands on the left; the offline world on the right."""
    bits: list[Bit] = [*drill_bits(state, now), *team_bits(state)]
    limits = state.limits
    if limits is not None:
        named, part = _used(state, limits)
        bits.append(Bit(Text.assemble(named, " ", meter(part, _METER)), 16, named, 16))
    # The search for a lost order has ended: it waits for the person, and for nothing else.
    lost = sum(ticket.is_lost for ticket in state.tickets)
    flying = state.in_flight - lost
    # A fixed place even for zero: the eye learns where to look.
    word = "order" if flying == 1 else "orders"
    sent = Text(f"{flying} {word} pending", "bold accent" if flying else "muted")
    # An order on the book is not pending: the venue has answered it.
    resting = (f", {len(state.orders):,} open", "muted")
    flight = Text.assemble(sent, resting) if state.orders else sent
    bits.append(
        Bit(flight, _FIRST if state.orders else 13 if flying else 17, sent, 13 if flying else 17)
    )
    if lost:
        word = "order" if lost == 1 else "orders"
        bits.append(Bit(Text(f"{lost} {word} of unknown outcome", "warn"), 12))
    if state.service.embedded and state.world is not None and state.drill is None:
        speed = state.world.speed
        pace = Text(f"world {speed}x") if speed else Text("world paused", "warn")
        if state.world.is_over:
            pace = Text("end of the history", "warn")
        clock = Text(" ") + formats.date_time(world_now(state, now))
        clock.stylize("muted")
        # The cached world time was true when it was written, not now.
        full = pace if state.from_cache else Text.assemble(pace, clock)
        bits.append(Bit(full, 13, pace, 8, right=True))
    return tuple(bits)


def _used(state: DeskState, limits: LimitsView) -> tuple[Text, float]:
    """The used part of the limit that binds here, as text and as a share."""
    if state.service.mode is Mode.SIM:
        if limits.day_trades is None or not limits.day_trades_max:
            return Text("no daily limit", "muted"), 0.0
        figures = Text.assemble(
            formats.count(limits.day_trades),
            ("/", "muted"),
            formats.count(limits.day_trades_max),
            (" today", "muted"),
            *_resting(limits),
        )
        used = limits.day_trades + limits.day_resting
        return _labelled("buys", figures), used / limits.day_trades_max
    masked = is_private(state)
    part = limits.day_spent / limits.day_spend_max if limits.day_spend_max > 0 else 1.0
    figures = Text.assemble(
        formats.money(limits.day_spent, masked=masked),
        (" of ", "muted"),
        formats.money(limits.day_spend_max, masked=masked),
    )
    # The service counts reserved money of open buys against the day: it is not spent yet.
    kept = any(venue_sum.reserved for venue_sum in state.venue_sums)
    return _labelled("spent+reserved today" if kept else "spent today", figures), part


def _resting(limits: LimitsView) -> tuple[Text | tuple[str, str], ...]:
    """Open buys that count against the day's limit without a fill."""
    if not limits.day_resting:
        return ()
    word = " open order" if limits.day_resting == 1 else " open orders"
    return ((" +", "muted"), formats.count(limits.day_resting), (word, "muted"))


def _connection_bits(state: DeskState, now: Timestamp) -> Iterator[Bit]:
    """State of the connection, stale topics, and whether anything can be changed."""
    service = state.service
    glyph, word, tone = _PHASES[service.phase]
    line = Text.assemble((glyph, tone), " ", (word, tone))
    full = line
    if service.last_ok_at is not None and service.phase is not Phase.CONNECTING:
        full = Text.assemble(line, (" ", "muted"), formats.age(service.last_ok_at, now))
    yield Bit(full, 6, line, right=True)
    stale = stale_topic(state, now)
    if stale is not None:
        text = Text(f"STALE {stale[0].value} {formats.duration(stale[1])}", "bold stale")
        yield Bit(text, 4, Text("STALE", "bold stale"), 1, right=True)
    if service.read_only:
        yield Bit(Text("read-only", "warn"), 4, right=True)


def stale_topic(state: DeskState, now: Timestamp) -> tuple[Topic, float] | None:
    """The topic furthest beyond its period, and its age; None while none is stale."""
    late = [
        (age / period, topic, age)
        for topic in FRESH_TOPICS
        if (age := age_s(state, topic, now)) is not None
        and (period := state.polls.get(topic))
        and age > STALE_PERIODS * period
    ]
    if not late or state.from_cache:
        return None
    _, topic, age = max(late)
    return topic, age


def _labelled(label: str, value: Text) -> Text:
    return Text.assemble((f"{label} ", "muted"), value)
