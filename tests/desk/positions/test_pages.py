"""The desk reads positions in bounded pages, and what has ended for good once."""

import pytest

from service_tui.client.client import BODY_MAX
from service_tui.client.reply import Reply
from service_tui.desk.positions import pages as position_pages
from service_tui.desk.positions.pages import (
    ENDED_KEPT,
    FIRST_PAGES,
    LIVE_PAGES_MAX,
    PAGE,
    EndedRows,
    all_positions,
    is_final,
    key_of,
)
from service_tui.terms import Venue
from service_tui.units import Timestamp
from service_tui.wire.positions import PositionBody, PositionsBody, PositionSideBody, PositionsQuery


def row(number: int, *, ended: bool = True, redeemable: bool = False) -> PositionBody:
    side = PositionSideBody.model_construct(side="yes")
    outcome = True if ended else None
    return PositionBody.model_construct(
        market_id=f"m{number:06d}", outcome=outcome, redeemable=redeemable, sides=(side,)
    )


class Account:
    """A service's list of positions; `asked` are the offsets that it was asked for."""

    def __init__(self, rows: list[PositionBody], *, knows_pages: bool = True) -> None:
        self.rows, self.knows_pages = rows, knows_pages
        self.agent_id = "a1"
        self.asked: list[int] = []

    async def ask(self, query: PositionsQuery) -> Reply[PositionsBody]:
        assert query.limit == PAGE
        self.asked.append(query.offset)
        rows = self.rows[query.offset :][: query.limit] if self.knows_pages else self.rows
        body = PositionsBody.model_construct(agent_id=self.agent_id, positions=tuple(rows))
        return Reply(body, 0, 0.01, Timestamp(0.0))

    async def read(self, ended: EndedRows) -> list[str]:
        self.asked.clear()
        return [key_of(one)[1] for one in (await all_positions(self.ask, ended)).rows]


@pytest.mark.slow
async def test_an_old_account_is_read_in_pages_and_its_past_once() -> None:
    live = [row(number, ended=False) for number in range(20)]
    past = [row(100_000 - number) for number in range(10_000)]
    account, ended = Account([*live, *past]), EndedRows()
    found = await account.read(ended)
    assert account.asked == [place * PAGE for place in range(FIRST_PAGES)]
    assert found == [one.market_id for one in (live + past)[: FIRST_PAGES * PAGE]]
    # One more has ended: a page tells of it, and what is older is known.
    account.rows = [*live[1:], row(100_001), *past]
    again = await account.read(ended)
    assert account.asked == [0]
    assert again[:20] == [one.market_id for one in [*live[1:], row(100_001)]]
    assert again[20:] == [one.market_id for one in past][: len(again) - 20]
    assert len(again) >= len(found)
    assert len(ended.rows) <= ENDED_KEPT


@pytest.mark.slow
async def test_what_is_held_is_read_whole_and_what_may_be_redeemed_each_time() -> None:
    held = [row(number, ended=False) for number in range(2 * PAGE + 7)]
    waits = [row(5_000, redeemable=True)]
    account, ended = (
        Account([*held, *waits, *(row(9_000 + one) for one in range(PAGE))]),
        EndedRows(),
    )
    assert len(await account.read(ended)) == 3 * PAGE
    account.rows.remove(waits[0])
    found = await account.read(ended)
    assert account.asked == [0, PAGE, 2 * PAGE]
    assert "m005000" not in found
    assert len(found) == 3 * PAGE


async def test_a_service_without_pages_and_another_agent_start_over() -> None:
    account, ended = (
        Account([row(number) for number in range(PAGE)], knows_pages=False),
        EndedRows(),
    )
    assert len(await account.read(ended)) == PAGE
    assert account.asked == [0, PAGE]
    account.rows = account.rows[:3]
    assert len(await account.read(ended)) == 3
    account.agent_id, account.rows = "a2", [row(1)]
    assert await account.read(ended) == ["m000001"]
    assert len(ended.rows) == 1


def test_a_page_is_far_below_what_the_client_takes() -> None:
    side = {"shares_yes": 123456.12345, "question": "q" * 160, "sources": ("sdk:some-skill",)}
    body = PositionBody(market_id="m" * 36, **side).model_dump_json()
    assert 2 * len(body) * PAGE < BODY_MAX


async def test_what_could_not_be_read_is_counted_and_makes_a_page_whole() -> None:
    full = PositionsBody.model_construct(
        agent_id="a1", positions=tuple(row(number, ended=False) for number in range(PAGE - 2))
    )
    last = PositionsBody.model_construct(agent_id="a1", positions=(row(9_000, ended=False),))
    replies = [Reply(full, 2, 0.01, Timestamp(0.0)), Reply(last, 3, 0.25, Timestamp(0.0))]
    asked: list[PositionsQuery] = []

    async def ask(query: PositionsQuery) -> Reply[PositionsBody]:
        asked.append(query)
        return replies[len(asked) - 1]

    found = await all_positions(ask, EndedRows())
    assert asked == [
        PositionsQuery(venue="all", status="all", limit=PAGE, offset=offset) for offset in (0, PAGE)
    ]
    assert (found.dropped, found.latency_s, found.answer) == (5, 0.25, last)
    assert len(found.rows) == PAGE - 1


@pytest.mark.slow
async def test_an_export_reads_every_page_and_keeps_what_ended() -> None:
    past = [row(100_000 - number) for number in range((FIRST_PAGES + 1) * PAGE + 7)]
    account, ended = Account(past), EndedRows()
    found = await all_positions(account.ask, ended, whole=True)
    assert account.asked == [place * PAGE for place in range(FIRST_PAGES + 2)]
    assert found.rows == past
    assert len(ended.rows) == len(past)


