"""An agent's past in one form, and whose profit its closings are."""

from typing import Any, Final

import pytest

from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import (
    Fill,
    Note,
    OrderFilled,
    OrderPlaced,
    Payout,
    PositionRedeemed,
)
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.server.past.agent_past import AgentFill, AgentPayout, in_one_form
from service_tui.server.past.history import Paid, SettledSide
from service_tui.server.past.outcomes import Closing, books_of
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
TAPE_AT: Final = Timestamp(1_700_000_000.0)
NONE: Final = Micros(0)
SIGNALS: Final[dict[str, str | float | int]] = {"edge": 0.25}
NOTE: Final = Note("because", "sdk:rain", "rain", SIGNALS)


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def fill(**changes: Any) -> Fill:
    return Fill(
        "t1", "ada", "m1", Side.NO, Action.BUY, dollars(20), dollars(12), 0.61, 0.63, AT, TAPE_AT,
        dollars(1), NOTE,
    )._replace(**changes)  # fmt: skip


def placed(**changes: Any) -> OrderPlaced:
    return OrderPlaced(
        "o1", "ada", Venue.SOL, "m1", Side.NO, Action.BUY, OrderType.GTC, dollars(50),
        Micros(470_000), dollars(49), dollars(20), dollars(9), dollars(0.25), dollars(29),
        dollars(11), 0.44, 0.47, AT, TAPE_AT, NONE, Timestamp(0), 3, (), NOTE,
    )._replace(**changes)  # fmt: skip


def met(**changes: Any) -> OrderFilled:
    return OrderFilled(
        "o1", "ada", "m1", dollars(8), dollars(3), NONE, Timestamp(AT + 9), TAPE_AT, 4, (),
        Side.YES, Action.SELL, "sdk:snow", Venue.EVM, "snow",
    )._replace(**changes)  # fmt: skip


def payout(side: Side = Side.YES) -> Payout:
    return Payout("ada", side, dollars(3), dollars(1), NONE, NONE, TAPE_AT)


