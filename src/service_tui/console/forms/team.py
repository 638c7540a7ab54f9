"""The people page of a shared desk: who is online, my role, and who changed what."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import section
from service_tui.console.forms.page import Page
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.reasons import without_amounts
from service_tui.console.team_text import act_text
from service_tui.desk.slices.team import ActView, TeamView
from service_tui.desk.state import DeskState
from service_tui.terms import PersonRole
from service_tui.units import Timestamp

_MAY: Final = {
    PersonRole.OBSERVER: "reads everything, changes nothing",
    PersonRole.TRADER: "trades by hand, and decides for own agents",
    PersonRole.SUPERVISOR: "decides for all agents, and halts",
    PersonRole.OWNER: "decides on people, invitations and plans as well",
}
_NAME: Final = 20
_ROLE: Final = 12
_DETAIL: Final = 120
"""Letters of what was sent with a change that stay on its line."""


class TeamPage(Page):
    """Who is here and who changed what, as it changes."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__("Team", f"{cap('dialog.close')} closes, j and k scroll")
        self._state = state
        self._now = now

    def text(self) -> Text:
        """The page of the present state."""
        return team_text(self._state, self._now)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Renew the page when its inputs have changed."""
        before, self._state, self._now = self._state, state, now
        if (state.team, is_private(state)) != (before.team, is_private(before)):
            self._text_block.show_text(self.text())


def team_text(state: DeskState, now: Timestamp) -> Text:
    """The whole page."""
    team = state.team
    if team is None:
        return Text("Loading the team", "muted")
    return Text("\n\n").join((
        section("You", _me(team)),
        section("Here now", _here(team)),
        section("Changes, newest first", _acts(team, now, masked=is_private(state))),
    ))


def _me(team: TeamView) -> Text:
    lines = [
        _pair("name", formats.plain(team.name, _DETAIL)),
        _pair("role", Text(f"{team.role.value}: {_MAY[team.role]}")),
        _pair("world", formats.plain(team.world or "-", _DETAIL)),
    ]
    if team.leader:
        leader = formats.plain(team.leader, _DETAIL)
        lines.append(_pair("led by", Text.assemble(leader, (f" (lead {team.epoch:,})", "muted"))))
    return Text("\n").join(lines)


def _pair(label: str, value: Text) -> Text:
    return Text.assemble((label.ljust(_ROLE), "muted"), value)


def _here(team: TeamView) -> Text:
    lines: list[Text] = []
    for person in team.here:
        name = _padded(person.name)
        seen = "you" if person.name == team.name else f"{person.seconds_ago:.0f} s ago"
        lines.append(Text.assemble(name, person.role.value.ljust(_ROLE), (seen, "muted")))
    return Text("\n").join(lines) if lines else Text("nobody", "muted")


def _acts(team: TeamView, now: Timestamp, *, masked: bool) -> Text:
    if not team.acts:
        return Text("none yet", "muted")
    return Text("\n").join(_act(act, now, masked=masked) for act in team.acts)


def _act(act: ActView, now: Timestamp, *, masked: bool) -> Text:
    age = formats.age(act.at, now)
    age.stylize("muted")
    age.pad_left(max(0, 7 - age.cell_len))
    words = formats.plain(without_amounts(act_text(act), masked=masked), _DETAIL)
    return Text.assemble(age, "  ", _padded(act.person), words)


def _padded(person: str) -> Text:
    """A name in the cells of its column."""
    name = formats.plain(person, _NAME - 1)
    name.append(" " * (_NAME - name.cell_len))
    return name
