"""Texts of the reactor: above its tables, and on one signal or wallet."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures, section
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import on_wall
from service_tui.console.keys import cap
from service_tui.console.money_kind import mode_on
from service_tui.console.questions import short_question
from service_tui.console.reasons import without_amounts
from service_tui.console.screens.reactor.mirror import ON_REAL_VENUE, Preview
from service_tui.console.screens.reactor.table import (
    ReactorRow,
    dearer_text,
    drift_text,
    policy_text,
    progress_text,
    spent_by,
    wallet_name,
    won_text,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.line_fit import Bit, fitted_bits, joined, meter
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.reactor import (
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalView,
    SourceWalletView,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MIRROR_PRICE_MAX, Venue
from service_tui.units import Micros, Timestamp

_METER: Final = 10
"""Cells of the bar of the day's cap."""

_POLICIES: Final = {
    Policy.ASK: "mirror or dismiss each signal before it expires",
    Policy.AUTO: "mirrored automatically, within the caps",
    Policy.OFF: "signals skipped",
}

_HERE: Final = "computed here"

_AMOUNT: Final = (
    "min(source size x fraction, max per mirror) x the lower of source price and price now; "
    "capped by the limit per trade "
    "and the day's cap, in whole cents; pending signals have spent nothing"
)
_COST: Final = "cost of its order"


# -- above the tables ---------------------------------------------------------------------------


def state_text(view: ViewContext) -> Text:
    """The state of the reactor and the bounds of a mirror, in a line of `view.width` cells."""
    state, reactor, config = view.state, view.state.reactor, view.state.reactor.config
    if reactor.barred or config is None:
        word = "not on this plan" if reactor.barred else "not loaded yet"
        return Text.assemble(("○ ", "muted"), (word, "warn" if reactor.barred else "muted"))
    mode = mode_on(state, config.venue)
    bits = [
        Bit(_runs(reactor, view.now)),
        Bit(
            Text.assemble((mode.value, mode.value.lower()), (f" {config.venue.value}", "muted")), 3
        ),
        Bit(_sizing(config, view), 4, _short_sizing(config, view), 5),
        Bit(_day(reactor, view), 1, right=True),
    ]
    failures = reactor.breaker.failures
    if failures and not reactor.breaker.is_paused(view.now):
        most, tone = reactor.breaker.failures_max, "warn" if failures > 1 else "muted"
        whole = Text(f"{failures} of {most} failures in a row, then mirrors pause", tone)
        bits.append(Bit(whole, 6, Text(f"{failures}/{most} failures", tone), 2, right=True))
    return joined(fitted_bits(bits, view.width), view.width)


def _sizing(config: ReactorConfigView, view: ViewContext) -> Text:
    """The size of a mirror, as a short text."""
    least, most = _whole_shares(config.min_size, view), _whole_shares(config.max_size, view)
    text = f"mirror {_percent(config.mirror_fraction)}, min {least}, max {most} sh"
    return Text(f"{text}, +{_percent(config.price_buffer)}", "muted")


def _short_sizing(config: ReactorConfigView, view: ViewContext) -> Text:
    most = _whole_shares(config.max_size, view)
    return Text(f"{_percent(config.mirror_fraction)}, max {most}", "muted")


def _whole_shares(shares: Micros, view: ViewContext) -> str:
    return view.shares(shares).plain.removesuffix(".00")


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}".rstrip("0").rstrip(".") + "%"


def _runs(reactor: ReactorView, now: Timestamp) -> Text:
    if reactor.breaker.is_paused(now):
        return Text("■ paused", "bold loss")
    return Text("● running", "bold profit") if reactor.is_enabled else Text("○ off", "bold warn")


def unit_of(reactor: ReactorView) -> str:
    """The currency of the mirrors, which are made on one venue at a time."""
    return formats.unit(Venue.SIM if reactor.config is None else reactor.config.venue)


