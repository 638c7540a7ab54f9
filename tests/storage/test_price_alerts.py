"""Stored price alerts."""

from service_tui.storage.db.database import Database
from service_tui.storage.price_alerts import PriceAlerts, Row

NOW = 1_800_000_000.0


def stored(alert_id: str, created_at: float = NOW) -> Row:
    return {
        "armed": 0,
        "triggered_at": None,
        "triggered_price": None,
        "service_id": "",
        "sent_at": None,
        "removed": 0,
        "alert_id": alert_id,
        "market_id": "m",
        "question": "Rain?",
        "side": "yes",
        "condition": "above",
        "threshold": 0.6,
        "created_at": created_at,
    }


async def test_price_alerts_are_kept_newest_first_until_forgotten(database: Database) -> None:
    alerts = PriceAlerts(database)
    await alerts.put(stored("a"))
    await alerts.put(stored("b", NOW + 1))
    assert [one["alert_id"] for one in alerts.all()] == ["b", "a"]
    await alerts.arm("a", armed=True)
    assert [one["armed"] for one in alerts.all()] == [0, 1]
    assert await alerts.drop("b")
    assert not await alerts.drop("b")
    assert [one["alert_id"] for one in alerts.all()] == ["a"]


async def test_a_price_alert_fires_once(database: Database) -> None:
    alerts = PriceAlerts(database)
    await alerts.put(stored("a"))
    assert await alerts.fire("a", at=NOW + 2, price=0.61)
    assert not await alerts.fire("a", at=NOW + 3, price=0.9)
    assert not await alerts.fire("nobody", at=NOW + 3, price=0.9)
    (one,) = alerts.all()
    assert (one["triggered_at"], one["triggered_price"]) == (NOW + 2, 0.61)
