"""What an agent is told of its breaker and of a signal."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.catalogue import condition_of, token_of
from service_tui.engine.events import Reacted, Settlement
from service_tui.engine.reactor.reactor import FAILED, Signal
from service_tui.server.routes import reactor as room
from service_tui.terms import BREAKER_S, FAILURES_MAX, Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment

BUY: Final = Settlement(
    "0x1", "0xAnn", "Ann", Venue.EVM, "m1", 4, 11, Side.NO, Action.BUY, Micros(100 * ONE), 0.4,
    Micros(0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("failures", "ago_s", "state"),
    [
        (FAILURES_MAX - 1, 5, "running"),
        (FAILURES_MAX, 5, "paused"),
        (FAILURES_MAX, BREAKER_S, "running"),
    ],
)
def test_a_breaker_says_since_when_and_until_when_it_is_open(
    failures: int, ago_s: float, state: str
) -> None:
    one = bare_service()
    at = Timestamp(AT - ago_s)
    for _ in range(failures):
        one.world.reactor.apply(Reacted("ada", at, "0x1", FAILED, {}))
    body = room.breaker_body(request_to(one, "ada"), one.world.agents["ada"])
    is_open = state == "paused"
    assert (body.state, body.failures_max, body.skipped) == (state, FAILURES_MAX, 0)
    assert body.failures == (0 if ago_s == BREAKER_S else failures)
    assert body.paused_at == (moment(at) if is_open else None)
    assert body.resets_at == (moment(Timestamp(at + BREAKER_S)) if is_open else None)


@pytest.mark.parametrize("changes", [{}, {"venue": Venue.SOL}, {"side": Side.YES},
                                     {"action": Action.SELL}])  # fmt: skip
def test_a_signal_names_the_trade_that_it_follows_and_its_own_money(
    changes: dict[str, Any],
) -> None:
    settled = BUY._replace(**changes)
    listing = listed(bare_world(), home=Venue.EVM).listing
    signal = Signal(
        "0x1:id", settled, listing, Venue.SIM, Micros(10 * ONE), Timestamp(AT + 3),
        Timestamp(AT + 63),
    )  # fmt: skip
    body = room.signal_body(signal)
    side, action = settled.side, settled.action.value.upper()
    assert (body.signal_id, body.tx_hash, body.venue) == ("0x1:id", "0x1", Venue.SIM)
    assert (body.taker_wallet, body.taker_label) == ("0xAnn", "Ann")
    assert (body.taker_side, body.taker_size, body.taker_price) == (action, 100.0, 0.4)
    assert (body.market_id, body.side, body.action) == ("m1", side, settled.action)
    # The money of the mirror, not that of the trade.
    assert body.amount == 10.0
    assert (body.created_at, body.expires_at) == (
        moment(Timestamp(AT + 3)), moment(Timestamp(AT + 63))
    )  # fmt: skip
    whale = body.whale
    assert (whale.wallet, whale.side, whale.size, whale.price) == ("0xAnn", action, 100.0, 0.4)
    assert whale.outcome == ("Yes" if side is Side.YES else "No")
    if settled.venue is Venue.EVM:
        tokens = {token_of("m1", side, neg_risk=neg_risk) for neg_risk in (True, False)}
        assert (whale.token in tokens, whale.condition_id) == (True, condition_of("m1"))
    else:
        assert (whale.token, whale.condition_id) == ("", "")
