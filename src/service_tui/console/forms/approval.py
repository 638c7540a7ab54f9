"""A pending trade of an agent: approve it, change its size, or refuse it with a reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, number, write_number
from service_tui.console.forms.approval_bound import (
    bound_as_typed,
    bound_label,
    can_rest,
    first_bound,
    has_ended,
    is_beyond,
    other_side_text,
    read_bound,
)
from service_tui.console.forms.confirm import Question
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.live_order import live_question
from service_tui.console.forms.order_draft import MONEY
from service_tui.console.freshness import is_private
from service_tui.console.key_queue import rest_keys
from service_tui.console.keys import bindings_of, cap
from service_tui.console.reasons import without_amounts
from service_tui.console.signs import edge_now, edge_text, signal_number, signs_text
from service_tui.console.theme import content
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.supervision import (
    LeashView,
    PendingTradeView,
    approval_text,
    pending_text,
)
from service_tui.desk.state import DeskState
from service_tui.terms import (
    LINE_MAX,
    MARKET_ENDED,
    MONEY_DECIMALS,
    MONEY_OF,
    PROSE_MAX,
    Action,
    Venue,
    agent_with,
)
from service_tui.units import Micros, Timestamp, decimal, sum_of

Decision = ApproveTrade | RefuseTrade

NEXT: Final = "Next trade. Read it, then press enter to decide"

NEXT_S: Final = 1.0
"""How long a trade that opens automatically takes no key: a person has to read it first."""

GONE: Final = "trade already decided: last keys ignored"

URGENT_S: Final = 60.0
"""With less time left the figure changes its tone."""

SIGNALS_MAX: Final = 1_000
"""Letters of an agent's reasoning; it scrolls."""


AMOUNT: Final = Field("approval-amount", "for", number(MONEY), letters=17)
BOUND: Final = Field("approval-bound", "not above", read_bound, placeholder="any", letters=8)
"""The worst average price, kept by the service when it carries the trade out."""

REASON: Final = Field(
    "approval-reason", "reason", str.strip, placeholder="optional; sent to the agent",
    letters=LINE_MAX, css_class="",
)  # fmt: skip


