"""Everything of the desk that signs: redemptions, the wallet, and paying for calls, as one door.

Knows the handlers of this noun and the line that they share. Must not know a widget.
Used by desk.desk, which owns the task.
"""

import asyncio
from typing import assert_never

from service_tui.desk.chain_line import ChainLine
from service_tui.desk.commands_wallet import (
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
    WalletCommand,
)
from service_tui.desk.enduring import fault_words
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.facts_wallet import AutoChanged, QueueSeen, WalletSeen
from service_tui.desk.handlers.payments import Payments
from service_tui.desk.handlers.redemption import Redemptions
from service_tui.desk.handlers.wallet import WalletKeeper
from service_tui.desk.ports import Memory, Ports
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
        if isinstance(fact, (QueueSeen, WalletSeen)):
            self._redemptions.nudge()

    async def run(self) -> None:
        """Work until the desk ends; who does not hold the directory waits until it does."""
        await self._keeper.look()
        await self._holds.wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._redemptions.run())
            tasks.create_task(self._keeper.run())

    async def handle(self, command: WalletCommand) -> None:
        """Carry out what the person has ordered, one thing after the other."""
        try:
            await self._handle(command)
        except StorageError as error:
            self._ports.say(Noticed("bad", f"{command.in_words()}: {error}; nothing was done"))
        except Exception as error:
            # What is under way on the screen of the wallet is not, any more.
            self._keeper.fail(fault_words(error))
            raise

    async def _handle(self, command: WalletCommand) -> None:  # noqa: C901, PLR0912, PLR0915  (one line a kind)
        match command:
            case PrepareRedemption():
                await self._redemptions.prepare(command)
            case Redeem():
                await self._redemptions.redeem(command)
            case RedeemAll():
                await self._redemptions.redeem_all(command)
            case AbandonRun():
                await self._redemptions.abandon(command)
            case SetAutoRedeem():
                await self._redemptions.set_auto(command)
            case UnlockWallet():
                await self._keeper.unlock(command)
            case LockWallet():
                await self._keeper.lock()
            case KeepKey():
                await self._keeper.keep(command)
            case RemoveKey():
                await self._keeper.remove(command)
            case AskLink():
                await self._keeper.ask_link(command)
            case LinkWallet():
                await self._keeper.link(command)
            case AskApprovals():
                await self._keeper.ask_approvals()
            case SetApprovals():
                await self._keeper.set_approvals(command)
            case MakeCredentials():
                await self._keeper.make_credentials()
            case AllowReal():
                await self._keeper.allow_real()
            case SetLive():
                await self._keeper.set_live(command)
            case SetPay():
                await self._payments.set_cap(command)
            case PayOffer():
                await self._payments.pay(command)
            case _:
                assert_never(command)
