"""Time that is kept back from sessions, by the command line and a real client of the server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from kit.command_line import Ran, ran
from kit.engine.recorded import write
from kit.programs.trial_skills import skill
from kit.terminal.research import SKILL, Driver, driving, git
from service_tui.app.histories import day
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.cli import main as cli
from service_tui.clock import SystemClock
from service_tui.notes import holdouts
from service_tui.notes.evaluations import read_reports
from service_tui.storage.history_file import HistoryFile, history_path

pytestmark = [pytest.mark.slow, pytest.mark.process]

EVALUATE = "service-tui evaluate . --history two --every 1d"
LEAST = "LEAST = 0.5"
SCRIPT = f"""
    {LEAST}
    def round(client, now):
        for market in client.get_markets(limit=10, sort="volume"):
            price = market.current_probability
            if price >= LEAST:
                client.trade(market.id, "yes", 2.0, source="sdk:night", reasoning="a test",
                             signal_data={{"probability": price}})
"""
LOOKS = """
    import os, pathlib, sqlite3, sys
    for name in ("SERVICE_API_URL", "SERVICE_API_KEY"):
        if name in os.environ:
            print("has", name)
    for folder in sys.argv[1:]:
        for path in pathlib.Path(folder).rglob("*.history"):
            try:
                path.read_bytes()
                print("reads", path)
            except OSError:
                print("closed", path)
    for path in pathlib.Path(os.environ["SERVICE_TUI_DATA_DIR"]).rglob("*.history"):
        with sqlite3.connect(path) as file:
            named = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = [row[0] for row in file.execute(named)]
            file.row_factory = sqlite3.Row
            rows = [row for table in tables for row in file.execute(f"SELECT * FROM {table}")]
        # An end that was announced beforehand is known.
        values = [row[name] for row in rows for name in row.keys() if name != "closes_at"]
        values = [value for value in values if isinstance(value, float | int)]
        print("at", max(value for value in values if 1.6e9 < value < 2e9))
"""
"""A command that looks for what is kept back: in its variables, in folders, in its own history."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with a history, and a temporary folder beside it, not around it."""
    beside = tmp_path / "temporary"
    beside.mkdir()
    monkeypatch.setenv("TMPDIR", str(beside))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "desk", 1, 2, 8)
    return tmp_path / "desk"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = skill(tmp_path / "work", SKILL, SCRIPT)
    git(made, "init", "--quiet", "-b", "main")
    git(made, "config", "user.name", "Ann")
    git(made, "config", "user.email", "ann@example.org")
    git(made, "add", ".")
    git(made, "commit", "--quiet", "-m", "the skill")
    return made


def told(desk: Path, repository: Path, *words: str) -> Ran:
    where = ("--repo", str(repository), "--data-dir", str(desk), "--speed", "0")
    return ran(["autoresearch", *words, *where])


def begin(desk: Path, repository: Path, *words: str) -> Ran:
    return told(
        desk, repository, SKILL, "--holdout", "two", "--every", "1d", "--metric", "roi", *words
    )


def environment(tmp_path: Path) -> dict[str, str]:
    return {"TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path / "home")}


async def tried(driver: Driver, least: float) -> float:
    """The figure of an experiment with another threshold, as the session's client reads it."""
    script = driver.worktree / "run.py"
    lines = [
        f"LEAST = {least}" if line.startswith("LEAST =") else line
        for line in script.read_text().splitlines()
    ]
    script.write_text("\n".join(lines) + "\n")
    answer = await driver.call("run_experiment", command=EVALUATE, timeout_seconds=300)
    assert answer["succeeded"], answer["output"]
    figures = dict(
        line.removeprefix("METRIC ").split("=")
        for line in answer["output"].splitlines()
        if line.startswith("METRIC ")
    )
    # Whoever does not trade has no return.
    return float(figures.get("roi", -1.0))


async def night(driver: Driver, thresholds: tuple[float, ...]) -> float:
    """Try thresholds one after another, and keep what is better; the best figure."""
    best = await tried(driver, 0.5)
    await driver.log("keep", best, "as it was")
    for least in thresholds:
        figure = await tried(driver, least)
        await driver.log("keep" if figure > best else "discard", figure, f"from {least}")
        best = max(best, figure)
    return best


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.deep)])
def test_a_night_of_experiments_is_judged_once_on_time_that_it_could_not_read(
    desk: Path, repository: Path, tmp_path: Path, count: int
) -> None:
    (tmp_path / "looks.py").write_text(dedent(LOOKS))
    began = begin(desk, repository)
    assert began.code == cli.OK, began.err
    with HistoryFile(history_path(desk, "two")) as file:
        about = file.about
    until = about.ends_at - (about.ends_at - about.begins_at) / 3
    assert f"{day(until)} to {day(about.ends_at)} of two is kept back from {SKILL}" in began.out
    thresholds = tuple(round(number / count, 2) for number in range(count - 1))
    looks = tmp_path / "looks.py"
    words = " ".join(map(str, (sys.executable, looks, desk, tmp_path / "home")))

    async def work() -> tuple[float, str]:
        async with driving(repository, desk, env=environment(tmp_path)) as driver:
            config = driver.lines()[-1]
            await driver.init(name=config["name"], metric_name="roi", direction="higher")
            best = await night(driver, thresholds)
            answer = await driver.call("run_experiment", command=words)
            assert answer["succeeded"], answer["output"]
            return best, answer["output"]

    best, output = asyncio.run(work())
    seen = [line.split(" ", 1) for line in output.splitlines()]
    assert [words for words in seen if words[0] in {"has", "reads"}] == []
    assert max(float(words[1]) for words in seen if words[0] == "at") <= until

    ended = told(desk, repository, "off", SKILL)
    assert ended.code == cli.OK, ended.err
    (kept,) = holdouts.read_all(desk)
    (judged,) = kept.judged
    assert judged.best.logged == best
    assert judged.troubles == ()
    # What the client said of the known time is what the judge found.
    assert judged.best.known["roi"] == pytest.approx(best, abs=1e-6)
    assert judged.best.held_back["roi"] != judged.best.known["roi"]
    assert f"{judged.best.held_back['roi']:.4g}" in ended.out
    assert [report.name for report in read_reports(desk)] == [f"{SKILL}-two-held-back"]
    # A second end looks at nothing again.
    again = told(desk, repository, "off", SKILL)
    assert again.out == ended.out
    assert len(holdouts.read_all(desk)[0].judged) == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--metric", "score"), "'score' is no figure of 'evaluate'"),
        (("--metric", "brier"), "a lower brier is the better one"),
        (("--every", "4d"), "a third of two is shorter than a round"),
        (("--holdout", "three"), "no history is called three"),
        (("--every", "1s"), "is no time of a minute to a week"),
    ],
)
def test_what_cannot_be_kept_back_is_said_in_one_sentence(
    desk: Path, repository: Path, words: tuple[str, ...], reason: str
) -> None:
    refused = begin(desk, repository, *words)
    assert refused.code == cli.CANNOT
    assert reason in refused.err
    assert refused.err.count("\n") == 1
    assert holdouts.read_all(desk) == ()


