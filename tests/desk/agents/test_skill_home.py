"""The keys of the agents that skills trade as: none is lost, and none is lent to others."""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kit.samples.desk import NOW
from kit.samples.fleet import run_of
from kit.service.stage import first_state, open_stage, open_test_desk, until
from service_tui.clock import ManualClock
from service_tui.config import KEY_VARIABLE, URL_VARIABLE
from service_tui.desk.agents.skill_home import KEYS, SkillHome
from service_tui.desk.agents.skills import SKILLS_S, SkillPorts, carry_out, watch_skills
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.desk.commands.agents import RestartSkill, StartSkill
from service_tui.desk.facts import Noticed
from service_tui.desk.slices.supervision import Pace, SkillRunState, SkillRunView, SupervisionView
from service_tui.skills.install import install
from service_tui.skills.package import DAILY_BUDGET_USD, budget_variable
from service_tui.skills.process import Launch
from service_tui.skills.template import new_skill
from service_tui.terms import EVERY_MAX_S, EVERY_MIN_S, LeashMode
from service_tui.units import Micros

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


@pytest.mark.slow
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


@pytest.mark.slow
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


CRASHED = run_of(
    "run-1",
    skill_slug="momentum",
    agent_id="a-1",
    state=SkillRunState.CRASHED,
    restarts=5,
    why="exit code 3",
    exit_code=3,
    ended_at=NOW,
)


class Begun:
    """In the place of the runs of a desk: keeps what would begin."""

    def __init__(self, *, is_full: bool = False, kept: StoredLeash | None = None) -> None:
        self.is_full = is_full
        self.kept = kept
        self.begun: list[tuple[SkillRunView, Launch]] = []
        self.leashes: list[StoredLeash] = []

    def folder_of(self, run_id: str) -> Path:
        return Path(run_id)

    def begin(self, view: SkillRunView, launch: Launch) -> None:
        self.begun.append((view, launch))

    restart = begin


async def started(order: StartSkill | RestartSkill, folder: Path, runs: Begun) -> str:
    """What a desk on another service than its own says when it is told to start a skill."""

    async def open_line(run_id: str, leash: StoredLeash, key: str) -> tuple[str, str]:
        assert (run_id, leash.agent_id, key) == ("run-1", "a-1", "sk_own")
        runs.leashes.append(leash)
        return "http://127.0.0.1:1", "sk_of_the_run"

    home, told = SkillHome(folder), list[Noticed]()
    home.keep_key("a-1", HERE, "sk_own")
    initial = first_state()
    state = replace(
        initial,
        service=replace(initial.service, embedded=False),
        supervision=SupervisionView(runs=(CRASHED,)),
    )
    ports = SimpleNamespace(
        state=lambda: state,
        client=SimpleNamespace(base_url=HERE),
        new_id=lambda: "run-1",
        emit=told.append,
        refresh=lambda _: None,
    )
    lines = SimpleNamespace(open=open_line, leash_of=lambda _: runs.kept)
    await carry_out(order, SkillPorts(home, runs, lines), ports)  # type: ignore[arg-type]
    return told[-1].text


@pytest.mark.parametrize(
    ("live", "mode", "is_live"),
    [
        (True, None, True),
        (True, LeashMode.AUTO, True),
        (True, LeashMode.ASK, True),
        (True, LeashMode.OBSERVE, False),
        (False, LeashMode.AUTO, False),
        (False, None, False),
    ],
)
async def test_a_skill_that_only_observes_is_not_started_live(
    tmp_path: Path, mode: LeashMode | None, *, live: bool, is_live: bool
) -> None:
    runs = Begun()
    order = StartSkill("momentum", Pace.EVERY, live=live, agent_id="a-1", mode=mode)
    await started(order, tmp_path, runs)
    ((view, launch),) = runs.begun
    assert view.live is is_live
    assert launch.arguments == (("--live", "--once") if is_live else ("--once",))


