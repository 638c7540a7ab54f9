"""The panel of a halt: acknowledgements, the sale of everything, and the resumption."""

from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.dom import DOMNode

from service_tui.console.forms.halt_text import exits_question, halt_text, sold_and_kept
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.freshness import is_answered
from service_tui.console.key_queue import rest_keys
from service_tui.console.keys import bindings_of, cap
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog, open_above
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.halt import RESUME_WORD, ExitAll, Resume
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

EXIT_WORD: Final = "EXIT"

_ENDED: Final = "halt ended: last keys ignored"

_RESUME: Final = (
    "Buys are allowed again at once: yours, mirrors, local skills, and every agent of this service "
    "that is not paused on its own. Orders cancelled by the halt stay cancelled."
)


def resume_text(state: DeskState) -> Text:
    """What a resumption allows, and the sources that have not acknowledged the halt yet."""
    body = Text(_RESUME)
    missing = 0 if state.halt is None else state.halt.missing
    if missing:
        body.append(f"\n\nHalt: {counted(missing, 'acknowledgement')} missing.", "warn")
    return body


def confirm_resume(node: DOMNode, state: DeskState) -> None:
    """Ask for the typed word above a widget or a screen, then end the halt."""

    def answered(word: str) -> None:
        node.post_message(CommandGiven(Resume(word)))

    dialog: TypedWord = TypedWord(
        "Resume trading?", resume_text(state), RESUME_WORD, newer=resume_text
    )
    open_above(node, dialog, answered)


def why_no_exits(state: DeskState) -> str:
    """Why nothing can be sold on this panel now; empty if something can."""
    halt = state.halt
    if halt is None:
        return f"this desk is not halted: press {cap('app.halt')} first"
    if halt.exits is not None and not halt.exits.is_over:
        return "sales already running"
    if state.service.read_only:
        return "this desk is read-only: no sales"
    sold, kept = sold_and_kept(state)
    if kept and not sold:
        return "live positions cannot be sold now: LIVE is off or the market is closed"
    is_read = is_answered(state, Topic.POSITIONS)
    none = "no open positions" if is_read else "positions not loaded yet"
    return "" if sold else none


class HaltPanel(Dialog[None]):
    """Stays until it is left or the halt is over; `take` brings it each newer state."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("halt"),
        Binding("j", "lines(1)", show=False),
        Binding("k", "lines(-1)", show=False),
    ]
    # Not a button: an enter that was meant for something else must not close this.
    AUTO_FOCUS = "#halt-body"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self._state = state
        self._now = now
        self._is_over = False

    def compose(self) -> ComposeResult:
        """The text, and three buttons."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Halt "))
            frame.border_subtitle = content(
                Text(f" {cap('dialog.close')} stays halted, {cap('app.halt')} reopens this ")
            )
            with VerticalScroll(id="halt-body"):
                yield TextBlock(id="halt-text")
            with Horizontal(id="halt-doors"):
                yield LightButton(f"sell all  {cap('halt.exit')}", id="halt-exit")
                yield LightButton(f"resume  {cap('halt.resume')}", id="halt-resume")
                yield LightButton(f"stay halted  {cap('dialog.close')}", id="halt-close")

    def on_mount(self) -> None:
        """Show the halt."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; the end of the halt closes the panel."""
        self._state, self._now = state, now
        if state.halted_since is not None:
            self._show()
        elif not self._is_over and self.is_current:
            self._is_over = True
            rest_keys(self, _ENDED)
            self.dismiss(None)

    def action_exit_all(self) -> None:
        """Sell everything, after the typed word."""
        why = why_no_exits(self._state)
        if why:
            self.post_message(ToastMessage(why, "warn"))
            return
        held, _ = sold_and_kept(self._state)
        keys = tuple(trade.key for trade in held)

        def answered(word: str | None) -> None:
            if word == EXIT_WORD:
                self.post_message(CommandGiven(ExitAll(keys)))

        body = exits_question(self._state, held)
        self._app().push_screen(TypedWord("Sell all positions?", body, EXIT_WORD), answered)

    def action_resume(self) -> None:
        """End the halt, after the typed word."""
        confirm_resume(self, self._state)

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#halt-body").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Close the panel; the halt stays."""
        if not self._is_over:
            self._is_over = True
            self.dismiss(None)

    @on(LightButton.Pressed)
    def _opened(self, event: LightButton.Pressed) -> None:
        event.stop()
        {
            "halt-exit": self.action_exit_all,
            "halt-resume": self.action_resume,
        }.get(event.button.id or "", self.action_close)()

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app

    def _show(self) -> None:
        # Parts are missing if the program ends right after the key.
        for text in self.query("#halt-text").results(TextBlock):
            text.show_text(halt_text(self._state, self._now))
        for button in self.query("#halt-exit").results(LightButton):
            button.disabled = bool(why_no_exits(self._state))
