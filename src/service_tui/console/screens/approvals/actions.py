"""Actions on trades that need approval: review, approve or refuse one or many, loosen the leash."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.actions import ScreenAction, UnmetReason
from service_tui.console.forms.approval import is_real, over_budget, over_means
from service_tui.console.forms.approval_bound import (
    bound_as_typed,
    bound_label,
    can_rest,
    first_bound,
    has_ended,
    is_beyond,
)
from service_tui.console.forms.confirm import Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.messages import ApprovalRequested
from service_tui.console.parts.shared_actions import can_change, has_row, mark, open_market
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.approvals.detail import totals
from service_tui.console.screens.approvals.table import order_text, size_text
from service_tui.console.signs import edge_now, edge_text
from service_tui.console.view_context import ViewContext
from service_tui.desk.agents.refused_today import refused_today, rule_of
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade, SetLeash
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.supervision import PendingTradeView, approval_text
from service_tui.terms import Action

Approvals: TypeAlias = TableScreen[PendingTradeView]


# -- requirements -------------------------------------------------------------------------------


def has_trade(screen: Approvals) -> UnmetReason:
    """A trade is highlighted, or some are marked."""
    return "" if screen.table.order.marked else has_row(screen)


def is_waiting(screen: Approvals) -> UnmetReason:
    """At least one trade waits."""
    return "" if screen.state.supervision.pending_trades else "no approvals pending"


def has_refused(screen: Approvals) -> UnmetReason:
    """Trades of an agent are refused for today."""
    return "" if refused_today(screen.state, screen.now) else "no agent refused today"


# -- one or many --------------------------------------------------------------------------------


def review(screen: Approvals) -> None:
    """Open the highlighted trade: approve it, change its size, or refuse it."""
    trade = screen.row_in_focus()
    if trade is not None:
        screen.post_message(ApprovalRequested(trade.pending_id))


def mark_one(screen: Approvals) -> None:
    """Mark the highlighted trade, or unmark it; the sums are of what is marked."""
    mark(screen)
    screen.show_header()


def mark_all(screen: Approvals) -> None:
    """Mark every trade listed, or none if all are."""
    screen.table.toggle_all_marks()
    screen.show_header()


def approve(screen: Approvals) -> None:
    """Approve the marked trades after one look at all of them, or review the highlighted one."""
    trades = screen.table.selected_or_marked()
    if len(trades) > 1:
        _approve_many(screen, trades)
    elif trades:
        screen.post_message(ApprovalRequested(trades[0].pending_id))
    else:
        screen.row_in_focus()


def refuse(screen: Approvals) -> None:
    """Refuse the marked trades, or open the highlighted one at the line for the reason."""
    trades = screen.table.selected_or_marked()
    if len(trades) > 1:
        body = Text("Nothing is traded. Each agent gets a refusal as the answer to its order.")
        _ask(screen, trades, Question("Refuse these trades?", body, "refuse"), _give_refusals)
    elif trades:
        screen.post_message(ApprovalRequested(trades[0].pending_id, refuse=True))
    else:
        screen.row_in_focus()


def _approve_many(screen: Approvals, trades: Sequence[PendingTradeView]) -> None:
    """Confirm all play-money trades at once, and real-money trades one by one."""
    view = screen.view
    able, left_out = approvable(trades, view)
    if not able:
        screen.show_toast(f"none approved: {left_out}", "warn")
        return
    sums = Text("   ").join(bit.text for bit in totals(able, view))
    sums.append_text(lost_edge_text(able))
    if left_out:
        sums.append_text(Text.assemble("\n", (f"Left out: {left_out}", "warn")))
    question = Question("Approve these trades?", sums, "approve")
    _ask(screen, able, question, _give_approvals, with_prices=True)


def approvable(
    trades: Sequence[PendingTradeView], view: ViewContext
) -> tuple[tuple[PendingTradeView, ...], str]:
    """The trades that one answer may approve, and how many are left out and why.

    Cash and budgets are those after the trades before it in the list.
    """
    able: list[PendingTradeView] = []
    real = over = late = beyond = ended = 0
    for trade in trades:
        if is_real(trade, view.state):
            real += 1
        elif trade.action is Action.BUY and (
            over_means(trade, trade.amount, view.state, able)
            or over_budget(trade, trade.amount, view.state, able)
        ):
            over += 1
        elif trade.left_s(view.now) <= 0:
            late += 1
        elif has_ended(trade, view.state, view.now):
            ended += 1
        elif is_beyond(trade, bound := first_bound(trade)) and not can_rest(trade, bound):
            # The service would trade nothing, and the request would be gone.
            beyond += 1
        else:
            able.append(trade)
    reasons = (
        f"{real} of real money, review each" if real else "",
        f"{over} over budget or cash" if over else "",
        f"{late} expired" if late else "",
        f"{ended} of ended markets" if ended else "",
        f"{beyond} beyond their price, review each" if beyond else "",
    )
    return tuple(able), ", ".join(filter(None, reasons))


def _give_approvals(screen: Approvals, trades: Sequence[PendingTradeView]) -> None:
    for trade in trades:
        # ours: each keeps the price that its own form would offer: the question shows it.
        bound = first_bound(trade)
        is_buy = trade.action is Action.BUY
        screen.give(
            ApproveTrade(
                trade.pending_id,
                approval_text(trade),
                not_above=bound if is_buy else None,
                not_below=None if is_buy else bound,
            )
        )


def _give_refusals(screen: Approvals, trades: Sequence[PendingTradeView]) -> None:
    for trade in trades:
        screen.give(RefuseTrade(trade.pending_id, approval_text(trade)))


def _ask(
    screen: Approvals,
    trades: Sequence[PendingTradeView],
    question: Question,
    then: Callable[[Approvals, Sequence[PendingTradeView]], None],
    *,
    with_prices: bool = False,
) -> None:
    """Ask with every trade on a line; exactly those that still wait are decided."""

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            waiting = {one.pending_id for one in screen.state.supervision.pending_trades}
            then(screen, [one for one in trades if one.pending_id in waiting])
            screen.table.clear_marks()

    view = screen.view
    lines = tuple(_line(trade, view, with_prices=with_prices) for trade in trades)
    screen.open_dialog(ConfirmMany(question, lines), answered)


def lost_edge_text(trades: Sequence[PendingTradeView]) -> Text:
    """The trades whose edge is gone at the price of now, by agent and market; empty for none."""
    lost = [trade for trade in trades if (edge := edge_now(trade)) is not None and edge <= 0]
    if not lost:
        return Text()
    noun = "has lost its edge" if len(lost) == 1 else "have lost their edge"
    names = ", ".join(
        f"{formats.plain(one.agent_name, 20).plain} {formats.plain(one.question, 40).plain}"
        for one in lost
    )
    return Text(f"\n{len(lost)} {noun}: {names}", "warn")


def _price_text(trade: PendingTradeView) -> Text:
    """Price and edge now, and the worst price that an approval allows."""
    edge, bound = edge_now(trade), first_bound(trade)
    text = Text.assemble("  ", formats.price(trade.price))
    if edge is not None:
        text.append(f"  edge {edge_text(edge)}", "warn" if edge <= 0 else "")
    if bound is not None:
        text.append(f"  {bound_label(trade.action)} {bound_as_typed(bound)}", "muted")
    return text


def _line(trade: PendingTradeView, view: ViewContext, *, with_prices: bool) -> Text:
    return Text.assemble(
        order_text(trade),
        "  ",
        size_text(trade, view),
        _price_text(trade) if with_prices else "",
        "  ",
        (formats.plain(trade.agent_name, 20).plain, "accent"),
        f"  {trade.venue.value}  ",
        formats.plain(trade.question),
    )


# -- rules --------------------------------------------------------------------------------------


def refuse_today(screen: Approvals) -> None:
    """Refuse every trade of the highlighted agent until midnight UTC, after a confirmation."""
    trade = screen.row_in_focus()
    if trade is None:
        return
    name = formats.plain(trade.agent_name, 40).plain
    own = [one for one in screen.state.supervision.pending_trades if one.agent_id == trade.agent_id]
    body = Text(
        f"Trades of {name} that need approval are refused until midnight UTC, "
        f"{len(own)} of them now. Its trades below the leash's limit go on."
    )

    def then(screen: Approvals, trades: Sequence[PendingTradeView]) -> None:
        screen.give(SetPreference(*rule_of(trade.agent_id, screen.state, screen.now)))
        _give_refusals(screen, trades)

    _ask(screen, own, Question(f"Refuse {name} for today?", body, "refuse"), then)


def lift(screen: Approvals) -> None:
    """Let all agents ask again today."""
    for agent_id in refused_today(screen.state, screen.now):
        name, _ = rule_of(agent_id, screen.state, screen.now)
        screen.give(SetPreference(name, ""))
    screen.show_toast("agents may ask again")


def always(screen: Approvals) -> None:
    """Open the leash of the highlighted trade, which lets amounts up to this one pass."""
    from service_tui.console.forms.leash_form import (  # noqa: PLC0415 - not at first
        LeashForm,
    )

    trade = screen.row_in_focus()
    agents = () if screen.state.fleet is None else screen.state.fleet.agents
    agent = next((one for one in agents if trade and one.agent_id == trade.agent_id), None)
    if trade is None:
        return
    if agent is None:
        screen.show_toast("agent not loaded yet", "warn")
        return
    slug = trade.skill_slug
    if screen.state.supervision.leash_of(trade.agent_id, slug) is None:
        slug = ""
    form = LeashForm(screen.state, screen.now, agent, skill_slug=slug, threshold=trade.amount)

    def set_leash(order: SetLeash) -> None:
        screen.give(order)

    screen.open_dialog(form, set_leash)


def is_buy(screen: Approvals) -> UnmetReason:
    """The highlighted trade is a buy: leashes have no limit for sales."""
    trade = screen.selected()
    is_sale = trade is not None and trade.action is not Action.BUY
    return "a sale has no limit" if is_sale else ""


ACTIONS: Final[tuple[ScreenAction[Approvals], ...]] = (
    ScreenAction("approvals.review", review, requires=(has_row,)),
    ScreenAction("approvals.approve", approve, requires=(can_change, has_trade)),
    ScreenAction("approvals.refuse", refuse, requires=(can_change, has_trade)),
    ScreenAction("approvals.mark", mark_one, requires=(has_row,)),
    ScreenAction("approvals.mark_all", mark_all, requires=(is_waiting,)),
    ScreenAction("approvals.always", always, requires=(can_change, has_row, is_buy)),
    ScreenAction("approvals.today", refuse_today, requires=(can_change, has_row)),
    ScreenAction("approvals.lift", lift, requires=(has_refused,)),
    ScreenAction("approvals.market", open_market, requires=(has_row,)),
)