def _day(reactor: ReactorView, view: ViewContext) -> Text:
    """The day's cap, and its use."""
    config, spent = reactor.config, reactor.day_spent
    if config is None:
        return Text()
    limit, unit = view.money(config.daily_cap), formats.unit(config.venue)
    if spent is None:
        return Text.assemble(("day's cap ", "muted"), limit, (f" {unit}", "muted"))
    part = spent / config.daily_cap if config.daily_cap > 0 else 1.0
    return Text.assemble(
        ("day ", "muted"), meter(part, _METER), " ", view.money(spent),
        (" of ", "muted"), limit, (f" {unit}", "muted"),
    )  # fmt: skip


def urgent_text(view: ViewContext) -> Text:  # noqa: PLR0911 - a table
    """The one urgent condition, and the key for it."""
    state, now, reactor = view.state, view.now, view.state.reactor
    if state.from_cache or state.service.phase is not Phase.ONLINE:
        return Text()
    if reactor.barred:
        return Text.assemble(("✗ no reactor ", "bold warn"), formats.plain(reactor.barred, 120))
    if line := breaker_text(reactor, now):
        return line
    if reactor.config is not None and not reactor.config.enabled:
        return Text(f"○ Reactor off: no signals. {cap('reactor.run')} turns it on", "warn")
    period, age = state.polls.get(Topic.REACTOR), age_s(state, Topic.REACTOR, now)
    # Signals live a minute: data some polls old does not show the waiting ones.
    if period is not None and age is not None and (old := formats.freshness(age, 2 * period)):
        return Text.assemble(
            old, (f"  signals may have changed. {cap('app.refresh')} refreshes", "warn")
        )
    if reactor.dropped:
        text = f"! {reactor.dropped} signals of the last response are invalid: "
        return Text.assemble((text, "warn"), formats.plain(reactor.broken, 120))
    return _waiting(view)


def breaker_text(reactor: ReactorView, now: Timestamp) -> Text:
    """The state of the circuit breaker, and how long it stays open."""
    breaker = reactor.breaker
    if not breaker.is_paused(now):
        return Text()
    left = breaker.left_s(now)
    line = Text("■ breaker open", "bold loss")
    again = f", {formats.duration(left)} left" if left is not None else ""
    line.append(
        f"{again}. {cap('reactor.reset')} resets it. {breaker.failures_max} failures in a row",
        "loss",
    )
    line.append(f", {breaker.skipped:,} signals skipped" if breaker.skipped else "", "loss")
    return line


def _waiting(view: ViewContext) -> Text:
    now = view.now
    waiting = [signal for signal in view.state.reactor.waiting if signal.left_s(now) > 0]
    if not waiting:
        return Text()
    first = min(waiting, key=lambda one: one.expires_at)
    count = f"{len(waiting):,} signals pending" if len(waiting) > 1 else "1 signal pending"
    return Text.assemble(
        (f"○ {count}", "bold warn"), (", next expires in ", "warn"),
        (f"{first.left_s(now):.0f}s", "bold warn"), ": ",
        wallet_name(first.label, first.wallet, masked=view.masked), " ",
        formats.side(first.side), ": ", formats.plain(short_question(first.question), 80),
    )  # fmt: skip


# -- a row --------------------------------------------------------------------------------------


def describe(row: ReactorRow, view: ViewContext, preview: Preview) -> Detail:
    """One row in full; `preview` is of the signal in focus."""
    if isinstance(row, SourceWalletView):
        return _describe_wallet(row, view)
    return _describe_signal(row, view, preview)


def _mirror_text(row: SignalView) -> str:
    """The effect of the mirroring key."""
    if row.venue is not Venue.SIM:
        return ON_REAL_VENUE
    if row.is_too_dear:
        return "price above the limit"
    return f"{cap('reactor.mirror')} mirrors, {cap('reactor.dismiss')} dismisses"


def _describe_signal(row: SignalView, view: ViewContext, preview: Preview) -> Detail:
    now = view.now
    tail = Text.assemble(
        formats.side(row.side), "  ", progress_text(row, now), "  ",
        wallet_name(row.label, row.wallet, masked=view.masked),
        (" bought ", "muted"), view.shares(row.size),
        (" at ", "muted"), formats.price(row.price),
    )  # fmt: skip
    head = Text.assemble((formats.plain(row.question, 300).plain, "bold"), "\n", tail)
    if row.can_mirror(now):
        shown = preview.figures(row, view.state.reactor.config, masked=view.masked)
        text, ink = preview.state_text_(row, now)
        todo = _mirror_text(row)
        body = Text.assemble(
            figures(shown, across=2, width=view.width), "\n", (text, ink), "   ",
            (todo, "warn" if row.is_too_dear or row.venue is not Venue.SIM else "accent"),
        )  # fmt: skip
    else:
        body = _outcome(row, view)
    return Detail(head, body, _source(row, view))


