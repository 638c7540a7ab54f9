"""Skills on trial, by the command line: what they did, and what they tried to do."""

import argparse
import csv
import io
import json
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from jsonschema import validate

from kit.command_line import Ran, ran
from kit.engine.recorded import BEGIN, DAY, HOUR, write
from kit.programs.trial_skills import BUYS, WRONG, skill
from service_tui.app.options import Options
from service_tui.cli import main as cli
from service_tui.commands.evaluate import plans_of
from service_tui.storage.history_file import HistoryFile, HistoryWriter, MarketRow, history_path
from service_tui.trials.evaluation import kept_result
from service_tui.trials.plan import TrialPlan

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.process]

WHEN = ("--from", "2023-11-17T00:00", "--to", "2023-11-20T00:00", "--every", "6h")


def evaluated(folder: Path, *words: str | Path) -> Ran:
    """The command on the drawn recording, or on the worlds that the words name."""
    if "--seeds" not in words:
        if not (folder / "histories").exists():
            write(folder, 1, 2)
        words = ("--history", "two", *WHEN, *words)
    return ran(["evaluate", *map(str, words), "--data-dir", str(folder)])


def told(folder: Path, *words: str | Path) -> dict[str, Any]:
    """What the first skill came to, as JSON."""
    found = evaluated(folder, *words, "--json")
    assert found.code == cli.OK, found.err
    return json.loads(found.out)["skills"][0]


def trades(folder: Path, *words: str | Path) -> list[dict[str, str]]:
    found = evaluated(folder, *words, "--csv")
    assert found.code == cli.OK, found.err
    return list(csv.DictReader(io.StringIO(found.out)))


