"""Whose agent is whose, how many an account has, and what a call writes down."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, joined
from kit.service.bare import bare_service
from service_tui.engine.errors import AgentNotFound
from service_tui.engine.events import Event, OperatorActed, SpeedSet
from service_tui.server.http.idempotency import Promise
from service_tui.server.http.people.roster import OWNER, Person
from service_tui.server.http.refusals import Denied
from service_tui.server.http.service import RequestContext, Service
from service_tui.storage.answers import Answer
from service_tui.terms import PersonRole, Plan
from service_tui.wire.base import WireModel
from service_tui.wire.halt import HaltBody

HAPPENED: Final[Event] = SpeedSet(AT, AT, 60)
ACT: Final = OperatorActed("ann", AT, "speed")


def service(plan: Plan = Plan.FREE, **changes: Any) -> Any:
    world = bare_world("own", "ada", "bens", "cyds", "gone")
    for name, change in {
        "ada": {"owner": "ann"},
        "bens": {"console_of": "ben"},
        "cyds": {"console_of": "cyd", "owner": "cyd"},
        "gone": {"retired": True},
    }.items():
        world.agents[name].change(change)
    return bare_service(world, plan=plan, **changes)


def call(one: Service, **changes: Any) -> RequestContext:
    return RequestContext(one, None, AT, **changes)


def test_an_agent_belongs_to_its_owner_and_the_desks_own_to_the_owner_of_the_desk() -> None:
    one = service()
    owners = {name: one.owner_of(name) for name in ("own", "ada", "bens", "cyds")}
    assert owners == {"own": OWNER, "ada": "ann", "bens": "", "cyds": "cyd"}
    one.world.agents["own"].change({"owner": "zoe"})
    assert one.owner_of("own") == "zoe"
    with pytest.raises(AgentNotFound):
        one.owner_of("nobody")


def test_a_person_trades_with_the_agent_of_the_own_console() -> None:
    one = service()
    assert one.console_agent("ben") is one.world.agents["bens"]
    assert one.console_agent("cyd") is one.world.agents["cyds"]
    assert one.console_agent("ann") is None
    assert one.own_agent(Person("ben", PersonRole.TRADER)) == "bens"
    assert one.own_agent(Person("ann", PersonRole.TRADER)) == ""
    assert one.own_agent(Person(OWNER, PersonRole.OWNER)) == "own"
    assert one.own_agent(None) == "own"
    assert service(operator_agent=None).own_agent(None) == ""
    one.world.agents["ada"].change({"console_of": OWNER})
    assert one.own_agent(Person(OWNER, PersonRole.OWNER)) == "ada"


def test_peoples_own_agents_and_retired_ones_take_no_place_of_the_plan() -> None:
    one = service(Plan.PRO)
    assert (one.agents_count(), one.agents_count("ann")) == (0, 1)
    one.check_slot()
    joined(one.world, "dora")
    assert (one.agents_count(), one.agents_count("ann")) == (1, 1)


def test_a_full_account_says_how_many_its_plan_allows() -> None:
    one = service()
    one.check_slot()
    joined(one.world, "dora")
    with pytest.raises(Denied) as refused:
        one.check_slot()
    body: Any = refused.value.body
    assert refused.value.status == 403
    assert body.error == "the account has its one agent"
    service(limits=False).check_slot()
    many = service(Plan.PRO)
    for number in range(10):
        joined(many.world, f"n{number}")
    with pytest.raises(Denied) as refused:
        many.check_slot()
    body = refused.value.body
    assert body.error == "the account has its 10 agents"


def test_what_an_endpoint_does_not_ask_for_is_not_given() -> None:
    one = service()
    request = call(one, body=HaltBody.model_construct())
    for ask in (lambda: request.operator, lambda: request.agent):
        with pytest.raises(TypeError):
            ask()
    for typed in (request.query_as, request.body_as):
        with pytest.raises(TypeError):
            typed(Person)  # pyright: ignore[reportArgumentType]
    assert request.body_as(HaltBody) is request.body
    asked = call(one, query=HaltBody.model_construct())
    assert asked.query_as(HaltBody) is asked.query
    ann = Person("ann", PersonRole.TRADER)
    assert call(one, person=ann).operator is ann


def test_the_calling_agent_is_the_one_of_the_world_as_it_is_now() -> None:
    one = service()
    request = RequestContext(one, bare_world("ada").agents["ada"], AT)
    assert request.agent is one.world.agents["ada"]
    assert request.world is one.world


class Reply(WireModel):
    """An answer."""

    word: str = "yes"


async def test_an_answer_is_written_with_what_it_answers_and_who_acted_beside_it() -> None:
    one, reply = service(), Reply()
    store = one.world_store
    promise = Promise("ada", "k1", "/p", "h", AT)
    assert await call(one, promise=promise).commit([HAPPENED], reply) is reply
    assert store.answers == [Answer("ada", "k1", "/p", "h", '{"word":"yes"}', AT)]
    assert store.written == [HAPPENED]
    store.written.clear()
    await call(one, act=ACT).commit([HAPPENED], Reply())
    assert store.written == [HAPPENED, ACT]
    # Where nothing happened nobody acted.
    await call(one, act=ACT).commit([], Reply())
    assert store.written == [HAPPENED, ACT]


async def test_what_belongs_to_it_is_written_in_the_same_transaction() -> None:
    one = service()
    also: Any = lambda events, reply: [(len(events), reply.word)]  # noqa: E731
    await call(one, also=also).commit([HAPPENED], Reply())
    assert (one.world_store.written, len(one.world_store.answers)) == ([HAPPENED, (1, "yes")], 1)


async def test_a_change_of_an_operator_is_written_only_where_something_changed() -> None:
    one = service()
    written, request = one.world_store.written, call(one, act=ACT)
    await request.write([])
    assert written == []
    await request.write([HAPPENED])
    assert written == [HAPPENED, ACT]
    await request.write([], always=True)
    assert written == [HAPPENED, ACT, ACT]
    beside: Any = object()
    await call(one).write([], beside=beside)
    assert written[3:] == ["beside"]
