"""The queue of payouts and the wallet, of a service that keeps them and of one that does not."""

from types import SimpleNamespace

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from service_tui.client.errors import Called, NotFoundError, RefusalReason
from service_tui.desk.changes import Changed
from service_tui.desk.feed import wallet
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.feed.wallet import read_redemptions, read_wallet
from service_tui.desk.slices.redemption import AutoChanged, QueueSeen
from service_tui.wire.endpoints.public import AGENT, POSITIONS, SETTINGS
from service_tui.wire.endpoints.wallet import REDEMPTIONS, WALLET
from service_tui.wire.positions import PositionsQuery
from service_tui.wire.redemption import RedemptionsQuery

NONE = NotFoundError(RefusalReason("no path", "", ""), Called("GET", "/x"), status=404)


@pytest.fixture(autouse=True)
def translations(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of an answer is tested elsewhere: here it names what it was made of."""
    monkeypatch.setattr(wallet, "rows_of", lambda rows: ((("queued", rows),), 2))
    monkeypatch.setattr(wallet, "rows_of_position", lambda body: (("of", body), ("and", body)))
    monkeypatch.setattr(wallet, "wallet_view", lambda body, known: ("wallet", body, known))
    monkeypatch.setattr(wallet, "wallet_of_settings", lambda body, known: ("set", body, known))


@pytest.mark.parametrize("on_service", [True, False])
async def test_the_queue_is_read_with_all_that_could_not_be_and_what_the_service_redeems(
    *, on_service: bool
) -> None:
    body = SimpleNamespace(redemptions=("r",), auto_redeem_enabled=on_service)
    on = Offline(sample_state(6), {REDEMPTIONS: body})
    on.dropped = 5
    memory = PollerMemory()
    assert await read_redemptions(on.ports, memory) == (
        [QueueSeen((("queued", ("r",)),), 7), AutoChanged(on_service=on_service)],  # type: ignore[arg-type]
        0.01,
    )
    assert on.asked == [Asked(REDEMPTIONS, query=RedemptionsQuery())]
    assert not memory.without_queue


async def test_a_service_without_a_queue_is_read_by_its_positions_from_then_on() -> None:
    positions = SimpleNamespace(positions=("p", "q"))
    agent = SimpleNamespace(auto_redeem_enabled=True)
    on = Offline(sample_state(6), {REDEMPTIONS: NONE, POSITIONS: positions, AGENT: agent})
    on.dropped = 5
    memory = PollerMemory()
    rows = (("of", "p"), ("and", "p"), ("of", "q"), ("and", "q"))
    facts = [QueueSeen(rows, 5), AutoChanged(on_service=True)]  # type: ignore[arg-type]
    assert await read_redemptions(on.ports, memory) == (facts, 0.01)
    assert memory.without_queue
    assert await read_redemptions(on.ports, memory) == (facts, 0.01)
    query = PositionsQuery(venue="all", status="all", limit=500)
    again = [Asked(POSITIONS, query=query), Asked(AGENT)]
    assert on.asked[1:] == [*again, *again]


async def test_the_wallet_is_read_beside_what_is_known_of_it() -> None:
    on, memory = Offline(sample_state(6), {WALLET: "body"}), PollerMemory()
    known = on.state.wallet
    assert await read_wallet(on.ports, memory) == ([Changed(("wallet", "body", known))], 0.01)
    assert not memory.without_wallet
    assert on.asked == [Asked(WALLET)]


async def test_a_service_without_a_wallet_is_read_by_its_settings_from_then_on() -> None:
    on = Offline(sample_state(6), {WALLET: NONE, SETTINGS: "settings"})
    memory, known = PollerMemory(), on.state.wallet
    for _ in range(2):
        read = await read_wallet(on.ports, memory)
        assert read == ([Changed(("set", "settings", known))], 0.01)
    assert memory.without_wallet
    assert [one.endpoint for one in on.asked] == [WALLET, SETTINGS, SETTINGS]
