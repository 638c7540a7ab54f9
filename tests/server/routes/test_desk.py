"""The operator's desk: every agent at a glance, new keys, pause, suspension, and the plan."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from kit.engine.bare import AT, bare_world
from kit.engine.topics import TOPICS
from kit.service.bare import ACT, ANN, bare_service, request_to
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, SEED, Stage, open_directory, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.amm.market import TAPE_MAX
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import AgentChanged, KeyRotated, PlanSet
from service_tui.server.claim.codes import CODE_S, TRIES, ClaimCodes
from service_tui.server.embedded import BASE_URL, SimSettings, open_sim
from service_tui.server.http.access import hash_of
from service_tui.server.http.people.roster import Person
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import desk
from service_tui.server.world_store import restore
from service_tui.storage.errors import StorageError, StorageFullError
from service_tui.terms import PersonRole, Plan, WalletKind
from service_tui.units import ONE, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.desk import AccountPatch, DeskAgentPatch
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import (
    DESK_ACCOUNT,
    DESK_AGENTS,
    DESK_NEW_KEY,
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
    TAPE,
)
from service_tui.wire.endpoints.public import AGENT, PLACE_TRADE, REGISTER, TRADES

pytestmark = pytest.mark.slow

Json = dict[str, Any]


async def ask(
    stage: Stage, endpoint: Endpoint[Any], key: str = OPERATOR, agent_id: str = "", **sent: Any
) -> httpx.Response:
    path = endpoint.path.format(agent_id=agent_id or stage.agent_id)
    async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
        headers = {"Authorization": f"Bearer {key}"}
        return await client.request(endpoint.method, path, headers=headers, **sent)


async def said(stage: Stage, endpoint: Endpoint[Any], **sent: Any) -> Json:
    answer = await ask(stage, endpoint, **sent)
    assert answer.status_code == 200, answer.text
    endpoint.answers.model_validate_json(answer.content)
    return answer.json()


async def register(stage: Stage, name: str) -> Json:
    return (await ask(stage, REGISTER, json={"name": name})).json()


async def buy(stage: Stage, key: str, **fields: object) -> httpx.Response:
    order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 50}
    return await ask(stage, PLACE_TRADE, key, json=order | fields)


def drain(stage: Stage, agent_id: str) -> None:
    """Take an agent's cash away, as a run of bad luck would."""
    world = stage.world
    agent = world.agents[agent_id]
    world.ledger.transfer(agent.cash_account, "issuer", world.cash(agent))


