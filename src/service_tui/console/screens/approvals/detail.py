"""One trade that needs approval in full, and the sums of several."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures
from service_tui.console.forms.approval import why_text
from service_tui.console.forms.approval_bound import (
    bound_as_typed,
    bound_label,
    first_bound,
    has_ended,
)
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_answered, of_wall
from service_tui.console.screens.approvals.table import (
    order_text,
    size_text,
    spark_text,
)
from service_tui.console.signs import edge_now, signal_number
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.slices.agents import POSITIONS_SHOWN
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import MARKET_ENDED, MONEY_OF, Action, Venue, agent_with
from service_tui.units import sum_of

_TWO_ACROSS: Final = 44
"""Cells from which figures stand in two columns."""


def describe(trade: PendingTradeView, view: ViewContext) -> Detail:
    """A trade in full: the order, its figures, the agent's reasons."""
    request = formats.plain(agent_with(trade.agent_name, trade.skill_slug), 60).plain
    head = Text.assemble(
        (formats.plain(trade.question).plain, "bold"),
        "\n",
        order_text(trade),
        "  ",
        size_text(trade, view),
        "  ",
        (trade.venue.value, "live" if trade.venue is not Venue.SIM else "muted"),
        (f"  by {request}", "muted"),
    )
    across = 2 if view.width >= _TWO_ACROSS else 1
    body = figures(_figures(trade, view), across=across, width=view.width)
    left = formats.duration(trade.left_s(view.now))
    lapses = has_ended(trade, view.state, view.now)
    comes = f"it lapses, {MARKET_ENDED}" if lapses else f"refused in {left}"
    end = Text.assemble(("If you do nothing: ", "muted"), comes)
    if not lapses and (bound := first_bound(trade)) is not None:
        end.append(
            f"\nApproval offers {bound_label(trade.action)} {bound_as_typed(bound)}", "muted"
        )
    return Detail(head, body, Text("\n\n").join((end, why_text(trade, view.state))))


def _figures(trade: PendingTradeView, view: ViewContext) -> tuple[Figure, ...]:
    held, is_known = position_of(trade, view)
    shares = view.shares(held.shares) if held is not None else formats.shares(None, masked=False)
    if held is None and is_known:
        shares = Text("none", "muted")
    market = view.state.markets.get(trade.market_id)
    ends = None if market is None else market.resolves_at
    return (
        (f"{trade.side.value.upper()} price", formats.price(trade.price)),
        ("limit price", formats.price(trade.price_limit)),
        ("average price", formats.price(trade.average)),
        ("claimed edge pt", formats.points(signal_number(trade, "edge"))),
        ("edge at this price pt", formats.points(edge_now(trade))),
        ("confidence", formats.percent(signal_number(trade, "confidence"), 0)),
        (f"agent holds {trade.side.value.upper()}", shares),
        (
            "market ends",
            Text("ended", "warn")
            if has_ended(trade, view.state, view.now)
            else formats.until(ends, view.world_now),
        ),
        ("YES in 24 h", spark_text(trade, view)),
        ("requested", Text.assemble(formats.age(trade.created_at, view.now), " ago")),
    )


def position_of(trade: PendingTradeView, view: ViewContext) -> tuple[PositionView | None, bool]:
    """The position that the agent holds on this side, and whether its positions are known."""
    state = view.state
    agents = () if state.fleet is None else state.fleet.agents
    is_own = any(one.is_own and one.agent_id == trade.agent_id for one in agents)
    detail = state.supervision.detail
    if is_own:
        listed, is_known = state.held(trade.market_id), is_answered(state, Topic.POSITIONS)
    elif detail is not None and detail.agent_id == trade.agent_id and not detail.problem:
        listed, is_known = detail.positions, len(detail.positions) < POSITIONS_SHOWN
    else:
        return None, False
    held = (
        one
        for one in listed
        if (one.market_id, one.side, one.venue) == (trade.market_id, trade.side, trade.venue)
    )
    return next(held, None), is_known


def totals(trades: Iterable[PendingTradeView], view: ViewContext) -> tuple[Bit, ...]:
    """What the listed buys would spend, for each currency by itself, and the number of sales."""
    listed = list(trades)
    buys = [one for one in listed if one.action is Action.BUY]
    bits: list[Bit] = []
    for currency in dict.fromkeys(MONEY_OF[one.venue] for one in buys):
        own = [one.amount for one in buys if MONEY_OF[one.venue] == currency]
        amount = view.money(sum_of(own))
        noun = "buy" if len(own) == 1 else "buys"
        label = (f"{len(own):,} {noun}  ", "bold")
        bits.append(Bit(Text.assemble(label, amount, f" {currency}"), rank=len(bits)))
    if sales := len(listed) - len(buys):
        noun = "sale" if sales == 1 else "sales"
        bits.append(Bit(Text(f"{sales:,} {noun}", "bold"), rank=len(bits)))
    return tuple(bits)


def explain_approval(trade: PendingTradeView, view: ViewContext) -> tuple[Explanation, ...]:
    """Where the figures of a trade come from."""
    age = formats.age(trade.created_at, view.now)
    requested = formats.clock_time(trade.created_at)
    deadline = formats.duration(trade.left_s(view.now))
    source = "sent by the agent with the trade"
    return (
        Explanation(
            "price", formats.price(trade.price), f"price of {trade.side.value.upper()} now", (),
            "service data (markets)", age,
        ),
        Explanation(
            "edge", formats.points(edge_now(trade)),
            "the agent's estimate - price now, in hundredths",
            (("sent with the trade", formats.points(signal_number(trade, "edge"))),), source, age,
        ),
        Explanation(
            "confidence", formats.percent(signal_number(trade, "confidence"), 0),
            "how sure the agent is of its side", (), source, age,
        ),
        Explanation(
            "left", Text(deadline),
            "deadline of the leash - now; then the trade is refused",
            ((f"requested{of_wall(view.state)}", requested),), "service data (approvals)", age,
        ),
    )  # fmt: skip
