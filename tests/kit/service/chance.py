"""What two services never say the same of, and what is left without it."""

from typing import Final

DRAWN: Final = frozenset({
    *("agent_id", "api_key", "claim_code", "claim_url", "code", "id", "key_prefix"),
    *("trader_id", "webhook_secret"),
    *("address", "message", "nonce", "wallet_address"),
    *("key", "invitation_id", "subject"),
})
"""Fields that are drawn by chance, so that two services never say the same in them."""

TIMED: Final = frozenset({"execution_time_ms"})
"""Fields that tell what the machine's clock did, 0 or more."""


def without_chance(value: object) -> object:
    """The value, with what is drawn by chance replaced by its kind, and whether it is there."""
    if isinstance(value, dict):
        return {name: said_of(name, part) for name, part in value.items()}
    return [without_chance(one) for one in value] if isinstance(value, list) else value


def said_of(name: str, value: object) -> object:
    """What one field says, without chance and the machine's clock."""
    if name in TIMED:
        assert isinstance(value, int)
        return value >= 0
    return [type(value).__name__, bool(value)] if name in DRAWN else without_chance(value)
