"""The signing part of the desk.

Redemptions, wallet commands and payments share one chain gateway.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from service_tui.desk.chain.gateway import ChainGateway
from service_tui.desk.changes import changed
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
from service_tui.desk.registry import Given, Registry
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

    def register(self, registry: Registry) -> None:
        """Register the handlers of redemption, wallet and real-money commands."""

        def on(kind: type[Given], function: Callable[[Given], Awaitable[None]]) -> None:
            registry.on(kind, partial(self._fenced, function))

        on(PrepareRedemption, self._redemptions.prepare)
        on(Redeem, self._redemptions.redeem)
        on(RedeemAll, self._redemptions.redeem_all)
        on(AbandonRun, self._redemptions.abandon)
        on(SetAutoRedeem, self._redemptions.set_auto)
        on(UnlockWallet, self._handlers.unlock)
        on(LockWallet, lambda _: self._handlers.lock())
        on(KeepKey, self._handlers.keep)
        on(RemoveKey, self._handlers.remove)
        on(RequestLink, self._handlers.request_link)
        on(LinkWallet, self._handlers.link)
        on(ReadApprovals, lambda _: self._handlers.read_approvals())
        on(SetApprovals, self._handlers.set_approvals)
        on(MakeCredentials, lambda _: self._handlers.make_credentials())
        on(AllowReal, lambda _: self._handlers.allow_real())
        on(SetLive, self._handlers.set_live)
        on(SetPay, self._payments.set_cap)
        on(PayOffer, self._payments.pay)

    async def _fenced(self, function: Callable[[Given], Awaitable[None]], command: Given) -> None:
        """Carry out one command; an unexpected error also ends the wallet's job on screen."""
        try:
            await function(command)
        except StorageError as error:
            self._ports.emit(Noticed("bad", f"{command.describe()}: {error}; nothing done"))
        except Exception as error:
            # What is under way on the screen of the wallet is not, any more.
            self._handlers.fail(fault_text(error))
            raise
