"""A foreign program uses the whole public surface; every figure is checked against the ledger."""

from collections.abc import Generator
from datetime import datetime
from pathlib import Path

import pytest

from journeys.foreign_client import (
    Api,
    Json,
    Refused,
    SolanaWallet,
    Wallet,
    World,
    bodies,
    is_signed,
)
from kit.service.scene import Scene
from kit.service.stage import WebhookParts
from kit.service.threaded import Threaded
from service_tui.server.webhooks.post import Parcel, signature
from service_tui.units import decimal

SECRET = "the webhook's secret"  # noqa: S105
DAY_S = 86_400.0


class Mail:
    """What the service posts to webhooks, for whoever listens now."""

    def __init__(self) -> None:
        self.to: list[tuple[dict[str, str], bytes]] = []

    async def post(self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
        del url, allows_loopback
        headers = {
            "x-service-signature": signature(secret, parcel.body),
            "x-service-delivery": parcel.delivery_id,
        }
        self.to.append((headers, parcel.body))
        return ""


class Program:
    """The program on the served port, and what the server does for it."""

    def __init__(self, service: Threaded, mail: Mail) -> None:
        self.scene = Scene(service)
        self.world = World(
            claim=lambda agent_id: self._desk("POST", f"agents/{agent_id}/claim"),
            pass_seconds=self.pass_seconds,
            pass_until=lambda moment: self.scene.pass_to(
                datetime.fromisoformat(moment).timestamp()
            ),
        )
        self.api = Api(service.url)
        mail.to = self.world.mail

    def _desk(self, method: str, path: str) -> None:
        self.scene.desk(method, path)

    def pass_seconds(self, seconds: float) -> None:
        stage = self.scene.service.stage

        async def go() -> None:
            for _ in range(int(seconds)):
                await stage.clock.advance(1)
                await stage.sim.service.world_store.advance(stage.clock.now())

        self.scene.service.run(go())

    def register(self, name: str, *, real: bool = False) -> Json:
        self.scene.wait(61)
        born = Api(self.api.url).post("agents/register", name=name)
        self.api = Api(self.api.url, born["api_key"])
        assert born["starting_balance"] == 10_000
        if real:
            self.world.claim(born["agent_id"])
            self.api.post("settings", sdk_real_trading_enabled=True)
        # So that what is to be redeemed is not sold by a stop before.
        self.api.call("PATCH", "user/settings", {"auto_risk_monitor_enabled": False})
        return born

    def balanced(self) -> bool:
        world = self.scene.service.stage.world
        return world.ledger.total() == 0

    def cash(self) -> float:
        """Cash by the ledger itself."""
        world = self.scene.service.stage.world
        return decimal(world.cash(world.agents[self.api.get("agents/me")["agent_id"]]))


@pytest.fixture(scope="module")
def mail() -> Mail:
    return Mail()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, mail: Mail) -> Generator[Threaded]:
    made = Threaded()
    made.open(tmp_path_factory.mktemp("foreign"), webhooks=WebhookParts(mail.post))
    yield made
    made.close()


@pytest.fixture
def program(service: Threaded, mail: Mail) -> Program:
    return Program(service, mail)


def test_it_imports_nothing_of_ours() -> None:
    source = (Path(__file__).parent / "foreign_client.py").read_text(encoding="utf-8")
    assert "service_tui" not in source


