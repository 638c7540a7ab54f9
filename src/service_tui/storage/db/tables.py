"""Every table of the data directory, declared once; `make tables` makes `declared.py` of it.

A class has the name of its table, capitalised. Neither a start nor a brief command on SQLite loads
this: to import SQLAlchemy takes a quarter of it. All tables are STRICT, so that SQLite refuses text
in a column of numbers; it also refuses NaN, which it stores as NULL.
"""

from typing import Final, cast

from pydantic import ConfigDict
from sqlalchemy import (
    REAL,
    TEXT,
    BigInteger,
    Dialect,
    Double,
    Index,
    Integer,
    LargeBinary,
    Table,
    TypeDecorator,
    text,
)
from sqlalchemy.types import TypeEngine
from sqlmodel import Field, SQLModel

from service_tui.storage.db import conditions


class Whole(TypeDecorator[int]):
    """A whole number of 64 bits, in either database."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[int]:  # noqa: D102 - SQLAlchemy's own
        return Integer() if dialect.name == "sqlite" else BigInteger()


class Real(TypeDecorator[float]):
    """A float of 64 bits, in either database."""

    impl = Double
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[float]:  # noqa: D102 - SQLAlchemy's own
        return REAL() if dialect.name == "sqlite" else Double()


_STRICT: Final = {"sqlite_strict": True}


class Stored(SQLModel):
    """What every table shares: nothing is validated, so that no validator is built at the start."""

    model_config = ConfigDict(defer_build=True)  # pyright: ignore[reportAssignmentType] - SQLModel has a type of its own, and exports it nowhere


class Journal(Stored, table=True):
    """Events of the sim. `agent_id` is None for events of no agent.

    `venue` is where a side of a position ended; None in every other row.
    """

    __table_args__ = (
        Index(
            "journal_by_agent",
            "agent_id",
            "seq",
            sqlite_where=text(conditions.OF_AGENTS),
        ),
        Index(
            "journal_by_kind",
            "agent_id",
            "kind",
            "seq",
            sqlite_where=text(conditions.OF_AGENTS),
        ),
        Index(
            "journal_by_market",
            "market_id",
            "seq",
            sqlite_where=text(conditions.OF_AGENTS),
        ),
        Index(
            "journal_by_venue",
            "agent_id",
            "kind",
            "venue",
            "seq",
            sqlite_where=text(conditions.OF_A_VENUE),
        ),
        Index("journal_of_the_tape", "seq", sqlite_where=text(conditions.OF_THE_TAPE)),
        Index("journal_of_people", "seq", sqlite_where=text(conditions.OF_PEOPLE)),
        _STRICT,
    )

    seq: int = Field(primary_key=True, sa_type=Whole)
    at: float = Field(sa_type=Real)
    kind: str = Field(sa_type=TEXT)
    agent_id: str | None = Field(default=None, sa_type=TEXT)
    market_id: str | None = Field(default=None, sa_type=TEXT)
    body: str = Field(sa_type=TEXT)
    venue: str | None = Field(default=None, sa_type=TEXT)


class Snapshots(Stored, table=True):
    """The whole sim right after journal row `seq`, compressed."""

    __table_args__ = _STRICT

    seq: int = Field(primary_key=True, sa_type=Whole)
    at: float = Field(sa_type=Real)
    body: bytes = Field(sa_type=LargeBinary)


class Idempotency(Stored, table=True):
    """Answer under an idempotency key; keys of different agents are separate."""

    __table_args__ = _STRICT

    agent_id: str = Field(primary_key=True, sa_type=TEXT)
    key: str = Field(primary_key=True, sa_type=TEXT)
    path: str = Field(sa_type=TEXT)
    body_hash: str = Field(sa_type=TEXT)
    answer: str = Field(sa_type=TEXT)
    at: float = Field(sa_type=Real, index=True)


class Tickets(Stored, table=True):
    """One command on its way, and how it ended."""

    __table_args__ = (
        Index("tickets_by_time", "at", "ticket_id"),
        Index("tickets_unsettled", "at", sqlite_where=text(conditions.UNSETTLED)),
        _STRICT,
    )

    ticket_id: str = Field(primary_key=True, sa_type=TEXT)
    at: float = Field(sa_type=REAL)
    kind: str = Field(sa_type=TEXT)
    subject: str = Field(sa_type=TEXT)
    venue: str | None = Field(default=None, sa_type=TEXT)
    body: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    sent_at: float | None = Field(default=None, sa_type=REAL)
    settled_at: float | None = Field(default=None, sa_type=REAL)
    outcome: str | None = Field(default=None, sa_type=TEXT)
    amount_micros: int = 0
    client_ref: str | None = Field(default=None, sa_type=TEXT)


class Once(Stored, table=True):
    """Action that must not be repeated, with the time when it was taken."""

    __table_args__ = _STRICT

    key: str = Field(primary_key=True, sa_type=TEXT)
    at: float = Field(sa_type=REAL)


class Cache(Stored, table=True):
    """The last answer under each key, for the first paint of the next start."""

    __table_args__ = _STRICT

    key: str = Field(primary_key=True, sa_type=TEXT)
    at: float = Field(sa_type=REAL)
    body: str = Field(sa_type=TEXT)


class Preferences(Stored, table=True):
    """Preferences of the operator: theme, sort orders, welcome seen."""

    __table_args__ = _STRICT

    key: str = Field(primary_key=True, sa_type=TEXT)
    value: str = Field(sa_type=TEXT)


class Pricealerts(Stored, table=True):
    """Price alerts; `triggered_at` is None until fired.

    `service_id` is the service's own, empty where this console alone keeps the alert. `sent_at` is
    noted before an alert is sent. A removed one is kept while the service may still list it.
    """

    __table_args__ = _STRICT

    alert_id: str = Field(primary_key=True, sa_type=TEXT)
    market_id: str = Field(sa_type=TEXT)
    question: str = Field(sa_type=TEXT)
    side: str = Field(sa_type=TEXT)
    condition: str = Field(sa_type=TEXT)
    threshold: float = Field(sa_type=REAL)
    created_at: float = Field(sa_type=REAL)
    armed: int = 0
    triggered_at: float | None = Field(default=None, sa_type=REAL)
    triggered_price: float | None = Field(default=None, sa_type=REAL)
    service_id: str = Field(default="", sa_type=TEXT)
    sent_at: float | None = Field(default=None, sa_type=REAL)
    removed: int = 0


class Reactorsignals(Stored, table=True):
    """Signals of the reactor that this desk has seen, and what became of each."""

    __table_args__ = (Index("reactorsignals_by_time", "at", "signal_id"), _STRICT)

    signal_id: str = Field(primary_key=True, sa_type=TEXT)
    tx_hash: str = Field(sa_type=TEXT)
    wallet: str = Field(sa_type=TEXT)
    label: str = Field(sa_type=TEXT)
    market_id: str = Field(sa_type=TEXT)
    question: str = Field(sa_type=TEXT)
    side: str = Field(sa_type=TEXT)
    venue: str = Field(sa_type=TEXT)
    size: int
    price: float = Field(sa_type=REAL)
    amount: int
    price_max: float = Field(sa_type=REAL)
    at: float = Field(sa_type=REAL)
    expires_at: float = Field(sa_type=REAL)
    state: str = Field(sa_type=TEXT)
    words: str = Field(sa_type=TEXT)
    price_now: float | None = Field(default=None, sa_type=REAL)
    ticket_id: str = Field(sa_type=TEXT)
    shares: int = 0
    cost: int = 0
    name: str = Field(sa_type=TEXT)
    sold: int | None = None
    proceeds: int | None = None


class Reactorwallets(Stored, table=True):
    """The operator's choice for a wallet: label and policy."""

    __table_args__ = _STRICT

    address: str = Field(primary_key=True, sa_type=TEXT)
    label: str = Field(sa_type=TEXT)
    policy: str = Field(sa_type=TEXT)


