"""A full disk that comes and goes while agents trade: `full_disk.py [SECONDS] [AGENTS]`.

30 minutes with eight agents unless told otherwise. The directory lies on a small disk of its own in
memory, made with `unshare -rm`; another program fills it to its last byte and empties it again. In
between the service is killed, and halts are asked for.

Asserts: each acknowledged trade stands in the journal once, nothing else does, the books add up, a
halt that was acknowledged holds at the next start, and so does one that was only marked.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

DISK_MB = 48
FULL_S, FREE_S = (1.0, 4.0), (2.0, 6.0)
KILLED_EVERY = 5
RESUMED_WITHIN = 10
INSIDE = "SERVICE_TUI_SMALL_DISK"
PROGRAM = [sys.executable, "-m", "service_tui"]

wait = time.sleep  # noqa: TID251 - a program of its own


def fill(disk: Path) -> None:
    """Take every byte."""
    for number, size in enumerate((1 << 20, 1 << 12, 1)):
        with (disk / f"filler{number}").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def free(disk: Path) -> None:
    for path in disk.glob("filler*"):
        path.unlink()


def trade_for(where: str, seconds: float, number: int) -> None:
    """One agent: writes down what was acknowledged, on another disk."""
    from service_tui import ServiceClient  # noqa: PLC0415 - the program of an agent alone
    from service_tui.client.errors import ServiceError  # noqa: PLC0415

    rng, met = random.Random(number), Counter[str]()
    until, place = time.monotonic() + seconds, Path(where)
    key = ""
    with (place / f"acknowledged-{number}").open("a", encoding="utf-8") as file:
        while time.monotonic() < until:
            url = (place / "url").read_text(encoding="utf-8")
            try:
                if not key:
                    key = ServiceClient.register(f"small disk {number}", base_url=url).api_key
                with ServiceClient(key, url) as client:
                    markets = [market.id for market in client.get_markets(limit=20)]
                    for _ in range(20):
                        result = client.trade(
                            rng.choice(markets), "yes", rng.randint(100, 500) / 100,
                            allow_rebuy=True,
                        )  # fmt: skip
                        if result.success:
                            print(result.trade_id, file=file, flush=True)
                        met["traded" if result.success else "refused"] += 1
            except ServiceError as error:
                met[type(error).__name__] += 1
                wait(0.2)
    print(json.dumps(met))


class Service:
    """The service on the small disk, started anew whenever it was killed."""

    def __init__(self, data: Path, place: Path) -> None:
        self.data, self.place = data, place
        self.starts = self.refused = 0
        self.child: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it; on a full disk it says so and ends, and is started again."""
        words = [*PROGRAM, "serve", "--data-dir", str(self.data), "--port", "0", "--limits", "off"]
        while True:
            self.starts += 1
            child = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            first = child.stdout.readline() if child.stdout is not None else ""
            if first.startswith("serving "):
                (self.place / "url.new").write_text(first.split()[1], encoding="utf-8")
                (self.place / "url.new").replace(self.place / "url")
                self.child = child
                return
            said = child.communicate()[1]
            assert child.returncode == 1, said
            assert "the disk is full" in said, said
            self.refused += 1
            free(self.data.parent)

    def kill(self) -> None:
        assert self.child is not None
        self.child.send_signal(signal.SIGKILL)
        self.child.communicate()


def command(data: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*PROGRAM, *words, "--data-dir", str(data)],
        input=typed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in {0, 1}, (words, done.stdout, done.stderr)
    assert "internal error" not in done.stderr, done.stderr
    return done


def resume(data: Path) -> None:
    """End the halt as a person does: once more where the service was too busy to answer."""
    for _ in range(RESUMED_WITHIN):
        done = command(data, "resume", typed="RESUME\n")
        if done.returncode == 0:
            return
        wait(2.0)
    raise AssertionError((done.stdout, done.stderr))


def halted(data: Path) -> bool:
    from service_tui.app.halts import kept_halts  # noqa: PLC0415 - in the room of the small disk
    from service_tui.desk.slices.halt import newest  # noqa: PLC0415 - as above

    return newest(kept_halts(data)) is not None


def check_books(data: Path, place: Path, traded: int) -> None:
    """What was acknowledged against what stands in the journal."""
    import sqlite3  # noqa: PLC0415 - for the end alone

    told = [line for one in place.glob("acknowledged-*") for line in one.read_text().split()]
    with sqlite3.connect(data / "desk.sqlite3") as database:
        query = "SELECT body FROM journal WHERE agent_id IS NOT NULL AND kind = 'fill'"
        kept = Counter(json.loads(body)[0] for (body,) in database.execute(query))
    assert len(told) == len(set(told)) == traded, (len(told), traded)
    lost = [trade for trade in told if kept[trade] != 1]
    assert not lost, lost[:5]
    print(f"{len(told)} acknowledged trades, each once in the journal; {sum(kept.values())} rows")
    verified = command(data, "verify")
    assert verified.returncode == 0, verified.stdout
    print(verified.stdout)


def soak(seconds: float, agents: int, place: Path) -> None:
    """The whole soak, in a room where a small disk can be mounted."""
    disk = place / "disk"
    disk.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "none", str(disk)], check=True
    )
    data, rng, met = disk / "data", random.Random(7), Counter[str]()
    service = Service(data, place)
    service.start()
    ends = time.monotonic() + seconds
    words = [sys.executable, __file__, "--agent", str(place), str(seconds)]
    children = [
        subprocess.Popen([*words, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(agents)
    ]
    while time.monotonic() < ends:
        wait(rng.uniform(*FREE_S))
        fill(disk)
        met["filled"] += 1
        wait(rng.uniform(*FULL_S))
        if met["filled"] % KILLED_EVERY == 0:
            service.kill()
            met["killed on a full disk"] += 1
            free(disk)
            service.start()
        elif met["filled"] % KILLED_EVERY == 2:
            # Acknowledged or only marked: it holds either way, once there is room again.
            told = command(data, "halt").stdout
            assert "ok      halt kept over a restart" in told, told
            assert halted(data), told
            met["halted on a full disk"] += 1
            free(disk)
            wait(3.0)
            resume(data)
        free(disk)
    said = [json.loads(child.communicate()[0]) for child in children]
    agents_met = sum((Counter(one) for one in said), Counter[str]())
    print(dict(met), dict(agents_met), f"{service.starts} starts, {service.refused} refused")
    service.kill()
    check_books(data, place, agents_met["traded"])


def main(words: list[str]) -> int:
    if words[:1] == ["--agent"]:
        trade_for(words[1], float(words[2]), int(words[3]))
        return 0
    if os.environ.get(INSIDE):
        given: list[Any] = [float(word) for word in words]
        seconds, agents = [*given, *(1_800.0, 8.0)[len(given) :]]
        soak(seconds, int(agents), Path(os.environ[INSIDE]))
        return 0
    unshare = shutil.which("unshare")
    if unshare is None:
        print("no unshare here: a small disk cannot be made")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {INSIDE: folder}
        return subprocess.call([unshare, "-rm", sys.executable, __file__, *words], env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
