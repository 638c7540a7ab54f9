"""What the order ticket says of its market, its venue and its options."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.doors import seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.risk import monitor_of
from service_tui.console.formats import NOT_KNOWN
from service_tui.console.forms.order_draft import Draft
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.resting_text import resting_figures, resting_lines
from service_tui.console.forms.ticket_guards import SLIPPAGE
from service_tui.console.forms.ticket_text import (
    TWO_ACROSS,
    TYPE_LABELS,
    TYPES,
    WORDS_FROM,
    action_labels,
    book_text,
    exits_text,
    expiry_text,
    hint,
    market_line,
    next_venue,
    order_text,
    quote_block,
    side_labels,
    type_labels,
    unit_text,
)
from service_tui.console.keys import cap
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.buy_limits import RiskDefaults
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import HeldSide
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Action, MarketStatus, Mode, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
STATE = seen_before(sample_state())
HELD = replace(STATE.positions[0], shares=Micros(12_340_000), cost=Micros(5 * ONE))
MARKET = replace(
    STATE.markets[HELD.market_id], price=Probability(0.4), bid=0.38, ask=0.43, venues=(SIM, EVM),
    tick=Micros(1_000), resolves_at=Timestamp(NOW + 3_661), status=MarketStatus.ACTIVE,
)  # fmt: skip
STATE = replace(
    STATE,
    positions=(replace(HELD, side=NO, shares=Micros(99 * ONE)), replace(HELD, side=YES)),
    world=replace(STATE.world, now=NOW, wall_at=NOW, speed=0) if STATE.world else None,
    wallet=replace(STATE.wallet, live=True),
    preferences={},
)


def draft(side: Side = YES, action: Action = BUY, venue: Venue = SIM, **other: Any) -> Draft:
    market = other.pop("market", MARKET)
    return Draft(market, side, action, "10", venue=venue, **other)


def order(**other: Any) -> PlaceTrade:
    given: dict[str, Any] = {"amount": Micros(20 * ONE), "venue": SIM, "side": YES, "action": BUY}
    return PlaceTrade(MARKET.market_id, **{**given, **other})


def test_the_sides_have_the_price_of_the_venue_that_an_order_meets() -> None:
    assert side_labels(MARKET, SIM, BUY) == ("YES 0.400", "NO 0.600")
    assert side_labels(MARKET, SIM, SELL) == ("YES 0.400", "NO 0.600")
    # A buy meets the ask, a sale the bid; those of NO are the other side of YES.
    assert side_labels(MARKET, EVM, BUY) == ("YES 0.43", "NO 0.62")
    assert side_labels(MARKET, EVM, SELL) == ("YES 0.38", "NO 0.57")
    bare = replace(MARKET, ask=None)
    assert side_labels(bare, EVM, BUY) == ("YES", "NO 0.62")
    assert side_labels(bare, EVM, SELL) == ("YES 0.38", "NO")


@pytest.mark.parametrize(
    ("mode", "embedded", "venue", "head"),
    [
        (Mode.SIM, True, SIM, "SIM play money on sim   active, resolves in 1h 01m"),
        (Mode.DRY, False, SIM, "DRY dry run on sim   active, resolves in 1h 01m"),
        (Mode.SIM, False, EVM, "LIVE real money on evm_venue   resolves in 1h 01m"),
        (Mode.SIM, True, EVM,
         "LIVE simulated, no real money, on evm_venue   resolves in 1h 01m"),
    ],
)  # fmt: skip
def test_the_market_is_named_with_whose_money_moves_and_until_when(
    mode: Mode, venue: Venue, head: str, *, embedded: bool
) -> None:
    service = replace(STATE.service, mode=mode, embedded=embedded)
    state = replace(STATE, service=service, wallet=replace(STATE.wallet, simulated=False))
    line = market_line(state, draft(venue=venue), NOW)
    assert line.plain == head
    styles = [str(span.style) for span in line.spans]
    assert styles[0] == head.split(maxsplit=1)[0].lower()
    assert styles[1] == ("muted" if head.startswith("SIM") else "bold live")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": MarketStatus.RESOLVED, "outcome": ENDED_YES}, "resolved YES"),
        ({"status": MarketStatus.RESOLVED, "outcome": ENDED_NO}, "resolved NO"),
        ({"status": MarketStatus.RESOLVED, "outcome": Outcome.at(0.35)}, "resolved 0.35"),
        ({"status": MarketStatus.RESOLVED, "outcome": VOID}, "resolved void"),
        ({"status": MarketStatus.RESOLVED, "outcome": None}, "resolved"),
        ({"resolves_at": Timestamp(NOW + 1)}, "active, resolves in 1s"),
        ({"resolves_at": NOW}, "active, resolution is due"),
        ({"resolves_at": Timestamp(NOW - 1)}, "active, resolution is due"),
        ({"status": MarketStatus.CLOSED, "resolves_at": NOW}, "closed, resolution is due"),
        ({"resolves_at": None}, f"active, resolves {NOT_KNOWN}"),
    ],
)
def test_the_end_of_the_market_is_told_by_its_state_and_its_time(
    changes: dict[str, Any], words: str
) -> None:
    line = market_line(STATE, draft(market=replace(MARKET, **changes)), NOW).plain
    assert line.partition("   ")[2] == words


def test_a_limit_order_sees_the_tick_beside_the_book() -> None:
    book = "bid 0.38  ask 0.43  spread 0.05"
    assert book_text(draft(venue=EVM)).plain == book
    assert book_text(draft(venue=EVM, rests=True)).plain == f"tick 0.001  {book}"
    empty = replace(MARKET, bid=None, ask=None)
    assert book_text(draft(venue=EVM, rests=True, market=empty)).plain == "tick 0.001"
    assert book_text(draft(NO, venue=EVM)).plain == "bid 0.57  ask 0.62  spread 0.05"


@pytest.mark.parametrize(
    ("width", "is_plain"), [(0, True), (1, False), (WORDS_FROM - 1, False), (WORDS_FROM, True)]
)
def test_the_types_have_words_where_there_is_room(width: int, *, is_plain: bool) -> None:
    assert TYPES == (OrderType.FAK, OrderType.FOK, OrderType.GTC, OrderType.GTD)
    names = TYPE_LABELS if is_plain else ("FAK", "FOK", "GTC", "GTD")
    assert type_labels(width) == names
    assert all(label.endswith(one.value) for label, one in zip(TYPE_LABELS, TYPES, strict=True))


def test_an_expiry_is_told_with_how_long_it_is() -> None:
    typed = expiry_text(draft(venue=EVM, rests=True, until="2h"), NOW).plain
    assert typed == "15 Jan 10:00 UTC, in 2h 00m"
    assert expiry_text(draft(venue=EVM, rests=True), NOW).plain == ""
    assert expiry_text(draft(venue=EVM, rests=True, until="no moment"), NOW).plain == ""


@pytest.mark.parametrize(
    ("stop", "target", "auto", "words"),
    [
        (0.2, 0.35, True, "empty: default stop, 20 % below{}, target 35 %"),
        (0.125, None, True, "empty: default stop, 12.5 % below{}"),
        (None, 0.5, True, "empty: target 50 %"),
        (None, None, True, "empty: no stop"),
        (0.2, 0.35, False, "empty: no stop"),
    ],
)
def test_a_buy_without_a_stop_gets_that_of_the_settings(
    stop: float | None, target: float | None, words: str, *, auto: bool
) -> None:
    assert STATE.buy_limits is not None
    defaults = RiskDefaults(stop, target, auto_monitor=auto)
    state = replace(STATE, buy_limits=replace(STATE.buy_limits, defaults=defaults))
    assert exits_text(state, draft(), None).plain == words.format("")
    loss = f" (about -{20 * (stop or 0):.2f})"
    assert exits_text(state, draft(), order()).plain == words.format(loss)
    assert (
        exits_text(replace(state, buy_limits=None), draft(), None).plain == "empty: as in Settings"
    )


@pytest.mark.parametrize(
    ("price", "quotes", "venue", "words"),
    [
        (0.3, (None, None), SIM, "empty: default stop, 20 % below (about -4.00)"),
        # The stop is measured from the mark of 0.35, below the ask of 0.4: 20 buys 50 shares.
        (0.35, (0.3, 0.4), EVM, "empty: default stop, 20 % below (about -6.00)"),
        (
            0.25, (None, None), SIM,
            "empty: default stop, 20 % below (about -4.00), only 5.0 points away; F10 sets 25 %",
        ),
    ],
)  # fmt: skip
def test_the_loss_at_the_default_stop_is_shown_in_money(
    price: float, quotes: tuple[float | None, float | None], venue: Venue, words: str
) -> None:
    assert STATE.buy_limits is not None
    defaults = RiskDefaults(0.2, None, auto_monitor=True)
    state = replace(STATE, buy_limits=replace(STATE.buy_limits, defaults=defaults))
    market = replace(MARKET, price=price, bid=quotes[0], ask=quotes[1])
    assert exits_text(state, draft(market=market, venue=venue), order(venue=venue)).plain == words


def test_a_typed_stop_says_at_a_low_price_how_near_it_is() -> None:
    market = replace(MARKET, price=Probability(0.1))
    text = exits_text(STATE, draft(market=market), order(stop_loss_pct=0.25)).plain
    assert text.endswith(f"; only 2.5 points away; {cap('ticket.wider')} sets 75 %")


def test_slippage_beyond_the_limit_is_coloured_and_marked() -> None:
    quote = QuoteView(1, ok=True, average=0.462, price_before=0.4, price_after=0.5)

    def slippage(state: DeskState) -> str:
        block = quote_block(state, draft(), quote, 0)
        shown = block.plain[block.plain.index("6.2 points") :].split("\n")[0].split("  ")[0]
        tones = {str(span.style) for span in block.spans}
        return f"{shown.strip()} {'loss' in tones}"

    assert slippage(STATE) == "6.2 points ! True"
    for text, shown in (("7", "6.2 points False"), ("off", "6.2 points False")):
        state = replace(STATE, preferences={SLIPPAGE: text})
        assert slippage(state) == shown


def test_a_stop_says_what_it_costs_and_what_it_replaces() -> None:
    loss = "loss at the stop 5.00 $SIM, slippage and fees extra"
    assert exits_text(STATE, draft(), order(stop_loss_pct=0.25)).plain == loss
    assert exits_text(STATE, draft(), order(take_profit_pct=0.5)).plain == "no stop"
    # A share that costs 0.4 never brings more than 1.
    assert exits_text(STATE, draft(), order(take_profit_pct=1.5)).plain == "no stop"
    never = "target never reached: above 1"
    assert exits_text(STATE, draft(), order(take_profit_pct=1.51)).plain == f"{never}; no stop"
    monitor = monitor_of(MARKET.market_id)
    guarded = replace(STATE, risk=replace(STATE.risk, monitors=(monitor,)))
    assert (
        exits_text(guarded, draft(), order(stop_loss_pct=0.25)).plain
        == f"{loss}; replaces the present one"
    )
    assert exits_text(guarded, draft(), None).plain == "empty: the present monitor stays"
    assert exits_text(guarded, draft(NO), None).plain != "empty: the present monitor stays"


@pytest.mark.parametrize(
    ("changes", "placed", "target"),
    [
        # At the limit of 0.5, at the ask of 0.43 and of 0.62, or at the mark of 0.4.
        ({"venue": EVM, "rests": True}, {"rests": True, "price": 0.5}, 1.0),
        ({"venue": EVM}, {"price": 0.5}, 1 / 0.43 - 1),
        ({"venue": EVM, "rests": True}, {"rests": True}, 1 / 0.43 - 1),
        ({"venue": EVM, "side": NO}, {"side": NO}, 1 / 0.62 - 1),
        ({"venue": EVM, "market": replace(MARKET, ask=None)}, {}, 1.5),
        ({"venue": SIM}, {}, 1.5),
        ({"venue": SIM, "side": NO}, {"side": NO}, 1 / 0.6 - 1),
    ],
)
def test_a_target_is_out_of_reach_above_one_by_the_price_that_is_paid(
    changes: dict[str, Any], placed: dict[str, Any], target: float
) -> None:
    for more, is_never in ((-1e-6, False), (1e-6, True)):
        whole = order(**placed, venue=changes["venue"], take_profit_pct=target + more)
        text = exits_text(STATE, draft(**changes), whole).plain
        assert text.startswith("target never reached") is is_never


def test_a_sale_is_labelled_with_the_position_of_its_own_side_and_venue() -> None:
    assert action_labels(STATE, draft(YES)) == ("buy", "sell (12.34)")
    assert action_labels(STATE, draft(NO)) == ("buy", "sell (99.00)")
    assert action_labels(STATE, draft(YES, venue=EVM)) == ("buy", "sell (none)")
    private = replace(STATE, preferences={"privacy": "on"})
    assert "12.34" not in action_labels(private, draft(YES))[1]
    unread = {topic: at for topic, at in STATE.seen.items() if topic is not Topic.POSITIONS}
    label = action_labels(replace(STATE, seen=unread, positions=()), draft())[1]
    assert label != "sell (none)"


def test_the_keys_of_venue_and_type_are_named_where_there_is_another_venue() -> None:
    venue = f"{cap('ticket.venue')} venue  {cap('ticket.kind')} type"
    whole = hint(STATE, MARKET)
    assert whole == (
        f"{cap('ticket.side')} side  {cap('ticket.turn')} buy or sell  {venue}  "
        f"{cap('ticket.cancel')} cancel"
    )
    off = replace(STATE, wallet=replace(STATE.wallet, live=False))
    bare = whole.replace(f"  {venue}", "")
    assert hint(off, MARKET) == bare
    assert hint(STATE, replace(MARKET, venues=(SIM,))) == bare
    assert hint(STATE, replace(MARKET, venues=())) == whole


def test_the_unit_of_the_amount_is_that_of_its_venue_or_shares() -> None:
    assert unit_text(draft()) == "spend $SIM"
    assert unit_text(draft(venue=EVM)) == "spend USDC.e"
    assert unit_text(draft(action=SELL, venue=EVM)) == "sell shares"
    assert order_text(order()) == "buy YES for 20.00 $SIM"
    sale = order(action=SELL, shares=Micros(3 * ONE), amount=Micros(0))
    assert order_text(sale) == "sell 3.00 YES"


QUOTE = QuoteView(
    1, ok=True, shares=Micros(50 * ONE), money=Micros(20 * ONE), average=0.4, price_before=0.39,
    price_after=0.41, cash_after=Micros(80 * ONE), max_loss=Micros(21 * ONE),
    max_win=Micros(30 * ONE), fee=Micros(ONE), rests=Micros(7 * ONE),
    reserved=Micros(3 * ONE),
)  # fmt: skip


def labels(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_the_block_of_the_quote_has_one_or_two_columns_and_leaves_out_what_follows() -> None:
    wide = quote_block(STATE, draft(venue=EVM), QUOTE, TWO_ACROSS).plain
    narrow = quote_block(STATE, draft(venue=EVM), QUOTE, TWO_ACROSS - 1).plain
    assert quote_block(STATE, draft(venue=EVM), QUOTE, 0).plain == wide
    assert max(len(line) for line in wide.splitlines()) == TWO_ACROSS - (TWO_ACROSS - 3) % 2
    assert len(narrow.splitlines()) > len(wide.splitlines())
    assert "slippage" in wide
    assert "notional" in wide
    assert "slippage" not in narrow
    assert "notional" not in narrow
    assert "fee" in narrow
    play = quote_block(STATE, draft(), QUOTE, TWO_ACROSS - 1).plain
    assert "slippage" in play


def test_the_realized_gain_is_that_of_the_position_of_the_ticket() -> None:
    # 50 of 12.34 shares that cost 5: the cost of what is sold is taken off what it brings.
    own = quote_block(STATE, draft(YES, SELL), QUOTE, 80).plain
    other = quote_block(STATE, draft(NO, SELL), QUOTE, 80).plain
    real = quote_block(STATE, draft(YES, SELL, EVM), QUOTE, 80).plain
    assert "-1.26" in own
    assert "16.47" in other
    assert "-1.26" not in real
    resting = quote_block(STATE, draft(venue=EVM, rests=True), QUOTE, 80).plain
    assert "rest on book" in resting


def shown(figures: Any) -> dict[str, str]:
    return {label: value.plain for label, value in figures}


def test_a_quote_is_shown_figure_by_figure() -> None:
    held = HeldSide(Micros(100 * ONE), Micros(30 * ONE))
    assert shown(quote_figures(QUOTE, (BUY, SIM), held, masked=False)) == {
        "shares": "50.00", "price": "0.390 → 0.410 ▲", "average": "0.400",
        "slippage": "1.0 points", "max loss": "-21.00 $SIM", "max profit": "+30.00 $SIM",
        "cash after": "80.00 $SIM",
    }  # fmt: skip
    assert shown(quote_figures(QUOTE, (BUY, EVM), held, masked=False)) == {
        "shares": "50.00", "price": "0.390 → 0.410 ▲", "average": "0.400",
        "slippage": "1.0 points", "notional": "20.00 USDC.e", "fee": "1.00 USDC.e",
        "max loss": "-21.00 USDC.e", "max profit": "+30.00 USDC.e", "cash after": "80.00 USDC.e",
    }  # fmt: skip
    sale = shown(quote_figures(QUOTE, (SELL, SIM), held, masked=False))
    assert (sale["net proceeds"], sale["realized P&L"]) == ("19.00 $SIM", "+4.00 $SIM")


@pytest.mark.parametrize(
    ("before", "after", "arrow"),
    [(0.4, 0.41, "▲"), (0.41, 0.4, "▼"), (0.4, 0.40006, "="), (0.4, 0.4006, "▲"),
     (0.4006, 0.4, "▼"), (0.005, 0.00506, "▲")],
)  # fmt: skip
def test_a_price_that_moves_has_an_arrow(before: float, after: float, arrow: str) -> None:
    quote = replace(QUOTE, price_before=before, price_after=after)
    assert shown(quote_figures(quote, (BUY, SIM), None, masked=False))["price"].endswith(arrow)


@pytest.mark.parametrize("changes", [{"price_before": None}, {"price_after": None}])
def test_a_price_that_is_half_known_is_unknown(changes: dict[str, Any]) -> None:
    quote = replace(QUOTE, **changes)
    assert shown(quote_figures(quote, (BUY, SIM), None, masked=False))["price"] == NOT_KNOWN


@pytest.mark.parametrize(
    "held", [None, HeldSide(Micros(0), Micros(0)), HeldSide(Micros(-1), Micros(5))]
)
def test_a_gain_without_a_position_is_unknown(held: HeldSide | None) -> None:
    figures = shown(quote_figures(QUOTE, (SELL, SIM), held, masked=False))
    assert figures["realized P&L"] == NOT_KNOWN


@pytest.mark.parametrize("quote", [None, replace(QUOTE, ok=False)])
def test_without_an_answer_every_figure_is_unknown(quote: QuoteView | None) -> None:
    for venue in (SIM, EVM):
        for action in Action:
            figures = shown(quote_figures(quote, (action, venue), None, masked=False))
            assert set(figures.values()) == {NOT_KNOWN}
            resting = shown(resting_figures(quote, (action, venue), masked=False))
            assert set(resting.values()) == {NOT_KNOWN}


def test_a_limit_is_shown_by_what_fills_now_and_what_rests() -> None:
    assert shown(resting_figures(QUOTE, (BUY, EVM), masked=False)) == {
        "fills now": "50.00", "rest on book": "7.00", "max cost": "24.00 USDC.e",
        "reserved": "3.00 USDC.e", "fee": "1.00 USDC.e", "price": "0.390",
    }  # fmt: skip
    assert shown(resting_figures(QUOTE, (SELL, EVM), masked=False)) == {
        "fills now": "50.00", "rest on book": "7.00", "proceeds now": "19.00 USDC.e",
        "fee": "1.00 USDC.e", "price": "0.390",
    }  # fmt: skip
    masked = shown(resting_figures(QUOTE, (BUY, EVM), masked=True))
    assert not any(figure in " ".join(masked.values()) for figure in ("50.00", "24.00", "3.00"))


@pytest.mark.parametrize(
    ("live", "venues", "at", "venue"),
    [
        (True, (SIM, EVM), SIM, EVM),
        (True, (SIM, EVM), EVM, SIM),
        (True, (SIM, EVM, SOL), EVM, SOL),
        (True, (SIM, EVM, SOL), SOL, SIM),
        (True, (EVM, SOL), SIM, EVM),
        (True, (), SIM, EVM),
        (True, (SIM,), SIM, "Market trades on sim only"),
        (False, (SIM,), SIM, "Market trades on sim only"),
        (False, (SIM, EVM), SIM, "Live trading is off. Turn it on in Wallet ("),
        (True, (EVM,), SIM, EVM),
    ],
)
def test_the_next_venue_is_one_of_the_market_s_while_real_money_is_on(
    venues: tuple[Venue, ...], at: Venue, venue: Venue | str, *, live: bool
) -> None:
    state = replace(STATE, wallet=replace(STATE.wallet, live=live))
    found = next_venue(state, draft(venue=at, market=replace(MARKET, venues=venues)))
    assert found == venue or (isinstance(venue, str) and found.startswith(venue))


def test_a_limit_order_says_what_fills_rests_and_costs_at_most_with_its_fee() -> None:
    held = {"shares": 11, "rests": 22, "money": 4, "fee": 3, "reserved": 40}
    quote = QuoteView(1, ok=True, **{name: Micros(one * ONE) for name, one in held.items()})
    buy = PlaceTrade(
        "m-1", Side.YES, Action.BUY, Venue.EVM, Micros(50 * ONE), price=0.4, rests=True
    )
    sale = replace(
        buy, action=Action.SELL, amount=Micros(0), shares=Micros(60 * ONE), price=0.45,
        expires_at=Timestamp(NOW),
    )  # fmt: skip

    def told(order: PlaceTrade, quote: QuoteView | None, *, masked: bool = False) -> dict[str, str]:
        return {name: text.plain for name, text in resting_lines(order, quote, masked=masked)}

    # What was typed and its fee count where that is more than what is known to fill and rest.
    assert told(buy, quote) == {
        "valid": "until cancelled (GTC)",
        "fills": "about 11.00 now, about 22.00 rest on the book",
        "fee": "about 3.00 USDC.e now",
        "total": "at most 53.00 USDC.e",
    }
    dearer = replace(quote, reserved=Micros(90 * ONE))
    assert told(buy, dearer)["total"] == "at most 97.00 USDC.e"
    assert told(buy, None)["total"] == "at most 50.00 USDC.e"
    # A refusal has no figures.
    assert told(buy, replace(quote, ok=False)) == told(buy, None)
    assert told(sale, quote)["receive"] == "at least 27.00 USDC.e if fully sold, less fees"
    assert told(sale, quote)["valid"].endswith(" (GTD)")
    for order in (buy, sale):
        masked = " ".join(told(order, quote, masked=True).values())
        for amount in ("11.00", "22.00", "3.00", "53.00", "27.00"):
            assert amount not in masked


@pytest.mark.parametrize("action", Action)
def test_the_figures_of_a_quote_are_masked_with_the_amounts(action: Action) -> None:
    open_ones = shown(quote_figures(QUOTE, (action, EVM), None, masked=False))
    masked = shown(quote_figures(QUOTE, (action, EVM), None, masked=True))
    amounts = {"shares", "notional", "fee", "cash after"}
    amounts |= {"max loss", "max profit"} if action is Action.BUY else set()
    assert {label for label in amounts if any(one.isdigit() for one in masked[label])} == set()
    assert {label for label in amounts if any(one.isdigit() for one in open_ones[label])} == amounts
