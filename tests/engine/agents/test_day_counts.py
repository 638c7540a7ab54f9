"""What an agent has done today: buys, open buys, money, skills, imports and failures."""

from typing import Final

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.agents.agents import Agent, check_claimed, check_standing, status_of
from service_tui.engine.agents.halt import HaltState, is_stopped, no_entry
from service_tui.engine.errors import (
    AgentBroke,
    AgentSuspended,
    NotClaimed,
    Refusal,
    TradingHalted,
    TradingPaused,
)
from service_tui.engine.events import ClientSeen, TradeFailed
from service_tui.engine.limits import DAY_S, FAILED_COOLDOWN_S, day_of
from service_tui.engine.position import Position
from service_tui.terms import AgentStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

MIDNIGHT: Final = Timestamp((AT // DAY_S + 1) * DAY_S)
LATE: Final = Timestamp(MIDNIGHT - 1)
"""The first moment of the next day, and the last second of this one."""


def ada(**changes: object) -> Agent:
    return bare_world("ada", **changes).agents["ada"]


def counts(agent: Agent, at: Timestamp) -> tuple[int, int, int]:
    return agent.buys_today(at), agent.resting_today(at), int(agent.spent_today(at))


def test_a_day_begins_at_midnight_utc() -> None:
    assert day_of(LATE) + 1 == day_of(MIDNIGHT) == day_of(Timestamp(MIDNIGHT + DAY_S - 1))


def test_buys_and_their_money_count_until_midnight() -> None:
    agent = ada()
    agent.count_buy(AT, Micros(5))
    agent.count_buy(LATE, Micros(7), has_filled=False)
    assert counts(agent, LATE) == (1, 1, 12)
    assert counts(agent, MIDNIGHT) == (0, 0, 0)
    agent.count_buy(MIDNIGHT, Micros(2))
    assert counts(agent, MIDNIGHT) == (1, 0, 2)
    # There is one day at a time. A clock that goes back over midnight reads the same, and one that
    # goes back further was wrong before.
    assert counts(agent, LATE) == (1, 0, 2)
    assert counts(agent, Timestamp(LATE - DAY_S)) == (0, 0, 0)
    agent.count_buy(LATE, Micros(3))
    assert counts(agent, MIDNIGHT) == (2, 0, 5)
    agent.count_buy(Timestamp(LATE - DAY_S), Micros(1))
    assert counts(agent, LATE) == (0, 0, 0)
    assert counts(agent, Timestamp(LATE - DAY_S)) == (1, 0, 1)


def test_an_open_buy_gives_its_place_back_once_each_and_never_more() -> None:
    agent = ada()
    for _ in range(3):
        agent.count_buy(AT, Micros(5), has_filled=False)
    agent.forget_resting(AT)
    assert counts(agent, AT) == (0, 2, 15)
    agent.forget_resting(Timestamp(AT - DAY_S))
    assert counts(agent, AT) == (0, 2, 15)
    agent.count_first_fill(AT, LATE)
    assert counts(agent, AT) == (1, 1, 15)
    for _ in range(3):
        agent.forget_resting(AT)
    assert counts(agent, AT) == (1, 0, 15)


def test_an_open_buy_of_yesterday_counts_on_the_day_of_its_first_shares() -> None:
    agent = ada()
    agent.count_buy(LATE, Micros(5), has_filled=False)
    agent.count_first_fill(LATE, MIDNIGHT)
    assert counts(agent, MIDNIGHT) == (1, 0, 0)


def test_first_fills_add_up_and_take_a_place_of_their_own_day_alone() -> None:
    agent = ada()
    for at in (AT, LATE):
        agent.count_buy(at, Micros(5), has_filled=False)
    for _ in range(2):
        agent.count_first_fill(AT, LATE)
    assert counts(agent, LATE) == (2, 0, 10)
    agent.count_buy(MIDNIGHT, Micros(1), has_filled=False)
    # Yesterday's order takes no place from those of today.
    agent.count_first_fill(LATE, MIDNIGHT)
    assert counts(agent, MIDNIGHT) == (1, 1, 1)


@pytest.mark.parametrize("name", ["trading_paused", "operator_paused"])
def test_either_pause_holds_an_agent_up(name: str) -> None:
    assert not ada().settings.is_paused
    assert ada(**{name: True}).settings.is_paused


def test_what_was_not_spent_is_given_back_to_its_own_day_and_never_more() -> None:
    agent = ada()
    agent.count_buy(AT, Micros(10))
    agent.give_back(Micros(4), Timestamp(AT - DAY_S))
    assert agent.spent_today(AT) == 10
    agent.give_back(Micros(4), LATE)
    assert agent.spent_today(AT) == 6
    agent.give_back(Micros(99), AT)
    assert agent.spent_today(AT) == 0


def test_each_skill_counts_its_own_money_of_the_day() -> None:
    agent = ada()
    for slug, money in (("dips", 5), ("news", 3), ("dips", 2), ("news", -9)):
        agent.count_skill(slug, Micros(money), AT)
    assert agent.skills_today(LATE) == {"dips": 7, "news": 0}
    assert agent.skills_today(MIDNIGHT) == {}
    # What was promised yesterday takes nothing from today, and begins no day.
    agent.count_skill("dips", Micros(-5), MIDNIGHT)
    assert agent.skills_today(AT) == {"dips": 7, "news": 0}
    agent.count_skill("dips", Micros(1), MIDNIGHT)
    assert agent.skills_today(MIDNIGHT) == agent.skills_today(AT) == {"dips": 1}
    # A clock that goes back over midnight goes on counting, further back it begins anew.
    agent.count_skill("dips", Micros(2), LATE)
    assert agent.skills_today(MIDNIGHT) == {"dips": 3}
    assert agent.skills_today(Timestamp(LATE - DAY_S)) == {}


def test_imports_count_until_midnight() -> None:
    agent = ada()
    agent.count_import(AT)
    agent.count_import(LATE)
    assert (agent.imports_today(AT), agent.imports_today(MIDNIGHT)) == (2, 0)
    agent.count_import(MIDNIGHT)
    assert (agent.imports_today(MIDNIGHT), agent.imports_today(AT)) == (1, 1)
    agent.count_import(LATE)
    assert (agent.imports_today(MIDNIGHT), agent.imports_today(Timestamp(LATE - DAY_S))) == (2, 0)


@pytest.mark.parametrize(("after_s", "is_kept"), [(-1.0, True), (0.0, False), (1.0, False)])
def test_a_failure_is_kept_as_long_as_it_binds(*, after_s: float, is_kept: bool) -> None:
    agent = ada()
    agent.apply(TradeFailed("ada", AT, "m1", Side.NO, "too late"))
    later = Timestamp(AT + FAILED_COOLDOWN_S + after_s)
    agent.apply(TradeFailed("ada", later, "m2", Side.YES, "too late"))
    assert agent.failed == ({"m1:no": AT} if is_kept else {}) | {"m2:yes": later}
    agent.apply(ClientSeen("ada", AT, "0.9"))
    assert (agent.sdk_version, agent.sdk_seen_at) == ("0.9", AT)


@pytest.mark.parametrize(
    ("settings", "cash", "shares", "status"),
    [
        ({}, 1, 0, AgentStatus.UNCLAIMED),
        ({"claimed": True}, 1, 0, AgentStatus.ACTIVE),
        ({"claimed": True}, 0, 0, AgentStatus.BROKE),
        ({"claimed": True}, 0, 1, AgentStatus.ACTIVE),
        ({"claimed": True, "suspended": True}, 0, 0, AgentStatus.SUSPENDED),
        ({"suspended": True}, ONE, 1, AgentStatus.SUSPENDED),
    ],
)
def test_an_agent_stands_as_its_settings_and_its_means_say(
    settings: dict[str, object], cash: int, shares: int, status: AgentStatus
) -> None:
    agent = ada(**settings)
    position = agent.positions["m1"] = Position("ada", "m1")
    position.no.shares = Micros(shares)
    # One that was sold whole is no means.
    agent.positions["m2"] = Position("ada", "m2")
    assert status_of(agent, Micros(cash)) is status
    refused = {AgentStatus.SUSPENDED: AgentSuspended, AgentStatus.BROKE: AgentBroke}.get(status)
    if refused is None:
        check_standing(agent, Micros(cash))
    else:
        with pytest.raises(refused):
            check_standing(agent, Micros(cash))


@pytest.mark.parametrize(
    ("settings", "halted", "kind", "by_operator"),
    [
        ({}, False, None, False),
        ({"trading_paused": True}, False, TradingPaused, False),
        ({"operator_paused": True}, False, TradingPaused, True),
        ({"trading_paused": True, "operator_paused": True}, False, TradingPaused, True),
        ({}, True, TradingHalted, False),
        # The halt of all comes first: to lift the pause would bring nothing.
        ({"operator_paused": True}, True, TradingHalted, False),
    ],
)
def test_an_agent_is_told_what_stops_its_entries(
    *, settings: dict[str, object], halted: bool, kind: type[Refusal] | None, by_operator: bool
) -> None:
    own = ada(**settings).settings
    halt = HaltState(AT if halted else None)
    assert is_stopped(own, halt) is (kind is not None)
    if kind is not None:
        refusal = no_entry(own, halt)
        assert type(refusal) is kind
        assert ("halted" if halted else "paused") in refusal.error
        plain = no_entry(ada(trading_paused=True).settings, HaltState())
        assert (refusal.fix != plain.fix) is (by_operator or halted)


def test_who_is_not_claimed_trades_on_sim_only() -> None:
    agent = ada()
    check_claimed(agent, Venue.SIM)
    for venue in (Venue.EVM, Venue.SOL):
        with pytest.raises(NotClaimed):
            check_claimed(agent, venue)
    agent.change({"claimed": True})
    check_claimed(agent, Venue.EVM)
