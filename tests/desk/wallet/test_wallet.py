"""The wallet on a desk: keys, links, approvals, and the LIVE switch."""

import random
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import Fault, Line, breaking, said, until
from kit.desk.redeeming import CountingSigner, known, open_wallet_desk
from kit.service.stage import OPERATOR, first_state, open_stage
from kit.service.wallets import KEYS
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.credentials.wallet_keys import WalletKeys
from service_tui.desk.commands.wallet import (
    APPROVE_WORD,
    AllowReal,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    ReadApprovals,
    RemoveKey,
    RequestLink,
    SetApprovals,
    UnlockWallet,
)
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.wallet import CheckView, KeyState, Ownership, WalletView
from service_tui.desk.vault import Vault
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.service import EMBEDDED_HOST
from service_tui.wire.endpoints.public import PATCH_SETTINGS
from service_tui.wire.endpoints.wallet import LINK_WALLET

WORK = 2**4
PASSPHRASE = "correct horse & battery"  # noqa: S105 - of a test


@pytest.mark.slow
async def test_from_no_wallet_to_everything_that_real_trades_need(  # noqa: PLR0915 - one long walk
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        events = stage.world.change(
            stage.agent, {"claimed": True, "real_trading_enabled": True}, stage.clock.now()
        )
        await stage.sim.service.world_store.commit(events)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            state = await known(desk, stage)
            assert state.wallet.ownership is Ownership.MANAGED
            assert not state.wallet.is_linked
            desk.submit(LinkWallet(signer.address, "never shown"))
            desk.submit(RequestLink(signer.address))
            state = await until(desk, lambda s: s.wallet.challenge, stage)
            read = state.wallet.challenge
            assert read is not None
            assert read.address == signer.address
            assert f"of {EMBEDDED_HOST}.\n" in read.message
            assert read.nonce in read.message
            assert signer.count == 0, "looking signs nothing"
            assert "nothing signed" in state.notices[-1].text
            desk.submit(LinkWallet(signer.address, read.nonce))
            state = await until(desk, lambda s: s.wallet.is_linked, stage)
            assert state.wallet.challenge is None, "good for one signature"
            assert state.wallet.address == signer.address
            assert signer.count == 1
            await until(desk, lambda s: s.wallet.has_credentials is False, stage)
            desk.submit(MakeCredentials())
            await until(desk, lambda s: s.wallet.has_credentials, stage)
            assert signer.count == 2
            desk.submit(MakeCredentials())
            await stage.clock.advance(3)
            assert signer.count == 2, "they are there already"
            desk.submit(ReadApprovals())
            state = await until(desk, lambda s: s.wallet.approvals, stage)
            unset = state.wallet.unset
            assert len(unset) == len(state.wallet.approvals) == 9
            assert all(one.call is not None and one.call.fee_max > 0 for one in unset)
            assert signer.count == 2, "looking signs nothing"
            api_keys = tuple(one.key for one in unset)
            desk.submit(SetApprovals(api_keys, "yes"))
            await stage.clock.advance(3)
            assert signer.count == 2
            desk.submit(SetApprovals(api_keys, APPROVE_WORD))
            state = await until(
                desk, lambda s: s.wallet.approvals and not s.wallet.unset, stage, tries=400
            )
            assert signer.count == 2 + 9
            desk.submit(SetApprovals(api_keys, APPROVE_WORD))
            await stage.clock.advance(10)
            assert signer.count == 2 + 9, "what is set is skipped"
            state = await until(
                desk, lambda s: [one.name for one in s.wallet.lacks] == ["real money"], stage
            )


@pytest.mark.slow
async def test_a_challenge_of_somebody_else_is_not_signed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage.sim.transport)
        api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(Lying(line), BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, client=client) as desk:
            await known(desk, stage)
            desk.submit(RequestLink(signer.address))
            state = await until(desk, lambda s: s.wallet.problem, stage)
            assert "another service" in state.wallet.problem
            assert state.wallet.challenge is None
            assert state.wallet.job is None
        assert signer.count == 0
        assert line.asked(LINK_WALLET.path) == 0


