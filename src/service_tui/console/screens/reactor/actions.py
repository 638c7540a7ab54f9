"""What a person does with signals and wallets: mirror, dismiss, follow, authorise, undo."""

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.mirror_quote import Preview
from service_tui.console.freshness import is_private
from service_tui.console.keys import with_keys
from service_tui.console.messages import GoTo, Said
from service_tui.console.parts.panes import ListsScreen
from service_tui.console.parts.reactor_words import (
    auto_words,
    many_words,
    mirror_line,
    run_words,
    why_not_mirrored,
    why_not_watched,
)
from service_tui.console.parts.rows import NO_ROW, why_not_changed
from service_tui.console.screens.reactor.rows import ReactorRow
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
from service_tui.desk.slices.reactor import Policy, SignalState, SignalView, WalletView
from service_tui.terms import Mode

Part = TypeVar("Part")

_CHANGES: Final = frozenset({
    "dismiss",
    "follow",
    "edit",
    "policy",
    "config",
    "run",
    "reset",
    "undo",
})
_ON_A_ROW: Final = frozenset({
    "mirror",
    "mirror_all",
    "dismiss",
    "edit",
    "policy",
    "only_wallet",
    "open_market",
    "mark",
})
_ON_A_SIGNAL: Final = frozenset({"mirror", "open_market", "mark"})
_NO_SIGNAL: Final = "only signals are: {reactor.list} shows the feed"


