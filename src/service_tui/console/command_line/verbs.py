"""Every command of the `:` line, once. Completion, help and `docs/commands.md` are made from it."""

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from service_tui.console.actions import not_halted_reason, rewound_reason
from service_tui.console.charts.sources import ChartName
from service_tui.console.command_line import trading
from service_tui.console.command_line.verb import (
    CommandContext,
    CommandError,
    Effect,
    Verb,
    beginning,
    go,
    key_verb,
    one_of,
    press,
    refuse_rest,
    shown,
    suggestion,
)
from service_tui.console.fields import FieldError
from service_tui.console.forms.moment import read_moment
from service_tui.console.keys import cap, key_named
from service_tui.console.messages import (
    ChartsRequested,
    DrillRequested,
    HelpRequested,
    OwnCommandChosen,
    ReplayRequested,
    ResumeRequested,
    TourRequested,
)
from service_tui.console.own_names import own_names
from service_tui.console.replay_text import read_time
from service_tui.console.roles import role_reason
from service_tui.console.saved import filters_of, named
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.settings import SetPreference, SetSpeed, StepWorld
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.drill import DrillPhase
from service_tui.folding import folded_name
from service_tui.terms import HISTORY_STEP_MAX_S, SPEEDS, counted

SCREEN_NAMES: Final[Mapping[str, str]] = MappingProxyType({
    "needs": "attention",
    "portfolio": "portfolio",
    "markets": "markets",
    "monitors": "monitors",
    "reactor": "reactor",
    "redemption": "redemption",
    "research": "research",
    "agents": "agents",
    "settings": "settings",
    "orders": "blotter",
    "approvals": "approvals",
    "timeline": "timeline",
    "exposure": "exposure",
})
"""The screens by their names in a command."""

_ALSO: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "needs": ("overview",),
    "portfolio": ("positions", "status"),
    "monitors": ("alerts",),
    "research": ("autoresearch",),
    "settings": ("config",),
    "exposure": ("calendar", "held"),
    "agents": ("fleet", "agent-alerts"),
    "orders": ("blotter", "fills"),
})
"""Other names; those of the command line among them."""

_TO: Final = {"asc": False, "desc": True}
_LOG_ACTS: Final = ("verify",)
_AGENT_ACTS: Final = ("retire", "readmit")
_SKILL_ACTS: Final = {"run": "agents.start", "install": "agents.install"}

REFUSED: Final[Mapping[str, str]] = MappingProxyType({
    "serve": "runs the service without a console: use 'service-tui serve' in a shell",
    "web": "runs the console in a browser: use 'service-tui web' in a shell",
    "people": "prints keys to a shell: 'service-tui people list'",
    "invite": "prints a code to a shell: 'service-tui invite'",
    "login": "asks for a key in a shell: quit, then 'service-tui login'",
    "logout": "removes a stored key in a shell: quit, then 'service-tui logout'",
    "demo": "draws pictures from a shell: 'service-tui demo'",
    "doctor": "prints to a shell, also beside this console: 'service-tui doctor'",
    "quote": "prints to a shell; here 'buy' opens the ticket, which shows the quote",
    "notes": "prints to a shell: 'service-tui notes'; here the palette finds them",
    "why": "prints to a shell: 'service-tui why ID'; here the key of a row's history shows it",
    "schema": "prints to a shell: 'service-tui schema markets'",
    "mcp": "serves an agent that watches this desk, which starts 'service-tui mcp' itself",
    "evaluate": "tries skills from a shell: 'service-tui evaluate'; screen 6 has the reports",
    "history": "imports recordings from a shell: 'service-tui history list'",
    "backup": "prints to a shell, also beside this console: 'service-tui backup'",
    "restore": "replaces the database in use here: quit, then 'service-tui restore'",
    "verify": "prints to a shell: 'service-tui verify'; 'log verify' works here",
    "db": "looks at the database of a shared desk from a shell: 'service-tui db check'",
    "completion": "prints to a shell: 'service-tui completion'",
})
"""Commands of the program's command line that a running console does not take, and why."""