@pytest.mark.slow
def test_a_day_on_paper(program: Program) -> None:
    program.register("paper")
    api = program.api
    assert api.get("context")["claim_url"]
    assert api.get("settings")["sdk_real_trading_enabled"] is False
    found = api.get("markets", limit=50, status="active")["markets"]
    word = found[0]["question"].split()[1]
    assert found[0]["id"] in {row["id"] for row in api.get("markets", q=word, limit=500)["markets"]}
    market, other, third = sorted(found, key=lambda row: abs(row["current_probability"] - 0.5))[:3]
    context = api.get(f"context/{market['id']}", my_probability=0.7)
    assert context["market"]["id"] == market["id"]
    hook = api.post(
        "webhooks", url="https://mine.example/in", events=["trade.executed"], secret=SECRET
    )
    # A dry run costs what the trade then costs.
    order = {"market_id": market["id"], "side": "yes", "amount": 25, "venue": "sim"}
    dry = api.post("trade", **order, dry_run=True)
    bought = api.post("trade", **order)
    assert bought["success"]
    assert dry["shares_bought"] == bought["shares_bought"]
    assert bought["cost"] == 25
    assert api.get("portfolio")["sim"]["balance"] == program.cash() == 9_975
    legs = [{"market_id": row["id"], "side": "no", "amount": 4} for row in (other, third)]
    batch = api.post("trades/batch", trades=legs)
    assert (batch["success"], batch["total_cost"], batch["failed_count"]) == (True, 8, 0)
    half = round(bought["shares_bought"] / 2, 5)
    sold = api.post(
        "trade", market_id=market["id"], side="yes", action="sell", shares=half, amount=0
    )
    assert sold["shares_sold"] == half
    assert program.cash() == pytest.approx(9_975 - 8 + sold["cost"], abs=1e-6)
    held = {row["market_id"]: row for row in api.get("positions")["positions"]}
    assert held[market["id"]]["shares_yes"] == pytest.approx(bought["shares_bought"] - half)
    assert set(held) == {market["id"], other["id"], third["id"]}
    # Every trade came to the program's own address, signed, in order, each once.
    program.pass_seconds(1)
    mail = program.world.mail
    assert all(is_signed(one, SECRET) for one in mail)
    assert [one["data"]["trade_id"] for one in bodies(mail)] == [
        row["trade_id"] for row in reversed(api.get("trades", limit=50)["trades"])
    ]
    assert len({headers["x-service-delivery"] for headers, _ in mail}) == len(mail) == 4
    assert api.call("DELETE", f"webhooks/{hook['id']}")["success"]
    assert program.balanced()


@pytest.mark.slow
def test_a_stop_and_an_alert(program: Program) -> None:
    program.register("careful")
    api = program.api
    found = api.get("markets", limit=500)["markets"]
    market = min(
        (row for row in found if 0.3 < row["current_probability"] < 0.7),
        key=lambda row: row["liquidity"],
    )
    bought = api.post("trade", market_id=market["id"], side="yes", amount=5)
    path = f"positions/{market['id']}/monitor"
    with pytest.raises(Refused) as missing:
        api.call("POST", path, {"side": "yes"})
    assert missing.value.status == 422
    assert api.call("POST", path, {"side": "yes", "stop_loss_pct": 0.02})["success"]
    assert len(api.get("positions/monitors")["monitors"]) == 1
    alert = api.post(
        "alerts",
        market_id=market["id"],
        side="yes",
        condition="crosses_below",
        threshold=round(market["current_probability"] * 0.98, 4),
    )
    assert api.get("alerts")["count"] == 1
    # The price falls because somebody buys the other side.
    pushed = api.post("trade", market_id=market["id"], side="no", amount=100)
    assert pushed["success"]
    program.pass_seconds(2)
    assert [row["id"] for row in api.get("alerts/triggered")["alerts"]] == [alert["id"]]
    exits = [row for row in api.get("trades")["trades"] if row["source"] == "risk:stop_loss"]
    assert [row["shares"] for row in exits] == [bought["shares_bought"]]
    cash = 10_000 - 5 - 100 + exits[0]["cost"]
    assert program.cash() == pytest.approx(cash, abs=1e-6)
    assert program.balanced()


