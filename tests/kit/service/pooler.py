"""A pooler before PostgreSQL: it keeps a session for each client, or for each transaction alone.

It speaks as much of the protocol as that takes. Like the usual ones it lets a client in at once,
with a number of a session that it made up.
"""

import random
import socket
import socketserver
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kit.service.postgres import USER, Postgres

_VERSION_3: Final = 196_608
_ASKED: Final = b"user\0" + USER.encode() + b"\0database\0postgres\0client_encoding\0UTF8\0\0"
_LET_IN: Final = b"R" + struct.pack("!ii", 8, 0)
_MADE_UP: Final = b"K" + struct.pack("!iii", 12, 4_711, 0)
_READY: Final = b"Z" + struct.pack("!i", 5) + b"I"

Message = tuple[bytes, bytes]
"""The letter of its kind, and the whole of it."""


class Session:
    """A session of the server; `told` is what the server said of itself at its beginning."""

    def __init__(self, folder: Path) -> None:
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(str(folder / ".s.PGSQL.5432"))
        self.line.sendall(struct.pack("!ii", 8 + len(_ASKED), _VERSION_3) + _ASKED)
        self.told = b"".join(whole for kind, whole in self._until_ready() if kind == b"S")

    def answer(self, sent: bytes) -> tuple[bytes, bool]:
        """What the server says to it, and whether a transaction is open then."""
        self.line.sendall(sent)
        said = b"".join(whole for _, whole in self._until_ready())
        return said, not said.endswith(b"I")

    def _until_ready(self) -> list[Message]:
        found = [_message(self.line)]
        while found[-1][0] != b"Z":
            found.append(_message(self.line))
        return found


class Pooler(socketserver.ThreadingTCPServer):
    """Some sessions for all clients, or one for each client, on a port of loopback.

    Of several, each transaction is given any that is free, as of a pooler with other work.
    """

    daemon_threads = True

    def __init__(self, server: Postgres, *, keeps_sessions: bool, sessions: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), _Client)
        self.folder = server.folder
        self.keeps_sessions = keeps_sessions
        self.shared = [Session(self.folder) for _ in range(sessions)]
        self.told = self.shared[0].told
        self._free = list(self.shared)
        self._is_free = threading.Condition()
        self._chance = random.Random(7)

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.server_address[1]}/postgres"

    def take(self) -> Session:
        """Any session that is free."""
        with self._is_free:
            while not self._free:
                self._is_free.wait()
            return self._free.pop(self._chance.randrange(len(self._free)))

    def give(self, session: Session) -> None:
        """Take a session back after its transaction."""
        with self._is_free:
            self._free.append(session)
            self._is_free.notify()


class _Client(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        pooler = self.server
        assert isinstance(pooler, Pooler)
        line: socket.socket = self.request
        with suppress(OSError):
            while _beginning(line) != _VERSION_3:
                line.sendall(b"N")
            line.sendall(_LET_IN + pooler.told + _MADE_UP + _READY)
            _serve(line, pooler)


def _serve(line: socket.socket, pooler: Pooler) -> None:
    own = Session(pooler.folder) if pooler.keeps_sessions else None
    is_open, sent, lent = False, b"", None
    try:
        while True:
            kind, whole = _message(line)
            if kind == b"X":
                return
            sent += whole
            if kind not in {b"Q", b"S"}:
                continue
            session = own or lent or pooler.take()
            said, is_open = session.answer(sent)
            lent = None if own is not None or not is_open else session
            if own is None and lent is None:
                pooler.give(session)
            line.sendall(said)
            sent = b""
    finally:
        if own is not None:
            own.line.close()
        elif lent is not None:
            lent.answer(b"Q" + struct.pack("!i", 13) + b"ROLLBACK\0")
            pooler.give(lent)


def _beginning(line: socket.socket) -> int:
    length, code = struct.unpack("!ii", _exactly(line, 8))
    _exactly(line, length - 8)
    return code


def _message(line: socket.socket) -> Message:
    kind = _exactly(line, 1)
    length = _exactly(line, 4)
    return kind, kind + length + _exactly(line, struct.unpack("!i", length)[0] - 4)


def _exactly(line: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        part = line.recv(count - len(got))
        if not part:
            raise ConnectionResetError
        got += part
    return got


@contextmanager
def pooled(server: Postgres, *, keeps_sessions: bool, sessions: int = 1) -> Generator[str]:
    """The address of a pooler before a server."""
    with Pooler(server, keeps_sessions=keeps_sessions, sessions=sessions) as pooler:
        thread = threading.Thread(target=pooler.serve_forever, daemon=True)
        thread.start()
        try:
            yield pooler.url
        finally:
            pooler.shutdown()
            thread.join()
            for session in pooler.shared:
                session.line.close()
