"""Mirrors a signal: requests its quote, and shows it in a form before the buy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType

from service_tui.console import formats
from service_tui.console.fields import FieldError
from service_tui.console.figures import Figure, figures
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.quoting import Quoting
from service_tui.console.key_queue import rest_keys
from service_tui.console.keys import cap, with_keys
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.money_kind import mode_on, money_kind
from service_tui.console.screens.reactor.table import dearer_text, progress_text, wallet_name
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.light_button import LightButton
from service_tui.desk.commands.reactor import MirrorSignal
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    ReactorConfigView,
    SignalView,
    mirror_shares,
    to_spend,
)
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Action, Mode, Venue
from service_tui.units import Micros, Timestamp

_FIGURES: Final = frozenset({
    "shares", "price", "average", "fee", "max loss", "max profit",
})  # fmt: skip
"""Figures of the ticket that a mirror shows too; the others compare with the source's price."""

_TWO_ACROSS: Final = 56
EARLY: Final = "keys typed early were ignored: review the mirror, then press again"
UNSEEN: Final = "loading the quote"
ON_REAL_VENUE: Final = "no mirrors on a real venue: each order there is confirmed on its ticket"
TOO_DEAR: Final = "Price above the mirror's limit. A mirror would buy nothing"
PUSHES: Final = "The mirror would push the price above its limit. It would buy nothing"
SENT: Final = "mirror sent: last keys ignored"
MIRRORS_WHEN_QUOTED: Final = "mirrors when quoted; enter or {form.cancel} cancels"


# -- the quote ----------------------------------------------------------------------------------


def mirror_order(signal: SignalView) -> PlaceTrade:
    """The buy that a signal proposes, as an order of the ticket."""
    return PlaceTrade(
        market_id=signal.market_id,
        side=signal.side,
        action=Action.BUY,
        venue=signal.venue,
        amount=signal.amount,
        question=signal.question,
    )


class Preview:
    """Holds the quote for one signal; a request for another signal discards it."""

    def __init__(self) -> None:
        self._about = ""
        self._quoting = Quoting()

    def request(self, signal: SignalView, now: Timestamp) -> RequestQuote | None:
        """The quote request for a signal, if one is due."""
        if signal.signal_id != self._about:
            self._about, self._quoting = signal.signal_id, Quoting()
        order, price = mirror_order(signal), signal.price_now or signal.price
        if not self._quoting.is_due(order, price, now):
            return None
        return self._quoting.request(order, price, now)

    def receive(self, quote: QuoteView | None, now: Timestamp) -> None:
        """Keep an answer if it matches the newest request."""
        self._quoting.receive(quote, now)

    def is_seen(self, signal: SignalView, now: Timestamp) -> bool:
        """True if a current quote for exactly this mirror is shown."""
        if signal.signal_id != self._about:
            return False
        return self._quoting.quote_age_text(mirror_order(signal), now)[1]

    def refusal(self, signal: SignalView) -> str:
        """Why the service would refuse the mirror now; empty if it would not."""
        if not self._is_about(signal):
            return ""
        return self._quoting.refusal(mirror_order(signal)) or self._beyond_limit(signal)

    def _beyond_limit(self, signal: SignalView) -> str:
        """Why a play-money mirror would buy nothing: it would push the price above its limit."""
        quote = self._quoting.quote_of(mirror_order(signal))
        after = None if quote is None else quote.price_after
        is_beyond = after is not None and after > signal.price_max
        return PUSHES if is_beyond and signal.venue is Venue.SIM else ""

    def figures(
        self, signal: SignalView, config: ReactorConfigView | None, *, masked: bool
    ) -> Sequence[Figure]:
        """The quote's figures, compared with the source's price; dashes without a quote.

        They are those of the shares that the config allows, which can cost less than its amount.
        """
        quote = self._quoting.quote_of(mirror_order(signal)) if self._is_about(signal) else None
        result = quote if quote is not None and quote.ok else None
        if result is not None and config is not None:
            result = _of_shares(result, mirror_shares(signal.size, config))
        spends = to_spend(config, signal, signal.price_now) if result is None else result.money
        shown = quote_figures(result, (Action.BUY, signal.venue), None, masked=masked)
        average = None if result is None else result.average
        above = dearer_text(None if average is None else average - signal.price)
        unit = f" {MONEY_OF[signal.venue]}"
        ink = "loss" if average is not None and average > signal.price_max else ""
        return (
            *(figure for figure in shown if figure[0] in _FIGURES),
            ("above source", Text.assemble(above, (" pt", "muted"))),
            ("price limit", Text(formats.price(signal.price_max).plain, ink)),
            ("spends", Text.assemble(formats.money(spends, masked=masked), (unit, "muted"))),
        )

    def state_text_(self, signal: SignalView, now: Timestamp) -> tuple[str, str]:
        """The state of the quote, and its ink."""
        if refusal := self.refusal(signal):
            return refusal, "warn"
        if not self._is_about(signal):
            return "no quote yet", "muted"
        return self._quoting.quote_age_text(mirror_order(signal), now)[0], "muted"

    def _is_about(self, signal: SignalView) -> bool:
        return signal.signal_id == self._about


