from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import ACT, bare_service, request_to
from service_tui.engine.events import HaltSet, OrderEnd, OrderEnded
from service_tui.server.routes import halt
from service_tui.storage.errors import StorageError
from service_tui.units import ONE, Micros


def service() -> Any:
    world = bare_world("ada")
    listed(world)
    return bare_service(world)


async def test_a_halt_and_its_end_are_written_once_with_who_did_it() -> None:
    one = service()
    for _ in range(2):
        answer = await halt.halt(request_to(one))
        assert answer.halted
        assert answer.halted_at is not None
        assert answer.halted_at.timestamp() == AT
        assert answer.cancelled == ()
    assert one.world_store.written == [HaltSet(AT, halted=True), ACT]
    for _ in range(2):
        answer = await halt.resume(request_to(one))
        assert (answer.halted, answer.halted_at) == (False, None)
    assert one.world_store.written[2:] == [HaltSet(AT, halted=False), ACT]


async def test_buys_that_were_cancelled_are_told_with_what_came_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = OrderEnded(
        "o1", "ada", "m1", OrderEnd.CANCELLED, AT, AT, Micros(0), Micros(0), Micros(0),
        Micros(7 * ONE),
    )  # fmt: skip
    events = [HaltSet(AT, halted=True), ended]
    monkeypatch.setattr(halt.halting, "halt", lambda *_: events)
    one = service()
    (row,) = (await halt.halt(request_to(one))).cancelled
    assert row.model_dump() == {
        "order_id": "o1", "agent_id": "ada", "agent_name": "ada", "market_id": "m1",
        "returned_usdc": 7.0,
    }  # fmt: skip
    assert one.world_store.written == [*events, ACT]


async def test_nothing_is_halted_in_memory_while_the_disk_refuses() -> None:
    one = service()
    one.world_store.refuses = StorageError("no room")
    for call in (halt.halt, halt.resume):
        with pytest.raises(StorageError):
            await call(request_to(one))
    assert one.world.halt.since is None
