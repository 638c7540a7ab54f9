"""Handlers of SetBuyLimit, SetDefaults and SetPaused, on the service and on this desk.

A figure of the desk's own stays on this machine; the rest is the service's, and what stands on the
screen is what the service then reports.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from service_tui.client.errors import OutcomeUnknownError, RefusedError, ServiceError
from service_tui.desk.answer_check import unmet
from service_tui.desk.buy_limits import FIGURE_MAX, OWN
from service_tui.desk.commands.buy_limits import (
    SetBuyLimit,
    SetDefaults,
    SetPaused,
    limit_figure_text,
)
from service_tui.desk.facts import Noticed, PreferenceSet
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.reasons import HALTED, READ_ONLY
from service_tui.desk.settings.translate import defaults_of
from service_tui.desk.slices.buy_limits import RULES, BuyLimit
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.topics import Topic
from service_tui.desk.wire_values import amount
from service_tui.units import Micros, decimal
from service_tui.wire.endpoints.public import PATCH_USER_SETTINGS, POST_SETTINGS
from service_tui.wire.settings import (
    SentSettingsPatch,
    SentUserSettingsPatch,
    SettingsBody,
    UserSettingsBody,
)


class OtherAnswerError(Exception):
    """The service accepted a change and reports other values than those requested."""


_FIELDS: Final = {
    BuyLimit.TRADE: "sdk_max_trade_amount",
    BuyLimit.DAY_SPEND: "sdk_daily_limit",
    BuyLimit.MARKET: "max_position_usd",
    BuyLimit.DAY_BUYS: "max_trades_per_day",
    BuyLimit.SKILL_DAY: "skill_daily_budget",
}
_OF_THE_SPEC: Final = frozenset({BuyLimit.TRADE, BuyLimit.DAY_SPEND})
"""Changed through `/api/sdk/settings`; the others through the risk defaults."""


async def set_buy_limit(order: SetBuyLimit, memory: Memory, ports: Ports) -> None:
    """Change the figure of a limit, here or on the service."""
    why = _objection(order, ports)
    if why:
        ports.emit(Noticed("warn", f"{order.describe()}: {why}"))
    elif order.own:
        name = OWN + order.limit_kind.value
        value = "" if order.figure is None else str(order.figure)
        ports.emit(PreferenceSet(name, value))
        await memory.prefer(name, value)
        ports.emit(Noticed("good", _set_text(order)))
    elif order.limit_kind in _OF_THE_SPEC:
        await _request(order.describe(), ports, lambda: _post(order, ports))
    else:
        await _request(order.describe(), ports, lambda: _patch(order, ports))


def _objection(order: SetBuyLimit, ports: Ports) -> str:
    """Reason why this desk refuses the command; empty if it does not."""
    rule, figure = RULES[order.limit_kind], order.figure
    if ports.state().service.read_only:
        return READ_ONLY
    if not (rule.on_desk if order.own else rule.on_service):
        return "this figure is fixed"
    if figure is None:
        return "" if order.own or rule.may_be_off else "this limit cannot be removed"
    return "" if 0 < figure <= FIGURE_MAX else "a limit is above 0 and at most one billion"


def _set_text(order: SetBuyLimit) -> str:
    return f"{RULES[order.limit_kind].name}: {limit_figure_text(order.limit_kind, order.figure)}"


def _value(order: SetBuyLimit) -> float | int | None:
    if order.figure is None or RULES[order.limit_kind].is_count:
        return order.figure
    return decimal(Micros(order.figure))


async def _post(order: SetBuyLimit, ports: Ports) -> str:
    # The fields are checked as they are made.
    body = SentSettingsPatch.model_validate({_FIELDS[order.limit_kind]: _value(order)})
    reply = await ports.client.call(POST_SETTINGS, body=body)
    return _checked(order, body, reply.answer)


async def _patch(order: SetBuyLimit, ports: Ports) -> str:
    body = SentUserSettingsPatch.model_validate({_FIELDS[order.limit_kind]: _value(order)})
    reply = await ports.client.call(PATCH_USER_SETTINGS, body=body)
    return _checked(order, body, reply.answer)


def _checked(
    order: SetBuyLimit,
    sent: SentSettingsPatch | SentUserSettingsPatch,
    answer: SettingsBody | UserSettingsBody,
) -> str:
    """The limit that was set.

    Returns:
        Its text.

    Raises:
        OtherAnswerError: the service reports another figure.
    """
    # Without a figure of the agent's, that of its plan may be reported.
    if order.figure is None or not unmet(sent, answer):
        return _set_text(order)
    found = getattr(answer, _FIELDS[order.limit_kind])
    figure = found if found is None or RULES[order.limit_kind].is_count else int(amount(found))
    raise OtherAnswerError(f"the service has {limit_figure_text(order.limit_kind, figure)}")


async def set_defaults(order: SetDefaults, ports: Ports) -> None:
    """Change the risk defaults of new buys."""
    if ports.state().service.read_only:
        ports.emit(Noticed("warn", READ_ONLY))
        return
    defaults = order.defaults

    async def send() -> str:
        # Zero is off. Source: decisions, "Stop and target prices".
        body = SentUserSettingsPatch(
            default_stop_loss_pct=defaults.stop_loss_pct or 0.0,
            default_take_profit_pct=defaults.take_profit_pct or 0.0,
            auto_risk_monitor_enabled=defaults.auto_monitor,
        )
        reply = await ports.client.call(PATCH_USER_SETTINGS, body=body)
        ports.refresh(Topic.MONITORS)
        if unmet(body, reply.answer):
            found = SetDefaults(defaults_of(reply.answer))
            raise OtherAnswerError(f"the service has {found.describe()}")
        return f"{order.describe()}{_removed(reply.answer)}"

    await _request(order.describe(), ports, send)


def _removed(answer: UserSettingsBody) -> str:
    """Text about automatic monitors that were removed; those set by hand stay."""
    count = len(answer.monitors_removed)
    if not count:
        return ""
    noun = "monitor was" if count == 1 else "monitors were"
    return f"; {count} automatic {noun} removed, manual ones stay"


async def set_paused(order: SetPaused, ports: Ports) -> None:
    """Hold back the buys of the desk's own agent, or let them pass again."""
    state = ports.state()
    if state.service.read_only:
        ports.emit(Noticed("warn", READ_ONLY))
        return
    if not order.paused and state.halted_since is not None:
        # The halt stands on this pause wherever a service knows no halt of its own.
        ports.emit(Noticed("warn", HALTED.text, NoticeKind.HALT, fix=HALTED.fix))
        return

    async def send() -> str:
        body = SentUserSettingsPatch(trading_paused=order.paused)
        reply = await ports.client.call(PATCH_USER_SETTINGS, body=body)
        if order.paused and unmet(body, reply.answer):
            raise OtherAnswerError("the service still lets buys pass")
        if order.paused:
            return "trading paused: sales only"
        if reply.answer.trading_paused:
            return "resumed here; buys stay blocked by a halt or the operator's pause"
        return "buys allowed"

    await _request(order.describe(), ports, send, NoticeKind.HALT)


async def _request(
    description: str,
    ports: Ports,
    send: Callable[[], Awaitable[str]],
    kind: NoticeKind = NoticeKind.DESK,
) -> None:
    """Send a request, report the result in a notice, and refresh the limits in any case."""
    try:
        result = await send()
    except OtherAnswerError as error:
        ports.emit(Noticed("bad", f"{description}: {error}", kind))
    except ValueError:
        ports.emit(Noticed("bad", f"{description}: invalid figure for the service"))
    except OutcomeUnknownError:
        ports.emit(Noticed("bad", f"{description}: sent, no response; reloading the limits"))
    except RefusedError as error:
        ports.emit(Noticed("warn", f"{description}: {error.error}", fix=error.fix))
    except ServiceError as error:
        ports.emit(Noticed("bad", f"{description}: {error}"))
    else:
        ports.emit(Noticed("good", result, kind))
    ports.refresh(Topic.ACCOUNT)
    ports.refresh(Topic.AGENTS)
