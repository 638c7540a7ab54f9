"""Makes pictures of the screens from a real desk on an embedded world with a set clock.

Same seed, same pictures.
"""

import asyncio
import random
import re
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.commands.agents import RefuseTrade
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

START: Final = Timestamp(1_800_014_400.0)
SEED: Final = 11
SIZE: Final = (132, 40)
_FETCHED: Final = re.compile(r"@font-face \{.*?\}|<!--.*?-->", re.DOTALL)
_BLANK_END: Final = re.compile(r"[ \t]+$", re.MULTILINE)
BUYS: Final = (
    (0, Side.YES, 120),
    (3, Side.NO, 80),
    (7, Side.YES, 200),
    (12, Side.YES, 45),
    (20, Side.NO, 150),
)
"""Which of the busiest markets the demo buys, which side, and for how many $SIM."""

PICTURES: Final = (
    ("agents", "7,j", "night"),
    ("approval", "ampersand", "night"),
    ("markets", "2,j,j,j", "night"),
    ("portfolio", "1", "night"),
    ("ticket", "2,j,b,2,5", "night"),
    ("monitors", "3", "night"),
    ("wallet", "5,W", "night"),
    ("blotter", "9", "night"),
    ("attention", "0", "night"),
    ("settings", "8", "night"),
    ("help", "2,question_mark", "night"),
    ("markets-paper", "2,j,j,j", "paper"),
    ("markets-contrast", "2,j,j,j", "contrast"),
    # Last: whatever is drawn after it is halted.
    ("halt", "7,f9", "night"),
)
"""Name of the file, keys pressed, theme."""


def make_screenshots(folder: Path, screen: str = "") -> Iterator[Path]:
    """Write the pictures as SVG files: all of them, or those whose name has this prefix.

    Yields:
        Each file, after it is written.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in asyncio.run(_pictures(screen)):
        path = folder / f"{name}.svg"
        path.write_text(_alone(svg), encoding="utf-8")
        yield path


def _alone(svg: str) -> str:
    """The picture without references to the network: any monospaced font will do."""
    # Blanks are part of a terminal's picture; some viewers would fold them.
    plain = _FETCHED.sub("", svg).replace("<text ", '<text xml:space="preserve" ')
    return _BLANK_END.sub("", plain)


async def _pictures(screen: str) -> list[tuple[str, str]]:
    # Time passes with every picture: those before the last requested one are drawn as well.
    last = max(
        (at for at, picture in enumerate(PICTURES) if picture[0].startswith(screen)), default=-1
    )
    if last < 0:
        return []
    with tempfile.TemporaryDirectory() as folder:
        clock = ManualClock(START)
        options = lived_in_options(Path(folder))
        async with lived_in_desk(options, clock) as desk:
            drawn = [
                (name, await _picture(desk, clock, keys, theme))
                for name, keys, theme in PICTURES[: last + 1]
            ]
            return [picture for picture in drawn if picture[0].startswith(screen)]


def lived_in_options(folder: Path) -> Options:
    """The start of the desk of the pictures: a quick world with its demo agents."""
    return Options(folder, folder, folder / "log", seed=SEED, speed=60, demo=True)


@asynccontextmanager
async def lived_in_desk(options: Options, clock: ManualClock) -> AsyncGenerator[Desk]:
    """A desk with agents at work, a request, trades, alerts and signals."""
    desk_parts = embedded_parts(options, first_state(options), clock, random.Random(SEED))  # noqa: S311
    async with desk_parts as desk:
        await settle(clock, 5)
        markets = sorted(desk.state.markets.values(), key=lambda market: -(market.volume or 0))
        for index, side, money in BUYS:
            market = markets[index]
            order = PlaceTrade(
                market.market_id,
                side,
                Action.BUY,
                Venue.SIM,
                amount=Micros(money * ONE),
                reasoning="the news has not reached the price yet",
                question=market.question,
            )
            desk.submit(order)
            await settle(clock, 20)
        for index in (1, 5):
            desk.submit(SetStar(markets[index].market_id, on=True))
        desk.submit(SetPreference("welcome", "seen"))
        desk.submit(SetSpeed(1))
        # What was asked for in the quick world is out of date by now; a fresh request comes soon.
        for trade in desk.state.supervision.pending_trades:
            desk.submit(RefuseTrade(trade.pending_id, trade.question, "too late"))
        await settle(clock, 60)
        yield desk


async def settle(clock: ManualClock, seconds: int) -> None:
    """Let the world run; each second is a tick and a round of the pollers."""
    for _ in range(seconds):
        await clock.advance(1.0)
        await asyncio.sleep(0.002)


async def _picture(desk: Desk, clock: ManualClock, keys: str, theme: str) -> str:
    """One screen as SVG."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Desk]:
        yield desk

    state: DeskState = desk.state
    app = ConsoleApp(
        open_desk=opened,
        initial=state,
        now=clock.now,
        themes=load_themes(shipped_folder()),
        log_path="service-tui.log",
    )
    async with app.run_test(size=SIZE) as pilot:
        app.apply_theme(theme)
        await pilot.pause()
        for key in keys.split(","):
            await pilot.press(key)
            await asyncio.sleep(0.2)
            await settle(clock, 3)
            await pilot.pause()
        await asyncio.sleep(0.8)
        await pilot.pause()
        return app.export_screenshot(title="service-tui", simplify=True)
