"""The signing part of the desk: who may sign, what wakes it, and which handler takes what."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import wallet_of
from service_tui.desk.changes import Changed
from service_tui.desk.commands import wallet as commands
from service_tui.desk.facts import Noticed
from service_tui.desk.registry import Registry
from service_tui.desk.slices.redemption import AutoChanged, QueueSeen
from service_tui.desk.tickets import Ticket
from service_tui.desk.wallet.wallet_desk import WalletDesk
from service_tui.storage.errors import StorageError
from service_tui.terms import Side, Venue

STATE = sample_state(8)
ORDERS = {
    commands.PrepareRedemption("m", Side.YES, Venue.EVM): "redemptions.prepare",
    commands.Redeem("m", Side.YES, Venue.EVM): "redemptions.redeem",
    commands.RedeemAll(("a",)): "redemptions.redeem_all",
    commands.AbandonRun("m:yes"): "redemptions.abandon",
    commands.SetAutoRedeem(on=True): "redemptions.set_auto",
    commands.UnlockWallet("words"): "handlers.unlock",
    commands.LockWallet(): "handlers.lock",
    commands.KeepKey("words"): "handlers.keep",
    commands.RemoveKey("0x1"): "handlers.remove",
    commands.RequestLink("0x1"): "handlers.request_link",
    commands.LinkWallet("0x1", "n"): "handlers.link",
    commands.ReadApprovals(): "handlers.read_approvals",
    commands.SetApprovals(("a",), "APPROVE"): "handlers.set_approvals",
    commands.MakeCredentials(): "handlers.make_credentials",
    commands.AllowReal(): "handlers.allow_real",
    commands.SetLive(on=True): "handlers.set_live",
    commands.SetPay(None): "payments.set_cap",
    commands.PayOffer("o"): "payments.pay",
}
BARE = {"lock", "read_approvals", "make_credentials", "allow_real"}


class Part:
    """One of the three parts: notes each call, and fails if it is told to."""

    def __init__(self, name: str, heard: list[tuple[str, tuple[object, ...]]]) -> None:
        self._name = name
        self._heard = heard
        self.is_busy = False
        self.problem: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        def call(*given: object) -> Any:
            self._heard.append((f"{self._name}.{name}", given))
            if name in {"wake", "take_up", "close", "fail"}:
                return None
            return self._answer()

        return call

    async def _answer(self) -> None:
        if self.problem is not None:
            raise self.problem


class Work:
    def __init__(self, *, executes: bool = True) -> None:
        self.on = Offline(STATE)
        self.desk = WalletDesk(
            self.on.ports, cast("Any", SimpleNamespace(name="own")), cast("Any", None),
            executes=executes,
        )  # fmt: skip
        self.heard: list[tuple[str, tuple[object, ...]]] = []
        self.parts = {
            name: Part(name, self.heard) for name in ("redemptions", "handlers", "payments")
        }
        for name, part in self.parts.items():
            # What the real ones were told is looked at before they are replaced.
            setattr(self, f"real_{name}", getattr(self.desk, f"_{name}"))
            setattr(self.desk, f"_{name}", part)

    @property
    def may_sign(self) -> set[bool]:
        reals = (getattr(self, f"real_{name}") for name in self.parts)
        return {one._executes() for one in reals}


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
async def test_each_command_goes_to_its_own_function(order: Any) -> None:
    it = Work()
    registry = Registry()
    registry.take(it.desk.handlers())
    await registry.carry_out(Ticket(order, STATE.tickets[0]))
    name = ORDERS[order]
    assert it.heard == [(name, () if name.partition(".")[2] in BARE else (order,))]
    assert set(registry.kinds) == {type(one) for one in ORDERS}


async def test_a_disk_that_fails_is_told_and_ends_no_job() -> None:
    it = Work()
    registry = Registry()
    registry.take(it.desk.handlers())
    it.parts["handlers"].problem = StorageError("disk full")
    await registry.carry_out(Ticket(commands.LockWallet(), STATE.tickets[0]))
    assert it.on.words == [("bad", "lock the wallet: disk full; nothing done")]
    assert it.heard == [("handlers.lock", ())]


async def test_a_fault_ends_the_job_that_is_shown_and_goes_on() -> None:
    it = Work()
    registry = Registry()
    registry.take(it.desk.handlers())
    it.parts["payments"].problem = KeyError("secret")
    with pytest.raises(KeyError):
        await registry.carry_out(Ticket(commands.PayOffer("o"), STATE.tickets[0]))
    name, given = it.heard[-1]
    assert name == "handlers.fail"
    assert "KeyError" in str(given[0])
    assert "secret" not in str(given[0])
    assert it.on.words == []


def test_all_three_parts_may_sign_while_the_desk_does() -> None:
    assert Work(executes=True).may_sign == {True}
    assert Work(executes=False).may_sign == {False}


def test_the_directory_s_new_owner_signs_with_its_journal_and_goes_on_with_its_runs() -> None:
    it = Work(executes=False)
    runs = cast("Any", SimpleNamespace(name="other"))
    it.desk.sign_with(runs)
    assert it.may_sign == {True}
    assert it.desk._gateway.runs is runs
    assert it.heard == [("redemptions.take_up", ()), ("handlers.take_up", ())]
    assert it.on.facts == []


def test_who_gives_the_directory_up_signs_no_more_and_says_so_once() -> None:
    it = Work()
    own = it.desk._gateway.runs
    it.desk.sign_with(None)
    it.desk.sign_with(None)
    assert it.may_sign == {False}
    assert it.on.facts == [AutoChanged(executes=False)]
    assert (it.heard, it.desk._gateway.runs) == ([], own)


def test_the_queue_and_the_wallet_wake_the_redemptions_and_nothing_else_does() -> None:
    it = Work()
    queue = QueueSeen(NOW, ())  # type: ignore[arg-type]
    for fact in (queue, Changed(wallet_of()), Changed(STATE.tickets[0]), Noticed("info", "x")):
        it.desk.on_fact(fact)
    assert it.heard == [("redemptions.wake", ())] * 2


async def test_closing_and_resting_are_those_of_the_redemptions() -> None:
    it = Work()
    assert not it.desk.is_busy
    it.parts["redemptions"].is_busy = True
    assert it.desk.is_busy
    it.desk.close()
    await it.desk.rest()
    assert [name for name, _ in it.heard] == ["redemptions.close", "redemptions.rest"]


async def test_it_looks_for_keys_at_once_and_works_when_it_may_sign() -> None:
    it = Work(executes=False)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(it.desk.run())
        await it.on.clock.advance(0)
        assert [name for name, _ in it.heard] == ["handlers.look"]
        it.desk._may_sign.set()
    assert [name for name, _ in it.heard[1:]] == ["redemptions.run", "handlers.run"]


def test_the_gateway_signs_by_the_desk_s_own_key_and_rules() -> None:
    it = Work()
    assert it.desk._gateway.vault is it.on.ports.vault
    assert it.desk._gateway.policy is it.on.ports.policy
