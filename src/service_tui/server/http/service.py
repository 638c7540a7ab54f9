"""The service that a handler uses, and the context of its request."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from service_tui.clock import Clock
from service_tui.engine.agents.agents import Agent
from service_tui.engine.events import Event, OperatorActed
from service_tui.engine.limits import PLANS
from service_tui.engine.world import World
from service_tui.server.claim.codes import ClaimCodes
from service_tui.server.claim.link_challenges import LinkChallenges
from service_tui.server.events.listeners import Subscription
from service_tui.server.http.idempotency import Promise, Repeats
from service_tui.server.http.people.here import PeopleHere
from service_tui.server.http.people.invitation_book import InvitationBook
from service_tui.server.http.people.roster import OWNER, Person, Roster
from service_tui.server.http.rates import Rates
from service_tui.server.http.refusals import denied
from service_tui.server.http.sol_quotes import SolQuotes
from service_tui.server.results.by_source import PastSums
from service_tui.server.results.reported import ReportedPnl
from service_tui.server.webhooks.courier import Courier
from service_tui.server.world_store import WorldStore
from service_tui.signing.book import ExchangeVersion
from service_tui.storage.world_database import WriteConnection
from service_tui.terms import SIGNAL_TTL_S, Plan, counted
from service_tui.units import Timestamp
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

EMBEDDED_HOST: Final = "embedded.localhost"
"""Name under which the console reaches the app in process; it never leaves the process."""

ETHEREUM: Final = "service_tui.signing.codec"
"""The module that imports Ethereum's libraries: loaded in a thread before a signature is read."""

Also = Callable[[Sequence[Event], WireModel], Sequence[Event]]
"""What else happens with these events and their answer; applied already."""

Model = TypeVar("Model", bound=WireModel)


