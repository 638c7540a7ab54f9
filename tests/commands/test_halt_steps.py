"""Halting and resuming without a console: what is waited for, sent and told."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.desk.shown import ShownDesk
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.app import halts as keeping
from service_tui.app import live
from service_tui.app.halts import databases, kept_halts
from service_tui.app.live import _is_answered
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.commands import halt as halt_command
from service_tui.commands.halt import (
    KEPT,
    NO_ANSWER,
    NOTHING,
    HaltReport,
    halt_on,
    opened,
    resume_on,
)
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.slices.halt import AckState, AckView, HaltView, KeptHalt
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState, Topic
from service_tui.storage.errors import DirectoryLockedError, Holder
from service_tui.terms import PERSON_KEY_PREFIX
from service_tui.units import Timestamp

OPTIONS = Options(Path("d"), Path("c"), Path("l"))


def ack(what: str, state: AckState, detail: str = "") -> AckView:
    return replace(filled(AckView, 1), what=what, state=state, detail=detail)


BEFORE = replace(whole_desk(), halt=None)


def halted(*acks: AckView) -> DeskState:
    return replace(BEFORE, halt=replace(HaltView(Timestamp(5.0)), acks=acks))


async def test_a_halt_tells_each_acknowledgement_and_is_done_with_the_last() -> None:
    waiting = halted(ack("the service", AckState.DONE), ack("two skills", AckState.WAITING))
    done = halted(ack("the service", AckState.DONE, "in 3 ms"), ack("two skills", AckState.DONE))
    desk: Any = ShownDesk(BEFORE, waiting, done)
    assert await halt_on(desk) == HaltReport(
        is_done=True, lines=("ok      the service (in 3 ms)", "ok      two skills")
    )
    assert desk.submitted == [Halt()]


async def test_a_halt_that_misses_somebody_says_that_it_holds_here() -> None:
    failed = halted(
        ack("the service", AckState.FAILED, "no answer"), ack("skills", AckState.WAITING),
        ack("own orders", AckState.DONE),
    )  # fmt: skip
    desk: Any = ShownDesk(BEFORE, failed)
    lines = ("missing the service (no answer)", "missing skills", "ok      own orders", KEPT)
    assert await halt_on(desk) == HaltReport(is_done=False, lines=lines)


def resting(*, since: float | None, embedded: bool = True, notices: Any = ()) -> DeskState:
    one = replace(
        BEFORE,
        service=replace(BEFORE.service, embedded=embedded),
        notices=tuple(notices),
        seen=dict.fromkeys((Topic.WORLD if embedded else Topic.ACCOUNT,), Timestamp(1.0)),
    )
    return one if since is None else replace(one, halt=HaltView(Timestamp(since)))


OLD = Notice(4, "info", "resumed an hour ago")


@pytest.mark.parametrize("embedded", [True, False])
async def test_where_nothing_is_halted_nothing_is_sent(*, embedded: bool) -> None:
    desk: Any = ShownDesk(resting(since=None, embedded=embedded))
    assert await resume_on(desk) == HaltReport(is_done=True, lines=(NOTHING,))
    assert desk.submitted == []


async def test_a_halt_ends_with_the_notice_of_it() -> None:
    new = [OLD, Notice(5, "good", "resumed: 2 skills run"), Notice(6, "info", "a price moved")]
    desk: Any = ShownDesk(resting(since=5.0, notices=[OLD]), resting(since=None, notices=new))
    assert await resume_on(desk) == HaltReport(is_done=True, lines=("resumed: 2 skills run",))
    assert desk.submitted == [Resume("RESUME")]


async def test_a_refused_end_is_told_and_the_halt_stands() -> None:
    new = [OLD, Notice(5, "bad", "not resumed: the service refuses")]
    desk: Any = ShownDesk(resting(since=5.0, notices=[OLD]), resting(since=5.0, notices=new))
    found = await resume_on(desk)
    assert found == HaltReport(is_done=False, lines=("not resumed: the service refuses",))


async def test_a_service_without_an_answer_resumes_nothing() -> None:
    silent = replace(resting(since=5.0, notices=[OLD]), seen={})
    desk: Any = ShownDesk(silent)
    assert await resume_on(desk) == HaltReport(is_done=False, lines=(NO_ANSWER,))
    assert desk.submitted == [Resume("RESUME")]
    # Nobody knows whether anything is halted there.
    unknown: Any = ShownDesk(replace(resting(since=None), seen={}))
    await resume_on(unknown)
    assert unknown.submitted == [Resume("RESUME")]


@pytest.mark.parametrize("name", ["halt", "resume"])
def test_the_command_runs_on_a_quiet_desk(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked: list[Any] = []

    async def opened_(_: AsyncExitStack, options: Options) -> str:
        asked.append((options.exits, options.listen, options.seed))
        return "desk"

    async def action(desk: Any) -> HaltReport:
        return HaltReport(is_done=True, lines=(name, desk))

    monkeypatch.setattr(halt_command, "opened", opened_)
    monkeypatch.setattr(halt_command, f"{name}_on", action)
    options = replace(OPTIONS, exits=True, listen=8_000, seed=7)
    assert getattr(halt_command, name)(options).lines == (name, "desk")
    assert asked == [(False, None, 7)]


@pytest.mark.parametrize(
    ("url", "is_locked", "kind"),
    [("http://x", False, "remote"), (None, False, "embedded"), (None, True, "attached")],
)
async def test_the_desk_is_that_of_the_directory_or_of_its_owner(
    monkeypatch: pytest.MonkeyPatch, url: str | None, kind: str, *, is_locked: bool
) -> None:
    def opens(name: str) -> Any:
        @asynccontextmanager
        async def open_(options: Options, initial: Any, *_: Any) -> AsyncIterator[Any]:
            if name == "embedded" and is_locked:
                raise DirectoryLockedError(Path("d"), Holder(7, None, None))
            yield (name, options.url, initial)

        return open_

    monkeypatch.setattr(halt_command, "first_state", lambda _: "first")
    monkeypatch.setattr(halt_command.live, "open_desk_of", opens("remote"))
    monkeypatch.setattr(halt_command.live, "embedded_parts", opens("embedded"))
    monkeypatch.setattr(halt_command.attached_desk, "attached_parts", opens("attached"))
    async with AsyncExitStack() as stack:
        found: Any = await opened(stack, replace(OPTIONS, url=url))
        assert found == (kind, url, "first")


def test_a_directory_has_the_databases_of_its_owner_and_of_attached_consoles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "desk.sqlite3"
    first, second = (tmp_path / "attached" / n / "desk.sqlite3" for n in ("1", "2"))
    for path in (second, first, own, tmp_path / "attached" / "other.sqlite3"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert databases(tmp_path) == (own, first, second)
    assert databases(tmp_path, own) == (first, second)
    kept = filled(KeptHalt, 1)
    words = {own: {"halt": "a"}, first: {}, second: {"halt": "b"}}
    monkeypatch.setattr(keeping, "HALT", "halt")
    monkeypatch.setattr(keeping, "read_preferences", words.get)
    monkeypatch.setattr(keeping, "kept_halt", {"a": kept, "b": kept, None: None}.get)
    assert kept_halts(tmp_path) == (kept, kept)


# -- whose desk is opened ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "from_cache", "is_so"),
    [
        (Phase.ONLINE, False, True), (Phase.ONLINE, True, False), (Phase.CONNECTING, False, False),
        (Phase.OFFLINE, True, False),
    ],
)  # fmt: skip
def test_a_desk_has_its_first_answer_once_it_is_online(
    phase: Phase, *, from_cache: bool, is_so: bool
) -> None:
    service = replace(BEFORE.service, phase=phase)
    assert _is_answered(replace(BEFORE, service=service, from_cache=from_cache)) is is_so


@pytest.mark.parametrize(
    ("url", "key", "kind"),
    [
        (None, None, "local"),
        ("http://x", "sk_1", "remote"),
        ("http://x", f"{PERSON_KEY_PREFIX}1", "team"),
    ],
)
def test_an_address_and_its_key_say_which_desk_is_opened(
    monkeypatch: pytest.MonkeyPatch, url: str | None, key: str | None, kind: str
) -> None:
    for name in ("local", "remote", "team"):
        monkeypatch.setattr(live, f"{name}_desk", lambda *given, name=name: (name, *given))
    options = replace(OPTIONS, url=url, api_key=key)
    found: Any = live.open_desk_of(options, BEFORE)
    assert found == (kind, options, BEFORE)


class Owned:
    """A directory that others hold for so many looks, and whether they serve it."""

    def __init__(self, looks: int, served: list[bool], since: float | None = 0.0) -> None:
        self.looks, self.served, self.since = looks, served, since
        self.done: list[str] = []

    def embedded(self, *_: Any) -> Any:
        @asynccontextmanager
        async def open_() -> AsyncIterator[str]:
            self.done.append("look")
            self.looks -= 1
            if self.looks >= 0:
                raise DirectoryLockedError(Path("d"), Holder(7, self.since, None))
            yield "embedded"

        return open_()

    def attached(self, *_: Any) -> Any:
        @asynccontextmanager
        async def open_() -> AsyncIterator[str]:
            yield "attached"

        return open_()

    async def is_served(self, _folder: Path, _clock: Any) -> bool:
        self.done.append("ask")
        return self.served.pop(0) if self.served else False


class Hasty(ManualClock):
    """A clock that passes every wait at once."""

    async def sleep(self, delay_s: float) -> None:
        self._now += delay_s


async def found_desk(
    monkeypatch: pytest.MonkeyPatch, owned: Owned, *, read_only: bool = False
) -> Any:
    monkeypatch.setattr(live, "embedded_parts", owned.embedded)
    monkeypatch.setattr(live.attached_desk, "attached_parts", owned.attached)
    monkeypatch.setattr(live.attached, "is_served", owned.is_served)
    options = replace(OPTIONS, read_only=read_only)
    means: Any = (Hasty(5.0), None)
    async with AsyncExitStack() as stack:
        return await live._opened(stack, options, BEFORE, means)


async def test_a_free_directory_is_opened_and_one_that_is_served_is_attached_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = Owned(0, [])
    assert await found_desk(monkeypatch, free) == "embedded"
    assert free.done == ["look"]
    served = Owned(9, [True])
    assert await found_desk(monkeypatch, served) == "attached"
    assert served.done == ["look", "ask"]


async def test_an_owner_that_has_just_started_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starting = Owned(9, [False, False, True])
    assert await found_desk(monkeypatch, starting) == "attached"
    ended = Owned(2, [])
    assert await found_desk(monkeypatch, ended) == "embedded"


@pytest.mark.parametrize("since", [-100.0, None, 0.0])
async def test_an_owner_that_never_serves_keeps_only_readers(
    monkeypatch: pytest.MonkeyPatch, since: float | None
) -> None:
    stuck = Owned(999, [], since)
    with pytest.raises(DirectoryLockedError):
        await found_desk(monkeypatch, stuck)
    # One that started long ago is not waited for at all.
    assert (len(stuck.done) == 2) is (since == -100.0)
    assert len(stuck.done) <= 2 * (10.0 / 0.25 + 1)
    reader = Owned(999, [], since)
    assert await found_desk(monkeypatch, reader, read_only=True) == "attached"
