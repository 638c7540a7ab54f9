"""A console beside twenty ready-made skills, each a process of its own, for ten minutes.

`skills.py [SECONDS] [SKILLS] [attached|embedded] [limits|closed] [awake]` prints how long a key
waits until its effect is painted (p99 is the figure that counts), what the skills said at their
end, how the memory of the serving process went, and whether every micro of money is still there.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import beside

from service_tui.skills.package import BUNDLED, entry_script
from service_tui.skills.process import Launch, SkillProcess, report_of, tagged, tail

SKILLS = ("mean-reversion", "momentum", "news-follower", "closing-favourite", "reactor-mirror")
HURRY = {"PAUSE_S": "2", "AMOUNT": "1", "JUMP": "0.005", "MOVE": "0.01", "STEP": "0.005"}
"""The skills look often and are easily moved, so that there is something to measure."""


def rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def launched(folder: Path, url: str, key: str, number: int) -> SkillProcess:
    slug = SKILLS[number % len(SKILLS)]
    prefix = f"SERVICE_{slug.replace('-', '_').upper()}"
    own = {f"{prefix}_{name}": value for name, value in HURRY.items()}
    own |= {
        "SERVICE_API_URL": url,
        "SERVICE_API_KEY": key,
        f"{prefix}_DAILY_BUDGET_USD": "1000",
    }
    run_id = f"bench{number}"
    script = entry_script(BUNDLED / slug)
    return SkillProcess.start(Launch(run_id, folder / run_id, script, ("--live",), own), os.environ)


async def trade(url: str, keys: list[str], seconds: float, count: int) -> Counter[str]:
    folder = Path(tempfile.mkdtemp())
    holder = next(holder for holder in map(beside.holder_at, beside.FOLDERS) if holder is not None)
    running = [launched(folder, url, keys[n % len(keys)], n) for n in range(count)]
    sizes: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(min(10.0, seconds / 10))
        sizes.append(rss_mb(holder))
    alive = sum(one.exit_code() is None for one in running)
    said = Counter(report_of(tail(one.folder)) or "nothing yet" for one in running)
    for one in running:
        one.kill()
    left = sum(len(tagged(f"bench{n}")) for n in range(count))
    print(f"{alive} of {count} skills still ran, {left} processes are left of them")
    print(f"memory of the service: {sizes[0]:.0f} MB, at the end {sizes[-1]:.0f} MB")
    return Counter({"traded": 0, **{words[:60]: many for words, many in said.items()}})


def balance_of(data: Path) -> int:
    from service_tui.app.topics import load_topics  # noqa: PLC0415
    from service_tui.server.world_store import restore  # noqa: PLC0415
    from service_tui.storage.db.lock import DataDirLock  # noqa: PLC0415
    from service_tui.storage.opening import open_database  # noqa: PLC0415

    lock = DataDirLock.acquire(data, pid=os.getpid(), now=time.time())  # noqa: TID251
    database = open_database(data, now=time.time(), lock=lock)  # noqa: TID251
    found = restore(database, load_topics())
    if found is None:
        raise RuntimeError("there is no world")
    world = found[0]
    trades = world.trade_count
    print(f"{trades} trades in the journal")
    database.close(time.time())  # noqa: TID251
    lock.release()
    return sum(world.ledger.balances().values())


if __name__ == "__main__":
    words = [*sys.argv[1:], *("600", "20", "attached", "limits", "")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as place, beside.awake() if words[4] else nullcontext():
        beside.FOLDERS.append(Path(place) / "desk")
        beside.trade = trade
        beside.beside(
            Path(place),
            float(words[0]),
            int(words[1]),
            words[2],
            limits=words[3] != "closed",
        )
        print(f"money that is missing: {balance_of(Path(place) / 'desk')} micros")
