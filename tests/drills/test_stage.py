"""The world of a drill before its first second: markets, agents, positions, leashes, wallets."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.credentials.keys import DeskKeys
from service_tui.drills import stage as room
from service_tui.drills.kinds import YOU
from service_tui.drills.scenario import Row, Scenario, ScenarioError
from service_tui.drills.stage import (
    Actor,
    DrillStage,
    Ramp,
    agents_measured,
    market_id_of,
    set_up,
    signer_of,
    wallet_address,
)
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import AgentChanged, MarketListed, OrderPlaced
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Action, LeashMode, OrderType, Side, Venue, WalletKind
from service_tui.units import ONE, Timestamp
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.desk import DESK_CLAIM
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import (
    PATCH_REACTOR,
    PATCH_USER_SETTINGS,
    PLACE_TRADE,
    REGISTER,
)
from service_tui.wire.fleet import LeashRequest
from service_tui.wire.reactor import ReactorConfigPatch
from service_tui.wire.settings import UserSettingsPatch
from service_tui.wire.trades import TradeRequest

LABEL = ROSTER[0].label


def row(kind: str = "", line: int = 3, **values: Any) -> Row:
    return Row(line, values, kind)


def market(name: str = "dam", **values: Any) -> Row:
    given = {
        "name": name, "question": f"Will {name}?", "criteria": "By report.", "price": 0.25,
        "liquidity": 500.0, "hours": 4.0, "venue": "sim", **values,
    }  # fmt: skip
    return row(**given)


def scenario(**parts: Any) -> Scenario:
    given: dict[str, Any] = {
        "name": "flood", "title": "t", "brief": "b", "minutes": 2, "seed": 7, "speed": 10,
        "wallet": "service", "score": row(of="all"), "markets": (market(),), **parts,
    }  # fmt: skip
    return Scenario(**given)


# -- the markets --------------------------------------------------------------------------------


def listing(*events: Row, **values: Any) -> Any:
    return room._listing(scenario(events=events), market(**values), AT)


def test_a_market_is_the_one_that_its_row_describes() -> None:
    one = listing(venue="polymarket")
    assert (one.market_id, one.subject) == (market_id_of(scenario(), "dam"), "dam")
    assert (one.question, one.criteria, one.home) == ("Will dam?", "By report.", Venue.EVM)
    assert (one.start_price, one.b, one.strength) == (0.25, 500 * ONE, room.CALM)
    assert (one.opens_at, one.resolves_at, one.resolved_at) == (
        AT - HOUR, AT + 4 * HOUR, AT + 5 * HOUR,
    )  # fmt: skip
    assert (one.outcome, one.news) == (True, ())


@pytest.mark.parametrize(("word", "outcome"), [("yes", True), ("no", False)])
def test_a_market_that_is_settled_ends_at_that_second_of_the_drill(
    word: str, *, outcome: bool
) -> None:
    settle = row("settle", at=30.0, market="dam", wait=4.0, outcome=word)
    other = row("settle", at=1.0, market="dyke", wait=0.0, outcome="yes")
    one = listing(other, settle)
    assert (one.resolved_at, one.resolves_at, one.outcome) == (AT + 300, AT + 260, outcome)


def test_news_of_a_market_come_at_their_seconds_of_the_drill() -> None:
    one = listing(
        row("news", at=5.0, market="dam", text="rain"), row("price", at=6.0, market="dam"),
        row("news", at=7.0, market="dyke", text="sun"),
        row("news", at=8.0, market="dam", text="sun"),
    )  # fmt: skip
    assert [(news.at, news.headline) for news in one.news] == [(AT + 50, "rain"), (AT + 80, "sun")]


def test_a_price_on_its_way_is_even_and_stays_at_its_end() -> None:
    ramp = Ramp(0.2, 10.0, 0.6, 20.0)
    assert [round(ramp.price_at(at), 6) for at in (10, 15, 20, 99)] == [0.2, 0.4, 0.6, 0.6]


async def test_the_world_has_the_markets_of_the_scenario_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Any] = []

    async def begin(*given: Any) -> None:
        begun.extend(given)

    monkeypatch.setattr(room, "begin", begin)
    one = scenario(markets=(market("dam"), market("dyke")))
    await room.write_world(cast("Any", "database"), one, AT)
    database, world = begun
    assert database == "database"
    assert [each.listing.subject for each in world.markets.values()] == ["dam", "dyke"]
    assert (world.seed, world.at) == (7, AT)
    assert isinstance(MarketListed(AT, AT, listing()), MarketListed)


# -- the people ---------------------------------------------------------------------------------


@dataclass
class Caller:
    """A client that notes what it is asked."""

    name: str
    calls: list[tuple[Any, ...]]
    answers: dict[Any, Any] = field(default_factory=dict)

    async def call(self, endpoint: Any, **given: Any) -> Any:
        self.calls.append((self.name, endpoint, given))
        return SimpleNamespace(answer=self.answers.get(endpoint))


class Setting:
    """A stage whose service only takes notes."""

    def __init__(self, one: Scenario) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.written: list[Any] = []
        self.played: list[Any] = []
        self.world = bare_world("a-you", "a-hare")
        for each in one.markets:
            home = room.VENUES[each.text("venue")]
            name = market_id_of(one, each.text("name"))
            listed(self.world, name, home=home, start_price=each.number("price"))
        self.sim: Any = SimpleNamespace(service=SimpleNamespace(world=self.world, world_store=self))
        self.clock: Any = SimpleNamespace(now=lambda: AT)
        self.trade = SimpleNamespace(success=True, error=None)

    def caller(self, name: str) -> Any:
        return Caller(name, self.calls, {PLACE_TRADE: self.trade})

    def stage(self, one: Scenario) -> DrillStage:
        actors = {
            YOU: Actor("a-you", self.caller(YOU)), "hare": Actor("a-hare", self.caller("hare")),
        }  # fmt: skip
        operator = self.caller("operator")
        return DrillStage(one, self.sim, self.clock, operator, actors, self.world.world_at)

    async def commit(self, events: Any) -> None:
        self.written.extend(events)

    async def play(self, *given: Any) -> None:
        self.played.append(given)


def test_times_of_a_drill_never_run_back() -> None:
    it = Setting(one := scenario())
    stage = it.stage(one)
    stage.began = Timestamp(AT + 100)
    it.world.at, it.world.world_at = Timestamp(AT + 5), Timestamp(AT + 130)
    assert stage.times(2.0) == (AT + 5, AT + 130)
    it.world.at = Timestamp(AT - 5)
    assert stage.times(4.0) == (AT, AT + 140)


async def test_an_agent_registers_and_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Setting(one := scenario())
    made = SimpleNamespace(api_key="sk_live_fox", agent_id="a-fox")
    keys: list[Any] = []

    def client_of(sim: Any, clock: Any, given: Any) -> Any:
        assert (sim, clock) == (it.sim, it.clock)
        keys.append(given)
        return Caller("stranger", it.calls, {REGISTER: made})

    monkeypatch.setattr(room, "client_of", client_of)
    stage = it.stage(one)
    await room._register(stage, row(name="fox", about="buys late"))
    assert it.calls == [
        ("stranger", REGISTER, {"body": RegisterRequest(name="fox", description="buys late")}),
        ("operator", DESK_CLAIM, {"path": {"agent_id": "a-fox"}}),
    ]
    assert stage.actors["fox"].agent_id == "a-fox"
    assert keys[0].api is None
    assert keys[1].api is not None


@pytest.mark.parametrize("budget", [{}, {"budget": 50.0}])
async def test_an_agent_is_put_on_the_leash_of_its_row(budget: dict[str, float]) -> None:
    it = Setting(one := scenario())
    await room._put_on_leash(it.stage(one), row(name="hare", leash="none"))
    assert it.calls == []
    leash = row(name="hare", leash="ask", threshold=20.0, wait=90.0, **budget)
    await room._put_on_leash(it.stage(one), leash)
    body = LeashRequest(
        mode=LeashMode.ASK, threshold=20.0, daily_budget=budget.get("budget"), wait_s=90
    )
    assert it.calls == [
        ("operator", DESK_SET_LEASH, {"path": {"agent_id": "a-hare"}, "body": body})
    ]


# -- the positions ------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [{}, {"stop": 0.3}])
async def test_a_position_for_play_money_is_bought(stop: dict[str, float]) -> None:
    it = Setting(one := scenario())
    held = row(who="hare", market="dam", side="no", money=12.346, **stop)
    await room._buy(it.stage(one), held)
    body = TradeRequest(
        market_id=market_id_of(one, "dam"), side=Side.NO, action=Action.BUY, amount=12.35,
        reasoning="bought before the drill", stop_loss_pct=stop.get("stop"),
    )  # fmt: skip
    assert it.calls == [("hare", PLACE_TRADE, {"body": body})]
    it.trade.success, it.trade.error = False, "too large"
    with pytest.raises(ScenarioError, match="line 3: the position cannot be bought: too large"):
        await room._buy(it.stage(one), held)


@pytest.mark.parametrize(
    ("side", "price", "shares"), [("yes", 0.25, 40 * ONE), ("no", 0.75, 13_333_330)]
)
async def test_a_position_on_the_chain_is_given_at_the_first_price(
    side: str, price: float, shares: int
) -> None:
    it = Setting(one := scenario(markets=(market(venue="polymarket"),)))
    await room._hold(it.stage(one), row(who="hare", market="dam", side=side, money=10.0))
    (made,) = it.written
    assert isinstance(made, OrderPlaced)
    assert (made.agent_id, made.venue, made.market_id, made.side) == (
        "a-hare", Venue.EVM, market_id_of(one, "dam"), Side(side),
    )  # fmt: skip
    assert (made.action, made.order_type, made.money, made.size) == (
        Action.BUY, OrderType.FAK, 10 * ONE, 10 * ONE,
    )  # fmt: skip
    assert (made.shares, made.requested, made.price_before, made.price_after) == (
        shares, shares, price, price,
    )  # fmt: skip
    assert (made.fee, made.rests, made.reserved, made.order_id) == (0, 0, 0, "o1")
    holding = it.world.venues.account("a-hare", Venue.EVM).holdings[made.market_id]
    assert holding.position.shares(Side(side)) == shares


# -- the wallet ---------------------------------------------------------------------------------


def test_an_own_wallet_is_the_same_in_each_run_of_a_scenario_and_another_elsewhere() -> None:
    assert signer_of(scenario()) is None
    own, again = signer_of(scenario(wallet="own")), signer_of(scenario(wallet="own", seed=8))
    other = signer_of(scenario(wallet="own", name="dyke"))
    assert isinstance(own, LocalSigner)
    assert again is not None
    assert other is not None
    assert own.address == again.address != other.address


async def test_the_own_wallet_is_linked_and_redeems_nothing_by_itself() -> None:
    it = Setting(one := scenario(wallet="own"))
    stage = it.stage(one)
    # The wallet is the person's, wherever the person stands among the actors.
    stage.actors[YOU] = stage.actors.pop(YOU)
    await room._link(stage)
    linked, changed = it.written
    signer = signer_of(one)
    assert signer is not None
    assert linked == WalletLinked("a-you", AT, signer.address)
    assert isinstance(changed, AgentChanged)
    assert changed.changes == {"wallet": WalletKind.EXTERNAL, "auto_redeem_enabled": False}


def test_a_wallet_is_named_in_whatever_letters() -> None:
    one = scenario()
    assert wallet_address(one, LABEL.upper(), 3) == address_of(7, ROSTER[0])
    with pytest.raises(ScenarioError, match=f"line 9: no wallet nobody: one of {LABEL}"):
        wallet_address(one, "nobody", 9)


async def test_wallets_are_followed_once_each_by_the_first_rows_terms() -> None:
    rows = tuple(
        row(wallet=label, mirror=mirror, cap=500.0, buffer=0.05)
        for label, mirror in ((LABEL, 0.5), (LABEL, 0.9), (ROSTER[1].label, 0.1))
    )
    it = Setting(one := scenario(follows=rows))
    await room._follow(it.stage(one))
    body = ReactorConfigPatch(
        wallets=(address_of(7, ROSTER[0]), address_of(7, ROSTER[1])), mirror_fraction=0.5,
        daily_cap=500.0, max_size=100_000.0, price_buffer=0.05, enabled=True,
    )  # fmt: skip
    assert it.calls == [(YOU, PATCH_REACTOR, {"body": body})]


@pytest.mark.parametrize(("of", "names"), [(YOU, [YOU]), ("all", [YOU, "hare"])])
def test_the_score_counts_the_person_or_all(of: str, names: list[str]) -> None:
    it = Setting(one := scenario(score=row(of=of)))
    assert list(agents_measured(it.stage(one))) == names


# -- all of it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wallet", ["service", "own"])
def test_everything_is_there_before_the_first_second(
    monkeypatch: pytest.MonkeyPatch, wallet: str
) -> None:
    one = scenario(
        wallet=wallet, markets=(market(), market("dyke", venue="polymarket", price=0.6)),
        agents=(row(name="hare"),), follows=(row(wallet="w"),),
        positions=(row(who=YOU, market="dam"), row(who="hare", market="dyke")),
    )  # fmt: skip
    it, steps = Setting(one), list[str]()

    def noted(name: str, *what: str) -> Any:
        async def step(stage: DrillStage, *rows: Row) -> None:
            if name == "_register":
                stage.actors["hare"] = Actor("a-hare", it.caller("hare"))
            steps.append(
                " ".join([name, *(str(one.values.get(key)) for one in rows for key in what)])
            )

        return step

    for name, what in (
        ("_register", ("name",)), ("_link", ()), ("_buy", ("market",)), ("_hold", ("market",)),
        ("_put_on_leash", ("name",)), ("_follow", ()),
    ):  # fmt: skip
        monkeypatch.setattr(room, name, noted(name, *what))
    made: list[Any] = []
    monkeypatch.setattr(room, "client_of", lambda *given: made.append(given) or it.caller("one"))
    keys = DeskKeys("sk_operator", agent="sk_live_you", agent_id="a-you")
    stage = asyncio.run(set_up(one, it.sim, keys, it.clock))
    linked = ["_link"] if wallet == "own" else []
    assert steps == [
        "_register hare", *linked, "_buy dam", "_hold dyke", "_put_on_leash hare", "_follow",
    ]  # fmt: skip
    # No account has a stop that nobody requested.
    no_stop = {"body": UserSettingsPatch(auto_risk_monitor_enabled=False)}
    assert it.calls == [(who, PATCH_USER_SETTINGS, no_stop) for who in ("one", "hare")]
    prices = {market_id_of(one, "dam"): 0.25, market_id_of(one, "dyke"): 0.6}
    assert it.played == [((AT, it.world.world_at), prices)]
    assert (stage.began, stage.actors[YOU].agent_id) == (it.world.world_at, "a-you")
    operator, own = made
    assert (operator[2].operator is not None, operator[2].api) == (True, None)
    assert (own[2].api is not None, own[2].operator) == (True, None)
