"""The part of the desk that supervises agents: which handler takes what, what runs beside it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.desk import supervision
from service_tui.desk.commands import agents as commands
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.registry import Registry
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.slices.supervision import Pace, PastsSeen
from service_tui.desk.slices.topics import Topic
from service_tui.desk.supervision import Supervision
from service_tui.desk.tickets import Ticket
from service_tui.terms import LeashMode
from service_tui.units import Micros

STATE = sample_state(6)
DECIDING = (
    commands.SetLeash("a", "heron", LeashMode.AUTO),
    commands.ApproveHeld("h", "buy YES"),
    commands.RefuseHeld("h", "buy YES", "no"),
)
SKILLS = (
    commands.StartSkill("gauge", Pace.LOOP),
    commands.StopSkill("r1"),
    commands.RestartSkill("r1"),
    commands.DetachSkill("r1"),
    commands.InstallSkill("here"),
)


class Work:
    """The supervision of a directory, whose handlers only note what they are given."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
        service = replace(STATE.service, **given.pop("service", {}))
        self.on = Offline(replace(STATE, service=service))
        self.memory = PollerMemory()
        self.heard: list[tuple[object, ...]] = []
        context = SimpleNamespace(
            database=SimpleNamespace(path=folder / "desk.db"), clock=self.on.clock,
            held_in=given.get("held_in"), notes=given.get("notes"),
        )  # fmt: skip
        self.made = Supervision(cast("Any", context), self.on.ports, self.memory)
        for room, name in (
            ("fleet", "carry_out"), ("skills", "carry_out"), ("exports", "export_data"),
            ("exports", "save_output"),
        ):  # fmt: skip
            monkeypatch.setattr(getattr(supervision, room), name, self.noting(f"{room}.{name}"))
        monkeypatch.setattr(self.made._lines, "carry_out", self.noting("lines.carry_out"))
        monkeypatch.setattr(self.made.actions, "read", self.noting("actions.read"))
        monkeypatch.setattr(supervision, "pasts_of", self.pasts)
        self.registry = Registry()
        self.registry.take(self.made.handlers())

    def noting(self, name: str) -> Any:
        async def note(*given: object) -> None:
            self.heard.append((name, *given))

        return note

    async def pasts(self, ports: object) -> dict[str, AgentDetailView]:
        assert ports is self.on.ports
        return {"a": AgentDetailView("a", (), ()), "b": AgentDetailView("b", (), ())}

    async def give(self, order: Any) -> list[tuple[object, ...]]:
        self.heard.clear()
        await self.registry.carry_out(Ticket(order, STATE.tickets[0]))
        return self.heard


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda **given: Work(tmp_path, monkeypatch, **given)


@pytest.mark.parametrize(
    ("embedded", "read_only", "keeps"),
    [(True, False, False), (True, True, False), (False, True, False), (False, False, True)],
)
async def test_leashes_are_kept_here_where_the_service_does_not_and_may_be_changed(
    work: Any, *, embedded: bool, read_only: bool, keeps: bool
) -> None:
    it = work(service={"embedded": embedded, "read_only": read_only})
    for order in DECIDING:
        wanted = ("lines.carry_out", order) if keeps else ("fleet.carry_out", order, it.on.ports)
        assert await it.give(order) == [wanted]


async def test_each_other_command_goes_to_its_own_function(work: Any, tmp_path: Path) -> None:
    it = work()
    pause = commands.PauseAll(paused=True)
    assert await it.give(pause) == [("fleet.carry_out", pause, it.on.ports)]
    for order in SKILLS:
        assert await it.give(order) == [("skills.carry_out", order, it.made._skills, it.on.ports)]
    export, save = commands.ExportData("x"), commands.SaveOutput("gauge", ("x",))
    assert await it.give(export) == [("exports.export_data", export, tmp_path, it.on.ports)]
    assert await it.give(save) == [("exports.save_output", save, tmp_path, it.on.ports)]
    assert await it.give(commands.ReadLog()) == [("actions.read",)]
    assert await it.give(commands.NoteConfirmed("Halt?")) == []
    assert it.on.facts == []
    await it.give(commands.ReadDay())
    pasts = (AgentDetailView("a", (), ()), AgentDetailView("b", (), ()))
    assert it.on.facts == [PastsSeen(pasts, NOW)]


async def test_the_agent_in_focus_is_read_at_once(work: Any, monkeypatch: Any) -> None:
    it = work()
    looked: list[str] = []
    monkeypatch.setattr(it.made._runs, "look_at", looked.append)
    await it.give(commands.WatchAgent("a-7", "r-9"))
    assert (it.memory.agent_id, it.memory.run_id) == ("a-7", "r-9")
    assert (looked, it.on.woken) == (["r-9"], [Topic.FLEET])


@pytest.mark.parametrize("held", [True, False])
def test_the_runs_of_the_own_directory_are_taken_up_and_those_of_the_owner_s_later(
    work: Any, tmp_path: Path, monkeypatch: Any, *, held: bool
) -> None:
    owner = tmp_path / "owner"
    it = work(held_in=owner if held else None)
    taken: list[Path] = []
    monkeypatch.setattr(it.made._runs, "take_in", taken.append)
    assert len(it.made.loops()) == 5
    assert taken == [tmp_path]
    it.made.hold()
    assert taken == ([tmp_path, owner] if held else [tmp_path])


async def test_closing_ends_the_runs_and_the_lines(work: Any, monkeypatch: Any) -> None:
    it = work()
    closed: list[str] = []

    async def close() -> None:
        closed.append("runs")

    monkeypatch.setattr(it.made._runs, "close", close)
    monkeypatch.setattr(it.made._lines, "close", lambda: closed.append("lines"))
    await it.made.close()
    assert closed == ["runs", "lines"]


@pytest.mark.parametrize("reasons", [[], ["first", "second"]])
def test_a_skill_s_real_buy_is_judged_by_the_state_as_it_is(
    work: Any, monkeypatch: Any, reasons: list[str]
) -> None:
    it = work()
    asked: list[tuple[object, ...]] = []

    def against(*given: object) -> Any:
        asked.append(given)
        return iter(reasons)

    monkeypatch.setattr(supervision, "against_skill", against)
    assert it.made._against_real("order", Micros(5)) == (reasons[0] if reasons else None)
    assert asked == [(it.on.state, "order", NOW, 5)]
