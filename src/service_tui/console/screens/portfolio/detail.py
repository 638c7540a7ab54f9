"""Texts of the portfolio on the account and on one position. Pure functions."""

from dataclasses import replace
from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures, fits, section
from service_tui.console.freshness import if_none, of_wall, on_wall
from service_tui.console.screens.portfolio.table import outcome, sold_at
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.slices.account import AccountView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.desk.slices.venues import PNL_FRESH_S, VenueSumView
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, MarketStatus, Side, Venue
from service_tui.units import Timestamp, sum_of

TRADES_MAX: Final = 20


def account_figures(account: AccountView | None, *, masked: bool) -> tuple[Figure, ...]:
    """Cash, worth and results of the account; amounts in $SIM."""
    if account is None:
        return (("cash", Text("not known yet", "muted")),)
    return (
        ("cash $", formats.money(account.cash, masked=masked)),
        ("equity $", formats.money(account.equity, masked=masked)),
        ("at mark $", formats.money(account.mark_equity, masked=masked)),
        ("day P&L $", formats.pnl(account.day_pnl, masked=masked)),
        ("total P&L $", formats.pnl(account.total_pnl, masked=masked)),
        ("realized $", formats.pnl(account.realized, masked=masked)),
        ("unrealized at mark $", formats.pnl(account.unrealized, masked=masked)),
        ("win rate", formats.percent(account.win_rate)),
    )


def venue_lines(state: DeskState, now: Timestamp, width: int, *, masked: bool) -> Text:
    """A line for each real venue that was used, in its own currency; `now` is wall time."""
    sums = [valued_by_rows(one, state) for one in state.venue_sums if one.is_used]
    lines = [_venue_line(one, now, width, masked=masked) for one in sums]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n").join(lines)


def valued_by_rows(venue_sum: VenueSumView, state: DeskState) -> VenueSumView:
    """The sum with the value of its positions as their rows show it, if all of them are known.

    The service's own sum is read at another moment, at other prices.
    """
    held = [one for one in state.on_venues if one.venue is venue_sum.venue and not one.is_closed]
    values = [one.mark_value for one in held if one.mark_value is not None]
    if len({one.market_id for one in held}) != venue_sum.positions or len(values) != len(held):
        return venue_sum
    return replace(venue_sum, value=sum_of(values))


def _venue_line(venue_sum: VenueSumView, now: Timestamp, width: int, *, masked: bool) -> Text:
    """The line with as much of its labels as has room."""
    lines = [
        _labelled(venue_sum, now, labels, masked=masked) for labels in (_LONG, _SHORT, _SHORTEST)
    ]
    return next((line for line in lines if line.cell_len <= width), lines[-1])


class _Labels(NamedTuple):
    """Labels of a venue's line."""

    as_of: str
    renewed: str
    value: str


_LONG: Final = _Labels(" as of ", f" (refreshed every {PNL_FRESH_S / 60:.0f} min)", " open, value ")
_SHORT: Final = _Labels(" as of ", "", " open, value ")
_SHORTEST: Final = _Labels(" ", "", " open ")


def _labelled(venue_sum: VenueSumView, now: Timestamp, labels: _Labels, *, masked: bool) -> Text:
    """The venue's P&L comes first, with its time: it is the figure that is old."""
    line = Text.assemble(
        (f"{venue_sum.venue.value} {venue_sum.money}", "live"), ("  venue's P&L ", "muted")
    )
    line.append_text(formats.pnl(venue_sum.pnl, masked=masked))
    line.append_text(_as_of(venue_sum.pnl_at, now, labels))
    held = f"  {venue_sum.positions}{labels.value}"
    line.append_text(Text.assemble((held, "muted"), formats.money(venue_sum.value, masked=masked)))
    line.append_text(
        Text.assemble(("  cash ", "muted"), formats.money(venue_sum.cash, masked=masked))
    )
    if venue_sum.reserved:
        kept = formats.money(venue_sum.reserved, masked=masked)
        line.append_text(Text.assemble(("  reserved ", "muted"), kept))
    return line


def _as_of(at: Timestamp | None, now: Timestamp, labels: _Labels) -> Text:
    """When the venue's own figure was taken; a stale one is marked."""
    if at is None:
        return Text()
    if abs(now - at) <= PNL_FRESH_S:
        taken = formats.moment(at, PNL_FRESH_S)
        return Text(f"{labels.as_of}{taken}{labels.renewed}", "muted")
    return Text(f" STALE {formats.age(at, now).plain}", "stale")


def describe(position: PositionView, view: ViewContext, *, is_closed: bool) -> Detail:
    """One position in full, and the account's own trades in its market."""
    body = closed_body(position, view) if is_closed else position_body(position, view)
    return Detail(position_head(position), body, own_trades(position, view))