def test_a_fill_on_sim_has_all_its_figures() -> None:
    assert in_one_form([fill()]) == [
        AgentFill(
            "t1", Venue.SIM, "m1", Side.NO, Action.BUY, dollars(20), dollars(12), 0.6, AT, "rain",
            "because", 0.61, 0.63, SIGNALS,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(("action", "money"), [(Action.BUY, 9.25), (Action.SELL, 8.75)])
def test_who_takes_pays_the_fee_which_is_no_part_of_the_price(action: Action, money: float) -> None:
    assert in_one_form([placed(action=action)]) == [
        AgentFill(
            "o1", Venue.SOL, "m1", Side.NO, action, dollars(20), dollars(money), 0.45, AT, "rain",
            "because", 0.44, 0.47, SIGNALS,
        )
    ]  # fmt: skip


def test_what_a_resting_order_met_belongs_to_the_order() -> None:
    resting = placed(shares=NONE, money=NONE)
    assert in_one_form([resting, met()]) == [
        AgentFill(
            "o1", Venue.SOL, "m1", Side.NO, Action.BUY, dollars(8), dollars(3), 0.375,
            Timestamp(AT + 9), "rain", "because", None, None, SIGNALS,
        )
    ]  # fmt: skip


def test_what_an_order_met_of_which_nothing_is_known_speaks_for_itself() -> None:
    assert in_one_form([placed(order_id="o2", shares=NONE), met()]) == [
        AgentFill(
            "o1", Venue.EVM, "m1", Side.YES, Action.SELL, dollars(8), dollars(3), 0.375,
            Timestamp(AT + 9), "snow", "", None, None, {},
        )
    ]  # fmt: skip


@pytest.mark.parametrize("lacking", ["venue", "side", "action"])
def test_a_row_of_an_older_program_that_says_too_little_is_passed_over(lacking: str) -> None:
    assert in_one_form([met(**{lacking: None})]) == []


@pytest.mark.parametrize(("money", "price"), [(19.9, 0.995), (20.0, 1.0), (20.0001, 1.0)])
def test_dust_carries_no_price_above_one(money: float, price: float) -> None:
    (one,) = in_one_form([fill(money=dollars(money))])
    assert isinstance(one, AgentFill)
    assert one.price == pytest.approx(price)


@pytest.mark.parametrize(
    ("side", "outcome"),
    [
        (Side.YES, YES),
        (Side.NO, YES),
        (Side.NO, Outcome.at(0.3)),
        (Side.YES, VOID),
    ],
)
def test_a_side_has_its_outcome_on_every_venue(side: Side, outcome: Outcome) -> None:
    redeemed = PositionRedeemed("ada", Venue.EVM, "m1", side, NONE, NONE, NONE, AT, TAPE_AT)
    past = [
        Paid("m1", AT, outcome, payout(side)),
        redeemed,
        SettledSide("m2", AT, outcome, Venue.EVM, payout(side)),
    ]
    assert in_one_form(past) == [
        AgentPayout(Venue.SIM, "m1", side, AT, outcome, payout(side).payout),
        AgentPayout(Venue.EVM, "m2", side, AT, outcome, payout(side).payout),
    ]


@pytest.mark.parametrize(
    ("sent", "figure"), [(0.25, 0.25), ("0.25", None), (True, None), (None, None)]
)
def test_a_figure_of_a_signal_is_a_number_within_its_range(sent: Any, figure: float | None) -> None:
    signals = {} if sent is None else {"edge": sent}
    (one,) = in_one_form([fill(note=NOTE._replace(signal_data=signals))])
    assert isinstance(one, AgentFill)
    assert one.signal("edge") == figure


# -- closings --------------------------------------------------------------------------------


def bought(skill: str, shares: float, money: float, **changes: Any) -> AgentFill:
    return traded(Action.BUY, skill, shares, money, **changes)


def sold(skill: str, shares: float, money: float, **changes: Any) -> AgentFill:
    return traded(Action.SELL, skill, shares, money, **changes)


def traded(action: Action, skill: str, shares: float, money: float, **changes: Any) -> AgentFill:
    given: dict[str, Any] = {
        "trade_id": f"{action.value}-{skill}", "venue": Venue.EVM, "market_id": "m1",
        "side": Side.NO, "action": action, "shares": dollars(shares), "money": dollars(money),
        "price": 0.5, "at": AT, "skill": skill, "reasoning": "",
    }  # fmt: skip
    return AgentFill(**{**given, **changes})


def closing(skill: str, pnl: float, *, settled: bool = False) -> Closing:
    return Closing(skill, Venue.EVM, "m1", AT, dollars(pnl), settled)


WON: Final = AgentPayout(Venue.EVM, "m1", Side.NO, AT, NO, NONE)
LOST: Final = AgentPayout(Venue.EVM, "m1", Side.NO, AT, YES, NONE)


def test_a_sale_takes_of_the_sellers_own_book_first_and_then_of_the_oldest() -> None:
    past = [
        bought("a", 10, 4), bought("b", 10, 5), bought("c", 10, 6), sold("b", 25, 20)
    ]  # fmt: skip
    books = books_of(past)
    assert books.closings == [closing("b", 3), closing("a", 4), closing("c", 1)]
    assert books.skills["sell-b"] == "b"
    (own,) = books.held.values()
    assert {skill: (one.shares, one.cost) for (_, skill), one in own.items()} == {
        "a": (0, 0), "b": (0, 0), "c": (dollars(5), dollars(3))
    }  # fmt: skip


def test_a_sale_takes_of_its_own_wallets_shares_alone() -> None:
    evm = {"venue": Venue.EVM, "fee": NONE}
    sale = {**evm, "order_id": "o3", "action": Action.SELL}
    past = in_one_form([
        placed(**evm, money=dollars(8)),
        WalletLinked("ada", AT, "0xAB", left=""),
        placed(**evm, order_id="o2", money=dollars(12)),
        placed(**sale, shares=dollars(10), money=dollars(7)),
        WalletLinked("ada", AT, "", left="0xab"),
        placed(**sale, shares=dollars(20), money=dollars(7)),
    ])
    books = books_of(past)
    assert [one.pnl for one in books.closings] == [dollars(1), dollars(-1)]
    books.take(AgentPayout(Venue.EVM, "m1", Side.NO, AT, NO, NONE))
    assert [one.pnl for one in books.closings[2:]] == [dollars(4)]


def test_money_that_followed_to_other_wallets_is_of_the_one_that_is_left_first() -> None:
    past = in_one_form([
        WalletLinked("ada", AT, "0xAB"),
        placed(venue=Venue.EVM),
        WalletLinked("ada", AT, "0xCD", left="0xab"),
        placed(venue=Venue.EVM),
        placed(venue=Venue.SOL),
        WalletLinked("ada", AT, "0xAB", left="0xcd"),
        placed(venue=Venue.EVM),
    ])
    wallets = [one.wallet for one in past if isinstance(one, AgentFill)]
    assert wallets == ["0xab", "0xcd", "", "0xab"]


def test_a_sale_is_a_trade_of_the_skill_of_which_it_took_first() -> None:
    books = books_of([bought("a", 10, 4), sold("b", 10, 5), sold("c", 1, 1)])
    assert books.skills == {"buy-a": "a", "sell-b": "a", "sell-c": "c"}
    assert books.closings == [closing("a", 1)]


def test_nothing_of_the_proceeds_is_lost_by_rounding() -> None:
    past = [bought("a", 0.000001, 0), bought("b", 0.000002, 0), sold("c", 0.000003, 0.00001)]
    assert [one.pnl for one in books_of(past).closings] == [3, 7]


def test_a_payout_closes_every_book_of_its_side_and_no_other() -> None:
    past = [
        bought("a", 10, 4),
        bought("b", 5, 3),
        bought("b", 5, 3, side=Side.YES),
        bought("b", 5, 3, venue=Venue.SOL),
        bought("b", 5, 3, market_id="m2"),
    ]
    assert books_of([*past, WON], apart=True).closings == [
        closing("a", 6, settled=True), closing("b", 2, settled=True)
    ]  # fmt: skip
    assert books_of([*past, LOST, WON], apart=True).closings == [
        closing("a", -4, settled=True), closing("b", -3, settled=True)
    ]  # fmt: skip
    assert books_of([bought("a", 2, 1), sold("a", 2, 1), WON], apart=True).closings == [
        closing("a", 0)
    ]


def test_together_all_skills_share_one_book() -> None:
    past = [bought("a", 10, 4), bought("b", 10, 8), sold("b", 10, 7)]
    assert books_of(past, apart=False).closings == [closing("", 1)]
    assert books_of(past, apart=True).closings == [closing("b", -1)]
