"""Whose positions are copied, for how much, and what is told of those that are not."""

import asyncio
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.venues import VenueAccount
from service_tui.engine.events import Fill, Note, TradePending
from service_tui.engine.position import Position
from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord
from service_tui.server.http.refusals import Denied, denied
from service_tui.server.routes import copytrading
from service_tui.storage.errors import StorageError
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.copytrading import CopyRequest

W1, W2 = "0x" + "a1" * 20, "0x" + "b2" * 20
NONE: Final = Micros(0)


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def holding(yes: float = 0, no: float = 0) -> WalletPosition:
    """A position that cost so much on each side, at 50 cents."""
    return WalletPosition(dollars(2 * yes), dollars(2 * no), dollars(yes), dollars(no))


def service(**held: dict[str, WalletPosition]) -> Any:
    world = bare_world("ada", claimed=True, real_trading_enabled=True)
    for name in ("m1", "m2", "m3"):
        listed(world, name)
    listed(world, "late", resolves_at=Timestamp(AT - 5))
    for wallet, positions in held.items():
        record = WalletRecord(trades_count=3, held=positions)
        world.reactor.records.by_address[{"w1": W1, "w2": W2}[wallet]] = record
    return bare_service(world)


async def copy(one: Any, **sent: Any) -> Any:
    body = CopyRequest(**{"wallets": (W1,), "dry_run": True, **sent})
    return await copytrading.execute(request_to(one, "ada", body=body))


def bought(answer: Any) -> list[tuple[str, str, float]]:
    return [(row.market_id, row.side.value, round(row.cost, 2)) for row in answer.trades]


async def test_the_largest_positions_of_open_markets_are_copied_up_to_a_sum() -> None:
    one = service(w1={
        "m1": holding(yes=4), "m2": holding(no=30, yes=0.3), "late": holding(yes=90),
        "gone": holding(yes=80),
    })  # fmt: skip
    answer = await copy(one, max_usd_per_position=20.0)
    assert bought(answer) == [("m2", "no", 20.0), ("m1", "yes", 4.0)]
    assert (answer.wallets_checked, answer.positions_found, answer.trades_needed) == (1, 4, 2)
    assert (answer.trades_executed, answer.success, answer.errors) == (0, True, ())
    assert answer.summary == "2 of 2 trades would be made"
    assert answer.dry_run
    assert one.world_store.written == []


async def test_a_tiny_position_is_copied_for_a_dollar() -> None:
    answer = await copy(service(w1={"m1": holding(yes=0.2)}))
    assert bought(answer) == [("m1", "yes", 1.0)]


async def test_only_the_first_positions_of_each_wallet_and_one_of_each_market() -> None:
    one = service(
        w1={"m1": holding(yes=9), "m2": holding(yes=8), "m3": holding(yes=7)},
        w2={"m1": holding(no=5), "m3": holding(no=4)},
    )
    answer = await copy(one, wallets=(W1, W2), top_n=2)
    assert [(row.market_id, row.wallet) for row in answer.trades] == [
        ("m1", W1), ("m2", W1), ("m3", W2)
    ]  # fmt: skip
    assert len((await copy(one, wallets=(W1, W2), top_n=2, max_trades=1)).trades) == 1


PENDING: Final = TradePending(
    "h1", "ada", AT, AT, Venue.SIM, "m1", Side.NO, Action.BUY, dollars(5), None, None, None, Note()
)


@pytest.mark.parametrize("way", ["holds", "waits"])
async def test_a_market_in_which_the_agent_is_already_is_left_alone(way: str) -> None:
    one = service(w1={"m1": holding(yes=9), "m2": holding(yes=8)})
    if way == "holds":
        one.world.agents["ada"].positions["m1"] = Position("ada", "m1")
    else:
        one.world.pending_trades.apply(PENDING)
    assert bought(await copy(one)) == [("m2", "yes", 8.0)]


async def test_on_a_real_venue_its_own_questions_are_copied_where_nothing_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = service(w1={name: holding(yes=9) for name in ("m1", "m2", "m3")})
    for name in ("m1", "m2"):
        listing = one.world.markets[name].listing
        object.__setattr__(listing, "home", Venue.EVM)
    # Only one of its orders is in the market.
    resting = [SimpleNamespace(market_id=name) for name in ("m9", "m1")]
    wanted = ("ada", Venue.EVM)
    monkeypatch.setattr(
        type(one.world.venues), "orders", lambda _, *who: resting if who == wanted else []
    )
    request = request_to(one, "ada")
    sent = CopyRequest(wallets=(W1,), venue=Venue.EVM, dry_run=True)
    assert [found.market.market_id for found in copytrading._buys(request, sent)] == ["m2"]
    account = one.world.venues.accounts["ada", Venue.EVM] = VenueAccount("ada", Venue.EVM)
    holdings: Any = account.holdings
    for is_held in (True, False):
        holdings["m2"] = SimpleNamespace(is_held=lambda is_held=is_held: is_held)
        assert len(list(copytrading._buys(request, sent))) == (0 if is_held else 1)


