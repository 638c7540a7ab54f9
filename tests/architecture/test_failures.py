"""Each row of the table of failures has a test; the last column of the plan is this table."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PLAN = TESTS.parents[1] / "shared" / "design" / "failures.md"

PROOFS: dict[str, tuple[str, ...]] = {
    "F-01": (
        "desk/test_blotter.py::test_an_order_without_an_answer_is_unknown_then_found_and_never_sent_again",
        "desk/test_blotter.py::test_an_order_that_never_came_stays_unknown_and_the_person_decides",
        "hostile/test_answers.py::test_a_lie_ends_no_desk_sends_nothing_and_is_over_with_the_next_answer",
    ),
    "F-02": (
        "commands/test_serve.py::test_orders_that_a_killed_console_left_open_are_looked_up_by_the_next",
    ),
    "F-03": (
        "client/test_retry.py::test_what_the_service_asks_for_is_the_least_wait_within_its_bounds",
        "client/test_client.py::test_a_closed_path_is_closed_for_all_callers_and_for_no_other_path",
    ),
    "F-04": (
        "desk/feed/test_pollers.py::test_a_401_of_one_path_stops_that_path_alone",
        "client/test_client.py::test_a_refused_key_is_tried_once_a_minute_by_who_says_who_we_are",
        "console/shell/test_frame.py::test_a_refused_key_says_what_to_check",
    ),
    "F-05": (
        "desk/feed/test_pollers.py::test_a_page_of_somebody_else_is_an_outage_and_leaves_what_was_known",
        "hostile/test_answers.py::test_a_lie_ends_no_desk_sends_nothing_and_is_over_with_the_next_answer",
    ),
    "F-06": (
        "client/test_client.py::test_what_is_no_number_in_range_costs_one_row",
        "hostile/test_answers.py::test_a_wrong_field_is_an_answer_or_none",
    ),
    "F-07": (
        "client/test_client.py::test_an_app_that_hangs_ends_at_the_deadline",
        "desk/test_desk.py::test_who_stops_waiting_for_a_ticket_does_not_stop_it",
    ),
    "F-08": (
        "desk/feed/test_pollers.py::test_an_outage_is_asked_through_ever_more_seldom_and_noticed_once",
        "client/test_retry.py::test_a_poller_rests_between_one_and_thirty_seconds",
        "desk/test_reduce.py::test_an_outage_is_one_notice_and_its_end_another",
    ),
    "F-09": (
        "desk/test_buy_limits.py::test_the_midnight_is_that_of_the_service",
        "desk/redemption/test_redemption.py::test_with_a_clock_far_off_nothing_is_signed_until_it_is_right",
        "desk/risk/test_alerts.py::test_a_machine_that_was_asleep_asks_before_it_complains",
        "desk/trading/test_trades.py::test_nothing_is_traded_on_data_that_is_too_old_or_from_a_clock_that_was_set_back",
    ),
    "F-10": (
        "storage/test_blotter.py::test_a_budget_is_never_exceeded_by_intents_at_the_same_moment",
        "desk/test_buy_limits.py::test_an_unknown_order_of_yesterday_counts_today_as_well",
    ),
    "F-11": (
        "storage/db/test_durability.py::test_every_acknowledged_row_survives_a_kill_and_stands_once",
        "server/test_keeper.py::test_killed_at_any_moment_the_acknowledged_state_is_restored",
    ),
    "F-12": (
        "storage/test_blotter.py::test_a_full_disk_refuses_the_intent_before_anything_is_sent",
        "server/test_keeper.py::test_on_a_full_disk_nothing_is_traded_and_the_world_is_read_back",
    ),
    "F-13": (
        "app/test_live.py::test_a_second_process_is_told_who_holds_the_directory",
        "storage/db/test_lock.py::test_the_lock_of_a_killed_process_is_taken_over",
    ),
    "F-14": ("storage/db/test_writer.py::test_a_database_held_by_another_program_is_named_busy",),
    "F-15": (
        "storage/db/test_wal.py::test_a_log_that_lost_something_is_not_taken_as_it_is",
        "storage/test_opening.py::test_what_is_no_database_is_kept_and_named",
        "app/test_live.py::test_a_damaged_page_after_an_end_in_order_is_no_dead_end",
        "storage/db/test_backups.py::test_there_is_one_copy_a_day_and_seven_are_kept",
    ),
    "F-16": (
        "storage/test_opening.py::test_an_older_schema_is_copied_and_led_to_the_new_one",
        "storage/test_opening.py::test_a_migration_that_is_killed_leaves_the_old_schema_whole",
        "storage/test_opening.py::test_a_newer_schema_is_left_alone",
    ),
    "F-17": (
        "desk/redemption/test_redemption.py::test_what_no_person_would_sign_is_not_signed",
        "desk/chain/test_hostile_chain.py::test_a_nonce_that_is_none_ends_neither_the_desk_nor_the_run",
    ),
    "F-18": ("desk/redemption/test_redemption.py::test_the_report_is_repeated_until_it_is_taken",),
    "F-19": (
        "desk/chain/test_hostile_chain.py::test_a_wrong_nonce_is_refused_and_poisons_nothing",
        "desk/redemption/test_redemption.py::test_lost_bytes_are_sent_again_and_never_signed_again",
    ),
    "F-20": (
        "desk/redemption/test_redemption.py::test_a_receipt_whose_block_vanishes_counts_from_the_beginning",
        "desk/redemption/test_redemption.py::test_a_minute_without_a_receipt_is_broadcast_unconfirmed",
    ),
    "F-21": (
        "desk/risk/test_alerts.py::test_a_breach_is_exited_once_and_leaves_nothing_behind",
        "desk/risk/test_alerts.py::test_a_refused_exit_is_shown_and_tried_again_after_ever_longer_pauses",
        "desk/risk/test_alerts.py::test_an_alert_whose_exits_all_failed_is_missed_after_its_hour",
    ),
    "F-22": (
        "desk/reactor/test_reactor.py::test_five_failures_open_the_breaker_and_a_word_or_an_hour_closes_it",
    ),
    "F-23": (
        "app/test_ending.py::test_a_closed_terminal_ends_the_program_in_order",
        "app/test_ending.py::test_a_signal_while_the_console_comes_up_gives_the_terminal_back",
        "autoresearch/test_kills.py::test_a_command_does_not_outlive_its_server",
    ),
    "F-24": (
        "console/shell/test_frame.py::test_a_storm_of_sizes_harms_nothing",
        "console/test_storm.py::test_a_storm_of_keys_sizes_mouse_and_data_ends_no_console",
        "console/test_theme.py::test_without_colour_signs_and_words_remain",
    ),
    "F-25": (
        "console/test_app.py::test_a_fault_of_the_desk_ends_the_console_with_70_and_without_values",
        "test_cli.py::test_a_fault_of_ours_is_a_page_of_places_without_values",
        "app/test_ending.py::test_the_places_of_all_threads_are_written_down_and_the_console_goes_on",
    ),
    "F-26": (
        "engine/amm/test_market.py::test_memory_of_prices_and_trades_is_bounded",
        "server/http/test_rates.py::test_callers_and_paths_are_counted_apart_and_memory_is_bounded",
        "sdk/test_client.py::test_a_forgotten_client_leaves_no_thread",
    ),
    "F-27": (
        "notes/test_notebook.py::test_a_torn_last_line_is_ended_counted_and_spoils_no_other",
        "notes/test_notebook.py::test_lines_that_are_none_are_counted_and_left_where_they_are",
    ),
}
"""Rows of the plan's table "what can go wrong", and the tests that prove what must happen then.

The hours of F-26 are run by hand (`bench/soak.py`).
"""


def test_each_proof_is_there() -> None:
    missing = [
        proof
        for proofs in PROOFS.values()
        for proof in proofs
        if f"def {proof.partition('::')[2]}(" not in (TESTS / proof.partition("::")[0]).read_text()
    ]
    assert missing == []


@pytest.mark.skipif(not PLAN.exists(), reason="the plan lies beside the checkout")
def test_each_row_of_the_plan_has_a_proof() -> None:
    rows = re.findall(r"^\| (F-\d+) \|", PLAN.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(PROOFS)
