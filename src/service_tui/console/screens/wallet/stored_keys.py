"""The keys that lie encrypted on this machine: one is opened, or deleted for good."""

from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, with_keys
from service_tui.desk.slices.wallet import KeyState, StoredKeyView, WalletView

_NONE: Final = (
    "No key lies here. {wallet.keep} on the page before keeps one: imported, or made anew."
)
_OVER_MAX: Final = 300
_TOLD_MAX: Final = 3
"""Sentences on files that are passed over; more would push the keys out of sight."""
_HIDDEN: Final = (
    "Addresses are masked: {app.privacy} on any screen shows them, and then they can be removed."
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A key by its address, and what is to become of it."""

    address: str
    removes: bool


class StoredKeys(CursorList[Chosen | None, StoredKeyView]):
    """What is chosen is an address, never a place in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("stored_keys")]

    name_in_keys: ClassVar[str] = "stored_keys"
    title_words: ClassVar[str] = "Keys on this machine"

    def rows(self) -> tuple[StoredKeyView, ...]:
        """The keys of this directory."""
        return self.state.wallet.stored

    def key_of(self, row: StoredKeyView) -> str:
        """Its address."""
        return row.address

    def action_open(self) -> None:
        """Open the key under the cursor."""
        self._choose(removes=False)

    def action_remove(self) -> None:
        """Delete the key under the cursor, once that is confirmed."""
        self._choose(removes=True)

    def _choose(self, *, removes: bool) -> None:
        key = self.chosen_or_said()
        # What is deleted must have been read, and behind a mask it cannot be.
        if key is not None and not (removes and is_private(self.state)):
            self.dismiss(Chosen(key.address, removes))

    def told(self) -> Text:
        """The addresses, and what lies among them and is none."""
        masked = is_private(self.state)
        lines = [self._line(key, masked=masked) for key in self.rows()]
        text = Text("\n").join(lines) if lines else Text(with_keys(_NONE), "muted")
        overs = self.state.wallet.passed_over
        for over in overs[:_TOLD_MAX]:
            said = formats.MASK if masked else formats.plain(over, _OVER_MAX).plain
            text = Text.assemble(text, ("\n\npassed over: ", "warn"), said)
        if len(overs) > _TOLD_MAX:
            more = f"\n\nand {len(overs) - _TOLD_MAX} more: 'service-tui keys list' names them all"
            text = Text.assemble(text, (more, "warn"))
        if masked and lines:
            text = Text.assemble(text, (f"\n\n{with_keys(_HIDDEN)}", "muted"))
        return text

    def _line(self, key: StoredKeyView, *, masked: bool) -> Text:
        wallet = self.state.wallet
        here = key.address == self.at
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
