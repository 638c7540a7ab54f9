"""Verification of the action log's chain, as one line of text."""

from pathlib import Path

from service_tui.storage.action_log import FILE, verify


class LogCommandError(Exception):
    """The chain is broken, or cannot be read; one plain sentence."""


def verify_log(data_dir: Path, expected_hash: str) -> str:
    """Verify the chain from its first line.

    Args:
        data_dir: where the log lies.
        expected_hash: a hash that the log must contain; empty for none.

    Returns:
        A sentence with the number of entries.

    Raises:
        LogCommandError: the chain is broken, or cannot be read.
    """
    path = data_dir / FILE
    try:
        chain = verify(path, expected_hash)
    except FileNotFoundError:
        if expected_hash:
            raise LogCommandError(
                f"{path} does not exist: no line has the hash {expected_hash}"
            ) from None
        return f"0 entries: nothing logged in {data_dir} yet"
    except OSError as error:
        raise LogCommandError(f"cannot read {path}: {error.strerror}") from error
    if chain.problem:
        raise LogCommandError(
            f"{path}: {chain.problem}; the {chain.count} entries before it are verified"
        )
    return f"{chain.count} entries: log verified; last hash {chain.last_hash}"
