"""Histories by the command line: import, list, show, remove, and worlds that begin on one."""

import csv
import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kit.engine.recorded import PARTS, write
from service_tui.app.histories import history_of
from service_tui.app.options import Options
from service_tui.cli.main import CANNOT, OK, run
from service_tui.commands.history import progress_text
from service_tui.storage.history_file import HistoryFile, HistoryWriter, MarketRow, history_path

MARKETS = ("id", "source", "event", "question", "category", "opened_at", "closes_at",
           "resolved_at", "outcome", "volume")  # fmt: skip
RAIN = ("m1", "own", "spring", "Rain in Oslo on 1 May?", "weather", "2024-04-01T00:00:00Z",
        "2024-05-01T12:00:00Z", "2024-05-01T13:00:00Z", "YES", "120.5")  # fmt: skip
SNOW = ("m2", "own", "spring", "Snow in Oslo on 1 May?", "weather", "1711929600", "",
        "2024-05-01T13:00:00Z", "NO", "")  # fmt: skip
OPEN = ("m3", "own", "", "A landing by 2030?", "science", "", "2030-01-01", "", "", "")
PRICES = (
    ("m1", "1711929600", "0.4"), ("m1", "2024-04-10T00:00:00Z", "0.6"), ("m1", "1713000000", "0.7"),
    ("m2", "1711929600", "0.2"), ("m2", "1713000000", "0.1"), ("m3", "1713000000000", "0.5"),
)  # fmt: skip


