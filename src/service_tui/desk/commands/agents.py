"""Commands for leashes, approvals, skills, exports and the action log. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from service_tui.desk.command import Command
from service_tui.desk.slices.supervision import AFTER_FIRING, Pace, alert_text
from service_tui.terms import (
    MONEY_OF,
    THRESHOLDS,
    Action,
    AgentAlertAction,
    AgentAlertKind,
    LeashMode,
    LimitGroup,
    Plan,
    Side,
    Venue,
    agent_with,
    counted,
)
from service_tui.units import Micros, decimal


@dataclass(frozen=True, slots=True)
class SetLeash(Command):
    """Put an agent or one of its skills on a leash; without a `mode`, take the leash off."""

    kind: ClassVar[str] = "leash"

    agent_id: str
    name: str
    mode: LeashMode | None
    threshold: Micros = Micros(0)
    budget: Micros | None = None
    wait_s: int = 300
    skill_slug: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        who = agent_with(self.name, self.skill_slug)
        if self.mode is None:
            return f"permissions of {who}: free"
        budget = "" if self.budget is None else f", {decimal(self.budget):,.2f} a day"
        above = f" above {decimal(self.threshold):,.2f}" if self.mode is LeashMode.ASK else ""
        return f"permissions of {who}: {self.mode.value}{above}{budget}"


@dataclass(frozen=True, slots=True)
class SetAgentAlert(Command):
    """Set an alert on an agent: it notifies, pauses the agent, or halts all buys.

    `limit` is a millionth of what the kind counts, as in `AgentAlertView`.
    """

    kind: ClassVar[str] = "agent alert"

    agent_id: str
    name: str
    watches: AgentAlertKind
    limit: Micros
    minutes: int = 0
    action: AgentAlertAction = AgentAlertAction.TELL
    skill_slug: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        watched = alert_text(self.watches, self.limit, self.minutes, self.skill_slug)
        return f"alert on {self.name}: {watched}, then {AFTER_FIRING[self.action]}"


@dataclass(frozen=True, slots=True)
class RemoveAgentAlert(Command):
    """Remove an alert on an agent; what it has done stays."""

    kind: ClassVar[str] = "agent alert end"

    agent_id: str
    name: str
    alert_id: str
    what: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"remove the alert on {self.name}: {self.what}"


@dataclass(frozen=True, slots=True)
class ApproveTrade(Command):
    """Let a waiting trade go out, with `amount` at another size.

    `confirmed`: a person has seen it on the dialog for real money. `not_above` is the worst average
    price of a buy, `not_below` that of a sale; None for any.
    """

    kind: ClassVar[str] = "approve"

    pending_id: str
    what: str
    amount: Micros | None = None
    confirmed: bool = False
    not_above: float | None = None
    not_below: float | None = None

    def worst_price(self, action: Action, own: float | None) -> float | None:
        """The stricter of this bound and the order's `own` limit; None without either."""
        bound = self.not_above if action is Action.BUY else self.not_below
        if bound is None or own is None:
            return own if bound is None else bound
        return min(bound, own) if action is Action.BUY else max(bound, own)

    @property
    def bound_text(self) -> str:
        """The worst price, to follow the size; empty for any price."""
        above = "" if self.not_above is None else f" not above {self.not_above:g}"
        return above + ("" if self.not_below is None else f" not below {self.not_below:g}")

    def describe(self) -> str:
        """Describe the command in plain English."""
        size = "" if self.amount is None else f" for {decimal(self.amount):,.2f}"
        return f"approve{size}{self.bound_text}: {self.what}"


@dataclass(frozen=True, slots=True)
class RefuseTrade(Command):
    """Refuse a waiting trade; its agent receives the reason."""

    kind: ClassVar[str] = "refuse"

    pending_id: str
    what: str
    reason: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"refuse: {self.what}"


@dataclass(frozen=True, slots=True)
class SetExposureLimit(Command):
    """Limit what a group of holdings may cost, on one venue; None takes the limit off."""

    kind: ClassVar[str] = "limit"

    group: LimitGroup
    key: str
    name: str
    venue: Venue
    cost_max: Micros | None
    refuses: bool = True

    def describe(self) -> str:
        """Describe the command in plain English."""
        what = f"{self.group.value} {self.name}"
        if self.cost_max is None:
            return f"no limit on {what} in {MONEY_OF[self.venue]}"
        does = "" if self.refuses else ", warn only"
        return f"limit {what} to {decimal(self.cost_max):,.2f} {MONEY_OF[self.venue]}{does}"


@dataclass(frozen=True, slots=True)
class AgentSide:
    """One side of a market that an agent holds."""

    agent_id: str
    agent_name: str
    market_id: str
    side: Side
    venue: Venue


