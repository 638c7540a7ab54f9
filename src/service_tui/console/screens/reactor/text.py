"""What is told about the reactor: how it stands, what lasts, one signal, one wallet."""

from textwrap import wrap
from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.figures import Figure, figures, section
from service_tui.console.forms.mirror_quote import Preview
from service_tui.console.freshness import is_private, not_told, on_wall
from service_tui.console.keys import cap, with_keys
from service_tui.console.parts.monitor_text import Told
from service_tui.console.screens.reactor.columns import drift_text, policy_text, won_text
from service_tui.console.screens.reactor.rows import FEED, STATES, Narrowed, ReactorRow
from service_tui.console.signal_text import Look, dearer_text, end_text, name_text
from service_tui.console.widgets.line_fit import Bit, fitted_bits, joined, meter
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.reactor import (
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalView,
    WalletView,
)
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Mode
from service_tui.units import Micros, Timestamp

_METER: Final = 10

_LINE: Final = 72
"""Cells of a line in the text of an empty list."""

_WAITING: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nSignals appear with its first answers.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} tries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show which.",
}

_QUIET: Final = (
    "No signal yet.\n\n"
    "When a followed wallet buys, its trade stands here with the mirror of it,\n"
    "and what is left of the time to decide: {reactor.mirror} mirrors it, {reactor.dismiss} "
    "dismisses it."
)
_OFF: Final = (
    "The reactor is off: nothing is watched.\n\n"
    "{reactor.list} shows the wallets, {reactor.follow} follows one, {reactor.config} sets "
    "sizes and the day's cap,\n"
    "{reactor.run} switches the reactor on."
)
_ALONE: Final = (
    "No wallet is followed, so no signal can come.\n\n"
    "{reactor.follow} follows one: choose it from those that the service names, "
    "or type its address."
)
_NO_WALLETS: Final = (
    "No wallet is known here.\n\n{reactor.follow} follows one: type or paste "
    "its address, 0x and 40 hex digits."
)

_POLICIES: Final = {
    Policy.ASK: "you mirror or dismiss each of its signals before it expires",
    Policy.AUTO: "this desk mirrors its signals by itself, within the caps",
    Policy.OFF: "its signals are skipped",
}


def why_empty(state: DeskState, place: int) -> str:  # noqa: PLR0911 - a table
    """Why a list is empty and what to do; `place` is one of `reactor_rows`."""
    reactor, service = state.reactor, state.service
    if service.phase in _WAITING:
        return with_keys(_WAITING[service.phase]).replace(
            "{problem}", service.problem or "no answer"
        )
    if reactor.barred:
        return barred_words(state)
    if Topic.REACTOR not in state.seen:
        return not_told("reactor")
    if place != FEED:
        return with_keys(_NO_WALLETS)
    if reactor.config is not None and not reactor.config.wallets:
        return with_keys(_ALONE)
    return with_keys(_QUIET if reactor.is_enabled else _OFF)


def barred_words(state: DeskState) -> str:
    """Why the service has no reactor for this agent, and what to do."""
    said = "\n".join(wrap(formats.plain(state.reactor.barred).plain, _LINE))
    todo = (
        f"Agents ({cap('app.agents')}): the cursor on this desk's agent, {cap('agents.plan')} "
        "changes its plan."
        if state.service.embedded
        else f"It is changed on the service's own dashboard; {cap('app.refresh')} asks again "
        "afterwards."
    )
    return f"{said}\n\nThe reactor comes with the Pro plan.\n{todo}"


