"""What all agents hold: the answer of the service, the view, the rows, and a key on the page.

PYTHONPATH=src:tests python tests/bench/bench_holdings.py [AGENTS [POSITIONS [MARKETS]]]

A key's time has waits of the driver in it: read it beside that of a page with few positions, and
beside the time of the processor.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from kit.console.doors import running, seen_before
from kit.engine.bare import AT, bare_world, listed
from kit.samples.holdings import holdings_state
from kit.service.bare import bare_service, request_to
from service_tui.desk.holdings.rows import due_rows, group_rows, held_rows
from service_tui.desk.holdings.translate import holdings_view
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.engine.amm.exchange import Order
from service_tui.server.routes import holdings
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.holdings import HoldingsBody
from service_tui.wire.limits import ExposureLimitsBody


def taken(name: str, work: Callable[[], object], rounds: int = 5) -> None:
    best = 1e9
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    print(f"{name:<44} {best * 1000:8.1f} ms")


async def main(agents: int, count: int, markets: int) -> None:
    names = [f"a{number}" for number in range(agents)]
    world = bare_world(*names)
    for market in range(markets):
        listed(world, f"m{market}")
    each = count // agents
    for place, name in enumerate(names):
        agent = world.agent(name)
        for nth in range(each):
            market = (place * each + nth) % markets
            side = Side.YES if (place + nth) % 3 else Side.NO
            order = Order(agent, f"m{market}", side, Action.BUY, Micros(ONE))
            world.place(order, AT)
    request = request_to(bare_service(world))
    loop = asyncio.get_running_loop()
    body = await holdings.list_holdings(request)
    print(f"{agents} agents, {len(body.holdings)} holdings in {markets} markets")
    best = 1e9
    for _ in range(3):
        began = loop.time()
        body = await holdings.list_holdings(request)
        best = min(best, loop.time() - began)
    print(f"{'service: rows of the world':<44} {best * 1000:8.1f} ms")
    text, limits = body.model_dump_json(), ExposureLimitsBody(limits=())
    taken("service: text of the answer", body.model_dump_json)
    taken("client: text to body", lambda: HoldingsBody.model_validate_json(text))
    taken("desk: body to view", lambda: holdings_view(body, limits, AT))
    view = with_ends(holdings_view(body, limits, AT))
    taken("page: groups of all six groupings", lambda: group_rows(view))
    taken("page: calendar", lambda: due_rows(view))
    taken("page: everything held", lambda: held_rows(view))
    state = replace(holdings_state(), holdings=view)
    async with running(seen_before(state), size=(160, 50)) as seen:
        for key in ("quotation_mark", "c", "c", "j", "o", "j", "o", "j", "minus", "quotation_mark"):
            began, cpu = time.perf_counter(), time.process_time()
            await seen.press(key)
            took, worked = time.perf_counter() - began, time.process_time() - cpu
            print(f"{'key ' + key:<44} {took * 1000:8.1f} ms {worked * 1000:8.1f} ms of it worked")


def with_ends(view: HoldingsView) -> HoldingsView:
    """The markets end one after the other over thirty days."""
    markets = {one.market_id: None for one in view.holdings}
    ends = {name: AT + place * 30 * 86_400 / len(markets) for place, name in enumerate(markets)}
    return replace(
        view,
        holdings=tuple(
            replace(one, resolves_at=Timestamp(ends[one.market_id])) for one in view.holdings
        ),
        world_at=AT,
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*(given + [100, 5_000, 1_000][len(given) :])))