@pytest.fixture(scope="module")
def two_skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the evaluation of two skills: the same command has it at once."""
    folder = tmp_path_factory.mktemp("two")
    found = evaluated(folder, skill(folder, "tried", BUYS), "momentum")
    assert found.code == cli.OK, found.err
    return folder


def test_a_skill_that_stays_and_one_that_is_started_for_each_round_trade_alike(
    tmp_path: Path,
) -> None:
    one = trades(tmp_path, "momentum", "--every", "1d")
    other = trades(tmp_path, "momentum", "--every", "1d", "--anew")
    assert len({row["at"] for row in one}) > 1
    assert one == other


def test_what_is_told_adds_up_to_what_the_agent_is_worth(two_skills: Path) -> None:
    found = told(two_skills, two_skills / "tried")
    curve = found["trials"][0]["curve"]
    assert found["trades"] > 5
    assert round(curve[-1][1] - curve[0][1], 6) == round(found["pnl"], 6)
    rows = trades(two_skills, two_skills / "tried")
    assert len(rows) == found["trades"]
    assert sum(float(row["money"]) for row in rows if row["action"] == "buy") == pytest.approx(
        found["bought"]
    )
    assert len(found["controls"]) == 200
    # It states the market's own price, rounded.
    assert found["skill_score"] == pytest.approx(0.0, abs=1e-4)


def test_the_report_for_programs_is_of_its_schema(two_skills: Path) -> None:
    schema = json.loads((ROOT / "docs" / "evaluation.schema.json").read_text("utf-8"))
    found = evaluated(two_skills, "momentum", two_skills / "tried", "--json")
    assert found.code == cli.OK, found.err
    validate(json.loads(found.out), schema)


def test_the_same_seed_gives_the_same_report_byte_for_byte(tmp_path: Path) -> None:
    words = ("momentum", "--seeds", "3,4", "--days", "0.05", "--every", "15m", "--json")
    one, other = evaluated(tmp_path / "a", *words), evaluated(tmp_path / "b", *words)
    assert one.code == cli.OK, one.err
    assert one.out == other.out


def test_what_is_stopped_out_and_ends_in_one_move_of_the_world_is_counted(tmp_path: Path) -> None:
    writer = HistoryWriter(history_path(tmp_path, "two"))
    times = [BEGIN + HOUR * hour for hour in range(6)]
    row = MarketRow("own", "a", "", "Does it fall?", "science", BEGIN, None, times[4] + 3_000, 0.0)
    writer.add(row, [*times[:5], times[4] + 1_800], [0.6, 0.6, 0.6, 0.6, 0.6, 0.1])
    row = row._replace(native_id="b", ends_at=None, settles_at=None)
    writer.add(row, times, [0.5] * 6)
    writer.finish("two")
    begin = datetime.fromtimestamp(BEGIN, UTC).isoformat()
    words = (skill(tmp_path, "tried", BUYS), "--history", "two", "--from", begin, "--every", "2h")
    found = told(tmp_path, *words, "--to", "2030-01-01")
    assert found["trials"][0]["ended"] is None
    curve = found["trials"][0]["curve"]
    assert round(curve[-1][1] - curve[0][1], 6) == round(found["pnl"], 6)
    rows = trades(tmp_path, *words, "--to", "2030-01-01")
    assert [row["question"] for row in rows if row["action"] == "sell"] == ["Does it fall?"]


def test_a_trial_that_was_made_is_not_made_again(tmp_path: Path) -> None:
    made = skill(tmp_path, "tried", BUYS)
    first = evaluated(tmp_path, made)
    results = list((tmp_path / "evaluations" / "trials").glob("*/result.json"))
    assert len(results) == 1
    written = results[0].stat().st_mtime_ns
    assert evaluated(tmp_path, made).out == first.out
    assert results[0].stat().st_mtime_ns == written
    # The world is not kept: what stays is small.
    assert not (results[0].parent / "world").exists()
    assert evaluated(tmp_path, made, "--again").out == first.out
    assert results[0].stat().st_mtime_ns > written
    (made / "run.py").write_text("def round(client, now):\n    pass\n")
    assert "did not trade" in evaluated(tmp_path, made).out


def test_what_is_held_back_is_the_last_third(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    asked = ("evaluate", str(skill(tmp_path, "tried", BUYS)), "--history", "two", *WHEN)
    plans = list[TrialPlan]()

    def planned(_: Options, arguments: argparse.Namespace) -> int:
        plans.extend(plans_of(tmp_path, arguments))
        return cli.OK

    for words in ((), ("--holdout",), ("--holdout", "last")):
        assert ran([*asked, *words], commands={"evaluate": planned}).code == cli.OK
    whole, first, last = ((one.begins_at, one.ends_at) for one in plans)
    assert (first[0], last[1]) == whole
    assert first[1] == last[0] == pytest.approx(whole[1] - (whole[1] - whole[0]) / 3)


def test_several_skills_stand_side_by_side(two_skills: Path) -> None:
    found = evaluated(two_skills, two_skills / "tried", "momentum")
    assert found.code == cli.OK
    assert "# tried" in found.out
    assert "# momentum" in found.out
    assert "| tried | momentum |" in found.out
    assert "METRIC pnl=" in found.out
    assert (two_skills / "evaluations" / "tried+momentum-two" / "report.md").is_file()


def running_in(folder: Path) -> list[int]:
    """Processes whose home, or that of whoever started them, lies in a folder."""
    found: list[int] = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if any(str(folder) in value for value in one.environ().values()):
                found.append(one.pid)
    return found


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("crashes", "20 rounds in a row failed, the last by ValueError: no idea"),
        ("leaves", "its process ended in a round (exit code 7)"),
        ("broken", "its script cannot be loaded: RuntimeError: not today"),
        ("forks", "1 program left behind, and ended"),
        # Started as a person does: what a fence lets be read depends on where that was.
        pytest.param("peeks", "rounds failed: PermissionError", marks=pytest.mark.cold),
        ("overspends", "orders refused: "),
        ("garbles", "it wrote nonsense into the line to its world"),
        ("waits", "rounds skipped: an earlier one waited too long"),
    ],
)
def test_a_skill_that_misbehaves_is_named_and_nothing_of_it_stays(
    tmp_path: Path, slug: str, said: str
) -> None:
    script = WRONG[slug].replace("FOLDER", repr(str(tmp_path)))
    every = ("--every", "1h") if slug in {"crashes", "waits"} else ()
    found = evaluated(tmp_path, skill(tmp_path / "own", slug, script), *every)
    assert found.code == cli.OK, found.err
    assert said in found.out
    assert running_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_evaluation_that_is_ended_leaves_nothing_running(
    tmp_path: Path, number: signal.Signals
) -> None:
    write(tmp_path, 1, 2)
    made = skill(tmp_path / "own", "tried", BUYS)
    words = ["evaluate", str(made), "--history", "two", "--every", "1m"]
    with subprocess.Popen(
        [sys.executable, "-m", "service_tui", *words, "--data-dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        trials = tmp_path / "evaluations" / "trials"
        while not list(trials.glob("*/progress")):
            with suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended by itself: {running.wait(0.05)}")
        started = psutil.Process(running.pid).children(recursive=True)
        assert len(started) > 2
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    assert b"Traceback" not in said
    _, alive = psutil.wait_procs(started, timeout=30)
    assert alive == []


def test_a_skill_cannot_act_as_the_operator_of_its_world(tmp_path: Path) -> None:
    script = """
        import httpx, os
        url, key = os.environ["SERVICE_API_URL"], os.environ["SERVICE_API_KEY"]
        for key in (key, "op_live_" + "0" * 32, "op_live_0"):
            answer = httpx.post(f"{url}/api/desk/world/step", json={"seconds": 3600.0},
                                headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code in {401, 403}, answer.status_code
    """
    found = told(tmp_path, skill(tmp_path, "tried", script), "--every", "2d")
    assert found["trials"][0]["errors"] == {}
    assert found["trials"][0]["rounds"] == 1


@pytest.mark.cold
def test_a_relative_data_directory_opens_no_fence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = skill(tmp_path, "peeks", WRONG["peeks"].replace("FOLDER", repr(str(tmp_path / "peeks"))))
    (made / "lab").mkdir()
    write(made / "lab", 1, 2)
    monkeypatch.chdir(made)
    found = ran(["evaluate", ".", "--history", "two", *WHEN, "--data-dir", "lab"])
    assert found.code == cli.OK, found.err
    assert "rounds failed: PermissionError" in found.out


def test_a_trial_has_one_agent_and_its_port_answers_nobody_else(tmp_path: Path) -> None:
    script = """
        import httpx, os, sys
        url, key = os.environ["SERVICE_API_URL"], os.environ["SERVICE_API_KEY"]
        new = f"{url}/api/sdk/agents/register"
        own = {"Authorization": f"Bearer {key}"}
        codes = [
            httpx.post(new, json={"name": "two"}).status_code,
            httpx.post(new, json={"name": "two"}, headers=own).status_code,
            httpx.get(f"{url}/api/sdk/markets").status_code,
            httpx.get(f"{url}/api/sdk/markets", headers=own).status_code,
        ]
        assert codes == [401, 403, 401, 200], codes
    """
    found = told(tmp_path, skill(tmp_path, "tried", script), "--every", "2d")
    assert found["trials"][0]["errors"] == {}
    assert found["trials"][0]["rounds"] == 1
    assert found["trials"][0]["refusals"] == {"a trial has one agent": 1}


ENDLESS = """import socket
    from service_tui.sdk.line import Line
    for number in range(3, 20):
        try:
            own = socket.socket(fileno=number)
        except OSError:
            continue
        Line(own).ask({"wait": 10**400})
"""
"""Finds the skill's own line, whatever its number, and waits there without end."""


ENDS = {
    "endless": (ENDLESS, "it wrote nonsense into the line"),
    "signals": ("os.kill(os.getpid(), 40)", "its process ended in a round (by signal 40)"),
    "mute": ("raise Mute", "rounds failed: Mute"),
}


def test_what_a_skill_ends_is_its_own_trial(tmp_path: Path) -> None:
    made = list[Path]()
    for slug, (script, _) in ENDS.items():
        lines = (
            "import os",
            "class Mute(Exception):",
            "    def __str__(self):",
            "        raise ValueError",
            "def round(client, now):",
            f"    {script}",
        )
        made.append(skill(tmp_path / "own", slug, "\n".join(lines)))
    found = evaluated(tmp_path, *made, "momentum", "--every", "12h")
    assert found.code == cli.OK, found.err
    told_of = [f"\n# {one}" for one in f"\n{found.out}".split("\n# ")]
    for slug, (_, said) in ENDS.items():
        (own,) = [one for one in told_of if one.startswith(f"\n# {slug}\n")]
        assert said in own, own
    assert "\n# momentum\n" in found.out


def test_a_trial_that_another_evaluation_makes_is_left_to_it(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    made = skill(tmp_path / "own", "tried", BUYS)
    words = [
        "evaluate",
        str(made),
        "--history",
        "two",
        "--every",
        "1m",
        "--data-dir",
        str(tmp_path),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "service_tui", *words], stdout=subprocess.DEVNULL
    ) as running:
        while not list((tmp_path / "evaluations" / "trials").glob("*/progress")):
            with suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended by itself: {running.wait(0.05)}")
        other = ran(words)
        assert running.poll() is None
        running.terminate()
    assert other.code == cli.CANNOT
    assert "is made by another evaluation" in other.err


def test_a_damaged_result_is_made_anew(tmp_path: Path) -> None:
    made = skill(tmp_path, "tried", BUYS)
    first = evaluated(tmp_path, made, "--every", "12h", "--json")
    (path,) = (tmp_path / "evaluations" / "trials").glob("*/result.json")
    text, key = path.read_text(), path.parent.name
    assert kept_result(tmp_path, key) is not None
    market = json.loads(text)["ledger"]["trades"][0][1]
    for damaged in (
        "[" * 200_000,
        "{}",
        text.replace("2000000", "1e308", 1),
        text.replace(market, "gone", 1),
    ):
        assert damaged != text
        path.write_text(damaged)
        assert kept_result(tmp_path, key) is None
    assert evaluated(tmp_path, made, "--every", "12h", "--json").out == first.out


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    made = skill(tmp_path / "own", "floods", WRONG["floods"])
    found = evaluated(tmp_path, made, "--every", "1d")
    assert found.code == cli.OK, found.err
    sizes = [one.stat().st_size for one in (tmp_path / "evaluations").rglob("*") if one.is_file()]
    assert max(sizes) < 2_000_000


def test_the_time_of_a_round_is_that_of_the_world(tmp_path: Path) -> None:
    script = """
        def round(client, now):
            assert now.tzinfo is not None
            for market in client.get_markets(limit=1):
                client.trade(market.id, "yes", 1.0, reasoning=now.isoformat(), allow_rebuy=True)
                trade = client.get_trades(limit=1).trades[0]
                assert abs((trade.created_at - now).total_seconds()) < 1, (trade.created_at, now)
    """
    found = told(tmp_path, skill(tmp_path, "tried", script))
    assert found["trials"][0]["errors"] == {}
    # Stops of the service sell some of it as well.
    assert found["trades"] >= found["trials"][0]["rounds"] == 12
    assert BEGIN < found["trials"][0]["begins_at"] < BEGIN + 5 * DAY


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "no skill 'nobody'"),
        (("momentum", "--every", "1s"), "--every '1s' is no time"),
        (("momentum", "--from", "soon"), "--from 'soon' is no time"),
        (("momentum", "--from", "2030-01-01"), "has no price between"),
        (("momentum", "--budget", "nan"), "--budget is an amount"),
        (("momentum", "momentum"), "the same skill was given twice"),
        (("momentum", "--seeds", "1,1"), "--seeds '1,1' are not whole numbers"),
        (("momentum", "--seeds", "1", "--days", "nan"), "--days is a number"),
        (
            ("momentum", "--seeds", "1", "--from", "2024-01-01"),
            "--from and --to are of a --history",
        ),
        (("momentum", "--name", "../up"), "is not of lower-case letters"),
    ],
)
def test_what_cannot_be_evaluated_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    found = evaluated(tmp_path, *words)
    assert found.code == cli.CANNOT
    assert said in found.err
    assert len(found.err.splitlines()) == 1


KNOWS = """
    KNOWN = {known}
    def round(client, now):
        for market in client.get_markets(limit=50):
            paid = KNOWN.get(market.question)
            if paid is None or paid < 0 or not 0.05 < market.current_probability < 0.95:
                continue
            side = "yes" if paid > market.current_probability else "no"
            client.trade(market.id, side, 1.0, source="sdk:knows", reasoning="a test",
                         signal_data={{"probability": paid, "edge": 0.5}})
"""


def test_a_skill_that_was_told_the_outcomes_is_found_out(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    with HistoryFile(history_path(tmp_path, "two")) as file:
        known = {one.question: one.settles_at for one in file.markets() if one.ends_at is not None}
    script = KNOWS.format(known=known)
    span = ("--from", "2023-11-15T00:00", "--to", "2023-11-24T00:00", "--every", "12h")
    found = told(tmp_path, skill(tmp_path, "knows", script), *span)
    assert found["forecasts"] > 5
    assert found["skill_score"] == pytest.approx(1.0, abs=0.01)
    assert found["pnl"] > 0
    assert found["controls_beaten"] == 200
    # Its markets are of three events alone.
    assert "too few events to tell skill from luck" in found["verdict"]
