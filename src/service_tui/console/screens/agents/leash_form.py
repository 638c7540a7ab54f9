"""How free an agent is, or one of its skills: what it may do, from which size it asks, its day."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.monitor_draft import read_number
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.keys import bindings_of
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.agents import SetLeash
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.fleet import LeashView
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros, Timestamp, decimal

MONEY_MAX: Final = 1_000_000
WAIT_MIN_S: Final = 10
WAIT_MAX_S: Final = 86_400
WAIT_S: Final = 300

_MODES: Final = (LeashMode.OBSERVE, LeashMode.ASK, LeashMode.AUTO, None)
_WORDS: Final = tuple("free" if mode is None else mode.value for mode in _MODES)
_MEANINGS: Final = {
    LeashMode.OBSERVE: "It places no orders at all: it only looks.",
    LeashMode.ASK: "Each buy above the threshold waits for you, and is refused at its deadline.",
    LeashMode.AUTO: "It buys by itself, within its budget and every limit.",
    None: "No leash: it buys by itself within every limit, without a budget.",
}
_SKILL_ONLY: Final = " It binds only trades that name the skill; the agent's own binds all."
_FREEDOM: Final = {LeashMode.OBSERVE: 0, LeashMode.ASK: 1, LeashMode.AUTO: 2, None: 3}


class LeashForm(Form[SetLeash]):
    """Puts an agent or a skill on a leash; more freedom is asked for twice."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("leash_form")]

    heading: ClassVar[str] = "How free may it be?"
    hint: ClassVar[str] = "{leash.whose} whose  {leash.mode} leash  enter sets it"

    def __init__(
        self,
        state: DeskState,
        now: Timestamp,
        agent: AgentView,
        *,
        skill_slug: str = "",
        budget_first: bool = False,
    ) -> None:
        super().__init__(state, now)
        self._agent = agent
        self._whose = whose_of(state, agent)
        self._place = self._whose.index(skill_slug) if skill_slug in self._whose else 0
        self._mode = self._known_mode()
        self._budget_first = budget_first

    def parts(self) -> Iterator[Widget]:
        """Whose leash, which one, and its figures."""
        yield Words(id="form-question")
        yield Choice(id="leash-whose")
        yield Choice(id="leash-mode")
        threshold, budget, wait = self._figures()
        lines = [
            ("leash-threshold", "asks above", threshold),
            ("leash-budget", "a day", budget),
            ("leash-wait", "waits, s", wait),
        ]
        if self._budget_first:
            lines.insert(0, lines.pop(1))
        for name, label, given in lines:
            yield Horizontal(
                Words(label, classes="label"),
                PlainInput(given, compact=True, max_length=12, id=name, classes="number"),
                classes="line",
            )
        yield Words(id="form-preview")

    def judged(self) -> SetLeash | str:
        """The leash that stands there, or what is against it."""
        slug = self._whose[self._place]
        if self._mode is None:
            return SetLeash(self._agent.agent_id, self._agent.name, None, skill_slug=slug)
        try:
            threshold = read_number(self.typed("leash-threshold"), "threshold")
            wait = read_number(self.typed("leash-wait"), "seconds")
            typed = self.typed("leash-budget").strip()
            budget = read_number(typed, "budget") if typed else None
        except DraftError as refused:
            return str(refused)
        wrong = _wrong(threshold, budget, wait)
        if wrong:
            return wrong
        return SetLeash(
            self._agent.agent_id,
            self._agent.name,
            self._mode,
            threshold=Micros(round(threshold * ONE)),
            budget=None if budget is None else Micros(round(budget * ONE)),
            wait_s=int(wait),
            skill_slug=slug,
        )

    def objection(self, result: SetLeash) -> str:
        """More freedom, or more money, is seen twice."""
        known = self._known()
        before = None if known is None else known.mode
        if not leashes_known(self.state):
            return "The leash of now is not known yet. Enter once more if this one is meant."
        if _FREEDOM[result.mode] > _FREEDOM[before]:
            return "It may then do more by itself. Enter once more if that is meant."
        budget = None if known is None or result.mode is None else known.budget
        if budget is not None and (result.budget is None or result.budget > budget):
            return "It may then spend more of a day. Enter once more if that is meant."
        return ""

    def preview(self, result: SetLeash | None) -> None:
        """Whose leash it is, what stands now, and what the new one means."""
        known = self._known()
        none = "free" if leashes_known(self.state) else "not known yet, how free"
        now = none if known is None else known.mode.value
        spent = "" if known is None else f", {decimal(known.spent):,.2f} spent today"
        head = Text.assemble(formats.plain(self._agent.name, 60), f": {now} now{spent}.")
        self.query_one("#form-question", Words).tell(head)
        names = tuple(slug or "all it does" for slug in self._whose)
        self.query_one("#leash-whose", Choice).show(names, self._place)
        self.query_one("#leash-mode", Choice).show(_WORDS, _MODES.index(self._mode))
        words = "" if result is None else f"{result.in_words()}. "
        reach = _SKILL_ONLY if self._whose[self._place] else ""
        self.query_one("#form-preview", Words).tell(
            Text(f"{words}{_MEANINGS[self._mode]}{reach}", "muted")
        )

    def action_whose(self) -> None:
        """Take the leash of the next skill, or of the agent itself."""
        self._take((self._place + 1) % len(self._whose))

    def action_mode(self) -> None:
        """Take the next leash."""
        self._mode = _MODES[(_MODES.index(self._mode) + 1) % len(_MODES)]
        self.refresh_form()

    def _take(self, place: int) -> None:
        self._place = place
        self._mode = self._known_mode()
        names = ("leash-threshold", "leash-budget", "leash-wait")
        for name, given in zip(names, self._figures(), strict=True):
            self.write(name, given)
        self.refresh_form()

    def _known(self) -> LeashView | None:
        return self.state.supervision.leash_of(self._agent.agent_id, self._whose[self._place])

    def _known_mode(self) -> LeashMode | None:
        known = self._known()
        return LeashMode.ASK if known is None else known.mode

    def _figures(self) -> tuple[str, str, str]:
        """Threshold, budget and deadline as they stand."""
        known = self._known()
        if known is None:
            return "0", "", str(WAIT_S)
        budget = "" if known.budget is None else f"{decimal(known.budget):.2f}"
        return f"{decimal(known.threshold):.2f}", budget, str(known.wait_s)

    @on(Choice.Asked)
    def _choice_asked(self, event: Choice.Asked) -> None:
        event.stop()
        if event.choice.id == "leash-whose":
            self._take(event.index)
        else:
            self._mode = _MODES[event.index]
            self.refresh_form()


def _wrong(threshold: float, budget: float | None, wait: float) -> str:
    """What is against these figures; empty when nothing is."""
    if not 0 <= threshold <= MONEY_MAX:
        return "the threshold is at least 0"
    if budget is not None and not 0 < budget <= MONEY_MAX:
        return "the budget is above 0; empty for none"
    if not WAIT_MIN_S <= wait <= WAIT_MAX_S or wait != int(wait):
        return "seconds: a whole number from 10 to 86,400"
    return ""


def whose_of(state: DeskState, agent: AgentView) -> tuple[str, ...]:
    """The agent itself, as the empty word, and every skill that it runs, ran or has a leash for."""
    view = state.supervision
    runs = [run.skill_slug for run in view.runs_of(agent.agent_id)]
    leashes = [one.skill_slug for one in view.leashes if one.agent_id == agent.agent_id]
    return tuple(dict.fromkeys(("", *runs, *leashes)))
