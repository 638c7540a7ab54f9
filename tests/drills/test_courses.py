"""Courses of action in a real world: each kind of row with its effect, or why it had none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service_tui.clock import ManualClock
from service_tui.desk.slices.drill import DrillLine
from service_tui.drills.courses import (
    START,
    OpenWorld,
    currency_of,
    figure_of,
    open_world,
    play_course,
)
from service_tui.drills.director import Director
from service_tui.drills.kinds import KINDS
from service_tui.drills.line import BrokenLine
from service_tui.drills.scenario import Scenario, ScenarioError, scenario_of
from service_tui.drills.stage import Ramp, market_id_of, signer_of, wallet_address
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.units import ONE

WORLD = """
title = "All kinds"
brief = "b"
minutes = 2
seed = 7
wallet = "own"

[score]
of = "all"

[[market]]
name = "dam"
question = "Will the dam hold until Friday?"
price = 0.5
liquidity = 2000

[[market]]
name = "ferry"
question = "Will the ferry sail tomorrow?"
price = 0.25
venue = "polymarket"

[[agent]]
name = "hare"
about = "buys late"
leash = "ask"
threshold = 20
budget = 500

[[agent]]
name = "fox"

[[follow]]
wallet = "harbour pilot"

[[position]]
who = "fox"
market = "dam"
money = 100
stop = 0.2

[[position]]
market = "ferry"
money = 10
"""

MORE = """
[[position]]
who = "fox"
market = "dam"
money = 500
"""

COURSES = """
[[best]]
at = "0:01"
do = "buy"
market = "dam"
side = "no"
money = 30

