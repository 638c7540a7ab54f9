"""Actions on signals and wallets: mirror, dismiss, follow, authorise, undo.

Stopping needs no confirmation; mirroring shows its buy, `auto` its caps. `ACTIONS`, at the
end, is the list.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.freshness import trade_block_reason
from service_tui.console.keys import cap, with_keys
from service_tui.console.money_kind import mode_on, money_kind
from service_tui.console.parts.shared_actions import (
    can_change,
    has_row,
    mark,
    next_table,
    open_market,
    undo,
)
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.questions import short_question
from service_tui.console.screens.reactor.feed import STATES, FeedFilter, FeedLine
from service_tui.console.screens.reactor.forms import (
    ChoosePolicy,
    FollowForm,
    LabelForm,
    NamedWallet,
    ReactorForm,
    reverse,
)
from service_tui.console.screens.reactor.mirror import (
    ON_REAL_VENUE,
    TOO_DEAR,
    MirrorForm,
    SignalPane,
)
from service_tui.console.screens.reactor.table import (
    FEED,
    TABLES,
    ReactorRow,
    spent_by,
    wallet_name,
)
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.reactor import (
    DismissSignal,
    FollowWallet,
    LabelWallet,
    MirrorSignal,
    ResetBreaker,
    SetReactorConfig,
    SetWalletPolicy,
    UnfollowWallet,
)
from service_tui.desk.slices.reactor import Policy, SignalState, SignalView, SourceWalletView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue, counted
from service_tui.units import Micros, Timestamp

Reactor: TypeAlias = TableScreen[ReactorRow]

_ENDED: Final = {
    SignalState.MIRRORING: "mirror pending",
    SignalState.MIRRORED: "already mirrored",
    SignalState.FAILED: "mirror failed. A signal is sent once only",
    SignalState.UNKNOWN: "mirror sent, result unknown. A signal is sent once only",
}

# -- requirements -------------------------------------------------------------------------------


def _signal_block_reason(signal: SignalView, now: Timestamp) -> str:
    """Why this signal is not mirrored whatever the desk allows; empty if it can be."""
    if signal.state in _ENDED:
        return _ENDED[signal.state]
    if signal.venue is not Venue.SIM:
        # The desk sends no order of real money that was not confirmed on its ticket.
        return ON_REAL_VENUE
    if signal.left_s(now) <= 0:
        return "signal expired"
    if not signal.can_mirror(now):
        return "skipped after an attempt. A signal is sent once only"
    return ""


def mirror_block_reason(  # noqa: PLR0911 - a table
    state: DeskState, signal: SignalView, now: Timestamp
) -> str:
    """Why a signal cannot be mirrored, in one sentence; empty if it can."""
    if why := trade_block_reason(state, (), now):
        return why
    if state.halted_since is not None:
        return f"trading is halted. {cap('app.halt')} resumes"
    if state.limits is not None and state.limits.paused:
        return "trading is paused. Resume it to mirror"
    if why := _signal_block_reason(signal, now):
        return why
    if state.reactor.breaker.is_paused(now):
        return f"breaker open. {cap('reactor.reset')} resets it"
    return ""


def is_signal(screen: Reactor) -> UnmetReason:
    """The highlighted row is a signal."""
    row = screen.selected()
    if row is None:
        return NO_ROW
    if isinstance(row, SignalView):
        return ""
    return with_keys("not a signal. {reactor.list} shows the feed")


def is_signal_or_marked(screen: Reactor) -> UnmetReason:
    """The highlighted row is a signal, or rows are marked."""
    return "" if screen.table.order.marked else is_signal(screen)


def is_mirrorable(screen: Reactor) -> UnmetReason:
    """The highlighted signal can be mirrored, or rows are marked."""
    row = screen.selected()
    if screen.table.order.marked or not isinstance(row, SignalView):
        return ""
    why = mirror_block_reason(screen.state, row, screen.now)
    return why or (TOO_DEAR if row.is_too_dear else "")


def has_waiting(screen: Reactor) -> UnmetReason:
    """A signal of the highlighted wallet waits."""
    row = screen.selected()
    return (
        "" if row is not None and _waiting_of(screen, row) else ("no pending signal of this wallet")
    )


def is_dismissible(screen: Reactor) -> UnmetReason:
    """A signal that waits or a followed wallet is highlighted, or rows are marked."""
    if screen.table.order.marked:
        return ""
    match screen.selected():
        case None:
            return NO_ROW
        case SignalView(state=state) if state is not SignalState.PENDING:
            return f"signal already {state.value}"
        case SourceWalletView(is_followed=False):
            return "wallet not followed"
        case _:
            return ""


def is_configurable(screen: Reactor) -> UnmetReason:
    """The service has a reactor for this agent, and its config has loaded."""
    return configure_block_reason(screen.state)


def configure_block_reason(state: DeskState) -> str:
    """Why the reactor cannot be configured, in one sentence; empty if it can."""
    if state.reactor.barred:
        return f"no reactor on this plan. Change the plan in Agents ({cap('app.agents')})"
    return "" if state.reactor.config is not None else "reactor config not loaded yet"


def is_breaker_open(screen: Reactor) -> UnmetReason:
    """The breaker is open."""
    is_open = screen.state.reactor.breaker.is_paused(screen.now)
    return "" if is_open else "breaker not open"


def is_on_feed(screen: Reactor) -> UnmetReason:
    """The feed is in front."""
    if screen.spec is FEED:
        return ""
    return f"feed only. {cap('reactor.list')} shows it"


def can_take_back(screen: Reactor) -> UnmetReason:
    """A change made here can be undone."""
    if screen.take_back:
        return ""
    return "nothing to undo here. A mirror cannot be undone"


# -- mirror and dismiss -------------------------------------------------------------------------


def mirror(screen: Reactor) -> None:
    """Mirror the highlighted or marked signals."""
    rows = screen.table.selected_or_marked()
    signals = [row for row in rows if isinstance(row, SignalView)]
    if len(signals) > 1:
        _confirm_many(screen, signals, "Mirror these signals?")
    elif signals:
        _mirror(screen, signals[0])
    else:
        screen.row_in_focus()


def mirror_all(screen: Reactor) -> None:
    """Mirror every signal that waits from the highlighted wallet."""
    row = screen.row_in_focus()
    if row is not None:
        name = screen.state.reactor.wallet(_wallet_of(row)).short
        _confirm_many(screen, _waiting_of(screen, row), f"Mirror all of {name}?")


def dismiss(screen: Reactor) -> None:
    """Dismiss the highlighted or marked signals; unfollow a wallet."""
    rows = screen.table.selected_or_marked()
    for row in rows:
        if isinstance(row, SourceWalletView):
            _unfollow(screen, row)
        elif row.state is SignalState.PENDING:
            screen.give(DismissSignal(row.signal_id))
    screen.table.clear_marks()
    if not rows:
        screen.row_in_focus()


def _mirror(screen: Reactor, signal: SignalView) -> None:
    """Mirror at once if its quote is on the screen, else after a look at it."""
    preview = screen.query_one(SignalPane).preview
    is_seen = screen.shows_detail and preview.is_seen(signal, screen.now)
    is_play = mode_on(screen.state, signal.venue) is not Mode.LIVE
    if is_seen and is_play and not preview.refusal(signal):
        screen.give(MirrorSignal(signal.signal_id, signal.question))
    else:
        screen.open_dialog(MirrorForm(screen.state, screen.now, signal), screen.give)


def _confirm_many(screen: Reactor, signals: Sequence[SignalView], title: str) -> None:
    """Confirm several signals, oldest first; exactly the listed ones are mirrored."""
    view = screen.view
    able = sorted(
        (signal for signal in signals if not mirror_block_reason(view.state, signal, view.now)),
        key=lambda one: one.at,
    )
    if not able:
        screen.show_toast("none can be mirrored any more", "warn")
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            for signal in able:
                screen.give(MirrorSignal(signal.signal_id, signal.question))
            screen.table.clear_marks()

    question = Question(title, _many_text(able, view), "mirror")
    lines = tuple(_mirror_line(signal, view) for signal in able)
    screen.open_dialog(ConfirmMany(question, lines), answered)


def _waiting_of(screen: Reactor, row: ReactorRow) -> tuple[SignalView, ...]:
    """The signals that wait from the wallet of a row."""
    wallet = _wallet_of(row)
    return tuple(signal for signal in screen.state.reactor.waiting if signal.wallet == wallet)


def _wallet_of(row: ReactorRow) -> str:
    return row.wallet if isinstance(row, SignalView) else row.address


def _mode_text(view: ViewContext, venue: Venue) -> Text:
    mode = mode_on(view.state, venue)
    kind = (mode.value, f"bold {mode.value.lower()}")
    return Text.assemble(kind, f" {money_kind(view.state, venue)}")


def _many_text(signals: Sequence[SignalView], view: ViewContext) -> Text:
    """The cost of mirroring several signals."""
    # All of play money: those of real venues are left out.
    total, unit = Micros(sum(spent_by(one, view) for one in signals)), formats.unit(Venue.SIM)
    text = Text.assemble(
        f"{counted(len(signals), 'signal')}, ", view.money(total), f" {unit} in total, ",
        _mode_text(view, Venue.SIM),
        ".\nEach buys once, at its price limit or below. Expired signals and those above the "
        "day's cap are skipped.\n",
    )  # fmt: skip
    left = view.state.reactor.day_left
    if left is not None and left < total:
        text.append("Left of the day's cap: ")
        text.append_text(view.money(left))
        text.append(f" {unit}. Not all signals fit.\n", "warn")
    return text


def _mirror_line(signal: SignalView, view: ViewContext) -> Text:
    """One of several signals, on a line of its own."""
    name = wallet_name(signal.label, signal.wallet, masked=view.masked).plain
    return Text.assemble(
        formats.side(signal.side), " ", formats.plain(short_question(signal.question), 66),
        "\n    ",
        (f"{name}  ", "muted"), view.money(spent_by(signal, view)),
        (f" {formats.unit(signal.venue)} at ", "muted"),
        formats.price(signal.price_max), (" or below, ", "muted"),
        (f"{signal.left_s(view.now):.0f}s left", "muted"),
    )  # fmt: skip


# -- wallets ------------------------------------------------------------------------------------


def follow(screen: Reactor) -> None:
    """Follow another wallet; a highlighted unfollowed one is offered first."""

    def filled(named: NamedWallet) -> None:
        known_as = screen.state.reactor.label_of(named.address)
        screen.give(FollowWallet(named.address, named.label, known_as))
        screen.take_back = (UnfollowWallet(named.address, named.label or known_as),)

    row = screen.selected()
    offered = row.address if isinstance(row, SourceWalletView) and not row.is_followed else ""
    screen.open_dialog(FollowForm(screen.state, screen.now, offered), filled)


def _unfollow(screen: Reactor, row: SourceWalletView) -> None:
    if row.is_followed:
        screen.give(UnfollowWallet(row.address, row.label))
        screen.take_back = (FollowWallet(row.address, known_as=row.label),)
    else:
        screen.show_toast("wallet not followed", "warn")


def rename(screen: Reactor) -> None:
    """Name the highlighted wallet, or that of the signal."""
    row = screen.row_in_focus()
    if row is None:
        return
    wallet = screen.state.reactor.wallet(_wallet_of(row))
    selected = screen.state.reactor.choices.get(wallet.address)
    before = LabelWallet(wallet.address, "" if selected is None else selected.label)

    def filled(named: NamedWallet) -> None:
        screen.give(LabelWallet(named.address, named.label))
        screen.take_back = (before,)

    screen.open_dialog(LabelForm(screen.state, screen.now, wallet), filled)


def choose_policy(screen: Reactor) -> None:
    """Choose the policy for the signals of the highlighted wallet."""
    row = screen.row_in_focus()
    if row is None:
        return
    wallet = screen.state.reactor.wallet(_wallet_of(row))

    def set_policy(policy: Policy) -> None:
        if policy is not wallet.policy:
            screen.give(SetWalletPolicy(wallet.address, policy, wallet.label))
            # The policies `ask` and `ignore` spend nothing: only these can be restored.
            back = SetWalletPolicy(wallet.address, wallet.policy, wallet.label)
            screen.take_back = () if wallet.policy is Policy.AUTO else (back,)

    name = formats.plain(wallet.short, 32).plain
    screen.open_dialog(ChoosePolicy(name, wallet.policy, auto_text(screen.view)), set_policy)


def auto_text(view: ViewContext) -> Text:
    """The authorisation of `auto`: the caps of one mirror and one day, the venue, and its end."""
    config = view.state.reactor.config
    if config is None:
        return Text("\nauto: caps not loaded yet.", "warn")
    if config.venue is not Venue.SIM:
        return Text(f"\nauto: {ON_REAL_VENUE}.", "warn")
    return Text.assemble(
        "\nauto mirrors without asking you: ", _mode_text(view, config.venue), ".\n",
        "Max per mirror: ", view.shares(config.max_size),
        " shares, ", formats.percent(config.price_buffer), " above the source's price. "
        "Max per day: ", view.money(config.daily_cap),
        f" {formats.unit(config.venue)}. Valid until you change it, or {cap('reactor.run')}, "
        f"{cap('app.halt')} or the breaker stops it.",
    )  # fmt: skip


# -- the reactor itself -------------------------------------------------------------------------


def configure(screen: Reactor) -> None:
    """Change sizes, the day's cap, the venue and the price buffer."""
    config = screen.state.reactor.config
    if config is None:
        return

    def filled(change: SetReactorConfig) -> None:
        screen.give(change)
        screen.take_back = (reverse(change, config),)

    screen.open_dialog(ReactorForm(screen.state, screen.now, config), filled)


