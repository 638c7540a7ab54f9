"""A waiting trade, answered without a screen: what is typed, what is said, and what is decided."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.doors import seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import leash_of, pending_trade_of
from service_tui.console.fields import FieldError
from service_tui.console.formats import MASK
from service_tui.console.forms.approval import (
    AMOUNT,
    BOUND,
    NEXT,
    REASON,
    URGENT_S,
    ApprovalForm,
    exact_text,
    over_budget,
    real_question,
    why_text,
)
from service_tui.console.forms.approval_bound import first_bound
from service_tui.console.keys import cap
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.slices.supervision import PendingTradeView, approval_text
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

BASE = seen_before(sample_state())
BASE = replace(BASE, fleet=None, wallet=replace(BASE.wallet, live=False), preferences={})
BUY = pending_trade_of(
    amount=Micros(25_123_456), price=0.41, average=0.43, venue=Venue.SIM, skill_slug="ebb",
    signal_data={},
)  # fmt: skip
SALE = replace(BUY, action=Action.SELL, shares=Micros(3 * ONE), amount=Micros(0))
EMBEDDED = replace(BASE.service, embedded=True)
PRIVATE = {"privacy": "on"}


def state_of(*pending: PendingTradeView, **other: Any) -> DeskState:
    leashes = other.pop("leashes", ())
    view = replace(BASE.supervision, pending_trades=pending, leashes=leashes, decided=())
    return replace(BASE, supervision=view, **other)


class Typed(ApprovalForm):
    """A form into whose lines a test types; it is on no screen."""

    lines: dict[str, str]

    def typed(self, name: str) -> str:
        return self.lines[name]


def form_of(
    trade: PendingTradeView = BUY, state: DeskState | None = None, *, left: str = "", **given: Any
) -> Typed:
    form = Typed(state or state_of(trade), NOW, trade, **given)
    form.lines = {**form.first, REASON.name: left}
    return form


def approval(amount: Micros | None = None, trade: PendingTradeView = BUY) -> ApproveTrade:
    """What an approval is while the offered worst price stands."""
    bound = first_bound(trade)
    is_buy = trade.action is Action.BUY
    return ApproveTrade(
        "h1",
        approval_text(trade),
        amount,
        not_above=bound if is_buy else None,
        not_below=None if is_buy else bound,
    )


def problem(form: Typed) -> str:
    with pytest.raises(FieldError) as caught:
        form.validate()
    return str(caught.value)


def test_a_buy_begins_with_its_exact_size_and_a_sale_has_no_line_for_one() -> None:
    form = form_of()
    assert form.first == {AMOUNT.name: "25.123456", BOUND.name: "0.4386"}
    (size, bound), reason, preview = form.docked
    assert (bound.name, bound.label) == (BOUND.name, "not above")
    assert (size.name, size.label, size.placeholder) == (
        AMOUNT.name,
        "for $SIM",
        AMOUNT.placeholder,
    )
    assert (reason, preview) == (REASON, "form-preview")
    assert form_of(replace(BUY, venue=Venue.EVM)).docked[0][0].label == "for USDC.e"
    (bound,), *others = form_of(SALE).docked
    assert (bound.label, others) == ("not below", [REASON, "form-preview"])
    masked = form_of(state=state_of(BUY, preferences=PRIVATE))
    assert (masked.first[AMOUNT.name], masked.docked[0][0].placeholder) == ("", "as requested")


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("25.123456", None),
        ("10", Micros(10 * ONE)),
        (" 25.12 ", Micros(25_120_000)),
        ("30", Micros(30 * ONE)),
    ],
)
def test_an_approval_has_the_typed_size_or_none_where_it_is_the_requested_one(
    typed: str, amount: Micros | None
) -> None:
    form = form_of()
    form.lines[AMOUNT.name] = typed
    assert form.validate() == approval(amount)


def test_an_empty_size_is_the_requested_one_only_while_amounts_are_masked() -> None:
    form = form_of()
    form.lines[AMOUNT.name] = " "
    assert problem(form) == f"Enter an amount, or {cap('approval.refuse')} to refuse"
    masked = form_of(state=state_of(BUY, preferences=PRIVATE))
    assert masked.validate() == approval()


def test_a_sale_is_approved_whole() -> None:
    assert form_of(SALE).validate() == approval(trade=SALE)


@pytest.mark.parametrize(("typed", "bound"), [("", None), (" ", None), ("0.47", 0.47)])
def test_the_worst_price_is_what_is_typed_or_any(typed: str, bound: float | None) -> None:
    for trade in (BUY, SALE):
        form = form_of(replace(trade, average=0.47))
        form.lines[BOUND.name] = typed
        order = form.validate()
        assert isinstance(order, ApproveTrade)
        bounds = (order.not_above, order.not_below)
        assert bounds == ((bound, None) if trade is BUY else (None, bound))


def test_nothing_is_sent_while_the_price_of_now_is_beyond_the_worst_price() -> None:
    form = form_of()
    form.validate()
    form.lines[BOUND.name] = "0.42"
    expected = (
        "Price 0.430 is beyond 0.42: nothing would be traded. "
        f'Change "not above", or {cap("approval.refuse")} to refuse'
    )
    assert problem(form) == expected
    sale = form_of(SALE)
    sale.lines[BOUND.name] = "0.42"
    sale.validate()
    sale.lines[BOUND.name] = "0.44"
    assert "beyond 0.44" in problem(sale)


def test_an_order_that_may_rest_on_a_book_is_sent_though_the_price_is_beyond() -> None:
    resting = replace(BUY, venue=Venue.EVM, price_limit=0.4)
    form = form_of(resting, replace(state_of(resting), service=EMBEDDED))
    assert form.validate() == approval(trade=resting)
    on_sim = form_of(replace(resting, venue=Venue.SIM))
    assert "beyond 0.40:" in problem(on_sim)


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({}, False),
        ({"resolves_at": Timestamp(NOW + 1)}, False),
        ({"resolves_at": Timestamp(NOW)}, True),
        ({"status": MarketStatus.CLOSED}, True),
        ({"status": MarketStatus.RESOLVED}, True),
    ],
)
def test_a_request_of_an_ended_market_is_not_approved(
    fields: dict[str, Any], *, ended: bool
) -> None:
    market = next(iter(BASE.markets.values()))
    one = replace(market, **{"status": MarketStatus.ACTIVE, "resolves_at": None, **fields})
    trade = replace(BUY, market_id=market.market_id)
    state = replace(state_of(trade), markets={market.market_id: one}, world=None)
    form = form_of(trade, state)
    if ended:
        assert problem(form) == "Nothing to approve: the market ended"
    else:
        form.validate()
    # A service that prices every market has dropped the one without a price.
    gone = replace(state, markets={})
    assert "the market ended" in problem(form_of(replace(trade, price=None), gone))
    form_of(trade, gone).validate()


def test_a_refusal_has_the_typed_reason_and_needs_no_size() -> None:
    for trade in (BUY, SALE):
        form = form_of(trade, left=" too thin ")
        form.lines[AMOUNT.name] = ""
        form._is_refusing = True
        assert form.validate() == RefuseTrade("h1", approval_text(trade), "too thin")


@pytest.mark.parametrize("refusing", [True, False])
def test_nothing_is_decided_after_the_deadline_or_before_it_was_read(*, refusing: bool) -> None:
    late = form_of(replace(BUY, expires_at=NOW))
    late._is_refusing = refusing
    assert problem(late) == "Approval expired. Trade refused"
    early = form_of(is_next=True)
    early._is_refusing = refusing
    assert problem(early) == NEXT
    assert form_of(replace(BUY, expires_at=Timestamp(NOW + 1))).validate() is not None


def test_real_money_is_not_spent_while_it_is_switched_off() -> None:
    real = replace(BUY, venue=Venue.EVM)
    elsewhere = replace(BASE.service, embedded=False)
    off = (
        f"Live trading is off. Turn it on in Wallet ({cap('app.redemption')}, "
        f"{cap('app.wallet')}, {cap('wallet.live')})"
    )
    assert problem(form_of(real, state_of(real, service=elsewhere))) == off
    live = replace(BASE.wallet, live=True)
    for state in (
        state_of(real, service=elsewhere, wallet=live),
        # The embedded service has no real money at all.
        state_of(real),
    ):
        assert form_of(real, state).validate() is not None
    assert form_of(BUY, state_of(BUY, service=elsewhere)).validate() is not None


def test_a_buy_above_the_budget_is_refused_by_the_one_with_the_least_room() -> None:
    agent = leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE))
    skill = leash_of(skill_slug="ebb", budget=Micros(40 * ONE), spent=Micros(21 * ONE))
    advice = f"Raise the budget ({cap('app.agents')}, {cap('agents.leash')}) or lower the amount"
    state = state_of(BUY, leashes=(agent, skill))
    said = "Over the daily budget of the skill ebb: 21.00 of 40.00 spent. "
    assert problem(form_of(BUY, state)) == said + advice
    # A budget that was never set, or that of another skill, binds nobody.
    loose = state_of(BUY, leashes=(replace(agent, budget=None), replace(skill, skill_slug="tide")))
    assert form_of(BUY, loose).validate() is not None
    said = "Over the daily budget of the agent: 80.00 of 100.00 spent. "
    assert over_budget(BUY, Micros(20 * ONE + 1), state_of(BUY, leashes=(agent,))) == said + advice
    assert over_budget(BUY, Micros(20 * ONE), state_of(BUY, leashes=(agent,))) == ""
    none = leash_of(budget=Micros(0), spent=Micros(0))
    assert "0.00 of 0.00 spent" in over_budget(BUY, Micros(1), state_of(BUY, leashes=(none,)))


def test_what_is_approved_with_it_spends_first_of_its_own_agent_and_skill() -> None:
    agent = leash_of(budget=Micros(100 * ONE), spent=Micros(0))
    skill = leash_of(skill_slug="ebb", budget=Micros(50 * ONE), spent=Micros(0))
    state = state_of(BUY, leashes=(agent, skill))
    ten = Micros(10 * ONE)
    before = [
        replace(BUY, pending_id="x", amount=Micros(40 * ONE)),
        replace(BUY, pending_id="y", amount=Micros(50 * ONE), skill_slug="tide"),
        replace(BUY, pending_id="z", amount=Micros(90 * ONE), agent_id="a-9"),
        replace(SALE, pending_id="s", amount=Micros(90 * ONE)),
    ]
    assert over_budget(BUY, ten, state, before) == ""
    assert over_budget(BUY, Micros(ten + 1), state, before) != ""
    assert over_budget(BUY, Micros(ten + 1), state, before[1:]) == ""


def test_the_trade_and_its_agent_are_named_and_masked() -> None:
    shown = form_of().describe(None)
    assert shown["form-question"].plain == (  # type: ignore[union-attr]
        "heron with ebb: BUY YES, 25.12 $SIM, Will it rain at dawn?"
    )
    assert set(shown) == {"form-question", "approval-why", "form-preview"}
    assert "no reason" not in shown["approval-why"].plain  # type: ignore[union-attr]
    masked = form_of(state=state_of(BUY, preferences=PRIVATE)).describe(None)
    assert "25.12" not in masked["form-question"].plain  # type: ignore[union-attr]


def preview(form: Typed, result: Any) -> tuple[str, set[str]]:
    text = form.describe(result)["form-preview"]
    return text.plain, {str(span.style) for span in text.spans}  # type: ignore[union-attr]


@pytest.mark.parametrize(("left_s", "tone"), [(URGENT_S - 1, "breach"), (URGENT_S, "muted")])
def test_the_time_that_is_left_and_the_others_that_wait_are_told(left_s: float, tone: str) -> None:
    trade = replace(BUY, expires_at=Timestamp(NOW + left_s))
    others = [replace(BUY, pending_id=name) for name in ("h2", "h3")]
    begin = f"{'59s' if left_s < URGENT_S else '1m 00s'} left, then refused. "
    text, styles = preview(form_of(trade, state_of(trade, *others)), None)
    assert text == f"{begin}2 more pending. "
    assert styles == {tone, "warn"}
    assert preview(form_of(trade), None) == (begin, {tone})


def test_the_next_step_says_what_is_bought_at_which_price() -> None:
    begin = "4m 20s left, then refused. "
    approve = ApproveTrade("h1", "x", None)
    buys = "Approval buys for 25.123456 $SIM on sim at about 0.430 per share, within all limits."
    assert preview(form_of(), approve)[0] == begin + buys
    sized = replace(approve, amount=Micros(1_234_500_000))
    assert "buys for 1,234.50 $SIM on sim" in preview(form_of(), sized)[0]
    bare = replace(BUY, average=None, venue=Venue.EVM)
    text = preview(form_of(bare), approve)[0]
    assert text == begin + "Approval buys for 25.123456 USDC.e on evm_venue, within all limits."
    masked = form_of(state=state_of(BUY, preferences=PRIVATE))
    assert f"buys for {MASK} $SIM" in preview(masked, approve)[0]
    assert preview(form_of(SALE), approve)[0] == f"{begin}Approval sells the shares."
    refused = "Nothing is traded. heron receives the reason."
    assert preview(form_of(), RefuseTrade("h1", "x", "no"))[0] == begin + refused


@pytest.mark.parametrize(
    ("amount", "mark", "text"),
    [
        (25_000_000, "", "25.00"),
        (25_100_000, "", "25.10"),
        (25_123_456, "", "25.123456"),
        (1, "", "0.000001"),
        (1_234_567_800_000, ",", "1,234,567.80"),
    ],
)
def test_an_amount_is_written_to_its_last_decimal(amount: int, mark: str, text: str) -> None:
    assert exact_text(Micros(amount), mark) == text


@pytest.mark.parametrize(("amount", "money"), [(None, "25.12"), (Micros(7 * ONE), "7.00")])
def test_real_money_is_confirmed_with_the_agent_s_own_order(
    amount: Micros | None, money: str
) -> None:
    trade = replace(BUY, venue=Venue.EVM, side=Side.NO, price_limit=0.44)
    asked = real_question(trade, ApproveTrade("h1", "x", amount), state_of(trade))
    text = " ".join(asked.body.plain.split())
    for words in (f"buy NO for {money}", "Will it rain at dawn?", "0.44", "agent heron"):
        assert words in text, text
    assert asked.title == "Real money: place this order?"


def lines(trade: PendingTradeView, **other: Any) -> list[str]:
    return why_text(trade, state_of(trade, **other)).plain.splitlines()


def test_the_reasons_of_a_trade_stand_line_by_line() -> None:
    trade = replace(BUY, reasoning="the gauge rises", signal_data={"edge": 0.06}, price_limit=0.5)
    leashes = (
        leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE)),
        leash_of(skill_slug="ebb", budget=Micros(40 * ONE), spent=Micros(21 * ONE)),
        leash_of("a-9", budget=Micros(7 * ONE)),
    )
    said = lines(trade, leashes=leashes)
    assert said[0] == "the gauge rises"
    assert said[1] == "edge: +6.0 pt"
    assert said[2].startswith("YES price 0.410, limit 0.500")
    assert said[3:] == [
        "80.00 of 100.00 daily budget spent",
        "21.00 of 40.00 daily budget spent by ebb",
    ]
    bare = replace(trade, reasoning="", signal_data={}, price_limit=None, skill_slug="")
    assert lines(bare) == ["no reason given", "YES price 0.410"]
    assert lines(replace(bare, price=None)) == ["no reason given"]
    no_budget = (leash_of(budget=None),)
    assert lines(replace(bare, price=None), leashes=no_budget) == ["no reason given"]
    assert not {"\x1b", "\u202e"} & set(lines(replace(bare, reasoning="a\x1b[31m\u202eb"))[0])


def test_masked_reasons_hold_no_amount() -> None:
    trade = replace(BUY, reasoning="pays 25.12 in all")
    leashes = (leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE)),)
    said = "\n".join(lines(trade, leashes=leashes, preferences=PRIVATE))
    assert not any(figure in said for figure in ("25.12", "100.00", "80.00"))