@pytest.mark.parametrize(
    ("pace", "budget", "flags", "day_max"),
    [
        (Pace.LOOP, Micros(12_500_000), ("--live",), "12.50"),
        (Pace.ONCE, None, ("--live", "--once"), f"{DAILY_BUDGET_USD:.2f}"),
    ],
)
async def test_a_run_is_given_its_own_line_its_budget_and_its_pace(
    tmp_path: Path, pace: Pace, flags: tuple[str, ...], *, budget: Micros | None, day_max: str
) -> None:
    runs = Begun()
    await started(StartSkill("momentum", pace, agent_id="a-1", budget=budget), tmp_path, runs)
    ((view, launch),) = runs.begun
    assert (view.agent_id, view.pace, view.budget) == ("a-1", pace, budget)
    assert (launch.run_id, launch.arguments) == (view.run_id, flags)
    # The keys of the data directory are closed to it.
    assert launch.hidden == (tmp_path,)
    assert dict(launch.own) == {
        KEY_VARIABLE: "sk_of_the_run",
        URL_VARIABLE: "http://127.0.0.1:1",
        "TRADING_VENUE": "sim",
        budget_variable("momentum"): day_max,
    }


@pytest.mark.parametrize(
    ("mode", "kept"),
    [(None, LeashMode.ASK), (LeashMode.ASK, LeashMode.ASK), (LeashMode.AUTO, LeashMode.AUTO)],
)
async def test_a_run_without_settings_asks_for_every_buy(
    tmp_path: Path, mode: LeashMode | None, kept: LeashMode
) -> None:
    runs, budget = Begun(), Micros(9_000_000)
    order = replace(EVERY, mode=mode, threshold=Micros(5), budget=budget)
    await started(order, tmp_path, runs)
    (leash,) = runs.leashes
    assert (leash.mode, leash.threshold, leash.budget) == (kept, 5, budget)


@pytest.mark.parametrize(
    "known", [None, StoredLeash("a-1", "heron", "momentum", LeashMode.AUTO, Micros(5), Micros(7))]
)
async def test_a_run_begins_again_with_its_leash_and_asks_where_that_is_lost(
    tmp_path: Path, known: StoredLeash | None
) -> None:
    runs = Begun(kept=known)
    await started(RestartSkill("run-1"), tmp_path, runs)
    ((view, _),), (leash,) = runs.begun, runs.leashes
    assert (view.restarts, view.why, view.exit_code, view.ended_at) == (0, "", None, None)
    assert leash is known or (leash.mode, leash.threshold, leash.budget) == (
        LeashMode.ASK,
        0,
        CRASHED.budget,
    )


EVERY = StartSkill("momentum", Pace.EVERY, 60, agent_id="a-1")


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (EVERY, ""),
        (replace(EVERY, every_s=EVERY_MIN_S), ""),
        (replace(EVERY, every_s=EVERY_MAX_S), ""),
        (replace(EVERY, every_s=EVERY_MIN_S - 1), "pace: 1 to 86,400 seconds"),
        (replace(EVERY, every_s=EVERY_MAX_S + 1), "pace: 1 to 86,400 seconds"),
        (replace(EVERY, every_s=0, pace=Pace.LOOP), ""),
        (replace(EVERY, granted=True), "lends no wallet key"),
        (replace(EVERY, agent_id="a-2"), "no key of this agent"),
        (replace(EVERY, skill_slug="nobody"), "no skill of this name"),
        (replace(EVERY, skill_slug="one-problem"), "no version"),
        (replace(EVERY, skill_slug="two-problems"), "no description"),
        (replace(EVERY, skill_slug="no-script"), "no entry script"),
    ],
)
async def test_what_cannot_be_started_says_why_and_begins_nothing(
    tmp_path: Path, order: StartSkill, why: str
) -> None:
    described, version = "description: Buys low.\n", "metadata:\n  version: 1.0.0\n"
    for slug, rest, script in (
        ("one-problem", described, "run.py"),
        ("two-problems", "", "run.py"),
        ("no-script", described + version, "run.txt"),
    ):
        folder = SkillHome(tmp_path).own / slug
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {slug}\n{rest}---\n\nIt buys low.\n")
        (folder / script).write_text("")
    runs = Begun()
    said = await started(order, tmp_path, runs)
    assert said == order.describe() if not why else why in said
    assert len(runs.begun) == (not why)
    full = Begun(is_full=True)
    assert "too many skills running" in await started(order, tmp_path, full)
    assert full.begun == []