def run(screen: Reactor) -> None:
    """Switch the reactor off at once, or on after a confirmation."""
    if screen.state.reactor.is_enabled:
        screen.give(SetReactorConfig(enabled=False))
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            screen.give(SetReactorConfig(enabled=True))

    question = Question("Turn the reactor on?", run_text(screen.view), "on")
    screen.open_dialog(Confirm(question), answered)


def run_text(view: ViewContext) -> Text:
    """The effect of switching the reactor on."""
    reactor, config = view.state.reactor, view.state.reactor.config
    if config is None:
        return Text()
    auto = sum(reactor.policy_of(wallet) is Policy.AUTO for wallet in config.wallets)
    followed = len(config.wallets)
    text = Text.assemble(
        _mode_text(view, config.venue),
        f".\n{counted(followed, 'wallet')} followed: {followed - auto} on ask or off, ",
        (f"{auto} on auto, mirrored without asking you", "bold warn" if auto else ""),
        ".\nPer mirror: ", formats.percent(config.mirror_fraction), " of the source, max ",
        view.shares(config.max_size), " shares.\nPer day: max ", view.money(config.daily_cap),
        f" {formats.unit(config.venue)}. {cap('reactor.run')} turns the reactor off.",
    )  # fmt: skip
    if config.venue is not Venue.SIM:
        text.append("\n\nA real venue is set: nothing is mirrored there.", "warn")
    if not followed:
        text.append(f"\n\nNo wallet followed. {cap('reactor.follow')} follows one.", "warn")
    return text


