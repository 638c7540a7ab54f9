"""The claim page: wrong and void codes, and whose the agent is afterwards."""

from typing import Any

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import bare_service, request_to
from service_tui.engine.agents.agents import status_of
from service_tui.engine.events import OperatorActed
from service_tui.server.routes import claim
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import CLAIM_PAGE

BITS = 0x12345


def service(**changes: Any) -> tuple[Any, str]:
    """A service with an agent to claim, and the code that bea has asked for."""
    one = bare_service(bare_world("ada", **changes))
    made = one.claim_codes.make("ada", BITS, now=AT, monotonic=70.0, by="bea")
    return one, made.code


@pytest.mark.parametrize("owner", ["", "cyd"])
async def test_the_right_code_makes_an_agent_its_makers_unless_it_is_somebodys(
    owner: str,
) -> None:
    one, code = service(owner=owner)
    page = await claim.enter(one, "c-ada", code)
    settings = one.world.agents["ada"].settings
    assert (page.status, settings.claimed, settings.owner) == (200, True, owner or "bea")
    assert one.world_store.written[-1] == OperatorActed("bea", AT, f"POST {CLAIM_PAGE}", "ada")
    count = len(one.world_store.written)
    assert (await claim.enter(one, "c-ada", "wrong")).status == 200
    assert len(one.world_store.written) == count


async def test_a_wrong_code_tells_the_tries_that_are_left_and_then_that_it_is_void() -> None:
    one, code = service()
    texts = [(await claim.enter(one, "c-ada", "ZZZZ")).content.decode() for _ in range(6)]
    left = [f"Tries left: {number}." for number in (4, 3, 2, 1)]
    assert [next((one for one in left if one in text), "") for text in texts] == [*left, "", ""]
    assert all(claim.VOID in text for text in texts[4:])
    assert not any("Tries left: 0" in text for text in texts)
    assert (await claim.enter(one, "c-ada", code)).status == 403
    assert not one.world.agents["ada"].settings.claimed
    assert one.world_store.written == []


async def test_an_unknown_link_is_a_404_and_an_unclaimed_agent_waits() -> None:
    one, _ = service()
    assert (await claim.enter(one, "c-ben", "ZZZZ")).status == 404
    assert (claim.show(one, "c-ben").status, claim.show(one, "c-ada").status) == (404, 200)
    assert claim.WAITS in claim.show(one, "c-ada").content.decode()


async def test_a_code_is_asked_for_where_one_would_help_and_nowhere_else() -> None:
    one, code = service()
    waits, unknown = claim.show(one, "c-ada"), claim.show(one, "c-ben")
    wrong = await claim.enter(one, "c-ada", "ZZZZ")
    done = await claim.enter(one, "c-ada", code)
    assert [b"<form" in each.content for each in (waits, wrong, unknown, done)] == [
        True, True, False, False
    ]  # fmt: skip
    assert b'<p role="status" class="bad">' in wrong.content
    assert b'<p role="status">' in waits.content


async def test_the_link_tells_how_its_agent_stands() -> None:
    one, _ = service()
    told = []
    for cash in (10_000, 0):
        agent = one.world.agents["ada"]
        have = one.world.cash(agent)
        if not cash:
            one.world.ledger.transfer(agent.cash_account, "issuer", have)
        told.append(await claim.look(request_to(one, path={"claim_code": "c-ada"})))
    with_money, without = told
    assert with_money.status == status_of(agent, Micros(10_000 * ONE))
    assert without.status == status_of(agent, Micros(0)) != with_money.status
    assert (with_money.name, with_money.claimed) == ("ada", False)
