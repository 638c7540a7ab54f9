"""What the numbers of a signal and of a wallet are made of: formula, inputs, source, age."""

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.screens.reactor.rows import ReactorRow
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.reactor import SignalView, WalletView
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp

_HERE = "worked out here"

_AMOUNT = (
    "the smaller of source size x fraction and one mirror, x source price; cut to one trade's "
    "limit and to what is left of the day, in whole cents; signals that wait have spent nothing"
)
_COST = "what its order was placed for"


def reactor_numbers(row: ReactorRow, state: DeskState, now: Timestamp) -> tuple[Explanation, ...]:
    """Amount, bound and drift of a signal; P&L and slippage of a wallet's mirrors."""
    since = age_s(state, Topic.REACTOR, now)
    age = formats.age(None if since is None else Timestamp(now - since), now)
    if isinstance(row, WalletView):
        return _wallet(row, age, masked=is_private(state))
    return _signal(row, state, age)


def _signal(row: SignalView, state: DeskState, age: Text) -> tuple[Explanation, ...]:
    masked = is_private(state)
    size = ("source size", formats.shares(row.size, masked=masked))
    price = ("source price", formats.price(row.price))
    config = state.reactor.config
    sizes = () if config is None else (
        ("mirror fraction", formats.percent(config.mirror_fraction, 2)),
        ("one mirror, shares", formats.shares(config.max_size, masked=masked)),
        ("one trade, $", formats.money(_one_trade(row, state), masked=masked)),
        ("left of the day, $", formats.money(state.reactor.day_left, masked=masked)),
    )  # fmt: skip
    buffer = None if config is None else config.price_buffer
    return (
        Explanation(
            "mirror, $",
            formats.money(row.amount, masked=masked),
            _COST if row.shares else _AMOUNT,
            (("shares bought", formats.shares(row.shares, masked=masked)),)
            if row.shares
            else (size, price, *sizes),
            "as the service says (signals)",
            age,
        ),
        Explanation(
            "pays at most",
            formats.price(row.price_max),
            "source price x (1 + buffer), 0.999 at most",
            (price, ("buffer", formats.percent(buffer, 2))),
            _HERE,
            age,
        ),
        Explanation(
            "drift, points",
            formats.points(row.drift),
            "price now - source price; above 0 the mirror pays more than the source did",
            (("price now", formats.price(row.price_now)), price),
            "worked out here from the markets",
            age,
        ),
        Explanation(
            "P&L, $",
            formats.pnl(row.pnl, masked=masked),
            "shares bought x price now - what they cost, as if held until now",
            (
                ("shares bought", formats.shares(row.shares, masked=masked)),
                ("cost, $", formats.money(row.cost, masked=masked)),
                ("price now", formats.price(row.price_now)),
            ),
            _HERE,
            age,
        ),
    )


def _one_trade(row: SignalView, state: DeskState) -> Micros | None:
    """The most that one trade may spend on the signal's venue; None where that is not known."""
    rails = state.rails
    if rails is None:
        return None
    return rails.sim_trade_max if row.venue is Venue.SIM else rails.max_trade


def _wallet(row: WalletView, age: Text, *, masked: bool) -> tuple[Explanation, ...]:
    tally = row.tally
    spent = ("spent, $", formats.money(tally.spent, masked=masked))
    shares = ("shares", formats.shares(tally.shares, masked=masked))
    return (
        Explanation(
            "P&L, $",
            formats.pnl(tally.pnl, masked=masked),
            "the sum over its mirrors of shares x price now - cost; where a price is not known, 0",
            (("mirrored", formats.count(tally.mirrored_count)), spent),
            _HERE,
            age,
        ),
        Explanation(
            "slip, points",
            formats.points(tally.slippage),
            "(spent - the same shares at the source's prices) / shares",
            (
                spent,
                ("at the source's prices, $", formats.money(tally.source_cost, masked=masked)),
                shares,
            ),
            _HERE,
            age,
        ),
    )
