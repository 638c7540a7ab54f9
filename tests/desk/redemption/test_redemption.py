"""Redemption runs on a desk: each step, restarts, and refusals."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import Dated, Fault, Line, reading_seldom, said, until
from kit.desk.redeeming import (
    CountingSigner,
    Won,
    balance,
    hold,
    known,
    open_wallet_desk,
    settle,
    settled,
)
from kit.samples.wallet import call_of
from kit.service.stage import OPERATOR, first_state, open_directory, open_stage
from kit.service.stage import Stage as Setting
from kit.service.wallets import operate, ready, winner_of
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.desk.chain.gateway import READINGS
from service_tui.desk.chain.translate import wallet_view
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.wallet import PrepareRedemption, Redeem, RedeemAll, SetAutoRedeem
from service_tui.desk.desk import Desk
from service_tui.desk.opening import DeskMemory
from service_tui.desk.ports import DeskContext
from service_tui.desk.redemption.handlers import ALLOWED, HOLDER
from service_tui.desk.redemption.redemption_run import priced
from service_tui.desk.slices.redemption import ChainRunState, RunProblem, RunView, Stage, Step
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import WalletView
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.engine.chain.chain import POL_PRICE
from service_tui.engine.chain_events import TxStatus
from service_tui.server.embedded import BASE_URL
from service_tui.storage.blotter import Blotter
from service_tui.storage.chain_runs import ChainRuns
from service_tui.storage.errors import StorageError
from service_tui.terms import Venue, WalletKind
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.wallet import (
    BROADCAST,
    CHAIN_RPC,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    REDEEM,
    REPORT_REDEMPTION,
)
from service_tui.wire.wallet import WalletBody

NOT_HERE = (Topic.MARKETS, Topic.REACTOR, Topic.ORDERS, Topic.TRADES, Topic.MONITORS)
"""What no redemption depends on."""

ALL_STEPS = [step.value for step in Step]
OVER = {ChainRunState.DONE, ChainRunState.FAILED, ChainRunState.REFUSED}


@asynccontextmanager
async def won(path: Path, **how: bool) -> AsyncGenerator[tuple[Setting, Line, Won]]:
    """A stage whose external wallet holds a settled position, behind a line that may break."""
    async with settled(path, **how) as (whole, held):
        line = Line(whole.sim.transport)
        api_keys = ApiKeys(ApiKey(whole.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(line, BASE_URL, api_keys, clock=whole.clock, rng=random.Random(1))
        with reading_seldom(*NOT_HERE):
            yield replace(whole, client=client), line, held


def run_of(state: DeskState, held: Won) -> RunView | None:
    return state.redemption.run(held.key)


def run_is(held: Won, *states: ChainRunState) -> Callable[[DeskState], bool]:
    def is_so(state: DeskState) -> bool:
        run = run_of(state, held)
        return run is not None and run.state in states

    return is_so


async def prepared(desk: Desk, stage: Setting, held: Won) -> RunView:
    before = run_of(desk.state, held)
    desk.submit(PrepareRedemption(held.market.market_id, held.side, Venue.EVM))
    wanted = run_is(held, ChainRunState.PREPARED, *OVER)
    state = await until(
        desk, lambda s: run_of(s, held) is not before and wanted(s), stage, step_s=0.1
    )
    run = run_of(state, held)
    assert run is not None
    return run


async def begun(desk: Desk, stage: Setting, held: Won, shown: RunView | None = None) -> RunView:
    """The run as it was shown, once the person has said yes to it."""
    run = shown or await prepared(desk, stage, held)
    assert run.call is not None, run
    desk.submit(Redeem(held.market.market_id, held.side, Venue.EVM, run.call.digest))
    return run


async def redeemed(desk: Desk, stage: Setting, held: Won, shown: RunView | None = None) -> RunView:
    await begun(desk, stage, held, shown)
    state = await until(desk, run_is(held, *OVER), stage)
    run = run_of(state, held)
    assert run is not None
    return run


def on_chain(stage: Setting) -> list[TxStatus]:
    """What became of every redemption that the chain was given."""
    return [tx.status for tx in stage.world.chain.txs.values() if not tx.sent.call.approval]


def payout(held: Won) -> int:
    account = held.own.line.stage.world.venues.account(held.own.line.stage.agent_id, Venue.EVM)
    return account.holdings[held.market.market_id].position.shares(held.side)


def allowed() -> DeskState:
    return replace(first_state(), preferences={ALLOWED: "1"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unsettled", "recent"])
async def test_a_journal_that_cannot_be_read_at_the_start_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    def refuse(*_: object) -> None:
        raise StorageError("the disk is away")

    async with won(tmp_path) as (stage, _, held):
        monkeypatch.setattr(ChainRuns, name, refuse)
        async with open_wallet_desk(stage, CountingSigner()) as desk:
            await until(
                desk, lambda _: "cannot read the redemption journal: the disk" in caplog.text, stage
            )
            # Nothing is signed as long as nobody knows what was signed before.
            await known(desk, stage)
            monkeypatch.undo()
            run = await redeemed(desk, stage, held)
            assert run.state is ChainRunState.DONE
        assert on_chain(stage) == [TxStatus.CONFIRMED]


# -- the way to money ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_won_position_becomes_money_in_six_steps(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        before, due = balance(stage), payout(held)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            waiting = desk.state.redemption.row(held.key)
            assert waiting.next_text == f"redeem: {due / ONE:,.2f} USDC.e to the wallet"
            run = await prepared(desk, stage, held)
            assert signer.count == 0
            assert run.call is not None
            assert run.call.contract == "conditional tokens"
            assert 0 < run.call.fee_max <= 500_000
            assert run.call.fee_money == round(run.call.fee_max * POL_PRICE)
            run = await redeemed(desk, stage, held, run)
            assert run.state is ChainRunState.DONE
            assert [one.step.value for one in run.steps] == ALL_STEPS
            assert signer.count == 1
            assert balance(stage) == before + due
            assert on_chain(stage) == [TxStatus.CONFIRMED]
            state = await until(
                desk,
                lambda s: s.redemption.row(held.key).stage is Stage.REDEEMED,
                stage,
            )
            paid = f"{due / ONE:,.2f} USDC.e"
            assert run.words == f"{paid} received"
            assert run.steps[1].words == f"pays {paid}"
            assert any(f"redeemed: {paid} received" in one.text for one in state.notices)


@pytest.mark.slow
async def test_a_halt_does_not_stop_a_redemption(tmp_path: Path) -> None:
    async with (
        won(tmp_path) as (stage, _, held),
        open_wallet_desk(stage, CountingSigner()) as desk,
    ):
        await known(desk, stage)
        desk.submit(Halt())
        await until(desk, lambda s: s.halted_since is not None, stage)
        assert (await redeemed(desk, stage, held)).state is ChainRunState.DONE


@pytest.mark.slow
async def test_what_was_not_shown_is_not_signed(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            await prepared(desk, stage, held)
            desk.submit(Redeem(held.market.market_id, held.side, Venue.EVM, "another"))
            await stage.clock.advance(5)
            assert signer.count == 0
            assert any("differs from the one shown" in one.text for one in desk.state.notices)


@pytest.mark.slow
async def test_without_an_open_key_nothing_is_signed(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held), open_wallet_desk(stage) as desk:
        await known(desk, stage)
        run = await begun(desk, stage, held)
        await leap(stage.clock, 30)
        assert run_of(desk.state, held) == run
        assert any("locked" in one.text for one in desk.state.notices)
        assert on_chain(stage) == []


@pytest.mark.slow
async def test_a_lost_position_is_never_burned(tmp_path: Path) -> None:
    async with won(tmp_path, lost=True) as (stage, line, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            await known(desk, stage)
            run = await prepared(desk, stage, held)
            assert run.reason is RunProblem.LOST
            await leap(stage.clock, 60)
            assert signer.count == 0
            assert line.asked(REDEEM.path) == 0


@pytest.mark.slow
async def test_before_the_oracle_it_waits(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        own = await ready(stage)
        held = await hold(stage, own)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            await known(desk, stage)
            run = await prepared(desk, stage, held)
            assert run.reason is RunProblem.NOT_FINAL
            assert signer.count == 0


@pytest.mark.slow
async def test_what_was_redeemed_elsewhere_is_told_apart(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            rows = desk.state.redemption.rows
            await held.own.redeem(held.market, held.side.value)
            # The queue of a moment ago still says that it is ready.
            line.fault = lambda request: (
                Fault.NO_LINE if request.url.path.endswith("/redemptions") else None
            )
            assert rows[0].stage is Stage.READY
            run = await prepared(desk, stage, held)
            assert (run.state, run.reason) == (ChainRunState.REFUSED, RunProblem.ALREADY)
            assert signer.count == 0


@pytest.mark.slow
async def test_a_managed_wallet_is_signed_for_by_the_service(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        before, due = balance(stage), payout(held)
        # The same wallet in the service's hands: another one would hold nothing of it.
        changes = {"auto_redeem_enabled": False, "wallet": WalletKind.MANAGED}
        events = stage.world.change(stage.agent, {**changes}, stage.clock.now())
        await stage.sim.service.world_store.commit(events)
        async with open_wallet_desk(stage) as desk:
            await known(desk, stage)
            run = await prepared(desk, stage, held)
            assert run.managed
            assert balance(stage) == before
            desk.submit(Redeem(held.market.market_id, held.side, Venue.EVM))
            await until(desk, lambda s: s.redemption.row(held.key).stage is Stage.REDEEMED, stage)
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert balance(stage) == before + due


# -- by itself ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_with_the_persons_word_it_goes_by_itself(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        before, due = balance(stage), payout(held)
        async with open_wallet_desk(stage, CountingSigner()) as desk:
            state = await known(desk, stage)
            await leap(stage.clock, 30)
            assert on_chain(stage) == []
            assert not state.redemption.auto.is_on
            desk.submit(SetAutoRedeem(on=True))
            state = await until(desk, run_is(held, ChainRunState.DONE), stage)
            assert state.redemption.auto.is_on
            await leap(stage.clock, 60)
        assert balance(stage) == before + due
        assert on_chain(stage) == [TxStatus.CONFIRMED]


@pytest.mark.slow
async def test_switched_off_on_the_service_nothing_goes_by_itself(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        async with open_wallet_desk(stage, CountingSigner(), initial=allowed()) as desk:
            events = stage.world.change(
                stage.agent, {"auto_redeem_enabled": False}, stage.clock.now()
            )
            await stage.sim.service.world_store.commit(events)
            await known(desk, stage)
            await leap(stage.clock, 60)
            assert run_of(desk.state, held) is None
        assert on_chain(stage) == []


@pytest.mark.slow
async def test_too_little_gas_pauses_and_a_top_up_goes_on(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        path = {"agent_id": stage.agent_id}
        await operate(stage, DESK_PATCH_WALLET, path=path, json={"gas": 0.0001})
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            state = await until(desk, lambda s: s.redemption.auto.paused, stage)
            assert "gas too low" in state.redemption.auto.paused
            await leap(stage.clock, 60)
            assert signer.count == 0
            told = [one for one in desk.state.notices if "auto-redeem paused" in one.text]
            assert len(told) == 1
            await operate(stage, DESK_PATCH_WALLET, path=path, json={"gas": 1.0})
            state = await until(desk, run_is(held, ChainRunState.DONE), stage)
            assert state.redemption.auto.paused == ""


@pytest.mark.slow
async def test_a_locked_key_is_said_at_once_and_once(tmp_path: Path) -> None:
    async with (
        won(tmp_path) as (stage, _, held),
        open_wallet_desk(stage, initial=allowed()) as desk,
    ):
        state = await until(desk, lambda s: s.redemption.auto.paused, stage)
        assert "locked" in state.redemption.auto.paused
        await leap(stage.clock, 60)
        told = [one for one in desk.state.notices if "locked" in one.text]
        assert len(told) == 1
        assert run_of(desk.state, held) is None


@pytest.mark.slow
async def test_two_reverts_in_a_row_pause_it(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        await operate(stage, DESK_PATCH_CHAIN, json={"faults": ["revert", "revert"]})
        async with open_wallet_desk(stage, CountingSigner()) as desk:
            await known(desk, stage)
            desk.submit(SetAutoRedeem(on=True))
            await until(desk, run_is(held, ChainRunState.FAILED), stage)
            await leap(stage.clock, 300)
            assert on_chain(stage)[0] is TxStatus.FAILED


# -- a line that breaks, and a program that dies ------------------------------------------------


def is_path(path: str) -> Callable[[httpx.Request], bool]:
    return lambda request: request.url.path == path


def is_rpc(*methods: str) -> Callable[[httpx.Request], bool]:
    def is_so(request: httpx.Request) -> bool:
        if request.url.path != CHAIN_RPC.path:
            return False
        return json.loads(request.content)["method"] in methods

    return is_so


KILLS = [
    ("asking", is_path(REDEEM.path), Fault.STUCK),
    ("asked", is_path(REDEEM.path), Fault.SILENT),
    ("checking", is_rpc("eth_call"), Fault.SILENT),
    ("pricing", is_rpc("eth_estimateGas"), Fault.SILENT),
    ("sending", is_path(BROADCAST.path), Fault.STUCK),
    ("sent", is_path(BROADCAST.path), Fault.SILENT),
    ("confirming", is_rpc("eth_getTransactionReceipt"), Fault.SILENT),
    ("reporting", is_path(REPORT_REDEMPTION.path), Fault.STUCK),
    ("reported", is_path(REPORT_REDEMPTION.path), Fault.SILENT),
]


async def killed(stage: Setting, signer: CountingSigner, is_there: Callable[[], object]) -> None:
    """Run a desk that redeems by itself, and end it without any closing once it is there."""
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
    desk = Desk(allowed(), around, Blotter(stage.database), memory)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        await until(desk, lambda _: is_there(), stage)
        running.cancel()


@pytest.mark.slow
@pytest.mark.parametrize(("where", "is_it", "fault"), KILLS, ids=[one[0] for one in KILLS])
async def test_killed_anywhere_it_is_redeemed_once(
    tmp_path: Path, where: str, is_it: Callable[[httpx.Request], bool], fault: Fault
) -> None:
    async with won(tmp_path) as (stage, line, held):
        before, due, signer = balance(stage), payout(held), CountingSigner()
        line.fault = lambda request: fault if is_it(request) else None
        await killed(stage, signer, lambda: line.waiting)
        signed = signer.count
        assert signed == (where in {"sending", "sent", "confirming", "reporting", "reported"})
        line.fault = lambda _: None
        line.released.set()
        line.released = asyncio.Event()
        sent: list[str] = []
        line.seen = lambda request: (
            sent.append(json.loads(request.content)["signed_tx"])
            if request.url.path == BROADCAST.path
            else None
        )
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            state = await until(desk, run_is(held, ChainRunState.DONE), stage)
            run = run_of(state, held)
            assert run is not None
            assert run.tx_hash
            await leap(stage.clock, 30)
        assert on_chain(stage) == [TxStatus.CONFIRMED]
        assert signer.count == 1
        assert len(set(sent)) <= 1
        assert balance(stage) == before + due
        assert stage.world.venues.account(stage.agent_id, Venue.EVM).redeemable_count() == 0


@pytest.mark.slow
async def test_what_was_sent_gets_its_end_however_much_came_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if a hundred runs of others had come after it.
    monkeypatch.setattr("service_tui.desk.redemption.handlers.SHOWN", 0)
    async with won(tmp_path) as (stage, line, held):
        before, due, signer = balance(stage), payout(held), CountingSigner()
        line.fault = lambda request: (
            Fault.SILENT if request.url.path == REPORT_REDEMPTION.path else None
        )
        await killed(stage, signer, lambda: line.waiting)
        line.fault = lambda _: None
        line.released.set()
        line.released = asyncio.Event()
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert signer.count == 1
        assert balance(stage) == before + due


@pytest.mark.slow
async def test_killed_between_signature_and_disk_nothing_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with won(tmp_path) as (stage, _, held):
        before, due, signer = balance(stage), payout(held), CountingSigner()

        async def never(*_: object, **__: object) -> None:
            await asyncio.Event().wait()

        monkeypatch.setattr(ChainRuns, "sign", never)
        await killed(stage, signer, lambda: signer.count)
        monkeypatch.undo()
        assert on_chain(stage) == []
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert on_chain(stage) == [TxStatus.CONFIRMED]
        assert balance(stage) == before + due


@pytest.mark.slow
async def test_a_minute_without_a_receipt_is_broadcast_unconfirmed(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        await operate(stage, DESK_PATCH_CHAIN, json={"faults": ["withhold"]})
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            run = await begun(desk, stage, held)
            state = await until(desk, run_is(held, ChainRunState.UNCONFIRMED), stage)
            run = run_of(state, held)
            assert run is not None
            assert run.reason is RunProblem.TIMEOUT
            assert run.tx_hash
            assert line.asked(REPORT_REDEMPTION.path) == 0
            await leap(stage.clock, 90)
            assert signer.count == 1
            await operate(stage, DESK_PATCH_CHAIN, json={"faults": []})
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert signer.count == 1


@dataclass
class Receipts(httpx.AsyncBaseTransport):
    """The chain's receipts are counted, or held to have vanished with their block."""

    inner: httpx.AsyncBaseTransport
    vanished: bool = False
    seen: int = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if b"eth_getTransactionReceipt" not in request.content:
            return response
        body = json.loads(await response.aread())
        if self.vanished:
            body["result"] = None
        self.seen += body["result"] is not None
        return said(body)


