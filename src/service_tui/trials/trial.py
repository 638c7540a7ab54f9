"""Runs one trial: opens a new world with one agent, and runs a skill in it, round by round.

`anew` is in `TrialPlan`: whether a new process runs each round, as the desk does, instead of one
process for all of them. A skill that cannot stay between rounds is always run so.
"""

import random
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from service_tui.app.data import open_data
from service_tui.app.histories import folders_of, topics_for
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import ManualClock
from service_tui.engine.tape.history import HistoryStart
from service_tui.engine.tick import go_along
from service_tui.evaluation.ledger import TrialLedger
from service_tui.server.embedded import BASE_URL, Sim, SimSettings, open_sim
from service_tui.server.http.loopback import listen
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.skills.package import budget_variable, entry_script
from service_tui.skills.process import Launch
from service_tui.terms import LeashMode
from service_tui.trials.bookkeeper import Bookkeeper
from service_tui.trials.calling import TrialGate
from service_tui.trials.plan import TrialPlan
from service_tui.trials.skill_rounds import (
    LOOPBACK,
    ResidentSkill,
    SkillAccess,
    SkillEachRound,
    SkillRounds,
    TrialEndedError,
)
from service_tui.units import Timestamp
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import REGISTER
from service_tui.wire.fleet import LeashRequest

STEP_RECORDED_S: Final = 3_600.0
STEP_INVENTED_S: Final = 60.0
"""World time of one step, at most: what a desk at the highest speed does in a second."""

ERRORS_MAX: Final = 20
"""# ours: rounds in a row that may fail; a skill that fails oftener will not recover."""

ERRORS_SHOWN: Final = 5
WORLD: Final = "world"
HOME: Final = "home"

OnRound = Callable[[int, int], None]
"""Takes the number of rounds done, and of trades."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial.

    `ended` is why it ended before its time, empty if it did not. `errors` are the errors of failed
    rounds with their counts, `refusals` the orders that the service refused, by error code.
    `left_behind` counts processes that the skill started and did not end. `late` rounds were
    skipped because an earlier one waited too long. `anew`: a new process ran each round. `fence`:
    why the world's files could not be hidden from the skill; empty if they were.
    """

    plan: TrialPlan
    ledger: TrialLedger
    rounds: int
    failed: int
    late: int
    ended: str = ""
    errors: tuple[tuple[str, int], ...] = ()
    refusals: tuple[tuple[str, int], ...] = ()
    left_behind: int = 0
    anew: bool = False
    fence: str = ""


@dataclass(slots=True)
class _Tally:
    """Counts of the rounds so far."""

    rounds: int = 0
    late: int = 0
    failed: int = 0
    in_a_row: int = 0
    ended: str = ""
    errors: Counter[str] = field(default_factory=Counter[str])


class TrialWorld:
    """The world of a trial and its clock, which only `go_on` moves."""

    def __init__(self, sim: Sim, clock: ManualClock, step_s: float, operator_key: str) -> None:
        self.sim = sim
        self.operator_key = operator_key
        self.clock = clock
        self._step_s = step_s

    async def go_on(self, seconds: float) -> Timestamp:
        """Advance the world by so many seconds; returns its time then."""
        until = Timestamp(self.clock.now() + seconds)
        store = self.sim.service.world_store
        while (now := self.clock.now()) < until:
            self.clock.set(min(until, now + self._step_s))
            await store.commit(go_along(store.world, self.clock.now()))
        return until


async def run_trial(plan: TrialPlan, folder: Path, on_round: OnRound) -> TrialResult:
    """Run a trial to its end.

    Args:
        plan: the skill, the world and the period.
        folder: gets the world and the skill's home; no other trial uses it.
        on_round: called after each round.

    Returns:
        The result.

    Raises:
        StorageError: the disk refused, or the history does not exist.
    """
    async with _open_world(plan, folder / WORLD) as world:
        return await _Trial(plan, folder, world, on_round).run()


