"""What each kind of row asks whom for, and in which order the rows of a drill are played."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.client.errors import Called, RefusalReason, RefusedError
from service_tui.desk.slices.drill import DrillLine
from service_tui.drills import director as directing
from service_tui.drills.acts import ACTS, Acting, act
from service_tui.drills.director import Director, _who
from service_tui.drills.kinds import KINDS, YOU
from service_tui.drills.line import LineFault
from service_tui.drills.scenario import Row
from service_tui.drills.stage import Ramp
from service_tui.engine.chain.chain import WEI
from service_tui.engine.chain_events import WalletFilled
from service_tui.engine.events import Breached, Fill
from service_tui.engine.exits import SOURCES
from service_tui.terms import Action, LeashMode, Side, TradeStatus
from service_tui.units import ONE, SHARE_QUANTUM, Micros
from service_tui.wire.chain import ChainPatch
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints import desk, fleet, public, wallet
from service_tui.wire.fleet import ApproveRequest, LeashRequest, RefuseRequest
from service_tui.wire.monitors import MonitorQuery, MonitorRequest
from service_tui.wire.reactor import ReactorConfigPatch
from service_tui.wire.redemption import RedeemRequest
from service_tui.wire.trades import TradeRequest

Note = SimpleNamespace
ENDPOINTS = {
    one: name
    for module in (desk, fleet, public, wallet)
    for name, one in vars(module).items()
    if type(one).__name__ == "Endpoint"
}


@dataclass
class Caller:
    """A client that takes notes and answers as a test wants."""

    name: str
    done: list[tuple[Any, ...]]
    answers: dict[str, Any] = field(default_factory=dict)

    async def call(self, endpoint: Any, **given: Any) -> Any:
        name = ENDPOINTS[endpoint]
        self.done.append((self.name, name, given))
        answer = self.answers.get(name)
        if isinstance(answer, Exception):
            raise answer
        return Note(answer=answer)


class Stage:
    """A stage with one market and two actors."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.operator = Caller("operator", self.done)
        self.actors = {
            YOU: Note(agent_id="a-you", client=Caller(YOU, self.done)),
            "hare": Note(agent_id="a-hare", client=Caller("hare", self.done)),
        }
        self.ramps: dict[str, Ramp] = {}
        self.events: list[Any] = []
        self.market = Note(price=lambda: 0.4, outcome=None)
        self.world: Any = Note(
            markets={"id-dam": self.market},
            agents={"a-you": Note(positions={}), "a-hare": Note(positions={})},
            chain=Note(wallet_of=lambda _: None),
            note=lambda event: [event],
            question_of=lambda market_id: f"Will {market_id} happen?",
        )
        self.sim = Note(service=Note(world_store=self))
        self.clock = Note(now=lambda: 55.0)
        self.scenario = Note(length_s=120.0)

    def market_id(self, name: str) -> str:
        return f"id-{name}"

    def times(self, at_s: float) -> tuple[float, float]:
        return (at_s, at_s * 2)

    async def play(self, times: Any, prices: Any, settled: Any = ()) -> list[Any]:
        self.done.append(("play", times, dict(prices), *settled))
        return self.events

    async def commit(self, events: Any) -> None:
        self.done.append(("commit", *events))


def row(kind: str, at: float = 10.0, **values: Any) -> Row:
    return Row(3, {"at": at, **values}, kind)


async def acted(stage: Stage, one: Row, line: Any = None) -> str:
    acting: Any = Acting(stage, line, 10.0)  # type: ignore[arg-type]
    return await act(acting, one)


PATH = {"path": {"market_id": "id-dam"}}
HARE = {"path": {"agent_id": "a-hare"}}
DONE = Note(success=True, status=TradeStatus.FILLED)