[[worst]]
at = "0:02"
do = "sell"
market = "dam"
"""

HALTED = "refused: trading is halted by the operator: entries of every agent are blocked)"
CLAIMED = "on-chain token balance is 0: already redeemed; marked as claimed)"

EVERY_KIND = [
    ("0:01", "gas", "pol=0.5", "the wallet holds 0.5 POL of gas"),
    ("0:02", "buy", 'who="fox", market="dam", money=20', "buy yes in dam for 20"),
    ("0:03", "buy", 'who="hare", market="dam", money=50', "buy yes in dam for 50 (needs approval)"),
    ("0:04", "approve", 'agent="hare"', "approve the trades of hare"),
    ("0:05", "approve", 'agent="hare"', "approve the trades of hare (no trade waits)"),
    ("0:06", "sell", 'who="hare", market="dam", part=0.5', "sell yes in dam"),
    ("0:07", "sell", 'market="dam"', "sell yes in dam (nothing is held)"),
    ("0:08", "halt", "", "halt all buys"),
    (
        "0:09",
        "buy",
        'who="fox", market="dam", money=20',
        "buy yes in dam for 20 (" + HALTED,
    ),
    ("0:10", "resume", "", "resume"),
    ("0:11", "pause", 'agent="fox", by="night shift"', "pause fox: yes"),
    (
        "0:12",
        "buy",
        'who="fox", market="dam", money=20',
        "buy yes in dam for 20 (refused: trading is paused: entries are blocked)",
    ),
    ("0:13", "stop", 'market="dam", who="hare", loss=0.5', "set a stop in dam"),
    ("0:14", "unstop", 'market="dam", who="hare"', "remove the stop in dam"),
    ("0:15", "buy", 'who="hare", market="dam", money=60', "buy yes in dam for 60 (needs approval)"),
    ("0:16", "refuse", 'agent="hare"', "refuse the trades of hare"),
    ("0:17", "mirror", "", "mirror a signal (no signal waits)"),
    (
        "0:18",
        "signal",
        'wallet="Harbour Pilot", market="dam", shares=400',
        "Harbour Pilot reports a buy of yes in dam",
    ),
    ("0:19", "mirror", "", "mirror a signal"),
    ("0:20", "redeem", 'market="ferry"', "redeem ferry (the market has no outcome yet)"),
    ("0:21", "leash", 'agent="fox", mode="auto", budget=100', "set the leash of fox to auto"),
    ("0:22", "follow", "on=false", "turn the reactor on: no"),
    ("0:23", "chain", "gwei=90", "the chain changes"),
    ("0:24", "fault", 'fault="lost", calls="orders"', "orders calls are lost"),
    ("0:25", "news", 'market="dam", text="Rain is coming"', "dam: Rain is coming"),
    ("0:30", "price", 'market="dam", to=0.3, over="0:10"', "dam: price to 0.3"),
    ("0:50", "settle", 'market="ferry", outcome="yes"', "ferry resolves yes"),
    ("0:55", "redeem", 'market="ferry"', "redeem ferry"),
    (
        "1:10",
        "redeem",
        'market="ferry"',
        "redeem ferry (" + CLAIMED,
    ),
]


def scenario(*events: tuple[str, str, str], world: str = WORLD) -> Scenario:
    rows = [
        "\n".join(["[[event]]", f'at = "{at}"', f'kind = "{kind}"', *fields.split(", ")])
        for at, kind, fields in events or [("0:05", "news", 'market="dam", text="Rain"')]
    ]
    return scenario_of("all", "\n\n".join((world, *rows, COURSES)))


@asynccontextmanager
async def played(one: Scenario, folder: Path) -> AsyncIterator[tuple[OpenWorld, Director]]:
    """The world of a scenario after its events."""
    clock = ManualClock(START)
    async with open_world(one, folder, clock) as world:
        director = Director(world.stage, BrokenLine(world.sim.transport, clock), one.events)
        for second in director.busy_seconds():
            await clock.advance(START + second - clock.now())
            await director.leap_to(second)
        yield world, director


def by_itself(line: DrillLine) -> bool:
    """Whether the service did it, and no row."""
    return line.who == "service" and line.text.startswith(("stop at", "sold"))


@pytest.mark.slow
async def test_every_kind_of_row_has_its_effect_or_the_timeline_says_why(tmp_path: Path) -> None:
    one = scenario(*(row[:3] for row in EVERY_KIND))
    assert {row.kind for row in one.events} == KINDS.keys()
    async with played(one, tmp_path / "w") as (world, director):
        told = [line.text for line in director.lines if not by_itself(line)]
        assert told == [text for *_, text in EVERY_KIND]
        whys = [text.partition(" (")[2].rstrip(")") for *_, text in EVERY_KIND if " (" in text]
        assert [why for _, why in director.undone] == whys
        by = {line.text: line.who for line in director.lines}
        assert by["halt all buys"] == "the other supervisor"
        assert by["pause fox: yes"] == "night shift"
        assert (by["the chain changes"], by["mirror a signal"]) == ("world", "you")
        # What the service did by itself: the stop of the fox, when the price fell below it.
        breached, sold = (line.text for line in director.lines if by_itself(line))
        assert breached.startswith("stop at 0.40")
        assert sold.startswith("sold 2")
        assert world.stage.world.markets[world.stage.market_id("dam")].price() < 0.35


@pytest.mark.slow
@pytest.mark.parametrize(
    ("score", "least", "most", "money"),
    [
        ("sim cash you", 10_000, 10_000, "$SIM"),
        ("sim cash all", 29_900, 29_900, "$SIM"),
        ("sim equity all", 29_990, 30_000, "$SIM"),
        ("polymarket equity you", 5, 2_000, "USDC.e"),
    ],
)
async def test_a_figure_is_that_of_its_venue_and_its_accounts(
    tmp_path: Path, score: str, *, least: int, most: int, money: str
) -> None:
    venue, figure, of = score.split()
    text = f'venue = "{venue}"\nfigure = "{figure}"\nof = "{of}"'
    one = scenario(world=WORLD.replace('of = "all"', text))
    async with played(one, tmp_path / "w") as (world, _):
        assert least * ONE <= figure_of(world.stage) <= most * ONE
    assert currency_of(one) == money


@pytest.mark.slow
async def test_a_course_tells_its_own_rows_and_those_without_an_effect(tmp_path: Path) -> None:
    one = scenario()
    best = await play_course(one, one.best, tmp_path / "best")
    assert ([line.text for line in best.lines], best.undone) == (["buy no in dam for 30"], ())
    worst = await play_course(one, one.worst, tmp_path / "worst")
    assert [(row.kind, why) for row, why in worst.undone] == [("sell", "nothing is held")]
    # The same course comes to the same figure each time.
    assert (await play_course(one, one.best, tmp_path / "again")).figure == best.figure


@pytest.mark.slow
async def test_what_the_world_does_not_take_is_named_with_its_line(tmp_path: Path) -> None:
    too_much = scenario(world=WORLD + MORE * 21)
    with pytest.raises(ScenarioError, match=r"line \d+: the position cannot be bought: "):
        await play_course(too_much, (), tmp_path / "w")
    with pytest.raises(ScenarioError, match=f"line 9: no wallet nobody: one of {ROSTER[0].label}"):
        wallet_address(too_much, "nobody", 9)
    assert wallet_address(too_much, ROSTER[0].label.upper(), 3) == address_of(7, ROSTER[0])


def test_a_scenario_has_the_same_markets_and_the_same_wallet_in_each_run() -> None:
    one, again, other = (
        scenario(),
        scenario(),
        scenario(world=WORLD.replace("seed = 7", "seed = 8")),
    )
    assert market_id_of(one, "dam") == market_id_of(again, "dam")
    assert market_id_of(one, "dam") not in {market_id_of(one, "x"), market_id_of(other, "dam")}
    own, same = signer_of(one), signer_of(again)
    assert own is not None
    assert same is not None
    assert own.address == same.address
    assert signer_of(scenario(world=WORLD.replace('wallet = "own"', ""))) is None


def test_a_price_on_its_way_is_even_and_stays_at_its_end() -> None:
    ramp = Ramp(0.2, 10.0, 0.6, 20.0)
    assert [round(ramp.price_at(at), 6) for at in (10, 15, 20, 99)] == [0.2, 0.4, 0.6, 0.6]