def position_head(position: PositionView) -> Text:
    """The question in full, the side, and the venue, if that is a real one."""
    where = (
        ""
        if position.venue is Venue.SIM
        else f"  {position.venue.value}, {MONEY_OF[position.venue]}"
    )
    return Text.assemble(
        (formats.plain(position.question, 300).plain, "bold"),
        "\n",
        (position.side.value.upper(), f"bold {'yes' if position.side is Side.YES else 'no'}"),
        (where, "live"),
        (f"  {position.category}  {position.end_text}", "muted"),
    )


def position_body(position: PositionView, view: ViewContext) -> Text:
    """The cost, mark and sale value of the position."""
    opened = (
        ("opened", Text.assemble(formats.age(position.opened_at, view.now), " ago"))
        if position.opened_at is not None
        else ("opened", formats.age(None, view.now))
    )
    unit = formats.unit(position.venue)

    def shown(behind: str, basis: str = "") -> tuple[Figure, ...]:
        return (
            ("shares", view.shares(position.shares)),
            (f"cost {unit}", view.money(position.cost)),
            ("average", formats.price(position.average)),
            ("mark", formats.price(position.mark_price)),
            (f"mark value{behind}", view.money(position.mark_value)),
            (f"sale value{behind}", view.money(position.exit_value)),
            (f"unrealized{basis}{behind}", view.pnl(position.unrealized)),
            (f"realized{behind}", view.pnl(position.realized)),
            ("P&L %", formats.percent_change(position.pnl_pct)),
            opened,
        )

    # Where its currency would cut a label, that of the cost and of the head stand for all.
    forms = (shown(f" {unit}", " at mark"), shown(f" {unit}"), shown(""))
    rows = next((one for one in forms if fits(one, across=2, width=view.width)), forms[-1])
    return Text.assemble(
        "\n", figures(rows, across=2, width=view.width), "\n\n", _mark_and_exit(position)
    )


def closed_body(position: PositionView, view: ViewContext) -> Text:
    """The end of a closed position: its outcome, or its sale."""
    ended = ("resolved, world", formats.date_time(position.resolves_at))
    if position.is_sold:
        at = sold_at(position, view.state)
        ended = (f"sold{on_wall(view.state)}", formats.date_time(at))
    shown: tuple[Figure, ...] = (
        ("ended" if position.is_sold else "outcome", outcome(position)),
        (f"realized {formats.unit(position.venue)}", view.pnl(position.realized)),
        ("average", formats.price(position.average)),
        ended,
    )
    if position.to_redeem:
        unit = MONEY_OF[position.venue]
        shown = (*shown, ("to redeem", Text.assemble(view.money(position.to_redeem), f" {unit}")))
    return Text.assemble("\n", figures(shown, across=2, width=view.width))


def own_trades(position: PositionView, view: ViewContext) -> Text:
    """The account's own trades in the position's market, newest first, with their reasons."""
    state, here = view.state, (position.market_id, position.venue)
    own = [trade for trade in state.trades if (trade.market_id, trade.venue) == here][:TRADES_MAX]
    if not own:
        text = if_none(state, "none recent", Topic.TRADES)
        return section(f"your trades{of_wall(state)}", Text(text, "muted"))
    lines = [_trade(trade, view) for trade in own]
    return section(f"your trades{of_wall(state)}", Text("\n").join(lines))


def _mark_and_exit(position: PositionView) -> Text:
    if position.status is not MarketStatus.ACTIVE:
        side = position.side.value.upper()
        return Text(f"Market closed. Each share pays 1 if it resolves {side}, else 0.", "muted")
    line = Text(
        "Mark = shares x price. Sale value = what selling all of it now would return, slippage "
        "included",
        "muted",
    )
    if position.exit_value is None or not position.mark_value:
        return line.append(". No sale value now.")
    less = (position.mark_value - position.exit_value) / position.mark_value
    text = formats.percent(less).plain
    return line.append(f": {text} below mark.")


def _trade(trade: TradeView, view: ViewContext) -> Text:
    line = Text.assemble(
        (f"{formats.age(trade.at, view.now).plain:>4}  ", "muted"),
        f"{trade.did:<6} ",
        (f"{trade.side.value.upper():<3}", "yes" if trade.side is Side.YES else "no"),
    )
    if trade.deal is Deal.ORDER:
        line.append(f"  {trade.status.value}", "muted")
    else:
        line.append(f"{view.shares(trade.shares).plain:>10}")
        line.append_text(Text.assemble((" at ", "muted"), formats.price(trade.average)))
    if trade.reasoning:
        line.append_text(Text.assemble("\n      ", (formats.plain(trade.reasoning).plain, "muted")))
    return line
