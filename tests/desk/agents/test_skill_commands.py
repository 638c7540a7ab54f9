"""What each command about a skill does on the embedded service, and what it says."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of, run_of
from service_tui.client.errors import Called, UnreachableError
from service_tui.config import KEY_VARIABLE, URL_VARIABLE
from service_tui.desk.agents.skill_home import SkillHome
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_runs import SkillRuns
from service_tui.desk.agents.skills import SkillPorts, carry_out
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import (
    DetachSkill,
    InstallSkill,
    RestartSkill,
    StartSkill,
    StopSkill,
)
from service_tui.desk.fixes import failed_text
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.supervision import (
    Pace,
    SkillRunState,
    SkillRunView,
    SkillView,
    SupervisionView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.skills.package import BUNDLED, budget_variable
from service_tui.skills.process import Launch
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros
from service_tui.wire.agents import RegisterBody, RegisterRequest
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import REGISTER
from service_tui.wire.fleet import LeashRequest

ADDRESS = "http://127.0.0.1:8017"
ID = ("0123456789abcdef" * 4)[:32]


class Runs:
    """In the place of the runs of a desk."""

    def __init__(self, *, is_full: bool = False, knows: bool = True) -> None:
        self.is_full = is_full
        self.did: list[tuple[Any, ...]] = []
        self._knows = knows

    def folder_of(self, run_id: str) -> Path:
        return Path("runs") / run_id

    def begin(self, view: SkillRunView, launch: Launch) -> None:
        self.did.append(("begin", view, launch))

    def restart(self, view: SkillRunView, launch: Launch) -> None:
        self.did.append(("restart", view, launch))

    def stop(self, run_id: str) -> bool:
        self.did.append(("stop", run_id))
        return self._knows

    def detach(self, run_id: str, *, detached: bool) -> bool:
        self.did.append(("detach", run_id, detached))
        return self._knows


class Here:
    """A desk on the embedded service, with a directory of its own."""

    def __init__(self, folder: Path, runs: Runs | None = None, **other: Any) -> None:
        state = sample_state()
        service = replace(state.service, embedded=True, address=ADDRESS, read_only=False)
        given = {"service": service, **other}
        self.home = SkillHome(folder)
        self.runs = runs or Runs()
        self.out = Offline(replace(state, **given), {DESK_SET_LEASH: None})
        self.lines: list[tuple[str, StoredLeash, str]] = []
        self.kept: StoredLeash | None = None
        self._proxies = SimpleNamespace(open=self._open, leash_of=lambda _: self.kept)

    async def _open(self, run_id: str, leash: StoredLeash, key: str) -> tuple[str, str]:
        self.lines.append((run_id, leash, key))
        return "http://127.0.0.1:1", "key of the line"

    async def does(self, order: Any) -> tuple[str, str]:
        runs = cast("SkillRuns", self.runs)
        ports = SkillPorts(self.home, runs, cast("SkillProxies", self._proxies))
        await carry_out(order, ports, self.out.ports)
        [word] = self.out.words
        return word


async def test_a_leash_is_put_on_before_a_skill_starts(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.home.keep_key("a-1", "embedded", "key of a-1")
    order = StartSkill(
        "momentum", Pace.EVERY, every_s=90, agent_id="a-1", name="heron", mode=LeashMode.ASK,
        threshold=Micros(5 * ONE), budget=Micros(12 * ONE),
    )  # fmt: skip
    assert await here.does(order) == ("good", order.describe())
    body = LeashRequest(
        mode=LeashMode.ASK, skill_slug="momentum", threshold=5.0, daily_budget=12.0, wait_s=300
    )
    assert here.out.asked == [Asked(DESK_SET_LEASH, path={"agent_id": "a-1"}, body=body)]
    [(word, view, launch)] = here.runs.did
    assert word == "begin"
    assert view == SkillRunView(
        run_id=ID,
        skill_slug="momentum",
        agent_id="a-1",
        agent_name="heron",
        pace=Pace.EVERY,
        every_s=90,
        live=True,
        state=SkillRunState.STARTING,
        budget=Micros(12 * ONE),
    )
    assert launch.own == {
        KEY_VARIABLE: "key of a-1",
        URL_VARIABLE: ADDRESS,
        "TRADING_VENUE": here.out.state.service.venue.value,
        budget_variable("momentum"): "12.00",
    }
    assert (launch.run_id, launch.folder) == (ID, Path("runs") / ID)
    assert here.lines == []
    assert here.out.woken == [Topic.AGENTS]


async def test_without_a_mode_no_leash_is_put_on(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.home.keep_key("a-1", "embedded", "key of a-1")
    await here.does(StartSkill("momentum", Pace.ONCE, agent_id="a-1"))
    assert here.out.asked == []
    [(_, view, launch)] = here.runs.did
    assert view.agent_name == "a-1"
    assert launch.own[budget_variable("momentum")] == "20.00"


@pytest.mark.parametrize(("name", "expected"), [("moss", "moss"), ("", "momentum")])
async def test_a_skill_without_an_agent_gets_one_with_its_key(
    tmp_path: Path, name: str, expected: str
) -> None:
    here = Here(tmp_path)
    here.out.answers[REGISTER] = RegisterBody.model_construct(
        agent_id="a-77", api_key="key of a-77"
    )
    await here.does(StartSkill("momentum", Pace.ONCE, name=name))
    body = RegisterRequest(name=expected, description="runs momentum")
    assert here.out.asked == [Asked(REGISTER, body=body)]
    assert here.home.key_of("a-77", "embedded") == "key of a-77"
    [(_, view, launch)] = here.runs.did
    assert (view.agent_id, view.agent_name) == ("a-77", expected)
    assert launch.own[KEY_VARIABLE] == "key of a-77"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"agent_id": "a-9"}, "no key of this agent here for this service: run the skill as a "),
        ({"skill_slug": "unknown"}, "no skill of this name installed"),
        ({"granted": True}, "this desk lends no wallet key: let the skill trade through its "),
        ({"every_s": 0}, "pace: 1 to 86,400 seconds"),
        ({"every_s": 86_401}, "pace: 1 to 86,400 seconds"),
    ],
)
async def test_a_skill_that_cannot_start_says_why(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    here = Here(tmp_path)
    here.home.keep_key("a-1", "embedded", "key of a-1")
    given: dict[str, Any] = {"skill_slug": "momentum", "pace": Pace.EVERY, "agent_id": "a-1"}
    order = StartSkill(**{**given, **change})
    tone, text = await here.does(order)
    assert tone == "bad"
    assert text.startswith(f"{order.describe()}: {why}")
    assert (here.runs.did, here.out.asked) == ([], [])
    assert here.out.woken == [Topic.AGENTS]


async def test_too_many_skills_run(tmp_path: Path) -> None:
    here = Here(tmp_path, Runs(is_full=True))
    order = StartSkill("momentum", Pace.ONCE)
    why = "too many skills running: stop one first"
    assert await here.does(order) == ("bad", f"{order.describe()}: {why}")
    assert here.out.asked == []


async def test_a_service_without_an_address_runs_no_skill(tmp_path: Path) -> None:
    state = sample_state()
    here = Here(tmp_path, service=replace(state.service, embedded=True, address=""))
    here.home.keep_key("a-1", "embedded", "key of a-1")
    _, text = await here.does(StartSkill("momentum", Pace.ONCE, agent_id="a-1"))
    assert text.endswith(": service not reachable for local programs yet")
    assert here.runs.did == []


@pytest.mark.parametrize(
    ("mode", "expected"), [(None, LeashMode.ASK), (LeashMode.AUTO, LeashMode.AUTO)]
)
async def test_elsewhere_the_desk_keeps_the_leash_itself(
    tmp_path: Path, mode: LeashMode | None, expected: LeashMode
) -> None:
    state = sample_state()
    here = Here(tmp_path, service=replace(state.service, embedded=False))
    here.home.keep_key("a-1", here.out.ports.client.base_url, "key of a-1")
    order = StartSkill(
        "momentum", Pace.ONCE, agent_id="a-1", name="heron", mode=mode,
        threshold=Micros(5 * ONE), budget=Micros(12 * ONE),
    )  # fmt: skip
    await here.does(order)
    leash = StoredLeash("a-1", "heron", "momentum", expected, Micros(5 * ONE), Micros(12 * ONE))
    assert here.lines == [(ID, leash, "key of a-1")]
    [(_, _, launch)] = here.runs.did
    assert launch.own[KEY_VARIABLE] == "key of the line"
    assert launch.own[URL_VARIABLE] == "http://127.0.0.1:1"
    assert here.out.asked == []


# -- stop, restart, detach


RUNS = (
    run_of("r1", agent_id="a-2"),
    run_of("r2", agent_id="a-3", skill_slug="momentum", agent_name="moss", budget=Micros(ONE)),
)
WAITING = SupervisionView(
    runs=RUNS,
    pending_trades=(pending_trade_of("h1", agent_id="a-3"), pending_trade_of("h2", agent_id="a-3")),
)


@pytest.mark.parametrize(
    ("run_id", "knows", "expected"),
    [
        ("r1", True, ("good", "stop a run")),
        ("r2", True, ("good", "stop a run; 2 trades need approval")),
        ("r9", True, ("good", "stop a run")),
        ("r2", False, ("warn", "not running")),
    ],
)
async def test_a_run_is_stopped_by_its_name(
    tmp_path: Path, run_id: str, expected: tuple[str, str], *, knows: bool
) -> None:
    here = Here(tmp_path, Runs(knows=knows), supervision=WAITING)
    assert await here.does(StopSkill(run_id, "a run")) == expected
    assert here.runs.did == [("stop", run_id)]


@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("knows", [True, False])
async def test_a_run_is_let_go_or_kept(tmp_path: Path, *, detached: bool, knows: bool) -> None:
    here = Here(tmp_path, Runs(knows=knows))
    order = DetachSkill("r1", detached=detached, what="a run")
    expected = ("good", order.describe()) if knows else ("warn", "not running")
    assert await here.does(order) == expected
    assert here.runs.did == [("detach", "r1", detached)]


async def test_a_run_starts_again_as_new(tmp_path: Path) -> None:
    crashed = replace(
        RUNS[1], state=SkillRunState.CRASHED, restarts=5, why="x", exit_code=3, ended_at=NOW
    )
    here = Here(tmp_path, supervision=SupervisionView(runs=(RUNS[0], crashed)))
    here.home.keep_key("a-3", "embedded", "key of a-3")
    order = RestartSkill("r2", "a run")
    assert await here.does(order) == ("good", "restart a run")
    [(word, view, launch)] = here.runs.did
    assert word == "restart"
    assert view == replace(crashed, restarts=0, why="", exit_code=None, ended_at=None)
    assert launch.own[budget_variable("momentum")] == "1.00"
    assert launch.own[KEY_VARIABLE] == "key of a-3"


@pytest.mark.parametrize(
    ("run_id", "why"), [("r9", "no such run"), ("r2", "no key of its agent here for this service")]
)
async def test_a_run_that_cannot_start_again(tmp_path: Path, run_id: str, why: str) -> None:
    here = Here(tmp_path, supervision=WAITING)
    order = RestartSkill(run_id, "a run")
    assert await here.does(order) == ("bad", f"{order.describe()}: {why}")
    assert here.runs.did == []


# -- install


async def test_a_skill_is_installed_and_shown(tmp_path: Path) -> None:
    source = tmp_path / "source" / "mine"
    shutil.copytree(BUNDLED / "momentum", source)
    text = (source / "SKILL.md").read_text()
    (source / "SKILL.md").write_text(text.replace("momentum", "mine"))
    here = Here(tmp_path / "desk")
    tone, words = await here.does(InstallSkill(str(source)))
    assert (tone, words.split()[0], words.split()[-1]) == ("good", "mine", "installed"), words
    made = next(one for one in here.home.views() if one.slug == "mine")
    assert words == f"mine {made.version} installed"
    [loaded] = [fact for fact in here.out.facts if isinstance(fact, Loaded)]
    assert loaded == Loaded(SkillView, here.home.views())
    assert (here.home.own / "mine").is_dir()


async def test_no_skill_takes_the_name_of_one_of_the_programs_own(tmp_path: Path) -> None:
    source = tmp_path / "source" / "momentum"
    shutil.copytree(BUNDLED / "momentum", source)
    here = Here(tmp_path / "desk")
    order = InstallSkill(str(source))
    tone, words = await here.does(order)
    assert tone == "bad"
    assert words.startswith(f"{order.describe()}: ")
    assert not (here.home.own / "momentum").exists()


@pytest.mark.parametrize("is_stop", [True, False])
async def test_a_desk_that_only_reads_may_stop_a_skill(tmp_path: Path, *, is_stop: bool) -> None:
    service = replace(sample_state().service, read_only=True)
    here = Here(tmp_path, service=service)
    order = StopSkill("r1", "a run") if is_stop else DetachSkill("r1", what="a run")
    expected = ("good", "stop a run") if is_stop else ("warn", f"detach a run: {READ_ONLY}")
    assert await here.does(order) == expected
    assert bool(here.runs.did) is is_stop


@pytest.mark.parametrize(
    ("mode", "budget", "count"),
    [(None, Micros(ONE), 0), (LeashMode.ASK, None, 1), (None, None, 0)],
)
async def test_the_mode_alone_decides_whether_a_leash_is_put_on(
    tmp_path: Path, mode: LeashMode | None, budget: Micros | None, count: int
) -> None:
    here = Here(tmp_path)
    here.home.keep_key("a-1", "embedded", "key of a-1")
    order = StartSkill("momentum", Pace.ONCE, agent_id="a-1", mode=mode, budget=budget)
    assert (await here.does(order))[0] == "good"
    assert [one.endpoint for one in here.out.asked] == [DESK_SET_LEASH] * count


@pytest.mark.parametrize("is_kept", [True, False])
async def test_elsewhere_a_run_starts_again_on_its_leash(tmp_path: Path, *, is_kept: bool) -> None:
    service = replace(sample_state().service, embedded=False)
    here = Here(tmp_path, service=service, supervision=WAITING)
    here.home.keep_key("a-3", here.out.ports.client.base_url, "key of a-3")
    strict = StoredLeash("a-3", "moss", "momentum", LeashMode.OBSERVE)
    here.kept = strict if is_kept else None
    assert (await here.does(RestartSkill("r2", "a run")))[0] == "good"
    # A leash that is no longer known needs approval for everything.
    asks = StoredLeash("a-3", "moss", "momentum", LeashMode.ASK, budget=Micros(ONE))
    assert here.lines == [("r2", strict if is_kept else asks, "key of a-3")]


async def test_on_the_embedded_service_no_leash_is_kept_here(tmp_path: Path) -> None:
    here = Here(tmp_path, supervision=WAITING)
    here.home.keep_key("a-3", "embedded", "key of a-3")
    here.kept = StoredLeash("a-3", "moss", "momentum", LeashMode.OBSERVE)
    assert (await here.does(RestartSkill("r2", "a run")))[0] == "good"
    assert here.lines == []


async def test_a_service_that_refuses_a_new_agent_is_told(tmp_path: Path) -> None:
    here = Here(tmp_path)
    error = UnreachableError("no line", Called("POST", "/x"))
    here.out.answers[REGISTER] = error
    order = StartSkill("momentum", Pace.ONCE, name="moss")
    assert await here.does(order) == ("bad", failed_text(order, error))
    assert here.runs.did == []