@pytest.mark.parametrize("word", ["../../../precious", ".", "/precious", "A b"])
def test_what_is_no_skill_touches_no_folder(desk: Path, repository: Path, word: str) -> None:
    (repository / "precious").mkdir()
    (repository / "precious" / "file").touch()
    where = ("--repo", str(repository), "--data-dir", str(desk), "--speed", "0")
    refused = ran(["autoresearch", word, "--holdout", "two", "--metric", "roi", *where])
    assert refused.code == cli.CANNOT
    assert refused.err.count("\n") == 1
    assert (repository / "precious" / "file").exists()
    assert holdouts.read_all(desk) == ()


def test_a_history_behind_a_link_is_refused(desk: Path, repository: Path, tmp_path: Path) -> None:
    path = history_path(desk, "two")
    path.rename(tmp_path / "elsewhere.history")
    path.symlink_to(tmp_path / "elsewhere.history")
    refused = begin(desk, repository)
    assert refused.code == cli.CANNOT
    assert "elsewhere.history, which experiments can read" in refused.err


async def test_an_experiment_writes_nothing_that_a_person_runs_later(
    desk: Path, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    settings = tmp_path / "home" / ".gitconfig"
    settings.write_text("[user]\n")
    began = await asyncio.to_thread(
        subprocess.run,
        [
            *(sys.executable, "-m", "service_tui", "autoresearch", SKILL, "--holdout", "two"),
            *("--every", "1d", "--metric", "roi", "--data-dir", str(desk), "--name", "one"),
        ],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert began.returncode == cli.OK, began.stderr
    async with driving(repository, desk, env=environment(tmp_path)) as driver:
        await driver.init(name="one", metric_name="roi", direction="higher")
        command = f"echo x > here && echo x > $TMPDIR/there; echo x >> {settings}"
        answer = await driver.call("run_experiment", command=command)
        assert not answer["succeeded"]
        assert (driver.worktree / "here").exists()
        assert (tmp_path / "temporary" / "there").exists()
        # What cannot be read is not taken for nothing.
        holdouts.path_of(desk, repository, SKILL).write_text("{")
        assert "cannot be read" in await driver.refused("run_experiment", command="true")
    assert settings.read_text() == "[user]\n"


def test_a_directory_that_no_fence_closes_is_refused(
    desk: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(desk.parent))
    refused = begin(desk, repository)
    assert refused.code == cli.CANNOT
    assert "lies among temporary files, which experiments can read" in refused.err


async def test_nothing_is_kept_back_from_a_desk_whose_world_runs_on_that_history(
    desk: Path, repository: Path
) -> None:
    options = Options(desk, desk, desk / "log", history="two", speed=0)
    async with own_directory(options, SystemClock()):
        words = ("autoresearch", SKILL, "--holdout", "two", "--metric", "roi")
        refused = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "service_tui", *words, "--data-dir", str(desk)],
            cwd=repository,
            capture_output=True,
            text=True,
            check=False,
        )
    assert refused.returncode == cli.CANNOT
    assert "the desk's own world runs on two" in refused.stderr


def test_what_was_kept_back_can_be_given_back(desk: Path, repository: Path) -> None:
    assert begin(desk, repository, "--name", "one").code == cli.OK
    given = begin(desk, repository, "--holdout", "-", "--name", "two")
    assert given.code == cli.OK, given.err
    assert f"nothing is kept back from {SKILL}" in given.out
    assert [one.lab for one in holdouts.read_all(desk)] == [""]
    assert not list((repository / ".git" / "autoresearch" / "lab").iterdir())


def test_a_session_that_kept_nothing_is_not_judged(desk: Path, repository: Path) -> None:
    assert begin(desk, repository).code == cli.OK
    ended = told(desk, repository, "off", SKILL)
    assert ended.code == cli.OK
    assert "nothing was kept" in ended.out
    assert (
        json.loads((repository / "autoresearch.jsonl").read_text().splitlines()[-1])["type"]
        == "off"
    )
