"""Own wallets and the chain below them: links, credentials, approvals, the operator's hand."""

from typing import Any

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import bare_service, request_to
from service_tui.addresses import checksummed
from service_tui.engine.chain.chain import GAS_GRANT, GWEI, PAY_GRANT, WEI, Wallet
from service_tui.engine.chain_events import (
    ChainSet,
    CredentialsKept,
    PlannedOutcome,
    WalletFilled,
    WalletLinked,
)
from service_tui.engine.events import AgentChanged
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import Refused, Taken, approval_keys
from service_tui.server.http.entrance import EMBEDDED_HOST
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import chain, wallet
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.errors import MalformedError
from service_tui.storage.errors import StorageError
from service_tui.terms import WalletKind
from service_tui.units import Micros, Timestamp
from service_tui.wire.chain import BroadcastRequest, ChainPatch, RpcRequest
from service_tui.wire.wallet import (
    AllowancesQuery,
    ChallengeQuery,
    DeriveRequest,
    DeskWalletPatch,
    LinkBody,
    LinkRequest,
)

ADDRESS = checksummed("0x" + "ab" * 20)
OTHER = checksummed("0x" + "cd" * 20)
SIGNATURE = "0x" + "11" * 65


@pytest.fixture
def world() -> World:
    return bare_world("ada", "ben")


@pytest.fixture
def service(world: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    async def imported(_: object) -> None:
        """Nothing is signed here: the libraries are not needed."""

    for room in (wallet, chain):
        monkeypatch.setattr(room, "imported", imported)
    monkeypatch.setattr(wallet, "message_signer", lambda *_: ADDRESS)
    monkeypatch.setattr(wallet, "credentials_signer", lambda _: ADDRESS)
    return bare_service(world)


def linked(world: World, agent_id: str = "ada", address: str = ADDRESS) -> Wallet:
    """The own wallet of an agent."""
    world.apply(WalletLinked(agent_id, AT, address, 5 * WEI, Micros(3_000_000)))
    world.agents[agent_id].change({"wallet": WalletKind.EXTERNAL})
    found = world.chain.wallet_of(agent_id)
    assert found is not None
    return found


# -- linking --------------------------------------------------------------------------------


async def asked(service: Any, agent_id: str = "ada", address: str = ADDRESS) -> str:
    """The nonce of a new challenge."""
    query = ChallengeQuery(address=address.lower())
    return (await wallet.challenge(request_to(service, agent_id, query=query))).nonce


async def link(service: Any, nonce: str, agent_id: str = "ada", **more: Any) -> LinkBody:
    fields = {"address": ADDRESS, "signature": SIGNATURE, "confirm_replace_managed": True}
    body = LinkRequest(nonce=nonce, **{**fields, **more})
    return await wallet.link(request_to(service, agent_id, body=body))


async def test_no_wallet_is_linked_while_the_disk_refuses(service: Any, world: World) -> None:
    nonce = await asked(service)
    service.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await link(service, nonce)
    assert world.chain.wallet_of("ada") is None
    # The challenge is not used up by what came to nothing.
    service.world_store.refuses = None
    assert (await link(service, nonce)).success


async def test_a_challenge_names_the_address_as_it_is_written_and_where_it_is(
    service: Any,
) -> None:
    query = ChallengeQuery(address=ADDRESS.lower())

    made = await wallet.challenge(request_to(service, "ada", query=query, host="desk.example"))

    assert (made.nonce, made.address) == ("id-001-of-a-new-thing", ADDRESS)
    assert "your agent of desk.example." in made.message
    assert made.expires_at.timestamp() == AT + 300.0


async def test_a_sixth_challenge_in_an_hour_waits(service: Any) -> None:
    for _ in range(5):
        await asked(service)

    with pytest.raises(Denied) as refused:
        await asked(service)

    assert refused.value.status == 429
    assert "wait 3600 s and try again" in str(refused.value.body)
    assert await asked(service, "ben")


async def test_without_limits_challenges_are_not_counted(service: Any) -> None:
    service.limits = False

    assert len({await asked(service) for _ in range(9)}) == 9


async def test_an_address_that_is_new_gets_play_money(service: Any) -> None:
    told = await link(service, await asked(service))

    assert (told.success, told.wallet_address, told.wallet_ownership) == (
        True, ADDRESS, "external",
    )  # fmt: skip
    first, change = service.world_store.written
    assert first == WalletLinked("ada", AT, ADDRESS, GAS_GRANT, PAY_GRANT, left="")
    assert isinstance(change, AgentChanged)


async def test_an_address_that_is_known_gets_no_more(service: Any, world: World) -> None:
    linked(world, "ben")
    world.apply(WalletLinked("ben", AT, ""))

    told = await link(service, await asked(service))

    assert told.success
    assert service.world_store.written[0] == WalletLinked("ada", AT, ADDRESS, left="")


async def test_a_challenge_links_once_and_only_its_own_address(service: Any) -> None:
    nonce = await asked(service)
    other = await link(service, nonce, address=OTHER)
    again = await link(service, nonce)

    assert [other.error_code, again.error_code] == ["CHALLENGE_UNKNOWN"] * 2
    assert (other.success, other.fix) == (False, "ask for a new one")
    assert service.world_store.written == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"signature_type": 1}, "SIGNATURE_TYPE"),
        ({"confirm_replace_managed": False}, "CONFIRM_REPLACE"),
    ],
)
async def test_a_wallet_that_cannot_be_linked_says_why(
    service: Any, more: dict[str, Any], code: str
) -> None:
    told = await link(service, await asked(service), **more)

    assert (told.success, told.error_code, told.wallet_address) == (False, code, None)
    assert service.world_store.written == []


