"""Views of a shared desk's people: my role, who is online, and who changed what."""

from dataclasses import dataclass

from service_tui.terms import PersonRole
from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class PersonHere:
    """Somebody whose console is open; `seconds_ago` is when it called last."""

    name: str
    role: PersonRole
    seconds_ago: float


@dataclass(frozen=True, slots=True)
class ActView:
    """A change, and who made it: `action` is the call, `subject` what it was about."""

    seq: int
    at: Timestamp
    person: str
    action: str
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TeamView:
    """The shared desk as one person sees it.

    `forbidden` are calls that want a higher role, `POST /api/desk/halt`. `here` includes the person
    at this console. `leader` is the process that leads the world, empty where only one serves it,
    and `epoch` how often the lead was taken. `acts` are the newest changes, newest first.
    """

    name: str
    role: PersonRole
    world: str
    forbidden: frozenset[str] = frozenset()
    here: tuple[PersonHere, ...] = ()
    leader: str = ""
    epoch: int = 0
    acts: tuple[ActView, ...] = ()

    @property
    def others(self) -> tuple[str, ...]:
        """Names of those who are here besides me."""
        return tuple(person.name for person in self.here if person.name != self.name)


def leader_news(before: TeamView | None, after: TeamView) -> str:
    """A sentence about another leader; empty where it is the same, or the first that is known."""
    if before is None or after.epoch == before.epoch or not after.leader:
        return ""
    return (
        f"another process leads {after.world or 'this world'}: {after.leader}. "
        "Orders that were on their way are being looked up"
    )
