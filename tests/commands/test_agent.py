"""An agent is retired from the command line, and readmitted while a slot is free."""

import asyncio
from pathlib import Path

import httpx
import pytest

from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.clock import SystemClock
from service_tui.commands import agent as agent_command
from service_tui.server.embedded import BASE_URL
from service_tui.wire.endpoints.public import REGISTER


@pytest.mark.slow
async def test_beside_a_holder_an_agent_is_retired_and_readmitted(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7
    )

    async def told(act: str, name: str) -> agent_command.HaltReport:
        return await asyncio.to_thread(agent_command.govern, options, act, name)

    async with own_directory(options, SystemClock()) as held:
        service = held.sim.service
        async with httpx.AsyncClient(transport=held.sim.transport, base_url=BASE_URL) as nobody:
            born = await nobody.post(REGISTER.path, json={"name": "heron"})
        settings = lambda: service.world.agents[born.json()["agent_id"]].settings  # noqa: E731
        unknown = await told("retire", "nobody")
        assert (unknown.is_done, unknown.lines[0]) == (False, "no such agent")
        assert any("heron" in line for line in unknown.lines)
        retired = await told("retire", "heron")
        assert retired.is_done, retired.lines
        assert "slot free" in retired.lines[-1]
        assert settings().retired
        assert service.agents_count() == 0
        again = await told("retire", "heron")
        assert (again.is_done, again.lines) == (True, ("heron: nothing to do",))
        assert (await told("readmit", "heron")).is_done
        assert not settings().suspended
