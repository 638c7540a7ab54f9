"""A pooler before PostgreSQL: it keeps a session for each client, or for each transaction alone.

It speaks as much of the protocol as that takes. Like the usual ones it lets a client in at once,
with a number of a session that it made up.
"""

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
    """One session for all clients, or one for each, on a port of loopback."""

    daemon_threads = True

    def __init__(self, server: Postgres, *, keeps_sessions: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Client)
        self.folder = server.folder
        self.keeps_sessions = keeps_sessions
        self.shared = Session(self.folder)
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.server_address[1]}/postgres"


class _Client(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        pooler = self.server
        assert isinstance(pooler, Pooler)
        line: socket.socket = self.request
        with suppress(OSError):
            while _beginning(line) != _VERSION_3:
                line.sendall(b"N")
            line.sendall(_LET_IN + pooler.shared.told + _MADE_UP + _READY)
            _serve(line, pooler)


def _serve(line: socket.socket, pooler: Pooler) -> None:
    own = Session(pooler.folder) if pooler.keeps_sessions else None
    is_open, sent = False, b""
    try:
        while True:
            kind, whole = _message(line)
            if kind == b"X":
                return
            sent += whole
            if kind not in {b"Q", b"S"}:
                continue
            if own is None and not is_open:
                pooler.turn.acquire()
            said, is_open = (own or pooler.shared).answer(sent)
            if own is None and not is_open:
                pooler.turn.release()
            line.sendall(said)
            sent = b""
    finally:
        if own is not None:
            own.line.close()
        elif is_open:
            pooler.shared.answer(b"Q" + struct.pack("!i", 13) + b"ROLLBACK\0")
            pooler.turn.release()


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
def pooled(server: Postgres, *, keeps_sessions: bool) -> Generator[str]:
    """The address of a pooler before a server."""
    with Pooler(server, keeps_sessions=keeps_sessions) as pooler:
        thread = threading.Thread(target=pooler.serve_forever, daemon=True)
        thread.start()
        try:
            yield pooler.url
        finally:
            pooler.shutdown()
            thread.join()
            pooler.shared.line.close()
