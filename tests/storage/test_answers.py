"""An answer is found under its agent and key for a day, and not longer."""

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage.answers import KEPT_S, Answer, Answers, remember
from service_tui.storage.errors import DuplicateAnswerError

NOW = 1_800_000_000.0


def answer(key: str = "k", *, agent_id: str = "heron", at: float = NOW, text: str = "{}") -> Answer:
    return Answer(agent_id, key, "/v1/orders", "hash", text, at)


async def stored(*answers: Answer) -> MemoryDatabase:
    database = MemoryDatabase()
    for one in answers:
        await database.write(lambda connection, one=one: remember(connection, one))
    return database


@pytest.mark.parametrize(
    ("agent_id", "key", "later_s", "is_found"),
    [
        ("heron", "k", 0, True),
        ("heron", "k", KEPT_S - 1, True),
        ("heron", "k", KEPT_S, False),
        ("heron", "k", KEPT_S + 1, False),
        ("stork", "k", 0, False),
        ("", "k", 0, False),
        ("heron", "other", 0, False),
    ],
)
async def test_an_answer_is_that_of_its_agent_and_key_for_a_day(
    agent_id: str, key: str, later_s: float, *, is_found: bool
) -> None:
    answers = Answers(await stored(answer(text='{"n": 1}')))
    expected = answer(text='{"n": 1}') if is_found else None
    assert answers.find(agent_id, key, now=NOW + later_s) == expected
    assert await answers.settled(agent_id, key, now=NOW + later_s) == expected
    recent = answers.recent(now=NOW + later_s, limit=9)
    assert recent == ([("heron", "k", NOW)] if later_s < KEPT_S else [])


async def test_the_newest_keys_are_told_oldest_first() -> None:
    answers = Answers(await stored(*(answer(f"k{at}", at=NOW + at) for at in (2, 3, 1))))
    assert [key for _, key, _ in answers.recent(now=NOW + 3, limit=2)] == ["k2", "k3"]
    assert [key for _, key, _ in answers.recent(now=NOW + 3, limit=9)] == ["k1", "k2", "k3"]


async def test_a_key_is_answered_once_a_day_for_each_agent() -> None:
    database = await stored(answer(text="first"), answer(agent_id="stork"), answer("other"))
    for at in (NOW, NOW + KEPT_S - 1):
        again = answer(at=at, text="second")
        with pytest.raises(DuplicateAnswerError, match="key k "):
            await database.write(lambda connection, again=again: remember(connection, again))
    assert Answers(database).find("heron", "k", now=NOW) == answer(text="first")
    later = answer(at=NOW + KEPT_S, text="third")
    await database.write(lambda connection: remember(connection, later))
    assert Answers(database).find("heron", "k", now=later.at) == later
    # Only the key that was answered again is forgotten with it.
    assert len(Answers(database).recent(now=NOW, limit=9)) == 3


async def test_what_is_a_day_old_is_forgotten_and_counted() -> None:
    database = await stored(*(answer(f"k{at}", at=NOW + at) for at in range(4)))
    answers = Answers(database)
    assert await answers.forget_old(NOW + KEPT_S - 1) == 0
    assert await answers.forget_old(NOW + KEPT_S + 1) == 2
    assert [key for _, key, _ in answers.recent(now=NOW, limit=9)] == ["k2", "k3"]