def state_line(state: DeskState, now: Timestamp, width: int) -> Text:
    """How the reactor stands and what bounds a mirror, in as much of a line as there is."""
    reactor, masked = state.reactor, is_private(state)
    config = reactor.config
    if reactor.barred or config is None:
        word = "not on this plan" if reactor.barred else "not known yet"
        return Text.assemble(("○ ", "muted"), (word, "warn" if reactor.barred else "muted"))
    mode = state.service.mode
    bits = [
        Bit(_runs(reactor, now)),
        Bit(
            Text.assemble((mode.value, mode.value.lower()), (f" {config.venue.value}", "muted")), 3
        ),
        Bit(sizing(config, masked=masked), 4, _short_sizing(config, masked=masked), 5),
        Bit(_day(reactor, masked=masked), 1, right=True),
    ]
    failures = reactor.breaker.failures
    if failures and not reactor.breaker.is_paused(now):
        said = f"{failures} of {reactor.breaker.failures_max} failures"
        bits.append(Bit(Text(said, "warn" if failures > 1 else "muted"), 2, right=True))
    return joined(fitted_bits(bits, width), width)


def sizing(config: ReactorConfigView, *, masked: bool) -> Text:
    """How large a mirror is, as a sentence without a verb."""
    least = formats.shares(config.min_size, masked=masked).plain.removesuffix(".00")
    most = formats.shares(config.max_size, masked=masked).plain.removesuffix(".00")
    said = f"{_percent(config.mirror_fraction)} of buys from {least}, {most} shares at most"
    return Text(f"{said}, +{_percent(config.price_buffer)}", "muted")


def _short_sizing(config: ReactorConfigView, *, masked: bool) -> Text:
    most = formats.shares(config.max_size, masked=masked).plain.removesuffix(".00")
    return Text(f"{_percent(config.mirror_fraction)}, {most} at most", "muted")


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}".rstrip("0").rstrip(".") + "%"


def _runs(reactor: ReactorView, now: Timestamp) -> Text:
    if reactor.breaker.is_paused(now):
        return Text("■ paused", "bold loss")
    return Text("● running", "bold profit") if reactor.is_enabled else Text("○ off", "bold warn")


def _day(reactor: ReactorView, *, masked: bool) -> Text:
    """The day's cap, and what of it is used."""
    config, spent = reactor.config, reactor.day_spent
    if config is None:
        return Text()
    cap = formats.money(config.daily_cap, masked=masked)
    if spent is None:
        return Text.assemble(("day's cap ", "muted"), cap, (" $", "muted"))
    part = spent / config.daily_cap if config.daily_cap > 0 else 1.0
    return Text.assemble(
        ("day ", "muted"), meter(part, _METER), " ", formats.money(spent, masked=masked),
        (" of ", "muted"), cap, (" $", "muted"),
    )  # fmt: skip


def filter_line(
    narrowed: Narrowed, reactor: ReactorView, come: int | None, *, masked: bool
) -> Text:
    """What of the feed is shown; `come` counts what came since it froze, None while it runs."""
    line = Text()
    if come is not None:
        line.append("frozen", "bold stale")
        line.append(
            f", {come} newer; {cap('reactor.freeze')} lets it run"
            if come
            else f"; {cap('reactor.freeze')} lets it run",
            "stale",
        )
    if narrowed.state:
        line.append(f"{'   ' if line else ''}only {STATES[narrowed.state][0]}", "bold accent")
    if narrowed.wallet:
        name = name_text(
            reactor.label_of(narrowed.wallet), narrowed.wallet, Look(Timestamp(0), masked)
        )
        line.append("   only " if line else "only ", "bold accent")
        line.append(name.plain, "bold accent")
    return line or Text(
        f"{cap('reactor.state')}, {cap('reactor.wallet')} and {cap('rows.filter')} narrow it",
        "muted",
    )


def urgent_line(state: DeskState, now: Timestamp) -> Text:  # noqa: PLR0911 - a table
    """The one thing that cannot wait, and the key that does something about it."""
    reactor = state.reactor
    if state.from_cache or state.service.phase is not Phase.ONLINE:
        return Text()
    if reactor.barred:
        return Text.assemble(("✗ no reactor ", "bold warn"), formats.plain(reactor.barred, 120))
    if line := _breaker(reactor, now):
        return line
    period, age = state.polls.get(Topic.REACTOR), age_s(state, Topic.REACTOR, now)
    # Signals live a minute: what is a few polls old says nothing of what waits now.
    if period is not None and age is not None and (old := formats.freshness(age, 2 * period)):
        return Text.assemble(
            old, (f"  signals may have come and gone since; {cap('app.refresh')} asks now", "warn")
        )
    if reactor.config is not None and not reactor.config.enabled:
        return Text(
            f"○ the reactor is off, nothing is watched: {cap('reactor.run')} switches it on", "warn"
        )
    if reactor.dropped:
        said = f"! {reactor.dropped} signals of the last listing cannot be used: "
        return Text.assemble((said, "warn"), formats.plain(reactor.broken, 120))
    return _waiting(state, now)


