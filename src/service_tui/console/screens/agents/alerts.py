"""The alerts on an agent: their list, and the form that sets one."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.actions import read_only_reason
from service_tui.console.fields import Field, FieldError, Number, figure_rule, number, parse_number
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.forms.leash_form import MONEY_MAX, subjects_of
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.roles import role_reason
from service_tui.console.screens.agents.detail import alert_line
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import RemoveAgentAlert, SetAgentAlert
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.supervision import AgentAlertView
from service_tui.desk.state import DeskState
from service_tui.terms import (
    AGENT_ALERT_MINUTES_MAX,
    AGENT_SILENT_MAX,
    AgentAlertAction,
    AgentAlertKind,
)
from service_tui.units import ONE, Micros, Timestamp

_NONE: Final = "No alerts on this agent.\n\n{agent_alerts.new} sets one."
_KEYS: Final = "\n{agent_alerts.new} sets another, {agent_alerts.remove} removes one"


class AgentAlertList(CursorList[None, AgentAlertView]):
    """The alerts on one agent."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("agent_alerts")]

    name_in_keys: ClassVar[str] = "agent_alerts"
    title_text: ClassVar[str] = "Alerts on the agent"

    def __init__(self, state: DeskState, now: Timestamp, agent: AgentView) -> None:
        self._agent = agent
        super().__init__(state, now)

    def rows(self) -> tuple[AgentAlertView, ...]:
        """The alerts, oldest first."""
        return self.state.supervision.alerts_of(self._agent.agent_id)

    def key_of(self, row: AgentAlertView) -> str:
        """The alert's id."""
        return row.alert_id

    def action_new(self) -> None:
        """Set an alert."""
        if self._may("agent_alerts.new"):
            form = AgentAlertForm(self.state, self.now, self._agent)
            self._app().push_screen(form, self._give)

    def action_remove(self) -> None:
        """Remove the alert under the cursor; it is set again in a moment."""
        row = self.row_or_toast() if self._may("agent_alerts.remove") else None
        if row is not None:
            self._give(RemoveAgentAlert(row.agent_id, row.agent_name, row.alert_id, row.describe()))

    def text(self) -> Text:
        """The alerts, or that there is none."""
        rows = self.rows()
        if not rows:
            return Text(with_keys(_NONE), "muted")
        view = ViewContext.of(self.state, self.now)
        lines = [
            Text.assemble(
                ("▌ " if row.alert_id == self.at else "  ", "accent"),
                alert_line(row, view),
            )
            for row in rows
        ]
        keys = Text(with_keys(_KEYS), "muted")
        return Text("\n").join([formats.plain(self._agent.name, 60), *lines, keys])

    def _may(self, ident: str) -> bool:
        why = read_only_reason(self.state) or role_reason(self.state, ident)
        if why:
            self.post_message(ToastMessage(why, "warn"))
        return not why

    def _give(self, order: SetAgentAlert | RemoveAgentAlert | None) -> None:
        if order is not None:
            self.post_message(CommandGiven(order))

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app


KINDS: Final = tuple(AgentAlertKind)
ACTIONS: Final = tuple(AgentAlertAction)
_KIND_NAMES: Final = ("silent", "drawdown", "day loss", "buys", "move", "refused")
_ACTION_NAMES: Final = ("tell", "pause agent", "halt all")

