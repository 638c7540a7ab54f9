"""The desk's own agent: found again, registered once, given another key where its own is lost."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from service_tui.app import own_agent
from service_tui.app.own_agent import OWN_AGENT, keys_of_own_agent, own_key_writer
from service_tui.clock import ManualClock
from service_tui.credentials.keys import DeskKeys, KeysError
from service_tui.server.http.access import hash_of
from service_tui.storage.errors import StorageError
from service_tui.wire.endpoints.desk import DESK_NEW_KEY
from service_tui.wire.endpoints.public import REGISTER

Note = SimpleNamespace
OPERATOR = "op_" + "a" * 32
KEY = "sk_live_" + "b" * 40
NEW = "sk_live_" + "c" * 40


def agent(agent_id: str, key: str = "other", name: str = "desk") -> Any:
    return Note(agent_id=agent_id, key_hash=hash_of(key), settings=Note(name=name))


class Place:
    """A directory, its database and its service, which take notes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *agents: Any, kept: str = "") -> None:
        self.done: list[tuple[Any, ...]] = []
        self.agents = {one.agent_id: one for one in agents}
        self.kept = {OWN_AGENT: kept} if kept else {}
        place = self

        class Client:
            def __init__(self, _transport: Any, _url: str, keys: Any, **_: Any) -> None:
                place.done.append(("client", keys.api, keys.operator.secret))

            async def __aenter__(self) -> Self:
                return self

            async def __aexit__(self, *_: object) -> None:
                place.done.append(("closed",))

            async def call(self, endpoint: Any, **given: Any) -> Any:
                name = {REGISTER: "register", DESK_NEW_KEY: "new key"}[endpoint]
                said = given["body"].name if "body" in given else given["path"]["agent_id"]
                place.done.append((name, said))
                return Note(answer=Note(api_key=NEW, agent_id="a-new"))

        class Cache:
            def __init__(self, _: Any) -> None: ...

            def preferences(self) -> dict[str, str]:
                return place.kept

            async def put_preference(self, name: str, value: str) -> None:
                place.done.append(("kept", name, value))

        monkeypatch.setattr(own_agent, "Client", Client)
        monkeypatch.setattr(own_agent, "CacheStore", Cache)
        monkeypatch.setattr(
            own_agent, "keep_desk_keys", lambda *given: place.done.append(("file", *given))
        )

    async def keys(self, keys: DeskKeys) -> DeskKeys:
        sim: Any = Note(transport=None, service=Note(world=Note(agents=self.agents)))
        database: Any = Note(path=Path("d/desk.sqlite3"))
        return await keys_of_own_agent(sim, database, keys, ManualClock())


async def test_a_working_key_is_kept_and_its_agent_noted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = DeskKeys(OPERATOR, KEY, "a-1")
    known = Place(monkeypatch, agent("a-1", KEY), kept="a-1")
    assert await known.keys(keys) == keys
    assert [one[0] for one in known.done] == ["client"]
    older = Place(monkeypatch, agent("a-1", KEY))
    assert await older.keys(keys) == keys
    assert older.done[1:] == [("kept", OWN_AGENT, "a-1")]


async def test_the_first_start_registers_and_stores_the_key_before_it_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(monkeypatch)
    made = DeskKeys(OPERATOR, NEW, "a-new")
    assert await place.keys(DeskKeys(OPERATOR)) == made
    assert place.done[1:] == [
        ("register", "desk"), ("closed",), ("file", Path("d"), made),
        ("kept", OWN_AGENT, "a-new"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "kept", "own"),
    [
        (DeskKeys(OPERATOR, "wrong", "a-1"), "", "a-1"),
        (DeskKeys(OPERATOR, None, "a-1"), "", "a-1"),
        (DeskKeys(OPERATOR, KEY, "a-gone"), "a-2", "a-2"),
        (DeskKeys(OPERATOR, "wrong", "a-1"), "a-2", "a-2"),
        (DeskKeys(OPERATOR), "", "a-1"),
        (DeskKeys(OPERATOR, KEY, None), "a-gone", "a-1"),
    ],
)
async def test_a_lost_key_costs_the_key_and_not_the_account(
    monkeypatch: pytest.MonkeyPatch, keys: DeskKeys, kept: str, own: str
) -> None:
    place = Place(monkeypatch, agent("a-1", KEY), agent("a-2", KEY), kept=kept)
    found = await place.keys(keys)
    assert found == DeskKeys(OPERATOR, NEW, own, is_renewed=True)
    assert place.done[1] == ("new key", own)
    assert ("file", Path("d"), found) in place.done
    assert (("kept", OWN_AGENT, own) in place.done) is (kept != own)


async def test_an_agent_of_another_name_is_not_taken_for_the_desks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(monkeypatch, agent("a-1", name="heron"), agent("a-2"))
    assert (await place.keys(DeskKeys(OPERATOR))).agent_id == "a-new"
    assert place.done[1] == ("register", "desk")


async def test_an_operators_key_that_is_none_is_named_by_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(monkeypatch)
    with pytest.raises(KeysError, match=r"invalid operator key in d/\S+ \("):
        await place.keys(DeskKeys("two words"))
    assert place.done == []


def test_a_new_key_is_stored_for_every_desk_of_the_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored: list[Any] = [DeskKeys(OPERATOR, KEY, "a-1"), None, KeysError("malformed")]
    written: list[Any] = []

    def read(_: Path) -> DeskKeys | None:
        one = stored.pop(0)
        if isinstance(one, Exception):
            raise one
        return one  # type: ignore[no-any-return]

    monkeypatch.setattr(own_agent, "stored_desk_keys", read)
    monkeypatch.setattr(own_agent, "keep_desk_keys", lambda *given: written.append(given))
    keep = own_key_writer(Path("d"))
    keep(NEW)
    assert written == [(Path("d"), DeskKeys(OPERATOR, NEW, "a-1"))]
    with pytest.raises(StorageError, match="is missing"):
        keep(NEW)
    with pytest.raises(StorageError, match="malformed"):
        keep(NEW)
    assert len(written) == 1