def _breaker(reactor: ReactorView, now: Timestamp) -> Text:
    breaker = reactor.breaker
    if not breaker.is_paused(now):
        return Text()
    left = breaker.left_s(now)
    line = Text("■ breaker open", "bold loss")
    again = f", {formats.duration(left)} left" if left is not None else ""
    line.append(
        f"{again}; {cap('reactor.reset')} resets it. {breaker.failures_max} failures in a row",
        "loss",
    )
    line.append(f", {breaker.skipped:,} signals skipped" if breaker.skipped else "", "loss")
    return line


def _waiting(state: DeskState, now: Timestamp) -> Text:
    waiting = [one for one in state.reactor.waiting if one.left_s(now) > 0]
    if not waiting:
        return Text()
    first = min(waiting, key=lambda one: one.expires_at)
    count = f"{len(waiting):,} signals wait" if len(waiting) > 1 else "1 signal waits"
    look = Look(now, is_private(state))
    return Text.assemble(
        (f"○ {count}", "bold warn"), (", the next expires in ", "warn"),
        (f"{first.left_s(now):.0f}s", "bold warn"), ": ",
        name_text(first.label, first.wallet, look), " ",
        formats.side(first.side), " ", formats.plain(first.question, 60),
    )  # fmt: skip


class Sight(NamedTuple):
    """What a row is told with: `now` is wall time, `width` the cells of a line."""

    state: DeskState
    now: Timestamp
    width: int

    @property
    def masked(self) -> bool:
        """True while amounts are to be masked."""
        return is_private(self.state)

    @property
    def look(self) -> Look:
        """The same for cells."""
        return Look(self.now, self.masked)


def told_of(row: ReactorRow, sight: Sight, preview: Preview) -> Told:
    """Everything about one row; `preview` is of the signal in focus."""
    return _wallet(row, sight) if isinstance(row, WalletView) else _signal(row, sight, preview)


def mirror_words(row: SignalView, state: DeskState) -> str:
    """What the mirroring key does next."""
    if row.is_too_dear:
        return "too dear now"
    if state.service.mode is Mode.LIVE:
        return f"{cap('reactor.mirror')} asks once more, then buys for real money"
    return f"{cap('reactor.mirror')} mirrors it now, {cap('reactor.dismiss')} dismisses it"


def _signal(row: SignalView, sight: Sight, preview: Preview) -> Told:
    masked, now = sight.masked, sight.now
    tail = Text.assemble(
        formats.side(row.side), "  ", end_text(row, now), "  ",
        name_text(row.label, row.wallet, sight.look),
        (" bought ", "muted"), formats.shares(row.size, masked=masked),
        (" at ", "muted"), formats.price(row.price),
    )  # fmt: skip
    head = Text.assemble((formats.plain(row.question, 300).plain, "bold"), "\n", tail)
    if row.can_mirror(now):
        shown = preview.figures(row, masked=masked)
        said, ink = preview.words(row, now)
        todo = mirror_words(row, sight.state)
        body = Text.assemble(
            figures(shown, across=2, width=sight.width), "\n", (said, ink), "   ",
            (todo, "warn" if row.is_too_dear else "accent"),
        )  # fmt: skip
    else:
        body = _outcome(row, sight)
    return Told(head, body, _source(row, sight))


