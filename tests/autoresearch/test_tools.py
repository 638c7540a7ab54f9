"""The four tools: what they take, what they refuse, and what they hand to the session."""

from typing import Any

import pytest

from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.tools import TOOLS
from service_tui.terms import Venue
from service_tui.wire.research import BacktestBody, BacktestPointBody
from service_tui.wire.research_tools import BacktestArguments

BY_NAME = {tool.name: tool for tool in TOOLS}
POINT = BacktestPointBody(trades_included=1)


class Sessions:
    """A session that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    async def init(self, given: Any) -> dict[str, object]:
        self.asked.append(("init", given))
        return {"is": "begun"}

    async def run(self, given: Any) -> dict[str, object]:
        self.asked.append(("run", given))
        return {"is": "run"}

    async def log(self, given: Any) -> dict[str, object]:
        self.asked.append(("log", given))
        return {"is": "kept"}

    async def backtest(self, given: Any) -> BacktestBody:
        self.asked.append(("backtest", given))
        return BacktestBody(trades_total=3, points=(POINT,), best=POINT)


def required(name: str) -> dict[str, Any]:
    """A value for each parameter that the tool requires."""
    schema = BY_NAME[name].schema()
    fields: Any = schema["properties"]
    values = {"string": "dip", "integer": 1, "number": 1.0, "object": {"min_edge": 1.0}}
    names: Any = schema.get("required", [])
    return {
        one: "keep" if "status" in one else values[fields[one].get("type", "string")]
        for one in names
    }


@pytest.mark.parametrize(
    ("name", "step", "answer"),
    [
        ("init_experiment", "init", {"is": "begun"}),
        ("run_experiment", "run", {"is": "run"}),
        ("log_experiment", "log", {"is": "kept"}),
    ],
)
async def test_each_tool_is_a_step_of_the_session(
    name: str, step: str, answer: dict[str, object]
) -> None:
    sessions: Any = Sessions()
    tool = BY_NAME[name]

    assert await tool.call(sessions, required(name)) == answer

    ((word, given),) = sessions.asked
    assert word == step
    assert isinstance(given, tool.takes)


async def test_a_backtest_is_answered_without_its_grid() -> None:
    sessions: Any = Sessions()
    given = {"skill_slug": "dip", "config": {"min_edge": 2.0}, "days": 9, "venue": "sim"}

    told = await BY_NAME["backtest_experiment"].call(sessions, given)

    ((_, request),) = sessions.asked
    assert (request.skill_slug, request.config, request.days) == ("dip", {"min_edge": 2.0}, 9)
    assert (request.venue, request.sweep) == (Venue.SIM, None)
    assert told["trades_total"] == 3
    assert not {"points", "best"} & told.keys()


def test_a_command_and_a_backtest_may_be_taken_back_and_the_others_are_finished() -> None:
    assert {tool.name: tool.may_stop for tool in TOOLS} == {
        "init_experiment": False, "run_experiment": True, "log_experiment": False,
        "backtest_experiment": True,
    }  # fmt: skip


def test_the_parameters_of_a_tool_are_described_and_the_tool_itself_once() -> None:
    for tool in TOOLS:
        schema = tool.schema()
        assert schema["type"] == "object"
        assert "description" not in schema
        assert tool.about


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"config": {}}, "skill_slug: Field required"),
        ({"skill_slug": "dip", "config": {}, "days": "many"}, "days: Input should be"),
        ({"skill_slug": "dip", "config": {}, "bogus": 1}, "bogus: "),
        ({}, "skill_slug: Field required; config: Field required"),
    ],
)
def test_wrong_arguments_are_named_with_the_known_ones(
    given: dict[str, object], words: str
) -> None:
    with pytest.raises(ToolError) as refused:
        arguments(BacktestArguments, given)

    assert words in str(refused.value)
    known = "the parameters are skill_slug, config, days, venue"
    assert str(refused.value).endswith(known)


def test_arguments_that_are_no_json_are_refused() -> None:
    loop: dict[str, object] = {}
    loop["skill_slug"] = loop

    with pytest.raises(ToolError, match="the arguments are no JSON"):
        arguments(BacktestArguments, loop)
