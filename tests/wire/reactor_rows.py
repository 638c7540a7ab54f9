"""The statements of the interface spec on the reactor. A part of the table in `conformity.py`."""

from collections.abc import Callable
from typing import Any, Final

from kit.service.scene import Caller, Json, Scene
from service_tui.engine.tick import change_speed
from service_tui.units import Timestamp
from wire.conformity import ENDPOINTS, EVENTS, LIMITS, row

CONFIG: Final = "Reactor config (`PATCH /api/sdk/reactor/config`)"
SIGNAL: Final = "Reactor pending signal (item of `GET /api/sdk/reactor/pending`)"
BREAKER: Final = "Reactor circuit breaker"
FLOW: Final = "Reactor flow"
HOUR_S: Final = 3_600
TICKS_MAX: Final = 600


def known(scene: Scene) -> dict[str, Json]:
    """The wallets that trade here, by address."""
    return {one["address"]: one for one in scene.desk("GET", "wallets")["wallets"]}


def follower(scene: Scene, *, plan: str = "pro", **config: Any) -> Caller:
    """A new agent that follows every wallet and mirrors them whole."""
    who = scene.stranger(plan=plan)
    wanted = {"wallets": list(known(scene)), "enabled": True, "mirror_fraction": 1}
    wanted |= {"max_size": 10_000, "daily_cap": 100_000}
    who.ok("PATCH", "reactor/config", json=wanted | config)
    return who


def tick(scene: Scene) -> None:
    """A second passes on the wall, and half a minute on the tape, so that much is traded."""

    async def move() -> None:
        stage = scene.service.stage
        world_store = stage.sim.service.world_store
        stage.clock.set(max(stage.clock.now(), stage.world.at) + 1.0)
        await world_store.advance(Timestamp(stage.clock.now() - 0.5))
        await world_store.commit(
            change_speed(world_store.world, 60, Timestamp(stage.clock.now() - 0.5))
        )
        await world_store.advance(Timestamp(stage.clock.now()))
        await world_store.commit(change_speed(world_store.world, 1, Timestamp(stage.clock.now())))

    scene.service.run(move())


def signals(who: Caller) -> list[Json]:
    found: list[Json] = who.get("reactor/pending", caps="maker")["reactor_signals"]
    return found


def until(scene: Scene, who: Caller, suits: Callable[[Json], bool] = lambda _: True) -> Json:
    """The first signal that suits, once there is one."""
    for _ in range(TICKS_MAX):
        for one in signals(who):
            if suits(one):
                return one
        tick(scene)
    raise AssertionError("no such signal came")


def mirror(who: Caller, signal: Json, buffer: float = 0.02) -> Json:
    """What the published skill sends for a signal."""
    whale = signal["whale"]
    return who.ok(
        "POST",
        "trade",
        json={
            "market_id": signal["market_id"],
            "side": signal["side"],
            "action": signal["action"],
            "amount": signal["amount"],
            "venue": signal["venue"],
            "price": round(min(0.999, signal["taker_price"] * (1 + buffer)), 6),
            "source": "sdk:copytrading:reactor",
            "skill_slug": "polymarket-copytrading",
            "signal_data": {
                "signal_source": "reactor",
                "tx_hash": signal["tx_hash"],
                "whale_wallet": whale["wallet"],
                "whale_side": whale["side"],
                "whale_size": whale["size"],
                "whale_price": whale["price"],
            },
        },
    )


def react(who: Caller, decision: str, signal: Json | None = None) -> Json:
    tx_hash = signal["tx_hash"] if signal else "0x12"
    body = {"event_tx_hash": tx_hash, "decision": decision, "reason": "as it went"}
    return who.ok("POST", "reactor/reactions", json=body)


@row("Plans", "text 1")
def the_reactor_needs_pro(scene: Scene) -> None:
    free, pro = scene.stranger(plan="free"), scene.stranger(plan="pro")
    for method, path, body in (
        ("GET", "reactor/config", None),
        ("PATCH", "reactor/config", {"enabled": True}),
        ("GET", "reactor/pending", None),
        ("DELETE", "reactor/pending/0x12:maker:0:0xab:77", None),
        ("GET", "reactor/reactions", None),
        ("POST", "reactor/reactions", {"event_tx_hash": "0x12", "decision": "failed"}),
    ):
        refused = free.ask(method, path, json=body)
        assert (refused.status_code, bool(refused.json()["fix"])) == (403, True)
        assert pro.ask(method, path, json=body).status_code in {200, 404}