class Chainruns(Stored, table=True):
    """Transaction run: the next step and its data.

    `subject` identifies what it redeems or approves; at most one run a subject is open. `raw` is
    the signed transaction, stored before it is sent.
    """

    __table_args__ = (
        Index("chainruns_open", "subject", unique=True, sqlite_where=text(conditions.OPEN_RUN)),
        Index("chainruns_by_nonce", "wallet", "nonce", sqlite_where=text(conditions.SIGNED_RUN)),
        _STRICT,
    )

    number: int | None = Field(default=None, primary_key=True)
    subject: str = Field(sa_type=TEXT)
    wallet: str = Field(sa_type=TEXT)
    opened_at: float = Field(sa_type=REAL)
    changed_at: float = Field(sa_type=REAL)
    step: str = Field(sa_type=TEXT)
    body: str = Field(sa_type=TEXT)
    nonce: int | None = None
    raw: str | None = Field(default=None, sa_type=TEXT)
    tx_hash: str | None = Field(default=None, sa_type=TEXT)
    settled_at: float | None = Field(default=None, sa_type=REAL)


class Kepttokens(Stored, table=True):
    """Outcome tokens of positions: the one each was bought as, else the first the service listed.

    `storage/kept_tokens.py` reads and writes it. `fee_rate_bps` is the highest fee the service has
    given, None for none. `bought` is 1 after a buy, or an order whose token the operator confirmed:
    then the token is never replaced.
    """

    __table_args__ = _STRICT

    market_id: str = Field(primary_key=True, sa_type=TEXT)
    side: str = Field(primary_key=True, sa_type=TEXT)
    venue: str = Field(primary_key=True, sa_type=TEXT)
    wallet: str = Field(primary_key=True, sa_type=TEXT)
    token: str = Field(sa_type=TEXT)
    condition_id: str = Field(sa_type=TEXT)
    neg_risk: int
    at: float = Field(sa_type=REAL)
    fee_rate_bps: int | None = None
    bought: int