def reset_breaker(screen: Reactor) -> None:
    """Close the breaker before its hour is over."""

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            screen.give(ResetBreaker())

    body = Text(
        "Signals are listed again, and the failure count starts at 0. Wallets on auto are "
        "mirrored again without asking you."
    )
    screen.open_dialog(Confirm(Question("Reset the breaker?", body, "reset")), answered)


# -- filters of the feed ------------------------------------------------------------------------


def next_state(screen: Reactor) -> None:
    """Show only signals that wait, were mirrored, skipped or failed; then all again."""
    filter_in_force = screen.query_one(FeedLine).filter_in_force
    _narrow_feed(
        screen, FeedFilter((filter_in_force.state + 1) % len(STATES), filter_in_force.wallet)
    )


def only_wallet(screen: Reactor) -> None:
    """Show only the signals of the highlighted wallet; then all again."""
    row, filter_in_force = screen.row_in_focus(), screen.query_one(FeedLine).filter_in_force
    if isinstance(row, SourceWalletView):
        screen.bring_forward(TABLES.index(FEED))
        _narrow_feed(screen, FeedFilter(filter_in_force.state, row.address))
        screen.table.focus()
    elif isinstance(row, SignalView):
        _narrow_feed(
            screen, FeedFilter(filter_in_force.state, "" if filter_in_force.wallet else row.wallet)
        )


