"""Fixes for refusals: what the operator does at this desk, where the service advises programs.

Used wherever a refused order or quote is shown. Source: engine.errors, whose advice names calls and
fields, not what a person does.
"""

from collections.abc import Mapping
from typing import Final

from service_tui.client.errors import RefusedError
from service_tui.desk.command import Command
from service_tui.desk.reasons import Fix
from service_tui.storage.errors import OtherConsoleError, StorageError

FIX_OF: Final[Mapping[str, Fix]] = {
    "NO_LIQUIDITY": Fix.OTHER_PRICES,
    "FOK_NOT_FILLED": Fix.SMALLER_OR_LATER,
    "PRICE_BEYOND_LIMIT": Fix.NEW_QUOTE,
    "DAILY_TRADES": Fix.RAISE_LIMIT,
    "DAILY_LIMIT": Fix.RAISE_LIMIT,
    "SKILL_BUDGET": Fix.RAISE_LIMIT,
    "TRADING_PAUSED": Fix.RESUME_AGENT,
    "NOT_CLAIMED": Fix.CLAIM,
    "REAL_TRADING_DISABLED": Fix.ALLOW_REAL_TRADES,
    "WALLET_NOT_LINKED": Fix.LINK_WALLET,
    "ALLOWANCE_MISSING": Fix.GIVE_APPROVALS,
    "CREDENTIALS_MISSING": Fix.MAKE_CREDENTIALS,
    "SIGNATURE_REQUIRED": Fix.UNLOCK_KEY,
    "OWN_ORDER": Fix.HALT_TAKES_BACK,
    "TOO_MANY_ORDERS": Fix.HALT_TAKES_BACK,
    "REFUSED_BEFORE": Fix.BUY_YOURSELF,
    "LEASH_OBSERVE": Fix.LENGTHEN_LEASH,
    "LEASH_BUDGET": Fix.RAISE_BUDGET,
    "TOO_MANY_PRICE_ALERTS": Fix.REMOVE_ALERT,
}
"""By the code of a refusal. Nothing here names what the ticket cannot do."""


def fix_of(code: str | None, advised: str) -> Fix | str:
    """Fix for a refusal: this desk's own if it has one, else the service's advice.

    Args:
        code: the refusal's, for machines.
        advised: what the service advises.
    """
    return FIX_OF.get(code or "", advised)


def storage_fix(error: StorageError) -> Fix:
    """Fix for a failure of storage: usually the disk is full."""
    return Fix.MEND_CONSOLE if isinstance(error, OtherConsoleError) else Fix.FREE_DISK


def failed_text(command: Command, error: Exception) -> str:
    """Text of a notice about a failed command: the command, the error, and the fix of a refusal."""
    fix = f"; {error.fix}" if isinstance(error, RefusedError) and error.fix else ""
    return f"{command.describe()}: {error}{fix}"