# -- screens ------------------------------------------------------------------------------------


def _open(name: str, context: CommandContext, rest: str) -> Effect:
    refuse_rest(name, rest)
    if name == "approvals":
        return press(context, "app.approvals")
    return go(context, SCREEN_NAMES[name])


def _go(context: CommandContext, rest: str) -> Effect:
    if not rest:
        raise CommandError(f"go needs a screen: one of {', '.join(SCREEN_NAMES)}")
    names = {also: name for name, others in _ALSO.items() for also in others}
    named = {**{name: name for name in SCREEN_NAMES}, **names}
    return _open(named[one_of("screen", rest, named)], context, "")


def _complete_go(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, SCREEN_NAMES)


def _screen_verb(name: str) -> Verb:
    ident = "app.approvals" if name == "approvals" else f"app.{SCREEN_NAMES[name]}"
    about = f"Screen: {key_named(ident).tooltip[:1].lower()}{key_named(ident).tooltip[1:]}"
    return Verb(name, "", about, partial(_open, name), aliases=_ALSO.get(name, ()))


# -- the list in front --------------------------------------------------------------------------


def _filter(context: CommandContext, rest: str) -> Effect:
    front = context.front
    if not front.is_searched:
        raise CommandError(f"{front.title} has no filter")
    problem = front.parsed(rest).problem
    if problem:
        raise CommandError(problem)
    return partial(front.line.put, rest)


def _sort(context: CommandContext, rest: str) -> Effect:
    front = context.front
    titles = {column.id: column.title for column in front.table.columns if column.sort_key}
    if not titles:
        raise CommandError(f"{front.title} has no sortable column")
    words = rest.casefold().split()
    falling = _TO[words.pop()] if len(words) > 1 and words[-1] in _TO else None
    names = {name: one for name, one in front.names.items() if one in titles}
    name = "".join(words)
    if name not in names:
        problem = f"no column {shown(rest)}" if rest else "sort needs a column"
        raise CommandError(f"{problem}: {suggestion(name, titles)}")
    if falling is None:
        return partial(front.table.pick_sort, names[name])
    return partial(front.table.sort_by, names[name], falling=falling)


def _complete_sort(context: CommandContext, rest: str) -> Iterable[str]:
    column, blank, way = rest.partition(" ")
    if blank:
        return (f"{column} {each}" for each in beginning(way, _TO))
    return beginning(rest, (each.id for each in context.front.table.columns if each.sort_key))


def _saved(context: CommandContext, rest: str) -> Effect:
    if not rest:
        return press(context, "rows.saved")
    front = context.front
    kept = filters_of(context.state.preferences, front.name_in_keys)
    found = named(kept, rest)
    if found is None:
        hint = suggestion(rest, [one.name for one in kept]) if kept else "none is saved here"
        raise CommandError(f"no saved filter {shown(rest)}: {hint}")
    return partial(front.apply_filter, found)


def _complete_saved(context: CommandContext, rest: str) -> Iterable[str]:
    kept = filters_of(context.state.preferences, context.front.name_in_keys)
    return beginning(rest, [one.name for one in kept])


def _watchlists(context: CommandContext, rest: str) -> Effect:
    refuse_rest("watchlists", rest)
    return go(context, "markets", act="markets.lists")


def _events(context: CommandContext, rest: str) -> Effect:
    refuse_rest("events", rest)
    return go(context, "markets", act="markets.event")


# -- the console --------------------------------------------------------------------------------


def _theme(context: CommandContext, rest: str) -> Effect:
    name = one_of("theme", rest, context.front.program.theme_names)
    return partial(context.front.give, SetPreference("theme", name))


def _complete_theme(context: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, context.front.program.theme_names)


def _speed(context: CommandContext, rest: str) -> Effect:
    why = context.disabled_reason(key_named("app.pause"))
    if why:
        raise CommandError(f"speed: {why}")
    speed = int(one_of("speed", rest.removesuffix("x"), map(str, _speeds(context))))
    return partial(context.front.give, SetSpeed(speed))