_RULES: Final[Mapping[AgentAlertKind, Number]] = {
    AgentAlertKind.SILENT: figure_rule(
        "limit", Micros(ONE), Micros(AGENT_SILENT_MAX * ONE), beyond="minutes: 1 to 1440"
    ),
    AgentAlertKind.DRAWDOWN: figure_rule(
        "limit", Micros(ONE // 10), Micros(100 * ONE), beyond="percent of the peak: 0.1 to 100"
    ),
    AgentAlertKind.DAY_LOSS: figure_rule("limit", Micros(1), MONEY_MAX, beyond="money: above 0"),
    AgentAlertKind.SPEND: figure_rule("limit", Micros(1), MONEY_MAX, beyond="money: above 0"),
    AgentAlertKind.MOVE: figure_rule(
        "limit", Micros(ONE // 10), Micros(100 * ONE), beyond="points: 0.1 to 100"
    ),
    AgentAlertKind.ERRORS: figure_rule(
        "limit", Micros(ONE), Micros(1_000 * ONE), beyond="refused orders: 1 to 1000"
    ),
}
_UNITS: Final = {
    AgentAlertKind.SILENT: "The agent makes no call for so many minutes.",
    AgentAlertKind.DRAWDOWN: "Its equity is so many percent below its peak.",
    AgentAlertKind.DAY_LOSS: "It lost so much $SIM since 00:00 UTC.",
    AgentAlertKind.SPEND: "It buys for so much money within the minutes.",
    AgentAlertKind.MOVE: "A market it holds moves so many points within the minutes.",
    AgentAlertKind.ERRORS: "So many of its orders are refused within the minutes.",
}
_WINDOW: Final = figure_rule(
    "minutes",
    Micros(ONE),
    Micros(AGENT_ALERT_MINUTES_MAX * ONE),
    beyond=f"minutes: 1 to {AGENT_ALERT_MINUTES_MAX}",
)

_LIMIT_UNITS: Final = {
    AgentAlertKind.SILENT: "minutes",
    AgentAlertKind.DRAWDOWN: "% of the peak",
    AgentAlertKind.DAY_LOSS: "$SIM",
    AgentAlertKind.SPEND: "of money",
    AgentAlertKind.MOVE: "points",
    AgentAlertKind.ERRORS: "refused orders",
}

LIMIT: Final = Field("agent-alert-limit", "limit", str, _LIMIT_UNITS[AgentAlertKind.SILENT])
MINUTES: Final = Field("agent-alert-minutes", "within", number(_WINDOW), "minutes")


def _is_same(known: AgentAlertView, wanted: SetAgentAlert) -> bool:
    """Whether an alert does already what another would do."""
    return (known.kind, known.limit, known.minutes, known.action, known.skill_slug) == (
        wanted.watches,
        wanted.limit,
        wanted.minutes,
        wanted.action,
        wanted.skill_slug,
    )


class AgentAlertForm(Form[SetAgentAlert]):
    """Sets an alert on one agent."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("agent_alert_form")]

    heading: ClassVar[str] = "Alert on an agent"
    hint: ClassVar[str] = "{agent_alert.kind} kind  {agent_alert.action} action  enter sets"
    body = (
        "form-question",
        OptionsRow("agent-alert-kind"),
        LIMIT,
        MINUTES,
        OptionsRow("agent-alert-skill"),
        OptionsRow("agent-alert-action"),
        "form-preview",
    )

    def __init__(self, state: DeskState, now: Timestamp, agent: AgentView) -> None:
        super().__init__(state, now)
        self._agent = agent
        self._kind = self._action = self._skill = 0
        self._subjects = subjects_of(state, agent)
        self.first = {LIMIT.name: "30", MINUTES.name: "10"}

    def validate(self) -> SetAgentAlert:
        """The typed alert."""
        kind = KINDS[self._kind]
        limit = parse_number(self.read(LIMIT), _RULES[kind])
        limit = Micros(limit // kind.typed_per_limit)
        if kind is AgentAlertKind.ERRORS and limit % ONE:
            raise FieldError("refused orders: a whole number")
        action = ACTIONS[self._action]
        if action is AgentAlertAction.HALT and (why := role_reason(self.state, "app.halt")):
            raise FieldError(why)
        is_of_skill = kind is AgentAlertKind.ERRORS
        result = SetAgentAlert(
            self._agent.agent_id,
            self._agent.name,
            kind,
            limit,
            self.read(MINUTES) // ONE if kind.has_window else 0,
            action,
            self._subjects[self._skill] if is_of_skill else "",
        )
        if any(_is_same(one, result) for one in self.state.supervision.alerts_of(result.agent_id)):
            raise FieldError("This alert is set already")
        return result

    def refresh_form(self) -> None:
        """As everywhere; the unit is that of the kind, and minutes stand where it counts them."""
        kind = KINDS[self._kind]
        unit = self.query_one(f"#{LIMIT.name}-line .unit", TextBlock)
        unit.show_text(_LIMIT_UNITS[kind])
        self.query_one(f"#{MINUTES.name}-line").display = kind.has_window
        super().refresh_form()

    def describe(self, result: SetAgentAlert | None) -> Mapping[str, Shown]:
        """Whose alert it is, what the limit counts, and the meaning of it all."""
        kind = KINDS[self._kind]
        again = "" if result is None else f"{result.describe()}. "
        whose = tuple(slug or "whole agent" for slug in self._subjects)
        return {
            "form-question": Text.assemble(formats.plain(self._agent.name, 60), ": ", _UNITS[kind]),
            "agent-alert-kind": OptionsState(_KIND_NAMES, self._kind),
            "agent-alert-skill": OptionsState(whose, self._skill),
            "agent-alert-action": OptionsState(_ACTION_NAMES, self._action),
            "form-preview": Text(f"{again}Fires once, and again after it came back.", "muted"),
        }

    def choose(self, name: str, index: int) -> None:
        """Select a kind, a skill or an action."""
        match name:
            case "agent-alert-kind":
                self._kind = index
            case "agent-alert-skill":
                self._skill = index
            case _:
                self._action = index

    def action_kind(self) -> None:
        """Select the next kind."""
        self._kind = (self._kind + 1) % len(KINDS)
        self.refresh_form()

    def action_then(self) -> None:
        """Select the next action."""
        self._action = (self._action + 1) % len(ACTIONS)
        self.refresh_form()

    def action_skill(self) -> None:
        """Select the next skill, or the agent itself."""
        self._skill = (self._skill + 1) % len(self._subjects)
        self.refresh_form()
