"""Which calls are repeats: by agent and key, over a day, whatever memory has forgotten."""

import asyncio
from typing import Any, Final

import pytest
from starlette.datastructures import Headers

from kit.service.memory import MemoryDatabase
from service_tui.server.http.idempotency import KNOWN_MAX, Promise, Repeats, hash_of, key_of, recall
from service_tui.server.http.refusals import Denied
from service_tui.storage.answers import KEPT_S, Answer, remember
from service_tui.wire.world import SpeedRequest

NOW: Final = 1_800_000_000.0


class Kept:
    """Answers on disk, and who asked for them."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = {(one.agent_id, one.key): one for one in answers}
        self.asked: list[tuple[str, str, float]] = []

    async def settled(self, agent_id: str, key: str, *, now: float) -> Answer | None:
        self.asked.append((agent_id, key, now))
        return self.answers.get((agent_id, key))


def answer(agent_id: str = "a1", key: str = "k1", path: str = "/p", body: str = "h") -> Answer:
    return Answer(agent_id, key, path, body, "{}", NOW - 9)


def promise(**changes: Any) -> Promise:
    given = {"agent_id": "a1", "key": "k1", "path": "/p", "body_hash": "h", "at": NOW}
    return Promise(**{**given, **changes})


def repeats(kept: Kept, *known: tuple[str, str, float], known_max: int = KNOWN_MAX) -> Repeats:
    return Repeats(kept, list(known), known_max)  # pyright: ignore[reportArgumentType]


async def earlier(one: Repeats, asked: Promise) -> Answer | None:
    async with one.turn(asked) as found:
        return found


def test_a_promise_keeps_the_answer_with_all_that_tells_it_apart() -> None:
    made = Promise("a1", "k1", "/p", "h", NOW)
    assert made.kept is None
    assert made.keep('{"a":1}') == Answer("a1", "k1", "/p", "h", '{"a":1}', NOW)
    assert made.kept == '{"a":1}'


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ([], None),
        (["k1"], "k1"),
        (["a key ~"], "a key ~"),
        (["k" * 128], "k" * 128),
        (["k" * 129], Denied),
        ([""], Denied),
        (["   "], Denied),
        (["a\tb"], Denied),
        (["k1", "k1"], Denied),
    ],
)
def test_a_key_is_one_header_of_printable_letters(sent: list[str], key: object) -> None:
    headers = Headers(raw=[(b"idempotency-key", one.encode()) for one in sent])
    if key is Denied:
        with pytest.raises(Denied) as refused:
            key_of(headers)
        assert refused.value.status == 422
    else:
        assert key_of(headers) == key


def test_the_hash_of_a_body_is_that_of_its_meaning() -> None:
    one, same, other = (
        SpeedRequest.model_validate_json(text)
        for text in ('{"speed": 10}', '{ "speed":10 }', '{"speed": 60}')
    )
    assert hash_of(one) == hash_of(same) != hash_of(other)
    assert hash_of(None).startswith("e3b0c442")
    assert hash_of(one) != hash_of(None)


async def test_a_new_key_is_looked_up_nowhere_and_a_known_one_on_disk() -> None:
    kept = Kept(answer())
    one = repeats(kept)
    assert await earlier(one, promise()) is None
    assert kept.asked == []
    assert await earlier(one, promise(at=NOW + 1)) == answer()
    assert kept.asked == [("a1", "k1", NOW + 1)]
    assert await earlier(one, promise(agent_id="a2")) is None
    assert await earlier(one, promise(key="k2")) is None
    assert len(kept.asked) == 1


async def test_the_keys_of_the_last_day_are_known_after_a_restart() -> None:
    kept = Kept(answer())
    assert await earlier(repeats(kept, ("a1", "k1", NOW - 9)), promise()) == answer()


@pytest.mark.parametrize("changed", [{"path": "/q"}, {"body_hash": "other"}])
async def test_a_key_that_was_used_for_something_else_is_a_conflict(changed: Any) -> None:
    one = repeats(Kept(answer()), ("a1", "k1", NOW - 9))
    with pytest.raises(Denied) as refused:
        await earlier(one, promise(**changed))
    assert refused.value.status == 409
    assert await earlier(one, promise()) == answer()


async def test_a_key_is_forgotten_after_a_day_the_oldest_first() -> None:
    kept = Kept(answer(key="old"), answer(key="young"))
    one = repeats(kept, ("a1", "old", NOW - KEPT_S), ("a1", "young", NOW - KEPT_S + 1))
    assert await earlier(one, promise(key="young")) == answer(key="young")
    assert await earlier(one, promise(key="old")) is None
    assert [key for _, key, _ in kept.asked] == ["young"]


async def test_what_memory_had_no_room_for_is_looked_up_on_disk() -> None:
    kept = Kept(answer(key="first"))
    one = repeats(kept, known_max=2)
    for count, key in enumerate(("first", "second")):
        await earlier(one, promise(key=key, at=NOW + count))
    assert kept.asked == []
    # The third one pushes the first out: until a day after it no key is new for certain.
    await earlier(one, promise(key="third", at=NOW + 2))
    assert [key for _, key, _ in kept.asked] == ["third"]
    assert await earlier(one, promise(key="first", at=NOW + 3)) == answer(key="first")
    assert await earlier(one, promise(key="later", at=NOW + 2 * KEPT_S)) is None
    assert [key for _, key, _ in kept.asked] == ["third", "first"]


async def test_a_start_with_more_keys_than_memory_holds_looks_each_up_for_a_day() -> None:
    known = [("a1", "second", NOW), ("a1", "third", NOW + 1)]
    kept = Kept()
    one = repeats(kept, *known, known_max=2)
    await earlier(one, promise(key="new", at=NOW + KEPT_S - 1))
    assert [key for _, key, _ in kept.asked] == ["new"]
    again = repeats(kept, known[0], known_max=2)
    await earlier(again, promise(key="new", at=NOW + 5))
    assert len(kept.asked) == 1


async def test_of_two_calls_with_one_key_the_second_waits_for_the_first() -> None:
    one, order = repeats(Kept(answer())), list[str]()

    async def call(name: str, asked: Promise) -> None:
        async with one.turn(asked) as found:
            order.append(f"{name} {'new' if found is None else 'again'}")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(call("one", promise()))
        tasks.create_task(call("two", promise()))
        tasks.create_task(call("other", promise(key="k2")))
    assert order.index("one ends") < order.index("two again")
    assert order.index("other new") < order.index("one ends")


async def test_a_call_that_fails_lets_the_next_one_in() -> None:
    one = repeats(Kept())
    with pytest.raises(ZeroDivisionError):
        async with one.turn(promise()):
            raise ZeroDivisionError
    assert await earlier(one, promise()) is None


async def test_a_start_reads_the_keys_of_the_last_day() -> None:
    database: Any = MemoryDatabase()
    await database.write(lambda connection: remember(connection, answer()))
    one = recall(database, NOW)
    assert await earlier(one, promise()) == answer()
    assert await earlier(one, promise(key="k2")) is None