@dataclass(slots=True)
class Service:
    """The embedded service at run time.

    `new_id` gives fresh random text for ids and keys; `address` is how others reach it, with the
    scheme. `plan` is what a new agent gets. `skill_folders` hold the installed skills, each in a
    folder of its own. `sdk_seen_at` is when each agent last called with the published client, since
    the start, or with ours, which `own_clients` names. `keep_own_key` puts the key of the console's
    own agent where its desks look for it; it blocks, and a StorageError means that it could not.
    `signal_ttl_s` is the life of a reactor signal, seconds of wall time. `courier` delivers to
    webhooks. `exchange` is the generation of the EVM venue that is simulated.
    `source_sums` is what each source of trades has come to. `repeats` knows the calls that came
    before, `courier` and `reported` what others are told. `rates` and `challenges` count calls and
    wait for signatures; `claim_codes`, `sol_quotes` and `copying` are open for a moment only.
    `agents_max` is the most agents of the world, None: no more than the plan allows each account.
    `limits`: rates, daily counts and cooldowns bind. `is_scripted`: somebody else moves the tape.
    `people` operate the world with keys of their own. With `needs_invitation` an agent registers by
    one of the `invitations` alone. `world_name` is what the world is called. `presence` is who has
    called lately. `leader` and `epoch` name the process of a shared desk that answers.
    `follows`: another process leads the world; this one only answers reads. `owner_hashes` are
    those of the operator's keys that other processes of a shared desk have brought.
    """

    world_store: WorldStore
    clock: Clock
    new_key: Callable[[], str]
    new_id: Callable[[], str]
    address: str
    plan: Plan
    repeats: Repeats
    courier: Courier
    operator_agent: str | None = None
    keep_own_key: Callable[[str], None] | None = None
    claim_codes: ClaimCodes = field(default_factory=ClaimCodes)
    reported: ReportedPnl = field(default_factory=ReportedPnl)
    skill_folders: tuple[Path, ...] = ()
    limits: bool = True
    agents_max: int | None = None
    signal_ttl_s: float = SIGNAL_TTL_S
    rates: Rates = field(default_factory=Rates)
    challenges: LinkChallenges = field(default_factory=LinkChallenges)
    exchange: ExchangeVersion = ExchangeVersion.V1
    sdk_seen_at: dict[str, Timestamp] = field(default_factory=dict[str, Timestamp])
    own_clients: dict[str, str] = field(default_factory=dict[str, str])
    source_sums: PastSums = field(default_factory=PastSums)
    sol_quotes: SolQuotes = field(default_factory=SolQuotes)
    copying: set[str] = field(default_factory=set[str])
    is_scripted: bool = False
    people: Roster = field(default_factory=lambda: Roster([]))
    invitations: InvitationBook = field(default_factory=lambda: InvitationBook([]))
    needs_invitation: bool = False
    world_name: str = ""
    presence: PeopleHere = field(default_factory=PeopleHere)
    leader: str = ""
    epoch: int = 0
    follows: bool = False
    owner_hashes: frozenset[str] = frozenset()

    def subscribe(self, after: int | None = None) -> Subscription:
        """What happens from now on, or after the event with this number; see `events`."""
        return self.world_store.events.subscribe(self.clock.now(), after)

    @property
    def world(self) -> World:
        """The world of now: the store may have read it back from disk."""
        return self.world_store.world

    def owner_of(self, agent_id: str) -> str:
        """Whose agent this is; empty for nobody's.

        Raises:
            AgentNotFound: there is no such agent.
        """
        owner = self.world.agent(agent_id).settings.owner
        # The console's own agent comes with the data directory, claimed or not.
        return owner or (OWNER if agent_id == self.operator_agent else "")

    def console_agent(self, person: str) -> Agent | None:
        """The agent with which a person's console trades; None before its first start."""
        for agent in self.world.agents.values():
            if agent.settings.console_of == person:
                return agent
        return None

    def own_agent(self, person: Person | None) -> str:
        """Id of the agent with which a person's console trades; empty for none.

        That of whom nobody names is the agent of the data directory.
        """
        of_console = None if person is None else self.console_agent(person.name)
        if of_console is not None:
            return of_console.agent_id
        is_here = person is None or person.name == OWNER
        return (self.operator_agent or "") if is_here else ""

    def agents_count(self, person: str = OWNER) -> int:
        """Agents that count against the plan of a person's account; nobody's are the owner's."""
        return sum((one.settings.owner or OWNER) == person for one in self._counted())

    def agents_bound(self, person: str = OWNER) -> int:
        """Most agents of a person's account."""
        # ours: the spec counts by account, and a person of a shared desk is one. The owner decides
        # how many the world has, and holds what is nobody's.
        if person == OWNER and self.agents_max is not None:
            return self.agents_max
        return PLANS[self.plan].agents

    def _counted(self) -> list[Agent]:
        # ours: all but people's own, or the Free plan's single agent would be the console.
        return [
            agent
            for agent_id, agent in self.world.agents.items()
            if agent_id != self.operator_agent
            and not agent.settings.retired
            and not agent.settings.console_of
        ]

    def check_slot(self, person: str = "") -> None:
        """Refuse one agent more than the world or a person's plan allows.

        Args:
            person: whose it is to be; empty for nobody's.

        Raises:
            Denied: 403 where the world or the account is full, unless the limits are off.
        """
        if not self.limits:
            return
        if self.agents_max is not None and len(self._counted()) >= self.agents_max:
            raise denied(
                403,
                f"the world has its {_agents(self.agents_max)}",
                "retire an agent (service-tui agent retire NAME), or start the service with a "
                "larger --agents-max",
            )
        self.check_account(person)

    def check_account(self, person: str) -> None:
        """Refuse one agent more than a person's plan allows.

        Raises:
            Denied: 403 where the account is full, unless the limits are off.
        """
        name = person or OWNER
        bound = self.agents_bound(name)
        if not self.limits or self.agents_count(name) < bound:
            return
        if name == OWNER:
            why = f"the account has its {_agents(bound)}"
        else:
            why = f"{name} has the {_agents(bound)} of the {self.plan.value} plan"
        raise denied(
            403,
            why,
            "retire an agent (service-tui agent retire NAME), choose a larger plan in the "
            "console, or start the service with a larger --plan",
        )