def _outcome(row: SignalView, sight: Sight) -> Text:
    masked = sight.masked
    shown: tuple[Figure, ...] = (
        ("bought", formats.shares(row.shares or None, masked=masked)),
        ("for $", formats.money(row.cost if row.shares else None, masked=masked)),
        ("paid a share", formats.price(row.fill_price)),
        ("above source, pt", dearer_text(row.slippage)),
        ("now", formats.price(row.price_now)),
        ("P&L $", formats.pnl(row.pnl, masked=masked)),
    )
    words = told(formats.plain(row.words, 300).plain, masked=masked)
    if not words:
        words = "its time has passed: nothing was bought"
    body = Text.assemble((words, ""), "\n", figures(shown, across=2, width=sight.width))
    if row.ticket_id:
        body.append(
            f"\nblotter ({cap('app.blotter')}): {formats.plain(row.ticket_id, 60).plain}", "muted"
        )
    return body


def _source(row: SignalView, sight: Sight) -> Text:
    masked = sight.masked
    policy = sight.state.reactor.policy_of(row.wallet)
    shown: tuple[Figure, ...] = (
        ("its trade $", formats.money(_worth(row), masked=masked)),
        (f"at{on_wall(sight.state)}", formats.clock_time(row.at)),
        ("price now", formats.price(row.price_now)),
        ("drift", Text.assemble(drift_text(row), (" points", "muted"))),
        ("wallet", formats.address(row.wallet, masked=masked)),
        ("policy", Text(policy.value)),
        ("transaction", formats.address(row.tx_hash, masked=masked)),
        (f"expires{on_wall(sight.state)}", formats.clock_time(row.expires_at)),
    )
    text = section("the source", figures(shown, across=2, width=sight.width))
    if row.is_too_dear and row.can_mirror(sight.now):
        said = "The price is above what the mirror may pay: it would buy nothing now."
        text.append(f"\n{said}", "warn")
    return text


def _worth(row: SignalView) -> Micros:
    return Micros(round(row.size * row.price))


def _wallet(row: WalletView, sight: Sight) -> Told:
    masked, tally, width = sight.masked, row.tally, sight.width
    head = Text.assemble((name_text(row.label, row.address, sight.look).plain, "bold"), "\n")
    if masked:
        head.append_text(formats.address(row.address, masked=True))
    else:
        head.append(row.address if len(row.address) <= width else row.address[:width])
    shown: tuple[Figure, ...] = (
        ("signals", formats.count(tally.signals_count)),
        ("mirrored", formats.count(tally.mirrored_count)),
        ("skipped", formats.count(tally.skipped_count)),
        ("failed", formats.count(tally.failed_count)),
        ("spent $", formats.money(tally.spent if tally.shares else None, masked=masked)),
        ("P&L $", formats.pnl(tally.pnl if tally.shares else None, masked=masked)),
        ("above source, pt", dearer_text(tally.slippage)),
        ("P&L of spent", formats.percent_change(tally.pnl_pct)),
    )
    if row.is_followed:
        stands = Text.assemble(policy_text(row), (f": {_POLICIES[row.policy]}", "muted"))
    else:
        stands = Text(f"not followed: {cap('reactor.follow')} follows it", "muted")
    body = Text.assemble(stands, "\n", figures(shown, across=2, width=width))
    return Told(head, body, _record(row, sight))


def _record(row: WalletView, sight: Sight) -> Text:
    known, masked = row.known, sight.masked
    if known is None:
        return section("its own record", Text("the service names none", "muted"))
    shown: tuple[Figure, ...] = (
        ("called there", formats.plain(known.label, 24)),
        ("trades on", Text(known.venue.value)),
        ("trades", formats.count(known.trades_count)),
        ("bought $", formats.money(known.bought, masked=masked)),
        ("won", won_text(row)),
        ("made $", formats.pnl(known.realized, masked=masked)),
        (
            "last trade",
            Text.assemble(formats.age(known.last_trade_at, sight.now), (" ago", "muted")),
        ),
    )
    body = figures(shown, across=2, width=sight.width)
    return section("its own record, as the service tells it", body)
