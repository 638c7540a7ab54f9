"""The form that buys a set: equal YES shares of every outcome of an event.

A set pays its number of shares if exactly one outcome comes true. The form shows each leg, the
total cost and the payout, and one confirmation sends all legs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, parse_number
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.order_draft import SHARES
from service_tui.console.freshness import trade_block_reason
from service_tui.console.questions import short_question
from service_tui.console.reasons import reason_text
from service_tui.desk.commands.trading import BuySet, PlaceTrade
from service_tui.desk.markets.events import OUTCOMES_MIN, EventView, event_of
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import buy_bounds, preflight
from service_tui.evaluation.events import SET_SHARES, share_cost
from service_tui.terms import MONEY_DECIMALS, MONEY_OF, Action, Side, Venue, counted
from service_tui.units import ONE, Micros, Timestamp, sum_of

SET_SIZE: Final = Field(
    "set-shares", "shares", lambda text: parse_number(text, SHARES), unit="of each"
)

LEGS_MAX: Final = 20
# ours: the desk's inbox holds 64 commands, and a page shows no more legs at once.

_STEP: Final = ONE // 10**MONEY_DECIMALS
_NAME_CELLS: Final = 44
_HOW: Final = (
    "One order a leg, at market, one after the other. The first that is not filled ends the set: "
    "what was bought before it stays bought."
)
_CERTAIN: Final = "Pays this only if exactly one of these outcomes comes true."


@dataclass(frozen=True, slots=True)
class SetDraft:
    """A set that can be bought: the order, and the shares of each outcome."""

    order: BuySet
    shares: Micros

    @property
    def cost(self) -> Micros:
        """What all legs cost."""
        return sum_of(leg.amount for leg in self.order.legs)


class SetForm(Form[SetDraft]):
    """Returns the set as confirmed.

    Args:
        state: the newest.
        now: wall time.
        market: one of the outcomes.
    """

    heading: ClassVar[str] = "Buy a set"
    set_word: ClassVar[str] = "buy all"
    body = ("form-question", SET_SIZE, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, market: MarketView) -> None:
        super().__init__(state, now)
        self._market = market
        self.first = {SET_SIZE.name: f"{SET_SHARES / ONE:.0f}"}

    def validate(self) -> SetDraft:
        """The legs at the present prices."""
        event = self._event()
        if event is None or len(event.outcomes) < OUTCOMES_MIN:
            raise FieldError("A set has at least two outcomes")
        if len(event.outcomes) > LEGS_MAX:
            raise FieldError(f"{counted(len(event.outcomes), 'outcome')}: at most {LEGS_MAX}")
        shares = self.read(SET_SIZE)
        legs = tuple(_leg(outcome, shares) for outcome in event.outcomes)
        draft = SetDraft(BuySet(event.name, legs), shares)
        if why := self._against(draft):
            raise FieldError(why)
        return draft

    def describe(self, result: SetDraft | None) -> Mapping[str, Shown]:
        """The event, each leg with its cost, the total, and what the set pays."""
        event = self._event()
        name = "" if event is None else event.name
        return {
            "form-question": Text(formats.plain(name, 2 * _NAME_CELLS).plain, "bold"),
            "form-preview": Text() if result is None else self._preview(result),
            "form-hint": Text(_HOW, "muted"),
        }

    def _event(self) -> EventView | None:
        market = self.state.markets.get(self._market.market_id, self._market)
        return event_of(market, self.state.markets.values())

    def _against(self, draft: SetDraft) -> str:
        """Why a set cannot be bought as it is; empty if it can."""
        if why := trade_block_reason(self.state, (Topic.MARKETS, Topic.ACCOUNT), self.now):
            return why
        for leg in draft.order.legs:
            reason = preflight(self.state, leg, self.now)
            if reason is not None:
                name = formats.plain(short_question(leg.question), _NAME_CELLS).plain
                return f"{name}: {reason_text(reason, masked=self.masked)}"
        bound, what = buy_bounds(self.state, Venue.SIM)[0]
        if draft.cost > bound:
            total = formats.money(draft.cost, masked=self.masked).plain
            return f"The set costs {total}, more than the {what}"
        return ""

    def _preview(self, draft: SetDraft) -> Text:
        unit = MONEY_OF[Venue.SIM]
        lines = [_leg_line(leg, masked=self.masked) for leg in draft.order.legs]
        gain = Micros(draft.shares - draft.cost)
        total = Text.assemble(
            ("total", "bold"),
            f" about {formats.money(draft.cost, masked=self.masked).plain} {unit}, pays ",
            formats.money(draft.shares, masked=self.masked),
            ": ",
            formats.pnl(gain, masked=self.masked),
        )
        return Text("\n").join([*lines, total, Text(_CERTAIN, "warn")])


def _leg(outcome: MarketView, shares: Micros) -> PlaceTrade:
    """The buy of one outcome, for what its shares cost at the market maker, in whole cents.

    Raises:
        FieldError: the cost cannot be computed, as the depth is not known.
    """
    cost = share_cost(outcome.price, outcome.liquidity, shares)
    if cost is None:
        name = formats.plain(short_question(outcome.question), _NAME_CELLS).plain
        raise FieldError(f"No price of a set: the depth of {name} is not known")
    return PlaceTrade(
        outcome.market_id,
        Side.YES,
        Action.BUY,
        # ours: play money only; each order in real money is confirmed alone, with its price bound.
        Venue.SIM,
        amount=Micros(math.ceil(cost / _STEP) * _STEP),
        question=outcome.question,
    )


def _leg_line(leg: PlaceTrade, *, masked: bool) -> Text:
    name = formats.plain(short_question(leg.question), _NAME_CELLS).plain
    return Text.assemble(
        ("YES ", "yes"), f"{name:<{_NAME_CELLS}} ", formats.money(leg.amount, masked=masked)
    )
