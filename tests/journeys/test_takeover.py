"""The program that holds the directory ends; the console beside it goes on, with every trade."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from kit.service.stage import open_stage
from kit.terminal.own import OwnTerminal, own_terminal
from kit.terminal.screen import TerminalScreen
from service_tui.app.attached import address_of
from service_tui.clock import ManualClock, SystemClock
from service_tui.console.questions import short_question
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.server.http.idempotency import HEADER
from service_tui.storage.db.lock import holder_of
from service_tui.terms import Side
from service_tui.units import ONE, Micros, micros

pytestmark = pytest.mark.process


PATIENCE_S = 300.0
"""Nothing is measured: only what never comes fails, however slow the machine is."""

MOMENT = Event()
"""Never set: it is waited for, for a moment."""

SDK = "/api/sdk"
WORLD = ("--seed", "7", "--speed", "0")
"""Nobody but the test trades: each cash is what its own trades left."""


def until(is_so: Callable[[], object], what: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, what()
        MOMENT.wait(0.05)


@dataclass
class Trader:
    """An agent, wherever the directory is served now, and what it was told of its trades."""

    data: Path
    key: str
    agent_id: str
    spent: int = 0
    told: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, path: str, **sent: Any) -> Any:
        """Ask whoever serves, and ask again when that one goes away meanwhile."""
        found: list[httpx.Response] = []
        until(lambda: self._asked(found, method, path, sent), lambda: "nobody ever answered")
        assert found[0].status_code == httpx.codes.OK, found[0].text
        return found[0].json()

    def _asked(
        self, found: list[httpx.Response], method: str, path: str, sent: dict[str, Any]
    ) -> bool:
        address = address_of(self.data)
        if address is None:
            return False
        asked = {
            **sent,
            "headers": {"Authorization": f"Bearer {self.key}", **sent.get("headers", {})},
        }
        with suppress(httpx.TransportError):
            found[:] = [httpx.request(method, f"{address}{SDK}{path}", timeout=PATIENCE_S, **asked)]
        return bool(found) and found[0].status_code != httpx.codes.SERVICE_UNAVAILABLE

    def buy(self, market: dict[str, Any], amount: int) -> None:
        """One order, under a key of its own however often it has to be sent."""
        order = {"market_id": market["id"], "side": "yes", "amount": amount}
        once = {HEADER: f"{self.agent_id}-{len(self.told)}"}
        told = self.ask("POST", "/trade", json=order, headers=once)
        assert told["success"], told
        self.told.append(told)
        self.spent += micros(told["cost"])

    def shares(self) -> dict[str, Micros]:
        """Of each market, as its trades said."""
        found: dict[str, Micros] = {}
        for one in self.told:
            held = found.get(one["market_id"], 0) + micros(one["shares_bought"])
            found[one["market_id"]] = Micros(held)
        return found


@contextmanager
def serving(home: Path, data: Path) -> Iterator[Callable[[int], int]]:
    """`service-tui serve`, and how it is ended."""
    environ = {
        "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "HOME": str(home),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "service_tui", "serve", "--data-dir", str(data), *WORLD],
        env=environ, stdout=subprocess.DEVNULL,
    )  # fmt: skip

    def end(number: int) -> int:
        process.send_signal(number)
        return process.wait(PATIENCE_S)

    try:
        yield end
    finally:
        process.kill()
        process.wait()


@contextmanager
def holding(home: Path, data: Path) -> Iterator[Callable[[int], int]]:
    """A console that holds the directory, and how it is ended."""
    with own_terminal(home, "--data-dir", str(data), *WORLD) as run, run.watched():
        yield lambda number: ended(run, number)


def ended(run: OwnTerminal, number: int) -> int:
    run.kill(number)
    return run.wait(PATIENCE_S)


class Person:
    """Who sits before the second console."""

    def __init__(self, run: OwnTerminal, screen: TerminalScreen) -> None:
        self.run = run
        self.screen = screen

    def sees(self, *parts: str) -> None:
        until(
            lambda: all(part in self.screen.text for part in parts),
            lambda: f"{parts} never stood on\n{self.screen.text}",
        )

    def sees_no(self, part: str) -> None:
        until(lambda: part not in self.screen.text, lambda: f"{part} stays on\n{self.screen.text}")

    def holds(self, *markets: dict[str, Any], cash: int) -> None:
        """The portfolio shows these positions, and this cash."""
        self.run.type("1")
        self.sees("total P&L", *map(shown, markets), f"cash {cash / ONE:,.2f}", "online")

    def serves(self, who: str) -> None:
        """The settings name this one as the holder of the directory."""
        self.run.type("8")
        self.sees("account, service, paths")
        self.run.type("G")
        self.sees("This desk's agent")
        self.run.type("\r")
        self.sees("served by", who)
        self.run.type("\x1b")
        self.sees_no("served by")

    def buys(self, market: dict[str, Any], amount: int, *, leaves: int) -> None:
        self.run.type("2")
        self.sees("24h pt")
        self.run.type("/")
        self.sees("words, !word")
        typed = market["question"][5:40].strip()
        self.run.type(typed)
        self.sees(f"/ {typed}", " 1 of ")
        self.run.type("\r")
        self.run.type("b")
        self.sees("Order ticket", market["question"][:40])
        self.run.type(str(amount))
        # The quote of the whole amount: an order without one stays here.
        self.sees("cash after", f"{leaves / ONE:,.2f} $SIM", f"buy YES for {amount:.2f} $SIM")
        self.run.type("\r")
        self.sees_no("Order ticket")


@contextmanager
def seated(home: Path, data: Path) -> Iterator[Person]:
    """Somebody before a console beside the holder, which is left as it was found."""
    with own_terminal(home, "--data-dir", str(data)) as run:
        with run.watched() as screen:
            yield Person(run, screen)
        assert run.left_behind() == []


def shown(market: dict[str, Any]) -> str:
    """As much of the question as its column holds."""
    return short_question(market["question"])[:20]


def chosen(trader: Trader) -> list[dict[str, Any]]:
    """Eight markets that stay open; the first four told apart and typed by plain letters."""
    rows = trader.ask("GET", "/markets", params={"limit": 100, "status": "active"})["markets"]
    even = [row for row in rows if 0.1 < row["current_probability"] < 0.9]
    last = sorted(even, key=lambda row: row["resolves_at"], reverse=True)
    plain = [row for row in last if re.fullmatch(r"[\w ]+", row["question"][:40])]
    first = list({shown(row): row for row in reversed(plain)}.values())[-4:]
    return first + [row for row in last if row not in first][:4]


async def assert_kept(data: Path, *traders: Trader) -> None:
    """What lies in the directory is what was told, to the micro, and nothing twice."""
    own = traders[0]
    clock = ManualClock(SystemClock().now() + 1.0)
    async with open_stage(data, clock, key=own.key, agent_id=own.agent_id, speed=0) as stage:
        world = stage.world
        for trader in traders:
            agent = world.agents[trader.agent_id]
            assert world.cash(agent) == 10_000 * ONE - trader.spent
            assert agent.trades_count == len(trader.told)
            held = {place: one.shares(Side.YES) for place, one in agent.positions.items()}
            assert held == trader.shares()
        assert sum(world.ledger.balances().values()) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "number", "status"),
    [(serving, signal.SIGTERM, 0), (holding, signal.SIGKILL, -signal.SIGKILL)],
    ids=["a service that is ended", "a console that is killed"],
)
def test_the_second_console_takes_over_and_nothing_is_lost_or_doubled(
    tmp_path: Path, first: Any, number: int, status: int
) -> None:
    data = tmp_path / "data"
    with first(tmp_path, data) as end_it:
        until(lambda: address_of(data), lambda: "nobody ever served")
        api_keys = stored_desk_keys(data)
        assert api_keys is not None
        assert api_keys.agent is not None
        own = Trader(data, api_keys.agent, str(api_keys.agent_id))
        made = own.ask("POST", "/agents/register", json={"name": "heron"})
        heron = Trader(data, made["api_key"], made["agent_id"])
        one, two, three, four, *others = chosen(own)
        own.buy(one, 25)
        heron.buy(one, 40)
        with seated(tmp_path, data) as person:
            person.sees("enter begins")
            person.run.type("\r")
            person.sees_no("enter begins")
            person.holds(one, cash=9_975 * ONE)
            # What is bought while the console is attached reaches it at once.
            own.buy(two, 25)
            person.holds(one, two, cash=9_950 * ONE)
            person.serves("another program")
            assert holder_pid(data) != person.run.pid

            heron.buy(others[0], 15)
            outcome: list[int] = []
            ending = Thread(target=lambda: outcome.append(end_it(number)))
            ending.start()
            # Orders come in all the time: each is answered, by the one program or by the other.
            for market in others[1:]:
                heron.buy(market, 15)
            ending.join()
            assert outcome == [status]
            until(lambda: holder_pid(data) == person.run.pid, lambda: person.screen.text)
            person.serves("this program")
            person.holds(one, two, cash=9_950 * ONE)
            own.buy(three, 25)
            heron.buy(two, 15)
            person.holds(one, two, three, cash=9_925 * ONE)
            person.buys(four, 25, leaves=9_900 * ONE)
            person.holds(one, two, three, four, cash=9_900 * ONE)
            found = own.ask("GET", "/trades", params={"limit": 50})["trades"]
            bought = [row for row in found if row["market_id"] == four["id"]]
            assert len(bought) == 1
            own.told += [{"market_id": four["id"], "shares_bought": bought[0]["shares"]}]
            own.spent += micros(bought[0]["cost"])
            assert ended(person.run, signal.SIGTERM) in {0, 128 + signal.SIGTERM}
    assert holder_of(data) is None
    asyncio.run(assert_kept(data, own, heron))


def holder_pid(data: Path) -> int | None:
    holder = holder_of(data)
    return None if holder is None else holder.pid
