"""Pauses skill agents at a service without a halt, cancels their buys and resumes them.

A step that is not done raises NotDoneError.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Final

from service_tui.client.api_keys import ApiKey
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.client.http_request import called_of
from service_tui.client.passing import NotPassedError
from service_tui.client.reply import NotProtocolError, decode
from service_tui.desk.changes import Changed
from service_tui.desk.halt.handlers import HaltStep, NotDoneError
from service_tui.desk.ports import Ports
from service_tui.desk.slices.halt import HaltedAgent
from service_tui.terms import Action
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Answer, Endpoint
from service_tui.wire.endpoints.public import (
    CANCEL_ORDER,
    OPEN_ORDERS,
    PATCH_USER_SETTINGS,
    USER_SETTINGS,
)
from service_tui.wire.orders import OrderBody
from service_tui.wire.settings import UserSettingsBody, UserSettingsPatch

_BEFORE: Final = "already paused at the service before the halt"
_UNSAID: Final = "pause before the halt unknown; check its settings at the service"
_PAUSE: Final = UserSettingsPatch(trading_paused=True)
_LIFT: Final = UserSettingsPatch(trading_paused=False)


class RefusedForGoodError(NotDoneError):
    """The service does not know this agent or refuses its key: retrying is useless."""


class _GoneError(RefusedForGoodError):
    """The requested object no longer exists."""


_REFUSALS: Final[dict[int, type[NotDoneError]]] = {
    HTTPStatus.UNAUTHORIZED: RefusedForGoodError,
    HTTPStatus.FORBIDDEN: RefusedForGoodError,
    HTTPStatus.NOT_FOUND: _GoneError,
}


class SkillAgents:
    """Agents of skills, by the keys that this desk made for them.

    Args:
        client: its transport carries each call, in the name of the agent that it is for.
        key_of: the key of an agent at the service of an address; blocks.
        present: the agents whose skills have a way through this desk now.
    """

    def __init__(
        self,
        client: Client,
        key_of: Callable[[str, str], str | None],
        present: Callable[[], tuple[HaltedAgent, ...]],
    ) -> None:
        self._client = client
        self._key_of = key_of
        self.present = present

    async def as_found(self, agent: HaltedAgent) -> HaltedAgent:
        """The agent with its pause as the service reports it; missing counts as paused."""
        answer = await self._settings(agent, USER_SETTINGS)
        is_unsaid = "trading_paused" not in answer.model_fields_set
        return replace(agent, was_paused=answer.trading_paused or is_unsaid, is_unsaid=is_unsaid)

    async def pause(self, agent: HaltedAgent) -> None:
        """Set `trading_paused` on the service for this agent."""
        answer = await self._settings(agent, PATCH_USER_SETTINGS, _PAUSE)
        if not (answer.trading_paused and "trading_paused" in answer.model_fields_set):
            raise NotDoneError(f"{agent.name} not paused at the service")

    async def lift(self, agent: HaltedAgent) -> str:
        """Let the agent enter again.

        Returns:
            Why it stays paused for good; empty when it does not.
        """
        try:
            await self._settings(agent, PATCH_USER_SETTINGS, _LIFT)
        except RefusedForGoodError as error:
            # Nobody could resume a desk if an agent that is gone had to agree.
            return str(error)
        return ""

    async def cancel_buys(self, agents: Sequence[HaltedAgent]) -> str:
        """No buy of these agents rests on a book; sales stay, they bring money.

        Returns:
            How many there were, in plain English.
        """
        count, problems = 0, list[str]()
        for agent in agents:
            try:
                count += await self._cancelled(agent)
            except NotDoneError as error:
                problems.append(str(error))
        if problems:
            raise NotDoneError("; ".join(problems[:2]))
        return f"{count} cancelled" if count else "none open"

    async def _cancelled(self, agent: HaltedAgent) -> int:
        """Cancel the buys of one agent.

        Returns:
            How many there were.

        Raises:
            NotDoneError: some may rest still.
        """
        orders = (await self._request(agent, OPEN_ORDERS, OPEN_ORDERS.path)).orders
        buys = [one for one in orders if one.trade_type is not Action.SELL]
        kept = [one for one in buys if not await self._is_cancelled(agent, one)]
        if kept:
            raise NotDoneError(f"{len(kept)} of {len(buys)} of {agent.name} not cancelled")
        return len(buys)

    async def _is_cancelled(self, agent: HaltedAgent, order: OrderBody) -> bool:
        """True if an order no longer rests: cancelled now, or ended since it was listed."""
        try:
            call = called_of(CANCEL_ORDER, {"order_id": order.order_id})
            return (await self._request(agent, CANCEL_ORDER, call.path)).success
        except ServiceError as error:
            raise NotDoneError(f"unusable order of {agent.name}: {error}") from error
        except _GoneError:
            return True

    async def _settings(
        self,
        agent: HaltedAgent,
        endpoint: Endpoint[UserSettingsBody],
        body: UserSettingsPatch | None = None,
    ) -> UserSettingsBody:
        return await self._request(agent, endpoint, endpoint.path, body)

    async def _request(
        self,
        agent: HaltedAgent,
        endpoint: Endpoint[Answer],
        path: str,
        body: WireModel | None = None,
    ) -> Answer:
        """One call in the agent's own name.

        Returns:
            The answer, whole.

        Raises:
            RefusedForGoodError: the service does not know the agent, or its key, any more.
            NotDoneError: any other reason.
        """
        raw = b"" if body is None else body.model_dump_json(exclude_none=True).encode()
        try:
            key = await asyncio.to_thread(self._key_of, agent.agent_id, self._client.base_url)
            if key is None:
                raise RefusedForGoodError(f"no key of {agent.name} here")
            own = ApiKey(key, self._client.base_url)
            passed = await self._client.pass_on(own, (endpoint.method, path, raw))
        except (NotPassedError, OSError, ValueError) as error:
            raise NotDoneError(f"{agent.name}: {error}") from error
        if passed.status != HTTPStatus.OK:
            text = f"service answered {passed.status} to {agent.name}"
            raise _REFUSALS.get(passed.status, NotDoneError)(text)
        try:
            answer, dropped = decode(endpoint.answers, passed.body)
        except NotProtocolError as error:
            raise NotDoneError(f"unreadable service answer for {agent.name}") from error
        if dropped:
            raise NotDoneError(f"{dropped} records of {agent.name} unreadable")
        return answer


class SkillPauses:
    """The skill agents' part of one halt: who is affected, the steps, and their undoing.

    Args:
        ports: the desk's.
        agents: the calls.
        keep: writes the halt down as it is.
    """

    def __init__(
        self, ports: Ports, agents: SkillAgents, keep: Callable[[Ports], Awaitable[str]]
    ) -> None:
        self._ports = ports
        self._agents = agents
        self._keep = keep

    def named(self, before: tuple[HaltedAgent, ...]) -> tuple[HaltedAgent, ...]:
        """Agents that the halt lists already, and those whose skills may trade here now."""
        known = {one.agent_id for one in before}
        new = self._agents.present() if self._may_change() else ()
        return (*before, *(one for one in new if one.agent_id not in known))

    def steps(self, agents: tuple[HaltedAgent, ...]) -> tuple[HaltStep, ...]:
        """A line for each agent, and one for what rests of all."""
        if not (agents and self._may_change()):
            return ()

        async def cancel(_: Ports) -> str:
            return await self._agents.cancel_buys(agents)

        pauses = (
            HaltStep(
                f"pause:{one.agent_id}",
                f"{one.name} paused by the service",
                partial(self._pause, one.agent_id),
            )
            for one in agents
        )
        description = "no open buys of skills on this desk's leash"
        return (*pauses, HaltStep("skill_orders", description, cancel))

    async def lift(self, go_on: Callable[[], None]) -> list[str]:
        """End the pauses that this halt has set, and no other one.

        Args:
            go_on: called before each; raises if trading was halted again in between.

        Returns:
            Who stays paused, and why.
        """
        left: list[str] = []
        for agent in self._known() if self._may_change() else ():
            go_on()
            if agent.was_paused is None:
                # Nothing was changed there: the service never reported the state before.
                continue
            if agent.is_unsaid:
                # ours: whose pause it is cannot be known. One that a person has
                # set is never lifted.
                why = _UNSAID
            else:
                why = _BEFORE if agent.was_paused else await self._agents.lift(agent)
            if why:
                left.append(f"{agent.name} stays paused: {why}")
        return left

    async def _pause(self, agent_id: str, ports: Ports) -> str:
        """Write down how an agent was before the halt, then have it paused."""
        agent = next(one for one in self._known() if one.agent_id == agent_id)
        if agent.was_paused is None:
            agent = await self._agents.as_found(agent)
            self._remember(agent)
        try:
            await self._keep(ports)
        finally:
            # A disk that refuses holds up no pause.
            await self._agents.pause(agent)
        if agent.is_unsaid:
            return "earlier state unknown"
        return "already paused before" if agent.was_paused else ""

    def _remember(self, agent: HaltedAgent) -> None:
        halt = self._ports.state().halt
        if halt is not None:
            agents = tuple(agent if one.agent_id == agent.agent_id else one for one in halt.agents)
            self._ports.emit(Changed(replace(halt, agents=agents)))

    def _known(self) -> tuple[HaltedAgent, ...]:
        halt = self._ports.state().halt
        return () if halt is None else halt.agents

    def _may_change(self) -> bool:
        service = self._ports.state().service
        return not (service.embedded or service.read_only)
