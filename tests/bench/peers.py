"""Other terminal programs beside this one: start, idle CPU and memory, of those that are installed.

On PATH, or in a virtual environment that `BENCH_PEERS` names. Their start is the time from exec to
their first screen: a terminal full of text, after which nothing comes for a moment.
"""

import os
import shutil
import statistics
import time
from pathlib import Path

from terminal import Terminal

PROGRAMS = {
    "harlequin": ["harlequin"],
    "posting": ["posting"],
    "btop": ["btop"],
    "lazygit": ["lazygit"],
}
FIRST_SCREEN = 1_500
"""Bytes of a first screen, at least: what sets a terminal up is shorter."""

LIMIT_S = 15.0
IDLE_S = 10.0


def peers(rounds: int = 3) -> dict[str, float]:
    """Figures of each that is installed."""
    folder = os.environ.get("BENCH_PEERS")
    found: dict[str, float] = {}
    for name, (program, *words) in PROGRAMS.items():
        path = None if folder is None else shutil.which(program, path=str(Path(folder) / "bin"))
        path = path or shutil.which(program)
        if path is None:
            print(f"{name}: not installed")
            continue
        starts = [first_screen([path, *words]) for _ in range(rounds)]
        with Terminal([path, *words]) as terminal:
            terminal.rest(5.0)
            cpu, memory = terminal.cpu_percent(IDLE_S), terminal.rss_mb
        start_ms = statistics.median(starts) * 1e3
        print(f"{name}: {start_ms:.0f} ms, {cpu:.1f} % of a core idle, {memory:.0f} MB")
        found |= {f"{name}_ms": start_ms, f"{name}_percent": cpu, f"{name}_mb": memory}
    return found


def first_screen(command: list[str]) -> float:
    """Seconds from exec until the first screen stands."""
    with Terminal(command) as terminal:
        while terminal.read < FIRST_SCREEN and time.perf_counter() - terminal.began < LIMIT_S:
            terminal.rest(0.005)
        return time.perf_counter() - terminal.began
