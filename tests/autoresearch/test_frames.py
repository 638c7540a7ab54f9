"""Lines that are no messages, as a careless client sends them to a real server."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest
from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from kit.terminal.research import START, environment, new_repository
from service_tui.autoresearch.frames import (
    NO_ID,
    Lines,
    Messages,
    lines_of_client,
    refusal_of,
)
from service_tui.notes import registry

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "careless", "version": "1"},
}


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ("{nonsense", None, -32700),
        ("[" * 100_000, None, -32700),
        ('{"jsonrpc": "2.0", "id": 1e999', None, -32700),
        ("[]", None, -32600),
        ("3", None, -32600),
        ('{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600),
        ('{"id": "seven", "method": "ping"}', "seven", -32600),
        ('{"jsonrpc": "2.0", "id": 7, "method": 3}', 7, -32600),
        ('{"id": true, "method": "ping"}', None, -32600),
        ('{"id": {"id": 4}, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": [], "result": {}}', None, -32600),
    ],
)
def test_what_is_no_message_is_answered_to_whoever_waits(
    line: str, number: int | str | None, code: int
) -> None:
    with pytest.raises(ValidationError) as wrong:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    refusal = refusal_of(wrong.value)
    assert refusal is not None
    assert (refusal.id, refusal.error.code) == (number, code)
    assert line[:100] not in refusal.error.message or len(line) < 3


class Line:
    """Both ends of a transport: what comes in, and what was sent."""

    def __init__(self, *items: SessionMessage | Exception) -> None:
        self.items, self.sent, self.is_closed = list(items), list[Any](), False

    async def receive(self) -> SessionMessage | Exception:
        if not self.items:
            raise EndOfStream
        return self.items.pop(0)

    async def send(self, item: SessionMessage) -> None:
        self.sent.append(item.message)

    async def aclose(self) -> None:
        self.is_closed = True


def wrong(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as found:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return found.value


async def test_messages_pass_and_what_is_none_is_answered_on_the_way() -> None:
    first, last = (
        SessionMessage(jsonrpc_message_adapter.validate_json(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"})
        ))
        for number in (1, 2)
    )  # fmt: skip
    line = Line(wrong("[]"), first, wrong(""), wrong("{"), last)
    async with Messages(line, line) as messages:
        assert [one async for one in messages] == [first, last]
        with pytest.raises(EndOfStream):
            await messages.receive()
        assert not line.is_closed
    assert line.is_closed
    assert [one.error.code for one in line.sent] == [-32600, -32700]


def test_the_id_of_what_lacks_something_is_answered_and_no_other() -> None:
    said = refusal_of(wrong('{"id": 7, "method": "ping"}'))
    assert said is not None
    assert said.error.message == "not a JSON-RPC 2.0 message"
    told = refusal_of(wrong('{"id": 7.5, "method": "ping"}'))
    assert told is not None
    assert told.error.message.endswith("its id is neither a text nor a whole number")
    other = refusal_of(ValueError("no line at all"))
    assert other is not None
    assert (other.id, other.error.code, other.error.message) == (None, -32700, "invalid JSON")


@pytest.fixture
def stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIO]:
    """A file in place of the standard input."""
    path = tmp_path / "input"
    path.write_bytes(b'{"id": true, "method": "x"}\n{"a": "\xff"}\n')
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        yield file


def test_the_input_of_the_process_is_the_protocols_alone(stdin: TextIO) -> None:
    lines = lines_of_client()
    assert lines.fileno() >= 3
    assert not os.get_inheritable(lines.fileno())
    assert lines.readline() == NO_ID
    assert lines.readline() == '{"a": "\ufffd"}\n'
    assert lines.readline() == ""
    # Whoever else reads it finds nothing there.
    assert os.read(stdin.fileno(), 100) == b""
    assert os.fstat(stdin.fileno()).st_rdev == Path(os.devnull).stat().st_rdev
    os.close(lines.fileno())


def test_a_closed_input_has_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    lines = lines_of_client()
    assert lines.readline() == ""
    os.close(lines.fileno())


def test_an_empty_line_is_passed_over() -> None:
    for line in ("", "\n", "  \r\n"):
        with pytest.raises(ValidationError) as wrong:
            jsonrpc_message_adapter.validate_json(line, by_name=False)
        assert refusal_of(wrong.value) is None


NO_IDS = ["{}", '{"id": 4}', "[]", "[7]", "true", "false", "1.5", "2.0", "1e999", "NaN"]


@pytest.mark.parametrize("number", NO_IDS)
@pytest.mark.parametrize("method", ["tools/list", "ping", "no/such", "notifications/initialized"])
def test_a_request_under_an_id_that_is_none_becomes_a_line_that_is_answered(
    number: str, method: str
) -> None:
    line = f'{{"jsonrpc": "2.0", "id": {number}, "method": "{method}"}}\n'
    with pytest.raises(ValidationError) as wrong:
        jsonrpc_message_adapter.validate_json(heard([line])[0], by_name=False)
    refusal = refusal_of(wrong.value)
    assert refusal is not None
    assert (refusal.id, refusal.error.code) == (None, -32600)
    assert "its id is neither a text nor a whole number" in refusal.error.message


def test_null_is_an_id_of_what_expects_an_answer_alone() -> None:
    asking, telling = (
        f'{{"jsonrpc": "2.0", "id": null, "method": "{method}"}}\n'
        for method in ("tools/list", "notifications/cancelled")
    )
    assert heard([asking, telling]) == [NO_ID, telling]


def test_every_other_line_passes_as_it_is() -> None:
    lines = [
        '{"jsonrpc": "2.0", "id": 0, "method": "ping"}\n',
        '{"jsonrpc": "2.0", "id": -3, "method": "ping"}\n',
        '{"jsonrpc": "2.0", "id": "", "method": "ping"}\n',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        '{"jsonrpc": "2.0", "id": [], "result": {"method": 1}}\n',
        '{"method": [{"id": {}}]}\n',
        "\n",
        "{nonsense\n",
        "[" * 100_000 + "\n",
        '[{"id": {}, "method": "ping"}]\n',
        '{"id": 1' + "0" * 5_000 + ', "method": "ping"}\n',
        "the last one has no end",
    ]
    assert heard(lines) == lines


def heard(lines: list[str]) -> list[str]:
    file = Lines(io.BytesIO("".join(lines).encode()), encoding="utf-8")
    return list(iter(file.readline, ""))


class Raw:
    """A client that writes what it likes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    def ask(self, number: int, method: str, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(await self.process.stdout.readline())

    async def end(self) -> int:
        """Go away, as a client does that is closed."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await self.process.wait()


@asynccontextmanager
async def talking(repository: Path, data_dir: Path) -> AsyncGenerator[Raw]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "service_tui", "autoresearch", "--speed", "0", "--allow-shell",
        cwd=repository, env=environment(data_dir),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        raw = Raw(process)
        raw.ask(1, "initialize", **HELLO)
        assert (await raw.hear())["id"] == 1
        raw.say('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield raw
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.process
async def test_a_server_answers_nonsense_and_goes_on(tmp_path: Path) -> None:
    async with talking(new_repository(tmp_path / "skill"), tmp_path / "data") as raw:
        raw.say("{nonsense")
        raw.say("")
        raw.say('{"id": 99, "method": 3}')
        raw.ask(2, "tools/list")
        told = [await raw.hear() for _ in range(3)]
        assert [(one["id"], one.get("error", {}).get("code")) for one in told] == [
            (None, -32700), (99, -32600), (2, None)
        ]  # fmt: skip
        assert await raw.end() == 0


@pytest.mark.process
async def test_a_server_answers_who_asks_under_an_id_that_is_none_and_no_notification(
    tmp_path: Path,
) -> None:
    async with talking(new_repository(tmp_path / "skill"), tmp_path / "data") as raw:
        for number in (*NO_IDS, "null"):
            raw.say(f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/list", "params": {{}}}}')
        raw.say('{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}')
        raw.say('{"jsonrpc": "2.0", "id": null, "method": "notifications/roots/list_changed"}')
        raw.ask(2, "ping")
        refused = [await raw.hear() for _ in (*NO_IDS, "null")]
        assert {(one["id"], one["error"]["code"]) for one in refused} == {(None, -32600)}
        assert (await raw.hear()) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        assert await raw.end() == 0


@pytest.mark.process
async def test_a_server_whose_input_is_closed_has_no_client_and_ends(tmp_path: Path) -> None:
    command = 'exec "$0" -m service_tui autoresearch --speed 0 <&-'
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", command, sys.executable,
        cwd=new_repository(tmp_path / "skill"), env=environment(tmp_path / "data"),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    told, _ = await process.communicate()
    assert (process.returncode, told) == (0, b"")


@pytest.mark.parametrize("way", ["its client goes away", "a signal"])
@pytest.mark.process
async def test_a_server_ends_in_order_with_the_command_that_runs(tmp_path: Path, way: str) -> None:
    repository, told = new_repository(tmp_path / "skill"), tmp_path / "told" / "pid"
    # Beside the data directory, which is closed to the command, it can make nothing.
    told.parent.mkdir()
    command = f"echo $$ > {told}.new; mv {told}.new {told}; sleep 600 & wait"
    async with talking(repository, tmp_path / "data") as raw:
        raw.ask(2, "tools/call", name="init_experiment", arguments=START)
        assert not (await raw.hear())["result"].get("isError")
        raw.ask(3, "tools/call", name="run_experiment", arguments={"command": command})
        while not told.exists():  # noqa: ASYNC110  (another process makes it)
            await asyncio.sleep(0.05)
        (entry,) = registry.entries(tmp_path / "data")
        assert entry.pid == raw.process.pid
        if way == "a signal":
            raw.process.send_signal(signal.SIGTERM)
            assert await raw.process.wait() == 128 + signal.SIGTERM
        else:
            assert await raw.end() == 0
    assert not is_running(int(told.read_text()))
    (entry,) = registry.entries(tmp_path / "data")
    assert entry.pid == 0
    assert entry.live is not None
    assert entry.live.ended_at > 0
    assert not (repository / ".git" / "autoresearch" / "running").exists()


@pytest.mark.process
async def test_a_result_on_its_way_is_kept_though_its_client_goes_away(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with talking(repository, tmp_path / "data") as raw:
        raw.ask(2, "tools/call", name="init_experiment", arguments=START)
        worktree = Path(json.loads((await raw.hear())["result"]["content"][0]["text"])["worktree"])
        (worktree / "skill.py").write_text("better = True\n")
        result = {"status": "discard", "metric": 1, "description": "worse"}
        raw.ask(3, "tools/call", name="log_experiment", arguments=result)
        notes = repository / "autoresearch.jsonl"
        while '"run"' not in notes.read_text():  # noqa: ASYNC110  (another process writes it)
            await asyncio.sleep(0.001)
        assert await raw.end() == 0
    # What did not come to its end in a moment is taken up by the next one.
    async with talking(repository, tmp_path / "data") as raw:
        raw.ask(2, "tools/call", name="init_experiment", arguments=START)
        told = json.loads((await raw.hear())["result"]["content"][0]["text"])
        assert (told["experiments"], told["next_experiment"]) == (1, 2)
        assert "MIN_EDGE" in (worktree / "skill.py").read_text()
        assert await raw.end() == 0


def is_running(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
