"""The dialog that confirms a redemption, without an app: what it shows, and what it may sign."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone, event
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, call_of, redemption_of, row_of, run_of, wallet_of
from service_tui.console import formats
from service_tui.console.forms.confirm import ConfirmGiven
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.screens.redemption.forms import RedeemDialog
from service_tui.console.widgets.dialog import EARLY
from service_tui.desk.commands.wallet import GAP_WORD
from service_tui.desk.slices.redemption import CallView, ChainRunState, RunView
from service_tui.desk.slices.wallet import KeyState
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros

ROW = row_of(1)
BARE = replace(sample_state(), redemption=redemption_of(rows=(ROW,), runs=()), wallet=wallet_of())


def with_run(run: RunView | None, **wallet: Any) -> DeskState:
    view = replace(BARE.redemption, runs=() if run is None else (run,))
    return replace(BARE, redemption=view, wallet=replace(BARE.wallet, **wallet))


def prepared(**other: Any) -> RunView:
    return run_of(1, **{"state": ChainRunState.PREPARED, **other})


def dialog(state: DeskState = BARE, *, newer: DeskState | None = None, waits: bool = True) -> Alone:
    """The dialog, opened in one state and brought another."""
    form = Alone(RedeemDialog(state, NOW, ROW))
    form.dialog.on_mount()
    if newer is not None:
        form.dialog.take(newer, NOW)
    if waits:
        form.wait()
    return form


def confirmed(form: Alone) -> list[str]:
    return [one.what for one in form.posted if isinstance(one, ConfirmGiven)]


def test_exactly_the_shown_transaction_is_confirmed_once() -> None:
    form = dialog(newer=with_run(prepared()))
    assert not form.part("redeem-yes").disabled
    assert not form.part("redeem-yes").can_focus
    form.dialog.action_confirm()
    form.dialog.action_confirm()
    form.dialog.action_close()
    assert form.left == ["d1"]
    assert confirmed(form) == ["redeem this position"]


def test_a_managed_redemption_has_no_digest() -> None:
    form = dialog(newer=with_run(prepared(managed=True, call=None), key_state=KeyState.LOCKED))
    assert "The service holds the key" in form.text("redeem-text")
    form.dialog.action_confirm()
    assert form.left == [""]


@pytest.mark.parametrize(
    ("run", "locked", "words"),
    [
        (None, False, "loading the transaction"),
        (run_of(1, state=ChainRunState.RUNNING), False, "requested"),
        (prepared(), True, "key locked"),
    ],
)
def test_nothing_is_confirmed_before_there_is_a_transaction_to_sign(
    run: RunView | None, words: str, *, locked: bool
) -> None:
    wallet = {"key_state": KeyState.LOCKED} if locked else {}
    form = dialog(newer=with_run(run, **wallet))
    assert form.part("redeem-yes").disabled
    assert words in form.text("redeem-text")
    form.dialog.is_armed = True
    form.dialog.action_confirm()
    assert (form.left, confirmed(form)) == ([], [])


def test_a_run_that_was_there_before_is_not_the_requested_one() -> None:
    old = prepared()
    form = dialog(with_run(old))
    assert form.dialog.run is None
    assert "loading the transaction" in form.text("redeem-text")
    # As the desk tells it again: equal, but another object.
    form.dialog.take(with_run(prepared()), NOW)
    assert form.dialog.run is None
    newer = prepared(call=call_of(digest="d2"))
    form.dialog.take(with_run(newer), NOW)
    assert form.dialog.run == newer
    form.wait()
    form.dialog.action_confirm()
    assert form.left == ["d2"]


def test_a_key_typed_ahead_signs_nothing_nor_for_another_transaction() -> None:
    form = dialog(newer=with_run(prepared()), waits=False)
    form.dialog.action_confirm()
    assert (form.left, form.toasts) == ([], [EARLY])
    form.wait()
    form.dialog.take(with_run(prepared()), NOW)
    assert form.dialog.is_armed
    form.dialog.take(with_run(prepared(call=call_of(nonce=42))), NOW)
    assert not form.dialog.is_armed
    form.wait()
    assert form.dialog.is_armed
    form.dialog.take(with_run(run_of(1, state=ChainRunState.RUNNING)), NOW)
    form.wait()
    assert not form.dialog.is_armed


GAP = prepared(call=call_of(gap=3))


@pytest.mark.parametrize(
    ("word", "newer", "left"),
    [
        (GAP_WORD, GAP, ["d1"]),
        (None, GAP, []),
        ("yes", GAP, []),
        (GAP_WORD, prepared(call=call_of(gap=3, digest="d2")), []),
        (GAP_WORD, prepared(call=None), []),
        (GAP_WORD, replace(GAP, state=ChainRunState.FAILED), []),
        (GAP_WORD, None, []),
    ],
)
def test_a_gap_of_nonces_wants_its_word_for_the_same_transaction(
    word: str | None, newer: RunView | None, left: list[str]
) -> None:
    form = dialog(newer=with_run(GAP))
    form.dialog.action_confirm()
    (asked,) = form.opened
    assert isinstance(asked, TypedWord)
    assert form.left == []
    form.dialog.take(with_run(newer), NOW)
    form.answer(word)
    assert form.left == left


def test_a_gap_is_not_confirmed_for_a_key_that_was_locked_meanwhile() -> None:
    form = dialog(newer=with_run(GAP))
    form.dialog.action_confirm()
    form.dialog.take(with_run(GAP, key_state=KeyState.LOCKED), NOW)
    form.answer(GAP_WORD)
    assert form.left == []


@pytest.mark.parametrize(("button", "left"), [("redeem-yes", ["d1"]), ("redeem-no", [None])])
def test_the_two_doors_do_as_their_keys(button: str, left: list[Any]) -> None:
    form = dialog(newer=with_run(prepared()))
    click = event(button=type("Door", (), {"id": button}))
    form.dialog._opened(click)
    assert (form.left, click.stopped) == (left, ["stop"])


def test_leaving_signs_nothing_and_ends_it() -> None:
    form = dialog(newer=with_run(prepared()))
    form.dialog.action_close()
    form.dialog.action_close()
    form.dialog.action_confirm()
    assert (form.left, confirmed(form)) == ([None], [])


def test_the_text_tells_what_is_paid_to_whom_and_what_it_costs() -> None:
    amount = "120.00"
    call: CallView = call_of()
    form = dialog(newer=with_run(prepared(amount=Micros(120 * ONE))))
    text = form.text("redeem-text")
    for words in (
        ROW.side.value.upper(),
        ROW.question[:30],
        amount,
        f"{ROW.venue.value}, simulated",
        "costs",
    ):
        assert words in text
    assert formats.address(ADDRESS, masked=False).plain in text
    assert f"{call.nonce}" in text
    assert text.index("pays") < text.index("costs") < text.index("venue")
    # Before the run has an amount of its own, the row's stands there.
    waiting = dialog(newer=with_run(None)).text("redeem-text")
    assert "50.00" in waiting
    assert "costs" not in waiting
    real = Alone(RedeemDialog(BARE, NOW, replace(ROW, simulated=False)))
    real.dialog.on_mount()
    assert f"{ROW.venue.value}, real" in real.text("redeem-text")


def test_a_wallet_without_an_address_or_masked_is_not_named() -> None:
    text = dialog(newer=with_run(None, address="")).text("redeem-text")
    assert f"to {formats.NOT_KNOWN}" in text
    masked = replace(BARE, preferences={**BARE.preferences, "privacy": "on"})
    form = dialog(masked)
    assert ADDRESS[:6] not in form.text("redeem-text")
    assert "50.00" not in form.text("redeem-text")


def test_lines_are_scrolled_and_broken_anew_for_a_new_width() -> None:
    form = dialog()
    form.dialog.action_lines(-1)
    assert form.part("redeem-body").done == [{"y": -1, "animate": False}]
    later: list[Any] = []
    form.dialog.call_after_refresh = later.append
    form.dialog._resized()
    assert later == [form.dialog._show]