class ApprovalForm(Form[Decision]):
    """Enter approves the trade; the refusing key opens a line for the reason, enter sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("approval")]
    # A sale has no input line: its focus is on a button, until a reason is typed.
    AUTO_FOCUS = "#approval-amount, #form-set"

    heading: ClassVar[str] = "Approve this trade?"
    hint: ClassVar[str] = "{approval.refuse} refuse"
    more_hint: ClassVar[str] = "{approval.more} read on"
    set_word: ClassVar[str] = "approve"
    cancel_word: ClassVar[str] = "later"
    body = ("form-question", "approval-why")

    def __init__(
        self,
        state: DeskState,
        now: Timestamp,
        trade: PendingTradeView,
        *,
        is_next: bool = False,
        refuse: bool = False,
    ) -> None:
        """Open a waiting trade.

        Args:
            state: the newest.
            now: wall time.
            trade: the trade that waits.
            is_next: it follows another trade automatically: a first enter, after a moment, only
                unlocks it.
            refuse: begin at the line for the reason of a refusal.
        """
        super().__init__(state, now)
        self._trade = trade
        self._is_new = is_next
        self._has_rested = False
        self._is_refusing = False
        self._begins_refusing = refuse
        # ours: while amounts are masked an empty line stands for the requested one.
        is_masked = is_private(state)
        self.first = {
            AMOUNT.name: "" if is_masked else exact_text(trade.amount),
            BOUND.name: bound_as_typed(first_bound(trade)),
        }
        amount = replace(
            AMOUNT,
            label=f"for {MONEY_OF[trade.venue]}",
            placeholder="as requested" if is_masked else AMOUNT.placeholder,
        )
        bound = replace(BOUND, label=bound_label(trade.action))
        size = (amount, bound) if trade.action is Action.BUY else (bound,)
        self.docked = (size, REASON, "form-preview")

    def more_buttons(self) -> Iterator[LightButton]:
        """A button that refuses."""
        yield LightButton(f"refuse  {cap('approval.refuse')}", id="approval-refuse")

    def press_other(self, name: str) -> None:
        """Refuse the trade."""
        if name == "approval-refuse":
            self.action_refuse()

    def renew(self) -> None:
        """The trade as it is now; gone once a person or the deadline has decided it."""
        waiting = {trade.pending_id: trade for trade in self.state.supervision.pending_trades}
        pending = waiting.get(self._trade.pending_id)
        if pending is None:
            if not self.is_done:
                rest_keys(self, GONE)
            self.leave(None)
        else:
            self._trade = pending

    def validate(self) -> Decision:
        """The decision as typed."""
        trade = self._trade
        if self._is_new:
            raise FieldError(NEXT)
        if trade.left_s(self.now) <= 0:
            raise FieldError("Approval expired. Trade refused")
        text = approval_text(trade)
        if self._is_refusing:
            return RefuseTrade(trade.pending_id, text, self.read(REASON))
        if has_ended(trade, self.state, self.now):
            raise FieldError(f"Nothing to approve: {MARKET_ENDED}")
        bound = self.read(BOUND)
        if is_beyond(trade, bound) and not can_rest(trade, bound):
            now = formats.price(trade.price if trade.average is None else trade.average)
            raise FieldError(
                f"Price {now} is beyond {bound_as_typed(bound)}: nothing would be traded. "
                f'Change "{bound_label(trade.action)}", or {cap("approval.refuse")} to refuse'
            )
        if trade.action is Action.SELL:
            return ApproveTrade(trade.pending_id, text, not_below=bound)
        return replace(self._sized(text), not_above=bound)

    def on_mount(self) -> None:
        """Show the trade; after another trade the deciding keys rest for a moment."""
        super().on_mount()
        if self._is_new:
            for line in self.query(PlainInput):
                line.disabled = True
            self.set_timer(NEXT_S, self._allow_unlocking)
        elif self._begins_refusing:
            self._turn(refusing=True)

    def _allow_unlocking(self) -> None:
        """From now on a key is meant for this trade; a person has had time to see it."""
        self._has_rested = True
        self.refresh_form()

    def refresh_form(self) -> None:
        """Show the form; before it is unlocked its button only does that."""
        super().refresh_form()
        if not self.is_done and self._is_new:
            button = self.query_one("#form-set", LightButton)
            button.show_text("decide  enter")
            button.disabled = not self._has_rested
            if self._has_rested:
                button.focus()

    def action_set(self) -> None:
        """Unlock a trade that opened automatically; else decide, or show the problem."""
        if self._is_new and self._has_rested:
            self._unlock()
        else:
            super().action_set()

    def _unlock(self) -> None:
        self._is_new = False
        self.query_one("#form-set", LightButton).show_text(f"{self.set_word}  enter")
        for line in self.query(PlainInput):
            line.disabled = False
        to = "#approval-amount" if self._trade.action is Action.BUY else "#form-set"
        self.query_one(to).focus()
        self.refresh_form()

    def _sized(self, text: str) -> ApproveTrade:
        """The approval of a buy at the typed size."""
        trade, typed = self._trade, self.typed(AMOUNT.name).strip()
        is_masked = is_private(self.state)
        if not typed and not is_masked:
            raise FieldError(f"Enter an amount, or {cap('approval.refuse')} to refuse")
        # An untouched size is the requested one, to the last decimal.
        is_requested = typed in {"", exact_text(trade.amount)}
        amount = trade.amount if is_requested else self.read(AMOUNT)
        against = (
            _switched_off(trade, self.state),
            over_means(trade, amount, self.state),
            over_budget(trade, amount, self.state),
        )
        problem = next(filter(None, against), "")
        if problem:
            raise FieldError(without_amounts(problem, masked=is_masked))
        return ApproveTrade(trade.pending_id, text, None if amount == trade.amount else amount)

    def describe(self, result: Decision | None) -> Mapping[str, Shown]:
        """The requesting agent, the trade, and the next step."""
        trade = self._trade
        request = agent_with(trade.agent_name, trade.skill_slug)
        order = without_amounts(pending_text(trade), masked=is_private(self.state))
        head = Text.assemble(formats.plain(request, 60), ": ", formats.plain(order, 400))
        return {
            "form-question": head,
            "approval-why": why_text(trade, self.state),
            "form-preview": self._next(result),
        }

    def _next(self, result: Decision | None) -> Text:
        """Time left, number of other waiting trades, and the meaning of the decision."""
        trade = self._trade
        left = trade.left_s(self.now)
        tone = "breach" if left < URGENT_S else "muted"
        text = Text.assemble((f"{formats.duration(left)} left, then refused. ", tone))
        if has_ended(trade, self.state, self.now):
            text = Text(f"This request lapses: {MARKET_ENDED}. ", "warn")
        others = len(self.state.supervision.pending_trades) - 1
        if others > 0:
            text.append(f"{others} more pending. ", "warn")
        if isinstance(result, ApproveTrade):
            size = trade.amount if result.amount is None else result.amount
            at = (
                ""
                if trade.average is None
                else f" at about {formats.price(trade.average)} per share"
            )
            hidden = formats.MASK if is_private(self.state) else exact_text(size, ",")
            money = f"{hidden} {MONEY_OF[trade.venue]}"
            bound = result.not_above if trade.action is Action.BUY else result.not_below
            worst = (
                ""
                if bound is None
                else f", {bound_label(trade.action)} {bound_as_typed(bound)} on average"
            )
            spends = (
                f"Approval buys for {money} on {trade.venue.value}{at}{worst}, within all limits."
            )
            text.append(
                spends if trade.action is Action.BUY else f"Approval sells the shares{worst}.",
                "muted",
            )
        elif isinstance(result, RefuseTrade):
            text.append(f"Nothing is traded. {trade.agent_name} receives the reason.", "muted")
        return text

    def action_refuse(self) -> None:
        """Open the line for the reason of a refusal; once more, refuse with the typed reason."""
        if self._is_new:
            if not self._has_rested:
                return
            self._unlock()
        if not self._is_refusing:
            self._turn(refusing=True)
            return
        decision = self.result_or_problem()
        if isinstance(decision, RefuseTrade):
            self.finish(decision)

    def action_cancel(self) -> None:
        """Back from the refusal to the trade; else leave it waiting."""
        if self._is_refusing:
            self._turn(refusing=False)
        else:
            super().action_cancel()

    def action_read(self, pages: int) -> None:
        """Scroll in the agent's reasoning."""
        body = self.query_one("#form-body")
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)

    def _turn(self, *, refusing: bool) -> None:
        """Show the lines of one answer: the size of an approval, or the reason of a refusal."""
        self._is_refusing = refusing
        self.set_class(refusing, "-refusing")
        verb, leave = _ANSWERS[refusing]
        title = "Refuse this trade?" if refusing else self.heading
        self.query_one("#form").border_title = content(Text(f" {title} "))
        self.query_one("#form-set", LightButton).show_text(f"{verb}  enter")
        self.query_one("#form-cancel", LightButton).show_text(f"{leave}  {cap('form.cancel')}")
        self.refresh_form()
        buys = self._trade.action is Action.BUY
        to = "#approval-reason" if refusing else "#approval-amount" if buys else "#form-set"
        self.call_after_refresh(self.query_one(to).focus)