async def test_the_desk_sees_every_agent_with_its_figures(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        second = await register(stage, "second")
        assert (await buy(stage, second["api_key"])).json()["success"] is True
        body = await said(stage, DESK_AGENTS)
        first, row = body["agents"]
        assert (first["name"], first["is_own"], first["trades_count"]) == ("tester", True, 0)
        assert (row["name"], row["is_own"], row["status"]) == ("second", False, "unclaimed")
        assert (row["plan"], row["claimed"], row["suspended"]) == ("pro", False, False)
        assert (row["trades_count"], row["positions_count"], row["cash"]) == (1, 1, 9_950)
        assert row["last_trade_at"] is not None
        assert first["last_trade_at"] is None
        agent = stage.world.agents[row["agent_id"]]
        assert row["equity"] == pytest.approx(stage.world.equity(agent) / ONE)
        # A round trip's loss is today's and all there is so far.
        assert row["exit_equity"] == pytest.approx(stage.world.exit_equity(stage.agent) / ONE)
        assert row["pnl_today"] == pytest.approx(row["exit_equity"] - 10_000)
        assert row["pnl_total"] == pytest.approx(row["equity"] - 10_000, abs=1e-6)
        assert row["claim_url"] == second["claim_url"]
        assert body["account"] == {"plan": "pro", "agents_count": 1, "agents_max": 10}
        text = json.dumps(body)
        assert second["api_key"] not in text
        assert hash_of(second["api_key"]) not in text


async def test_a_new_key_is_shown_once_and_the_old_one_is_dead_at_once(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0) as stage:
        own = await ask(stage, DESK_NEW_KEY)
        assert own.status_code == 409
        assert own.json()["fix"]
        # An agent like any other, from here on.
        stage.sim.service.operator_agent = None
        fresh = await said(stage, DESK_NEW_KEY)
        key = fresh["api_key"]
        assert key.startswith(fresh["key_prefix"])
        assert key != stage.key
        assert (await ask(stage, AGENT, stage.key)).status_code == 401
        me = await ask(stage, AGENT, key)
        assert me.json()["agent_id"] == stage.agent_id == fresh["agent_id"]
        found = await asyncio.to_thread(restore, stage.at_rest, TOPICS)
        assert found is not None
        assert found[0].by_key_hash(hash_of(stage.key)) is None
        assert found[0].by_key_hash(hash_of(key)) is found[0].agents[stage.agent_id]
        third = (await said(stage, DESK_NEW_KEY))["api_key"]
        assert (await ask(stage, AGENT, key)).status_code == 401
        agent_id = stage.agent_id
    kept = kept_in(tmp_path)
    assert all(one.encode() not in kept for one in (stage.key, key, third))
    async with open_stage(tmp_path, clock, key=third, agent_id=agent_id) as stage:
        assert (await ask(stage, AGENT, third)).status_code == 200
        assert (await ask(stage, AGENT, key)).status_code == 401


def kept_in(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


async def test_an_agent_that_is_not_there_is_a_404(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for endpoint, sent in ((DESK_NEW_KEY, {}), (DESK_PATCH_AGENT, {"json": {}})):
            answer = await ask(stage, endpoint, agent_id="nobody", **sent)
            assert answer.status_code == 404
            assert "agent not found" in answer.json()["error"]
            assert answer.json()["fix"]


async def test_the_operator_changes_an_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        wanted = {"name": "Ada", "plan": "free", "trading_paused": True}
        body = await said(stage, DESK_PATCH_AGENT, json=wanted)
        assert {name: body[name] for name in wanted} == wanted
        answer = await buy(stage, stage.key)
        assert (answer.json()["success"], answer.json()["error_code"]) == (False, "TRADING_PAUSED")
        before = stage.sim.service.world_store.seq
        again = await said(stage, DESK_PATCH_AGENT, json=wanted | {"suspended": None})
        assert again == body
        # What is as wanted already leaves no row.
        assert stage.sim.service.world_store.seq == before
        found = await asyncio.to_thread(restore, stage.at_rest, TOPICS)
        assert found is not None
        assert found[0].agents[stage.agent_id].settings == stage.agent.settings


async def test_a_suspended_agent_is_refused_in_the_usual_shape(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        bought = (await buy(stage, stage.key)).json()
        await said(stage, DESK_PATCH_AGENT, json={"suspended": True})
        sale = {"amount": 0, "action": "sell", "shares": bought["shares_bought"]}
        for fields in ({}, sale):
            answer = await buy(stage, stage.key, **fields)
            assert answer.status_code == 200
            assert answer.json()["success"] is False
            assert answer.json()["error_code"] == "AGENT_SUSPENDED"
            assert answer.json()["fix"]
        me = (await ask(stage, AGENT, stage.key)).json()
        assert me["status"] == "suspended"
        await said(stage, DESK_PATCH_AGENT, json={"suspended": False})
        assert (await buy(stage, stage.key, **sale)).json()["success"] is True


async def test_a_retired_agent_gives_its_slot_back_and_keeps_its_history(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        line = line_to(stage)
        await buy(stage, stage.key)
        first = await line.said(REGISTER, json={"name": "first"})
        one = Line(stage, first["api_key"])
        await line.said(REGISTER, 403, json={"name": "second"})
        where = {"agent_id": first["agent_id"]}
        operator = Line(stage, OPERATOR)
        row = await operator.said(DESK_PATCH_AGENT, path=where, json={"retired": True})
        assert (row["retired"], row["suspended"], row["status"]) == (True, True, "suspended")
        assert (await operator.said(DESK_ACCOUNT))["agents_count"] == 0
        assert (await one.said(AGENT))["status"] == "suspended"
        assert (await one.said(TRADES))["trades"] == []
        await line.said(REGISTER, json={"name": "second"})
        # The slot is another's now: nobody comes back by either door.
        for changes in ({"retired": False}, {"suspended": False}):
            await operator.said(DESK_PATCH_AGENT, 403, path=where, json=changes)
        own = {"agent_id": stage.agent_id}
        await operator.said(DESK_PATCH_AGENT, 409, path=own, json={"retired": True})
        # Without limits there is no limit of slots either.
        stage.sim.service.limits = False
        await line.said(REGISTER, json={"name": "third"})
        row = await operator.said(DESK_PATCH_AGENT, path=where, json={"suspended": False})
        assert (row["retired"], row["suspended"]) == (False, False)


async def test_a_broke_agent_is_refused_in_the_usual_shape(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        drain(stage, stage.agent_id)
        answer = await buy(stage, stage.key)
        assert answer.status_code == 200
        assert (answer.json()["success"], answer.json()["error_code"]) == (False, "AGENT_BROKE")
        assert "register a new agent" in answer.json()["fix"]
        assert (await said(stage, DESK_AGENTS))["agents"][0]["status"] == "broke"
        assert (await ask(stage, AGENT, stage.key)).json()["status"] == "broke"


async def test_the_chosen_plan_is_what_new_agents_get_also_after_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0, plan=Plan.FREE) as stage:
        first = await register(stage, "first")
        assert stage.world.agents[first["agent_id"]].settings.plan is Plan.FREE
        assert (await ask(stage, REGISTER, json={"name": "second"})).status_code == 403
        body = await said(stage, DESK_PATCH_ACCOUNT, json={"plan": "elite"})
        assert body == {"plan": "elite", "agents_count": 1, "agents_max": 20}
        second = await register(stage, "second")
        assert stage.world.agents[second["agent_id"]].settings.plan is Plan.ELITE
        assert stage.agent.settings.plan is Plan.FREE
        await said(stage, DESK_PATCH_ACCOUNT, json={"all_agents": True})
        assert stage.agent.settings.plan is Plan.ELITE
        assert await said(stage, DESK_ACCOUNT) == body | {"agents_count": 2}
    async with (
        open_directory(tmp_path, clock) as database,
        open_sim(
            database, clock, SimSettings(seed=SEED, topics=TOPICS, operator_key=OPERATOR)
        ) as sim,
    ):
        assert sim.service.plan is Plan.ELITE
    # A plan on the command line is for that run.
    settings = SimSettings(seed=SEED, topics=TOPICS, plan=Plan.PRO, operator_key=OPERATOR)
    async with (
        open_directory(tmp_path, clock) as database,
        open_sim(database, clock, settings) as sim,
    ):
        assert sim.service.plan is Plan.PRO
        assert sim.service.world.plan is Plan.ELITE


OWNER = Person("olga", PersonRole.OWNER)
TRADER = Person("tom", PersonRole.TRADER)


def service(*names: str, **changes: Any) -> Any:
    """A service whose own agent is `own`, and some others."""
    world = bare_world("own", *(names or ("ada",)))
    return bare_service(world, **changes)


def request_of(one: Any, person: Person = ANN, agent_id: str = "ada", **given: Any) -> Any:
    request = request_to(one, path={"agent_id": agent_id}, **given)
    return replace(request, person=person)


async def patched(one: Any, person: Person = ANN, agent_id: str = "ada", **fields: Any) -> Any:
    body = DeskAgentPatch(**fields)
    return await desk.patch_agent(request_of(one, person, agent_id, body=body))


def changed(one: Any) -> list[tuple[str, dict[str, object]]]:
    """Settings that were written, by agent; the act of the operator ends each write."""
    written = one.world_store.written
    assert not written or written[-1] is ACT
    return [(row.agent_id, dict(row.changes)) for row in written if isinstance(row, AgentChanged)]


# -- changes ------------------------------------------------------------------------------------


async def test_what_is_changed_is_written_with_who_did_it_and_shown() -> None:
    one = service()
    row = await patched(one, name="Ada the second")
    assert changed(one) == [("ada", {"name": "Ada the second"})]
    assert (row.agent_id, row.name) == ("ada", "Ada the second")
    one.world_store.written.clear()
    await patched(one, name="Ada the second")
    assert one.world_store.written == [], "what is as wanted leaves no trace"


@pytest.mark.parametrize(
    ("before", "paused", "written"),
    [
        ({}, True, {"operator_paused": True}),
        ({"operator_paused": True}, False, {"operator_paused": False}),
        ({"trading_paused": True}, False, {"trading_paused": False}),
        (
            {"operator_paused": True, "trading_paused": True}, False,
            {"operator_paused": False, "trading_paused": False},
        ),
        ({"trading_paused": True}, True, {"operator_paused": True}),
    ],
)  # fmt: skip
async def test_the_operators_pause_is_a_flag_of_its_own_and_its_end_ends_both(
    before: dict[str, bool], written: dict[str, bool], *, paused: bool
) -> None:
    one = service()
    one.world.agents["ada"].change(before)
    row = await patched(one, trading_paused=paused)
    assert changed(one) == [("ada", written)]
    assert row.trading_paused is paused


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        ({"plan": Plan.PRO}, PersonRole.OWNER),
        ({"suspended": True}, PersonRole.SUPERVISOR),
        ({"retired": True}, PersonRole.SUPERVISOR),
        ({"wallet": WalletKind.EXTERNAL}, PersonRole.SUPERVISOR),
        ({"name": "x"}, PersonRole.TRADER),
        ({"trading_paused": True}, PersonRole.TRADER),
        ({"name": "x", "plan": Plan.PRO}, PersonRole.OWNER),
    ],
)
async def test_each_field_wants_its_role(fields: dict[str, Any], least: PersonRole) -> None:
    for role in (PersonRole.TRADER, PersonRole.SUPERVISOR, PersonRole.OWNER):
        one, person = service(), Person("p", role)
        if person.reaches(least):
            await patched(one, person, **fields)
            assert one.world_store.written
        else:
            with pytest.raises(Denied, match="403"):
                await patched(one, person, **fields)
            assert one.world_store.written == []


async def test_who_retires_is_suspended_and_its_open_orders_are_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = service()
    asked: list[object] = []
    orders = SimpleNamespace(orders=lambda agent_id: [f"order of {agent_id}"])
    monkeypatch.setattr(one.world, "venues", SimpleNamespace(orders=orders.orders))
    monkeypatch.setattr(
        desk, "cancel_all", lambda _, resting, times: asked.append((resting, times)) or ["ended"]
    )
    monkeypatch.setattr(desk, "agent_row", lambda *_: None)
    await patched(one, retired=True)
    assert asked == [(["order of ada"], (AT, one.world.world_at))]
    assert one.world_store.written[0] == "ended"
    assert changed(one) == [("ada", {"retired": True, "suspended": True})]


@pytest.mark.parametrize("fields", [{"retired": False}, {"suspended": False}])
async def test_who_comes_back_is_neither_retired_nor_suspended_and_needs_a_slot(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, bool]
) -> None:
    one = service()
    one.world.agents["ada"].change({"retired": True, "suspended": True})
    slots: list[str] = []
    monkeypatch.setattr(type(one), "check_slot", lambda _, person: slots.append(person))
    await patched(one, **fields)
    assert (changed(one), slots) == ([("ada", {"retired": False, "suspended": False})], [""])

    def full(_: object, _person: str) -> None:
        raise Denied(403, cast("Any", None))

    one = service()
    one.world.agents["ada"].change({"retired": True, "suspended": True})
    monkeypatch.setattr(type(one), "check_slot", full)
    with pytest.raises(Denied):
        await patched(one, **fields)
    assert one.world_store.written == []
    # Who is suspended only comes back to the slot that it has.
    one.world.agents["ada"].change({"retired": False, "suspended": True})
    await patched(one, suspended=False)
    assert changed(one) == [("ada", {"suspended": False})]


@pytest.mark.parametrize("agent_id", ["own", "ada"])
async def test_the_agent_of_a_console_does_not_retire(agent_id: str) -> None:
    one = service()
    one.world.agents["ada"].change({"console_of": "tom"})
    with pytest.raises(Denied, match="409"):
        await patched(one, agent_id=agent_id, retired=True)
    assert one.world_store.written == []
    await patched(one, agent_id=agent_id, suspended=True)
    assert changed(one) == [(agent_id, {"suspended": True})]


async def test_an_agent_that_is_managed_again_is_unlinked_from_its_wallet() -> None:
    one = service()
    one.world.agents["ada"].change({"wallet": WalletKind.EXTERNAL})
    one.world.apply(WalletLinked("ada", AT, "0x" + "ab" * 20))
    row = await patched(one, wallet=WalletKind.MANAGED)
    assert row.wallet is WalletKind.MANAGED
    assert one.world.chain.wallet_of("ada") is None
    kinds = [type(each) for each in one.world_store.written]
    assert kinds[0] is WalletLinked


# -- claims and keys ----------------------------------------------------------------------------


async def test_an_operator_claims_an_agent_that_becomes_theirs() -> None:
    one = service()
    row = await desk.claim_agent(request_of(one, TRADER))
    assert changed(one) == [("ada", {"claimed": True, "owner": "tom"})]
    assert row.claimed
    one.world_store.written.clear()
    await desk.claim_agent(request_of(one, ANN))
    assert (one.world_store.written, one.world.agents["ada"].settings.owner) == ([], "tom")


async def test_a_claim_code_is_shown_once_with_its_end_and_its_tries() -> None:
    one = service(new_id=lambda: "f" * 32)
    codes = ClaimCodes()
    one.claim_codes = codes
    body = await desk.claim_code(request_of(one, TRADER))
    assert (body.agent_id, body.tries, body.code) == ("ada", TRIES, "ZZZZ-ZZZZ")
    assert body.expires_at == moment(Timestamp(AT + CODE_S))
    assert body.claim_url.startswith(one.address)
    assert (codes.maker_of("ada"), codes.tries_left("ada", 71.5 + CODE_S - 1)) == ("tom", TRIES)
    assert codes.tries_left("ada", 71.5 + CODE_S) == 0
    assert one.world_store.written == [ACT], "it is noted who made one, and not the code"
    one.world.agents["ada"].change({"claimed": True})
    with pytest.raises(Denied, match="409"):
        await desk.claim_code(request_of(one))


async def test_of_a_new_key_only_the_hash_is_kept() -> None:
    key = "sk_live_0123456789"
    one = service(new_key=lambda: key)
    body = await desk.new_key(request_of(one, TRADER))
    assert (body.agent_id, body.api_key, body.key_prefix) == ("ada", key, key[:12])
    assert one.world_store.written == [KeyRotated("ada", AT, hash_of(key)), ACT]
    assert key not in str(one.world_store.written)


async def test_the_key_of_a_persons_console_is_renewed_with_the_person() -> None:
    one = service()
    one.world.agents["ada"].change({"console_of": "tom"})
    with pytest.raises(Denied, match="409") as refused:
        await desk.new_key(request_of(one, OWNER))
    assert refused.value.body.fix == "renew that: service-tui people renew tom"
    assert one.world_store.written == []


async def test_the_own_key_is_kept_for_the_desks_before_it_counts() -> None:
    kept: list[str] = []
    one = service(keep_own_key=kept.append)
    with pytest.raises(Denied, match="403"):
        await desk.new_key(request_of(one, ANN, "own"))
    assert kept == []
    await desk.new_key(request_of(one, OWNER, "own"))
    assert (kept, len(one.world_store.written)) == (["sk_live_new"], 2)
    await desk.new_key(request_of(one, OWNER, "ada"))
    assert kept == ["sk_live_new"], "no desk opens the agent of others"


async def test_an_own_key_that_cannot_be_kept_stays_as_it_was() -> None:
    one = service(keep_own_key=None)
    with pytest.raises(Denied, match="409"):
        await desk.new_key(request_of(one, OWNER, "own"))

    def full(_: str) -> None:
        raise StorageError("no room")

    one = service(keep_own_key=full)
    with pytest.raises(Denied, match="409") as refused:
        await desk.new_key(request_of(one, OWNER, "own"))
    assert refused.value.body.error == "the new key cannot be kept: no room"
    assert one.world_store.written == []
    one = service()
    one.world_store.refuses = StorageFullError("full")
    with pytest.raises(StorageFullError):
        await desk.new_key(request_of(one))
    assert one.world.agents["ada"].agent_id == "ada"


# -- the account --------------------------------------------------------------------------------


async def test_a_plan_is_that_of_new_agents_and_of_all_on_request() -> None:
    one = service("ada", "bea", plan=Plan.ELITE)
    one.world.plan = Plan.ELITE
    one.world.agents["bea"].change({"plan": Plan.PRO})
    body = await desk.patch_account(request_of(one, OWNER, body=AccountPatch(plan=Plan.PRO)))
    assert (body.plan, one.plan) == (Plan.PRO, Plan.PRO)
    assert one.world_store.written == [PlanSet(AT, Plan.PRO), ACT]
    one.world_store.written.clear()
    await desk.patch_account(request_of(one, OWNER, body=AccountPatch(all_agents=True)))
    assert changed(one) == [("own", {"plan": Plan.PRO}), ("ada", {"plan": Plan.PRO})]
    one.world_store.written.clear()
    told = await desk.patch_account(request_of(one, OWNER, body=AccountPatch(all_agents=True)))
    assert (one.world_store.written, told) == ([], await desk.account(request_of(one)))


async def test_a_plan_that_the_disk_does_not_take_is_not_in_force() -> None:
    one = service(plan=Plan.ELITE)
    one.world_store.refuses = StorageFullError("full")
    with pytest.raises(StorageFullError):
        await desk.patch_account(request_of(one, OWNER, body=AccountPatch(plan=Plan.PRO)))
    assert one.plan is Plan.ELITE


async def test_agents_are_listed_in_the_order_of_their_registration() -> None:
    one = service("bea", "ada")
    # The owner is who opens the own agent; others have a console's agent of their own.
    owner = Person("owner", PersonRole.OWNER)
    body = await desk.list_agents(request_of(one, owner))
    assert [(row.agent_id, row.is_own) for row in body.agents] == [
        ("own", True), ("bea", False), ("ada", False),
    ]  # fmt: skip
    assert body.account == await desk.account(request_of(one, owner))


# -- a row --------------------------------------------------------------------------------------


async def test_a_trade_of_an_agent_is_told_after_the_tape_has_moved_past_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id = stage.open_markets()[0].market_id
        assert (await buy(stage, stage.key)).json()["success"] is True
        path = TAPE.path.format(market_id=market_id)
        endpoint = replace(TAPE, path=path)
        first = await said(stage, endpoint)
        assert (first["trades"][0]["trader"], first["filled"]) == ("tester", [])
        others = (await register(stage, "second"))["api_key"]
        for _ in range(TAPE_MAX):
            assert (await buy(stage, others, amount=1)).json()["success"] is True
        later = await said(stage, endpoint)
        assert "tester" not in {row["trader"] for row in later["trades"]}
        assert later["filled"] == [first["trades"][0]]
