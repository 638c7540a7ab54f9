"""Routes of people and invitations: operators of the world, and who changed what."""

from typing import Final

from service_tui.engine.events import AgentRegistered
from service_tui.engine.world import World
from service_tui.server.http.access import hash_of
from service_tui.server.http.people.invitation_book import InvitationTerms, used
from service_tui.server.http.people.roster import OWNER
from service_tui.server.http.refusals import denied, invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.storage.errors import StorageError
from service_tui.storage.invitations import InvitationRecord, keep_invitation
from service_tui.storage.people import PersonRecord, keep_person
from service_tui.terms import NEW_AGENT_CASH_SIM, PersonRole, Plan
from service_tui.units import ONE, Micros, NotMicrosError, Timestamp, decimal, micros
from service_tui.wire.base import moment
from service_tui.wire.endpoints.people import (
    ADD_PERSON,
    DESK_AUDIT,
    DESK_ME,
    END_INVITATION,
    END_PERSON,
    INVITATIONS,
    INVITE,
    MY_AGENT,
    PEOPLE,
    RENEW_PERSON,
    SET_ROLE,
)
from service_tui.wire.endpoints.public import ALL
from service_tui.wire.people import (
    ActBody,
    AddPersonRequest,
    AuditBody,
    AuditQuery,
    InvitationBody,
    InvitationsBody,
    InvitedBody,
    InviteRequest,
    MeBody,
    MyAgentBody,
    NamedPersonRequest,
    PeopleBody,
    PersonBody,
    PersonKeyBody,
    PresentBody,
    RoleRequest,
)

DAY_S: Final = 86_400.0


async def me(request: RequestContext) -> MeBody:
    """The caller, and the calls that the role forbids."""
    person = request.operator
    return MeBody(
        name=person.name,
        role=person.role,
        world=request.service.world_name,
        own_agents_only=person.role is PersonRole.TRADER,
        forbidden=tuple(
            f"{one.method} {one.path}"
            for one in ALL
            if one.role is not None and not person.reaches(one.role)
        ),
        here=tuple(
            PresentBody(name=name, role=role, seconds_ago=seconds)
            for name, role, seconds in request.service.presence.here(
                request.service.clock.monotonic()
            )
        ),
        leader=request.service.leader,
        epoch=request.service.epoch,
    )


async def my_agent(request: RequestContext) -> MyAgentBody:
    """The agent with which the caller's console trades; the first call registers it."""
    service, person = request.service, request.operator
    found = service.console_agent(person.name)
    if found is not None:
        return MyAgentBody(agent_id=found.agent_id, name=found.settings.name)
    service.world_store.check_whole()
    agent_id = f"agent-{service.new_id()[:12]}"
    event = AgentRegistered(
        agent_id=agent_id,
        at=request.now,
        name=f"{person.name}'s console",
        description="what a person trades by hand",
        # Nobody has such a key: the person's own opens this agent.
        key_hash=hash_of(service.new_key()),
        claim_code=service.new_id(),
        plan=service.plan,
        cash=Micros(NEW_AGENT_CASH_SIM * ONE),
    )
    events = request.world.register(event)
    owned: dict[str, object] = {"claimed": True, "owner": person.name, "console_of": person.name}
    events += request.world.change(request.world.agents[agent_id], owned, request.now)
    await request.write(events)
    return MyAgentBody(agent_id=agent_id, name=event.name, is_new=True)


async def audit(request: RequestContext) -> AuditBody:
    """What people changed, newest first."""
    found = await request.service.world_store.acts(request.query_as(AuditQuery).limit)
    return AuditBody(
        acts=tuple(
            ActBody(
                seq=seq,
                at=moment(act.at),
                person=act.person,
                action=act.action,
                subject=act.subject,
                detail=act.detail,
            )
            for seq, act in found
        )
    )


# -- people --------------------------------------------------------------------------------


def person_body(world: World, record: PersonRecord) -> PersonBody:
    """A person as owners and the person are shown them."""
    return PersonBody(
        name=record.name,
        role=PersonRole(record.role),
        created_at=moment(Timestamp(record.created_at)),
        created_by=record.created_by,
        ended_at=None if record.ended_at is None else moment(Timestamp(record.ended_at)),
        agents_count=_agents_of(world, record.name),
    )


def _agents_of(world: World, name: str) -> int:
    return sum(agent.settings.owner == name for agent in world.agents.values())


async def list_people(request: RequestContext) -> PeopleBody:
    """Everybody who was ever added, behind the owner of the data directory."""
    owner = PersonBody(
        name=OWNER, role=PersonRole.OWNER, agents_count=_agents_of(request.world, OWNER)
    )
    rows = (person_body(request.world, record) for record in request.service.people.records)
    return PeopleBody(people=(owner, *rows))


async def add_person(request: RequestContext) -> PersonKeyBody:
    """Add a person.

    Returns:
        The person, and the key, shown here and never again.

    Raises:
        Denied: 409 for a name that is or was given.
    """
    sent = request.body_as(AddPersonRequest)
    request.service.world_store.check_whole()
    name, key = request.service.people.add(sent.name, sent.role, request.operator, request.now)
    record = await _kept_person(request, name, None)
    return PersonKeyBody(person=person_body(request.world, record), key=key)