def _outcome(row: SignalView, view: ViewContext) -> Text:
    unit = formats.unit(row.venue)
    shown: tuple[Figure, ...] = (
        ("bought", view.shares(row.shares or None)),
        (f"for {unit}", view.money(row.cost if row.shares else None)),
        ("price per share", formats.price(row.fill_price)),
        ("above source, pt", dearer_text(row.slippage)),
        ("now", formats.price(row.price_now)),
        (f"P&L {unit}", view.pnl(row.pnl)),
    )
    state_text_ = without_amounts(formats.plain(row.detail, 300).plain, masked=view.masked)
    if not state_text_:
        state_text_ = "expired, nothing bought"
    body = Text.assemble((state_text_, ""), "\n", figures(shown, across=2, width=view.width))
    if row.ticket_id:
        body.append(
            f"\norders ({cap('app.blotter')}): {formats.plain(row.ticket_id, 60).plain}", "muted"
        )
    return body


def _source(row: SignalView, view: ViewContext) -> Text:
    policy = view.state.reactor.policy_of(row.wallet)
    shown: tuple[Figure, ...] = (
        (f"their trade {formats.unit(row.venue)}", view.money(_worth(row))),
        (f"at{on_wall(view.state)}", formats.clock_time(row.at)),
        ("price now", formats.price(row.price_now)),
        ("moved", Text.assemble(drift_text(row), (" points", "muted"))),
        ("wallet", formats.address(row.wallet, masked=view.masked)),
        ("policy", Text(policy.value)),
        ("transaction", formats.address(row.tx_hash, masked=view.masked)),
        (f"expires{on_wall(view.state)}", formats.clock_time(row.expires_at)),
    )
    text = section("source", figures(shown, across=2, width=view.width))
    if row.is_too_dear and row.can_mirror(view.now):
        line = "Price above the mirror's limit. A mirror would buy nothing now."
        text.append(f"\n{line}", "warn")
    return text


def _worth(row: SignalView) -> Micros:
    return Micros(round(row.size * row.price))


def _describe_wallet(row: SourceWalletView, view: ViewContext) -> Detail:
    tally, width, unit = row.tally, view.width, unit_of(view.state.reactor)
    head = Text.assemble(
        (wallet_name(row.label, row.address, masked=view.masked).plain, "bold"), "\n"
    )
    if view.masked:
        head.append_text(formats.address(row.address, masked=True))
    else:
        head.append(row.address if len(row.address) <= width else row.address[:width])
    shown: tuple[Figure, ...] = (
        ("signals", formats.count(tally.signals_count)),
        ("mirrored", formats.count(tally.mirrored_count)),
        ("skipped", formats.count(tally.skipped_count)),
        ("failed", formats.count(tally.failed_count)),
        (f"spent {unit}", view.money(tally.spent if tally.shares else None)),
        (f"P&L {unit}", view.pnl(tally.pnl if tally.shares else None)),
        ("above source, pt", dearer_text(tally.slippage)),
        ("P&L of spent", formats.percent_change(tally.pnl_pct)),
    )
    if row.is_followed:
        policy = Text.assemble(policy_text(row), (f": {_POLICIES[row.policy]}", "muted"))
    else:
        policy = Text(f"not followed. {cap('reactor.follow')} follows it", "muted")
    body = Text.assemble(policy, "\n", figures(shown, across=2, width=width))
    return Detail(head, body, _record(row, view))


