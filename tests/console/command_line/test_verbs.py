"""Each command of the `:` line as a function: what it does, what it refuses, what completes it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.console.acting import StubScreen
from kit.samples.fleet import fleet_state
from kit.samples.guarded import guarded_state
from service_tui.console.command_line.verb import CommandContext, CommandError
from service_tui.console.command_line.verbs import (
    REFUSED,
    SCREEN_NAMES,
    VERBS,
    completions,
    prepare,
    verb_of,
)
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.keys import key_named
from service_tui.console.messages import (
    ChartsRequested,
    DrillRequested,
    GoTo,
    HelpRequested,
    KeyChosen,
    ReplayRequested,
    ResumeRequested,
    TourRequested,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.markets.table import MARKETS
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar, StepWorld
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import Timestamp

GUARDED, FLEET = guarded_state(), fleet_state()
STATE = replace(GUARDED, fleet=FLEET.fleet)
HELD = STATE.positions[1]
MARKET = STATE.markets[HELD.market_id]
OTHER = next(
    one
    for one in STATE.markets.values()
    if one.status is MarketStatus.ACTIVE and not STATE.held(one.market_id)
)


class Front(StubScreen):
    """The markets in front, as far as a command looks at them."""

    title, is_searched = "Markets", True
    names = TableScreen.names
    parsed = TableScreen.parsed

    def current_row(self) -> str:
        return str(self.rows[0].market_id)


def front_of(state: DeskState = STATE, *rows: Any) -> Front:
    front = Front(state, rows or (OTHER,), spec=MARKETS)
    front.table.columns = MARKETS.columns
    front.table.pick_sort = lambda *given: front.calls.append(("pick_sort", *given))
    front.table.sort_by = lambda *given, **more: front.calls.append(("sort_by", *given, more))
    front.line = SimpleNamespace(put=lambda text: front.calls.append(("put", text)))
    drills = (("storm", "A storm"), ("calm", "A calm day"))
    front.program = SimpleNamespace(theme_names=("night", "paper"), drills=lambda: drills)
    return front


def context_of(front: Front, *, why: str = "", row: str | None = None) -> CommandContext:
    return CommandContext(front, lambda _: why, front.current_row() if row is None else row)


def run(typed: str, front: Front | None = None, **other: Any) -> Front:
    """Run a command, and return the screen that it worked on."""
    front = front or front_of()
    prepare(typed, context_of(front, **other))()
    return front


def refused(typed: str, front: Front | None = None, **other: Any) -> str:
    front = front or front_of()
    with pytest.raises(CommandError) as caught:
        prepare(typed, context_of(front, **other))
    assert not front.posted
    assert not front.given
    return str(caught.value)


def gone(front: Front) -> tuple[str, str | None, str]:
    (message,) = front.posted
    assert isinstance(message, GoTo)
    return message.screen_name, message.row, "" if message.act is None else message.act.ident


# -- screens ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SCREEN_NAMES if name != "approvals"])
@pytest.mark.parametrize("typed", ["{}", "go {}", "GO {}", " {} "])
def test_a_screen_is_shown_by_its_name(name: str, typed: str) -> None:
    assert gone(run(typed.format(name))) == (SCREEN_NAMES[name], None, "")


@pytest.mark.parametrize("typed", ["approvals", "go approvals"])
def test_the_approvals_open_by_their_key(typed: str) -> None:
    (message,) = run(typed).posted
    assert isinstance(message, KeyChosen)
    assert message.key == key_named("app.approvals")


ALIASES = {
    "overview": "attention", "status": "portfolio", "positions": "portfolio", "alerts": "monitors",
    "autoresearch": "research", "config": "settings", "blotter": "blotter", "fills": "blotter",
}  # fmt: skip


@pytest.mark.parametrize("name", ALIASES)
def test_screens_have_other_names(name: str) -> None:
    assert gone(run(name)) == (ALIASES[name], None, "")
    assert gone(run(f"go {name}")) == (ALIASES[name], None, "")


def test_what_is_no_screen_is_refused() -> None:
    assert refused("go").startswith("go needs a screen: one of needs, portfolio, markets, ")
    assert refused("go market") == "no screen 'market': did you mean markets?"
    assert refused("markets now") == "markets takes no arguments: remove 'now'"


def test_the_help_of_a_screen_is_that_of_its_key() -> None:
    verb = verb_of("markets")
    assert verb is not None
    tip = key_named("app.markets").tooltip
    assert verb.help == f"Screen: {tip[0].lower()}{tip[1:]}"
    assert verb.usage == "markets"
    approvals = verb_of("approvals")
    assert approvals is not None
    assert approvals.help.casefold().endswith(key_named("app.approvals").tooltip.casefold())


# -- the list in front --------------------------------------------------------------------------


def test_the_list_is_filtered() -> None:
    assert run("filter rain price:>0.4").calls == [("put", "rain price:>0.4")]
    assert run("filter").calls == [("put", "")]
    assert "price" in refused("filter price:>much")
    closed = front_of()
    closed.is_searched = False
    assert refused("filter rain", closed) == "Markets has no filter"


@pytest.mark.parametrize(
    ("typed", "call"),
    [
        ("sort price", ("pick_sort", "price")),
        ("sort price desc", ("sort_by", "price", {"falling": True})),
        ("sort PRICE ASC", ("sort_by", "price", {"falling": False})),
        ("sort yes", ("pick_sort", "price")),
    ],
)
def test_the_list_is_sorted_by_a_column(typed: str, call: tuple[Any, ...]) -> None:
    assert run(typed).calls == [call]


def test_what_is_no_column_is_refused() -> None:
    assert refused("sort").startswith("sort needs a column: one of ")
    assert refused("sort prise") == "no column 'prise': did you mean price?"
    assert refused("sort asc").startswith("no column 'asc': ")
    bare = front_of()
    bare.table.columns = tuple(replace(one, sort_key=None) for one in MARKETS.columns)
    assert refused("sort price", bare) == "Markets has no sortable column"
    unsorted = front_of()
    unsorted.table.columns = tuple(
        replace(one, sort_key=None) if one.id == "price" else one for one in MARKETS.columns
    )
    assert refused("sort price", unsorted).startswith("no column 'price': ")


# -- markets ------------------------------------------------------------------------------------


def test_a_ticket_opens_on_the_market_side_and_amount_that_were_typed() -> None:
    front = run(f"buy {MARKET.question} no 25")
    (ticket,) = front.opened
    assert isinstance(ticket, TradeForm)
    assert (ticket.market, ticket.side, ticket.action) == (MARKET, Side.NO, Action.BUY)
    assert ticket.typed_before == "25"
    front.answer("an order")
    assert front.given == ["an order"]


def test_without_a_market_the_row_in_focus_is_meant() -> None:
    (ticket,) = run("buy yes").opened
    assert ticket.market == OTHER
    why = "the highlighted row left meanwhile: name a market"
    assert refused("buy yes", row="another") == why


def test_all_and_max_are_what_the_account_allows() -> None:
    front = run("buy max")
    assert float(front.opened[-1].typed_before) > 0
    unread = front_of(replace(STATE, limits=None))
    assert run("buy max", unread).opened[-1].typed_before == ""
    sale = run(f"sell {MARKET.question} all")
    assert sale.opened[-1].typed_before == "100%"


def test_what_is_held_is_sold_on_its_venue() -> None:
    (ticket,) = run(f"sell {MARKET.question}").opened
    assert (ticket.market, ticket.action) == (MARKET, Action.SELL)
    assert (ticket.side, ticket.venue) == (HELD.side, Venue.SIM)
    other = Side.YES if HELD.side is Side.NO else Side.NO
    why = f"no {other.value.upper()} position to sell in this market"
    assert refused(f"sell {MARKET.question} {other.value}") == why
    assert refused("sell") == "no position to sell in this market"


def test_a_market_is_shown_and_starred() -> None:
    assert gone(run(f"market {MARKET.question}")) == ("markets", MARKET.market_id, "")
    bare = front_of(replace(STATE, stars=frozenset()))
    assert run("star", bare).given == [SetStar(OTHER.market_id, on=True)]
    starred = front_of(replace(STATE, stars=frozenset({OTHER.market_id})))
    assert run("star", starred).given == [SetStar(OTHER.market_id, on=False)]
    assert refused("market zebra") == "no market matches 'zebra'"
    assert refused("market the").endswith("add words, or press tab to choose")


# -- the console and the service ----------------------------------------------------------------


def test_the_theme_and_the_pace_are_set() -> None:
    assert run("theme Paper").given == [SetPreference("theme", "paper")]
    assert refused("theme peper") == "no theme 'peper': did you mean paper?"
    assert run("speed 10").given == [SetSpeed(10)]
    assert run("speed 0x").given == [SetSpeed(0)]
    assert refused("speed 7").startswith("no speed '7': one of ")
    assert refused("speed 10", why="not offline") == "speed: not offline"


def test_a_history_is_stepped_by_a_length_or_to_a_time_of_its_clock() -> None:
    assert STATE.world is not None
    now = Timestamp(1_725_350_400.0)  # 2024-09-03 08:00 UTC
    state = replace(STATE, world=replace(STATE.world, now=now, history="oslo"))
    assert run("step 1h30m", front_of(state)).given == [StepWorld(5_400)]
    assert run("step 17:30", front_of(state)).given == [StepWorld(34_200)]
    assert refused("step soon", front_of(state)).startswith("step: Enter a duration or a time")
    assert refused("step 8d", front_of(state)) == "step: 7 days at once are the most"
    assert refused("step 1h").startswith("step: an invented world cannot be stepped")


MESSAGES = {
    "help halt": (HelpRequested, {"word": "halt"}),
    "tour": (TourRequested, {"ends": False}),
    "tour end": (TourRequested, {"ends": True}),
    "charts": (ChartsRequested, {"chart_name": ""}),
    "charts equity": (ChartsRequested, {"chart_name": "equity"}),
    "replay": (ReplayRequested, {"typed": ""}),
    "replay 20m": (ReplayRequested, {"typed": "20m"}),
    "drill calm": (DrillRequested, {"name": "calm", "ends": False}),
}


@pytest.mark.parametrize("typed", MESSAGES)
def test_a_page_is_requested(typed: str) -> None:
    (message,) = run(typed).posted
    kind, told = MESSAGES[typed]
    assert isinstance(message, kind)
    assert {name: getattr(message, name) for name in told} == told


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("tour start", "no action of the tour 'start': one of end"),
        ("charts pie", "no chart 'pie': "),
        ("replay soon", "no time 'soon': "),
        ("drill wind", "no drill 'wind': one of storm, calm"),
        ("log delete", "no action of log 'delete': one of verify"),
        ("skills sell", "no action of skills 'sell': "),
        ("skills list", "skills list prints to a shell: 'service-tui skills list'"),
        ("export here", "export writes to the data directory: for another folder, "),
        ("resume now", "resume takes no arguments: remove 'now'"),
        ("resume", "the desk is not halted: F9 halts"),
        ("serve", f"serve {REFUSED['serve']}"),
        ("Login", f"login {REFUSED['login']}"),
        ("hlat", "no command 'hlat': did you mean halt?"),
        ("qqqqq", "no command 'qqqqq': tab lists commands, "),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_can(typed: str, why: str) -> None:
    assert refused(typed).startswith(why)


def test_a_halt_ends_after_its_word() -> None:
    assert STATE.world is not None
    halted = replace(STATE, world=replace(STATE.world, halted_at=front_of().now))
    (message,) = run("resume", front_of(halted)).posted
    assert isinstance(message, ResumeRequested)


def test_data_is_exported_and_the_log_verified() -> None:
    assert run("export").given == [ExportData()]
    assert gone(run("log")) == ("log", None, "")
    assert gone(run("log verify")) == ("log", None, "log.verify")
    assert gone(run("skills")) == ("agents", None, "agents.start")
    assert gone(run("skills install")) == ("agents", None, "agents.install")


# -- agents -------------------------------------------------------------------------------------


def test_an_agent_is_shown_and_its_key_pressed_there() -> None:
    assert gone(run("agent HERON")) == ("agents", "a-2", "")
    assert gone(run("agent a-2")) == ("agents", "a-2", "")
    assert gone(run("agent retire heron")) == ("agents", "a-2", "agents.retire")
    assert refused("agent readmit heron") == "heron is not suspended"
    assert refused("agent herron") == "no agent 'herron': did you mean heron?"


@pytest.mark.parametrize("changed", [{"suspended": True}, {"retired": True}])
def test_who_is_suspended_or_retired_is_readmitted(changed: dict[str, bool]) -> None:
    front = front_of(with_agents(changed))
    assert gone(run("agent readmit heron", front)) == ("agents", "a-2", "agents.suspend")


def with_agents(changed: dict[str, Any], *, twin: bool = False) -> DeskState:
    assert STATE.fleet is not None
    first, heron, third, *others = STATE.fleet.agents
    third = replace(third, name="Heron") if twin else third
    agents = (first, replace(heron, **changed), third, *others)
    return replace(STATE, fleet=replace(STATE.fleet, agents=agents))


def test_of_two_agents_of_one_name_the_id_is_wanted() -> None:
    front = front_of(with_agents({}, twin=True))
    assert refused("agent heron", front) == "2 agents are called 'heron': use the id"
    assert gone(run("agent a-3", front)) == ("agents", "a-3", "")
    assert refused("agent heron", front_of(replace(STATE, fleet=None))) == "no agents loaded"


def test_an_agent_is_not_taken_for_one_whose_name_has_another_figure() -> None:
    assert STATE.fleet is not None
    first, heron, *others = STATE.fleet.agents
    agents = (replace(first, name="10\u00b2"), replace(heron, name="102"), *others)
    front = front_of(replace(STATE, fleet=replace(STATE.fleet, agents=agents)))
    assert gone(run("agent 102", front)) == ("agents", "a-2", "")


# -- drills -------------------------------------------------------------------------------------


def in_drill(phase: DrillPhase) -> Front:
    return front_of(replace(STATE, drill=DrillView("storm", "A storm", "Survive", 10, phase)))


def test_without_a_name_the_drills_are_listed_and_in_a_drill_its_page() -> None:
    (message,) = run("drill").posted
    assert isinstance(message, KeyChosen)
    assert message.key == key_named("app.palette")
    (message,) = run("drill", in_drill(DrillPhase.RUNNING)).posted
    assert isinstance(message, DrillRequested)
    assert (message.name, message.ends) == ("", False)


def test_a_drill_that_runs_is_ended() -> None:
    (message,) = run("drill end", in_drill(DrillPhase.RUNNING)).posted
    assert message.ends
    why = "drill end: the drill does not run"
    assert refused("drill end", in_drill(DrillPhase.BRIEFING)) == why
    assert refused("drill calm", in_drill(DrillPhase.RUNNING)).startswith("no action of a drill")
    bare = front_of()
    bare.program = SimpleNamespace(theme_names=(), drills=tuple)
    assert refused("drill calm", bare) == "no drills here: use 'service-tui drill' in a shell"


# -- keys, roles and records --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "ident"),
    [("halt", "app.halt"), ("wallet", "app.wallet"), ("keys", "app.wallet"), ("q", "app.quit"),
     ("report", "app.report"), ("team", "app.team"), ("pause", "app.pause"),
     ("refresh", "app.refresh"), ("privacy", "app.privacy"), ("back", "app.back"),
     ("forward", "app.forward"), ("welcome", "app.welcome"), ("exit", "app.quit")],
)  # fmt: skip
def test_a_command_presses_a_key(typed: str, ident: str) -> None:
    (message,) = run(typed).posted
    assert isinstance(message, KeyChosen)
    assert message.key == key_named(ident)
    label = key_named(ident).label
    assert refused(typed, why="not now") == f"{label}: not now"
    assert "takes no arguments" in refused(f"{typed} now")


ON_RECORD = {
    "market", "halt", "filter", "saved", "columns", "beside", "sort", "go", "theme", "privacy",
    "back", "forward", "help",
    "quit", "replay", "charts", *SCREEN_NAMES,
} - {"approvals"}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_on_a_record_nothing_is_sent(verb: Any) -> None:
    front = front_of(replace(STATE, rewound_to=front_of().now))
    try:
        prepare(verb.name, context_of(front))
        why = ""
    except CommandError as error:
        why = str(error)
    is_barred = why == f"{verb.name}: replay: nothing can be sent"
    assert is_barred is (verb.name not in ON_RECORD)


# -- completion ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        ("th", ("theme",)),
        ("theme p", ("theme paper",)),
        ("theme ", ("theme night", "theme paper")),
        ("theme paper", ()),
        ("speed 1", ("speed 10",)),
        ("sort pri", ("sort price",)),
        ("sort price d", ("sort price desc",)),
        ("sort price ", ("sort price asc", "sort price desc")),
        ("go po", ("go portfolio",)),
        ("log v", ("log verify",)),
        ("skills i", ("skills install",)),
        ("agent her", ("agent heron",)),
        ("agent retire h", ("agent retire heron",)),
        ("agent readmit h", ("agent readmit heron",)),
        ("drill s", ("drill storm",)),
        ("tour e", ("tour end",)),
        ("charts eq", ("charts equity",)),
        ("help quit", ()),
        ("help qui", ("help quit",)),
        ("nothing x", ()),
    ],
)
def test_a_line_is_completed(typed: str, lines: tuple[str, ...]) -> None:
    assert completions(typed, context_of(front_of())) == lines


def test_in_a_drill_its_end_is_completed() -> None:
    front = in_drill(DrillPhase.RUNNING)
    assert completions("drill ", context_of(front)) == ("drill end",)
