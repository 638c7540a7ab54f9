"""SetSpeed, SetStar, SetPreference: what moves no money."""

from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar
from service_tui.desk.facts import Noticed, PreferenceSet, StarSet, WorldSeen
from service_tui.desk.markets.translate import news_view
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.registry import Handlers, MemoryHandlers, TicketHandlers
from service_tui.desk.settings.limits import set_buy_limit, set_defaults, set_paused
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.world.translate import world_view
from service_tui.terms import SPEEDS
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.world import SpeedRequest

STARS: Final = "stars"
"""Preference under which the watchlist is kept: ids between commas."""


async def set_speed(ticket: TicketView, pace: SetSpeed, ports: Ports) -> None:
    """Change the pace of the offline world; only the embedded service has one."""
    if not ports.state().service.embedded or pace.speed not in SPEEDS:
        ports.emit(Noticed("warn", "only the simulated world has a speed: 0, 1, 10 or 60"))
        return
    try:
        reply = await ports.client.call(SET_SPEED, body=SpeedRequest(speed=pace.speed))
    except ServiceError as error:
        ports.emit(Noticed("bad", f"{ticket.what}: {error}"))
        return
    ports.emit(
        WorldSeen(world_view(reply.answer), tuple(news_view(row) for row in reply.answer.news))
    )
    ports.emit(Noticed("info", pace.describe()))
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
TICKET_HANDLERS: Final[TicketHandlers] = {SetSpeed: set_speed}
MEMORY_HANDLERS: Final[MemoryHandlers] = {
    SetStar: set_star,
    SetPreference: set_preference,
    SetBuyLimit: set_buy_limit,
}
"""Handlers that keep something over a restart."""
