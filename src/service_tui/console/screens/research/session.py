"""The session shown on the screen, and whether its pane shows the last backtest."""

from service_tui.console.screens.research.detail import session_text
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.research import ResearchView, SessionView
from service_tui.desk.state import DeskState


class SessionLine(TextBlock):
    """The line about the session in front. It keeps the operator's choices on the screen."""

    def __init__(self) -> None:
        super().__init__(id="research-session")
        self.selected_key = ""
        """Key of the chosen session; empty: the newest."""
        self.requested = 0
        """Number of the last requested backtest."""
        self.shows_backtest = False

    def session(self, research: ResearchView) -> SessionView | None:
        """The session in front: the one chosen, else the newest."""
        return research.session(self.selected_key) or next(iter(research.sessions), None)

    def show_session(self, state: DeskState) -> None:
        """Show the state of the session in front."""
        self.show_text(session_text(state, self.session(state.research)))
