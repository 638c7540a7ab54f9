"""The signing part of the desk: which commands it takes, and who signs."""

from typing import Any

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from service_tui.desk.commands import wallet as commands
from service_tui.desk.registry import Registry
from service_tui.desk.slices.redemption import AutoChanged
from service_tui.desk.wallet.wallet_desk import WalletDesk

COMMANDS = {
    commands.PrepareRedemption,
    commands.Redeem,
    commands.RedeemAll,
    commands.AbandonRun,
    commands.SetAutoRedeem,
    commands.UnlockWallet,
    commands.LockWallet,
    commands.KeepKey,
    commands.RemoveKey,
    commands.RequestLink,
    commands.LinkWallet,
    commands.ReadApprovals,
    commands.SetApprovals,
    commands.MakeCredentials,
    commands.AllowReal,
    commands.SetLive,
    commands.SetPay,
    commands.PayOffer,
}


def wallet_desk() -> tuple[WalletDesk, Offline]:
    on = Offline(sample_state(8))
    nothing_kept: Any = None
    return WalletDesk(on.ports, nothing_kept, nothing_kept, executes=True), on


def test_it_takes_every_command_about_the_wallet() -> None:
    desk, _ = wallet_desk()
    registry = Registry()
    registry.take(desk.handlers())
    assert set(registry.kinds) == COMMANDS


def test_who_gives_the_directory_up_signs_no_more_and_says_so_once() -> None:
    desk, on = wallet_desk()
    assert not desk.is_busy
    desk.sign_with(None)
    desk.sign_with(None)
    assert on.facts == [AutoChanged(executes=False)]
