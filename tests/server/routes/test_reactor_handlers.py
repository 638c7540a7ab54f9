"""What an agent is told of its breaker and of a signal."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.catalogue import condition_of, token_of
from service_tui.engine.events import Reacted, ReactorChanged, Settlement, SignalDismissed
from service_tui.engine.reactor.reactor import FAILED, Signal
from service_tui.engine.reactor.wallet_records import WalletRecord
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import reactor as room
from service_tui.terms import BREAKER_S, FAILURES_MAX, Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.reactor import KnownWalletBody, ReactorConfigPatch, SignalGoneBody

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


async def test_a_known_wallet_is_told_with_its_own_record() -> None:
    one = bare_service()
    first, second = ROSTER[:2]
    one.world.reactor.records.by_address[address_of(one.world.seed, second)] = WalletRecord(
        trades_count=9, bought=Micros(30 * ONE), win_count=3, loss_count=2,
        realized=Micros(-4 * ONE), last_at=Timestamp(AT - 6),
    )  # fmt: skip
    found = (await room.wallets(request_to(one))).wallets
    assert [body.label for body in found] == [wallet.label for wallet in ROSTER]
    assert found[0] == KnownWalletBody(
        address=address_of(one.world.seed, first), label=first.label, venue=first.venue,
        trades_count=0, bought=0.0, win_count=0, loss_count=0, realized_pnl=0.0,
        last_trade_at=None,
    )  # fmt: skip
    assert found[1] == KnownWalletBody(
        address=address_of(one.world.seed, second), label=second.label, venue=second.venue,
        trades_count=9, bought=30.0, win_count=3, loss_count=2, realized_pnl=-4.0,
        last_trade_at=moment(Timestamp(AT - 6)),
    )  # fmt: skip


async def test_a_changed_config_is_written_down_once_in_the_engines_own_units() -> None:
    one = bare_service()
    sent = ReactorConfigPatch.model_validate({
        "min_size": 2.5,
        "max_size": 100.0,
        "enabled": True,
        "daily_capp": 3,
    })
    asked = request_to(one, "ada", body=sent)
    body = await room.patch(asked)
    assert (body.min_size, body.enabled, body.daily_cap) == (2.5, True, 100.0)
    (warning,) = body.warnings
    assert "'daily_capp'" in warning
    changed = ReactorChanged("ada", AT, {"min_size": Micros(2_500_000), "enabled": True})
    assert one.world_store.written == [changed]
    # What is so already leaves no trace.
    assert (await room.patch(asked)).min_size == 2.5
    assert one.world_store.written == [changed]


async def test_a_signal_is_taken_out_once_by_its_id_or_its_transaction() -> None:
    one = bare_service()
    recent = {key: (BUY._replace(tx_hash="0x1"), None) for key in ("0x1:a", "0x1:b")}
    one.world.reactor.recent.update({**recent, "0x2:c": (BUY._replace(tx_hash="0x2"), None)})
    for name in ("0x1:A", "0x1", "0x1"):
        asked = request_to(one, "ada", path={"signal_id": name})
        assert await room.delete(asked) == SignalGoneBody()
    assert one.world_store.written == [
        SignalDismissed("ada", AT, "0x1:a"), SignalDismissed("ada", AT, "0x1:b")
    ]  # fmt: skip


def test_amounts_are_micros_and_what_is_finer_is_refused() -> None:
    assert room.engine_value("daily_cap", 2.5) == 2_500_000
    assert room.engine_value("min_size", 0.0) == 0
    assert room.engine_value("mirror_fraction", 0.5) == 0.5
    assert room.engine_value("enabled", True) is True  # noqa: FBT003 - a value
    for tiny in (1e-9, 0.1234567):
        with pytest.raises(Denied) as refused:
            room.engine_value("max_size", tiny)
        assert refused.value.status == 422
