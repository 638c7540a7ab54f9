"""The keys of the agents that skills trade as: none is lost, and none is lent to others."""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kit.service.stage import first_state, open_stage, open_test_desk, until
from service_tui.clock import ManualClock
from service_tui.desk.agents.skill_home import KEYS, SkillHome
from service_tui.desk.agents.skills import SKILLS_S, watch_skills
from service_tui.desk.commands.agents import StartSkill
from service_tui.desk.slices.fleet import Pace
from service_tui.skills.install import install
from service_tui.skills.template import new_skill

HERE = "https://here.example"


def test_a_file_that_cannot_be_read_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    home, file = SkillHome(tmp_path), tmp_path / KEYS
    home.keep_key("a-1", HERE, "one")
    whole = file.read_text()
    for broken in (whole[:-2], "[" * 100_000, "[]", "\udcff", '{"a-1": 7'):
        file.write_bytes(broken.encode("utf-8", "surrogateescape"))
        kept = file.read_bytes()
        with pytest.raises(ValueError, match=KEYS):
            home.key_of("a-1", HERE)
        with pytest.raises(ValueError, match=KEYS):
            home.keep_key("a-2", HERE, "two")
        assert file.read_bytes() == kept
    file.write_text(whole)
    assert home.key_of("a-1", HERE) == "one"
    file.unlink()
    file.mkdir()
    with pytest.raises(OSError, match=KEYS):
        home.keep_key("a-2", HERE, "two")


def test_of_many_kept_at_once_none_is_lost(tmp_path: Path) -> None:
    home = SkillHome(tmp_path)
    names = [f"a-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: home.keep_key(name, HERE, f"key of {name}"), names))
    assert [home.key_of(name, HERE) for name in names] == [f"key of {name}" for name in names]
    assert stat.S_IMODE((tmp_path / KEYS).stat().st_mode) == 0o600


def test_consoles_on_one_directory_share_their_keys_and_read_those_of_before(
    tmp_path: Path,
) -> None:
    beside = tmp_path / "attached" / "1"
    beside.mkdir(parents=True)
    SkillHome(beside).keep_key("a-0", HERE, "of before")
    owner, attached = SkillHome(tmp_path), SkillHome(tmp_path, former=beside)
    names = [f"a-{number}" for number in range(1, 21)]
    with ThreadPoolExecutor(8) as threads:
        for name, home in zip(names, [owner, attached] * 10, strict=True):
            threads.submit(home.keep_key, name, HERE, f"key of {name}")
    for home in (owner, attached):
        assert [home.key_of(name, HERE) for name in names] == [f"key of {name}" for name in names]
    assert (owner.key_of("a-0", HERE), attached.key_of("a-0", HERE)) == (None, "of before")


async def test_a_skill_that_is_installed_elsewhere_is_seen(tmp_path: Path) -> None:
    home, clock, seen = SkillHome(tmp_path), ManualClock(), []
    ports = SimpleNamespace(clock=clock, emit=seen.append)

    async def told(times: int) -> None:
        async with asyncio.timeout(30):
            while len(seen) < times:
                await clock.advance(SKILLS_S)
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch_skills(home, ports))
        await told(1)
        install(new_skill("my-hare", tmp_path / "drafts"), home.own, [])
        await told(2)
        watching.cancel()
    before, after = ({one.slug for one in fact.rows} for fact in seen)
    assert after - before == {"my-hare"}


async def test_no_agent_is_made_whose_key_could_not_be_kept(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        (tmp_path / KEYS).write_text("broken")
        before = set(stage.world.agents)
        desk.submit(StartSkill("momentum", Pace.ONCE, name="heron"))
        state = await until(
            desk, lambda s: any(KEYS in one.text for one in s.notices), stage.clock, step_s=0.05
        )
        assert state.supervision.runs == ()
        assert set(stage.world.agents) == before


def test_a_key_is_lent_to_the_service_that_gave_it_and_to_no_other(tmp_path: Path) -> None:
    # One that was kept when no service was written beside it is lent to nobody, and not lost.
    (tmp_path / KEYS).write_text('{"a-0": "old"}')
    home = SkillHome(tmp_path)
    home.keep_key("a-1", HERE, "one")
    home.keep_key("a-1", "https://there.example", "two")
    assert home.key_of("a-1", HERE) == "one"
    assert home.key_of("a-1", "https://there.example") == "two"
    assert home.key_of("a-1", "http://here.example") is None
    assert home.key_of("a-0", HERE) is None
    assert '"a-0": "old"' in (tmp_path / KEYS).read_text()


async def test_a_run_of_another_service_does_not_start_here(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        home = SkillHome(tmp_path)
        home.keep_key("a-1", HERE, "sk_live_of_another_service")
        initial = first_state()
        initial = replace(initial, service=replace(initial.service, address="http://127.0.0.1:1"))
        async with open_test_desk(stage, initial) as desk:
            desk.submit(StartSkill("momentum", Pace.ONCE, agent_id="a-1"))
            state = await until(
                desk,
                lambda s: any("for this service" in one.text for one in s.notices),
                stage.clock,
                step_s=0.05,
            )
            assert state.supervision.runs == ()
