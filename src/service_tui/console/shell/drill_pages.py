"""The pages of a drill over the console, and the way from a console into a drill."""

from textual import on

from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.messages import DrillRequested
from service_tui.console.shell.tour_guide import TourGuide
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.slices.drill import DrillPhase, DrillView


class DrillPages(TourGuide):
    """Shows the brief before a drill and the result after it."""

    next_drill = ""
    """The drill that is played once this console has ended; empty for none."""

    _result_shown = False

    def show_drill(self) -> None:
        """Show the page of the present drill: its brief, or its result."""
        drill = self.desk_state.drill
        if drill is None:
            return
        from service_tui.console.forms.drill import DrillBrief, DrillEnd  # noqa: PLC0415 - not at first

        if drill.result is not None:
            page = DrillEnd(drill, drill.result, masked=is_private(self.desk_state))
            self.push_screen(page)
        elif drill.phase is DrillPhase.BRIEFING:
            brief = DrillBrief(drill)
            self.push_screen(brief, lambda _: self._brief_read(brief.has_begun))
        else:
            self.show_toast(f"{cap('app.command')} drill end stops the drill, without a score")

    def _brief_read(self, has_begun: bool) -> None:  # noqa: FBT001 - a dialog's result
        if has_begun:
            self.give(BeginDrill())
        else:
            self.show_toast(f"the clock stands still; {cap('app.command')} drill shows the brief")

    def follow_drill(self, drill: DrillView | None) -> None:
        """Show the result of a drill, once it is there."""
        if drill is not None and drill.result is not None and not self._result_shown:
            self._result_shown = True
            self.show_drill()

    @on(DrillRequested)
    async def _drill_requested(self, message: DrillRequested) -> None:
        if message.ends:
            self.give(EndDrill())
        elif not message.name:
            self.show_drill()
        else:
            self.next_drill = message.name
            await self.run_action("quit")
