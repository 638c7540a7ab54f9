"""What a person at the console waits for, and what the console uses: parts of `run.py`."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import month
from terminal import Terminal

from service_tui.clock import ManualClock, SystemClock
from service_tui.storage.db.lock import holder_of
from service_tui.wire.endpoints.public import HEALTH

EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready-to-use")
Empty().run()
"""
LIBRARIES = "import textual.app, httpx, pydantic, starlette.applications, uvicorn"
"""What a console with its service cannot do without."""

LIVE, TICKET = b"online", b"Order ticket"
AMOUNTS = (("5", b"-25.00\x1b"), ("\x7f", b"-2.00\x1b"))
"""A key in a ticket of 2 $SIM, and what only the quote for the new amount shows: its loss."""
IDLE_S = 20.0
SETTLE_S = 10.0
SERVING_S = 15.0

Figures = dict[str, float]


def median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1e3


def p99_ms(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1e3


def ours(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "service_tui", "--data-dir", str(folder), *words]


def used_once(folder: Path) -> Path:
    """A data directory whose console has been open before; the program is compiled then, too."""
    with Terminal(ours(folder)) as console:
        console.until(LIVE)
        console.rest(1.5)
        console.type("\r")
        console.rest(0.7)
        console.type("2")
        console.rest(0.7)
        console.end("\x11")
    return folder


def a_day(folder: Path) -> Path:
    """A directory in which an agent traded for a day that ends now."""
    clock = ManualClock(SystemClock().now() - month.DAY_S)
    asyncio.run(month.made(folder, clock, 1.0))
    return folder


def start(rounds: int = 7) -> Figures:
    """From exec to what is painted, and the end."""
    empty, paint, live, first, quits = (list[float]() for _ in range(5))
    with tempfile.TemporaryDirectory() as place:
        folder = used_once(Path(place) / "desk")
        for number in range(rounds):
            with Terminal([sys.executable, "-c", EMPTY_APP]) as app:
                empty.append(app.until(b"ready-to-use") - app.began)
            with Terminal(ours(folder)) as console:
                paint.append(console.until(b"connecting") - console.began)
                live.append(console.until(LIVE) - console.began)
                console.rest(1.5)
                quits.append(console.end("\x11"))
            with Terminal(ours(Path(place) / f"new{number}")) as console:
                first.append(console.until(LIVE) - console.began)
    yardstick = median_ms(empty)
    return {
        "empty_ms": yardstick,
        "paint_ratio": median_ms(paint) / yardstick,
        "live_ms": median_ms(live),
        "live_ratio": median_ms(live) / yardstick,
        "first_ms": median_ms(first),
        "quit_ms": median_ms(quits),
    }


def commands(rounds: int = 5) -> Figures:
    """Commands that print something and end, and the first answer of a service."""
    env = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}

    def took(command: list[str]) -> float:
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
            taken.append(time.perf_counter() - began)
        return median_ms(taken)

    def answers(folder: Path) -> float:
        began = time.perf_counter()
        with subprocess.Popen(ours(folder, "serve"), env=env, stdout=subprocess.DEVNULL) as server:
            try:
                while time.perf_counter() - began < SERVING_S:
                    holder = holder_of(folder) if folder.exists() else None
                    if holder is not None and holder.address:
                        httpx.get(f"{holder.address}{HEALTH.path}", trust_env=False)
                        return time.perf_counter() - began
                    time.sleep(0.002)  # noqa: TID251  (a program of its own)
                raise RuntimeError("no answer")
            finally:
                server.terminate()

    with tempfile.TemporaryDirectory() as place:
        folder, day = used_once(Path(place) / "desk"), a_day(Path(place) / "day")
        return {
            "python_ms": took([sys.executable, "-c", "pass"]),
            "libraries_ms": took([sys.executable, "-c", LIBRARIES]),
            "version_ms": took([sys.executable, "-m", "service_tui", "--version"]),
            "help_ms": took([sys.executable, "-m", "service_tui", "--help"]),
            "doctor_ms": took(ours(day, "doctor")),
            "status_ms": took(ours(day, "status")),
            "report_ms": took(ours(day, "report")),
            "serve_existing_ms": median_ms([answers(folder) for _ in range(rounds)]),
            "serve_empty_ms": median_ms([
                answers(Path(place) / f"new{number}") for number in range(rounds)
            ]),
        }


def idle() -> Figures:
    """What a console uses that is left alone, and its memory."""
    with tempfile.TemporaryDirectory() as place:
        folder = used_once(Path(place) / "desk")
        with Terminal([sys.executable, "-c", EMPTY_APP]) as app:
            app.until(b"ready-to-use")
            app.rest(1.0)
            empty_mb = app.rss_mb
        with Terminal(ours(folder)) as console:
            console.until(LIVE)
            console.rest(SETTLE_S)
            memory = console.rss_mb
            running = console.cpu_percent(IDLE_S)
            console.type("p")
            console.rest(SETTLE_S / 2)
            paused = console.cpu_percent(IDLE_S)
    return {
        "empty_mb": empty_mb,
        "memory_mb": memory,
        "idle_running_percent": running,
        "idle_paused_percent": paused,
    }


def quote(rounds: int = 100) -> Figures:
    """From the last digit of an amount until the quote for it is painted."""
    waits = []
    with tempfile.TemporaryDirectory() as place:
        folder = used_once(Path(place) / "desk")
        with Terminal(ours(folder)) as console:
            console.until(LIVE)
            console.rest(3.0)
            console.type("2b")
            console.until(TICKET)
            console.rest(1.0)
            console.type("2")
            console.until(AMOUNTS[1][1])
            for number in range(rounds):
                console.rest(0.4)
                key, loss = AMOUNTS[number % 2]
                typed = console.type(key)
                waits.append(console.until(loss) - typed)
    return {"quote_p50_ms": median_ms(waits), "quote_p99_ms": p99_ms(waits)}