class Lying(httpx.AsyncBaseTransport):
    """Puts another host into every challenge."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if not request.url.path.endswith("/link/challenge"):
            return response
        content = (await response.aread()).replace(b'"message":"', b'"message":"evil.example ')
        return httpx.Response(response.status_code, stream=httpx.ByteStream(content))


@pytest.mark.slow
async def test_real_trades_are_allowed_by_the_service_or_it_says_why_not(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        path = PATCH_SETTINGS.path
        async with open_wallet_desk(stage, CountingSigner()) as desk:
            state = await known(desk, stage)
            assert not state.wallet.real_trading
            line.fault = lambda one: Fault.NO_LINE if one.url.path == path else None
            desk.submit(AllowReal())
            words = "real trades not allowed: "
            state = await until(desk, lambda s: any(words in n.text for n in s.notices), stage)
            assert not stage.agent.settings.real_trading_enabled
            off = {"sdk_real_trading_enabled": False}
            line.fault = lambda one: said(off) if one.url.path == path else None
            desk.submit(AllowReal())
            words = "real trades not allowed: the service leaves them off"
            await until(desk, lambda s: any(words == n.text for n in s.notices), stage)
            line.fault = lambda _: None
            desk.submit(AllowReal())
            state = await until(desk, lambda s: s.wallet.real_trading, stage)
            assert stage.agent.settings.real_trading_enabled
            assert "real trades allowed for this agent" in [one.text for one in state.notices]
            assert not state.wallet.live, "what the desk itself sends is another word"


@pytest.mark.slow
async def test_a_desk_that_is_read_only_allows_no_real_trades(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        initial = first_state(read_only=True)
        async with open_wallet_desk(stage, CountingSigner(), initial=initial) as desk:
            await known(desk, stage)
            await desk.submit(AllowReal()).wait()
            assert desk.state.notices[-1].text == "this desk is read-only: nothing allowed"
        assert not any(one.method == "PATCH" for one in line.sent)


@pytest.mark.slow
async def test_a_key_is_kept_opened_forgotten_and_removed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        around = DeskContext(
            stage.client,
            stage.database,
            stage.clock,
            lambda: "id",
            random.Random(2),
            vault=Vault(WalletKeys(tmp_path, work=WORK)),
        )
        async with open_desk(first_state(), around) as desk:
            await known(desk, stage)
            assert desk.state.wallet.key_state is KeyState.NONE
            desk.submit(KeepKey(PASSPHRASE, KEYS[0]))
            state = await until(desk, lambda s: s.wallet.key_state is KeyState.UNLOCKED, stage)
            address = state.wallet.key_address
            desk.submit(LockWallet())
            await until(desk, lambda s: s.wallet.key_state is KeyState.LOCKED, stage)
            desk.submit(UnlockWallet("not that one", address))
            state = await until(desk, lambda s: s.wallet.problem, stage)
            assert state.wallet.key_state is KeyState.LOCKED
            desk.submit(UnlockWallet(PASSPHRASE, address))
            await until(desk, lambda s: s.wallet.key_state is KeyState.UNLOCKED, stage)
            desk.submit(LockWallet())
            await until(desk, lambda s: s.wallet.key_state is KeyState.LOCKED, stage)
            desk.submit(RemoveKey(address, "nothing"))
            await until(desk, lambda s: any("last 6" in one.text for one in s.notices), stage)
            assert desk.state.wallet.key_state is KeyState.LOCKED
            desk.submit(RemoveKey(address, address[-6:].lower()))
            await until(desk, lambda s: s.wallet.key_state is KeyState.NONE, stage)


def test_what_is_not_known_yet_is_missing_too() -> None:
    checks = tuple(
        CheckView(name, is_done=is_done, detail=name)
        for name, is_done in (("done", True), ("missing", False), ("unknown", None))
    )
    wallet = WalletView(served=checks, ownership=Ownership.MANAGED, live=True)
    assert [one.name for one in wallet.lacks] == ["missing", "unknown"]
