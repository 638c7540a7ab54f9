"""What a report does before and after it reads: names, files, and whose answer it takes."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app.options import Options
from service_tui.client.errors import Called, ServiceError
from service_tui.clock import Clock, ManualClock
from service_tui.commands import report as room
from service_tui.commands.report import ELSEWHERE, SILENT, ReportData, ReportError
from service_tui.storage.db.lock import Holder
from service_tui.storage.errors import DirectoryLockedError

ROWS = [{"agent": "a1", "name": "ada"}, {"agent": "a2", "name": "bob"}]


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(tmp_path, tmp_path, tmp_path / "log")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The reads that were asked for; each is answered with two agents."""
    asked: list[tuple[Any, ...]] = []
    members = [
        SimpleNamespace(agent_id="a1", name="ada"),
        SimpleNamespace(agent_id="a2", name="bob"),
    ]
    state = SimpleNamespace(fleet=SimpleNamespace(agents=members))
    data = SimpleNamespace(state=state, pasts={}, at=5.0)

    def load(options: Options, topics: Sequence[object]) -> Any:
        asked.append((options, topics))
        return data

    monkeypatch.setattr(room, "load", load)
    monkeypatch.setattr(room, "day_in_markdown", lambda *values: ("markdown", *values[2:]))
    monkeypatch.setattr(room, "agent_rows", lambda *_: ROWS)
    monkeypatch.setattr(room, "as_csv", lambda rows: [row["name"] for row in rows])
    monkeypatch.setattr(room, "files_of", lambda *_: {"a.csv": "1", "b.json": "2"})
    return asked


@pytest.mark.parametrize(
    ("agent", "names"), [("", ["ada", "bob"]), ("a2", ["bob"]), ("ada", ["ada"])]
)
def test_a_table_has_the_agents_that_were_asked_for(
    read: list[Any], options: Options, agent: str, names: list[str]
) -> None:
    assert room.day(options, agent, as_table=True) == names
    assert read == [(options, room.DAY)]


def test_a_day_is_written_as_markdown_unless_a_table_is_asked_for(
    read: list[Any], options: Options
) -> None:
    assert room.day(options, "ada", as_table=False) == ("markdown", {}, "ada")
    assert len(read) == 1


def test_an_agent_that_is_not_there_is_named(read: list[Any], options: Options) -> None:
    with pytest.raises(ReportError, match="no agent 'eve'; 'service-tui report' lists all"):
        room.day(options, "eve", as_table=True)
    assert len(read) == 1


def test_an_export_writes_every_file_and_counts_them(
    read: list[Any], options: Options, tmp_path: Path
) -> None:
    folder = tmp_path / "out"

    assert room.export(options, folder) == 2

    assert read == [(options, room.TABLES)]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.csv": "1",
        "b.json": "2",
    }


def test_files_in_the_way_stay_and_are_named(
    read: list[Any], options: Options, tmp_path: Path
) -> None:
    old = tmp_path / "old.md"
    room.keep(old, "first")
    with pytest.raises(ReportError, match=r"old\.md"):
        room.keep(old, "second")
    assert old.read_text() == "first"

    with pytest.raises(ReportError, match=r"old\.md"):
        room.export(options, old)
    assert read


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileExistsError("x is there"), "x is there"),
        (OSError(28, "No space left", "/x"), "cannot write /x: No space left"),
    ],
)
def test_why_a_file_was_not_written_is_said_without_a_number(error: OSError, text: str) -> None:
    assert room._halt_text(error) == text


def test_there_is_no_report_of_another_service(tmp_path: Path) -> None:
    away = Options(tmp_path, tmp_path, tmp_path / "log", url="https://desk.example")

    with pytest.raises(ReportError, match=ELSEWHERE[:30]):
        room.load(away, room.DAY)


def test_a_reason_instead_of_data_is_an_error(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ReportData.__new__(ReportData)
    answers: list[Any] = [SILENT, data]

    async def read_of(*_: object) -> Any:
        return answers.pop(0)

    monkeypatch.setattr(room, "_read", read_of)

    with pytest.raises(ReportError, match=SILENT[:20]):
        room.load(options, room.DAY)
    assert room.load(options, room.DAY) is data


class Waits(ManualClock):
    """A clock that passes by itself."""

    async def sleep(self, seconds: float) -> None:
        await self.advance(seconds)


async def read_with(
    monkeypatch: pytest.MonkeyPatch, options: Options, answers: list[Any]
) -> tuple[Any, list[str], float]:
    """What reading comes to where ways answer so, in turn; which were tried; seconds it took."""
    tried: list[str] = []

    async def read_topics(connect: object, *_: object) -> Any:
        name = getattr(connect, "__name__", "")
        tried.append(name.removeprefix("_connect_"))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(room, "read_topics", read_topics)
    clock: Clock = Waits(0.0)
    found = await room._read(options, room.DAY, clock)
    return found, tried, clock.monotonic()


def locked(options: Options) -> DirectoryLockedError:
    return DirectoryLockedError(options.data_dir, Holder(7, 1.0, None))


async def test_a_directory_without_an_owner_is_read_by_this_process(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    data = ReportData.__new__(ReportData)

    found, tried, _ = await read_with(monkeypatch, options, [data])

    assert (found is data, tried) == (True, ["as_owner"])


async def test_an_owner_that_serves_is_asked(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    monkeypatch.setattr(room, "address_of", lambda _: "http://127.0.0.1:1")

    found, tried, waited = await read_with(monkeypatch, options, [locked(options), "data"])

    assert (found, tried, waited) == ("data", ["as_owner", "to_owner"], 0.0)


async def test_an_owner_that_ends_leaves_the_directory_to_this_process(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    monkeypatch.setattr(room, "address_of", lambda _: None)

    found, tried, waited = await read_with(monkeypatch, options, [locked(options), "data"])

    assert (found, tried) == ("data", ["as_owner", "as_owner"])
    assert waited == pytest.approx(room.AGAIN_S)


async def test_an_owner_that_never_answers_is_given_up_after_a_while(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    monkeypatch.setattr(room, "address_of", lambda _: None)

    found, _, waited = await read_with(monkeypatch, options, [locked(options)])

    assert found == SILENT
    assert room.OWNER_WAIT_S <= waited < room.OWNER_WAIT_S + 2 * room.AGAIN_S


async def test_an_owner_that_answers_with_an_error_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    monkeypatch.setattr(room, "address_of", lambda _: "http://127.0.0.1:1")
    busy = ServiceError("busy", Called("GET", "/x"))
    answers = [locked(options), busy, locked(options), "data"]

    found, tried, waited = await read_with(monkeypatch, options, answers)

    assert (found, tried) == ("data", ["as_owner", "to_owner"] * 2)
    assert waited == pytest.approx(room.AGAIN_S)
