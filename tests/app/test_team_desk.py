"""A console on a shared desk: opened by a person's key, over a real connection."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.service.stage import Stage, open_stage
from kit.service.wallets import KEYS
from service_tui.app import live, team_desk
from service_tui.app.first_state import first_state
from service_tui.app.options import Options
from service_tui.client.errors import ReadOnlyError
from service_tui.commands import halt as halt_command
from service_tui.commands.halt import halt
from service_tui.desk.commands.settings import Refresh
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.slices.halt import KeptHalt
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.wallet import KeyState
from service_tui.desk.state import DeskState
from service_tui.server.http.loopback import bind, listen
from service_tui.server.http.people.roster import THE_OWNER
from service_tui.signing.book import ExchangeVersion
from service_tui.terms import PERSON_KEY_PREFIX, Action, PersonRole, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.people import MY_AGENT

WAIT_S = 60


def key_of(stage: Stage, name: str, role: PersonRole) -> str:
    _, key = stage.sim.service.people.add(name, role, THE_OWNER, Timestamp(0.0))
    return key


def options(path: Path, url: str, key: str) -> Options:
    return Options(path / "data", path / "config", path / "log", url=url, api_key=key)


@asynccontextmanager
async def opened(asked: Options) -> AsyncGenerator[Desk]:
    async with asyncio.timeout(WAIT_S), live.open_desk_of(asked, first_state(asked)) as desk:
        yield desk


async def until(desk: Desk, is_so: Callable[[DeskState], object]) -> DeskState:
    async for state in desk.changes():
        if is_so(state):
            return state
    raise AssertionError("the changes of a desk never end")


def ready(state: DeskState) -> bool:
    return bool(state.team and state.account and state.markets and state.fleet)


def test_a_persons_key_makes_the_service_a_shared_desk(tmp_path: Path) -> None:
    asked = options(tmp_path, "https://desk.example", f"{PERSON_KEY_PREFIX}of_ada")
    service = first_state(asked).service
    assert (service.shared, service.embedded, service.label) == (True, True, "desk.example")
    agents = first_state(options(tmp_path, "https://desk.example", "sk_live_of_an_agent")).service
    assert (agents.shared, agents.embedded) == (False, False)


@pytest.mark.slow
async def test_a_trader_sees_the_team_and_trades_with_an_agent_of_their_own(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(bind(0))
        stage = await stack.enter_async_context(open_stage(tmp_path / "service"))
        url = await stack.enter_async_context(listen(stage.sim.app, listener=listener.dup()))
        asked = options(tmp_path, url, key_of(stage, "ada", PersonRole.TRADER))
        desk = await stack.enter_async_context(opened(asked))
        state = await until(desk, ready)
        assert state.team is not None
        assert (state.team.name, state.team.role) == ("ada", PersonRole.TRADER)
        assert [one.name for one in state.team.here] == ["ada"]
        assert "POST /api/desk/halt" in state.team.forbidden
        # What the service carries out itself, no console does a second time.
        assert not state.risk.executes
        assert not state.redemption.executes
        own = stage.sim.service.console_agent("ada")
        assert own is not None
        assert state.account is not None
        assert state.account.agent_id == own.agent_id
        market = stage.open_markets()[0].market_id
        desk.submit(PlaceTrade(market, Side.YES, Action.BUY, Venue.SIM, Micros(5 * ONE)))
        await until(desk, lambda one: one.tickets and one.tickets[0].state is TicketState.DONE)
        assert own.trades_count == 1


@pytest.mark.slow
async def test_what_a_start_was_told_reaches_a_console_on_a_shared_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halted = KeptHalt(on=True, at=Timestamp(1_800_000_000.0))
    monkeypatch.setattr(team_desk, "kept_halts", lambda _: (halted,))
    nowhere = options(tmp_path, "http://127.0.0.1:1", f"{PERSON_KEY_PREFIX}of_ada")
    async with opened(replace(nowhere, exchange="v2", wallet_key=KEYS[0])) as desk:
        assert desk.ports.policy.exchange is ExchangeVersion.V2
        assert desk.ports.vault.view().state is KeyState.UNLOCKED
        assert desk.state.halt is not None
        assert desk.state.halt.since == halted.at
    async with opened(replace(nowhere, read_only=True)) as desk:
        with pytest.raises(ReadOnlyError):
            await desk.ports.client.call(MY_AGENT)


@pytest.mark.slow
async def test_a_service_that_comes_later_is_found(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        with bind(0) as taken:
            port: int = taken.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        stage = await stack.enter_async_context(open_stage(tmp_path / "service"))
        asked = options(tmp_path, url, key_of(stage, "ada", PersonRole.OBSERVER))
        desk = await stack.enter_async_context(opened(asked))
        assert stage.sim.service.console_agent("ada") is None
        listener = stack.enter_context(bind(port))
        await stack.enter_async_context(listen(stage.sim.app, listener=listener.dup()))
        desk.submit(Refresh())
        state = await until(desk, ready)
        assert state.service.phase is Phase.ONLINE
        assert stage.sim.service.console_agent("ada") is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "is_done"), [(PersonRole.SUPERVISOR, True), (PersonRole.TRADER, False)]
)
async def test_a_halt_from_the_shell_is_as_good_as_the_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: PersonRole, *, is_done: bool
) -> None:
    monkeypatch.setattr(halt_command, "ANSWERS_S", 1.0)
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(bind(0))
        stage = await stack.enter_async_context(open_stage(tmp_path / "service"))
        url = await stack.enter_async_context(listen(stage.sim.app, listener=listener.dup()))
        asked = options(tmp_path, url, key_of(stage, "ada", role))
        async with asyncio.timeout(WAIT_S):
            report = await asyncio.to_thread(halt, asked)
        assert report.is_done is is_done, report.lines
        assert (stage.world.halt.since is not None) is is_done
        needs = "needs the role supervisor; ada is trader"
        assert is_done or any(needs in line for line in report.lines)


@pytest.mark.slow
async def test_two_consoles_of_one_person_are_not_held_back_by_each_other(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        stage.sim.service.limits = True
        headers = {"Authorization": f"Bearer {key_of(stage, 'ada', PersonRole.TRADER)}"}
        transport = httpx.ASGITransport(stage.sim.app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as http:
            assert (await http.post("/api/desk/me/agent")).status_code == 200
            asked = [(await http.get("/api/sdk/positions")).status_code for _ in range(400)]
        assert set(asked) == {200}
