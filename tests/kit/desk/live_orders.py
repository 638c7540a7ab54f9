"""Orders for real money on the embedded venues, placed through a desk with a wallet."""

from kit.desk.faults import ended, until
from kit.desk.redeeming import known
from kit.service.stage import Stage
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.commands.wallet import LIVE_WORD, SetLive
from service_tui.desk.desk import Desk
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic


async def placed(desk: Desk, stage: Stage, order: PlaceTrade) -> tuple[TicketState, str]:
    view = await ended(desk, desk.submit(order), stage)
    return view.state, f"{view.outcome} {view.fix}"


async def live(desk: Desk, stage: Stage) -> None:
    await known(desk, stage)
    await until(desk, lambda s: {Topic.MARKETS, Topic.POSITIONS} <= set(s.seen), stage)
    desk.submit(SetLive(on=True, word=LIVE_WORD))
    await until(desk, lambda s: s.wallet.live, stage)
