"""Access: host and origin, key to agent, the operator's key, the plan."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from starlette.datastructures import Headers

from service_tui.engine.agents.agents import Agent
from service_tui.engine.world import World
from service_tui.server.http.rates import FIXED_RATES, rate_of
from service_tui.server.http.refusals import Denied, denied, throttled, unauthenticated
from service_tui.server.http.service import Service
from service_tui.terms import Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

KEY_PREFIX: Final = "sk_live_"
EMBEDDED_HOST: Final = "embedded.localhost"
"""Name under which the console reaches the app in process; it never leaves the process."""

IN_PROCESS: Final = (EMBEDDED_HOST, 0)
"""Where calls of the console in this process come from; a socket's peer is never called so."""

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "[::1]", "::1", EMBEDDED_HOST})
KEY_MAX: Final = 200
BODY_MAX: Final = 256 * 1024
_PLAN_RANK: Final = {Plan.FREE: 0, Plan.PRO: 1, Plan.ELITE: 2}


def new_key() -> str:
    """A key of 192 random bits, in the usual form."""
    return KEY_PREFIX + secrets.token_urlsafe(24)


def hash_of(key: str) -> str:
    """What is kept of a key. One round is enough: the key itself is 192 random bits."""
    return hashlib.sha256(key.encode()).hexdigest()


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    return host if host.endswith("]") else host.rsplit(":", 1)[0]


@lru_cache(64)
def _is_loopback(host: str) -> bool:
    """Whether a Host header names this machine."""
    name = host_name(host)
    return name in HOSTS or name.endswith(".localhost")


def check_origin(headers: Headers, *, own_page: bool = False) -> None:
    """Refuse foreign hosts and every browser page, but our own where it may send its form.

    Raises:
        Denied: 403 for a host that is not loopback, or any Origin; of `own_page`, any but ours;
            400 for no host at all, or two.
    """
    hosts = headers.getlist("host")
    if len(hosts) != 1:
        raise denied(400, "the Host header was not sent once", "send it once, as HTTP/1.1 asks")
    host = hosts[0].lower()
    if not _is_loopback(host):
        raise denied(403, "this service answers on loopback only", "use http://127.0.0.1:<port>")
    if own_page:
        is_ours = headers.getlist("origin") == [f"http://{host}"]
        if not is_ours or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise denied(403, "the form came from another page", "open the claim link itself")
    elif "origin" in headers:
        raise denied(403, "requests from web pages are refused", "call from a program, no browser")


def key_of(headers: Headers) -> str:
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
    """A caller and the path, with its ids; `agent` is None where no key is needed."""

    agent: Agent | None
    path: str
    in_process: bool


def _is_own_desk(service: Service, endpoint: Endpoint[WireModel], caller: Caller) -> bool:
    # ours: a console that looks is never held back by itself: what this process asks for the person
    # is not counted, nor what the person's own agent reads from another console on this machine.
    if caller.agent is None:
        return caller.in_process
    return caller.agent.agent_id == service.operator_agent and (caller.in_process or endpoint.reads)


class Access:
    """Decides who is calling. `operator_key_hash` belongs to the person at the console."""

    def __init__(self, operator_key_hash: str) -> None:
        self._operator_key_hash = operator_key_hash

    def agent(self, world: World, headers: Headers, endpoint: Endpoint[WireModel]) -> Agent:
        """The agent that calls an endpoint with its key.

        Returns:
            The agent.

        Raises:
            Denied: 401 without a known key, 403 when the plan does not include the endpoint.
        """
        agent = world.by_key_hash(hash_of(key_of(headers)))
        if agent is None:
            raise unauthenticated("the key is not known here")
        if _PLAN_RANK[agent.settings.plan] < _PLAN_RANK[endpoint.plan]:
            raise denied(
                403,
                f"this needs the {endpoint.plan.value} plan",
                f"choose {endpoint.plan.value} or more on the settings screen of the console, or "
                f"start the service with --plan {endpoint.plan.value}",
            )
        return agent

    def known(self, world: World, headers: Headers) -> Agent | None:
        """The agent whose key was sent, None where none was or it is not right."""
        try:
            return world.by_key_hash(hash_of(key_of(headers)))
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
            who, plan = "", service.plan
        else:
            who, plan = agent.agent_id, agent.settings.plan
        limit = rate_of(endpoint.path, plan)
        wait_s = service.rates.take(who, endpoint.path, limit, now=service.clock.monotonic())
        if wait_s > 0:
            raise throttled(limit, wait_s, f"{service.address}{caller.path}")

    def operator(self, headers: Headers) -> None:
        """Let the operator pass.

        Raises:
            Denied: 401 for any other key.
        """
        if not hmac.compare_digest(hash_of(key_of(headers)), self._operator_key_hash):
            raise unauthenticated("this path wants the operator key of the desk")
