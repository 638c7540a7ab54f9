"""The order ticket: side, amount, what it would bring, and the order it returns.

Knows the desk's state and how to ask for a quote. Must not know how an order is carried out.
Used by the markets and portfolio screens, which hand what it returns to the app.
"""

from typing import Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input

from service_tui.console import formats
from service_tui.console.dialogs.order_draft import (
    MONEY_OF,
    Draft,
    DraftError,
    holding,
    presets,
    read_order,
)
from service_tui.console.dialogs.quote_text import quote_figures
from service_tui.console.dialogs.quoting import Quoting
from service_tui.console.figures import figures
from service_tui.console.freshness import is_private, world_now
from service_tui.console.keys import bindings_of, keys_of
from service_tui.console.messages import CommandGiven, Said
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.door import Door
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands import PlaceTrade, SetPreference
from service_tui.desk.records import MarketView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Mode, Side, Venue
from service_tui.units import Micros, Timestamp

QUIET_S: Final = 0.15
"""A quote is asked for after so long without a key. Source: decisions, "Limits in benches"."""

FAR: Final = 0.1
"""An order that moves the price so far is asked for twice."""

SECOND_THOUGHT_S: Final = 0.4
UNSEEN: Final = "wait for the quote, then enter again: nothing is placed unseen"
ENTERED: Final = "is entered: enter places it once its quote stands here, backspace changes it"
_FIGURES: Final = frozenset("0123456789.,")

TWO_ACROSS: Final = 58
"""Cells from which two columns of figures stand side by side."""

_LETTERS: Final = {key.keys[0]: key.action for key in keys_of("ticket") if len(key.keys[0]) == 1}
"""Keys that work in the amount, which holds figures only."""

_MODES: Final = {Mode.SIM: "play money", Mode.DRY: "dry run", Mode.LIVE: "real money"}
_ACTIONS: Final = (Action.BUY, Action.SELL)
_SIDES: Final = (Side.YES, Side.NO)
_VENUES: Final = tuple(Venue)


