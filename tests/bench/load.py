"""Trades over some connections, as fast as the service answers: bytes on sockets, no client.

`load.py URL KEY MARKET CONNECTIONS ROUNDS` prints trades a second; a round is a buy and a sale.
It shares the machine with what it measures, so it does as little as can be.
"""

import re
import selectors
import socket
import sys
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

READ_MAX = 65_536
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
SHARES = re.compile(rb'"shares_bought":([0-9.]+)')


@dataclass
class Caller:
    """One connection, and how many of its trades are still to be answered."""

    line: socket.socket
    left: int
    heard: bytes = b""

    def answer(self) -> bytes | None:
        """The next whole answer, head and body; None while it is on its way."""
        self.heard += self.line.recv(READ_MAX)
        head, found, body = self.heard.partition(b"\r\n\r\n")
        if not found:
            return None
        length = LENGTH.search(head)
        if length is None or not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self.heard)
        if len(body) < int(length[1]):
            return None
        self.heard = b""
        return body


@dataclass(frozen=True)
class Orders:
    """The requests, put together before time is taken."""

    url: str
    key: str
    market_id: str

    def request(self, size: bytes) -> bytes:
        body = b'{"market_id":"%b","side":"yes",%b}' % (self.market_id.encode(), size)
        head = (
            f"POST /api/sdk/trade HTTP/1.1\r\nHost: {urlsplit(self.url).netloc}\r\n"
            f"Authorization: Bearer {self.key}\r\nContent-Type: application/json\r\n"
            f"User-Agent: service-tui/bench\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def trade(callers: list[Caller], orders: Orders) -> None:
    """Buy and sell in turn on each connection until nothing is left."""
    buy = orders.request(b'"amount":1')
    with selectors.DefaultSelector() as ready:
        for caller in callers:
            ready.register(caller.line, selectors.EVENT_READ, caller)
            caller.line.sendall(buy)
        while ready.get_map():
            for at, _ in ready.select():
                said = at.data.answer()
                if said is None:
                    continue
                if b'"success":true' not in said:
                    raise RuntimeError(said)
                shares = SHARES.search(said)
                at.data.left -= 1
                if not at.data.left:
                    ready.unregister(at.fileobj)
                elif at.data.left % 2:
                    sale = orders.request(b'"action":"sell","shares":' + shares[1])
                    at.data.line.sendall(sale)
                else:
                    at.data.line.sendall(buy)


def main(orders: Orders, connections: int, rounds: int) -> None:
    where = urlsplit(orders.url)
    callers = []
    for _ in range(connections):
        line = socket.create_connection((where.hostname, where.port))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        callers.append(Caller(line, rounds * 2))
    started = time.perf_counter()
    trade(callers, orders)
    print(connections * rounds * 2 / (time.perf_counter() - started))
    for caller in callers:
        caller.line.close()


if __name__ == "__main__":
    main(Orders(*sys.argv[1:4]), *map(int, sys.argv[4:6]))
