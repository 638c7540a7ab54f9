"""The quote of a mirror: of this signal and amount, young enough, and within its limit."""

from dataclasses import replace

from kit.samples.desk import NOW
from kit.samples.reactor import reactor_state, waiting
from service_tui.console.screens.reactor.mirror import PUSHES, Preview, mirror_order
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import SignalView
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = reactor_state()
SIGNAL, OTHER = waiting(0, STATE), waiting(1, STATE)


def quoted(signal: SignalView = SIGNAL, **other: object) -> Preview:
    """A preview with the answer to its request."""
    preview = Preview()
    request = preview.request(signal, NOW)
    assert request is not None
    given = {"average": 0.5, "price_before": 0.4, "price_after": signal.price_max}
    preview.receive(QuoteView(request.request_id, **{"ok": True, **given, **other}), NOW)
    return preview


def test_the_order_of_a_mirror_is_a_buy_of_its_signal() -> None:
    order = mirror_order(replace(SIGNAL, venue=Venue.EVM))
    assert (order.market_id, order.question) == (SIGNAL.market_id, SIGNAL.question)
    assert (order.side, order.venue) == (SIGNAL.side, Venue.EVM)
    assert (order.action, order.amount) == (Action.BUY, SIGNAL.amount)


def test_a_quote_is_seen_of_the_signal_that_it_was_asked_for_alone() -> None:
    preview = quoted()
    assert preview.is_seen(SIGNAL, NOW)
    assert not preview.is_seen(OTHER, NOW)
    # The same mirror of another signal is another mirror.
    assert not preview.is_seen(replace(SIGNAL, signal_id="0xother"), NOW)
    assert not preview.is_seen(replace(SIGNAL, amount=Micros(SIGNAL.amount + 1)), NOW)
    assert not preview.is_seen(SIGNAL, Timestamp(NOW + 60))
    assert not Preview().is_seen(SIGNAL, NOW)


def test_a_quote_is_requested_once_for_each_signal() -> None:
    preview = quoted()
    assert preview.request(SIGNAL, NOW) is None
    assert preview.request(OTHER, NOW) is not None
    assert not preview.is_seen(SIGNAL, NOW)


def test_an_order_that_pushes_the_price_too_far_buys_nothing_on_play_money() -> None:
    beyond = SIGNAL.price_max + 1e-6
    assert not quoted().refusal(SIGNAL)
    preview = quoted(price_after=beyond)
    assert preview.refusal(SIGNAL) == PUSHES
    assert preview.state_text_(SIGNAL, NOW) == (PUSHES, "warn")
    assert not preview.refusal(OTHER)
    real = replace(SIGNAL, venue=Venue.EVM)
    assert not quoted(real, price_after=beyond).refusal(real)
    assert not quoted(price_after=None).refusal(SIGNAL)


def test_what_the_service_would_refuse_is_told() -> None:
    preview = quoted(ok=False, problem="market closed")
    assert preview.refusal(SIGNAL).startswith("market closed")
    assert preview.state_text_(OTHER, NOW) == ("no quote yet", "muted")
    assert quoted().state_text_(SIGNAL, NOW) == ("indicative quote", "muted")


def test_the_figures_are_measured_at_the_source() -> None:
    signal = replace(SIGNAL, price=0.45, price_max=0.6, amount=Micros(7 * ONE))
    shown = dict(
        quoted(signal, average=0.5, money=signal.amount).figures(signal, None, masked=False)
    )
    assert shown["above source"].plain.startswith("+5.0")
    assert (shown["price limit"].plain, shown["price limit"].style) == ("0.600", "")
    assert shown["spends"].plain == "7.00 $SIM"
    dear = dict(quoted(signal, average=0.61).figures(signal, None, masked=True))
    assert dear["price limit"].style == "loss"
    assert "7.00" not in dear["spends"].plain
    unseen = dict(quoted(signal).figures(OTHER, None, masked=False))
    assert "0.5" not in unseen["above source"].plain


def test_the_figures_are_of_the_shares_that_the_config_allows() -> None:
    config = STATE.reactor.config
    assert config is not None
    config = replace(config, mirror_fraction=0.1, max_size=Micros(50 * ONE))
    signal = replace(SIGNAL, size=Micros(13_570_000), amount=Micros(420_000), price_now=0.26)
    whole = {
        "shares": Micros(1_570_000), "money": Micros(420_000), "average": 0.2675,
        "max_loss": Micros(420_000), "max_win": Micros(1_150_000),
        "cash_after": Micros(10 * ONE),
    }  # fmt: skip
    shown = {name: text.plain for name, text in quoted(signal, **whole).figures(
        signal, config, masked=False
    )}  # fmt: skip
    assert shown["shares"] == "1.36"
    assert shown["spends"] == "0.36 $SIM"
    assert shown["max loss"] == "-0.36 $SIM"
    # Before there is a quote, by the price of now.
    unseen = dict(Preview().figures(signal, config, masked=False))
    assert unseen["spends"].plain == "0.35 $SIM"