def _record(row: SourceWalletView, view: ViewContext) -> Text:
    known = row.known
    if known is None:
        return section("track record", Text("none from the service", "muted"))
    shown: tuple[Figure, ...] = (
        ("name", formats.plain(known.label, 24)),
        ("venue", Text(known.venue.value)),
        ("trades", formats.count(known.trades_count)),
        (f"bought {formats.unit(known.venue)}", view.money(known.bought)),
        ("won", won_text(row)),
        (f"P&L {formats.unit(known.venue)}", view.pnl(known.realized)),
        (
            "last trade",
            Text.assemble(formats.age(known.last_trade_at, view.now), (" ago", "muted")),
        ),
    )
    body = figures(shown, across=2, width=view.width)
    return section("track record, from the service", body)


# -- the numbers of a row -----------------------------------------------------------------------


def explain_row(row: ReactorRow, view: ViewContext) -> tuple[Explanation, ...]:
    """Amount, bound and drift of a signal; P&L and slippage of a wallet's mirrors."""
    since = age_s(view.state, Topic.REACTOR, view.now)
    age = formats.age(None if since is None else Timestamp(view.now - since), view.now)
    if isinstance(row, SourceWalletView):
        return _explain_wallet(row, view, age)
    return _explain_signal(row, view, age)


def _explain_signal(row: SignalView, view: ViewContext, age: Text) -> tuple[Explanation, ...]:
    state, unit = view.state, formats.unit(row.venue)
    size = ("source size", view.shares(row.size))
    price = ("source price", formats.price(row.price))
    config = state.reactor.config
    sizes = () if config is None else (
        ("mirror fraction", formats.percent(config.mirror_fraction, 2)),
        ("max per mirror, shares", view.shares(config.max_size)),
        (f"max per trade, {unit}", view.money(_one_trade(row, state))),
        (f"left of the day, {unit}", view.money(state.reactor.day_left)),
    )  # fmt: skip
    buffer = None if config is None else config.price_buffer
    return (
        Explanation(
            f"mirror, {unit}",
            view.money(spent_by(row, view)),
            _COST if row.shares else _AMOUNT,
            (("shares bought", view.shares(row.shares)),) if row.shares else (size, price, *sizes),
            "service data (signals)",
            age,
        ),
        Explanation(
            "price limit",
            formats.price(row.price_max),
            f"source price x (1 + buffer), max {MIRROR_PRICE_MAX}",
            (price, ("buffer", formats.percent(buffer, 2))),
            _HERE,
            age,
        ),
        Explanation(
            "moved, points",
            formats.points(row.drift),
            "price now - source price; above 0 the mirror pays more than the source",
            (("price now", formats.price(row.price_now)), price),
            "computed here from market prices",
            age,
        ),
        Explanation(
            f"P&L, {unit}",
            view.pnl(row.pnl),
            "shares held x price now + what sold ones brought - the cost of all",
            (
                ("shares bought", view.shares(row.shares)),
                (f"cost, {unit}", view.money(row.cost)),
                ("shares sold", view.shares(row.sold)),
                (f"brought, {unit}", view.money(row.proceeds)),
                ("price now", formats.price(row.price_now)),
            ),
            _HERE,
            age,
        ),
    )


def _one_trade(row: SignalView, state: DeskState) -> Micros | None:
    """The limit per trade on the signal's venue; None if unknown."""
    buy_limits = state.buy_limits
    if buy_limits is None:
        return None
    return buy_limits.sim_trade_max if row.venue is Venue.SIM else buy_limits.max_trade


def _explain_wallet(row: SourceWalletView, view: ViewContext, age: Text) -> tuple[Explanation, ...]:
    tally, unit = row.tally, unit_of(view.state.reactor)
    spent = (f"spent, {unit}", view.money(tally.spent))
    shares = ("shares", view.shares(tally.shares))
    return (
        Explanation(
            f"P&L, {unit}",
            view.pnl(tally.pnl),
            "sum over its mirrors, a sold one at what it brought; 0 where no price is known",
            (("mirrored", formats.count(tally.mirrored_count)), spent),
            _HERE,
            age,
        ),
        Explanation(
            "slippage, points",
            formats.points(tally.slippage),
            "(spent - the same shares at the source's prices) / shares",
            (
                spent,
                (f"at the source's prices, {unit}", view.money(tally.source_cost)),
                shares,
            ),
            _HERE,
            age,
        ),
    )
