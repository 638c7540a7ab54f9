"""Misbehaves on purpose, so that the guards of `skills/process` can be seen and tested.

SERVICE_MISBEHAVING_HOW names the way: crash, loop, flood of output, garbage for JSON, deaf to
SIGTERM and so on. It never trades.
"""

import json
import os
import signal
import subprocess
import sys
import time

HOW = os.environ.get("SERVICE_MISBEHAVING_HOW", "crash")


def crash() -> None:
    print("about to fall over", flush=True)
    raise SystemExit(3)


def loop() -> None:
    print("looping", flush=True)
    while True:
        pass


def flood() -> None:
    while True:
        print("x" * 4_096)


def garbage() -> None:
    print('{"automaton": {"signals": NaN, "trades_executed": "\\x1b[2Jmany"', flush=True)


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("deaf", flush=True)
    while True:
        time.sleep(0.05)


def children() -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    subprocess.Popen(sleeper, start_new_session=True)
    subprocess.Popen(sleeper)
    print("left two behind", flush=True)


def key() -> None:
    found = [name for name in os.environ if "WALLET" in name or "PRIVATE" in name]
    print(json.dumps({"automaton": {"signals": len(found), "trades_executed": 0}}), flush=True)


WAYS = (crash, loop, flood, garbage, deaf, children, key)

if __name__ == "__main__":
    {way.__name__: way for way in WAYS}.get(HOW, crash)()
