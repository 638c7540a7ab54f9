"""Other programs beside this one, of those that are installed, in one run.

Terminal programs, on PATH or in a virtual environment that `BENCH_PEERS` names: the time from exec
to the first screen, from a letter that is typed into a field until it is painted, and what they use
while they are left alone. Each has been open once before, with a home of its own, in a small
repository. Paper traders, in that environment: trades a second by their own interface, a buy and
the sale of it in turn over twenty markets, in memory and each on disk when it is answered, beside
commits of plain SQLite.
"""

import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

from terminal import Terminal

from console import LIVE, median_ms, ours, p99_ms, used_once

IDLE_S = 10.0
SETTLE_S = 5.0
GAP_S = 0.2
"""Between two keys."""

PRESSES = 50
LETTER, PAINTED, ERASE = "W", b"W\x1b", "\x7f"
"""A letter that no sequence holds, what its paint holds, and the key that takes it back."""

Figures = dict[str, float]


@dataclass(frozen=True)
class Program:
    """A terminal program, a text of its first screen, and keys.

    Those that close what it greets with at its first start, and those that lead to a field in which
    letters can be typed.
    """

    command: tuple[str, ...]
    shows: bytes
    greeted: str = ""
    field: str = ""


PROGRAMS = {
    "harlequin": Program(("harlequin", "--locale", "C"), b"Run Query"),
    "posting": Program(("posting",), b"Collection"),
    "btop": Program(("btop",), b"menu", field="f"),
    "lazygit": Program(("lazygit",), b"Status", greeted="\r", field="/"),
}
OWN_FIELD = "2/"
"""The filter of the markets."""

RAW = """
import json, pathlib, sqlite3, statistics, sys, time

def raw(path, count):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, body TEXT)")
    began = time.perf_counter()
    for _ in range(count):
        connection.execute("INSERT INTO rows (body) VALUES (?)", ("x" * 300,))
    return count / (time.perf_counter() - began)

def on_disk(rate, rounds=5, count=600):
    place = pathlib.Path(sys.argv[1])
    rates, commits = [], []
    for number in range(rounds):
        commits.append(raw(place / f"raw{number}.sqlite3", count))
        rates.append(rate(place / str(number), count))
    return {"disk": statistics.median(rates), "raw commits": statistics.median(commits)}
"""
"""Commits of plain SQLite between the rounds: a disk is now fast, now slow."""

LMSR_LAB = """
from lmsr.simulator import LMSRMarketSimulator

def rate(path, count):
    desk = LMSRMarketSimulator(db_path=path)
    desk.get_or_create_user("a").balance = 1e9
    markets = [desk.create_market(f"market {number}", b=100).id for number in range(20)]
    began = time.perf_counter()
    for index in range(count):
        done = desk.place_trade(markets[index // 2 % 20], "a", -2 if index % 2 else 2)
        assert "error" not in done, done
    taken = time.perf_counter() - began
    rows = sum(len(desk.get_market(market).trades) for market in markets)
    if path:
        rows = desk._db.conn.execute("SELECT count(*) FROM trades").fetchone()[0]
    assert rows == count, rows
    return count / taken

memory = max(rate(None, 20_000) for _ in range(3))
print(json.dumps({"memory": memory} | on_disk(rate)))
"""

POLYMARKET_PAPER_TRADER = """
from pm_trader.engine import Engine
from pm_trader.models import Market, OrderBook, OrderBookLevel

def market(slug):
    tokens = [{"token_id": f"{slug}-{name}", "outcome": name} for name in ("Yes", "No")]
    words = (slug, slug, f"{slug}?", "", ["Yes", "No"], [0.5, 0.5], tokens)
    return Market(*words, active=True, closed=False)

def side(*prices):
    return [OrderBookLevel(price=price, size=500.0) for price in prices]

def rate(place, count):
    engine = Engine(place)
    engine.init_account(1e9)
    markets = {f"market-{number}": market(f"market-{number}") for number in range(20)}
    book = OrderBook(asks=side(0.51, 0.52, 0.53), bids=side(0.49, 0.48, 0.47))
    engine.api.get_market = markets.__getitem__
    engine.api.get_order_book = lambda token: book
    engine.api.get_fee_rate = lambda token: 0
    slugs = list(markets)
    began = time.perf_counter()
    for index in range(count // 2):
        slug = slugs[index % 20]
        bought = engine.buy(slug, "yes", 10.0)
        engine.sell(slug, "yes", bought.trade.shares)
    taken = time.perf_counter() - began
    rows = len(engine.db.get_all_trades())
    assert rows == count, rows
    return count / taken

print(json.dumps(on_disk(rate)))
"""
"""It asks for every market and book over the network: here they are given, as its replay does."""

TRADERS = {"lmsr-lab": LMSR_LAB, "polymarket-paper-trader": POLYMARKET_PAPER_TRADER}


def peers(own_trades: Callable[[], Figures]) -> Figures:
    """Figures of each that is installed, and of this program."""
    with at_home() as place:
        found = own_console(place)
        for name, program in PROGRAMS.items():
            found |= measured(name, program)
        for name, script in TRADERS.items():
            found |= trades(name, script)
    return found | own_rates(own_trades())


