"""Routes of settings: the spec's object, changes to it, and the risk defaults."""

from typing import Final

from service_tui.engine.limits import PLANS
from service_tui.server.http.refusals import invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import settings_body, user_settings_body
from service_tui.server.projections.risk import removed_body
from service_tui.units import Micros, NotMicrosError, micros
from service_tui.wire.endpoints.public import (
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    POST_SETTINGS,
    SETTINGS,
    USER_SETTINGS,
)
from service_tui.wire.settings import (
    AllSettingsBody,
    RemovedMonitorBody,
    SettingsBody,
    SettingsPatch,
    UserSettingsBody,
    UserSettingsPatch,
)

FIELDS: Final = {
    "sdk_real_trading_enabled": "real_trading_enabled",
    "sdk_max_trade_amount": "max_trade",
    "sdk_daily_limit": "day_spend_max",
    "max_trades_per_day": "trades_per_day",
    "max_position_usd": "max_position",
    "default_stop_loss_pct": "stop_loss_pct",
    "default_take_profit_pct": "take_profit_pct",
    "auto_risk_monitor_enabled": "auto_risk_monitor_enabled",
    "trading_paused": "trading_paused",
    "bot_solana_wallet": "solana_wallet",
    "clawdbot_webhook_url": "clawdbot_webhook_url",
    "clawdbot_chat_id": "clawdbot_chat_id",
    "clawdbot_channel": "clawdbot_channel",
    "skill_daily_budget": "skill_day_max",
}
"""Names of the wire and of AgentSettings."""

MONEY: Final = frozenset({
    "sdk_max_trade_amount",
    "sdk_daily_limit",
    "max_position_usd",
    "skill_daily_budget",
})
MAY_BE_OFF: Final = frozenset({
    "max_trades_per_day",
    "max_position_usd",
    "default_stop_loss_pct",
    "default_take_profit_pct",
    "bot_solana_wallet",
    "clawdbot_webhook_url",
    "clawdbot_chat_id",
    "clawdbot_channel",
    "skill_daily_budget",
})
"""Where null means "off", or the plan's own number; everywhere else it means "as it is"."""


Removed = tuple[RemovedMonitorBody, ...]


async def _change(request: RequestContext, patch: dict[str, object]) -> Removed:
    """Write down the changes that are named in FIELDS.

    Returns:
        The monitors that went with them: turning the automatic off removes its own.
    """
    changes = {
        FIELDS[name]: _changed(request, name, value)
        for name, value in patch.items()
        if name in FIELDS and (value is not None or name in MAY_BE_OFF)
    }
    if not changes:
        return ()
    world, turned_off = request.world, changes.get("auto_risk_monitor_enabled") is False
    going = world.risk.automatic_of(request.agent) if turned_off else []
    removed = tuple(removed_body(world, monitor) for monitor in going)
    await request.service.world_store.commit(world.change(request.agent, changes, request.now))
    return removed


def _changed(request: RequestContext, name: str, value: object) -> object:
    """What a setting becomes.

    Returns:
        The value as AgentSettings holds it.

    Raises:
        Denied: 422 for more than the plan allows, for finer than a micro, or for less than one.
    """
    ceiling = PLANS[request.agent.settings.plan].trades_per_day_max
    if name == "max_trades_per_day" and isinstance(value, int) and ceiling is not None:
        if not value <= ceiling:
            message = f"the plan allows at most {ceiling}"
            raise invalid_items([(("body", name), message, "less_than_equal")])
        return value
    if name in MONEY and isinstance(value, float):
        try:
            return _micros(value)
        except NotMicrosError as error:
            raise invalid_items([(("body", name), str(error), "decimal")]) from error
    # Zero thresholds mean "off". Source: decisions, "Stop and target prices".
    return None if name.endswith("_pct") and not value else value


def _micros(amount: float) -> Micros:
    """An amount that is nothing only where nothing was requested."""
    whole = micros(amount)
    if not whole and amount:
        raise NotMicrosError(f"{amount} is less than a millionth")
    return whole


async def read(request: RequestContext) -> SettingsBody:
    """The spec's settings object."""
    agent_id = request.agent.agent_id
    seen_at = request.service.sdk_seen_at.get(agent_id)
    own_client = request.service.own_clients.get(agent_id)
    return settings_body(request.world, request.agent, request.now, seen_at, own_client=own_client)


async def write(request: RequestContext) -> AllSettingsBody:
    """Change limits and risk defaults; only what is sent changes."""
    patch = request.body_as(SettingsPatch)
    removed = await _change(request, patch.sent())
    update = {"monitors_removed": removed, "warnings": patch.warnings()}
    risk = (await read_user(request)).model_copy(update=update)
    # Both were checked when they were made.
    return AllSettingsBody.model_construct(**dict(risk) | dict(await read(request)))


async def read_user(request: RequestContext) -> UserSettingsBody:
    """Risk defaults and safety rails."""
    return user_settings_body(request.world, request.agent, request.now)


async def write_user(request: RequestContext) -> UserSettingsBody:
    """Change risk defaults and safety rails; an explicit null switches a threshold off."""
    patch = request.body_as(UserSettingsPatch)
    removed = await _change(request, patch.sent())
    body = user_settings_body(request.world, request.agent, request.now)
    update = {"monitors_removed": removed, "warnings": patch.warnings()}
    return body.model_copy(update=update)


ROUTES: Final[Routes] = {
    SETTINGS: read,
    POST_SETTINGS: write,
    PATCH_SETTINGS: write,
    USER_SETTINGS: read_user,
    PATCH_USER_SETTINGS: write_user,
}
