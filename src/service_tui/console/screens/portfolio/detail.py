"""Texts of the portfolio on the account and on one position. Pure functions."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures, section
from service_tui.console.freshness import if_none, of_wall
from service_tui.console.screens.portfolio.table import outcome
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.slices.records import AccountView, Deal, PositionView, Topic, TradeView
from service_tui.desk.slices.venues import PNL_FRESH_S, VenueSumView
from service_tui.terms import MONEY_OF, MarketStatus, Side, Venue
from service_tui.units import Timestamp

TRADES_MAX: Final = 20


def account_figures(account: AccountView | None, *, masked: bool) -> tuple[Figure, ...]:
    """Cash, worth and results of the account; amounts in $SIM."""
    if account is None:
        return (("cash", Text("not known yet", "muted")),)
    return (
        ("cash $", formats.money(account.cash, masked=masked)),
        ("equity $", formats.money(account.equity, masked=masked)),
        ("exit equity $", formats.money(account.exit_equity, masked=masked)),
        ("day P&L $", formats.pnl(account.day_pnl, masked=masked)),
        ("total P&L $", formats.pnl(account.total_pnl, masked=masked)),
        ("realized $", formats.pnl(account.realized, masked=masked)),
        ("unrealized $", formats.pnl(account.unrealized, masked=masked)),
        ("win rate", formats.percent(account.win_rate)),
    )


def venue_lines(
    sums: tuple[VenueSumView, ...], now: Timestamp, width: int, *, masked: bool
) -> Text:
    """A line for each real venue that was used, in its own currency; `now` is wall time."""
    lines = [_venue_line(one, now, masked=masked) for one in sums if one.is_used]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n").join(lines)


def _venue_line(one: VenueSumView, now: Timestamp, *, masked: bool) -> Text:
    """The venue's P&L comes first, with its age: it is the figure that is old."""
    line = Text.assemble((f"{one.venue.value} {one.money}", "live"), ("  P&L ", "muted"))
    line.append_text(formats.pnl(one.pnl, masked=masked))
    line.append_text(_as_of(one.pnl_at, now))
    held = f"  {one.positions} open, worth "
    line.append_text(Text.assemble((held, "muted"), formats.money(one.value, masked=masked)))
    line.append_text(Text.assemble(("  cash ", "muted"), formats.money(one.cash, masked=masked)))
    if one.reserved:
        kept = formats.money(one.reserved, masked=masked)
        line.append_text(Text.assemble(("  in open buys ", "muted"), kept))
    return line


def _as_of(at: Timestamp | None, now: Timestamp) -> Text:
    """When the venue's own figure was taken; a stale one is marked."""
    if at is None:
        return Text()
    age = formats.age(at, now).plain
    if abs(now - at) <= PNL_FRESH_S:
        return Text(f" {age} ago", "muted")
    return Text(f" STALE {age}", "stale")


def describe(held: PositionView, view: ViewContext, *, is_closed: bool) -> Detail:
    """One position in full, and the account's own trades in its market."""
    body = closed_body(held, view) if is_closed else position_body(held, view)
    return Detail(position_head(held), body, own_trades(held, view))


def position_head(held: PositionView) -> Text:
    """The question in full, the side, and the venue, if that is a real one."""
    where = "" if held.venue is Venue.SIM else f"  {held.venue.value}, {MONEY_OF[held.venue]}"
    return Text.assemble(
        (formats.plain(held.question, 300).plain, "bold"),
        "\n",
        (held.side.value.upper(), f"bold {'yes' if held.side is Side.YES else 'no'}"),
        (where, "live"),
        (f"  {held.category}  {held.status.value}", "muted"),
    )


def position_body(held: PositionView, view: ViewContext) -> Text:
    """The cost, mark and exit value of the position."""
    opened = (
        ("opened", Text.assemble(formats.age(held.opened_at, view.now), " ago"))
        if held.opened_at is not None
        else ("opened", formats.age(None, view.now))
    )
    unit = "$" if held.venue is Venue.SIM else MONEY_OF[held.venue]
    shown: tuple[Figure, ...] = (
        ("shares", view.shares(held.shares)),
        (f"cost {unit}", view.money(held.cost)),
        ("average", formats.price(held.average)),
        ("mark", formats.price(held.mark_price)),
        (f"mark value {unit}", view.money(held.mark_value)),
        (f"exit value {unit}", view.money(held.exit_value)),
        (f"unrealized {unit}", view.pnl(held.unrealized)),
        (f"realized {unit}", view.pnl(held.realized)),
        ("P&L %", formats.percent_change(held.pnl_pct)),
        opened,
    )
    return Text.assemble(
        "\n", figures(shown, across=2, width=view.width), "\n\n", _mark_and_exit(held)
    )


def closed_body(held: PositionView, view: ViewContext) -> Text:
    """The end of a closed position."""
    shown: tuple[Figure, ...] = (
        ("ended", outcome(held)),
        (_made(held), view.pnl(held.made)),
        ("average", formats.price(held.average)),
        ("resolved, world", formats.date_time(held.resolves_at)),
    )
    return Text.assemble("\n", figures(shown, across=2, width=view.width))


def _made(held: PositionView) -> str:
    """The label of a closed position's result: on a venue it may wait to be redeemed."""
    return "realized $" if held.venue is Venue.SIM else f"made {MONEY_OF[held.venue]}"


def own_trades(held: PositionView, view: ViewContext) -> Text:
    """The account's own trades in the position's market, newest first, with their reasons."""
    state, here = view.state, (held.market_id, held.venue)
    own = [trade for trade in state.trades if (trade.market_id, trade.venue) == here][:TRADES_MAX]
    if not own:
        said = if_none(state, "none among the newest", Topic.TRADES)
        return section(f"own trades{of_wall(state)}", Text(said, "muted"))
    lines = [_trade(trade, view) for trade in own]
    return section(f"own trades{of_wall(state)}", Text("\n").join(lines))


def _mark_and_exit(held: PositionView) -> Text:
    if held.status is not MarketStatus.ACTIVE:
        side = held.side.value.upper()
        return Text(f"The market is closed: each share pays 1 if it ends {side}, else 0.", "muted")
    said = Text("Mark is shares x price now; exit is what selling all of it would bring", "muted")
    if held.exit_value is None or held.mark_value <= 0:
        return said.append("; not known now.")
    less = (held.mark_value - held.exit_value) / held.mark_value
    words = formats.percent(less).plain
    return said.append(f", {words} less: each share sold lowers the price of the next.")


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
