"""Actions on redemptions: redeem one, redeem all, switch automatic redemption.

Off needs no confirmation; on, and all that signs, does. `ACTIONS`, at the end, is the list.
"""

from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.parts.shared_actions import can_change, has_row, open_market
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.redemption.detail import paid, sums_text
from service_tui.console.screens.redemption.forms import RedeemDialog
from service_tui.console.view_context import ViewContext
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

Redemptions: TypeAlias = TableScreen[RedemptionRow]

_CAPS: Final = (
    "Each signature covers this redemption only: the two known contracts, chain 137, value 0, "
    "gas up to 1,500,000, at most 0.5 POL each and 2 POL a day."
)

# -- requirements -------------------------------------------------------------------------------


def can_redeem(screen: Redemptions) -> UnmetReason:
    """This desk may redeem."""
    is_read_only = screen.state.service.read_only
    return "this desk is read-only: no redemptions" if is_read_only else ""


def is_holder(screen: Redemptions) -> UnmetReason:
    """This program owns the data directory, so that it may sign."""
    if screen.state.redemption.executes:
        return ""
    return "another program uses this data directory. Redeem there"


def has_ready(screen: Redemptions) -> UnmetReason:
    """A position is ready to redeem."""
    return "" if screen.state.redemption.ready else "nothing to redeem"


def is_auto_loaded(screen: Redemptions) -> UnmetReason:
    """The service's automatic redemption setting has loaded."""
    is_known = screen.state.redemption.auto.on_service is not None
    return "" if is_known else "auto-redeem setting not loaded yet"


def is_market_listed(screen: Redemptions) -> UnmetReason:
    """The market of the highlighted row is listed."""
    row = screen.selected()
    if row is None:
        return NO_ROW
    is_known = row.market_id in screen.state.markets
    return "" if is_known else "market not listed"


def has_hash(screen: Redemptions) -> UnmetReason:
    """The highlighted row has a transaction."""
    row = screen.selected()
    if row is None:
        return NO_ROW
    if _hash_of(screen, row):
        return ""
    text = "redeemed without a transaction" if row.stage is Stage.REDEEMED else "nothing sent yet"
    return f"no hash: {text}"


# -- redeem -------------------------------------------------------------------------------------


def redeem(screen: Redemptions) -> None:
    """Request and check the transaction, and show it for a confirmation."""
    row = screen.row_in_focus()
    if row is None:
        return
    if not row.is_ready:
        screen.show_toast(f"not now: {row.next_text}", "warn")
        return
    screen.give(PrepareRedemption(row.market_id, row.side, row.venue, row.question))

    def answered(digest: str) -> None:
        screen.give(Redeem(row.market_id, row.side, row.venue, digest, row.question))

    screen.open_dialog(RedeemDialog(screen.state, screen.now, row), answered)


def redeem_all(screen: Redemptions) -> None:
    """Redeem everything that is ready, after the typed word."""
    view, rows = screen.view, screen.state.redemption.ready
    body = Text.assemble(
        f"{counted(len(rows), 'position')}, total ", sums_text(rows, view), ":\n\n"
    )
    for row in rows:
        pays = paid(row.amount, row.money, view)
        body.append_text(Text.assemble(pays, "  ", formats.plain(row.question, 60), "\n"))
    body.append_text(_cost_text(len(rows), view))
    keys = tuple(row.key for row in rows)

    def answered(word: str) -> None:
        if word == REDEEM_WORD:
            screen.give(RedeemAll(keys))

    screen.open_dialog(TypedWord("Redeem all ready positions?", body, REDEEM_WORD), answered)


def _cost_text(count: int, view: ViewContext) -> Text:
    wallet = view.state.wallet
    if wallet.ownership is not Ownership.EXTERNAL:
        return Text("\nThe service signs for this wallet and pays the gas.", "muted")
    needed = wallet.gas_needed
    cost = "" if needed is None else f" About {decimal(Micros(needed * count)):,.4f} POL of gas."
    return Text(f"\n{_CAPS}{cost}", "muted")


def turn_auto(screen: Redemptions) -> None:
    """Switch off at once; on after the caps were seen and the word is typed."""
    auto = screen.state.redemption.auto
    is_managed = screen.state.wallet.ownership is not Ownership.EXTERNAL
    if auto.is_on or (is_managed and auto.on_service):
        screen.give(SetAutoRedeem(on=False))
        return
    body = Text.assemble(
        "Winning positions on evm_venue are redeemed automatically while this program runs and "
        "the key is unlocked, until you turn it off or a cap is reached.\n\n",
        (_CAPS, "muted"),
        ("\n\nPauses when gas runs low, and continues after a top-up.", "muted"),
    )

    def answered(word: str) -> None:
        if word == REDEEM_WORD:
            screen.give(SetAutoRedeem(on=True))

    screen.open_dialog(TypedWord("Turn on auto-redeem?", body, REDEEM_WORD), answered)


def abandon(screen: Redemptions) -> None:
    """Abandon a run whose nonce can never come."""
    row = screen.row_in_focus()
    if row is not None:
        screen.give(AbandonRun(row.key))


# -- its transaction ----------------------------------------------------------------------------


def copy_hash(screen: Redemptions) -> None:
    """Copy the hash of the row's transaction."""
    row = screen.row_in_focus()
    if row is not None:
        screen.copy(_hash_of(screen, row), "transaction hash")


def _hash_of(screen: Redemptions, row: RedemptionRow) -> str:
    run = screen.state.redemption.run(row.key)
    return (run.tx_hash if run is not None else "") or row.tx_hash


ACTIONS: Final[tuple[ScreenAction[Redemptions], ...]] = (
    ScreenAction("redemption.redeem", redeem, requires=(can_redeem, is_holder, has_row)),
    ScreenAction("redemption.all", redeem_all, requires=(can_redeem, is_holder, has_ready)),
    ScreenAction("redemption.auto", turn_auto, requires=(can_redeem, is_auto_loaded)),
    ScreenAction("redemption.abandon", abandon, requires=(can_change, has_row)),
    ScreenAction("redemption.market", open_market, requires=(is_market_listed,)),
    ScreenAction("redemption.hash", copy_hash, requires=(has_hash,)),
)
