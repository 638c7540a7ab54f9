"""What each screen of a running console shows, as text."""

from kit.console.doors import Running
from kit.console.idle import wait_for_idle
from service_tui.console.shell.views import SCREENS
from service_tui.console.widgets.deck import Deck


def deck_text(seen: Running) -> str:
    """What the screen in front shows."""
    region = seen.app.screen_stack[0].query_one(Deck).region
    return "\n".join(seen.lines[region.y : region.bottom])


async def texts(seen: Running) -> dict[str, str]:
    """What each screen shows."""
    result: dict[str, str] = {}
    # Those whose detail was read; of others the moment knows none.
    market, agent = seen.app.desk_state.detail, seen.app.desk_state.supervision.detail
    rows: dict[str, str] = {}
    if market is not None:
        rows["markets"] = f", '{market.market_id}'"
    if agent is not None:
        rows["agents"] = f", '{agent.agent_id}'"
    for name in SCREENS:
        await seen.app.run_action(f"go('{name}'{rows.get(name, '')})")
        await seen.pilot.pause(0.06)
        seen.app.clear_notifications()
        await wait_for_idle()
        result[name] = deck_text(seen)
    return result