def _step(context: CommandContext, rest: str) -> Effect:
    world = context.state.world
    if world is None or not context.state.service.embedded:
        raise CommandError("step: only an offline world can be moved on")
    if not world.history:
        raise CommandError("step: an invented world cannot be stepped: raise its speed")
    try:
        until = read_moment(rest, world.now)
    except FieldError as error:
        raise CommandError(f"step: {error}") from error
    seconds = int(until - world.now)
    if seconds > HISTORY_STEP_MAX_S:
        raise CommandError("step: 7 days at once are the most")
    return partial(context.front.give, StepWorld(seconds))


def _speeds(context: CommandContext) -> tuple[int, ...]:
    world = context.state.world
    return SPEEDS if world is None else world.speeds


def _complete_speed(context: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, map(str, _speeds(context)))


def _help(context: CommandContext, rest: str) -> Effect:
    return partial(context.front.post_message, HelpRequested(rest))


def _complete_help(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, (verb.name for verb in VERBS))


# -- the service --------------------------------------------------------------------------------


def _resume(context: CommandContext, rest: str) -> Effect:
    refuse_rest("resume", rest)
    why = not_halted_reason(context.state)
    if why:
        raise CommandError(why)
    return partial(context.front.post_message, ResumeRequested())


def _export(context: CommandContext, rest: str) -> Effect:
    if rest:
        raise CommandError(
            "export writes to the data directory: for another folder, 'service-tui export DIR'"
        )
    return partial(context.front.give, ExportData())


def _log(context: CommandContext, rest: str) -> Effect:
    act = one_of("action of log", rest, _LOG_ACTS) if rest else ""
    return go(context, "log", act="log.verify" if act else "")


def _complete_log(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, _LOG_ACTS)


def _skills(context: CommandContext, rest: str) -> Effect:
    if rest.casefold() in {"check", "list", "new"}:
        raise CommandError(f"skills {rest} prints to a shell: 'service-tui skills {rest}'")
    act = one_of("action of skills", rest, _SKILL_ACTS) if rest else "run"
    return go(context, "agents", act=_SKILL_ACTS[act])


def _complete_skills(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, _SKILL_ACTS)


def _agent(context: CommandContext, rest: str) -> Effect:
    word, _, name = rest.partition(" ")
    act = word.casefold()
    if act not in _AGENT_ACTS:
        return go(context, "agents", _agent_named(context, rest).agent_id)
    agent = _agent_named(context, name.strip())
    if act == "readmit" and not (agent.suspended or agent.retired):
        raise CommandError(f"{agent.name} is not suspended")
    ident = "agents.retire" if act == "retire" else "agents.suspend"
    return go(context, "agents", agent.agent_id, act=ident)


def _agents(context: CommandContext) -> tuple[AgentView, ...]:
    fleet = context.state.fleet
    return () if fleet is None else fleet.agents


def _agent_named(context: CommandContext, name: str) -> AgentView:
    """The agent of this name or id.

    Raises:
        CommandError: there is none, or two have the name.
    """
    agents = _agents(context)
    if not agents:
        raise CommandError("no agents loaded")
    by_id = [agent for agent in agents if agent.agent_id == name]
    if by_id:
        return by_id[0]
    meant = one_of("agent", name, [agent.name for agent in agents])
    found = [agent for agent in agents if folded_name(agent.name) == folded_name(meant)]
    if len(found) > 1:
        raise CommandError(f"{counted(len(found), 'agent')} are called {shown(name)}: use the id")
    return found[0]


def _complete_agent(context: CommandContext, rest: str) -> Iterable[str]:
    names = [agent.name for agent in _agents(context)]
    acts = [f"{act} {name}" for act in _AGENT_ACTS for name in names]
    return beginning(rest, [*names, *acts])