@pytest.mark.slow
def test_an_import_orders_on_books_and_a_backtest(program: Program) -> None:
    program.register("trader", real=True)
    api = program.api
    importable = api.get("markets/importable", venue="polymarket", limit=5)["markets"]
    made = api.post("markets/import", polymarket_url=importable[0]["url"])
    assert made["status"] == "imported"
    assert api.get("markets/check", url=importable[0]["url"])["exists"] is True
    books = [
        row
        for row in api.get("markets", venue="polymarket", limit=500)["markets"]
        if (row["best_bid"] or 0) > 0.1 and (row["best_ask"] or 1) < 0.9
    ]
    market = books[0]
    start = api.get("portfolio")["polymarket"]["balance"]
    rests = api.post(
        "trade",
        market_id=market["id"],
        side="yes",
        amount=10,
        venue="polymarket",
        order_type="GTC",
        price=round(market["best_bid"] / 2, 2),
    )
    assert rests["success"], rests
    (order,) = api.get("orders/open")["orders"]
    assert order["order_id"] == rests["order_id"]
    assert api.call("DELETE", f"orders/{order['order_id']}")["success"]
    assert api.get("orders/open")["count"] == 0
    assert api.get("portfolio")["polymarket"]["balance"] == start
    bought = api.post("trade", market_id=market["id"], side="yes", amount=20, venue="polymarket")
    assert bought["success"], bought
    sold = api.post(
        "trade",
        market_id=market["id"],
        side="yes",
        action="sell",
        amount=0,
        shares=bought["shares_bought"],
        venue="polymarket",
        order_type="FAK",
    )
    assert sold["success"], sold
    balance = api.get("portfolio")["polymarket"]["balance"]
    paid = bought["cost"] + bought["fee"]
    assert balance == pytest.approx(start - paid + sold["cost"] - sold["fee"], abs=1e-4)
    backtest = api.post("autoresearch/backtest", skill_slug="mine", config={"min_edge": 0.1})
    assert backtest["trades_total"] == 0
    assert program.balanced()


@pytest.mark.slow
def test_the_reactor_is_polled_and_mirrored(program: Program) -> None:
    program.register("mirror")
    api = program.api
    board = api.get("/api/leaderboard/sim", trader_type="human", limit=50)["traders"]
    while not board:
        program.pass_seconds(30)
        board = api.get("/api/leaderboard/sim", trader_type="human", limit=50)["traders"]
    followed = [row["trader_id"] for row in board]
    config = {
        "wallets": followed, "enabled": True, "venue": "sim", "min_size": 1, "daily_cap": 500,
        "max_size": 50, "mirror_fraction": 0.5,
    }  # fmt: skip
    api.call("PATCH", "reactor/config", config)
    signals: list[Json] = []
    for _ in range(40):
        program.pass_seconds(10)
        signals = api.get("reactor/pending", caps="maker")["reactor_signals"]
        if signals:
            break
    signal = signals[0]
    traded = api.post(
        "trade",
        market_id=signal["market_id"],
        side=signal["side"],
        amount=signal["amount"],
        venue="sim",
        source="sdk:copytrading:reactor",
        signal_data={"signal_source": "reactor", "tx_hash": signal["tx_hash"]},
    )
    assert traded["success"], traded
    api.post("reactor/reactions", event_tx_hash=signal["tx_hash"], decision="mirrored")
    api.call("DELETE", f"reactor/pending/{signal.get('signal_id') or signal['tx_hash']}")
    left = api.get("reactor/pending")["reactor_signals"]
    assert signal["tx_hash"] not in {one["tx_hash"] for one in left}
    assert api.get("reactor/reactions")["reactions"][0]["decision"] == "mirrored"
    copied = api.post("copytrading/execute", wallets=followed[:5], max_trades=3, top_n=2)
    costs = sum(row["cost"] for row in copied["trades"] if row["success"])
    assert copied["trades_executed"] == sum(row["success"] for row in copied["trades"])
    assert program.cash() == pytest.approx(10_000 - traded["cost"] - costs, abs=1e-6)
    assert program.balanced()