@pytest.mark.slow
async def test_a_receipt_whose_block_vanishes_counts_from_the_beginning(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        receipts = line.inner = Receipts(line.inner)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            run = await begun(desk, stage, held)
            await until(desk, lambda _: receipts.seen == READINGS - 1, stage, step_s=0.1)
            receipts.vanished = True
            await leap(stage.clock, 30)
            run = run_of(desk.state, held)
            assert run is not None
            assert run.state not in OVER
            assert line.asked(REPORT_REDEMPTION.path) == 0
            receipts.vanished, receipts.seen = False, 0
            await until(desk, run_is(held, ChainRunState.DONE), stage, step_s=0.1)
        assert receipts.seen >= READINGS
        assert signer.count == 1


@pytest.mark.slow
async def test_a_relay_that_names_another_transaction_is_shown(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        other = "0x" + "ee" * 32
        line.fault = lambda request: (
            said({"success": True, "tx_hash": other})
            if request.url.path == BROADCAST.path
            else None
        )
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            run = await begun(desk, stage, held)
            state = await until(
                desk, lambda s: other in (run_of(s, held) or run).words, stage, step_s=0.1
            )
            own = run_of(state, held)
            assert own is not None
            assert own.tx_hash not in {"", other}
            assert any(other in one.text and one.tone == "warn" for one in state.notices)
            line.fault = lambda _: None
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert signer.count == 1


@pytest.mark.slow
async def test_lost_bytes_are_sent_again_and_never_signed_again(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        signer = CountingSigner()
        await operate(stage, DESK_PATCH_CHAIN, json={"faults": ["drop"]})
        sent: list[str] = []
        line.seen = lambda request: (
            sent.append(json.loads(request.content)["signed_tx"])
            if request.url.path == BROADCAST.path
            else None
        )
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            await begun(desk, stage, held)
            await until(desk, run_is(held, ChainRunState.DONE), stage, tries=600)
        assert signer.count == 1
        assert len(sent) > 1
        assert len(set(sent)) == 1


@pytest.mark.slow
async def test_the_report_is_repeated_until_it_is_taken(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        line.fault = lambda request: (
            said({"error": "broken"}, 500)
            if request.url.path == REPORT_REDEMPTION.path
            and line.asked(REPORT_REDEMPTION.path) <= 2
            else None
        )
        async with open_wallet_desk(stage, CountingSigner()) as desk:
            await known(desk, stage)
            assert (await redeemed(desk, stage, held)).state is ChainRunState.DONE
        assert line.asked(REPORT_REDEMPTION.path) == 3


@pytest.mark.slow
async def test_two_words_at_once_redeem_once(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, initial=allowed()) as desk:
            await known(desk, stage)
            for _ in range(3):
                desk.submit(RedeemAll((held.key, held.key)))
            await until(desk, run_is(held, ChainRunState.DONE), stage)
            await leap(stage.clock, 60)
        assert signer.count == 1
        assert on_chain(stage) == [TxStatus.CONFIRMED]


@pytest.mark.slow
async def test_all_of_several_are_redeemed_by_one_word(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        own = await ready(stage)
        listed = [one for one in stage.open_markets() if one.listing.home is Venue.EVM]
        soonest = sorted(listed, key=lambda one: one.listing.resolved_at)[:4]
        rows = [Won(own, market, winner_of(market)) for market in soonest]
        for held in rows:
            bought = await own.buy(held.market, 20.0, side=held.side.value)
            assert bought["success"], bought
        await settle(stage, *rows)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            desk.submit(RedeemAll(tuple(held.key for held in rows)))
            state = await until(desk, lambda s: all(run_is(held, *OVER)(s) for held in rows), stage)
        ends = [(run.state, run.words) for held in rows if (run := run_of(state, held))]
        assert [state for state, _ in ends] == [ChainRunState.DONE] * 4, ends
        assert signer.count == 4
        assert on_chain(stage) == [TxStatus.CONFIRMED] * 4


@pytest.mark.slow
async def test_with_a_clock_far_off_nothing_is_signed_until_it_is_right(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, line, held):
        dated = Dated(line, stage.clock, ahead_s=-31.0)
        api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(dated, BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
        slow, signer = replace(stage, client=client), CountingSigner()
        async with open_wallet_desk(slow, signer, initial=allowed()) as desk:
            state = await until(desk, run_is(held, ChainRunState.REFUSED), stage)
            run = run_of(state, held)
            assert run is not None
            assert (run.reason, signer.count) == (RunProblem.CHAIN, 0)
            assert "the clock is more than 30 s off" in run.words
            dated.ahead_s = 0.0
            await until(desk, run_is(held, ChainRunState.DONE), stage, tries=600)
        assert signer.count == 1


@pytest.mark.slow
async def test_a_second_console_on_the_directory_leaves_it_to_the_first(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        second_signer, first_signer = CountingSigner(), CountingSigner()
        async with (
            open_wallet_desk(stage, second_signer, executes=False, initial=allowed()) as second,
            open_wallet_desk(stage, first_signer, initial=allowed()) as first,
        ):
            await known(second, stage)
            second.submit(RedeemAll((held.key,)))
            await until(first, run_is(held, ChainRunState.DONE), stage)
            assert any(HOLDER in one.text for one in second.state.notices)
            await until(second, lambda s: s.redemption.row(held.key).stage is Stage.REDEEMED, stage)
        assert (first_signer.count, second_signer.count) == (1, 0)
        assert on_chain(stage) == [TxStatus.CONFIRMED]


@asynccontextmanager
async def beside(
    stage: Setting, path: Path, signer: CountingSigner, initial: DeskState | None = None
) -> AsyncGenerator[Desk]:
    """A console on the same service that holds nothing, with a database of its own."""
    async with open_directory(path / "attached", stage.clock) as own:
        other = replace(stage, database=own)
        known_before = initial or allowed()
        async with open_wallet_desk(other, signer, executes=False, initial=known_before) as desk:
            await known(desk, stage)
            yield desk
            assert ChainRuns(own).recent(100) == []


@pytest.mark.slow
async def test_who_takes_the_directory_over_begins_redemptions_in_its_journal(
    tmp_path: Path,
) -> None:
    async with won(tmp_path) as (stage, _, held):
        before, due = balance(stage), payout(held)
        signer = CountingSigner()
        async with beside(stage, tmp_path, signer) as desk:
            desk.submit(RedeemAll((held.key,)))
            await until(desk, lambda s: any(HOLDER in one.text for one in s.notices), stage)
            await leap(stage.clock, 60)
            assert (signer.count, desk.state.redemption.executes) == (0, False)
            desk.hold(stage.database)
            state = await until(desk, run_is(held, ChainRunState.DONE), stage)
            assert state.redemption.executes
            await leap(stage.clock, 60)
        assert signer.count == 1
        assert [run.wallet for run in ChainRuns(stage.database).recent(100) if run.raw] == [
            signer.address
        ]
        assert balance(stage) == before + due
        assert on_chain(stage) == [TxStatus.CONFIRMED]


@pytest.mark.slow
async def test_what_the_last_holder_has_sent_is_followed_and_not_signed_again(
    tmp_path: Path,
) -> None:
    async with won(tmp_path) as (stage, _, held):
        await operate(stage, DESK_PATCH_CHAIN, json={"block_s": 600})
        first, second = CountingSigner(), CountingSigner()
        async with beside(stage, tmp_path, second) as desk:
            async with open_wallet_desk(stage, first, initial=allowed()) as holder:
                await until(
                    holder,
                    lambda s: (run := run_of(s, held)) is not None and run.at(Step.BROADCAST),
                    stage,
                )
            desk.hold(stage.database)
            desk.submit(RedeemAll((held.key,)))
            await leap(stage.clock, 30)
            await operate(stage, DESK_PATCH_CHAIN, json={"block_s": 2})
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert (first.count, second.count) == (1, 0)
        assert on_chain(stage) == [TxStatus.CONFIRMED]


@pytest.mark.slow
async def test_who_holds_the_directory_no_longer_begins_nothing(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        signer = CountingSigner()
        async with beside(stage, tmp_path, signer) as desk:
            desk.hold(stage.database)
            desk.hold(None)
            desk.submit(RedeemAll((held.key,)))
            await leap(stage.clock, 60)
            assert any(HOLDER in one.text for one in desk.state.notices)
        assert signer.count == 0
        assert on_chain(stage) == []


@pytest.mark.slow
async def test_who_holds_the_directory_again_follows_what_others_did_meanwhile(
    tmp_path: Path,
) -> None:
    async with won(tmp_path) as (stage, _, held):
        await operate(stage, DESK_PATCH_CHAIN, json={"block_s": 600})
        first, second = CountingSigner(), CountingSigner()
        async with beside(stage, tmp_path, second, first_state()) as desk:
            desk.hold(stage.database)
            await until(desk, lambda s: s.redemption.executes, stage)
            desk.hold(None)
            await until(desk, lambda s: not s.redemption.executes, stage)
            async with open_wallet_desk(stage, first, initial=allowed()) as holder:
                await until(
                    holder,
                    lambda s: (run := run_of(s, held)) is not None and run.at(Step.BROADCAST),
                    stage,
                )
            assert run_of(desk.state, held) is None
            desk.hold(stage.database)
            await until(desk, lambda s: s.redemption.executes, stage)
            await operate(stage, DESK_PATCH_CHAIN, json={"block_s": 2})
            await until(desk, run_is(held, ChainRunState.DONE), stage)
        assert (first.count, second.count) == (1, 0)
        assert on_chain(stage) == [TxStatus.CONFIRMED]


# -- a service that means ill -------------------------------------------------------------------

CTF = "0x4D97DCd97eC945f40cF65F87097ACe5EA0476045"


def tampered(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def work(content: bytes) -> bytes:
        body = json.loads(content)
        change(body["unsigned_tx"])
        return json.dumps(body).encode()

    return work


def word(data: str, place: int, value: str) -> str:
    """Call data with one word changed."""
    start = 10 + 64 * place
    return data[:start] + value + data[start + 64 :]


HOSTILE: dict[str, Callable[[dict[str, Any]], None]] = {
    "another target": lambda tx: tx.update(to="0x" + "66" * 20),
    "no target": lambda tx: tx.update(to=None),
    "the money's contract": lambda tx: tx.update(to="0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"),
    "the other redeemer": lambda tx: tx.update(to="0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296"),
    "an approval": lambda tx: tx.update(data="0xa22cb465" + "00" * 12 + "66" * 20 + f"{1:064x}"),
    "a transfer": lambda tx: tx.update(data="0xf242432a" + "00" * 160),
    "another chain": lambda tx: tx.update(chainId=1),
    "a chain in hex": lambda tx: tx.update(chainId="0x1"),
    "value": lambda tx: tx.update(value="0xde0b6b3a7640000"),
    "huge gas": lambda tx: tx.update(gas=30_000_000),
    "garbage gas": lambda tx: tx.update(gas="lots"),
    "another sender": lambda tx: tx.update({"from": "0x" + "77" * 20}),
    "another collateral": lambda tx: tx.update(data=word(tx["data"], 0, "00" * 12 + "66" * 20)),
    "a parent collection": lambda tx: tx.update(data=word(tx["data"], 1, "11" * 32)),
    "another market": lambda tx: tx.update(data=word(tx["data"], 2, "22" * 32)),
    "trailing bytes": lambda tx: tx.update(data=tx["data"] + "00"),
    "cut off": lambda tx: tx.update(data=tx["data"][:-64]),
    "garbage hex": lambda tx: tx.update(data="0xzz"),
    "no data": lambda tx: tx.update(data=""),
}


class Tampering(httpx.AsyncBaseTransport):
    """Changes what one path answers."""

    def __init__(self, inner: httpx.AsyncBaseTransport, path: str) -> None:
        self.inner, self.path = inner, path
        self.work: Callable[[bytes], bytes] = lambda content: content

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if request.url.path != self.path:
            return response
        return httpx.Response(
            response.status_code, stream=httpx.ByteStream(self.work(await response.aread()))
        )


@pytest.mark.slow
async def test_what_no_person_would_sign_is_not_signed(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        wire = Tampering(stage.sim.transport, REDEEM.path)
        api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(wire, BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
        hostile = replace(stage, client=client)
        signer = CountingSigner()
        async with open_wallet_desk(hostile, signer) as desk:
            await known(desk, hostile)
            for name, change in HOSTILE.items():
                wire.work = tampered(change)
                run = await prepared(desk, hostile, held)
                assert run.state is ChainRunState.REFUSED, name
                assert run.reason is RunProblem.OUTSIDE_POLICY, (name, run.words)
                assert run.words.startswith("not signed"), name
                desk.submit(RedeemAll((held.key,)))
                await until(
                    desk,
                    lambda s, old=run: run_of(s, held) != old and run_is(held, *OVER)(s),
                    hostile,
                    step_s=0.1,
                )
            assert signer.count == 0
            assert on_chain(stage) == []
            wire.work = lambda content: content
            assert (await redeemed(desk, hostile, held)).state is ChainRunState.DONE
        assert signer.count == 1


@pytest.mark.slow
async def test_by_itself_nothing_strange_is_tried_twice(tmp_path: Path) -> None:
    async with won(tmp_path) as (stage, _, held):
        wire = Tampering(stage.sim.transport, REDEEM.path)
        wire.work = tampered(HOSTILE["another market"])
        api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(wire, BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
        signer = CountingSigner()
        async with open_wallet_desk(
            replace(stage, client=client), signer, initial=allowed()
        ) as desk:
            state = await until(desk, run_is(held, ChainRunState.REFUSED), stage)
            first = run_of(state, held)
            await leap(stage.clock, 120)
            assert run_of(desk.state, held) == first
        assert signer.count == 0


@pytest.mark.parametrize(
    ("said", "served", "money"),
    [("", 0.45, 45_000), ("2", 0.45, 200_000), ("no price", 0.45, 45_000), ("", 0.0, 25_000)],
)
def test_gas_is_told_in_money_by_the_price_of_the_person_else_of_the_service(
    said: str, served: float, money: int
) -> None:
    wallet = wallet_view(WalletBody(pol_usd=served), WalletView())
    call = priced(call_of(fee_max=Micros(100_000)), said, wallet.pol_price)
    assert call.fee_money == money