async def set_role(request: RequestContext) -> PersonBody:
    """Give a person another role; it counts from the next call on."""
    sent, people = request.body_as(RoleRequest), request.service.people
    request.service.world_store.check_whole()
    before = people.of(sent.name)
    people.change_role(sent.name, sent.role)
    return person_body(request.world, await _kept_person(request, sent.name, before))


async def renew_person(request: RequestContext) -> PersonKeyBody:
    """Give a person a new key.

    Returns:
        The person, and the key, shown here and never again.

    Raises:
        Denied: 404 and 409 for a name that nobody has.
    """
    name, people = request.body_as(NamedPersonRequest).name, request.service.people
    request.service.world_store.check_whole()
    before = people.of(name)
    _, key = people.renew(name)
    record = await _kept_person(request, name, before)
    return PersonKeyBody(person=person_body(request.world, record), key=key)


async def end_person(request: RequestContext) -> PersonBody:
    """Let a person's key open nothing any more; agents of theirs stay under that name."""
    name, people = request.body_as(NamedPersonRequest).name, request.service.people
    request.service.world_store.check_whole()
    before = people.of(name)
    people.end(name, request.now)
    return person_body(request.world, await _kept_person(request, name, before))


async def _kept_person(
    request: RequestContext, name: str, before: PersonRecord | None
) -> PersonRecord:
    """Write a person as memory has them now, or take the change back."""
    people = request.service.people
    record = people.find(name)
    if record is None:
        raise denied(404, f"nobody is called {name!r}", "see who there is: people list")
    try:
        await request.write((), beside=lambda connection: keep_person(connection, record))
    except StorageError:
        people.put_back(name, before)
        raise
    return record


# -- invitations ---------------------------------------------------------------------------


def invitation_body(world: World, record: InvitationRecord) -> InvitationBody:
    """An invitation with its uses and without its code."""
    agents = world.agents.values()
    return InvitationBody(
        invitation_id=record.invitation_id,
        uses=record.uses,
        used=used(record.invitation_id, agents),
        plan=None if record.plan is None else Plan(record.plan),
        daily_budget=None if record.budget is None else decimal(Micros(record.budget)),
        person=record.person,
        created_at=moment(Timestamp(record.created_at)),
        created_by=record.created_by,
        expires_at=moment(Timestamp(record.expires_at)),
        ended_at=None if record.ended_at is None else moment(Timestamp(record.ended_at)),
    )


async def list_invitations(request: RequestContext) -> InvitationsBody:
    """All that were ever made, without their codes."""
    records = request.service.invitations.records
    return InvitationsBody(
        invitations=tuple(invitation_body(request.world, one) for one in records)
    )


async def invite(request: RequestContext) -> InvitedBody:
    """Make an invitation.

    Returns:
        The invitation, and its code, shown here and never again.

    Raises:
        Denied: 404 and 409 for a person that there is not, 422 for parts of a micro.
    """
    sent, service = request.body_as(InviteRequest), request.service
    service.world_store.check_whole()
    if sent.person is not None and sent.person != OWNER:
        service.people.of(sent.person)
    terms = InvitationTerms(
        uses=sent.uses,
        expires_at=Timestamp(request.now + sent.days * DAY_S),
        plan=sent.plan,
        budget=_budget(sent.daily_budget),
        person=sent.person or "",
    )
    invitation_id = f"invite-{service.new_id()[:12]}"
    record, code = service.invitations.add(invitation_id, terms, request.operator.name, request.now)
    await _kept_invitation(request, record, None)
    return InvitedBody(invitation=invitation_body(request.world, record), code=code)


def _budget(value: float | None) -> Micros | None:
    """Money of a request.

    Returns:
        Micros, None for no budget.

    Raises:
        Denied: 422 for more decimals than a micro.
    """
    try:
        return None if value is None else micros(value)
    except NotMicrosError as error:
        raise invalid_items([(("body", "daily_budget"), str(error), "decimal")]) from error


async def end_invitation(request: RequestContext) -> InvitationBody:
    """End an invitation: no agent registers by it any more; twice changes nothing."""
    invitations, invitation_id = request.service.invitations, request.path["invitation_id"]
    request.service.world_store.check_whole()
    before = invitations.find(invitation_id)
    record = invitations.end(invitation_id, request.now)
    if record != before:
        await _kept_invitation(request, record, before)
    return invitation_body(request.world, record)


async def _kept_invitation(
    request: RequestContext, record: InvitationRecord, before: InvitationRecord | None
) -> None:
    """Write an invitation, or take the change back."""
    try:
        await request.write((), beside=lambda connection: keep_invitation(connection, record))
    except StorageError:
        request.service.invitations.put_back(record.invitation_id, before)
        raise


ROUTES: Final[Routes] = {
    DESK_ME: me,
    MY_AGENT: my_agent,
    DESK_AUDIT: audit,
    PEOPLE: list_people,
    ADD_PERSON: add_person,
    SET_ROLE: set_role,
    RENEW_PERSON: renew_person,
    END_PERSON: end_person,
    INVITATIONS: list_invitations,
    INVITE: invite,
    END_INVITATION: end_invitation,
}
