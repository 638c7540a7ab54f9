"""The pages of a drill over the console, and the way from a console into a drill."""

from service_tui.console.actions import rewound_reason
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.messages import DrillRequested
from service_tui.console.shell.views import Views
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.slices.drill import DrillPhase, DrillView


class DrillPages:
    """Shows the brief before a drill and the result after it.

    Args:
        app: over whose screens they are shown.
    """

    def __init__(self, app: Views) -> None:
        self._app = app
        self.next_name = ""
        """The drill that is played once this console has ended; empty for none."""
        self._result_shown = False

    def show(self) -> None:
        """Show the page of the present drill: its brief, or its result."""
        app, drill = self._app, self._app.desk_state.drill
        if drill is None:
            return
        from service_tui.console.forms.drill import DrillBrief, DrillEnd  # noqa: PLC0415 - not at first

        if drill.result is not None:
            page = DrillEnd(drill, drill.result, masked=is_private(app.desk_state))
            app.push_screen(page)
        elif drill.phase is DrillPhase.BRIEFING:
            brief = DrillBrief(drill)
            app.push_screen(brief, lambda _: self._brief_read(brief.has_begun))
        else:
            app.show_toast(f"{cap('app.command')} drill end stops the drill, without a score")

    def _brief_read(self, has_begun: bool) -> None:  # noqa: FBT001 - a dialog's result
        if has_begun:
            self._app.give(BeginDrill())
        else:
            brief = f"the clock stands still; {cap('app.command')} drill shows the brief"
            self._app.show_toast(brief)

    def follow(self, drill: DrillView | None) -> None:
        """Show the result of a drill, once it is there."""
        if drill is not None and drill.result is not None and not self._result_shown:
            self._result_shown = True
            self.show()

    async def take_request(self, message: DrillRequested) -> None:
        """Do what a command requested; nothing while a recorded state is in front."""
        why = rewound_reason(self._app.desk_state, "")
        if why:
            self._app.show_toast(why, "warn")
        elif message.ends:
            self._app.give(EndDrill())
        elif not message.name:
            self.show()
        else:
            self.next_name = message.name
            await self._app.run_action("quit")