_ANSWERS: Final = {
    False: (ApprovalForm.set_word, ApprovalForm.cancel_word),
    True: ("refuse", "back"),
}
"""Labels of the two buttons, by whether it is refused."""


def exact_text(amount: Micros, mark: str = "") -> str:
    """An amount of money with all of its decimals, two at least; `mark` separates thousands."""
    return write_number(amount, 6, at_least=MONEY_DECIMALS, mark=mark)


def _switched_off(trade: PendingTradeView, state: DeskState) -> str:
    """Why a trade of real money is blocked; empty if it may go out."""
    is_off = is_real(trade, state) and not state.wallet.live
    return (
        f"Live trading is off. Turn it on in Wallet ({cap('app.redemption')}, "
        f"{cap('app.wallet')}, {cap('wallet.live')})"
        if is_off
        else ""
    )


def over_means(
    trade: PendingTradeView,
    amount: Micros,
    state: DeskState,
    before: Sequence[PendingTradeView] = (),
) -> str:
    """The funds of its agent that a buy exceeds, as far as known; empty if none.

    `before` are trades approved with it that spend first.
    """
    agents = () if state.fleet is None else state.fleet.agents
    agent = next((one for one in agents if one.agent_id == trade.agent_id), None)
    if agent is None:
        return ""
    spent = sum_of(
        one.amount for one in _buys_of(before, trade.agent_id) if one.venue is trade.venue
    )
    bounds = [
        *((Micros(cash - spent), text) for cash, text in _cash(agent, trade.venue)),
        *_limit(agent, trade.venue),
    ]
    over = [one for one in bounds if not amount <= one[0]]
    if not over:
        return ""
    bound, text = min(over)
    return f"Above the {max(0.0, decimal(bound)):,.2f} {MONEY_OF[trade.venue]} {text}"


def _buys_of(trades: Sequence[PendingTradeView], agent_id: str) -> Iterator[PendingTradeView]:
    return (one for one in trades if one.agent_id == agent_id and one.action is Action.BUY)


