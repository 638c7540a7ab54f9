"""Raw bytes to the address that skills speak to."""

import asyncio


async def raw_call(way: tuple[str, str], call: str, body: bytes = b"") -> bytes:
    """What answers a call that goes out exactly as it is spelt here."""
    url, key = way
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    head = f"{call} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1])
