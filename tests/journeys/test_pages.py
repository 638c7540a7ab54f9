"""The pages that are lists of steps: each key that they name, pressed in their order."""

from pathlib import Path
from typing import Final

import pytest

from kit.console.walk import Walk, walking
from kit.pages.steps import key_named, marked, rows_of
from service_tui.clock import ManualClock
from service_tui.console.forms.help import Help
from service_tui.console.forms.welcome import Welcome
from service_tui.console.key_queue import REST_S
from service_tui.console.keys import KEYS
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.tickets import TicketState

pytestmark = pytest.mark.slow


WHOLE: Final = {"enter", "tab", "space"}
"""Names of keys that a page writes as a word."""


async def pressed(walk: Walk, *keys: str) -> None:
    """Press keys as a page writes them; a word is typed."""
    for key in keys:
        named = key_named(key)
        is_word = named == key and not key.startswith(("ctrl+", "f")) and key not in WHOLE
        await walk.press(*(key_named(letter) for letter in key) if is_word else (named,))


def shows(walk: Walk, *texts: str) -> None:
    seen = walk.text
    assert [one for one in texts if one.lower() not in seen.lower()] == [], seen


async def begun(walk: Walk, keys: list[str], _: list[str]) -> None:
    await walk.until(lambda _: isinstance(walk.app.screen, Welcome))
    await pressed(walk, *keys)
    assert not isinstance(walk.app.screen, Welcome)
    await walk.until(lambda s: len(s.markets) > 60 and s.limits)
    await walk.until(lambda s: len(s.living_demos) == 3)
    shows(walk, "demo-news", "demo-momentum", "demo-favourite")


async def request(walk: Walk, keys: list[str], also: list[str]) -> None:
    allow, refuse, later = also
    await walk.until(lambda s: s.supervision.pending_trades)
    await pressed(walk, *keys)
    shows(walk, "demo-news", "approve", f"refuse  {refuse}")
    await pressed(walk, later)
    assert walk.state.supervision.pending_trades
    await pressed(walk, *keys)
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    await pressed(walk, allow)
    await walk.until(lambda s: any(one.agent_name == "demo-news" for one in s.fills))
    # Keys rest for a moment where a page has closed by itself.
    await walk.pilot.pause(2 * REST_S)


async def pause(walk: Walk, keys: list[str], _: list[str]) -> None:
    agent = next(iter(walk.state.living_demos))
    walk.app.front.focus_row(agent.agent_id)
    await pressed(walk, *keys)
    await walk.until(lambda s: any(one.paused for one in s.living_demos))
    await pressed(walk, *keys)
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    await pressed(walk, "y")
    await walk.until(lambda s: not any(one.paused for one in s.living_demos))


async def replay(walk: Walk, keys: list[str], also: list[str]) -> None:
    await walk.until(lambda _: walk.player is not None)
    await pressed(walk, *keys)
    await walk.until(lambda s: s.rewound_to)
    shows(walk, "replay")
    await pressed(walk, *also)
    await walk.until(lambda s: not s.rewound_to)


async def markets(walk: Walk, keys: list[str], also: list[str]) -> None:
    down, up, search, chart, back = also
    await pressed(walk, *keys)
    first = walk.text
    await pressed(walk, down)
    assert walk.text != first
    await pressed(walk, up)
    await pressed(walk, search, "will")
    shows(walk, "will")
    # The first one ends the search.
    await pressed(walk, "enter", chart)
    shows(walk, "24 h, world time")
    await pressed(walk, back)
    shows(walk, "find")


async def ticket(walk: Walk, keys: list[str], _: list[str]) -> None:
    await pressed(walk, *keys)
    await walk.until(lambda _: "max profit" in walk.text.lower())
    shows(walk, "shares", "average", "max loss", "max profit")


async def bought(walk: Walk, keys: list[str], _: list[str]) -> None:
    await pressed(walk, *keys)
    await walk.until(lambda s: s.positions)
    notice = walk.state.notices[-1]
    assert (notice.kind, "bought" in notice.text) == (NoticeKind.FILL, True)


async def portfolio(walk: Walk, keys: list[str], _: list[str]) -> None:
    await pressed(walk, *keys)
    shows(walk, walk.state.positions[0].question[:20], "P&L")


async def stop(walk: Walk, keys: list[str], also: list[str]) -> None:
    (change,) = also
    await pressed(walk, *keys)
    await walk.until(lambda s: s.risk.monitors)
    shows(walk, "stop", "20")
    before = walk.app.screen
    await pressed(walk, change)
    assert walk.app.screen is not before
    await pressed(walk, "esc")
    assert walk.app.screen is before


