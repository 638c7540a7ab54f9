"""What each key of the wallet does: which key, which word, which question comes first."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.console.opened import words_in
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.screens.wallet import actions
from service_tui.console.screens.wallet.actions import ACTIONS
from service_tui.console.screens.wallet.forms import (
    NewKeyDialog,
    PayForm,
    Secrets,
    StoredKeyRequest,
    StoredKeys,
    WalletCode,
)
from service_tui.desk.commands.wallet import (
    AllowReal,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    PayOffer,
    ReadApprovals,
    RemoveKey,
    RequestLink,
    SetApprovals,
    SetLive,
    UnlockWallet,
)
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.wallet import (
    ChallengeView,
    KeyState,
    OfferView,
    Ownership,
    PayView,
    StoredKeyView,
)
from service_tui.units import ONE, Micros

OTHER = "0x" + "9a" * 20
FULL = replace(sample_state(), wallet=wallet_of())


def on(**wallet: Any) -> StubScreen:
    """The panel of a wallet that differs in this."""
    screen = StubScreen(replace(FULL, wallet=replace(FULL.wallet, **wallet)))
    screen.is_dark = True
    return screen


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"wallet.{key}")


def read_only(**wallet: Any) -> StubScreen:
    screen = on(**wallet)
    screen.state = replace(screen.state, service=replace(screen.state.service, read_only=True))
    return screen


# -- what each key needs ------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["keep", "link", "approve", "credentials", "allow", "live", "pay"])
def test_a_read_only_desk_signs_and_pays_nothing(key: str) -> None:
    screen = read_only()
    assert press(screen, key) == READ_ONLY
    assert not screen.given
    assert not screen.opened


def test_a_read_only_desk_still_turns_live_trading_off() -> None:
    screen = read_only(live=True)
    press(screen, "live")
    assert screen.given == [SetLive(on=False)]


REASONS = {
    "unlock": ({"key_state": KeyState.NONE}, "no key stored. K adds one"),
    "link": (
        {"key_state": KeyState.LOCKED},
        "unlock a key (U) or add one (K) first",
    ),
    "credentials": (
        {"key_state": KeyState.LOCKED},
        "link the wallet (l) and unlock its key (U) first",
    ),
    "code": ({"address": "", "key_address": ""}, "no address yet"),
    "copy": ({"address": "", "key_address": ""}, "no address yet"),
}


@pytest.mark.parametrize("key", REASONS)
def test_a_key_without_what_it_needs_says_what_that_is(key: str) -> None:
    wallet, why = REASONS[key]
    assert press(on(**wallet), key) == why
    assert not press(on(), key)


def test_files_that_hold_no_key_are_pointed_at() -> None:
    why = press(on(key_state=KeyState.NONE, passed_over=("broken.json",)), "unlock")
    assert why == "no key stored. K adds one; s lists invalid files"


def test_a_key_alone_does_not_make_credentials() -> None:
    assert press(on(ownership=Ownership.MANAGED), "credentials")
    assert press(on(key_address=OTHER), "credentials")


def test_an_address_is_shown_as_a_code_once_it_is_linked_and_not_masked() -> None:
    assert press(on(address="", ownership=None), "code").startswith("not linked yet")
    screen = on()
    screen.state = replace(screen.state, preferences={"privacy": "on"})
    assert press(screen, "code").startswith("addresses masked.")


# -- keys ---------------------------------------------------------------------------------------


def test_an_unlocked_key_is_locked_at_once() -> None:
    screen = on()
    press(screen, "unlock")
    assert screen.given == [LockWallet()]
    assert not screen.opened


async def test_a_locked_key_is_unlocked_by_its_passphrase() -> None:
    screen = on(key_state=KeyState.LOCKED, key_address=OTHER)
    press(screen, "unlock")
    assert OTHER in await words_in(screen.opened[-1])
    screen.answer(Secrets("open sesame"))
    assert screen.given == [UnlockWallet("open sesame", OTHER)]


def test_a_key_is_kept_with_its_passphrase() -> None:
    screen = on()
    press(screen, "keep")
    assert isinstance(screen.opened[-1], NewKeyDialog)
    screen.answer(Secrets("open sesame", "0xsecret"))
    (order,) = screen.given
    assert order == KeepKey("open sesame", "0xsecret")
    assert "sesame" not in repr(order)
    assert "0xsecret" not in repr(order)


async def test_a_stored_key_is_unlocked_or_removed_after_its_end_is_typed() -> None:
    screen = on(stored=(StoredKeyView(OTHER), StoredKeyView(ADDRESS)))
    press(screen, "keys")
    assert isinstance(screen.opened[-1], StoredKeys)
    screen.answer(StoredKeyRequest(OTHER, removes=False))
    assert OTHER in await words_in(screen.opened[-1])
    screen.answer(Secrets("open sesame"))
    assert screen.given == [UnlockWallet("open sesame", OTHER)]

    removing = on(stored=(StoredKeyView(OTHER), StoredKeyView(ADDRESS)))
    press(removing, "keys")
    removing.answer(StoredKeyRequest(OTHER, removes=True))
    dialog = removing.opened[-1]
    assert isinstance(dialog, TypedWord)
    text = await words_in(dialog)
    assert text.startswith("Delete this key? ")
    assert OTHER in text
    assert f"Type {OTHER[-6:]} and press enter:" in text
    assert "delete enter" in text
    removing.answer("typed")
    assert removing.given == [RemoveKey(OTHER, "typed")]


def test_a_read_only_desk_removes_no_key() -> None:
    screen = read_only(stored=(StoredKeyView(OTHER),))
    press(screen, "keys")
    screen.answer(StoredKeyRequest(OTHER, removes=True))
    assert screen.toasts == [(READ_ONLY, "warn")]
    assert len(screen.opened) == 1
    assert not screen.given


# -- link and approvals -------------------------------------------------------------------------

CHALLENGE = ChallengeView(OTHER, "nonce-7", "I own this wallet", NOW)


def test_the_challenge_is_read_first_and_signed_after_a_look_at_it() -> None:
    screen = on(address="", ownership=None, key_address=OTHER)
    press(screen, "link")
    assert screen.given == [RequestLink(OTHER)]
    assert screen.confirms_link
    assert not screen.opened
    screen.state = replace(screen.state, wallet=replace(screen.state.wallet, challenge=CHALLENGE))
    actions.confirm_link(screen)
    assert (screen.question.title, screen.question.confirm) == ("Link this wallet?", "link")
    assert "I own this wallet" in screen.question.body.plain
    decline(screen)
    assert len(screen.given) == 1
    confirm(screen)
    assert screen.given[1:] == [LinkWallet(OTHER, "nonce-7")]


def test_a_linked_wallet_is_not_linked_again() -> None:
    screen = on()
    press(screen, "link")
    assert not screen.given
    assert screen.toasts == [("wallet already linked", "info")]
    another = on(key_address=OTHER)
    press(another, "link")
    assert another.given == [RequestLink(OTHER)]


def test_without_a_challenge_nothing_is_confirmed() -> None:
    screen = on()
    actions.confirm_link(screen)
    assert not screen.opened


async def test_approvals_are_read_first_and_missing_ones_given_after_the_word() -> None:
    screen = on()
    press(screen, "approve")
    assert screen.given == [ReadApprovals()]
    assert screen.confirms_approvals
    actions.confirm_approvals(screen)
    (dialog,) = screen.opened
    assert isinstance(dialog, TypedWord)
    text = await words_in(dialog)
    assert text.startswith("Give these approvals? ")
    assert "Type APPROVE and press enter:" in text
    screen.answer("typed")
    assert screen.given[1:] == [SetApprovals(("usdc_bridged_2",), "typed")]


def test_a_wallet_of_the_service_needs_no_approvals() -> None:
    screen = on(ownership=Ownership.MANAGED)
    press(screen, "approve")
    assert not screen.given
    why = "a managed wallet needs none. To use your own, link it (l)"
    assert screen.toasts == [(why, "info")]


def test_approvals_that_are_all_there_or_cannot_be_signed_ask_nothing() -> None:
    given = tuple(replace(one, is_set=True) for one in FULL.wallet.approvals)
    full = on(approvals=given)
    actions.confirm_approvals(full)
    assert full.toasts == [("all approvals given", "info")]
    locked = on(key_state=KeyState.LOCKED)
    actions.confirm_approvals(locked)
    assert locked.toasts == [("unlock the wallet first (U)", "warn")]
    assert not full.opened
    assert not locked.opened


def test_credentials_are_made() -> None:
    screen = on()
    press(screen, "credentials")
    assert screen.given == [MakeCredentials()]


# -- real money ---------------------------------------------------------------------------------


def test_real_trades_are_allowed_after_a_question() -> None:
    screen = on(real_trading=False)
    press(screen, "allow")
    assert screen.question.title == "Allow real trades for this agent?"
    assert screen.question.confirm == "allow"
    text = screen.question.body.plain
    assert "from anyone who has its API key" in text
    assert "(L, word LIVE)" in text
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [AllowReal()]
    already = on()
    press(already, "allow")
    assert not already.opened
    assert already.toasts == [("real trades already allowed", "info")]


async def test_live_trading_is_turned_on_by_its_word_and_off_at_once() -> None:
    screen = on()
    press(screen, "live")
    (dialog,) = screen.opened
    assert isinstance(dialog, TypedWord)
    text = await words_in(dialog)
    assert text.startswith("Turn live trading on? ")
    assert "Type LIVE and press enter:" in text
    assert not screen.given
    screen.answer("typed")
    assert screen.given == [SetLive(on=True, word="typed")]
    off = on(live=True)
    press(off, "live")
    assert off.given == [SetLive(on=False)]
    assert not off.opened


OFFER = OfferView("offer-1", NOW, "pay.example", "/quotes", Micros(ONE // 100))


def test_an_offer_is_paid_after_a_question() -> None:
    screen = on(pay=PayView(Micros(ONE), offer=OFFER))
    press(screen, "pay")
    assert (screen.question.title, screen.question.confirm) == ("Pay for this call?", "pay")
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [PayOffer("offer-1")]


@pytest.mark.parametrize(
    "pay",
    [
        PayView(Micros(ONE)),
        PayView(Micros(ONE), offer=replace(OFFER, why_not="another token")),
        PayView(None, offer=OFFER),
    ],
    ids=["no offer", "cannot be paid", "no cap"],
)
def test_without_an_offer_that_may_be_paid_the_cap_is_set(pay: PayView) -> None:
    screen = on(pay=pay)
    press(screen, "pay")
    (form,) = screen.opened
    assert isinstance(form, PayForm)
    screen.answer("a cap")
    assert screen.given == ["a cap"]


# -- the address --------------------------------------------------------------------------------


def test_the_address_is_that_of_the_wallet_or_else_of_the_key() -> None:
    screen = on(key_address=OTHER)
    press(screen, "copy")
    assert screen.calls == [("copy", ADDRESS, "wallet address")]
    alone = on(address="", ownership=None, key_address=OTHER)
    press(alone, "copy")
    what = "key address, not linked yet: do not deposit here"
    assert alone.calls == [("copy", OTHER, what)]


@pytest.mark.parametrize("is_dark", [True, False])
def test_the_code_is_drawn_for_the_ground_of_the_theme(*, is_dark: bool) -> None:
    screen = on()
    screen.is_dark = is_dark
    press(screen, "code")
    (page,) = screen.opened
    assert isinstance(page, WalletCode)
    assert (page._address, page._on_dark) == (ADDRESS, is_dark)
