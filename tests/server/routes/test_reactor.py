"""The reactor over the wire: config, signals, mirrors, the breaker, and what a restart keeps."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.desk.reactor import ANN, settle
from kit.engine.bare import AT, bare_world, listed
from kit.engine.recorded import BEGIN, DAY, HOUR, WALLETS, write
from kit.engine.topics import TOPICS
from kit.service.bare import bare_service, request_to
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.addresses import checksummed
from service_tui.client.errors import NotFoundError
from service_tui.clock import ManualClock
from service_tui.engine.books.catalogue import condition_of, token_of
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.events import Reacted, ReactorChanged, Settlement, SignalDismissed
from service_tui.engine.reactor.reactor import FAILED, Signal
from service_tui.engine.reactor.wallet_records import WalletRecord
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import reactor as room
from service_tui.server.world_store import restore
from service_tui.storage.history_file import HistoryFile, history_path
from service_tui.terms import BREAKER_S, FAILURES_MAX, Action, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import DESK_RESET_REACTOR, DESK_WALLETS, STEP
from service_tui.wire.endpoints.public import (
    DELETE_SIGNAL,
    PATCH_REACTOR,
    PENDING_SIGNALS,
    PLACE_TRADE,
    POST_REACTION,
    REACTIONS,
    REACTOR,
    REGISTER,
)
from service_tui.wire.reactor import (
    KnownWalletBody,
    PendingQuery,
    ReactorConfigPatch,
    SignalGoneBody,
)

pytestmark = pytest.mark.slow

Json = dict[str, Any]

FOLLOWING: Final = {
    "wallets": [ANN],
    "enabled": True,
    "mirror_fraction": 0.5,
    "max_size": 100,
    "daily_cap": 100,
}


async def told(stage: Stage, count: int = 1, **fields: object) -> list[str]:
    """Settlements of the first wallet in the market of the chain that stays open longest."""
    market = max(
        (one for one in stage.open_markets() if one.listing.home is Venue.EVM),
        key=lambda one: one.listing.resolves_at,
    )
    return await settle(stage, count, (market,), **fields)


async def pending(line: Line, **query: str) -> list[Json]:
    said = await line.said(PENDING_SIGNALS, **query)
    found: list[Json] = said["reactor_signals"]
    return found


def mirror_of(signal: Json, price: float) -> Json:
    return {
        "market_id": signal["market_id"],
        "side": signal["side"],
        "amount": signal["amount"],
        "venue": signal["venue"],
        "price": price,
        "source": "sdk:copytrading:reactor",
        "signal_data": {"signal_source": "reactor", "tx_hash": signal["tx_hash"]},
    }


async def fail(line: Line, times: int = 1) -> Json:
    said: Json = {}
    for _ in range(times):
        said = await line.said(POST_REACTION, json={"event_tx_hash": "0x1", "decision": "failed"})
    breaker: Json = said["breaker"]
    return breaker


async def test_nothing_is_followed_before_anybody_chose(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        said = await line_to(stage).said(REACTOR)
        assert said["breaker"]["state"] == "running"
        assert (said["wallets"], said["enabled"], said["price_buffer"]) == ([], False, 0.02)
        assert (said["daily_spent"], said["signal_ttl_s"]) == (0, 60)


async def test_a_signal_has_the_names_of_the_spec_and_of_the_published_skill(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        (tx_hash,) = await told(stage)
        (signal,) = await pending(line)
        market = stage.world.markets[signal["market_id"]]
        price = signal["taker_price"]
        assert signal["amount"] == pytest.approx(20 * price, abs=0.01)
        assert {name: signal[name] for name in ("tx_hash", "signal_id", "type", "venue")} == {
            "tx_hash": tx_hash,
            "signal_id": tx_hash,
            "type": "copytrade",
            "venue": "sim",
        }
        assert (signal["taker_wallet"], signal["taker_label"]) == (ANN, ROSTER[0].label)
        whale = signal["whale"]
        assert whale["token"].isdecimal()
        assert len(whale["condition_id"]) == 66
        assert whale["market_slug"].endswith(f"{market.listing.slot}-{market.listing.number}")
        assert whale == whale | {
            "wallet": ANN,
            "side": "BUY",
            "size": 40,
            "price": price,
            "market_title": market.listing.question,
            "outcome": "Yes",
        }


async def test_our_own_client_reads_what_the_service_says(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        patch = ReactorConfigPatch(wallets=(ANN.lower(),), enabled=True, mirror_fraction=1.0)
        config = (await stage.client.call(PATCH_REACTOR, body=patch)).answer
        assert config.wallets == (ANN,)
        hashes = await told(stage, 2, leg=0)
        assert (await stage.client.call(PENDING_SIGNALS)).answer.reactor_signals == ()
        asked = await stage.client.call(PENDING_SIGNALS, query=PendingQuery(caps="maker"))
        found = asked.answer.reactor_signals
        assert [one.tx_hash for one in found] == hashes
        assert all(one.expires_at and one.whale for one in found)
        # An id with colons, an address and a token of 78 digits travels in the path.
        name = found[0].signal_id or ""
        assert name.count(":") == 4
        assert len(name) > 180
        assert (await stage.client.call(DELETE_SIGNAL, path={"signal_id": name})).answer.ok
        asked = await stage.client.call(PENDING_SIGNALS, query=PendingQuery(caps="maker"))
        assert [one.tx_hash for one in asked.answer.reactor_signals] == hashes[1:]
        with pytest.raises(NotFoundError):
            await stage.client.call(DELETE_SIGNAL, path={"signal_id": "0x77"})


async def test_a_mirror_settles_what_is_left_of_the_cap(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        await told(stage, 3)
        first, second, third = await pending(line)
        cap = round(2 * first["amount"] + 1, 2)
        await line.said(PATCH_REACTOR, json={"daily_cap": cap})
        amounts = [one["amount"] for one in await pending(line)]
        # What waits has spent nothing.
        assert amounts == [one["amount"] for one in (first, second, third)]
        said = await line.said(PLACE_TRADE, json=mirror_of(first, 0.999))
        assert said["success"], said["error"]
        await line.said(PATCH_REACTOR, json={"daily_cap": first["amount"] + 1})
        # The next one finds what is left, and the cap refuses more.
        assert [one["amount"] for one in await pending(line)][1:] == [1.0, 1.0]
        more = await line.said(PLACE_TRADE, json=mirror_of(second, 0.999))
        assert (more["success"], more["error_code"]) == (False, "DAILY_LIMIT")
        config = await line.said(REACTOR)
        assert config["daily_spent"] == first["amount"] == said["cost"]
        await line.said(DELETE_SIGNAL, path={"signal_id": first["tx_hash"]})
        assert [one["tx_hash"] for one in await pending(line)] == [
            second["tx_hash"],
            third["tx_hash"],
        ]
        # Midnight UTC gives the cap back.
        stage.clock.set(stage.clock.now() + 86_400.0)
        assert (await line.said(REACTOR))["daily_spent"] == 0


async def test_the_bound_of_a_mirror_is_honoured_on_sim(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        await told(stage)
        (signal,) = await pending(line)
        refused = await line.said(
            PLACE_TRADE, json=mirror_of(signal, round(signal["taker_price"] * 0.97, 6))
        )
        assert (refused["success"], refused["error_code"]) == (False, "PRICE_BEYOND_LIMIT")
        assert (await line.said(REACTOR))["daily_spent"] == 0
        assert await pending(line) == [signal]


@pytest.mark.parametrize(
    ("config", "most"), [({"max_size": 100, "mirror_fraction": 1.0}, 40), ({"max_size": 7.5}, 7.5)]
)
@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_mirror_buys_no_more_shares_where_the_price_has_fallen(
    tmp_path: Path, config: Json, most: float, *, dry_run: bool
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING | config)
        # The wallet paid .95, and the market stands far below by now.
        await told(stage, price=0.95)
        (signal,) = await pending(line)
        body = mirror_of(signal, 0.999) | {"dry_run": dry_run}
        said = await line.said(PLACE_TRADE, json=body)
        assert (said["success"], said["shares"], said["shares_requested"]) == (True, most, most)
        assert 0 < said["cost"] < signal["amount"]
        # The cap of the day is charged with what was spent, and any other buy is by its money.
        spent = (await line.said(REACTOR))["daily_spent"]
        assert spent == (0 if dry_run else said["cost"])
        other = {name: one for name, one in body.items() if name != "signal_data"}
        whole = await line.said(PLACE_TRADE, json=other)
        assert (whole["cost"], whole["shares"] > most) == (signal["amount"], True)


@pytest.mark.parametrize(("change", "most"), [({}, 7.5), ({"side": "no"}, 7.5)])
async def test_a_mirror_whose_source_is_forgotten_keeps_within_the_largest(
    tmp_path: Path, change: Json, most: float
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING | {"max_size": most})
        await told(stage)
        (signal,) = await pending(line)
        body = mirror_of(signal | {"tx_hash": "0xab", "amount": 20}, 0.999) | change
        assert (await line.said(PLACE_TRADE, json=body))["shares"] == most


async def test_a_signal_waits_for_the_time_that_is_set(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        stage.sim.service.signal_ttl_s = 5.0
        line = line_to(stage)
        said = await line.said(PATCH_REACTOR, json=FOLLOWING)
        assert said["signal_ttl_s"] == 5
        await told(stage)
        await stage.clock.advance(4.0)
        assert len(await pending(line)) == 1
        await stage.clock.advance(1.0)
        assert await pending(line) == []


async def test_everything_survives_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        hashes = await told(stage, 2)
        first, _ = await pending(line)
        await line.said(PLACE_TRADE, json=mirror_of(first, 0.999))
        await line.said(DELETE_SIGNAL, path={"signal_id": hashes[0]})
        await fail(line, 4)
        before = await line.said(REACTOR), await pending(line), await line.said(REACTIONS)
        key, agent_id = stage.key, stage.agent_id
        # What a kill at this very moment would leave on disk is the same.
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert dumps(fields_of(found[0])) == dumps(fields_of(stage.world))
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        line = line_to(stage)
        after = await line.said(REACTOR), await pending(line), await line.said(REACTIONS)
        assert after == before
        # The fifth failure after the restart opens the breaker, and that survives as well.
        assert (await fail(line))["state"] == "paused"
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        line = line_to(stage)
        assert (await line.said(REACTOR))["breaker"]["state"] == "paused"
        assert await pending(line) == []
        clock.set(clock.now() + 3_600.0)
        assert (await line.said(REACTOR))["breaker"]["state"] == "running"
        newest = (await line.said(REACTIONS, limit=5))["reactions"]
        assert [one["decision"] for one in newest] == ["reset", *["failed"] * 4]


async def test_the_operator_closes_the_breaker_and_nobody_else(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        assert (await fail(line, 5))["state"] == "paused"
        path = {"agent_id": stage.agent_id}
        assert (await line.ask(DESK_RESET_REACTOR, path=path)).status_code == 401
        operator = Line(stage, OPERATOR)
        said = await operator.said(DESK_RESET_REACTOR, path=path)
        assert (said["breaker"]["state"], said["breaker"]["failures"]) == ("running", 0)
        await told(stage)
        assert len(await pending(line)) == 1
        # Asked again it changes nothing.
        before = dumps(fields_of(stage.world))
        await operator.said(DESK_RESET_REACTOR, path=path)
        assert dumps(fields_of(stage.world)) == before


async def test_a_config_that_is_already_so_leaves_no_trace(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        said = await line.said(PATCH_REACTOR, json=FOLLOWING)
        before = dumps(fields_of(stage.world))
        for body in (FOLLOWING, {}, {"wallets": None, "venue": None, "enabled": None}):
            assert await line.said(PATCH_REACTOR, json=body) == said
        assert dumps(fields_of(stage.world)) == before


@pytest.mark.parametrize("name", ["wallets", "mirror_fraction", "daily_cap", "price_buffer"])
async def test_one_bad_field_keeps_the_good_ones_from_changing(tmp_path: Path, name: str) -> None:
    bad = {"wallets": [ANN, ANN], "mirror_fraction": 2, "daily_cap": -1, "price_buffer": 0.3}
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        response = await line.ask(
            PATCH_REACTOR, json={"enabled": True, "min_size": 5} | {name: bad[name]}
        )
        assert response.status_code == 422
        assert response.json()["detail"][0]["loc"][:2] == ["body", name]
        assert (await line.said(REACTOR))["enabled"] is False


async def test_each_agent_has_a_reactor_of_its_own(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING)
        born = await line.said(REGISTER, json={"name": "other"})
        other = Line(stage, born["api_key"])
        await other.said(PATCH_REACTOR, json=FOLLOWING)
        hashes = await told(stage, 2)
        await line.said(DELETE_SIGNAL, path={"signal_id": hashes[0]})
        await fail(line, 5)
        assert await pending(line) == []
        assert [one["tx_hash"] for one in await pending(other)] == hashes
        assert (await other.said(REACTIONS))["reactions"] == []


async def test_a_venue_answers_in_the_name_by_which_it_was_called(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        said = await line.said(PATCH_REACTOR, json=FOLLOWING | {"venue": "polymarket"})
        assert said["venue"] == "polymarket"
        assert (await line.said(REACTOR))["venue"] == "evm_venue"
        await told(stage)
        (signal,) = await pending(line)
        assert signal["venue"] == "evm_venue"


async def test_what_others_say_of_a_signal_comes_back_harmless(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        nasty = "\x1b]0;title\x07a\x1b[31mb\u202ec\x00\td"
        body = {"event_tx_hash": "0x1", "decision": "failed", "reason": nasty, "outcome": nasty}
        await line.said(POST_REACTION, json=body | {"taker_price": 0.25, "trade_id": "t1"})
        (row,) = (await line.said(REACTIONS))["reactions"]
        assert (row["reason"], row["outcome"], row["taker_price"]) == ("abc d", "abc d", 0.25)
        assert (row["trade_id"], row["decision"]) == ("t1", "failed")


async def test_the_known_wallets_have_names_and_a_record(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        line = line_to(stage)
        for _ in range(20):
            await stage.clock.advance(1.0)
        found = (await Line(stage, OPERATOR).said(DESK_WALLETS))["wallets"]
        assert [one["label"] for one in found] == [wallet.label for wallet in ROSTER]
        assert {one["venue"] for one in found} == {"sim", "evm_venue"}
        busy = [one for one in found if one["trades_count"]]
        assert busy
        assert all(one["last_trade_at"] for one in busy)
        # Whoever is offered can be followed.
        wanted = [one["address"] for one in found]
        assert (await line.said(PATCH_REACTOR, json={"wallets": wanted}))["wallets"] == wanted


async def test_200_signals_come_in_one_answer_in_order(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_REACTOR, json=FOLLOWING | {"daily_cap": 1_000_000})
        hashes = await told(stage, 200)
        assert [one["tx_hash"] for one in await pending(line)] == hashes


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


async def test_wallets_of_a_recording_are_offered_and_followed_as_they_trade(
    tmp_path: Path,
) -> None:
    options = replace(
        write(tmp_path, 3, 4), history_from=datetime.fromtimestamp(BEGIN + 3 * DAY, UTC).isoformat()
    )
    async with open_stage(tmp_path / "world", recorded=options, speed=1) as stage:
        line, operator = line_to(stage), Line(stage, OPERATOR)
        every = [checksummed(f"0x{one.hex()}") for one in WALLETS]
        await line.said(PATCH_REACTOR, json=FOLLOWING | {"wallets": every, "mirror_fraction": 1})
        await operator.said(STEP, json={"seconds": 12 * 3_600})
        with HistoryFile(history_path(tmp_path, "two")) as file:
            known = file.trades(stage.world.world_at - 12 * HOUR, stage.world.world_at)
        bought = [one for one in known if not one.sells and not one.waited]
        assert bought
        signals = await pending(line)
        assert [(one["taker_wallet"], one["taker_size"]) for one in signals] == [
            (checksummed(f"0x{one.wallet.hex()}"), pytest.approx(one.shares, abs=1e-6))
            for one in bought
        ]
        (offered,) = (await operator.said(DESK_WALLETS)).values()
        counted = Counter(checksummed(f"0x{one.wallet.hex()}") for one in known)
        assert {one["address"]: one["trades_count"] for one in offered} == counted
        assert {one["label"] for one in offered} == {""}
        mirrored = await line.said(PLACE_TRADE, json=mirror_of(signals[0], 0.99))
        assert mirrored["success"] is True
