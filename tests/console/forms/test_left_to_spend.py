"""What an agent may still spend when its trade is approved, and what else is told before."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, leash_of, limits_of, pending_trade_of
from kit.samples.research import run_of as experiment_run
from kit.samples.research import session_of
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console.forms.approval import exact_text, is_real, over_budget, over_means
from service_tui.console.screens.research.detail import run_text
from service_tui.console.screens.wallet.forms import removal_question
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros, Timestamp

PLAIN = fleet_state()
TRADE = pending_trade_of(amount=Micros(10 * ONE))


def with_agent(**changed: Any) -> DeskState:
    assert PLAIN.fleet is not None
    agents = tuple(
        replace(one, **changed) if one.agent_id == TRADE.agent_id else one
        for one in PLAIN.fleet.agents
    )
    return replace(PLAIN, fleet=replace(PLAIN.fleet, agents=agents))


POOR = with_agent(cash=Micros(15 * ONE), limits=None)


def before(**other: Any) -> tuple[Any, ...]:
    return (pending_trade_of("h0", **{"amount": Micros(5 * ONE), **other}),)


@pytest.mark.parametrize(
    ("earlier", "is_over"),
    [
        ((), False),
        (before(), False),
        (before(amount=Micros(5 * ONE + 1)), True),
        (before(amount=Micros(90 * ONE), agent_id="a-3"), False),
        (before(amount=Micros(90 * ONE), action=Action.SELL), False),
        (before(amount=Micros(90 * ONE), venue=Venue.EVM), False),
    ],
)
def test_what_comes_before_takes_cash_of_the_same_agent_and_venue(
    earlier: tuple[Any, ...], *, is_over: bool
) -> None:
    assert bool(over_means(TRADE, TRADE.amount, POOR, earlier)) is is_over


def test_the_tighter_bound_is_named() -> None:
    limits = limits_of(sim_trade_max=Micros(8 * ONE), trade_max=Micros(6 * ONE))
    state = with_agent(cash=Micros(9 * ONE), limits=limits)
    assert over_means(TRADE, TRADE.amount, state) == "Above the 8.00 $SIM limit per trade"
    poorer = with_agent(cash=Micros(7 * ONE), limits=limits)
    assert over_means(TRADE, TRADE.amount, poorer) == "Above the 7.00 $SIM cash of heron"
    real = replace(TRADE, venue=Venue.EVM)
    assert over_means(real, TRADE.amount, state) == "Above the 6.00 USDC.e limit per trade"
    assert not over_means(TRADE, TRADE.amount, replace(PLAIN, fleet=None))
    assert not over_means(TRADE, Micros(8 * ONE), state)


def leashed(*leashes: Any) -> DeskState:
    return replace(PLAIN, supervision=replace(PLAIN.supervision, leashes=leashes))


AGENT = leash_of(budget=Micros(100 * ONE), spent=Micros(85 * ONE))
SKILL = leash_of(budget=Micros(50 * ONE), spent=Micros(45 * ONE), skill_slug="mean-reversion")


def test_the_budget_of_the_agent_and_of_its_skill_bind() -> None:
    assert not over_budget(TRADE, Micros(15 * ONE), leashed(AGENT))
    why = over_budget(TRADE, Micros(15 * ONE + 1), leashed(AGENT))
    assert why.startswith("Over the daily budget of the agent: 85.00 of 100.00 spent. ")
    both = over_budget(TRADE, TRADE.amount, leashed(AGENT, SKILL))
    assert both.startswith("Over the daily budget of the skill mean-reversion: 45.00 of 50.00")
    assert not over_budget(replace(TRADE, skill_slug="other"), TRADE.amount, leashed(AGENT, SKILL))
    assert not over_budget(TRADE, Micros(10**12), leashed(replace(AGENT, budget=None)))


def test_what_comes_before_takes_the_budget_that_it_is_of() -> None:
    same, other = before(), before(skill_slug="momentum")
    assert over_budget(TRADE, Micros(11 * ONE), leashed(AGENT), same)
    assert over_budget(TRADE, Micros(11 * ONE), leashed(AGENT), other)
    assert over_budget(TRADE, Micros(1), leashed(SKILL), same)
    assert not over_budget(TRADE, Micros(5 * ONE), leashed(SKILL), other)
    assert not over_budget(TRADE, Micros(15 * ONE), leashed(AGENT), before(agent_id="a-3"))


def test_real_money_is_what_a_buy_spends_on_a_real_venue_of_another_service() -> None:
    attached = replace(PLAIN, service=replace(PLAIN.service, embedded=False))
    real = replace(TRADE, venue=Venue.EVM)
    assert is_real(real, attached)
    assert not is_real(real, PLAIN)
    assert not is_real(TRADE, attached)
    assert not is_real(replace(real, action=Action.SELL), attached)


def test_an_amount_is_written_with_all_of_its_decimals() -> None:
    assert exact_text(Micros(1_234_500_001), ",") == "1,234.500001"
    assert exact_text(Micros(5 * ONE)) == "5.00"
    assert exact_text(Micros(1)) == "0.000001"
    assert exact_text(Micros(25 * ONE + 500_000)) == "25.50"


def test_who_deletes_the_key_of_the_linked_wallet_is_told() -> None:
    end = "Without it this desk cannot trade or redeem there."
    assert removal_question(ADDRESS.lower(), wallet_of()).plain.endswith(end)
    for wallet in (wallet_of(address="0xother"), wallet_of(ownership=Ownership.MANAGED)):
        assert removal_question(ADDRESS, wallet).plain.endswith("are lost.")
    assert ADDRESS in removal_question(ADDRESS, wallet_of()).plain


RUN = experiment_run()
ENDS = [
    ({"ended_at": NOW, "timed_out": True}, "✗ timed out  ", "loss"),
    ({"ended_at": NOW, "timed_out": False, "exit_code": None}, "✗ ended  ", "loss"),
    ({"ended_at": NOW, "timed_out": False, "exit_code": 0}, "✓ last run: exit code 0  ",
     "profit"),
    ({"ended_at": NOW, "timed_out": False, "exit_code": 3}, "✗ last run: exit code 3  ",
     "loss"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "said", "ink"), ENDS)
def test_how_a_run_ended_is_told(changed: dict[str, Any], said: str, ink: str) -> None:
    run = replace(RUN, **changed, command="python a.py", tail="one\n\ntwo\n")
    text = run_text(session_of(run=run), NOW)
    assert text.plain.startswith(f"{said}python a.py\n")
    assert text.plain.endswith("\ntwo")
    assert str(text.spans[0].style) == ink


def test_a_run_that_goes_on_is_timed_while_its_session_is_open() -> None:
    run = replace(RUN, ended_at=None, started_at=Timestamp(NOW - 65), deadline_s=600.0)
    assert run_text(session_of(run=run, is_open=True), NOW).plain.startswith(
        "▶ 1m 05s of 10m 00s  "
    )
    over = session_of(run=run)
    assert run_text(over, NOW).plain.startswith("■ server gone  ")
    assert run_text(session_of(run=None), NOW).plain == "no run; /home/me/skills"
    assert run_text(None, NOW).plain == "no run"
