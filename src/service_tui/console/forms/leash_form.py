"""The leash of an agent, or of one of its skills: mode, approval threshold, daily budget."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import (
    DECIMALS_MAX,
    Field,
    figure_rule,
    number,
    parse_number,
    seconds_rule,
    write_number,
)
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.keys import bindings_of
from service_tui.desk.commands.agents import SetLeash
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.supervision import LeashView
from service_tui.desk.state import DeskState
from service_tui.terms import LEASH_WAIT_MAX_S, LEASH_WAIT_MIN_S, LEASH_WAIT_S, LeashMode
from service_tui.units import ONE, Micros, Timestamp, decimal

MONEY_MAX: Final = Micros(1_000_000 * ONE)

_WAIT: Final = seconds_rule(LEASH_WAIT_MIN_S, LEASH_WAIT_MAX_S)
_THRESHOLD: Final = figure_rule("threshold", most=MONEY_MAX, beyond="threshold: 0 or more")
_BUDGET: Final = figure_rule(
    "budget", Micros(1), MONEY_MAX, beyond="budget: above 0; empty for none"
)


def _parse_budget(text: str) -> Micros | None:
    return parse_number(text, _BUDGET) if text.strip() else None


THRESHOLD: Final = Field("leash-threshold", "ask above $", number(_THRESHOLD))
BUDGET: Final = Field("leash-budget", "daily budget", _parse_budget)
WAIT: Final = Field("leash-wait", "timeout, s", number(_WAIT))

_MODES: Final = (LeashMode.OBSERVE, LeashMode.ASK, LeashMode.AUTO, None)
_MODE_NAMES: Final = tuple("free" if mode is None else mode.value for mode in _MODES)
_MEANINGS: Final = {
    LeashMode.OBSERVE: "Places no orders.",
    LeashMode.ASK: "Buys above the threshold need your approval, and are refused at the timeout.",
    LeashMode.AUTO: "Buys without approval, within its budget and all limits.",
    None: "Free: buys without approval or budget, within all limits.",
}
_SKILL_ONLY: Final = " Applies to trades that name the skill; the agent's own apply to all."
_FREEDOM: Final = {LeashMode.OBSERVE: 0, LeashMode.ASK: 1, LeashMode.AUTO: 2, None: 3}


class LeashForm(Form[SetLeash]):
    """Sets the leash of an agent or a skill; more freedom needs a second enter."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("leash_form")]

    heading: ClassVar[str] = "Permissions"
    hint: ClassVar[str] = "{leash.whose} scope  {leash.mode} permission  enter sets"

    def __init__(
        self,
        state: DeskState,
        now: Timestamp,
        agent: AgentView,
        *,
        skill_slug: str = "",
        budget_first: bool = False,
        threshold: Micros | None = None,
    ) -> None:
        super().__init__(state, now)
        self._agent = agent
        self._subjects = subjects_of(state, agent)
        self._place = self._subjects.index(skill_slug) if skill_slug in self._subjects else 0
        self._mode = self._present_mode()
        self.first = self._figures()
        if threshold is not None:
            self._mode = LeashMode.ASK
            self.first = {**self.first, THRESHOLD.name: _money(threshold)}
        fields = (BUDGET, THRESHOLD, WAIT) if budget_first else (THRESHOLD, BUDGET, WAIT)
        choices = (OptionsRow("leash-whose"), OptionsRow("leash-mode"))
        self.body = ("form-question", *choices, *fields, "form-preview")

    def validate(self) -> SetLeash:
        """The typed leash."""
        slug = self._subjects[self._place]
        if self._mode is None:
            return SetLeash(self._agent.agent_id, self._agent.name, None, skill_slug=slug)
        return SetLeash(
            self._agent.agent_id,
            self._agent.name,
            self._mode,
            threshold=self.read(THRESHOLD),
            budget=self.read(BUDGET),
            wait_s=self.read(WAIT) // ONE,
            skill_slug=slug,
        )

    def objection(self, result: SetLeash) -> str:
        """More freedom, or more money, needs a second enter."""
        if not leashes_known(self.state):
            return "Current permissions not loaded yet. Enter again to set this one."
        return more_freedom(self._present(), result)

    def describe(self, result: SetLeash | None) -> Mapping[str, Shown]:
        """The subject of the leash, its present state, and the meaning of the new one."""
        known = self._present()
        none = "free" if leashes_known(self.state) else "permissions not loaded yet"
        now = none if known is None else known.mode.value
        spent = "" if known is None else f", {decimal(known.spent):,.2f} spent today"
        messages = "" if result is None else f"{result.describe()}. "
        reach = _SKILL_ONLY if self._subjects[self._place] else ""
        names = tuple(slug or "whole agent" for slug in self._subjects)
        return {
            "form-question": Text.assemble(
                formats.plain(self._agent.name, 60), f": {now} now{spent}."
            ),
            "leash-whose": OptionsState(names, self._place),
            "leash-mode": OptionsState(_MODE_NAMES, _MODES.index(self._mode)),
            "form-preview": Text(f"{messages}{_MEANINGS[self._mode]}{reach}", "muted"),
        }

    def choose(self, name: str, index: int) -> None:
        """Select a subject, or a mode."""
        if name == "leash-whose":
            self._take(index)
        else:
            self._mode = _MODES[index]

    def action_whose(self) -> None:
        """Select the next skill, or the agent itself."""
        self._take((self._place + 1) % len(self._subjects))
        self.refresh_form()

    def action_mode(self) -> None:
        """Select the next mode."""
        self._mode = _MODES[(_MODES.index(self._mode) + 1) % len(_MODES)]
        self.refresh_form()

    def _take(self, place: int) -> None:
        self._place = place
        self._mode = self._present_mode()
        for name, text in self._figures().items():
            self.write(name, text)

    def _present(self) -> LeashView | None:
        return self.state.supervision.leash_of(self._agent.agent_id, self._subjects[self._place])

    def _present_mode(self) -> LeashMode | None:
        known = self._present()
        return LeashMode.ASK if known is None else known.mode

    def _figures(self) -> dict[str, str]:
        """The present threshold, budget and deadline."""
        known = self._present()
        if known is None:
            return {THRESHOLD.name: "0", BUDGET.name: "", WAIT.name: str(LEASH_WAIT_S)}
        return {
            THRESHOLD.name: _money(known.threshold),
            BUDGET.name: "" if known.budget is None else _money(known.budget),
            WAIT.name: str(known.wait_s),
        }