def _of_shares(quote: QuoteView, most: Micros) -> QuoteView:
    """The quote scaled down to `most` shares; unchanged if it has no more."""
    if not quote.shares > most:
        return quote
    share = most / quote.shares

    def part(amount: Micros | None) -> Micros | None:
        return None if amount is None else Micros(round(amount * share))

    money = Micros(round(quote.money * share))
    left = None if quote.cash_after is None else Micros(quote.cash_after + quote.money - money)
    return replace(
        quote,
        shares=most,
        money=money,
        fee=Micros(round(quote.fee * share)),
        max_loss=part(quote.max_loss),
        max_win=part(quote.max_win),
        cash_after=left,
    )


class SignalPane(DetailPane):
    """The pane of the row in focus; it holds the quote of that signal's mirror."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.preview = Preview()


# -- the form -----------------------------------------------------------------------------------


class _PressState(Enum):
    """What became of the newest key or click that was to send the mirror."""

    NONE = auto()
    """No key yet, or it was refused with a reason."""

    EARLY = auto()
    """It came before the form accepted keys, and was ignored."""

    UNSEEN = auto()
    """Real money: it came before the quote. The person has to press again once it is shown."""

    PENDING = auto()
    """Play money: it came before the quote. The mirror is sent with the quote."""


class MirrorForm(Form[MirrorSignal]):
    """The form that mirrors one signal: enter on play money, y on real money.

    On play money an enter before the quote has arrived is remembered: the mirror is sent with the
    quote, unless the person cancels. If the signal ends meanwhile, the form shows that and sends
    nothing.
    """

    heading: ClassVar[str] = "Mirror"
    hint: ClassVar[str] = "{form.cancel} cancels"
    body = ("form-question", "form-about", "form-preview", "form-hint")
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "set", show=False),
        Binding("y", "confirm", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp, signal: SignalView) -> None:
        super().__init__(state, now)
        self._signal = signal
        self._preview = Preview()
        self._is_gone = False
        self._press_state = _PressState.NONE

    def on_mount(self) -> None:
        """Request the quote at once; accept keys in a moment."""
        self.query_one("#form-set", LightButton).can_focus = False
        self.arm_soon()
        self._request()

    def renew(self) -> None:
        """The signal as it is now; it may have ended."""
        result = self.state.reactor.signal(self._signal.signal_id)
        self._is_gone = result is None
        self._signal = result or self._signal
        self._preview.receive(self.state.quote, self.now)
        self._request()
        if self._is_pending and not self.is_done:
            self._mirror()
            if self.is_done:
                # The form closed without a key: ignore the keys that were meant for it.
                rest_keys(self, SENT)

    def refresh_form(self) -> None:
        """Show the key of the mirror only while it works."""
        super().refresh_form()
        if not self.is_done:
            button = self.query_one("#form-set", LightButton)
            key = "" if button.disabled else f"  {'y' if self._is_live else 'enter'}"
            button.show_text(f"mirror{key}")

    def validate(self) -> MirrorSignal:
        """The command that mirrors the signal."""
        signal = self._signal
        why = self._ended()
        if why:
            leaves = f"{cap('form.cancel')} leaves"
            raise FieldError(f"{why}: nothing mirrored, {leaves}")
        if signal.is_too_dear:
            raise FieldError(TOO_DEAR)
        refused = self._preview.refusal(signal)
        if refused:
            raise FieldError(refused)
        return MirrorSignal(signal.signal_id, signal.question)

    def _ended(self) -> str:
        """Why the signal can no longer be mirrored; empty if it can."""
        if self._is_gone:
            return "signal gone"
        return "" if self._signal.can_mirror(self.now) else ended_text(self._signal)

    def describe(self, result: MirrorSignal | None) -> Mapping[str, Shown]:
        """The signal, and its quote."""
        del result
        signal = self._signal
        mode = mode_on(self.state, signal.venue)
        about = Text.assemble(
            (signal.side.value.upper(), signal.side.value), "  ",
            progress_text(signal, self.now), "  ",
            wallet_name(signal.label, signal.wallet, masked=self.masked), (" paid ", "muted"),
            formats.price(signal.price), ("   ", ""), (mode.value, mode.value.lower()),
            (f" {money_kind(self.state, signal.venue)}", "muted"),
        )  # fmt: skip
        width = self.text_width
        across = 2 if width >= _TWO_ACROSS else 1
        shown = self._preview.figures(signal, self.state.reactor.config, masked=self.masked)
        return {
            "form-question": formats.plain(signal.question),
            "form-about": about,
            "form-preview": figures(shown, across=across, width=width),
            "form-hint": self._hint(),
        }

    def _hint(self) -> Text:
        """The state of the quote, or of a key that was pressed before it."""
        text, ink = self._preview.state_text_(self._signal, self.now)
        match self._press_state:
            case _PressState.EARLY:
                text, ink = EARLY, "warn"
            case _PressState.UNSEEN if not self._preview.is_seen(self._signal, self.now):
                text, ink = UNSEEN, "warn"
            case _PressState.PENDING if not self._preview.is_seen(self._signal, self.now):
                text, ink = with_keys(MIRRORS_WHEN_QUOTED), "warn"
            case _:
                pass
        return Text(text, ink)

    def action_set(self) -> None:
        """Mirror on play money, now or once quoted; a second enter cancels a pending mirror."""
        if not self.is_armed:
            self._refuse_early()
        elif not self._is_live:
            (self._cancel_pending if self._is_pending else self._mirror)()

    def action_cancel(self) -> None:
        """Cancel a mirror that is pending until its quote, else leave."""
        if self._is_pending:
            self._cancel_pending()
        else:
            super().action_cancel()

    def _cancel_pending(self) -> None:
        self._press_state = _PressState.NONE
        self.refresh_form()

    def action_confirm(self) -> None:
        """Mirror for real money."""
        if self.is_armed:
            self._mirror()
        else:
            self._refuse_early()

    def _refuse_early(self) -> None:
        """Show that a key or a click typed ahead mirrored nothing."""
        self._press_state = _PressState.EARLY
        self.refresh_form()

    @on(LightButton.Pressed, "#form-set")
    def _button_pressed(self, event: LightButton.Pressed) -> None:
        event.stop()
        # The base class would close the form, and cancel a mirror that awaits its quote.
        event.prevent_default()
        self.action_confirm()

    def _mirror(self) -> None:
        """Finish with the mirror if its quote is shown; else show the problem, or await it."""
        result = self.result_or_problem()
        if self.is_done:
            return
        if not isinstance(result, str) and self._preview.is_seen(self._signal, self.now):
            self.finish(result)
            return
        self.query_one("#form-problem").add_class("-asked")
        if isinstance(result, str):
            self._press_state = _PressState.NONE
        else:
            # Real money needs a key that is pressed while the quote is seen.
            self._press_state = _PressState.UNSEEN if self._is_live else _PressState.PENDING
        self.refresh_form()
        if isinstance(result, str):
            self.post_message(ToastMessage(f"nothing mirrored: {result}", "warn"))

    @property
    def _is_pending(self) -> bool:
        return self._press_state is _PressState.PENDING

    @property
    def _is_live(self) -> bool:
        return mode_on(self.state, self._signal.venue) is Mode.LIVE

    def _request(self) -> None:
        if self.is_done or self._is_gone or not self._signal.can_mirror(self.now):
            return
        question = self._preview.request(self._signal, self.now)
        if question is not None:
            self.post_message(CommandGiven(question))


def ended_text(signal: SignalView) -> str:
    """The end of a signal that cannot be mirrored, in a few words."""
    if signal.state.value == "pending":
        return "signal expired"
    state_text_ = formats.plain(signal.detail, 80).plain
    return f"{signal.state.value}{f', {state_text_}' if state_text_ else ''}"
