"""The screen without needs: agents and their day, what resolves next, what was done last."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import running
from kit.console.snapshot import assert_snapshot
from kit.examples import examples
from kit.samples.attention import CALM, STATE
from kit.samples.desk import NOW
from kit.samples.fleet import pending_trade_of
from service_tui.console.needs import needs
from service_tui.console.screens.overview.calm import (
    DONE_MAX,
    NEXT_MAX,
    calm_text,
    day_begins,
    day_line,
    day_points,
    last_done,
    next_resolutions,
    shares_of,
)
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.supervision import PendingStatus, SupervisionView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

SOON = tuple(
    replace(
        one,
        status=MarketStatus.ACTIVE,
        cost=one.mark_value,
        unrealized=Micros(0),
        opened_at=Timestamp(NOW - 60),
        resolves_at=Timestamp(NOW + 5_000 * (place + 1)),
    )
    for place, one in enumerate(STATE.positions)
)
QUIET = replace(STATE, tickets=STATE.tickets[:1], positions=SOON, buy_limits=None)
"""Agents, positions and trades, and nothing that needs anybody."""


def told(state: DeskState = QUIET, *, width: int = 100, lines: int = 40) -> list[str]:
    return calm_text(ViewContext.of(state, NOW, width), lines).plain.splitlines()


def test_the_sample_needs_nobody() -> None:
    assert needs(QUIET, NOW) == ()


def test_the_day_has_the_pnl_of_the_person_and_of_the_others() -> None:
    assert told()[0] == (
        "today   ▲ +41.20 $SIM   equity 8,960.90   cash 8,214.33   other agents -15.00"
    )
    assert "account not loaded" in told(replace(QUIET, account=None))[0]


def test_each_agent_has_its_day_as_a_line_and_as_a_figure() -> None:
    rows = [line for line in told() if line[:8] in {"agents  ", " " * 8}][:4]
    assert [line[8:22].strip() for line in rows] == ["tide [/red]", "heron", "moss-runner", "you"]
    for line, figure in zip(rows, ("-28.00", "+18.00", "-5.00", "+41.20"), strict=True):
        assert figure in line
        assert any("\u2800" < letter <= "\u28ff" for letter in line)


def test_what_is_held_and_resolves_next_has_the_money_at_stake() -> None:
    found = next_resolutions(QUIET, NOW)
    assert [one.key for one in found] == [one.key for one in SOON[:NEXT_MAX]]
    row = next(line for line in told() if line.startswith("next"))
    assert row.startswith("next    1h 23m")
    assert f"{(SOON[0].exit_value or 0) / ONE:,.2f}" in row
    real = replace(SOON[6], venue=Venue.EVM, resolves_at=Timestamp(NOW + 60))
    assert next_resolutions(replace(QUIET, on_venues=(real,)), NOW)[0] is real
    assert any(line.endswith(" real") for line in told(replace(QUIET, on_venues=(real,))))


@pytest.mark.parametrize(
    "change",
    [
        {"status": MarketStatus.CLOSED}, {"resolves_at": None}, {"shares": Micros(0)},
        {"resolves_at": Timestamp(NOW - 1)},
    ],
)  # fmt: skip
def test_what_is_over_or_has_no_end_does_not_resolve_next(change: dict[str, object]) -> None:
    assert next_resolutions(replace(QUIET, positions=(replace(SOON[0], **change),)), NOW) == ()


def test_the_last_things_done_are_fills_decisions_and_commands() -> None:
    decided = pending_trade_of(
        "h9", status=PendingStatus.REFUSED, decided_at=Timestamp(NOW + 9), agent_name="heron"
    )
    view = SupervisionView(
        decided=(decided, replace(decided, pending_id="h8", status=PendingStatus.EXPIRED))
    )
    ticket = replace(
        STATE.tickets[0], kind="monitor", what="stop of 0.40 set", state=TicketState.DONE,
        settled_at=Timestamp(NOW + 8),
    )  # fmt: skip
    failed = replace(ticket, ticket_id="f", state=TicketState.FAILED)
    found = last_done(replace(QUIET, supervision=view, tickets=(ticket, failed)))
    assert len(found) == DONE_MAX
    assert [one.who for one in found[:2]] == ["you", "you"]
    assert found[0].what == "refused BUY YES: Will it rain at dawn? of heron"
    assert found[1].what == "stop of 0.40 set"
    assert found[2].what.startswith("bought 51.20 NO at 0.412: ")
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)


def test_amounts_are_masked() -> None:
    shown = "\n".join(told(replace(QUIET, preferences={"privacy": "on"})))
    for amount in ("41.20", "8,960.90", "18.00", "51.20", "64.27"):
        assert amount not in shown
    assert "•••" in shown


def test_without_an_agent_one_line_tells_how_to_run_one() -> None:
    assert any("No agent yet? n runs one." in line for line in told(CALM))
    assert any("None of your positions resolves." in line for line in told(CALM))
    assert any("Nothing done yet." in line for line in told(replace(CALM, fills=(), tickets=())))
    # The agents of another service are not known here.
    other = replace(CALM, service=replace(CALM.service, embedded=False))
    assert not any("No agent" in line for line in told(other))


@examples(30)
@given(st.integers(20, 220), st.integers(1, 60))
def test_it_fits_wherever_it_is_shown(width: int, lines: int) -> None:
    shown = calm_text(ViewContext.of(QUIET, NOW, width), lines).split("\n")
    assert len(shown) <= lines
    assert all(line.cell_len <= width for line in shown)


@pytest.mark.parametrize(
    ("wanted", "lines", "given_"),
    [
        ((4, 5, 5), 40, (4, 5, 5)), ((4, 5, 5), 9, (3, 3, 3)), ((1, 5, 5), 9, (1, 4, 4)),
        ((4, 5, 5), 2, (1, 1, 0)), ((4, 5, 5), -3, (0, 0, 0)), ((), 5, ()),
    ],
)  # fmt: skip
def test_the_room_is_shared_in_turn(
    wanted: tuple[int, ...], lines: int, given_: tuple[int, ...]
) -> None:
    assert shares_of(wanted, lines) == given_


# -- the line of a day --------------------------------------------------------------------------


def test_a_line_spans_the_day_and_the_time_before_its_first_value_is_blank() -> None:
    begins = day_begins(NOW)
    half = Timestamp((begins + NOW) / 2)
    whole = day_line(((begins, 1.0), (half, 5.0)), NOW, 10)
    assert (len(whole), whole.count(" ")) == (10, 0)
    late = day_line(((half, 1.0), (NOW, 5.0)), NOW, 10)
    assert late.startswith("    ")
    assert late.strip()
    assert day_line((), NOW, 6) == " " * 6
    # A day without a change is flat, whatever the amount.
    # On the scale of one that moved four times as far it is a quarter as high.
    low = day_line(((begins, 1.0), (half, 5.0)), NOW, 10, most=16.0)
    assert low != whole
    flat = {*day_line(((begins, 9e9), (NOW, 9e9)), NOW, 10)}
    assert len(flat) == 1


def test_an_agents_day_is_its_equity_or_what_its_trades_made() -> None:
    assert QUIET.fleet is not None
    own = next(one for one in QUIET.fleet.agents if one.is_own)
    heron = next(one for one in QUIET.fleet.agents if one.name == "heron")
    points = day_points(own, QUIET, NOW)
    assert points[-1] == (NOW, float(QUIET.account.equity))
    assert all(at >= day_begins(NOW) for at, _ in points)
    made = day_points(heron, QUIET, NOW)
    fills = [one for one in QUIET.fills if one.agent_id == heron.agent_id]
    assert made[0] == (day_begins(NOW), 0.0)
    assert made[-2][1] == float(sum(one.realized for one in fills))
    assert made[-1] == (NOW, float(heron.day_pnl))


# -- on the screen ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_calm_screen_looks_so(size: tuple[int, int]) -> None:
    async with running(QUIET, size=size) as seen:
        await assert_snapshot(seen.pilot, f"calm_{size[0]}x{size[1]}")


@pytest.mark.slow
async def test_the_day_is_shown_below_few_rows() -> None:
    async with running(QUIET) as seen:
        assert "All clear" in seen.text
        assert "other agents -15.00" in seen.text
        await seen.bring(STATE)
        assert "All clear" not in seen.text
        await seen.until(lambda: "other agents -15.00" in seen.text)
        await seen.press("/", *"council")
        await seen.until(lambda: "other agents" not in seen.text)


@pytest.mark.slow
async def test_rows_that_fill_the_screen_leave_the_day_no_room() -> None:
    async with running(STATE, size=(100, 16)) as seen:
        assert "other agents" not in seen.text
        await assert_snapshot(seen.pilot, "few_rows_100x16")


@pytest.mark.slow
async def test_few_rows_look_so() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await assert_snapshot(seen.pilot, "few_rows_120x40")


@pytest.mark.slow
async def test_a_key_runs_a_skill_from_here() -> None:
    async with running(QUIET) as seen:
        await seen.press("n")
        await seen.until(lambda: seen.app.front.name_in_keys == "agents")
