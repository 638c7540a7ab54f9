"""The messages that leave a screen. All others stay inside their widget."""

from typing import Final

from textual.message import Message

from service_tui.console.keys import KeyBinding
from service_tui.desk.command import Command

NEW_SESSION: Final = "new:"
"""Prefix of the row key that opens a new research session; a session's key may follow."""


class ToApp(Message):
    """A message for the app, from any widget.

    Textual stops a message at the parent of its widget where the code that posted it ran for that
    parent: a screen that has its own pane send something would never be heard.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sender = None  # pyright: ignore[reportPrivateUsage]


class CommandGiven(ToApp):
    """The operator gave a command; the app hands it to the desk without waiting."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command


class GoTo(ToApp):
    """Show another screen, and there the row with this key, if any; then perform a key's action.

    `unmarks`: whatever was marked there before is unmarked first.
    """

    def __init__(
        self,
        screen: str,
        row: str | None = None,
        act: KeyBinding | None = None,
        *,
        unmarks: bool = False,
    ) -> None:
        super().__init__()
        self.unmarks = unmarks
        self.screen_name = screen
        self.row = row
        self.act = act


class ApprovalRequested(ToApp):
    """The person opens this waiting trade for a decision; `refuse`: at the line for the reason."""

    def __init__(self, pending_id: str, *, refuse: bool = False) -> None:
        super().__init__()
        self.pending_id = pending_id
        self.refuse = refuse


class ToastMessage(ToApp):
    """A toast: one plain sentence. `tone` is info, good, warn or bad."""

    def __init__(self, text: str, tone: str = "info") -> None:
        super().__init__()
        self.text = text
        self.tone = tone


class Copied(ToApp):
    """A text for the clipboard; `what` names it in the toast."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class ConfirmGiven(ToApp):
    """A person confirmed a question; `what` is its text, for the action log."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class KeyChosen(ToApp):
    """An action of the key table was chosen by the mouse or by name; the app finds its target."""

    def __init__(self, key: KeyBinding) -> None:
        super().__init__()
        self.key = key


class OwnCommandChosen(ToApp):
    """A command of the person's own was chosen by its name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class HelpRequested(ToApp):
    """Show the help, narrowed to a word; empty: all of it."""

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word


class ResumeRequested(ToApp):
    """The person wants to end the halt; the typed word follows."""


class DrillRequested(ToApp):
    """The person asks for a drill by its name, with an empty one for the page of the present one.

    `ends`: for the end of the present one.
    """

    def __init__(self, name: str = "", *, ends: bool = False) -> None:
        super().__init__()
        self.name = name
        self.ends = ends


class TourRequested(ToApp):
    """The person wants the tour, or with `ends` its end."""

    def __init__(self, *, ends: bool = False) -> None:
        super().__init__()
        self.ends = ends


class ChartsRequested(ToApp):
    """The person wants the charts; `name` is the first one, empty for the last one seen."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.chart_name = name


class ReplayRequested(ToApp):
    """The person wants the desk of a typed time; empty: the replay, or the present again."""

    def __init__(self, typed: str = "") -> None:
        super().__init__()
        self.typed = typed


class ThemeTried(ToApp):
    """Preview a theme; None shows the stored theme again."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name
