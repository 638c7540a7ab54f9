"""Reasons and fixes for a data directory or a desk that does not open."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials.api_keys import ApiKeysError
from service_tui.engine.codec.errors import NewerJournalError
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DirectoryLockedError,
    LostLogError,
    NewerSchemaError,
    SameAddressError,
    StorageError,
)

log = logging.getLogger(__name__)

_FIXES: Final[dict[type[Exception], str]] = {
    DirectoryLockedError: "close the other program, use --read-only, or give another --data-dir",
    NewerSchemaError: "use the newer program, or give another --data-dir",
    CorruptDatabaseError: "choose how to continue",
    LostLogError: "start again to continue with what was salvaged",
    SameAddressError: "give each process of the desk its own --address",
    StorageError: "see the log, or give another --data-dir",
    NewerJournalError: "use the newer program, or give another --data-dir",
    ApiKeysError: "repair the file, or move it away",
    ServiceError: "check the log and the disk space",
    ValueError: "correct the address or the key",
}
"""What to do about each reason for a closed desk, first match wins."""


@contextmanager
def explain_closed_desk() -> Generator[None]:
    """Turn a known reason why a desk does not open into DeskClosedError; bugs pass unchanged.

    Raises:
        DeskClosedError: one of the known reasons.
    """
    try:
        yield
    except Exception as error:
        reason = only_reason(error)
        fix = next(
            (fix for error_type, fix in _FIXES.items() if isinstance(reason, error_type)), None
        )
        if fix is None:
            raise
        log.warning("desk not opened: %s", reason)
        if isinstance(reason, CorruptDatabaseError):
            # Imported here: restoring needs more modules than any other command.
            from service_tui.app.restoring import choices_for, recovery_commands  # noqa: PLC0415

            raise DeskClosedError(
                str(reason), recovery_commands(reason), choices_for(reason)
            ) from reason
        raise DeskClosedError(str(reason), fix) from reason


def only_reason(error: Exception) -> Exception:
    """The single error inside nested TaskGroups; the group itself if it has several."""
    # Only groups have members; their type does not give the type of those.
    members: tuple[Exception, ...] = getattr(error, "exceptions", ())
    return only_reason(members[0]) if len(members) == 1 else error
