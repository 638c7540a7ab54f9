"""What becomes of a skill's buy whose answer was lost: proved, free again, or counted as spent."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.client.api_keys import ApiKey
from service_tui.client.passing import NotPassedError, Passed
from service_tui.clock import ManualClock
from service_tui.desk.agents.proxy_lookup import (
    DESK_REF,
    LookupEnd,
    _doubt_of,
    _end_of,
    due,
    end_notice,
    is_overdue,
    look_up,
    marked,
    unknown_of,
)
from service_tui.desk.agents.stored_leash import Unknown
from service_tui.desk.facts import Noticed
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.lookup import UNKNOWN_HORIZON_S, TradeSearch
from service_tui.terms import PendingStatus, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import SIGNAL_BYTES_MAX, SIGNAL_KEYS_MAX

BUY = Unknown(
    ref="ref-1", market_id="m-1", side=Side.NO, venue=Venue.SIM, size=Micros(7 * ONE),
    counted_at=Timestamp(NOW - 10),
)  # fmt: skip
LATE = Timestamp(BUY.counted_at + UNKNOWN_HORIZON_S + 0.1)
TRADE = replace(
    sample_state(8).trades[0], trade_id="t-9", market_id="m-1", side=Side.NO, action="buy",
    venue=Venue.SIM, shares=Micros(12_345_000), cost=Micros(6_500_000), client_ref="ref-1",
    status=TradeStatus.FILLED, at=Timestamp(NOW - 9),
)  # fmt: skip


def search(*found: TradeView, **other: Any) -> TradeSearch:
    return TradeSearch(frozenset({"ref-1"}), {one.client_ref: one for one in found}, **other)


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, LookupEnd(PendingStatus.APPROVED,
                       "no response, but it executed: 12.35 shares for 6.50", "t-9")),
        ({"status": TradeStatus.CANCELLED}, LookupEnd(
            PendingStatus.APPROVED, "no response, but it executed: 12.35 shares for 6.50", "t-9")),
        ({"status": TradeStatus.UNCONFIRMED}, LookupEnd(
            PendingStatus.APPROVED, "no response, but it executed: 12.35 shares for 6.50", "t-9")),
        ({"status": TradeStatus.FAILED}, LookupEnd(
            PendingStatus.FAILED, "received, then failed", "t-9", is_back=True)),
        ({"status": TradeStatus.CANCELLED, "shares": Micros(0)}, LookupEnd(
            PendingStatus.FAILED, "received, ended unfilled", "t-9", is_back=True)),
        ({"status": TradeStatus.SUBMITTED, "shares": Micros(0)}, LookupEnd(
            PendingStatus.APPROVED, "no response; it is an open order", "t-9")),
        ({"status": TradeStatus.UNCONFIRMED, "shares": Micros(0)}, None),
    ],
)  # fmt: skip
def test_a_trade_that_was_found_says_what_became_of_the_buy(
    changes: dict[str, Any], end: LookupEnd | None
) -> None:
    assert _end_of(BUY, search(replace(TRADE, **changes)), "", NOW) == end


def test_what_is_not_found_waits_for_its_horizon_and_is_then_free_or_counted() -> None:
    at_horizon = Timestamp(LATE - 0.1)
    assert (is_overdue(BUY, at_horizon), is_overdue(BUY, LATE)) == (False, True)
    assert _end_of(BUY, search(), "", at_horizon) is None
    assert _end_of(BUY, search(), "", LATE) == LookupEnd(
        PendingStatus.FAILED, f"{NO_TRACE}: not counted as spent", is_back=True
    )
    assert _end_of(BUY, search(), "no list", LATE) == LookupEnd(
        PendingStatus.UNKNOWN, f"{NOT_FOUND}: no list; counted as spent", may_turn_up=True
    )
    listed = replace(TRADE, status=TradeStatus.UNCONFIRMED, shares=Micros(0))
    text = f"{NOT_FOUND}: listed by the service, not confirmed; counted as spent"
    assert _end_of(BUY, search(listed), "", LATE) == LookupEnd(
        PendingStatus.UNKNOWN, text, may_turn_up=True
    )


@pytest.mark.parametrize(
    ("changes", "is_doubt"),
    [
        ({}, True),
        ({"at": Timestamp(NOW - 100)}, True),
        ({"at": Timestamp(NOW - 100.1)}, False),
        ({"market_id": "m-2"}, False),
        ({"side": Side.YES}, False),
        ({"venue": Venue.EVM}, False),
        ({"action": "sell"}, False),
    ],
)
def test_only_a_trade_like_it_since_then_may_be_it(
    changes: dict[str, Any], *, is_doubt: bool
) -> None:
    look = search(unsigned=[replace(TRADE, client_ref="", **changes)])
    doubt = _doubt_of(BUY, look, Timestamp(NOW - 100))
    assert doubt == ("a similar trade without a reference exists" if is_doubt else "")


def test_a_buy_without_a_reference_or_an_unread_trade_is_always_in_doubt() -> None:
    bare = replace(BUY, is_marked=False)
    assert _doubt_of(bare, search(), NOW) == "it has no reference"
    unread = search(doubt="some trades are unreadable")
    assert _doubt_of(bare, unread, NOW) == "some trades are unreadable"
    assert _doubt_of(BUY, unread, NOW) == "some trades are unreadable"
    assert _doubt_of(BUY, search(), NOW) == ""


def test_old_buys_are_looked_up_more_seldom() -> None:
    old = replace(BUY, ref="old", counted_at=Timestamp(NOW - UNKNOWN_HORIZON_S - 1))
    assert due([BUY, old], NOW, with_old=True) == [BUY, old]
    assert due([BUY, old], NOW, with_old=False) == [BUY]


def test_the_end_is_told_with_the_agent_its_side_and_its_money() -> None:
    end = LookupEnd(PendingStatus.APPROVED, "it executed")
    kind = NoticeKind.APPROVAL
    assert end_notice("heron", BUY, end) == Noticed(
        "good", "heron: buy NO for 7.00: it executed", kind
    )
    for status in (PendingStatus.FAILED, PendingStatus.UNKNOWN):
        assert end_notice("heron", BUY, replace(end, status=status)).tone == "warn"


def test_a_sent_buy_is_remembered_with_its_terms_and_whether_it_is_marked() -> None:
    body, ref = marked({"market_id": "m-1", "side": "no", "amount": 5, "signal_data": {"edge": 1}})
    assert len(ref) == 32
    assert body["signal_data"] == {"edge": 1, DESK_REF: ref}
    raw = json.dumps(body).encode()
    sent = unknown_of(raw, ref, Micros(5 * ONE), NOW)
    assert sent == replace(BUY, ref=ref, size=Micros(5 * ONE), counted_at=NOW)
    assert not unknown_of(raw, "another", Micros(1), NOW).is_marked
    bare = json.dumps({"market_id": "m-1", "side": "no", "amount": 5}).encode()
    assert not unknown_of(bare, ref, Micros(1), NOW).is_marked


@pytest.mark.parametrize(
    "notes",
    [
        "no object",
        {f"n{number}": 1 for number in range(SIGNAL_KEYS_MAX)},
        {"long": "x" * (SIGNAL_BYTES_MAX - 4 - len(DESK_REF) - 31)},
    ],
)
def test_notes_without_room_go_out_as_they_came(notes: object) -> None:
    body = {"amount": 5, "signal_data": notes}
    assert marked(body)[0] is body


@pytest.mark.parametrize(
    "notes",
    [
        {f"n{number}": 1 for number in range(SIGNAL_KEYS_MAX - 1)},
        {"long": "x" * (SIGNAL_BYTES_MAX - 4 - len(DESK_REF) - 32)},
    ],
)
def test_notes_with_just_enough_room_are_marked(notes: dict[str, object]) -> None:
    body, ref = marked({"amount": 5, "signal_data": notes})
    assert body == {"amount": 5, "signal_data": {**notes, DESK_REF: ref}}
    assert marked({"amount": 5})[0].keys() == {"amount", "signal_data"}


KEY = cast("ApiKey", "the agent's key")


class Line:
    """A service that passes pages of trades back, or does not."""

    skew_s = 0.0

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[object, str, str, bytes]] = []

    async def pass_on(self, key: object, call: tuple[str, str, bytes]) -> Passed:
        self.asked.append((key, *call))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Passed) else Passed(200, json.dumps(answer).encode())


def row(name: str, ref: str = "", **other: Any) -> dict[str, Any]:
    notes = {"signal_data": {DESK_REF: ref}} if ref else {}
    return {
        "id": name, "market_id": "m-1", "side": "no", "action": "buy", "shares": 2.0, "cost": 1.0,
        "status": "filled", "created_at": "2027-01-15T07:59:55Z", **notes, **other,
    }  # fmt: skip


def page(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"trades": list(rows), "total_count": len(rows)}


async def looked(line: Line, *buys: Unknown, now: float = NOW) -> dict[str, LookupEnd]:
    clock = ManualClock(now)
    return await look_up(buys, cast("Any", line), KEY, clock)


async def test_buys_are_found_by_the_desk_s_own_reference_with_the_agent_s_own_key() -> None:
    second = replace(BUY, ref="ref-2", counted_at=Timestamp(NOW - 300))
    line = Line(page(row("t-1", "ref-1"), row("t-2", client_ref="ref-2")), page())
    ends = await looked(line, BUY, second)
    assert ends == {
        "ref-1": LookupEnd(
            PendingStatus.APPROVED, "no response, but it executed: 2.00 shares for 1.00", "t-1"
        )
    }
    key, method, target, body = line.asked[0]
    assert (key, method, body) == (KEY, "GET", b"")
    assert target.startswith("/api/sdk/trades?")
    assert "include_failed=true" in target


async def test_it_looks_back_to_the_first_of_them() -> None:
    early = replace(BUY, ref="ref-2", counted_at=Timestamp(NOW - 5_000))
    newer = page(row("t-1", created_at="2027-01-15T07:58:20Z"))
    found = page(row("t-2", "ref-2", created_at="2027-01-15T06:36:45Z"))
    line = Line(newer, found, page())
    ends = await looked(line, BUY, early)
    assert set(ends) == {"ref-2"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Passed(503, b"{}"), "the service responded 503"),
        (Passed(201, json.dumps(page()).encode()), "the service responded 201"),
        (NotPassedError("no connection", was_sent=False), "no connection"),
        (Passed(200, b"<html>"), ""),
    ],
)
async def test_trades_that_cannot_be_read_leave_it_counted_as_spent(answer: Any, why: str) -> None:
    assert await looked(Line(answer), BUY) == {}
    ends = await looked(Line(answer), BUY, now=LATE)
    end = ends["ref-1"]
    assert (end.status, end.may_turn_up, end.is_back) == (PendingStatus.UNKNOWN, True, False)
    assert end.text.startswith(f"{NOT_FOUND}: its trades cannot be read: {why}")


async def test_a_page_that_is_not_quite_read_proves_nothing() -> None:
    line = Line(page(row("t-1"), {"id": "x"}), page())
    ends = await looked(line, BUY, now=LATE)
    assert ends["ref-1"].text == f"{NOT_FOUND}: some trades are unreadable; counted as spent"


async def test_a_buy_that_left_no_trace_is_free_again() -> None:
    ends = await looked(Line(page()), BUY, now=LATE)
    assert ends["ref-1"].is_back
