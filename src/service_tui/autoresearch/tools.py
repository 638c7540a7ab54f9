"""The four tools: their parameters, and the session's methods behind them.

Source: spec, "Autoresearch experiment tool parameters"; failures, T-10 and T-20.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.session import Session
from service_tui.wire.base import WireModel
from service_tui.wire.research import BacktestRequest
from service_tui.wire.research_tools import (
    BacktestArguments,
    InitArguments,
    LogArguments,
    RunArguments,
)

Answer = Mapping[str, object]
Given = Mapping[str, object]


async def _init(session: Session, given: Given) -> Answer:
    return await session.init(arguments(InitArguments, given))


async def _run(session: Session, given: Given) -> Answer:
    return await session.run(arguments(RunArguments, given))


async def _log(session: Session, given: Given) -> Answer:
    return await session.log(arguments(LogArguments, given))


async def _backtest(session: Session, given: Given) -> Answer:
    given_arguments = arguments(BacktestArguments, given)
    request = BacktestRequest.model_validate(given_arguments.model_dump())
    return (await session.backtest(request)).model_dump(mode="json", exclude={"points", "best"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One of the four."""

    name: str
    about: str
    takes: type[WireModel]
    call: Callable[[Session, Given], Awaitable[Answer]]
    may_stop: bool = False
    """Whether it ends where its client takes the question back; the others are finished."""

    def schema(self) -> dict[str, object]:
        """Parameters, as JSON Schema."""
        return {k: v for k, v in self.takes.model_json_schema().items() if k != "description"}


TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "init_experiment",
        "Begin a series of experiments on a skill, or take up the one of that name. A new "
        "name clears a pause and begins a fresh baseline.",
        InitArguments,
        _init,
    ),
    Tool(
        "run_experiment",
        "Run a shell command in the session's worktree and get the end of its output. Only "
        "where the person has allowed shell commands; not while the session is paused or full.",
        RunArguments,
        _run,
        may_stop=True,
    ),
    Tool(
        "log_experiment",
        "Keep the result of an experiment: keep commits the changes, discard and crash revert "
        "them (a copy stays under refs/autoresearch/backup).",
        LogArguments,
        _log,
    ),
    Tool(
        "backtest_experiment",
        "Replay the skill's trades that carry signal_data under thresholds: min_x keeps those "
        "with x at least, max_x at most, a bare x at least the value.",
        BacktestArguments,
        _backtest,
        may_stop=True,
    ),
)
