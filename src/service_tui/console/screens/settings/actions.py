"""What a person does with a setting: edit it, turn it, bring it back; asked where it loosens."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual.app import App
from textual.binding import BindingType

from service_tui.console.deliveries import (
    CHOSEN,
    PROTOCOL,
    QUIET,
    Protocol,
    Way,
    choices_of,
    ways_text,
)
from service_tui.console.forms.about import About
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.rail_draft import RailChange
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, key_named
from service_tui.console.messages import KeyChosen, Said
from service_tui.console.parts.base import DeskScreen
from service_tui.console.rail_text import figure, source_words
from service_tui.console.screens.settings.defaults_form import DefaultsForm
from service_tui.console.screens.settings.notify_forms import Hours, QuietForm, WaysForm
from service_tui.console.screens.settings.rail_form import RailForm
from service_tui.console.screens.settings.rows import (
    ABOUT,
    AUTO,
    COOLDOWNS,
    PACE,
    PAUSED,
    PLAN,
    PRIVACY,
    PROTOCOL_ROW,
    QUIET_ROW,
    STOP,
    TARGET,
    THEME_ROW,
    SettingRow,
)
from service_tui.console.screens.settings.text import about_text
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.rails import SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed
from service_tui.desk.slices.rails import RULES, RailView, RiskDefaults
from service_tui.desk.slices.records import NoticeKind
from service_tui.terms import Plan

Part = TypeVar("Part")

SPEEDS: Final = (0, 1, 10, 60)
"""Paces of the offline world. Source: desk.commands, SetSpeed."""

_READ_ONLY: Final = "this desk is read-only: it changes nothing"
_ON_SERVICE: Final = frozenset({STOP, TARGET, AUTO, PAUSED, PLAN})
_UNKNOWN: Final = "not known yet: wait for the first answer"


class SettingActs(DeskScreen[Part], Generic[Part]):
    """Tightening asks nothing; what loosens, or starts something, is asked first."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("settings")]

    _undone: tuple[Command, ...] = ()
    _undone_words: str = ""

    def row_in_focus(self) -> SettingRow | None:
        """The row that the cursor is on."""
        raise NotImplementedError

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action == "undo" and not self._undone:
            return "nothing was changed here"
        return super().why_not(action)

    def action_edit(self) -> None:
        """Change the setting that is highlighted."""
        row = self.row_in_focus()
        if row is None:
            return
        is_order = row.rail is not None or row.key in _ON_SERVICE
        if is_order and self.state.service.read_only:
            self.post_message(Said(_READ_ONLY, "warn"))
        elif row.rail is not None:
            self._edit_rail(row.rail)
        elif row.kind is not None:
            self._edit_ways(row.kind)
        else:
            self._doings()[row.key]()

    def action_undo(self) -> None:
        """Bring back what was changed last, here, since the console was opened."""
        if not self._undone:
            self.post_message(Said("nothing was changed here", "warn"))
            return
        commands, words = self._undone, self._undone_words
        self._undone = ()
        for command in commands:
            self.give(command)
        self.post_message(Said(f"brought back: {words}"))

    def _doings(self) -> dict[str, Callable[[], None]]:
        return {
            STOP: self._edit_defaults,
            TARGET: self._edit_defaults,
            AUTO: self._turn_auto,
            PAUSED: self._turn_paused,
            PLAN: self._edit_plan,
            COOLDOWNS: self._tell_cooldowns,
            QUIET_ROW: self._edit_quiet,
            PROTOCOL_ROW: self._turn_protocol,
            THEME_ROW: lambda: self._press("app.themes"),
            PACE: self._next_pace,
            PRIVACY: lambda: self._press("app.privacy"),
            ABOUT: self._tell_about,
        }

    # -- limits -------------------------------------------------------------------------------

    def _edit_rail(self, view: RailView) -> None:
        rule = RULES[view.rail]
        if not (rule.on_service or rule.on_desk):
            self.post_message(Said("this limit is fixed", "warn"))
            return
        self._app().push_screen(RailForm(self.state, self.now, view), self._rail_written)

    def _rail_written(self, change: RailChange | None) -> None:
        if change is None:
            return

        def order(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._order(change.commands, change.undone, RULES[change.before.rail].name)

        if change.is_loosened:
            question = Question("Loosen this limit?", self._loosened(change), "loosen")
            self._app().push_screen(Confirm(question), order)
        else:
            order(confirmed=True)

    def _loosened(self, change: RailChange) -> Text:
        before, after, masked = change.before, change.after, is_private(self.state)
        rail = before.rail
        return Text.assemble(
            (RULES[rail].name, "bold"),
            "\n\n",
            ("now   ", "muted"), figure(rail, before.limit, masked=masked),
            (f"  {source_words(before)}\n", "muted"),
            ("then  ", "muted"), figure(rail, after.limit, masked=masked),
            (f"  {source_words(after)}\n\n", "muted"),
            "More may be lost then before anything holds it back. It holds from the next order on; "
            f"{cap('settings.undo')} brings the old figure back.",
        )  # fmt: skip

    # -- risk ---------------------------------------------------------------------------------

    def _defaults(self) -> RiskDefaults | None:
        if self.state.rails is None:
            self.post_message(Said(_UNKNOWN, "warn"))
            return None
        return self.state.rails.defaults

    def _edit_defaults(self) -> None:
        before = self._defaults()
        if before is None:
            return

        def written(wanted: RiskDefaults | None) -> None:
            if wanted is not None:
                self._ask_defaults(before, wanted)

        self._app().push_screen(DefaultsForm(self.state, self.now, before), written)

    def _turn_auto(self) -> None:
        before = self._defaults()
        if before is not None:
            stop, target = before.stop_loss_pct, before.take_profit_pct
            wanted = RiskDefaults(stop, target, auto_monitor=not before.auto_monitor)
            self._ask_defaults(before, wanted)

    def _ask_defaults(self, before: RiskDefaults, wanted: RiskDefaults) -> None:
        """Ask where buys to come, or positions held, are guarded less than before."""

        def order(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                # Monitors that turning it off removed do not come back by themselves.
                self._order((SetDefaults(wanted),), (SetDefaults(before),), "the risk defaults")

        why = _less_guarded(before, wanted)
        if not why:
            order(confirmed=True)
            return
        body = Text(
            f"{why}\n\n{cap('settings.undo')} brings the defaults back; monitors that were "
            "removed stay gone."
        )
        self._app().push_screen(Confirm(Question("Guard less?", body, "guard less")), order)

    # -- trading ------------------------------------------------------------------------------

    def _turn_paused(self) -> None:
        limits = self.state.limits
        if limits is None:
            self.post_message(Said(_UNKNOWN, "warn"))
        elif self.state.halted_since is not None:
            self.post_message(
                Said(
                    f"halted: {cap('app.halt')} shows it, {cap('halt.resume')} and a typed "
                    "word there resume",
                    "warn",
                )
            )
        elif not limits.paused:
            self._order((SetPaused(paused=True),), (), "")
        else:
            body = Text(
                "The service takes buys of this desk's agent again, by hand, by skills and by "
                "mirrors, within its limits. A halt, or an operator's pause, stays."
            )

            def resume(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
                if confirmed:
                    self.give(SetPaused(paused=False))

            self._app().push_screen(Confirm(Question("Resume trading?", body, "resume")), resume)

    def _edit_plan(self) -> None:
        account = self.state.account
        if account is None or not self.state.service.embedded:
            self.post_message(Said("the plan is the service's: it is not changed from here"))
            return

        def chosen(plan: Plan | None) -> None:
            if plan is not None and plan is not account.plan:
                orders = [
                    Govern(AgentAct.PLAN, account.agent_id, account.name, one)
                    for one in (plan, account.plan)
                ]
                self._order(orders[:1], orders[1:], "the plan")

        self._app().push_screen(ChoosePlan("this desk's agent", account.plan), chosen)

    def _tell_cooldowns(self) -> None:
        known = () if self.state.rails is None else self.state.rails.cooldowns
        waiting = [one for one in known if one.until > self.now]
        words = "no market waits now" if not waiting else f"{len(waiting)} wait, longest first"
        self.post_message(Said(f"cooldowns end by themselves: {words}"))

    # -- notices ------------------------------------------------------------------------------

    def _edit_ways(self, kind: NoticeKind) -> None:
        before = choices_of(self.state.preferences).ways_of(kind)

        def chosen(ways: frozenset[Way] | None) -> None:
            if ways is not None and ways != before:
                self._prefer(CHOSEN + kind.value, ways_text(ways), ways_text(before))

        self._app().push_screen(WaysForm(self.state, self.now, kind, before), chosen)

    def _edit_quiet(self) -> None:
        before = choices_of(self.state.preferences).quiet

        def written(hours: Hours | None) -> None:
            if hours is not None and hours.quiet != before:
                words = ["" if one is None else one.in_words() for one in (hours.quiet, before)]
                self._prefer(QUIET, words[0], words[1])

        self._app().push_screen(QuietForm(self.state, self.now, before), written)

    def _turn_protocol(self) -> None:
        before = choices_of(self.state.preferences).protocol
        other = next(one for one in Protocol if one is not before)
        self._prefer(PROTOCOL, other.value, before.value)

    # -- the desk -----------------------------------------------------------------------------

    def _next_pace(self) -> None:
        speed = None if self.state.world is None else self.state.world.speed
        place = SPEEDS.index(speed) if speed in SPEEDS else 0
        self.give(SetSpeed(SPEEDS[(place + 1) % len(SPEEDS)]))

    def _tell_about(self) -> None:
        tell = partial(about_text, around=self.surroundings)
        self._app().push_screen(About("This desk", tell, self.state, self.now))

    # -- how ----------------------------------------------------------------------------------

    def _press(self, ident: str) -> None:
        self.post_message(KeyChosen(key_named(ident)))

    def _prefer(self, name: str, value: str, before: str) -> None:
        self._order((SetPreference(name, value),), (SetPreference(name, before),), "that choice")

    def _order(self, commands: Sequence[Command], undone: Sequence[Command], words: str) -> None:
        for command in commands:
            self.give(command)
        if undone:
            self._undone, self._undone_words = tuple(undone), words

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app


def _less_guarded(before: RiskDefaults, wanted: RiskDefaults) -> str:
    """What is guarded less than before, in a sentence; empty where nothing is."""
    if before.auto_monitor and not wanted.auto_monitor:
        return (
            "Buys to come get no monitor, and every automatic monitor is removed now: those "
            "positions are not sold at a stop any more. Monitors set by hand stay."
        )
    old, new = before.stop_loss_pct, wanted.stop_loss_pct
    if old is not None and (new is None or new > old):
        far = (
            "without a stop" if new is None else f"with a stop {new:.1%} down instead of {old:.1%}"
        )
        return f"Buys to come are held {far}."
    return ""