@pytest.mark.slow
def test_a_solana_wallet_signs_its_own_trades(program: Program) -> None:
    program.register("signer", real=True)
    api, wallet = program.api, SolanaWallet(b"\7" * 32)
    api.call("PATCH", "user/settings", {"bot_solana_wallet": wallet.address})
    market = next(
        row
        for row in api.get("markets", venue="kalshi", limit=500)["markets"]
        if 0.1 < (row["best_ask"] or 1) < 0.9
    )
    start = api.get("portfolio")["kalshi"]["balance"]
    quote = api.post(
        "trade/kalshi/quote",
        market_id=market["id"], side="yes", amount=15, wallet_address=wallet.address,
    )  # fmt: skip
    assert quote["success"], quote
    done = api.post(
        "trade/kalshi/submit",
        market_id=market["id"], side="yes", action="buy", quote_id=quote["quote_id"],
        signed_transaction=wallet.sign(quote["transaction"]),
    )  # fmt: skip
    assert done["success"], done
    assert done["shares_bought"] == quote["out_amount"]
    balance = api.get("portfolio")["kalshi"]["balance"]
    assert done["fee"] == quote["fee"] > 0
    assert balance == pytest.approx(start - done["cost"] - done["fee"], abs=1e-4)
    assert program.balanced()


@pytest.mark.slow
@pytest.mark.chain
def test_both_kinds_of_wallet_redeem_what_they_have_won(program: Program) -> None:
    program.register("managed", real=True)
    managed = program.api
    ending = program.scene.soonest("evm_venue")
    side = "yes" if ending.listing.outcome else "no"
    bought = managed.post(
        "trade", market_id=ending.market_id, side=side, amount=10, venue="polymarket"
    )
    assert bought["success"], bought
    before = managed.get("portfolio")["polymarket"]["balance"]
    program.register("own wallet", real=True)
    own = Wallet(program.api, "0x" + "5a" * 32)
    own.link()
    own.credentials(int(program.scene.service.stage.clock.now()))
    assert own.approve() == 9
    program.pass_seconds(5)
    found = program.api.get("markets", venue="polymarket", limit=500)["markets"]
    market = min(
        (
            row
            for row in found
            if row["best_ask"] and 0.1 < row["best_ask"] < 0.9 and _wins(program, row["id"])
        ),
        key=lambda row: row["resolves_at"],
    )
    placed = own.buy(market, 1_200)
    assert placed["success"], placed
    # Two days of the world.
    program.scene.pass_to(program.scene.service.stage.world.world_at + 2 * DAY_S)
    after = managed.get("portfolio")["polymarket"]["balance"]
    assert after - before == pytest.approx(bought["shares_bought"], abs=1e-4)
    row = next(
        one
        for one in program.api.get("positions", status="all", venue="polymarket")["positions"]
        if one["market_id"] == market["id"]
    )
    assert (row["redeemable"], row["redeemable_side"]) == (True, "yes")
    asked = program.api.post("redeem", market_id=market["id"], side="yes")
    assert asked["success"], asked
    cash = program.api.get("portfolio")["polymarket"]["balance"]
    tx_hash = own.send(asked["unsigned_tx"]["to"], asked["unsigned_tx"]["data"])
    program.pass_seconds(10)
    report = {"market_id": market["id"], "side": "yes", "tx_hash": tx_hash}
    assert program.api.post("redeem/report", **report)["success"]
    gained = program.api.get("portfolio")["polymarket"]["balance"] - cash
    assert gained == pytest.approx(placed["shares_bought"], abs=1e-4)
    # Sent again it is the same report.
    assert program.api.post("redeem/report", **report)["success"]
    assert program.api.get("portfolio")["polymarket"]["balance"] - cash == gained
    assert program.balanced()


def _wins(program: Program, market_id: str) -> bool:
    listing = program.scene.service.stage.world.markets[market_id].listing
    stage = program.scene.service.stage
    return listing.outcome and listing.resolved_at < stage.world.world_at + DAY_S
