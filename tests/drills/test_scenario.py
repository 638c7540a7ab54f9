"""A scenario's file: what is read, and the line and the reason of what cannot be."""

from pathlib import Path

import pytest

from kit.console.drilling import scenario_text, small
from service_tui.commands.drill import checked
from service_tui.drills.acts import ACTS
from service_tui.drills.director import OF_THE_WORLD
from service_tui.drills.kinds import KINDS
from service_tui.drills.scenario import ScenarioError, read_scenario, scenario_of
from service_tui.drills.shipped import ORDER, scenario_named, shipped_scenarios

EVENT = '[[event]]\nat = "0:10"\n'
DAMS = "".join(
    f'[[market]]\nname = "{name}"\nquestion = "?"\nprice = {price}\n'
    for name, price in (("dam", 0.1), ("dike", 0.2), ("weir", 0.3), ("lock", 0.4))
)


def test_a_file_without_a_fault_is_read_with_its_defaults() -> None:
    one = small(advice='[[advice]]\nnever = "buy"\nsay = "Buy."\n')
    assert (one.title, one.minutes, one.speed, one.wallet) == ("Small", 2, 1, "managed")
    assert [row.text("name") for row in one.markets] == ["dam"]
    assert [(row.at, row.kind, row.number("to")) for row in one.events] == [(10.0, "price", 0.6)]
    assert [row.kind for row in one.best] == ["buy"]
    assert one.score.text("figure") == "equity"


def test_repeated_rows_come_in_the_order_of_their_times() -> None:
    every = f'{EVENT}every = "0:20"\nuntil = "1:00"\nkind = "news"\nmarket = "dam"\ntext = "a"\n'
    late = '[[event]]\nat = "0:35"\nkind = "news"\nmarket = "dam"\ntext = "b"\n'
    events = small(event=every + late).events
    assert [(row.at, row.text("text")) for row in events] == [
        (10.0, "a"),
        (30.0, "a"),
        (35.0, "b"),
        (50.0, "a"),
    ]


SALE = '[[worst]]\nat = "0:10"\ndo = "sell"\nmarket = "dam"\nside = "yes"\nshares = 1\n'