@pytest.mark.slow
async def test_a_reading_of_what_can_still_change_has_an_end() -> None:
    account = Account([row(number, ended=False) for number in range((LIVE_PAGES_MAX + 2) * PAGE)])
    assert len(await account.read(EndedRows())) == LIVE_PAGES_MAX * PAGE
    assert len(account.asked) == LIVE_PAGES_MAX


async def test_what_may_be_redeemed_comes_before_what_ended_and_is_never_kept() -> None:
    waits, over = row(1, redeemable=True), row(2)
    account, ended = Account([over, waits]), EndedRows()
    assert await account.read(ended) == ["m000001", "m000002"]
    assert [key[1] for key in ended.rows] == ["m000002"]


@pytest.mark.parametrize(
    ("outcome", "redeemable", "expected"),
    [
        (None, False, False),
        (None, True, False),
        (True, True, False),
        (True, False, True),
        (False, False, True),
    ],
)
def test_final_is_what_has_an_outcome_and_nothing_to_redeem(
    *, outcome: bool | None, redeemable: bool, expected: bool
) -> None:
    body = PositionBody.model_construct(market_id="m", outcome=outcome, redeemable=redeemable)
    assert is_final(body) is expected


def test_a_row_is_known_by_venue_market_sides_and_wallet() -> None:
    side = PositionSideBody.model_construct(side="no")
    held = PositionBody(market_id="m", venue="sim", shares_yes=2.0)
    assert key_of(held) == (Venue.SIM, "m", ("True", "False"), "")
    other = PositionBody(market_id="m", venue="sim", shares_no=0.5)
    assert key_of(other) == (Venue.SIM, "m", ("False", "True"), "")
    sided = PositionBody.model_construct(market_id="m", venue=Venue.EVM, sides=(side,))
    assert key_of(sided) == (Venue.EVM, "m", ("no",), "")
    elsewhere = sided.model_copy(update={"wallet": "0xab"})
    assert key_of(elsewhere) == (Venue.EVM, "m", ("no",), "0xab")


# -- the same in pages of three rows


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_pages, "PAGE", 3)
    monkeypatch.setattr(position_pages, "ENDED_KEPT", 7)


class Small:
    """An account of a few rows in pages of three."""

    def __init__(self, *rows: PositionBody, agent_id: str = "a1") -> None:
        self.rows, self.agent_id = rows, agent_id
        self.asked: list[int] = []

    async def ask(self, query: PositionsQuery) -> Reply[PositionsBody]:
        assert query.limit == 3
        self.asked.append(query.offset)
        page = self.rows[query.offset :][:3]
        body = PositionsBody.model_construct(agent_id=self.agent_id, positions=page)
        return Reply(body, 0, 0.01, Timestamp(0.0))

    async def read(self, ended: EndedRows) -> list[int]:
        self.asked.clear()
        return [int(key_of(one)[1][1:]) for one in (await all_positions(self.ask, ended)).rows]


def over(*numbers: int) -> list[PositionBody]:
    return [row(number) for number in numbers]


@pytest.mark.usefixtures("small")
async def test_the_past_is_read_in_three_pages_and_then_in_one() -> None:
    account, ended = Small(*over(*range(20, 0, -1))), EndedRows()
    assert await account.read(ended) == [20, 19, 18, 17, 16, 15, 14]
    assert account.asked == [0, 3, 6]
    account.rows = tuple(over(*range(22, 0, -1)))
    # What is older than the page stays as it was, without what is there twice.
    assert await account.read(ended) == [22, 21, 20, 19, 18, 17, 16]
    assert account.asked == [0]
    assert [key[1] for key in ended.rows][:2] == ["m000022", "m000021"]


@pytest.mark.usefixtures("small")
async def test_a_page_that_ends_in_what_can_change_is_followed_by_another() -> None:
    live = [row(number, ended=False) for number in (91, 92)]
    first = [*over(30, 29), row(90, ended=False), *live, *over(28, 27, 26, 25)]
    account, ended = Small(*first), EndedRows()
    ended.agent_id, ended.rows = "a1", {key_of(one): one for one in over(26, 2)}
    found = await account.read(ended)
    assert account.asked == [0, 3]
    assert found == [90, 91, 92, 30, 29, 28, 26, 2]


@pytest.mark.usefixtures("small")
async def test_a_page_whose_last_row_alone_can_change_is_no_end() -> None:
    account, ended = Small(*over(5, 4), row(90, ended=False), *over(3)), EndedRows()
    ended.agent_id, ended.rows = "a1", {key_of(one): one for one in over(4)}
    assert await account.read(ended) == [90, 5, 4, 3]
    assert account.asked == [0, 3]


@pytest.mark.usefixtures("small")
async def test_of_a_whole_list_nothing_is_remembered_that_is_not_in_it() -> None:
    account, ended = Small(*over(5, 4)), EndedRows()
    ended.agent_id, ended.rows = "a1", {key_of(one): one for one in over(3)}
    assert await account.read(ended) == [5, 4]


@pytest.mark.usefixtures("small")
async def test_another_agents_past_is_its_own() -> None:
    account, ended = Small(*over(5, 4, 3), agent_id="a2"), EndedRows()
    ended.agent_id, ended.rows = "a1", {key_of(one): one for one in over(2, 1)}
    assert await account.read(ended) == [5, 4, 3]
    assert ended.agent_id == "a2"
    assert account.asked == [0, 3]
    account.rows = tuple(over(9, 8, 7, 6, 5, 4, 3))
    assert await account.read(ended) == [9, 8, 7, 5, 4, 3]
