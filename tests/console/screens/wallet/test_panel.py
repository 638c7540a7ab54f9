"""The wallet panel: address, QR code, approvals, and keys."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console.chain_text import key_text
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.keys import cap
from service_tui.console.screens.wallet.panel import (
    BESIDE_FROM,
    WalletPanel,
    approvals_have_come,
    challenge_has_come,
    keys_in_lines,
)
from service_tui.console.screens.wallet.text import checklist_text, wallet_text
from service_tui.desk.commands.wallet import LockWallet
from service_tui.desk.slices.wallet import ChallengeView, KeyState, WalletJob
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(sample_state(), wallet=wallet_of(), preferences={})
JOB = next(iter(WalletJob))


def on(**wallet: Any) -> DeskState:
    return replace(STATE, wallet=replace(STATE.wallet, **wallet))


async def test_the_panel_shows_the_wallet_and_the_code_of_a_linked_address_alone() -> None:
    async with opened(WalletPanel(STATE, NOW), STATE, (BESIDE_FROM, 40)) as form:
        code = form.told("wallet-code")
        assert ADDRESS[:6] in form.told("wallet-text")
        assert form.told("wallet-checks")
        assert form.told("wallet-approvals")
        assert code
        assert form.told("wallet-keys").replace("\n", "   ") == keys_in_lines(10_000)
        await form.bring(on(address="0x" + "9a" * 20))
        assert form.told("wallet-code") not in {"", code}
        await form.bring(on(address=""))
        assert (form.told("wallet-code"), form.told("wallet-approvals")) == ("", "")
        await form.bring(replace(STATE, preferences={"privacy": "on"}))
        assert form.told("wallet-code") == ""
        assert ADDRESS[:6] not in form.told("wallet-text")
        await form.bring(STATE)
        await form.pilot.resize_terminal(BESIDE_FROM - 1, 40)
        await form.pilot.pause()
        assert form.told("wallet-code") == ""


async def test_a_key_runs_its_own_action_or_says_why_not() -> None:
    async with opened(WalletPanel(STATE, NOW), STATE) as form:
        await form.press("U")
        assert form.given == [LockWallet()]
        none = on(address="", key_address="", stored=())
        await form.again(WalletPanel(none, NOW))
        await form.press("o")
        assert form.app.screen is form.dialog
        assert len(form.said) == 1
        await form.press("escape")
        assert form.returned == [None]


async def test_approvals_that_were_requested_are_confirmed_once_they_have_come() -> None:
    state = on(approvals_at=NOW)
    async with opened(WalletPanel(state, NOW), state) as form:
        later = on(approvals_at=Timestamp(NOW + 1))
        await form.bring(later)
        assert form.app.screen is form.dialog, "nobody requested them"
        await form.press("A")
        await form.bring(replace(later, wallet=replace(later.wallet, job=JOB)))
        assert form.app.screen is form.dialog
        await form.bring(on(approvals_at=Timestamp(NOW + 2)))
        assert isinstance(form.app.screen, TypedWord)


def test_approvals_have_come_once_they_were_read_and_nothing_is_under_way() -> None:
    wallet = wallet_of(approvals_at=NOW)
    assert approvals_have_come(None, wallet)
    assert not approvals_have_come(NOW, wallet)
    assert not approvals_have_come(None, replace(wallet, job=JOB))


def test_a_link_is_confirmed_with_a_new_challenge_alone() -> None:
    first, second = (
        ChallengeView(ADDRESS, nonce, "signed text", Timestamp(NOW + 60)) for nonce in "ab"
    )
    for before, after, has_come in (
        (None, first, True), (first, second, True), (first, first, False), (first, None, False),
    ):  # fmt: skip
        assert challenge_has_come(before, wallet_of(challenge=after)) is has_come
    assert not challenge_has_come(None, wallet_of(challenge=first, job=JOB))


def test_the_page_says_that_withdrawals_are_made_on_the_dashboard() -> None:
    for state in (STATE, on(ownership=None)):
        shown = " ".join(wallet_text(state).plain.split())
        assert "withdrawals on the service's dashboard only" in shown


@pytest.mark.parametrize("width", [1, 30, 60, 400])
def test_the_keys_fill_their_lines_and_none_is_broken(width: int) -> None:
    whole = keys_in_lines(10_000)
    lines = keys_in_lines(width).splitlines()
    assert "   ".join(lines) == whole
    assert all(len(line) <= width or "   " not in line for line in lines)
    pairs = [line.split("   ") for line in lines]
    for line, after in zip(lines, pairs[1:], strict=False):
        assert len(f"{line}   {after[0]}") > width


def test_the_steps_of_the_setup_are_listed_once_all_of_them_are_read() -> None:
    # The approvals are missing, and this desk sends no real money.
    missing = checklist_text(wallet_of(), 100).plain
    assert missing.startswith("setup: 2 missing\n✓ agent claimed")
    signs = [line[0] for line in missing.splitlines() if line[:2] in {"✓ ", "✗ "}]
    assert signs.count("✗") == 2
    assert signs[:4] == ["✓", "✓", "✗", "✓"]
    unread = checklist_text(wallet_of(is_read=False), 100).plain
    assert "not loaded yet" in unread
    assert not any(glyph in unread for glyph in "✓✗?")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (KeyState.UNLOCKED, "key unlocked"),
        (KeyState.LOCKED, f"key locked  {cap('wallet.unlock')}"),
        (KeyState.NONE, "key no key here"),
    ],
)
def test_the_key_says_whether_this_machine_signs(state: KeyState, told: str) -> None:
    assert key_text(wallet_of(key_state=state)).plain == told
