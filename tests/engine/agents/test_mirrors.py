"""What agents have spent on mirrors, by the day and by the signal."""

import pytest

from kit.engine.bare import AT
from service_tui.engine.agents.mirrors import DONE_MAX, MirrorReserves, mirrored_by
from service_tui.engine.events import Fill, Note
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

WHO = ("ada", Venue.EVM)
NEXT_DAY = Timestamp(AT + 86_400)


def mirror(tx_hash: str = "0xAB") -> Note:
    return Note(signal_data={"tx_hash": tx_hash})


@pytest.mark.parametrize(
    ("data", "signal"),
    [
        (None, None),
        ({}, None),
        ({"edge": 0.1}, None),
        ({"signal_id": "S1"}, None),
        ({"tx_hash": "0xAB"}, "0xab"),
        ({"tx_hash": "0xAB", "signal_id": "S1"}, "s1"),
        ({"tx_hash": "0xAB", "signal_id": ""}, "0xab"),
    ],
)
def test_a_mirror_names_its_transaction(
    data: dict[str, str | float | int] | None, signal: str | None
) -> None:
    assert mirrored_by(Note(signal_data=data)) == signal


def test_mirrors_add_up_by_day_venue_and_signal() -> None:
    reserves = MirrorReserves()
    reserves.count(WHO, AT, Micros(5), mirror())
    reserves.count(WHO, AT, Micros(7), mirror("0xab"))
    reserves.count(WHO, AT, Micros(100), Note())
    reserves.count(("ada", Venue.SOL), AT, Micros(11), mirror("0xcd"))
    reserves.count(("bea", Venue.EVM), AT, Micros(13), mirror())
    assert reserves.spent_today("ada", Venue.EVM, AT) == 12
    assert reserves.spent_today("ada", Venue.SOL, AT) == 11
    assert reserves.spent_today("ada", Venue.EVM, NEXT_DAY) == 0
    assert reserves.spent_today("cyd", Venue.EVM, AT) == 0
    assert reserves.done == {"ada": {"0xab": 12, "0xcd": 11}, "bea": {"0xab": 13}}
    reserves.count(WHO, NEXT_DAY, Micros(3), mirror())
    assert reserves.spent_today("ada", Venue.EVM, NEXT_DAY) == 3
    assert reserves.done["ada"]["0xab"] == 15


def test_what_was_never_spent_is_given_back_on_the_day_of_its_placing() -> None:
    reserves = MirrorReserves()
    reserves.count(WHO, AT, Micros(5), mirror())
    reserves.give_back(WHO, AT, Micros(3), Note())
    reserves.give_back(WHO, NEXT_DAY, Micros(3), mirror())
    assert reserves.spent_today("ada", Venue.EVM, AT) == 5
    reserves.give_back(WHO, AT, Micros(3), mirror())
    assert reserves.spent_today("ada", Venue.EVM, AT) == 2
    reserves.give_back(WHO, AT, Micros(3), mirror())
    assert reserves.spent_today("ada", Venue.EVM, AT) == 0


def test_so_many_signals_are_remembered_the_latest_ones() -> None:
    reserves = MirrorReserves()
    for number in range(DONE_MAX):
        reserves.count(WHO, AT, Micros(1), mirror(f"0x{number}"))
    # The first one again is the latest.
    reserves.count(WHO, AT, Micros(1), mirror("0x0"))
    reserves.count(WHO, AT, Micros(1), mirror("0xnew"))
    done = reserves.done["ada"]
    assert len(done) == DONE_MAX
    assert "0x1" not in done
    assert list(done)[-2:] == ["0x0", "0xnew"]


@pytest.mark.parametrize(("action", "spent"), [(Action.BUY, 9), (Action.SELL, 0)])
def test_a_buy_on_sim_counts_and_a_sale_does_not(action: Action, spent: int) -> None:
    reserves = MirrorReserves()
    fill = Fill(
        "t1", "ada", "m1", Side.YES, action, Micros(20), Micros(9), 0.4, 0.5, AT, AT, Micros(0),
        mirror(),
    )  # fmt: skip
    reserves.count_fill(fill)
    assert reserves.spent_today("ada", Venue.SIM, AT) == spent
