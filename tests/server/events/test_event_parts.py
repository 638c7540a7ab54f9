"""What the stream tells of each kind of event: every field of it."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import (
    NO_NOTE,
    AgentChanged,
    AgentRegistered,
    AlertEnded,
    Breached,
    Event,
    ExperimentLogged,
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
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    Payout,
    PendingEnded,
    PlanSet,
    PositionRedeemed,
    SpeedSet,
    Ticked,
    TradePending,
)
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.world import World
from service_tui.outcome import NO
from service_tui.server.events.event_parts import PARTS, body_of
from service_tui.terms import (
    Action,
    AlertStatus,
    Direction,
    ExitReason,
    ExperimentStatus,
    LeashMode,
    OrderEnd,
    OrderType,
    PendingStatus,
    Plan,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

THEN: Final = Timestamp(AT - 60)
TAPE_AT: Final = Timestamp(AT - 3_600)
WHERE: Final = {"market_id": "m1", "question": "Does m1 end well?"}
WHO: Final = {"agent_id": "ada", "agent_name": "ada"}
NOTE: Final = Note("why", "sdk:rain", "rain-maker")


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def world() -> World:
    made = bare_world("ada", "ben")
    listed(made)
    return made


def told(event: Event, where: World | None = None) -> dict[str, Any]:
    """The event as it goes out, without its number, and without what is not said."""
    body = body_of(where or world(), 71, event)
    assert body.seq == 71
    assert body.at.timestamp() == event.at
    said = body.model_dump(mode="json", exclude_none=True)
    del said["seq"], said["at"]
    return said


def bought(**changes: Any) -> Fill:
    return Fill(
        "t1", "ada", "m1", Side.NO, Action.BUY, dollars(20), dollars(12), 0.61, 0.63, THEN,
        TAPE_AT, dollars(-1.5), NOTE,
    )._replace(**changes)  # fmt: skip


def placed(**changes: Any) -> OrderPlaced:
    return OrderPlaced(
        "o1", "ada", Venue.SOL, "m1", Side.NO, Action.SELL, OrderType.GTC, dollars(50),
        Micros(400_000), dollars(49), dollars(20), dollars(9), dollars(0.25), dollars(29),
        dollars(11), 0.47, 0.44, THEN, TAPE_AT, dollars(2.5), Timestamp(AT + 9), 3, (), NOTE,
    )._replace(**changes)  # fmt: skip


def met(**changes: Any) -> OrderFilled:
    return OrderFilled(
        "o1", "ada", "m1", dollars(8), dollars(3), dollars(0.75), THEN, TAPE_AT, 4, (), Side.YES,
        Action.SELL, "sdk:snow", Venue.EVM, "snow-man",
    )._replace(**changes)  # fmt: skip


def test_a_trade_is_told_with_its_average_price_and_without_a_fee() -> None:
    assert told(bought()) == {
        "kind": "fill",
        "fill": {
            "trade_id": "t1", **WHO, **WHERE, "venue": "sim", "side": "no", "action": "buy",
            "shares": 20.0, "price": 0.6, "price_after": 0.63, "money": 12.0,
            "realized_pnl": -1.5, "source": "sdk:rain", "skill_slug": "rain-maker", "fee": 0.0,
        },
    }  # fmt: skip


@pytest.mark.parametrize(("money", "price"), [(19.99, 0.9995), (20.0, 1.0), (20.01, 1.0)])
def test_an_average_price_is_never_above_one(money: float, price: float) -> None:
    assert told(bought(money=dollars(money)))["fill"]["price"] == pytest.approx(price)
    assert told(placed(money=dollars(money)))["fill"]["price"] == pytest.approx(price)


def test_an_order_that_rests_in_part_is_submitted_and_a_trade_too() -> None:
    assert told(placed()) == {
        "kind": "order",
        "order": {
            "order_id": "o1", **WHO, **WHERE, "state": "submitted", "shares": 20.0, "money": 9.0
        },
        "fill": {
            "trade_id": "o1", **WHO, **WHERE, "venue": "sol_venue", "side": "no",
            "action": "sell", "shares": 20.0, "price": 0.45, "price_after": 0.44, "money": 9.0,
            "realized_pnl": 2.5, "source": "sdk:rain", "skill_slug": "rain-maker", "fee": 0.25,
        },
    }  # fmt: skip


def test_an_order_that_got_all_is_filled() -> None:
    assert told(placed(rests=Micros(0)))["order"]["state"] == "filled"


def test_an_order_that_got_nothing_yet_is_no_trade() -> None:
    said = told(placed(shares=Micros(0), money=Micros(0)))
    assert said["order"]["state"] == "submitted"
    assert "fill" not in said


def test_a_resting_order_that_is_met_is_a_trade_at_its_own_price_without_a_fee() -> None:
    assert told(met()) == {
        "kind": "order",
        "order": {
            "order_id": "o1", **WHO, **WHERE, "state": "filled", "shares": 8.0, "money": 3.0
        },
        "fill": {
            "trade_id": "o1", **WHO, **WHERE, "venue": "evm_venue", "side": "yes",
            "action": "sell", "shares": 8.0, "price": 0.375, "price_after": 0.375, "money": 3.0,
            "realized_pnl": 0.75, "source": "sdk:snow", "skill_slug": "snow-man", "fee": 0.0,
        },
    }  # fmt: skip


@pytest.mark.parametrize("lacking", ["venue", "side", "action"])
def test_a_row_of_an_older_program_that_does_not_say_what_was_traded_is_no_trade(
    lacking: str,
) -> None:
    said = told(met(**{lacking: None}))
    assert said["order"]["state"] == "filled"
    assert "fill" not in said


ORDERS: Final = [
    (
        OrderEnded(
            "o1", "ada", "m1", OrderEnd.EXPIRED, THEN, TAPE_AT, dollars(8), dollars(3),
            dollars(1), dollars(2),
        ),
        {"order_id": "o1", "state": "expired", "shares": 8.0, "money": 3.0},
    ),
    (
        PositionRedeemed(
            "ada", Venue.EVM, "m1", Side.YES, dollars(8), dollars(3), dollars(7), THEN, TAPE_AT
        ),
        {"order_id": "", "state": "redeemed", "shares": 8.0, "money": 7.0},
    ),
    (
        MarkedRedeemed("ada", Venue.EVM, "m1", Side.YES, THEN, TAPE_AT, "0xab"),
        {"order_id": "", "state": "claimed", "shares": 0.0, "money": 0.0},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("event", "said"), ORDERS)
def test_the_end_of_an_order_and_of_a_position_are_told_as_an_order(
    event: Event, said: dict[str, object]
) -> None:
    assert told(event) == {"kind": "order", "order": {**WHO, **WHERE, **said}}


AGENTS: Final = [
    (
        AgentRegistered("ada", THEN, "ada", "", "h", "c", Plan.ELITE, dollars(1)),
        "agent_registered",
        [],
    ),
    (
        AgentChanged("ada", THEN, {"max_trade": 5.0, "is_paused": True}),
        "agent_changed",
        ["max_trade", "is_paused"],
    ),
    (KeyRotated("ada", THEN, "h"), "agent_changed", ["key"]),
    (WalletLinked("ada", THEN, "0xab"), "agent_changed", ["wallet"]),
    (LeashSet("ada", THEN, "", LeashMode.ASK, dollars(1), None, 60), "leash", ["leash"]),
]


@pytest.mark.parametrize(("event", "kind", "changed"), AGENTS)
def test_what_happens_to_an_agent_is_told_with_what_it_is_now(
    event: Event, kind: str, changed: list[str]
) -> None:
    assert told(event) == {
        "kind": kind,
        "agent": {
            "agent_id": "ada", "name": "ada", "status": "unclaimed", "plan": "elite",
            "claimed": False, "trading_paused": False, "suspended": False, "changed": changed,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "shown"),
    [("claimed", "claimed"), ("operator_paused", "trading_paused"), ("suspended", "suspended")],
)
def test_each_switch_of_an_agent_is_told_as_itself(setting: str, shown: str) -> None:
    where = bare_world("ada", **{setting: True})
    said = told(KeyRotated("ada", THEN, "h"), where)["agent"]
    assert {name for name in ("claimed", "trading_paused", "suspended") if said[name]} == {shown}


def test_a_new_market_is_told_with_its_end() -> None:
    listing = listed(world(), "m2").listing
    assert told(MarketListed(THEN, TAPE_AT, listing)) == {
        "kind": "market_listed",
        "market": {
            "market_id": "m2",
            "question": "Does m2 end well?",
            "resolves_at": "2027-01-15T09:00:00Z",
            "payouts": [],
            "voided": False,
        },
    }


def test_an_outcome_is_told_with_what_it_brought_those_who_still_held() -> None:
    def paid(agent_id: str, shares: float, cost: float, payout: float) -> Payout:
        amounts = dollars(shares), dollars(cost), dollars(payout)
        return Payout(agent_id, Side.YES, *amounts, dollars(0.5), TAPE_AT)

    payouts = (paid("ada", 10, 4, 10), paid("ben", 0, 0, 0), paid("ben", 6, 5, 0))
    event = MarketResolved("m1", THEN, TAPE_AT, outcome=NO, payouts=payouts, crowd_payout=ONE)
    assert told(event) == {
        "kind": "market_resolved",
        "market": {
            **WHERE,
            "outcome": False,
            "payouts": [
                {"agent_id": "ada", "payout": 10.0, "pnl": 6.0},
                {"agent_id": "ben", "payout": 0.0, "pnl": -5.0},
            ],
            "payout_per_yes": 0.0,
            "voided": False,
        },
    }


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (SpeedSet(THEN, TAPE_AT, 60), {"kind": "speed", "speed": 60}),
        (PlanSet(THEN, Plan.PRO), {"kind": "plan", "plan": "pro"}),
        (HaltSet(THEN, halted=True), {"kind": "halt", "halted": True}),
        (HaltSet(THEN, halted=False), {"kind": "halt", "halted": False}),
    ],
)
def test_a_switch_of_the_desk_is_told_as_it_stands_now(event: Event, said: object) -> None:
    assert told(event) == said


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (MonitorSet("ada", THEN, Venue.SOL, "m1", Side.NO, 0.2, 0.5), "set"),
        (MonitorDeleted("ada", THEN, Venue.SOL, "m1", Side.NO), "deleted"),
    ],
)
def test_a_monitor_is_told_with_its_side_and_venue(event: Event, state: str) -> None:
    where = {"venue": "sol_venue", "side": "no", "state": state}
    assert told(event) == {"kind": "monitor", "monitor": {**WHO, **WHERE, **where}}


BREACH: Final = Breached(
    "r1", "ada", THEN, TAPE_AT, Venue.EVM, "m1", Side.NO, ExitReason.TAKE_PROFIT, 0.2, 0.6, 0.5,
    0.62, dollars(30),
)  # fmt: skip
ALERT: Final = {
    "id": "r1", **WHO, **WHERE, "venue": "evm_venue", "side": "no",
    "exit_reason": BREACH.reason.value, "shares": 30.0, "price": 0.62,
    "breached_at": "2027-01-15T07:59:00Z",
}  # fmt: skip


def test_a_breach_is_told_as_an_alert_that_waits() -> None:
    assert told(BREACH) == {"kind": "risk_alert", "risk_alert": {**ALERT, "state": "pending"}}


def test_the_end_of_an_alert_is_told_of_the_breach_it_belongs_to() -> None:
    where = world()
    other = BREACH._replace(alert_id="r2", market_id="m2")
    where.risk.alerts.ended["ada"] = [
        RiskAlert(one, AlertStatus.EXECUTED, AT) for one in (BREACH, other)
    ]
    event = AlertEnded("r1", "ada", THEN, "m1", AlertStatus.EXECUTED)
    assert told(event, where) == {
        "kind": "risk_alert",
        "risk_alert": {**ALERT, "state": "executed"},
    }
    assert told(event) == {"kind": "risk_alert"}


def test_an_experiment_is_told_with_its_number_and_series() -> None:
    event = ExperimentLogged(
        "x1", "ada", THEN, "rain", 4, 2, ExperimentStatus.DISCARD, "pnl", 1.0, "$",
        Direction.HIGHER, {}, "", "", "", 0, "",
    )  # fmt: skip
    assert told(event) == {
        "kind": "experiment",
        "experiment": {
            "id": "x1", **WHO, "skill_slug": "rain", "experiment_number": 4, "segment": 2,
            "state": "discard",
        },
    }  # fmt: skip


PENDING: Final = TradePending(
    "h1", "ada", THEN, Timestamp(AT + 60), Venue.EVM, "m1", Side.NO, Action.BUY, dollars(30),
    None, None, None, NO_NOTE,
)  # fmt: skip


def test_a_trade_that_waits_is_told() -> None:
    pending = {"held_id": "h1", **WHO, **WHERE, "state": "waiting"}
    assert told(PENDING) == {"kind": "held", "held": pending}


def test_the_decision_about_a_trade_is_told_of_the_trade_it_belongs_to() -> None:
    where = world()
    end = PendingEnded("h1", THEN, PendingStatus.REFUSED, "no")
    other = PENDING._replace(pending_id="h2", agent_id="ben"), end._replace(pending_id="h2")
    where.pending_trades.ended.extend([(PENDING, end), other])
    pending = {"held_id": "h1", **WHO, **WHERE, "state": "refused"}
    assert told(end, where) == {"kind": "held", "held": pending}
    assert told(end) == {"kind": "held"}


def test_what_is_no_news_to_a_console_has_no_part() -> None:
    assert Ticked not in PARTS
    assert len(PARTS) == 23