@contextmanager
def at_home() -> Generator[Path]:
    """An empty home and a repository in which some files have changed, for all that is started."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as place:
        home, work = Path(place) / "home", Path(place) / "work"
        home.mkdir()
        work.mkdir()
        for name in [name for name in os.environ if name.startswith(("XDG_", "GIT_"))]:
            del os.environ[name]
        os.environ["HOME"] = str(home)
        try:
            with chdir(work):
                make_repository(work)
                yield Path(place)
        finally:
            os.environ.clear()
            os.environ.update(before)


def make_repository(work: Path) -> None:
    """Twelve files, of which eight have changed since the last commit."""
    files = [work / f"file{number}.txt" for number in range(12)]
    for file in files:
        file.write_text("one line\n")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Begin")):
        subprocess.run(["git", *words], check=True)
    for file in files[:8]:
        file.write_text("one line\nanother\n")


def found_at(program: str) -> str | None:
    """Where a program is installed."""
    folder = os.environ.get("BENCH_PEERS")
    own = None if folder is None else shutil.which(program, path=str(Path(folder) / "bin"))
    return own or shutil.which(program)


def measured(name: str, program: Program, rounds: int = 5) -> Figures:
    """Figures of one terminal program."""
    path = found_at(program.command[0])
    if path is None:
        print(f"{name}: not installed")
        return {}
    command = [path, *program.command[1:]]
    with Terminal(command) as terminal:
        if math.isnan(terminal.until(program.shows)):
            print(f"{name}: does not start")
            return {}
        terminal.rest(SETTLE_S)
        terminal.type(program.greeted)
        terminal.rest(1.0)
    starts = [first_screen(command, program.shows) for _ in range(rounds)]
    with Terminal(command) as terminal:
        terminal.until(program.shows)
        used = in_use(terminal, program.field)
    start_ms = median_ms(starts)
    print(f"{name}: first screen {start_ms:.0f} ms, {said(used)}", flush=True)
    return {f"{name}_{figure}": value for figure, value in ({"ms": start_ms} | used).items()}


def first_screen(command: list[str], shows: bytes) -> float:
    """Seconds from exec until a text of the first screen is painted."""
    with Terminal(command) as terminal:
        return terminal.until(shows) - terminal.began


def in_use(terminal: Terminal, field: str) -> Figures:
    """What a program uses that is left alone, and then how long a letter takes."""
    terminal.rest(SETTLE_S)
    percent, memory = terminal.cpu_percent(IDLE_S), terminal.rss_mb
    for key in field:
        terminal.type(key)
        terminal.rest(1.0)
    waits = letters(terminal)
    return {
        "key_p50_ms": median_ms(waits),
        "key_p99_ms": p99_ms(waits),
        "percent": percent,
        "mb": memory,
    }


def letters(terminal: Terminal) -> list[float]:
    """Seconds until each letter was painted; NaN alone if one never was."""
    waits: list[float] = []
    for _ in range(PRESSES):
        typed = terminal.type(LETTER)
        waits.append(terminal.until(PAINTED) - typed)
        if math.isnan(waits[-1]):
            return waits[-1:]
        terminal.rest(GAP_S)
        terminal.type(ERASE)
        terminal.rest(GAP_S)
    return waits


def said(used: Figures) -> str:
    """The figures that every terminal program has, as they are printed."""
    key = f"key {used['key_p50_ms']:.1f} ms p50, {used['key_p99_ms']:.1f} ms p99"
    return f"{key}, {used['percent']:.1f} % of a core idle, {used['mb']:.0f} MB"


def own_console(place: Path, rounds: int = 5) -> Figures:
    """The same of this program, whose first screen of a used directory is the last one it had."""
    folder = used_once(place / "desk")
    last, first, live = (list[float]() for _ in range(3))
    used: Figures = {}
    for number in range(rounds):
        with Terminal(ours(folder)) as console:
            last.append(console.until(LIVE) - console.began)
            first.append(console.until(b"connecting") - console.began)
            live.append(console.until(LIVE) - console.began)
            if number == rounds - 1:
                used = in_use(console, OWN_FIELD)
            else:
                console.rest(1.5)
            console.end("\x11")
    starts = {"last_ms": median_ms(last), "ms": median_ms(first), "live_ms": median_ms(live)}
    shown = f"last screen {starts['last_ms']:.0f} ms, first screen {starts['ms']:.0f} ms"
    print(f"this program: {shown}, live {starts['live_ms']:.0f} ms, {said(used)}", flush=True)
    return {f"own_{figure}": value for figure, value in (starts | used).items()}


def trades(name: str, script: str) -> Figures:
    """Trades a second of one paper trader: the best round in memory, the middle one on disk."""
    folder = os.environ.get("BENCH_PEERS")
    python = None if folder is None else shutil.which("python", path=str(Path(folder) / "bin"))
    if python is None:
        print(f"{name}: not installed")
        return {}
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [python, "-c", RAW + script, place], check=False, capture_output=True, text=True
        )
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        print(f"{name}: {'not installed' if why.startswith('ModuleNotFound') else why}")
        return {}
    return told(name, json.loads(done.stdout))


def own_rates(figures: Figures) -> Figures:
    """The engine's trades and the durable ones; one at a time is of the median trade."""
    rates = {
        "memory": figures["engine_rate"],
        "disk": 1e6 / (figures["raw_us"] * figures["durable_ratio"]),
        "disk, sixteen at a time": figures["durable_rate"],
        "raw commits": 1e6 / figures["raw_us"],
    }
    return figures | told("this program", rates)


def told(name: str, rates: Figures) -> Figures:
    """Rates as they are printed, and by the names of figures."""
    shown = (f"{rate:,.0f} {where}" for where, rate in rates.items())
    print(f"{name}, a second: {', '.join(shown)}", flush=True)
    return {f"{name} {where}".replace(",", "").replace(" ", "_"): rates[where] for where in rates}
