"""One signal, what mirroring it would bring, and what is left of its time."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.figures import figures
from service_tui.console.forms.form import Form
from service_tui.console.forms.mirror_quote import Preview
from service_tui.console.keys import cap, with_keys
from service_tui.console.messages import CommandGiven
from service_tui.console.signal_text import Look, end_text, name_text
from service_tui.console.widgets.door import Door
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.reactor import MirrorSignal
from service_tui.desk.slices.reactor import SignalView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode
from service_tui.units import Timestamp

_MODES: Final = {Mode.SIM: "play money", Mode.DRY: "dry run", Mode.LIVE: "real money"}
_TWO_ACROSS: Final = 56
EARLY: Final = "that came before this was seen and did nothing: look at it, then press again"
UNSEEN: Final = "asking what it would bring: nothing is bought unseen"
KEPT: Final = "nothing is bought unseen: mirrors when quoted; enter or {form.cancel} takes it back"


class MirrorForm(Form[MirrorSignal]):
    """Enter mirrors on play money; real money wants y, and enter does nothing.

    It is about one signal, whatever comes or goes meanwhile: one that ends while this is open is
    said to have ended, and then nothing can be mirrored from here.
    """

    heading: ClassVar[str] = "Mirror"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "set", show=False),
        Binding("y", "confirm", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp, signal: SignalView) -> None:
        super().__init__(state, now)
        self._signal = signal
        self._preview = Preview()
        self._is_gone = False
        self._is_awaited = False
        self._is_kept = False
        self._was_early = False

    def parts(self) -> Iterator[Widget]:
        """The signal, what it would bring, how the quote stands."""
        yield Words(id="form-question")
        yield Words(id="form-about")
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def on_mount(self) -> None:
        """Ask at once; take keys in a moment."""
        door = self.query_one("#form-set", Door)
        door.tell(f"mirror  {'y' if self._is_live else 'enter'}")
        door.can_focus = False
        self.arm_soon()
        self._ask()

    def renew(self) -> None:
        """The signal as it is now; it may have ended meanwhile."""
        found = self.state.reactor.signal(self._signal.signal_id)
        self._is_gone = found is None
        self._signal = found or self._signal
        self._preview.hear(self.state.quote, self.now)
        self._ask()
        if self._is_kept:
            self._mirror()

    def judged(self) -> MirrorSignal | str:
        """The mirror, or what is against it."""
        signal = self._signal
        if self._is_gone:
            return (
                f"this signal is gone: nothing was mirrored from here, {cap('form.cancel')} leaves"
            )
        if not signal.can_mirror(self.now):
            return (
                f"{ended_words(signal)}: nothing was mirrored from here, "
                f"{cap('form.cancel')} leaves"
            )
        if signal.is_too_dear:
            return "the price is above what the mirror may pay: it would buy nothing"
        refused = self._preview.refusal(signal)
        return refused or MirrorSignal(signal.signal_id, signal.question)

    def preview(self, result: MirrorSignal | None) -> None:
        """What it is about, and what it would bring now."""
        del result
        signal, look = self._signal, Look(self.now, self.masked)
        mode = self.state.service.mode
        self.query_one("#form-question", Words).tell(formats.plain(signal.question))
        about = Text.assemble(
            (signal.side.value.upper(), signal.side.value), "  ", end_text(signal, self.now), "  ",
            name_text(signal.label, signal.wallet, look), (" paid ", "muted"),
            formats.price(signal.price), ("   ", ""), (mode.value, mode.value.lower()),
            (f" {_MODES[mode]} on {signal.venue.value}", "muted"),
        )  # fmt: skip
        self.query_one("#form-about", Words).tell(about)
        width = self.text_width
        across = 2 if width >= _TWO_ACROSS else 1
        shown = self._preview.figures(signal, masked=self.masked)
        self.query_one("#form-preview", Words).tell(figures(shown, across=across, width=width))
        said, ink = self._preview.words(signal, self.now)
        if self._is_awaited and not self._preview.is_seen(signal, self.now):
            said, ink = with_keys(KEPT) if self._is_kept else UNSEEN, "warn"
        elif self._was_early:
            said, ink = EARLY, "warn"
        self.query_one("#form-hint", Words).tell(Text(said, ink))

    def action_set(self) -> None:
        """Mirror, where enter may: once its quote is here; another enter takes that back."""
        if not self.is_armed:
            self._refuse_early()
        elif not self._is_live:
            (self._take_back if self._is_kept else self._mirror)()

    def action_cancel(self) -> None:
        """Take back an enter that waits for its quote, else leave."""
        if self._is_kept:
            self._take_back()
        else:
            super().action_cancel()

    def _take_back(self) -> None:
        self._is_kept = self._is_awaited = False
        self.refresh_form()

    def action_confirm(self) -> None:
        """Mirror for real money."""
        if self.is_armed:
            self._mirror()
        else:
            self._refuse_early()

    def _refuse_early(self) -> None:
        """Say that a key or a click typed ahead mirrored nothing."""
        self._was_early = True
        self.refresh_form()

    @on(Door.Opened, "#form-set")
    def _door_pressed(self, event: Door.Opened) -> None:
        event.stop()
        # Else the base would take back at once what this click has kept.
        event.prevent_default()
        self.action_confirm()

    def _mirror(self) -> None:
        """Leave with the mirror if its quote stands here, else say what is against it."""
        judged = self.judged()
        if self.is_done:
            return
        if not isinstance(judged, str) and self._preview.is_seen(self._signal, self.now):
            self.finish(judged)
            return
        self._was_early = False
        self.query_one("#form-problem").add_class("-asked")
        # Real money waits for a key that is pressed while the quote is seen.
        self._is_kept = not isinstance(judged, str) and not self._is_live
        self._is_awaited = True
        self.refresh_form()

    @property
    def _is_live(self) -> bool:
        return self.state.service.mode is Mode.LIVE

    def _ask(self) -> None:
        if self.is_done or self._is_gone or not self._signal.can_mirror(self.now):
            return
        question = self._preview.ask(self._signal, self.now)
        if question is not None:
            self.post_message(CommandGiven(question))


def ended_words(signal: SignalView) -> str:
    """How a signal that cannot be mirrored has ended, in a few words."""
    if signal.state.value == "pending":
        return "its time has passed"
    words = formats.plain(signal.words, 80).plain
    return f"{signal.state.value}{f', {words}' if words else ''}"
