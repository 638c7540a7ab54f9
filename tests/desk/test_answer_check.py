"""What was requested and what is reported are compared field by field."""

import pytest

from service_tui.desk.answer_check import is_same, unmet
from service_tui.wire.reactor import ReactorConfigBody, ReactorConfigPatch
from service_tui.wire.settings import SettingsPatch


@pytest.mark.parametrize(
    ("requested", "reported", "same"),
    [
        (5.0, 5.0, True),
        (5.0, 5.000001, True),
        (5.0, 5.00001, False),
        (-5.0, 5.0, False),
        (0, None, True),
        (None, 0.0, True),
        (None, None, True),
        (None, 0.01, False),
        (0.01, None, False),
        (True, True, True),
        (True, False, False),
        (True, 1, False),
        (1, True, False),
        (False, 0, False),
        (False, None, False),
        (None, False, False),
        (("0xAB", "0xcd"), ("0xCD", "0xab"), True),
        (("0xAB",), ("0xab", "0xcd"), False),
        (("0xAB",), (), False),
        ((), (), True),
        ("a", "a", True),
        ("a", "A", False),
        ("a", None, False),
        (("a",), "a", False),
    ],
)
def test_two_values_are_the_same_where_both_mean_the_same(
    requested: object, reported: object, *, same: bool
) -> None:
    assert is_same(requested, reported) is same


def test_what_was_requested_and_is_reported_otherwise_is_named() -> None:
    sent = ReactorConfigPatch(enabled=True, daily_cap=30.0, min_size=4.0, max_size=None)
    answer = ReactorConfigBody(enabled=False, daily_cap=30.0, min_size=5.0, max_size=9.0)
    assert set(unmet(sent, answer)) == {"enabled", "min_size"}
    assert unmet(sent, ReactorConfigBody(enabled=True)) == ()
    assert unmet(ReactorConfigPatch(), answer) == ()


def test_a_limit_that_was_taken_off_and_stands_is_named() -> None:
    named = next(
        name
        for name, field in SettingsPatch.model_fields.items()
        if field.default is None and "max" in name
    )
    sent = SettingsPatch(**{named: None})
    stands = SettingsPatch(**{named: 5.0})
    expected = (named,) if sent.sends_null else ()
    assert unmet(sent, stands) == expected
    assert unmet(sent, SettingsPatch(**{named: None})) == ()