@dataclass(frozen=True, slots=True)
class SetHeldStops(Command):
    """Change the stop, the target or both of positions of any agents.

    `terms` are fractions by their names on the wire; None takes one off, one that is not named
    stays. A position of which nothing is left to watch is watched no more.
    """

    kind: ClassVar[str] = "monitor"

    sides: tuple[AgentSide, ...]
    terms: tuple[tuple[str, float | None], ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        one = self.sides[0]
        where = (
            f"{one.side.value.upper()} of {one.agent_name}"
            if len(self.sides) == 1
            else counted(len(self.sides), "position")
        )
        words = {kind.name: kind.label for kind in THRESHOLDS}
        parts = (
            f"{words[name]} {'off' if value is None else f'{100 * value:.4g}%'}"
            for name, value in self.terms
        )
        return f"monitor {where}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class WatchHoldings(Command):
    """Keep what all agents hold fresh, or no more. A reading."""

    kind: ClassVar[str] = "watch"

    is_wanted: bool

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "watch everything held" if self.is_wanted else "leave everything held"


@dataclass(frozen=True, slots=True)
class WatchAgent(Command):
    """Keep the trades and results of one agent fresh, and the log of a run. A reading."""

    kind: ClassVar[str] = "watch"

    agent_id: str = ""
    run_id: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"watch {self.agent_id}"


@dataclass(frozen=True, slots=True)
class PauseAll(Command):
    """Pause every agent but the person's own, or let all of them buy again."""

    kind: ClassVar[str] = "agents"

    paused: bool

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "pause all agents" if self.paused else "resume all agents"


_PACES: Final = {Pace.LOOP: "without pause", Pace.ONCE: "once"}


@dataclass(frozen=True, slots=True)
class StartSkill(Command):
    """Run a skill as an agent; without an `agent_id` as a new one of this name.

    `live`: it may trade, else it rehearses on paper. A `mode` puts the skill on a leash first.
    """

    kind: ClassVar[str] = "skill"

    skill_slug: str
    pace: Pace
    every_s: int = 60
    live: bool = True
    agent_id: str = ""
    name: str = ""
    mode: LeashMode | None = None
    threshold: Micros = Micros(0)
    budget: Micros | None = None
    granted: bool = False

    def describe(self) -> str:
        """Describe the command in plain English."""
        how = f"every {self.every_s} s" if self.pace is Pace.EVERY else _PACES[self.pace]
        return f"run {self.skill_slug} {how} as {self.name or 'a new agent'}"


@dataclass(frozen=True, slots=True)
class StopSkill(Command):
    """End a run: SIGTERM first, SIGKILL if it does not react."""

    kind: ClassVar[str] = "skill"

    run_id: str
    what: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"stop {self.what or self.run_id}"


@dataclass(frozen=True, slots=True)
class RestartSkill(Command):
    """End a run and start it again, with its restart count reset."""

    kind: ClassVar[str] = "skill"

    run_id: str
    what: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"restart {self.what or self.run_id}"


@dataclass(frozen=True, slots=True)
class DetachSkill(Command):
    """Let a run continue when the console ends, or undo that."""

    kind: ClassVar[str] = "skill"

    run_id: str
    detached: bool = True
    what: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"{'detach' if self.detached else 'keep'} {self.what or self.run_id}"


@dataclass(frozen=True, slots=True)
class InstallSkill(Command):
    """Install a skill from a folder or an archive on this machine."""

    kind: ClassVar[str] = "skill"

    path: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"install the skill in {self.path}"


@dataclass(frozen=True, slots=True)
class ExportData(Command):
    """Write what the desk knows as CSV, JSON and Markdown, usually below the data directory."""

    kind: ClassVar[str] = "export"

    folder: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"export to {self.folder}" if self.folder else "export"


@dataclass(frozen=True, slots=True)
class SaveOutput(Command):
    """Write lines of a skill's output into a file below the data directory."""

    kind: ClassVar[str] = "export"

    skill_slug: str
    lines: tuple[str, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"save the output of {self.skill_slug}"


@dataclass(frozen=True, slots=True)
class ReadLog(Command):
    """Read the action log, and follow its chain. A reading."""

    kind: ClassVar[str] = "log"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "verify the action log"


@dataclass(frozen=True, slots=True)
class ReadDay(Command):
    """Read what every agent traded today, for the report on the screen. A reading."""

    kind: ClassVar[str] = "day"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "load the day of all agents"


@dataclass(frozen=True, slots=True)
class NoteConfirmed(Command):
    """Log that the operator confirmed a dialog; `what` is the dialog's question."""

    kind: ClassVar[str] = "confirm"

    what: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return self.what


class AgentAct(StrEnum):
    """Governance actions on an agent; the values are verbs of a sentence."""

    CLAIM = "claim"
    CODE = "make a claim code for"
    NEW_KEY = "rotate the API key of"
    PAUSE = "pause"
    RESUME = "resume"
    SUSPEND = "suspend"
    READMIT = "readmit"
    RETIRE = "retire"
    PLAN = "change the plan of"


@dataclass(frozen=True, slots=True)
class Govern(Command):
    """Do something with an agent of the embedded service. `plan` counts for a change of plan.

    Without an `agent_id` the plan is that of new agents.
    """

    kind: ClassVar[str] = "agent"

    act: AgentAct
    agent_id: str = ""
    name: str = ""
    plan: Plan | None = None

    def describe(self) -> str:
        """Describe the command in plain English."""
        tail = f" to {self.plan.value}" if self.plan is not None else ""
        return f"{self.act.value} {self.name or 'new agents'}{tail}"
