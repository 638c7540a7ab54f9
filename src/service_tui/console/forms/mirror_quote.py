"""What mirroring the signal in focus would bring, seen before it is bought."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure
from service_tui.console.forms.order_draft import MONEY_OF
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.quoting import Quoting
from service_tui.console.signal_text import dearer_text
from service_tui.desk.commands.trading import AskQuote, PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import SignalView
from service_tui.terms import Action
from service_tui.units import Timestamp

_WANTED: Final = frozenset({
    "shares", "price", "average", "fee", "most you lose", "most you win",
})  # fmt: skip
"""Figures of the ticket that say something of a mirror; the rest is measured at the source."""


def mirror_order(signal: SignalView) -> PlaceTrade:
    """The buy that a signal proposes, as the ticket would write it."""
    return PlaceTrade(
        market_id=signal.market_id,
        side=signal.side,
        action=Action.BUY,
        venue=signal.venue,
        amount=signal.amount,
        question=signal.question,
    )


class Preview:
    """The quote for one signal; another signal in focus begins anew."""

    def __init__(self) -> None:
        self._about = ""
        self._quoting = Quoting()

    def ask(self, signal: SignalView, now: Timestamp) -> AskQuote | None:
        """The question to send for a signal, if one is due."""
        if signal.signal_id != self._about:
            self._about, self._quoting = signal.signal_id, Quoting()
        order, price = mirror_order(signal), signal.price_now or signal.price
        if not self._quoting.is_due(order, price, now):
            return None
        return self._quoting.ask(order, price, now)

    def hear(self, quote: QuoteView | None, now: Timestamp) -> None:
        """Keep an answer if it is one to the newest question."""
        self._quoting.hear(quote, now)

    def is_seen(self, signal: SignalView, now: Timestamp) -> bool:
        """Whether a quote of now stands there for exactly this mirror."""
        if signal.signal_id != self._about:
            return False
        return self._quoting.age_in_words(mirror_order(signal), now)[1]

    def refusal(self, signal: SignalView) -> str:
        """Why the service would refuse it now; empty if it did not say so."""
        return self._quoting.refusal(mirror_order(signal)) if self._is_about(signal) else ""

    def figures(self, signal: SignalView, *, masked: bool) -> Sequence[Figure]:
        """What it would bring, measured at the source; dashes until a quote is there."""
        quote = self._quoting.quote_of(mirror_order(signal)) if self._is_about(signal) else None
        found = quote if quote is not None and quote.ok else None
        shown = quote_figures(found, (Action.BUY, signal.venue), None, masked=masked)
        average = None if found is None else found.average
        above = dearer_text(None if average is None else average - signal.price)
        unit = f" {MONEY_OF[signal.venue]}"
        ink = "loss" if average is not None and average > signal.price_max else ""
        return (
            *(figure for figure in shown if figure[0] in _WANTED),
            ("above source", Text.assemble(above, (" pt", "muted"))),
            ("pays at most", Text(formats.price(signal.price_max).plain, ink)),
            ("spends", Text.assemble(formats.money(signal.amount, masked=masked), (unit, "muted"))),
        )

    def words(self, signal: SignalView, now: Timestamp) -> tuple[str, str]:
        """How the quote stands, and in which ink."""
        if refusal := self.refusal(signal):
            return refusal, "warn"
        if not self._is_about(signal):
            return "no quote yet", "muted"
        return self._quoting.age_in_words(mirror_order(signal), now)[0], "muted"

    def _is_about(self, signal: SignalView) -> bool:
        return signal.signal_id == self._about
