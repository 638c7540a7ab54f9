"""The options of one start, as plain values."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.terms import PERSON_KEY_PREFIX, Plan

LOOPBACK_HOSTS: Final = frozenset({"", "127.0.0.1", "::1", "localhost"})
"""Hosts of `serve` that only this machine reaches; empty is the default."""

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
    `address` is where the other processes of a shared desk reach this one, empty: at `host`.
    `log_json`: what is logged, and what `serve` says, goes to standard output as well, as JSON.
    `agents_max` is the most agents of a world, None: as many as its plan allows each person.
    `ops_host` is the address of the port for health and figures, empty: loopback. `callers_max` is
    the most connections of callers at one time, None: the usual number. `access_log` logs a line
    for each call.
    `host` is the address on which `serve` answers, `public_names` what callers may name it;
    `tls_cert` and `tls_key` encrypt, or `trusted_proxy` has done so before. `invitations` says
    whether agents need one, None: on a network they do.
    `demo`: a new offline world begins with demo agents.
    `history` is the history on which a new world runs, from the time `history_from` on; None: the
    world is invented.
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
    history: str | None = None
    history_from: str | None = None
    host: str = ""
    address: str = ""
    agents_max: int | None = None
    log_json: bool = False
    ops_host: str = ""
    callers_max: int | None = None
    access_log: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trusted_proxy: str = ""
    public_names: tuple[str, ...] = ()
    invitations: bool | None = None
    demo: bool = False

    @property
    def is_on_network(self) -> bool:
        """True if `serve` is to be reached by other machines, or through a proxy."""
        return bool(self.host not in LOOPBACK_HOSTS or self.tls_cert or self.trusted_proxy)

    @property
    def is_for_person(self) -> bool:
        """True if the key is a person's: the service is a shared desk, not an agent's."""
        return (self.api_key or "").startswith(PERSON_KEY_PREFIX)

    @property
    def needs_invitation(self) -> bool:
        """True if an agent registers by an invitation alone; on a network unless told otherwise."""
        return self.is_on_network if self.invitations is None else self.invitations
