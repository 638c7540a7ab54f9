"""The forms of the wallet panel, without an app: stored keys, passphrases, the code, a cap."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text

from kit.console.alone import Alone, event
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console import formats
from service_tui.console.messages import Copied
from service_tui.console.screens.wallet import forms
from service_tui.console.screens.wallet.forms import (
    CAP,
    CAP_MAX,
    PASSPHRASE_MIN,
    SECRET_MAX,
    NewKeyDialog,
    PassphraseDialog,
    PayForm,
    SecretInput,
    Secrets,
    StoredKeyRequest,
    StoredKeys,
    WalletCode,
    removal_question,
    unlock_dialog,
)
from service_tui.desk.commands.wallet import SetPay
from service_tui.desk.slices.wallet import KeyState, StoredKeyView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros

OTHER = "0x" + "9a" * 20
STATE = replace(
    sample_state(), wallet=wallet_of(stored=(StoredKeyView(ADDRESS), StoredKeyView(OTHER)))
)
PRIVATE = {"preferences": {**STATE.preferences, "privacy": "on"}}


def on(state: DeskState = STATE, **wallet: Any) -> DeskState:
    return replace(state, wallet=replace(state.wallet, **wallet))


# -- the stored keys ------------------------------------------------------------------------------


def keys(state: DeskState = STATE) -> Alone:
    page = Alone(StoredKeys(state, NOW))
    page.dialog.on_mount()
    return page


def test_the_key_under_the_cursor_is_unlocked_or_removed_by_its_address() -> None:
    page = keys()
    page.dialog.action_open()
    page.dialog.action_step(1)
    page.dialog.action_open()
    page.dialog.action_remove()
    assert page.left == [
        StoredKeyRequest(ADDRESS, removes=False),
        StoredKeyRequest(OTHER, removes=False),
        StoredKeyRequest(OTHER, removes=True),
    ]


def test_a_masked_key_is_unlocked_but_not_removed() -> None:
    page = keys(replace(STATE, **PRIVATE))
    page.dialog.action_remove()
    assert page.left == []
    page.dialog.action_open()
    assert page.left == [StoredKeyRequest(ADDRESS, removes=False)]
    text = page.dialog.text().plain
    assert ADDRESS not in text
    assert text.count(formats.MASK) == 2
    assert "Addresses masked" in text


def test_without_a_key_nothing_is_chosen_and_it_is_told_how_to_add_one() -> None:
    page = keys(on(stored=()))
    page.dialog.action_open()
    page.dialog.action_remove()
    assert page.left == []
    assert page.text("list-rows").startswith("No key stored.")
    assert "masked" not in keys(on(replace(STATE, **PRIVATE), stored=())).text("list-rows")


def test_the_keys_are_listed_with_what_they_are() -> None:
    first, second = keys().text("list-rows").splitlines()
    assert first.startswith(f"▌ {ADDRESS}")
    assert first.endswith("open, linked")
    assert second == f"  {OTHER}  "
    other = on(key_address=OTHER.upper().replace("X", "x"), address="")
    assert [line.rsplit("  ", 1)[1] for line in keys(other).text("list-rows").splitlines()] == [
        "",
        "open",
    ]
    locked = on(key_state=KeyState.LOCKED, address=ADDRESS.lower())
    assert keys(locked).text("list-rows").splitlines()[0].endswith("  linked")


def test_files_that_cannot_be_read_are_listed_up_to_a_few() -> None:
    three = keys(on(passed_over=("a", "b", "c"))).text("list-rows")
    assert [line for line in three.splitlines() if "invalid" in line] == [
        f"invalid files: {name}" for name in "abc"
    ]
    assert "more" not in three
    five = keys(on(passed_over=tuple("abcde"))).text("list-rows")
    assert "invalid files: d" not in five
    assert "and 2 more." in five
    masked = keys(on(replace(STATE, **PRIVATE), passed_over=("a secret name",)))
    assert "a secret name" not in masked.text("list-rows")


@pytest.mark.parametrize(
    ("address", "wallet", "warned"),
    [
        (ADDRESS, {}, True),
        (ADDRESS.lower(), {}, True),
        (OTHER, {}, False),
        (ADDRESS, {"is_linked": False}, False),
    ],
)
def test_removing_the_key_of_the_linked_wallet_is_warned_of(
    address: str, wallet: Any, *, warned: bool
) -> None:
    linked = on(address="" if wallet else ADDRESS).wallet
    text = removal_question(address, linked).plain
    assert address in text
    assert ("This is the key of the linked wallet" in text) is warned


# -- passphrases ----------------------------------------------------------------------------------


def secrets(dialog: PassphraseDialog, typed: dict[str, str]) -> Alone:
    form = Alone(dialog)
    for name, text in typed.items():
        form.part(f"secret-{name}").value = text
    return form


def test_a_passphrase_is_returned_once_and_its_line_emptied() -> None:
    form = secrets(unlock_dialog(ADDRESS), {"passphrase": "open sesame"})
    form.dialog.action_set()
    form.dialog.action_set()
    form.dialog.action_cancel()
    assert form.left == [Secrets("open sesame")]
    assert form.part("secret-passphrase").value == ""
    assert "sesame" not in repr(form.left)


def test_an_empty_passphrase_asks_the_keyring() -> None:
    form = secrets(unlock_dialog(ADDRESS), {"passphrase": ""})
    form.dialog.action_set()
    assert form.left == [Secrets("")]
    assert ADDRESS in form.dialog._body.plain


def test_leaving_returns_nothing_and_empties_the_lines() -> None:
    form = secrets(NewKeyDialog(), dict.fromkeys(("secret", "passphrase", "again"), "12345678"))
    form.dialog.action_cancel()
    assert form.left == [None]
    assert {part.value for part in form.parts.values()} == {""}


@pytest.mark.parametrize(
    ("passphrase", "again", "problem"),
    [
        ("1234567", "1234567", f"at least {PASSPHRASE_MIN} letters"),
        ("", "", f"at least {PASSPHRASE_MIN} letters"),
        ("12345678", "12345679", "differ"),
        ("12345678", "", "differ"),
        ("12345678", "12345678", ""),
    ],
)
def test_a_new_passphrase_is_long_enough_and_the_same_twice(
    passphrase: str, again: str, problem: str
) -> None:
    typed = {"secret": "0xkey", "passphrase": passphrase, "again": again}
    form = secrets(NewKeyDialog(), typed)
    form.dialog.action_set()
    assert problem in form.text("secret-problem")
    assert form.left == ([] if problem else [Secrets(passphrase, "0xkey")])


def test_enter_and_the_two_doors_of_a_passphrase_do_as_they_say() -> None:
    for happening, left in (
        ("enter", Secrets("x")), ("secret-set", Secrets("x")), ("secret-cancel", None)
    ):  # fmt: skip
        form = secrets(unlock_dialog(ADDRESS), {"passphrase": "x"})
        given = event(button=SimpleNamespace(id=happening))
        (form.dialog._submitted if happening == "enter" else form.dialog._opened)(given)
        assert (form.left, given.stopped) == ([left], ["stop"])
    typed = event()
    form.dialog._changed(typed)
    assert typed.stopped == ["stop"]


def test_a_secret_is_shown_as_dots_and_cannot_be_copied() -> None:
    line = SecretInput(id="secret-x")
    assert (line.id, line.password, line.max_length) == ("secret-x", True, SECRET_MAX)
    line.action_copy()
    line.action_cut()


# -- the code -------------------------------------------------------------------------------------


def test_the_address_stands_below_its_code_and_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def code(address: str, *, on_dark: bool) -> Text:
        return Text(f"code {address} {on_dark}")

    monkeypatch.setattr(forms, "qr_text", code)
    page = Alone(WalletCode(ADDRESS, on_dark=True))
    text = page.dialog.text().plain
    assert text.splitlines()[:2] == [f"code {ADDRESS} True", ADDRESS]
    assert "Native USDC is not accepted" in text
    page.dialog.action_copy_address()
    (copied,) = page.posted
    assert isinstance(copied, Copied)
    assert (copied.text, copied.what) == (ADDRESS, "wallet address")


# -- paying per call ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "cap"),
    [("0.05", Micros(50_000)), ("100", CAP_MAX), ("", None), ("  ", None)],
)
def test_a_cap_for_paid_calls_is_confirmed_unless_it_turns_them_off(
    typed: str, cap: Micros | None
) -> None:
    form = Alone(PayForm(STATE, NOW))
    form.type(CAP.name, typed)
    assert form.text("form-preview") == SetPay(cap).describe()
    form.dialog.action_set()
    assert form.left == ([] if cap else [SetPay(None)])
    assert form.problem.startswith("Allows payments" if cap else "")
    form.wait()
    form.dialog.action_set()
    assert form.left == [SetPay(cap)]


@pytest.mark.parametrize("typed", ["0", "100.01", "-1", "x", "1e2"])
def test_a_cap_beyond_its_bounds_is_refused(typed: str) -> None:
    form = Alone(PayForm(STATE, NOW))
    form.type(CAP.name, typed)
    assert form.part("form-set").disabled
    assert form.text("form-preview") == ""
    form.dialog.action_set()
    assert form.left == []


def test_the_most_of_a_cap_is_a_hundred_a_day() -> None:
    assert CAP_MAX == 100 * ONE
