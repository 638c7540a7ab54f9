"""A directory that is read for a moment: its keys, its world, and what is mended first."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import bare_world
from service_tui.app import ownership
from service_tui.app.options import Options
from service_tui.commands import reading as room
from service_tui.credentials.keys import DeskKeys
from service_tui.server.http.access import hash_of
from service_tui.signing.book import ExchangeVersion
from service_tui.terms import Plan

KEYS = DeskKeys("sk_operator", agent="sk_live_own", agent_id="own")
RENEWED = DeskKeys("sk_operator", agent="sk_live_new", agent_id="own")


def service(agent_id: str = "own", key: str = "sk_live_own") -> Any:
    world = bare_world(agent_id)
    world.agents[agent_id].key_hash = hash_of(key)
    return SimpleNamespace(world=world, operator_agent=None)


@pytest.mark.parametrize(
    ("made", "keys", "knows"),
    [
        (service(), KEYS, True), (service("other"), KEYS, False),
        (service(key="sk_live_old"), KEYS, False), (service(), DeskKeys("sk_operator"), False),
        (service(), DeskKeys("sk_operator", agent_id="own"), False),
    ],
)  # fmt: skip
def test_the_own_agent_is_known_by_its_id_and_its_key(
    made: Any, keys: DeskKeys, *, knows: bool
) -> None:
    assert room._knows(made, keys) is knows


@pytest.mark.parametrize("seed", [0, 7, None])
def test_a_new_world_begins_as_the_options_say(tmp_path: Path, seed: int | None) -> None:
    options = Options(
        tmp_path, tmp_path, tmp_path / "log", seed=seed, plan=Plan.PRO, speed=3, exchange="v2"
    )
    settings = room._settings(options)
    assert (settings.plan, settings.speed, settings.exchange) == (
        Plan.PRO, 3, ExchangeVersion("v2"),
    )  # fmt: skip
    assert 0 <= settings.seed < 2**31
    assert seed is None or settings.seed == seed


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_directory_that_is_new_is_opened_whole_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    done: list[object] = []
    services = [
        service(key="sk_live_own" if is_known else "sk_live_lost"),
        service(key="sk_live_new"),
    ]
    data = SimpleNamespace(database="database")

    @asynccontextmanager
    async def open_data(folder: Path, clock: object) -> AsyncGenerator[Any]:
        assert clock == "clock"
        done.append(folder)
        yield data
        done.append("closed")

    async def service_of(database: str, *_: object, is_brief: bool) -> Any:
        done.append((database, is_brief))
        return services.pop(0)

    @asynccontextmanager
    async def open_embedded(_: object, database: str, clock: object) -> AsyncGenerator[Any]:
        done.append(("whole", database, clock))
        yield None, RENEWED

    @asynccontextmanager
    async def client(transport: Any, url: str, keys: Any, **given: Any) -> AsyncGenerator[str]:
        done.append((transport, url, keys, given["read_only"], given["clock"]))
        yield "client"

    monkeypatch.setattr(room, "open_data", open_data)
    monkeypatch.setattr(room, "service_of", service_of)
    monkeypatch.setattr(ownership, "open_embedded", open_embedded)
    monkeypatch.setattr(room, "desk_keys", lambda _: KEYS)
    monkeypatch.setattr(room, "Client", client)
    monkeypatch.setattr(room, "ReadTransport", lambda made, access: (made, access))
    monkeypatch.setattr(room, "Access", lambda hashed: f"access {hashed == hash_of('sk_operator')}")
    monkeypatch.setattr(room, "client_keys", lambda keys, url: (keys.agent, url))
    options = Options(tmp_path, tmp_path, tmp_path / "log")
    kept = services[0 if is_known else 1]
    async with room.reading(options, "clock") as (got, database):  # type: ignore[arg-type]
        assert (got, database) == ("client", "database")
    mended = [] if is_known else [("whole", "database", "clock"), ("database", True)]
    key = "sk_live_own" if is_known else "sk_live_new"
    assert done == [
        tmp_path, ("database", True), *mended,
        ((kept, "access True"), room.BASE_URL, (key, room.BASE_URL), True, "clock"), "closed",
    ]  # fmt: skip
    assert kept.operator_agent == "own"