def _drill(context: CommandContext, rest: str) -> Effect:
    post, drill = context.front.post_message, context.state.drill
    if drill is None:
        if not rest:
            return press(context, "app.palette")
        names = _drill_names(context)
        if not names:
            raise CommandError("no drills here: use 'service-tui drill' in a shell")
        return partial(post, DrillRequested(one_of("drill", rest, names)))
    if not rest:
        return partial(post, DrillRequested())
    one_of("action of a drill", rest, ("end",))
    if drill.phase is not DrillPhase.RUNNING:
        raise CommandError("drill end: the drill does not run")
    return partial(post, DrillRequested(ends=True))


def _complete_drill(context: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, ("end",) if context.state.drill else _drill_names(context))


def _drill_names(context: CommandContext) -> list[str]:
    return [name for name, _ in context.front.program.drills()]


def _tour(context: CommandContext, rest: str) -> Effect:
    if rest:
        one_of("action of the tour", rest, ("end",))
    return partial(context.front.post_message, TourRequested(ends=bool(rest)))


def _complete_tour(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, ("end",))


def _charts(context: CommandContext, rest: str) -> Effect:
    name = one_of("chart", rest, tuple(ChartName)) if rest else ""
    return partial(context.front.post_message, ChartsRequested(name))


def _complete_charts(_: CommandContext, rest: str) -> Iterable[str]:
    return beginning(rest, tuple(ChartName))


def _replay(context: CommandContext, rest: str) -> Effect:
    if rest:
        try:
            read_time(rest, context.now)
        except FieldError as error:
            raise CommandError(f"no time {shown(rest)}: {error}") from error
    return partial(context.front.post_message, ReplayRequested(rest))


VERBS: Final[tuple[Verb, ...]] = (
    Verb(
        "buy",
        "[MARKET] [yes|no] [AMOUNT]",
        "Open the ticket filled in; it places nothing yet",
        trading.buy,
        trading.complete_buy,
    ),
    Verb(
        "sell",
        "[MARKET] [yes|no] [SHARES|50%|all]",
        "Open the ticket of a sale filled in",
        trading.sell,
        trading.complete_sell,
    ),
    Verb("market", "MARKET", "Show the market", trading.show_market, trading.complete_market),
    Verb("star", "[MARKET]", "Star or unstar it", trading.star, trading.complete_market),
    key_verb("halt", "app.halt", "Block all buys at once, without a question"),
    Verb("resume", "", "End the halt, after a typed word", _resume),
    Verb("filter", "[WORDS]", "Filter the list in front; no words: all rows", _filter),
    Verb("sort", "COLUMN [asc|desc]", "Sort the list in front", _sort, _complete_sort),
    Verb("saved", "[NAME]", "Apply a saved filter of this screen", _saved, _complete_saved),
    key_verb("columns", "rows.columns"),
    key_verb("beside", "app.beside"),
    Verb("watchlists", "", "Lists of markets: show, make, fill", _watchlists),
    Verb("events", "", "The highlighted market's outcomes together", _events),
    Verb("go", "SCREEN", "Show a screen", _go, _complete_go),
    *(_screen_verb(name) for name in SCREEN_NAMES),
    Verb("log", "[verify]", "Audit log; verify its hash chain", _log, _complete_log),
    key_verb("wallet", "app.wallet", "", "keys"),
    key_verb("report", "app.report"),
    key_verb("team", "app.team"),
    Verb("export", "", "Write CSV, JSON and a day's summary", _export),
    Verb(
        "agent",
        "[retire|readmit] NAME",
        "Show an agent; retire or readmit it after a question",
        _agent,
        _complete_agent,
    ),
    Verb("skills", "[run|install]", "Run or install a skill", _skills, _complete_skills),
    Verb(
        "drill",
        "[NAME|end]",
        "End this console and play a drill; no name: the palette; in a drill its page or end",
        _drill,
        _complete_drill,
    ),
    Verb("tour", "[end]", "Five steps with play money: buy, stop, mirror", _tour, _complete_tour),
    Verb(
        "charts",
        "[NAME]",
        "Price, candles, equity, skills, calibration, sweep",
        _charts,
        _complete_charts,
    ),
    Verb(
        "replay",
        "[TIME]",
        "The desk as it was at a time, such as 03:12 or 20m; without one the last record, or now",
        _replay,
    ),
    Verb("theme", "NAME", "Apply a theme", _theme, _complete_theme),
    Verb("speed", "0|1|10|60", "Pace of the offline world", _speed, _complete_speed),
    Verb("step", "TIME", "Move a history on at once: 45m, 6h, 1d, or until 17:30 UTC", _step),
    key_verb("pause", "app.pause"),
    key_verb("refresh", "app.refresh"),
    key_verb("privacy", "app.privacy", "Mask or show amounts"),
    key_verb("back", "app.back", "The view before"),
    key_verb("forward", "app.forward", "The next view"),
    key_verb("welcome", "app.welcome"),
    Verb("help", "[WORD]", "Keys and commands with this word", _help, _complete_help),
    key_verb("quit", "app.quit", "Quit", "q", "exit"),
)

