"""The list of markets page by page: where it ends, what is counted, and what is asked."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, InvalidError, RefusalReason, UnreachableError
from service_tui.client.reply import Reply
from service_tui.desk.feed.market_pages import (
    ALL_AT_ONCE,
    PAGES_MAX,
    SHORT_PAGE,
    STATE_BY_STATE,
    _ends,
    all_markets,
)
from service_tui.desk.markets.translate import market_view
from service_tui.desk.slices.rows import LastMade
from service_tui.terms import MARKETS_PAGE_MAX
from service_tui.wire.markets import MarketBody, MarketsBody, MarketsQuery

CALLED = Called("GET", "/api/sdk/markets")
INVALID = InvalidError(RefusalReason("one status at a time", "", ""), CALLED)
FULL = MARKETS_PAGE_MAX
BODY = filled(MarketBody, 3)


def page(first: int, count: int, **other: Any) -> MarketsBody:
    """Markets by their numbers from the first on."""
    rows = tuple(
        BODY.model_copy(update={"id": f"m-{number}"}) for number in range(first, first + count)
    )
    return MarketsBody.model_construct(markets=rows, agent_id="a", **other)


@dataclass
class Line:
    """Answers one after the other, each with the rows that were dropped, or a refusal."""

    answers: list[Any]
    asked: list[MarketsQuery] = field(default_factory=list)

    async def read(
        self, queries: tuple[MarketsQuery, ...] = ALL_AT_ONCE
    ) -> tuple[list[str], bool, int, float]:
        on = Offline(sample_state(6))
        on.ports.client.call = self.call  # type: ignore[method-assign]
        seen, latency_s = await all_markets(on.ports, queries, LastMade())
        return [one.market_id for one in seen.markets], seen.complete, seen.dropped, latency_s

    async def call(self, _: object, *, query: MarketsQuery) -> Reply[Any]:
        self.asked.append(query)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        body, dropped = answer if isinstance(answer, tuple) else (answer, 0)
        return Reply(body, dropped, 0.1 * len(self.asked), 0.0)  # type: ignore[arg-type]


def names(*ranges: tuple[int, int]) -> list[str]:
    return [f"m-{number}" for first, count in ranges for number in range(first, first + count)]


async def test_a_short_page_is_the_whole_list() -> None:
    line = Line([page(0, 3)])
    assert await line.read() == (names((0, 3)), True, 0, 0.1)
    assert line.asked == [
        ALL_AT_ONCE[0].model_copy(update={"limit": MARKETS_PAGE_MAX, "offset": 0})
    ]


async def test_each_page_begins_behind_all_rows_of_those_before_it() -> None:
    line = Line([(page(0, FULL - 2), 2), (page(FULL, FULL), 0), (page(2 * FULL, 7), 1)])
    found, complete, dropped, latency_s = await line.read()
    assert [one.offset for one in line.asked] == [0, FULL, 2 * FULL]
    assert {one.limit for one in line.asked} == {FULL}
    assert (len(found), complete, dropped) == (2 * FULL + 5, True, 3)
    assert latency_s == pytest.approx(0.3)


async def test_an_empty_page_or_one_that_came_before_ends_the_list() -> None:
    for last in (page(0, 0), page(0, FULL)):
        line = Line([page(0, FULL), last])
        found, complete, dropped, _ = await line.read()
        assert (found, complete, dropped) == (names((0, FULL)), True, 0)


async def test_a_page_of_rows_that_cannot_be_read_is_no_end() -> None:
    line = Line([(page(0, 0), FULL), page(FULL, 3)])
    found, _, dropped, _ = await line.read()
    assert (found, dropped) == (names((FULL, 3)), FULL)


async def test_a_market_that_moved_on_counts_once_and_as_it_is_now() -> None:
    newer = BODY.model_copy(update={"id": "m-1", "question": "the newer one"})
    second = MarketsBody.model_construct(markets=(newer, *page(FULL, 2).markets), agent_id="a")
    line = Line([page(0, FULL), second])
    on = Offline(sample_state(6))
    on.ports.client.call = line.call  # type: ignore[method-assign]
    seen, _ = await all_markets(on.ports, ALL_AT_ONCE, LastMade())
    assert len(seen.markets) == FULL + 2
    assert seen.markets[1] == market_view(newer)


@pytest.mark.parametrize(
    ("count", "offset", "total", "ends"),
    [
        (SHORT_PAGE, SHORT_PAGE, None, False),
        (SHORT_PAGE + 1, 151, None, True),
        (SHORT_PAGE - 1, 49, None, True),
        (2 * SHORT_PAGE, 100, None, False),
        (20, 20, 21, False),
        (20, 20, 20, True),
        (20, 21, 20, True),
        (SHORT_PAGE, 50, 50, True),
        (7, 7, 0, True),
    ],
)
def test_a_short_page_ends_the_list_by_its_total_or_by_its_odd_length(
    count: int, offset: int, total: int | None, *, ends: bool
) -> None:
    assert _ends(count, offset, total) is ends


@pytest.mark.parametrize("name", ["total", "total_count"])
async def test_a_total_under_either_name_says_that_more_comes(name: str) -> None:
    line = Line([page(0, 20, **{name: 30}), page(20, 10, **{name: 30})])
    assert (await line.read())[0] == names((0, 30))


async def test_of_two_totals_the_plain_one_counts() -> None:
    line = Line([page(0, 20, total=20, total_count=99)])
    assert (await line.read())[0] == names((0, 20))


@pytest.mark.slow
async def test_a_list_without_end_is_read_so_far_and_called_incomplete() -> None:
    line = Line([page(place * FULL, FULL) for place in range(PAGES_MAX + 5)])
    found, complete, _, _ = await line.read()
    assert (len(found), complete, len(line.asked)) == (PAGES_MAX * FULL, False, PAGES_MAX)


async def test_only_the_first_question_must_be_answered() -> None:
    line = Line([page(0, 3), INVALID, page(3, 2)])
    assert await line.read(STATE_BY_STATE) == (names((0, 5)), True, 0, pytest.approx(0.3))
    assert [one.status for one in line.asked] == ["active", "closed", "resolved"]
    with pytest.raises(InvalidError):
        await Line([INVALID]).read(STATE_BY_STATE)
    with pytest.raises(UnreachableError):
        await Line([page(0, 3), UnreachableError("away", CALLED)]).read(STATE_BY_STATE)


def test_what_was_made_of_the_same_answers_is_not_made_again() -> None:
    last: LastMade[list[int]] = LastMade()
    made: list[int] = []

    def make() -> list[int]:
        made.append(len(made))
        return [len(made)]

    one, other = [1], [1]
    first = last.of((one, other), make)
    assert last.of((one, other), make) is first
    assert made == [0]
    # Equal is not the same, fewer are not, and another order is not.
    for answers in ((one, [1]), (one,), (other, one), (one, other, one)):
        before = len(made)
        last.of(answers, make)
        assert len(made) == before + 1
