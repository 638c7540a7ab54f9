"""Mirrors: what is bought once, reported, deleted at the service, or left alone."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import refuse_writes
from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor
from kit.service.stage import open_directory
from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    ReadOnlyError,
    RefusalReason,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.desk.changes import changed
from service_tui.desk.commands.reactor import DismissSignal, MirrorAllFrom, MirrorSignal
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.reactor.mirror_order import (
    SLACK,
    once_of,
    reaction_of,
    request_of_mirror,
    ticket_id_of,
    ticket_of_mirror,
)
from service_tui.desk.reactor.mirroring import (
    AT_ONCE_MAX,
    DISMISSED,
    UNSENT,
    Mirrors,
    manual_objection,
)
from service_tui.desk.reasons import HALTED
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.reactor import (
    BreakerView,
    Policy,
    SignalsSeen,
    SignalState,
    SignalView,
    WalletChoice,
)
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.storage.blotter import Blotter, Intent, StoredState
from service_tui.storage.db.database import Database
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import DELETE_SIGNAL, PLACE_TRADE, POST_REACTION, REACTIONS
from service_tui.wire.reactor import BreakerBody, ReactedBody, ReactionBody, ReactionsBody
from service_tui.wire.trades import TradeBody

WALLET, OTHER = "0x" + "1a" * 20, "0x" + "5c" * 20
CALLED = Called("POST", "/x")
GONE = NotFoundError(RefusalReason("gone", "", ""), CALLED, status=404)
AWAY = UnreachableError("away", CALLED)
SILENT = OutcomeUnknownError("no answer", CALLED)
NO = TradeBody(success=False, error="market closed", fix="wait")
AUTO = {WALLET: WalletChoice(WALLET, "ada", Policy.AUTO)}
REACTED = ReactedBody()


def signal_of(name: str = "s-1", **other: Any) -> SignalView:
    given: dict[str, Any] = {
        "signal_id": name, "tx_hash": f"tx-{name}", "wallet": WALLET, "label": "ada",
        "market_id": "m-00001", "question": "Will it?", "side": Side.NO, "venue": Venue.SIM,
        "size": Micros(120 * ONE), "price": 0.41, "amount": Micros(8 * ONE), "price_max": 0.44,
        "at": Timestamp(NOW - 5), "expires_at": Timestamp(NOW + 60), "name": f"Event-{name}",
    }  # fmt: skip
    return SignalView(**(given | other))


ENDED = signal_of(state=SignalState.MIRRORED, ticket_id="t-1", detail="bought 3")


@pytest.mark.parametrize(
    ("one", "held_back", "why"),
    [
        (None, "", "signal unknown"),
        (signal_of(), "", ""),
        (signal_of(), "trading is halted", "trading is halted"),
        (signal_of(state=SignalState.SKIPPED), "", ""),
        (signal_of(expires_at=NOW), "", "signal expired"),
        (
            signal_of(state=SignalState.SKIPPED, expires_at=NOW, detail="too dear"),
            "",
            "signal expired: too dear",
        ),
        (ENDED, "", "signal already mirrored: bought 3"),
        (signal_of(state=SignalState.MIRRORING, ticket_id="t"), "", "signal already mirroring"),
    ],
)
def test_a_person_mirrors_what_was_not_tried_and_has_not_expired(
    one: SignalView | None, held_back: str, why: str
) -> None:
    assert manual_objection(one, NOW, held_back) == why


# -- a desk whose service answers as a test says ---------------------------------------------------


def bought(shares: float = 18.0, cost: float = 7.8) -> TradeBody:
    return TradeBody(
        success=True, trade_id="t-9", market_id="m-00001", side=Side.NO, shares_bought=shares,
        shares_requested=shares, cost=cost,
    )  # fmt: skip


@dataclass
class Work:
    on: Offline
    mirrors: Mirrors
    blotter: Blotter
    database: Database

    def bring(self, *signals: SignalView) -> None:
        self.mirrors.take(SignalsSeen(at=NOW, signals=signals or (self.signal(),)))

    async def rest(self, is_so: Callable[[], object] | None = None) -> None:
        """Wait until all that was begun is over, or until this is so."""
        for _ in range(3_000):
            await asyncio.sleep(0.0002)
            if is_so() if is_so is not None else not self.mirrors.is_busy:
                return
        raise AssertionError("it never came to that")

    async def listed(self, *signals: SignalView) -> None:
        self.bring(*signals)
        await self.rest()

    async def mirror(self) -> None:
        self.mirrors.mirror(MirrorSignal("s-1"))
        await self.rest()

    def signal(self, name: str = "s-1") -> SignalView:
        known = self.on.state.reactor.signal(name)
        assert known is not None
        return known

    @property
    def says(self) -> tuple[SignalState, str]:
        return self.signal().state, self.signal().detail

    def calls(self, endpoint: object) -> list[Asked]:
        return [one for one in self.on.asked if one.endpoint is endpoint]

    @property
    def bought(self) -> list[str]:
        """Markets that were bought, in their order."""
        return [getattr(one.body, "market_id", "") for one in self.calls(PLACE_TRADE)]

    @property
    def ends(self) -> list[str]:
        """What the service was told of a signal's end."""
        kinds = {POST_REACTION: "reported", DELETE_SIGNAL: "deleted"}
        return [kinds[one.endpoint] for one in self.on.asked if one.endpoint in kinds]


