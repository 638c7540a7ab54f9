"""What a skill, and a client of the research server, can find out on a history: no future."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.recorded import two_futures
from kit.service.chance import without_chance
from kit.service.line import line_to
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from kit.terminal.research import driving, new_repository
from service_tui.app.options import Options
from service_tui.config import KEY_VARIABLE
from service_tui.desk.commands.agents import InstallSkill, StartSkill
from service_tui.desk.desk import Desk
from service_tui.desk.slices.supervision import Pace, SkillRunState
from service_tui.desk.state import DeskState
from service_tui.server.http.loopback import listen
from service_tui.skills.guard import fence_version
from service_tui.skills.process import LOG
from service_tui.storage.history_file import ENDING, FOLDER
from service_tui.terms import LeashMode
from service_tui.wire.endpoints.public import PLACE_TRADE

pytestmark = [pytest.mark.process, pytest.mark.slow]

Json = dict[str, Any]

DOCUMENT: Final = """---
name: prying
description: Says all that it can find out.
metadata:
  version: 1.0.0
---
"""
SCRIPT: Final = """
import json, os, sys
from pathlib import Path
from service_tui import ServiceClient

found = {"environment": dict(os.environ), "words": sys.argv, "files": []}
starts = {Path.cwd(), *(Path(value) for value in os.environ.values() if value.startswith("/"))}
for start in sorted({folder for one in starts for folder in (one, *one.parents)}):
    places = [*start.glob("*.history"), *start.glob("*/*.history"), start / "histories/two.history"]
    for path in places:
        try:
            found["files"].append([str(path), len(path.read_bytes())])
        except OSError:
            pass
with ServiceClient(live="--live" in sys.argv) as client:
    markets = client.get_markets(limit=60)
    found["markets"] = [repr(one) for one in markets]
    found["contexts"] = [repr(client.get_market_context(one.id)) for one in markets[:10]]
print(json.dumps(found), flush=True)
"""


async def until(stage: Stage, desk: Desk, is_so: Callable[[DeskState], object]) -> DeskState:
    for _ in range(3_000):
        if is_so(desk.state):
            return desk.state
        await stage.clock.advance(0.05)
        await asyncio.sleep(0.02)
    raise AssertionError((desk.state.supervision.runs[:1], desk.state.notices[-3:]))


async def pried(recorded: Options, source: Path) -> Json:
    """What a skill says that looks everywhere, in the directory of the history itself."""
    folder = recorded.data_dir
    async with (
        open_stage(folder, recorded=recorded, speed=0) as stage,
        listen(stage.sim.app) as url,
    ):
        initial = first_state()
        initial = replace(initial, service=replace(initial.service, address=url))
        async with open_test_desk(stage, initial) as desk:
            desk.submit(InstallSkill(str(source)))
            await until(stage, desk, lambda s: "prying" in {a.slug for a in s.supervision.skills})
            desk.submit(StartSkill("prying", Pace.ONCE, name="heron", mode=LeashMode.AUTO))
            await until(
                stage,
                desk,
                lambda s: [one.state for one in s.supervision.runs] == [SkillRunState.DONE],
            )
            (run,) = desk.state.supervision.runs
        (log,) = folder.rglob(f"{run.run_id}/{LOG}")
        said = log.read_text()
    found: Json = json.loads(next(one for one in said.splitlines() if one.startswith("{")))
    text = json.dumps(found).replace(str(folder), "DIR").replace(url, "URL")
    # The folder for temporary files has the number of the process.
    return json.loads(re.sub(r"tmp-\d+", "tmp", text))


async def test_a_skill_that_looks_everywhere_finds_no_future(tmp_path: Path) -> None:
    source = tmp_path / "prying"
    source.mkdir()
    (source / "SKILL.md").write_text(DOCUMENT)
    (source / "run.py").write_text(SCRIPT)
    one, two = [await pried(recorded, source) for recorded in two_futures(tmp_path, 3)]
    for found in (one, two):
        assert found["environment"].pop(KEY_VARIABLE)
        text = json.dumps({"environment": found["environment"], "words": found["words"]})
        assert FOLDER not in text
        assert ENDING not in text
        # ours: without a fence of the kernel a program of the same user can open any file.
        if fence_version():
            assert found["files"] == []
    assert one == two
    assert len(one["markets"]) > 3


# -- the research server -------------------------------------------------------------------------


ITS_OWN: Final = "^SERVICE_API_\\|^SERVICE_EXPERIMENT="
"""Variables that differ from session to session: its key, its port, its mark."""


async def asked(recorded: Options, repository: Path) -> list[object]:
    """What each tool of the research server answers, on a world that stands still."""
    folder = recorded.data_dir
    new_repository(repository)
    async with open_stage(folder, recorded=recorded, speed=0, ends_with_snapshot=True) as stage:
        market = stage.open_markets()[0].market_id
        order = {"market_id": market, "side": "yes", "amount": 5,
                 "signal_data": {"edge": 0.1, "confidence": 0.6}}  # fmt: skip
        await line_to(stage).said(PLACE_TRADE, json=order)
    async with driving(repository, folder) as driver:
        answers = [
            await driver.init(),
            await driver.call("run_experiment", command=f"env | grep -v '{ITS_OWN}' | sort"),
            await driver.log("keep", 1.0),
            await driver.call(
                "backtest_experiment", skill_slug="edge-picker", config={"min_edge": 0.05}
            ),
        ]
    assert answers[1].pop("duration_seconds") > 0
    assert answers[2].pop("commit")
    text = json.dumps([without_chance(one) for one in answers])
    assert FOLDER not in text
    assert ENDING not in text
    return json.loads(text.replace(str(folder), "DIR").replace(str(repository), "REPOSITORY"))


async def test_a_client_of_the_research_server_finds_no_future(tmp_path: Path) -> None:
    one, two = [
        await asked(recorded, tmp_path / f"skill {recorded.data_dir.name}")
        for recorded in two_futures(tmp_path, 3)
    ]
    assert one == two
