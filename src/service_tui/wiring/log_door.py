"""Whether the chain of the action log holds, in words."""

from pathlib import Path

from service_tui.storage.action_log import FILE, verify


class LogDoorError(Exception):
    """The chain does not hold, or cannot be followed; one plain sentence."""


def followed(data_dir: Path, holds: str) -> str:
    """Follow the chain from its first line.

    Args:
        data_dir: where the log lies.
        holds: a hash that somebody has kept; empty for none.

    Returns:
        How many entries it has.

    Raises:
        LogDoorError: it does not hold, or cannot be read.
    """
    path = data_dir / FILE
    try:
        found = verify(path, holds)
    except FileNotFoundError:
        if holds:
            raise LogDoorError(f"{path} is not there: no line has the hash {holds}") from None
        return f"0 entries: nothing has been logged in {data_dir} yet"
    except OSError as error:
        raise LogDoorError(f"{path} cannot be read: {error.strerror}") from error
    if found.problem:
        raise LogDoorError(f"{path}: {found.problem}; {found.count} before it hold")
    return f"{found.count} entries: the chain holds; last hash {found.last_hash}"
