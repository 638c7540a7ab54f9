"""The options of one start, as plain values."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.terms import Plan

BESIDE: Final = "attached"
"""Folder of the blotters of consoles attached to another process's service."""

BESIDE_MAX: Final = 16
"""ours: consoles attached to one holder at one time; nobody looks at more."""


@dataclass(frozen=True, slots=True)
class Options:
    """One start of the program. `url` None means the embedded service.

    `listen` is the port on which the owner of the data directory serves it: 0 any free one, None
    not at all. `limits` False takes every limit off the embedded service. `signal_ttl_s` is the
    life of its reactor signals, None the usual minute. `exits` False leaves the exits of alerts to
    the next desk. `wallet_key` is the wallet's key from the environment, which the signer checks.
    `exchange` is the generation of the EVM venue for which orders are signed, and which the
    embedded service simulates. `loopback_webhooks` lets
    the webhooks of every agent reach this machine. `scripted`: a drill moves the world.
    `recording` keeps what the screens knew. `ops_port` is where `serve`
    shows its health and figures; None nowhere. `database` is the address of the PostgreSQL in which
    `serve` finds the `world` that it leads or stands by for; None: a world of the data directory.
    `worlds` are several of them, by commas or `all`, in the place of the one.
    """

    data_dir: Path
    config_dir: Path
    log_path: Path
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    profile: str | None = None
    seed: int | None = None
    speed: int | None = None
    plan: Plan | None = None
    read_only: bool = False
    allow_insecure: bool = False
    listen: int | None = None
    limits: bool = True
    signal_ttl_s: float | None = None
    exits: bool = True
    wallet_key: str | None = field(default=None, repr=False)
    exchange: str = "v1"
    loopback_webhooks: bool = False
    scripted: bool = False
    recording: bool = True
    ops_port: int | None = None
    database: str | None = field(default=None, repr=False)
    world: str = "main"
    worlds: str | None = None
