"""The end of a port: whoever was let in until then is known, and nobody else is let in."""

import asyncio


async def stop_listening(server: asyncio.Server) -> None:
    """Close a port; every caller that it has let in has met its protocol when this returns.

    One that speaks TLS has met the layer that shakes hands, which has its own limit of time.

    asyncio lets a caller in within three turns of the loop: it accepts, makes the transport, tells
    the protocol. A server that is closed after the first turn loses its caller, whose connection
    stays open, without an answer, for as long as the process lives.
    """
    loop = asyncio.get_running_loop()
    for port in server.sockets:
        loop.remove_reader(port)
    await asyncio.sleep(0)
    server.close()
    await asyncio.sleep(0)
