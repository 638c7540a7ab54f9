"""People with roles: what each may call, what is kept of it, and how agents are invited."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.clock import leap
from kit.service.stage import ANSWER_S, OPERATOR, Stage, open_stage
from service_tui.engine.events import LeashSet
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.loopback import listen
from service_tui.server.http.people.roster import OWNER, Person, Roster
from service_tui.server.http.people.secret_keys import new_secret
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import columns
from service_tui.storage.people import PersonRecord
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import LeashMode, PersonRole, Plan
from service_tui.units import Micros
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.people import MY_AGENT
from service_tui.wire.endpoints.public import ALL

OPERATORS = [one for one in ALL if one.operator]
BELOW_OWNER = (PersonRole.OBSERVER, PersonRole.TRADER, PersonRole.SUPERVISOR)
RANK = {role: rank for rank, role in enumerate(PersonRole)}
SQL = "Robert'); DROP TABLE people; --"


class Caller:
    """Calls a stage's service as somebody."""

    def __init__(self, stage: Stage, key: str | None) -> None:
        self._stage = stage
        self._key = key

    async def ask(
        self, method: str, path: str, body: object = None, **query: object
    ) -> httpx.Response:
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(self._stage.sim.app), base_url="http://127.0.0.1"
        ) as client:
            return await client.request(
                method, f"/api/{path}", json=body, headers=headers, params=query
            )

    async def get(self, path: str, **query: object) -> dict[str, Any]:
        response = await self.ask("GET", path, **query)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: object = None, method: str = "POST") -> dict[str, Any]:
        response = await self.ask(method, path, body)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(
        self, path: str, body: object = None, *, method: str = "POST", status: int = 403
    ) -> str:
        response = await self.ask(method, path, body)
        assert response.status_code == status, response.text
        return response.json()["error"]


def owner_of(stage: Stage) -> Caller:
    return Caller(stage, OPERATOR)


async def added(stage: Stage, name: str, role: PersonRole) -> Caller:
    made = await owner_of(stage).post("desk/people", {"name": name, "role": role})
    return Caller(stage, made["key"])


async def invited(stage: Stage, **given: object) -> str:
    return (await owner_of(stage).post("desk/invitations", given))["code"]


async def registered(stage: Stage, code: str | None = None, name: str = "heron") -> str:
    body = {"name": name} | ({} if code is None else {"invitation": code})
    return (await Caller(stage, None).post("sdk/agents/register", body))["agent_id"]


def rows_of(database: WorldDatabase, table: str) -> list[dict[str, object]]:
    rows = database.rows(f"SELECT {columns(table)} FROM {table}", {})  # noqa: S608 - names of ours
    return [dict(zip(TABLES[table].columns, row, strict=True)) for row in rows]


@asynccontextmanager
async def inviting(path: Path) -> AsyncGenerator[Stage]:
    """A stage that takes in whom it has invited."""
    async with open_stage(path, plan=Plan.ELITE) as stage:
        stage.sim.service.needs_invitation = True
        yield stage


# -- each endpoint, each role --------------------------------------------------------------


def path_on(stage: Stage, endpoint: Endpoint[WireModel]) -> str:
    ids = {
        "agent_id": stage.agent_id,
        "market_id": stage.open_markets()[0].market_id,
        "held_id": "h1",
        "invitation_id": "invite-1",
        "alert_id": "aa1",
    }
    return endpoint.path.removeprefix("/api/").format(**ids)


async def hold(stage: Stage) -> None:
    """A trade of the stage's own agent that waits."""
    leash = LeashSet(stage.agent_id, stage.clock.now(), "", LeashMode.ASK, Micros(0), None, 600)
    stage.world.note(leash)
    order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
    answer = await Caller(stage, stage.key).post("sdk/trade", order)
    assert answer["trade_id"] == f"h{stage.world.pending_trades.count}"


