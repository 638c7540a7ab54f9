"""Forms of the wallet panel: passphrases, the stored keys, a cap for paid calls, a QR code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from service_tui.console import formats
from service_tui.console.fields import Field, figure_rule, parse_number
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.page import Page
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, with_keys
from service_tui.console.messages import Copied
from service_tui.console.qr import qr_text
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.wallet import SetPay
from service_tui.desk.slices.wallet import KeyState, StoredKeyView, WalletView
from service_tui.units import ONE, Micros

_NONE: Final = "No key stored. {wallet.keep} on the previous page adds one: import or create."
_OVER_MAX: Final = 300
_PROBLEMS_MAX: Final = 3
"""Most listed problems of files; more would push the keys out of sight."""
_HIDDEN: Final = (
    "Addresses masked. {app.privacy} on any screen shows them; then keys can be removed."
)


@dataclass(frozen=True, slots=True)
class StoredKeyRequest:
    """A key by its address, and the action on it."""

    address: str
    removes: bool


class StoredKeys(CursorList[StoredKeyRequest | None, StoredKeyView]):
    """The choice is an address, never a place in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("stored_keys")]

    name_in_keys: ClassVar[str] = "stored_keys"
    title_text: ClassVar[str] = "Keys on this machine"

    def rows(self) -> tuple[StoredKeyView, ...]:
        """The keys of this directory."""
        return self.state.wallet.stored

    def key_of(self, row: StoredKeyView) -> str:
        """Its address."""
        return row.address

    def action_open(self) -> None:
        """Unlock the key under the cursor."""
        self._choose(removes=False)

    def action_remove(self) -> None:
        """Delete the key under the cursor, after a confirmation."""
        self._choose(removes=True)

    def _choose(self, *, removes: bool) -> None:
        key = self.row_or_toast()
        # A deletion needs an address that can be read, and a masked one cannot.
        if key is not None and not (removes and is_private(self.state)):
            self.dismiss(StoredKeyRequest(key.address, removes))

    def text(self) -> Text:
        """The addresses, and problems of other files beside them."""
        masked = is_private(self.state)
        lines = [self._line(key, masked=masked) for key in self.rows()]
        text = Text("\n").join(lines) if lines else Text(with_keys(_NONE), "muted")
        overs = self.state.wallet.passed_over
        for over in overs[:_PROBLEMS_MAX]:
            line = formats.MASK if masked else formats.plain(over, _OVER_MAX).plain
            text = Text.assemble(text, ("\n\ninvalid files: ", "warn"), line)
        if len(overs) > _PROBLEMS_MAX:
            more = f"\n\nand {len(overs) - _PROBLEMS_MAX} more. 'service-tui keys list' lists all"
            text = Text.assemble(text, (more, "warn"))
        if masked and lines:
            text = Text.assemble(text, (f"\n\n{with_keys(_HIDDEN)}", "muted"))
        return text

    def _line(self, key: StoredKeyView, *, masked: bool) -> Text:
        wallet = self.state.wallet
        here = key.address == self.at
        line = ", ".join(_key_states(key.address, wallet))
        return Text.assemble(
            ("▌ " if here else "  ", "accent"),
            (formats.MASK if masked else key.address, "bold" if here else ""),
            (f"  {line}", "muted"),
        )


def _key_states(address: str, wallet: WalletView) -> list[str]:
    """The state of a key: unlocked, or that of the linked wallet."""
    line: list[str] = []
    is_open = wallet.key_state is KeyState.UNLOCKED
    if is_open and wallet.key_address.lower() == address.lower():
        line.append("open")
    if wallet.is_linked and wallet.address.lower() == address.lower():
        line.append("linked")
    return line


def removal_question(address: str, wallet: WalletView) -> Text:
    """The effect of deleting a key."""
    body = Text.assemble(
        "Deletes the encrypted file of this key, and its passphrase from the system keyring:\n\n",
        (address, "bold"),
        "\n\nThis cannot be undone. Without another copy of the key, all funds of its wallet "
        "are lost.",
    )
    if wallet.is_linked and wallet.address.lower() == address.lower():
        body.append(
            "\n\nThis is the key of the linked wallet. Without it this desk cannot trade or "
            "redeem there.",
            "warn",
        )
    return body


PASSPHRASE_MIN: Final = 8
"""ours: letters of a new passphrase at least; it is all that stands before the key."""

SECRET_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Secrets:
    """The typed secrets. No repr shows them."""

    passphrase: str = field(repr=False)
    secret: str = field(default="", repr=False)


