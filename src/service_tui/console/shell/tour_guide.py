"""The tour in the console: its step stands in the line below the head until it is done."""

from collections.abc import Callable

from service_tui.console.keys import cap, with_keys
from service_tui.console.messages import TourRequested
from service_tui.console.shell.views import Views
from service_tui.console.tour import DONE, STEPS, Tour, TourView
from service_tui.console.widgets.banner import LastingCondition
from service_tui.desk.state import DeskState

NEEDS_PLAY_MONEY = "the tour needs the embedded service and its play money"


class TourGuide:
    """Shows each step of the tour, and goes on once the desk shows that it is done.

    Args:
        app: over whose screens it leads.
        is_recorded: whether there is a past that can be shown.
    """

    def __init__(self, app: Views, is_recorded: Callable[[], bool]) -> None:
        self._app = app
        self.tour: Tour | None = None
        self._is_recorded = is_recorded
        self._has_replayed = False
        self._led_to = ""
        """The row on which a step has put the cursor, once; empty for none."""

    def begin_or_end(self, message: TourRequested) -> None:
        """Do what a command requested."""
        if message.ends:
            had_tour, self.tour = self.tour is not None, None
            self._app.show_toast("tour ended" if had_tour else "no tour is under way")
        else:
            self.begin()
        self._app.show_state()

    def begin(self) -> None:
        """Begin at the first step; a toast where there is no play money."""
        app = self._app
        if not app.desk_state.service.embedded:
            app.show_toast(NEEDS_PLAY_MONEY, "warn")
            return
        self.tour = Tour(app.desk_state)
        app.show_toast(f"a tour with play money; {cap('app.command')} tour end leaves")

    def follow(self, state: DeskState) -> None:
        """Go to the next step, once the present one is done."""
        if self.tour is None:
            return
        advanced = self.tour.advanced(self._view(self.tour, state))
        if advanced is not self.tour:
            self.tour, self._has_replayed = advanced, False
        if self.tour.is_over:
            self.tour = None
            self._app.show_toast(with_keys(DONE), "good")

    def lead(self) -> None:
        """Put the cursor on the row that the present step is about, once the screen has it."""
        app, state = self._app, self._app.desk_state
        if state.rewound_to is not None:
            self._has_replayed = True
        elif self.tour is not None and len(app.screen_stack) == 1:
            row = self.tour.row(self._view(self.tour, state), self._led_to)
            if row and row != self._led_to:
                app.front.focus_row(row)
            self._led_to = row

    def conditions(self, state: DeskState) -> tuple[LastingCondition, ...]:
        """The present step as a line; empty without a tour."""
        if self.tour is None:
            return ()
        text = self.tour.text(self._view(self.tour, state))
        word = f"tour {self.tour.place + 1}/{len(STEPS)}"
        return (LastingCondition("accent", word, with_keys(text)),)

    def _view(self, tour: Tour, state: DeskState) -> TourView:
        app = self._app
        return TourView(
            tour.start,
            state,
            app.front.name_in_keys,
            has_dialog=len(app.screen_stack) > 1,
            has_replayed=self._has_replayed,
            is_recorded=self._is_recorded(),
        )
