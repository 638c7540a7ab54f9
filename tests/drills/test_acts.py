"""What each row of a scenario does, and why it did not."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.client.errors import Called, UnreachableError
from service_tui.engine.chain_events import WalletFilled
from service_tui.engine.position import Position
from service_tui.engine.reactor.wallets import ROSTER
from service_tui.terms import Action, LeashMode, Side, TradeStatus
from service_tui.units import ONE, Micros
from service_tui.wire.chain import ChainPatch
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints import desk, fleet
from service_tui.wire.endpoints import public as on
from service_tui.wire.fleet import ApproveRequest, LeashRequest, RefuseRequest
from service_tui.wire.monitors import MonitorQuery, MonitorRequest
from service_tui.wire.reactor import ReactorConfigPatch
from service_tui.wire.trades import TradeRequest
from service_tui.wiring.drills import acts
from service_tui.wiring.drills.acts import ACTS, Acting, act
from service_tui.wiring.drills.line import LineFault
from service_tui.wiring.drills.scenario import Row
from service_tui.wiring.drills.stage import Ramp

MARKETS: Final = {"rain": "m1", "snow": "m2"}


class Caller:
    """A client that notes each call and answers as it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, dict[str, Any]]] = []
        self.answers: dict[Any, Any] = {}

    async def call(self, endpoint: Any, **asked: Any) -> Any:
        self.calls.append((endpoint, asked))
        answer = self.answers.get(endpoint, SimpleNamespace(success=True, status=None, error=None))
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(answer=answer)


class Stage:
    """A world with two markets; you and ada trade, somebody supervises."""

    def __init__(self) -> None:
        self.world = bare_world("you-1", "ada-1")
        for market_id in MARKETS.values():
            listed(self.world, market_id)
        self.you, self.ada, self.operator = Caller(), Caller(), Caller()
        self.actors = {
            acts.YOU: SimpleNamespace(agent_id="you-1", client=self.you),
            "ada": SimpleNamespace(agent_id="ada-1", client=self.ada),
        }
        self.ramps: dict[str, Ramp] = {}
        self.scenario = SimpleNamespace(name="storm", wallet="")
        self.clock = SimpleNamespace(now=lambda: AT)
        self.played: list[Any] = []
        self.written: list[Any] = []
        store = SimpleNamespace(play=self._play, commit=self._commit)
        self.sim = SimpleNamespace(service=SimpleNamespace(world_store=store))

    def market_id(self, name: str) -> str:
        return MARKETS[name]

    def times(self, at_s: float) -> tuple[float, float]:
        return AT + at_s, AT + 60 * at_s

    async def _play(self, *words: Any) -> None:
        self.played.append(words)

    async def _commit(self, events: Any) -> None:
        self.written += events


def acting(stage: Any, at_s: float = 7.0) -> Acting:
    line: Any = SimpleNamespace(faults=[])
    return Acting(stage, line, at_s)


async def done(stage: Any, kind: str, **values: Any) -> str:
    return await act(acting(stage), Row(12, values, kind))


async def test_a_price_moves_from_where_it_is_to_its_aim() -> None:
    stage = Stage()
    assert await done(stage, "price", market="snow", to=0.8, over=5) == ""
    start = stage.world.markets["m2"].price()
    assert stage.ramps == {"m2": Ramp(start, 7.0, 0.8, 12.0)}
    for kind in ("news", "settle"):
        assert await done(stage, kind) == ""


SIGNAL: Final = {"market": "rain", "side": "no", "shares": 20.0, "wallet": "harbour PILOT"}


