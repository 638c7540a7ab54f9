"""Who leads: by which gain, with which rank, and whose id is shown."""

import hashlib
from typing import Any

import pytest

from kit.engine.bare import bare_world
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.venues import VenueAccount
from service_tui.engine.reactor.wallet_records import WalletRecord
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import leaderboard
from service_tui.terms import AgentStatus, Plan, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.leaderboard import LeaderboardQuery, SdkAgentsQuery, VenueLeadersQuery


def service() -> Any:
    """Four agents with gains of 5, 9, 5 and -3 thousand; ada calls."""
    world = bare_world("ada", "ben", "cyd", "dan", claimed=True)
    for name, gain in (("ada", 5), ("ben", 9), ("cyd", 5), ("dan", -3)):
        world.agents[name].realized = Micros(gain * 1_000 * ONE)
    ada = world.agents["ada"]
    ada.trades_count, ada.win_count, ada.loss_count = 7, 3, 1
    return bare_service(world)


def hidden(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


async def test_agents_are_ranked_by_their_gain_and_equals_share_a_rank() -> None:
    one = service()
    answer = await leaderboard.leaders(request_to(one, "ada", query=LeaderboardQuery(limit=4)))
    rows = [(row.name, row.rank, row.total_pnl, row.pnl_percent) for row in answer.sdk_agents]
    assert rows == [
        ("ben", 1, 9_000, 90), ("ada", 2, 5_000, 50), ("cyd", 2, 5_000, 50), ("dan", 4, -3_000, -30)
    ]  # fmt: skip
    assert [row.id for row in answer.sdk_agents] == [
        hidden("ben"), "ada", hidden("cyd"), hidden("dan")
    ]  # fmt: skip
    mine = answer.sdk_agents[1]
    assert (mine.trades_count, mine.win_count, mine.loss_count, mine.win_rate) == (7, 3, 1, 0.75)
    assert mine.status is AgentStatus.ACTIVE


async def test_a_limit_cuts_the_list_and_not_its_count() -> None:
    answer = await leaderboard.sdk_agents(
        request_to(service(), "ada", query=SdkAgentsQuery(limit=2))
    )
    assert [row.name for row in answer.sdk_agents] == ["ben", "ada"]
    assert answer.total == 4


async def test_the_account_is_summed_up_around_the_caller() -> None:
    answer = await leaderboard.fleet_summary(request_to(service(), "cyd"))
    assert (answer.agent.name, answer.agent.rank, answer.agent.id) == ("cyd", 2, "cyd")
    assert [row.name for row in answer.agents] == ["ben", "ada", "cyd", "dan"]
    totals = answer.totals
    assert (totals.agents, totals.balance, totals.pnl, totals.trades_count) == (
        4, 40_000, 16_000, 7
    )  # fmt: skip
    assert (answer.plan, answer.agents_max) == (Plan.ELITE.value, answer.agents_max)


async def of_venue(one: Any, name: str, **query: Any) -> Any:
    asked = VenueLeadersQuery(**query)
    return await leaderboard.of_venue(request_to(one, "ada", path={"venue": name}, query=asked))


@pytest.mark.parametrize("name", ["sim", Venue.SIM.value])
async def test_on_sim_agents_lead_by_their_own_gain(name: str) -> None:
    answer = await of_venue(service(), name, trader_type="agent")
    assert [(row.name, row.total_pnl, row.trader_id) for row in answer.traders] == [
        ("ben", 9_000, hidden("ben")), ("ada", 5_000, "ada"), ("cyd", 5_000, hidden("cyd")),
        ("dan", -3_000, hidden("dan")),
    ]  # fmt: skip
    assert (answer.venue, answer.currency, answer.total) == (Venue.SIM, "$SIM", 4)
    assert answer.traders[1].win_rate == 0.75


async def test_on_a_real_venue_agents_and_named_wallets_stand_by_what_they_realized() -> None:
    one = service()
    account = one.world.venues.accounts["ben", Venue.EVM] = VenueAccount("ben", Venue.EVM)
    account.realized, account.trades_count = Micros(4 * ONE), 6
    account.win_count, account.loss_count = 1, 3
    wallet, idle, other = [one for one in ROSTER if one.venue is Venue.EVM][:3]
    for found, realized in ((wallet, 7), (other, 0)):
        record = WalletRecord(5, win_count=3, loss_count=2, realized=Micros(realized * ONE))
        one.world.reactor.records.by_address[address_of(one.world.seed, found)] = record
    answer = await of_venue(one, "polymarket", limit=2)
    first, second = answer.traders
    assert (first.name, first.total_pnl, first.trades_count, first.win_rate) == (
        wallet.label, 7, 5, 0.6
    )  # fmt: skip
    assert first.trader_id == address_of(one.world.seed, wallet)
    assert first.trader_type == "human"
    assert (second.name, second.total_pnl, second.trades_count) == ("ben", 4, 6)
    assert (second.win_count, second.loss_count, second.win_rate) == (1, 3, 0.25)
    assert (answer.venue, answer.currency, answer.total) == (Venue.EVM, "USDC", 6)
    assert idle.label not in {row.name for row in answer.traders}
    people = await of_venue(one, "evm_venue", trader_type="human")
    assert [row.name for row in people.traders] == [wallet.label, other.label]
    assert (await of_venue(one, "kalshi", trader_type="human")).traders == ()
    agents = await of_venue(one, "evm_venue", trader_type="agent")
    assert {row.trader_type for row in agents.traders} == {"agent"}


async def test_a_venue_that_there_is_not_is_a_404() -> None:
    with pytest.raises(Denied, match="404"):
        await of_venue(service(), "moon")