@row(CONFIG, "wallets")
def whom_to_follow(scene: Scene) -> None:
    who = follower(scene)
    followed = until(scene, who)["taker_wallet"]
    others = [one for one in known(scene) if one != followed]
    said = who.ok("PATCH", "reactor/config", json={"wallets": others})
    assert said["wallets"] == others
    assert followed not in {one["taker_wallet"] for one in signals(who)}
    # Labels stand on the dashboard, which is the console here.
    assert all(one["label"] for one in known(scene).values())
    for wrong in (["0x12"], [followed, followed.lower()], [followed.swapcase()], "0x12", [1]):
        assert who.ask("PATCH", "reactor/config", json={"wallets": wrong}).status_code == 422


@row(CONFIG, "min_size", "max_size", "mirror_fraction")
def sizes(scene: Scene, name: str) -> None:
    who = follower(scene)
    size = until(scene, who, lambda one: one["taker_size"] > 20)["taker_size"]
    value, kept = {
        "min_size": (size, lambda one: one["taker_size"] >= size),
        "max_size": (2, lambda one: one["amount"] <= 2 * one["taker_price"] + 0.001),
        "mirror_fraction": (
            0.1,
            lambda one: (
                one["taker_size"] * 0.1 * one["taker_price"] - 0.011
                <= one["amount"]
                <= one["taker_size"] * 0.1 * one["taker_price"] + 0.001
            ),
        ),
    }[name]
    assert who.ok("PATCH", "reactor/config", json={name: value})[name] == value
    assert signals(who)
    assert all(kept(one) for one in signals(who))
    for wrong in (-1, "5", 1.5e9, *([1.01] if name == "mirror_fraction" else [])):
        assert who.ask("PATCH", "reactor/config", json={name: wrong}).status_code == 422


@row(CONFIG, "daily_cap")
def spend_a_day(scene: Scene) -> None:
    who = follower(scene, max_size=20, price_buffer=0.2)
    signal = until(scene, who, lambda one: one["amount"] > 2 and one["taker_label"] != "Backroom")
    said = mirror(who, signal, 0.2)
    assert said["success"], said["error"]
    spent = said["cost"]
    config = who.ok("PATCH", "reactor/config", json={"daily_cap": round(spent + 1.5, 2)})
    assert config["daily_spent"] == spent
    who.ok("DELETE", f"reactor/pending/{signal['tx_hash']}")
    for _ in range(10):
        # Each for itself: reserved at the intent. Source: decisions, "Reactor sizing".
        assert all(one["amount"] <= 1.51 for one in signals(who))
        tick(scene)


@row(CONFIG, "venue")
def where_to_mirror(scene: Scene) -> None:
    who = follower(scene)
    for name in ("sim", "evm_venue", "sol_venue"):
        assert who.ok("PATCH", "reactor/config", json={"venue": name})["venue"] == name
    who.ok("PATCH", "reactor/config", json={"venue": "evm_venue"})
    signal = until(scene, who)
    assert signal["venue"] == "evm_venue"
    market = who.get(f"markets/{signal['market_id']}")["market"]
    assert market["import_source"] == "evm_venue"
    assert who.ask("PATCH", "reactor/config", json={"venue": "moon"}).status_code == 422


@row(CONFIG, "enabled")
def off_and_on(scene: Scene) -> None:
    who = follower(scene)
    until(scene, who)
    assert who.ok("PATCH", "reactor/config", json={"enabled": False})["enabled"] is False
    assert signals(who) == []
    who.ok("PATCH", "reactor/config", json={"enabled": True})
    assert signals(who)


@row(CONFIG, "price_buffer")
@row(LIMITS, "Reactor price_buffer")
def what_a_mirror_may_pay_more(scene: Scene) -> None:
    who = scene.stranger(plan="pro")
    assert who.get("reactor/config")["price_buffer"] == 0.02
    for value in (0, 0.2, 0.05):
        assert who.ok("PATCH", "reactor/config", json={"price_buffer": value})["price_buffer"] == (
            value
        )
    for wrong in (0.21, -0.01, "0.1"):
        assert who.ask("PATCH", "reactor/config", json={"price_buffer": wrong}).status_code == 422
    # The bound is honoured on sim, too: a price that the market has left behind is refused.
    market_id = scene.market()
    price = who.get(f"markets/{market_id}")["market"]["current_probability"]
    refused = who.trade(market_id, price=round(price * 0.9, 4))
    assert (refused["success"], refused["error_code"]) == (False, "PRICE_BEYOND_LIMIT")
    assert who.trade(market_id, amount=1, price=min(0.999, round(price * 1.2, 4)))["success"]