async def test_a_signal_is_a_trade_of_a_named_wallet(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    monkeypatch.setattr(acts, "wallet_address", lambda *words: "0x" + repr(words[1:]))
    assert await done(stage, "signal", **SIGNAL, real=False, price=0.45) == ""
    ((times, prices, (settled,)),) = stage.played
    assert (times, prices) == ((AT + 7, AT + 420), {})
    assert settled._asdict() == {
        "tx_hash": settled.tx_hash, "wallet": "0x('harbour PILOT', 12)", "label": "Harbour Pilot",
        "venue": ROSTER[0].venue, "market_id": "m1", "slot": -1, "number": 0, "side": Side.NO,
        "action": Action.BUY, "shares": 20 * ONE, "price": 0.45, "cost": 0, "leg": -1,
    }  # fmt: skip
    assert (settled.tx_hash[:2], len(settled.tx_hash)) == ("0x", 66)


async def test_a_real_signal_moves_the_market_for_its_money(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    monkeypatch.setattr(acts, "wallet_address", lambda *_: "0xab")
    quote = stage.world.markets["m1"].quote_buy(Side.NO, Micros(12 * ONE))
    assert await done(stage, "signal", **SIGNAL, real=True) == ""
    ((_, _, (settled,)),) = stage.played
    assert (settled.price, settled.shares, settled.cost) == (0.6, quote.shares, 12 * ONE)


async def test_the_gas_of_a_linked_wallet_is_set() -> None:
    stage: Any = Stage()
    assert await done(stage, "gas", pol=0.5) == "no wallet is linked"
    wallet = SimpleNamespace(address="0xab")
    stage.world = SimpleNamespace(
        chain=SimpleNamespace(wallet_of=lambda who: wallet if who == "you-1" else None),
        note=lambda event: [event],
    )
    assert await done(stage, "gas", pol=0.5) == ""
    assert stage.written == [WalletFilled("you-1", AT, "0xab", {"gas": 5 * 10**17})]


@pytest.mark.parametrize(
    ("values", "body"),
    [
        ({"gwei": 90.0}, ChainPatch(gas_price_gwei=90.0)),
        ({"block": 4.0}, ChainPatch(block_s=4.0)),
        ({}, ChainPatch()),
    ],
)
async def test_the_chain_changes_in_what_is_named(values: dict[str, Any], body: ChainPatch) -> None:
    stage = Stage()
    assert await done(stage, "chain", **values) == ""
    assert stage.operator.calls == [(acts.DESK_PATCH_CHAIN, {"body": body})]


async def test_a_fault_of_the_line_lasts_from_now_on() -> None:
    at_work = acting(Stage(), 7.0)
    row = Row(1, {"calls": "orders", "fault": "lost", "for": 30, "silence": 4}, "fault")
    assert await act(at_work, row) == ""
    assert at_work.line.faults == [LineFault("orders", "lost", 37.0, 4.0)]


BUY: Final = {"market": "rain", "side": "no", "money": 12.5, "reason": "it rains"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"success": True, "status": None}, ""),
        ({"success": True, "status": TradeStatus.SUBMITTED}, "needs approval"),
        ({"success": False, "error": "no room"}, "refused: no room"),
        ({"success": False, "error": None}, "refused: no reason given"),
    ],
)
async def test_a_buy_is_an_order_of_whoever_the_row_names(answer: Any, why: str) -> None:
    stage = Stage()
    stage.ada.answers[on.PLACE_TRADE] = SimpleNamespace(**answer)
    assert await done(stage, "buy", who="ada", **BUY) == why
    body = TradeRequest(
        market_id="m1", side=Side.NO, action=Action.BUY, amount=12.5, reasoning="it rains"
    )
    assert stage.ada.calls == [(on.PLACE_TRADE, {"body": body})]
    assert stage.you.calls == []


@pytest.mark.parametrize(
    ("part", "shares"), [(1.0, 33.33333), (2.0, 33.33333), (0.5, 16.66666), (0.0, None)]
)
async def test_a_sale_is_a_part_of_what_is_held(part: float, shares: float | None) -> None:
    stage = Stage()
    held = stage.world.agents["ada-1"].positions["m1"] = Position("ada-1", "m1")
    held.no.shares = Micros(33_333_330)
    values = {"who": "ada", "market": "rain", "side": "no", "part": part}
    why = await done(stage, "sell", **values)
    if shares is None:
        assert (why, stage.ada.calls) == ("nothing is held", [])
    else:
        body = TradeRequest(market_id="m1", side=Side.NO, action=Action.SELL, shares=shares)
        assert (why, stage.ada.calls) == ("", [(on.PLACE_TRADE, {"body": body})])
    assert await done(stage, "sell", **{**values, "side": "yes", "part": 1}) == "nothing is held"
    assert await done(stage, "sell", **{**values, "who": acts.YOU, "part": 1}) == "nothing is held"


async def test_a_stop_is_set_and_taken_off() -> None:
    stage = Stage()
    where = {"who": "ada", "market": "snow", "side": "no"}
    assert await done(stage, "stop", **where, loss=0.2) == ""
    assert await done(stage, "unstop", **where) == ""
    path = {"market_id": "m2"}
    assert stage.ada.calls == [
        (on.SET_MONITOR, {"path": path, "body": MonitorRequest(side=Side.NO, stop_loss_pct=0.2)}),
        (on.DELETE_MONITOR, {"path": path, "query": MonitorQuery(side=Side.NO)}),
    ]