class _Trial:
    """One trial on its open world."""

    def __init__(self, plan: TrialPlan, folder: Path, world: TrialWorld, on_round: OnRound) -> None:
        self._plan = plan
        self._folder = folder
        self._world = world
        self._on_round = on_round
        self._tally = _Tally()
        self._process_per_round = plan.anew

    async def run(self) -> TrialResult:
        plan, world, tally = self._plan, self._world, self._tally
        agent_id, key = await _registered(world, plan)
        books = Bookkeeper(world.sim.service.world, agent_id)
        world.sim.service.world_store.events.followers.append(books.take)
        app = TrialGate(world.sim.app, key)
        left = 0
        async with AsyncExitStack() as stack:
            try:
                skill = await self._skill(SkillAccess(self._launch(), app, LOOPBACK, key), stack)
                try:
                    await self._rounds(skill, books)
                finally:
                    left = await skill.end()
            except TrialEndedError as error:
                tally.ended = str(error)
        await self._to_the_end(books)
        return TrialResult(
            plan,
            books.ledger(plan.name),
            tally.rounds,
            tally.failed,
            tally.late,
            tally.ended,
            tuple(tally.errors.most_common(ERRORS_SHOWN)),
            tuple(sorted(app.counts.items())),
            left,
            self._process_per_round,
            "" if fence_version() else UNFENCED,
        )

    def _launch(self) -> Launch:
        """How the skill is started: it cannot read the history nor the files of the world."""
        plan = self._plan
        return Launch(
            run_id=f"trial-{plan.key}-{secrets.token_hex(6)}",
            folder=self._folder / HOME,
            script=entry_script(Path(plan.skill)),
            arguments=(),
            own={**dict(plan.settings), budget_variable(plan.slug): repr(plan.budget)},
            hidden=(*folders_of(Path(plan.data_dir)), self._folder / WORLD),
        )

    async def _skill(self, access: SkillAccess, stack: AsyncExitStack) -> SkillRounds:
        """Start the skill; closing the stack closes the port it uses, if it needs one.

        The skill stays one process if it can, else a new process runs each round.
        """
        if not self._process_per_round:
            resident = ResidentSkill(access)
            try:
                if await resident.open():
                    return resident
            except TrialEndedError:
                await resident.end()
                raise
            await resident.end()
            self._process_per_round = True
        # Calls through the port pass the counter of refusals as well.
        port = listen(self._world.sim.app, around=lambda _: access.app)
        return SkillEachRound(replace(access, address=await stack.enter_async_context(port)))

    async def _rounds(self, skill: SkillRounds, books: Bookkeeper) -> None:
        plan, world, tally = self._plan, self._world, self._tally
        for number in range(plan.rounds):
            due = Timestamp(plan.begins_at + number * plan.every_s)
            if world.clock.now() > due:
                tally.late += 1
                continue
            await world.go_on(due - world.clock.now())
            books.at_round()
            tally.rounds += 1
            failed = await skill.one_round(world.clock.now(), self._wait)
            tally.in_a_row = tally.in_a_row + 1 if failed else 0
            if failed:
                tally.failed += 1
                tally.errors[failed] += 1
            self._on_round(number + 1, books.trades)
            if tally.in_a_row >= ERRORS_MAX:
                raise TrialEndedError(f"{ERRORS_MAX} rounds in a row failed, the last by {failed}")

    async def _wait(self, seconds: float) -> Timestamp:
        """Advance the world while a skill waits, at most to the end of the trial."""
        left = self._plan.ends_at - self._world.clock.now()
        return await self._world.go_on(max(0.0, min(seconds, left)))

    async def _to_the_end(self, books: Bookkeeper) -> None:
        """Advance the world to the end of the trial, so that open positions are settled or marked.

        Also after a skill that ended early: its shares are valued like those of any other.
        """
        world = self._world
        while (left := self._plan.ends_at - world.clock.now()) > 0:
            await world.go_on(min(left, self._plan.every_s))
            books.at_round()
        books.at_round(is_last=True)


@asynccontextmanager
async def _open_world(plan: TrialPlan, folder: Path) -> AsyncGenerator[TrialWorld]:
    """Open a new world at the start of the period."""
    clock = ManualClock(plan.begins_at)
    # New for each trial: with it a skill would set its own limits, and the world's time.
    operator_key = f"op_live_{secrets.token_hex(16)}"
    history = HistoryStart(plan.history, plan.digest, plan.begins_at) if plan.history else None
    settings = SimSettings(
        seed=plan.seed,
        topics=topics_for(Path(plan.data_dir)),
        history=history,
        plan=plan.plan,
        operator_key=operator_key,
        is_scripted=True,
    )
    async with (
        open_data(folder, clock) as data,
        open_sim(data.database, clock, settings) as sim,
    ):
        step_s = STEP_RECORDED_S if history else STEP_INVENTED_S
        world = TrialWorld(sim, clock, step_s, operator_key)
        store = sim.service.world_store
        # A scripted service lists no market until its tape moves: this is the first move.
        await store.commit(go_along(store.world, clock.now()))
        yield world


async def _registered(world: TrialWorld, plan: TrialPlan) -> tuple[str, str]:
    """Register the agent of the trial and set its daily budget.

    Returns:
        Its id and its key.
    """
    api_keys = ApiKeys(operator=ApiKey(world.operator_key, BASE_URL))
    rng = random.Random(plan.seed)  # noqa: S311  (jitter of repeats, of which there are none)
    transport = world.sim.transport
    # The client uses the world's transport, which is closed with the world.
    operator = Client(transport, BASE_URL, api_keys, clock=world.clock, rng=rng)
    made = (await operator.call(REGISTER, body=RegisterRequest(name=plan.slug))).answer
    leash = LeashRequest(mode=LeashMode.AUTO, daily_budget=plan.budget)
    await operator.call(DESK_SET_LEASH, path={"agent_id": made.agent_id}, body=leash)
    return made.agent_id, made.api_key