@asynccontextmanager
async def working(
    path: Path, *signals: SignalView, answers: Any = SILENT, **other: Any
) -> AsyncGenerator[Work]:
    """A desk that mirrors; `answers` is what becomes of each order."""
    base = sample_state(12)
    known = reactor(base)
    assert known.config is not None
    config = replace(
        known.config, wallets=(WALLET,), min_size=Micros(ONE), venue=Venue.SIM,
        daily_cap=Micros(500 * ONE), **other.pop("config", {}),
    )  # fmt: skip
    slice_ = replace(
        known, barred="", config=config, breaker=other.pop("breaker", BreakerView()),
        choices=other.pop("choices", AUTO), signals=signals or (signal_of(),),
        day_spent=Micros(0),
    )  # fmt: skip
    state = replace(
        base,
        reactor=slice_,
        tickets=(),
        seen={**base.seen, Topic.REACTOR: NOW},
        buy_limits=replace(base.buy_limits, skill_day_max=None),
    )
    clock = ManualClock(NOW)
    on = Offline(
        state,
        {
            POST_REACTION: REACTED,
            DELETE_SIGNAL: None,
            PLACE_TRADE: answers,
            REACTIONS: ReactionsBody(),
        },
        skew_s=other.pop("skew_s", None),
        clock=clock,
    )
    made: list[Work] = []

    def emit(fact: Fact) -> None:
        on.ports.emit(fact)
        # As the desk does with every ticket.
        if (ticket := changed(fact, TicketView)) is not None:
            made[0].mirrors.on_ticket(ticket)

    async with open_directory(path, clock) as database, asyncio.TaskGroup() as tasks:
        blotter = Blotter(database)
        ports = replace(on.ports, blotter=blotter, emit=emit)
        held_back = other.pop("held_back", "")
        mirrors = Mirrors(ports, executes=other.pop("executes", True), held_back=lambda: held_back)
        made.append(Work(on, mirrors, blotter, database))
        for intent, once in other.pop("stored", ()):
            await blotter.open_ticket(intent, once=once)
        task = tasks.create_task(mirrors.run())
        await made[0].rest()
        yield made[0]
        task.cancel()