class TradeForm(ModalScreen[PlaceTrade | None]):
    """The ticket for one market. Returns the order, or None when it was left.

    It is its own confirmation on play money: enter places what stands there, once. It refuses,
    in words, whatever could not be placed. `take` brings it newer states.
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
    ) -> None:
        super().__init__()
        self._state = state
        self._now = now
        self._market = market
        self._action = action
        self._side = side or self._usual_side()
        self._quoting = Quoting()
        self._quiet: Timer | None = None
        self._before = ""
        self._far_seen: tuple[Side, Action, Micros] | None = None
        self._is_ready = False
        self._is_done = False
        self._venue = market.venue

    def compose(self) -> ComposeResult:
        """The question, what can be chosen, what it would bring, and the way out."""
        kept = self._state.preferences.get(self._draft_name, "")
        with Vertical(id="ticket"):
            with VerticalScroll(id="ticket-body", can_focus=False):
                yield Words(id="ticket-question")
                yield Words(id="ticket-market")
                with Horizontal(id="ticket-choices"):
                    yield Choice(id="ticket-side")
                    yield Choice(id="ticket-action")
                with Horizontal(id="ticket-line"):
                    yield Words(id="ticket-unit")
                    yield PlainInput(compact=True, max_length=40, id="ticket-amount")
                    yield Choice(id="ticket-presets")
                with Horizontal(id="ticket-why"):
                    yield Words("reasoning", classes="label")
                    yield PlainInput(
                        kept,
                        placeholder="optional; everybody can read it",
                        compact=True,
                        max_length=500,
                        id="ticket-reasoning",
                    )
                yield Words(id="ticket-quote")
                yield Words(id="ticket-age")
            yield Words(id="ticket-problem")
            with Horizontal(id="ticket-doors"):
                yield Door(id="ticket-place")
                yield Door("cancel  esc", id="ticket-cancel")

    def on_mount(self) -> None:
        """Show what is known; nothing is asked before an amount stands there."""
        frame = self.query_one("#ticket")
        frame.border_title = "Order ticket"
        venue = "  F7 venue" if self._state.wallet.live else ""
        frame.border_subtitle = f"F5 side  F6 buy or sell{venue}  esc cancel"
        for line in self.query(PlainInput):
            line.cursor_blink = False
        self.query_one("#ticket-amount", PlainInput).passed_on = frozenset(_LETTERS)
        self.query_one("#ticket-presets").can_focus = False
        self._is_ready = True
        self._show()

    def on_resize(self) -> None:
        """Lay the figures out for the new width, once there is one."""
        self.call_after_refresh(self._show)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state, at wall time `now`: prices, limits, and the quote asked for."""
        self._state, self._now = state, now
        self._market = state.markets.get(self._market.market_id, self._market)
        self._quoting.hear(state.quote, now)
        if self._before == UNSEEN and self._quoting.newest is not None:
            self._before = ""
        if self._is_done or not self._is_ready:
            return
        if self._quiet is None:
            self._ask_if_due()
        self._show()

    def action_place(self) -> None:
        """Return the order that stands there, or say what is against it.

        Only an order whose quote stands there leaves; one that moves the price far is asked twice.
        """
        order = self._order()
        if self._is_done:
            return
        if not isinstance(order, str):
            self._before = self._objection(order)
            self._set_entered(is_entered=self._before == UNSEEN)
            if not self._before and order.venue is not Venue.SIM:
                self._ask_for_real(order)
                return
            if not self._before:
                self._leave(order)
                return
        self.query_one("#ticket-problem").add_class("-asked")
        self._show()

    def action_venue(self) -> None:
        """Take the next venue; the real ones only while real money is switched on."""
        if not self._state.wallet.live:
            self.post_message(
                Said("real money is switched off: leave this, press 5, W, L, and type LIVE", "warn")
            )
            return
        self._venue = _VENUES[(_VENUES.index(self._venue) + 1) % len(_VENUES)]
        self._changed()

    def _ask_for_real(self, order: PlaceTrade) -> None:
        """Real money is never placed by enter: a dialog of its own shows what leaves."""
        from service_tui.console.dialogs.live_order import (  # noqa: PLC0415 - not at first
            live_order,
            live_question,
        )

        bound = live_order(order, self._quoting.newest)

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed and not self._is_done:
                self._leave(bound)

        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        app.push_screen(live_question(bound, self._state, self._quoting.newest), answered)

    def _set_entered(self, *, is_entered: bool) -> None:
        """After an enter that came before its quote, figures enlarge no amount."""
        more = _FIGURES if is_entered else frozenset[str]()
        self.query_one("#ticket-amount", PlainInput).passed_on = frozenset(_LETTERS) | more

    def _objection(self, order: PlaceTrade) -> str:
        """What to see before this order is placed; empty when it was seen."""
        if not self._quoting.age_in_words(order, self._now)[1]:
            return UNSEEN
        moved, size = self._quoting.price_move(), (order.side, order.action, order.amount)
        if not moved >= FAR or self._far_seen == size:
            return ""
        # A key held down is no second thought.
        self.set_timer(SECOND_THOUGHT_S, lambda: self._see_far(size))
        return f"this moves the price by {100 * moved:.1f} points: enter again places it"

    def _see_far(self, size: tuple[Side, Action, Micros]) -> None:
        self._far_seen = size

    def action_cancel(self) -> None:
        """Leave without an order; the reasoning is kept for the next time."""
        if not self._is_done:
            self._leave(None)

    def action_preset(self, index: int) -> None:
        """Put a preset into the amount."""
        offered = presets(self._state, self._draft())
        line = self.query_one("#ticket-amount", PlainInput)
        line.value = offered[index][1]
        line.cursor_position = len(line.value)
        line.focus()

    def action_side(self, side: str) -> None:
        """Take a side: yes, no, or the other one."""
        self._side = self._side.other if side == "other" else Side(side)
        self._changed()

    def action_turn(self, action: str) -> None:
        """Buy, sell, or the other of both; what was typed was in the other unit, so it goes."""
        other = Action.BUY if self._action is Action.SELL else Action.SELL
        wanted = other if action == "other" else Action(action)
        if wanted is not self._action:
            self._action = wanted
            self.query_one("#ticket-amount", PlainInput).value = ""
            self._changed()

    @on(Choice.Asked)
    def _choice_asked(self, event: Choice.Asked) -> None:
        event.stop()
        match event.choice.id:
            case "ticket-side":
                self.action_side(_SIDES[event.index].value)
            case "ticket-action":
                self.action_turn(_ACTIONS[event.index].value)
            case _:
                self.action_preset(event.index)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id == "ticket-amount":
            self._changed()
        else:
            self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_place()

    @on(Door.Opened)
    def _door_opened(self, event: Door.Opened) -> None:
        event.stop()
        if event.door.id == "ticket-place":
            self.action_place()
        else:
            self.action_cancel()

    @on(PlainInput.PassedOn)
    async def _letter_passed(self, event: PlainInput.PassedOn) -> None:
        event.stop()
        if event.letter in _LETTERS:
            await self.run_action(_LETTERS[event.letter])
        else:
            self._before = f"{self._draft().amount} {ENTERED}"
            self._show()

    @on(PlainInput.SecretCleared)
    def _secret_cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(Said("that looked like a secret key: it was cleared, not sent", "warn"))

    @property
    def _draft_name(self) -> str:
        return f"draft.{self._market.market_id}"

    def _usual_side(self) -> Side:
        """YES to buy; to sell, the side that is held."""
        held = self._state.held(self._market.market_id)
        return held[0].side if held and self._action is Action.SELL else Side.YES

    def _draft(self) -> Draft:
        return Draft(
            market=self._market,
            side=self._side,
            action=self._action,
            amount=self.query_one("#ticket-amount", PlainInput).value,
            reasoning=self.query_one("#ticket-reasoning", PlainInput).value,
            venue=self._venue,
        )

    def _order(self) -> PlaceTrade | str:
        """The order that would be placed now, or why none can be."""
        try:
            order = read_order(self._state, self._draft(), self._now)
        except DraftError as refused:
            return str(refused)
        return self._quoting.refusal(order) or order

    def _changed(self) -> None:
        """Something of the order changed: show that at once, ask when the keys rest."""
        self.query_one("#ticket-problem").remove_class("-asked")
        self._before, self._far_seen = "", None
        self._set_entered(is_entered=False)
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_S, self._rested)
        self._show()

    def _rested(self) -> None:
        self._quiet = None
        if not self._is_done:
            self._ask_if_due()
        self._show()

    def _ask_if_due(self) -> None:
        """Ask for a quote of what stands there, if it is an order and wants one."""
        try:
            order = read_order(self._state, self._draft(), self._now)
        except DraftError:
            return
        if self._quoting.is_due(order, self._market.price, self._now):
            question = self._quoting.ask(order, self._market.price, self._now)
            self.post_message(CommandGiven(question))

    def _leave(self, order: PlaceTrade | None) -> None:
        """Close at once, so that a second enter meets no ticket."""
        self._is_done = True
        kept = self._state.preferences.get(self._draft_name, "")
        wanted = "" if order is not None else self._draft().reasoning
        if kept != wanted:
            self.post_message(CommandGiven(SetPreference(self._draft_name, wanted)))
        self.dismiss(order)

    def _show(self) -> None:
        """Make every part equal to what is known now, while there is a ticket to see."""
        if self._is_done:
            return
        draft, order = self._draft(), self._order()
        self._show_market()
        self._show_choices(draft)
        self._show_quote(None if isinstance(order, str) else order)
        self._show_doors(draft, order)

    def _show_doors(self, draft: Draft, order: PlaceTrade | str) -> None:
        is_refused = isinstance(order, str)
        problem = self.query_one("#ticket-problem", Words)
        problem.tell(order if is_refused else self._before)
        # An empty line is no mistake: it is told what to do, not what is wrong.
        problem.set_class(bool(draft.amount) and is_refused, "-wrong")
        place = self.query_one("#ticket-place", Door)
        place.tell(f"{draft.action.value if is_refused else _in_words(order)}  enter")
        place.disabled = is_refused

    def _show_market(self) -> None:
        market, mode = self._market, self._state.service.mode
        if self._venue is not Venue.SIM:
            mode = Mode.LIVE
        self.query_one("#ticket-question", Words).tell(formats.plain(market.question))
        left = formats.until(market.resolves_at, world_now(self._state, self._now))
        line = Text.assemble(
            (mode.value, mode.value.lower()),
            (
                f" {_MODES[mode]} on {self._venue.value}",
                "muted" if mode is Mode.SIM else "bold live",
            ),
            (f"   {market.status.value}, resolves ", "muted"),
            left,
        )
        self.query_one("#ticket-market", Words).tell(line)

    def _show_choices(self, draft: Draft) -> None:
        market = self._market
        sides = tuple(f"{s.value.upper()} {formats.price(market.price_of(s))}" for s in _SIDES)
        self.query_one("#ticket-side", Choice).show(sides, _SIDES.index(draft.side))
        held = holding(self._state, market.market_id, draft.side)
        owned = formats.shares(held.shares, masked=is_private(self._state)) if held else "none held"
        self.query_one("#ticket-action", Choice).show(
            ("buy", f"sell ({owned})"), _ACTIONS.index(draft.action)
        )
        # The longer names leave no gap before the amount beside the longer word.
        verb = "spend" if draft.venue is Venue.SIM else "pay"
        unit = f"{verb} {MONEY_OF[draft.venue]}" if draft.action is Action.BUY else "sell shares"
        self.query_one("#ticket-unit", Words).tell(unit)
        offered = presets(self._state, draft)
        labels = tuple(f"F{place} {label}" for place, (label, _) in enumerate(offered, start=1))
        self.query_one("#ticket-presets", Choice).show(labels, None)

    def _show_quote(self, order: PlaceTrade | None) -> None:
        block = self.query_one("#ticket-quote", Words)
        shown = quote_figures(
            self._quoting.newest,
            self._action,
            holding(self._state, self._market.market_id, self._side),
            venue=self._venue,
            masked=is_private(self._state),
        )
        width = block.size.width or TWO_ACROSS
        across = 2 if width >= TWO_ACROSS else 1
        block.tell(figures(shown, across=across, width=width))
        words, holds = self._quoting.age_in_words(order, self._now)
        block.set_class(not holds, "-old")
        self.query_one("#ticket-age", Words).tell(words)


def _in_words(order: PlaceTrade) -> str:
    return (
        f"{order.in_words()} {MONEY_OF[order.venue]}"
        if order.action is Action.BUY
        else order.in_words()
    )
