"""A service that answers wrongly in every way: no desk ends, nothing is sent, and it says why."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from kit.desk.hostile import Told, lied_to
from kit.examples import DEPTH
from kit.service import hostile
from kit.service.hostile import Bytes, Way
from service_tui.client.reply import NotProtocolError, decode
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints.public import ALL

pytestmark = pytest.mark.slow

WAYS_LEAST = 15_000
"""Made from the answers of a service with a past; fewer would mean that it has none."""

SEED = 20_270_101

ASKS_TO_WAIT = {"status 401", "status 429", "status 503"}
"""A path that refuses the key, or asks for patience, is left alone for a minute."""


def answers_of(path: str) -> type[WireModel]:
    """The body that a path answers with."""
    patterns = {re.sub(r"{\w+}", r"[^/]+", one.path): one for one in ALL if one.reads}
    return next(one.answers for pattern, one in patterns.items() if re.fullmatch(pattern, path))


def became(answers: type[WireModel], raw: bytes) -> str:
    """What the client makes of the bytes; nothing else than these two may come of them."""
    try:
        decode(answers, raw)
    except NotProtocolError as error:
        return str(error)
    return ""


async def test_a_wrong_field_is_an_answer_or_none(tmp_path: Path) -> None:
    async with lied_to(tmp_path) as told:
        bodies = dict(told.lied.bodies)
    found: Counter[bool] = Counter()
    for path, body in bodies.items():
        answers = answers_of(path)
        for way in hostile.field_ways(body):
            why = became(answers, way.bytes_of(body))
            assert "\x1b" not in why, way.name
            found[bool(why)] += 1
    assert found.total() >= WAYS_LEAST, found
    assert min(found.values()) > WAYS_LEAST / 20, found


def figures(state: DeskState) -> str:
    """Every figure that a header, a list or a report may show, in words."""
    return repr((state.account, state.positions, state.on_venues, state.equity[-1:]))


async def lie(told: Told, path: str, way: Way | Bytes) -> str:
    """Answer so once, then truly again.

    Returns:
        What became of the lie: refused, or taken for an answer.
    """
    before, written = told.desk.state, len(told.lied.written)
    where = f"{path}: {way.name}"
    told.lied.ways[path] = way
    await told.read(path)
    state, problem = told.desk.state, told.problem(path)
    if problem:
        assert "\x1b" not in problem, where
        assert len(problem) < 500, where
    if state.account is not None and state.account.equity is not None:
        assert "nan" not in figures(state), where
        assert "inf" not in figures(state), where
    told.lied.ways.clear()
    told.line.released.set()
    took_s = await told.read(path, until_good=True)
    assert took_s <= (60.0 if way.name in ASKS_TO_WAIT else 5.0), (where, took_s)
    assert len(told.lied.written) == written, where
    state = told.desk.state
    assert not state.service.failures, (where, state.service.failures)
    assert state.service.phase is Phase.ONLINE, where
    told.line.released.clear()
    assert state.positions == before.positions, where
    return "refused" if problem else "taken"


def drawn(ways: Sequence[Way | Bytes], count: int, rng: random.Random) -> Sequence[Way | Bytes]:
    """A few of them in an ordinary run, all in a deep one."""
    return ways if DEPTH > 1 else rng.sample(ways, min(count, len(ways)))


@pytest.mark.parametrize("kind", ["whole", "field"])
async def test_a_lie_ends_no_desk_sends_nothing_and_is_over_with_the_next_answer(
    tmp_path: Path, kind: str
) -> None:
    rng = random.Random(SEED)
    ends: Counter[str] = Counter()
    async with lied_to(tmp_path) as told:
        for path, body in list(told.lied.bodies.items()):
            ways = hostile.WHOLE if kind == "whole" else tuple(hostile.field_ways(body))
            for way in drawn(ways, 3, rng):
                ends[await lie(told, path, way)] += 1
    assert set(ends) == {"refused", "taken"}, ends
