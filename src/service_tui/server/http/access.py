"""Access: key to agent, key to operator and role, the plan, the rates."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.server.http.header_values import HeaderValues
from service_tui.server.http.people.roster import THE_OWNER, Person
from service_tui.server.http.rates import FIXED_RATES, has_larger, rate_of
from service_tui.server.http.refusals import Denied, denied, throttled, unauthenticated
from service_tui.server.http.service import Service
from service_tui.terms import PersonRole, Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.people import MY_AGENT

KEY_PREFIX: Final = "sk_live_"
KEY_MAX: Final = 200
BODY_MAX: Final = 256 * 1024
_PLAN_RANK: Final = {Plan.FREE: 0, Plan.PRO: 1, Plan.ELITE: 2}


def new_key() -> str:
    """A key of 192 random bits, in the usual form."""
    return KEY_PREFIX + secrets.token_urlsafe(24)


def hash_of(key: str) -> str:
    """What is kept of a key. One round is enough: the key itself is 192 random bits."""
    return hashlib.sha256(key.encode()).hexdigest()


def key_of(headers: HeaderValues) -> str:
    """The key that was sent, in either header.

    Returns:
        The key as sent.

    Raises:
        Denied: 401 when it is missing, malformed, or sent twice.
    """
    bearer = headers.getlist("authorization")
    plain = headers.getlist("x-api-key")
    if len(bearer) + len(plain) > 1:
        raise unauthenticated("the key was sent more than once")
    if bearer:
        scheme, _, key = bearer[0].partition(" ")
        if scheme != "Bearer" or not key:
            raise unauthenticated("the Authorization header does not begin with 'Bearer '")
    elif plain:
        key = plain[0]
    else:
        raise unauthenticated("no key was sent")
    if not key.isascii() or key.split() != [key] or len(key) > KEY_MAX:
        raise unauthenticated("the key holds spaces, line breaks or foreign letters")
    return key


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller and the path, with its ids; `agent` is None where no key is needed.

    `peer` is the machine that calls, empty for this one.
    """

    agent: Agent | None
    path: str
    in_process: bool
    peer: str = ""


def _is_own_desk(service: Service, endpoint: Endpoint[WireModel], caller: Caller) -> bool:
    # ours: a console that looks is never held back by itself: what this process asks for the person
    # is not counted, nor what the person's own agent reads from another console on this machine.
    if caller.agent is None:
        return caller.in_process
    if endpoint.reads and caller.agent.settings.console_of:
        # Nor what the consoles of a person read, from wherever: their other calls are not counted.
        return True
    is_here = caller.in_process or (endpoint.reads and not caller.peer)
    return caller.agent.agent_id == service.operator_agent and is_here


