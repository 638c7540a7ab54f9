"""What a client is answered, from a server in this process."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import Client

from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.protocol import (
    ANSWER_MAX,
    GUIDE,
    Answer,
    Given,
    ToolDescription,
    server_of,
)
from service_tui.autoresearch.tools import TOOLS
from service_tui.wire.research import BacktestRequest
from service_tui.wire.research_tools import (
    BacktestArguments,
    InitArguments,
    LogArguments,
    RunArguments,
)


class Doer:
    """Does nothing but answer."""

    def __init__(self, answer: Answer | Exception, *tools: ToolDescription) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Given]] = []
        self._tools = tools

    async def tools(self) -> Sequence[ToolDescription]:
        return self._tools

    async def do(self, name: str, given: Given) -> Answer:
        self.asked.append((name, given))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "meta"), [(409, {"status_code": 409}), (0, None)], ids=["service", "here"]
)
async def test_a_refusal_has_the_status_of_a_service_that_refused(
    status: int, meta: dict[str, int] | None
) -> None:
    async with Client(server_of(Doer(ToolError("taken", "wait", status=status)))) as client:
        said = await client.call_tool("log_experiment", {})
    assert (said.is_error, said.content[0].text) == (True, "taken; wait")
    assert (said.meta or {}).get("status_code") == (meta or {}).get("status_code")


async def test_a_disk_that_refuses_is_an_answer_and_no_end() -> None:
    async with Client(server_of(Doer(OSError("no space left")))) as client:
        for _ in range(2):
            said = await client.call_tool("log_experiment", {})
            assert said.is_error
            assert said.content[0].text == "the disk or the system refuses: no space left"


async def test_a_long_answer_is_cut_and_a_short_one_is_whole() -> None:
    async with Client(server_of(Doer({"output": "é" * 9}))) as client:
        said = await client.call_tool("run_experiment", {})
        assert json.loads(said.content[0].text) == {"output": "é" * 9}
    async with Client(server_of(Doer({"output": "x" * ANSWER_MAX}))) as client:
        said = await client.call_tool("run_experiment", {})
        assert len(said.content[0].text) == ANSWER_MAX


async def test_a_tool_is_called_by_its_name_with_what_was_given() -> None:
    doer = Doer({"a": 1})
    async with Client(server_of(doer)) as client:
        said = await client.call_tool("log_experiment", {"metric": 2})
        await client.call_tool("run_experiment")
    assert doer.asked == [("log_experiment", {"metric": 2}), ("run_experiment", {})]
    assert said.structured_content == {"a": 1}
    assert said.content[0].text == '{\n "a": 1\n}'


async def test_a_client_sees_each_tool_with_its_parameters_and_the_guide() -> None:
    async with Client(server_of(Doer({}, *TOOLS))) as client:
        listed = (await client.list_tools()).tools
        assert client.server_info.name == "service-tui-autoresearch"
        assert client.instructions == GUIDE
    assert [(one.name, one.description) for one in listed] == [(t.name, t.about) for t in TOOLS]
    takes = [InitArguments, RunArguments, LogArguments, BacktestArguments]
    for one, kind in zip(listed, takes, strict=True):
        assert one.input_schema["properties"].keys() == kind.model_fields.keys()
        assert "description" not in one.input_schema


class Asked:
    """A session that only says what it was asked for."""

    async def init(self, given: Any) -> Any:
        return {"init": given}

    async def run(self, given: Any) -> Any:
        return {"run": given}

    async def log(self, given: Any) -> Any:
        return {"log": given}

    async def backtest(self, given: Any) -> Any:
        assert isinstance(given, BacktestRequest)
        fields = {"points": [1], "best": 2, "trades": 3, "asked": given.skill_slug}
        return SimpleNamespace(
            model_dump=lambda *, mode, exclude: (
                {"mode": mode} | {name: one for name, one in fields.items() if name not in exclude}
            )
        )


GIVEN: dict[str, dict[str, Any]] = {
    "init_experiment": {"name": "a", "skill_slug": "tides", "metric_name": "pnl"},
    "run_experiment": {"command": "make"},
    "log_experiment": {"status": "keep", "metric": 1.0, "description": "x"},
    "backtest_experiment": {"skill_slug": "tides", "config": {"min_edge": 0.1}},
}


async def test_each_tool_reaches_its_own_method() -> None:
    session: Any = Asked()
    found = {one.name: await one.call(session, GIVEN[one.name]) for one in TOOLS}
    assert found == {
        "init_experiment": {"init": InitArguments(**GIVEN["init_experiment"])},
        "run_experiment": {"run": RunArguments(**GIVEN["run_experiment"])},
        "log_experiment": {"log": arguments(LogArguments, GIVEN["log_experiment"])},
        "backtest_experiment": {"mode": "json", "trades": 3, "asked": "tides"},
    }
    # Commands and replays end with their client; what changes a repository is finished.
    assert [one.may_stop for one in TOOLS] == [False, True, False, True]


def test_each_wrong_argument_is_named_with_those_there_are() -> None:
    with pytest.raises(ToolError) as wrong:
        arguments(RunArguments, {"timeout": "soon", "other": 1})
    text = str(wrong.value)
    assert all(f"{name}: " in text for name in ("command", "timeout", "other"))
    assert text.endswith("the parameters are command, timeout, timeout_seconds")
    with pytest.raises(ToolError) as many:
        arguments(RunArguments, {str(number): 1 for number in range(20)})
    assert str(many.value).count(";") == 8
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ToolError, match="the arguments are no JSON"):
        arguments(RunArguments, {"command": endless})