@pytest.mark.slow
@pytest.mark.parametrize("role", BELOW_OWNER)
async def test_each_endpoint_asks_for_its_role(tmp_path: Path, role: PersonRole) -> None:
    async with open_stage(tmp_path) as stage:
        caller = await added(stage, "ada", role)
        stage.agent.change({"owner": "ada"})
        # It is an agent as any other; of the console's own a test below tells.
        stage.sim.service.operator_agent = None
        await hold(stage)
        for endpoint in OPERATORS:
            assert endpoint.role is not None
            if endpoint.streams and RANK[role] >= RANK[endpoint.role]:
                continue
            response = await caller.ask(endpoint.method, path_on(stage, endpoint), {})
            where = f"{endpoint.method} {endpoint.path}"
            if RANK[role] < RANK[endpoint.role]:
                assert response.status_code == 403, where
                sentence = f"this needs the role {endpoint.role.value}; ada is {role.value}"
                assert response.json()["error"] == sentence, where
            else:
                assert response.status_code not in {401, 403}, f"{where}: {response.text}"


def test_only_readings_are_for_observers_and_people_are_for_owners() -> None:
    for endpoint in OPERATORS:
        assert endpoint.role is not None
        # The agent of one's own console is read by the call that makes it the first time.
        is_reading = endpoint.reads or endpoint is MY_AGENT
        assert is_reading is (endpoint.role is PersonRole.OBSERVER), endpoint.path
        if endpoint.role is PersonRole.TRADER:
            # Else nobody could tell whose agent it is about.
            assert "{agent_id}" in endpoint.path or "{held_id}" in endpoint.path
        is_about_people = "people" in endpoint.path or "invitations" in endpoint.path
        if is_about_people and not endpoint.reads:
            assert endpoint.role is PersonRole.OWNER


@pytest.mark.slow
@pytest.mark.parametrize(
    "endpoint",
    [one for one in OPERATORS if one.role is PersonRole.TRADER],
    ids=lambda one: one.path,
)
async def test_a_trader_acts_on_own_agents_alone(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path) as stage:
        trader = await added(stage, "ada", PersonRole.TRADER)
        await hold(stage)
        stage.agent.change({"owner": "eve"})
        path = path_on(stage, endpoint)
        error = await trader.refused(path, {}, method=endpoint.method)
        assert error == "this needs the role supervisor: the agent is eve's, and ada is a trader"
        assert (await trader.ask(endpoint.method, "desk/agents/nobody/claim", {})).status_code in {
            404, 405,
        }  # fmt: skip


@pytest.mark.slow
async def test_who_claims_an_agent_of_nobody_owns_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        ada = await added(stage, "ada", PersonRole.TRADER)
        eve = await added(stage, "eve", PersonRole.TRADER)
        agent_id = await registered(stage)
        assert "nobody's" in await ada.refused(f"desk/agents/{agent_id}/key")
        assert (await ada.post(f"desk/agents/{agent_id}/claim"))["owner"] == "ada"
        await ada.post(f"desk/agents/{agent_id}/key")
        assert "ada's" in await eve.refused(f"desk/agents/{agent_id}/claim")
        assert stage.world.agents[agent_id].settings.owner == "ada"
        assert "owner's" in await eve.refused(f"desk/agents/{stage.agent_id}/claim")


