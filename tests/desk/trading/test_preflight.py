"""What keeps an order back before it is sent: each reason, its fix, and each bound."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.filled import filled
from kit.samples.wallet import wallet_of
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.slices.account import LimitsView
from service_tui.desk.slices.buy_limits import AFTER_FAILURE, AFTER_SIM_BUY, BuyLimit, CooldownView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.redemption import RedemptionRow, Stage
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.wallet import CheckView, Ownership, WalletView
from service_tui.desk.state import DeskState
from service_tui.desk.trading import live_orders
from service_tui.desk.trading import preflight as rules
from service_tui.desk.trading.live_orders import (
    against_real,
    against_skill,
    token_shown,
    worst_price,
)
from service_tui.desk.trading.preflight import (
    LIFE_MAX_S,
    HeldSide,
    buy_bounds,
    holding,
    life_text,
    preflight_any_size,
    preflight_size,
    typed_life_min_s,
    venues_of,
    venues_text,
    why_closed,
    why_no_rest,
    why_too_small,
    without_replaced,
)
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.terms import GTD_LIFE_MIN_S, Action, MarketStatus, Mode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

BASE = replace(sample_state(8), tickets=(), orders=())
MARKET = replace(BASE.markets["m-00001"], venues=())
READY: dict[str, Any] = {
    "live": True, "real_trading": True, "restricted": "", "usdc": Micros(100 * ONE), "served": (),
}  # fmt: skip


def desk(**changes: Any) -> DeskState:
    """A desk on which everything may be bought; fields of a part are changed by name."""
    state = replace(BASE, markets={MARKET.market_id: MARKET}, wallet=wallet_of(**READY))
    for name, change in changes.items():
        part = getattr(state, name)
        made = replace(part, **change) if isinstance(change, dict) and name != "markets" else change
        state = replace(state, **{name: made})
    return state


def order(venue: Venue = Venue.SIM, action: Action = Action.BUY, **other: Any) -> PlaceTrade:
    size = {"amount": Micros(ONE)} if action is Action.BUY else {"shares": Micros(ONE)}
    given: dict[str, Any] = {"confirmed": True, **size, **other}
    return PlaceTrade(MARKET.market_id, Side.YES, action, venue, **given)


def ticket(amount: int = 0, shares: int = 0, **other: Any) -> TicketView:
    given: dict[str, Any] = {
        "ticket_id": "t-1", "kind": "trade", "market_id": "m-2", "what": "buy",
        "state": TicketState.SENT, "opened_at": NOW, "amount": Micros(amount * ONE),
        "shares": Micros(shares * ONE), "holding": order().holding,
    }  # fmt: skip
    return TicketView(**(given | other))


def resting(**other: Any) -> OpenOrderView:
    given: dict[str, Any] = {
        "order_id": "o-1", "trade_id": "t-2", "market_id": "m-2", "question": "?",
        "side": Side.YES, "action": Action.BUY, "venue": Venue.EVM, "shares": Micros(7 * ONE),
        "filled": Micros(0), "price": 0.5, "money": Micros(9 * ONE), "created_at": NOW,
    }  # fmt: skip
    return OpenOrderView(**(given | other))


# -- real money ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "confirmed", "reason"),
    [
        ({"wallet": {"live": False}}, True, ("live trading is off", Fix.SWITCH_ON_REAL_MONEY)),
        ({}, False, ("real-money order not confirmed", Fix.CONFIRM_ON_TICKET)),
        ({"account": None}, True, ("agent not claimed", Fix.CLAIM)),
        ({"account": {"claimed": False}}, True, ("agent not claimed", Fix.CLAIM)),
        (
            {"wallet": {"real_trading": False}},
            True,
            (
                "real trades not allowed by the service (sdk_real_trading_enabled)",
                Fix.ALLOW_REAL_TRADES,
            ),
        ),
        (
            {"wallet": {"restricted": "sanctions"}},
            True,
            ("wallet not accepted by the venue", Fix.LINK_ANOTHER_KEY),
        ),
    ],
)
@pytest.mark.parametrize("venue", [Venue.EVM, Venue.SOL])
def test_real_money_needs_each_of_its_preconditions(
    venue: Venue, changes: dict[str, Any], reason: tuple[str, Fix], *, confirmed: bool
) -> None:
    account = {"account": {"claimed": True}}
    state = desk(**(account | changes))
    assert list(against_real(state, order(venue, confirmed=confirmed))) == [Reason(*reason)]
    assert list(against_real(desk(**account), order(venue))) == []
    assert preflight_any_size(state, order(venue, confirmed=confirmed), NOW) == Reason(*reason)


@pytest.mark.parametrize(
    ("wallet", "reason"),
    [
        ({}, None),
        ({"ownership": None}, ("wallet not loaded yet", Fix.WAIT_FOR_SERVICE)),
        ({"key_address": ""}, ("no signing key for the linked wallet", Fix.UNLOCK_KEY)),
        ({"ownership": Ownership.MANAGED, "key_address": ""}, None),
        (
            {"usdc": Micros(0), "usdc_native": Micros(5)},
            ("native USDC not accepted by the venue", Fix.SWAP_USDC),
        ),
        ({"usdc": Micros(1), "usdc_native": Micros(5)}, None),
        (
            {
                "served": (
                    CheckView("gas", is_done=True, detail=""),
                    CheckView("book", is_done=None, detail="", fix="wait"),
                    CheckView("approvals", is_done=False, detail="", fix="press A"),
                    CheckView("later", is_done=False, detail="", fix="other"),
                )
            },
            ("setup step missing: approvals", "press A"),
        ),
    ],
)
def test_an_own_wallet_has_to_be_able_to_pay_and_sign(
    wallet: dict[str, Any], reason: tuple[str, str] | None
) -> None:
    state = desk(account={"claimed": True}, wallet=wallet)
    expected = [] if reason is None else [Reason(*reason)]
    assert list(against_real(state, order(Venue.EVM))) == expected
    # The other venue signs nothing with this wallet.
    assert list(against_real(state, order(Venue.SOL))) == []


def test_play_money_needs_no_wallet_at_all() -> None:
    state = desk(wallet=WalletView(), account={"claimed": False})
    assert preflight_any_size(state, order(), NOW) is None


@pytest.mark.parametrize(
    ("amount", "spent", "limit", "is_broken"),
    [(5, 3, 8, False), (5, 4, 8, True), (5, 3, 7, True), (500, 300, None, False)],
)
def test_a_skills_buy_counts_what_skills_have_spent_against_the_desks_day(
    monkeypatch: pytest.MonkeyPatch, *, amount: int, spent: int, limit: int | None, is_broken: bool
) -> None:
    state = desk(account={"claimed": True})
    most = None if limit is None else limit * ONE
    # Of which its own buys of today have used a half.
    row = SimpleNamespace(
        limit_kind=BuyLimit.DESK_DAY, used=ONE // 2, limit=most and most + ONE // 2
    )
    other = SimpleNamespace(limit_kind=BuyLimit.SKILL_DAY, used=0, limit=1)
    monkeypatch.setattr(live_orders, "buy_limits", lambda *_: (other, row))
    monkeypatch.setattr(live_orders, "broken_by", nothing)
    buy = order(Venue.SOL, amount=Micros(amount * ONE))
    reasons = list(against_skill(state, buy, NOW, Micros(spent * ONE)))
    text = f"desk limit (daily spend) is {(limit or 0) + 0.5:,.2f}, skills spent {spent:,.2f}"
    assert reasons == ([Reason(text, Fix.RAISE_LIMIT)] if is_broken else [])
    unread = replace(state, buy_limits=None)
    assert list(against_skill(unread, buy, NOW, Micros(0)))[:1] == [
        Reason("limits not loaded yet", Fix.WAIT_FOR_SERVICE)
    ]


def test_a_market_without_a_condition_has_no_token_to_show() -> None:
    for condition in ("", "0x12", "no condition"):
        assert token_shown(replace(MARKET, condition_id=condition), Side.YES) == ""
    known = replace(MARKET, condition_id="0x" + "3c" * 32, neg_risk=False)
    tokens = {
        token_shown(replace(known, neg_risk=risk), side) for side in Side for risk in (False, True)
    }
    assert len(tokens) == 4
    assert all(one.isdigit() for one in tokens)


def test_the_worst_price_lies_halfway_from_the_price_of_ones_own_position_else_the_markets() -> (
    None
):
    state = desk()
    mine = replace(BASE.positions[0], market_id=MARKET.market_id, side=Side.YES, mark_price=0.6)
    state = replace(state, positions=(), on_venues=())
    assert MARKET.price_of(Side.YES) != 0.6
    shown = MARKET.price_of(Side.YES)
    assert worst_price(state, order(action=Action.SELL)) == pytest.approx(shown / 2)
    assert worst_price(state, order()) == pytest.approx((1 + shown) / 2)
    held = replace(state, positions=(replace(mine, side=Side.NO, mark_price=0.1), mine))
    key = held.positions[1].key
    assert key == order().holding
    assert worst_price(held, order(action=Action.SELL)) == pytest.approx(0.3)
    assert worst_price(held, order()) == pytest.approx(0.8)
    assert worst_price(replace(state, markets={}), order()) is None
    # One that is over has no price any more; one on another venue has its own.
    over = replace(state, positions=(replace(mine, status=MarketStatus.RESOLVED),))
    assert worst_price(over, order()) == pytest.approx((1 + shown) / 2)
    there = replace(mine, venue=Venue.EVM, mark_price=0.2)
    away = replace(state, on_venues=(there,))
    assert worst_price(away, order(Venue.EVM)) == pytest.approx(0.6)
    assert worst_price(away, order()) == pytest.approx((1 + shown) / 2)


# -- the venue and the market ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "placed", "reason"),
    [
        (
            {"markets": {MARKET.market_id: replace(MARKET, venues=(Venue.EVM, Venue.SOL))}},
            order(),
            ("market trades on evm_venue and sol_venue only", Fix.OTHER_VENUE),
        ),
        (
            {"service": {"venue": Venue.EVM}},
            order(),
            ("no play-money trading on this service", Fix.REAL_VENUE),
        ),
        (
            {"service": {"mode": next(one for one in Mode if one is not Mode.SIM)}},
            order(),
            ("no play-money trading on this service", Fix.REAL_VENUE),
        ),
        ({}, order(rests=True), ("no limit orders on sim", Fix.REAL_VENUE)),
        (
            {"markets": {MARKET.market_id: replace(MARKET, status=MarketStatus.CLOSED)}},
            order(),
            ("market closed, awaiting resolution: no orders", ""),
        ),
        ({"limits": None}, order(), ("cash and limits not loaded yet", Fix.WAIT_FOR_SERVICE)),
        ({"account": None}, order(), ("cash and limits not loaded yet", Fix.WAIT_FOR_SERVICE)),
        (
            {"limits": {"paused": True}},
            order(),
            ("trading is paused, buys are blocked", Fix.RESUME_THERE),
        ),
        ({}, order(), None),
    ],
)
def test_an_order_of_any_size_is_kept_back_by_its_venue_market_and_account(
    changes: dict[str, Any], placed: PlaceTrade, reason: tuple[str, str] | None
) -> None:
    expected = None if reason is None else Reason(*reason)
    assert preflight_any_size(desk(**changes), placed, NOW) == expected


def test_a_halt_keeps_buys_back_and_no_sale() -> None:
    state = replace(desk(), positions=(mine(3),))
    assert preflight_any_size(state, order(action=Action.SELL), NOW) is None
    halted = replace(state, world=replace(state.world, halted_at=NOW)) if state.world else state
    assert halted.halted_since is not None
    assert preflight_any_size(halted, order(), NOW) == HALTED
    assert preflight_any_size(halted, order(action=Action.SELL), NOW) is None


def test_a_market_that_names_no_venue_trades_on_all() -> None:
    assert venues_of(MARKET) == tuple(Venue)
    assert venues_text(replace(MARKET, venues=(Venue.SOL,))) == "sol_venue"


@pytest.mark.parametrize(
    ("status", "outcome", "why"),
    [
        (MarketStatus.CLOSED, None, "market closed, awaiting resolution: no orders"),
        (MarketStatus.RESOLVED, YES, "market resolved YES: no orders"),
        (MarketStatus.RESOLVED, NO, "market resolved NO: no orders"),
        (MarketStatus.RESOLVED, Outcome.at(0.35), "market resolved 0.35: no orders"),
        (MarketStatus.RESOLVED, VOID, "market resolved void: no orders"),
        (MarketStatus.RESOLVED, None, "market resolved: no orders"),
    ],
)
def test_a_market_that_takes_no_orders_says_why(
    *, status: MarketStatus, outcome: Outcome | None, why: str
) -> None:
    assert why_closed(replace(MARKET, status=status, outcome=outcome)) == why
    assert why_closed(MARKET) == ""


@pytest.mark.parametrize(
    ("venue", "embedded", "simulated", "why"),
    [
        (Venue.SIM, True, True, "no limit orders on sim"),
        (Venue.EVM, False, False, None),
        (Venue.SOL, False, False, "only market orders on sol_venue here"),
        (Venue.SOL, True, False, None),
        (Venue.SOL, False, True, None),
    ],
)
def test_where_a_limit_order_may_rest(
    venue: Venue, why: str | None, *, embedded: bool, simulated: bool
) -> None:
    state = desk(service={"embedded": embedded}, wallet={"simulated": simulated})
    reason = why_no_rest(state, venue)
    assert (reason and reason.text) == why


@pytest.mark.parametrize(
    ("venue", "after", "market_id", "side", "left_s", "text"),
    [
        (Venue.SIM, AFTER_SIM_BUY, "", Side.YES, 7, "7 s"),
        (Venue.SIM, AFTER_SIM_BUY, "", Side.YES, 0.2, "1 s"),
        (Venue.SIM, AFTER_SIM_BUY, "", Side.YES, 0, ""),
        (Venue.SIM, AFTER_SIM_BUY, "", Side.NO, 7, ""),
        (Venue.SIM, AFTER_SIM_BUY, "m-9", Side.YES, 7, ""),
        (Venue.SIM, AFTER_FAILURE, "", Side.YES, 7, ""),
        (Venue.SOL, AFTER_FAILURE, "", Side.YES, 90, "90 s"),
        (Venue.SOL, AFTER_SIM_BUY, "", Side.YES, 90, ""),
    ],
)
def test_a_cooldown_holds_buys_of_its_side_back_until_it_ends_by_the_services_clock(
    *, venue: Venue, after: str, market_id: str, side: Side, left_s: float, text: str
) -> None:
    one = CooldownView(market_id or MARKET.market_id, side, Timestamp(NOW + left_s - 30), after)
    state = desk(
        account={"claimed": True}, buy_limits={"cooldowns": (one,)}, service={"skew_s": 30.0}
    )
    state = replace(state, positions=(mine(3),))
    reason = preflight_any_size(state, order(venue), NOW)
    whole = f"cooldown after {after}: no YES buy in this market for {text}"
    assert reason == (Reason(whole, Fix.WAIT_OR_ELSEWHERE) if text else None)
    assert preflight_any_size(state, order(action=Action.SELL), NOW) is None


# -- what is held ----------------------------------------------------------------------------------


def mine(shares: int, **other: Any) -> Any:
    given: dict[str, Any] = {
        "market_id": MARKET.market_id, "side": Side.YES, "shares": Micros(shares * ONE),
        "cost": Micros(2 * ONE),
    }  # fmt: skip
    return replace(BASE.positions[0], **(given | other))


def queued(**other: Any) -> RedemptionRow:
    given: dict[str, Any] = {
        "market_id": MARKET.market_id, "side": Side.YES, "venue": Venue.EVM,
        "stage": Stage.ACTIVE, "shares": Micros(4 * ONE), "cost": Micros(3 * ONE),
    }  # fmt: skip
    return filled(RedemptionRow, 3, **(given | other))


def test_a_position_is_that_of_its_market_side_and_venue() -> None:
    others = (
        queued(market_id="m-9", shares=Micros(1)), queued(side=Side.NO, shares=Micros(2)),
        queued(venue=Venue.SOL, shares=Micros(5)),
        queued(stage=next(one for one in Stage if one is not Stage.ACTIVE), shares=Micros(6)),
    )  # fmt: skip
    state = desk(redemption={"rows": (*others, queued())})
    held = (mine(8, side=Side.NO), mine(9, market_id="m-9"), mine(7))
    state = replace(state, positions=held)
    where = (MARKET.market_id, Side.YES)
    assert holding(state, *where, Venue.EVM) == HeldSide(Micros(4 * ONE), Micros(3 * ONE))
    assert holding(state, *where) == HeldSide(Micros(7 * ONE), Micros(2 * ONE))
    assert holding(state, MARKET.market_id, Side.NO) == HeldSide(Micros(8 * ONE), Micros(2 * ONE))
    state = replace(state, positions=(), redemption=replace(state.redemption, rows=others))
    assert holding(state, *where, Venue.EVM) is None
    assert holding(state, *where) is None


@pytest.mark.parametrize(
    ("venue", "text"), [(Venue.SIM, "no YES position here"), (Venue.EVM, "on evm_venue")]
)
def test_nothing_is_sold_that_is_not_held(venue: Venue, text: str) -> None:
    state = replace(desk(account={"claimed": True}, redemption={"rows": ()}), positions=())
    reason = preflight_any_size(state, order(venue, Action.SELL), NOW)
    assert reason is not None
    assert (text in reason.text, reason.fix) == (True, Fix.OTHER_SIDE)
    empty = replace(state, positions=(mine(0),))
    assert preflight_any_size(empty, order(action=Action.SELL), NOW) is not None


@pytest.mark.parametrize(
    ("shares", "pending", "reason"),
    [
        (8.5, 0, None),
        (8.50001, 0, ("above your 8.5 shares", Fix.SELL_FEWER)),
        (0, 0, ("above your 8.5 shares", Fix.SELL_FEWER)),
        (5.5, 3, None),
        (5.6, 3, ("a sale of these shares is pending", Fix.WAIT_FOR_END)),
    ],
)
def test_a_sale_takes_no_more_than_is_held_and_free(
    shares: float, pending: int, reason: tuple[str, Fix] | None
) -> None:
    state = desk()
    state = replace(
        state,
        positions=(replace(mine(0), shares=Micros(8_500_000)),),
        tickets=(
            ticket(shares=pending), ticket(shares=90, holding="another"),
            ticket(shares=90, state=TicketState.DONE),
            ticket(shares=90, state=TicketState.UNKNOWN, outcome=NO_TRACE),
        ),
    )  # fmt: skip
    placed = order(action=Action.SELL, shares=Micros(round(shares * ONE)))
    expected = None if reason is None else Reason(*reason)
    assert preflight_size(state, placed, NOW) == expected


# -- money -----------------------------------------------------------------------------------------

LIMITS = LimitsView(
    paused=False, max_trade=Micros(40 * ONE), day_spend_max=Micros(70 * ONE),
    day_spent=Micros(9 * ONE), day_trades_max=None,
)  # fmt: skip


def money(**changes: Any) -> DeskState:
    return desk(
        **{
            "limits": LIMITS, "account": {"cash": Micros(50 * ONE)},
            "buy_limits": {"max_trade": Micros(33 * ONE)}, **changes,
        }
    )  # fmt: skip


def test_a_buy_with_play_money_is_bound_by_cash_less_pending_orders_and_the_trade() -> None:
    state = money()
    assert buy_bounds(state, Venue.SIM) == [(50 * ONE, "cash"), (40 * ONE, "limit per trade")]
    pending = (ticket(6), ticket(5, venue=Venue.EVM), ticket(7, state=TicketState.DONE))
    kept = replace(state, tickets=pending)
    assert buy_bounds(kept, Venue.SIM)[0] == (44 * ONE, "cash left by pending orders")
    assert buy_bounds(kept, Venue.SIM, ())[0] == (50 * ONE, "cash")
    over = replace(state, tickets=(ticket(60),))
    assert buy_bounds(over, Venue.SIM)[0][0] == -10 * ONE


def test_a_buy_with_real_money_is_bound_by_the_day_the_trade_and_the_wallet() -> None:
    state = money()
    day, trade = (61 * ONE, "left of the daily limit"), (33 * ONE, "limit per trade")
    assert buy_bounds(state, Venue.EVM) == [day, trade, (100 * ONE, "in the wallet")]
    assert buy_bounds(state, Venue.SOL) == [day, trade]
    spoken = replace(
        state,
        tickets=(ticket(6), ticket(5, venue=Venue.EVM)),
        orders=(resting(), resting(action=Action.SELL), resting(venue=Venue.SOL)),
    )
    assert buy_bounds(spoken, Venue.EVM)[2] == (86 * ONE, "in the wallet, less open buys")
    empty = replace(state, wallet=replace(state.wallet, usdc=Micros(0)))
    assert buy_bounds(empty, Venue.EVM) == [day, trade, (0, "in the wallet")]
    unread = replace(state, wallet=replace(state.wallet, usdc=None), buy_limits=None)
    assert buy_bounds(unread, Venue.EVM) == [day]
    for missing in ({"account": None}, {"limits": None}):
        assert buy_bounds(money(**missing), Venue.EVM) == []


@pytest.mark.parametrize(
    ("venue", "amount", "wallet", "text"),
    [
        (Venue.SIM, 40, {}, ""),
        (Venue.SIM, 41, {}, "above the 40.00 $SIM limit per trade"),
        (Venue.SIM, 51, {}, "above the 50.00 $SIM cash"),
        (Venue.SIM, 0, {}, "above the 50.00 $SIM cash"),
        (Venue.SOL, 33, {}, ""),
        (Venue.SOL, 34, {}, "above the 33.00"),
        (Venue.EVM, 10, {"usdc": Micros(10 * ONE)}, ""),
        (Venue.EVM, 11, {"usdc": Micros(10 * ONE)}, "in the wallet"),
        (Venue.EVM, 1, {"usdc": None}, "wallet balance not loaded yet"),
    ],
)
def test_a_buy_within_every_bound_passes_and_the_first_one_broken_is_named(
    monkeypatch: pytest.MonkeyPatch,
    *,
    venue: Venue,
    amount: int,
    wallet: dict[str, Any],
    text: str,
) -> None:
    monkeypatch.setattr(rules, "broken_by", nothing)
    reason = preflight_size(money(wallet=wallet), order(venue, amount=Micros(amount * ONE)), NOW)
    if not text:
        assert reason is None
        return
    assert reason is not None
    assert text in reason.text
    is_unread = venue is Venue.EVM and wallet.get("usdc") is None
    assert reason.fix == (Fix.WAIT_FOR_SERVICE if is_unread else Fix.LOWER_AMOUNT)


def nothing(*_: object) -> Iterator[Reason]:
    yield from ()


def test_only_what_is_older_takes_its_share_before_an_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "broken_by", nothing)
    newest_first = (
        ticket(30, ticket_id="new"), ticket(1, ticket_id="own"), ticket(15, ticket_id="old"),
    )  # fmt: skip
    state = replace(money(), tickets=newest_first)
    passes = {
        name: preflight_size(state, order(amount=Micros(35 * ONE)), NOW, ticket_id=name) is None
        for name in ("own", "old", "", "unknown")
    }
    assert passes == {"own": True, "old": True, "": False, "unknown": False}


def test_an_order_that_replaces_another_may_use_what_that_one_keeps() -> None:
    state = replace(BASE, orders=(resting(), resting(order_id="o-2")))
    assert without_replaced(state, order()) is state
    left = without_replaced(state, order(replaces="o-1"))
    assert left == replace(state, orders=(resting(order_id="o-2"),))
    # The money that the former order keeps is that of the new one.
    held = replace(money(), orders=(resting(money=Micros(95 * ONE)),))
    new = order(Venue.EVM, amount=Micros(10 * ONE), rests=True, price=0.5, replaces="o-1")
    assert preflight_size(held, new, NOW) is None
    above = "above the 5.00 USDC.e in the wallet, less open buys"
    assert preflight_size(held, replace(new, replaces=""), NOW) == Reason(above, Fix.LOWER_AMOUNT)


# -- limit orders ----------------------------------------------------------------------------------


TOO_SOON = "expiry must be 4 minutes to 365 days ahead"


@pytest.mark.parametrize(
    ("venue", "typed_s", "text"),
    [
        # Three minutes are the venue's; the fourth is for the confirmation.
        (Venue.EVM, 240.0, TOO_SOON),
        (Venue.SOL, 60.0, "expiry must be 1 minute to 365 days ahead"),
    ],
)
def test_an_expiry_is_typed_with_time_to_confirm_it(
    venue: Venue, typed_s: float, text: str
) -> None:
    assert (typed_life_min_s(venue), life_text(venue)) == (typed_s, text)


@pytest.mark.parametrize(
    ("after_s", "price", "reason"),
    [
        (None, 0.5, None),
        (GTD_LIFE_MIN_S[Venue.EVM], 0.5, None),
        (GTD_LIFE_MIN_S[Venue.EVM] - 1, 0.5, (TOO_SOON, Fix.TYPE_EXPIRY)),
        (LIFE_MAX_S, 0.5, None),
        (LIFE_MAX_S + 1, 0.5, (TOO_SOON, Fix.TYPE_EXPIRY)),
        (None, None, ("limit price must be above 0 and below 1", Fix.TYPE_LIMIT)),
        (None, 0.0, ("limit price must be above 0 and below 1", Fix.TYPE_LIMIT)),
        (None, 1.0, ("limit price must be above 0 and below 1", Fix.TYPE_LIMIT)),
        (None, 0.99, None),
    ],
)
def test_a_limit_order_has_a_price_between_0_and_1_and_a_life_that_a_venue_can_list(
    monkeypatch: pytest.MonkeyPatch,
    after_s: float | None,
    price: float | None,
    reason: tuple[str, Fix] | None,
) -> None:
    monkeypatch.setattr(rules, "broken_by", nothing)
    expires_at = None if after_s is None else Timestamp(NOW + after_s)
    placed = order(
        Venue.EVM, amount=Micros(20 * ONE), rests=True, price=price, expires_at=expires_at
    )
    expected = None if reason is None else Reason(*reason)
    assert preflight_size(money(), placed, NOW) == expected
    # A market order has no life, and its price is a bound.
    assert list(rules._against_resting(replace(placed, rests=False), NOW)) == []


@pytest.mark.parametrize(
    ("venue", "action", "size", "price", "why"),
    [
        (Venue.EVM, Action.SELL, 5.0, 0.5, ""),
        (Venue.EVM, Action.SELL, 4.99, 0.5, "minimum order: 5 shares"),
        (Venue.EVM, Action.BUY, 2.5, 0.5, ""),
        (
            Venue.EVM,
            Action.BUY,
            2.49,
            0.5,
            "minimum order: 5 shares; at 0.50 spend 2.50 USDC.e or more",
        ),
        (Venue.EVM, Action.BUY, 1.66, 0.333, "spend 1.67"),
        (Venue.EVM, Action.BUY, 1.67, 0.333, ""),
        (Venue.SOL, Action.BUY, 0.01, 0.5, ""),
        (Venue.SIM, Action.SELL, 0.01, 0.5, ""),
    ],
)
def test_the_least_limit_order_is_named_with_what_would_be_enough(
    *, venue: Venue, action: Action, size: float, price: float, why: str
) -> None:
    told = why_too_small(venue, action, Micros(round(size * ONE)), Micros(round(price * ONE)))
    assert (why in told) is True
    assert bool(told) is bool(why)


def test_what_is_named_as_enough_is_enough_and_a_cent_less_is_not() -> None:
    for cents in range(1, 100, 7):
        price = Micros(cents * 10_000)
        told = why_too_small(Venue.EVM, Action.BUY, Micros(1), price)
        enough = Micros(round(float(told.split(" spend ")[1].split()[0]) * ONE))
        assert why_too_small(Venue.EVM, Action.BUY, enough, price) == ""
        assert why_too_small(Venue.EVM, Action.BUY, Micros(enough - 10_000), price) != ""


@pytest.mark.parametrize(
    ("venue", "action", "price", "passes"),
    [
        (Venue.SIM, Action.BUY, 0.0, True),
        (Venue.SIM, Action.BUY, -0.001, False),
        (Venue.SIM, Action.SELL, 0.0, True),
        (Venue.SIM, Action.SELL, 0.001, False),
        (Venue.EVM, Action.BUY, 0.02, True),
        (Venue.EVM, Action.BUY, 0.019, False),
        (Venue.EVM, Action.SELL, -0.03, True),
        (Venue.EVM, Action.SELL, -0.029, False),
    ],
)
def test_an_order_with_a_price_passes_while_the_quote_is_not_beyond_it(
    *, venue: Venue, action: Action, price: float, passes: bool
) -> None:
    shown = MARKET.price_of(Side.YES)
    market = replace(MARKET, bid=shown - 0.03, ask=shown + 0.02)
    state = replace(BASE, markets={market.market_id: market})
    placed = order(venue, action, price=shown + price)
    reasons = list(rules._against_quote(state, placed))
    assert reasons == ([] if passes else [Reason("price moved beyond the quote", Fix.NEW_PRICE)])
    # The price of NO is the other one, and what differs by its rounding alone is the same.
    no = replace(placed, side=Side.NO, price=1 - shown - price)
    by_no = {Action.BUY: Action.SELL, Action.SELL: Action.BUY}[action]
    assert list(rules._against_quote(state, replace(no, action=by_no))) == reasons
    near = replace(placed, price=placed.price + (-1e-10 if action is Action.BUY else 1e-10))
    assert list(rules._against_quote(state, near)) == reasons
    for free in (
        replace(placed, rests=True), replace(placed, price=None),
        replace(placed, market_id="m-9"),
    ):  # fmt: skip
        assert list(rules._against_quote(state, free)) == []


def test_a_holding_is_named_by_market_side_and_venue() -> None:
    assert order(Venue.EVM).holding == position_key(MARKET.market_id, Side.YES, Venue.EVM)


def test_an_order_is_judged_by_what_holds_for_any_size_and_then_by_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = Reason("a limit of this desk", "raise it")
    broken: list[tuple[object, ...]] = []

    def broken_by(*given: object) -> Iterator[Reason]:
        broken.append(given)
        yield limit

    monkeypatch.setattr(rules, "broken_by", broken_by)
    state, placed = money(), order()
    assert rules.preflight(state, placed, NOW) == limit
    assert broken == [(state, placed, NOW, [])]
    paused = money(limits=replace(LIMITS, paused=True))
    assert rules.preflight(paused, placed, NOW) == Reason(
        "trading is paused, buys are blocked", Fix.RESUME_THERE
    )
    # A sale breaks no limit of buys.
    held = replace(state, positions=(mine(3),))
    assert rules.preflight(held, order(action=Action.SELL), NOW) is None


@pytest.mark.parametrize(
    ("action", "size", "least"), [(Action.BUY, 2.49, 2.5), (Action.SELL, 4.99, 5.0)]
)
def test_a_limit_order_below_the_venues_least_is_refused(
    action: Action, size: float, least: float
) -> None:
    name = "amount" if action is Action.BUY else "shares"
    for given in (size, least):
        micros = {name: Micros(round(given * ONE))}
        placed = order(Venue.EVM, action, rests=True, price=0.5, **micros)
        reasons = list(rules._against_resting(placed, NOW))
        assert [one.text.startswith("minimum order: 5 shares") for one in reasons] == (
            [True] if given < least else []
        )
