"""Stored keys, passphrases, the code and the cap of paid calls, by their keys and text."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console import formats
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.screens.wallet.forms import (
    CAP,
    PASSPHRASE_MIN,
    NewKeyDialog,
    PayForm,
    Secrets,
    StoredKeyRequest,
    StoredKeys,
    WalletCode,
    passphrase_problem,
    removal_question,
    unlock_dialog,
)
from service_tui.desk.commands.wallet import SetPay
from service_tui.desk.slices.wallet import KeyState, StoredKeyView
from service_tui.desk.state import DeskState
from service_tui.units import Micros

OTHER = "0x" + "9a" * 20
STATE = replace(
    sample_state(), wallet=wallet_of(stored=(StoredKeyView(ADDRESS), StoredKeyView(OTHER)))
)
PRIVATE = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})


def on(state: DeskState = STATE, **wallet: Any) -> DeskState:
    return replace(state, wallet=replace(state.wallet, **wallet))


def listed(state: DeskState) -> str:
    return StoredKeys(state, NOW).text().plain


async def test_the_key_under_the_cursor_is_unlocked_or_removed_by_its_address() -> None:
    async with opened(StoredKeys(STATE, NOW), STATE) as form:
        await form.press("enter")
        assert form.returned == [StoredKeyRequest(ADDRESS, removes=False)]
        await form.again(StoredKeys(STATE, NOW))
        await form.press("j", "d")
        assert form.returned == [StoredKeyRequest(OTHER, removes=True)]
        await form.bring(PRIVATE)
        await form.again(StoredKeys(PRIVATE, NOW))
        await form.press("d")
        assert form.returned == [], "a masked address cannot be read before it is removed"
        await form.press("enter")
        assert form.returned == [StoredKeyRequest(ADDRESS, removes=False)]
        none = on(stored=())
        await form.again(StoredKeys(none, NOW))
        await form.press("d", "enter")
        assert form.returned == []
        assert "No key stored." in form.text


def test_the_keys_are_listed_with_what_they_are() -> None:
    first, second = listed(STATE).splitlines()
    assert (first, second) == (f"▌ {ADDRESS}  open, linked", f"  {OTHER}  ")
    other = on(key_address=OTHER.upper().replace("X", "x"), address="")
    assert [line.rsplit("  ", 1)[1] for line in listed(other).splitlines()] == ["", "open"]
    locked = on(key_state=KeyState.LOCKED, address=ADDRESS.lower())
    assert listed(locked).splitlines()[0].endswith("  linked")
    assert ADDRESS not in listed(PRIVATE)
    assert listed(PRIVATE).count(formats.MASK) == 2


def test_files_that_cannot_be_read_are_listed_up_to_a_few() -> None:
    three = listed(on(passed_over=("a", "b", "c")))
    assert [line for line in three.splitlines() if "invalid" in line] == [
        f"invalid files: {name}" for name in "abc"
    ]
    assert "more" not in three
    five = listed(on(passed_over=tuple("abcde")))
    assert "invalid files: d" not in five
    assert "and 2 more." in five
    assert "a secret name" not in listed(on(PRIVATE, passed_over=("a secret name",)))


@pytest.mark.parametrize(
    ("address", "wallet", "warned"),
    [
        (ADDRESS.lower(), {}, True),
        (OTHER, {}, False),
        (ADDRESS, {"address": ""}, False),
    ],
)
def test_removing_the_key_of_the_linked_wallet_is_warned_of(
    address: str, wallet: Any, *, warned: bool
) -> None:
    text = removal_question(address, on(**wallet).wallet).plain
    assert address in text
    assert ("This is the key of the linked wallet" in text) is warned


@pytest.mark.parametrize(
    ("passphrase", "again", "problem"),
    [
        ("1234567", "1234567", f"The passphrase needs at least {PASSPHRASE_MIN} letters"),
        ("12345678", "12345679", "The passphrases differ"),
        ("12345678", "12345678", ""),
    ],
)
def test_a_new_passphrase_is_long_enough_and_the_same_twice(
    passphrase: str, again: str, problem: str
) -> None:
    assert passphrase_problem(passphrase, again) == problem


async def test_a_passphrase_is_returned_once_and_shown_nowhere() -> None:
    async with opened(unlock_dialog(ADDRESS), STATE) as form:
        assert ADDRESS in form.told("secret-body")
        await form.press(*"sesame", "ctrl+a", "ctrl+c", "ctrl+x")
        assert "sesame" not in form.text
        assert form.app.clipboard == ""
        await form.press("enter", "enter", "escape")
        assert form.returned == [Secrets("sesame")]
        assert "sesame" not in repr(form.returned)
        await form.again(NewKeyDialog())
        await form.press(*"key", "tab", *"12345678", "tab", *"1234567", "enter")
        assert form.told("secret-problem") == "The passphrases differ"
        await form.press("8")
        await form.pilot.click("#secret-set")
        assert form.returned == [Secrets("12345678", "key")]
        await form.again(unlock_dialog(ADDRESS))
        await form.press(*"sesame")
        await form.pilot.click("#secret-cancel")
        assert form.returned == [None]


async def test_the_address_stands_below_its_code_and_is_copied() -> None:
    page = WalletCode(ADDRESS, on_dark=True)
    assert ADDRESS in page.text().plain
    assert "Native USDC is not accepted" in page.text().plain
    async with opened(page, STATE) as form:
        await form.press("y")
        assert form.app.copied == [ADDRESS]


async def test_a_cap_for_paid_calls_is_confirmed_unless_it_turns_them_off() -> None:
    async with opened(PayForm(STATE, NOW), STATE) as form:
        for typed in ("0", "100.01", "-1", "x", "1e2"):
            await form.type(CAP.name, typed)
            assert form.is_off("form-set"), typed
            assert form.told("form-preview") == ""
        await form.type(CAP.name, "100")
        assert not form.is_off("form-set")
        await form.type(CAP.name, "0.05")
        assert form.told("form-preview") == SetPay(Micros(50_000)).describe()
        await form.press("enter")
        assert form.problem.startswith("Allows payments")
        assert form.returned == []
        await form.pilot.pause(SECOND_THOUGHT_S)
        await form.press("enter")
        assert form.returned == [SetPay(Micros(50_000))]
        await form.again(PayForm(STATE, NOW))
        await form.type(CAP.name, "  ")
        await form.press("enter")
        assert form.returned == [SetPay(None)]