CALLS: dict[str, tuple[Row, list[tuple[Any, ...]]]] = {
    "buy": (
        row("buy", who="hare", market="dam", side="no", money=12.346, reason="cheap"),
        [("hare", "PLACE_TRADE", {"body": TradeRequest(
            market_id="id-dam", side=Side.NO, action=Action.BUY, amount=12.35,
            reasoning="cheap")})],
    ),
    "stop": (
        row("stop", who="hare", market="dam", side="no", loss=0.3),
        [("hare", "SET_MONITOR", {**PATH, "body": MonitorRequest(
            side=Side.NO, stop_loss_pct=0.3)})],
    ),
    "unstop": (
        row("unstop", who="hare", market="dam", side="no"),
        [("hare", "DELETE_MONITOR", {**PATH, "query": MonitorQuery(side=Side.NO)})],
    ),
    "follow": (
        row("follow", on=False),
        [(YOU, "PATCH_REACTOR", {"body": ReactorConfigPatch(enabled=False)})],
    ),
    "halt": (row("halt"), [("operator", "DESK_HALT", {})]),
    "resume": (row("resume"), [("operator", "DESK_RESUME", {})]),
    "leash": (
        row("leash", agent="hare", mode="ask", threshold=20.0, budget=50.0),
        [("operator", "DESK_SET_LEASH", {**HARE, "body": LeashRequest(
            mode=LeashMode.ASK, threshold=20.0, daily_budget=50.0)})],
    ),
    "leash without a budget": (
        row("leash", agent="hare", mode="observe", threshold=1.0),
        [("operator", "DESK_SET_LEASH", {**HARE, "body": LeashRequest(
            mode=LeashMode.OBSERVE, threshold=1.0)})],
    ),
    "pause": (
        row("pause", agent="hare", on=True),
        [("operator", "DESK_PATCH_AGENT", {**HARE, "body": DeskAgentPatch(trading_paused=True)})],
    ),
    "chain": (
        row("chain", gwei=90.0, block=4.0, next="revert"),
        [("operator", "DESK_PATCH_CHAIN", {"body": ChainPatch(
            gas_price_gwei=90.0, block_s=4.0, faults=("revert",))})],
    ),
    "chain unchanged": (
        row("chain"), [("operator", "DESK_PATCH_CHAIN", {"body": ChainPatch()})],
    ),
    "news": (row("news", market="dam", text="flood"), []),
    "settle": (row("settle", market="dam"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
async def test_a_row_asks_exactly_this_of_whom_it_names(name: str) -> None:
    stage, (one, wanted) = Stage(), CALLS[name]
    for actor in stage.actors.values():
        actor.client.answers["PLACE_TRADE"] = DONE
    assert await acted(stage, one) == ""
    assert stage.done == wanted


def test_every_kind_of_row_is_carried_out_by_something() -> None:
    assert ACTS.keys() == KINDS.keys()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (DONE, ""),
        (Note(success=True, status=TradeStatus.SUBMITTED), "needs approval"),
        (Note(success=False, error="no money"), "refused: no money"),
        (Note(success=False, error=None), "refused: no reason given"),
        (RefusedError(RefusalReason(error="not now"), Called("POST", "/x"), status=409), "not now"),
    ],
)
async def test_a_trade_without_its_usual_effect_says_why(answer: Any, why: str) -> None:
    stage = Stage()
    stage.actors["hare"].client.answers["PLACE_TRADE"] = answer
    one = row("buy", who="hare", market="dam", side="yes", money=1.0, reason="")
    assert why in await acted(stage, one)
    assert bool(await acted(stage, one)) is bool(why)


@pytest.mark.parametrize(
    ("held", "part", "sold"),
    [
        (None, 1.0, None), (0, 1.0, None), (SHARE_QUANTUM - 1, 0.5, None),
        (7 * SHARE_QUANTUM + 3, 1.0, 7 * SHARE_QUANTUM + 3),
        (7 * SHARE_QUANTUM, 0.5, 3 * SHARE_QUANTUM),
    ],
)  # fmt: skip
async def test_a_part_of_what_is_held_is_sold(
    held: int | None, part: float, sold: int | None
) -> None:
    stage = Stage()
    if held is not None:
        position = Note(shares=lambda side: Micros(held if side is Side.NO else 99 * ONE))
        stage.world.agents["a-hare"].positions["id-dam"] = position
    stage.actors["hare"].client.answers["PLACE_TRADE"] = DONE
    why = await acted(stage, row("sell", who="hare", market="dam", side="no", part=part))
    assert why == ("nothing is held" if sold is None else "")
    assert len(stage.done) == (sold is not None)
    if sold is not None:
        ((who, _, given),) = stage.done
        body = given["body"]
        assert (who, body.side, body.action) == ("hare", Side.NO, Action.SELL)
        assert body.shares == pytest.approx(sold / ONE)


async def test_a_price_begins_its_way_where_it_stands() -> None:
    stage = Stage()
    assert await acted(stage, row("price", market="dam", to=0.7, over=20.0)) == ""
    assert stage.ramps == {"id-dam": Ramp(0.4, 10.0, 0.7, 30.0)}


@pytest.mark.parametrize(
    ("at_s", "price"), [(10.0, 0.4), (15.0, 0.475), (29.0, 0.685), (30.0, 0.7), (99.0, 0.7)]
)
def test_a_price_on_its_way_is_between(at_s: float, price: float) -> None:
    assert Ramp(0.4, 10.0, 0.7, 30.0).price_at(at_s) == pytest.approx(price)


async def test_gas_comes_to_the_linked_wallet() -> None:
    stage = Stage()
    assert await acted(stage, row("gas", pol=1.5)) == "no wallet is linked"
    stage.world.chain.wallet_of = lambda agent_id: Note(address=f"0x-{agent_id}")
    assert await acted(stage, row("gas", pol=1.5)) == ""
    wanted: Any = WalletFilled("a-you", 55.0, "0x-a-you", {"gas": 15 * WEI // 10})  # type: ignore[arg-type]
    assert stage.done == [("commit", wanted)]


async def test_a_fault_of_the_line_begins_now_and_lasts() -> None:
    line = Note(faults=[])
    one = row("fault", calls="orders", fault="lost", **{"for": 5.0}, silence=2.0)
    assert await acted(Stage(), one, line) == ""
    assert line.faults == [LineFault("orders", "lost", 15.0, 2.0)]


async def test_the_oldest_signal_is_mirrored_and_let_go() -> None:
    stage = Stage()
    answers = stage.actors[YOU].client.answers
    answers["PENDING_SIGNALS"] = Note(reactor_signals=())
    assert await acted(stage, row("mirror")) == "no signal waits"
    signals = [
        Note(market_id="m", side=Side.NO, amount=7.0, tx_hash="0x1", signal_id=None),
        Note(market_id="n", side=Side.YES, amount=8.0, tx_hash="0x2", signal_id="s"),
    ]
    for signal, named in zip(signals, ("0x1", "s"), strict=True):
        stage.done.clear()
        answers["PENDING_SIGNALS"] = Note(reactor_signals=(signal, signals[0]))
        answers["PLACE_TRADE"] = Note(success=False, error="too dear")
        assert await acted(stage, row("mirror")) == "refused: too dear"
        body = TradeRequest(
            market_id=signal.market_id, side=signal.side, action=Action.BUY, amount=signal.amount,
            signal_data={"signal_source": "reactor", "tx_hash": signal.tx_hash},
        )  # fmt: skip
        assert stage.done == [
            (YOU, "PENDING_SIGNALS", {}), (YOU, "PLACE_TRADE", {"body": body}),
            (YOU, "DELETE_SIGNAL", {"path": {"signal_id": named}}),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "endpoint", "body"),
    [("approve", "DESK_APPROVE", ApproveRequest()), ("refuse", "DESK_REFUSE", RefuseRequest())],
)
async def test_what_waits_of_an_agent_is_decided(kind: str, endpoint: str, body: Any) -> None:
    stage = Stage()
    stage.operator.answers["DESK_HELD"] = Note(held=())
    assert await acted(stage, row(kind, agent="hare")) == "no trade waits"
    held = [Note(held_id=f"h{n}", agent_id=f"a-{who}") for n, who in enumerate(("hare", "you"))]
    stage.operator.answers["DESK_HELD"] = Note(held=(*held, Note(held_id="h2", agent_id="a-hare")))
    stage.done.clear()
    assert await acted(stage, row(kind, agent="hare")) == ""
    assert stage.done[1:] == [
        ("operator", endpoint, {"path": {"held_id": one}, "body": body}) for one in ("h0", "h2")
    ]


@pytest.mark.parametrize(("outcome", "side"), [(True, Side.YES), (False, Side.NO)])
async def test_the_winning_side_is_redeemed(
    monkeypatch: pytest.MonkeyPatch, *, outcome: bool, side: Side
) -> None:
    stage = Stage()
    monkeypatch.setattr("service_tui.drills.acts.signer_of", lambda _: None)
    assert await acted(stage, row("redeem", market="dam")) == "the market has no outcome yet"
    stage.market.outcome = outcome
    answers = stage.actors[YOU].client.answers
    for answer, why in (
        (Note(success=True, unsigned_tx=None), ""),
        (Note(success=False, unsigned_tx=None, error="nothing held"), "nothing held"),
        (Note(success=False, unsigned_tx=None, error=None), "refused"),
    ):
        answers["REDEEM"] = answer
        stage.done.clear()
        assert await acted(stage, row("redeem", market="dam")) == why
        body = RedeemRequest(market_id="id-dam", side=side)
        assert stage.done == [(YOU, "REDEEM", {"body": body})]


# -- the order of a drill ----------------------------------------------------------------------


@pytest.fixture
def acts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is done: a row's name and its second."""
    found: list[tuple[Any, ...]] = []

    async def act_(acting: Acting, one: Row) -> str:
        found.append((one.text("name"), acting.at_s))
        return "no" if one.text("name") == "undone" else ""

    monkeypatch.setattr(directing, "act", act_)
    monkeypatch.setattr(Row, "describe", lambda self: self.text("name"))
    return found


def directed(stage: Any, *rows: Row) -> Director:
    line: Any = None
    return Director(stage, line, rows)


async def test_the_world_comes_first_then_time_then_persons(acts: list[tuple[Any, ...]]) -> None:
    stage = Stage()
    director = directed(
        stage, row("buy", 5.0, name="buy"), row("price", 5.0, name="price"),
        row("halt", 3.5, name="halt"), row("gas", 7.0, name="late"),
    )  # fmt: skip
    stage.events = []
    stage.done = acts
    await director.play_until(5.9)
    played = [one[:2] if one[0] == "play" else one for one in acts]
    assert played == [
        ("play", (4, 8)), ("halt", 4), ("price", 5), ("play", (5, 10)), ("buy", 5),
    ]  # fmt: skip
    acts.clear()
    await director.play_until(5.95)
    assert acts == []
    await director.play_until(9.0)
    assert [one[0] for one in acts] == ["late", "play", "play"]


async def test_missed_seconds_are_played_while_a_price_is_on_its_way(
    acts: list[tuple[Any, ...]],
) -> None:
    stage = Stage()
    stage.done = acts
    director = directed(stage)
    stage.ramps["m"] = Ramp(0.2, 0.0, 0.4, 2.0)
    await director.play_until(4.0)
    assert acts == [
        ("play", (0, 0), {"m": 0.2}), ("play", (1, 2), {"m": pytest.approx(0.3)}),
        ("play", (2, 4), {"m": 0.4}), ("play", (4, 8), {}),
    ]  # fmt: skip
    assert stage.ramps == {}
    acts.clear()
    await director.leap_to(50)
    await director.play_until(51.0)
    assert [one[1] for one in acts] == [(50, 100), (51, 102)]


async def test_the_timeline_says_who_did_what_and_why_it_failed(
    acts: list[tuple[Any, ...]],
) -> None:
    rows = [
        row("buy", 1.0, name="undone", who="hare"), row("halt", 2.0, name="two"),
        row("fault", 3.0, name="three"), row("price", 4.0, name="four"),
        row("pause", 5.0, name="five", by="night shift", who="hare"),
    ]  # fmt: skip
    director = directed(Stage(), *rows)
    await director.play_until(9.0)
    assert director.lines == [
        DrillLine(1.0, "hare", "undone (no)"), DrillLine(2.0, YOU, "two"),
        DrillLine(3.0, "service", "three"), DrillLine(4.0, "world", "four"),
        DrillLine(5.0, "night shift", "five"),
    ]  # fmt: skip
    assert director.undone == [(rows[0], "no")]
    assert _who(rows[1]) == YOU
    assert len(acts) == 5


def event(kind: Any, **fields: Any) -> Any:
    """An event of which only these fields matter."""
    return kind(**(dict.fromkeys(kind._fields, 0) | fields))


async def test_what_the_service_does_by_itself_is_told() -> None:
    stage = Stage()
    source = next(iter(SOURCES.values()))
    fill = {"money": Micros(600 * ONE), "shares": Micros(1_200 * ONE), "side": Side.NO}
    breached = {"market_id": "m" * 40, "level": 0.25, "price": 0.2412}
    made: Any = [
        event(Breached, **breached),
        event(Fill, market_id="n", note=Note(source=source), **fill),
        event(Fill, market_id="n", note=Note(source="sdk:x"), **fill),
        object(),
    ]
    stage.events = made
    director = directed(stage)
    await director.play_until(7.0)
    asked = f"Will {'m' * 34}…"
    assert director.lines == [
        DrillLine(7, "service", f"stop at 0.250 breached at 0.241: {asked}"),
        DrillLine(7, "service", "sold 1,200 NO for 600.00, 0.500 each: Will n happen?"),
    ]


def test_the_busy_seconds_are_those_of_rows_of_prices_and_every_tenth() -> None:
    stage = Stage()
    stage.scenario.length_s = 34.0
    director = directed(
        stage, row("halt", 3.2), row("price", 11.0, over=2.5), row("buy", 33.5), row("buy", 90.0)
    )
    assert list(director.busy_seconds()) == [
        0, 4, 5, 10, 11, 12, 13, 14, 15, 20, 30, 34,
    ]  # fmt: skip
