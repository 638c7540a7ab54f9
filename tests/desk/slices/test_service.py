"""The count of unusable rows over all topics."""

from dataclasses import replace

from kit.samples.desk import sample_state
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.slices.topics import Topic

STATE = sample_state(12)


def test_rows_that_cannot_be_used_are_counted_over_all_topics() -> None:
    service: ServiceView = STATE.service
    assert service.dropped_rows == 0
    dropped = {Topic.MARKETS: 2, Topic.TRADES: 3}
    assert replace(service, dropped=dropped).dropped_rows == 5
