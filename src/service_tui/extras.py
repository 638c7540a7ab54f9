"""Parts of the program whose libraries an extra installs, and what is said where one is missing."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

BRINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "chain": (
        "web3", "eth_account", "eth_abi", "eth_keys", "eth_utils", "eth_typing", "hexbytes",
        "cryptography",
    ),
    "team": ("psycopg", "sqlmodel", "sqlalchemy", "aiohttp", "yarl", "prometheus_client"),
    "web": ("textual_serve",),
    "research": ("mcp", "mcp_types"),
    "history": ("duckdb",),
}  # fmt: skip
"""Packages by the extra that brings them, as they are imported."""


def missing_extra(error: BaseException) -> str:
    """What to install where a library of an extra is not there.

    Returns:
        One sentence with the command; empty for any other error.
    """
    for each in _every(error):
        package = (each.name or "").partition(".")[0]
        extra = next((extra for extra, packages in BRINGS.items() if package in packages), None)
        if extra is not None:
            return needs(extra)
    return ""


def needs(extra: str) -> str:
    """The sentence about one extra."""
    return f"this needs the extra '{extra}': pip install 'service-tui[{extra}]'"


def _every(error: BaseException) -> Iterator[ModuleNotFoundError]:
    if isinstance(error, ModuleNotFoundError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _every(each)
