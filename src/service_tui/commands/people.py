"""`service-tui people` and `service-tui invite`: manage operators and agents' invitations.

Calls go to the owner of the data directory over loopback, with its operator key; without an owner
this process owns it for that moment. With an address they go there, with the caller's own key.
"""

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import httpx

from service_tui.app.attached import HolderTransport, client_of_holder
from service_tui.app.closed import explain_closed_desk, only_reason
from service_tui.app.data import open_data
from service_tui.app.options import Options
from service_tui.app.ownership import open_embedded
from service_tui.app.renewal import client_keys
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.client.proxies import proxy_for
from service_tui.clock import Clock, SystemClock
from service_tui.commands.json_text import json_text
from service_tui.credentials.api_keys import ApiKeysError, stored_desk_keys
from service_tui.server.embedded import BASE_URL
from service_tui.storage.errors import DirectoryLockedError
from service_tui.terms import PersonRole, Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints.people import (
    ADD_PERSON,
    END_INVITATION,
    END_PERSON,
    INVITATIONS,
    INVITE,
    PEOPLE,
    RENEW_PERSON,
    SET_ROLE,
)
from service_tui.wire.people import (
    AddPersonRequest,
    InvitationBody,
    InviteRequest,
    NamedPersonRequest,
    PersonBody,
    PersonKeyBody,
    RoleRequest,
)

ONCE: Final = "shown once: give it to {}, and keep it nowhere else"


class PeopleCommandError(Exception):
    """The command cannot be done; one plain sentence, without any key."""


@dataclass(frozen=True, slots=True)
class PeopleRequest:
    """What to do: with whom, or with which invitation, and what they get."""

    act: str
    name: str = ""
    role: str = ""
    uses: int = 1
    days: int | None = None
    plan: str | None = None
    budget: float | None = None
    person: str | None = None
    json: bool = False


Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of an action: for a script, and in lines for a person."""

    facts: Mapping[str, object]
    lines: Lines


Act = Callable[[Client, PeopleRequest], Awaitable[Answered]]


def run_people(options: Options, request: PeopleRequest) -> Lines:
    """Carry an action of `people` out.

    Returns:
        Lines to print, or one of JSON; those of a new key hold it.

    Raises:
        PeopleCommandError: the service refused, or the request cannot be; gives the reason.
        DeskClosedError: the data directory cannot be used; gives the reason and the fix.
    """
    return _run(options, request, PEOPLE_ACTS, "people")


def run_invite(options: Options, request: PeopleRequest) -> Lines:
    """Carry an action of `invite` out; returns and raises as `run_people`."""
    return _run(options, request, INVITE_ACTS, "invite")


def _run(options: Options, request: PeopleRequest, acts: Mapping[str, Act], form: str) -> Lines:
    async def work() -> Answered:
        async with _operator(options, SystemClock()) as client:
            return await acts[request.act](client, request)

    with explain_closed_desk():
        try:
            answered = asyncio.run(work())
            return (json_text(form, answered.facts),) if request.json else answered.lines
        except Exception as error:
            reason = only_reason(error)
            if not isinstance(reason, ServiceError | ValueError):
                raise
            # From None: what was sent, or a key, must not stand in a trace.
            raise PeopleCommandError(_first_line(reason)) from None


def _first_line(error: Exception) -> str:
    """A reason in one line; of what the wire's own check refuses, the field and what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[1:3]) if "validation error" in lines[0] else lines[0]


@asynccontextmanager
async def _operator(options: Options, clock: Clock) -> AsyncGenerator[Client]:
    """A client that calls as an operator.

    Yields:
        The client.

    Raises:
        ApiKeysError: the directory has no keys yet.
    """
    rng = random.SystemRandom()
    if options.url is not None:
        key = ApiKey(options.api_key or "", options.url)
        async with Client(
            httpx.AsyncHTTPTransport(retries=0, proxy=proxy_for(options.url, os.environ)),
            options.url, ApiKeys(operator=key), clock=clock,
            rng=rng, allow_insecure=options.allow_insecure,
        ) as client:  # fmt: skip
            yield client
        return
    try:
        async with (
            open_data(options.data_dir, clock) as data,
            open_embedded(options, data.database, clock) as (sim, own),
            Client(
                sim.transport, BASE_URL, client_keys(own, BASE_URL), clock=clock, rng=rng
            ) as client,
        ):
            yield client
            return
    except DirectoryLockedError:
        api_keys = stored_desk_keys(options.data_dir)
        if api_keys is None:
            raise ApiKeysError(
                f"{options.data_dir} has no keys yet: its owner is still starting"
            ) from None
    transport = HolderTransport(options.data_dir)
    async with client_of_holder(transport, api_keys, clock, rng, read_only=False) as client:
        yield client


