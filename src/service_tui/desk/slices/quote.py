"""An indicative quote, as the ticket shows it."""

from dataclasses import dataclass

from service_tui.units import Micros


@dataclass(frozen=True, slots=True)
class QuoteView:
    """Indicative quote of an order, or the reason why it would be refused.

    `request_id` names the RequestQuote that it answers. On a buy `money` is what the shares cost,
    on a sale what they bring; the venue's `fee` comes on top of the one and off the other.
    `max_loss` and `max_win` are of this order alone, held to resolution, the fee counted. Of an
    order that may rest, `rests` shares would stay on the book; those of a buy keep `reserved`.
    `warning` is what the service says besides, such as a limit beyond which the buy would go.
    """

    request_id: int
    ok: bool
    shares: Micros = Micros(0)
    money: Micros = Micros(0)
    average: float | None = None
    price_before: float | None = None
    price_after: float | None = None
    cash_after: Micros | None = None
    max_loss: Micros | None = None
    max_win: Micros | None = None
    problem: str = ""
    fix: str = ""
    fee: Micros = Micros(0)
    rests: Micros = Micros(0)
    reserved: Micros = Micros(0)
    warning: str = ""

    @property
    def net(self) -> Micros:
        """Proceeds of a sale after the fee."""
        return Micros(self.money - self.fee)

    @property
    def slippage(self) -> float | None:
        """Distance of the average from the price before, probability points, >= 0."""
        if self.average is None or self.price_before is None:
            return None
        return abs(self.average - self.price_before)
