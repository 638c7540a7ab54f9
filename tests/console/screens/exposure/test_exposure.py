"""Exposure, calendar and everything held: what the keys show, and what is asked for meanwhile."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.console.pictures import assert_at_sizes
from kit.samples.holdings import holdings_state
from service_tui.console.screens.exposure.grouped import GroupedScreen
from service_tui.desk.commands.agents import (
    AgentAct,
    Govern,
    SetExposureLimit,
    SetHeldStops,
    WatchHoldings,
)
from service_tui.desk.holdings.rows import (
    HeldRow,
    held_groups,
    held_rows,
    opposed_rows,
    rows_inside,
    slot_rows,
)
from service_tui.desk.slices.holdings import LimitView
from service_tui.desk.state import DeskState
from service_tui.terms import LimitGroup, Venue
from service_tui.units import ONE, Micros

STATE = seen_before(holdings_state())


def line_with(seen: Running, words: str) -> str:
    return next(line for line in seen.lines if words in line)


async def on_page(seen: Running) -> None:
    await seen.press("quotation_mark")
    await seen.until(lambda: seen.app.front.name_in_keys == "exposure")


async def test_the_page_is_read_for_while_it_is_in_front() -> None:
    async with running(replace(STATE, holdings=None)) as seen:
        await on_page(seen)
        assert "Loading what all agents hold" in seen.text
        await seen.bring(STATE)
        assert "by category" in seen.text
        await seen.press("2")
        watched = [one.is_wanted for one in seen.doors.submitted if isinstance(one, WatchHoldings)]
        assert watched == [True, False]


async def test_another_service_does_not_tell_what_others_hold() -> None:
    service = replace(STATE.service, embedded=False)
    async with running(replace(STATE, holdings=None, service=service)) as seen:
        await on_page(seen)
        assert "does not tell what other agents hold" in seen.text


async def test_figures_that_were_to_be_read_again_say_how_old_they_are() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await on_page(seen)
        assert "as of" not in seen.text
        seen.clock[0] += 40
        await seen.until(lambda: "as of 40s ago" in seen.text)


async def test_a_key_groups_by_the_next_thing_and_the_choice_is_kept() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await on_page(seen)
        found: list[str] = []
        for _ in range(6):
            await seen.press("c")
            found.append(line_with(seen, "groups by something else").split()[1])
        assert found == ["event", "market", "agent", "venue", "side", "category"]
        await seen.press("c", "c", "c")
        assert line_with(seen, "momentum")
        await seen.press("minus")
        await on_page(seen)
        assert "by agent" in seen.text


@pytest.mark.parametrize(("name", "lists", "groupings"), [
    ("exposure", 0, 6), ("calendar", 1, 2), ("held", 2, 4),
])  # fmt: skip
async def test_the_number_beside_a_list_is_that_of_its_rows(
    name: str, lists: int, groupings: int
) -> None:
    state = seen_before(holdings_state(30))
    async with running(state, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press(*"o" * lists)
        page = seen.app.front
        assert isinstance(page, GroupedScreen)
        for _ in range(groupings):
            words = line_with(seen, "exposure ").split()
            assert words[words.index(name) + 1] == str(len(page.rows()))
            await seen.press("c")


async def test_both_monies_have_rows_and_sums_of_their_own() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("c", "c", "c", "c", "c")
        assert {line.split()[-1] for line in seen.lines if line.lstrip("▌ ").startswith("NO")} >= {
            "$SIM"
        }
        sums = line_with(seen, "if all lose")
        assert "in $SIM" in sums
        assert "in USDC.e" in sums
        assert "both sides held in" in seen.text


async def test_the_next_lists_are_the_calendar_and_everything_held() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o")
        assert "overdue" in seen.text
        assert "Overdue: 2 markets" in seen.text
        assert "both sides held in" in seen.text
        await seen.press("o")
        assert "open buy" in seen.text
        assert "momentum" in seen.text
        await seen.press("/", *"favourite", "enter")
        assert "momentum" not in "\n".join(seen.lines[6:30])


async def test_enter_shows_the_market_of_a_row_that_has_one() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "markets")


@pytest.mark.parametrize("lists", [("c", "c"), ("o",), ("o", "o")])
async def test_back_from_a_market_the_same_list_and_grouping_are_there(
    lists: tuple[str, ...],
) -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press(*lists, "down")
        before = seen.lines[:30]
        await seen.press("enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "markets")
        await seen.press("minus")
        await seen.until(lambda: seen.app.front.name_in_keys == "exposure")
        assert seen.lines[2:30] == before[2:30]


async def test_the_key_of_the_page_leads_to_its_groups_and_then_to_categories() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("c", "c", "o", "o")
        assert "by market" not in seen.text
        await seen.press("quotation_mark")
        assert "by market" in seen.text
        await seen.press("quotation_mark")
        assert "by category" in seen.text


HELD: dict[str, tuple[str, ...]] = {"agent": ("c",), "market": ("c", "c"), "event": ("c",) * 3}


@pytest.mark.parametrize("grouping", HELD)
async def test_everything_held_is_added_up_by_group_and_a_group_opens(grouping: str) -> None:
    held = STATE.holdings
    assert held is not None
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o", *HELD[grouping])
        assert f"by {grouping}" in seen.text
        cost = sum(one.cost for one in held.holdings if one.venue is Venue.SIM)
        shown = [one for one in held_groups(held) if one.grouping == grouping]
        assert sum(one.cost for one in shown if one.exposure.money == "$SIM") == cost
        first = seen.app.front.current_row()
        await seen.press("enter")
        assert "within" in seen.text
        row = next(one for one in shown if one.key == first)
        inside = rows_inside(row, held)
        assert f"{row.exposure.count} of " in line_with(seen, "if all lose")
        assert len([one for one in inside if not one.order_id]) == row.exposure.count
        await seen.press("escape")
        assert f"by {grouping}" in seen.text
        assert seen.app.front.current_row() == first


async def test_a_group_of_the_first_list_opens_and_leads_back() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        seen.app.front.focus_row("category weather $SIM")
        await seen.press("enter")
        assert "within weather" in seen.text
        assert "to stop" in seen.text
        await seen.press("escape")
        assert "by category" in seen.text
        assert seen.app.front.current_row() == "category weather $SIM"


async def test_the_calendar_has_lines_by_hour_and_day_with_sums() -> None:
    held = STATE.holdings
    assert held is not None
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "c")
        assert "by hour, day" in seen.text
        assert "2 markets" in line_with(seen, "overdue")
        slots = slot_rows(held)
        assert sum(one.cost for one in slots) == sum(one.cost for one in held.holdings)
        await seen.press("enter")
        assert "within 2 markets" in seen.text


@pytest.mark.parametrize("lists", [(), ("o",), ("o", "o")])
@pytest.mark.parametrize("typed", ["left:<12h", "in:<12h"])
async def test_a_search_finds_what_ends_soon_and_the_sums_are_those_of_the_rows(
    lists: tuple[str, ...], typed: str
) -> None:
    held = STATE.holdings
    assert held is not None
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("c", "c", *lists, "/", *typed, "enter")
        soon = [
            one
            for one in held.holdings
            if one.resolves_at is not None
            and one.resolves_at < held.world_at + 12 * 3_600
            and one.venue is Venue.SIM
        ]
        every = [one for one in held.holdings if one.venue is Venue.SIM]
        assert 0 < len(soon) < len(every)
        sums = line_with(seen, "if all lose")
        assert f"{len(soon)} of {len(every)} in $SIM" in sums
        value = sum(one.value or 0 for one in soon) / ONE
        assert f"sale value {value:,.2f}" in sums


async def test_marked_rows_are_added_up() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o", "space", "space")
        assert "2 of " in line_with(seen, "if all lose")
        await seen.press("escape")
        assert " of " not in line_with(seen, "if all lose").partition("in $SIM")[0]


async def test_a_key_lists_all_positions_against_each_other() -> None:
    held = STATE.holdings
    assert held is not None
    async with running(STATE, size=(250, 60)) as seen:
        await on_page(seen)
        await seen.press("t")
        assert "within both sides" in seen.text
        rows = opposed_rows(held)
        assert len(rows) > 2
        for row in rows:
            assert row.others
        assert "other side" in seen.text
        await seen.press("escape")
        assert "by category" in seen.text


def position(agent: str) -> HeldRow:
    held = STATE.holdings
    assert held is not None
    return next(
        one for one in held_rows(held) if one.agent_name == agent and not one.order_id and one.stop
    )


async def test_the_stop_of_an_agent_is_shown_with_its_distance_and_changed() -> None:
    row = position("momentum")
    assert row.price is not None
    assert row.stop is not None
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o")
        seen.app.front.focus_row(row.key)
        await seen.until(lambda: f"{100 * (row.price - row.stop):.1f}" in seen.text)
        await seen.press("e", *"90")
        assert "sells all at about" in seen.text
        await seen.press("tab", *"off", "enter")
        (order,) = (one for one in seen.doors.submitted if isinstance(one, SetHeldStops))
        assert order.terms == (("stop_loss_pct", 0.9), ("take_profit_pct", None))
        assert [one.agent_name for one in order.sides] == ["momentum"]


async def test_the_stops_of_marked_positions_are_set_together() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o", "space", "space", "e", *"95", "enter")
        (order,) = (one for one in seen.doors.submitted if isinstance(one, SetHeldStops))
        assert len(order.sides) == 2
        assert order.terms == (("stop_loss_pct", 0.95),)


async def test_a_stop_that_is_passed_already_is_asked_for_twice() -> None:
    row = position("momentum")
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o")
        seen.app.front.focus_row(row.key)
        await seen.press("e", *"0.1", "enter")
        seen_orders = [one for one in seen.doors.submitted if isinstance(one, SetHeldStops)]
        if row.price is not None and row.price <= row.cost / row.shares * 0.999:
            assert "Enter again sets and sells" in seen.text
            assert not seen_orders
        else:
            assert seen_orders


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (("e",), "a stop is of one position"),
        (("x",), "only a position is sold here"),
        (("H",), "no agent in this row"),
        (("o", "o", "l"), "a limit is of a category, an event or an agent"),
        (("o", "x"), "only a position is sold here"),
    ],
)
async def test_a_key_that_does_nothing_on_a_row_says_why(keys: tuple[str, ...], why: str) -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press(*keys)
        assert any(why in one for one in seen.toasts)


async def test_only_ones_own_position_is_sold_and_an_agent_is_paused() -> None:
    row = position("momentum")
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o")
        seen.app.front.focus_row(row.key)
        await seen.press("x")
        assert any("an agent sells what it holds" in one for one in seen.toasts)
        await seen.press("H")
        (order,) = (one for one in seen.doors.submitted if isinstance(one, Govern))
        assert (order.act, order.name) == (AgentAct.PAUSE, "momentum")
    assert STATE.account is not None
    account = replace(STATE.account, agent_id=row.agent_id)
    async with running(replace(STATE, account=account), size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("o", "o")
        seen.app.front.focus_row(row.key)
        await seen.press("x")
        assert not any("an agent sells" in one for one in seen.toasts)


@pytest.mark.parametrize(
    ("lists", "titles"),
    [
        ((), ("at worst", "all YES", "all NO")),
        (("o",), ("cost", "at worst")),
        (("o", "o"), ("price", "stop", "to stop")),
    ],
)
async def test_the_smallest_terminal_keeps_the_answers(
    lists: tuple[str, ...], titles: tuple[str, ...]
) -> None:
    async with running(STATE, size=(80, 24)) as seen:
        await on_page(seen)
        await seen.press(*lists)
        header = line_with(seen, titles[0])
        assert all(title in header for title in titles)
        sums = line_with(seen, "if all lose")
        assert "  24 h " in sums


async def test_an_event_is_called_by_its_name_and_a_market_as_everywhere() -> None:
    held = STATE.holdings
    assert held is not None
    first = held.holdings[0]
    market = replace(
        STATE.markets[first.market_id], event_id="e-1", event_name="Who wins the mayor race?"
    )
    rows = (replace(first, event="e-1"), *held.holdings[1:])
    state = replace(
        STATE,
        markets={**STATE.markets, market.market_id: market},
        holdings=replace(held, holdings=rows),
    )
    async with running(state, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("c")
        assert "Who wins the mayor race?" in seen.text
        await seen.press("c")
        # Without "Will", as in every other list.
        assert "Will the harbour" not in "\n".join(seen.lines[:30])
        assert "The harbour at Port" in seen.text


async def test_masked_amounts_stand_nowhere_on_the_page() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("z")
        for _ in range(3):
            assert "•••" in seen.text
            assert not [line for line in seen.lines[5:45] if "+" in line or "5.00" in line]
            await seen.press("o")


PICTURES: dict[str, tuple[str, ...]] = {"groups": (), "calendar": ("o",), "held": ("o", "o")}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_exposure_looks_as_it_is_meant_to(name: str) -> None:
    await assert_at_sizes(STATE, PICTURES[name], f"exposure_{name}", "exposure")


def limited(state: DeskState, cost_max: float, *, refuses: bool = True) -> DeskState:
    held = state.holdings
    assert held is not None
    limit = LimitView(
        LimitGroup.CATEGORY, "weather", Venue.SIM, Micros(round(cost_max * ONE)), refuses
    )
    return replace(state, holdings=replace(held, limits=(limit,)))


async def test_a_group_is_limited_changed_and_freed_by_its_form() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        seen.app.front.focus_row("category weather $SIM")
        await seen.press("l", *"50")
        assert "weather  category, costs 11.00 $SIM now, no limit" in seen.text
        assert "39.00 is left" in seen.text
        await seen.press("enter")
        (order,) = (one for one in seen.doors.submitted if isinstance(one, SetExposureLimit))
        assert (order.group, order.key, order.venue) == (LimitGroup.CATEGORY, "weather", Venue.SIM)
        assert (order.cost_max, order.refuses) == (50 * ONE, True)
        await seen.bring(limited(STATE, 9, refuses=False))
        # What only warns has a sign; how much of it is used stands before it.
        assert "122% of 9.00!" in line_with(seen, "weather")
        assert "a buy beyond it is warned about" in seen.text
        await seen.press("l", "enter")
        assert seen.doors.submitted[-1].describe() == "no limit on category weather in $SIM"


async def test_a_side_or_a_venue_has_no_limit() -> None:
    async with running(STATE, size=(160, 50)) as seen:
        await on_page(seen)
        await seen.press("c", "c", "c", "c", "l")
        assert any("a category, an event or an agent" in one for one in seen.toasts)


async def test_the_pane_of_a_market_names_its_holdings_in_its_own_money() -> None:
    held = STATE.holdings
    assert held is not None
    # Of this market something is held in each money.
    market = next(one.market_id for one in held.holdings if one.venue is Venue.EVM)
    async with running(STATE, size=(220, 60)) as seen:
        await on_page(seen)
        await seen.press("c", "c")
        for place in ("market", "due market"):
            seen.app.front.focus_row(f"{place} {market} USDC.e")
            await seen.until(lambda: "cost, USDC.e" in seen.text)
            below = seen.text.partition("Largest")[2].partition("Both sides")[0]
            assert "USDC.e  " in below
            assert "$SIM  " not in below.partition(" in $SIM")[0]
            await seen.press("o")