class SecretInput(Input):
    """A line whose letters are dots; it cannot be copied from, and has no history."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(password=True, compact=True, max_length=SECRET_MAX, id=id)

    def action_copy(self) -> None:
        """Copy nothing."""

    def action_cut(self) -> None:
        """Copy nothing, and leave the text."""


class PassphraseDialog(Dialog[Secrets | None]):
    """Reads the passphrase of a stored key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("form"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "SecretInput"

    def __init__(self, title: str, body: Text, lines: tuple[tuple[str, str], ...]) -> None:
        """Set up the dialog.

        Args:
            title: in a few words.
            body: its purpose, and where the secret goes.
            lines: name and label of each line.
        """
        super().__init__()
        self._title = title
        self._body = body
        self._lines = lines
        self._is_done = False

    def compose(self) -> ComposeResult:
        """The purpose, the lines, the problem, two buttons."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self._title} "))
            frame.border_subtitle = content(Text(f" {cap('form.cancel')} changes nothing "))
            body = TextBlock(id="secret-body")
            body.show_text(self._body)
            yield body
            for name, label in self._lines:
                with Horizontal(classes="line"):
                    yield TextBlock(label, classes="label")
                    yield SecretInput(id=f"secret-{name}")
            yield TextBlock(id="secret-problem")
            with Horizontal(id="secret-doors"):
                yield LightButton("continue  enter", id="secret-set")
                yield LightButton(f"leave  {cap('form.cancel')}", id="secret-cancel")

    def on_mount(self) -> None:
        """No cursor blinks."""
        for line in self.query(SecretInput):
            line.cursor_blink = False

    def problem(self, typed: dict[str, str]) -> str:
        """Why the text cannot be used; empty if it can."""
        del typed
        return ""

    def action_set(self) -> None:
        """Return the typed secrets, once."""
        typed = {
            name: self.query_one(f"#secret-{name}", SecretInput).value for name, _ in self._lines
        }
        why = self.problem(typed)
        if why:
            self.query_one("#secret-problem", TextBlock).show_text(Text(why, "warn"))
            return
        self._leave(Secrets(typed["passphrase"], typed.get("secret", "")))

    def action_cancel(self) -> None:
        """Leave, and return nothing."""
        self._leave(None)

    def _leave(self, secrets: Secrets | None) -> None:
        if self._is_done:
            return
        self._is_done = True
        for line in self.query(SecretInput):
            line.value = ""
        self.dismiss(secrets)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_set()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()

    @on(LightButton.Pressed)
    def _opened(self, event: LightButton.Pressed) -> None:
        event.stop()
        if event.button.id == "secret-set":
            self.action_set()
        else:
            self.action_cancel()


def passphrase_problem(passphrase: str, again: str) -> str:
    """Why a new passphrase cannot be used; empty if it is long enough, and the same twice."""
    if len(passphrase) < PASSPHRASE_MIN:
        return f"The passphrase needs at least {PASSPHRASE_MIN} letters"
    return "" if passphrase == again else "The passphrases differ"


class NewKeyDialog(PassphraseDialog):
    """Reads a key, or none for a new one, and twice its passphrase."""

    def __init__(self) -> None:
        body = Text.assemble(
            "The key is encrypted with the passphrase and stored in the data directory, "
            "readable by your account only. Leave the first line empty to create a new key.\n\n",
            (
                "Whoever has the key controls the funds. A lost passphrase cannot be recovered.",
                "warn",
            ),
        )
        lines = (("secret", "private key"), ("passphrase", "passphrase"), ("again", "repeat"))
        super().__init__("Add a key", body, lines)

    def problem(self, typed: dict[str, str]) -> str:
        """A passphrase that is long enough, and the same twice."""
        return passphrase_problem(typed["passphrase"], typed["again"])


def unlock_dialog(address: str) -> PassphraseDialog:
    """A dialog for the passphrase of one key."""
    body = Text.assemble(
        "Unlocks the key of ",
        (address, "bold"),
        " for this session. The passphrase is not stored. Leave it empty to use the system "
        "keyring.",
    )
    return PassphraseDialog("Unlock the wallet", body, (("passphrase", "passphrase"),))


_SENDS: Final = "Send only USDC.e and POL on chain 137. Native USDC is not accepted."


class WalletCode(Page):
    """The code, and below it the address in letters, to compare with the camera's result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy_address", "copy", show=False)]

    def __init__(self, address: str, *, on_dark: bool) -> None:
        super().__init__("Wallet address", f"y copies, {cap('dialog.close')} closes")
        self._address = address
        self._on_dark = on_dark

    def text(self) -> Text:
        """The code and the address."""
        code = qr_text(self._address, on_dark=self._on_dark)
        return Text.assemble(code, "\n", (self._address, "bold"), (f"\n{_SENDS}", "muted"))

    def action_copy_address(self) -> None:
        """Copy the address, at the person's request."""
        self.post_message(Copied(self._address, "wallet address"))


CAP_MAX: Final = Micros(100 * ONE)
"""ours: twenty thousand calls a day; more is a slip of the finger."""

_RULE: Final = figure_rule(
    "cap", Micros(1), CAP_MAX, beyond=f"cap: above 0, max {CAP_MAX // ONE:,}"
)


def _parse_cap(text: str) -> Micros | None:
    return parse_number(text, _RULE) if text.strip() else None


CAP: Final = Field("pay-cap", "USDC per day", _parse_cap, placeholder="as 0.05; empty: off")


class PayForm(Form[SetPay]):
    """Turns paying per call on, up to a cap a day, or off."""

    heading: ClassVar[str] = "Pay per call"
    body = ("form-question", CAP, "form-preview")

    def validate(self) -> SetPay:
        """The typed cap; none turns it off."""
        return SetPay(self.read(CAP))

    def objection(self, result: SetPay) -> str:
        """Turning it on needs a second enter."""
        return (
            "Allows payments after you confirm each. Enter again to set" if result.day_max else ""
        )

    def describe(self, result: SetPay | None) -> Mapping[str, Shown]:
        """The meaning of the cap."""
        messages = Text(
            "When rate-limited (429), the service may offer the call for 0.005 USDC on a "
            "Base-type chain. With a cap, this desk shows the offer and pays that exact price "
            "only after you confirm.",
        )
        line = "" if result is None else result.describe()
        return {"form-question": messages, "form-preview": Text(line, "muted")}