def _narrow_feed(screen: Reactor, filter_in_force: FeedFilter) -> None:
    screen.query_one(FeedLine).filter_in_force = filter_in_force
    screen.only = Only(filter_in_force.wants) if filter_in_force else None
    screen.filter_rows()


def pause_feed(screen: Reactor) -> None:
    """Pause the feed's display, or resume it."""
    feed = screen.query_one(FeedLine)
    feed.paused_rows = screen.state.reactor.signals if feed.paused_rows is None else None
    screen.show_rows()
    screen.show_header()


ACTIONS: Final[tuple[ScreenAction[Reactor], ...]] = (
    ScreenAction("reactor.mirror", mirror, requires=(is_signal_or_marked, is_mirrorable)),
    ScreenAction("reactor.mirror_all", mirror_all, requires=(has_row, has_waiting)),
    ScreenAction("reactor.dismiss", dismiss, requires=(can_change, is_dismissible)),
    ScreenAction("reactor.list", next_table),
    ScreenAction("reactor.follow", follow, requires=(can_change, is_configurable)),
    ScreenAction("reactor.edit", rename, requires=(can_change, has_row)),
    ScreenAction("reactor.policy", choose_policy, requires=(can_change, has_row)),
    ScreenAction("reactor.mark", mark, requires=(is_signal_or_marked,)),
    ScreenAction("reactor.config", configure, requires=(can_change, is_configurable)),
    ScreenAction("reactor.run", run, requires=(can_change, is_configurable)),
    ScreenAction("reactor.reset", reset_breaker, requires=(can_change, is_breaker_open)),
    ScreenAction("reactor.freeze", pause_feed, requires=(is_on_feed,)),
    ScreenAction("reactor.state", next_state, requires=(is_on_feed,)),
    ScreenAction("reactor.wallet", only_wallet, requires=(has_row,)),
    ScreenAction("reactor.market", open_market, requires=(is_signal,)),
    ScreenAction("reactor.undo", undo, requires=(can_change, can_take_back)),
)