class ReactorActs(ListsScreen[Part, ReactorRow], Generic[Part]):
    """Stopping asks nothing; mirroring shows what it buys, `auto` what it may spend."""

    preview: Preview

    def why_not(self, action: str) -> str:  # noqa: PLR0911 - a table
        """Why a key does nothing here."""
        if action in _CHANGES and (why := why_not_changed(self.state)):
            return why
        if action == "undo":
            return "" if self.undone else "nothing was changed here; a mirror cannot be undone"
        if action in {"follow", "config", "run"} and (why := why_not_watched(self.state)):
            return why
        if action == "reset":
            is_open = self.state.reactor.breaker.is_paused(self.now)
            return "" if is_open else "the breaker is closed: there is nothing to reset"
        if action in _ON_A_ROW and (why := self._why_not_on(action)):
            return why
        return super().why_not(action)

    def action_mirror(self) -> None:
        """Mirror the signal that is highlighted, or those that are marked."""
        if self.is_refused("mirror"):
            return
        signals = _signals(self.table.selected_or_marked())
        if len(signals) > 1:
            self._ask_many(signals, "Mirror these signals?")
        elif signals:
            self._mirror(signals[0])
        else:
            self.row_in_focus()

    def action_mirror_all(self) -> None:
        """Mirror every signal that waits from the wallet that is highlighted."""
        if self.is_refused("mirror_all"):
            return
        row = self.row_in_focus()
        if row is not None:
            name = self.state.reactor.wallet(_wallet_of(row)).short
            self._ask_many(self._waiting_of(_wallet_of(row)), f"Mirror all of {name}?")

    def action_dismiss(self) -> None:
        """Dismiss the signals that are highlighted or marked; follow a wallet no longer."""
        if self.is_refused("dismiss"):
            return
        rows = self.table.selected_or_marked()
        for row in rows:
            if isinstance(row, WalletView):
                self._unfollow(row)
            elif row.state is SignalState.PENDING:
                self.give(DismissSignal(row.signal_id))
        self.table.clear_marks()
        if not rows:
            self.row_in_focus()

    def action_follow(self) -> None:
        """Follow another wallet; one that is highlighted and not followed is offered first."""
        if self.is_refused("follow"):
            return
        from service_tui.console.screens.reactor.wallet_form import (  # noqa: PLC0415 - not in the first frame
            FollowForm,
            Named,
        )

        def filled(named: Named | None) -> None:
            if named is None:
                return
            self.give(FollowWallet(named.address, named.label))
            self.undone = (UnfollowWallet(named.address, named.label),)

        row = self.table.selected()
        offered = row.address if isinstance(row, WalletView) and not row.is_followed else ""
        self._app().push_screen(FollowForm(self.state, self.now, offered), filled)

    def action_edit(self) -> None:
        """Name the wallet that is highlighted, or that of the signal."""
        row = None if self.is_refused("edit") else self.row_in_focus()
        if row is None:
            return
        from service_tui.console.screens.reactor.wallet_form import (  # noqa: PLC0415 - not in the first frame
            LabelForm,
            Named,
        )

        wallet = self.state.reactor.wallet(_wallet_of(row))
        chosen = self.state.reactor.choices.get(wallet.address)
        before = LabelWallet(wallet.address, "" if chosen is None else chosen.label)

        def filled(named: Named | None) -> None:
            if named is not None:
                self.give(LabelWallet(named.address, named.label))
                self.undone = (before,)

        self._app().push_screen(LabelForm(self.state, self.now, wallet), filled)

    def action_policy(self) -> None:
        """Choose what is done with the signals of the wallet that is highlighted."""
        row = None if self.is_refused("policy") else self.row_in_focus()
        if row is None:
            return
        from service_tui.console.screens.reactor.choose_policy import (  # noqa: PLC0415 - not in the first frame
            ChoosePolicy,
        )

        wallet = self.state.reactor.wallet(_wallet_of(row))

        def chosen(policy: Policy | None) -> None:
            if policy is not None and policy is not wallet.policy:
                self.give(SetWalletPolicy(wallet.address, policy, wallet.label))
                # To be asked again, or not at all, spends nothing: only that can be brought back.
                back = SetWalletPolicy(wallet.address, wallet.policy, wallet.label)
                self.undone = () if wallet.policy is Policy.AUTO else (back,)

        name = formats.plain(wallet.short, 32).plain
        dialog = ChoosePolicy(name, wallet.policy, auto_words(self.state))
        self._app().push_screen(dialog, chosen)

    def action_config(self) -> None:
        """Change sizes, the day's cap, the venue and the price buffer."""
        config = None if self.is_refused("config") else self.state.reactor.config
        if config is None:
            return
        from service_tui.console.forms.reactor_draft import (  # noqa: PLC0415 - not in the first frame
            changes,
        )
        from service_tui.console.screens.reactor.config_form import (  # noqa: PLC0415 - not in the first frame
            ReactorForm,
            changed,
        )

        def filled(change: SetReactorConfig | None) -> None:
            if change is not None:
                self.give(change)
                self.undone = (changes(changed(config, change), config),)

        self._app().push_screen(ReactorForm(self.state, self.now, config), filled)

    def action_run(self) -> None:
        """Switch the reactor off at once, or on after a question."""
        config = None if self.is_refused("run") else self.state.reactor.config
        if config is None:
            return
        if config.enabled:
            self.give(SetReactorConfig(enabled=False))
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.give(SetReactorConfig(enabled=True))

        question = Question("Switch the reactor on?", run_words(self.state), "on")
        self._app().push_screen(Confirm(question), answered)

    def action_reset(self) -> None:
        """Close the breaker before its hour is over."""
        if self.is_refused("reset"):
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.give(ResetBreaker())

        body = Text(
            "Signals are listed again at once, and failures are counted from 0. "
            "Wallets on auto are mirrored again without asking."
        )
        self._app().push_screen(Confirm(Question("Reset the breaker?", body, "reset")), answered)

    def action_open_market(self) -> None:
        """Show the market of the signal that is highlighted."""
        row = self.row_in_focus()
        if isinstance(row, SignalView):
            self.post_message(GoTo("markets", row.market_id))

    def _mirror(self, signal: SignalView) -> None:
        """At once where what it buys stands on the screen, else after a look at it."""
        is_seen = self.is_told and self.preview.is_seen(signal, self.now)
        is_play = self.state.service.mode is not Mode.LIVE
        if is_seen and is_play and not signal.is_too_dear and not self.preview.refusal(signal):
            self.give(MirrorSignal(signal.signal_id, signal.question))
            return
        from service_tui.console.screens.reactor.mirror_form import (  # noqa: PLC0415 - not in the first frame
            MirrorForm,
        )

        def filled(mirror: MirrorSignal | None) -> None:
            if mirror is not None:
                self.give(mirror)

        self._app().push_screen(MirrorForm(self.state, self.now, signal), filled)

    def _ask_many(self, signals: Sequence[SignalView], title: str) -> None:
        """Name each of them, oldest first; what is confirmed is exactly these."""
        able = sorted(
            (one for one in signals if not why_not_mirrored(self.state, one, self.now)),
            key=lambda one: one.at,
        )
        if not able:
            self.post_message(Said("none of them can be mirrored any more", "warn"))
            return
        masked = is_private(self.state)

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                for one in able:
                    self.give(MirrorSignal(one.signal_id, one.question))
                self.table.clear_marks()

        question = Question(title, many_words(self.state, able), "mirror")
        lines = tuple(mirror_line(one, self.now, masked=masked) for one in able)
        self._app().push_screen(ConfirmMany(question, lines), answered)

    def _waiting_of(self, wallet: str) -> tuple[SignalView, ...]:
        return tuple(one for one in self.state.reactor.waiting if one.wallet == wallet)

    def _unfollow(self, row: WalletView) -> None:
        if not row.is_followed:
            self.post_message(Said("this wallet is not followed", "warn"))
            return
        self.give(UnfollowWallet(row.address, row.label))
        self.undone = (FollowWallet(row.address),)

    def _why_not_on(self, action: str) -> str:  # noqa: PLR0911 - a table
        """Why an action does not apply to what is highlighted or marked; empty when it does."""
        if self.table.order.marked and action in {"mirror", "dismiss", "mark"}:
            return ""
        row = self.table.selected()
        match action, row:
            case _, None:
                return NO_ROW
            case _, WalletView() if action in _ON_A_SIGNAL:
                return with_keys(_NO_SIGNAL)
            case "mirror", SignalView():
                return why_not_mirrored(self.state, row, self.now)
            case "mirror_all", _:
                return "" if self._waiting_of(_wallet_of(row)) else "none of its signals waits"
            case "dismiss", SignalView() if row.state is not SignalState.PENDING:
                return f"it is {row.state.value} already"
            case "dismiss", WalletView() if not row.is_followed:
                return "this wallet is not followed"
            case _:
                return ""


def _wallet_of(row: ReactorRow) -> str:
    return row.wallet if isinstance(row, SignalView) else row.address


def _signals(rows: Sequence[ReactorRow]) -> tuple[SignalView, ...]:
    return tuple(row for row in rows if isinstance(row, SignalView))
