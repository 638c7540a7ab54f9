"""Sentences told without their amounts keep the keys and the times that a person needs."""

import pytest

from service_tui.console.amounts import told


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("press 5, W, then U, and unlock it", "press 5, W, then U, and unlock it"),
        ("press W on the wallet screen (5)", "press W on the wallet screen (5)"),
        ("Press 7, then C on this desk", "Press 7, then C on this desk"),
        ("press 5 and pay 12.50 at once", "press 5 and pay ••• at once"),
        ("press F9 once more", "press F9 once more"),
        ("next try at 14:03:20, 120 are left", "next try at 14:03:20, ••• are left"),
        ("key 5", "key 5"),
        ("spent 5, 3 are left", "spent •••, ••• are left"),
        ("1,234.50 $SIM of 10,000 (25%)", "••• $SIM of ••• (•••%)"),
        ("5 at 0.41", "••• at •••"),
        ("0x5e5e: 12", "•••x•••e•••e: •••"),
    ],
)
def test_amounts_are_hidden_and_keys_and_times_are_not(sentence: str, shown: str) -> None:
    assert told(sentence, masked=True) == shown
    assert told(sentence, masked=False) == sentence