@dataclass(slots=True)
class RequestContext:
    """One call: its caller, body, query and path parts.

    Not frozen: to be so would cost as much as to carry out a trade in memory.

    `unknown` are the names of parameters that the endpoint does not know; `headers` go out with
    the answer, and a handler may add to them. `approved`: the operator has let this order pass,
    at an average price no worse than `average_bound`;
    `also` gives what is to be written down in the same transaction as what happened. `person` is
    the operator who calls, and `act` the row that names them beside what they change; both are None
    for an agent. `known` is the version of the answer that the caller has, empty without one.
    """

    service: Service
    caller: Agent | None
    now: Timestamp
    body: WireModel | None = None
    query: WireModel | None = None
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    unknown: tuple[str, ...] = ()
    headers: dict[str, str] = field(default_factory=dict[str, str])
    promise: Promise | None = None
    approved: bool = False
    average_bound: float | None = None
    host: str = ""
    also: Also | None = None
    person: Person | None = None
    act: OperatorActed | None = None
    in_process: bool = False
    known: str = ""

    @property
    def operator(self) -> Person:
        """The calling person; endpoints of agents never ask for it."""
        if self.person is None:
            raise TypeError("this endpoint has no operator")
        return self.person

    @property
    def world(self) -> World:
        """The world of now."""
        return self.service.world

    @property
    def agent(self) -> Agent:
        """The calling agent as it is now; endpoints without a key never ask for it."""
        if self.caller is None:
            raise TypeError("this endpoint has no calling agent")
        # The world may have been read back since the key was looked at.
        return self.world.agents[self.caller.agent_id]

    async def commit(self, events: Sequence[Event], reply: Model) -> Model:
        """Write down what was applied, and in the same transaction the answer to it.

        Returns:
            The answer, once both are on disk.

        Raises:
            StorageError: the disk refused.
        """
        if self.also is not None:
            events = [*events, *self.also(events, reply)]
        if events and self.act is not None:
            events = [*events, self.act]
        promise = self.promise
        kept = None if promise is None else promise.keep(reply.model_dump_json(by_alias=True))
        await self.service.world_store.commit(events, answer=kept)
        return reply

    async def write(
        self,
        events: Sequence[Event],
        *,
        beside: Callable[[WriteConnection], None] | None = None,
        always: bool = False,
    ) -> None:
        """Write down what an operator changed, and in the same transaction who that was.

        Args:
            events: what happened, applied already; nothing is written where there are none.
            beside: what is changed beside the journal.
            always: what was changed is on no disk, but who changed it shall be.

        Raises:
            StorageError: the disk refused.
        """
        if not events and beside is None and not always:
            return
        named = [] if self.act is None else [self.act]
        await self.service.world_store.commit([*events, *named], beside=beside)

    def body_as(self, kind: type[Model]) -> Model:
        """The body, typed; the endpoint table and the handler must agree."""
        return _typed(self.body, kind)

    def query_as(self, kind: type[Model]) -> Model:
        """The query, typed."""
        return _typed(self.query, kind)


def _typed(value: WireModel | None, kind: type[Model]) -> Model:
    if not isinstance(value, kind):
        raise TypeError(f"the endpoint does not ask for {kind.__name__}")
    return value


StreamHandler = Callable[[RequestContext, int | None], Subscription]
"""What opens a stream, given the number of the event that the listener heard last."""

Handler = Callable[[RequestContext], Awaitable[WireModel]]
Routes = Mapping[Endpoint[WireModel], Handler]


def _agents(count: int) -> str:
    return "one agent" if count == 1 else counted(count, "agent")