@pytest.mark.slow
async def test_fields_of_an_agent_have_roles_of_their_own(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        trader = await added(stage, "ada", PersonRole.TRADER)
        above = await added(stage, "sue", PersonRole.SUPERVISOR)
        stage.agent.change({"owner": "ada"})
        path = f"desk/agents/{stage.agent_id}"
        await trader.post(path, {"name": "heron", "trading_paused": True}, "PATCH")
        for field in ("suspended", "retired"):
            assert "role supervisor" in await trader.refused(path, {field: True}, method="PATCH")
        await above.post(path, {"suspended": True}, "PATCH")
        assert "role owner" in await above.refused(path, {"plan": "elite"}, method="PATCH")
        # The console trades with it: who has its key trades in the owner's name.
        assert "role owner" in await above.refused(f"{path}/key")


# -- the agent of a console ----------------------------------------------------------------


@pytest.mark.slow
async def test_a_person_trades_by_their_own_key_with_one_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        ada = await added(stage, "ada", PersonRole.TRADER)
        assert "no agent here yet" in await ada.refused("sdk/trade", {}, status=409)
        assert not any(one["is_own"] for one in (await ada.get("desk/agents"))["agents"])
        first = await ada.post("desk/me/agent")
        again = await ada.post("desk/me/agent")
        assert (first["is_new"], again["is_new"]) == (True, False)
        assert first["agent_id"] == again["agent_id"]
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        assert (await ada.post("sdk/trade", order))["success"] is True
        agents = (await ada.get("desk/agents"))["agents"]
        assert [one["agent_id"] for one in agents if one["is_own"]] == [first["agent_id"]]
        mine = next(one for one in agents if one["is_own"])
        assert (mine["name"], mine["owner"], mine["trades_count"]) == ("ada's console", "ada", 1)
        # It takes no place of the plan, nobody else gets a key of it, and it ends with the person.
        assert stage.sim.service.agents_count() == 0
        path = f"desk/agents/{first['agent_id']}"
        assert "by the key of ada" in await owner_of(stage).refused(f"{path}/key", {}, status=409)
        await owner_of(stage).post("desk/people/end", {"name": "ada"})
        await ada.refused("sdk/trade", order, status=401)


@pytest.mark.slow
async def test_an_observer_reads_with_the_agent_of_the_console_and_trades_nothing(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        ada = await added(stage, "ada", PersonRole.OBSERVER)
        await ada.post("desk/me/agent")
        assert (await ada.get("sdk/positions"))["positions"] == []
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        why = await ada.refused("sdk/trade", order)
        assert why == "this needs the role trader; ada is observer"


# -- keys ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_keys_are_shown_once_and_kept_as_hashes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_stage(tmp_path) as stage:
        owner = owner_of(stage)
        made = await owner.post("desk/people", {"name": "ada", "role": "observer"})
        renewed = await owner.post("desk/people/key", {"name": "ada"})
        invited = await owner.post("desk/invitations", {"uses": 1})
        first, second, code = made["key"], renewed["key"], invited["code"]
        await Caller(stage, second).get("desk/me")
        shown = json.dumps([
            await owner.get("desk/people"), await owner.get("desk/invitations"),
            await owner.get("desk/audit"),
        ])  # fmt: skip
        kept = repr([
            rows_of(stage.at_rest, model) for model in ("people", "invitations", "journal")
        ])
        inside = repr([stage.sim.service.people.records, stage.sim.service.invitations.records])
        (row,) = rows_of(stage.at_rest, "people")
        for secret in (first, second, code):
            for place in (shown, kept, inside, caplog.text):
                assert secret not in place
                assert secret.partition("_")[2] not in place
        for hidden in (row["salt"], row["key_hash"]):
            assert str(hidden) not in shown + inside
    assert new_secret("op_").salt != new_secret("op_").salt
    assert "op_" not in repr(new_secret("op_"))


@pytest.mark.slow
async def test_who_ends_while_a_body_is_on_its_way_changes_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        key = (await owner_of(stage).post("desk/people", {"name": "eve", "role": "owner"}))["key"]

        async def me() -> dict[str, Any]:
            return await owner_of(stage).get("desk/me")

        async def slow() -> AsyncGenerator[bytes]:
            yield b'{"name": "a sock", '
            while "eve" not in [one["name"] for one in (await me())["here"]]:  # noqa: ASYNC110 - no event of its own
                await asyncio.sleep(0.005)
            await owner_of(stage).post("desk/people/end", {"name": "eve"})
            yield b'"role": "owner"}'

        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        async with (
            listen(stage.sim.app) as url,
            httpx.AsyncClient(base_url=url, headers=headers, timeout=ANSWER_S) as eve,
        ):
            answer = await eve.post("/api/desk/people", content=slow())
        assert answer.status_code == 401
        assert [one.name for one in stage.sim.service.people.records] == ["eve"]


@pytest.mark.slow
async def test_a_renewed_key_and_an_ended_person_are_refused_at_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        owner = owner_of(stage)
        first = await added(stage, "ada", PersonRole.SUPERVISOR)
        await first.post("desk/halt")
        second = Caller(stage, (await owner.post("desk/people/key", {"name": "ada"}))["key"])
        assert (await first.ask("GET", "desk/me")).status_code == 401
        await second.get("desk/me")
        await owner.post("desk/people", {"name": "ada", "role": "observer"}, "PATCH")
        assert "ada is observer" in await second.refused("desk/resume")
        await owner.post("desk/people/end", {"name": "ada"})
        assert (await second.ask("GET", "desk/me")).status_code == 401
        assert "was ended" in await owner.refused(
            "desk/people", {"name": "ada", "role": "owner"}, method="PATCH", status=409
        )


@pytest.mark.slow
async def test_two_who_add_the_same_name_at_once_add_it_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        body = {"name": "ada", "role": "observer"}
        async with asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(owner_of(stage).ask("POST", "desk/people", body))
                for _ in range(5)
            ]
        assert sorted(one.result().status_code for one in asked) == [200, 409, 409, 409, 409]
        assert len(rows_of(stage.at_rest, "people")) == 1


@pytest.mark.slow
async def test_people_and_invitations_are_there_after_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        key = (await owner_of(stage).post("desk/people", {"name": "ada", "role": "trader"}))["key"]
        code = await invited(stage, uses=2)
        await registered(stage, code)
        own, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, key=own, agent_id=agent_id, plan=Plan.ELITE) as stage:
        stage.sim.service.needs_invitation = True
        assert (await Caller(stage, key).get("desk/me"))["role"] == "trader"
        await registered(stage, code)
        body = {"name": "late", "invitation": code}
        assert "used up" in await Caller(stage, None).refused("sdk/agents/register", body)


