"""Why a data directory or a desk does not open, in plain words."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.console.doors import DeskClosedError
from service_tui.engine.codec.events import NewerJournalError
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DirectoryLockedError,
    LostLogError,
    NewerSchemaError,
    StorageError,
)
from service_tui.wiring.keys import KeysError

log = logging.getLogger(__name__)

_FIXES: Final[dict[type[Exception], str]] = {
    DirectoryLockedError: "close the other one, look with --read-only, or give another --data-dir",
    NewerSchemaError: "use the newer program, or give another --data-dir",
    CorruptDatabaseError: "choose what goes on",
    LostLogError: "start again to go on with what is left",
    StorageError: "see the log, or give another --data-dir",
    NewerJournalError: "use the newer program, or give another --data-dir",
    KeysError: "mend or move the file away",
    ServiceError: "see the log, and whether the disk has room",
    ValueError: "correct the address or the key",
}
"""What to do about each reason for a closed desk, first match wins."""


@contextmanager
def closed_in_plain_words() -> Generator[None]:
    """Say plainly why a desk does not open; anything else is a bug and passes.

    Raises:
        DeskClosedError: one of the known reasons.
    """
    try:
        yield
    except Exception as error:
        reason = only_reason(error)
        fix = next((fix for kind, fix in _FIXES.items() if isinstance(reason, kind)), None)
        if fix is None:
            raise
        log.warning("the desk stays closed: %s", reason)
        if isinstance(reason, CorruptDatabaseError):
            # Here, because what restores needs more than any other door.
            from service_tui.wiring.keeping import choices_for, words_for  # noqa: PLC0415

            raise DeskClosedError(str(reason), words_for(reason), choices_for(reason)) from reason
        raise DeskClosedError(str(reason), fix) from reason


def only_reason(error: Exception) -> Exception:
    """What a TaskGroup on the way has wrapped, where it is one thing."""
    # Only groups have members; their type says nothing about whose.
    members: tuple[Exception, ...] = getattr(error, "exceptions", ())
    return only_reason(members[0]) if len(members) == 1 else error
