"""Events as JSON: every kind, old forms, and refused rows."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engine.whole import typed, whole
from kit.examples import examples
from service_tui.engine.chain_events import (
    CallKind,
    CallPaid,
    ChainCall,
    ChainSet,
    CredentialsKept,
    OrderSigned,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletFilled,
    WalletLinked,
)
from service_tui.engine.codec.errors import JournalError, NewerJournalError
from service_tui.engine.codec.events import decode, dumps, encode
from service_tui.engine.events import (
    KINDS,
    AgentChanged,
    AgentRegistered,
    AlertEnded,
    Breached,
    BreakerReset,
    ClientSeen,
    CrowdTrade,
    Event,
    ExperimentLogged,
    ExposureLimitSet,
    Fill,
    HaltSet,
    KeyRotated,
    LeashSet,
    MarkedRedeemed,
    MarketListed,
    MarketResolved,
    MonitorDeleted,
    MonitorSet,
    Note,
    OperatorActed,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    Payout,
    PeakRaised,
    PendingEnded,
    PlanSet,
    PositionRedeemed,
    Reacted,
    ReactorChanged,
    SessionBegun,
    Settlement,
    SignalDismissed,
    SpeedSet,
    Ticked,
    TradeFailed,
    TradePending,
    kind_of,
)
from service_tui.engine.listing import Listing, NewsReport
from service_tui.engine.notify_events import (
    AgentAlertArmed,
    AgentAlertDeleted,
    AgentAlertFired,
    AgentAlertSet,
    AgentHeard,
    OrderErred,
    PriceAlertArmed,
    PriceAlertDeleted,
    PriceAlertSet,
    PriceAlertTriggered,
    WebhookDeleted,
    WebhookSet,
    WebhookTried,
)
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.records import read
from service_tui.terms import (
    Action,
    AgentAlertAction,
    AgentAlertKind,
    AlertCondition,
    AlertStatus,
    Category,
    Direction,
    ExitReason,
    ExperimentStatus,
    LeashMode,
    LimitGroup,
    OrderEnd,
    OrderType,
    PendingStatus,
    Plan,
    Side,
    Venue,
    WalletKind,
    WebhookEvent,
)
from service_tui.units import ONE, Micros, Timestamp

# Whatever the wire lets through: all of Unicode but lone surrogates, controls and escapes too.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
moments = st.floats(0, 1e11)
micros = st.integers(-(10**16), 10**16)
prices = st.floats(0, 1)
sides = st.sampled_from(Side)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30)
notes = st.builds(
    Note,
    texts,
    texts,
    texts,
    st.none() | st.dictionaries(texts, texts | numbers, max_size=4),
    stop_loss_pct=st.none() | prices,
    take_profit_pct=st.none() | prices,
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "name": texts,
        "plan": st.sampled_from(Plan),
        "suspended": st.booleans(),
        "max_trade": micros,
        "trades_per_day": st.none() | st.integers(1, 5_000),
        "stop_loss_pct": st.none() | prices,
        "wallet": st.sampled_from(WalletKind),
    },
)
venues = st.sampled_from(Venue)
fractions = st.none() | prices
reports = st.builds(NewsReport, moments, numbers, texts)
listings = st.builds(
    Listing,
    market_id=texts,
    slot=st.integers(0, 71),
    number=st.integers(),
    category=st.sampled_from(Category),
    question=texts,
    criteria=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    b=micros,
    start_price=prices,
    opens_at=moments,
    resolves_at=moments,
    resolved_at=moments,
    outcome=st.booleans(),
    strength=prices,
    news=st.lists(reports, max_size=2).map(tuple),
)
tags = st.none() | st.lists(texts, max_size=2).map(tuple)
payouts = st.builds(Payout, texts, sides, micros, micros, micros, micros, moments, tags)
outcomes = st.sampled_from([YES, NO, VOID]) | st.integers(1, int(ONE) - 1).map(
    lambda yes: Outcome(Micros(yes))
)
crowd_trades = st.builds(CrowdTrade, texts, sides, micros, micros, texts)
settlements = st.builds(
    Settlement,
    tx_hash=texts,
    wallet=texts,
    label=texts,
    venue=st.sampled_from(Venue),
    market_id=texts,
    slot=st.integers(0, 2_000),
    number=st.integers(),
    side=sides,
    action=st.sampled_from(Action),
    shares=micros,
    price=prices,
    cost=micros,
    leg=st.integers(-1, 5),
)
reactor_changes = st.fixed_dictionaries(
    {},
    optional={
        "wallets": st.lists(texts, max_size=3).map(tuple),
        "venue": st.sampled_from(Venue),
        "daily_cap": micros,
        "mirror_fraction": prices,
        "enabled": st.booleans(),
    },
)
wei = st.integers(0, 10**30)
calls = st.builds(
    ChainCall, st.sampled_from(CallKind), texts, st.lists(wei, max_size=3).map(tuple), texts, texts
)
paces = st.fixed_dictionaries(
    {},
    optional={
        "block_s": moments,
        "gas_price": wei,
        "faults": st.lists(st.sampled_from(PlannedOutcome), max_size=3).map(tuple),
    },
)
EVENTS: Final[dict[str, st.SearchStrategy[Event]]] = {
    "agent": st.builds(
        AgentRegistered, texts, moments, texts, texts, texts, texts, st.sampled_from(Plan), micros
    ),
    "change": st.builds(AgentChanged, texts, moments, changes),
    "listed": st.builds(MarketListed, moments, moments, listings),
    "fill": st.builds(
        Fill,
        trade_id=texts,
        agent_id=texts,
        market_id=texts,
        side=sides,
        action=st.sampled_from(Action),
        shares=micros,
        money=micros,
        price_before=prices,
        price_after=prices,
        at=moments,
        world_at=moments,
        realized=micros,
        note=notes,
    ),
    "crowd": st.builds(
        Ticked,
        moments,
        moments,
        st.lists(crowd_trades, max_size=3).map(tuple),
        st.booleans(),
        st.lists(settlements, max_size=3).map(tuple),
    ),
    "resolved": st.builds(
        MarketResolved,
        texts,
        moments,
        moments,
        outcomes,
        st.lists(payouts, max_size=3).map(tuple),
        micros,
        st.lists(st.tuples(venues, payouts), max_size=3).map(tuple),
    ),
    "speed": st.builds(SpeedSet, moments, moments, st.sampled_from((0, 1, 10, 60))),
    "key": st.builds(KeyRotated, texts, moments, texts),
    "acted": st.builds(OperatorActed, st.text(), moments, st.text(), st.text(), st.text()),
    "plan": st.builds(PlanSet, moments, st.sampled_from(Plan)),
    "order": st.builds(
        OrderPlaced,
        order_id=texts,
        agent_id=texts,
        venue=st.sampled_from(Venue),
        market_id=texts,
        side=sides,
        action=st.sampled_from(Action),
        order_type=st.sampled_from(OrderType),
        size=micros,
        price=micros,
        requested=micros,
        shares=micros,
        money=micros,
        fee=micros,
        rests=micros,
        reserved=micros,
        price_before=prices,
        price_after=prices,
        at=moments,
        world_at=moments,
        realized=micros,
        expires_at=moments,
        number=micros,
        taken=st.lists(st.tuples(micros, micros), max_size=3).map(tuple),
        note=notes,
        mark=prices,
    ),
    "order_fill": st.builds(
        OrderFilled,
        order_id=texts,
        agent_id=texts,
        market_id=texts,
        shares=micros,
        money=micros,
        realized=micros,
        at=moments,
        world_at=moments,
        number=micros,
        taken=st.lists(st.tuples(micros, micros), max_size=3).map(tuple),
        side=st.none() | sides,
        action=st.none() | st.sampled_from(Action),
        source=texts,
        venue=st.none() | st.sampled_from(Venue),
        skill_slug=texts,
        mark=prices,
    ),
    "order_end": st.builds(
        OrderEnded,
        order_id=texts,
        agent_id=texts,
        market_id=texts,
        reason=st.sampled_from(OrderEnd),
        at=moments,
        world_at=moments,
        shares=micros,
        money=micros,
        realized=micros,
        returned=micros,
    ),
    "redeemed": st.builds(
        PositionRedeemed,
        agent_id=texts,
        venue=st.sampled_from(Venue),
        market_id=texts,
        side=sides,
        shares=micros,
        cost=micros,
        payout=micros,
        at=moments,
        world_at=moments,
    ),
    "client": st.builds(ClientSeen, texts, moments, texts),
    "failed": st.builds(TradeFailed, texts, moments, texts, sides, texts),
    "halt": st.builds(HaltSet, moments, st.booleans()),
    "exposure_limit": st.builds(
        ExposureLimitSet,
        moments,
        st.sampled_from(LimitGroup),
        texts,
        st.sampled_from(Venue),
        st.none() | st.integers(1, 10**12),
        st.booleans(),
    ),
    "monitor": st.builds(
        MonitorSet,
        texts,
        moments,
        venues,
        texts,
        sides,
        fractions,
        fractions,
        fractions,
        fractions,
        st.none() | moments,
        prices,
    ),
    "peak": st.builds(PeakRaised, texts, moments, venues, texts, sides, prices),
    "monitor_end": st.builds(MonitorDeleted, texts, moments, venues, texts, sides),
    "breach": st.builds(
        Breached,
        alert_id=texts,
        agent_id=texts,
        at=moments,
        world_at=moments,
        venue=venues,
        market_id=texts,
        side=sides,
        reason=st.sampled_from(ExitReason),
        threshold_pct=prices,
        level=prices,
        entry=prices,
        price=prices,
        shares=micros,
    ),
    "alert_end": st.builds(AlertEnded, texts, texts, moments, texts, st.sampled_from(AlertStatus)),
    "reactor": st.builds(ReactorChanged, texts, moments, reactor_changes),
    "signal_gone": st.builds(SignalDismissed, texts, moments, texts),
    "reaction": st.builds(
        Reacted,
        texts,
        moments,
        texts,
        texts,
        st.dictionaries(texts, texts | prices, max_size=4),
    ),
    "breaker_reset": st.builds(BreakerReset, texts, moments),
    "claimed": st.builds(MarkedRedeemed, texts, venues, texts, sides, moments, moments, texts),
    "wallet": st.builds(WalletLinked, texts, moments, texts, wei, micros, st.none() | texts),
    "wallet_fill": st.builds(
        WalletFilled, texts, moments, texts, st.dictionaries(texts, wei, max_size=4)
    ),
    "credentials": st.builds(CredentialsKept, texts, moments, texts, texts),
    "signed": st.builds(OrderSigned, texts, moments, texts),
    "tx": st.builds(
        TxSent,
        tx_hash=texts,
        agent_id=texts,
        at=moments,
        sender=texts,
        nonce=wei,
        to=texts,
        call=calls,
        gas=wei,
        max_fee=wei,
        due=wei,
        planned=st.sampled_from(PlannedOutcome),
        replaces=texts,
    ),
    "tx_mined": st.builds(
        TxMined, texts, texts, moments, st.sampled_from(TxStatus), wei, wei, wei, micros, texts
    ),
    "chain": st.builds(ChainSet, moments, paces),
    "paid": st.builds(CallPaid, texts, moments, texts, texts, micros, texts),
    "experiment": st.builds(
        ExperimentLogged,
        experiment_id=texts,
        agent_id=texts,
        at=moments,
        skill=texts,
        number=st.integers(1, 1_000),
        segment=st.integers(0, 99),
        status=st.sampled_from(ExperimentStatus),
        metric_name=texts,
        metric=st.none() | prices,
        metric_unit=texts,
        direction=st.sampled_from(Direction),
        metrics=st.dictionaries(texts, prices, max_size=4),
        description=texts,
        commit=texts,
        session=texts,
        cap=st.integers(0, 99),
        ref=texts,
    ),
    "session": st.builds(
        SessionBegun,
        agent_id=texts,
        at=moments,
        skill=texts,
        segment=st.integers(0, 99),
        session=texts,
        metric_name=texts,
        metric_unit=texts,
        direction=st.sampled_from(Direction),
        cap=st.integers(0, 99),
    ),
    "leash": st.builds(
        LeashSet,
        texts,
        moments,
        texts,
        st.none() | st.sampled_from(LeashMode),
        micros,
        st.none() | micros,
        st.integers(0, 86_400),
    ),
    "held": st.builds(
        TradePending,
        texts,
        texts,
        moments,
        moments,
        st.sampled_from(Venue),
        texts,
        st.sampled_from(Side),
        st.sampled_from(Action),
        micros,
        st.none() | st.sampled_from(OrderType),
        st.none() | prices,
        st.none() | moments,
        notes,
        st.none() | prices,
    ),
    "held_end": st.builds(
        PendingEnded, texts, moments, st.sampled_from(PendingStatus), texts, micros, texts
    ),
    "price_alert": st.builds(
        PriceAlertSet,
        texts,
        texts,
        moments,
        texts,
        sides,
        st.sampled_from(AlertCondition),
        prices,
        prices,
        texts,
    ),
    "price_alert_armed": st.builds(PriceAlertArmed, texts, moments),
    "price_alert_met": st.builds(PriceAlertTriggered, texts, texts, moments, prices),
    "price_alert_end": st.builds(PriceAlertDeleted, texts, moments),
    "agent_alert": st.builds(
        AgentAlertSet,
        texts,
        texts,
        moments,
        st.sampled_from(AgentAlertKind),
        micros,
        st.integers(0, 60),
        st.sampled_from(AgentAlertAction),
        texts,
        texts,
    ),
    "agent_alert_met": st.builds(AgentAlertFired, texts, texts, moments, micros, texts),
    "agent_alert_armed": st.builds(AgentAlertArmed, texts, moments),
    "agent_alert_end": st.builds(AgentAlertDeleted, texts, moments),
    "agent_heard": st.builds(AgentHeard, texts, moments),
    "order_error": st.builds(OrderErred, texts, moments, texts, texts),
    "webhook": st.builds(
        WebhookSet,
        texts,
        texts,
        moments,
        texts,
        st.lists(st.sampled_from(WebhookEvent), max_size=3).map(tuple),
        st.integers(0, 10**9),
    ),
    "webhook_end": st.builds(WebhookDeleted, texts, moments),
    "webhook_try": st.builds(
        WebhookTried, texts, moments, texts, texts, st.integers(0, 10**9), texts
    ),
}


def test_every_kind_of_event_has_a_strategy_here() -> None:
    assert set(EVENTS) == set(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVENTS)
@given(data=st.data())
@examples(15)
def test_an_event_comes_back_as_it_was(kind: str, data: st.DataObject) -> None:
    event = data.draw(EVENTS[kind])
    assert kind_of(event) == kind
    read = decode(kind, encode(event))
    assert read == event
    assert typed(read) == typed(event)


@pytest.mark.parametrize("empty", [False, True])
def test_every_field_of_every_kind_comes_back_with_its_type(*, empty: bool) -> None:
    events = {kind: whole(record, empty=empty) for kind, record in KINDS.items()}
    rows = {kind: encode(event) for kind, event in events.items()}
    read = {kind: decode(kind, row) for kind, row in rows.items()}
    assert {kind for kind, event in events.items() if typed(read[kind]) != typed(event)} == set()
    # Read and written again it is the same row to the letter, as a copy of the journal is.
    assert {kind: encode(event) for kind, event in read.items()} == rows


def test_words_stand_in_the_journal_as_they_were_written() -> None:
    assert encode(KeyRotated("zoë", 1.5, "→")) == '["zoë",1.5,"→"]'


def test_a_payout_from_before_it_named_its_sources_is_written_as_it_was() -> None:
    body = '["m1",1.0,2.0,true,[["a1","yes",10,4,10,0,0.5]],70,[]]'
    assert encode(decode("resolved", body)) == body
    named = body.replace("0.5]]", '0.5,["why"]]]')
    assert encode(decode("resolved", named)) == named


@pytest.mark.parametrize(
    ("outcome", "written"),
    [(YES, "true"), (NO, "false"), (Outcome.at(0.35), "350000"), (VOID, '"void"')],
)
def test_an_end_is_written_as_older_programs_did_and_a_part_in_micros(
    outcome: Outcome, written: str
) -> None:
    row = encode(MarketResolved("m1", Timestamp(1.0), Timestamp(2.0), outcome, (), Micros(7)))
    assert row == f'["m1",1.0,2.0,{written},[],7,[]]'
    assert decode("resolved", row) == MarketResolved("m1", 1.0, 2.0, outcome, (), 7)


@pytest.mark.parametrize("written", ["0", "1000000", "-1", '"VOID"', "0.5", "null"])
def test_an_end_that_is_none_makes_the_row_unreadable(written: str) -> None:
    with pytest.raises(JournalError, match="a 'resolved' row of the journal cannot be read"):
        decode("resolved", f'["m1",1.0,2.0,{written},[],7,[]]')


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", ["", "null", "[]", "{}", "3", '["a"]', "[[[", '{"at": 1}', "NaN"])
def test_a_row_that_cannot_be_read_is_named(kind: str, body: str) -> None:
    with pytest.raises(JournalError, match=f"a '{kind}' row of the journal cannot be read"):
        decode(kind, body)


def test_a_row_of_endless_depth_cannot_be_read_either() -> None:
    with pytest.raises(JournalError, match="a 'fill' row of the journal cannot be read"):
        decode("fill", "[" * 100_000)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(NewerJournalError, match="'dividend' rows, which a newer program wrote"):
        decode("dividend", "[]")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_never_reaches_the_journal(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(SpeedSet(number, 0.0, 1))
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"edge": number})


ROWS: Final = {
    "agent": '["a1",1.5,"Ada","","hash","reef-1","pro",10000000000]',
    "change": '["a1",1.5,{"plan":"elite","trading_paused":true}]',
    "fill": '["t1","a1","m1","no","sell",9,5,0.4,0.3,1.0,2.0,-1,["why","src","s",{"edge":0.1}]]',
    "crowd": '[1.0,2.0,[["m1","no",10,4,"pippin"]],false]',
    "resolved": '["m1",1.0,2.0,true,[["a1","yes",10,4,10,0,0.5]],70]',
    "speed": "[1.0,2.0,60]",
    "key": '["a1",1.5,"hash"]',
    "plan": '[1.5,"elite"]',
    "order": (
        '["o1","a1","evm_venue","m1","yes","buy","GTC",100,500000,200,20,10,1,180,90,0.5,0.51,'
        '1.0,2.0,0,0.0,600000000,[[510000,20]],["why","src","s",null]]'
    ),
    "order_fill": '["o1","a1","m1",20,10,0,1.0,2.0,600000000,[[500000,20]]]',
    "order_end": '["o1","a1","m1","cancelled",1.0,2.0,40,20,0,80]',
    "redeemed": '["a1","sol_venue","m1","no",40,20,40,1.0,2.0]',
    "halt": "[1.5,true]",
    "exposure_limit": '[1.5,"category","weather","sim",9000000,true]',
    "reactor": '["a1",1.5,{"wallets":["0xAb"],"venue":"evm_venue","daily_cap":10000000}]',
    "signal_gone": '["a1",1.5,"0x12:maker:0:0xab:77"]',
    "reaction": '["a1",1.5,"0x12","failed",{"reason":"too late","taker_price":0.4}]',
    "breaker_reset": '["a1",1.5]',
    "claimed": '["a1","evm_venue","m1","no",1.0,2.0,"0x12"]',
    "wallet": '["a1",1.5,"0xAb",1000000000000000000,1000000]',
    "wallet_fill": '["a1",1.5,"0xAb",{"gas":5,"restricted":1}]',
    "credentials": '["a1",1.5,"0xAb","headers"]',
    "signed": '["a1",1.5,"c0ffee"]',
    "tx": ('["0x12","a1",1.5,"0xAb",3,"0xCd",["redeem","0x77",[1,2],"",""],234000,9,77,"ok",""]'),
    "tx_mined": '["0x12","a1",1.5,"confirmed",77,180000,9,40,""]',
    "chain": '[1.5,{"block_s":2.0,"faults":["drop"]}]',
    "paid": '["a1",1.5,"0xAb","0x9",5000,"http://127.0.0.1/x"]',
}
"""Rows as they lie on disks today: this table only ever grows."""


@pytest.mark.parametrize(("kind", "body"), ROWS.items(), ids=ROWS)
def test_rows_of_yesterday_are_read_today(kind: str, body: str) -> None:
    event = decode(kind, body)
    assert kind_of(event) == kind
    assert _begins_with(json.loads(encode(event)), json.loads(body))


def _begins_with(written: Any, kept: Any) -> bool:
    """Equal, but for fields that were added at the end of a row, or of a note inside one."""
    if not isinstance(kept, list) or not isinstance(written, list):
        return written == kept
    return len(written) >= len(kept) and all(map(_begins_with, written, kept))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("fill", '["t1","a1","m1","yes","buy",10,5,0.4,0.5,1.0,2.0,0,["why"]]'),
        ("crowd", '[1.0,2.0,[["m1","no",10,4,"pippin"]]]'),
        (
            "crowd",
            '[1.0,2.0,[],false,[["0x12","0xAb","Ann","sim","m1",3,4,"yes","buy",10,0.5,5]]]',
        ),
    ],
)
def test_a_row_from_before_a_field_with_a_default_is_read(kind: str, body: str) -> None:
    assert kind_of(decode(kind, body)) == kind


def test_a_listing_is_kept_whole_and_by_name() -> None:
    event = _listed()
    body = json.loads(encode(event))
    assert set(body[2]) == set(Listing.__slots__) - {"origin"}
    assert read(Listing, body[2]) == event.listing


def _listed() -> MarketListed:
    return MarketListed(
        1.0,
        2.0,
        Listing(
            "m1", 0, 1, Category.CRYPTO, "Up?", "It counts.", ("crypto",), 10, 0.4, 0.0, 9.0, 9.5,
            outcome=True, strength=1.0, news=(NewsReport(3.0, 0.4, "News."),),
        ),
    )  # fmt: skip
