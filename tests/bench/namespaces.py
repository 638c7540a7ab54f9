"""The compose file of the documentation, its two processes each in a network namespace of its own.

    sudo .venv/bin/python tests/bench/namespaces.py

Needs root and `ip`. Takes the command from `docs/shared-desk.md` as it
stands there, with the paths of this run, and the database in a third namespace, this one. Prints
what each process announces, then kills the leader and writes through both.
"""

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx

from kit.service.certificates import Certificate, certificate
from kit.service.postgres import USER, Postgres
from service_tui.credentials.api_keys import stored_desk_keys

ROOT = Path(__file__).resolve().parents[2]
NAME, PORT = "desk.example", 8443
BRIDGE, NETWORK = "st-desk", "10.213.7"
UP_S = 60.0


def run(*words: str) -> None:
    subprocess.run(words, check=True)


class Space:
    """A network namespace on the bridge, and the process in it."""

    def __init__(self, number: int, folder: Path) -> None:
        self.name, self.address = f"{BRIDGE}-{number}", f"{NETWORK}.{number}"
        self.folder = folder
        self.running: subprocess.Popen[str] | None = None
        near, far = f"st{number}a", f"st{number}b"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", self.name)
        run("ip", "link", "set", near, "master", BRIDGE, "up")
        run("ip", "-n", self.name, "link", "set", "lo", "up")
        run("ip", "-n", self.name, "addr", "add", f"{self.address}/24", "dev", far)
        run("ip", "-n", self.name, "link", "set", far, "up")

    def start(self, words: list[str], database: str) -> None:
        self.running = subprocess.Popen(
            ["ip", "netns", "exec", self.name, sys.executable, "-m", "service_tui", *words],
            env={**os.environ, "HOME": str(self.folder), "SERVICE_TUI_DATABASE": database},
            stdout=subprocess.PIPE,
            text=True,
        )

    def until(self, word: str) -> None:
        assert self.running is not None
        assert self.running.stdout is not None
        for line in self.running.stdout:
            print(f"  {self.address}: {line.rstrip()}")
            if line.startswith(word):
                return
        raise AssertionError(f"{self.address} ended before it was {word}")

    def end(self) -> None:
        if self.running is not None:
            self.running.send_signal(signal.SIGKILL)
            self.running.wait()
            self.running = None

    def close(self) -> None:
        self.end()
        run("ip", "netns", "del", self.name)


def words_of_the_documentation(folder: Path, made: Certificate) -> list[str]:
    """The arguments of the program in the compose file."""
    text = (ROOT / "docs/shared-desk.md").read_text("utf-8")
    found = re.search(r"exec service-tui (serve .*?)'", text, re.DOTALL)
    assert found is not None
    paths = {
        "/home/desk/data": str(folder / "data"),
        "/tls/cert.pem": str(made.cert),
        "/tls/key.pem": str(made.key),
    }
    return [paths.get(word, word) for word in shlex.split(found[1])]


async def checked(both: list[Space], made: Certificate) -> None:
    """Write through both, with the operator's keys of both."""
    async with httpx.AsyncClient(
        verify=made.trusted(), timeout=10, headers={"Host": f"{NAME}:{PORT}"}
    ) as http:
        for one in both:
            for other in both:
                keys = stored_desk_keys(one.folder / "data")
                assert keys is not None
                headers = {"Authorization": f"Bearer {keys.operator}"}
                reply = await http.post(
                    f"https://{other.address}:{PORT}/api/desk/invitations",
                    headers=headers,
                    json={"uses": 1},
                    extensions={"sni_hostname": NAME},
                )
                print(f"  the operator of {one.address} writes at {other.address}: {reply}")
                assert reply.status_code == 200, reply.text


def main() -> None:
    with ExitStack() as stack:
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        stack.callback(run, "ip", "link", "del", BRIDGE)
        run("ip", "addr", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        server = Postgres(f"listen_addresses={NETWORK}.1")
        stack.callback(server.close)
        server.stop()
        with (server.data / "pg_hba.conf").open("a", encoding="ascii") as rules:
            rules.write(f"host all all {NETWORK}.0/24 trust\n")
        server.start()
        database = f"postgresql://{USER}@{NETWORK}.1/postgres"
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        made = certificate(Path(folder) / "tls", NAME)
        spaces = [Space(number, Path(folder) / str(number)) for number in (2, 3)]
        for one in spaces:
            stack.callback(one.close)
        words = [words_of_the_documentation(one.folder, made) for one in spaces]
        for one, own, state in zip(spaces, words, ("leading", "standing by"), strict=True):
            one.start(own, database)
            one.until(state)
        asyncio.run(asyncio.sleep(1))
        asyncio.run(checked(spaces, made))
        print("the leader is killed")
        spaces[0].end()
        spaces[1].until("leading")
        spaces[0].start(words[0], database)
        spaces[0].until("standing by")
        asyncio.run(asyncio.sleep(1))
        asyncio.run(checked(spaces, made))


if __name__ == "__main__":
    main()