def test_a_key_is_that_of_its_agent_at_its_service_alone(tmp_path: Path) -> None:
    home = SkillHome(tmp_path)
    assert home.key_of("a-1", HERE) is None
    home.keep_key("a-1", HERE, "one")
    home.keep_key("a-1", "https://there.example", "two")
    home.keep_key("a-2", HERE, "three")
    home.keep_key("a-2", HERE, "four")
    assert home.key_of("a-1", HERE) == "one"
    assert home.key_of("a-1", "https://there.example") == "two"
    assert home.key_of("a-2", HERE) == "four"
    assert home.key_of("a-2", "https://there.example") is None


def test_an_own_key_has_precedence_over_one_of_before(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    SkillHome(beside).keep_key("a-1", HERE, "old")
    home = SkillHome(tmp_path, former=beside)
    assert home.key_of("a-1", HERE) == "old"
    home.keep_key("a-1", HERE, "new")
    assert home.key_of("a-1", HERE) == "new"
    assert SkillHome(beside).key_of("a-1", HERE) == "old"


@pytest.mark.parametrize("content", ['{"a-1 x": 7}', '{"a-1 x": "k", "b": null}', "7", '"text"'])
def test_a_file_that_holds_anything_but_keys_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / KEYS).write_text(content)
    with pytest.raises(ValueError, match="left unchanged: repair it or move it away"):
        SkillHome(tmp_path).key_of("a-1", "x")


def test_a_draft_that_a_crash_has_left_is_no_obstacle_and_is_never_written_into(
    tmp_path: Path,
) -> None:
    draft = tmp_path / f"{KEYS}.new"
    other = tmp_path / "of somebody else"
    other.write_text("kept")
    draft.symlink_to(other)
    home = SkillHome(tmp_path)
    home.keep_key("a-1", HERE, "one")
    assert (other.read_text(), home.key_of("a-1", HERE)) == ("kept", "one")
    assert not draft.is_symlink()


def test_an_own_skill_has_precedence_and_one_of_before_over_a_bundled_one(tmp_path: Path) -> None:
    former = tmp_path / "former"
    home = SkillHome(tmp_path, former=former)
    bundled = SkillHome(tmp_path).views()[0]
    assert home.folder_of("") is None
    assert home.folder_of("nobody") is None
    in_program = home.folder_of(bundled.slug)
    assert in_program is not None
    for place in (former / "skills", tmp_path / "skills"):
        own = place / bundled.slug
        own.mkdir(parents=True)
        (own / "SKILL.md").write_text((in_program / "SKILL.md").read_text())
        assert home.folder_of(bundled.slug) == own


def test_own_skills_are_looked_at_by_the_time_of_their_documents(tmp_path: Path) -> None:
    home = SkillHome(tmp_path)
    assert home.stamps() == ()
    for slug in ("wren", "heron"):
        (home.own / slug).mkdir(parents=True)
        (home.own / slug / "SKILL.md").write_text("x")
    (home.own / "no skill").mkdir()
    (home.own / "a file").write_text("x")
    times = [(home.own / slug / "SKILL.md").stat().st_mtime_ns for slug in ("heron", "wren")]
    assert home.stamps() == (("heron", times[0]), ("wren", times[1]))
