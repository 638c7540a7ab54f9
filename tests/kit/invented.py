"""Tests that need the invented questions: a run on a history leaves them out, with the reason."""

from typing import Final

import pytest

_CATALOGUE: Final = "asks for questions that the invented venues offer to import"
_END: Final = "knows the end of a market beforehand: of a recorded one the listing does not tell it"
_CALENDAR: Final = "needs markets that begin and end all the time, as invented ones do"
_PICKS: Final = "picks a market by a price, a depth, words or an event that invented ones have"
_INVENTED: Final = "is about the invented world"

REASONS: Final = {
    "engine/books/test_venues.py": _END,
    "engine/chain/test_redemption.py::test_each_share_pays_once": _END,
    "engine/risk/test_exits.py::test_alerts_that_ended_are_listed": _PICKS,
    "engine/risk/test_exits.py::test_an_order_that_rests_sets_its_stop": _PICKS,
    "engine/test_alerting.py::test_below_its_limit": _PICKS,
    "engine/test_alerting.py::test_each_kind_fires_once": _PICKS,
    "engine/test_alerting.py::test_the_drawdown_is_measured": _PICKS,
    "engine/test_ends.py::test_every_end_keeps_every_micro": _INVENTED,
    "engine/test_world.py::test_a_market_goes_from_active_to_closed": _END,
    "engine/test_world.py::test_a_replay_of_the_journal_makes_the_same": _CALENDAR,
    "engine/test_world.py::test_old_resolved_markets_are_forgotten": _CALENDAR,
    "engine/test_world.py::test_sixty_markets_of_all_categories": _INVENTED,
    "engine/test_world.py::test_the_ledger_sums_to_zero_over_many": _CALENDAR,
    "engine/test_world.py::test_a_position_sold_whole_before_the_end": _END,
    "engine/test_world.py::test_a_winning_share_pays_one": _END,
    "engine/test_world.py::test_an_agent_remembers_so_many_closed": _END,
    "engine/test_world.py::test_the_makers_account_is_empty": _END,
    "engine/test_world.py::test_the_world_tells_what_happened_meanwhile": _END,
    "server/past/test_history.py::test_what_resolved_stands_in_the_history": _CALENDAR,
    "server/results/test_position_pages.py": _CALENDAR,
    "server/results/test_positions_add_up.py": _CALENDAR,
    "server/routes/test_briefing.py": _CALENDAR,
    "server/routes/test_browse.py": _CALENDAR,
    "server/routes/test_exposure_limits.py": _PICKS,
    "server/routes/test_halt.py::test_a_resting_buy_is_cancelled": _PICKS,
    "server/routes/test_importing.py": _CATALOGUE,
    "server/routes/test_markets.py": _PICKS,
    "server/routes/test_monitors.py": _PICKS,
    "server/routes/test_orders.py::test_the_lifecycle_on_the_wire": _END,
    "server/routes/test_outcomes.py::test_outcomes_agree_with": _END,
    "server/routes/test_redemption.py": _END,
    "server/routes/test_research.py::test_the_fills_of_an_open_order": _PICKS,
    "server/routes/test_wallet.py": _PICKS,
    "server/routes/test_world.py::test_an_invented_world_is_not_stepped": _INVENTED,
    "server/test_bad_input.py::test_a_bad_body_is_refused": _PICKS,
    "server/test_contract.py": f"{_CATALOGUE}; it has tests of its own on histories",
    "server/test_ended_markets.py": _CALENDAR,
    "server/test_expiring.py": _END,
    "server/test_older_directories.py": _INVENTED,
    "server/test_public_client.py": _CATALOGUE,
    "server/test_schemathesis.py": _CATALOGUE,
    "server/webhooks/test_webhooks.py::test_a_webhook_gets_the_events": _END,
}
"""Files, or the beginning of the names of tests in them."""


def leave_out(items: list[pytest.Item]) -> None:
    """Skip those tests, each with its reason."""
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        why = next((why for start, why in REASONS.items() if name.startswith(start)), None)
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=why))
