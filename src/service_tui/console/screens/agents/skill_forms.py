"""Forms that start a skill (agent, pace, leash, daily budget) or install one."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, figure_rule, number, seconds_rule
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.forms.leash_form import MONEY_MAX
from service_tui.console.keys import bindings_of
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.agents import InstallSkill, StartSkill
from service_tui.desk.slices.supervision import Pace, SkillView
from service_tui.desk.state import DeskState
from service_tui.terms import EVERY_MAX_S, EVERY_MIN_S, LeashMode
from service_tui.units import ONE, Micros, Timestamp

_BEYOND: Final = "budget above 0, threshold 0 or more"
_THRESHOLD: Final = figure_rule("threshold", most=MONEY_MAX, beyond=_BEYOND)
_BUDGET: Final = figure_rule("budget", Micros(1), MONEY_MAX, beyond=_BEYOND)

NAME: Final = Field("skill-name", "agent name", str.strip, letters=40, css_class="")
EVERY: Final = Field(
    "skill-every",
    "every",
    number(seconds_rule(EVERY_MIN_S, EVERY_MAX_S)),
    "seconds",
    letters=40,
)
THRESHOLD: Final = Field(
    "skill-threshold", "ask for buys above", number(_THRESHOLD), "$ (0: all)",
    letters=40,
)  # fmt: skip
BUDGET: Final = Field("skill-budget", "daily budget", number(_BUDGET), "$SIM", letters=40)
PATH: Final = Field("install-path", "path", str.strip, letters=1_000, css_class="")
_PACES: Final = (Pace.LOOP, Pace.EVERY, Pace.ONCE)
_PACE_LABELS: Final = ("without pause", "every ... seconds", "once")
_MODES: Final = (LeashMode.ASK, LeashMode.OBSERVE, LeashMode.AUTO)
_MEANINGS: Final = {
    LeashMode.ASK: "Each buy needs your approval before its timeout.",
    LeashMode.OBSERVE: "Paper trading only. No order reaches the service.",
    LeashMode.AUTO: "Buys without approval, within its budget and all limits.",
}


def started_text(order: StartSkill) -> str:
    """What starting a skill does, in a sentence without its point."""
    how = {Pace.LOOP: "without pause", Pace.EVERY: f"every {order.every_s} seconds"}
    agent = order.name or order.skill_slug
    whose = "of that name" if agent == order.skill_slug else f"named {agent}"
    return f"Runs {order.skill_slug} {how.get(order.pace, 'once')}, as an agent {whose}"


class StartSkillForm(Form[StartSkill]):
    """Starts a skill as an agent of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("start_skill")]

    heading: ClassVar[str] = "Run a skill"
    hint: ClassVar[str] = "{start.skill} skill  {start.pace} pace  {start.mode} mode  enter starts"
    set_word: ClassVar[str] = "start"
    body = (
        "form-question", OptionsRow("skill-pace"), OptionsRow("skill-mode"),
        NAME, EVERY, THRESHOLD, BUDGET, "form-preview",
    )  # fmt: skip

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._skill = 0
        self._slug = ""
        self._pace = Pace.LOOP
        self._mode = LeashMode.ASK
        self.first = {EVERY.name: "60", THRESHOLD.name: "0", BUDGET.name: "20"}
        self.renew()

    def validate(self) -> StartSkill:
        """The typed command."""
        skill = self._selected()
        if skill is None or skill.problem:
            raise FieldError("no skill installed" if skill is None else skill.problem)
        return StartSkill(
            skill.slug,
            self._pace,
            every_s=self._used(EVERY) // ONE,
            live=self._mode is not LeashMode.OBSERVE,
            name=self.read(NAME) or skill.slug,
            mode=self._mode,
            threshold=self._used(THRESHOLD),
            budget=self._used(BUDGET),
        )

    def _used(self, field: Field[Micros]) -> Micros:
        """The typed value of a field; of one that the mode or the pace does not use, the first."""
        is_used = self._uses[field.name]
        return self.read(field) if is_used else field.parse(self.first[field.name])

    @property
    def _uses(self) -> Mapping[str, bool]:
        """Whether each figure matters for the selected pace and mode."""
        return {
            EVERY.name: self._pace is Pace.EVERY,
            THRESHOLD.name: self._mode is LeashMode.ASK,
            BUDGET.name: self._mode is not LeashMode.OBSERVE,
        }

    def refresh_form(self) -> None:
        """Show the form; figures that do not matter cannot be edited."""
        for name, is_used in self._uses.items():
            self.query_one(f"#{name}", PlainInput).disabled = not is_used
        super().refresh_form()

    def describe(self, result: StartSkill | None) -> Mapping[str, Shown]:
        """The skill's description, and the meaning of the leash."""
        skill, text = self._selected(), "" if result is None else f"{started_text(result)}. "
        shown: dict[str, Shown] = {
            "skill-pace": OptionsState(_PACE_LABELS, _PACES.index(self._pace)),
            "skill-mode": OptionsState(
                tuple(mode.value for mode in _MODES), _MODES.index(self._mode)
            ),
            "form-preview": Text(f"{text}{_MEANINGS[self._mode]}", "muted"),
        }
        name = self.query_one(f"#{NAME.name}", PlainInput)
        name.placeholder = "" if skill is None else f"empty: {skill.slug}"
        if skill is not None:
            count = len(self.state.supervision.skills)
            head = f"{skill.slug} ({self._skill + 1} of {count}): {skill.description}"
            shown["form-question"] = formats.plain(head, 300)
        return shown

    def choose(self, name: str, index: int) -> None:
        """Select a pace or a leash."""
        if name == "skill-pace":
            self._pace = _PACES[index]
        else:
            self._mode = _MODES[index]

    def action_skill(self) -> None:
        """Select the next skill."""
        self._skill = (self._skill + 1) % max(1, len(self.state.supervision.skills))
        selected = self._selected()
        self._slug = "" if selected is None else selected.slug
        self.refresh_form()

    def action_pace(self) -> None:
        """Select the next pace."""
        self._pace = _PACES[(_PACES.index(self._pace) + 1) % len(_PACES)]
        self.refresh_form()

    def action_mode(self) -> None:
        """Select the next leash."""
        self._mode = _MODES[(_MODES.index(self._mode) + 1) % len(_MODES)]
        self.refresh_form()

    def renew(self) -> None:
        """Keep the selected skill, whichever were installed since."""
        slugs = [skill.slug for skill in self.state.supervision.skills]
        if self._slug in slugs:
            self._skill = slugs.index(self._slug)
        else:
            self._skill = 0
            self._slug = slugs[0] if slugs else ""

    def _selected(self) -> SkillView | None:
        skills = self.state.supervision.skills
        return skills[self._skill] if self._skill < len(skills) else None


class InstallSkillForm(Form[InstallSkill]):
    """Installs a package, whole or not at all."""

    heading: ClassVar[str] = "Install a skill"
    set_word: ClassVar[str] = "install"
    body = ("form-question", PATH, "form-preview")

    def validate(self) -> InstallSkill:
        """The typed command."""
        path = self.read(PATH)
        if not path:
            raise FieldError("Enter a folder, or a .zip or .tar archive")
        return InstallSkill(path)

    def describe(self, result: InstallSkill | None) -> Mapping[str, Shown]:
        """The checks before it, and its destination."""
        del result
        text = "Checked first, then copied. Nothing of it runs yet."
        return {
            "form-question": "A folder with SKILL.md and its script, or an archive of it.",
            "form-preview": Text(text, "muted"),
        }