async def test_a_copy_is_a_trade_that_names_its_wallet() -> None:
    one = service(w1={"m1": holding(no=6)})
    answer = await copy(one, dry_run=False)
    (fill,) = one.world_store.written
    assert isinstance(fill, Fill)
    assert (fill.agent_id, fill.market_id, fill.side, fill.money) == (
        "ada", "m1", Side.NO, dollars(6)
    )  # fmt: skip
    assert (fill.note.source, fill.note.reasoning) == (f"copytrading:{W1}", f"copies {W1}")
    (row,) = answer.trades
    assert (row.success, row.trade_id, row.shares, row.cost, row.question) == (
        True, fill.trade_id, fill.shares / ONE, 6.0, "Does m1 end well?"
    )  # fmt: skip
    assert row.price == round(fill.money / fill.shares, 6)
    assert (answer.trades_executed, answer.summary) == (1, "1 of 1 trade made")
    assert one.copying == set()


async def test_a_wallet_that_never_traded_and_a_refused_trade_are_told() -> None:
    one = service(w1={"m1": holding(yes=9), "m2": holding(yes=8)})
    one.world.agents["ada"].change({"trading_paused": True})
    answer = await copy(one, wallets=(W1, W2), dry_run=False)
    assert [row.success for row in answer.trades] == [False, False]
    assert answer.errors[0] == f"{W2}: this wallet has never traded here"
    assert answer.errors[1].startswith("m1: ")
    assert (answer.success, answer.trades_executed, answer.trades_needed) == (False, 0, 2)
    assert answer.summary == "0 of 2 trades made"


async def test_a_refusal_of_one_trade_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    one = service(w1={"m1": holding(yes=9), "m2": holding(yes=8)})
    real, seen = copytrading.trades.place, list[str]()

    async def place(request: Any) -> Any:
        seen.append(request.body.market_id)
        if request.body.market_id == "m1":
            raise denied(400, "not now", "later")
        return await real(request)

    monkeypatch.setattr(copytrading.trades, "place", place)
    answer = await copy(one, dry_run=False)
    assert seen == ["m1", "m2"]
    assert [(row.success, row.error) for row in answer.trades] == [
        (False, "not now"), (True, None)
    ]  # fmt: skip
    assert answer.errors == ("m1: not now",)


async def test_a_disk_that_refuses_the_first_trade_has_copied_nothing() -> None:
    one = service(w1={"m1": holding(yes=9)})
    one.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await copy(one, dry_run=False)
    assert one.copying == set()


async def test_an_agent_copies_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one = service(w1={"m1": holding(yes=9)})
    goes = asyncio.Event()
    real = copytrading.trades.place

    async def place(request: Any) -> Any:
        await goes.wait()
        return await real(request)

    monkeypatch.setattr(copytrading.trades, "place", place)
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(copy(one, dry_run=False))
        await asyncio.sleep(0)
        with pytest.raises(Denied, match="409"):
            await copy(one, dry_run=False)
        goes.set()
        assert (await first).trades_executed == 1


@pytest.mark.parametrize("asks", [True, False])
async def test_what_a_wallet_has_left_is_told_to_who_copied_it(*, asks: bool) -> None:
    one = service(w1={"m1": holding(yes=9)})
    ada = one.world.agents["ada"]
    for name, sources in (
        ("m1", (f"copytrading:{W1}",)), ("m2", ("own", f"copytrading:{W1}")), ("m3", ("own",))
    ):  # fmt: skip
        ada.positions[name] = position = Position("ada", name)
        position.yes.shares, position.no.shares = dollars(2.5), dollars(1)
        ada.sources[name] = sources
    answer = await copy(one, detect_whale_exits=asks)
    told = f"m2: {W1} has left; 2.50 YES and 1.00 NO are yours to sell"
    assert answer.errors == ((told,) if asks else ())
    assert answer.trades == ()


@pytest.mark.parametrize(("owner", "held"), [("ada", True), ("ben", False)])
def test_a_buy_that_waits_counts_for_the_agent_that_asked_for_it(owner: str, *, held: bool) -> None:
    one = service()
    one.world.pending_trades.waiting["h1"] = PENDING._replace(agent_id=owner)
    assert copytrading.is_held_by(request_to(one, "ada"), "m1", Venue.SIM) is held
    assert not copytrading.is_held_by(request_to(one, "ada"), "m2", Venue.SIM)
