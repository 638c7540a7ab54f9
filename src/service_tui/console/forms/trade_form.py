"""The order ticket: side, amount, quote, and the resulting order."""

from dataclasses import replace
from typing import Final, Self

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.timer import Timer
from textual.widgets import Input

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, percent_text
from service_tui.console.forms import ticket_text
from service_tui.console.forms.form import SECOND_THOUGHT_S, input_of
from service_tui.console.forms.limit_draft import first_limit, stepped
from service_tui.console.forms.order_draft import (
    Draft,
    presets,
    read_order,
    takes_exits,
    typed,
)
from service_tui.console.forms.quoting import Quoting, as_quoted, bounded
from service_tui.console.forms.ticket_guards import (
    slippage_max,
    slippage_objection,
    takes_worst,
)
from service_tui.console.key_queue import rest_keys
from service_tui.console.keys import bindings_of, cap, key_named, with_keys
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.reasons import reason_text, sentence
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.room import make_room
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import OpenOrderView, limit_text
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import preflight_size, why_no_rest
from service_tui.terms import (
    MONEY_DECIMALS,
    PROSE_MAX,
    SHARE_DECIMALS,
    Action,
    OrderType,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

QUIET_S: Final = 0.15
"""Delay of a quote request after the last key, where the service is on a network; one on this
machine is asked at each key. Source: decisions, "Limits in benches"."""

FAR: Final = 0.1
"""A larger price move needs a second enter."""

KEPT: Final = "sends once quoted; enter, {ticket.cancel} or a new amount cancels"
TAKEN_BACK: Final = "cancelled: nothing sent"
CHANGED: Final = "order changed: nothing sent"
SENT: Final = "order sent: last keys ignored"
NOT_SENT: Final = "not sent: "
LEAVES: Final = "{ticket.cancel} again discards this ticket, any other key keeps it"
WAIT_S: Final = 5.0
"""Longest wait of an enter for its quote: an order that goes out later is a surprise."""

LIMIT: Final = Field("ticket-limit", "", str.strip, css_class="")
UNTIL: Final = Field(
    "ticket-until", "until", str.strip, placeholder="2h, 45m, 17:30", letters=10, css_class=""
)
AMOUNT: Final = Field("ticket-amount", "", str.strip, letters=40, css_class="")
BY_RISK: Final = "25, or 20r: lose 20 at the stop"
"""Shown while the amount of a buy is empty."""

STOP: Final = Field("ticket-stop", "stop %", str.strip, letters=8, css_class="")
TARGET: Final = Field("ticket-target", "target %", str.strip, letters=8, css_class="")
WORST: Final = Field(
    "ticket-worst", "", str.strip, placeholder="any price", letters=8, css_class=""
)
REASONING: Final = Field(
    "ticket-reasoning", "note", str.strip, placeholder="optional; all agents can read it",
    letters=PROSE_MAX, css_class="",
)  # fmt: skip
"""The input lines; the draft parses all of them together."""

_ORDERED: Final = frozenset(one.name for one in (AMOUNT, LIMIT, UNTIL, STOP, TARGET, WORST))
"""Lines whose text changes the order."""

_ACTIONS: Final = (Action.BUY, Action.SELL)
_SIDES: Final = (Side.YES, Side.NO)

LIMITS: Final = frozenset({OrderType.GTC, OrderType.GTD})
"""The types of a limit order."""


class TradeForm(Dialog[PlaceTrade | None]):  # noqa: PLR0904 - one action a key
    """The ticket for one market. Returns the order, or None if it was left.

    On play money it is its own confirmation: enter places the order, once. It shows why an
    order cannot be placed. `take` brings it newer states.
    """

    BINDINGS = bindings_of("ticket")
    AUTO_FOCUS = "#ticket-amount"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as Textual declares it

    def __init__(
        self,
        state: DeskState,
        now: Timestamp,
        market: MarketView,
        *,
        side: Side | None = None,
        action: Action = Action.BUY,
        venue: Venue = Venue.SIM,
    ) -> None:
        super().__init__()
        self._state = state
        self._now = now
        self.market = market
        self.action = action
        self.side = side or self._usual_side()
        self._quoting = Quoting()
        self._quiet: Timer | None = None
        self._second_thought: Timer | None = None
        self._before = ""
        self._no_venue = ""
        self._far_confirmed: PlaceTrade | None = None
        self._kept: tuple[PlaceTrade, Timestamp] | None = None
        self._is_overtaken = False
        self._is_ready = False
        self._is_done = False
        self.venue = venue
        self._type = OrderType.FAK
        self._limit_before = ""
        self._amends: OpenOrderView | None = None
        self.typed_before = ""
        """The amount that the ticket opens with."""

    @classmethod
    def amending(
        cls, state: DeskState, now: Timestamp, market: MarketView, order: OpenOrderView
    ) -> Self:
        """The ticket that replaces an open order: its price and its size can be changed."""
        form = cls(state, now, market, side=order.side, action=order.action, venue=order.venue)
        form._amends = order
        form._type = OrderType.GTC if order.expires_at is None else OrderType.GTD
        return form

    def begin_at(self, price: float) -> None:
        """Open as a limit order at a price of the side."""
        self._type, self._limit_before = OrderType.GTC, limit_text(price)

    def compose(self) -> ComposeResult:
        """The question, the options, the quote, and the buttons."""
        kept = self._state.preferences.get(self._draft_name, "")
        with Vertical(id="ticket"):
            with VerticalScroll(id="ticket-body", can_focus=False):
                yield TextBlock(id="ticket-question")
                yield TextBlock(id="ticket-market")
                with Horizontal(id="ticket-choices"):
                    yield SegmentedControl(id="ticket-side")
                    yield SegmentedControl(id="ticket-action")
                with Horizontal(id="ticket-when"):
                    yield TextBlock(f"type  {cap('ticket.kind')}", classes="label")
                    yield SegmentedControl(id="ticket-kind")
                yield Horizontal(
                    TextBlock(id="ticket-limit-label", classes="label"),
                    input_of(LIMIT),
                    input_of(WORST),
                    TextBlock(id="ticket-step"),
                    id="ticket-rest",
                )
                with Horizontal(id="ticket-expiry"):
                    yield TextBlock(UNTIL.label, classes="label")
                    yield input_of(UNTIL)
                    yield TextBlock(id="ticket-expires")
                with Horizontal(id="ticket-line"):
                    yield TextBlock(id="ticket-unit")
                    yield input_of(AMOUNT)
                    yield SegmentedControl(id="ticket-presets")
                yield Horizontal(
                    TextBlock(STOP.label, classes="label"),
                    input_of(STOP),
                    TextBlock(TARGET.label, id="ticket-target-label"),
                    input_of(TARGET),
                    id="ticket-exits",
                )
                yield TextBlock(id="ticket-loss")
                with Horizontal(id="ticket-why"):
                    yield TextBlock(REASONING.label, classes="label")
                    yield input_of(REASONING, kept)
                yield TextBlock(id="ticket-quote")
            yield TextBlock(id="ticket-age")
            yield TextBlock(id="ticket-problem")
            with Horizontal(id="ticket-doors"):
                yield LightButton(id="ticket-place")
                yield LightButton(f"cancel  {cap('ticket.cancel')}", id="ticket-cancel")

    def on_mount(self) -> None:
        """Show the ticket; without an amount no quote is requested."""
        frame = self.query_one("#ticket")
        frame.border_title = "Order ticket" if self._amends is None else "Amend order"
        frame.border_subtitle = ticket_text.hint(self._state, self.market)
        for line in self.query(PlainInput):
            line.cursor_blink = False
        self.query_one("#ticket-presets").can_focus = False
        limit = self.query_one("#ticket-limit", PlainInput)
        limit.display = self._rests
        # An amended order keeps its expiry.
        self.query_one("#ticket-until").display = False
        if self._amends is not None:
            limit.value = limit_text(self._amends.price)
            self.query_one("#ticket-stop", PlainInput).value = percent_text(
                self._amends.stop_loss_pct
            )
            self.query_one("#ticket-target", PlainInput).value = percent_text(
                self._amends.take_profit_pct
            )
            self.typed_before = first_amount(self._amends)
            limit.focus()
        elif self._limit_before:
            limit.value = self._limit_before
        if self.typed_before:
            self.query_one("#ticket-amount", PlainInput).value = self.typed_before
        self._is_ready = True
        self._show()

    def on_resize(self) -> None:
        """Lay the figures out for the new width, once there is one."""
        self.call_after_refresh(self._show)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state, at wall time `now`: prices, limits, and the requested quote."""
        self._state, self._now = state, now
        self.market = state.markets.get(self.market.market_id, self.market)
        self._quoting.receive(state.quote, now)
        if self._is_done or not self._is_ready:
            return
        if self._quiet is None:
            self._request_if_due()
        self._carry_out()
        self._show()

    def action_place(self) -> None:
        """Return the order, or show why it cannot be placed.

        Only an order with its quote leaves; one that moves the price far needs a second enter.
        An enter before its quote is kept until that is here; another cancels it.
        """
        if self._is_done:
            return
        order, was_kept = self._order(), self._kept is not None
        self._take_back()
        if not isinstance(order, str) and not was_kept:
            if self._quoting.quote_age_text(order, self._now)[1]:
                self._place(order)
            else:
                self._keep(order)
        self.query_one("#ticket-problem").add_class("-asked")
        self._show()

    def _place(self, order: PlaceTrade) -> None:
        """Return an order with a present quote, after the confirmation that it needs.

        A kept enter meets a price that the person has not seen: beyond its quote the desk would
        refuse it, and the ticket would be gone.
        """
        if not self._may_leave(order):
            return
        self._before = self._objection(order)
        if not self._before:
            (self._leave if order.venue is Venue.SIM else self._confirm_real)(order)

    def _may_leave(self, order: PlaceTrade) -> bool:
        """True if the desk takes the order at its price now; else the ticket shows why not."""
        refused = preflight_size(self._state, order, self._now)
        if refused is not None:
            self._before = f"{NOT_SENT}{reason_text(refused)}"
            self._show()
        return refused is None

    def _keep(self, order: PlaceTrade) -> None:
        """Keep an enter until its quote is here, which is requested at once."""
        self._kept, self._before = (order, self._now), KEPT
        if self._quiet is not None:
            self._quiet.stop()
            self._quiet = None
        self._request_if_due()

    def _take_back(self) -> None:
        """Drop a kept enter, and show so."""
        self._before = TAKEN_BACK if self._kept is not None else ""
        self._kept = None

    def _carry_out(self) -> None:
        """Perform a kept enter, once its quote is here, or show why it cannot be placed."""
        if self._kept is None:
            return
        (kept, since), order, why = self._kept, self._order(), ""
        if isinstance(order, str):
            why = order
        elif as_quoted(order) != as_quoted(kept):
            why = "order changed, enter places it"
        elif self._quoting.quote_age_text(order, self._now)[1]:
            self._take_back()
            # The person has not seen this quote: its price is the worst acceptable one.
            self._place(bounded(order, self._quoting.newest))
            if self._is_done:
                # It closed at a moment that the person does not know.
                rest_keys(self, SENT)
            return
        elif self._now - since >= WAIT_S:
            why = f"no quote within {WAIT_S:.0f} s, enter retries"
        if why:
            self._take_back()
            self._before = f"{NOT_SENT}{why}"

    def action_venue(self) -> None:
        """Select the next venue on which the market trades, or show why there is none."""
        if self._is_amending():
            return
        venue = ticket_text.next_venue(self._state, self._draft())
        if isinstance(venue, Venue):
            self.venue = venue
            if why_no_rest(self._state, venue):
                self._set_type(OrderType.FAK)
            self._changed()
        else:
            self._show_refusal(venue)

    def action_kind(self) -> None:
        """Select the next order type, if the venue has a book; else show why not."""
        types = ticket_text.TYPES
        self._select_type(types[(types.index(self._type) + 1) % len(types)])

    def _select_type(self, chosen: OrderType) -> None:
        """Select an order type, or show why there is none but the market order."""
        if self._is_amending():
            return
        why = why_no_rest(self._state, self.venue)
        if why is not None:
            self._show_refusal(sentence(reason_text(why)))
            return
        self._set_type(chosen)
        self._changed()

    def _set_type(self, chosen: OrderType) -> None:
        """Set another order type; the focus goes to the next input."""
        self._type = chosen
        limit = self.query_one("#ticket-limit", PlainInput)
        until = self.query_one("#ticket-until", PlainInput)
        limit.display, until.display = self._rests, chosen is OrderType.GTD
        if self._rests and not limit.value:
            limit.value = first_limit(self.market, self.side, self.action)
        if chosen is OrderType.GTD and limit.value:
            until.focus()
        elif self._rests:
            limit.focus()
        elif limit.has_focus or until.has_focus:
            self.query_one("#ticket-amount").focus()

    @property
    def _rests(self) -> bool:
        """True for a limit order."""
        return self._type in LIMITS

    def _is_amending(self) -> bool:
        """True, with a message, if only price and size can be changed here."""
        if self._amends is not None:
            self._show_refusal("Amending changes price and size only")
        return self._amends is not None

    def _show_refusal(self, why: str) -> None:
        """Show a message in the ticket as well: a toast in a corner is easily missed."""
        self._no_venue = why
        self._show()
        self.post_message(ToastMessage(why, "warn"))

    def _confirm_real(self, order: PlaceTrade) -> None:
        """Open the confirmation for real money, which enter never places."""
        from service_tui.console.forms.confirm import Confirm  # noqa: PLC0415 - not at first
        from service_tui.console.forms.live_order import (  # noqa: PLC0415
            live_order,
            live_question,
        )

        bound = live_order(order, self._quoting.newest)
        if bound.price is None:
            self._show_refusal("No quote yet. Wait, or set a limit price")
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            # The person read for a while: the price may be beyond the confirmed bound by now.
            if confirmed and not self._is_done and self._may_leave(bound):
                self._leave(bound)

        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        question = live_question(bound, self._state, self._quoting.newest)
        app.push_screen(Confirm(question), answered)

    def _objection(self, order: PlaceTrade) -> str:
        """A warning to confirm before this order is placed; empty if it was seen."""
        moved, seen = self._quoting.price_move(), as_quoted(order)
        slipped = ""
        if not order.rests:
            slipped = slippage_objection(self._quoting.newest, slippage_max(self._state))
        if (not slipped and not moved >= FAR) or self._far_confirmed == seen:
            return ""
        # A key held down does not confirm a second time.
        self._second_thought = self.set_timer(SECOND_THOUGHT_S, lambda: self._see_far(seen))
        far = f"Moves the price by {100 * moved:.1f} points" if moved >= FAR else ""
        return f"{'. '.join(filter(None, (far, slipped)))}. Enter again places the order"

    def _see_far(self, order: PlaceTrade) -> None:
        self._far_confirmed = order

    def action_cancel(self) -> None:
        """Cancel a waiting enter, else leave; a typed amount needs a second escape.

        The reasoning is kept for the next ticket.
        """
        if self._is_done:
            return
        if self._kept is not None:
            self._take_back()
        elif self._has_typed() and self._before != LEAVES:
            self._before = LEAVES
        else:
            self._leave(None)
            return
        self.note_escape()
        self._show()

    def _has_typed(self) -> bool:
        """True if the person has typed an amount into the ticket."""
        amount = self._draft().amount
        return bool(amount) and amount != self.typed_before

    def action_preset(self, index: int) -> None:
        """Put a preset into the amount."""
        offered = presets(self._state, self._draft())
        line = self.query_one("#ticket-amount", PlainInput)
        line.value = offered[index][1]
        line.cursor_position = len(line.value)
        line.focus()

    def action_wider(self) -> None:
        """Put the wider stop that is offered at a low price into the stop, or show why not."""
        order = self._order()
        wider = None
        if not isinstance(order, str) and takes_exits(self._state, self._draft()):
            wider = ticket_text.wider_stop_of(self._state, self._draft(), order)
        if wider is None:
            self._show_refusal("No wider stop: enter an amount, at a price below 0.30")
            return
        self.query_one("#ticket-stop", PlainInput).value = percent_text(wider)

    def action_step(self, ticks: int) -> None:
        """Move the limit price by ticks; without one, from the best price of the own side."""
        if self._rests:
            limit = self.query_one("#ticket-limit", PlainInput)
            first = first_limit(self.market, self.side, self.action)
            typed = limit.value.strip()
            limit.value = stepped(typed, self.market.tick, ticks) if typed or not first else first
            limit.cursor_position = len(limit.value)

    def action_side(self, side: str) -> None:
        """Select a side: yes, no, or the other one."""
        if self._is_amending():
            return
        self.side = self.side.other if side == "other" else Side(side)
        self._changed()

    def action_turn(self, action: str) -> None:
        """Select buy, sell, or the other; the typed amount had the other unit and is cleared."""
        if self._is_amending():
            return
        other = Action.BUY if self.action is Action.SELL else Action.SELL
        requested = other if action == "other" else Action(action)
        if requested is not self.action:
            self.action = requested
            self.query_one("#ticket-amount", PlainInput).value = ""
            self._changed()

    @on(SegmentedControl.Picked)
    def _option_picked(self, event: SegmentedControl.Picked) -> None:
        event.stop()
        match event.choice.id:
            case "ticket-side":
                self.action_side(_SIDES[event.index].value)
            case "ticket-action":
                self.action_turn(_ACTIONS[event.index].value)
            case "ticket-kind":
                if ticket_text.TYPES[event.index] is not self._type:
                    self._select_type(ticket_text.TYPES[event.index])
            case _:
                self.action_preset(event.index)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id in _ORDERED:
            self._changed()
        else:
            self._stay()

    def on_key(self, event: events.Key) -> None:
        """Keep the ticket for any key but the cancelling one, which then does nothing else."""
        if event.key not in key_named("ticket.cancel").keys:
            if self._before == LEAVES or self.is_with_escape(event):
                event.stop()
            self._stay()

    def _stay(self) -> None:
        """Drop a first escape."""
        if self._before == LEAVES:
            self._before = ""
        self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value == event.input.value:
            self.action_place()
        else:
            # A key behind the enter was faster than the ticket: that is another order.
            self._is_overtaken = True

    @on(LightButton.Pressed)
    def _button_pressed(self, event: LightButton.Pressed) -> None:
        event.stop()
        if event.button.id == "ticket-place":
            self.action_place()
        elif not self._is_done:
            # The label names the action, and a click is no repeated key.
            self._leave(None)

    @on(PlainInput.SecretCleared)
    def _secret_cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(ToastMessage("possible secret key: cleared, not sent", "warn"))

    @property
    def _draft_name(self) -> str:
        return f"draft.{self.market.market_id}"

    def _usual_side(self) -> Side:
        """YES to buy; to sell, the side of the position."""
        held = self._state.held(self.market.market_id)
        return held[0].side if held and self.action is Action.SELL else Side.YES

    def _draft(self) -> Draft:
        return Draft(
            market=self.market,
            side=self.side,
            action=self.action,
            amount=self.query_one("#ticket-amount", PlainInput).value,
            reasoning=self.query_one("#ticket-reasoning", PlainInput).value,
            venue=self.venue,
            rests=self._rests,
            limit=self.query_one("#ticket-limit", PlainInput).value,
            amends=self._amends,
            whole=self._type is OrderType.FOK,
            until=self.query_one("#ticket-until", PlainInput).value
            if self._type is OrderType.GTD
            else None,
            stop=self.query_one("#ticket-stop", PlainInput).value,
            target=self.query_one("#ticket-target", PlainInput).value,
            worst=self.query_one("#ticket-worst", PlainInput).value,
        )

    def _order(self) -> PlaceTrade | str:
        """The order that would be placed now, or why none can be."""
        try:
            order = read_order(self._state, self._draft(), self._now)
        except FieldError as refused:
            return str(refused)
        return self._quoting.refusal(order) or order

    def _changed(self) -> None:
        """Show a change of the order at once, and request its quote now or when the keys rest."""
        self.query_one("#ticket-problem").remove_class("-asked")
        is_taken_back = self._kept is not None or self._is_overtaken
        self._before = CHANGED if is_taken_back else ""
        self._kept, self._no_venue, self._far_confirmed = None, "", None
        self._is_overtaken = False
        for timer in filter(None, (self._quiet, self._second_thought)):
            timer.stop()
        self._quiet = None
        if self._state.service.embedded:
            self._request_if_due()
        else:
            self._quiet = self.set_timer(QUIET_S, self._rested)
        self._show()

    def _rested(self) -> None:
        self._quiet = None
        if not self._is_done:
            self._request_if_due()
        self._show()

    def _request_if_due(self) -> None:
        """Request a quote, if there is an order that needs one."""
        try:
            order = read_order(self._state, self._draft(), self._now)
        except FieldError:
            return
        if self._quoting.is_due(order, self.market.price, self._now):
            question = self._quoting.request(order, self.market.price, self._now)
            self.post_message(CommandGiven(question))

    def _leave(self, order: PlaceTrade | None) -> None:
        """Close at once, so that a second enter meets no ticket."""
        self._is_done = True
        kept = self._state.preferences.get(self._draft_name, "")
        note = "" if order is not None else self._draft().reasoning
        if kept != note:
            self.post_message(CommandGiven(SetPreference(self._draft_name, note)))
        self.dismiss(order)

    def _show(self) -> None:
        """Make every part equal to the present state, while the ticket is open."""
        if self._is_done:
            return
        draft, order = self._draft(), self._order()
        self._show_market(draft)
        self._show_choices(draft)
        placed = None if isinstance(order, str) else order
        self._show_quote(draft, placed)
        self._show_exits(draft, placed)
        self._show_buttons(draft, order)
        self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        if self.is_attached and not self._is_done:
            make_room(self.query_one("#ticket"), self.query_one("#ticket-body"))

    def _show_buttons(self, draft: Draft, order: PlaceTrade | str) -> None:
        is_refused = isinstance(order, str)
        problem = self.query_one("#ticket-problem", TextBlock)
        is_notice = self._before.startswith((NOT_SENT, LEAVES, CHANGED))
        before = with_keys(self._before) if self._before in {KEPT, LEAVES} else self._before
        against = order if is_refused and not is_notice else before
        problem.show_text(self._no_venue or against)
        # An empty line is no mistake: show what to do, not a problem.
        problem.set_class(bool(self._no_venue or (draft.amount and is_refused)), "-wrong")
        place = self.query_one("#ticket-place", LightButton)
        text = (
            draft.action.value
            if is_refused
            else ticket_text.order_text(replace(order, expires_at=None))
        )
        text = "do not send" if self._kept is not None else text
        place.show_text(f"{text}  enter")
        place.disabled = is_refused

    def _show_market(self, draft: Draft) -> None:
        self.query_one("#ticket-question", TextBlock).show_text(
            formats.plain(draft.market.question)
        )
        line = ticket_text.market_line(self._state, draft, self._now)
        self.query_one("#ticket-market", TextBlock).show_text(line)

    def _show_choices(self, draft: Draft) -> None:
        at = _SIDES.index(draft.side)
        sides = ticket_text.side_labels(draft.market, draft.venue, draft.action)
        self.query_one("#ticket-side", SegmentedControl).show(sides, at)
        labels = ticket_text.action_labels(self._state, draft)
        self.query_one("#ticket-action", SegmentedControl).show(
            labels, _ACTIONS.index(draft.action)
        )
        self.query_one("#ticket-unit", TextBlock).show_text(ticket_text.unit_text(draft))
        self._show_type(draft)
        offered = presets(self._state, draft)
        labels = tuple(
            f"{cap(f'ticket.preset{place}')} {label}"
            for place, (label, _) in enumerate(offered, start=1)
        )
        self.query_one("#ticket-presets", SegmentedControl).show(labels, None)

    def _show_type(self, draft: Draft) -> None:
        """Show the order type; play money has no book, and a narrow ticket room for limits only."""
        width = self.query_one("#ticket-choices").size.width
        has_row = draft.rests or not 0 < width < ticket_text.TWO_ACROSS
        is_real = draft.venue is not Venue.SIM
        takes = takes_worst(
            self._state, draft.venue, rests=draft.rests, buys=draft.action is Action.BUY
        )
        self.query_one("#ticket-when").display = is_real and has_row
        kind = self.query_one("#ticket-kind", SegmentedControl)
        kind.show(ticket_text.type_labels(width), ticket_text.TYPES.index(draft.order_type))
        # A narrow ticket has room for a worst price that is typed only.
        is_wide = not 0 < width < ticket_text.TWO_ACROSS
        has_worst = takes and (is_wide or bool(draft.worst))
        self.query_one("#ticket-rest").display = (is_real and has_row) or has_worst
        self.query_one("#ticket-worst").display = has_worst
        label = "limit" if draft.rests else "not above" if has_worst else "book"
        self.query_one("#ticket-limit-label", TextBlock).show_text(label)
        self.query_one("#ticket-expiry").display = draft.until is not None
        expiry = ticket_text.expiry_text(draft, self._now)
        self.query_one("#ticket-expires", TextBlock).show_text(expiry)
        step = ticket_text.book_text(draft) if is_real else ticket_text.worst_text(draft)
        self.query_one("#ticket-step", TextBlock).show_text(step)

    def _show_exits(self, draft: Draft, order: PlaceTrade | None) -> None:
        """Show stop and target; a narrow ticket has room for those that are typed only."""
        width = self.query_one("#ticket-choices").size.width
        has_room = bool(draft.stop or draft.target) or not 0 < width < ticket_text.TWO_ACROSS
        row = self.query_one("#ticket-exits")
        row.display = has_room and takes_exits(self._state, draft)
        loss = ticket_text.exits_text(self._state, draft, order)
        self.query_one("#ticket-loss", TextBlock).show_text(loss)
        self.query_one("#ticket-loss").display = row.display
        amount = self.query_one("#ticket-amount", PlainInput)
        amount.placeholder = BY_RISK if takes_exits(self._state, draft) else ""

    def _show_quote(self, draft: Draft, order: PlaceTrade | None) -> None:
        block = self.query_one("#ticket-quote", TextBlock)
        quote = self._quoting.quote_of(order)
        block.show_text(ticket_text.quote_block(self._state, draft, quote, block.size.width))
        text, holds = self._quoting.quote_age_text(order, self._now)
        block.set_class(not holds, "-old")
        self.query_one("#ticket-age", TextBlock).show_text(text)


def first_amount(order: OpenOrderView) -> str:
    """The amount with which the ticket for changing an order opens: money of a buy, or shares."""
    if order.action is Action.SELL:
        return typed(order.shares, decimals=SHARE_DECIMALS)
    # An order of 20.00 at 0.60 is 33.33 shares, which reserve 19.998: still 20.00.
    return typed(_to_cent(order.money), decimals=MONEY_DECIMALS)


def _to_cent(amount: Micros) -> Micros:
    """The nearest whole cent."""
    cent = ONE // 100
    return Micros((amount + cent // 2) // cent * cent)
