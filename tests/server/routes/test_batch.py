"""The batch endpoint: independent and atomic batches."""

import random
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.engine.topics import TOPICS
from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.events import Fill, OrderPlaced, TradeFailed
from service_tui.server.embedded import BASE_URL
from service_tui.server.routes.batch import filled_leg, warnings_of
from service_tui.server.world_store import restore
from service_tui.storage.errors import StorageFullError
from service_tui.storage.journal import JournalStore
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.batch import BatchRequest, LegBody, LegRequest
from service_tui.wire.endpoints.public import BATCH, POSITIONS, TRADES

pytestmark = pytest.mark.slow

Leg = dict[str, Any]


def leg(market_id: str, amount: float = 5, side: str = "yes") -> Leg:
    return {"market_id": market_id, "side": side, "amount": amount}


def ids(stage: Stage, count: int) -> list[str]:
    return [one.market_id for one in stage.open_markets()[:count]]


async def batch(line: Line, legs: list[Leg], **fields: object) -> dict[str, Any]:
    return await line.said(BATCH, json={"trades": legs, **fields})


def state(stage: Stage) -> str:
    return dumps(fields_of(stage.world))


async def test_each_trade_of_a_plain_batch_stands_on_its_own(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        one, two = ids(stage, 2)
        said = await batch(
            line, [leg(one, 10), leg("nowhere"), leg(two, 500.01), leg(two, 20, "no")], source="s"
        )
        assert [row["success"] for row in said["results"]] == [True, False, False, True]
        assert [row["trade_id"] for row in said["results"]] == ["t1", None, None, "t2"]
        codes = [row["error_code"] for row in said["results"]]
        assert codes == [None, "MARKET_NOT_FOUND", "TRADE_TOO_LARGE", None]
        assert (said["success"], said["failed_count"], said["total_cost"]) == (False, 2, 30)
        assert not any(row["aborted"] for row in said["results"])
        assert said["balance"] == 10_000 - 30
        rows = (await line.said(TRADES))["trades"]
        assert [(row["id"], row["source"]) for row in rows] == [("t2", "s"), ("t1", "s")]
        assert said["execution_time_ms"] >= 0


async def test_a_dry_run_quotes_each_trade_alone_and_changes_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = ids(stage, 1)[0]
        before = state(stage)
        said = await batch(line, [leg(market_id, 50)] * 2 + [leg("nowhere")], dry_run=True)
        assert state(stage) == before
        first, second, unknown = said["results"]
        assert first == second
        assert first["price"] == first["dry_run_price"] > 0
        assert first["slippage"] > 0
        assert (said["dry_run"], unknown["success"], said["total_cost"]) == (True, False, 100)
        live = await batch(line, [leg(market_id, 50)] * 2)
        assert live["results"][0]["shares"] == first["shares"]
        assert live["results"][1]["price"] > live["results"][1]["dry_run_price"]


async def test_an_atomic_batch_is_carried_out_whole(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        legs = [leg(one, 10) for one in ids(stage, 30)]
        said = await batch(line, legs, atomic=True, max_slippage=1)
        assert (said["success"], said["failed_count"], said["total_cost"]) == (True, 0, 300)
        assert [row["trade_id"] for row in said["results"]] == [f"t{n}" for n in range(1, 31)]
        assert stage.world.ledger.total() == 0
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert dumps(fields_of(found[0])) == state(stage)


FAILING: Final = {
    "an unknown market": (leg("nowhere"), {}),
    "too much for one trade": (leg("", 500.01), {}),
    "too much slippage": (leg("", 400), {"max_slippage": 0.002}),
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("place", [0, 2, 4])
async def test_one_failing_leg_of_an_atomic_batch_changes_nothing(
    tmp_path: Path, name: str, place: int
) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        bad, fields = FAILING[name]
        markets = ids(stage, 5)
        legs = [leg(one, 0.01) for one in markets[:4]]
        legs.insert(place, bad | {"market_id": bad["market_id"] or markets[4]})
        before, rows = state(stage), JournalStore(stage.at_rest).last_seq()
        said = await batch(line, legs, atomic=True, **({"max_slippage": 1} | fields))
        assert state(stage) == before
        assert JournalStore(stage.at_rest).last_seq() == rows
        assert (said["success"], said["failed_count"], said["total_cost"]) == (False, 5, 0)
        assert [row["aborted"] for row in said["results"]] == [n != place for n in range(5)]
        assert said["results"][place]["fix"]
        assert all(row["error"] and row["trade_id"] is None for row in said["results"])


async def test_each_leg_meets_the_money_that_the_ones_before_left(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        before = state(stage)
        legs = [leg(one, 400) for one in ids(stage, 26)]
        said = await batch(line, legs, atomic=True, max_slippage=1)
        refused = [n for n, row in enumerate(said["results"]) if not row["aborted"]]
        assert refused == [25]
        assert said["results"][25]["error_code"] == "INSUFFICIENT_BALANCE"
        assert state(stage) == before
        plain = await batch(line, legs)
        assert [row["success"] for row in plain["results"]] == [True] * 25 + [False]


@pytest.mark.parametrize("seed", range(8))
async def test_atomic_and_plain_batches_agree_where_nothing_is_refused(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    said: list[dict[str, Any]] = []
    states: list[str] = []
    picks = [
        (rng.randrange(6), round(rng.uniform(0.5, 60), 2), rng.random() < 0.5) for _ in "ten" * 4
    ]
    for atomic in (False, True):
        async with open_stage(tmp_path / str(atomic), speed=0, plan=Plan.ELITE) as stage:
            markets = ids(stage, 6)
            legs = [leg(markets[n], amount, "yes" if up else "no") for n, amount, up in picks]
            fields = {"atomic": True, "max_slippage": 1} if atomic else {}
            said.append(await batch(line_to(stage), legs, **fields))
            # Everything but the agent's random key and id.
            states.append(dumps(fields_of(stage.world)["markets"]).replace(stage.agent_id, ""))
    plain, atomic_one = said
    assert plain["success"]
    assert plain["results"] == atomic_one["results"]
    assert states[0] == states[1]


async def test_atomic_is_for_elite_and_for_sim(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.PRO) as stage:
        line = line_to(stage)
        asked = {"trades": [leg(ids(stage, 1)[0])], "atomic": True}
        for plan in (Plan.FREE, Plan.PRO):
            await change(stage, plan=plan)
            before = state(stage)
            said = await line.said(BATCH, 403, json=asked)
            assert "elite" in said["error"]
            assert said["fix"]
            assert state(stage) == before
        await change(stage, plan=Plan.ELITE)
        assert (await line.said(BATCH, json=asked | {"max_slippage": 1}))["success"] is True
        for venue in ("polymarket", "sol_venue"):
            await line.said(BATCH, 422, json=asked | {"venue": venue})


async def test_a_full_disk_leaves_no_leg_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        legs = [leg(one) for one in ids(stage, 3)]
        world_store = stage.sim.service.world_store
        before = state(stage)

        async def full(*_: object, **__: object) -> None:
            raise StorageFullError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(JournalStore, "append", full)
            for fields in ({}, {"atomic": True, "max_slippage": 1}):
                said = await line.said(BATCH, 503, json={"trades": legs, **fields})
                assert "nothing was traded" in said["error"]
        await world_store.advance(stage.clock.now())
        assert state(stage) == before


async def test_a_batch_on_a_real_venue_takes_what_its_books_offer(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        at_home = [one.market_id for one in stage.open_markets() if one.listing.home is Venue.EVM]
        elsewhere = next(one for one in stage.open_markets() if one.listing.home is Venue.SIM)
        legs = [leg(at_home[0], 8), leg(elsewhere.market_id, 8), leg(at_home[1], 8, "no")]
        unclaimed = await line.said(BATCH, 403, json={"trades": legs, "venue": "polymarket"})
        assert stage.agent.claim_code in unclaimed["claim_url"]
        await change(stage, claimed=True, real_trading_enabled=True)
        before = state(stage)
        quoted = await batch(line, legs, venue="polymarket", dry_run=True)
        assert state(stage) == before
        said = await batch(line, legs, venue="polymarket")
        assert [row["success"] for row in said["results"]] == [True, False, True]
        for row, quote in zip(said["results"], quoted["results"], strict=True):
            assert row["success"] is quote["success"]
            assert (row["shares"], row["price"]) == (quote["shares"], quote["price"])
        assert said["total_cost"] == pytest.approx(
            sum(row["cost"] for row in said["results"] if row["success"])
        )
        held = (await line.said(POSITIONS, venue="evm_venue"))["positions"]
        assert {row["market_id"] for row in held} == {at_home[0], at_home[1]}
        assert stage.world.ledger.total() == 0


@pytest.mark.parametrize("atomic", [False, True])
async def test_a_repeated_batch_under_one_key_is_carried_out_once(
    tmp_path: Path, *, atomic: bool
) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        legs = [leg(one) for one in ids(stage, 3)] + ([] if atomic else [leg("nowhere")])
        body = {"trades": legs, "atomic": atomic, "max_slippage": 1}
        headers = {"Authorization": f"Bearer {stage.key}", "Idempotency-Key": "k1"}
        transport = stage.sim.transport
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            first, second = [
                await client.post(BATCH.path, json=body, headers=headers) for _ in range(2)
            ]
        assert first.status_code == second.status_code == 200
        assert first.json() == second.json()
        assert second.headers["Idempotency-Replayed"] == "true"
        assert stage.agent.trades_count == 3


async def test_a_batch_that_passes_a_milestone_carries_the_nudge(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        (market_id,) = ids(stage, 1)
        said = [await batch(line, [leg(market_id, 1)] * 8, dry_run=True)]
        said += [await batch(line, [leg(market_id, 1)] * 8) for _ in range(3)]
        # After 8, 16 and 24 trades: the second batch has passed the tenth.
        told = [one["go_live"] and one["go_live"]["sim_trades"] for one in said]
        assert told == [None, None, 16, None]


async def test_a_sale_in_a_batch_is_refused_and_never_becomes_a_buy(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        (market_id,) = ids(stage, 1)
        before = state(stage)
        sale = leg(market_id) | {"action": "sell"}
        said = await line.said(BATCH, 422, json={"trades": [leg(market_id), sale]})
        assert said["detail"][0]["loc"] == ["body", "trades", 1, "action"]
        assert state(stage) == before
        assert (await batch(line, [leg(market_id) | {"action": "buy"}]))["success"]


async def test_max_slippage_binds_each_trade_where_it_is_sent(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line, (first, second) = line_to(stage), ids(stage, 2)
        legs = [leg(first, 400), leg(second, 1)]
        before = stage.world.cash(stage.agent)
        said = await batch(line, legs, max_slippage=0.002)
        refused, bought = said["results"]
        assert (refused["success"], bought["success"]) == (False, True)
        assert refused["error_code"] == "SLIPPAGE_LIMIT"
        assert "would slip 0." in refused["error"]
        assert "0.002" in refused["error"]
        assert (said["failed_count"], said["total_cost"]) == (1, 1)
        assert stage.world.cash(stage.agent) == before - 1_000_000
        # A quote is never refused for it, and warned of.
        (warning,) = (await batch(line, legs, max_slippage=0.002, dry_run=True))["warnings"]
        assert warning.startswith(f"{first} slips 0.")
        assert warning.endswith("above max_slippage 0.002")
        said = await batch(line, legs, max_slippage=0.002, atomic=True)
        assert [(row["success"], row["aborted"]) for row in said["results"]] == [
            (False, False), (False, True),
        ]  # fmt: skip
        # Where it is not sent, nothing is refused for it.
        for fields in ({}, {"atomic": True}):
            said = await batch(line, [leg(first, 400)], **fields)
            assert (said["success"], said["warnings"]) == (True, [])


async def test_a_misspelt_bound_of_a_batch_is_named(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        trades = [{"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}]
        said = await line.said(BATCH, json={"trades": trades, "max_slipage": 0.0001})
        assert said["warnings"] == [
            "unknown field ignored: 'max_slipage', did you mean max_slippage?"
        ]


def bought(*, on_book: bool = False) -> Fill | OrderPlaced:
    """Ten shares for five dollars, from a price of 45 cents."""
    given = {
        "trade_id": "t1", "order_id": "o1", "agent_id": "ada", "market_id": "m1",
        "side": Side.YES, "action": Action.BUY, "shares": Micros(10 * ONE),
        "money": Micros(5 * ONE), "price_before": 0.45,
    }  # fmt: skip
    kind = OrderPlaced if on_book else Fill
    empty = dict.fromkeys(kind._fields)
    return kind(**(empty | {key: value for key, value in given.items() if key in empty}))


@pytest.mark.parametrize(
    ("on_book", "first", "slippage"), [(False, 0.0, 0.05), (False, 0.4, 0.1), (True, 0.0, 0.05)]
)
def test_slippage_counts_from_before_the_batch_or_from_the_books_own_price(
    *, on_book: bool, first: float, slippage: float
) -> None:
    row = filled_leg(bought(on_book=on_book), first)
    assert row.slippage == pytest.approx(slippage)
    assert (row.trade_id, row.cost, row.shares, row.price) == (
        "o1" if on_book else "t1", 5.0, 10.0, 0.5,
    )  # fmt: skip


def test_what_does_not_begin_with_a_fill_or_an_order_is_a_fault_of_ours() -> None:
    with pytest.raises(TypeError):
        filled_leg(TradeFailed("ada", Timestamp(0.0), "m1", Side.NO, "x"), 0.0)


@pytest.mark.parametrize(
    ("most", "warned"), [(None, []), (0.0, ["slips"]), (0.02, []), (0.0199, ["slips"])]
)
def test_a_buy_above_the_bound_is_warned_of_and_a_bound_of_zero_binds(
    most: float | None, warned: list[str]
) -> None:
    rows = (
        LegBody(market_id="slips", success=True, slippage=0.02),
        LegBody(market_id="refused", success=False, slippage=0.9),
    )
    trades = (LegRequest(market_id="m1", side=Side.YES, amount=5.0),)
    found = warnings_of(BatchRequest(trades=trades, max_slippage=most), rows)
    assert [text.split()[0] for text in found] == warned


async def test_a_size_finer_than_a_cent_is_named_by_its_place(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, (one, two) = line_to(stage), ids(stage, 2)
        before = state(stage)
        for amount in (1.005, 0.0000001):
            body = {"trades": [leg(one), leg(two, amount)]}
            said = await line.said(BATCH, 422, json=body)
            assert said["detail"][0]["loc"] == ["body", "trades", 1, "amount"]
        assert state(stage) == before
