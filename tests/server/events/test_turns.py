"""The turns in which waiting callers are served."""

import asyncio

from starlette.types import Message, Receive, Scope, Send

from service_tui.server.http.loopback import Turns


class Counting:
    """An app that notes in which turn of the loop each caller is taken in."""

    def __init__(self) -> None:
        self.turn = 0
        self.begun: list[tuple[str, int]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        self.begun.append((scope["path"], self.turn))

    def tick(self) -> None:
        self.turn += 1
        if self.turn < 100:
            asyncio.get_running_loop().call_soon(self.tick)


async def unread() -> Message:
    return {}


async def unsent(_: Message) -> None:
    return None


async def call(app: Turns, name: str) -> None:
    await app({"type": "http", "path": name}, unread, unsent)


async def test_of_many_callers_one_begins_in_each_turn_in_the_order_of_their_coming() -> None:
    counting = Counting()
    app = Turns(counting)
    async with asyncio.TaskGroup() as tasks:
        for number in range(20):
            tasks.create_task(call(app, str(number)))
        counting.tick()
    names, turns = zip(*counting.begun, strict=True)
    assert names == tuple(str(number) for number in range(20))
    assert len(set(turns)) == 20


async def test_a_caller_who_went_away_while_it_waited_holds_nobody_up() -> None:
    counting = Counting()
    app = Turns(counting)
    async with asyncio.TaskGroup() as tasks:
        callers = [tasks.create_task(call(app, str(number))) for number in range(4)]
        await asyncio.sleep(0)
        callers[1].cancel()
        callers[3].cancel()
    assert [name for name, _ in counting.begun] == ["0", "2"]
    await call(app, "later")
    assert counting.begun[-1][0] == "later"
