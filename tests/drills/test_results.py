"""What a run is worth, what the person did in it, and what is kept of it."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kit.console.drilling import small
from service_tui.desk.slices.drill import DrillLine, DrillPhase, DrillResult, DrillView
from service_tui.drills import results
from service_tui.drills.kinds import YOU
from service_tui.drills.results import (
    LOGGED_MAX,
    advice_for,
    as_json,
    as_text,
    command_word,
    keep,
    kept_results,
    person_lines,
    read_result,
    run_name,
    score_lines,
)
from service_tui.drills.values import (
    CLOCK,
    FLAG,
    NAME,
    SIDE,
    TEXT,
    Value,
    ValueProblem,
    ValueType,
    clock_text,
    number,
)
from service_tui.units import ONE, Micros, Timestamp

AT = Timestamp(1_800_015_125.0)
RESULT = DrillResult(
    run="20270115-121205-dam",
    name="dam",
    title="The dam",
    ended_at=AT,
    minutes=10,
    played_s=125.0,
    figure="equity",
    currency="$SIM",
    yours=Micros(9_900 * ONE),
    best=Micros(10_250 * ONE),
    worst=Micros(9_500 * ONE),
    score=53,
    lines=(DrillLine(12.0, "you", "halt"), DrillLine(75.0, "hare", "buys YES")),
    best_lines=(DrillLine(10.0, "you", "sell"),),
    advice=("Wait.", "Look."),
)


# -- what the person did ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "words", "word"),
    [
        ("trade", "sell all YES", "sell"),
        ("trade", "buy YES for 25.00", "buy"),
        ("monitor", "remove the thresholds", "unstop"),
        ("monitor", "stop 20 % down", "stop"),
        ("monitors", "stop 20 % down", "stop"),
        ("exit all", "", "exit"),
        ("watchlist", "", "reactor"),
        ("policy", "", "reactor"),
        ("breaker", "", "reactor"),
        ("agents", "", "agent"),
        ("pause", "", "agent"),
        ("prepare redemption", "", "redeem"),
        ("live", "", "wallet"),
        ("halt", "", "halt"),
        ("leash", "", "leash"),
    ],
)
def test_advice_names_each_command_by_one_word(kind: str, words: str, word: str) -> None:
    assert command_word(kind, words) == word


def logged(at: object, words: str = "halt", **other: object) -> SimpleNamespace:
    given = {"who": "person", "what": "intent", "kind": "halt", "at": at, "words": words, **other}
    return SimpleNamespace(entry=given)


def test_the_persons_own_commands_are_told_by_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    newest_first = (
        logged(AT + 90, "sell  all\nYES", kind="trade", question="Will it?"),
        logged(AT + 80, "no cash", what="refusal", kind="trade"),
        logged(AT + 70, what="done"),
        logged(AT + 60, who="desk"),
        logged(AT + 50, kind="drill"),
        logged(AT + 40, "w" * 200, what="unknown", kind="trade"),
        logged(AT - 5),
        logged("soon"),
    )
    asked: list[object] = []

    def newest(path: Path, most: int) -> tuple[SimpleNamespace, ...]:
        asked.append((path, most))
        return newest_first

    monkeypatch.setattr(results, "newest", newest)
    assert person_lines(Path("run"), AT) == [
        ("halt", DrillLine(0.0, YOU, "halt")),
        ("halt", DrillLine(0.0, YOU, "halt")),
        ("", DrillLine(40.0, YOU, "w" * 160)),
        ("", DrillLine(80.0, YOU, "no cash")),
        ("sell", DrillLine(90.0, YOU, "sell all YES: Will it?")),
    ]
    assert asked == [(Path("run") / "actions.jsonl", LOGGED_MAX)]


def test_a_log_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "actions.jsonl").mkdir()
    assert person_lines(tmp_path, AT) == []


# -- advice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "shown_at"),
    [
        ("below = 50", [49]),
        ("above = 50", [51]),
        ("above = 49\nbelow = 51", [50]),
        ('never = "halt"', []),
        ('never = "buy"', [49, 50, 51]),
        ('did = "halt"', [49, 50, 51]),
        ('did = "buy"', []),
        ('did = "sell"\nbefore = "1:10"', [49, 50, 51]),
        ('did = "sell"\nbefore = "1:09"', []),
        ('did = "sell"\nafter = "1:10"', [49, 50, 51]),
        ('did = "sell"\nafter = "1:11"', []),
        ('did = "halt"\nbefore = "0:00"', []),
        ('did = "halt"\nafter = "0:20"\nbefore = "1:10"', []),
        ('did = "sell"\nbelow = 50', [49]),
    ],
)
def test_advice_holds_up_to_its_bounds(conditions: str, shown_at: list[int]) -> None:
    one = small(advice=f'[[advice]]\n{conditions}\nsay = "so"\n')
    did = [("halt", DrillLine(10.0, YOU, "")), ("sell", DrillLine(70.0, YOU, ""))]
    assert [score for score in (49, 50, 51) if advice_for(one, did, score)] == shown_at


# -- kept ---------------------------------------------------------------------------------------


def test_a_result_is_kept_whole_as_json_and_as_text(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    path = keep(folder, RESULT)
    assert path == folder / "20270115-121205-dam.json"
    assert read_result(path) == RESULT
    assert path.with_suffix(".txt").read_text() == as_text(RESULT)
    assert sorted(one.name for one in folder.iterdir()) == [
        "20270115-121205-dam.json",
        "20270115-121205-dam.txt",
    ]
    assert folder.stat().st_mode & 0o777 == 0o700
    left_early = replace(RESULT, score=None)
    assert read_result(keep(folder, left_early)) == left_early


def test_results_are_listed_with_the_newest_first(tmp_path: Path) -> None:
    older = replace(RESULT, run="20270114-121205-dam")
    for one in (older, RESULT):
        keep(tmp_path, one)
    assert kept_results(tmp_path) == [RESULT, older]
    assert kept_results(tmp_path / "none") == []


@pytest.mark.parametrize("change", ["format", "score", "lines", "list", "text"])
def test_a_file_that_is_no_result_is_passed_over(tmp_path: Path, change: str) -> None:
    fields = json.loads(as_json(RESULT))
    path = tmp_path / "x.json"
    texts = {
        "format": json.dumps(fields | {"format": 2}),
        "score": json.dumps({name: one for name, one in fields.items() if name != "score"}),
        "lines": json.dumps(fields | {"lines": 5}),
        "list": json.dumps([fields]),
        "text": "not json",
    }
    path.write_text(texts[change])
    assert read_result(path) is None
    assert read_result(tmp_path / "none.json") is None


def test_each_run_has_a_name_of_its_own(tmp_path: Path) -> None:
    one = small()
    stem = f"20270115-121205-{one.name}"
    assert run_name(tmp_path, one, AT) == stem
    (tmp_path / f"{stem}.json").touch()
    assert run_name(tmp_path, one, AT) == f"{stem}-2"
    (tmp_path / f"{stem}-2.json").touch()
    assert run_name(tmp_path, one, AT) == f"{stem}-3"


def test_a_result_is_told_as_text() -> None:
    assert as_text(RESULT).splitlines() == [
        "The dam (dam)",
        "run 20270115-121205-dam, 2027-01-15 12:12 UTC, played 2:05 of 10:00",
        "",
        "score 53 of 100",
        "  you        9,900.00 $SIM equity",
        "  best      10,250.00",
        "  worst      9,500.00",
        "  cost         350.00 against the best listed course",
        "",
        "What happened",
        "   0:12  you          halt",
        "   1:15  hare         buys YES",
        "",
        "The best listed course",
        "   0:10  you          sell",
        "",
        "Next time",
        "  - Wait.",
        "  - Look.",
    ]
    assert score_lines(replace(RESULT, score=None))[0] == "no score: left early"
    better = replace(RESULT, yours=Micros(RESULT.best + 50 * ONE))
    assert score_lines(better)[-1] == "  cost         -50.00 against the best listed course"
    assert "Next time" not in as_text(replace(RESULT, advice=()))


def test_a_drill_lasts_from_its_start_to_its_length() -> None:
    view = DrillView("dam", "The dam", "brief", 10, DrillPhase.BRIEFING)
    assert view.elapsed_s(AT) == 0.0
    running = replace(view, began_at=AT)
    assert [running.elapsed_s(Timestamp(AT + late)) for late in (-3, 0, 90, 600, 601)] == [
        0.0,
        0.0,
        90.0,
        600.0,
        600.0,
    ]


# -- values -------------------------------------------------------------------------------------

FIGURE, WHOLE = number(-1.5, 2.0, "figure"), number(0, 9, "count", whole=True)


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (FIGURE, -1.5, -1.5),
        (FIGURE, 2, 2.0),
        (WHOLE, 9, 9.0),
        (CLOCK, "0:05", 5.0),
        (CLOCK, "12:34", 754.0),
        (FLAG, True, True),
        (FLAG, False, False),
        (NAME, "grey dam-2", "grey dam-2"),
        (TEXT, "  two\n  words ", "two words"),
        (SIDE, "no", "no"),
    ],
)
def test_a_value_is_read_as_its_type(kind: ValueType, value: object, read: Value) -> None:
    found = kind.read(value)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (FIGURE, -1.51, "expected figure from -1.5 to 2, got -1.51"),
        (FIGURE, 2.01, "expected figure from -1.5 to 2, got 2.01"),
        (FIGURE, True, "expected figure from -1.5 to 2, got True"),
        (FIGURE, float("nan"), "expected figure from -1.5 to 2, got nan"),
        (FIGURE, float("inf"), "expected figure from -1.5 to 2, got inf"),
        (FIGURE, "1", "expected figure from -1.5 to 2, got '1'"),
        (WHOLE, 1.0, "expected count from 0 to 9, got 1.0"),
        (CLOCK, "0:60", "expected a time as \"m:ss\", got '0:60'"),
        (CLOCK, 5, 'expected a time as "m:ss", got 5'),
        (FLAG, 1, "expected true or false, got 1"),
        (TEXT, "  ", "expected a text of at most"),
        (TEXT, "x" * 5_000, "expected a text of at most"),
        (NAME, "Dam", "expected a name of at most"),
        (NAME, 5, "expected a name of at most"),
        (SIDE, "maybe", "expected one of yes, no, got 'maybe'"),
    ],
)
def test_a_value_of_another_type_is_named_with_what_was_expected(
    kind: ValueType, value: object, why: str
) -> None:
    with pytest.raises(ValueProblem) as problem:
        kind.read(value)
    assert str(problem.value).startswith(why)
    assert len(str(problem.value)) < 140


def test_a_time_is_told_in_minutes_and_seconds() -> None:
    assert [clock_text(one) for one in (0, 59.9, 60, 754)] == ["0:00", "0:59", "1:00", "12:34"]
    assert (FIGURE.word, SIDE.word) == ("figure, -1.5 to 2", "yes or no")