async def speed(walk: Walk, keys: list[str], also: list[str]) -> None:
    slower, pause = also
    for key, speed in ((keys[0], 10), (keys[0], 60), (slower, 10), (slower, 1)):
        await pressed(walk, key)
        await walk.until(lambda s, speed=speed: s.world.speed == speed)
    for speed in (0, 1):
        await pressed(walk, pause)
        await walk.until(lambda s, speed=speed: s.world.speed == speed)
    await pressed(walk, slower)
    await walk.until(lambda s: s.world.speed == 0)
    await pressed(walk, pause)
    await walk.until(lambda s: s.world.speed == 1)


async def orders(walk: Walk, keys: list[str], _: list[str]) -> None:
    await pressed(walk, *keys)
    shows(walk, "done", walk.state.tickets[0].question[:20])


async def attention(walk: Walk, keys: list[str], _: list[str]) -> None:
    await pressed(walk, *keys)
    assert walk.app.front.name_in_keys == "attention"


async def sale(walk: Walk, keys: list[str], also: list[str]) -> None:
    await pressed(walk, *keys)
    await walk.until(lambda _: "sell" in walk.text.lower())
    await pressed(walk, *also)
    await walk.until(lambda s: not s.positions)
    sold = walk.state.tickets[0]
    assert sold.state is TicketState.DONE


async def halt(walk: Walk, keys: list[str], also: list[str]) -> None:
    resume, word, enter = also
    await pressed(walk, *keys)
    await walk.until(lambda s: s.halt and not s.halt.missing)
    await pressed(walk, resume)
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    await pressed(walk, word, enter)
    await walk.until(lambda s: not s.halt)
    # Its page closes by itself, and keys rest for a moment.
    await walk.pilot.pause(2 * REST_S)


async def helped(walk: Walk, keys: list[str], also: list[str]) -> None:
    search, palette = also
    # The ticket before has closed by itself: keys rest for a moment.
    await walk.pilot.pause(2 * REST_S)
    await pressed(walk, *keys)
    await walk.until(lambda _: isinstance(walk.app.screen, Help))
    shows(walk, "keys")
    await pressed(walk, search, "halt")
    shows(walk, "F9")
    await pressed(walk, "esc", "esc", palette)
    await pressed(walk, "tour")
    shows(walk, "tour")
    await pressed(walk, "esc")


async def command(walk: Walk, keys: list[str], also: list[str]) -> None:
    buy, sort, every, complete = also
    await pressed(walk, "2")
    await given(walk, keys, buy)
    await walk.until(lambda _: "max profit" in walk.text.lower())
    await pressed(walk, "esc")
    await given(walk, keys, sort)
    shows(walk, "↓YES")
    await given(walk, keys, every)
    await walk.until(lambda _: len(walk.app.screen_stack) > 1)
    await pressed(walk, "esc", *keys, "so", complete)
    shows(walk, "sort")
    await pressed(walk, "esc")


async def given(walk: Walk, keys: list[str], line: str) -> None:
    await pressed(walk, *keys)
    await walk.press(*("space" if letter == " " else letter for letter in line), "enter")


async def out(walk: Walk, keys: list[str], _also: list[str]) -> None:
    for _ in range(3):
        if walk.app.is_running:
            await walk.pilot.press(*keys)
            await walk.pilot.pause(0.3)
    assert not walk.app.is_running


FIRST_MINUTES: Final = (
    begun, request, pause, halt, replay, attention, markets, ticket, bought, portfolio, stop, sale,
    orders, speed, helped, command, out,
)  # fmt: skip
"""What a person sees at each row of the table, in its order."""


async def test_the_first_five_minutes_of_the_readme(tmp_path: Path) -> None:
    async with walking(tmp_path, ManualClock(), size=(120, 40), speed=1, is_whole=True) as walk:
        rows = rows_of("README.md", "The first five minutes")
        for (keys, meaning), see in zip(rows, FIRST_MINUTES, strict=True):
            await see(walk, keys, marked(meaning))


def test_the_keys_of_the_page_on_agents_are_those_of_their_screen() -> None:
    known = {key for one in KEYS if one.ident.startswith(("agents.", "app.")) for key in one.keys}
    named = [key for keys, _ in rows_of("docs/agents.md", "Supervise") for key in keys]
    assert len(named) > 10
    assert [key for key in named if key_named(key) not in known] == []
