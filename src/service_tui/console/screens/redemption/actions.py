"""What a person does on the redemption screen: redeem one, redeem all, turn the automatic.

Off asks nothing; on, and everything that signs, asks first.
"""

from typing import Final, Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.freshness import is_private
from service_tui.console.messages import GoTo, Said
from service_tui.console.parts.panes import PaneScreen
from service_tui.console.parts.rows import NO_ROW
from service_tui.console.redemption_text import paid, sums_text
from service_tui.desk.commands.wallet import (
    REDEEM_WORD,
    AbandonRun,
    PrepareRedemption,
    Redeem,
    RedeemAll,
    SetAutoRedeem,
)
from service_tui.desk.slices.redemption import RedemptionRow, Stage
from service_tui.desk.slices.wallet import Ownership
from service_tui.terms import counted
from service_tui.units import Micros, decimal

Part = TypeVar("Part")

_READ_ONLY: Final = "this desk is read-only: it redeems nothing"
_HOLDER: Final = "another program holds this data directory: redeem there"
_CAPS: Final = (
    "Each is signed only if it is this redemption and nothing else: the two known contracts, chain "
    "137, value 0, gas up to 1,500,000, at most 0.5 POL each and 2 POL a day."
)


class RedemptionActs(PaneScreen[Part, RedemptionRow], Generic[Part]):
    """Acts on the row that was highlighted when the key was pressed."""

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action not in {"redeem", "redeem_all", "auto"}:
            return super().why_not(action)
        view = self.state.redemption
        if self.state.service.read_only:
            return _READ_ONLY
        if action == "auto":
            told = view.auto.on_service is not None
            return "" if told else "the service has not told yet whether it is on"
        if not view.executes:
            return _HOLDER
        if action == "redeem_all":
            why, may = "nothing is ready to redeem", bool(view.ready)
        else:
            why, may = NO_ROW, self.table.selected() is not None
        return "" if may else why

    def action_redeem(self) -> None:
        """Ask, check, and show what would be signed; then the person says yes or no."""
        row = self.row_in_focus()
        if row is None or self.is_refused("redeem"):
            return
        if not row.is_ready:
            self.post_message(Said(f"not now: {row.next_words}", "warn"))
            return
        from service_tui.console.screens.redemption.dialog import (  # noqa: PLC0415 - not at first
            RedeemDialog,
        )

        self.give(PrepareRedemption(row.market_id, row.side, row.venue, row.question))

        def answered(digest: str | None) -> None:
            if digest is not None:
                order = Redeem(row.market_id, row.side, row.venue, digest, row.question)
                self.give(order)

        self._app().push_screen(RedeemDialog(self.state, self.now, row), answered)

    def action_redeem_all(self) -> None:
        """Redeem everything that is ready, once the word is typed."""
        if self.is_refused("redeem_all"):
            return
        rows, masked = self.state.redemption.ready, is_private(self.state)
        body = Text.assemble(
            f"{counted(len(rows), 'position')}, together ",
            sums_text(rows, masked=masked),
            ":\n\n",
        )
        for row in rows:
            pays = paid(row.amount, row.money, masked=masked)
            body.append_text(Text.assemble(pays, "  ", formats.plain(row.question, 60), "\n"))
        body.append_text(self._cost_words(len(rows)))
        keys = tuple(row.key for row in rows)

        def answered(word: str | None) -> None:
            if word == REDEEM_WORD:
                self.give(RedeemAll(keys))

        title = "Redeem all that is ready?"
        self._app().push_screen(TypedWord(title, body, REDEEM_WORD), answered)

    def _cost_words(self, count: int) -> Text:
        if self.state.wallet.ownership is not Ownership.EXTERNAL:
            return Text("\nThe service signs for this wallet, and pays the gas.", "muted")
        needed = self.state.wallet.gas_needed
        cost = (
            "" if needed is None else f" About {decimal(Micros(needed * count)):,.4f} POL of gas."
        )
        return Text(f"\n{_CAPS}{cost}", "muted")

    def action_auto(self) -> None:
        """Off at once; on once the caps were seen and the word is typed."""
        if self.is_refused("auto"):
            return
        view = self.state.redemption
        managed = self.state.wallet.ownership is not Ownership.EXTERNAL
        if view.auto.is_on or (managed and view.auto.on_service):
            self.give(SetAutoRedeem(on=False))
            return
        body = Text.assemble(
            "What wins on evm_venue is then turned into money by itself, while this program runs "
            "and the key is unlocked, until you turn it off or a cap is reached.\n\n",
            (_CAPS, "muted"),
            ("\n\nToo little gas pauses it; it goes on after a top-up.", "muted"),
        )

        def answered(word: str | None) -> None:
            if word == REDEEM_WORD:
                self.give(SetAutoRedeem(on=True))

        title = "Redeem by itself?"
        self._app().push_screen(TypedWord(title, body, REDEEM_WORD), answered)

    def action_abandon(self) -> None:
        """Give up a run whose nonce can never come."""
        row = self.row_in_focus()
        if row is not None and not self.state.service.read_only:
            self.give(AbandonRun(row.key))

    def action_open_market(self) -> None:
        """Show the market of the row."""
        row = self.row_in_focus()
        if row is None:
            return
        if row.market_id in self.state.markets:
            self.post_message(GoTo("markets", row.market_id))
        else:
            self.post_message(Said("that market is not among those known here", "warn"))

    def action_copy_hash(self) -> None:
        """Copy the hash of the row's transaction."""
        row = self.row_in_focus()
        if row is None:
            return
        run = self.state.redemption.run(row.key)
        tx_hash = (run.tx_hash if run is not None else "") or row.tx_hash
        if tx_hash:
            self.copy(tx_hash, "the transaction's hash")
        else:
            words = (
                "redeemed without one" if row.stage is Stage.REDEEMED else "nothing was sent yet"
            )
            self.post_message(Said(f"no hash: {words}", "warn"))
