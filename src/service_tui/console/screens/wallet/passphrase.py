"""Lines for what nobody may read over a shoulder: a passphrase, a private key.

What is typed is never shown, copied or kept; the lines are emptied before the dialog goes.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from service_tui.console.keys import bindings_of, cap
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.door import Door
from service_tui.console.widgets.words import Words

PASSPHRASE_MIN: Final = 8
"""ours: letters of a new passphrase at least; it is all that stands before the key."""

SECRET_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Secrets:
    """What was typed. No repr shows it."""

    passphrase: str = field(repr=False)
    secret: str = field(default="", repr=False)


class SecretInput(Input):
    """A line whose letters are dots; it cannot be copied from, and remembers nothing."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(password=True, compact=True, max_length=SECRET_MAX, id=id)

    def action_copy(self) -> None:
        """Copy nothing."""

    def action_cut(self) -> None:
        """Copy nothing, and leave what was typed."""


class PassphraseDialog(Dialog[Secrets | None]):
    """Asks for the passphrase of a key that is kept here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("form"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "SecretInput"

    def __init__(self, title: str, body: Text, lines: tuple[tuple[str, str], ...]) -> None:
        """Ask.

        Args:
            title: in a few words.
            body: what it is for, and where it goes.
            lines: name and label of each line.
        """
        super().__init__()
        self._title = title
        self._body = body
        self._lines = lines
        self._is_done = False

    def compose(self) -> ComposeResult:
        """What it is for, the lines, what is wrong with them, two doors."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self._title} "))
            frame.border_subtitle = content(Text(f" {cap('form.cancel')} changes nothing "))
            body = Words(id="secret-body")
            body.tell(self._body)
            yield body
            for name, label in self._lines:
                with Horizontal(classes="line"):
                    yield Words(label, classes="label")
                    yield SecretInput(id=f"secret-{name}")
            yield Words(id="secret-problem")
            with Horizontal(id="secret-doors"):
                yield Door("go on  enter", id="secret-set")
                yield Door(f"leave  {cap('form.cancel')}", id="secret-cancel")

    def on_mount(self) -> None:
        """No cursor blinks."""
        for line in self.query(SecretInput):
            line.cursor_blink = False

    def problem(self, typed: dict[str, str]) -> str:
        """What is against it; empty when nothing is."""
        del typed
        return ""

    def action_set(self) -> None:
        """Give what was typed to whoever asked, once."""
        typed = {
            name: self.query_one(f"#secret-{name}", SecretInput).value for name, _ in self._lines
        }
        why = self.problem(typed)
        if why:
            self.query_one("#secret-problem", Words).tell(Text(why, "warn"))
            return
        self._leave(Secrets(typed["passphrase"], typed.get("secret", "")))

    def action_cancel(self) -> None:
        """Leave, and give nothing."""
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

    @on(Door.Opened)
    def _opened(self, event: Door.Opened) -> None:
        event.stop()
        if event.door.id == "secret-set":
            self.action_set()
        else:
            self.action_cancel()


class NewKeyDialog(PassphraseDialog):
    """Asks for a key, or none for a new one, and twice for its passphrase."""

    def __init__(self) -> None:
        body = Text.assemble(
            "The key is encrypted with the passphrase and lies in the data directory, for your "
            "account of this machine only. Leave the first line empty for a new key.\n\n",
            ("Whoever has the key has the money. A lost passphrase cannot be recovered.", "warn"),
        )
        lines = (("secret", "private key"), ("passphrase", "passphrase"), ("again", "once more"))
        super().__init__("Keep a key here", body, lines)

    def problem(self, typed: dict[str, str]) -> str:
        """A passphrase that is long enough, and the same twice."""
        if len(typed["passphrase"]) < PASSPHRASE_MIN:
            return f"the passphrase has at least {PASSPHRASE_MIN} letters"
        return "" if typed["passphrase"] == typed["again"] else "the two passphrases differ"


def unlock_dialog(address: str) -> PassphraseDialog:
    """Asks for the passphrase of one key."""
    body = Text.assemble(
        "The key of ",
        (address, "bold"),
        " is opened for this session. The passphrase goes to the signer and is kept nowhere. Left "
        "empty, the system's keyring is asked for it.",
    )
    return PassphraseDialog("Unlock the wallet", body, (("passphrase", "passphrase"),))