# -- what is begun ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (signal_of(), {}, 1),
        (signal_of(), {"executes": False}, 0),
        (signal_of(), {"held_back": "halted"}, 0),
        (signal_of(), {"choices": {}}, 0),
        (signal_of(), {"choices": {OTHER: WalletChoice(OTHER, "bob", Policy.AUTO)}}, 0),
        (signal_of(), {"breaker": BreakerView(5, 5, NOW, Timestamp(NOW + 60))}, 0),
        (signal_of(state=SignalState.SKIPPED), {}, 0),
        (signal_of(state=SignalState.MIRRORED, ticket_id="t"), {}, 0),
        (signal_of(expires_at=NOW), {}, 0),
    ],
)
async def test_a_listed_signal_is_mirrored_by_itself_where_its_wallets_policy_says_so(
    tmp_path: Path, one: SignalView, other: dict[str, Any], count: int
) -> None:
    async with working(tmp_path, one, **other) as made:
        await made.listed(one, signal_of("unknown"))
        assert len(made.bought) == count


async def test_a_wallet_off_the_watchlist_is_mirrored_by_hand_alone(tmp_path: Path) -> None:
    choices = {OTHER: WalletChoice(OTHER, "bob", Policy.AUTO)}
    async with working(tmp_path, signal_of(wallet=OTHER), choices=choices) as made:
        await made.listed()
        assert made.says == (SignalState.SKIPPED, "wallet not on the watchlist")
        report = Asked(POST_REACTION, body=reaction_of(made.signal(), "skipped_filter"))
        assert made.on.asked == [report]
        await made.mirror()
        assert len(made.bought) == 1


async def test_all_signals_of_one_wallet_are_mirrored_oldest_first(tmp_path: Path) -> None:
    signals = (
        signal_of("new"),
        signal_of("other", wallet=OTHER),
        signal_of("old", market_id="m-00002"),
        signal_of("done", state=SignalState.FAILED, ticket_id="t"),
    )
    async with working(tmp_path, *signals, choices={}) as made:
        made.mirrors.mirror_all(MirrorAllFrom(WALLET))
        await made.rest()
        assert made.bought == ["m-00002", "m-00001"]
        order = MirrorAllFrom("0x" + "77" * 20)
        made.mirrors.mirror_all(order)
        assert made.on.words[-1] == ("warn", f"{order.describe()}: no signal pending")
    async with working(tmp_path / "b", choices={}, held_back="trading is halted") as made:
        for order in (MirrorAllFrom(WALLET), MirrorSignal("s-1")):
            made.mirrors.mirror_all(order) if isinstance(order, MirrorAllFrom) else (
                made.mirrors.mirror(order)
            )
            assert made.on.words[-1] == ("warn", f"{order.describe()}: trading is halted")
        assert made.bought == []


