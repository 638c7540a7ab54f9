"""The keys that lie encrypted on this machine: one is opened, or deleted for good.

Knows the desk's state. Must not know how a key is kept, and never what is in one.
Used by the wallet panel, which asks for the passphrase or for the word.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, keys_of, shown_key
from service_tui.console.theme import content
from service_tui.console.widgets.words import Words
from service_tui.desk.records_wallet import KeyState, StoredKeyView, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_NONE: Final = "No key lies here. K on the page before keeps one: imported, or made anew."
_OVER_MAX: Final = 300
_TOLD_MAX: Final = 3
"""Sentences on files that are passed over; more would push the keys out of sight."""
_HIDDEN: Final = "Addresses are masked: z on any screen shows them, and then they can be removed."


@dataclass(frozen=True, slots=True)
class Chosen:
    """A key by its address, and what is to become of it."""

    address: str
    removes: bool


class StoredKeys(ModalScreen[Chosen | None]):
    """A list with a cursor; what is chosen is an address, never a place in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("stored_keys"),
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self._state = state
        self._now = now
        stored = state.wallet.stored
        self._at = stored[0].address if stored else ""

    def compose(self) -> ComposeResult:
        """The addresses, and the keys that work."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Keys on this machine "))
            frame.border_subtitle = content(Text(" esc closes "))
            with VerticalScroll(id="keys-body", can_focus=False):
                yield Words(id="keys-list")
            yield Words(id="keys-keys")

    def on_mount(self) -> None:
        """Show what lies here."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; what is gone loses the cursor."""
        self._state, self._now = state, now
        if self._chosen() is None:
            self._at = self._stored[0].address if self._stored else ""
        self._show()

    @property
    def _stored(self) -> tuple[StoredKeyView, ...]:
        return self._state.wallet.stored

    def action_step(self, by: int) -> None:
        """The next key, or the one before."""
        addresses = [key.address for key in self._stored]
        if self._at in addresses:
            place = addresses.index(self._at) + by
            self._at = addresses[max(0, min(place, len(addresses) - 1))]
            self._show()

    def action_open(self) -> None:
        """Open the key under the cursor."""
        self._choose(removes=False)

    def action_remove(self) -> None:
        """Delete the key under the cursor, once that is confirmed."""
        self._choose(removes=True)

    def action_close(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def _choose(self, *, removes: bool) -> None:
        key = self._chosen()
        # What is deleted must have been read, and behind a mask it cannot be.
        if key is not None and not (removes and is_private(self._state)):
            self.dismiss(Chosen(key.address, removes))

    def _chosen(self) -> StoredKeyView | None:
        return next((key for key in self._stored if key.address == self._at), None)

    def _show(self) -> None:
        masked = is_private(self._state)
        lines = [self._line(key, masked=masked) for key in self._stored]
        text = Text("\n").join(lines) if lines else Text(_NONE, "muted")
        overs = self._state.wallet.passed_over
        for over in overs[:_TOLD_MAX]:
            said = formats.MASK if masked else formats.plain(over, _OVER_MAX).plain
            text = Text.assemble(text, ("\n\npassed over: ", "warn"), said)
        if len(overs) > _TOLD_MAX:
            more = f"\n\nand {len(overs) - _TOLD_MAX} more: 'service-tui keys list' names them all"
            text = Text.assemble(text, (more, "warn"))
        if masked and lines:
            text = Text.assemble(text, (f"\n\n{_HIDDEN}", "muted"))
        keys = "   ".join(f"{shown_key(key)} {key.label}" for key in keys_of("stored_keys"))
        told = {"list": text, "keys": Text(keys if lines else "", "muted")}
        # A state may come before the parts stand, or while they are taken down.
        for name, words in told.items():
            for part in self.query(f"#keys-{name}").results(Words):
                part.tell(words)

    def _line(self, key: StoredKeyView, *, masked: bool) -> Text:
        wallet = self._state.wallet
        here = key.address == self._at
        said = ", ".join(_standing(key.address, wallet))
        return Text.assemble(
            ("▌ " if here else "  ", "accent"),
            (formats.MASK if masked else key.address, "bold" if here else ""),
            (f"  {said}", "muted"),
        )


def _standing(address: str, wallet: WalletView) -> list[str]:
    """What a key is now: open, or that of the linked wallet."""
    said: list[str] = []
    is_open = wallet.key_state is KeyState.UNLOCKED
    if is_open and wallet.key_address.lower() == address.lower():
        said.append("open")
    if wallet.is_linked and wallet.address.lower() == address.lower():
        said.append("linked")
    return said


def removal_question(address: str, wallet: WalletView) -> Text:
    """What deleting a key means."""
    body = Text.assemble(
        "The encrypted file of this key is deleted, and its passphrase from the system's keyring:"
        "\n\n",
        (address, "bold"),
        "\n\nThis cannot be undone. Whoever has no other copy of the key loses whatever lies in "
        "its wallet.",
    )
    if wallet.is_linked and wallet.address.lower() == address.lower():
        body.append(
            "\n\nIt is the key of the linked wallet: without it nothing can be traded or redeemed "
            "from here.",
            "warn",
        )
    return body
