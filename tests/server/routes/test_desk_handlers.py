"""The operator's desk: what changes an agent, who may, and what is written of it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import ACT, ANN, bare_service, request_to
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import AgentChanged, KeyRotated, PlanSet
from service_tui.server.claim.codes import CODE_S, TRIES, ClaimCodes
from service_tui.server.http.access import hash_of
from service_tui.server.http.people.roster import Person
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import desk
from service_tui.storage.errors import StorageError, StorageFullError
from service_tui.terms import PersonRole, Plan, WalletKind
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.desk import AccountPatch, DeskAgentPatch

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
    monkeypatch.setattr(type(one), "check_slot", lambda _: slots.append("checked"))
    await patched(one, **fields)
    assert (changed(one), slots) == ([("ada", {"retired": False, "suspended": False})], ["checked"])

    def full(_: object) -> None:
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
    body = await desk.list_agents(request_of(one, Person("owner", PersonRole.OWNER)))
    assert [(row.agent_id, row.is_own) for row in body.agents] == [
        ("own", True), ("bea", False), ("ada", False),
    ]  # fmt: skip
    assert body.account == await desk.account(request_of(one))


# -- a row --------------------------------------------------------------------------------------
