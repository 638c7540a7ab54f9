"""The signing part of the desk.

Redemptions, wallet commands and payments share one chain gateway.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from service_tui.desk.chain.gateway import ChainGateway
from service_tui.desk.changes import changed
from service_tui.desk.command import Command
from service_tui.desk.commands.wallet import (
    AbandonRun,
    AllowReal,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    PayOffer,
    PrepareRedemption,
    ReadApprovals,
    Redeem,
    RedeemAll,
    RemoveKey,
    RequestLink,
    SetApprovals,
    SetAutoRedeem,
    SetLive,
    SetPay,
    UnlockWallet,
)
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.redemption.handlers import Redemptions
from service_tui.desk.registry import OwnHandlers
from service_tui.desk.restarting import fault_text
from service_tui.desk.slices.redemption import AutoChanged, QueueSeen
from service_tui.desk.slices.wallet import WalletView
from service_tui.desk.wallet.handlers import WalletHandlers
from service_tui.desk.wallet.payments import Payments
from service_tui.storage.chain_runs import ChainRuns
from service_tui.storage.errors import StorageError


class WalletDesk:
    """Redemptions, wallet commands and payments of one wallet."""

    def __init__(self, ports: Ports, runs: ChainRuns, memory: Memory, *, executes: bool) -> None:
        self._gateway = ChainGateway(ports, runs, ports.vault, ports.policy)
        self._ports = ports
        self._may_sign = asyncio.Event()
        if executes:
            self._may_sign.set()
        may_sign = self._may_sign.is_set
        self._redemptions = Redemptions(ports, self._gateway, memory, executes=may_sign)
        self._handlers = WalletHandlers(ports, self._gateway, executes=may_sign)
        self._payments = Payments(ports, self._gateway, memory, executes=may_sign)

    @property
    def is_busy(self) -> bool:
        """True while work is in flight that closing should wait for."""
        return self._redemptions.is_busy

    def sign_with(self, runs: ChainRuns | None) -> None:
        """Sign with this journal from now on, and continue its runs; None stops signing."""
        if runs is None:
            if self._may_sign.is_set():
                self._may_sign.clear()
                self._ports.emit(AutoChanged(executes=False))
            return
        self._gateway.runs = runs
        self._may_sign.set()
        self._redemptions.take_up()
        self._handlers.take_up()

    def close(self) -> None:
        """Begin nothing further."""
        self._redemptions.close()

    async def rest(self) -> None:
        """Store that runs in flight continue at the next start."""
        await self._redemptions.rest()

    def on_fact(self, fact: Fact) -> None:
        """Wake redemptions after a change of the queue or the wallet."""
        if isinstance(fact, QueueSeen) or changed(fact, WalletView) is not None:
            self._redemptions.wake()

    async def run(self) -> None:
        """Work until the desk ends, once this desk owns the data directory."""
        await self._handlers.look()
        await self._may_sign.wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._redemptions.run())
            tasks.create_task(self._handlers.run())

    def handlers(self) -> OwnHandlers:
        """What carries out the commands of redemption, the wallet and real money."""
        functions: Mapping[type[Command], Callable[[Any], Awaitable[None]]] = {
            PrepareRedemption: self._redemptions.prepare,
            Redeem: self._redemptions.redeem,
            RedeemAll: self._redemptions.redeem_all,
            AbandonRun: self._redemptions.abandon,
            SetAutoRedeem: self._redemptions.set_auto,
            UnlockWallet: self._handlers.unlock,
            LockWallet: lambda _: self._handlers.lock(),
            KeepKey: self._handlers.keep,
            RemoveKey: self._handlers.remove,
            RequestLink: self._handlers.request_link,
            LinkWallet: self._handlers.link,
            ReadApprovals: lambda _: self._handlers.read_approvals(),
            SetApprovals: self._handlers.set_approvals,
            MakeCredentials: lambda _: self._handlers.make_credentials(),
            AllowReal: lambda _: self._handlers.allow_real(),
            SetLive: self._handlers.set_live,
            SetPay: self._payments.set_cap,
            PayOffer: self._payments.pay,
        }
        return {kind: partial(self._fenced, function) for kind, function in functions.items()}

    async def _fenced(self, function: Callable[[Any], Awaitable[None]], command: Command) -> None:
        """Carry out one command; an unexpected error also ends the wallet's job on screen."""
        try:
            await function(command)
        except StorageError as error:
            self._ports.emit(Noticed("bad", f"{command.describe()}: {error}; nothing done"))
        except Exception as error:
            # What is under way on the screen of the wallet is not, any more.
            self._handlers.fail(fault_text(error))
            raise