def _cash(agent: AgentView, venue: Venue) -> Iterator[tuple[Micros, str]]:
    """Money that an agent's buys on a venue can spend, and the text after it."""
    if venue is Venue.SIM:
        yield agent.cash, f"cash of {agent.name}"
    else:
        own = (one.cash for one in agent.venues if one.venue is venue)
        yield from ((cash, f"of {agent.name} on {venue.value}") for cash in own)


def _limit(agent: AgentView, venue: Venue) -> Iterator[tuple[Micros, str]]:
    """Most that one buy of an agent can spend, and the text after it."""
    limits = agent.limits
    if limits is not None:
        most = limits.sim_trade_max if venue is Venue.SIM else limits.trade_max
        yield most, "limit per trade"


def over_budget(
    trade: PendingTradeView,
    amount: Micros,
    state: DeskState,
    before: Sequence[PendingTradeView] = (),
) -> str:
    """The day's budget that a buy would exceed, of the agent or of its skill; empty if none.

    `before` are trades approved with it that spend first.
    """
    buys = tuple(_buys_of(before, trade.agent_id))
    full: list[tuple[Micros, LeashView]] = []
    for slug in dict.fromkeys(("", trade.skill_slug)):
        leash = state.supervision.leash_of(trade.agent_id, slug)
        if leash is None or leash.budget is None:
            continue
        earlier = sum_of(one.amount for one in buys if slug in {"", one.skill_slug})
        room = leash.budget - leash.spent - earlier
        if amount > room:
            full.append((room, leash))
    return _over(min(full, key=itemgetter(0))[1]) if full else ""


def _over(leash: LeashView) -> str:
    spent, budget = decimal(leash.spent), decimal(leash.budget or Micros(0))
    whose = f"skill {formats.plain(leash.skill_slug, 40)}" if leash.skill_slug else "agent"
    return (
        f"Over the daily budget of the {whose}: {spent:,.2f} of {budget:,.2f} spent. "
        f"Raise the budget ({cap('app.agents')}, {cap('agents.leash')}) or lower the amount"
    )


def is_real(trade: PendingTradeView, state: DeskState) -> bool:
    """True if it would spend real money; the embedded service has none."""
    is_play = trade.venue is Venue.SIM or state.service.embedded
    return trade.action is Action.BUY and not is_play


def real_question(trade: PendingTradeView, order: ApproveTrade, state: DeskState) -> Question:
    """The question before an agent's order for real money."""
    requested = PlaceTrade(
        trade.market_id,
        trade.side,
        trade.action,
        trade.venue,
        trade.amount if order.amount is None else order.amount,
        question=trade.question,
        # The dialog names the worst price that leaves: the stricter of the two.
        price=order.worst_price(trade.action, trade.price_limit),
    )
    return live_question(requested, state, None, agent=trade.agent_name)


def why_text(trade: PendingTradeView, state: DeskState) -> Text:
    """The agent's reasoning, signal data, the price, and the present position."""
    is_masked = is_private(state)
    text = trade.reasoning and formats.plain(trade.reasoning, PROSE_MAX).plain
    text = without_amounts(text, masked=is_masked)
    lines = [Text(text or "no reason given")]
    signals = signs_text(trade.signal_data)
    if signals:
        lines.append(Text(formats.plain(signals, SIGNALS_MAX).plain, "muted"))
    if trade.price is not None:
        limit = "" if trade.price_limit is None else f", limit {formats.price(trade.price_limit)}"
        side, edge = trade.side.value.upper(), edge_now(trade)
        now = "" if edge is None else f", edge now {edge_text(edge)}"
        is_lost = edge is not None and edge <= 0 < (signal_number(trade, "edge") or 0)
        tone = "warn" if is_lost else "muted"
        lines.append(Text(f"{side} price {formats.price(trade.price)}{limit}{now}", tone))
    if (others := other_side_text(trade, state)).plain:
        lines.append(others)
    for slug in dict.fromkeys(("", trade.skill_slug)):
        leash = state.supervision.leash_of(trade.agent_id, slug)
        if leash is not None and leash.budget is not None:
            spent = formats.money(leash.spent, masked=is_masked)
            budget = formats.money(leash.budget, masked=is_masked)
            whose = f" by {formats.plain(slug, 40)}" if slug else ""
            lines.append(Text(f"{spent} of {budget} daily budget spent{whose}", "muted"))
    return Text("\n").join(lines)