class Access:
    """Decides who is calling. `operator_key_hash` belongs to the person at the console."""

    def __init__(self, operator_key_hash: str) -> None:
        self._operator_key_hash = operator_key_hash

    def agent(
        self, service: Service, headers: HeaderValues, endpoint: Endpoint[WireModel]
    ) -> Agent:
        """The agent that calls an endpoint with its key, or with the key of whose console it is.

        Returns:
            The agent.

        Raises:
            Denied: 401 without a known key, 403 when the plan or the role does not include the
                endpoint.
        """
        key = key_of(headers)
        agent = service.world.by_key_hash(hash_of(key)) or self._console_agent(
            service, key, endpoint
        )
        if _PLAN_RANK[agent.settings.plan] < _PLAN_RANK[endpoint.plan]:
            raise denied(
                403,
                f"this needs the {endpoint.plan.value} plan",
                f"choose {endpoint.plan.value} or more on the settings screen of the console, or "
                f"start the service with --plan {endpoint.plan.value}",
            )
        return agent

    def _console_agent(self, service: Service, key: str, endpoint: Endpoint[WireModel]) -> Agent:
        """The agent of a person's console.

        Raises:
            Denied: 401 for a key that nobody has, 409 until the console has its agent, 403 where an
                observer would change something.
        """
        person = self._by_key(service, key)
        if person is None:
            raise unauthenticated("the key is not known here")
        # ours: what the person's console trades with; the key is the person's, so that any number
        # of consoles of one person work at once, and all end with it.
        agent = service.console_agent(person.name)
        if agent is None:
            # No 401: the key is good, and a console would put it aside.
            why = f"the console of {person.name} has no agent here yet"
            raise denied(409, why, f"ask for it once: {MY_AGENT.method} {MY_AGENT.path}")
        if not endpoint.reads:
            check_role(person, PersonRole.TRADER)
        return agent

    def _by_key(self, service: Service, key: str) -> Person | None:
        """The person of a key; None for an unknown key."""
        sent = hash_of(key)
        if hmac.compare_digest(sent, self._operator_key_hash) or sent in service.owner_hashes:
            return THE_OWNER
        return service.people.by_key(key)

    def known(self, service: Service, headers: HeaderValues) -> Agent | None:
        """The agent whose key was sent, None where none was or it is not right."""
        try:
            key = key_of(headers)
        except Denied:
            return None
        agent = service.world.by_key_hash(hash_of(key))
        person = None if agent is not None else self._by_key(service, key)
        return agent if person is None else service.console_agent(person.name)

    def operator(self, service: Service, headers: HeaderValues) -> Person | None:
        """The person of the sent key; None for no key or an unknown one."""
        try:
            return self._by_key(service, key_of(headers))
        except Denied:
            return None

    def admit(self, service: Service, endpoint: Endpoint[WireModel], caller: Caller) -> None:
        """Count a call against the rates of its caller's plan.

        Raises:
            Denied: 429 above the rate.
        """
        agent = caller.agent
        if not service.limits or endpoint.operator or _is_own_desk(service, endpoint, caller):
            return
        if agent is None:
            if endpoint.path not in FIXED_RATES:
                return
            # On a network each machine has its own count, or one caller could use up that of all.
            who, plan = caller.peer, service.plan
        else:
            who, plan = agent.agent_id, agent.settings.plan
        limit = rate_of(endpoint.path, plan)
        wait_s = service.rates.take(who, endpoint.path, limit, now=service.clock.monotonic())
        if wait_s > 0:
            url, grows = f"{service.address}{caller.path}", has_larger(endpoint.path, plan)
            raise throttled(limit, wait_s, url, grows=grows)

    def person(
        self, service: Service, endpoint: Endpoint[WireModel], headers: HeaderValues
    ) -> Person:
        """The person who calls an endpoint of the operators.

        Returns:
            The person.

        Raises:
            Denied: 401 for a key that nobody here has, 403 for a role below the endpoint's.
        """
        person = self._by_key(service, key_of(headers))
        if person is None:
            raise unauthenticated("this path wants the operator key of the desk")
        service.presence.note(person.name, person.role, service.clock.monotonic())
        if endpoint.role is not None:
            check_role(person, endpoint.role)
        return person


def check_role(person: Person, needed: PersonRole) -> None:
    """Refuse a role that is too small.

    Raises:
        Denied: 403 that names both roles.
    """
    if not person.reaches(needed):
        raise denied(
            403,
            f"this needs the role {needed.value}; {person.name} is {person.role.value}",
            "ask the owner of this world for another role, or ask somebody who has it",
        )


def check_own(person: Person, owner: str, *, may_take: bool = False) -> None:
    """Refuse a trader who acts on another person's agent.

    Args:
        person: who acts.
        owner: whose agent it is, empty for nobody's.
        may_take: an agent of nobody may become this person's.

    Raises:
        Denied: 403 that names whose agent it is.
    """
    if person.reaches(PersonRole.SUPERVISOR) or owner == person.name or (may_take and not owner):
        return
    whose = f"{owner}'s" if owner else "nobody's"
    raise denied(
        403,
        f"this needs the role supervisor: the agent is {whose}, and {person.name} is a trader",
        "act on your own agents, or ask a supervisor",
    )
