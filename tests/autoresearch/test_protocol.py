"""What a client is answered, from a server in this process."""

import json
from collections.abc import Sequence

import pytest
from mcp import Client

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.protocol import (
    ANSWER_MAX,
    Answer,
    Given,
    ToolDescription,
    server_of,
)


class Doer:
    """Does nothing but answer."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer = answer

    async def tools(self) -> Sequence[ToolDescription]:
        return ()

    async def do(self, name: str, given: Given) -> Answer:
        del name, given
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


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