_BY_NAME: Final[Mapping[str, Verb]] = MappingProxyType({
    name: verb for verb in VERBS for name in (verb.name, *verb.aliases)
})


ON_RECORD: Final = frozenset({
    *(
        "market",
        "halt",
        "filter",
        "saved",
        "beside",
        "columns",
        "sort",
        "go",
        "theme",
        "privacy",
        "back",
        "forward",
        "help",
    ),
    *("quit", "replay", "charts", *SCREEN_NAMES),
}) - {"approvals"}
"""Commands that work on a recorded state."""


KEY_OF: Final[Mapping[str, str]] = {
    "buy": "markets.buy",
    "sell": "markets.exit",
    "resume": "app.resume",
    "speed": "app.faster",
    "step": "app.faster",
}
"""By the command: a key that wants the same role."""


def _own_effect(name: str, context: CommandContext, rest: str) -> Effect:
    refuse_rest(name, rest)
    return partial(context.front.post_message, OwnCommandChosen(name))


def verb_of(typed: str) -> Verb | None:
    """The command of the first word; None without one."""
    name = typed.strip().partition(" ")[0].casefold()
    if name in _BY_NAME or name not in own_names():
        return _BY_NAME.get(name)
    return Verb(name, "", own_names()[name], partial(_own_effect, name))


def prepare(typed: str, context: CommandContext) -> Effect:
    """Read a whole command.

    Returns:
        Its effect, to be run once the line is closed.

    Raises:
        CommandError: it cannot be run; the sentence gives the reason and what is valid.
    """
    name, _, rest = typed.strip().partition(" ")
    verb = verb_of(name)
    if verb is not None:
        why = "" if verb.name in ON_RECORD else rewound_reason(context.state, "")
        why = why or role_reason(context.state, KEY_OF.get(verb.name, ""))
        if why:
            raise CommandError(f"{verb.name}: {why}")
        return verb.prepare(context, rest.strip())
    if name.casefold() in REFUSED:
        raise CommandError(f"{name.casefold()} {REFUSED[name.casefold()]}")
    raise CommandError(f"no command {shown(name)}: {_similar(name)}")


def _similar(name: str) -> str:
    hint = suggestion(name, _BY_NAME)
    listed = f"tab lists commands, {cap('app.palette')} finds markets and actions"
    return hint if hint.startswith("did") else listed


def completions(typed: str, context: CommandContext) -> tuple[str, ...]:
    """The whole lines that may follow from a typed one."""
    name, blank, rest = typed.lstrip().partition(" ")
    if not blank:
        return tuple(beginning(name, (*(verb.name for verb in VERBS), *own_names())))
    verb = verb_of(name)
    if verb is None:
        return ()
    given = rest.lstrip()
    return tuple(f"{name} {each}" for each in verb.complete(context, given) if each != given)