@row(CONFIG, "text 1")
def a_change_counts_within_seconds(scene: Scene) -> None:
    who = follower(scene, enabled=False)
    for _ in range(10):
        tick(scene)
    assert signals(who) == []
    who.ok("PATCH", "reactor/config", json={"enabled": True})
    tick(scene)
    tick(scene)
    assert signals(who)


SHAPES: Final[dict[str, Callable[[Json], bool]]] = {
    "tx_hash": lambda one: len(one["tx_hash"]) == 66 and int(one["tx_hash"], 16) > 0,
    "taker_wallet": lambda one: len(one["taker_wallet"]) == 42,
    "taker_side": lambda one: one["taker_side"] == "BUY",
    "taker_size": lambda one: one["taker_size"] > 0,
    "taker_price": lambda one: 0 < one["taker_price"] < 1,
    "market_id": lambda one: isinstance(one["market_id"], str),
    "market_title": lambda one: one["market_title"].endswith("?"),
    "side": lambda one: one["side"] in {"yes", "no"},
    "action": lambda one: one["action"] == "buy",
    "amount": lambda one: 0 < one["amount"] <= one["taker_size"] * one["taker_price"] + 0.001,
}


@row(SIGNAL, *SHAPES)
def a_field_of_a_signal(scene: Scene, name: str) -> None:
    who = follower(scene)
    until(scene, who)
    for one in signals(who):
        assert SHAPES[name](one)
        nested = {"taker_wallet": "wallet", "taker_side": "side", "taker_size": "size"}
        nested |= {"taker_price": "price", "market_title": "market_title"}
        if name in nested:
            assert one["whale"][nested[name]] == one[name]
    if name == "market_id":
        one = signals(who)[0]
        market = who.get(f"markets/{one['market_id']}")["market"]
        assert (market["status"], market["question"]) == ("active", one["market_title"])
    if name == "tx_hash":
        one = signals(who)[0]
        assert who.ok("DELETE", f"reactor/pending/{one['tx_hash']}") == {"ok": True}
        assert one["tx_hash"] not in {left["tx_hash"] for left in signals(who)}


def paused(who: Caller) -> Json:
    for _ in range(5):
        said = react(who, "failed")
    return said["breaker"]


@row(BREAKER, "running")
@row(LIMITS, "Reactor circuit breaker")
def failures_pause(scene: Scene) -> None:
    who = follower(scene)
    until(scene, who)
    for decision in ("failed",) * 4 + ("mirrored",) + ("failed",) * 4:
        assert react(who, decision)["breaker"]["state"] == "running"
    assert signals(who)
    assert react(who, "failed")["breaker"]["state"] == "paused"
    assert signals(who) == []
    for _ in range(20):
        tick(scene)
    said = who.get("reactor/pending")
    assert said["reactor_signals"] == []
    assert said["breaker"]["skipped"] > 0


@row(BREAKER, "paused")
def an_hour_resets(scene: Scene) -> None:
    who = follower(scene)
    assert paused(who)["state"] == "paused"
    scene.wait(HOUR_S - 1)
    assert who.get("reactor/config")["breaker"]["state"] == "paused"
    scene.wait(1)
    assert who.get("reactor/config")["breaker"]["state"] == "running"
    scene.pass_to(scene.service.stage.world.world_at + 1)
    assert until(scene, who)


@row(BREAKER, "paused (b)")
def the_operator_resets(scene: Scene) -> None:
    who = follower(scene)
    assert paused(who)["state"] == "paused"
    said = scene.desk("POST", f"agents/{who.agent_id}/reactor/reset")
    assert (said["breaker"]["state"], said["breaker"]["failures"]) == ("running", 0)
    assert until(scene, who)


@row(ENDPOINTS, "PATCH /api/sdk/reactor/config")
def the_config_is_patched(scene: Scene) -> None:
    who = scene.stranger(plan="pro")
    wanted = {
        "wallets": [f"0x{'1' * 40}"],
        "min_size": 50,
        "max_size": 20,
        "mirror_fraction": 0.01,
        "daily_cap": 25,
        "venue": "sim",
        "enabled": True,
        "price_buffer": 0.1,
    }
    for sent in (wanted, {}, {"wallets": []}):
        said = who.ok("PATCH", "reactor/config", json=sent)
        wanted |= sent
        assert {name: said[name] for name in wanted} == wanted
    assert who.get("reactor/config") == said