# -- people --------------------------------------------------------------------------------


async def _list_people(client: Client, _: PeopleRequest) -> Answered:
    answer = (await client.call(PEOPLE)).answer
    cells = map(_person_cells, answer.people)
    return Answered(_facts(answer), _table(("name", "role", "since", "agents", ""), cells))


def _person_cells(person: PersonBody) -> Lines:
    since = "" if person.created_at is None else f"{person.created_at:%Y-%m-%d}"
    ended = "" if person.ended_at is None else f"ended {person.ended_at:%Y-%m-%d}"
    return person.name, person.role.value, since, str(person.agents_count), ended


async def _add(client: Client, request: PeopleRequest) -> Answered:
    body = AddPersonRequest(name=request.name, role=PersonRole(request.role))
    return _with_key((await client.call(ADD_PERSON, body=body)).answer)


async def _change_role(client: Client, request: PeopleRequest) -> Answered:
    body = RoleRequest(name=request.name, role=PersonRole(request.role))
    person = (await client.call(SET_ROLE, body=body)).answer
    return Answered({"person": _facts(person)}, (f"{person.name} is {person.role.value}",))


async def _renew(client: Client, request: PeopleRequest) -> Answered:
    body = NamedPersonRequest(name=request.name)
    return _with_key((await client.call(RENEW_PERSON, body=body)).answer)


async def _end(client: Client, request: PeopleRequest) -> Answered:
    person = (await client.call(END_PERSON, body=NamedPersonRequest(name=request.name))).answer
    line = f"{person.name} ended; the key opens nothing any more"
    return Answered({"person": _facts(person)}, (line,))


def _facts(body: WireModel) -> dict[str, object]:
    """A body as the service sent it, times as text."""
    return body.model_dump(mode="json")


def _with_key(answer: PersonKeyBody) -> Answered:
    person = answer.person
    about = f"{person.name} is {person.role.value}; the key is {ONCE.format(person.name)}"
    return Answered(_facts(answer), (about, answer.key))


PEOPLE_ACTS: Final[Mapping[str, Act]] = MappingProxyType({
    "list": _list_people,
    "add": _add,
    "role": _change_role,
    "renew": _renew,
    "end": _end,
})

# -- invitations ---------------------------------------------------------------------------


async def _invite(client: Client, request: PeopleRequest) -> Answered:
    chosen = {
        "days": request.days,
        "plan": None if request.plan is None else Plan(request.plan),
        "daily_budget": request.budget,
        "person": request.person,
    }
    sent = {name: value for name, value in chosen.items() if value is not None}
    body = InviteRequest.model_validate({"uses": request.uses, **sent})
    answer = (await client.call(INVITE, body=body)).answer
    made = answer.invitation
    agents = "one agent" if made.uses == 1 else f"{made.uses} agents"
    about = f"{made.invitation_id}: for {agents} until {made.expires_at:%Y-%m-%d %H:%M} UTC"
    once = f"{about}; the code is {ONCE.format('whoever brings them')}"
    return Answered(_facts(answer), (once, answer.code))


async def _list_invitations(client: Client, _: PeopleRequest) -> Answered:
    answer = (await client.call(INVITATIONS)).answer
    heads = ("id", "used", "expires", "plan", "budget", "person", "")
    return Answered(_facts(answer), _table(heads, map(_invitation_cells, answer.invitations)))


def _invitation_cells(one: InvitationBody) -> Lines:
    return (
        one.invitation_id,
        f"{one.used}/{one.uses}",
        f"{one.expires_at:%Y-%m-%d}",
        "" if one.plan is None else one.plan.value,
        "" if one.daily_budget is None else f"{one.daily_budget:,.2f}",
        one.person,
        "" if one.ended_at is None else f"ended {one.ended_at:%Y-%m-%d}",
    )


async def _end_invitation(client: Client, request: PeopleRequest) -> Answered:
    path = {"invitation_id": request.name}
    made = (await client.call(END_INVITATION, path=path)).answer
    line = f"{made.invitation_id} ended; {made.used} of {made.uses} used"
    return Answered({"invitation": _facts(made)}, (line,))


INVITE_ACTS: Final[Mapping[str, Act]] = MappingProxyType({
    "new": _invite,
    "list": _list_invitations,
    "end": _end_invitation,
})


def _table(heads: Lines, rows: "map[Lines]") -> Lines:
    """Rows under their heads, each column as wide as it needs."""
    cells = [heads, *rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    return tuple(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