async def test_you_follow_and_mirror_the_oldest_signal() -> None:
    stage = Stage()
    assert await done(stage, "follow", on=True) == ""
    assert stage.you.calls.pop() == (
        on.PATCH_REACTOR, {"body": ReactorConfigPatch(enabled=True)}
    )  # fmt: skip
    stage.you.answers[on.PENDING_SIGNALS] = SimpleNamespace(reactor_signals=())
    assert await done(stage, "mirror") == "no signal waits"
    signals = [
        SimpleNamespace(market_id=f"m{n}", side=Side.NO, amount=5.0 + n, tx_hash=f"0x{n}",
                        signal_id=f"s{n}")
        for n in (1, 2)
    ]  # fmt: skip
    stage.you.answers[on.PENDING_SIGNALS] = SimpleNamespace(reactor_signals=signals)
    refused = SimpleNamespace(success=False, error="no room")
    stage.you.answers[on.PLACE_TRADE] = refused
    assert await done(stage, "mirror") == "refused: no room"
    body = TradeRequest(
        market_id="m1", side=Side.NO, action=Action.BUY, amount=6.0,
        signal_data={"signal_source": "reactor", "tx_hash": "0x1"},
    )  # fmt: skip
    assert stage.you.calls[-2:] == [
        (on.PLACE_TRADE, {"body": body}), (on.DELETE_SIGNAL, {"path": {"signal_id": "s1"}})
    ]  # fmt: skip


async def test_a_market_without_an_outcome_is_not_redeemed() -> None:
    stage = Stage()
    assert await done(stage, "redeem", market="rain") == "the market has no outcome yet"
    assert stage.you.calls == []


@pytest.mark.parametrize(("outcome", "side"), [(True, Side.YES), (False, Side.NO)])
async def test_the_side_that_won_is_redeemed(
    *, outcome: bool, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage()
    stage.world.markets["m1"].outcome = outcome
    monkeypatch.setattr(acts, "signer_of", lambda _: None)
    for success, error, why in (
        (True, None, ""),
        (False, "later", "later"),
        (False, "", "refused"),
    ):
        stage.you.answers[acts.REDEEM] = SimpleNamespace(
            success=success, error=error, unsigned_tx=None
        )
        assert await done(stage, "redeem", market="rain") == why
    assert {call[1]["body"].side for call in stage.you.calls} == {side}
    assert {call[1]["body"].market_id for call in stage.you.calls} == {"m1"}


async def test_a_supervisor_halts_and_resumes() -> None:
    stage = Stage()
    assert [await done(stage, kind) for kind in ("halt", "resume")] == ["", ""]
    assert stage.operator.calls == [(desk.DESK_HALT, {}), (desk.DESK_RESUME, {})]


@pytest.mark.parametrize(
    ("kind", "endpoint", "body"),
    [
        ("approve", fleet.DESK_APPROVE, ApproveRequest()),
        ("refuse", fleet.DESK_REFUSE, RefuseRequest()),
    ],
)
async def test_every_trade_of_an_agent_that_waits_is_decided(
    kind: str, endpoint: Any, body: Any
) -> None:
    stage = Stage()
    trades = [
        SimpleNamespace(held_id=f"h{n}", agent_id=who)
        for n, who in enumerate(("ada-1", "you-1", "ada-1"))
    ]
    stage.operator.answers[fleet.DESK_HELD] = SimpleNamespace(held=trades)
    assert await done(stage, kind, agent="ada") == ""
    assert stage.operator.calls[1:] == [
        (endpoint, {"path": {"held_id": name}, "body": body}) for name in ("h0", "h2")
    ]
    stage.operator.answers[fleet.DESK_HELD] = SimpleNamespace(held=trades[1:2])
    assert await done(stage, kind, agent="ada") == "no trade waits"


@pytest.mark.parametrize(("values", "budget"), [({"budget": 20.0}, 20.0), ({}, None)])
async def test_an_agent_is_leashed_or_paused(values: dict[str, Any], budget: float | None) -> None:
    stage = Stage()
    assert await done(stage, "leash", agent="ada", mode="ask", threshold=5.0, **values) == ""
    assert await done(stage, "pause", agent="ada", on=True) == ""
    leash = LeashRequest(mode=LeashMode.ASK, threshold=5.0, daily_budget=budget)
    path = {"agent_id": "ada-1"}
    assert stage.operator.calls == [
        (fleet.DESK_SET_LEASH, {"path": path, "body": leash}),
        (desk.DESK_PATCH_AGENT, {"path": path, "body": DeskAgentPatch(trading_paused=True)}),
    ]


async def test_an_error_of_the_service_is_why_a_row_came_to_nothing() -> None:
    stage = Stage()
    error = UnreachableError("nobody there", Called("POST", "/x"))
    stage.operator.answers[desk.DESK_HALT] = error
    assert await done(stage, "halt") == error.sentence


def test_there_is_an_act_for_each_kind() -> None:
    assert len(ACTS) == 20