class Entries(Stored, table=True):
    """Trade lots and their proceeds: a digest of the agents' journal rows.

    `seq` is the row of the buy. `back` is money; a row whose `open_shares` are 0 is decided.
    """

    __table_args__ = (
        Index("entries_by_skill", "agent_id", "skill", "venue", "at"),
        Index("entries_by_trade", "trade_id"),
        Index(
            "entries_held",
            "agent_id",
            "market_id",
            "seq",
            sqlite_where=text(conditions.STILL_HELD),
        ),
        _STRICT,
    )

    seq: int = Field(primary_key=True, sa_type=Whole)
    trade_id: str = Field(sa_type=TEXT)
    agent_id: str = Field(sa_type=TEXT)
    venue: str = Field(sa_type=TEXT)
    skill: str = Field(sa_type=TEXT)
    market_id: str = Field(sa_type=TEXT)
    side: str = Field(sa_type=TEXT)
    at: float = Field(sa_type=Real)
    shares: int = Field(sa_type=Whole)
    money: int = Field(sa_type=Whole)
    open_shares: int = Field(sa_type=Whole)
    back: int = Field(sa_type=Whole)
    signal: str | None = Field(default=None, sa_type=TEXT)


class Entriesread(Stored, table=True):
    """One row: last journal row that the lots include."""

    __table_args__ = _STRICT

    one: int = Field(default=1, primary_key=True, sa_type=Whole)
    seq: int = Field(default=0, sa_type=Whole)


class Endedmarkets(Stored, table=True):
    """A market that ended and in which an agent traded; `body` is its listing as JSON."""

    __table_args__ = _STRICT

    market_id: str = Field(primary_key=True, sa_type=TEXT)
    question: str = Field(sa_type=TEXT)
    home: str = Field(sa_type=TEXT)
    outcome: int = Field(sa_type=Whole)
    resolves_at: float = Field(sa_type=Real)
    resolved_at: float = Field(sa_type=Real)
    body: str = Field(sa_type=TEXT)


class Endedfilled(Stored, table=True):
    """One row: up to which row of the journal ended markets of an older program were filled in."""

    __table_args__ = _STRICT

    one: int = Field(default=1, primary_key=True, sa_type=Whole)
    seq: int = Field(default=0, sa_type=Whole)


class People(Stored, table=True):
    """A person who operates a world; `key_hash` is that of the salt and the key behind it.

    `ended_at` is None while the key is valid. A name is never reused.
    """

    __table_args__ = _STRICT

    name: str = Field(primary_key=True, sa_type=TEXT)
    role: str = Field(sa_type=TEXT)
    salt: str = Field(sa_type=TEXT)
    key_hash: str = Field(sa_type=TEXT)
    created_at: float = Field(sa_type=Real)
    created_by: str = Field(sa_type=TEXT)
    ended_at: float | None = Field(default=None, sa_type=Real)


class Invitations(Stored, table=True):
    """A code with which agents register; their settings name the invitation.

    `plan` and `budget` (micros a day) apply to these agents, None: the service's defaults. `person`
    owns them, empty for none yet.
    """

    __table_args__ = _STRICT

    invitation_id: str = Field(primary_key=True, sa_type=TEXT)
    salt: str = Field(sa_type=TEXT)
    code_hash: str = Field(sa_type=TEXT)
    uses: int = Field(sa_type=Whole)
    plan: str | None = Field(default=None, sa_type=TEXT)
    budget: int | None = Field(default=None, sa_type=Whole)
    person: str = Field(sa_type=TEXT)
    created_at: float = Field(sa_type=Real)
    created_by: str = Field(sa_type=TEXT)
    expires_at: float = Field(sa_type=Real)
    ended_at: float | None = Field(default=None, sa_type=Real)


class Use(Stored, table=True):
    """One row: the time at which a program last closed this database.

    `closed_at` is None while a program has it open, and after one that was killed.
    """

    __table_args__ = _STRICT

    one: int = Field(default=1, primary_key=True)
    closed_at: float | None = Field(default=None, sa_type=REAL)


WORLD: Final[tuple[type[SQLModel], ...]] = (
    Journal,
    Snapshots,
    Idempotency,
    Entries,
    Entriesread,
    Endedmarkets,
    Endedfilled,
    People,
    Invitations,
)
"""The tables of a world; they exist in the PostgreSQL of a shared desk as well."""


def table_of(model: type[SQLModel]) -> Table:
    """The table of a class."""
    return cast("Table", model.__table__)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - set by SQLModel
