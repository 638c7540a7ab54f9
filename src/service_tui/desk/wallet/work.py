"""Everything of the desk that signs: redemptions, the wallet, and paying for calls, as one door."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from service_tui.desk.chain.line import ChainLine
from service_tui.desk.changes import changed
from service_tui.desk.commands.wallet import (
    AbandonRun,
    AllowReal,
    AskApprovals,
    AskLink,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    PayOffer,
    PrepareRedemption,
    Redeem,
    RedeemAll,
    RemoveKey,
    SetApprovals,
    SetAutoRedeem,
    SetLive,
    SetPay,
    UnlockWallet,
)
from service_tui.desk.enduring import fault_text
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.redemption.handlers import Redemptions
from service_tui.desk.registry import Given, Registry
from service_tui.desk.slices.wallet import AutoChanged, QueueSeen, WalletView
from service_tui.desk.wallet.handlers import WalletKeeper
from service_tui.desk.wallet.payments import Payments
from service_tui.storage.chain_runs import ChainRuns
from service_tui.storage.errors import StorageError


class WalletDesk:
    """One wallet's line to the chain, and who uses it."""

    def __init__(self, ports: Ports, runs: ChainRuns, memory: Memory, *, executes: bool) -> None:
        self._line = ChainLine(ports, runs, ports.vault, ports.policy)
        self._ports = ports
        self._holds = asyncio.Event()
        if executes:
            self._holds.set()
        signs = self._holds.is_set
        self._redemptions = Redemptions(ports, self._line, memory, executes=signs)
        self._keeper = WalletKeeper(ports, self._line, executes=signs)
        self._payments = Payments(ports, self._line, memory, executes=signs)

    @property
    def is_busy(self) -> bool:
        """Whether something is under way that is worth waiting for."""
        return self._redemptions.is_busy

    def hold(self, runs: ChainRuns | None) -> None:
        """Sign from now on by this journal, beginning with what it holds; None: no longer."""
        if runs is None:
            if self._holds.is_set():
                self._holds.clear()
                self._ports.say(AutoChanged(executes=False))
            return
        self._line.runs = runs
        self._holds.set()
        self._redemptions.take_up()
        self._keeper.take_up()

    def close(self) -> None:
        """Begin nothing further."""
        self._redemptions.close()

    async def rest(self) -> None:
        """Note that what is under way goes on at the next start."""
        await self._redemptions.rest()

    def hear(self, fact: Fact) -> None:
        """The queue or the wallet was told anew: what waited for it may go on."""
        if isinstance(fact, QueueSeen) or changed(fact, WalletView) is not None:
            self._redemptions.nudge()

    async def run(self) -> None:
        """Work until the desk ends; who does not hold the directory waits until it does."""
        await self._keeper.look()
        await self._holds.wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._redemptions.run())
            tasks.create_task(self._keeper.run())

    def register(self, registry: Registry) -> None:
        """Name what carries out the commands about redemptions, the wallet and real money."""

        def on(kind: type[Given], function: Callable[[Given], Awaitable[None]]) -> None:
            registry.on(kind, partial(self._fenced, function))

        on(PrepareRedemption, self._redemptions.prepare)
        on(Redeem, self._redemptions.redeem)
        on(RedeemAll, self._redemptions.redeem_all)
        on(AbandonRun, self._redemptions.abandon)
        on(SetAutoRedeem, self._redemptions.set_auto)
        on(UnlockWallet, self._keeper.unlock)
        on(LockWallet, lambda _: self._keeper.lock())
        on(KeepKey, self._keeper.keep)
        on(RemoveKey, self._keeper.remove)
        on(AskLink, self._keeper.ask_link)
        on(LinkWallet, self._keeper.link)
        on(AskApprovals, lambda _: self._keeper.ask_approvals())
        on(SetApprovals, self._keeper.set_approvals)
        on(MakeCredentials, lambda _: self._keeper.make_credentials())
        on(AllowReal, lambda _: self._keeper.allow_real())
        on(SetLive, self._keeper.set_live)
        on(SetPay, self._payments.set_cap)
        on(PayOffer, self._payments.pay)

    async def _fenced(self, function: Callable[[Given], Awaitable[None]], command: Given) -> None:
        """Carry out what the person has ordered, one thing after the other."""
        try:
            await function(command)
        except StorageError as error:
            self._ports.say(Noticed("bad", f"{command.describe()}: {error}; nothing was done"))
        except Exception as error:
            # What is under way on the screen of the wallet is not, any more.
            self._keeper.fail(fault_text(error))
            raise