BROKEN = {
    "no TOML": ({"top": "title = \n"}, "line 1: Invalid value"),
    "a key that does not exist": (
        {"market": '[[market]]\nname = "dam"\nquestion = "Dam?"\nprize = 0.5\nprice = 0.5\n'},
        "line 9: prize is no key here; did you mean price?",
    ),
    "a key that is missing": (
        {"market": '[[market]]\nname = "dam"\nquestion = "Dam?"\n'},
        "line 6: price is missing (price of YES at the start)",
    ),
    "a price of 2": (
        {"market": '[[market]]\nname = "dam"\nquestion = "Dam?"\nprice = 2\n'},
        "line 9: price: expected price from 0.01 to 0.99, got 2",
    ),
    "a kind that does not exist": (
        {"event": f'{EVENT}kind = "prise"\n'},
        "line 16: no kind prise; did you mean price?",
    ),
    "no kind": ({"event": EVENT}, "line 14: kind is missing: one of price, news"),
    "a time that is none": (
        {"event": '[[event]]\nat = "0:75"\nkind = "halt"\n'},
        "line 15: at: expected a time as \"m:ss\", got '0:75'",
    ),
    "a time after the end": (
        {"event": '[[event]]\nat = "2:30"\nkind = "halt"\n'},
        "line 15: at 2:30 is after the end, 2:00",
    ),
    "a market that does not exist": (
        {"event": f'{EVENT}kind = "price"\nmarket = "damm"\nto = 0.4\n'},
        "line 17: no market damm; did you mean dam?",
    ),
    "an agent that does not exist": (
        {"event": f'{EVENT}kind = "pause"\nagent = "hare"\n'},
        "line 17: no agent hare: one of none",
    ),
    "a course that no person could take": (
        {"best": '[[best]]\nat = "0:05"\ndo = "price"\n'},
        "line 22: no do price: one of buy, sell",
    ),
    "a worst course of a market that does not exist": (
        {"worst": SALE.replace("dam", "damm")},
        "line 29: no market damm; did you mean dam?",
    ),
    "a worst course after the end": (
        {"worst": SALE.replace("0:10", "2:30")},
        "line 27: at 2:30 is after the end, 2:00",
    ),
    "two markets of one name": (
        {"market": '[[market]]\nname = "dam"\nquestion = "?"\nprice = 0.5\n' * 2},
        "line 11: two tables market have the name dam",
    ),
    "a wrong price in the third market": (
        {"market": DAMS.replace("0.3", "3")},
        "line 17: price: expected price from 0.01 to 0.99, got 3",
    ),
    "a key that is missing in the fourth market": (
        {"market": DAMS.replace("price = 0.4\n", "")},
        "line 18: price is missing",
    ),
    "a table that does not exist": (
        {"worst": "[[wurst]]\n"},
        "line 26: no table wurst; did you mean worst?",
    ),
    "advice on nothing": (
        {"advice": '[[advice]]\nnever = "hold"\nsay = "x"\n'},
        "line 28: never: no command hold",
    ),
    "a time of no command": (
        {"advice": '[[advice]]\nbefore = "0:10"\nsay = "x"\n'},
        "line 27: before and after need did",
    ),
    "an interval of nothing": (
        {"event": f'{EVENT}every = "0:00"\nkind = "halt"\n'},
        "line 16: every is 0:00: an interval is longer",
    ),
    "no market": ({"market": ""}, "a scenario needs a [[market]]"),
    "no best course": ({"best": ""}, "a scenario needs a [[best]] course"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_file_gets_the_line_and_the_reason(fault: str) -> None:
    parts, expected = BROKEN[fault]
    with pytest.raises(ScenarioError) as refused:
        scenario_of("mine", scenario_text(**parts), shown="mine.toml")
    assert refused.value.problems[0].startswith(expected)
    assert str(refused.value).startswith(f"mine.toml: {expected}")


def test_every_problem_of_a_file_is_told_at_once() -> None:
    text = scenario_text(market='[[market]]\nname = "dam"\nquestion = "Dam?"\nprice = 2\nb = 1\n')
    with pytest.raises(ScenarioError) as refused:
        scenario_of("mine", text)
    assert [one.partition(":")[0] for one in refused.value.problems] == ["line 9", "line 10"]


def test_a_line_inside_a_long_text_is_no_key() -> None:
    top = 'title = "S"\nbrief = """\n[[event]]\nprice = 3\n"""\nminutes = 200\n'
    with pytest.raises(ScenarioError) as refused:
        scenario_of("mine", scenario_text(top=top))
    assert refused.value.problems[0].startswith("line 6: minutes: expected")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"gone\.toml: there is no such file"):
        read_scenario(tmp_path / "gone.toml")


def test_the_seven_come_with_the_program() -> None:
    assert [one.name for one in shipped_scenarios()] == list(ORDER)
    assert len(ORDER) == 7
    assert all(one.minutes == 10 and one.advice for one in shipped_scenarios())


def test_a_name_that_is_none_gets_the_nearest() -> None:
    with pytest.raises(ScenarioError, match="did you mean flash-crash"):
        scenario_named("flash-krash")


def test_every_kind_of_row_is_carried_out() -> None:
    assert KINDS.keys() == ACTS.keys()
    assert all(not KINDS[name].is_course for name in OF_THE_WORLD)


ROW = '[[{table}]]\nat = "0:20"\ndo = "{kind}"\n{rest}'


@pytest.mark.slow
def test_a_check_measures_nothing_done_and_names_rows_without_effect(tmp_path: Path) -> None:
    best = ROW.format(table="best", kind="unstop", rest='market = "dam"\n')
    worst = ROW.format(table="worst", kind="refuse", rest='agent = "hare"\n')
    text = scenario_text(best=best, worst=worst, agent='[[agent]]\nname = "hare"\nleash = "ask"\n')
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    lines = text.splitlines()
    first, nothing, unstop, refuse = checked(str(path))
    assert first == "mine: best 10,000.00, worst 10,000.00 $SIM equity"
    assert nothing == "mine: doing nothing 10,000.00 $SIM equity"
    at = lines.index("[[best]]") + 1
    assert unstop.startswith(f"mine: line {at}: no effect at 0:20: remove the stop in dam: ")
    at = lines.index("[[worst]]") + 1
    assert refuse == (
        f"mine: line {at}: no effect at 0:20: refuse the trades of hare: no trade waits"
    )


@pytest.mark.slow
def test_the_courses_of_every_drill_have_their_effect() -> None:
    assert len(checked("two-supervisors")) == 2
