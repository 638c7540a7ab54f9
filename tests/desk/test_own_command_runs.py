"""Own commands as they run: what a line is given and never given, its bounds, its end in words."""

import asyncio
import os
from pathlib import Path

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from service_tui.desk.commands.own_commands import RunOwnCommand
from service_tui.desk.own_command_runs import TOGETHER_MAX, OwnCommandRuns

pytestmark = pytest.mark.process

SECRETS = {
    "SERVICE_API_KEY": "sk_live_secret_of_the_service",
    "WALLET_PRIVATE_KEY": "ab" * 32,
    "SERVICE_TUI_DATABASE": "postgresql://ada:secret@host/desk",
    "PGPASSWORD": "secret",
    "GITHUB_TOKEN": "ghp_secret",
}


def there() -> Offline:
    return Offline(sample_state(), {})


async def told(line: str, **variables: str) -> tuple[str, str]:
    """The tone and the text of what became of a line."""
    outside = there()
    await OwnCommandRuns(outside.ports).run(RunOwnCommand("x", line, tuple(variables.items())))
    (notice,) = outside.words
    return notice


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended and is waited for by nobody is no program any more.
    return ") Z " not in Path(f"/proc/{pid}/stat").read_text()


def is_empty(folder: Path) -> bool:
    return not list(folder.iterdir())


@pytest.mark.parametrize(
    ("line", "notice"),
    [
        ("echo one; echo two", ("good", "x: exit 0: two")),
        ("echo one; echo two >&2; echo; exit 3", ("warn", "x: exit 3: two")),
        ("true", ("good", "x: exit 0")),
        ("no-such-program-anywhere 2>/dev/null", ("warn", "x: exit 127")),
        ("kill -9 $$", ("warn", "x: ended by signal 9")),
        # What a terminal would obey, and half a letter.
        (r"printf '\033]0;title\007\033[31mred\n'", ("good", "x: exit 0: red")),
        (r"printf 'caf\303'", ("good", "x: exit 0: caf\ufffd")),
    ],
)
async def test_the_exit_code_and_the_last_line_are_told_as_harmless_text(
    line: str, notice: tuple[str, str]
) -> None:
    tone, text = await told(line)
    assert (tone, text) == notice
    assert text.isprintable()


@pytest.mark.parametrize(
    "text", ["'; touch gone; echo '", '"; touch gone #', "$(touch gone)", "`touch gone`", "a *"]
)
async def test_a_text_from_outside_is_never_a_part_of_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert await told("""printf '%s\n' "$QUESTION" """, QUESTION=text) == (
        "good", f"x: exit 0: {text}",
    )  # fmt: skip
    assert is_empty(tmp_path)


async def test_no_secret_is_in_the_environment_and_what_opens_a_window_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DISPLAY", ":7")
    out = tmp_path / "out"
    await told(f"env > {out}", MARKET_ID="m-1")
    found = dict(row.partition("=")[::2] for row in out.read_text().splitlines())
    assert not found.keys() & SECRETS.keys()
    assert "secret" not in out.read_text()
    assert (found["MARKET_ID"], found["DISPLAY"]) == ("m-1", ":7")


async def test_a_line_that_takes_too_long_is_ended_with_all_that_it_started(
    tmp_path: Path,
) -> None:
    pid, outside = tmp_path / "pid", there()
    runs = OwnCommandRuns(outside.ports, within_s=2)
    await runs.run(RunOwnCommand("x", f"sleep 600 & echo $! > {pid}; wait"))
    assert outside.words == [("bad", "x: took longer than 2 s, ended")]
    assert not is_alive(int(pid.read_text()))


async def test_what_a_line_leaves_in_the_background_goes_on_and_is_not_waited_for(
    tmp_path: Path,
) -> None:
    pid = tmp_path / "pid"
    assert await told(f"sleep 600 & echo $! > {pid}; echo begun") == ("good", "x: exit 0: begun")
    left = int(pid.read_text())
    assert is_alive(left)
    os.kill(left, 9)


async def test_much_output_is_read_and_forgotten() -> None:
    tone, text = await told("yes | head -c 3000000; echo; printf 'l%.0s' $(seq 1 3000)")
    assert tone == "good"
    assert text.startswith("x: exit 0: lll")
    assert len(text) < 300


async def test_one_of_a_name_and_a_few_together_run_at_one_time(tmp_path: Path) -> None:
    outside, go = there(), tmp_path / "go"
    runs = OwnCommandRuns(outside.ports)
    waits = f"while [ ! -e {go} ]; do sleep 0.02; done"
    async with asyncio.TaskGroup() as group:
        for number in range(TOGETHER_MAX):
            group.create_task(runs.run(RunOwnCommand(f"c{number}", waits)))
        await asyncio.sleep(0)
        await runs.run(RunOwnCommand("c0", "true"))
        await runs.run(RunOwnCommand("other", "true"))
        assert outside.words == [
            ("warn", "c0: still running"),
            ("warn", f"other: {TOGETHER_MAX} others still run"),
        ]
        go.touch()
    assert len(outside.words) == 2 + TOGETHER_MAX


async def test_a_desk_that_closes_ends_what_still_runs(tmp_path: Path) -> None:
    pid, outside = tmp_path / "pid", there()
    line = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(OwnCommandRuns(outside.ports).run(RunOwnCommand("x", line)))
        while not pid.exists():  # noqa: ASYNC110 - another program's file
            await asyncio.sleep(0.01)
        task.cancel()
    assert not outside.words
    assert not is_alive(int(pid.read_text()))
