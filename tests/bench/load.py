"""Trades over some connections, as fast as the service answers: bytes on sockets, no client.

`load.py URL KEY MARKET CONNECTIONS ROUNDS` prints trades a second; a round is a buy and a sale.
"""

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit


async def ask(
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter], head: str, body: bytes
) -> bytes:
    reader, writer = line
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    said = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(one.split(b":")[1])
        for one in said.lower().splitlines()
        if one.startswith(b"content-length")
    )
    if not said.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(said)
    return await reader.readexactly(length)


async def trade(url: str, key: str, market_id: str, rounds: int) -> None:
    where = urlsplit(url)
    line = await asyncio.open_connection(where.hostname, where.port)
    head = (
        f"POST /api/sdk/trade HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nUser-Agent: service-tui/bench\r\n"
    )
    order = {"market_id": market_id, "side": "yes"}
    for _ in range(rounds):
        bought = json.loads(await ask(line, head, json.dumps(order | {"amount": 1}).encode()))
        sale = order | {"action": "sell", "shares": bought["shares_bought"]}
        sold = json.loads(await ask(line, head, json.dumps(sale).encode()))
        if not (bought["success"] and sold["success"]):
            raise RuntimeError(bought["error"] or sold["error"])
    line[1].close()


async def main(url: str, key: str, market_id: str, *counts: int) -> None:
    connections, rounds = counts
    started = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(trade(url, key, market_id, rounds))
    print(connections * rounds * 2 / (time.perf_counter() - started))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], *map(int, sys.argv[4:6])))
