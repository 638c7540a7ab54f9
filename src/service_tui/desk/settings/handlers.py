"""SetSpeed, StepWorld, SetStar, SetPreference: what moves no money."""

from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar, StepWorld
from service_tui.desk.facts import Noticed, PreferenceSet, StarSet, WorldSeen
from service_tui.desk.markets.translate import news_view
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.registry import Handlers, MemoryHandlers, TicketHandlers
from service_tui.desk.settings.limits import set_buy_limit, set_defaults, set_paused
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.world import WorldView
from service_tui.desk.world.translate import world_view
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import SET_SPEED, STEP
from service_tui.wire.world import SpeedRequest, StepRequest, WorldBody

STARS: Final = "stars"
"""Preference under which the watchlist is kept: ids between commas."""


async def set_speed(ticket: TicketView, pace: SetSpeed, ports: Ports) -> None:
    """Change the pace of the offline world; only the embedded service has one."""
    world = _world(ports)
    if world is None:
        return
    if pace.speed not in world.speeds:
        known = ", ".join(map(str, world.speeds))
        ports.emit(Noticed("warn", f"this world runs at one of {known}"))
        return
    await _moved(ticket, pace, ports, (SET_SPEED, SpeedRequest(speed=pace.speed)))


async def step_world(ticket: TicketView, on: StepWorld, ports: Ports) -> None:
    """Move a world on a history on."""
    if _world(ports) is not None:
        await _moved(ticket, on, ports, (STEP, StepRequest(seconds=on.seconds)))


def _world(ports: Ports) -> WorldView | None:
    """The offline world; without one, None and a notice."""
    state = ports.state()
    if state.service.embedded and state.world is not None:
        return state.world
    ports.emit(Noticed("warn", "only an offline world has a speed"))
    return None


async def _moved(
    ticket: TicketView,
    command: SetSpeed | StepWorld,
    ports: Ports,
    request: tuple[Endpoint[WorldBody], SpeedRequest | StepRequest],
) -> None:
    try:
        reply = await ports.client.call(request[0], body=request[1])
    except ServiceError as error:
        ports.emit(Noticed("bad", f"{ticket.what}: {error}"))
        return
    ports.emit(
        WorldSeen(world_view(reply.answer), tuple(news_view(row) for row in reply.answer.news))
    )
    ports.emit(Noticed("info", command.describe()))
    ports.refresh(Topic.WORLD)


async def set_star(star: SetStar, memory: Memory, ports: Ports) -> None:
    """Change the watchlist and remember it."""
    ports.emit(StarSet(star.market_id, star.on))
    await memory.prefer(STARS, ",".join(sorted(ports.state().stars)))


async def set_preference(preference: SetPreference, memory: Memory, ports: Ports) -> None:
    """Remember something of the console."""
    ports.emit(PreferenceSet(preference.name, preference.value))
    await memory.prefer(preference.name, preference.value)


HANDLERS: Final[Handlers] = {SetDefaults: set_defaults, SetPaused: set_paused}
TICKET_HANDLERS: Final[TicketHandlers] = {SetSpeed: set_speed, StepWorld: step_world}
MEMORY_HANDLERS: Final[MemoryHandlers] = {
    SetStar: set_star,
    SetPreference: set_preference,
    SetBuyLimit: set_buy_limit,
}
"""Handlers that keep something over a restart."""
