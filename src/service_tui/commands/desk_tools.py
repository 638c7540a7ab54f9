"""The tools by which an agent watches a desk: reads as the commands do, and one proposal.

A buy that is proposed waits for a person at the service. Nothing here answers a request, pauses,
halts or trades: every other call goes through a client that refuses writes.
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from service_tui.app.attached import HOLDER_URL, HolderTransport, address_of
from service_tui.app.options import Options
from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import OutcomeUnknownError, RefusedError, ServiceError
from service_tui.clock import SystemClock
from service_tui.commands.forms import form_of
from service_tui.commands.lists import rows_in
from service_tui.commands.report import loaded
from service_tui.commands.report_data import ReportError
from service_tui.commands.why import WHY, why_in
from service_tui.config import KEY_VARIABLE, URL_VARIABLE
from service_tui.console.closed_desk import DeskClosedError
from service_tui.console.need_rows import LISTINGS
from service_tui.desk.audit.exports import Rows
from service_tui.desk.restarting import fault_text
from service_tui.terms import LINE_MAX
from service_tui.wire.base import OperatorModel, WireModel
from service_tui.wire.endpoints.fleet import PROPOSE_TRADE
from service_tui.wire.fleet import ProposalRequest

log = logging.getLogger(__name__)

Answer = Mapping[str, object]
Given = Mapping[str, object]

LISTED: Final = 200
LISTED_MAX: Final = 1_000
ANSWER_MAX: Final = 128 * 1024
"""ours: rows of an answer, and letters of it."""

NO_KEY: Final = (
    "proposing needs an agent's own key",
    f"start this server with {KEY_VARIABLE} of an agent whose permissions are ask",
)
NOT_THERE: Final = (
    "no program serves this desk: nothing was sent",
    "a person opens the console, or starts 'service-tui serve'",
)
OTHER_DESK: Final = (
    f"{URL_VARIABLE} names another service than this desk: nothing was sent",
    f"take it away, and give the key of an agent of this desk in {KEY_VARIABLE}",
)

UNKNOWN: Final = "look in needs before you repeat it, or repeat it with the same key"

Text = Annotated[str, StringConstraints(max_length=LINE_MAX)]


class Nothing(OperatorModel):
    """A tool without parameters."""


class ListArguments(OperatorModel):
    """`needs`, `fleet`, `exposure`."""

    find: Annotated[Text, Field(description="only rows with all these words")] = ""
    limit: Annotated[int, Field(ge=1, le=LISTED_MAX, description="rows at most")] = LISTED


class WhyArguments(OperatorModel):
    """`why`."""

    id: Annotated[Text, Field(description="id of a trade, or of a request such as h1")]


class ProposeArguments(ProposalRequest):
    """`propose_buy`."""

    key: Annotated[Text, Field(description="your own word for it: repeated, it is made once")] = ""


@dataclass(frozen=True, slots=True)
class DeskTool:
    """One tool: what a client is told of it, and what it does."""

    name: str
    about: str
    takes: type[WireModel]
    call: "Callable[[DeskTools, Given], Awaitable[Answer]]"

    def schema(self) -> dict[str, object]:
        """Parameters, as JSON Schema."""
        return {k: v for k, v in self.takes.model_json_schema().items() if k != "description"}


@dataclass
class DeskTools:
    """The tools on the desk of a data directory, one call at a time."""

    options: Options
    api_key: str | None = field(default=None, repr=False)
    api_url: str | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def tools(self) -> Sequence[DeskTool]:
        """All of them."""
        return TOOLS

    async def do(self, name: str, given: Given) -> Answer:
        """Call a tool; raises ToolError, and nothing else."""
        tool = next((one for one in TOOLS if one.name == name), None)
        if tool is None:
            raise ToolError("no such tool", f"the tools are {', '.join(one.name for one in TOOLS)}")
        try:
            async with self.turn:
                return await tool.call(self, given)
        except ToolError:
            raise
        except (DeskClosedError, ReportError) as error:
            raise ToolError(str(error)) from error
        except Exception as error:
            log.exception("%s", name)
            raise ToolError(fault_text(error)) from error


async def _status(desk: DeskTools, given: Given) -> Answer:
    arguments(Nothing, given)
    data = await loaded(desk.options, LISTINGS["status"].wanted)
    return {"schema": form_of("status"), **rows_in(data, "status")[0]}


def _lister(name: str) -> Callable[[DeskTools, Given], Awaitable[Answer]]:
    async def call(desk: DeskTools, given: Given) -> Answer:
        asked = arguments(ListArguments, given)
        data = await loaded(desk.options, LISTINGS[name].wanted)
        return bounded(name, rows_in(data, name, asked.find), asked.limit)

    return call


def bounded(name: str, rows: Rows, limit: int) -> Answer:
    """The first rows of a list, as many as an answer takes, and how many were left off."""
    shown: list[Mapping[str, object]] = []
    letters = 0
    for row in rows[:limit]:
        letters += len(json.dumps(dict(row), ensure_ascii=False, indent=1))
        if letters > ANSWER_MAX:
            break
        shown.append(row)
    return {"schema": form_of(name), "rows": shown, "left_off": len(rows) - len(shown)}


async def _why(desk: DeskTools, given: Given) -> Answer:
    asked = arguments(WhyArguments, given)
    found = why_in(await loaded(desk.options, WHY), asked.id)
    return {"schema": form_of("why"), **found.facts()}


async def _propose(desk: DeskTools, given: Given) -> Answer:
    asked = arguments(ProposeArguments, given)
    body = ProposalRequest.model_validate(asked.model_dump(exclude={"key"}, exclude_unset=True))
    if desk.api_key is None:
        raise ToolError(*NO_KEY)
    address = address_of(desk.options.data_dir)
    if address is None:
        raise ToolError(*NOT_THERE)
    if desk.api_url is not None and desk.api_url.rstrip("/") != address:
        raise ToolError(*OTHER_DESK)
    client = Client(
        HolderTransport(desk.options.data_dir),
        HOLDER_URL,
        ApiKeys(ApiKey(desk.api_key, HOLDER_URL)),
        clock=SystemClock(),
        rng=random.SystemRandom(),
        read_only=desk.options.read_only,
    )
    async with client:
        try:
            call = client.call(PROPOSE_TRADE, body=body, idempotency_key=asked.key or None)
            said = (await call).answer
        except RefusedError as error:
            raise ToolError(str(error), error.fix, status=error.status) from error
        except OutcomeUnknownError as error:
            raise ToolError(str(error), UNKNOWN) from error
        except ServiceError as error:
            raise ToolError(str(error)) from error
    if not said.success:
        raise ToolError(said.error or "refused", said.fix or "")
    return {
        "schema": form_of("proposal"),
        "request": said.trade_id,
        "waits": True,
        "text": " ".join(said.warnings),
    }


TOOLS: Final[tuple[DeskTool, ...]] = (
    DeskTool("status", "Cash, equity, limits, and how much needs a person.", Nothing, _status),
    DeskTool(
        "needs",
        "What needs a person now, the most urgent first: requests of agents, alerts, problems.",
        ListArguments,
        _lister("needs"),
    ),
    DeskTool(
        "fleet",
        "Return, drawdown and other figures of each agent.",
        ListArguments,
        _lister("fleet"),
    ),
    DeskTool(
        "exposure",
        "What all agents hold, by category, event, market, agent, venue, side.",
        ListArguments,
        _lister("exposure"),
    ),
    DeskTool(
        "why",
        "The history of a trade or request: signal, reasoning, quote, fill, exit or decision.",
        WhyArguments,
        _why,
    ),
    DeskTool(
        "propose_buy",
        "Propose a buy with play money as the agent of this server's key. It waits for a person, "
        "who approves or refuses it; `why` says how it ended.",
        ProposeArguments,
        _propose,
    ),
)