@row(ENDPOINTS, "GET /api/sdk/reactor/pending")
def the_signals_are_listed(scene: Scene) -> None:
    who = follower(scene)
    signal = until(scene, who)
    assert set(SHAPES) <= set(signal)
    assert signals(scene.stranger(plan="pro")) == []


@row(ENDPOINTS, "DELETE signal deletion by tx_hash")
def a_signal_is_deleted(scene: Scene) -> None:
    who, other = follower(scene), follower(scene)
    one = until(scene, who)
    assert one["signal_id"] in {left["signal_id"] for left in signals(other)}
    for _ in range(2):
        assert who.ok("DELETE", f"reactor/pending/{one['signal_id']}") == {"ok": True}
    assert one["signal_id"] not in {left["signal_id"] for left in signals(who)}
    # Everybody has a list of its own.
    assert one["signal_id"] in {left["signal_id"] for left in signals(other)}
    missing = who.ask("DELETE", "reactor/pending/0x0:maker:0:0xab:77")
    assert (missing.status_code, bool(missing.json()["fix"])) == (404, True)


@row(FLOW, "item 1")
@row(EVENTS, "Reactor signal")
def the_service_watches_settlements(scene: Scene) -> None:
    who = follower(scene)
    until(scene, who)
    recent = scene.service.stage.world.reactor.recent
    for one in signals(who):
        settled, _ = recent[one["signal_id"]]
        assert (settled.wallet, settled.tx_hash) == (one["taker_wallet"], one["tx_hash"])
    size = max(one["taker_size"] for one in signals(who))
    who.ok("PATCH", "reactor/config", json={"min_size": size})
    assert {one["taker_size"] for one in signals(who)} == {size}


@row(FLOW, "item 2")
def a_signal_expires_soon(scene: Scene) -> None:
    who = follower(scene)
    one = until(scene, who)
    assert who.get("reactor/config")["signal_ttl_s"] == 60
    scene.wait(60)
    assert one["signal_id"] not in {left["signal_id"] for left in signals(who)}


@row(FLOW, "item 3")
def poll_trade_delete(scene: Scene) -> None:
    who = follower(scene, max_size=10, price_buffer=0.2)
    signal = until(scene, who, lambda one: one["taker_label"] != "Backroom")
    said = mirror(who, signal, 0.2)
    assert said["success"], said["error"]
    react(who, "mirrored", signal)
    who.ok("DELETE", f"reactor/pending/{signal['signal_id']}")
    assert signal["signal_id"] not in {left["signal_id"] for left in signals(who)}
    trade = who.get("trades")["trades"][0]
    assert trade["signal_data"]["tx_hash"] == signal["tx_hash"]
    newest = who.get("reactor/reactions", limit=10)["reactions"][0]
    assert (newest["decision"], newest["event_tx_hash"]) == ("mirrored", signal["tx_hash"])


@row(FLOW, "item 4")
def only_buys_are_mirrored(scene: Scene) -> None:
    who = follower(scene)
    recent = scene.service.stage.world.reactor.recent
    for _ in range(TICKS_MAX):
        if any(one.action.value == "sell" for one, _ in recent.values()):
            break
        tick(scene)
    assert any(one.action.value == "sell" for one, _ in recent.values())
    assert {(one["taker_side"], one["action"]) for one in signals(who)} <= {("BUY", "buy")}


@row(FLOW, "item 5")
def a_poll_every_two_seconds_is_no_burden(scene: Scene) -> None:
    who = scene.stranger(plan="pro")
    for _ in range(30):
        assert who.ask("GET", "reactor/pending").status_code == 200
        scene.wait(2.0)


@row(FLOW, "item 6")
def what_is_missing_is_listed(scene: Scene) -> None:
    who = follower(scene)
    stage = scene.service.stage
    before = set(stage.world.markets)
    signal = until(
        scene,
        who,
        lambda one: (
            one["market_id"] not in before
            and stage.world.markets[one["market_id"]].listing.slot >= 1_000
        ),
    )
    market = who.get(f"markets/{signal['market_id']}")["market"]
    assert market["question"] == signal["market_title"]
    # Nobody's imports of the day are used up by it.
    assert stage.world.agents[who.agent_id].day_imports == 0
