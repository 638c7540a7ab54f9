"""The endpoints of people, invitations and the audit log.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.terms import PersonRole
from service_tui.wire import people
from service_tui.wire.endpoint import DESK, Endpoint

DESK_ME = Endpoint(
    "GET",
    f"{DESK}/me",
    people.MeBody,
    role=PersonRole.OBSERVER,
    summary="Who I am, my role, and what it forbids",
)
MY_AGENT = Endpoint(
    "POST",
    f"{DESK}/me/agent",
    people.MyAgentBody,
    role=PersonRole.OBSERVER,
    summary="The agent with which my console trades, made at the first call",
)
DESK_AUDIT = Endpoint(
    "GET",
    f"{DESK}/audit",
    people.AuditBody,
    query=people.AuditQuery,
    role=PersonRole.OBSERVER,
    summary="Who changed what, newest first",
)
PEOPLE = Endpoint(
    "GET",
    f"{DESK}/people",
    people.PeopleBody,
    role=PersonRole.OBSERVER,
    summary="Who operates this world",
)
ADD_PERSON = Endpoint(
    "POST",
    f"{DESK}/people",
    people.PersonKeyBody,
    request=people.AddPersonRequest,
    role=PersonRole.OWNER,
    summary="Add a person; the key is shown once",
)
SET_ROLE = Endpoint(
    "PATCH",
    f"{DESK}/people",
    people.PersonBody,
    request=people.RoleRequest,
    role=PersonRole.OWNER,
    summary="Give a person another role",
)
RENEW_PERSON = Endpoint(
    "POST",
    f"{DESK}/people/key",
    people.PersonKeyBody,
    request=people.NamedPersonRequest,
    role=PersonRole.OWNER,
    summary="Give a person a new key, shown once; the old one is dead at once",
)
END_PERSON = Endpoint(
    "POST",
    f"{DESK}/people/end",
    people.PersonBody,
    request=people.NamedPersonRequest,
    role=PersonRole.OWNER,
    summary="Let a person's key open nothing any more",
)
INVITATIONS = Endpoint(
    "GET",
    f"{DESK}/invitations",
    people.InvitationsBody,
    role=PersonRole.OBSERVER,
    summary="Invitations for agents, without their codes",
)
INVITE = Endpoint(
    "POST",
    f"{DESK}/invitations",
    people.InvitedBody,
    request=people.InviteRequest,
    role=PersonRole.OWNER,
    summary="Invite agents; the code is shown once",
)
END_INVITATION = Endpoint(
    "DELETE",
    f"{DESK}/invitations/{{invitation_id}}",
    people.InvitationBody,
    role=PersonRole.OWNER,
    summary="Let nobody register by an invitation any more",
)

ALL_PEOPLE: Final = (
    DESK_ME,
    MY_AGENT,
    DESK_AUDIT,
    PEOPLE,
    ADD_PERSON,
    SET_ROLE,
    RENEW_PERSON,
    END_PERSON,
    INVITATIONS,
    INVITE,
    END_INVITATION,
)
"""Every one of them."""
