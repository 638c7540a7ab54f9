"""Explanations of the numbers of a row: formula, inputs, source, age."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.venues import PNL_FRESH_S
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF
from service_tui.units import Micros, Timestamp

_SERVICE: Final = "service data ({topic})"
_DESK: Final = "computed here from service data ({topic})"


def market_numbers(market: MarketView, state: DeskState, now: Timestamp) -> tuple[Explanation, ...]:
    """Price, change and volume of a market."""
    age = _age(state, Topic.MARKETS, now)
    text, worked = _SERVICE.format(topic="markets"), _DESK.format(topic="markets")
    return (
        Explanation(
            "price of YES",
            formats.price(market.price),
            "1 / (1 + e^((no - yes) / b)): the cost of the next small share of YES; "
            "a share pays 1 if the market resolves YES",
            (("liquidity b, $SIM", formats.money(market.liquidity)),),
            text,
            age,
        ),
        Explanation(
            "change in 24 h",
            formats.points(market.change),
            "price now - price 24 hours ago (or at listing), in hundredths",
            (
                ("price now", formats.price(market.price)),
                ("price 24 h ago", formats.price(market.price_24h_ago)),
            ),
            worked,
            age,
        ),
        Explanation(
            "volume, $SIM",
            formats.money(market.volume),
            "money traded here in the last 24 hours, all traders",
            (),
            text,
            age,
        ),
    )


def position_numbers(
    position: PositionView, state: DeskState, now: Timestamp
) -> tuple[Explanation, ...]:
    """Mark value, sale value and P&L of a position."""
    age, masked = _age(state, Topic.POSITIONS, now), is_private(state)
    text, worked = _SERVICE.format(topic="positions"), _DESK.format(topic="positions")
    unit = MONEY_OF[position.venue]
    shares = ("shares", formats.shares(position.shares, masked=masked))
    cost = (f"cost of the open shares, {unit}", formats.money(position.cost, masked=masked))
    mark = (f"mark value, {unit}", formats.money(position.mark_value, masked=masked))
    return (
        Explanation(
            "average",
            formats.price(position.average),
            "cost of the open shares / open shares",
            (cost, shares),
            text,
            age,
        ),
        Explanation(
            mark[0],
            mark[1],
            "shares x price of the side now",
            (shares, ("price of the side", formats.price(position.mark_price))),
            worked,
            age,
        ),
        Explanation(
            f"sale value, {unit}",
            formats.money(position.exit_value, masked=masked),
            "proceeds of selling all now, slippage included; below the mark value",
            (shares, mark),
            text,
            age,
        ),
        Explanation(
            f"unrealized P&L, {unit}",
            formats.pnl(position.unrealized, masked=masked),
            "mark value - cost of the open shares",
            (mark, cost),
            worked,
            age,
        ),
        Explanation(
            f"realized P&L, {unit}",
            formats.pnl(position.realized, masked=masked),
            "proceeds of sales and payouts - cost of those shares",
            (),
            text,
            age,
        ),
    )


def account_numbers(state: DeskState, now: Timestamp) -> tuple[Explanation, ...]:
    """Worth and results of the account; none before it has loaded."""
    account, masked = state.account, is_private(state)
    if account is None or account.equity is None or account.mark_equity is None:
        # Without the positions the sum cannot be explained.
        return ()
    age, text = _age(state, Topic.ACCOUNT, now), _SERVICE.format(topic="account")
    cash = ("cash, $SIM", formats.money(account.cash, masked=masked))
    realized = ("realized, $SIM", formats.pnl(account.realized, masked=masked))
    unrealized = ("unrealized, $SIM", formats.pnl(account.unrealized, masked=masked))
    sold, marked = account.equity - account.cash, account.mark_equity - account.cash
    value = "mark value" if account.is_at_mark else "sale value"
    own_impact = Micros(account.equity - account.mark_equity)
    return (
        Explanation(
            "equity, $SIM",
            formats.money(account.equity, masked=masked),
            f"cash + {value} of every open position",
            (cash, (f"{value}, $SIM", formats.money(Micros(sold), masked=masked))),
            text,
            age,
        ),
        Explanation(
            "at mark, $SIM",
            formats.money(account.mark_equity, masked=masked),
            "cash + mark value of every open position",
            (cash, ("mark value, $SIM", formats.money(Micros(marked), masked=masked))),
            text,
            age,
        ),
        Explanation(
            "total P&L, $SIM",
            formats.pnl(account.total_pnl, masked=masked),
            "realized + unrealized + what selling brings more or less than the mark",
            (
                realized,
                unrealized,
                ("selling, $SIM", formats.pnl(own_impact, masked=masked)),
            ),
            text,
            age,
        ),
        Explanation(
            "day P&L, $SIM",
            formats.pnl(account.day_pnl, masked=masked),
            "equity now - equity at the start of the day, UTC",
            (),
            text,
            age,
        ),
        Explanation(
            "win rate",
            formats.percent(account.win_rate),
            "sales and payouts with a gain / sales and payouts with a gain or a loss",
            (
                ("with a gain", formats.count(account.wins)),
                ("with a loss", formats.count(account.losses)),
            ),
            text,
            age,
        ),
    )


def venue_numbers(state: DeskState, now: Timestamp) -> tuple[Explanation, ...]:
    """The P&L that each real venue in use reports itself."""
    minutes = f"{PNL_FRESH_S / 60:.0f}"
    return tuple(
        Explanation(
            f"venue's P&L, {one.money} on {one.venue.value}",
            formats.pnl(one.pnl, masked=is_private(state)),
            f"reported by the venue, which refreshes it every {minutes} minutes; the figure of the "
            "agents screen is computed at the prices now, so the two may differ",
            (("as of", formats.date_time(one.pnl_at)),),
            _SERVICE.format(topic="portfolio"),
            formats.age(one.pnl_at, now),
        )
        for one in state.venue_sums
        if one.is_used
    )


def _age(state: DeskState, topic: Topic, now: Timestamp) -> Text:
    age = age_s(state, topic, now)
    return formats.age(None if age is None else Timestamp(now - age), now)
