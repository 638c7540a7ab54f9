"""Why a signal is not mirrored, and what is said before something is bought or authorised."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.signal_text import Look, name_text
from service_tui.desk.freshness import why_not_traded
from service_tui.desk.slices.reactor import Policy, SignalState, SignalView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode
from service_tui.units import Micros, Timestamp

MODES: Final = {Mode.SIM: "play money", Mode.DRY: "dry run", Mode.LIVE: "real money"}

_ENDED: Final = {
    SignalState.MIRRORING: "its mirror is under way",
    SignalState.MIRRORED: "it is mirrored already",
    SignalState.FAILED: "its mirror failed: a signal is never sent twice",
    SignalState.UNKNOWN: "its mirror was sent and had no answer: it is never sent twice",
}


def why_not_mirrored(  # noqa: PLR0911 - a table
    state: DeskState, signal: SignalView, now: Timestamp
) -> str:
    """Why a signal cannot be mirrored, in one sentence; empty when it can."""
    if why := why_not_traded(state, (), now):
        return why
    if state.halted_since is not None:
        return f"trading is halted: mirrors wait for the word RESUME ({cap('app.halt')})"
    if state.limits is not None and state.limits.paused:
        return "trading is paused: mirrors wait until it is resumed"
    if signal.state in _ENDED:
        return _ENDED[signal.state]
    if signal.left_s(now) <= 0:
        return "its time has passed: a signal is mirrored before it expires"
    if not signal.can_mirror(now):
        return "it was skipped after it was tried: a signal is never sent twice"
    if state.reactor.breaker.is_paused(now):
        return f"the breaker is open: {cap('reactor.reset')} resets it"
    return ""


def why_not_watched(state: DeskState) -> str:
    """Why the reactor cannot be configured, in one sentence; empty when it can."""
    if state.reactor.barred:
        return f"the service has no reactor for this plan: Agents ({cap('app.agents')}) changes it"
    return "" if state.reactor.config is not None else "the reactor's config is not known yet"


def _mode(state: DeskState) -> Text:
    mode = state.service.mode
    config = state.reactor.config
    where = f" on {config.venue.value}" if config is not None else ""
    return Text.assemble((mode.value, f"bold {mode.value.lower()}"), f" {MODES[mode]}{where}")


def auto_words(state: DeskState) -> Text:
    """What `auto` authorises: what one mirror and one day may spend, where, and how it ends."""
    config, masked = state.reactor.config, is_private(state)
    if config is None:
        return Text("\nauto: the caps are not known yet.", "warn")
    return Text.assemble(
        "\nauto is a standing authorisation: ", _mode(state), ", nobody is asked.\n",
        "One mirror buys at most ", formats.shares(config.max_size, masked=masked),
        " shares, at most ", formats.percent(config.price_buffer), " above the source's price; "
        "all mirrors of a day spend at most ", formats.money(config.daily_cap, masked=masked),
        f" $. It holds until you choose otherwise, or {cap('reactor.run')}, {cap('app.halt')} "
        "or the breaker stop it.",
    )  # fmt: skip


def run_words(state: DeskState) -> Text:
    """What begins when the reactor is switched on."""
    reactor, masked = state.reactor, is_private(state)
    config = reactor.config
    if config is None:
        return Text()
    auto = sum(reactor.policy_of(wallet) is Policy.AUTO for wallet in config.wallets)
    followed = len(config.wallets)
    said = Text.assemble(
        _mode(state), ".\n", f"{followed} wallet{'s' if followed != 1 else ''} followed: "
        f"{followed - auto} ask or are off, ",
        (f"{auto} on auto, mirrored without asking", "bold warn" if auto else ""),
        ".\nOne mirror: ", formats.percent(config.mirror_fraction), " of the source, at most ",
        formats.shares(config.max_size, masked=masked), " shares.\nA day: at most ",
        formats.money(config.daily_cap, masked=masked),
        f" $. {cap('reactor.run')} switches it off, at once.",
    )  # fmt: skip
    if not followed:
        said.append(f"\n\nNo wallet is followed yet: {cap('reactor.follow')} follows one.", "warn")
    return said


def many_words(state: DeskState, signals: Sequence[SignalView]) -> Text:
    """What mirroring several signals spends."""
    masked = is_private(state)
    total = Micros(sum(one.amount for one in signals))
    said = Text.assemble(
        f"{len(signals)} signal{'s' if len(signals) != 1 else ''}, ",
        formats.money(total, masked=masked), " $ in all, ",
        _mode(state), ".\nEach buys at most at its bound, once; what has expired by its turn, "
        "or does not fit the day's cap, is skipped.\n",
    )  # fmt: skip
    left = state.reactor.day_left
    if left is not None and left < total:
        said.append("The day's cap leaves ")
        said.append_text(formats.money(left, masked=masked))
        said.append(" $: not all of them fit.\n", "warn")
    return said


def mirror_line(signal: SignalView, now: Timestamp, *, masked: bool) -> Text:
    """One of several signals, on a line of its own."""
    return Text.assemble(
        formats.side(signal.side), " ", formats.plain(signal.question, 60), "\n    ",
        (f"{name_text(signal.label, signal.wallet, Look(now, masked)).plain}  ", "muted"),
        formats.money(signal.amount, masked=masked), (" $ at ", "muted"),
        formats.price(signal.price_max), (" or below, ", "muted"),
        (f"{signal.left_s(now):.0f}s left", "muted"),
    )  # fmt: skip
