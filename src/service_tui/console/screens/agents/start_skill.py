"""Starting a skill: which, as whom, how often, how free, and for how much a day."""

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
from service_tui.desk.commands.agents import StartSkill
from service_tui.desk.slices.fleet import Pace, SkillView
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros, Timestamp

EVERY_MAX_S: Final = 86_400
MONEY_MAX: Final = 1_000_000

_PACES: Final = (Pace.LOOP, Pace.EVERY, Pace.ONCE)
_MODES: Final = (LeashMode.ASK, LeashMode.OBSERVE, LeashMode.AUTO)
_MEANINGS: Final = {
    LeashMode.ASK: "Each buy waits for you until its deadline.",
    LeashMode.OBSERVE: "It trades on paper only; nothing of it reaches the service.",
    LeashMode.AUTO: "It buys by itself, within its budget and every limit.",
}


class StartSkillForm(Form[StartSkill]):
    """Starts a skill as an agent of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("start_skill")]

    heading: ClassVar[str] = "Run a skill"
    hint: ClassVar[str] = "{start.skill} skill  {start.pace} pace  {start.mode} leash  enter starts"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._skill = 0
        self._slug = ""
        self._pace = Pace.LOOP
        self._mode = LeashMode.ASK
        self.renew()

    def parts(self) -> Iterator[Widget]:
        """The skill, how often, how free, and the figures."""
        yield Words(id="form-question")
        yield Choice(id="skill-pace")
        yield Choice(id="skill-mode")
        for name, label, given in (
            ("skill-name", "agent", ""),
            ("skill-every", "every, s", "60"),
            ("skill-threshold", "asks above", "0"),
            ("skill-budget", "a day", "20"),
        ):
            yield Horizontal(
                Words(label, classes="label"),
                PlainInput(given, compact=True, max_length=40, id=name),
                classes="line",
            )
        yield Words(id="form-preview")

    def judged(self) -> StartSkill | str:
        """The order that stands there, or what is against it."""
        skill = self._chosen()
        if skill is None or skill.problem:
            return "no skill is installed" if skill is None else skill.problem
        try:
            every = read_number(self.typed("skill-every"), "seconds")
            threshold = read_number(self.typed("skill-threshold"), "threshold")
            budget = read_number(self.typed("skill-budget"), "budget")
        except DraftError as refused:
            return str(refused)
        if not 1 <= every <= EVERY_MAX_S or every != int(every):
            return "seconds: a whole number from 1 to 86,400"
        if not 0 <= threshold <= MONEY_MAX or not 0 < budget <= MONEY_MAX:
            return "the budget is above 0, the threshold at least 0"
        return StartSkill(
            skill.slug,
            self._pace,
            every_s=int(every),
            live=self._mode is not LeashMode.OBSERVE,
            name=self.typed("skill-name").strip() or skill.slug,
            mode=self._mode,
            threshold=Micros(round(threshold * ONE)),
            budget=Micros(round(budget * ONE)),
        )

    def preview(self, result: StartSkill | None) -> None:
        """What the skill says of itself, and what the leash means."""
        skill = self._chosen()
        if skill is not None:
            count = len(self.state.supervision.skills)
            head = f"{skill.slug} ({self._skill + 1} of {count}): {skill.description}"
            self.query_one("#form-question", Words).tell(formats.plain(head, 300))
        paces = tuple(pace.value for pace in _PACES)
        self.query_one("#skill-pace", Choice).show(paces, _PACES.index(self._pace))
        modes = tuple(mode.value for mode in _MODES)
        self.query_one("#skill-mode", Choice).show(modes, _MODES.index(self._mode))
        words = "" if result is None else f"{result.in_words()}. "
        told = Text(f"{words}{_MEANINGS[self._mode]}", "muted")
        self.query_one("#form-preview", Words).tell(told)

    def action_skill(self) -> None:
        """Take the next skill."""
        self._skill = (self._skill + 1) % max(1, len(self.state.supervision.skills))
        chosen = self._chosen()
        self._slug = "" if chosen is None else chosen.slug
        self.refresh_form()

    def action_pace(self) -> None:
        """Take the next pace."""
        self._pace = _PACES[(_PACES.index(self._pace) + 1) % len(_PACES)]
        self.refresh_form()

    def action_mode(self) -> None:
        """Take the next leash."""
        self._mode = _MODES[(_MODES.index(self._mode) + 1) % len(_MODES)]
        self.refresh_form()

    def renew(self) -> None:
        """The skill in hand stays, whichever were installed meanwhile."""
        slugs = [one.slug for one in self.state.supervision.skills]
        if self._slug in slugs:
            self._skill = slugs.index(self._slug)
        else:
            self._skill = 0
            self._slug = slugs[0] if slugs else ""

    def _chosen(self) -> SkillView | None:
        skills = self.state.supervision.skills
        return skills[self._skill] if self._skill < len(skills) else None

    @on(Choice.Asked)
    def _choice_asked(self, event: Choice.Asked) -> None:
        event.stop()
        if event.choice.id == "skill-pace":
            self._pace = _PACES[event.index]
        else:
            self._mode = _MODES[event.index]
        self.refresh_form()
