"""The halt of one desk, without a service: its rows, its rounds, its end, and who may end it."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    ReadOnlyError,
    RefusalReason,
    RefusedError,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.desk.commands.halt import RESUME_WORD, Resume
from service_tui.desk.halt import halting
from service_tui.desk.halt.halting import AFTER_S, READ_ONLY, UNDER_WAY, Halting
from service_tui.desk.halt.handlers import HaltStep, NotDoneError, NotYetError
from service_tui.desk.halt.skills import SkillAgents
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.slices.halt import AckState, AckView, HaltedAgent, HaltView, KeptHalt
from service_tui.storage.errors import StorageError
from service_tui.units import Timestamp

CALLED = Called("POST", "/api/desk/halt")
AWAY = UnreachableError("away", CALLED)


@dataclass
class Agents:
    """The agents of skills of a desk."""

    there: tuple[HaltedAgent, ...] = ()

    def present(self) -> tuple[HaltedAgent, ...]:
        return self.there


@dataclass
class Hand:
    """A desk that halts; each step answers as `answers` says, and what is asked is noted."""

    on: Offline
    answers: dict[str, list[Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    kept: list[KeptHalt] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    fault: Exception | None = None
    while_the_end_is_kept: Callable[[], object] | None = None
    is_halted_there: bool = True
    agents: Agents = field(default_factory=Agents)

    def __post_init__(self) -> None:
        self.halting = Halting(
            self.on.ports, cast("Memory", self), random.Random(1), self.wait,
            agents=cast("SkillAgents", self.agents),
        )  # fmt: skip

    async def keep_halt(self, kept: KeptHalt) -> str:
        self.asked.append("keep" if kept.on else "keep the end")
        if self.fault is not None:
            raise self.fault
        self.kept.append(kept)
        if not kept.on and self.while_the_end_is_kept is not None:
            self.while_the_end_is_kept()
        return ""

    async def wait(self, retry: asyncio.Event, by_s: float) -> None:
        self.waits.append(by_s)
        await retry.wait()

    def step(self, name: str) -> Callable[[Ports], Any]:
        async def carry_out(_: Ports) -> Any:
            await asyncio.sleep(0)
            self.asked.append(name)
            left = self.answers.get(name, [])
            answer = left.pop(0) if left else f"{name} done"
            if isinstance(answer, Exception):
                raise answer
            return answer

        return carry_out

    @property
    def halt(self) -> HaltView:
        assert self.on.state.halt is not None
        return self.on.state.halt

    def ack(self, name: str) -> AckView:
        return next(one for one in self.halt.acks if one.name == name)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.halting.run())
            await turns()
            yield
            task.cancel()


async def turns() -> None:
    for _ in range(40):
        await asyncio.sleep(0)


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Hand]:
    def make(halt: HaltView | None = None, *, paused: bool = False, **service: Any) -> Hand:
        state = sample_state(8)
        assert state.limits is not None
        state = replace(
            state, tickets=(), halt=halt, limits=replace(state.limits, paused=paused),
            service=replace(
                state.service, **({"embedded": True, "read_only": False} | service)
            ),
        )  # fmt: skip
        made = Hand(Offline(state, clock=ManualClock(NOW)))
        steps = (
            HaltStep("first", "what is first", made.step("first")),
            HaltStep("there", "what is there", made.step("there"), embedded_only=True),
        )
        monkeypatch.setattr(halting, "STEPS", steps)
        for name in ("lift_pause", "resume_service"):
            monkeypatch.setattr(halting.steps, name, made.step(name))

        async def is_halted(_: Ports) -> bool:
            made.asked.append("is it halted")
            await asyncio.sleep(0)
            return made.is_halted_there

        monkeypatch.setattr(halting.steps, "service_is_halted", is_halted)
        return made

    return make


# -- the halt --------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedded", [True, False])
async def test_a_halt_closes_the_gate_and_asks_every_source_that_there_is(
    hand: Callable[..., Hand], *, embedded: bool
) -> None:
    made = hand(embedded=embedded)
    made.halting.halt()
    assert made.on.ports.gate.is_closed
    there = (AckView("there", "what is there"),) if embedded else ()
    assert made.halt == HaltView(
        since=NOW,
        acks=(halting.GATE, halting.KEPT, AckView("first", "what is first"), *there),
    )
    async with made.running():
        done = [(one.name, one.state, one.detail) for one in made.halt.acks if one.name == "first"]
        assert done == [("first", AckState.DONE, "first done")]
        assert made.ack("first").what == "what is first"
        assert made.kept == [KeptHalt(on=True, at=NOW, was_paused=False)]
        assert made.on.words == [("good", "halted: all sources acknowledged")]
        assert sorted(made.asked) == sorted(["keep", "first", *(["there"] if embedded else [])])


@pytest.mark.parametrize("paused", [True, False])
def test_a_pause_from_before_the_halt_is_remembered(
    hand: Callable[..., Hand], *, paused: bool
) -> None:
    made = hand(paused=paused)
    made.halting.halt()
    assert made.halt.was_paused is paused


def test_a_halt_of_the_service_is_no_pause_of_the_agent_and_gives_its_time(
    hand: Callable[..., Hand],
) -> None:
    made = hand(paused=True)
    assert made.on.state.world is not None
    earlier = Timestamp(NOW - 90)
    made.on.state = replace(made.on.state, world=replace(made.on.state.world, halted_at=earlier))
    made.halting.halt()
    assert (made.halt.was_paused, made.halt.since) == (False, earlier)


async def test_what_fails_is_asked_again_and_what_waits_says_so(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    refused = RefusedError(RefusalReason("not now", fix="wait a little"), CALLED, status=409)
    made.answers["first"] = [AWAY, NotYetError("one order is open"), NotDoneError("still paused")]
    made.answers["there"] = [refused]
    made.halting.halt()
    async with made.running():
        first = made.ack("first")
        assert (first.state, first.detail, first.tries) == (AckState.FAILED, str(AWAY), 1)
        assert made.ack("there").detail == f"{refused}; {refused.fix}"
        made.halting.retry_now()
        await turns()
        first = made.ack("first")
        assert (first.state, first.detail) == (AckState.WAITING, "one order is open")
        assert first.tries == 2
        assert made.on.words == []
        # A second press asks the missing ones at once, and begins no new round.
        made.halting.halt()
        await turns()
        assert made.ack("first").detail == "still paused"
        assert made.ack("first").state is AckState.FAILED
        made.halting.halt()
        await turns()
        assert made.ack("first").state is AckState.DONE
        assert made.asked.count("there") == 2
        assert made.asked.count("keep") == 1
        assert made.on.words == [("good", "halted: all sources acknowledged")]
        assert len(made.waits) == 4


async def test_a_read_only_desk_asks_once_and_says_that_it_changes_nothing(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    made.answers["first"] = [ReadOnlyError("only looks", CALLED)]
    made.halting.halt()
    async with made.running():
        first = made.ack("first")
        assert (first.state, first.detail) == (AckState.FAILED, READ_ONLY)
        made.halting.retry_now()
        await turns()
        assert made.asked.count("first") == 1


async def test_a_halt_that_was_kept_is_asked_for_again_at_the_start(
    hand: Callable[..., Hand],
) -> None:
    agents = (HaltedAgent("a-2", "heron", was_paused=True),)
    made = hand(HaltView(since=Timestamp(NOW - 500), was_paused=True, agents=agents))
    assert made.on.ports.gate.is_closed
    assert (made.halt.since, made.halt.was_paused) == (NOW - 500, True)
    async with made.running():
        kept = KeptHalt(on=True, at=Timestamp(NOW - 500), was_paused=True, agents=agents)
        assert made.kept == [kept]


def test_a_halt_names_the_agents_of_skills_and_asks_for_the_pause_of_each(
    hand: Callable[..., Hand],
) -> None:
    made = hand(embedded=False)
    heron, gull = HaltedAgent("a-2", "heron"), HaltedAgent("a-3", "gull")
    made.agents.there = (heron,)
    made.halting.halt()
    assert made.halt.agents == (heron,)
    names = [one.name for one in made.halt.acks[2:]]
    assert names == ["first", "pause:a-2", "skill_orders"]
    # One that came since is paused by the next halt, and the one known stays named as it is.
    known = replace(heron, was_paused=True)
    done = tuple(replace(one, state=AckState.DONE) for one in made.halt.acks)
    made.on.state = replace(made.on.state, halt=replace(made.halt, acks=done, agents=(known,)))
    made.agents.there = (heron, gull)
    made.halting.halt()
    assert made.halt.agents == (known, gull)
    assert [one.name for one in made.halt.acks[3:]] == ["pause:a-2", "pause:a-3", "skill_orders"]


# -- its end ---------------------------------------------------------------------------------------


async def test_the_word_ends_a_halt_in_an_order_that_lets_nothing_in_before_the_last(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        made.asked.clear()
        made.on.facts.clear()
        await made.halting.resume(Resume(RESUME_WORD))
        assert made.asked == ["lift_pause", "resume_service", "keep the end"]
        assert made.kept[-1] == KeptHalt(on=False, at=Timestamp(NOW + AFTER_S))
        assert made.on.state.halt is None
        assert not made.on.ports.gate.is_closed
        assert made.on.words == [("good", "resumed: buys allowed")]


@pytest.mark.parametrize(
    ("paused", "service", "asked"),
    [
        (True, {}, ["resume_service"]),
        (False, {"embedded": False}, ["lift_pause"]),
        (False, {"read_only": True}, []),
    ],
)
async def test_what_the_halt_did_not_do_is_not_undone(
    hand: Callable[..., Hand], service: dict[str, Any], asked: list[str], *, paused: bool
) -> None:
    made = hand(paused=paused, **service)
    made.halting.halt()
    async with made.running():
        made.asked.clear()
        await made.halting.resume(Resume(RESUME_WORD))
        assert made.asked == [*asked, "keep the end"]
        still = "trading was paused at the service before the halt and still is: see Settings"
        assert (("warn", still) in made.on.words) is paused


@pytest.mark.parametrize("name", ["lift_pause", "resume_service", "disk"])
async def test_an_end_that_fails_leaves_it_halted_and_every_source_is_asked_again(
    hand: Callable[..., Hand], name: str
) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        made.asked.clear()
        error = StorageError("the disk is full") if name == "disk" else NotDoneError("it refuses")
        if name == "disk":
            made.fault = error
        else:
            made.answers[name] = [error]
        await made.halting.resume(Resume(RESUME_WORD))
        assert made.on.ports.gate.is_closed
        assert made.on.words[-1] == ("bad", f"not resumed, still halted: {error}")
        assert not made.halt.is_resuming
        await turns()
        assert made.asked.count("first") == 1


def test_what_an_earlier_round_acknowledged_counts_no_more_and_all_is_told_once(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    made.halting.halt()
    number = made.halting._round
    for name in [one.name for one in made.halt.acks if one.state is not AckState.DONE]:
        ack = AckView(name, "", AckState.DONE, "done")
        made.halting._acknowledge(name, number - 1, ack)
        assert made.ack(name).state is not AckState.DONE
        made.halting._acknowledge(name, number, ack)
        assert made.ack(name).state is AckState.DONE
    told = ("good", "halted: all sources acknowledged")
    assert made.on.words == [told]
    made.halting._acknowledge(name, number, replace(ack, detail="done again"))
    assert made.on.words == [told]


async def test_a_halt_that_is_asked_for_again_does_not_wait_for_the_pause_of_the_first(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    made.answers["first"] = [NotDoneError("it refuses")]
    made.halting.halt()
    async with made.running():
        assert made.ack("first").state is AckState.FAILED
        made.halting.halt()
        await turns()
        assert made.ack("first").state is AckState.DONE


async def test_an_end_begins_at_once_while_a_step_waits_and_nothing_is_asked_again(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    made.answers["first"] = [AWAY]
    made.halting.halt()
    async with made.running(), asyncio.TaskGroup() as tasks:
        assert made.ack("first").state is AckState.FAILED
        resuming = tasks.create_task(made.halting.resume(Resume(RESUME_WORD)))
        await turns()
        assert resuming.done()
        assert made.on.state.halt is None
        assert made.asked.count("first") == 1


async def test_an_end_waits_for_the_step_under_way_and_what_that_found_is_kept(
    hand: Callable[..., Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, go_on = hand(), asyncio.Event()
    found = (HaltedAgent("a-2", "heron", was_paused=True),)

    async def slow(_: Ports) -> str:
        await go_on.wait()
        if "slow" not in made.asked:
            made.on.state = replace(made.on.state, halt=replace(made.halt, agents=found))
        made.asked.append("slow")
        return ""

    monkeypatch.setattr(halting, "STEPS", (HaltStep("slow", "what is slow", slow),))
    made.answers["lift_pause"] = [NotDoneError("it refuses")]
    made.halting.halt()
    async with made.running(), asyncio.TaskGroup() as tasks:
        resuming = tasks.create_task(made.halting.resume(Resume(RESUME_WORD)))
        await turns()
        assert "lift_pause" not in made.asked
        go_on.set()
        await turns()
        assert resuming.done()
        assert made.asked.index("slow") < made.asked.index("lift_pause")
        assert ("bad", "not resumed, still halted: it refuses") in made.on.words
        # How an agent was before the halt is not forgotten by an end that failed.
        assert made.halt.agents == found


async def test_a_halt_of_the_service_alone_is_ended_from_here(hand: Callable[..., Hand]) -> None:
    made = hand()
    await made.halting.resume(Resume(RESUME_WORD))
    assert made.on.words == [("warn", "not halted")]
    assert made.on.state.world is not None
    halted = replace(made.on.state.world, halted_at=Timestamp(NOW - 9))
    made.on.state = replace(made.on.state, world=halted)
    await made.halting.resume(Resume(RESUME_WORD))
    assert "resume_service" in made.asked
    assert made.on.words.count(("warn", "not halted")) == 1


async def test_a_halt_overtakes_its_own_end(hand: Callable[..., Hand]) -> None:
    made = hand()
    made.halting.halt()
    async with made.running(), asyncio.TaskGroup() as tasks:
        tasks.create_task(made.halting.resume(Resume(RESUME_WORD)))
        await asyncio.sleep(0)
        assert made.halt.is_resuming
        await made.halting.resume(Resume(RESUME_WORD))
        assert made.on.words[-1] == ("warn", "already resuming")
        made.halting.halt()
        await turns()
        assert made.on.words.count(("warn", "not resumed: halted again")) == 1
        assert made.on.ports.gate.is_closed
        assert not made.halt.is_resuming
        assert [one.on for one in made.kept][-1] is True


async def test_a_halt_while_its_end_is_written_stands(hand: Callable[..., Hand]) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        made.while_the_end_is_kept = made.halting.halt
        await made.halting.resume(Resume(RESUME_WORD))
        assert made.on.ports.gate.is_closed
        assert not made.halt.is_resuming
        assert ("good", "resumed: buys allowed") not in made.on.words
        assert ("warn", "not resumed: halted again") in made.on.words
        await turns()
        assert made.kept[-1].on


async def test_nothing_else_than_the_word_ends_a_halt_and_nothing_ends_none(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    await made.halting.resume(Resume(RESUME_WORD))
    made.halting.halt()
    await made.halting.resume(Resume(f"{RESUME_WORD} "))
    assert made.on.words == [
        ("warn", "not halted"), ("warn", f"not resumed: type the word {RESUME_WORD}"),
    ]  # fmt: skip
    assert made.on.ports.gate.is_closed
    assert UNDER_WAY.startswith("selling positions")


# -- ended elsewhere -------------------------------------------------------------------------------


@pytest.mark.parametrize("is_halted_there", [True, False])
async def test_an_end_elsewhere_counts_only_once_the_service_was_asked(
    hand: Callable[..., Hand], *, is_halted_there: bool
) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        made.is_halted_there = is_halted_there
        made.asked.clear()
        made.halting.on_world()
        await turns()
        assert made.asked == ["is it halted", *([] if is_halted_there else ["keep the end"])]
        assert made.on.ports.gate.is_closed is is_halted_there
        told = ("good", "resumed from another console: buys allowed")
        assert (told in made.on.words) is not is_halted_there


@pytest.mark.parametrize("does", ["a disk that fails", "a halt meanwhile"])
async def test_an_end_elsewhere_is_told_only_once_it_is_one_here(
    hand: Callable[..., Hand], does: str
) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        made.is_halted_there = False
        if does == "a halt meanwhile":
            made.while_the_end_is_kept = made.halting.halt
        else:
            made.fault = StorageError("the disk is full")
        made.on.facts.clear()
        made.halting.on_world()
        await turns()
        assert "keep the end" in made.asked
        assert made.on.ports.gate.is_closed
        assert made.on.state.halt is not None
        assert "resumed" not in "".join(text for _, text in made.on.words)


@pytest.mark.parametrize("service", [{"embedded": False}, {"read_only": True}, {}])
async def test_an_end_elsewhere_is_not_looked_up_where_it_cannot_be_one(
    hand: Callable[..., Hand], service: dict[str, Any]
) -> None:
    made = hand(**service)
    if not service:
        made.answers["first"] = [AWAY]
    made.halting.halt()
    async with made.running():
        made.is_halted_there = False
        made.halting.on_world()
        await turns()
        assert "is it halted" not in made.asked
        assert made.on.ports.gate.is_closed


def test_the_services_own_halt_closes_the_gate_here_and_its_end_opens_it(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    world = made.on.state.world
    assert world is not None
    for halted_at, is_closed in ((NOW, True), (None, False)):
        made.on.state = replace(made.on.state, world=replace(world, halted_at=halted_at))
        made.halting.on_world()
        assert made.on.ports.gate.is_closed is is_closed
    # A world that was never read is not halted, and no pause is known without limits.
    made.on.state = replace(made.on.state, world=None, limits=None)
    made.halting.on_world()
    made.halting.halt()
    assert (made.halt.since, made.halt.was_paused) == (NOW, False)


async def test_a_halt_while_the_service_is_halted_elsewhere_is_not_looked_up(
    hand: Callable[..., Hand],
) -> None:
    made = hand()
    world = made.on.state.world
    assert world is not None
    made.on.state = replace(made.on.state, world=replace(world, halted_at=NOW))
    made.halting.halt()
    async with made.running():
        made.halting.on_world()
        await turns()
        assert "is it halted" not in made.asked


@pytest.mark.parametrize("is_over", [True, False])
async def test_a_halt_is_not_ended_while_its_exits_still_sell(
    hand: Callable[..., Hand], *, is_over: bool
) -> None:
    made = hand()
    made.halting.halt()
    async with made.running():
        exits = cast("Any", SimpleNamespace(is_over=is_over))
        made.on.state = replace(made.on.state, halt=replace(made.halt, exits=exits))
        made.is_halted_there = True
        made.halting.on_world()
        await turns()
        assert ("is it halted" in made.asked) is is_over
        await made.halting.resume(Resume(RESUME_WORD))
        assert (("warn", UNDER_WAY) in made.on.words) is not is_over
        assert made.on.ports.gate.is_closed is not is_over
