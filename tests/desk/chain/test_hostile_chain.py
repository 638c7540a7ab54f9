"""What a node may answer, and what may lie in the journal, ends no desk and signs nothing wrong."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import Fault, Line, said, until
from kit.desk.redeeming import CountingSigner, Won, known, open_wallet_desk, settled
from kit.service.stage import OPERATOR, Stage, first_state
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.desk.chain.run_state import SignedCall, TransactionRunState, dump, load
from service_tui.desk.commands.wallet import AbandonRun, PrepareRedemption, Redeem
from service_tui.desk.desk import Desk
from service_tui.desk.opening import DeskMemory
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.redemption import ChainRunState, RunView
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.server.embedded import BASE_URL
from service_tui.storage.blotter import Blotter
from service_tui.storage.chain_runs import ChainRun, ChainRuns, RunSignature
from service_tui.terms import Side, Venue
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC

WRONG = ["0xzz", "0x", "0x" + "f" * 64, "7", "", 7, None, [], {"count": "0x1"}, "0x1_0", "0x-1"]


@asynccontextmanager
async def won(path: Path) -> AsyncGenerator[tuple[Stage, Line, Won]]:
    async with settled(path) as (whole, held):
        line = Line(whole.sim.transport)
        api_keys = ApiKeys(ApiKey(whole.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(line, BASE_URL, api_keys, clock=whole.clock, rng=random.Random(1))
        yield replace(whole, client=client), line, held


def asked(request: httpx.Request, method: str) -> bool:
    return request.url.path == CHAIN_RPC.path and json.loads(request.content)["method"] == method


def answering(method: str, result: object) -> Callable[[httpx.Request], httpx.Response | None]:
    """A node that answers one method so, and the others well."""

    def fault(request: httpx.Request) -> httpx.Response | None:
        body = {"jsonrpc": "2.0", "id": 1, "result": result}
        return said(body) if asked(request, method) else None

    return fault


def run_of(state: DeskState, held: Won) -> RunView | None:
    return state.redemption.run(held.key)


async def run_in(desk: Desk, stage: Stage, held: Won, *states: ChainRunState) -> RunView:
    state = await until(
        desk,
        lambda s: (run := run_of(s, held)) is not None and run.state in states,
        stage,
    )
    run = run_of(state, held)
    assert run is not None
    return run


async def shown(desk: Desk, stage: Stage, held: Won) -> RunView:
    before = run_of(desk.state, held)
    desk.submit(PrepareRedemption(held.market.market_id, held.side, Venue.EVM))
    await until(desk, lambda s: run_of(s, held) is not before, stage, step_s=0.1)
    over = (ChainRunState.PREPARED, ChainRunState.REFUSED)
    return await run_in(desk, stage, held, *over)


def yes_to(held: Won, run: RunView) -> Redeem:
    assert run.call is not None
    return Redeem(held.market.market_id, held.side, Venue.EVM, run.call.digest)


@pytest.mark.slow
async def test_a_nonce_that_is_none_ends_neither_the_desk_nor_the_run(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            for wrong in WRONG:
                line.fault = answering("eth_getTransactionCount", wrong)
                run = await shown(desk, stage, held)
                assert run.state is ChainRunState.REFUSED, wrong
                assert "nonce" in run.words, (wrong, run.words)
            line.fault = lambda _: None
            run = await shown(desk, stage, held)
            # Wrong only when the place is looked at once more, right before the signature.
            line.fault = answering("eth_getTransactionCount", "0xzz")
            desk.submit(yes_to(held, run))
            assert "nonce" in (await run_in(desk, stage, held, ChainRunState.REFUSED)).words
            assert signer.count == 0
            line.fault = lambda _: None
            run = await shown(desk, stage, held)
            # And while a receipt is waited for.
            no_receipt = answering("eth_getTransactionReceipt", None)
            no_nonce = answering("eth_getTransactionCount", "0xzz")
            line.fault = lambda request: (
                no_receipt(request) or (no_nonce(request) if line.asked(BROADCAST.path) else None)
            )
            desk.submit(yes_to(held, run))
            await until(desk, lambda s: (one := run_of(s, held)) and "nonce" in one.words, stage)
        async with open_wallet_desk(stage, signer) as desk:
            await until(desk, lambda s: (one := run_of(s, held)) and "nonce" in one.words, stage)
            line.fault = lambda _: None
            await run_in(desk, stage, held, ChainRunState.DONE)
        assert signer.count == 1


@pytest.mark.slow
async def test_a_step_that_fails_as_nobody_foresaw_is_shown_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("0xsecret")

    async with won(tmp_path) as (stage, _, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            run = await shown(desk, stage, held)
            with monkeypatch.context() as patched:
                patched.setattr("service_tui.desk.chain.transaction_run.Watch", broken)
                desk.submit(yes_to(held, run))
                state = await until(
                    desk,
                    lambda s: (one := run_of(s, held)) and "retrying in" in one.words,
                    stage,
                )
                run = run_of(state, held)
                assert run is not None
                assert "a fault in the program (ValueError at transaction_run.py" in run.words
                assert "0xsecret" not in run.words
            await run_in(desk, stage, held, ChainRunState.DONE)
        assert signer.count == 1


async def killed_again(stage: Stage, line: Line, signer: CountingSigner) -> None:
    """Run a desk, and end it without any closing while it waits for the relay."""
    ids = (f"id{number}" for number in range(10_000))
    around = DeskContext(
        stage.client,
        stage.database,
        stage.clock,
        lambda: next(ids),
        random.Random(2),
        vault=Vault(None, signer),
    )
    memory = DeskMemory(stage.database, stage.clock)
    desk = Desk(first_state(), around, Blotter(stage.database), memory)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        await until(desk, lambda _: line.waiting, stage, step_s=0.1)
        running.cancel()


@pytest.mark.slow
async def test_a_step_in_which_the_program_died_twice_is_set_aside(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            run = await shown(desk, stage, held)
            # A clean end counts for nothing, however often it comes.
            line.fault = lambda request: (
                Fault.NO_LINE if request.url.path == BROADCAST.path else None
            )
            desk.submit(yes_to(held, run))
            await run_in(desk, stage, held, ChainRunState.RUNNING)
            await until(desk, lambda _: signer.count, stage, step_s=0.1)
        for _ in range(2):
            async with open_wallet_desk(stage, signer) as desk:
                await until(desk, lambda _: line.asked(BROADCAST.path), stage, step_s=0.1)
                line.sent.clear()
        line.fault = lambda request: Fault.STUCK if request.url.path == BROADCAST.path else None
        for _ in range(2):
            await killed_again(stage, line, signer)
        line.fault = lambda _: None
        line.sent.clear()
        async with open_wallet_desk(stage, signer) as desk:
            state = await until(
                desk, lambda s: (one := run_of(s, held)) and "set aside" in one.words, stage
            )
            await leap(stage.clock, 60)
            assert not line.asked(BROADCAST.path)
            run = run_of(state, held)
            assert run is not None
            assert run.fix == "redeem again to retry the step"
            desk.submit(PrepareRedemption(held.market.market_id, held.side, Venue.EVM))
            await run_in(desk, stage, held, ChainRunState.DONE)
        assert signer.count == 1


CALL = SignedCall(
    chain_id=137, nonce=1, gas=2, max_fee=3, max_priority_fee=1, to="0x" + "11" * 20, data="00"
)
VIEW = RunView(
    market_id="m", side=Side.YES, venue=Venue.EVM, question="?", state=ChainRunState.RUNNING
)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("nonce", "1"), ("gas", None), ("max_fee", 1.5), ("nonce", -1), ("data", "zz"), ("to", "x")],
)
def test_a_stored_call_with_a_wrong_field_is_no_run(field: str, wrong: object) -> None:
    whole = json.loads(dump(TransactionRunState(VIEW, CALL)))
    assert load(json.dumps(whole)) == TransactionRunState(VIEW, CALL)
    del whole["begun"]
    assert load(json.dumps(whole)).begun == 0
    whole["to_sign"][field] = wrong
    with pytest.raises(ValueError):  # noqa: PT011
        load(json.dumps(whole))


async def unsent(stage: Stage, wallet: str, nonce: int) -> None:
    """A run of an earlier version whose nonce nobody can reach."""
    view = replace(VIEW, market_id="lost")
    run = ChainRun(
        subject="redeem:lost:yes",
        wallet=wallet,
        opened_at=1.0,
        changed_at=1.0,
        step="sign",
        body=dump(TransactionRunState(view, replace(CALL, nonce=nonce), confirmed=True)),
    )
    runs = ChainRuns(stage.database)
    number = await runs.open(run)
    await runs.sign(
        number, "confirm", run.body, RunSignature(nonce, "0x00", "0x" + "ab" * 32), now=1.0
    )


@pytest.mark.slow
async def test_a_wrong_nonce_is_refused_and_poisons_nothing(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        signer = CountingSigner()
        await unsent(stage, signer.address, 2**31)
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            for wrong in (2**40, 2**31, 200):
                line.fault = counting(pending=wrong)
                run = await shown(desk, stage, held)
                assert run.state is ChainRunState.REFUSED, wrong
            assert signer.count == 0
            line.fault = lambda _: None
            state = await until(
                desk,
                lambda s: (one := s.redemption.run("lost:yes")) and "is unusable" in one.words,
                stage,
            )
            lost = state.redemption.run("lost:yes")
            assert lost is not None
            assert lost.fix.startswith("abandon the redemption")
            run = await shown(desk, stage, held)
            assert run.call is not None
            right = run.call.nonce
            assert right < 2**31
            # Seen once with another count, it is not signed once the count is right again.
            line.fault = counting(pending=right + 3)
            run = await shown(desk, stage, held)
            assert run.call is not None
            assert (run.call.nonce, run.call.gap) == (right + 3, 3)
            line.fault = lambda _: None
            desk.submit(yes_to(held, run))
            refused = await run_in(desk, stage, held, ChainRunState.REFUSED)
            assert "was used by another transaction" in refused.words
            desk.submit(AbandonRun(held.key))
            desk.submit(AbandonRun("lost:yes"))
            await until(
                desk,
                lambda s: (one := s.redemption.run("lost:yes")) and "abandoned" in one.words,
                stage,
            )
            desk.submit(yes_to(held, await shown(desk, stage, held)))
            await run_in(desk, stage, held, ChainRunState.DONE)
        assert signer.count == 1


def counting(*, pending: int) -> Callable[[httpx.Request], httpx.Response | None]:
    """A node that says so many transactions wait."""
    waits = answering("eth_getTransactionCount", hex(pending))

    def fault(request: httpx.Request) -> httpx.Response | None:
        return waits(request) if b'"pending"' in request.content else None

    return fault