def _money(amount: Micros) -> str:
    """With all decimals, so that an untouched figure stays as it is."""
    return write_number(amount, DECIMALS_MAX, at_least=2)


def subjects_of(state: DeskState, agent: AgentView) -> tuple[str, ...]:
    """The agent itself, as the empty word, and every skill with a run or a leash."""
    view = state.supervision
    runs = [run.skill_slug for run in view.runs_of(agent.agent_id)]
    leashes = [leashe.skill_slug for leashe in view.leashes if leashe.agent_id == agent.agent_id]
    return tuple(dict.fromkeys(("", *runs, *leashes)))


def more_freedom(known: LeashView | None, wanted: SetLeash) -> str:
    """What a new leash gives that the present one does not, to confirm; empty if nothing."""
    if _FREEDOM[wanted.mode] > _FREEDOM[None if known is None else known.mode]:
        return "This allows the agent more. Enter again to confirm."
    if known is None or wanted.mode is None:
        return ""
    needs_approval = known.mode is wanted.mode is LeashMode.ASK
    if needs_approval and wanted.threshold > known.threshold:
        return "This lets larger buys go without approval. Enter again to confirm."
    if known.budget is not None and (wanted.budget is None or wanted.budget > known.budget):
        return "This raises the daily budget. Enter again to confirm."
    return ""