def table(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "oslo"
    table(folder / "markets.csv", MARKETS, (RAIN, SNOW, OPEN))
    table(folder / "prices.csv", ("id", "t", "price"), PRICES)
    return folder


def said(capsys: pytest.CaptureFixture[str], tmp_path: Path, *words: str | Path) -> tuple[int, str]:
    code = run([*map(str, words), "--data-dir", str(tmp_path / "data")], starts_log=lambda *_: None)
    told = capsys.readouterr()
    return code, told.out + told.err


def test_a_folder_becomes_a_history_that_is_listed_shown_and_removed(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == OK, told
    assert "history oslo: 3 markets, 6 prices, 2024-04-01 to 2024-05-01" in told
    _, listed = said(capsys, tmp_path, "history", "list", "--json")
    assert [(one["name"], one["markets"]) for one in json.loads(listed)] == [("oslo", 3)]
    _, shown = said(capsys, tmp_path, "history", "show", "oslo")
    assert "ends: YES 1, NO 1, open at the end of the recording 1" in shown
    assert "without an announced end: 1 markets" in shown
    assert said(capsys, tmp_path, "history", "remove", "oslo")[0] == OK
    assert "no history yet" in said(capsys, tmp_path, "history", "list")[1]


def test_an_import_again_is_the_same_history_and_needs_a_word(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def digest() -> str:
        return str(json.loads(said(capsys, tmp_path, "history", "list", "--json")[1])[0]["digest"])

    assert said(capsys, tmp_path, "history", "import", source)[0] == OK
    first = digest()
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == CANNOT
    assert "there is a history oslo" in told
    assert said(capsys, tmp_path, "history", "import", source, "--replace")[0] == OK
    assert digest() == first


BAD = (
    (("m1", "1711929601", "1.5"), "a price outside 0 to 1"),
    (("m1", "1711929601", "dear"), "a price that is no number"),
    (("m1", "yesterday", "0.5"), "a price whose time is no time"),
    (("m9", "1711929601", "0.5"), "a price of a market that is not there"),
    (("m1", "2024-06-01", "0.5"), "a price after the outcome"),
)


@pytest.mark.parametrize(("row", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_price_that_makes_no_sense_is_left_out_with_its_reason(
    tmp_path: Path,
    source: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    row: tuple[str, ...],
    reason: str,
) -> None:
    table(source / "prices.csv", ("id", "t", "price"), (*PRICES, row))
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == OK
    assert f"left out: 1 x {reason}" in told
    _, rows = said(capsys, tmp_path, "history", "show", "oslo", "--left-out")
    assert rows.startswith(f"{reason}: prices.csv: {' '.join(row)}")


ODD_MARKETS = (
    (RAIN, "a market that was given before"),
    (("", *RAIN[1:]), "a market without an id"),
    (("m7", *RAIN[1:8], "MAYBE", ""), "an outcome that is none"),
    (("m7", *RAIN[1:7], "", "YES", ""), "an outcome without its time"),
    (("m7", *RAIN[1:7], "soon", "", ""), "a market whose end is no time"),
    (("m7", *RAIN[1:]), "a market without a price"),
)


@pytest.mark.parametrize(("row", "reason"), ODD_MARKETS, ids=[reason for _, reason in ODD_MARKETS])
def test_a_market_that_makes_no_sense_is_left_out_with_its_reason(
    tmp_path: Path,
    source: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    row: tuple[str, ...],
    reason: str,
) -> None:
    table(source / "markets.csv", MARKETS, (RAIN, SNOW, OPEN, row))
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == OK
    assert f"left out: 1 x {reason}" in told


def test_a_market_of_another_encoding_is_left_out_and_the_others_are_taken(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (source / "markets.csv").open("ab") as file:
        file.write(b'm8,own,,"caf\xe9?",x,,,,,\n')
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == OK
    assert "left out: 1 x a row that cannot be read" in told
    assert "history oslo: 3 markets, 6 prices" in told


def broken(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    match name:
        case "cents":
            table(path / "markets.csv", MARKETS, (RAIN,))
            table(path / "prices.csv", ("id", "t", "price"), [(*one[:2], "40") for one in PRICES])
        case "other":
            table(path / "a.csv", ("a", "b"), (("1", "2"),))
        case "torn":
            path.mkdir()
            (path / "trades.parquet").write_bytes(b"PAR1" + bytes(40))
        case "priceless":
            table(path / "markets.csv", MARKETS, (RAIN,))
        case _:
            pass
    return path


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cents", "prices are above 1"),
        ("other", "no format that is known"),
        ("torn", "trades.parquet cannot be read"),
        ("priceless", "no market has both a question and a price"),
        ("nowhere", "there is no "),
    ],
)
def test_what_is_no_history_is_a_sentence_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, sentence: str
) -> None:
    code, told = said(capsys, tmp_path, "history", "import", broken(tmp_path / "in", name))
    assert code == CANNOT
    assert sentence in told
    assert told.count("\n") == 1
    kept = tmp_path / "data" / "histories"
    assert not kept.exists() or not any(kept.iterdir())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--history", "oslo", "--from", "2031-01-01"), "goes from 2024-04-01 to 2024-05-01"),
        (("--history", "oslo", "--from", "spring"), "is no time"),
        (("--history", "rome"), "no history is called rome (oslo)"),
        (("--history", "../oslo"), "a history is called by small letters"),
        (("--from", "2024-04-02"), "give --history NAME"),
    ],
)
def test_a_world_begins_on_a_history_that_is_there_alone(
    tmp_path: Path,
    source: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    said(capsys, tmp_path, "history", "import", source)
    code, told = said(capsys, tmp_path, "serve", *words)
    assert code == CANNOT
    assert sentence in told


@pytest.mark.parametrize(
    ("share", "elapsed_s", "text"),
    [
        (0.0, 10.0, "reading; 0% done"),
        (0.5, 2.0, "reading; 50% done"),
        (0.25, 30.0, "reading; 25% done, about 1 min 30 s left"),
        (1.0, 30.0, "reading; 100% done, about 0 min 0 s left"),
    ],
)
def test_an_import_says_how_far_it_is_and_how_long_it_takes(
    share: float, elapsed_s: float, text: str
) -> None:
    assert progress_text("reading", share, elapsed_s) == text


def test_a_second_import_of_a_name_waits_for_the_end_of_the_first(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = HistoryWriter(history_path(tmp_path / "data", "oslo"))
    code, told = said(capsys, tmp_path, "history", "import", source)
    assert code == CANNOT
    assert "another import of oslo is under way" in told
    assert said(capsys, tmp_path, "history", "import", source, "--name", "bergen")[0] == OK
    first.give_up()
    assert said(capsys, tmp_path, "history", "import", source)[0] == OK


def test_what_a_killed_import_left_is_no_part_of_the_next(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, tmp_path, "history", "import", source)[0] == OK
    path = history_path(tmp_path / "data", "oslo")
    whole = path.read_bytes()
    path.replace(path.with_suffix(".part"))
    assert "no history yet" in said(capsys, tmp_path, "history", "list")[1]
    assert said(capsys, tmp_path, "history", "import", source)[0] == OK
    assert path.read_bytes() == whole
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_history_that_is_damaged_within_is_one_sentence(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, tmp_path, "history", "import", source)[0] == OK
    path = history_path(tmp_path / "data", "oslo")
    whole = bytearray(path.read_bytes())
    with sqlite3.connect(path) as file:
        (page,) = file.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'markets'"
        ).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    whole[(page - 1) * size : page * size] = b"A" * size
    path.write_bytes(whole)
    assert said(capsys, tmp_path, "history", "list")[0] == OK
    for words in (("show", "oslo"), ("show", "oslo", "--json")):
        code, told = said(capsys, tmp_path, "history", *words)
        assert code == CANNOT
        assert "the history oslo cannot be read: remove it, and import it again" in told


def test_a_world_begins_on_the_day_that_an_import_names(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = [(name, "2024-04-01T17:30:00Z", price) for name, _, price in PRICES[:1]]
    table(source / "prices.csv", ("id", "t", "price"), [*late, *PRICES[1:3]])
    _, told = said(capsys, tmp_path, "history", "import", source)
    data, named = tmp_path / "data", told.split("--from ")[1].strip()
    begun = history_of(Options(data, data, data / "log", history="oslo", history_from=named))
    assert begun is not None
    assert begun.begins_at == datetime(2024, 4, 1, 17, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("past", range(3))
def test_two_recordings_with_one_past_are_the_same_history_when_cut_there(
    tmp_path: Path, past: int, capsys: pytest.CaptureFixture[str]
) -> None:
    until = datetime.fromtimestamp(PARTS, UTC).isoformat()
    found: list[tuple[object, ...]] = []
    for future in (7, 8):
        folder = tmp_path / str(future)
        write(folder / "data", past, future)
        code, told = said(
            capsys, folder, "history", "cut", "two", "--until", until, "--as", "before"
        )
        assert code == OK, told
        _, listed = said(capsys, folder, "history", "list", "--json")
        found.append(
            next(
                (one["digest"], one["markets"])
                for one in json.loads(listed)
                if one["name"] == "before"
            )
        )
    assert found[0] == found[1]
    with HistoryFile(history_path(tmp_path / "7" / "data", "before")) as file:
        assert file.about.ends_at <= PARTS
        for market in file.markets():
            assert market.ends_at is None or market.ends_at <= PARTS
            assert all(at <= PARTS for at, _ in file.points(market.number))


def test_an_announced_end_that_is_the_true_one_is_not_known_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = MarketRow(
        "own", "a", "", "Does it rain?", "weather", PARTS, PARTS + 9e5, PARTS + 9e5, 1.0
    )
    writer = HistoryWriter(history_path(tmp_path / "data", "two"))
    writer.add(row, [PARTS, PARTS + 8e5], [0.5, 0.9])
    row = row._replace(native_id="b", closes_at=PARTS + 99e5)
    writer.add(row, [PARTS, PARTS + 8e5], [0.5, 0.9])
    writer.finish("two")
    until = datetime.fromtimestamp(PARTS + 1e5, UTC).isoformat()
    said(capsys, tmp_path, "history", "cut", "two", "--until", until, "--as", "before")
    with HistoryFile(history_path(tmp_path / "data", "before")) as file:
        ends = [(one.closes_at, one.ends_at) for one in file.markets()]
    assert ends == [(None, None), (PARTS + 99e5, None)]


def test_what_cannot_be_cut_is_one_sentence(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, tmp_path, "history", "import", source)
    for words, why in (
        (("oslo", "--until", "2024-04-15", "--as", "oslo"), "there is a history oslo"),
        (("oslo", "--until", "soon", "--as", "half"), "--until 'soon' is no time"),
        (("oslo", "--until", "2001-01-01", "--as", "half"), "nothing was taken"),
        (("oslo", "--until", "2024-04-15", "--as", "../half"), "a history is called by"),
        (("nothing", "--until", "2024-04-15", "--as", "half"), "no history is called nothing"),
    ):
        code, told = said(capsys, tmp_path, "history", "cut", *words)
        assert (code, why in told, len(told.splitlines())) == (CANNOT, True, 1), told
    assert sorted(one.name for one in (tmp_path / "data" / "histories").iterdir()) == [
        "oslo.history"
    ]