@pytest.mark.slow
async def test_a_stream_ends_with_the_person_who_listens(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        roster = stage.sim.service.people
        _, key = roster.add("ada", PersonRole.OBSERVER, Person(OWNER, PersonRole.OWNER), 0.0)
        begun = asyncio.Event()
        scope = {
            "type": "http", "method": "GET", "path": "/api/desk/events", "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {key}".encode())],
            "client": ("127.0.0.1", 9), "http_version": "1.1", "scheme": "http", "root_path": "",
        }  # fmt: skip

        async def receive() -> dict[str, object]:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            if b"event: ready" in message.get("body", b""):
                begun.set()

        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(stage.sim.app(scope, receive, send))  # pyright: ignore[reportArgumentType]
            await begun.wait()
            roster.end("ada", stage.clock.now())
            stage.sim.service.world_store.events.beat()
            await asyncio.wait_for(listening, 20)


# -- the audit log -------------------------------------------------------------------------


@pytest.mark.slow
async def test_every_change_names_the_person(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        sue = await added(stage, "sue", PersonRole.SUPERVISOR)
        await sue.post("desk/halt")
        await sue.post("desk/halt")
        await sue.post("desk/resume")
        path = f"desk/agents/{stage.agent_id}"
        await sue.post(f"{path}/leash", {"mode": "ask", "threshold": 1.0})
        await sue.post(path, {"name": "crow"}, "PATCH")
        await sue.post(f"{path}/claim-code")
        await sue.post(f"{path}/claim")
        await sue.post("desk/chain", {"block_s": 3.0}, "PATCH")
        await sue.post("desk/world/speed", {"speed": 10})
        acts = (await sue.get("desk/audit"))["acts"]
        assert {act["person"] for act in acts[:-1]} == {"sue"}
        assert acts[-1]["person"] == OWNER
        assert [act["action"].replace("/api/desk/", "") for act in reversed(acts)] == [
            "POST people", "POST halt", "POST resume", "POST agents/{agent_id}/leash",
            "PATCH agents/{agent_id}", "POST agents/{agent_id}/claim-code",
            "POST agents/{agent_id}/claim", "PATCH chain", "POST world/speed",
        ]  # fmt: skip
        leash = acts[5]
        assert leash["subject"] == stage.agent_id
        assert json.loads(leash["detail"]) == {"mode": "ask", "threshold": 1.0}
        assert (await sue.get("desk/audit", limit=1))["acts"] == acts[:1]


@pytest.mark.slow
@pytest.mark.parametrize("first", ["approve", "refuse"])
async def test_of_two_who_decide_the_second_is_told_who_and_what(
    tmp_path: Path, first: str
) -> None:
    async with open_stage(tmp_path) as stage:
        sue = await added(stage, "sue", PersonRole.SUPERVISOR)
        tom = await added(stage, "tom", PersonRole.SUPERVISOR)
        await hold(stage)
        body = {"reason": "too thin"} if first == "refuse" else {}
        decided = await sue.post(f"desk/held/h1/{first}", body)
        assert decided["held"]["decided_by"] == "sue"
        error = await tom.refused("desk/held/h1/approve", {}, status=404)
        what = "refused by sue (too thin)" if first == "refuse" else "approved by sue"
        assert error == f"h1 was already decided: {what}"
        (act,) = (await tom.get("desk/audit", limit=1))["acts"]
        assert (act["person"], act["subject"]) == ("sue", "h1")


@pytest.mark.slow
async def test_of_two_who_decide_at_once_one_does(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        people = [await added(stage, name, PersonRole.SUPERVISOR) for name in ("sue", "tom")]
        await hold(stage)
        before = stage.agent.trades_count
        async with asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(person.ask("POST", "desk/held/h1/approve", {}))
                for person in people
            ]
        assert sorted(one.result().status_code for one in asked) == [200, 404]
        assert stage.agent.trades_count == before + 1


@pytest.mark.slow
async def test_text_of_people_is_only_text(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        owner = owner_of(stage)
        made = await owner.post("desk/people", {"name": SQL, "role": "supervisor"})
        assert made["person"]["name"] == SQL
        robert = Caller(stage, made["key"])
        await hold(stage)
        await robert.post("desk/held/h1/refuse", {"reason": SQL})
        await owner.post("desk/invitations", {"person": SQL})
        agent_id = await registered(stage, name=SQL)
        await robert.post(f"desk/agents/{agent_id}/claim")
        assert stage.world.agents[agent_id].settings.owner == SQL
        await owner.post("desk/people/end", {"name": SQL})
        assert [row["name"] for row in rows_of(stage.at_rest, "people")] == [SQL]
        assert (await owner.get("desk/invitations"))["invitations"][0]["person"] == SQL
        assert SQL in {act["person"] for act in (await owner.get("desk/audit"))["acts"]}


# -- invitations ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_without_an_invitation_nobody_registers(tmp_path: Path) -> None:
    async with inviting(tmp_path) as stage:
        nobody = Caller(stage, None)
        for invitation, why in (
            (None, "registration here needs an invitation"),
            ("inv_of_another_service", "this invitation is not known here"),
            (OPERATOR, "this invitation is not known here"),
        ):
            body = {"name": "heron", "invitation": invitation}
            assert await nobody.refused("sdk/agents/register", body) == why
        assert len(stage.world.agents) == 1


@pytest.mark.slow
async def test_a_service_that_needs_none_takes_everybody_in_and_no_bad_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        await registered(stage)
        body = {"name": "heron", "invitation": "inv_of_another_service"}
        assert "not known" in await Caller(stage, None).refused("sdk/agents/register", body)


@pytest.mark.slow
async def test_an_invited_agent_gets_plan_budget_and_owner(tmp_path: Path) -> None:
    async with inviting(tmp_path) as stage:
        ada = await added(stage, "ada", PersonRole.TRADER)
        code = await invited(stage, plan="free", daily_budget=7.5, person="ada")
        agent_id = await registered(stage, code)
        agent = stage.world.agents[agent_id]
        assert (agent.settings.plan, agent.settings.owner) == (Plan.FREE, "ada")
        (leash,) = (await ada.get("desk/leashes"))["leashes"]
        assert (leash["agent_id"], leash["mode"], leash["daily_budget"]) == (agent_id, "auto", 7.5)
        key = (await ada.post(f"desk/agents/{agent_id}/key"))["api_key"]
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        spends = Caller(stage, key)
        assert (await spends.post("sdk/trade", order))["success"]
        other = order | {"market_id": stage.open_markets()[1].market_id}
        again = await spends.ask("POST", "sdk/trade", other)
        assert "daily budget" in again.json()["error"]
        (one,) = (await owner_of(stage).get("desk/invitations"))["invitations"]
        assert (one["used"], one["uses"]) == (1, 1)
        assert (await owner_of(stage).get("desk/people"))["people"][1]["agents_count"] == 1


@pytest.mark.slow
async def test_an_invitation_ends_by_use_by_time_and_by_hand(tmp_path: Path) -> None:
    async with inviting(tmp_path) as stage:
        nobody, owner = Caller(stage, None), owner_of(stage)

        async def why(code: str) -> str:
            body = {"name": "late", "invitation": code}
            return await nobody.refused("sdk/agents/register", body)

        once = await invited(stage)
        await registered(stage, once)
        assert await why(once) == "this invitation is used up"
        made = await owner.post("desk/invitations", {"uses": 5})
        ident = made["invitation"]["invitation_id"]
        await owner.post(f"desk/invitations/{ident}", method="DELETE")
        ended = await owner.post(f"desk/invitations/{ident}", method="DELETE")
        assert ended["ended_at"]
        assert await why(made["code"]) == "this invitation was ended"
        assert (
            await owner.refused("desk/invitations/invite-0", method="DELETE", status=404)
            == "no invitation has this id"
        )
        brief = await invited(stage, days=1, uses=2)
        await registered(stage, brief)
        await leap(stage.clock, 86_400.0, step_s=21_600.0)
        assert await why(brief) == "this invitation has expired"


@pytest.mark.slow
async def test_the_last_use_goes_to_one_of_many_at_once(tmp_path: Path) -> None:
    async with inviting(tmp_path) as stage:
        code, nobody = await invited(stage, uses=2), Caller(stage, None)
        body = {"name": "heron", "invitation": code}
        async with asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(nobody.ask("POST", "sdk/agents/register", body)) for _ in range(6)
            ]
        assert sorted(one.result().status_code for one in asked) == [200, 200, 403, 403, 403, 403]
        assert len(stage.world.agents) == 3


@pytest.mark.slow
async def test_the_console_of_this_process_needs_no_invitation(tmp_path: Path) -> None:
    async with (
        inviting(tmp_path) as stage,
        httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as inside,
    ):
        body = {"name": "desk"}
        assert (await inside.post("/api/sdk/agents/register", json=body)).status_code == 200


def test_a_record_hides_what_is_kept_of_the_key() -> None:
    record = PersonRecord("ada", "owner", "the salt", "the hash", 0.0, OWNER)
    assert "the salt" not in repr(record)
    assert "the hash" not in repr(record)
    assert Roster([record]).by_key("the hash") is None


# -- how many agents -----------------------------------------------------------------------


async def a_minute_later(stage: Stage) -> None:
    """Ten registrations a minute come from one caller."""
    await leap(stage.clock, 60.0)


async def refused_for(stage: Stage, code: str | None) -> str:
    body = {"name": "heron"} | ({} if code is None else {"invitation": code})
    return await Caller(stage, None).refused("sdk/agents/register", body)


async def counted(caller: Caller) -> tuple[int, int]:
    account = (await caller.get("desk/agents"))["account"]
    return account["agents_count"], account["agents_max"]


@pytest.mark.slow
async def test_the_plans_number_of_agents_is_that_of_each_person(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.PRO) as stage:
        ada = await added(stage, "ada", PersonRole.SUPERVISOR)
        bea = await added(stage, "bea", PersonRole.TRADER)
        codes = {name: await invited(stage, uses=100, person=name) for name in ("ada", "bea")}
        of_ada = [await registered(stage, codes["ada"]) for _ in range(10)]
        await a_minute_later(stage)
        assert await refused_for(stage, codes["ada"]) == "ada has the 10 agents of the pro plan"
        # Another's account is not full, nor is the owner's, which holds what is nobody's.
        await a_minute_later(stage)
        for _ in range(10):
            await registered(stage, codes["bea"])
        await a_minute_later(stage)
        for _ in range(10):
            unclaimed = await registered(stage)
        await a_minute_later(stage)
        assert await refused_for(stage, None) == "the account has its 10 agents"
        # Whose account is full claims none, and takes none back.
        full = "ada has the 10 agents of the pro plan"
        for path in (f"desk/agents/{unclaimed}/claim", f"desk/agents/{unclaimed}/claim-code"):
            assert await ada.refused(path) == full
        one, other = (f"desk/agents/{agent}" for agent in of_ada[:2])
        await owner_of(stage).post(one, {"retired": True}, "PATCH")
        assert await counted(ada) == (9, 10)
        await ada.post(f"desk/agents/{unclaimed}/claim")
        assert await owner_of(stage).refused(one, {"retired": False}, method="PATCH") == full
        # Who claims its own anew claims nothing more.
        await ada.post(f"{other}/claim")
        assert (await counted(ada), await counted(bea)) == ((10, 10), (10, 10))
        assert await counted(owner_of(stage)) == (9, 10)


@pytest.mark.slow
async def test_the_owner_bounds_the_world_and_not_what_is_nobodys(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, agents_max=5) as stage:
        await added(stage, "ada", PersonRole.TRADER)
        code, of_ada = await invited(stage, uses=100), await invited(stage, uses=9, person="ada")
        await registered(stage, of_ada)
        assert await refused_for(stage, of_ada) == "ada has the one agent of the free plan"
        for _ in range(4):
            await registered(stage, code)
        assert await refused_for(stage, code) == "the world has its 5 agents"
        assert await counted(owner_of(stage)) == (4, 5)
