"""Bodies about a world's operators, invitations for agents, and who changed what.

ours: the spec has none of them; all stand under `/api/desk/`.
"""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from service_tui.terms import (
    AUDIT_PAGE_MAX,
    INVITATION_DAYS,
    INVITATION_DAYS_MAX,
    INVITATION_USES_MAX,
    PERSON_NAME_MAX,
    PersonRole,
    Plan,
)
from service_tui.wire.agents import visible
from service_tui.wire.base import Amount, Count, Line, Moment, OperatorModel, Prose, WireModel
from service_tui.wire.fleet import Size
from service_tui.wire.text import line

PersonName = Annotated[
    str,
    StringConstraints(max_length=PERSON_NAME_MAX),
    AfterValidator(line),
    AfterValidator(visible),
    Field(description="with a visible letter", json_schema_extra={"minLength": 1}),
]
"""What a person is called in the audit log."""


class PresentBody(WireModel):
    """A person who is online. `seconds_ago` is the time since their last call."""

    name: Line
    role: PersonRole
    seconds_ago: Amount


class MeBody(WireModel):
    """The caller. `forbidden` are the calls that need a higher role, as method and path.

    `here` are the people who have called lately, the caller among them. `leader` is the process of
    a shared desk that answers, and `epoch` how often the lead was taken; empty and 0 elsewhere.
    """

    name: Line
    role: PersonRole
    world: Line
    # A trader changes agents of their own alone.
    own_agents_only: bool
    forbidden: tuple[Line, ...] = ()
    here: tuple[PresentBody, ...] = ()
    leader: Line = ""
    epoch: Count = 0


class MyAgentBody(WireModel):
    """The agent with which the caller's console trades; their own key opens it.

    `is_new` at the first call.
    """

    agent_id: Line
    name: Line
    is_new: bool = False


class PersonBody(WireModel):
    """A person as everybody here may see them. `ended_at` is null while the key is good."""

    name: Line
    role: PersonRole
    created_at: Moment | None = None
    created_by: Line = ""
    ended_at: Moment | None = None
    agents_count: Count = 0


class PeopleBody(WireModel):
    """Everybody, the owner of the data directory first."""

    people: tuple[PersonBody, ...]


class AddPersonRequest(OperatorModel):
    """A person to add, with a role."""

    name: PersonName
    role: PersonRole


class RoleRequest(OperatorModel):
    """A new role for a person."""

    name: PersonName
    role: PersonRole


class NamedPersonRequest(OperatorModel):
    """A person, by name."""

    name: PersonName


class PersonKeyBody(WireModel):
    """The only answer that ever carries a person's key."""

    person: PersonBody
    key: str = Field(repr=False)


class InviteRequest(OperatorModel):
    """Terms of a new invitation.

    `plan` and `daily_budget` are those of every agent that registers by it; null leaves them to
    the service. `person` owns those agents; null: nobody until one is claimed.
    """

    uses: Annotated[int, Field(ge=1, le=INVITATION_USES_MAX)] = 1
    days: Annotated[int, Field(ge=1, le=INVITATION_DAYS_MAX)] = INVITATION_DAYS
    plan: Plan | None = None
    daily_budget: Size | None = None
    person: PersonName | None = None


class InvitationBody(WireModel):
    """An invitation without its code. `used` of its `uses` are gone."""

    invitation_id: Line
    uses: Count
    used: Count
    plan: Plan | None = None
    daily_budget: Amount | None = None
    person: Line = ""
    created_at: Moment
    created_by: Line
    expires_at: Moment
    ended_at: Moment | None = None


class InvitationsBody(WireModel):
    """All invitations, the first one first."""

    invitations: tuple[InvitationBody, ...]


class InvitedBody(WireModel):
    """The only answer that ever carries an invitation's code."""

    invitation: InvitationBody
    code: str = Field(repr=False)


class ActBody(WireModel):
    """A change, and who made it. `subject` are the ids of the path, `detail` the body as sent."""

    seq: Count
    at: Moment
    person: Line
    action: Line
    subject: Line = ""
    detail: Prose = ""


class AuditBody(WireModel):
    """What people changed, newest first."""

    acts: tuple[ActBody, ...]


class AuditQuery(WireModel):
    """Most entries to list."""

    limit: Annotated[int, Field(ge=1, le=AUDIT_PAGE_MAX)] = AUDIT_PAGE_MAX