async def test_a_signature_of_another_key_is_refused(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def malformed(*_: object) -> str:
        raise MalformedError("no point of the curve")

    for signer in (lambda *_: OTHER, malformed):
        monkeypatch.setattr(wallet, "message_signer", signer)
        told = await link(service, await asked(service))
        assert told.error_code == "WRONG_SIGNER"


async def test_a_wallet_of_another_agent_is_taken_until_it_is_given_up(
    service: Any, world: World
) -> None:
    linked(world, "ben")
    told = await link(service, await asked(service))
    assert told.error_code == "WALLET_TAKEN"

    world.apply(WalletLinked("ben", AT, OTHER))
    assert (await link(service, await asked(service))).success


async def test_a_wallet_in_use_is_neither_replaced_nor_given_up(
    service: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(world, "ada", OTHER)
    monkeypatch.setattr(type(world.chain), "pending", lambda _, address: [address])

    told = await link(service, await asked(service))
    left = await wallet.unlink(request_to(service, "ada"))

    assert [told.error_code, left.error_code] == ["WALLET_BUSY"] * 2
    assert service.world_store.written == []


async def test_an_own_wallet_is_replaced_without_a_word_and_three_times_a_day(
    service: Any, world: World
) -> None:
    linked(world, "ada", OTHER)
    for _ in range(3):
        told = await link(service, await asked(service), confirm_replace_managed=False)
        assert told.success

    with pytest.raises(Denied, match="429"):
        await link(service, await asked(service))


async def test_an_agent_goes_back_to_its_managed_wallet(service: Any, world: World) -> None:
    linked(world)

    told = await wallet.unlink(request_to(service, "ada"))

    assert (told.success, told.wallet_ownership) == (True, "native")
    first, change = service.world_store.written
    assert first == WalletLinked("ada", AT, "", left=ADDRESS.lower())
    assert isinstance(change, AgentChanged)


async def test_an_agent_with_a_managed_wallet_has_nothing_to_give_up(service: Any) -> None:
    told = await wallet.unlink(request_to(service, "ada"))

    assert told.success
    assert service.world_store.written == []


async def test_the_signature_is_that_of_the_text_that_was_made(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bytes]] = []

    def signer(message: str, signature: bytes) -> str:
        seen.append((message, signature))
        return ADDRESS

    monkeypatch.setattr(wallet, "message_signer", signer)
    for signature in (SIGNATURE, SIGNATURE.removeprefix("0x")):
        assert (await link(service, await asked(service), signature=signature)).success

    assert [signature for _, signature in seen] == [b"\x11" * 65] * 2
    assert all(f"Wallet: {ADDRESS}\nAgent: ada\n" in message for message, _ in seen)
    assert all(f"your agent of {EMBEDDED_HOST}." in message for message, _ in seen)


async def test_a_wallet_is_read_as_the_agent_has_it(service: Any, world: World) -> None:
    linked(world)

    told = await wallet.read(request_to(service, "ada"))

    assert (told.wallet_address, told.wallet_ownership) == (ADDRESS, "external")


async def test_a_disk_that_refuses_changes_nothing(service: Any, world: World) -> None:
    linked(world)
    nonce = await asked(service)
    service.world_store.refuses = StorageError("full")

    for call in (
        link(service, nonce),
        wallet.unlink(request_to(service, "ada")),
        wallet.post_credentials(request_to(service, "ada")),
        chain.settle(request_to(service)),
    ):
        with pytest.raises(StorageError):
            await call

    own = world.chain.wallet_of("ada")
    assert own is not None
    assert own.credentials_at is None


# -- credentials ----------------------------------------------------------------------------


def signed(address: str = ADDRESS, at: float = AT) -> DeriveRequest:
    return DeriveRequest(
        poly_address=address, poly_signature=SIGNATURE, poly_timestamp=str(int(at)), poly_nonce="0"
    )


async def test_credentials_need_an_own_wallet(service: Any) -> None:
    with pytest.raises(Denied) as refused:
        await wallet.post_credentials(request_to(service, "ada"))
    assert refused.value.status == 400

    with pytest.raises(Denied) as refused:
        await wallet.derive_credentials(request_to(service, "ada", body=signed()))
    assert refused.value.status == 403


async def test_credentials_are_kept_for_the_wallet_with_their_way(
    service: Any, world: World
) -> None:
    linked(world)

    posted = await wallet.post_credentials(request_to(service, "ada"))
    derived = await wallet.derive_credentials(
        request_to(service, "ada", body=signed(ADDRESS.lower(), AT - 600.0))
    )

    assert posted.has_credentials
    assert derived.wallet_address == ADDRESS
    assert service.world_store.written == [
        CredentialsKept("ada", AT, ADDRESS, "client"),
        CredentialsKept("ada", AT, ADDRESS, "headers"),
    ]


@pytest.mark.parametrize(
    ("body", "signer"),
    [
        (signed(), OTHER),
        (signed(), None),
        (signed(at=AT - 601.0), ADDRESS),
        (signed(at=AT + 601.0), ADDRESS),
    ],
)
async def test_headers_of_another_key_or_time_are_refused(
    service: Any, monkeypatch: pytest.MonkeyPatch, body: DeriveRequest, signer: str | None
) -> None:
    def of(_: object) -> str:
        if signer is None:
            raise MalformedError("no point of the curve")
        return signer

    monkeypatch.setattr(wallet, "credentials_signer", of)
    linked(service.world)

    with pytest.raises(Denied) as refused:
        await wallet.derive_credentials(request_to(service, "ada", body=body))

    assert refused.value.status == 400
    assert service.world_store.written == []


async def test_headers_of_another_address_are_refused(service: Any, world: World) -> None:
    linked(world)

    with pytest.raises(Denied) as refused:
        await wallet.derive_credentials(request_to(service, "ada", body=signed(OTHER)))

    assert refused.value.status == 403


async def test_whether_there_are_credentials_is_read(service: Any, world: World) -> None:
    own = linked(world)
    before = await wallet.check_credentials(request_to(service, "ada"))
    own.credentials_at = AT
    after = await wallet.check_credentials(request_to(service, "ada"))

    assert (before.has_credentials, after.has_credentials) == (False, True)
    assert after.wallet_address == ADDRESS


# -- approvals ------------------------------------------------------------------------------


async def allowances(service: Any, address: str, **more: Any) -> Any:
    query = AllowancesQuery(**more)
    return await wallet.allowances(
        request_to(service, "ada", path={"address": address}, query=query)
    )


async def test_what_is_no_address_has_no_approvals(service: Any) -> None:
    with pytest.raises(Denied) as refused:
        await allowances(service, "0x12")

    assert refused.value.status == 422
    assert "40 hex digits" in str(refused.value.body)


@pytest.mark.parametrize("version", list(ExchangeVersion))
async def test_approvals_are_told_as_they_are_given(
    service: Any, world: World, version: ExchangeVersion
) -> None:
    own = linked(world)
    first, *others = approval_keys(version)
    own.approvals.update(others)

    told = await allowances(service, ADDRESS.lower(), exchange_version=version.value)

    assert (told.address, told.exchange_version) == (ADDRESS, version.value)
    assert told.allowances[first] is False
    assert all(told.allowances[key] for key in others)
    assert (told.all_set, told.transactions) == (False, ())

    own.approvals.add(first)
    told = await allowances(service, ADDRESS, exchange_version=version.value)
    assert (told.all_set, told.by_version[version.value].approvals_set) == (True, True)


async def test_the_transactions_that_give_approvals_are_told_on_request(
    service: Any, world: World
) -> None:
    own = linked(world)
    wanted = approvals(POLYGON, ExchangeVersion.V2)
    own.approvals.add(wanted[0].key)

    told = await allowances(service, ADDRESS, exchange_version="v2", include_tx_params=True)

    assert [(one.key, one.to, one.about) for one in told.transactions] == [
        (one.key, one.to, one.about) for one in wanted
    ]
    first, second, *_ = told.transactions
    assert (first.done, second.done, first.sender, first.chain_id) == (True, False, ADDRESS, 137)
    assert all(one.data.startswith("0x") and len(one.data) > 70 for one in told.transactions)


# -- the chain ------------------------------------------------------------------------------


async def test_a_node_answers_under_the_callers_own_number(service: Any) -> None:
    known = await chain.call(request_to(service, body=RpcRequest(method="eth_chainId", id=7)))
    unknown = await chain.call(request_to(service, body=RpcRequest(method="eth_mine", id="x")))

    assert (known.id, known.result, known.error) == (7, "0x89", None)
    assert unknown.id == "x"
    assert unknown.error is not None
    assert unknown.error.code == -32601


async def test_what_the_relay_refuses_is_an_answer(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Refused("UNDERPRICED", "gas costs more", "raise it", retryable=True)
    monkeypatch.setattr(chain, "relay", lambda *_: refused)

    body = BroadcastRequest(signed_tx="0x02abcdef01")
    told = await chain.broadcast(request_to(service, "ada", body=body))

    assert (told.success, told.error_code, told.error) == (False, "UNDERPRICED", "gas costs more")
    assert (told.fix, told.retryable, told.simulated) == ("raise it", True, True)
    assert told.tx_hash is None


async def test_what_the_relay_takes_is_written(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sent:
        tx_hash = "0xab"

    class Tx:
        sent = Sent()
        status = PlannedOutcome.OK

    taken: list[Any] = []

    def relay(*values: Any) -> Taken:
        taken.append(values[1:])
        tx: Any = Tx()
        event: Any = "event"
        return Taken(tx, (event,))

    monkeypatch.setattr(chain, "relay", relay)

    body = BroadcastRequest(signed_tx="0x02abcdef01")
    told = await chain.broadcast(request_to(service, "ada", body=body))

    assert taken == [("ada", "0x02abcdef01", AT)]
    assert (told.success, told.tx_hash, told.status) == (True, "0xab", "ok")
    assert service.world_store.written == ["event"]


async def test_the_operator_sets_the_pace_of_the_chain(service: Any) -> None:
    patch = ChainPatch(block_s=3.0, gas_price_gwei=40.5, delay_blocks=2, faults=("revert", "ok"))

    told = await chain.write_chain(request_to(service, body=patch))

    event = next(one for one in service.world_store.written if isinstance(one, ChainSet))
    assert event.at == AT
    pace = service.world.chain.pace
    assert (pace.block_s, pace.gas_price, pace.delay_blocks) == (3.0, round(40.5 * GWEI), 2)
    assert pace.faults == (PlannedOutcome.REVERT, PlannedOutcome.OK)
    assert (told.block_s, told.gas_price_gwei, told.faults) == (3.0, 40.5, ("revert", "ok"))
    assert (await chain.read_chain(request_to(service))) == told


async def test_a_patch_that_sets_nothing_writes_nothing(service: Any, world: World) -> None:
    linked(world)
    path = {"agent_id": "ada"}

    await chain.write_chain(request_to(service, body=ChainPatch()))
    await chain.write_wallet(request_to(service, body=DeskWalletPatch(), path=path))

    assert service.world_store.written == []


@pytest.mark.parametrize(
    ("patch", "changes"),
    [
        ({"gas": 1.5}, {"gas": 3 * WEI // 2}),
        ({"gas": 0.0}, {"gas": 0}),
        ({"restricted": True}, {"restricted": 1}),
        ({"restricted": False}, {"restricted": 0}),
        ({"pay_usdc": 0.0}, {"pay": 0}),
        ({"native_usdc": 2.5}, {"native_usdc": 2_500_000}),
    ],
)
async def test_the_operator_fills_empties_and_restricts_a_wallet(
    service: Any, world: World, patch: dict[str, Any], changes: dict[str, int]
) -> None:
    linked(world)

    told = await chain.write_wallet(
        request_to(service, body=DeskWalletPatch(**patch), path={"agent_id": "ada"})
    )

    assert WalletFilled("ada", AT, ADDRESS, changes) in service.world_store.written
    assert told.wallet_address == ADDRESS


async def test_a_wallet_that_is_not_linked_cannot_be_filled(service: Any) -> None:
    patch = DeskWalletPatch(gas=1.0)

    with pytest.raises(Denied) as refused:
        await chain.write_wallet(request_to(service, body=patch, path={"agent_id": "ada"}))

    assert refused.value.status == 409


async def test_money_with_too_many_decimals_is_refused(service: Any, world: World) -> None:
    linked(world)
    patch = DeskWalletPatch.model_construct(
        gas=None, restricted=None, pay_usdc=0.000_000_1, native_usdc=None
    )

    with pytest.raises(Denied) as refused:
        await chain.write_wallet(request_to(service, body=patch, path={"agent_id": "ada"}))

    assert refused.value.status == 422
    assert "pay_usdc" in str(refused.value.body)


async def test_the_chain_is_brought_to_now_before_it_is_asked(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    due: Any = ["due"]

    def redeem_due(_: World, at: Timestamp) -> Any:
        assert at == AT
        return due

    monkeypatch.setattr(chain, "redeem_due", redeem_due)

    await chain.settle(request_to(service))

    assert service.world_store.written == ["due"]
