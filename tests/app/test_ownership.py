"""How the options of a start set up the service of a data directory."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from kit.desk.faults import broken_disk
from service_tui.app.data import open_data
from service_tui.app.options import Options
from service_tui.app.ownership import DirectoryOwner, open_embedded, sim_settings
from service_tui.app.shared_desk import SharedProcess
from service_tui.app.topics import load_topics
from service_tui.clock import ManualClock, SystemClock
from service_tui.commands import worlds
from service_tui.commands.worlds import CALL_S, Share, places_of
from service_tui.credentials.api_keys import DeskKeys
from service_tui.server.startup import BASE_URL
from service_tui.signing.book import ExchangeVersion
from service_tui.storage.errors import StorageError
from service_tui.storage.halt_mark import mark_halt
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.roll import Roll
from service_tui.terms import SIGNAL_TTL_S, Plan

KEYS = DeskKeys("the operator's key")


def options(folder: Path, **other: Any) -> Options:
    given: dict[str, Any] = {"data_dir": folder, "config_dir": folder, "log_path": folder / "log"}
    return Options(**(given | other))


def test_every_option_of_a_start_reaches_the_service(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "seed": 41, "plan": next(one for one in Plan if one is not options(tmp_path).plan),
        "speed": 17, "limits": False, "signal_ttl_s": 33.0,
        "exchange": next(
            one.value
            for one in ExchangeVersion
            if one.value != options(tmp_path).exchange
        ),
        "loopback_webhooks": True, "scripted": True, "world": "third",
    }  # fmt: skip
    made = sim_settings(options(tmp_path, **given), KEYS)
    assert (made.seed, made.plan, made.speed, made.limits) == (41, given["plan"], 17, False)
    assert made.signal_ttl_s == 33.0
    assert made.exchange == ExchangeVersion(given["exchange"])
    assert (made.loopback_webhooks, made.is_scripted, made.world_name) == (True, True, "third")
    assert made.operator_key == "the operator's key"
    assert made.topics.table == load_topics().table
    assert made.webhook_secrets is not None
    network = {"host": "0.0.0.0", "tls_cert": tmp_path, "tls_key": tmp_path}  # noqa: S104
    for invitations in (True, False):
        there = options(tmp_path, **network, invitations=invitations)
        wide = sim_settings(there, KEYS)
        assert wide.is_on_network is there.is_on_network is True
        assert wide.needs_invitation is invitations
    usual = sim_settings(options(tmp_path), KEYS)
    assert (usual.loopback_webhooks, usual.is_scripted) == (False, False)
    assert usual.signal_ttl_s == SIGNAL_TTL_S
    assert usual.exchange != made.exchange


def test_a_world_without_a_seed_gets_one_of_its_own_and_zero_is_a_seed(tmp_path: Path) -> None:
    seeds = {sim_settings(options(tmp_path), KEYS).seed for _ in range(4)}
    assert len(seeds) > 1
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sim_settings(options(tmp_path, seed=0), KEYS).seed == 0


async def test_a_daily_copy_that_fails_ends_no_desk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_data(tmp_path, ManualClock(77.0)) as data:
        nobody: Any = None
        owner = DirectoryOwner(nobody, "", data.database, ManualClock(77.0))
        with broken_disk():
            await owner.back_up()
    assert caplog.records


async def test_a_marked_directory_is_halted_before_anybody_reaches_its_service(
    tmp_path: Path,
) -> None:
    clock = SystemClock()
    mark_halt(tmp_path, clock.now() - 5)
    async with (
        open_data(tmp_path, clock) as data,
        open_embedded(options(tmp_path, seed=7), data.database, clock) as (sim, api_keys),
        httpx.AsyncClient(
            transport=sim.transport,
            base_url=BASE_URL,
            headers={"Authorization": f"Bearer {api_keys.agent}"},
        ) as agent,
    ):
        market = (await agent.get("/api/sdk/markets?limit=1")).json()["markets"][0]["id"]
        order = {"market_id": market, "side": "yes", "amount": 5}
        answer = await agent.post("/api/sdk/trade", json=order)
        assert "halted" in answer.text


# -- several worlds in one process -----------------------------------------------------------------


class Process:
    """A process of one world, as far as a share looks at it."""

    def __init__(self, *, leads: bool) -> None:
        self.leads = leads
        self.handed = 0
        self.has_room: Callable[[], bool] = lambda: True

    def hand_over(self) -> None:
        self.handed += 1


class Calls:
    """The roll: how many processes are there at each call."""

    def __init__(self, *there: int) -> None:
        self.there = list(there)
        self.closed = 0

    def call(self) -> int:
        if not self.there:
            raise StorageError("no answer")
        return self.there.pop(0)

    def close(self) -> None:
        self.closed += 1


def share_with(calls: Calls, *leads: bool) -> tuple[Share, list[Process]]:
    processes = [Process(leads=one) for one in leads]
    share = Share(cast("Roll", calls), cast("list[SharedProcess]", processes))
    return share, processes


@pytest.mark.parametrize(
    ("leads", "there", "handed", "has_room"),
    [
        ((True, True, True), 1, (0, 0, 0), False),
        ((True, False, True), 1, (0, 0, 0), True),
        ((True, True, True), 2, (0, 0, 1), False),
        ((True, True, False), 2, (0, 0, 0), False),
        ((True, False, False), 2, (0, 0, 0), True),
        ((True, True, False), 3, (0, 1, 0), False),
        ((False, False, False), 9, (0, 0, 0), True),
    ],
)
async def test_a_process_takes_what_is_free_below_its_share_and_hands_one_over_above_it(
    leads: tuple[bool, ...], there: int, handed: tuple[int, ...], *, has_room: bool
) -> None:
    share, processes = share_with(Calls(there), *leads)
    # Until it is known how many there are, a process may lead every world.
    assert processes[0].has_room() is (sum(leads) < len(leads))
    await share._balance()
    assert tuple(one.handed for one in processes) == handed
    assert {one.has_room() for one in processes} == {has_room}
    # A roll that does not answer moves nothing.
    await share._balance()
    assert tuple(one.handed for one in processes) == handed


async def test_the_share_is_looked_at_until_the_end_and_the_roll_closed_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = Calls(1, 2, 2)
    share, processes = share_with(calls, *[True] * 2)
    ends = [False, False, True]

    async def ends_within(_: asyncio.Event, by_s: float) -> bool:
        assert by_s == CALL_S
        return ends.pop(0)

    monkeypatch.setattr(worlds, "ends_within", ends_within)
    await share.keep(asyncio.Event())
    assert (calls.there, calls.closed) == ([2], 1)
    assert [one.handed for one in processes] == [0, 1]


def test_worlds_are_those_that_are_named_once_each_or_all_by_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[WorldPlace, bool]] = []
    found = ["old", "new"]

    def worlds_in(place: WorldPlace, *, by_age: bool) -> tuple[str, ...]:
        asked.append((place, by_age))
        return tuple(found)

    monkeypatch.setattr(worlds, "worlds_in", worlds_in)
    base = options(tmp_path, database="postgres://here/db", world="first")
    named = places_of(replace(base, worlds="b, a ,b"))
    assert named == [WorldPlace("postgres://here/db", name) for name in ("b", "a")]
    assert asked == []
    every = places_of(replace(base, worlds="all"))
    assert every == [WorldPlace("postgres://here/db", name) for name in found]
    assert asked == [(WorldPlace("postgres://here/db", "first"), True)]
    found.clear()
    with pytest.raises(StorageError, match="the database has no world"):
        places_of(replace(base, worlds="all"))