async def test_a_closing_desk_begins_no_mirror(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        made.mirrors.close()
        await made.mirror()
        assert made.bought == []


async def test_only_so_many_are_on_their_way_at_a_time(tmp_path: Path) -> None:
    signals = [signal_of(f"s-{number}", amount=Micros(ONE)) for number in range(6)]
    async with working(tmp_path, *signals) as made:
        go_on = asyncio.Event()
        begun: list[object] = []

        async def call(endpoint: object, **_: object) -> None:
            if endpoint is PLACE_TRADE:
                begun.append(endpoint)
                await go_on.wait()
            raise SILENT

        made.on.ports.client.call = call  # type: ignore[method-assign]
        for one in signals:
            made.mirrors.mirror(MirrorSignal(one.signal_id))
        await made.rest(lambda: len(begun) == AT_ONCE_MAX)
        assert made.mirrors.is_busy
        order = DismissSignal("s-5")
        # What waits for its turn is not queued once more.
        made.mirrors.mirror(MirrorSignal("s-5"))
        go_on.set()
        await made.rest(lambda: len(begun) == 6 and not made.mirrors.is_busy)
        await made.mirrors.dismiss(order)
        assert made.on.words[-1] == ("warn", f"{order.describe()}: signal unknown already")


# -- a mirror --------------------------------------------------------------------------------------


async def test_a_mirror_is_written_down_sent_once_reported_and_deleted(tmp_path: Path) -> None:
    one = signal_of()
    async with working(tmp_path, answers=[bought()]) as made:
        await made.listed()
        (sent,) = made.calls(PLACE_TRADE)
        assert (sent.body, sent.idempotency_key) == (request_of_mirror(one), ticket_id_of(one))
        # Its amount counts as spent before anything is waited for.
        assert changed(made.on.facts[0], TicketView) == ticket_of_mirror(one, NOW)
        row = await asyncio.to_thread(made.blotter.find, ticket_id_of(one))
        assert row is not None
        assert (row.state, row.amount_micros) == (StoredState.DONE, 8 * ONE)
        ended = made.signal()
        assert (ended.state, ended.ticket_id) == (SignalState.MIRRORED, ticket_id_of(one))
        assert (ended.shares, ended.cost) == (18 * ONE, 7_800_000)
        await made.listed(one)
        assert made.on.asked == [
            sent,
            Asked(POST_REACTION, body=reaction_of(ended, "mirrored", "t-9")),
            Asked(DELETE_SIGNAL, {"signal_id": "Event-s-1"}),
        ]
        # What is finished is neither mirrored nor reported again.
        await made.listed(one)
        await made.mirror()
        assert len(made.on.asked) == 3


async def test_a_mirror_that_cannot_be_written_down_is_not_sent(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        await made.database.write(refuse_writes)
        await made.listed()
        assert made.bought == []
        assert made.says[0] is not SignalState.MIRRORED
        assert any(one.tone == "bad" for one in made.on.told)


async def test_a_mirror_that_failed_is_reported_and_stays_at_the_service(tmp_path: Path) -> None:
    async with working(tmp_path, answers=NO, skew_s=7.0) as made:
        made.on.answers[POST_REACTION] = ReactedBody(
            breaker=BreakerBody(
                state="paused", failures=5, failures_max=6, skipped=3,
                paused_at=datetime.fromtimestamp(NOW - 20, UTC),
                resets_at=datetime.fromtimestamp(NOW + 90, UTC),
            )
        )  # fmt: skip
        await made.listed()
        await made.rest(lambda: made.ends)
        assert made.says == (SignalState.FAILED, "market closed — wait")
        assert made.ends == ["reported"]
        report = made.calls(POST_REACTION)[0]
        assert report.body == reaction_of(made.signal(), "failed")
        # By this desk's clock.
        assert made.on.state.reactor.breaker == BreakerView(
            failures=5, failures_max=6, paused_at=Timestamp(NOW - 13),
            resets_at=Timestamp(NOW + 97), skipped=3,
        )  # fmt: skip


async def test_what_keeps_a_mirror_back_is_said_to_a_person_and_else_noted_once(
    tmp_path: Path,
) -> None:
    breaker = BreakerView(5, 5, NOW, Timestamp(NOW + 60))
    async with working(tmp_path, breaker=breaker) as made:
        await made.mirror()
        what = ticket_of_mirror(signal_of(), NOW).what
        assert made.on.words == [("warn", f"{what}: circuit breaker open")]
        assert made.signal() == signal_of()
        await made.listed()
        assert made.says[0] is SignalState.PENDING
        assert made.says[1].startswith("circuit breaker open")
        told = len(made.on.facts)
        await made.listed()
        assert (len(made.on.facts), made.bought) == (told, [])


async def test_a_halt_while_the_intent_is_written_refuses_the_mirror(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        made.mirrors.mirror(MirrorSignal("s-1"))
        # Turn by turn: the halt must come before the disk has answered.
        while made.signal().state is not SignalState.MIRRORING:  # noqa: ASYNC110 - turn by turn
            await asyncio.sleep(0)
        made.on.ports.gate.close()
        await made.rest()
        assert made.bought == []
        row = await asyncio.to_thread(made.blotter.find, ticket_id_of(signal_of()))
        assert row is not None
        assert row.state is StoredState.REFUSED
        assert made.says == (SignalState.SKIPPED, HALTED.text)
        assert (made.signal().ticket_id, made.calls(DELETE_SIGNAL)) == ("", [])


def intent_of(ticket_id: str, amount: int = 8 * ONE) -> Intent:
    return Intent(
        ticket_id=ticket_id, at=NOW, kind="mirror", subject="m-00001", body='{"what": "mirror"}',
        venue="sim", amount_micros=amount, client_ref=ticket_id,
    )  # fmt: skip


@pytest.mark.parametrize("is_same", [True, False])
async def test_a_mirror_that_stands_on_disk_already_is_not_sent(
    tmp_path: Path, *, is_same: bool
) -> None:
    name = ticket_id_of(signal_of()) if is_same else "of-another-program"
    stored = [(intent_of(name), once_of(signal_of()))]
    async with working(tmp_path, stored=stored) as made:
        await made.listed()
        assert made.bought == []
        if is_same:
            assert made.says[0] in {SignalState.UNKNOWN, SignalState.MIRRORING}
        else:
            assert made.says == (SignalState.SKIPPED, "signal already mirrored")


async def test_a_mirror_beyond_the_reactors_cap_of_the_day_is_not_sent(tmp_path: Path) -> None:
    stored = [(intent_of("earlier", 496 * ONE), "other")]
    async with working(tmp_path, stored=stored) as made:
        await made.listed()
        assert made.bought == []
        assert (made.signal().state, made.signal().ticket_id) == (SignalState.SKIPPED, "")
        used = "daily cap of the reactor: 496.00 of 500.00 used by this desk"
        assert made.signal().detail.startswith(used)
        assert made.on.state.tickets[0].settled_at == NOW


@pytest.mark.parametrize(
    ("shares", "cost", "text"),
    [
        (10.0, (0.44 + SLACK - 1e-5) * 10, ""),
        (10.0, (0.44 + SLACK + 1e-5) * 10, "paid 0.4405 per share, above the limit of 0.4400"),
        (12.0, 4.0, ""),
        (12.00001, 4.0, "bought 12.00001 shares, above the limit of 12.0"),
    ],
)
async def test_a_fill_beyond_what_was_allowed_is_said(
    tmp_path: Path, shares: float, cost: float, text: str
) -> None:
    config = {"mirror_fraction": 0.1, "max_size": Micros(100 * ONE)}
    async with working(tmp_path, answers=[bought(shares, cost)], config=config) as made:
        await made.listed()
        loud = [words for tone, words in made.on.words if tone == "bad"]
        assert len(loud) == bool(text)
        assert not text or loud[0].endswith(f"{text}; the service exceeded the limit")


# -- the end at the service ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "outcome", "is_reported"),
    [
        (TicketState.DONE, "", True),
        (TicketState.FAILED, "", True),
        (TicketState.UNKNOWN, "sent, no answer", False),
        (TicketState.UNKNOWN, NO_TRACE, True),
        (TicketState.SENT, "", False),
    ],
)
async def test_the_end_of_a_mirrors_order_is_reported_whoever_found_it(
    tmp_path: Path, state: TicketState, outcome: str, *, is_reported: bool
) -> None:
    async with working(tmp_path, signal_of("s-2"), ENDED) as made:
        ticket = replace(
            ticket_of_mirror(ENDED, NOW), ticket_id="t-1", state=state, outcome=outcome
        )
        made.mirrors.on_ticket(replace(ticket, ticket_id="another"))
        made.mirrors.on_ticket(ticket)
        await made.rest()
        assert len(made.calls(POST_REACTION)) == is_reported
        # It ended in this run: nobody needs to look whether it was reported.
        assert made.calls(REACTIONS) == []


async def test_a_report_that_fails_is_made_again_with_the_next_listing_and_then_no_more(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, answers=[bought()]) as made:
        made.on.answers |= {POST_REACTION: [AWAY, REACTED], DELETE_SIGNAL: [AWAY, GONE]}
        await made.listed()
        for _ in range(5):
            await made.listed()
        # The report that was taken is not made a third time.
        assert made.ends == ["reported", "reported", "deleted", "deleted"]


@pytest.mark.parametrize("fault", [GONE, ValueError("an id that is none")])
async def test_a_report_that_the_service_never_takes_holds_up_no_end(
    tmp_path: Path, fault: Exception
) -> None:
    async with working(tmp_path, answers=[bought()]) as made:
        made.on.answers[POST_REACTION] = fault
        for _ in range(4):
            await made.listed()
        assert made.ends == ["reported", "deleted"]


@pytest.mark.parametrize(
    ("name", "rows", "is_reported"),
    [
        ("Event-s-1", [("tx-other", "event-S-1")], False),
        ("Event-s-1", [("tx-s-1", None)], True),
        ("Event-s-1", [("tx-s-1", "event-of-another")], True),
        ("", [("TX-S-1", None)], False),
        ("Event-s-1", [], True),
        ("Event-s-1", GONE, True),
    ],
)
async def test_an_end_of_an_earlier_run_is_reported_unless_it_was(
    tmp_path: Path, name: str, rows: Any, *, is_reported: bool
) -> None:
    async with working(tmp_path, replace(ENDED, name=name)) as made:
        made.on.answers[REACTIONS] = rows
        if not isinstance(rows, Exception):
            found = [
                ReactionBody(event_tx_hash=tx, signal_id=one, decision="mirrored")
                for tx, one in rows
            ]
            made.on.answers[REACTIONS] = ReactionsBody(reactions=tuple(found))
        await made.listed()
        assert len(made.calls(POST_REACTION)) == is_reported
        assert made.calls(DELETE_SIGNAL) == [Asked(DELETE_SIGNAL, {"signal_id": name or "tx-s-1"})]
        # Nobody may have seen it end.
        text = "mirror, Will it?, from an earlier run: bought 3"
        assert made.on.told == [Noticed("info", text, NoticeKind.FILL)]


@pytest.mark.parametrize("state", [SignalState.MIRRORING, SignalState.UNKNOWN])
async def test_a_mirror_that_an_earlier_run_left_is_shown_as_the_disk_knows_it(
    tmp_path: Path, state: SignalState
) -> None:
    one = signal_of(state=state, ticket_id=ticket_id_of(signal_of()))
    async with working(tmp_path, one, signal_of("s-2")) as made:
        await made.rest(lambda: made.signal() != one)
        # Without an intent on disk nothing was sent.
        assert made.says == (SignalState.FAILED, UNSENT)
        assert made.signal("s-2") == signal_of("s-2")
    stored = [(intent_of(one.ticket_id), once_of(one))]
    async with working(tmp_path / "b", one, stored=stored) as made:
        await made.rest(lambda: made.on.state.tickets)
        assert made.signal().state is not SignalState.FAILED
        assert (made.bought, made.on.told) == ([], [])


# -- dismissed -------------------------------------------------------------------------------------


async def test_a_dismissed_signal_is_skipped_here_and_gone_at_the_service(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        await made.mirrors.dismiss(DismissSignal("s-1"))
        gone = signal_of(state=SignalState.SKIPPED, detail=DISMISSED)
        assert made.signal() == gone
        assert made.on.asked == [
            Asked(POST_REACTION, body=reaction_of(gone, "skipped_filter")),
            Asked(DELETE_SIGNAL, {"signal_id": "Event-s-1"}),
        ]
        assert made.on.told == []
        for name, how in (("s-1", "signal skipped already"), ("s-9", "signal gone")):
            order = DismissSignal(name)
            await made.mirrors.dismiss(order)
            assert made.on.words[-1] == ("warn", f"{order.describe()}: {how}")


@pytest.mark.parametrize("fault", [ReadOnlyError("only looks", CALLED), AWAY])
async def test_a_dismissed_signal_that_stays_at_the_service_is_said_so(
    tmp_path: Path, fault: Exception
) -> None:
    async with working(tmp_path) as made:
        made.on.answers[POST_REACTION] = fault
        order = DismissSignal("s-1")
        await made.mirrors.dismiss(order)
        text = f"{order.describe()}: still listed by the service until it expires: {AWAY}"
        is_said = fault is AWAY
        assert made.on.told == ([Noticed("warn", text, NoticeKind.SIGNAL)] if is_said else [])
        assert made.signal().state is SignalState.SKIPPED
