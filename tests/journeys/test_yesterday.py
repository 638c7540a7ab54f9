"""What an earlier version left on the disk opens, with every figure as it was."""

import json
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from kit import yesterday
from kit.desk.faults import until
from kit.desk.redeeming import CountingSigner, open_wallet_desk
from kit.service.stage import first_state
from service_tui.desk.redemption.handlers import ALLOWED
from service_tui.desk.slices.redemption import ChainRunState
from service_tui.terms import PUBLISHED_THRESHOLDS, THRESHOLDS
from service_tui.wire.endpoints.public import LEADERS, SDK_LEADERS, VENUE_LEADERS

pytestmark = pytest.mark.slow

NEWER = (
    *(kind.name for kind in THRESHOLDS[PUBLISHED_THRESHOLDS:]),
    "trailing_stop_price",
    "peak_price",
)

HELD = {"positions": 4, "orders": 1, "monitors": 4, "experiments": 3, "trades": 6}


async def test_every_figure_of_yesterday_is_shown_as_it_was(tmp_path: Path) -> None:
    async with yesterday.opened(tmp_path) as (stage, known):
        now = json.loads(json.dumps(await yesterday.figures(stage, known["keys"])))
    for agent in ("first", "second"):
        _without_new_paths(now[f"{agent} agent"][1], known["figures"][f"{agent} agent"][1])
        _without_today(now[f"{agent} portfolio"][1], known["figures"][f"{agent} portfolio"][1])
    for monitors in ("first monitors", "second monitors"):
        for row in (*now[monitors][1]["monitors"], *now[monitors][1]["settings"]):
            # Yesterday's version had neither trailing nor time stops: its rows have none.
            assert {row.pop(name) for name in NEWER} == {None}
            # Of no buy it knew the mark: stops are measured from the entry, as they were.
            assert row.pop("reference_price") == row["entry_price"]
    for page in ("first positions", "second positions", "first closed", "second closed"):
        _without_parts(now[page][1]["positions"])
        _without_ends(now[page][1]["positions"], known["figures"][page][1]["positions"])
    for row in (*now["first orders"][1]["orders"], *now["second orders"][1]["orders"]):
        assert {row.pop(name) for name in ("stop_loss_pct", "take_profit_pct")} == {None}
    for answer in now.values():
        _without_parts_of_one(answer)
    both = (now[f"{agent} redemptions"][1]["redemptions"] for agent in ("first", "second"))
    for row in chain.from_iterable(both):
        # Nor did it note when a position became ready, by the wall's clock.
        assert row.pop("ready_at") is None
    # Its world was an invented one, as all were.
    assert now["operator world"][1].pop("history") is None
    _without_counts(now["first session"][1], now["second session"][1])
    _without_owners(now["operator agents"][1]["agents"], known["figures"]["operator agents"][1])
    _round_sums(now)
    _round_sums(known["figures"])
    assert now == known["figures"]
    assert {what: len(now[f"second {what}"][1][what]) for what in HELD} == HELD
    assert sum(now["ledger"].values()) == 0


KEYLESS_NOW = [one.path for one in (LEADERS, SDK_LEADERS, VENUE_LEADERS)]
"""Calls that want no key any more."""


def _without_parts(positions: list[dict[str, Any]]) -> None:
    """Leave out what selling both sides of a market together brings, which was not reported."""
    for row in (side for one in positions for side in one["sides"]):
        assert (row.pop("exit_together") or 0) <= row["current_value"]


def _without_parts_of_one(answer: Any) -> None:
    """Leave out what YES pays after the end: yesterday's version knew YES and NO alone."""
    if isinstance(answer, list):
        for one in answer:
            _without_parts_of_one(one)
    elif isinstance(answer, dict):
        if "payout_per_yes" in answer:
            whole = {None: None, True: 1.0, False: 0.0}[answer["outcome"]]
            assert (answer.pop("payout_per_yes"), answer.pop("voided")) == (whole, False)
        for one in answer.values():
            _without_parts_of_one(one)


def _round_sums(figures: dict[str, Any]) -> None:
    """Sums of doubles then, of whole micros now."""
    for agent in ("first", "second"):
        portfolio = figures[f"{agent} portfolio"][1]
        for part in (portfolio, portfolio["total"]):
            part["total_exposure"] = round(part["total_exposure"], 6)
        shares = portfolio["concentration"]
        shares["top_3_markets_pct"] = round(shares["top_3_markets_pct"], 12)


def _without_ends(positions: list[dict[str, Any]], before: list[dict[str, Any]]) -> None:
    """Leave out whose rows are, and when markets were to end that had ended: neither was said."""
    for row, known in zip(positions, before, strict=True):
        assert row.pop("wallet") is None, "only one wallet ever held it"
        if known["resolves_at"] is None:
            row["resolves_at"] = None


def _without_today(portfolio: dict[str, Any], before: dict[str, Any]) -> None:
    """Leave out what selling brings, and the day, which was that since midnight."""
    value = portfolio["sim_balance"] + portfolio["sim"]["total_exposure"]
    assert portfolio.pop("exit_equity") <= value
    assert portfolio.pop("pnl_today") == before["pnl_24h"]


def _without_new_paths(agent: dict[str, Any], before: dict[str, Any]) -> None:
    """Leave out the rates of calls that only one of the versions counts by the key."""
    rates, known = agent["rate_limits"]["endpoints"], before["rate_limits"]["endpoints"]
    for path in rates.keys() - known.keys():
        del rates[path]
    for path in KEYLESS_NOW:
        known.pop(path, None)


def _without_counts(*sessions: dict[str, Any]) -> None:
    """Leave out how many results were kept, discarded and crashed: only their sum was told."""
    for session in sessions:
        counts = [session.pop(f"{name}_count") for name in ("kept", "discarded", "crashed")]
        assert sum(counts) == session["experiment_count"]


def _without_owners(agents: list[dict[str, Any]], before: dict[str, Any]) -> None:
    """Leave out whose an agent is: the console's the owner's, the other nobody's."""
    for row, old in zip(agents, before["agents"], strict=True):
        # The day is of what selling brings, which yesterday's version did not say.
        assert row.pop("exit_equity") <= row["equity"]
        old["pnl_today"] = row["pnl_today"]
        assert row.pop("owner") == ("owner" if row["is_own"] else "")
        # What waits for its redemption stood in the P&L and the equity alone.
        assert all(venue.pop("to_redeem") >= 0 for venue in row["venues"])


async def test_a_redemption_that_was_under_way_yesterday_comes_to_its_end(tmp_path: Path) -> None:
    signer = CountingSigner()
    state = replace(first_state(), preferences={ALLOWED: "1"})
    async with (
        yesterday.opened(tmp_path) as (stage, known),
        open_wallet_desk(stage, signer, initial=state) as desk,
    ):
        row = f"{known['market']}:{known['side']}"
        await until(
            desk,
            lambda now: (run := now.redemption.run(row)) and run.state is ChainRunState.DONE,
            stage,
        )
    # It was broadcast before the program died: it is waited for, and nothing is signed again.
    assert signer.count == 0
