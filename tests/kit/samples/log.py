"""An action log with each kind of entry."""

from kit.samples.desk import NOW
from service_tui.desk.slices.log import ActionView, LogEvent, LogView
from service_tui.units import Timestamp

WORDS = (
    ("person", LogEvent.INTENT, "trade", "buy YES for 25.00"),
    ("person", LogEvent.CONFIRMED, "confirm", "Reset the breaker?"),
    ("person", LogEvent.RESULT, "trade", "buy YES for 25.00: done: 51.20 shares"),
    ("heron", LogEvent.TRADE, "gauge-watcher", "bought 51.19 NO at 0.4120 for 21.09: m-00004"),
    ("heron", LogEvent.APPROVAL, "mean-reversion", "the gauge rises faster than the price"),
    ("heron", LogEvent.DECISION, "mean-reversion", "request refused: too thin"),
    (
        "person",
        LogEvent.REFUSAL,
        "trade",
        "buy NO for 900.00: refused: above the most of one trade",
    ),
    ("moss-runner", LogEvent.RUN, "momentum", "crashed exit code 3, 6 times in a row"),
    ("tide [/red]", LogEvent.RISK, "alert", "alert 4 pending: stop loss, yes m-00007 at 0.3100"),
    ("person", LogEvent.UNKNOWN, "trade", "sell 40.00 YES: unknown: no answer"),
)


def sample_log(**other: object) -> LogView:
    entries = tuple(
        ActionView(number, f"{number:064x}", Timestamp(NOW - 60 * (99 - number)), *words)
        for number, words in zip(range(90, 100), WORDS, strict=True)
    )
    given = {"count": 99, "verified": 97, "last_hash": "f" * 64, "checked_at": NOW - 30}
    return LogView(tuple(reversed(entries)), **{**given, **other})
