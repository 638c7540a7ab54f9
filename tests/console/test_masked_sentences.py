"""Sentences told without their amounts keep the keys and the times that a person needs."""

import pytest

from service_tui.console.keys import KEYS, cap, move_keys
from service_tui.console.reasons import KEYS_OF, fix_text, reason_text, without_amounts
from service_tui.desk.reasons import Fix, Reason


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("next try at 14:03:20, 120 are left", "next try at 14:03:20, ••• are left"),
        ("spent 5, 3 are left", "spent •••, ••• are left"),
        ("1,234.50 $SIM of 10,000 (25%)", "••• $SIM of ••• (•••)"),
        ("5 at 0.41", "••• at 0.41"),
        ("5 at 41.00", "••• at •••"),
        (
            "sold for 0.41 (average 0.393; price now 0.41)",
            "sold for ••• (average 0.393; price now 0.41)",
        ),
        ("dip below 41,200 by 10:00 UTC on 26 Nov?", "dip below ••• by 10:00 UTC on 26 Nov?"),
        (
            "NO at 0.93, and it resolves within 6 hours",
            "NO at 0.93, and it resolves within 6 hours",
        ),
        ("3 agents may buy again", "3 agents may buy again"),
        ("30000 orders, (12.5), [7]!", "••• orders, (•••), [•••]!"),
        ("12 shares for 4.20 $SIM", "••• shares for ••• $SIM"),
        ("0x5e5e: 12", "•••: •••"),
        ("two\nlines, 4.00", "two\nlines, •••"),
    ],
)
def test_amounts_are_hidden_and_times_are_not(sentence: str, shown: str) -> None:
    assert without_amounts(sentence, masked=True) == shown
    assert without_amounts(sentence, masked=False) == sentence


@pytest.mark.parametrize("fix", Fix)
def test_a_fix_is_the_same_while_amounts_are_hidden(fix: Fix) -> None:
    shown = fix_text(fix, masked=True)
    assert shown == fix_text(fix)
    assert shown.startswith(fix.value)
    # As the blotter on disk gives it back: a plain text.
    assert fix_text(str(fix), masked=True) == shown


@pytest.mark.parametrize("fix", KEYS_OF)
def test_the_keys_of_a_fix_are_those_that_are_bound_now(fix: Fix) -> None:
    last = KEYS_OF[fix][-1]
    assert set(KEYS_OF[fix]) <= {key.ident for key in KEYS}
    try:
        move_keys({last: ("f3",)})
        assert fix_text(fix).endswith("F3)")
    finally:
        move_keys({})
    assert fix_text(fix).endswith(f"{cap(last)})")


def test_the_way_to_where_a_person_is_already_is_left_out() -> None:
    assert fix_text(Fix.UNLOCK_KEY) == "unlock the key (5, W, U)"
    assert fix_text(Fix.UNLOCK_KEY, within="wallet") == "unlock the key (U)"


def test_a_reason_of_the_service_hides_its_amounts_and_ours_keeps_its_keys() -> None:
    reason = Reason("the limit of one trade is 500.00", Fix.RAISE_LIMIT)
    assert reason_text(reason, masked=True) == (
        "the limit of one trade is •••. Wait for midnight UTC, or raise the limit in Settings (8)"
    )
    foreign = Reason("refused", "order 5.00 at most")
    assert reason_text(foreign, masked=True) == "refused. Order ••• at most"
